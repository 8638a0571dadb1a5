/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's choice among components. */
#include "core/plugin/choice.h"

#include "core/base/str.h"
#include "core/config/param_impl.h"

#include <string.h>
#include <strings.h>

static bool is_one_of(const char *text, const char *const *words)
{
    while (*words && strcasecmp(text, *words) != 0)
        words++;
    return *words;
}

static pmix_status_t split(const char *text, px_choice *c)
{
    PX_AUTOFREE char *copy = strdup(text);

    if (!copy)
        return PMIX_ERR_NOMEM;
    char *rest = px_str_trim(copy);
    c->exclude = *rest == '^';
    rest += c->exclude;
    for (char *name; (name = strsep(&rest, ","));) {
        name = px_str_trim(name);
        if (*name == '^')
            return PMIX_ERR_BAD_PARAM;
        if (*name && px_strv_append(&c->names, name))
            return PMIX_ERR_NOMEM;
    }
    return PMIX_SUCCESS;
}

pmix_status_t px_choice_of_reports(const char *text, px_choice *c)
{
    static const char *const none[] = {"none", "false", "no", "off", "0", "", NULL};
    static const char *const all[] = {"all", "true", "yes", "on", "1", NULL};
    PX_AUTOFREE char *copy = strdup(text ? text : "");

    if (!copy)
        return PMIX_ERR_NOMEM;
    const char *trimmed = px_str_trim(copy);
    if (is_one_of(trimmed, none))
        return PMIX_SUCCESS;
    c->exclude = is_one_of(trimmed, all);
    return c->exclude || split(trimmed, c) != PMIX_ERR_NOMEM ? PMIX_SUCCESS
                                                             : PMIX_ERR_NOMEM;
}

pmix_status_t px_choice_parse(struct px_params *params, const char *framework,
                              px_choice *c, struct px_err *err)
{
    PX_AUTO(px_param_candidates) h = {0};

    if (px_params_candidates(params, framework, &h))
        return px_err_nomem(err, "select components");
    for (size_t i = 0; i < h.n; i++) {
        const struct px_setting *s = h.v[i].setting;
        pmix_status_t rc = split(s->value, c);
        if (!rc) {
            c->text = s->value;
            c->where = s->where;
            return PMIX_SUCCESS;
        }
        px_choice_cleanup(c);
        if (rc == PMIX_ERR_NOMEM)
            return px_err_nomem(err, "select components");
        px_params_complain(
            params, PX_PARAM_WRONG,
            "%s: %s%s = \"%.80s\": expected a list to use, \"a,b\", or one "
            "to leave out, \"^a,b\", not both",
            s->where, s->source == PX_SOURCE_ENV ? "PMIX_MCA_" : "", s->name, s->value);
    }
    return PMIX_SUCCESS;
}

bool px_choice_allows(const px_choice *c, const char *name, size_t *rank)
{
    *rank = 0;
    if (!c->names || c->exclude)
        return !px_strv_has(c->names, name);
    while (c->names[*rank] && strcmp(c->names[*rank], name) != 0)
        ++*rank;
    return c->names[*rank] != NULL;
}

/* True if a transport serves the address: "tcp" serves "tcp4://...". */
static bool serves(const char *name, const char *address)
{
    return px_str_starts(address, name);
}

bool px_choice_can_wait(const px_choice *c, const px_catalog *catalog,
                        enum px_framework_id id, const char *address, const char *name)
{
    const struct px_found *f;
    size_t n = px_catalog_part(catalog, id, &f);
    bool is_served = address && !address[0];
    size_t rank;

    if (id == PX_FW_PSEC && address && !(c->names && !c->exclude))
        return strcmp(name, "munge") == 0; /* clients do not use it */
    if (id != PX_FW_PTL || !address || (c->names && !c->exclude))
        return false;
    for (size_t i = 0; i < n; i++)
        is_served |= px_choice_allows(c, f[i].name, &rank) &&
                     serves(f[i].name, address);
    return is_served && !serves(name, address);
}

/* True if the default protects at least as much as one of the requested components that
 * this library lacks. */
static bool can_replace(enum px_framework_id id, char *const *names)
{
    static const char *const weaker[] = {"none", "dummy_handshake", NULL};
    bool found = !px_frameworks[id].protects;

    for (; !found && *names; names++)
        found = is_one_of(*names, weaker);
    return found;
}

/* Reports missing components. Excluding a missing component is allowed: one list may
 * serve several installations. */
pmix_status_t px_choice_check(px_choice *c, const px_catalog *catalog,
                              enum px_framework_id id, struct px_params *params,
                              struct px_err *err)
{
    const char *framework = px_frameworks[id].name;
    size_t n_known = 0;
    char known[200];

