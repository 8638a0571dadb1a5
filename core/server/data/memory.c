/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that messages of users occupy in the server, with limits per user and in
 * total.
 *
 * Committed values stay until their namespace is deregistered. A value that replaces
 * another first counts in addition to it. When a limit is reached, the server counts
 * all values anew.
 *
 * A message that makes the server keep memory charges its user until the memory is
 * freed. Examples are requests that wait, registrations and the data of a fence. Each
 * connection may always have SHARE_B of charges. An invitation of another node charges
 * the user of its leader.
 *
 * Frames in transit and unread replies use the rest of the limits, and ALWAYS_B beyond.
 * A connection without room waits until the user's other connections free some. A
 * connection that occupies its room for too long is closed. */
#include "core/server/data/memory.h"

#include "core/base/clock.h"
#include "core/base/map.h"
#include "core/link/conn.h"
#include "core/model/nspace.h"
#include "core/os/os.h"
#include "core/rt/log.h"
#include "core/server/door/door.h"
#include "core/server/peer/peer.h"
#include "core/server/section.h"
#include "core/server/server.h"

#ifdef __GLIBC__
#endif
#include <stdio.h>
#include <string.h>

/* Room that frames in transit always have. */
#define ALWAYS_B (16u * 1024u * 1024u)
/* Charges that one connection may always have. */
#define SHARE_B (256u * 1024u)

/* Freed memory of one user after which the process returns it to the system. */
#define TRIM_B  (4u * 1024u * 1024u)
#define TRIM_MS 500 /* delay, in which more may be freed, or used again */
/* Freed memory that goes back in the next turn, as the return of more takes longer than
 * a turn should. */
#define TRIM_PART_B (12u * 1024u * 1024u)
/* Pause after a return, in times of its processor time. */
#define TRIM_PAUSE_TIMES 4u

/* Memory of one user, or the sum over all users. */
struct px_user {
    struct px_memory *memory;
    uid_t uid;
    size_t kept_b, held_b;     /* committed values; charges */
    size_t peak_b;             /* most of both since the last return of memory */
    size_t flight_b, unread_b; /* frames in transit; the unread ones of them */
    bool waits;                /* a connection waits for room that others occupy */
};

struct kept {
    struct px_user *user;
    size_t size_b;
};

struct px_memory {
    struct px_map kept;  /* namespace -> struct kept */
    struct px_map users; /* uid -> struct px_user */
    struct px_user all;
    size_t counted_b;       /* all.kept_b at the last count */
    struct px_timer *timer; /* runs while frames are in transit */
    struct px_timer *trim_timer;
    uint64_t trims_from_ms; /* of px_clock_ms: no return of memory is earlier */
    bool trims, trims_soon; /* the timer runs; without the delay */
    bool runs;
};

/* Approximate overhead of one entry in the server's tables. */
#define ENTRY_B 64u

size_t px_memory_of(const char *key, const pmix_value_t *value)
{
    return px_type_size(PMIX_VALUE, value) + strlen(key) + ENTRY_B;
}

static pmix_status_t add_size(void *arg, pmix_rank_t rank PX_UNUSED, const char *key,
                              const pmix_value_t *value)
{
    *(size_t *)arg += px_memory_of(key, value);
    return PMIX_SUCCESS;
}

static void count_anew(const struct px_server *srv)
{
    struct px_memory *m = srv->part.memory;
    const void *name;
    struct px_user *u;
    struct kept *k;
    size_t pos = 0;

    m->all.kept_b = 0;
    while ((u = px_map_next(&m->users, &pos, NULL, NULL)))
        u->kept_b = 0;
    pos = 0;
    while ((k = px_map_next(&m->kept, &pos, &name, NULL))) {
        const struct px_nspace *ns = px_nspace_find(srv->model, name);

        k->size_b = 0;
        if (!ns)
            continue;
        (void)px_store_walk(&ns->store, PX_GDS_LOCAL, PMIX_RANK_UNDEF, add_size,
                            &k->size_b);
        PX_LIST_EACH (&ns->locals, struct px_local, l, link)
            (void)px_store_walk_remote_only(&ns->store, l->rank, add_size, &k->size_b);
        m->all.kept_b += k->size_b;
        k->user->kept_b += k->size_b;
    }
    m->counted_b = m->all.kept_b;
}

