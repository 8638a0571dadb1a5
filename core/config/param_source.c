/* SPDX-License-Identifier: BSD-3-Clause */
/* Sources of settings: parameter files, the environment, and info passed to an init
 * function. */
#include "core/base/env.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/base/vec.h"
#include "core/config/config.h"
#include "core/config/param_impl.h"
#include "core/os/os.h"
#include "core/rt/owner.h"
#include "pmix_data.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define ENV_PREFIX "PMIX_MCA_"
#define ENV_DEBUG  "PMIX_DEBUG="

enum { FILE_MAX = 1 << 20, MAX_DEPTH = 16, MAX_FILES = 1000 };

/* ---- files ----------------------------------------------------------------------- */

/* A file being read, and the file that includes it. */
struct reading {
    struct px_params *params;
    const char *path;
    enum px_param_source source;
    bool needed;
    bool privileged;
    unsigned depth;
    struct stat st;
    const struct reading *by;
};

static pmix_status_t read_one(struct reading *r, const char *asked_at);

/* Reads a regular file into malloc'd, terminated memory. Returns NULL with errno on
 * failure; EDEADLK for a file that includes itself. */
static char *read_text(struct reading *r, const char *path, size_t *len)
{
    struct stat *st = &r->st;

    /* O_NONBLOCK, because path may be a FIFO. */
    PX_AUTOCLOSE int fd = PX_RETRY(
        open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (fd < 0 || fstat(fd, st) < 0)
        return NULL;
    if (!S_ISREG(st->st_mode) || st->st_size > FILE_MAX) {
        errno = S_ISREG(st->st_mode) ? EFBIG : S_ISDIR(st->st_mode) ? EISDIR : EINVAL;
        return NULL;
    }
    for (const struct reading *by = r->by; by; by = by->by)
        if (px_is_same(&by->st, st)) {
            errno = EDEADLK;
            return NULL;
        }
    size_t size = (size_t)st->st_size;
    PX_AUTOFREE char *text = malloc(size + 1);
    if (!text)
        return NULL;
    for (*len = 0; *len < size;) {
        ssize_t n = PX_RETRY(read(fd, text + *len, size - *len));
        if (n < 0)
            return NULL;
        if (n == 0)
            break;
        *len += (size_t)n;
    }
    text[*len] = '\0';
    return px_take(&text);
}

static const char *reason(int errnum)
{
    switch (errnum) {
    case EDEADLK:
        return "it includes itself";
    case EFBIG:
        return "it has more than 1 MiB";
    case EINVAL:
        return "it is not a regular file";
    default:
        return strerror(errnum);
    }
}

static pmix_status_t read_included(struct reading *r, const char *name,
                                   const char *where)
{
    /* Relative names are relative to the including file's folder. */
    const char *slash = name[0] == '/' ? NULL : strrchr(r->path, '/');
    PX_AUTOFREE char *path = slash ? px_strf("%.*s/%s", (int)(slash - r->path), r->path,
                                             name)
                                   : strdup(name);
    struct reading inner = *r;

    if (!path)
        return PMIX_ERR_NOMEM;
    inner.path = path;
    inner.by = r;
    inner.needed = true;
    inner.depth++;
    return read_one(&inner, where);
}

static pmix_status_t take_line(struct reading *r, unsigned file,
                               const struct px_param_line *line)
{
    PX_AUTOFREE char *where = px_strf("%s:%lu", r->path, line->number);

    if (!where)
        return PMIX_ERR_NOMEM;
    if (line->wrong) {
        px_params_complain(r->params, PX_PARAM_WRONG, "%s: \"%s\": %s", where,
                           line->shown, line->wrong);
        return PMIX_SUCCESS;
    }
    if (line->include)
        return read_included(r, line->include, where);
    return px_params_add(r->params, line->name, line->value, r->source, file, where);
}

/* Records that a file was read or looked for. Returns PMIX_ERR_NOMEM on failure. */
static pmix_status_t remember_file(const struct reading *r, bool read)
{
    struct px_params *p = r->params;
    struct px_param_file *file = px_vec_add(&p->files, &p->n_files, &p->cap_files);

    if (!file)
        return PMIX_ERR_NOMEM;
    *file = (struct px_param_file){strdup(r->path), r->source, read};
    if (file->path)
        return PMIX_SUCCESS;
    p->n_files--;
    return PMIX_ERR_NOMEM;
}

/* Resolves a file's path. A privileged process reads only files that other users cannot
 * change. *out is NULL for other files. */
static pmix_status_t resolve(const struct reading *r, const char *at, char **out)
{
    struct px_err why = {0};

    *out = NULL;
    if (!r->privileged) {
        *out = strdup(r->path);
        return *out ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    }
    pmix_status_t rc = px_path_check_owner(r->path, out, &why);
    if (rc == PMIX_ERR_NOMEM)
        return rc;
    if (rc == PMIX_ERR_NOT_FOUND && r->needed)
        px_params_complain(r->params, PX_PARAM_WRONG,
                           "%sparameter file %s not read: %s", at, r->path,
                           strerror(ENOENT));
    else if (rc && rc != PMIX_ERR_NOT_FOUND)
        px_params_complain(r->params, PX_PARAM_WRONG, "%sparameter file not read: %s",
                           at, why.text);
    return PMIX_SUCCESS;
}

static pmix_status_t read_one(struct reading *r, const char *asked_at)
{
    PX_AUTOFREE char *at = asked_at ? px_strf("%s: ", asked_at) : strdup("");
    PX_AUTOFREE char *real = NULL;
    const char *wrong = NULL;
    struct px_param_line line;
    size_t len = 0;

    if (r->params->n_tried++ >= MAX_FILES) {
        px_params_complain(r->params, PX_PARAM_WRONG,
                           "more than %d parameter files: the others are not read",
                           MAX_FILES);
        return PMIX_SUCCESS;
    }
    if (!at || resolve(r, at, &real))
        return PMIX_ERR_NOMEM;
    if (!real)
        return remember_file(r, false);
    PX_AUTOFREE char *text = read_text(r, real, &len);
    if (!text && errno == ENOMEM)
        return PMIX_ERR_NOMEM;
    if (!text && !r->needed && (errno == ENOENT || errno == ENOTDIR))
        return remember_file(r, false);
    if (!text)
        wrong = reason(errno);
    else if (r->depth > MAX_DEPTH)
        wrong = "files include each other too deeply";
    else if (memchr(text, '\0', len))
        wrong = "it is not a text file";
    if (wrong)
        px_params_complain(r->params, PX_PARAM_WRONG,
                           "%sparameter file %s not read: %s", at, r->path, wrong);
    pmix_status_t rc = remember_file(r, !wrong);
    unsigned file = (unsigned)r->params->n_files;
    struct px_param_text lines = {.rest = text, .line = 1};
    while (!rc && !wrong && px_param_next_line(&lines, &line))
        rc = take_line(r, file, &line);
    return rc;
}

pmix_status_t px_params_read_file(struct px_params *p, const char *path,
                                  enum px_param_source source, bool needed,
                                  bool privileged)
{
    struct reading r = {
        .params = p,
        .path = path,
        .source = source,
        .needed = needed,
        .privileged = privileged,
    };

    return read_one(&r, NULL);
}

/* Reads the files listed in parameter name, separated by colons. */
static pmix_status_t read_listed(struct px_params *p, const char *name,
                                 enum px_param_source source, bool privileged)
{
    pmix_status_t rc = PMIX_SUCCESS;
    const char *where;
    const char *text = px_params_text(p, name, NULL, &where);

    if (!text)
        return PMIX_SUCCESS;
    PX_AUTO(px_strv) paths = px_strv_split(text, ':', false);
    for (size_t i = 0; paths && paths[i] && !rc; i++) {
        struct reading r = {
            .params = p,
            .path = paths[i],
            .source = source,
            .needed = true,
            .privileged = privileged,
        };
        if (paths[i][0] == '/')
            rc = read_one(&r, where);
        else
            px_params_complain(p, PX_PARAM_WRONG, "%s: %s = \"%.80s\": expected %s",
                               where, name, paths[i], "absolute paths");
    }
    return rc;
}

/* ---- environment and info -------------------------------------------------------- */

/* Adds a setting. An invalid name becomes a problem, not a failure. */
static pmix_status_t set_or_complain(struct px_params *p, const char *name,
                                     const char *value, enum px_param_source source,
                                     const char *where)
{
    pmix_status_t rc = px_params_add(p, name, value, source, 0, where);

    if (rc != PMIX_ERR_BAD_PARAM)
        return rc;
    px_params_complain(p, PX_PARAM_WRONG,
                       "%s: \"" ENV_PREFIX
                       "%.64s\": a name has letters, digits and _ - "
                       ". only",
                       where, name);
    return PMIX_SUCCESS;
}

pmix_status_t px_params_read_env(struct px_params *p, char *const *env)
{
    pmix_status_t rc = PMIX_SUCCESS;
    uint64_t n;

    for (; env && *env && !rc; env++) {
        /* PMIX_DEBUG, known from OpenPMIx and the Standard's documents, becomes an
         * ordinary parameter if it is a number. */
        if (px_str_starts(*env, ENV_DEBUG) &&
            px_str_to_u64(*env + strlen(ENV_DEBUG), 0, INT32_MAX, &n))
            rc = px_params_add(p, "pmix_debug", *env + strlen(ENV_DEBUG), PX_SOURCE_ENV,
                               0, "environment");
        if (!px_str_starts(*env, ENV_PREFIX))
            continue;
        const char *name = *env + strlen(ENV_PREFIX);
        const char *equals = strchr(name, '=');
        if (!equals)
            continue;
        PX_AUTOFREE char *copy = strndup(name, (size_t)(equals - name));
        if (!copy)
            return PMIX_ERR_NOMEM;
        rc = set_or_complain(p, copy, equals + 1, PX_SOURCE_ENV, "environment");
    }
    return rc;
}

/* Attributes of init functions that are settings. */
static const struct {
    const char *key, *name;
    const char *text; /* of a true flag; NULL: the text of the value */
} attributes[] = {
    {PMIX_SOCKET_MODE, "ptl_usock_mode", NULL},
    {PMIX_TCP_IPV4_PORT, "ptl_tcp_port_min", NULL},
    {PMIX_TCP_IPV6_PORT, "ptl_tcp_port_v6", NULL},
    {PMIX_TCP_IF_INCLUDE, "ptl_tcp_interfaces", NULL},
    {PMIX_TCP_IF_EXCLUDE, "ptl_tcp_no_interfaces", NULL},
    {PMIX_TCP_DISABLE_IPV4, "ptl_tcp_no_ipv4", "true"},
    {PMIX_TCP_DISABLE_IPV6, "ptl_tcp_no_ipv6", "true"},
    {PMIX_SERVER_REMOTE_CONNECTIONS, "server_remote_connections", "true"},
};

/* Reads an attribute as a setting. Other infos are ignored. */
static pmix_status_t read_attribute(struct px_params *p, const pmix_info_t *info,
                                    const char *where)
{
    char number[sizeof("4294967295")];
    const pmix_value_t *v = &info->value;
    const char *text = v->type == PMIX_STRING ? v->data.string : NULL;
    uint32_t n;

    for (size_t i = 0; i < PX_COUNT(attributes); i++) {
        if (!PMIx_Check_key(info->key, attributes[i].key))
            continue;
        if (attributes[i].text) {
            text = attributes[i].text;
            if (PMIx_Info_true(info) != PMIX_BOOL_TRUE)
                return PMIX_SUCCESS;
        } else if (!text && v->type != PMIX_FLOAT && v->type != PMIX_DOUBLE &&
                   PMIx_Value_get_number(v, &n, PMIX_UINT32) == PMIX_SUCCESS) {
            snprintf(number, sizeof(number), "%" PRIu32, n);
            text = number;
        }
        if (text)
            return set_or_complain(p, attributes[i].name, text, PX_SOURCE_ARG, where);
        px_params_complain(p, PX_PARAM_WRONG, "%s: %s: expected a string or a number",
                           where, info->key);
    }
    return PMIX_SUCCESS;
}

pmix_status_t px_params_read_info(struct px_params *p, const pmix_info_t *info,
                                  size_t n_info, const char *where)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < n_info && !rc; i++) {
        if (!px_str_starts(info[i].key, ENV_PREFIX)) {
            rc = read_attribute(p, &info[i], where);
            continue;
        }
        const char *name = info[i].key + strlen(ENV_PREFIX);
        if (info[i].value.type != PMIX_STRING || !info[i].value.data.string)
            px_params_complain(p, PX_PARAM_WRONG, "%s: %s: expected a string", where,
                               info[i].key);
        else
            rc = set_or_complain(p, name, info[i].value.data.string, PX_SOURCE_ARG,
                                 where);
    }
    return rc;
}

