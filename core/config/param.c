/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters: all settings in the order found, and the tables that define them.
 * Overruled settings are kept. Their text may have been lent, and users see what a
 * value overrules. */
#include "core/config/core_params.h"
#include "core/config/param_impl.h"

#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/base/vec.h"

#include <stdio.h>
#include <string.h>

/* ---- settings -------------------------------------------------------------------- */

static void free_setting(struct px_setting *s)
{
    if (!s)
        return;
    free(s->name);
    free(s->value);
    free(s->where);
    free(s);
}

pmix_status_t px_params_add(struct px_params *p, const char *name, const char *value,
                            enum px_param_source source, unsigned file,
                            const char *where)
{
    if (!px_param_is_name(name))
        return PMIX_ERR_BAD_PARAM;
    struct px_setting *s = calloc(1, sizeof(*s));
    if (!s)
        return PMIX_ERR_NOMEM;
    s->name = strdup(name);
    s->value = strdup(value);
    s->where = strdup(where);
    s->source = source;
    s->file = file;
    s->number = p->n_settings;
    s->older = px_map_sget(&p->by_name, name);
    if (!s->name || !s->value || !s->where || px_map_sput(&p->by_name, name, s, NULL)) {
        free_setting(s);
        return PMIX_ERR_NOMEM;
    }
    *p->end = s;
    p->end = &s->next;
    p->n_settings++;
    /* A file with two different values has a mistake. */
    if (file && s->older && s->older->file == file &&
        strcmp(s->older->value, value) != 0)
        px_params_complain(p, PX_PARAM_WRONG,
                           "%s: %s = \"%.80s\": was \"%.80s\" at %s; the last counts",
                           where, name, value, s->older->value, s->older->where);
    return PMIX_SUCCESS;
}

/* Passes a parameter of the core, whose table stays. */
static pmix_status_t pass_own(const struct px_params *p, const struct px_declared *d,
                              px_params_walk_fn fn, void *arg)
{
    px_param_candidates h = {0};
    pmix_status_t rc = px_params_candidates(p, d->name, &h);

    if (!rc) {
        const size_t used = px_param_candidates_judge(p, &d->param, &h);
        const struct px_setting *s = used < h.n ? h.v[used].setting : NULL;

        rc = s ? fn(arg, d->name, s->value, s->where)
               : fn(arg, d->name, d->param.def, "default");
    }
    px_param_candidates_cleanup(&h);
    return rc;
}

pmix_status_t px_params_walk(const struct px_params *p, px_params_walk_fn fn, void *arg)
{
    pmix_status_t rc = PMIX_SUCCESS;
    const struct px_declared *d;
    size_t pos = 0;

    while (!rc && (d = px_map_next(&p->declared, &pos, NULL, NULL))) {
        const char *where, *value;
        enum px_param_source source;

        if (strcmp(d->owner, "core") == 0)
            rc = pass_own(p, d, fn, arg);
        else if ((value = px_params_text(p, d->name, &source, &where)))
            rc = fn(arg, d->name, value, where);
    }
    return rc;
}

bool px_params_has(const struct px_params *p, const char *prefix)
{
    for (const struct px_setting *s = p->first; s; s = s->next) {
        if (px_str_starts(s->name, prefix))
            return true;
    }
    return false;
}

/* ---- precedence ------------------------------------------------------------------ */

/* Orders by source, strongest first. Within a source, the name precedes its synonyms,
 * and later settings precede earlier ones. */
static int by_strength(const void *a, const void *b)
{
    const struct px_param_candidate *x = a;
    const struct px_param_candidate *y = b;

    if (x->setting->source != y->setting->source)
        return x->setting->source > y->setting->source ? -1 : 1;
    if (x->synonym != y->synonym)
        return x->synonym ? 1 : -1;
    return x->setting->number > y->setting->number ? -1 : 1;
}

static pmix_status_t add_candidates(px_param_candidates *h, const struct px_params *p,
                                    const char *name, bool synonym)
{
    const struct px_setting *s = px_map_sget(&p->by_name, name);

    for (; s; s = s->older) {
        struct px_param_candidate *candidate = px_vec_add(&h->v, &h->n, &h->cap);
        if (!candidate)
            return PMIX_ERR_NOMEM;
        *candidate = (struct px_param_candidate){s, synonym, false};
    }
    return PMIX_SUCCESS;
}

pmix_status_t px_params_candidates(const struct px_params *p, const char *name,
                                   px_param_candidates *out)
{
    const struct px_param_foreign *foreign;
    PX_AUTO(px_param_candidates) h = {0};

    if (!p->first) /* no settings, so no lookup */
        return PMIX_SUCCESS;
    pmix_status_t rc = add_candidates(&h, p, name, false);
    const struct px_declared *d = px_map_sget(&p->declared, name);
    for (char **old = d ? d->old_names : NULL; !rc && old && *old; old++)
        rc = add_candidates(&h, p, *old, true);
    for (size_t i = 0; !rc && (foreign = px_param_foreign_at(i)); i++) {
        if (foreign->ours && strcmp(foreign->ours, name) == 0)
            rc = add_candidates(&h, p, foreign->name, true);
    }
    if (rc)
        return rc;
    if (h.n)
        qsort(h.v, h.n, sizeof(*h.v), by_strength);
    *out = h;
    h = (px_param_candidates){0};
    return PMIX_SUCCESS;
}