    if (c->exclude || !c->names)
        return PMIX_SUCCESS;
    px_catalog_list(catalog, id, known, sizeof(known));
    for (size_t i = 0; c->names[i]; i++)
        n_known += px_catalog_find(catalog, id, c->names[i]) != NULL;
    if (!n_known && !can_replace(id, c->names))
        return px_err_set(
            err, PMIX_ERR_BAD_PARAM,
            "unknown component %.64s for framework %s, known: %s (from %s)",
            c->names[0], framework, known, c->where);
    for (size_t i = 0; c->names[i]; i++) {
        if (!px_catalog_find(catalog, id, c->names[i]))
            px_params_complain(params, PX_PARAM_WRONG,
                               "%s: %s = \"%.80s\": unknown component %.64s%s: %s",
                               c->where, framework, c->text, c->names[i],
                               n_known ? ", known" : "; using the default", known);
    }
    if (!n_known)
        px_choice_cleanup(c);
    return PMIX_SUCCESS;
}

void px_choice_cleanup(px_choice *c)
{
    px_strv_free(c->names);
    *c = (px_choice){0};
}

pmix_status_t px_choice_declare(struct px_params *params)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (int id = 0; id < PX_FW_COUNT && !rc; id++) {
        const struct px_param table[] = {
            {.name = px_frameworks[id].name,
             .kind = PX_PARAM_KIND_STRING,
             .help = "Components to use, in this order; or, after ^, to leave out",
             .level = 1},
            PX_PARAM_END,
        };
        rc = px_params_declare(params, "core", "", table);
    }
    return rc;
}

/* ---- required components --------------------------------------------------------- */

struct required_conf {
    bool required;
};

static const struct px_param required_params[] = {
    PX_PARAM_BOOL(struct required_conf, required, "false",
                  "No job is launched without this component: where it cannot be used, "
                  "crashes, or takes too long, the launch fails"),
    PX_PARAM_END,
};

/* Returns "hello" for "pnet_hello_required", malloc'd; NULL for other names. */
static char *required_name(const char *framework, const char *name)
{
    const char suffix[] = "_required";
    const size_t before = strlen(framework) + 1, len = strlen(name);

    if (len <= before + sizeof(suffix) - 1 || !px_str_starts(name, framework) ||
        name[before - 1] != '_' ||
        strcmp(name + len - (sizeof(suffix) - 1), suffix) != 0)
        return NULL;
    return strndup(name + before, len - before - (sizeof(suffix) - 1));
}

pmix_status_t px_choice_required(struct px_params *params,
                                 enum px_framework_id framework, px_strv *names)
{
    const char *fw = px_frameworks[framework].name;
    pmix_status_t rc = PMIX_SUCCESS;

    if (!px_frameworks[framework].may_require)
        return PMIX_SUCCESS;
    for (const struct px_setting *s = params->first; s && !rc; s = s->next) {
        struct required_conf conf = {false};
        PX_AUTOFREE char *name = required_name(fw, s->name);
        PX_AUTOFREE char *prefix = name ? px_strf("%s_%s_", fw, name) : NULL;

        if (!name || px_strv_has(*names, name))
            continue;
        rc = prefix ? px_params_parse(params, prefix, required_params, &conf, NULL)
                    : PMIX_ERR_NOMEM;
        if (!rc && conf.required)
            rc = px_strv_append(names, name);
    }
    return rc;
}

/* ---- parameters of components ---------------------------------------------------- */

struct priority_conf {
    int64_t priority;
};

static const struct px_param priority_params[] = {
    PX_PARAM_INT(struct priority_conf, priority, "-1", -1, 1000,
                 "Place among the components of the framework, the greatest first; -1: "
                 "the component's own",
                 .level = 3),
    PX_PARAM_END,
};

static bool has_own_priority(const struct px_param *table)
{
    while (table && table->kind != PX_PARAM_KIND_END &&
           strcmp(table->name, priority_params[0].name) != 0)
        table++;
    return table && table->kind != PX_PARAM_KIND_END;
}

pmix_status_t px_choice_parse_of(struct px_params *params, const struct px_found *found,
                                 const struct px_param *table, void *conf,
                                 int64_t *priority, struct px_err *err)
{
    struct priority_conf set = {-1};
    PX_AUTOFREE char *owner = px_strf("%s/%s", px_frameworks[found->framework].name,
                                      found->name);
    pmix_status_t rc = PMIX_SUCCESS;

    if (!owner || px_params_declare(params, owner, found->prefix, table) ||
        px_params_declare(params, owner, found->prefix, priority_params))
        rc = px_err_nomem(err, "read parameters");
    if (!rc && table)
        rc = px_params_parse(params, found->prefix, table, conf, err);
    if (!rc && !has_own_priority(table))
        rc = px_params_parse(params, found->prefix, priority_params, &set, err);
    *priority = set.priority;
    return rc;
}
