/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters: all settings that were found, in the order found, and the tables that
 * give them a meaning. A setting that is overruled stays, because its text may have
 * been handed out. */
#include "core/rt/param_impl.h"

#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/rt/log.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

struct setting {
    char *name;
    char *value;
    char *where; /* "/etc/x.conf:12", "environment" */
    enum px_param_source source;
    bool warned; /* that nobody declares this name */
};

struct px_params {
    struct setting *v;
    size_t n, cap;
    char **declared; /* full names */
    char **judged;   /* prefixes, see px_params_judge */
    char **pardoned; /* prefixes, see px_params_pardon */
};

/* Names that other implementations declare where we do not, so that settings written
 * for them are no reason to warn. A leading or trailing * stands for anything. */
static const char *const foreign_names[] = {
    "mca_base_component_disable_dlopen",
    "mca_base_component_track_load_errors",
    "mca_base_env_list*",
    "mca_base_envar_file_prefix",
    "mca_base_override_param_file",
    "mca_base_param_file*",
    "mca_base_suppress_*",
    "mca_base_var_*",
    "*_base_verbose",
    "gds_ds12_*",
    "gds_ds21_*",
    "gds_shmem*",
    "pfexec_base_*",
    "psec_dummy_handshake_*",
    "psec_none_*",
    "ptl_base_*",
    "ptl_client_*",
    "ptl_server_*",
    "ptl_tcp_disable_ipv*",
    "ptl_tcp_if_*",
    "ptl_tcp_ipv*",
    "ptl_tcp_remote_connections",
    "ptl_tcp_report_uri",
    "ptl_tcp_server_uri",
    "ptl_tool_*",
};

/* ---- settings -------------------------------------------------------------------- */

static bool is_name(const char *name)
{
    if (!*name)
        return false;
    for (; *name; name++) {
        if (!isalnum((unsigned char)*name) && !strchr("_-.", *name))
            return false;
    }
    return true;
}

static void free_setting(struct setting *s)
{
    free(s->name);
    free(s->value);
    free(s->where);
}

static pmix_status_t grow(struct px_params *p)
{
    size_t cap = p->cap ? 2 * p->cap : 32;
    struct setting *v = reallocarray(p->v, cap, sizeof(*v));

    if (!v)
        return PMIX_ERR_NOMEM;
    p->v = v;
    p->cap = cap;
    return PMIX_SUCCESS;
}

pmix_status_t px_params_set(struct px_params *p, const char *name, const char *value,
                            enum px_param_source source, const char *where)
{
    if (!is_name(name))
        return PMIX_ERR_BAD_PARAM;
    if (p->n == p->cap && grow(p))
        return PMIX_ERR_NOMEM;
    struct setting s = {strdup(name), strdup(value), strdup(where), source, false};
    if (!s.name || !s.value || !s.where) {
        free_setting(&s);
        return PMIX_ERR_NOMEM;
    }
    p->v[p->n++] = s;
    return PMIX_SUCCESS;
}

/* The strongest; of equals the last. */
static const struct setting *find(const struct px_params *p, const char *name)
{
    const struct setting *best = NULL;

    for (size_t i = 0; i < p->n; i++) {
        const struct setting *s = &p->v[i];

        if ((!best || s->source >= best->source) && strcmp(s->name, name) == 0)
            best = s;
    }
    return best;
}

const char *px_params_text(const struct px_params *p, const char *name,
                           enum px_param_source *source, const char **where)
{
    const struct setting *s = find(p, name);

    if (!s)
        return NULL;
    if (source)
        *source = s->source;
    if (where)
        *where = s->where;
    return s->value;
}

/* ---- life ------------------------------------------------------------------------ */

/* Weakest first only for the reader: each setting carries its source. */
static pmix_status_t read_all(struct px_params *p, const struct px_param_origin *from,
                              struct px_err *err)
{
    const struct {
        const char *dir, *name;
        enum px_param_source source;
    } files[] = {
        {from->sysconfdir, "pmix-mca-params.conf", PX_SOURCE_SYSTEM_FILE},
        {from->home, ".pmix/mca-params.conf", PX_SOURCE_USER_FILE},
        {from->sysconfdir, "pmix-mca-params-override.conf", PX_SOURCE_OVERRIDE_FILE},
    };

    for (size_t i = 0; i < PX_COUNT(files); i++) {
        if (!files[i].dir)
            continue;
        PX_AUTOFREE char *path = px_strf("%s/%s", files[i].dir, files[i].name);
        if (!path)
            return px_err_set(err, PMIX_ERR_NOMEM,
                              "cannot read parameters: out of memory");
        pmix_status_t rc = px_params_read_file(p, path, files[i].source, from->guarded,
                                               err);
        if (rc)
            return rc;
    }
    if (px_params_read_env(p, from->env))
        return px_err_set(err, PMIX_ERR_NOMEM, "cannot read parameters: out of memory");
    return PMIX_SUCCESS;
}