static bool has_in(const struct px_user *u, uint64_t limit_b, size_t b)
{
    size_t beyond_b = u->flight_b > ALWAYS_B ? u->flight_b - ALWAYS_B : 0;

    return u->kept_b + u->held_b + beyond_b + b <= limit_b;
}

static bool has_room(const struct px_server *srv, const struct px_user *u, size_t b)
{
    return has_in(&srv->part.memory->all, srv->conf.committed_total, b) &&
           has_in(u, srv->conf.committed_per_user, b);
}

/* True if b more bytes fit. Counts all values anew if they do not fit, unless little
 * was added since the last count. */
static bool finds_room(const struct px_server *srv, const struct px_user *u, size_t b)
{
    uint64_t total_b = srv->conf.committed_total, own_b = srv->conf.committed_per_user;
    struct px_memory *m = srv->part.memory;

    if (has_room(srv, u, b))
        return true;
    if (m->all.kept_b - m->counted_b < (total_b < own_b ? total_b : own_b) / 16)
        return false;
    count_anew(srv);
    return has_room(srv, u, b);
}

/* ---- returning memory ------------------------------------------------------------ */

static void grew(struct px_user *u)
{
    if (u->kept_b + u->held_b > u->peak_b)
        u->peak_b = u->kept_b + u->held_b;
}

/* Schedules the return of freed memory. Small freed chunks stay in the heap of the C
 * library, perhaps for ever. */
static void fell(struct px_memory *m, const struct px_user *u)
{
    const size_t used_b = u->kept_b + u->held_b;
    const bool is_part = u->peak_b > used_b + TRIM_PART_B;

    if (u->peak_b <= used_b + TRIM_B || m->trims_soon || (m->trims && !is_part))
        return;
    const uint64_t now = px_clock_ms(), at = now + (is_part ? 0 : TRIM_MS);

    m->trims = true;
    m->trims_soon = is_part;
    px_timer_set(m->trim_timer,
                 at > m->trims_from_ms ? at - now : m->trims_from_ms - now);
}

static void on_trim(void *arg)
{
    struct px_memory *m = ((struct px_server *)arg)->part.memory;
    const uint64_t begin_ns = px_clock_work_ns();
    struct px_user *u;
    size_t pos = 0;

    m->trims = m->trims_soon = false;
    while ((u = px_map_next(&m->users, &pos, NULL, NULL)))
        u->peak_b = u->kept_b + u->held_b;
    px_os_trim();
    m->trims_from_ms = px_clock_ms() +
                       TRIM_PAUSE_TIMES * (px_clock_work_ns() - begin_ns) / 1000000;
}

/* Finds or adds the user. NULL if out of memory. */
static struct px_user *user_of(struct px_memory *m, uid_t uid)
{
    struct px_user *u = px_map_get(&m->users, &uid, sizeof(uid));

    if (u)
        return u;
    u = calloc(1, sizeof(*u));
    if (!u || px_map_put(&m->users, &uid, sizeof(uid), u, NULL)) {
        free(u);
        return NULL;
    }
    u->memory = m;
    u->uid = uid;
    return u;
}

pmix_status_t px_memory_keep(struct px_server *srv, const struct px_nspace *ns,
                             uid_t uid, size_t size_b)
{
    struct px_memory *m = srv->part.memory;
    struct kept *k = px_map_sget(&m->kept, ns->name);

    if (!k) {
        struct px_user *u = user_of(m, uid);

        k = u ? calloc(1, sizeof(*k)) : NULL;
        if (!k || px_map_sput(&m->kept, ns->name, k, NULL)) {
            free(k);
            return PMIX_ERR_NOMEM;
        }
        k->user = u;
    }
    if (!finds_room(srv, k->user, size_b))
        return PMIX_ERR_OUT_OF_RESOURCE;
    k->size_b += size_b;
    k->user->kept_b += size_b;
    m->all.kept_b += size_b;
    grew(k->user);
    return PMIX_SUCCESS;
}

/* ---- frames on their way --------------------------------------------------------- */

/* True if the frames in transit may grow by more bytes. A first frame may always begin.
 * A frame that has begun may end if no reply is unread. So no connection waits for
 * memory that only a silent peer could free. limit_b 0: only ALWAYS_B counts. */
