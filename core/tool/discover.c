/* SPDX-License-Identifier: BSD-3-Clause */
/* Search for a server: a named one (by address, file, process id or namespace), or any
 * that accepts the tool. The order of preference is the Standard's. */
#include "core/base/clock.h"
#include "core/base/env.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/link/rendezvous.h"
#include "core/tool/tool.h"

#include <string.h>
#include <time.h>

#define DELAY_MS      10   /* default delay between two attempts */
#define STRANGER_MS   5000 /* limit for each server that the caller did not name */
#define DEFAULT_TRIES 2

struct search {
    const struct px_discovery *what;
    struct px_err *err;
    const char *host;
    char *server_dir, *system_dir; /* directories of rendezvous files */
    uint64_t deadline_ms;          /* UINT64_MAX: no deadline */
    bool any;                      /* skips servers that are connected already */
    pmix_status_t found;           /* result so far */
    px_strv tried; /* servers already tried by any(); a server may have several files */
};

static const char *text_of(const struct search *s, const char *key)
{
    return px_info_str(s->what->info, s->what->n_info, key);
}

static bool flag_of(const struct search *s, const char *key)
{
    return px_info_flag(s->what->info, s->what->n_info, key);
}

/* ---- one server ------------------------------------------------------------------ */

static bool connected(const struct search *s, const pmix_proc_t *server)
{
    for (size_t i = 0; i < s->what->n_have; i++)
        if (px_proc_same(&s->what->have[i], server))
            return true;
    return false;
}

static uint64_t time_left(const struct search *s, uint64_t at_most)
{
    uint64_t now = px_clock_ms();

    if (s->deadline_ms == UINT64_MAX)
        return at_most;
    if (s->deadline_ms <= now)
        return 0;
    return s->deadline_ms - now < at_most ? s->deadline_ms - now : at_most;
}

/* Connects to a complete address. */
static pmix_status_t dial(struct search *s)
{
    struct px_server_addr *c = s->what->addr;
    uint64_t timeout_ms = s->what->client->role->conf.connect_timeout;
    pmix_status_t rc;
    bool launcher;

    if (connected(s, &c->uri.server))
        return PMIX_ERR_EXISTS;
    if (s->any && timeout_ms > STRANGER_MS)
        timeout_ms = STRANGER_MS;
    launcher = flag_of(s, PMIX_LAUNCHER);
    if (!s->what->has_name)
        c->flag = launcher ? PX_FLAG_LAUNCHER_NEEDS_ID : PX_FLAG_TOOL_NEEDS_ID;
    else if (s->what->inherited && c->from_environment)
        c->flag = launcher ? PX_FLAG_LAUNCHER_CLIENT : PX_FLAG_TOOL_CLIENT;
    else
        c->flag = launcher ? PX_FLAG_LAUNCHER_HAS_ID : PX_FLAG_TOOL_HAS_ID;
    rc = px_server_addr_connect(c, time_left(s, timeout_ms), s->err);
    if (rc || !connected(s, &c->uri.server))
        return rc;
    close(c->fd); /* the server's name differs from the name in its address */
    c->fd = -1;
    return PMIX_ERR_EXISTS;
}

/* Connects to an address. owner: the server's user, NULL if unknown. faster: the
 * server's address for this library, or "". */
static pmix_status_t dial_uri(struct search *s, const struct px_uri *uri,
                              const struct px_version *version, const uid_t *owner,
                              const char *faster)
{
    /* Use our newest dialect, unless version is older. */
    unsigned major = version->major;
    const char *dialect = major > 0 && major < 4              ? "v3"
                          : major == 4 && version->minor == 0 ? "v4"
                                                              : "v41";

    *s->what->addr = (struct px_server_addr){
        .uri = *uri,
        .version = *version,
        .has_owner = owner != NULL,
        .owner = owner ? *owner : 0,
        .self = s->what->addr->self,
        .codec = {.dialect = px_dialect_find(dialect)},
        .faster = *faster && !text_of(s, PMIX_TCP_URI) ? faster : NULL,
        .fd = -1};
    pmix_status_t rc = dial(s);
    s->what->addr->faster = NULL; /* the caller's */
    return rc;
}

