/* SPDX-License-Identifier: BSD-3-Clause */
/* Collection of all facts. The library evaluates the same sources at its start. This
 * program does not open components. */
#include "contrib/tools/pmix_info/info.h"

#include "contrib/tools/toolkit.h"
#include "core/base/str.h"
#include "core/config/core_params.h"
#include "core/rt/process.h"

#include <stdio.h>
#include <string.h>

static void need_success(pmix_status_t rc, const struct px_err *err)
{
    if (rc)
        fail("%s", err && err->text[0] ? err->text : "out of memory");
}

/* ---- one parameter -------------------------------------------------------------- */

static bool is_framework(const char *name)
{
    return px_framework_find(name, strlen(name)) != PX_FW_COUNT;
}

/* Replaces the fates of a list of components by those of the parsed choice: lists of
 * two sources may contradict each other. */
static void look_at_choice(struct px_params *params, struct parameter *p)
{
    PX_AUTO(px_choice) choice = {0};

    need_success(px_choice_parse(params, p->declared->name, &choice, NULL), NULL);
    for (size_t i = 0; i < p->history.n; i++) {
        if (p->history.v[i].setting->value == choice.text)
            p->used = i;
        p->history.v[i].fits = choice.text && i >= p->used;
    }
}

/* Lists the values of a parameter, strongest first, and finds the one in effect. */
static void look_at_values(struct px_params *params, struct parameter *p)
{
    const struct px_declared *d = p->declared;

    need_success(px_params_candidates(params, d->name, &p->history), NULL);
    p->used = px_param_candidates_judge(params, &d->param, &p->history);
    if (is_framework(d->name) && strcmp(d->owner, "core") == 0) {
        p->used = p->history.n;
        look_at_choice(params, p);
    }
}

const char *parameter_value(const struct parameter *p)
{
    return p->used < p->history.n ? p->history.v[p->used].setting->value
                                  : p->declared->param.def;
}

const char *parameter_source(const struct parameter *p)
{
    return p->used < p->history.n ? p->history.v[p->used].setting->where : "default";
}

int parameter_level(const struct parameter *p)
{
    return p->declared->param.level ? p->declared->param.level : 2;
}

const char *parameter_fate(const struct parameter *p, size_t i)
{
    return i == p->used ? "used" : p->history.v[i].fits ? "overruled" : "does not fit";
}

bool parameter_wanted(const struct parameter *p, const struct options *o)
{
    return parameter_level(p) <= o->level &&
           options_want(o, p->framework, p->component);
}

const char *source_name(enum px_param_source source)
{
    static const char *const names[] = {
        [PX_SOURCE_DEFAULT] = "default",
        [PX_SOURCE_SYSTEM_FILE] = "system file",
        [PX_SOURCE_USER_FILE] = "user file",
        [PX_SOURCE_NAMED_FILE] = "named file",
        [PX_SOURCE_ENV] = "environment",
        [PX_SOURCE_TUNE_FILE] = "tune file",
        [PX_SOURCE_ARG] = "argument",
        [PX_SOURCE_OVERRIDE_FILE] = "override file",
    };

    return names[source];
}

const char *severity_name(enum px_param_severity severity)
{
    return severity == PX_PARAM_WRONG ? "wrong"
           : severity == PX_PARAM_ODD ? "odd"
                                      : "note";
}

/* ---- components ----------------------------------------------------------------- */

const char *component_state(const struct component *c)
{
    return c->why ? "failed" : c->left_out ? "excluded" : "ok";
}

static void look_at_component(struct info *info, struct component *c, uint64_t trial_ms)
{
    const px_choice *choice = &info->choices[c->found->framework];
    struct px_err err = {0};
    int64_t priority;
    size_t rank;

    if (!px_choice_allows(choice, c->found->name, &rank))
        c->left_out = need_text("%s = %s (%s)", px_frameworks[c->found->framework].name,
                                choice->text, choice->where);
    component_load(c, trial_ms);
    if (c->why)
        need_success(px_params_ignore_prefix(info->params, c->found->prefix), &err);
    else if (px_choice_parse_of(info->params, c->found, c->loaded.component.params,
                                NULL, &priority, &err))
        px_params_complain(info->params, PX_PARAM_WRONG, "%s: %s",
                           c->found->file ? c->found->file : c->found->name, err.text);
}

/* Fills the catalog. Uses the other folders if a folder of the list cannot be used. */
static void fill_catalog(struct info *info, const char *path)
{
    const char *home = info->params->home, *where = "default";
    struct px_err err = {0};

    if (px_catalog_fill(&info->catalog, path, home, &err)) {
        (void)px_params_text(info->params, "mca_base_component_path", NULL, &where);
        px_params_complain(info->params, PX_PARAM_WRONG, "%s: %s", where, err.text);
        px_catalog_cleanup(&info->catalog);
        need_success(px_catalog_fill(&info->catalog, NULL, home, &err), &err);
    }
}

static void look_at_choices(struct info *info)
{
    for (int id = 0; id < PX_FW_COUNT; id++) {
        px_choice *c = &info->choices[id];
        struct px_err err = {0};

        need_success(px_choice_parse(info->params, px_frameworks[id].name, c, &err),
                     &err);
        if (px_choice_check(c, &info->catalog, (enum px_framework_id)id, info->params,
                            &err))
            px_params_complain(info->params, PX_PARAM_WRONG, "%s", err.text);
    }
}

static void look_at_components(struct info *info)
{
    struct px_base_conf conf = {0};
    struct px_err err = {0};

    need_success(
        px_params_parse(info->params, "mca_base_", px_base_params, &conf, &err), &err);
    fill_catalog(info, conf.component_path);
    look_at_choices(info);
    info->n_components = info->catalog.n;
    info->components = need(calloc(info->catalog.n + 1, sizeof(*info->components)));
    for (size_t i = 0; i < info->n_components; i++) {
        info->components[i].found = &info->catalog.v[i];
        look_at_component(info, &info->components[i], conf.component_probe);
    }
}

