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

static pmix_info_t *results; /* of the last request; freed by stop() */
static size_t n_results;

static void on_results(pmix_status_t status, pmix_info_t *info, size_t n, void *cbdata,
                       pmix_release_cbfunc_t release, void *release_cbdata)
{
    results = PMIx_Info_create(n);
    for (n_results = 0; n_results < n; n_results++)
        ok(PMIx_Info_xfer(&results[n_results], &info[n_results]));
    if (release)
        release(release_cbdata);
    standard_on_op(status, cbdata);
}

static void stop(void)
{
    PMIx_Info_free(results, n_results);
    if (PMIx_Initialized())
        (void)PMIx_server_finalize();
}

/* Asks the host by one form of the call. */
static void ask(bool blocking)
{
    static pmix_server_module_t module = {.allocate = host_allocate};
    pmix_info_t info[2];
    uint64_t cpus = 3;

    ok(PMIx_server_init(&module, NULL, 0));
    PMIx_Info_load(&info[0], PMIX_ALLOC_NUM_CPUS, &cpus, PMIX_UINT64);
    PMIx_Info_load(&info[1], "example.own", "text", PMIX_STRING);
    ok(blocking ? PMIx_Allocation_request(PMIX_ALLOC_NEW, info, 2, &results, &n_results)
                : standard_wait(PMIx_Allocation_request_nb(PMIX_ALLOC_NEW, info, 2,
                                                           on_results, NULL)));
}

PX_TEST_LOOP(attributes_must_be_passed_to_the_host, 2)
{
    ask(_i == 0);
    const pmix_info_t *cpus = standard_find(host.info, host.n, PMIX_ALLOC_NUM_CPUS);
    const pmix_info_t *own = standard_find(host.info, host.n, "example.own");
    ck_assert_uint_eq(host.directive, PMIX_ALLOC_NEW);
    ck_assert(cpus && cpus->value.data.uint64 == 3);
    ck_assert(own && strcmp(own->value.data.string, "text") == 0);
}

PX_TEST_LOOP(the_user_and_the_group_are_required, 2)
{
    ask(_i == 0);
    const pmix_info_t *uid = standard_find(host.info, host.n, PMIX_USERID);
    const pmix_info_t *gid = standard_find(host.info, host.n, PMIX_GRPID);
    ck_assert(uid && uid->value.data.uint32 == geteuid());
    ck_assert(gid && gid->value.data.uint32 == getegid());
}

PX_TEST_LOOP(results_must_include_the_identifier_of_the_host, 2)
{
    ask(_i == 0);
    const pmix_info_t *id = standard_find(results, n_results, PMIX_ALLOC_ID);
    ck_assert(id && strcmp(id->value.data.string, "of-the-host") == 0);
}

PX_TEST(hosts_are_required_to_support_an_id_the_numbers_and_the_time)
{
    static const uint64_t one = 1;
    static const uint32_t seconds = 60;
    static const struct {
        const char *key;
        const void *value;
        pmix_data_type_t type;
    } rows[] = {{PMIX_ALLOC_REQ_ID, "own", PMIX_STRING},
                {PMIX_ALLOC_NUM_NODES, &one, PMIX_UINT64},
                {PMIX_ALLOC_NUM_CPUS, &one, PMIX_UINT64},
                {PMIX_ALLOC_TIME, &seconds, PMIX_UINT32}};
    enum { N = sizeof(rows) / sizeof(rows[0]) };
    pmix_info_t info[N];

    ok(PMIx_server_init(NULL, NULL, 0));
    for (size_t i = 0; i < N; i++) {
        PMIx_Info_load(&info[i], rows[i].key, rows[i].value, rows[i].type);
        PMIx_Info_required(&info[i]);
    }
    ok(PMIx_Allocation_request(PMIX_ALLOC_NEW, info, N, &results, &n_results));
    ck_assert(standard_find(results, n_results, PMIX_ALLOC_ID));
    PMIx_Info_destruct(&info[0]);
}

STANDARD_MAIN("standard/allocation", NULL, stop)
