/* SPDX-License-Identifier: BSD-3-Clause */
/* pnet/opx: a 128-bit key for each job, by which transports separate the traffic of
 * jobs. Sets the variables that Open MPI and libfabric's providers for Omni-Path and
 * PSM read. The launching server makes the key, which is never logged. */
#include "components/pnet/jobs.h"
#include "components/pnet/request.h"
#include "core/base/list.h"
#include "core/base/strv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRIORITY = 20 };
#define KEY_ID "tenon.opx" /* used if the request names no key */

enum spawned { OWN_KEY, PARENTS_KEY };

struct conf {
    bool enabled;
    const char *const *variables;
    int64_t spawned;
};

static const struct px_param_name spawned_names[] = {
    {"own", OWN_KEY}, {"parent", PARENTS_KEY}, {NULL, 0}};

static const struct px_param params[] = {
    PX_PARAM_BOOL(struct conf, enabled, "false",
                  "Give a key to each job; otherwise to jobs that request a key"),
    PX_PARAM_LIST(
        struct conf, variables, NULL,
        "Variables that get the key: opx (FI_OPX_UUID), psm2 (FI_PSM2_UUID), psm3 "
        "(FI_PSM3_UUID), ompi (OMPI_MCA_orte_precondition_transports); unset: "
        "all"),
    PX_PARAM_ENUM(
        struct conf, spawned, "own", spawned_names,
        "Key of a job that a process has spawned: its own, or that of its "
        "parent's job, without which these transports do not connect the two"),
    PX_PARAM_END,
};

/* Formats of the key: 32 hexadecimal digits, with hyphens before the digits in the
 * mask. */
static const struct form {
    const char *name, *variable;
    uint32_t hyphens;
} forms[] = {
    {"opx", "FI_OPX_UUID", 0},
    {"psm2", "FI_PSM2_UUID", 1 << 8 | 1 << 12 | 1 << 16 | 1 << 20},
    {"psm3", "FI_PSM3_UUID", 1 << 8 | 1 << 12 | 1 << 16 | 1 << 20},
    {"ompi", "OMPI_MCA_orte_precondition_transports", 1 << 16},
};
enum { FORM_B = 2 * PX_FABRIC_KEY_B + 4 + 1 };

struct job {
    struct px_fabric_job is;
    uint8_t key[PX_FABRIC_KEY_B];
    bool has_key;
    px_infos answers; /* as received on this node */
};

struct opx {
    const struct px_services *services;
    const struct conf *conf;
    struct px_list jobs;
};

/* ---- jobs ------------------------------------------------------------------------ */

static struct job *find_job(const struct opx *o, const char *nspace)
{
    return px_fabric_job_find(&o->jobs, nspace);
}

static void set_key(struct job *job, const uint8_t *key)
{
    memcpy(job->key, key, sizeof(job->key));
    job->has_key = true;
}

static void drop_answers(px_infos *answers)
{
    const pmix_info_t *part, *key;
    size_t n;

    for (size_t i = 0; i < answers->n; i++) {
        key = px_fabric_is_answer(&answers->v[i], &part, &n)
                  ? px_info_find(part, n, PMIX_ALLOC_FABRIC_SEC_KEY)
                  : NULL;
        if (key && key->value.type == PMIX_BYTE_OBJECT && key->value.data.bo.bytes)
            explicit_bzero(key->value.data.bo.bytes, key->value.data.bo.size);
    }
    px_infos_cleanup(answers);
}

static void forget(void *self, const char *nspace)
{
    struct job *job = find_job(self, nspace);

    if (!job)
        return;
    drop_answers(&job->answers);
    px_list_remove(&job->is.link);
    explicit_bzero(job->key, sizeof(job->key));
    free(job);
}

static bool has_form(const struct opx *o, size_t form)
{
    return !o->conf->variables ||
           px_strv_has((char *const *)o->conf->variables, forms[form].name);
}

/* ---- on the launching server ----------------------------------------------------- */

