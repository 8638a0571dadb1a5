/* SPDX-License-Identifier: BSD-3-Clause */
/* pnet/envar: forwards variables from the launching server's environment to the
 * processes of a job (RFC 0029). Patterns of names come from PMIx_Forward_envars and
 * from parameters. */
#include "components/pnet/jobs.h"

#include "core/base/err.h"
#include "core/base/list.h"
#include "core/base/vec.h"
#include "core/types/type.h"

#include <ctype.h>
#include <stdlib.h>

enum { PRIORITY = 30 };

extern char **environ;

struct conf {
    const char *patterns, *exclude;
};

/* ---- patterns -------------------------------------------------------------------- */

struct pattern {
    char *text; /* without the leading "!" or "^" */
    bool excludes, exact;
};

struct rule {
    pmix_nspace_t nspace; /* "": every job */
    struct pattern *v;
    size_t n, cap;
};

static void rule_cleanup(struct rule *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->v[i].text);
    free(r->v);
}

static bool fits(const char *pattern, const char *name, size_t len)
{
    size_t i = 0;

    for (; pattern[i] && pattern[i] != '*'; i++)
        if (i >= len || (pattern[i] != '?' && pattern[i] != name[i]))
            return false;
    return pattern[i] == '*' || i == len;
}

/* True for variables of PMIx itself, which identify this process and its servers. */
static bool is_ours(const char *name, size_t len)
{
    return fits("PMIX_*", name, len) || fits("TENON_*", name, len);
}

/* Returns the mistake in a list of patterns and its byte, or NULL. A list to forward
 * must not name a variable that is never forwarded. */
static const char *find_mistake(const char *list, bool excludes, size_t *at)
{
    for (const char *item = list, *end; *item; item = end + (*end == ';')) {
        const bool marked = *item == '!' || *item == '^';

        end = item + strcspn(item, ";");
        *at = (size_t)(item - list) + marked;
        if (marked && list + *at == end)
            return "the name is missing";
        if (!marked && !excludes && strcspn(item, "*?;") == (size_t)(end - item) &&
            is_ours(item, (size_t)(end - item)))
            return "variables of PMIx itself are never forwarded";
        for (; list + *at < end; ++*at) {
            const unsigned char c = (unsigned char)list[*at];

            if (c == '=')
                return "no name has a '='";
            if (c == '*' && list + *at + 1 < end)
                return "'*' stands for the rest of a name";
            if (!isalnum(c) && !strchr("_*?.%-+:@()", c))
                return "this is not part of a pattern";
        }
    }
    return NULL;
}

static const char *mistake_in(const char *list, size_t *at)
{
    return find_mistake(list, false, at);
}

static const char *mistake_in_exclusion(const char *list, size_t *at)
{
    return find_mistake(list, true, at);
}

static const struct px_param params[] = {
    PX_PARAM_STRING(struct conf, patterns, "",
                    "Variables to forward to every job: names that may end with * and "
                    "hold ?, separated by ';'; !NAME: not this",
                    .check = mistake_in),
    PX_PARAM_STRING(struct conf, exclude, "", "Variables that are never forwarded",
                    .check = mistake_in_exclusion),
    PX_PARAM_END,
};

/* Adds the patterns of a list. After a failure some may have been added. */
static pmix_status_t add_patterns(struct rule *r, const char *list, bool excludes,
                                  struct px_err *err)
{
    size_t at, len;
    const char *mistake = find_mistake(list, excludes, &at);

    if (mistake)
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "cannot forward variables by \"%.200s\": %s, at byte %zu",
                          list, mistake, at);
    for (const char *item = list; *item; item += len + (item[len] == ';')) {
        const bool negated = *item == '!' || *item == '^';

        len = strcspn(item, ";");
        if (len == 0)
            continue;
        struct pattern *p = px_vec_add(&r->v, &r->n, &r->cap);
        if (!p)
            return px_err_nomem(err, "forward variables");
        p->text = strndup(item + negated, len - negated);
        if (!p->text)
            return px_err_nomem(err, "forward variables");
        p->excludes = excludes || negated;
        p->exact = !strpbrk(p->text, "*?");
    }
    return PMIX_SUCCESS;
}