static bool fits(const struct px_user *u, int64_t more, uint64_t limit_b)
{
    size_t used_b = u->kept_b + u->held_b;
    size_t room_b = limit_b > used_b + ALWAYS_B ? limit_b - used_b : ALWAYS_B;

    return (int64_t)u->flight_b + more <= (int64_t)room_b ||
           (more > 0 ? u->flight_b : u->unread_b) == 0;
}

bool px_memory_has_room(struct px_server *srv, struct px_user *u, int64_t more)
{
    const struct px_server_conf *conf = &srv->conf;
    struct px_memory *m = srv->part.memory;

    if (!u || fits(&m->all, more, 0))
        return true;
    bool all = fits(&m->all, more, conf->committed_total) || fits(u, more, 0);
    bool own = fits(u, more, conf->committed_per_user);
    m->all.waits |= !all;
    u->waits |= !own;
    return all && own;
}

/* Lets the connections that wait for room try again. */
static void go_on(struct px_server *srv)
{
    struct px_memory *m = srv->part.memory;
    struct px_user *u;
    size_t pos = 0;

    m->all.waits = false;
    while ((u = px_map_next(&m->users, &pos, NULL, NULL)))
        u->waits = false;
    PX_LIST_EACH (&srv->peers, struct px_peer, p, link)
        if (p->conn)
            px_conn_go_on(p->conn);
}

/* Schedules a new try of the connections that wait for room. */
static void given_back(struct px_memory *m, const struct px_user *u)
{
    if (m->all.waits || u->waits)
        px_timer_set(m->timer, 0);
}

void px_memory_charge(struct px_server *srv, struct px_user *u, int64_t change,
                      int64_t unread)
{
    struct px_memory *m = srv->part.memory;
    struct px_user *const both[] = {u, &m->all};

    if (!u)
        return;
    for (size_t i = 0; i < PX_COUNT(both); i++) {
        both[i]->flight_b += (size_t)change;
        both[i]->unread_b += (size_t)unread;
    }
    if (change < 0 || unread < 0)
        given_back(m, u);
    else if (change > 0 && !m->runs)
        px_timer_set(m->timer, srv->conf.unread_timeout / 4 + 1);
    m->runs = true;
}

/* ---- charges --------------------------------------------------------------------- */

static void hold(struct px_user *u, size_t size_b)
{
    u->held_b += size_b;
    u->memory->all.held_b += size_b;
    grew(u);
}

