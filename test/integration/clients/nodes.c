/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes: a job of four ranks on two nodes, nodeA with ranks 0 and 1, nodeB with 2
 * and 3. */
#include "client.h"

static int node_of(pmix_rank_t rank)
{
    return rank < 2 ? 0 : 1;
}

/* Before anybody has committed: a get waits for its rank, wherever that is. */
static void before_the_put(void)
{
    pmix_proc_t last = rank_of(3);
    uint32_t n;

    if (me.rank == 3)
        sleep_ms(300);
    put_u32(PMIX_GLOBAL, "early", me.rank * 7);
    GOOD(PMIx_Commit());
    GOOD(get_u32(&last, "early", NULL, 0, &n));
    CHECK(n == 21);
    barrier();
}

static void where_everybody_is(void)
{
    static const char *const names[] = {"nodeA", "nodeB"};
    pmix_value_t *v;
    uint32_t n;

    GOOD(get_u32(&everyone, PMIX_LOCAL_SIZE, NULL, 0, &n));
    CHECK(n == 2);
    GOOD(get_u32(&everyone, PMIX_NUM_NODES, NULL, 0, &n));
    CHECK(n == 2);
    for (pmix_rank_t r = 0; r < job_size; r++) {
        pmix_proc_t p = rank_of(r);

        GOOD(PMIx_Get(&p, PMIX_HOSTNAME, NULL, 0, &v));
        CHECK(v->type == PMIX_STRING && strcmp(v->data.string, names[node_of(r)]) == 0);
        PMIX_VALUE_RELEASE(v);
        if (strict()) {
            GOOD(get_u32(&p, PMIX_NODEID, NULL, 0, &n));
            CHECK(n == (uint32_t)node_of(r));
        }
        GOOD(PMIx_Get(&p, PMIX_LOCAL_RANK, NULL, 0, &v));
        CHECK(v->type == PMIX_UINT16 && v->data.uint16 == r % 2);
        PMIX_VALUE_RELEASE(v);
    }
    for (int node = 0; node < 2; node++) {
        pmix_proc_t *procs = NULL;
        size_t n_procs = 0;

        GOOD(PMIx_Resolve_peers(names[node], me.nspace, &procs, &n_procs));
        CHECK(n_procs == 2 && node_of(procs[0].rank) == node &&
              node_of(procs[1].rank) == node);
        PMIX_PROC_FREE(procs, n_procs);
    }
}

/* After a fence that collects, everybody's values are on both nodes, each where it
 * should be. */
static void collected(void)
{
    pmix_info_t immediate = info_bool(PMIX_IMMEDIATE);
    char *bytes = malloc(100000);
    pmix_value_t big = {.type = PMIX_BYTE_OBJECT}, *v;
    uint32_t n;

    CHECK(bytes);
    memset(bytes, (int)me.rank + 1, 100000);
    big.data.bo.bytes = bytes;
    big.data.bo.size = 100000;
    GOOD(PMIx_Put(PMIX_GLOBAL, "big", &big));
    free(bytes);
    put_u32(PMIX_GLOBAL, "global", me.rank + 100);
    put_u32(PMIX_LOCAL, "local", me.rank + 200);
    put_u32(PMIX_REMOTE, "remote", me.rank + 300);
    GOOD(PMIx_Commit());
    GOOD(fence_with_data());
    for (pmix_rank_t r = 0; r < job_size; r++) {
        pmix_proc_t p = rank_of(r);

        GOOD(get_u32(&p, "global", NULL, 0, &n));
        CHECK(n == r + 100);
        GOOD(PMIx_Get(&p, "big", NULL, 0, &v));
        CHECK(v->type == PMIX_BYTE_OBJECT && v->data.bo.size == 100000 &&
              v->data.bo.bytes[99999] == (char)(r + 1));
        PMIX_VALUE_RELEASE(v);
        if (r == me.rank)
            continue;
        if (node_of(r) == node_of(me.rank)) {
            GOOD(get_u32(&p, "local", NULL, 0, &n));
            CHECK(n == r + 200);
        } else {
            GOOD(get_u32(&p, "remote", NULL, 0, &n));
            CHECK(n == r + 300);
            CHECK(get_u32(&p, "local", &immediate, 1, &n) != PMIX_SUCCESS);
        }
    }
    barrier();
}

/* Values that no fence carried come when they are asked for. */
static void on_demand(void)
{
    pmix_info_t timeout = info_timeout(1);
    pmix_proc_t other = rank_of((me.rank + 2) % 4);
    double start;
    uint32_t n;

    put_u32(PMIX_GLOBAL, "demand", me.rank + 400);
    GOOD(PMIx_Commit());
    barrier();
    for (pmix_rank_t r = 0; r < job_size; r++) {
        pmix_proc_t p = rank_of(r);

        GOOD(get_u32(&p, "demand", NULL, 0, &n));
        CHECK(n == r + 400);
    }
    barrier();
    start = now_s();
    CHECK(get_u32(&other, "never", &timeout, 1, &n) != PMIX_SUCCESS);
    CHECK(now_s() - start < 8);
    barrier();
}

/* Sets across the nodes and within one, at the same time. */
static void subsets(void)
{
    pmix_proc_t across[2] = {rank_of(me.rank % 2), rank_of(me.rank % 2 + 2)};
    pmix_proc_t within[2] = {rank_of(me.rank & ~1u), rank_of(me.rank | 1)};

    for (int i = 0; i < 5; i++) {
        GOOD(PMIx_Fence(across, 2, NULL, 0));
        GOOD(PMIx_Fence(within, 2, NULL, 0));
    }
    for (int i = 0; i < 20; i++)
        barrier();
}

int main(void)
{
    begin();
    CHECK(job_size == 4);
    before_the_put();
    where_everybody_is();
    collected();
    on_demand();
    subsets();
    return end("nodes");
}