/* ---- parameters ----------------------------------------------------------------- */

/* "ptl/tcp" is ptl tcp; "mca_base_" is mca base; "server_" is core server. */
static void name_group(struct parameter *p)
{
    const struct px_declared *d = p->declared;
    const char *slash = strchr(d->owner, '/');
    const struct px_param_set *s = px_core_params;

    if (slash) {
        p->framework = need(strndup(d->owner, (size_t)(slash - d->owner)));
        p->component = need(strdup(slash + 1));
        return;
    }
    if (is_framework(d->name)) {
        p->framework = need(strdup(d->name));
        p->component = need(strdup("base"));
        return;
    }
    while (s->prefix && !px_str_starts(d->name, s->prefix))
        s++;
    const char *prefix = s->prefix ? s->prefix : "other_";
    const char *bar = strchr(prefix, '_');
    const char *rest = bar[1] ? bar + 1 : prefix;
    p->framework = bar[1] ? need(strndup(prefix, (size_t)(bar - prefix)))
                          : need(strdup("core"));
    p->component = need(strndup(rest, strlen(rest) - 1));
}

static int rank_of(const struct parameter *p)
{
    return strcmp(p->framework, "mca") == 0    ? 0
           : strcmp(p->framework, "core") == 0 ? 1
                                               : 2;
}

static int compare(const void *a, const void *b)
{
    const struct parameter *x = a, *y = b;
    bool x_base = strcmp(x->component, "base") == 0;
    bool y_base = strcmp(y->component, "base") == 0;
    int order = rank_of(x) - rank_of(y);

    if (!order)
        order = strcmp(x->framework, y->framework);
    if (!order)
        order = y_base - x_base;
    if (!order)
        order = strcmp(x->component, y->component);
    return order ? order : strcmp(x->declared->name, y->declared->name);
}

static void look_at_parameters(struct info *info)
{
    const struct px_declared *d;

    for (size_t pos = 0; px_map_next(&info->params->declared, &pos, NULL, NULL);)
        info->n_parameters++;
    info->parameters = need(calloc(info->n_parameters + 1, sizeof(*info->parameters)));
    struct parameter *p = info->parameters;
    for (size_t pos = 0; (d = px_map_next(&info->params->declared, &pos, NULL, NULL));
         p++) {
        p->declared = d;
        name_group(p);
        look_at_values(info->params, p);
    }
    qsort(info->parameters, info->n_parameters, sizeof(*info->parameters), compare);
}

/* ---- problems ------------------------------------------------------------------- */

void add_problem(struct info *info, enum px_param_severity severity, char *text)
{
    info->problems = grow(info->problems, info->n_problems + 1,
                          sizeof(*info->problems));
    info->problems[info->n_problems++] = (struct px_problem){severity, text, false};
}

static int by_severity(const void *a, const void *b)
{
    const struct px_problem *x = a, *y = b;

    return x->severity != y->severity ? (int)x->severity - (int)y->severity
                                      : strcmp(x->text, y->text);
}

static void look_at_problems(struct info *info)
{
    const struct px_params *p = info->params;

    px_params_look_for_unknown(info->params);
    for (size_t i = 0; i < p->n_problems; i++)
        add_problem(info, p->problems[i].severity, need(strdup(p->problems[i].text)));
    for (size_t i = 0; i < info->n_components; i++) {
        const struct px_found *f = info->components[i].found;
        const char *file = f->file ? f->file : f->name;
        const char *why = info->components[i].why;
        const px_choice *choice = &info->choices[f->framework];
        bool names_it = why && strstr(why, file);

        /* A component that is excluded by name may fail to load. */
        if (why)
            add_problem(
                info,
                choice->exclude && px_strv_has(choice->names, f->name) ? PX_PARAM_NOTE
                                                                       : PX_PARAM_WRONG,
                need_text("%s%s%s", names_it ? "" : file, names_it ? "" : ": ", why));
    }
    for (size_t i = 0; i < info->catalog.n_left_out; i++) {
        const struct px_left_out *l = &info->catalog.left_out[i];
        add_problem(info, PX_PARAM_ODD,
                    need_text("%s is not used: %s", l->file, l->why));
    }
    for (size_t i = 0; i < N_PLACES; i++) {
        if (!info->places[i].path)
            add_problem(info, PX_PARAM_WRONG,
                        need_text("%s: cannot be found from where this program is",
                                  info->places[i].name));
    }
    if (info->n_problems)
        qsort(info->problems, info->n_problems, sizeof(*info->problems), by_severity);
}

bool info_is_well(const struct info *info)
{
    for (size_t i = 0; i < info->n_problems; i++) {
        if (info->problems[i].severity != PX_PARAM_NOTE)
            return false;
    }
    return true;
}

/* ---- the whole ------------------------------------------------------------------ */

void info_gather(struct info *info, bool deep)
{
    struct px_err err = {0};

    /* The report has all warnings anyway. */
    atomic_store(&px_process.log_level, PX_LOG_ERROR);
    need_success(px_params_create(NULL, 0, "pmix_info", &info->params, &err), &err);
    places_find(info->places, info->params->sysconfdir);
    if (!deep)
        return;
    for (const struct px_param_set *s = px_core_params; s->prefix; s++)
        need_success(px_params_declare(info->params, "core", s->prefix, s->table),
                     NULL);
    need_success(px_params_check_core(info->params, &err), &err);
    need_success(px_choice_declare(info->params), &err);
    look_at_components(info);
    look_at_parameters(info);
    look_at_problems(info);
}