static pmix_status_t by_uri(struct search *s, const char *text)
{
    struct px_version unknown = {0};
    struct px_server_addr named;
    pmix_status_t rc = px_server_addr_from_uri(&named, text, s->err);

    if (rc)
        return rc;
    if (text_of(s, PMIX_TCP_URI) && !px_str_starts(named.uri.address, "tcp"))
        return px_err_set(s->err, PMIX_ERR_UNREACH, "\"%s\" is not an address for TCP",
                          text);
    return dial_uri(s, &named.uri, &unknown, NULL, "");
}

/* Connects to the server of a rendezvous file. The file names the server's owner,
 * because another user may have the port now. */
static pmix_status_t by_file(struct search *s, const char *path)
{
    struct px_rendezvous r;
    pmix_status_t rc = px_rendezvous_read(path, &r, s->err);

    return rc ? PMIX_ERR_UNREACH : dial_uri(s, &r.uri, &r.version, &r.owner, r.faster);
}

static pmix_status_t by_uri_or_file(struct search *s, const char *text)
{
    return px_str_starts(text, "file:") ? by_file(s, text + strlen("file:"))
                                        : by_uri(s, text);
}

/* ---- files of a name ------------------------------------------------------------- */

static bool try_file(void *arg, const char *path)
{
    struct search *s = arg;

    s->found = by_file(s, path);
    return !s->found || s->found == PMIX_ERR_EXISTS || time_left(s, 1) == 0;
}

/* Tries the file of a server that the caller did not name. */
static bool try_any_file(void *arg, const char *path)
{
    struct search *s = arg;
    struct px_rendezvous r;
    struct px_err err; /* an earlier refusal is more useful than an unreadable file */

    if (px_rendezvous_read(path, &r, s->err->text[0] ? &err : s->err))
        return false;
    PX_AUTOFREE char *server = px_strf("%u %s", (unsigned)r.owner, r.uri.address);
    if (server && px_strv_has(s->tried, server))
        return false;
    if (!server || px_strv_append(&s->tried, server)) {
        s->found = PMIX_ERR_NOMEM;
        return true;
    }
    s->found = dial_uri(s, &r.uri, &r.version, &r.owner, r.faster);
    return !s->found || time_left(s, 1) == 0;
}

static pmix_status_t no_file(struct search *s, const char *name, bool system_only)
{
    bool one = system_only || strcmp(s->server_dir, s->system_dir) == 0;

    return px_err_set(s->err, PMIX_ERR_UNREACH, "no file %s in %s%s%s or below", name,
                      one ? "" : s->server_dir, one ? "" : ", in ", s->system_dir);
}

/* Searches the server directory, then the system directory. */
static bool search_both(struct search *s, const char *const *names, bool prefix,
                        px_rendezvous_fn found)
{
    return px_rendezvous_search(s->server_dir, names, prefix, found, s) ||
           (strcmp(s->server_dir, s->system_dir) != 0 &&
            px_rendezvous_search(s->system_dir, names, prefix, found, s));
}

/* Searches pmix.<host>.<what> or, before release 6.0, pmix.<host>.tool.<what>. what is
 * a process id or a namespace. */
static pmix_status_t by_name(struct search *s, const char *what)
{
    PX_AUTOFREE char *name = px_strf("pmix.%s.%s", s->host, what);
    PX_AUTOFREE char *older = px_strf("pmix.%s.tool.%s", s->host, what);
    const char *names[] = {name, older, NULL};

    if (!name || !older)
        return PMIX_ERR_NOMEM;
    s->found = no_file(s, name, false);
    (void)search_both(s, names, false, try_file);
    return s->found;
}

/* Searches pmix.<kind>.<host>, of which a node has one. */
static pmix_status_t by_kind(struct search *s, const char *kind)
{
    PX_AUTOFREE char *name = px_strf("pmix.%s.%s", kind, s->host);
    const char *names[] = {name, NULL};

    if (!name)
        return PMIX_ERR_NOMEM;
    s->found = no_file(s, name, true);
    px_rendezvous_search(s->system_dir, names, false, try_file, s);
    return s->found;
}