/* ---- all of them ----------------------------------------------------------------- */

static pmix_status_t read_beneath(struct px_params *p, const char *dir,
                                  const char *name, enum px_param_source source,
                                  bool privileged)
{
    if (!dir)
        return PMIX_SUCCESS;
    PX_AUTOFREE char *path = px_strf("%s/%s", dir, name);
    return path ? px_params_read_file(p, path, source, false, privileged)
                : PMIX_ERR_NOMEM;
}

/* Reads all sources. Each source may name later ones, so the order differs from the
 * strength. */
static pmix_status_t read_all(struct px_params *p, const struct px_param_origin *from)
{
    const bool privileged = from->privileged;
    pmix_status_t rc = px_params_read_env(p, from->env);

    if (!rc)
        rc = px_params_read_info(p, from->info, from->n_info, from->where);
    if (!rc)
        rc = read_beneath(p, from->sysconfdir, "pmix-mca-params.conf",
                          PX_SOURCE_SYSTEM_FILE, privileged);
    if (!rc) /* another file may replace the user's file */
        rc = px_params_text(p, "mca_base_user_param_file", NULL, NULL)
                 ? read_listed(p, "mca_base_user_param_file", PX_SOURCE_USER_FILE,
                               privileged)
                 : read_beneath(p, from->home, ".pmix/mca-params.conf",
                                PX_SOURCE_USER_FILE, privileged);
    if (!rc)
        rc = read_listed(p, "mca_base_param_files", PX_SOURCE_NAMED_FILE, privileged);
    if (!rc)
        rc = read_listed(p, "mca_base_tune_files", PX_SOURCE_TUNE_FILE, privileged);
    if (!rc)
        rc = read_beneath(p, from->sysconfdir, "pmix-mca-params-override.conf",
                          PX_SOURCE_OVERRIDE_FILE, privileged);
    return rc;
}

