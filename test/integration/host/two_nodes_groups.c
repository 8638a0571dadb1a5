/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of processes on both nodes. The host joins the values of the members, and numbers the groups. It
 * finds the other node's part by the group's name, because the nodes may know different members. */
#include "two_nodes.h"

#define MAX_VALUES 32

/* Begin of a node's part; n bytes of packed infos follow. */
struct share {
    uint64_t number, n;
};

struct pending {
    pmix_info_cbfunc_t cb;
    void *cbdata;
    bool assigns; /* a context id is asked for */
};

struct answer {
    pmix_info_t infos[MAX_VALUES];
    size_t n;
    char *endpoints; /* of both nodes */
    size_t n_endpoints;
};

static uint64_t last_number;
static pmix_rank_t this_node, n_ranks;

void nodes_group_init(int node, int ranks)
{
    last_number = (uint64_t)node << 20;
    this_node = (pmix_rank_t)node;
    n_ranks = (pmix_rank_t)ranks;
}

static void forget(void *arg)
{
    struct answer *a = arg;

    for (size_t i = 0; i < a->n; i++)
        PMIX_INFO_DESTRUCT(&a->infos[i]);
    free(a->endpoints);
    free(a);
}

/* Adds the values of a node's members. */
static void add_values(struct answer *a, const char *bytes, size_t n_bytes)
{
    pmix_byte_object_t copy = {host_alloc(n_bytes + 1), n_bytes};
    pmix_info_t *infos;
    size_t n;

    memcpy(copy.bytes, bytes, n_bytes);
    infos = host_unpack_infos(copy, &n);
    for (size_t i = 0; i < n; i++) {
        const pmix_byte_object_t *bo = &infos[i].value.data.bo;

        if (PMIX_CHECK_KEY(&infos[i], PMIX_GROUP_ENDPT_DATA)) {
            a->endpoints = realloc(a->endpoints, a->n_endpoints + bo->size + 1);
            HOST_CHECK(a->endpoints);
            memcpy(a->endpoints + a->n_endpoints, bo->bytes, bo->size);
            a->n_endpoints += bo->size;
        } else {
            HOST_CHECK(a->n + 2 < MAX_VALUES);
            PMIX_INFO_XFER(&a->infos[a->n], &infos[i]);
            a->n++;
        }
    }
    if (n)
        PMIX_INFO_FREE(infos, n);
}

/* Answers with the values of both nodes, and the number that the first node gives. */
static void on_shares(pmix_status_t status, const char *data, size_t n, void *cbdata,
                      pmix_release_cbfunc_t release, void *release_data)
{
    struct pending *p = cbdata;
    struct answer *a = host_alloc(sizeof(*a));
    pmix_byte_object_t bo;
    struct share share;
    size_t number = 0;

    for (size_t at = 0; at + sizeof(share) <= n; at += share.n) {
        memcpy(&share, data + at, sizeof(share));
        number = at == 0 ? share.number : number;
        at += sizeof(share);
        HOST_CHECK(share.n <= n - at);
        if (share.n)
            add_values(a, data + at, share.n);
    }
    bo = (pmix_byte_object_t){a->endpoints, a->n_endpoints};
    if (p->assigns) {
        PMIX_INFO_LOAD(&a->infos[a->n], PMIX_GROUP_CONTEXT_ID, &number, PMIX_SIZE);
        a->n++;
    }
    if (bo.size) {
        PMIX_INFO_LOAD(&a->infos[a->n], PMIX_GROUP_ENDPT_DATA, &bo, PMIX_BYTE_OBJECT);
        a->n++;
    }
    p->cb(status, a->infos, a->n, p->cbdata, forget, a);
    release(release_data);
    free(p);
}

/* Packs the values of this node's members, with the number of the group. */
static char *pack_share(struct head *h, const pmix_info_t info[], size_t n)
{
    pmix_info_t shared[MAX_VALUES];
    pmix_byte_object_t bytes = {NULL, 0};
    struct share share = {.number = ++last_number};
    size_t n_shared = 0;
    char *all;

    for (size_t i = 0; i < n; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_LOCAL_COLLECTIVE_STATUS))
            h->status = info[i].value.data.status;
        if (!PMIX_CHECK_KEY(&info[i], PMIX_GROUP_ENDPT_DATA) &&
            !PMIX_CHECK_KEY(&info[i], PMIX_GROUP_INFO))
            continue;
        HOST_CHECK(n_shared < MAX_VALUES);
        shared[n_shared++] = info[i];
    }
    if (n_shared)
        bytes = host_pack_infos(shared, n_shared);
    share.n = bytes.size;
    h->n = (uint32_t)(sizeof(share) + bytes.size);
    all = host_alloc(h->n);
    memcpy(all, &share, sizeof(share));
    if (bytes.size)
        memcpy(all + sizeof(share), bytes.bytes, bytes.size);
    free(bytes.bytes);
    return all;
}

/* True if the processes are on this node only. */
static bool is_local(const pmix_proc_t procs[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (procs[i].rank / n_ranks != this_node) /* also of PMIX_RANK_WILDCARD */
            return false;
    return true;
}

pmix_status_t nodes_group(pmix_group_operation_t op, char group[],
                          const pmix_proc_t procs[], size_t n_procs,
                          const pmix_info_t info[], size_t n, pmix_info_cbfunc_t cb,
                          void *cbdata)
{
    struct pending *p = host_alloc(sizeof(*p));
    struct head h = {.kind = FENCE};
    const bool is_here = is_local(procs, n_procs);
    char *share;

    *p = (struct pending){cb, cbdata, false};
    for (size_t i = 0; i < n; i++)
        p->assigns |= PMIX_CHECK_KEY(&info[i], PMIX_GROUP_ASSIGN_CONTEXT_ID);
    snprintf(h.signature, sizeof(h.signature), "%s %s",
             op == PMIX_GROUP_CONSTRUCT ? "construct" : "destruct", group);
    share = pack_share(&h, info, n);
    if (is_here) {
        on_shares(PMIX_SUCCESS, share, h.n, p, free, share);
        return PMIX_SUCCESS;
    }
    notify_other(&h, share);
    add_part(&h, share, on_shares, p);
    free(share);
    return PMIX_SUCCESS;
}