void px_param_candidates_cleanup(px_param_candidates *h)
{
    free(h->v);
}

const char *px_params_text(const struct px_params *p, const char *name,
                           enum px_param_source *source, const char **where)
{
    PX_AUTO(px_param_candidates) h = {0};

    if (px_params_candidates(p, name, &h) || !h.n)
        return NULL;
    const struct px_setting *s = h.v[0].setting;
    if (source)
        *source = s->source;
    if (where)
        *where = s->where;
    return s->value;
}

/* ---- tables ---------------------------------------------------------------------- */

static void free_declared(struct px_declared *d)
{
    if (!d)
        return;
    px_strv_free(d->old_names);
    free(d);
}

/* Splits text at commas and trims the words. *list is NULL if there are none. */
static pmix_status_t split_words(const char *text, char ***list)
{
    PX_AUTO(px_strv) words = px_strv_split(text, ',', false);
    PX_AUTO(px_strv) trimmed = NULL;

    for (size_t i = 0; words && words[i]; i++) {
        const char *word = px_str_trim(words[i]);
        if (*word && px_strv_append(&trimmed, word))
            return PMIX_ERR_NOMEM;
    }
    *list = px_take(&trimmed);
    return PMIX_SUCCESS;
}

/* Returns the declaration of a parameter, new or existing. NULL when out of memory. */
static const struct px_declared *declare_one(struct px_params *p, const char *owner,
                                             const char *prefix,
                                             const struct px_param *param)
{
    PX_AUTOFREE char *name = px_strf("%s%s", prefix, param->name);
    struct px_declared *d = name ? px_map_sget(&p->declared, name) : NULL;

    if (!name || d)
        return d;
    const size_t name_b = strlen(name) + 1, owner_b = strlen(owner) + 1;
    d = calloc(1, sizeof(*d) + name_b + owner_b);
    if (!d)
        return NULL;
    d->param = *param;
    d->name = memcpy(d->text, name, name_b);
    d->owner = memcpy(d->text + name_b, owner, owner_b);
    if ((param->old_names && split_words(param->old_names, &d->old_names)) ||
        px_map_sput(&p->declared, d->name, d, NULL)) {
        free_declared(d);
        return NULL;
    }
    for (char **old = d->old_names; old && *old; old++)
        if (px_map_sput(&p->old, *old, d, NULL))
            return NULL;
    return d;
}

pmix_status_t px_params_declare(struct px_params *p, const char *owner,
                                const char *prefix, const struct px_param *table)
{
    for (; table && table->kind != PX_PARAM_KIND_END; table++)
        if (!declare_one(p, owner, prefix, table))
            return PMIX_ERR_NOMEM;
    return PMIX_SUCCESS;
}

/* Keeps a vector that a configuration borrows until px_params_destroy. */
static pmix_status_t keep(struct px_params *p, char **vector)
{
    char ***place = px_vec_add(&p->kept, &p->n_kept, &p->cap_kept);

    if (!place)
        return PMIX_ERR_NOMEM;
    *place = vector;
    return PMIX_SUCCESS;
}

static pmix_status_t store_list(struct px_params *p, const char *text, void *member)
{
    PX_AUTO(px_strv) list = NULL;
    pmix_status_t rc = split_words(text, &list);

    if (!list)
        list = calloc(1, sizeof(*list));
    if (rc || !list || keep(p, list))
        return PMIX_ERR_NOMEM;
    *(char ***)member = px_take(&list);
    return PMIX_SUCCESS;
}

static pmix_status_t store_path(struct px_params *p, const char *text, void *member)
{
    PX_AUTO(px_strv) one = NULL;
    PX_AUTOFREE char *path = px_strf("%s%s", p->home, text + 1);

    if (!path || px_strv_append(&one, path) || keep(p, one))
        return PMIX_ERR_NOMEM;
    *(const char **)member = px_take(&one)[0];
    return PMIX_SUCCESS;
}

static bool is_from_home(const struct px_param *param, const char *text)
{
    return param->kind == PX_PARAM_KIND_PATH && px_str_starts(text, "~/");
}

/* Stores the value of text, which fits param, in *member. */
static pmix_status_t store(struct px_params *p, const struct px_param *param,
                           const char *text, void *member)
{
    if (param->kind == PX_PARAM_KIND_LIST)
        return store_list(p, text, member);
    if (is_from_home(param, text))
        return store_path(p, text, member);
    (void)px_param_from_text(param, text, member);
    return PMIX_SUCCESS;
}