pmix_status_t px_params_create_from(const struct px_param_origin *origin,
                                    struct px_params **out, struct px_err *err)
{
    struct px_params *p = calloc(1, sizeof(*p));
    pmix_status_t rc;

    if (!p || px_params_judge(p, "mca_base_"))
        rc = px_err_set(err, PMIX_ERR_NOMEM, "cannot read parameters: out of memory");
    else
        rc = read_all(p, origin, err);
    if (rc) {
        px_params_destroy(p);
        return rc;
    }
    *out = p;
    return PMIX_SUCCESS;
}

void px_params_destroy(struct px_params *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n; i++)
        free_setting(&p->v[i]);
    free(p->v);
    px_strv_free(p->declared);
    px_strv_free(p->judged);
    px_strv_free(p->pardoned);
    free(p);
}

/* ---- tables ---------------------------------------------------------------------- */

static pmix_status_t bad_value(const struct px_param *param, const char *name,
                               const char *text, const struct setting *s,
                               struct px_err *err)
{
    bool from_env = s && s->source == PX_SOURCE_ENV;
    char expected[192];

    px_param_expected(param, expected, sizeof(expected));
    return px_err_set(err, PMIX_ERR_BAD_PARAM, "%s: %s%s = \"%.80s\": expected %s",
                      s ? s->where : "default", from_env ? "PMIX_MCA_" : "", name, text,
                      expected);
}

static pmix_status_t parse_one(struct px_params *p, const char *prefix,
                               const struct px_param *param, void *conf,
                               struct px_err *err)
{
    PX_AUTOFREE char *name = px_strf("%s%s", prefix, param->name);

    if (!name || px_strv_append_unique(&p->declared, name))
        return px_err_set(err, PMIX_ERR_NOMEM, "cannot read parameters: out of memory");
    const struct setting *s = find(p, name);
    const char *text = s ? s->value : param->def;
    if (!text && param->kind == PX_PARAM_KIND_STRING)
        return PMIX_SUCCESS; /* stays NULL */
    if (!text || !px_param_from_text(param, text, (char *)conf + param->offset))
        return bad_value(param, name, text ? text : "", s, err);
    return PMIX_SUCCESS;
}

pmix_status_t px_params_parse(struct px_params *p, const char *prefix,
                              const struct px_param *table, void *conf,
                              struct px_err *err)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (; table->kind != PX_PARAM_KIND_END && !rc; table++)
        rc = parse_one(p, prefix, table, conf, err);
    return rc;
}

/* ---- names that nobody declares -------------------------------------------------- */

pmix_status_t px_params_judge(struct px_params *p, const char *prefix)
{
    return px_strv_append_unique(&p->judged, prefix);
}

pmix_status_t px_params_pardon(struct px_params *p, const char *prefix)
{
    return px_strv_append_unique(&p->pardoned, prefix);
}

static bool begins_with_one_of(char *const *prefixes, const char *name)
{
    for (; prefixes && *prefixes; prefixes++) {
        if (px_str_starts(name, *prefixes))
            return true;
    }
    return false;
}

static bool matches(const char *pattern, const char *name)
{
    size_t len = strlen(pattern);
    size_t name_len = strlen(name);

    if (pattern[0] == '*')
        return name_len >= len - 1 &&
               strcmp(name + name_len - (len - 1), pattern + 1) == 0;
    if (pattern[len - 1] == '*')
        return strncmp(name, pattern, len - 1) == 0;
    return strcmp(name, pattern) == 0;
}

static bool is_foreign(const char *name)
{
    for (size_t i = 0; i < PX_COUNT(foreign_names); i++) {
        if (matches(foreign_names[i], name))
            return true;
    }
    return false;
}

static bool is_unknown(const struct px_params *p, const char *name)
{
    return begins_with_one_of(p->judged, name) && !px_strv_has(p->declared, name) &&
           !begins_with_one_of(p->pardoned, name) && !is_foreign(name);
}

/* NULL if none is near enough to be what was meant. */
static const char *nearest(char *const *names, const char *name)
{
    size_t limit = strlen(name) / 3 + 1;
    const char *best = NULL;

    for (; names && *names; names++) {
        size_t distance = px_str_distance(*names, name);

        if (distance < limit) {
            limit = distance;
            best = *names;
        }
    }
    return best;
}

void px_params_warn_unknown(struct px_params *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const char *name = p->v[i].name;

        if (p->v[i].warned || !is_unknown(p, name))
            continue;
        for (size_t k = i; k < p->n; k++)
            p->v[k].warned = p->v[k].warned || strcmp(p->v[k].name, name) == 0;
        const struct setting *s = find(p, name);
        const char *near = nearest(p->declared, name);
        px_log(PX_LOG_WARN, "param", "%s: unknown parameter %s%s%s%s", s->where, name,
               near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    }
}
