/* SPDX-License-Identifier: BSD-3-Clause */
/* Problems of settings: collected, and reported once. */
#include "core/config/core_params.h"
#include "core/config/param_impl.h"

#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/base/vec.h"
#include "core/rt/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- problems -------------------------------------------------------------------- */

/* Limits the number of lines. The last line stands for all later ones. */
static bool is_full(const struct px_params *p)
{
    return p->n_problems > PX_PARAM_MAX_PROBLEMS;
}

/* Keeps a problem. Loses the line when out of memory. */
void px_params_complain(struct px_params *p, enum px_param_severity severity,
                        const char *fmt, ...)
{
    char text[1024];
    va_list args;

    if (is_full(p)) {
        struct px_problem *last = &p->problems[PX_PARAM_MAX_PROBLEMS];
        last->severity = severity < last->severity ? severity : last->severity;
        return;
    }
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    for (size_t i = 0; i < p->n_problems; i++)
        if (strcmp(p->problems[i].text, text) == 0)
            return;
    if (p->n_problems == PX_PARAM_MAX_PROBLEMS)
        snprintf(text, sizeof(text), "more is wrong with the parameters");
    struct px_problem *problem = px_vec_add(&p->problems, &p->n_problems,
                                            &p->cap_problems);
    if (!problem)
        return;
    *problem = (struct px_problem){severity, strdup(text), false};
    if (!problem->text)
        p->n_problems--;
}

/* ---- names that are not declared ------------------------------------------------- */

pmix_status_t px_params_ignore_prefix(struct px_params *p, const char *prefix)
{
    return px_strv_append_unique(&p->hidden, prefix);
}

enum { N_NEAR = 3 };

struct near {
    const char *name;
    size_t distance;
};

/* Adds a name nearer than limit to the nearest names, best first. Nearer names displace
 * others. */
static void offer(struct near near[N_NEAR], const char *name, size_t distance,
                  size_t limit)
{
    size_t i = N_NEAR;

    for (; distance < limit && i > 0 &&
           (!near[i - 1].name || distance < near[i - 1].distance ||
            (distance == near[i - 1].distance && strcmp(name, near[i - 1].name) < 0));
         i--) {
        if (i < N_NEAR)
            near[i] = near[i - 1];
    }
    if (i < N_NEAR)
        near[i] = (struct near){name, distance};
}

/* Writes "; did you mean a, b or c?" or, without a near name, "". */
static void suggest_nearest(const struct px_params *p, const char *name, char *text,
                            size_t size)
{
    struct near near[N_NEAR] = {{NULL, 0}};
    const size_t limit = strlen(name) / 3 + 1;
    const struct px_param_foreign *foreign;
    const struct px_declared *d;
    size_t len = 0, n = 0;

    for (size_t pos = 0; (d = px_map_next(&p->declared, &pos, NULL, NULL));)
        offer(near, d->name, px_str_distance(d->name, name), limit);
    for (size_t i = 0; (foreign = px_param_foreign_at(i)); i++)
        if (foreign->ours && (i == 0 || strcmp(foreign->name, foreign[-1].name) != 0))
            offer(near, foreign->name, px_str_distance(foreign->name, name), limit);
    while (n < N_NEAR && near[n].name && near[n].distance <= near[0].distance + 1)
        n++;
    text[0] = '\0';
    for (size_t i = 0; i < n && len < size; i++) {
        bool last = i + 1 == n;
        len += (size_t)snprintf(text + len, size - len, "%s%s%s",
                                i == 0 ? "; did you mean "
                                : last ? " or "
                                       : ", ",
                                near[i].name, last ? "?" : "");
    }
}

