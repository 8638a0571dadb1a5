/* SPDX-License-Identifier: BSD-3-Clause */
/* Client, tool and server in one process: begun and ended in every order, with questions open. */
#include "core/rt/process.h"
#include "core/types/type.h"
#include "px_test.h"
#include "tool_server.h"

#include <stdatomic.h>

static atomic_int n_asked, n_answered, n_passed;
static void *kept[128];

/* A host that never answers, but could: what it was given stays good for it. */
static pmix_status_t keep_query(pmix_proc_t *proc PX_UNUSED,
                                pmix_query_t *queries PX_UNUSED, size_t n PX_UNUSED,
                                pmix_info_cbfunc_t cb PX_UNUSED, void *cbdata)
{
    int i = atomic_fetch_add(&n_passed, 1);

    ck_assert_int_lt(i, (int)PX_COUNT(kept));
    kept[i] = cbdata;
    return PMIX_SUCCESS;
}

static pmix_status_t begin_client(void)
{
    return PMIx_Init(NULL, NULL, 0);
}

static pmix_status_t begin_tool(void)
{
    pmix_info_t alone = flag(PMIX_TOOL_DO_NOT_CONNECT);

    return PMIx_tool_init(NULL, &alone, 1);
}

static pmix_status_t begin_server(void)
{
    static pmix_server_module_t module = {.query = keep_query};

    return PMIx_server_init(&module, NULL, 0);
}

static pmix_status_t end_client(void)
{
    return PMIx_Finalize(NULL, 0);
}

static const struct {
    pmix_status_t (*begin)(void);
    pmix_status_t (*end)(void);
} roles[] = {
    {begin_client, end_client},
    {begin_tool, PMIx_tool_finalize},
    {begin_server, PMIx_server_finalize},
};

static void on_answer(pmix_status_t status, pmix_info_t *info PX_UNUSED,
                      size_t n PX_UNUSED, void *cbdata PX_UNUSED,
                      pmix_release_cbfunc_t release, void *release_data)
{
    ck_assert_int_ne(status, PMIX_SUCCESS);
    atomic_fetch_add(&n_answered, 1);
    if (release)
        release(release_data);
}

static void ask(void)
{
    char *keys[] = {(char *)(uintptr_t)PMIX_QUERY_NAMESPACES, NULL};
    pmix_query_t q = {.keys = keys};
    pmix_status_t rc = PMIx_Query_info_nb(&q, 1, on_answer, NULL);

    ck_assert(rc == PMIX_SUCCESS || (rc == PMIX_ERR_INIT && !PMIx_Initialized()));
    n_asked += rc == PMIX_SUCCESS;
}

static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

/* Who came through a server that has ended has ended with it, and is told so. */
static void live(const int *first, const int *last)
{
    for (int i = 0; i < 3; i++) {
        ok(roles[first[i]].begin());
        ask();
    }
    for (int i = 0; i < 3; i++) {
        pmix_status_t rc = roles[last[i]].end();

        ck_assert(rc == PMIX_SUCCESS || (i > 0 && rc == PMIX_ERR_INIT));
        ask();
    }
    nothing_is_left();
    ck_assert_int_eq(atomic_load(&n_answered), atomic_load(&n_asked));
}

PX_TEST(roles_begin_and_end_in_every_order)
{
    for (size_t i = 0; i < PX_COUNT(orders); i++)
        for (size_t k = 0; k < PX_COUNT(orders); k++)
            live(orders[i], orders[k]);
    ck_assert_int_gt(atomic_load(&n_passed), 0);
}

PX_TEST_MAIN("tool/roles", tool_setup, tool_teardown)
