/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocations of the built-in host: requests, jobs that run there, and the end. */
#include "jobs.h"

#include <string.h>
#include <unistd.h>

#include "core/model/nspace.h"
#include "core/topo/topo.h"

/* ---- requests -------------------------------------------------------------------- */

static px_infos results; /* of the last request */

static void on_results(pmix_status_t status, pmix_info_t info[], size_t n, void *cbdata,
                       pmix_release_cbfunc_t release PX_UNUSED, void *data PX_UNUSED)
{
    ok(px_infos_add_copy(&results, info, n));
    px_call_done(cbdata, status);
}

struct request {
    const pmix_proc_t *proc;
    pmix_alloc_directive_t directive;
    const px_infos *infos;
};

static void do_ask(struct px_call *call, void *arg)
{
    const struct request *q = arg;
    pmix_status_t rc = px_process.server->module.allocate(
        q->proc, q->directive, q->infos->v, q->infos->n, on_results, call);

    if (rc)
        px_call_done(call, rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc);
}

/* Sends a request of a process, with numbers and texts up to a NULL key. */
static pmix_status_t ask_by(const pmix_proc_t *proc, pmix_alloc_directive_t directive,
                            const struct px_fact *facts)
{
    PX_AUTO(px_infos) infos = {0};

    px_infos_cleanup(&results);
    for (; facts->key; facts++)
        ok(px_infos_add(&infos, facts->key, facts->data, facts->type));
    return px_call(px_process.loop, do_ask, &(struct request){proc, directive, &infos});
}

#define CPUS(n)                                          \
    {                                                    \
        PMIX_ALLOC_NUM_CPUS, &(uint64_t){n}, PMIX_UINT64 \
    }
#define SECONDS(n)                                   \
    {                                                \
        PMIX_ALLOC_TIME, &(uint32_t){n}, PMIX_UINT32 \
    }
#define TEXT(key, text)        \
    {                          \
        key, text, PMIX_STRING \
    }