/* ---- selection of variables ------------------------------------------------------ */

/* Variables that can redirect a program before its main function. They are forwarded
 * only by their full names. */
static const char *const hooks[] = {"LD_*",     "GCONV_PATH", "GLIBC_TUNABLES",
                                    "MALLOC_*", "BASH_ENV",   "BASH_FUNC_*",
                                    "ENV",      "SHELLOPTS",  "PYTHONSTARTUP"};

struct envar {
    const struct px_services *services;
    struct rule *rules; /* the first rule is from the parameters */
    size_t n, cap;
    struct px_list jobs;
};

/* True if the rule is for this job or for one of its parents. */
static bool applies(const struct rule *r, const struct px_pnet_job *job)
{
    size_t i = 0;

    while (i < job->n_parents && strcmp(r->nspace, job->parents[i]) != 0)
        i++;
    return !r->nspace[0] || strcmp(r->nspace, job->nspace) == 0 || i < job->n_parents;
}

static bool is_wanted(const struct envar *e, const struct px_pnet_job *job,
                      const char *name, size_t len)
{
    bool hook = false, wanted = false;

    if (is_ours(name, len))
        return false;
    for (size_t i = 0; i < PX_COUNT(hooks); i++)
        hook |= fits(hooks[i], name, len);
    for (size_t i = 0; i < e->n; i++) {
        const struct rule *r = &e->rules[i];

        if (!applies(r, job))
            continue;
        for (size_t k = 0; k < r->n; k++) {
            if (!fits(r->v[k].text, name, len))
                continue;
            if (r->v[k].excludes)
                return false;
            wanted |= !hook || r->v[k].exact;
        }
    }
    return wanted;
}

static pmix_status_t gather(void *self, const struct px_pnet_job *job,
                            px_pnet_add_fn add, void *arg)
{
    const struct envar *e = self;
    pmix_status_t rc = PMIX_SUCCESS;
    size_t n = 0;

    for (char **v = environ; !rc && v && *v; v++) {
        const size_t len = strcspn(*v, "=");

        if (!(*v)[len] || !is_wanted(e, job, *v, len))
            continue;
        PX_AUTOFREE char *name = strndup(*v, len);
        const pmix_info_t one = {
            .key = PMIX_SET_ENVAR,
            .value = {.type = PMIX_ENVAR, .data.envar = {name, *v + len + 1, ':'}}};

        rc = name ? add(arg, &one) : PMIX_ERR_NOMEM;
        n++;
    }
    if (n)
        e->services->log(e->services, PX_LOG_DEBUG, "job %s: %zu variables forwarded",
                         job->nspace, n);
    return rc;
}

PX_FABRIC_CONTRIBUTE(gather);

static pmix_status_t forward(void *self, const char *nspace, const char *patterns,
                             const char *exclude)
{
    struct envar *e = self;
    struct px_err err = {0};
    struct rule *r = px_vec_add(&e->rules, &e->n, &e->cap);
    pmix_status_t rc = r ? add_patterns(r, patterns, false, &err)
                         : px_err_nomem(&err, "forward variables");

    if (!rc && exclude)
        rc = add_patterns(r, exclude, true, &err);
    if (!rc) {
        strncpy(r->nspace, nspace, PMIX_MAX_NSLEN);
        return PMIX_SUCCESS;
    }
    e->services->log(e->services, PX_LOG_ERROR, "%s", err.text);
    if (r)
        rule_cleanup(&e->rules[--e->n]);
    return rc;
}

/* ---- on each node ---------------------------------------------------------------- */

struct job {
    struct px_fabric_job is;
    px_infos vars;
};

