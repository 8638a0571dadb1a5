/* SPDX-License-Identifier: BSD-3-Clause */
/* Data that the ranks of a node read of each other, in shared memory or not. */
#include "client.h"

/* Separates the parts of the program in a trace of system calls. */
static void trace_point(void)
{
    (void)getppid();
}

static void put_all(size_t size, uint32_t round)
{
    pmix_value_t blob = {.type = PMIX_BYTE_OBJECT};

    put_u32(PMIX_GLOBAL, "n", me.rank + round);
    put_u32(PMIX_REMOTE, "far", 1);
    blob.data.bo.bytes = malloc(size);
    CHECK(blob.data.bo.bytes);
    memset(blob.data.bo.bytes, (int)(me.rank + round), size);
    blob.data.bo.size = size;
    GOOD(PMIx_Put(PMIX_LOCAL, "blob", &blob));
    free(blob.data.bo.bytes);
    GOOD(PMIx_Commit());
}

static void read_job(void)
{
    U32_IS(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, job_size);
    U32_IS(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE, job_size);
    VALUE_IS(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS, PMIX_STRING, v->data.string[0]);
    VALUE_IS(PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE, PMIX_UINT32, v->data.uint32 > 0);
    for (pmix_rank_t r = 0; r < job_size; r++) {
        VALUE_IS(r, PMIX_LOCAL_RANK, PMIX_UINT16, v->data.uint16 == r);
        VALUE_IS(r, PMIX_HOSTNAME, PMIX_STRING, v->data.string[0]);
        VALUE_IS(r, PMIX_APPNUM, PMIX_UINT32, v->data.uint32 == 0);
    }
}

static void read_peers(size_t size, uint32_t round)
{
    pmix_info_t now = info_bool(PMIX_IMMEDIATE);
    uint32_t n;

    for (pmix_rank_t r = 0; r < job_size; r++) {
        U32_IS(r, "n", r + round);
        VALUE_IS(r, "blob", PMIX_BYTE_OBJECT,
                 v->data.bo.size == size &&
                     v->data.bo.bytes[size - 1] == (char)(r + round));
    }
    if (job_size > 1)
        CHECK(get_u32(next_rank(), "far", &now, &n) != PMIX_SUCCESS);
}

static uint32_t u32_of(const pmix_proc_t *proc, const char *key)
{
    pmix_value_t *v;
    uint32_t n;

    GOOD(PMIx_Get(proc, key, NULL, 0, &v));
    CHECK(v->type == PMIX_UINT32);
    n = v->data.uint32;
    PMIX_VALUE_RELEASE(v);
    return n;
}

static void read_other_job(const char *nspace, uint32_t size)
{
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, nspace, PMIX_RANK_WILDCARD);
    CHECK(u32_of(&proc, PMIX_JOB_SIZE) == size);
    for (proc.rank = 0; proc.rank < size; proc.rank++)
        CHECK(u32_of(&proc, "n") >= 1000);
}

/* Spawns a job, reads its data and waits for the key "done", which the child job commits last. */
static void spawn(const char *program, const char *size)
{
    pmix_nspace_t child;
    pmix_value_t *v;
    pmix_proc_t proc;
    pmix_app_t app = app_of(program, 2,
                            (const char *[]){"client", "shared", size, "child", NULL});

    GOOD(PMIx_Spawn(NULL, 0, &app, 1, child));
    PMIX_APP_DESTRUCT(&app);
    read_other_job(child, 2);
    for (pmix_rank_t r = 0; r < 2; r++) {
        PMIX_LOAD_PROCID(&proc, child, r);
        if (PMIx_Get(&proc, "done", NULL, 0, &v) == PMIX_SUCCESS)
            PMIX_VALUE_RELEASE(v);
    }
}

/* ---- shared SIZE [spawn PROGRAM | child]: reads job information and values of all ranks, in ROUNDS
 * rounds (default 2). Each rank puts SIZE bytes, and GROWTH more in each round. With "spawn", rank 0
 * spawns a job, and parent and child read each other's data. ---- */

JOINS(shared)
{
    size_t size = (size_t)atol(argv[1]);
    uint32_t rounds = getenv("ROUNDS") ? (uint32_t)atoi(getenv("ROUNDS")) : 2;
    size_t growth = getenv("GROWTH") ? (size_t)atol(getenv("GROWTH")) : 0;
    bool is_child = argc > 2 && strcmp(argv[2], "child") == 0;

    for (uint32_t round = 1000; round < 1000 + rounds; round++) {
        put_all(size, round);
        barrier(); /* replies to commits come late */
        trace_point();
        GOOD(fence_with_data());
        trace_point();
        read_job();
        trace_point();
        for (pmix_rank_t r = 0; r < job_size; r++)
            U32_IS(r, "n", r + round);
        trace_point();
        read_peers(size, round);
        barrier();
        size += growth;
    }
    if (is_child) {
        VALUE_IS(me.rank, PMIX_PARENT_ID, PMIX_PROC,
                 (read_other_job(v->data.proc->nspace, 3), true));
        put_u32(PMIX_GLOBAL, "done", 1);
        GOOD(PMIx_Commit());
    } else if (argc > 3 && me.rank == 0) {
        spawn(argv[3], argv[1]);
    }
    if (!is_child)
        barrier();
    trace_point();
    GOOD(PMIx_Fence(&me, 1, NULL, 0)); /* of this process alone */
    trace_point();
}

/* ---- fences: ROUNDS fences without data ---- */

JOINS(fences)
{
    for (int n = atoi(getenv("ROUNDS")); n > 0; n--)
        barrier();
}
