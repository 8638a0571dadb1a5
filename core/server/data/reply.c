/* SPDX-License-Identifier: BSD-3-Clause */
/* Replies to a get. A reply carries all that a process has committed, since the client
 * is likely to ask for more of it. Large data go in parts: each reply carries the
 * requested value and the next values not sent yet. A large value goes alone. */
#include "core/server/data/reply.h"

#include "core/base/map.h"
#include "core/model/group_values.h"
#include "core/model/lookup.h"
#include "core/model/nspace.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/peer/share.h"
#include "core/server/server.h"

#include <string.h>

#define PART_B (2u * 1024u * 1024u)
/* The rest of a frame is left for what surrounds the values. */
#define ALL_B (PX_MAX_FRAME_B / 4 * 3)

struct packing {
    px_writer *w;
    const char *key; /* requested key; NULL once it is packed */
    bool qualifies;  /* values of groups go as PMIX_QUALIFIED_VALUE */
    size_t passed;   /* values that the walk has skipped or packed */
    size_t skip;     /* number of values sent in earlier replies */
    size_t limit_b;
};

static void pack_value(px_writer *w, const char *name, const pmix_value_t *value,
                       bool qualifies)
{
    uint64_t context;
    const char *key = qualifies ? px_group_name_key(name, &context) : NULL;
    pmix_info_t two[2];
    pmix_data_array_t array = {.type = PMIX_INFO, .size = 2, .array = two};
    const pmix_value_t both = {.type = PMIX_DATA_ARRAY, .data.darray = &array};

    if (key)
        px_group_value_qualify(key, value, context, two);
    px_pack_kval(w, key ? PMIX_QUALIFIED_VALUE : name, key ? &both : value);
}

static pmix_status_t pack_one(void *arg, pmix_rank_t rank PX_UNUSED, const char *key,
                              const pmix_value_t *value)
{
    struct packing *p = arg;
    px_writer *w = p->w;
    size_t before = w->buf.len;

    if (p->passed < p->skip) {
        p->passed++;
        return PMIX_SUCCESS;
    }
    pack_value(w, key, value, p->qualifies);
    if (w->status == PMIX_ERR_UNKNOWN_DATA_TYPE) { /* not in this dialect */
        w->buf.len = before;
        w->status = PMIX_SUCCESS;
    } else if (w->buf.len > p->limit_b) {
        bool is_large = w->buf.len - before > p->limit_b / 2;

        w->buf.len = before;
        if (!is_large)
            return PMIX_EXISTS; /* ends the walk */
    } else if (p->key && strcmp(key, p->key) == 0) {
        p->key = NULL;
    }
    p->passed++;
    return w->status;
}

static void pack_key(px_writer *w, const struct px_nspace *ns, enum px_gds_table table,
                     pmix_rank_t rank, const char *key, bool qualifies)
{
    pmix_value_t v;

    if (px_store_fetch(&ns->store, table, rank, key, NULL, 0, &v))
        return;
    pack_value(w, key, &v, qualifies);
    px_type_destruct(PMIX_VALUE, &v);
}

static void pack_rank(px_writer *w, struct px_peer *to, const struct px_nspace *ns,
                      const pmix_proc_t *proc, const char *key,
                      enum px_reply_extent extent)
{
    enum px_gds_table table = px_reply_table(to->server, proc);
    uintptr_t n_sent = (uintptr_t)px_map_get(&to->sent, proc, sizeof(*proc));
    struct packing p = {
        .w = w,
        .key = key,
        .qualifies = !px_peer_is_ours(to),
        .skip = key && extent == PX_REPLY_PARTS ? n_sent : 0,
        .limit_b = key && extent == PX_REPLY_PARTS ? PART_B : ALL_B,
    };
    pmix_status_t rc = PMIX_SUCCESS;

    if (!key || extent != PX_REPLY_KEY)
        rc = px_store_walk(&ns->store, table, proc->rank, pack_one, &p);
    if (p.key)
        pack_key(w, ns, table, proc->rank, p.key, p.qualifies);
    /* Without memory for the entry, the client gets the values again. */
    if (p.passed > 0 && (rc == PMIX_EXISTS || n_sent > 0))
        (void)px_map_put(&to->sent, proc, sizeof(*proc), (void *)(uintptr_t)p.passed,
                         NULL);
}