size_t px_param_candidates_judge(const struct px_params *p,
                                 const struct px_param *param, px_param_candidates *h)
{
    size_t used = h->n;

    for (size_t i = h->n; i-- > 0;) {
        h->v[i].fits = px_params_fits(p, param, h->v[i].setting->value);
        used = h->v[i].fits ? i : used;
    }
    return used;
}

/* Reports each value of a parameter that does not fit. used is the index of the value
 * in effect. */
static void complain(struct px_params *p, const struct px_param *param,
                     const px_param_candidates *h, size_t used)
{
    char instead[512] = "", wrong[256];

    if (used < h->n)
        snprintf(instead, sizeof(instead), "; using \"%.40s\" of %.400s",
                 h->v[used].setting->value, h->v[used].setting->where);
    else if (param->def)
        snprintf(instead, sizeof(instead), "; using the default, %.80s", param->def);
    for (size_t i = 0; i < h->n; i++) {
        const struct px_setting *s = h->v[i].setting;
        if (h->v[i].fits)
            continue;
        px_param_mistake(param, s->value, wrong, sizeof(wrong));
        px_params_complain(p, PX_PARAM_WRONG, "%s: %s%s = \"%.80s\": %s%s", s->where,
                           s->source == PX_SOURCE_ENV ? "PMIX_MCA_" : "", s->name,
                           s->value, wrong, i < used ? instead : "");
    }
}

/* Stores the strongest value that fits, or the default. Values that do not fit become
 * problems. */
static pmix_status_t parse_one(struct px_params *p, const struct px_param *param,
                               const char *name, void *member, struct px_err *err)
{
    PX_AUTO(px_param_candidates) h = {0};

    if (param->def && !px_params_fits(p, param, param->def))
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "parameter %s: its default does not fit", name);
    pmix_status_t rc = px_params_candidates(p, name, &h);
    const size_t used = px_param_candidates_judge(p, param, &h);
    const char *text = used < h.n ? h.v[used].setting->value : param->def;
    if (!rc && text)
        rc = store(p, param, text, member);
    if (rc)
        return px_err_nomem(err, "read parameter %s", name);
    if (h.n)
        complain(p, param, &h, used);
    return PMIX_SUCCESS;
}

union any_value {
    int64_t number;
    const void *text;
    struct px_param_version version;
};

pmix_status_t px_params_parse(struct px_params *p, const char *prefix,
                              const struct px_param *table, void *conf,
                              struct px_err *err)
{
    union any_value unused;

    for (; table->kind != PX_PARAM_KIND_END; table++) {
        void *member = conf ? (char *)conf + table->offset : (void *)&unused;
        const struct px_declared *d = declare_one(p, "core", prefix, table);
        pmix_status_t rc = d ? parse_one(p, table, d->name, member, err)
                             : px_err_nomem(err, "read parameters");
        if (rc)
            return rc;
    }
    return PMIX_SUCCESS;
}

pmix_status_t px_params_check_core(struct px_params *p, struct px_err *err)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (const struct px_param_set *s = px_core_params; p->first && !rc && s->prefix;
         s++)
        rc = px_params_parse(p, s->prefix, s->table, NULL, err);
    return rc;
}

bool px_params_fits(const struct px_params *p, const struct px_param *param,
                    const char *text)
{
    union any_value unused;
    size_t at;

    if (param->check && param->check(text, &at))
        return false;
    if (param->kind == PX_PARAM_KIND_LIST)
        return true;
    if (is_from_home(param, text))
        return p->home;
    return px_param_from_text(param, text, &unused);
}

/* ---- life ------------------------------------------------------------------------ */

struct px_params *px_params_empty(const char *home)
{
    struct px_params *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    p->end = &p->first;
    p->unseen = &p->first;
    if (home && !(p->home = strdup(home))) {
        free(p);
        return NULL;
    }
    return p;
}

void px_params_destroy(struct px_params *p)
{
    struct px_declared *d;
    size_t pos = 0;

    if (!p)
        return;
    for (struct px_setting *s = p->first, *next; s; s = next) {
        next = s->next;
        free_setting(s);
    }
    while ((d = px_map_next(&p->declared, &pos, NULL, NULL)))
        free_declared(d);
    px_map_fini(&p->by_name);
    px_map_fini(&p->declared);
    px_map_fini(&p->old);
    for (size_t i = 0; i < p->n_kept; i++)
        px_strv_free(p->kept[i]);
    for (size_t i = 0; i < p->n_problems; i++)
        free(p->problems[i].text);
    for (size_t i = 0; i < p->n_files; i++)
        free(p->files[i].path);
    free(p->files);
    free(p->sysconfdir);
    free(p->kept);
    free(p->problems);
    px_strv_free(p->hidden);
    free(p->home);
    free(p);
}