/* Tries the session's server first, then any server that accepts the tool. */
static pmix_status_t any(struct search *s)
{
    PX_AUTOFREE char *session = px_strf("pmix.sys.%s", s->host);
    PX_AUTOFREE char *begin = px_strf("pmix.%s.", s->host);
    const char *sessions[] = {session, NULL}, *all[] = {begin, NULL};

    if (!session || !begin)
        return PMIX_ERR_NOMEM;
    s->any = true;
    s->found = PMIX_ERR_UNREACH;
    if (!px_rendezvous_search(s->server_dir, sessions, false, try_any_file, s))
        (void)search_both(s, all, true, try_any_file);
    if (s->found == PMIX_ERR_UNREACH && !s->err->text[0]) {
        PX_AUTOFREE char *name = px_strf("%s...", begin);

        no_file(s, name ? name : begin, false);
    }
    return s->found;
}

/* ---- retries --------------------------------------------------------------------- */

typedef pmix_status_t (*way_fn)(struct search *s, const char *arg);

/* Retries a search: the named server may be about to start. */
static pmix_status_t retry(struct search *s, way_fn way, const char *arg)
{
    const struct px_discovery *w = s->what;
    uint64_t tries = 1ull + px_info_u32(w->info, w->n_info, PMIX_CONNECT_MAX_RETRIES,
                                        DEFAULT_TRIES - 1);
    uint64_t delay = 1000ull *
                     px_info_u32(w->info, w->n_info, PMIX_CONNECT_RETRY_DELAY, 0);
    pmix_status_t rc;

    if (flag_of(s, PMIX_WAIT_FOR_CONNECTION) && s->deadline_ms != UINT64_MAX)
        tries = UINT64_MAX;
    for (;;) {
        rc = way(s, arg);
        if (!rc || rc == PMIX_ERR_EXISTS || rc == PMIX_ERR_BAD_PARAM || --tries == 0)
            return rc;
        uint64_t ms = time_left(s, delay ? delay : DELAY_MS);
        struct timespec t = {.tv_sec = (time_t)(ms / 1000),
                             .tv_nsec = (long)(ms % 1000) * 1000000};
        while (nanosleep(&t, &t))
            ;
        if (time_left(s, 1) == 0)
            return px_err_set(s->err, PMIX_ERR_TIMEOUT,
                              "no server within PMIX_TIMEOUT");
    }
}

/* ---- the order ------------------------------------------------------------------- */

/* Attributes for kinds of servers. PMIX_CONNECTION_ORDER accepts names and keys. */
static const struct {
    const char *name, *key, *kind;
    bool only;
} kinds[] = {
    {"PMIX_CONNECT_TO_SYSTEM", PMIX_CONNECT_TO_SYSTEM, "sys", true},
    {"PMIX_CONNECT_TO_SCHEDULER", PMIX_CONNECT_TO_SCHEDULER, "sched", true},
    {"PMIX_CONNECT_TO_SYS_CONTROLLER", PMIX_CONNECT_TO_SYS_CONTROLLER, "sysctrlr",
     true},
    {"PMIX_CONNECT_SYSTEM_FIRST", PMIX_CONNECT_SYSTEM_FIRST, "sys", false},
};

/* Connects to the server that info names. Sets *named to false if info does not name
 * one. */
static pmix_status_t the_named_one(struct search *s, bool *named)
{
    const struct px_discovery *w = s->what;
    const char *file = text_of(s, PMIX_TOOL_ATTACHMENT_FILE);
    const char *uri = text_of(s, PMIX_SERVER_URI), *tcp = text_of(s, PMIX_TCP_URI);
    const char *nspace = text_of(s, PMIX_SERVER_NSPACE);
    uint32_t pid = px_info_u32(w->info, w->n_info, PMIX_SERVER_PIDINFO, 0);

    *named = true;
    if (uri && tcp)
        return px_err_set(s->err, PMIX_ERR_BAD_PARAM,
                          "PMIX_SERVER_URI and PMIX_TCP_URI contradict each other");
    if (file)
        return retry(s, by_file, file);
    if (uri || tcp)
        return retry(s, by_uri_or_file, uri ? uri : tcp);
    if (pid) {
        PX_AUTOFREE char *text = px_strf("%u", pid);

        return text ? retry(s, by_name, text) : PMIX_ERR_NOMEM;
    }
    if (nspace)
        return retry(s, by_name, nspace);
    for (size_t i = 0; i < PX_COUNT(kinds); i++)
        if (kinds[i].only && flag_of(s, kinds[i].key))
            return retry(s, by_kind, kinds[i].kind);
    *named = false;
    return PMIX_ERR_UNREACH;
}