static void job_free(struct job *job)
{
    if (!job)
        return;
    px_list_remove(&job->is.link);
    px_infos_cleanup(&job->vars);
    free(job);
}

static struct job *find_job(const struct envar *e, const char *nspace)
{
    return px_fabric_job_find(&e->jobs, nspace);
}

static void forget(void *self, const char *nspace)
{
    struct envar *e = self;
    size_t kept = 0;

    job_free(find_job(e, nspace));
    for (size_t i = 0; i < e->n; i++) {
        if (e->rules[i].nspace[0] && strcmp(e->rules[i].nspace, nspace) == 0)
            rule_cleanup(&e->rules[i]);
        else
            e->rules[kept++] = e->rules[i];
    }
    e->n = kept;
}

static pmix_status_t apply(void *self, const char *nspace, const pmix_info_t *info,
                           size_t n)
{
    struct envar *e = self;
    struct job *job = calloc(1, sizeof(*job));
    pmix_status_t rc = job ? PMIX_SUCCESS : PMIX_ERR_NOMEM;

    for (size_t i = 0; !rc && i < n; i++) {
        const pmix_envar_t *v = &info[i].value.data.envar;

        if (!PMIx_Check_key(info[i].key, PMIX_SET_ENVAR) ||
            info[i].value.type != PMIX_ENVAR || !v->envar || !v->value ||
            !v->envar[0] || strchr(v->envar, '=') ||
            is_ours(v->envar, strlen(v->envar)))
            rc = PMIX_ERR_BAD_PARAM;
    }
    if (!rc)
        rc = px_infos_add_copy(&job->vars, info, n);
    if (rc) {
        free(job);
        return rc;
    }
    job_free(find_job(e, nspace));
    px_fabric_job_add(&e->jobs, &job->is, nspace);
    return PMIX_SUCCESS;
}

static pmix_status_t envars(void *self, const char *nspace, px_pnet_set_fn set,
                            void *arg)
{
    const struct job *job = find_job(self, nspace);
    pmix_status_t rc = job ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;

    for (size_t i = 0; !rc && i < job->vars.n; i++) {
        const pmix_envar_t *v = &job->vars.v[i].value.data.envar;

        rc = set(arg, PMIX_RANK_WILDCARD, v->envar, v->value);
    }
    return rc;
}

/* ---- life ------------------------------------------------------------------------ */

static void envar_close(void *self)
{
    struct envar *e = self;

    PX_LIST_EACH (&e->jobs, struct job, job, is.link)
        job_free(job);
    for (size_t i = 0; i < e->n; i++)
        rule_cleanup(&e->rules[i]);
    free(e->rules);
    free(e);
}

/* Fails with a log line for a bad pattern. No variable is forwarded then. */
static pmix_status_t envar_open(const struct px_services *services, const void *conf,
                                void **self)
{
    const struct conf *c = conf;
    struct envar *e = calloc(1, sizeof(*e));

    if (!e)
        return PMIX_ERR_NOMEM;
    e->services = services;
    px_list_init(&e->jobs);
    pmix_status_t rc = forward(e, "", c->patterns, c->exclude);
    if (rc)
        envar_close(e);
    else
        *self = e;
    return rc;
}

static pmix_status_t envar_query(void *self PX_UNUSED, struct px_query *answer)
{
    answer->priority = PRIORITY;
    return PMIX_SUCCESS;
}

static const struct px_pnet_ops ops = {.contribute = contribute,
                                       .apply = apply,
                                       .envars = envars,
                                       .forget = forget,
                                       .forward = forward,
                                       .flags = PX_PNET_IN_PLACE,
                                       .gather = gather};

PX_COMPONENT(pnet, envar) = {
    PX_COMPONENT_HEAD(pnet, PNET, envar),
    .version = "1.0",
    .params = params,
    .conf_size = sizeof(struct conf),
    .open = envar_open,
    .query = envar_query,
    .close = envar_close,
    .ops = &ops,
};