static void judge(struct px_params *p, const struct px_setting *s)
{
    const struct px_declared *now = px_map_sget(&p->old, s->name);
    const char *env = s->source == PX_SOURCE_ENV ? "PMIX_MCA_" : "";
    const struct px_param_foreign *foreign;
    char nearest[256];

    if (px_map_sget(&p->declared, s->name))
        return;
    for (char *const *prefix = p->hidden; prefix && *prefix; prefix++)
        if (px_str_starts(s->name, *prefix))
            return;
    if (now) {
        px_params_complain(p, PX_PARAM_ODD, "%s: %s%s is called %s now", s->where, env,
                           s->name, now->name);
        return;
    }
    foreign = px_param_foreign_find(s->name);
    if (foreign) {
        /* Launchers set parameters of all libraries in the environment. */
        bool was_meant = s->source != PX_SOURCE_ENV || foreign->missed;
        if (!foreign->ours)
            px_params_complain(p, was_meant ? PX_PARAM_ODD : PX_PARAM_NOTE,
                               "%s: %s does not apply: %s", s->where, s->name,
                               foreign->why);
        return;
    }
    if (is_full(p))
        nearest[0] = '\0'; /* costly, and the limit hides the line */
    else
        suggest_nearest(p, s->name, nearest, sizeof(nearest));
    px_params_complain(p, PX_PARAM_WRONG, "%s: unknown parameter %s%s = \"%.80s\"%s",
                       s->where, env, s->name, s->value, nearest);
}

/* Reports settings that the override file overrules. */
static void judge_override(struct px_params *p, const struct px_setting *s)
{
    PX_AUTO(px_param_candidates) h = {0};
    const struct px_setting *newest = px_map_sget(&p->by_name, s->name);

    if (s->source != PX_SOURCE_OVERRIDE_FILE)
        return;
    while (newest && newest->source != s->source)
        newest = newest->older;
    /* Only the newest setting of a name is checked. */
    if (newest != s || px_params_candidates(p, s->name, &h) || h.n < 2 ||
        h.v[0].setting != s)
        return;
    for (size_t i = 1; i < h.n; i++) {
        const struct px_setting *beaten = h.v[i].setting;
        if (beaten->source <= PX_SOURCE_SYSTEM_FILE || beaten->source == s->source ||
            strcmp(beaten->value, s->value) == 0)
            continue;
        px_params_complain(p, PX_PARAM_ODD,
                           "%s: %s = \"%.80s\" overrules \"%.80s\" of %s", s->where,
                           s->name, s->value, beaten->value, beaten->where);
        return;
    }
}

void px_params_look_for_unknown(struct px_params *p)
{
    while (*p->unseen) {
        judge(p, *p->unseen);
        judge_override(p, *p->unseen);
        p->unseen = &(*p->unseen)->next;
    }
}

/* ---- reports --------------------------------------------------------------------- */

pmix_status_t px_params_report(struct px_params *p, struct px_err *err)
{
    struct px_base_conf conf = {.strict = PX_STRICT_WARN};
    const struct px_problem *fatal = NULL;

    px_params_parse(p, "mca_base_", px_base_params, &conf, NULL);
    px_params_look_for_unknown(p);
    for (size_t i = 0; i < p->n_problems; i++) {
        struct px_problem *problem = &p->problems[i];
        bool is_fatal = conf.strict == PX_STRICT_ERROR &&
                        problem->severity == PX_PARAM_WRONG;

        if (problem->reported)
            continue;
        problem->reported = true;
        if (is_fatal && !fatal && err)
            fatal = problem; /* err is for the caller to report */
        else if (conf.strict != PX_STRICT_OFF)
            /* One rank of a job reports for all. */
            px_log(problem->severity == PX_PARAM_NOTE || p->one_of_many ? PX_LOG_INFO
                   : is_fatal                                           ? PX_LOG_ERROR
                                                                        : PX_LOG_WARN,
                   "param", "%s", problem->text);
    }
    return fatal ? px_err_set(err, PMIX_ERR_BAD_PARAM, "%s", fatal->text)
                 : PMIX_SUCCESS;
}