#define BY(proc, how, ...) \
    ask_by(proc, PMIX_ALLOC_##how, (struct px_fact[]){__VA_ARGS__, {NULL, NULL, 0}})
#define ASK(how, ...) BY(&(pmix_proc_t){.nspace = "tool"}, how, __VA_ARGS__)

static const char *result(const char *key)
{
    const char *text = px_info_str(results.v, results.n, key);

    ck_assert_msg(text != NULL, "no %s", key);
    return text;
}

/* Keeps the id of the allocation that the last request has made. */
static const char *made(char id[PMIX_MAX_NSLEN])
{
    px_str_copy(id, PMIX_MAX_NSLEN, result(PMIX_ALLOC_ID));
    return id;
}

/* Queries an allocation by a qualifier. Returns the members of the answer in results. */
static pmix_status_t status_of(const char *key, const char *text)
{
    char name[] = PMIX_QUERY_ALLOC_STATUS, *keys[] = {name, NULL};
    pmix_info_t qualifier, *found = NULL;
    pmix_query_t q = {.keys = keys, .qualifiers = &qualifier, .nqual = 1};
    size_t n = 0;

    px_infos_cleanup(&results);
    PMIx_Info_load(&qualifier, key, text, PMIX_STRING);
    pmix_status_t rc = PMIx_Query_info(&q, 1, &found, &n);
    PMIx_Info_destruct(&qualifier);
    if (!rc) {
        ck_assert_int_eq(found[0].value.type, PMIX_DATA_ARRAY);
        ok(px_infos_add_copy(&results, found[0].value.data.darray->array,
                             found[0].value.data.darray->size));
    }
    PMIx_Info_free(found, n);
    return rc;
}

static void teardown(void)
{
    jobs_teardown();
    px_infos_cleanup(&results);
}

PX_TEST(an_allocation_has_cpus_of_this_node_and_can_be_queried)
{
    char id[PMIX_MAX_NSLEN];

    ok(ASK(NEW, CPUS(1), TEXT(PMIX_ALLOC_REQ_ID, "mine"),
           {PMIX_ALLOC_NUM_NODES, &(uint64_t){1}, PMIX_UINT64}, SECONDS(60)));
    made(id);
    ck_assert_str_eq(result(PMIX_ALLOC_NODE_LIST), px_process.model->hostname);
    ck_assert_ptr_null(strpbrk(result(PMIX_ALLOC_CPU_LIST), "-,"));
    ck_assert_int_eq(ASK(NEW, CPUS(1), TEXT(PMIX_ALLOC_REQ_ID, "mine")),
                     PMIX_ERR_EXISTS);
    ok(status_of(PMIX_ALLOC_REQ_ID, "mine"));
    ck_assert_str_eq(result(PMIX_ALLOC_ID), id);
    ok(status_of(PMIX_ALLOC_ID, id));
    ck_assert_uint_ge(px_info_u32(results.v, results.n, PMIX_TIME_REMAINING, 0), 30);
    ok(ASK(EXTEND, TEXT(PMIX_ALLOC_ID, id), TEXT(PMIX_ALLOC_TIME, "3600")));
    ok(status_of(PMIX_ALLOC_ID, id));
    ck_assert_uint_ge(px_info_u32(results.v, results.n, PMIX_TIME_REMAINING, 0), 3500);
    ok(ASK(RELEASE, TEXT(PMIX_ALLOC_REQ_ID, "mine")));
    ck_assert_int_eq(status_of(PMIX_ALLOC_ID, id), PMIX_ERR_NOT_FOUND);
}

PX_TEST(requests_that_one_node_cannot_serve_are_refused_by_name)
{
    const struct {
        pmix_alloc_directive_t directive;
        struct px_fact fact, other;
        pmix_status_t status;
        const char *text;
    } rows[] = {
        {PMIX_ALLOC_NEW,
         CPUS(1),
         {PMIX_ALLOC_MEM_SIZE, &(float){1}, PMIX_FLOAT},
         PMIX_ERR_NOT_SUPPORTED,
         "PMIX_ALLOC_MEM_SIZE"},
        {PMIX_ALLOC_NEW,
         CPUS(1),
         {PMIX_ALLOC_BANDWIDTH, &(float){1}, PMIX_FLOAT},
         PMIX_ERR_NOT_SUPPORTED,
         "PMIX_ALLOC_BANDWIDTH"},
        {PMIX_ALLOC_NEW, CPUS(1), TEXT(PMIX_ALLOC_QUEUE, "fast"),
         PMIX_ERR_NOT_SUPPORTED, "PMIX_ALLOC_QUEUE"},
        {PMIX_ALLOC_NEW,
         CPUS(1),
         {PMIX_ALLOC_NUM_NODES, &(uint64_t){2}, PMIX_UINT64},
         PMIX_ERR_JOB_ALLOC_FAILED,
         "PMIX_ALLOC_NUM_NODES"},
        {PMIX_ALLOC_NEW, CPUS(1), TEXT(PMIX_ALLOC_NODE_LIST, "node7"),
         PMIX_ERR_JOB_ALLOC_FAILED, "PMIX_ALLOC_NODE_LIST"},
        {PMIX_ALLOC_NEW, CPUS(65535), {0}, PMIX_ERR_JOB_ALLOC_FAILED, "are free"},
        {PMIX_ALLOC_NEW,
         TEXT(PMIX_ALLOC_CPU_LIST, "65000"),
         {0},
         PMIX_ERR_JOB_ALLOC_FAILED,
         "PMIX_ALLOC_CPU_LIST"},
        {PMIX_ALLOC_NEW,
         TEXT(PMIX_ALLOC_CPU_LIST, "0-"),
         {0},
         PMIX_ERR_BAD_PARAM,
         "PMIX_ALLOC_CPU_LIST"},
        {PMIX_ALLOC_NEW, CPUS(0), {0}, PMIX_ERR_BAD_PARAM, "PMIX_ALLOC_NUM_CPUS"},
        {PMIX_ALLOC_NEW, CPUS(1), TEXT(PMIX_ALLOC_NUM_CPU_LIST, "2"),
         PMIX_ERR_BAD_PARAM, "PMIX_ALLOC_NUM_CPU_LIST"},
        {PMIX_ALLOC_NEW, CPUS(1), TEXT(PMIX_ALLOC_TIME, "soon"), PMIX_ERR_BAD_PARAM,
         "PMIX_ALLOC_TIME"},
        {PMIX_ALLOC_NEW, SECONDS(1), {0}, PMIX_ERR_BAD_PARAM, "no CPUs"},
        {PMIX_ALLOC_NEW, CPUS(1), TEXT(PMIX_ALLOC_ID, "my-name"), PMIX_ERR_BAD_PARAM,
         "PMIX_ALLOC_ID"},
        {PMIX_ALLOC_EXTEND, CPUS(1), {0}, PMIX_ERR_NOT_FOUND, "unknown"},
        {PMIX_ALLOC_RELEASE, CPUS(1), TEXT(PMIX_ALLOC_ID, "none"), PMIX_ERR_NOT_FOUND,
         "unknown"},
        {PMIX_ALLOC_EXTERNAL, CPUS(1), {0}, PMIX_ERR_NOT_SUPPORTED, "128"},
        {PMIX_ALLOC_NEW,
         CPUS(1),
         {PMIX_USERID, &(uint32_t){12345}, PMIX_UINT32},
         PMIX_ERR_NO_PERMISSIONS,
         "another user"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const struct px_fact facts[] = {rows[i].fact, rows[i].other, {0}};
        pmix_status_t rc = ask_by(&(pmix_proc_t){.nspace = "tool"}, rows[i].directive,
                                  facts);

        ck_assert_msg(rc == rows[i].status, "row %zu: %s", i, PMIx_Error_string(rc));
        ck_assert_msg(strstr(result(PMIX_EVENT_TEXT_MESSAGE), rows[i].text) != NULL,
                      "row %zu: %s", i, result(PMIX_EVENT_TEXT_MESSAGE));
    }
    ck_assert_uint_eq(px_list_length(&launcher()->allocs), 0);
}

PX_TEST(released_cpus_can_be_reacquired_while_they_are_free)
{
    char one[PMIX_MAX_NSLEN], other[PMIX_MAX_NSLEN];

    PX_TEST_NEEDS(px_binding_count() >= 2, "two CPUs");
    ok(ASK(NEW, CPUS(px_binding_count())));
    made(one);
    ck_assert_int_eq(ASK(NEW, CPUS(1)), PMIX_ERR_JOB_ALLOC_FAILED);
    ok(ASK(RELEASE, TEXT(PMIX_ALLOC_ID, one), CPUS(1)));
    ok(ASK(NEW, CPUS(1)));
    made(other);
    ck_assert_int_eq(ASK(REAQUIRE, TEXT(PMIX_ALLOC_ID, one)),
                     PMIX_ERR_JOB_ALLOC_FAILED);
    ck_assert_int_eq(ASK(EXTEND, TEXT(PMIX_ALLOC_ID, one), CPUS(1)),
                     PMIX_ERR_JOB_ALLOC_FAILED);
    ok(ASK(RELEASE, TEXT(PMIX_ALLOC_ID, other)));
    ok(ASK(REAQUIRE, TEXT(PMIX_ALLOC_ID, one)));
    ck_assert_uint_eq(px_info_u32(results.v, results.n, PMIX_ALLOC_NUM_CPUS, 0),
                      px_binding_count());
}

/* ---- jobs in allocations --------------------------------------------------------- */

/* Returns the number of members of a process set; 0 without the set. */
static size_t members_of(const char *set)
{
    char name[] = PMIX_QUERY_PSET_MEMBERSHIP, *keys[] = {name, NULL};
    pmix_info_t qualifier, *found = NULL;
    pmix_query_t q = {.keys = keys, .qualifiers = &qualifier, .nqual = 1};
    size_t n = 0, size = 0;

    PMIx_Info_load(&qualifier, PMIX_PSET_NAME, set, PMIX_STRING);
    if (!PMIx_Query_info(&q, 1, &found, &n))
        size = found[0].value.data.darray->size;
    PMIx_Info_destruct(&qualifier);
    PMIx_Info_free(found, n);
    return size;
}

static void kill_jobs(int n)
{
    ok(control(PMIX_JOB_CTRL_KILL, NULL));
    while (n-- > 0)
        await_any_end();
}

PX_TEST(a_job_runs_on_the_cpus_of_its_allocation)
{
    char id[PMIX_MAX_NSLEN];

    PX_TEST_NEEDS(px_topo_possible(), "hwloc");
    PX_TEST_NEEDS_PROC;
    ok(ASK(NEW, CPUS(1)));
    made(id);
    PX_AUTOFREE char *script = px_strf(
        "grep -q '^Cpus_allowed_list:.%s$' /proc/self/status || exit 1; "
        "touch up; exec sleep 20",
        result(PMIX_ALLOC_CPU_LIST));
    ok(spawn_asking(PMIX_ALLOC_ID, id, PMIX_STRING, 1, script));
    await_file("up");
    ck_assert_uint_eq(members_of(id), 1);
    ck_assert_int_eq(ASK(RELEASE, TEXT(PMIX_ALLOC_ID, id)), PMIX_ERR_RESOURCE_BUSY);
    ck_assert_int_eq(ASK(RELEASE, TEXT(PMIX_ALLOC_ID, id), CPUS(1)),
                     PMIX_ERR_RESOURCE_BUSY);
    ck_assert_int_eq(spawn_asking(PMIX_ALLOC_ID, id, PMIX_STRING, 1, "true"),
                     PMIX_ERR_JOB_INSUFFICIENT_RESOURCES);
    ck_assert_int_eq(spawn_asking(PMIX_ALLOC_ID, "none", PMIX_STRING, 1, "true"),
                     PMIX_ERR_NOT_FOUND);
    kill_jobs(1);
    ck_assert_uint_eq(members_of(id), 0);
    ok(ASK(RELEASE, TEXT(PMIX_ALLOC_ID, id)));
}

PX_TEST(other_jobs_are_not_bound_to_allocated_cpus)
{
    PX_TEST_NEEDS(px_topo_possible(), "hwloc");
    ok(ASK(NEW, CPUS(px_binding_count())));
    ck_assert_int_eq(spawn_asking(PMIX_BINDTO, "core", PMIX_STRING, 1, "true"),
                     PMIX_ERR_JOB_INSUFFICIENT_RESOURCES);
    spawn(1, "true"); /* not bound */
    await_end(PMIX_SUCCESS);
}

PX_TEST(a_child_runs_in_the_allocation_of_its_parent)
{
    char id[PMIX_MAX_NSLEN];
    pmix_proc_t parent;
    pmix_app_t app = shell_of(1, "exec sleep 20");
    PX_AUTO(px_infos) infos = {0};

    PX_TEST_NEEDS(px_topo_possible() && px_binding_count() >= 2, "hwloc and two CPUs");
    ok(ASK(NEW, CPUS(2), SECONDS(1000)));
    made(id);
    ok(px_infos_add(&infos, PMIX_ALLOC_ID, id, PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_BINDTO, "hwthread", PMIX_STRING));
    ok(spawn_with(&infos, 1, "exec sleep 20"));
    px_proc_set(&parent, job_name, 0);
    ok(spawn_by(&parent, &infos.v[1], 1, &app));
    ck_assert_uint_eq(members_of(id), 2);
    ck_assert_int_eq(spawn_by(&parent, &infos.v[1], 1, &app),
                     PMIX_ERR_JOB_INSUFFICIENT_RESOURCES);
    ok(BY(&parent, EXTEND, SECONDS(2000))); /* the parent's allocation */
    ck_assert_str_eq(result(PMIX_ALLOC_ID), id);
    kill_jobs(2);
}

/* ---- ends ------------------------------------------------------------------------ */

PX_TEST(jobs_end_with_the_time_of_their_allocation)
{
    char id[PMIX_MAX_NSLEN];

    PX_TEST_NEEDS(px_topo_possible(), "hwloc");
    ok(ASK(NEW, CPUS(1), SECONDS(1)));
    made(id);
    ok(spawn_asking(PMIX_ALLOC_ID, id, PMIX_STRING, 1, "exec sleep 60"));
    await_end(PMIX_ERR_TIMEOUT);
    ck_assert_ptr_nonnull(strstr(seen.text, id));
    ck_assert_int_eq(status_of(PMIX_ALLOC_ID, id), PMIX_ERR_NOT_FOUND);
}

PX_TEST(an_allocation_ends_with_the_job_of_its_owner)
{
    char id[PMIX_MAX_NSLEN];
    pmix_proc_t owner;

    spawn_sleepers(1);
    px_proc_set(&owner, job_name, 0);
    ok(BY(&owner, NEW, CPUS(1)));
    made(id);
    ok(status_of(PMIX_ALLOC_ID, id));
    kill_jobs(1);
    ck_assert_int_eq(status_of(PMIX_ALLOC_ID, id), PMIX_ERR_NOT_FOUND);
}

PX_TEST(a_server_ends_with_its_allocations)
{
    char id[PMIX_MAX_NSLEN];

    PX_TEST_NEEDS(px_topo_possible(), "hwloc");
    ok(ASK(NEW, CPUS(1), SECONDS(1000)));
    ok(spawn_asking(PMIX_ALLOC_ID, made(id), PMIX_STRING, 1, "exec sleep 60"));
    ok(PMIx_server_finalize());
    jobs_setup();
}

PX_TEST_MAIN("host/alloc", jobs_setup, teardown)