/* Returns the first parent that has a key, if jobs share keys. */
static const struct job *parent_with_key(const struct opx *o,
                                         const struct px_pnet_job *job)
{
    for (size_t i = 0; o->conf->spawned == PARENTS_KEY && i < job->n_parents; i++) {
        const struct job *parent = find_job(o, job->parents[i]);

        if (parent && parent->has_key)
            return parent;
    }
    return NULL;
}

static pmix_status_t choose_key(const struct opx *o, const struct px_pnet_job *job,
                                uint8_t key[PX_FABRIC_KEY_B], struct px_err *err)
{
    const struct job *parent = parent_with_key(o, job);

    if (!parent)
        return px_fabric_key_make(key, err);
    memcpy(key, parent->key, PX_FABRIC_KEY_B);
    return PMIX_SUCCESS;
}

/* Adds allocations to out. The text names the variables; the key is a separate
 * member. */
static pmix_status_t answer(const struct opx *o, const struct px_pnet_job *job,
                            const uint8_t *key, px_infos *out, struct px_err *err)
{
    char text[256] = "";
    bool wanted = o->conf->enabled ||
                  px_info_flag(job->info, job->n_info, PMIX_ALLOC_FABRIC_SEC_KEY);
    pmix_status_t rc = PMIX_SUCCESS;
    struct px_fabric_request r;

    for (size_t i = 0; i < PX_COUNT(forms); i++)
        if (has_form(o, i))
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
                     text[0] ? "," : "", forms[i].variable);
    for (size_t at = 0; px_fabric_request_next(job, &at, &r, &rc, err);) {
        if (r.type ? strcmp(r.type, "opx") != 0 : !r.with_key)
            continue;
        if (r.required)
            rc = px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                            "cannot give job %s a key with %s", job->nspace,
                            r.required);
        else
            rc = px_fabric_answer(out, r.id ? r.id : KEY_ID, "opx", text, &r, key, err);
    }
    return rc || out->n || !wanted
               ? rc
               : px_fabric_answer(out, KEY_ID, "opx", text, NULL, key, err);
}

static pmix_status_t gather(void *self, const struct px_pnet_job *job,
                            px_pnet_add_fn add, void *arg)
{
    struct opx *o = self;
    struct px_err err = {0};
    px_infos out = {0};
    uint8_t key[PX_FABRIC_KEY_B];
    pmix_status_t rc = choose_key(o, job, key, &err);

    if (!rc && px_fabric_is_wanted(job))
        rc = answer(o, job, key, &out, &err);
    if (rc && rc != PMIX_ERR_NOMEM)
        o->services->log(o->services, PX_LOG_ERROR, "%s", err.text);
    for (size_t i = 0; !rc && i < out.n; i++)
        rc = add(arg, &out.v[i]);
    if (!rc && out.n) { /* for jobs that this job spawns */
        struct job *mine = px_fabric_job_get(&o->jobs, job->nspace, sizeof(struct job));

        rc = mine ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
        if (mine)
            set_key(mine, key);
    }
    drop_answers(&out);
    explicit_bzero(key, sizeof(key));
    return rc;
}

PX_FABRIC_CONTRIBUTE(gather);

/* ---- on each node ---------------------------------------------------------------- */

/* Returns the key that all infos of a message hold; NULL: a missing or different
 * key. */
static const uint8_t *key_of(const pmix_info_t *info, size_t n)
{
    const pmix_info_t *part, *key = NULL;
    size_t n_parts;

    for (size_t i = 0; i < n; i++) {
        const pmix_info_t *before = key;

        key = px_fabric_is_answer(&info[i], &part, &n_parts)
                  ? px_info_find(part, n_parts, PMIX_ALLOC_FABRIC_SEC_KEY)
                  : NULL;
        if (!key || key->value.type != PMIX_BYTE_OBJECT || !key->value.data.bo.bytes ||
            key->value.data.bo.size != PX_FABRIC_KEY_B ||
            (before && memcmp(key->value.data.bo.bytes, before->value.data.bo.bytes,
                              PX_FABRIC_KEY_B) != 0))
            return NULL;
    }
    return key ? (const uint8_t *)key->value.data.bo.bytes : NULL;
}

