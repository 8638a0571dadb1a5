/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of the ranks of a job. */
#include "client.h"

/* Constructs a group and returns its context id, or 0 without one. */
static size_t construct(const char *name, const pmix_proc_t *procs, size_t n,
                        const char *directive)
{
    pmix_info_t info = info_bool(directive ? directive : "unused"), *results = NULL;
    const pmix_info_t *id, *members;
    size_t n_results = 0, context = 0;

    GOOD(PMIx_Group_construct(name, procs, n, &info, directive != NULL, &results,
                              &n_results));
    id = find(results, n_results, PMIX_GROUP_CONTEXT_ID);
    members = find(results, n_results, PMIX_GROUP_MEMBERSHIP);
    if (id &&
        id->value.data.size != SIZE_MAX) /* which release 4.2.2 returns for none */
        context = id->value.data.size;
    if (members && procs->rank != PMIX_RANK_WILDCARD)
        CHECK(members->value.data.darray->size == n);
    if (strict())
        CHECK(members && find(results, n_results, PMIX_GROUP_ID));
    PMIX_INFO_FREE(results, n_results);
    return context;
}

/* Checks that all members have one context id, which differs from another. */
static void check_context(const char *key, size_t context, size_t other)
{
    pmix_value_t v = {.type = PMIX_SIZE};

    CHECK(context > 0 && context != other);
    v.data.size = context;
    GOOD(PMIx_Put(PMIX_GLOBAL, key, &v));
    GOOD(PMIx_Commit());
    GOOD(fence_with_data());
    for (pmix_rank_t r = me.rank % 2; r < job_size; r += 2)
        VALUE_IS(r, key, PMIX_SIZE, v->data.size == context);
}

/* The group's name stands for its members. */
static void use_name(const char *name)
{
    pmix_proc_t all, first;
    pmix_value_t *v = NULL;

    PMIX_LOAD_PROCID(&all, name, PMIX_RANK_WILDCARD);
    PMIX_LOAD_PROCID(&first, name, 0);
    GOOD(PMIx_Fence(&all, 1, NULL, 0));
    VALUE_OF(&all, PMIX_JOB_SIZE, PMIX_UINT32, v->data.uint32 == job_size);
    GOOD(PMIx_Get(&first, "groups.rank", NULL, 0, &v));
    CHECK(v->data.uint32 == 0);
    PMIX_VALUE_RELEASE(v);
}

/* ---- groups: of all ranks, and of those with even or odd numbers ---------------------- */

JOINS(groups)
{
    pmix_proc_t half[64];
    size_t n = 0, of_all, of_half;
    uint32_t number;

    put_u32(PMIX_GLOBAL, "groups.rank", me.rank);
    GOOD(PMIx_Commit());
    CHECK(job_size <= 2 * 64);
    for (pmix_rank_t r = me.rank % 2; r < job_size; r += 2)
        half[n++] = rank_of(r);
    CHECK(construct("groups.none", &everyone, 1, NULL) == 0);
    GOOD(get_u32(next_rank(), "groups.rank", NULL, &number));
    CHECK(number == next_rank());
    of_all = construct("groups.all", &everyone, 1, PMIX_GROUP_ASSIGN_CONTEXT_ID);
    of_half = construct(me.rank % 2 ? "groups.odd" : "groups.even", half, n,
                        PMIX_GROUP_ASSIGN_CONTEXT_ID);
    check_context("groups.half", of_half, of_all);
    check_context("groups.all", of_all, of_half);
    if (strict())
        use_name("groups.all");
    GOOD(PMIx_Group_destruct(me.rank % 2 ? "groups.odd" : "groups.even", NULL, 0));
    GOOD(PMIx_Group_destruct("groups.all", NULL, 0));
    GOOD(PMIx_Group_destruct("groups.none", NULL, 0));
    CHECK(PMIx_Group_destruct("groups.none", NULL, 0) != PMIX_SUCCESS);
}

/* ---- group_cycles N: N groups, one after the other, with random pauses. The program starts and
 * ends PMIx once for each group. ---------------------------------------------------------- */

/* Waits until all ranks have begun. A fence fails while a rank has ended its last life. */
static void meet(void)
{
    pmix_status_t rc;

    while ((rc = PMIx_Fence(NULL, 0, NULL, 0)) == PMIX_ERR_LOST_CONNECTION)
        sleep_ms(1);
    GOOD(rc);
}

ALONE(group_cycles)
{
    size_t last = 0;

    CHECK(argc > 1);
    for (int i = 0, n = atoi(argv[1]); i < n; i++) {
        begin();
        srand48((long)me.rank * 7919 + i);
        usleep((useconds_t)(drand48() * drand48() * 2000));
        meet();
        size_t context = construct("cycle", &everyone, 1, PMIX_GROUP_ASSIGN_CONTEXT_ID);
        CHECK(context != last);
        last = context;
        GOOD(PMIx_Group_destruct("cycle", NULL, 0));
        GOOD(PMIx_Finalize(NULL, 0));
    }
    printf("OK group_cycles %u\n", me.rank);
}
