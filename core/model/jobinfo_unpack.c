/* SPDX-License-Identifier: BSD-3-Clause */
/* A server's answer about a job: KVALs in every form servers have used, onto the stage,
 * and from there in. A server is trusted with what it says, not with how long it says
 * it is. */
#include <string.h>

#include "core/base/str.h"
#include "core/model/jobinfo_impl.h"
#include "core/rt/process.h"

/* Reads the next pair; *kv stays the stage's. */
static pmix_status_t next_pair(struct px_stage *s, px_reader *r, struct px_kval *kv)
{
    memset(kv, 0, sizeof(*kv));
    pmix_status_t rc = px_unpack_kval(r, kv);

    if (rc)
        return rc;
    if (!kv->key) {
        px_kval_fini(kv);
        return PMIX_ERR_UNPACK_FAILURE;
    }
    /* Entries borrow the key and what the value points to: both stay where they are. */
    return px_stage_own(s, kv);
}

static bool open_blob(const px_reader *outer, const pmix_value_t *value,
                      px_reader *inner)
{
    if (value->type != PMIX_BYTE_OBJECT ||
        (!value->data.bo.bytes && value->data.bo.size > 0))
        return false;
    px_reader_init(inner, outer->codec, value->data.bo.bytes, value->data.bo.size);
    inner->trusted = outer->trusted;
    return true;
}

/* PROC_RANK, then pairs to the end. */
static pmix_status_t proc_blob(struct px_stage *s, const px_reader *outer,
                               const pmix_value_t *value)
{
    px_reader r;
    struct px_kval kv;
    pmix_rank_t rank;

    if (!open_blob(outer, value, &r))
        return PMIX_ERR_UNPACK_FAILURE;
    pmix_status_t rc = px_unpack_rank(&r, &rank);
    if (!rc && rank >= PMIX_RANK_VALID)
        rc = PMIX_ERR_UNPACK_FAILURE;
    while (!rc && !px_reader_done(&r)) {
        rc = next_pair(s, &r, &kv);
        if (!rc)
            rc = px_stage_put(s, PX_GDS_JOB, rank, kv.key, &kv.value);
    }
    return rc;
}

/* SIZE n, then n pairs: the name of a node, and its ranks. */
static pmix_status_t map_blob(struct px_stage *s, const px_reader *outer,
                              const pmix_value_t *value)
{
    px_reader r;
    struct px_kval kv;
    size_t n;

    if (!open_blob(outer, value, &r))
        return PMIX_ERR_UNPACK_FAILURE;
    pmix_status_t rc = px_unpack_size(&r, &n);
    for (; !rc && n > 0; n--) {
        uint32_t node;
        rc = next_pair(s, &r, &kv);
        if (!rc)
            rc = px_stage_node_new(s, kv.key, &node);
        if (!rc)
            s->nodes[node].ranks = px_value_string(&kv.value);
    }
    return rc;
}

/* Servers send the oldest clients each node's array under the name of the node. Other
 * arrays of infos under keys of anybody's invention look different inside. */
static bool is_named_node(const struct px_kval *kv)
{
    const pmix_info_t *infos;
    size_t n;

    if (px_str_starts(kv->key, "pmix.") || strlen(kv->key) > PX_MAX_NODE_NAME ||
        !px_value_infos(&kv->value, &infos, &n) || n == 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (px_job_key_home(infos[i].key) != PX_HOME_NODE)
            return false;
    return true;
}

static pmix_status_t add_pair(struct px_stage *s, const px_reader *r,
                              const struct px_kval *kv)
{
    if (strcmp(kv->key, PMIX_PROC_BLOB) == 0)
        return proc_blob(s, r, &kv->value);
    if (strcmp(kv->key, PMIX_MAP_BLOB) == 0)
        return map_blob(s, r, &kv->value);
    if (strcmp(kv->key, PX_STORE_DESCRIPTION) == 0) {
        s->description = kv->value;
        return PMIX_SUCCESS;
    }
    if (is_named_node(kv))
        return px_stage_node_array(s, kv->key, &kv->value);
    return px_stage_add(s, kv->key, &kv->value);
}

/* Which application this process belongs to decides what its app realm is. */
static void learn_own_app(struct px_model *m, const struct px_nspace *ns)
{
    struct px_lookup l;
    pmix_value_t v;
    uint32_t app;

    if (ns != m->own || m->self.rank >= PMIX_RANK_VALID)
        return;
    px_lookup_init(&l, PMIX_APPNUM, m->self.rank, NULL, 0);
    if (px_lookup_find(m, ns, &l, &v) != PMIX_SUCCESS)
        return;
    if (px_value_to_u32(&v, &app)) {
        px_gate_close(&px_process.model_gate);
        m->appnum = app;
        px_gate_open(&px_process.model_gate);
    }
    px_type_destruct(PMIX_VALUE, &v);
}

pmix_status_t px_jobinfo_unpack(struct px_model *m, struct px_nspace *ns, px_reader *r)
{
    PX_AUTO(px_stage) s;
    struct px_kval kv;
    pmix_status_t rc = PMIX_SUCCESS;

    px_stage_init(&s, NULL);
    while (!rc && !px_reader_done(r)) {
        rc = next_pair(&s, r, &kv);
        if (!rc)
            rc = add_pair(&s, r, &kv);
    }
    if (!rc)
        rc = px_stage_apply(&s, m, ns, true);
    if (!rc) {
        if (s.description.type != PMIX_UNDEF)
            px_store_attach(ns, &s.description);
        learn_own_app(m, ns);
        ns->complete = true;
    }
    return rc;
}

pmix_status_t px_jobinfo_unpack_rank(struct px_model *m, struct px_nspace *ns,
                                     pmix_rank_t rank, px_reader *r)
{
    pmix_status_t rc = PMIX_SUCCESS;

    if (rank == PMIX_RANK_WILDCARD)
        return px_jobinfo_unpack(m, ns, r);
    px_gate_close(&px_process.model_gate); /* readers see all of it or nothing */
    while (!rc && !px_reader_done(r)) {
        struct px_kval kv = {0};

        rc = px_unpack_kval(r, &kv);
        if (!rc)
            rc = px_store_put(ns, PX_GDS_REMOTE, rank, kv.key, &kv.value);
        px_kval_fini(&kv);
    }
    px_gate_open(&px_process.model_gate);
    return rc;
}