pmix_status_t px_params_create_from(const struct px_param_origin *origin,
                                    struct px_params **out, struct px_err *err)
{
    struct px_params *p = px_params_empty(origin->home);

    if (p) {
        p->one_of_many = origin->one_of_many;
        p->sysconfdir = origin->sysconfdir ? strdup(origin->sysconfdir) : NULL;
    }
    if (!p || (origin->sysconfdir && !p->sysconfdir) || read_all(p, origin)) {
        px_params_destroy(p);
        return px_err_nomem(err, "read parameters");
    }
    *out = p;
    return PMIX_SUCCESS;
}

pmix_status_t px_params_create(const pmix_info_t *info, size_t n_info,
                               const char *where, struct px_params **out,
                               struct px_err *err)
{
    const char *home = px_env("HOME");
    const char *rank = px_env("PMIX_NAMESPACE") ? px_env("PMIX_RANK") : NULL;
    const char *sysconfdir = px_env("PMIX_SYSCONFDIR");
    struct px_param_origin origin = {
        .sysconfdir = sysconfdir && sysconfdir[0] == '/' ? sysconfdir : PX_SYSCONFDIR,
        .home = home && home[0] == '/' ? home : NULL,
        .env = px_os_is_setuid() ? NULL : environ,
        .info = info,
        .n_info = n_info,
        .where = where,
        .privileged = px_is_privileged(),
        .one_of_many = rank && strcmp(rank, "0") != 0,
    };

    return px_params_create_from(&origin, out, err);
}