/* Tries the kinds of servers in the list. *last: the search must stop after a
 * failure. */
static pmix_status_t in_order(struct search *s, const char *list, bool *last)
{
    PX_AUTO(px_strv) names = px_strv_split(list, ',', false);
    pmix_status_t rc = PMIX_ERR_UNREACH;

    for (size_t n = 0; names && names[n]; n++) {
        size_t i = 0;

        while (i < PX_COUNT(kinds) && strcmp(names[n], kinds[i].name) != 0 &&
               strcmp(names[n], kinds[i].key) != 0)
            i++;
        if (i == PX_COUNT(kinds)) {
            *last = true;
            return px_err_set(s->err, PMIX_ERR_BAD_PARAM,
                              "PMIX_CONNECTION_ORDER: unknown \"%s\"", names[n]);
        }
        rc = retry(s, by_kind, kinds[i].kind);
        if (!rc)
            return rc;
        *last = kinds[i].only && !names[n + 1];
    }
    return rc;
}

/* Connects to the environment's server. Sets *named to false if there is none or it is
 * connected already. */
static pmix_status_t the_environments(struct search *s, bool *named)
{
    const char *launcher = px_env(PMIX_LAUNCHER_RNDZ_URI);
    pmix_status_t rc = px_server_addr_from_env(s->what->addr, s->err);

    *named = s->what->addr->from_environment;
    if (*named)
        rc = dial(s);
    if (*named && rc != PMIX_ERR_EXISTS)
        return rc;
    *named = launcher != NULL;
    if (launcher)
        rc = retry(s, by_uri_or_file, launcher);
    if (rc == PMIX_ERR_EXISTS)
        *named = false;
    return rc;
}

/* Connects to a server that is not connected already. */
static pmix_status_t some(struct search *s)
{
    const char *order = text_of(s, PMIX_CONNECTION_ORDER);
    bool last = false, named;
    pmix_status_t rc = PMIX_ERR_UNREACH;

    if (flag_of(s, PMIX_CONNECT_SYSTEM_FIRST))
        rc = by_kind(s, "sys");
    if (rc && order)
        rc = in_order(s, order, &last);
    if (!rc || last)
        return rc;
    rc = the_environments(s, &named);
    return named ? rc : any(s);
}

pmix_status_t px_tool_discover(const struct px_discovery *what, struct px_err *err)
{
    uint32_t seconds = px_info_u32(what->info, what->n_info, PMIX_TIMEOUT, 0);
    struct search s = {
        .what = what,
        .err = err,
        .host = px_info_str(what->info, what->n_info, PMIX_SERVER_HOSTNAME),
        .deadline_ms = UINT64_MAX};
    bool named = true;
    pmix_status_t rc;

    if (!s.host)
        s.host = what->client->model->hostname;
    if (seconds)
        s.deadline_ms = px_clock_ms() + seconds * 1000ull;
    s.server_dir = px_rendezvous_dir(what->info, what->n_info, PMIX_SERVER_TMPDIR,
                                     "PMIX_SERVER_TMPDIR");
    s.system_dir = px_rendezvous_dir(what->info, what->n_info, PMIX_SYSTEM_TMPDIR,
                                     "PMIX_SYSTEM_TMPDIR");
    rc = s.server_dir && s.system_dir ? the_named_one(&s, &named) : PMIX_ERR_NOMEM;
    if (!named)
        rc = some(&s);
    free(s.server_dir);
    free(s.system_dir);
    px_strv_cleanup(&s.tried);
    switch (rc) {
    case PMIX_SUCCESS:
    case PMIX_ERR_BAD_PARAM:
    case PMIX_ERR_NOMEM:
    case PMIX_ERR_TIMEOUT:
        return rc;
    case PMIX_ERR_EXISTS:
        return named ? rc
                     : px_err_set(s.err, PMIX_ERR_UNREACH,
                                  "no server except those already connected");
    default: /* refused, not found or not trusted: err has the reason */
        return PMIX_ERR_UNREACH;
    }
}