pmix_status_t px_charge(struct px_charge *c, struct px_peer *peer, size_t more_b)
{
    struct px_peer *p = c->peer ? c->peer : peer;
    struct px_user *u = p->user;

    if (!u)
        return PMIX_SUCCESS;
    /* The last charge may exceed the room that is left. */
    if (p->pending_b + more_b > SHARE_B && !finds_room(p->server, u, 1)) {
        px_log_limited(p->server->part.door->rate, u->uid, PMIX_ERR_OUT_OF_RESOURCE,
                       "server",
                       "cannot keep more for %s.%u: its requests take %zu bytes, and "
                       "no room is left for user %u",
                       p->proc.nspace, p->proc.rank, p->pending_b, (unsigned)u->uid);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (!c->peer)
        px_peer_ref(c->peer = p);
    c->user = u;
    c->size_b += more_b;
    p->pending_b += more_b;
    hold(u, more_b);
    return PMIX_SUCCESS;
}

pmix_status_t px_charge_user(struct px_charge *c, struct px_server *srv, uid_t uid,
                             size_t size_b)
{
    struct px_user *u = user_of(srv->part.memory, uid);

    if (!u)
        return PMIX_ERR_NOMEM;
    if (!finds_room(srv, u, size_b)) {
        px_log_limited(srv->part.door->rate, uid, PMIX_ERR_OUT_OF_RESOURCE, "server",
                       "cannot keep %zu bytes of another node: no room is left for "
                       "user %u",
                       size_b, (unsigned)uid);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *c = (struct px_charge){.user = u, .size_b = size_b};
    hold(u, size_b);
    return PMIX_SUCCESS;
}

void px_charge_end(struct px_charge *c)
{
    struct px_peer *p = c->peer;
    struct px_user *u = c->user;

    if (!u)
        return;
    if (p)
        p->pending_b -= c->size_b;
    u->held_b -= c->size_b;
    u->memory->all.held_b -= c->size_b;
    given_back(u->memory, u);
    fell(u->memory, u);
    *c = (struct px_charge){0};
    if (p)
        px_peer_unref(p);
}

static void on_timer(void *arg)
{
    struct px_server *srv = arg;
    struct px_memory *m = srv->part.memory;
    uint64_t now = px_clock_ms(), timeout_ms = srv->conf.unread_timeout;

    PX_LIST_EACH (&srv->peers, struct px_peer, p, link) {
        if (!p->conn || now < timeout_ms ||
            !px_conn_is_stuck(p->conn, now - timeout_ms,
                              m->all.waits || (p->user && p->user->waits)))
            continue;
        px_log(PX_LOG_WARN, "server",
               "cannot keep the connection of %s.%u: for %llu ms it has not read its "
               "messages, or not completed its own",
               p->proc.nspace, p->proc.rank, (unsigned long long)timeout_ms);
        px_conn_fail(p->conn, PMIX_ERR_TIMEOUT);
    }
    go_on(srv);
    m->runs = m->all.flight_b > 0;
    if (m->runs)
        px_timer_set(m->timer, timeout_ms / 4 + 1);
}

static pmix_status_t create(struct px_server *srv,
                            const struct px_server_start *start PX_UNUSED)
{
    struct px_memory *m = srv->part.memory;

    m->timer = px_timer_create(srv->loop, on_timer, srv);
    m->trim_timer = px_timer_create(srv->loop, on_trim, srv);
    if (m->timer && m->trim_timer)
        return PMIX_SUCCESS;
    px_timer_free(m->timer);
    px_timer_free(m->trim_timer);
    return PMIX_ERR_NOMEM;
}

static void peer_here(struct px_server *srv, struct px_peer *peer)
{
    peer->user = user_of(srv->part.memory, peer->uid);
    if (!peer->user)
        px_conn_fail(peer->conn, PMIX_ERR_NOMEM);
}

static void nspace_gone(struct px_server *srv, const char *nspace,
                        struct px_nspace *ns PX_UNUSED)
{
    struct kept *k = px_map_sremove(&srv->part.memory->kept, nspace);

    if (k) {
        srv->part.memory->all.kept_b -= k->size_b;
        k->user->kept_b -= k->size_b;
        fell(srv->part.memory, k->user);
        go_on(srv);
    }
    srv->part.memory->counted_b = 0;
    free(k);
}

static void destroy(struct px_server *srv)
{
    struct px_map *const maps[] = {&srv->part.memory->kept, &srv->part.memory->users};

    for (size_t i = 0; i < PX_COUNT(maps); i++) {
        size_t pos = 0;
        void *entry;

        while ((entry = px_map_next(maps[i], &pos, NULL, NULL)))
            free(entry);
        px_map_fini(maps[i]);
    }
    px_timer_free(srv->part.memory->timer);
    px_timer_free(srv->part.memory->trim_timer);
}

static pmix_status_t report_user(const struct px_user *u, const char *name,
                                 px_infos *section)
{
    const struct px_report_number numbers[] = {{"values_b", u->kept_b},
                                               {"requests_b", u->held_b},
                                               {"frames_b", u->flight_b},
                                               {"unread_b", u->unread_b},
                                               {0}};
    px_infos infos = {0};
    pmix_status_t rc = px_report_numbers(&infos, numbers);

    return px_report_add(section, name, &infos, rc);
}

/* Reports the memory by account: of each user, and of all. */
static pmix_status_t report(struct px_server *srv, px_infos *sections)
{
    const struct px_memory *m = srv->part.memory;
    px_infos section = {0};
    pmix_status_t rc = report_user(&m->all, "all", &section);
    const struct px_user *u;
    size_t pos = 0;
    char name[32];

    while (!rc && (u = px_map_next(&m->users, &pos, NULL, NULL))) {
        snprintf(name, sizeof(name), "user %u", (unsigned)u->uid);
        rc = report_user(u, name, &section);
    }
    return px_report_add(sections, "memory", &section, rc);
}

const struct px_server_part px_memory_part = {
    .name = "memory",
    PX_PART_STATE(memory, struct px_memory),
    .create = create,
    .destroy = destroy,
    .peer_here = peer_here,
    .nspace_gone = nspace_gone,
    .report = report,
};