/* Packs one BYTE_OBJECT of PROC and KVALs. */
static void pack_proc(px_writer *out, struct px_peer *to, const struct px_nspace *ns,
                      pmix_rank_t rank, const char *key, enum px_reply_extent extent)
{
    PX_AUTO(px_writer) body;
    pmix_proc_t proc = {0}; /* zeroed behind the name, as it is a map key */

    px_writer_init(&body, out->codec);
    px_proc_set(&proc, ns->name, rank);
    px_pack(&body, &proc, 1, PMIX_PROC);
    if (rank == PMIX_RANK_WILDCARD)
        px_peer_pack_job(to, ns, &body, true);
    else
        pack_rank(&body, to, ns, &proc, key, extent);
    if (body.status && !out->status)
        out->status = body.status;
    px_pack_bytes(out, body.buf.data, body.buf.len);
}

enum px_gds_table px_reply_table(struct px_server *srv, const pmix_proc_t *proc)
{
    return px_local_find(srv, proc) ? PX_GDS_LOCAL : PX_GDS_REMOTE;
}

/* Omits values that the client reads in place: their presence is all it needs. */
void px_reply_found(struct px_req *req, const struct px_nspace *ns,
                    const pmix_proc_t *proc, const char *key,
                    enum px_reply_extent extent)
{
    struct px_peer *to = req->peer;
    bool in_place = px_peer_share(to, ns) &&
                    !px_store_keeps(&ns->store, px_reply_table(to->server, proc),
                                    proc->rank);
    px_writer w;

    px_reply_begin(req, &w, PMIX_SUCCESS);
    if (proc->rank == PMIX_RANK_WILDCARD || strcmp(ns->name, to->proc.nspace) != 0)
        pack_proc(&w, to, ns, PMIX_RANK_WILDCARD, NULL, PX_REPLY_ALL);
    if (proc->rank != PMIX_RANK_WILDCARD && !in_place)
        pack_proc(&w, to, ns, proc->rank, key, extent);
    px_req_reply(req, &w);
}

void px_reply_value(struct px_req *req, const pmix_proc_t *proc, const char *key,
                    const pmix_value_t *value)
{
    PX_AUTO(px_writer) body;
    px_writer w;

    px_reply_begin(req, &w, PMIX_SUCCESS);
    px_writer_init(&body, w.codec);
    px_pack(&body, proc, 1, PMIX_PROC);
    px_pack_kval(&body, key, value);
    if (body.status && !w.status)
        w.status = body.status;
    px_pack_bytes(&w, body.buf.data, body.buf.len);
    px_req_reply(req, &w);
}

void px_reply_pack_remote(px_writer *w, struct px_server *srv,
                          const struct px_nspace *ns, pmix_rank_t rank)
{
    struct packing p = {.w = w, .limit_b = SIZE_MAX};

    if (rank == PMIX_RANK_WILDCARD)
        px_peer_pack_job(srv->self, ns, w, true);
    else
        (void)px_store_walk(&ns->store, PX_GDS_REMOTE, rank, pack_one, &p);
}

void px_reply_pack_values(px_writer *w, struct px_peer *to, const struct px_nspace *ns,
                          pmix_rank_t rank)
{
    struct packing p = {.w = w, .qualifies = !px_peer_is_ours(to), .limit_b = ALL_B};
    pmix_proc_t proc;

    if (rank == PMIX_RANK_WILDCARD)
        px_peer_pack_job(to, ns, w, true); /* with its nodes, applications, sessions */
    if (rank >= PMIX_RANK_VALID)
        return;
    px_proc_set(&proc, ns->name, rank);
    (void)px_store_walk(&ns->store, PX_GDS_JOB, rank, pack_one, &p);
    for (const char *const *key = px_facts(PX_GDS_JOB, rank); *key; key++) {
        pmix_value_t v;

        if (px_store_has(&ns->store, PX_GDS_JOB, rank, *key) ||
            px_fact(ns, PX_GDS_JOB, rank, px_job_key_find(*key), &v))
            continue;
        px_pack_kval(w, *key, &v);
        px_type_destruct(PMIX_VALUE, &v);
    }
    (void)px_store_walk(&ns->store, px_reply_table(to->server, &proc), rank, pack_one,
                        &p);
}