static pmix_status_t apply(void *self, const char *nspace, const pmix_info_t *info,
                           size_t n)
{
    struct opx *o = self;
    const uint8_t *key = key_of(info, n);
    px_infos answers = {0};

    if (!key && n)
        return PMIX_ERR_BAD_PARAM;
    pmix_status_t rc = px_infos_add_copy(&answers, info, n);
    struct job *job = rc ? NULL
                         : px_fabric_job_get(&o->jobs, nspace, sizeof(struct job));
    if (!job) {
        drop_answers(&answers);
        return PMIX_ERR_NOMEM;
    }
    drop_answers(&job->answers);
    job->answers = answers;
    if (key)
        set_key(job, key);
    return PMIX_SUCCESS;
}

static void print_key(char out[FORM_B], const uint8_t *key, uint32_t hyphens)
{
    static const char digits[] = "0123456789abcdef";

    for (unsigned i = 0; i < 2 * PX_FABRIC_KEY_B; i++) {
        if (hyphens >> i & 1)
            *out++ = '-';
        *out++ = digits[i % 2 ? key[i / 2] & 15 : key[i / 2] >> 4];
    }
    *out = '\0';
}

static pmix_status_t envars(void *self, const char *nspace, px_pnet_set_fn set,
                            void *arg)
{
    const struct opx *o = self;
    const struct job *job = find_job(o, nspace);
    pmix_status_t rc = job ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
    char text[FORM_B] = "";

    for (size_t i = 0; !rc && job->answers.n && i < PX_COUNT(forms); i++) {
        if (!has_form(o, i))
            continue;
        print_key(text, job->key, forms[i].hyphens);
        rc = set(arg, PMIX_RANK_WILDCARD, forms[i].variable, text);
    }
    explicit_bzero(text, sizeof(text));
    return rc;
}

static pmix_status_t values(void *self, const struct px_pnet_job *job,
                            px_pnet_put_fn put, void *arg)
{
    const struct job *mine = find_job(self, job->nspace);
    pmix_status_t rc = mine ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;

    for (size_t i = 0; !rc && i < mine->answers.n; i++)
        rc = put(arg, PMIX_RANK_WILDCARD, &mine->answers.v[i]);
    return rc;
}

/* ---- life ------------------------------------------------------------------------ */

static void opx_close(void *self)
{
    struct opx *o = self;

    PX_LIST_EACH (&o->jobs, struct job, job, is.link)
        forget(o, job->is.nspace);
    free(o);
}

static pmix_status_t opx_open(const struct px_services *services, const void *conf,
                              void **self)
{
    const struct conf *c = conf;
    struct opx *o = calloc(1, sizeof(*o));

    if (!o)
        return PMIX_ERR_NOMEM;
    for (size_t i = 0; c->variables && c->variables[i]; i++) {
        size_t k = 0;

        while (k < PX_COUNT(forms) && strcmp(forms[k].name, c->variables[i]) != 0)
            k++;
        if (k < PX_COUNT(forms))
            continue;
        services->log(services, PX_LOG_ERROR,
                      "cannot use pnet_opx_variables: \"%.64s\" is none of opx, psm2, "
                      "psm3, ompi",
                      c->variables[i]);
        free(o);
        return PMIX_ERR_BAD_PARAM;
    }
    o->services = services;
    o->conf = c;
    px_list_init(&o->jobs);
    *self = o;
    return PMIX_SUCCESS;
}

/* Usable even if disabled: single jobs may ask for a key. */
static pmix_status_t opx_query(void *self PX_UNUSED, struct px_query *answer)
{
    answer->priority = PRIORITY;
    return PMIX_SUCCESS;
}

static const struct px_pnet_ops ops = {
    .contribute = contribute,
    .apply = apply,
    .envars = envars,
    .forget = forget,
    .flags = PX_PNET_IN_PLACE,
    .gather = gather,
    .values = values,
};

PX_COMPONENT(pnet, opx) = {
    PX_COMPONENT_HEAD(pnet, PNET, opx),
    .version = "1.0",
    .params = params,
    .conf_size = sizeof(struct conf),
    .open = opx_open,
    .query = opx_query,
    .close = opx_close,
    .ops = &ops,
};
