/* SPDX-License-Identifier: BSD-3-Clause */
/* The Standard's section "Allocation Requests". */
#include "standard.h"

#include <string.h>
#include <unistd.h>

static struct {
    pmix_alloc_directive_t directive;
    pmix_info_t info[8];
    size_t n;
} host;

/* Records the request, and answers with an allocation. */
static pmix_status_t host_allocate(const pmix_proc_t *client PX_UNUSED,
                                   pmix_alloc_directive_t directive,
                                   const pmix_info_t data[], size_t n,
                                   pmix_info_cbfunc_t cb, void *cbdata)
{
    pmix_info_t id;

    ck_assert_uint_le(n, 8);
    host.directive = directive;
    for (host.n = 0; host.n < n; host.n++)
        ok(PMIx_Info_xfer(&host.info[host.n], &data[host.n]));
    PMIx_Info_load(&id, PMIX_ALLOC_ID, "of-the-host", PMIX_STRING);
    cb(PMIX_SUCCESS, &id, 1, cbdata, NULL, NULL);
    PMIx_Info_destruct(&id);
    return PMIX_SUCCESS;
}

static void stop(void)
{
    if (PMIx_Initialized())
        (void)PMIx_server_finalize();
}

static void ask(pmix_info_t **results, size_t *n)
{
    static pmix_server_module_t module = {.allocate = host_allocate};
    pmix_info_t info[2];
    uint64_t cpus = 3;

    ok(PMIx_server_init(&module, NULL, 0));
    PMIx_Info_load(&info[0], PMIX_ALLOC_NUM_CPUS, &cpus, PMIX_UINT64);
    PMIx_Info_load(&info[1], "example.own", "text", PMIX_STRING);
    ok(PMIx_Allocation_request(PMIX_ALLOC_NEW, info, 2, results, n));
}

PX_TEST(attributes_must_be_passed_to_the_host)
{
    pmix_info_t *results = NULL;
    size_t n = 0;

    ask(&results, &n);
    const pmix_info_t *cpus = standard_find(host.info, host.n, PMIX_ALLOC_NUM_CPUS);
    const pmix_info_t *own = standard_find(host.info, host.n, "example.own");
    ck_assert_uint_eq(host.directive, PMIX_ALLOC_NEW);
    ck_assert(cpus && cpus->value.data.uint64 == 3);
    ck_assert(own && strcmp(own->value.data.string, "text") == 0);
    PMIx_Info_free(results, n);
}

PX_TEST(the_user_and_the_group_are_required)
{
    pmix_info_t *results = NULL;
    size_t n = 0;

    ask(&results, &n);
    const pmix_info_t *uid = standard_find(host.info, host.n, PMIX_USERID);
    const pmix_info_t *gid = standard_find(host.info, host.n, PMIX_GRPID);
    ck_assert(uid && uid->value.data.uint32 == geteuid());
    ck_assert(gid && gid->value.data.uint32 == getegid());
    PMIx_Info_free(results, n);
}

PX_TEST(results_must_include_the_identifier_of_the_host)
{
    pmix_info_t *results = NULL;
    size_t n = 0;

    ask(&results, &n);
    const pmix_info_t *id = standard_find(results, n, PMIX_ALLOC_ID);
    ck_assert(id && strcmp(id->value.data.string, "of-the-host") == 0);
    PMIx_Info_free(results, n);
}

STANDARD_MAIN("standard/allocation", NULL, stop)
