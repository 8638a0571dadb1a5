/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host tells of no job in particular, what it collects of jobs, and inventories. */
#include "fake_host.h"
#include "px_test.h"
#include "raw.h"

#include <semaphore.h>
#include <string.h>

static sem_t done;
static pmix_status_t done_status, inside_status;

static void setup(void)
{
    sem_init(&done, 0, 0);
    raw_server_start(&host_module, 2);
}

static pmix_info_t info(const char *key, const char *value)
{
    pmix_info_t i;

    PMIx_Info_load(&i, key, value, PMIX_STRING);
    return i;
}

/* The value of a string key among the pairs, malloc'd; NULL if it is not there. */
static char *value_in(px_reader *r, const char *wanted)
{
    char *found = NULL;

    while (!px_reader_done(r)) {
        struct px_kval kv = {0};

        ok(px_unpack_kval(r, &kv));
        if (strcmp(kv.key, wanted) == 0)
            found = strdup(px_value_string(&kv.value));
        px_kval_fini(&kv);
    }
    return found;
}

/* As the job information of a client has it. */
static char *told(int fd, const char *key)
{
    PX_AUTOFREE char *name = NULL;
    px_writer w;
    px_reader r;

    raw_begin(&w, PX_OP_REQ);
    raw_send(fd, 500, &w);
    ck_assert(raw_recv(fd, 500, &r));
    ok(px_unpack_str(&r, &name));
    return value_in(&r, key);
}

PX_TEST(every_job_is_told_the_folders_of_its_session)
{
    pmix_info_t i = info(PMIX_SERVER_TMPDIR, "/the/host/says/so");
    int fd = raw_client(0);
    char *value = told(fd, PMIX_SERVER_TMPDIR);

    ck_assert_str_eq(value, px_process.server->tmpdir);
    free(value);
    value = told(fd, PMIX_SYSTEM_TMPDIR);
    ck_assert_str_eq(value, px_process.server->system_tmpdir);
    free(value);
    pmix_proc_t job = {.nspace = "job", .rank = PMIX_RANK_WILDCARD};
    pmix_value_t *found = NULL;
    ok(PMIx_server_register_nspace(job.nspace, 2, &i, 1, NULL, NULL));
    ok(PMIx_Get(&job, PMIX_SERVER_TMPDIR, NULL, 0, &found));
    ck_assert_str_eq(found->data.string, "/the/host/says/so");
    PMIx_Value_free(found, 1);
    PMIx_Info_destruct(&i);
}

static void on_done(pmix_status_t status, void *cbdata)
{
    pmix_info_t i = info(PMIX_RM_NAME, "rm");

    ck_assert_ptr_eq(cbdata, &done);
    done_status = status;
    inside_status = PMIx_server_register_resources(&i, 1, NULL, NULL);
    PMIx_Info_destruct(&i);
    sem_post(&done);
}

PX_TEST(jobs_of_before_and_after_have_them)
{
    pmix_info_t i = info(PMIX_CLUSTER_ID, "west");
    int fd = raw_client(0), later;
    char *value;

    ok(PMIx_server_register_resources(&i, 1, NULL, NULL));
    raw_add_job("later", 1, 0, geteuid());
    later = raw_client_of("later", 0);
    value = told(fd, PMIX_CLUSTER_ID);
    ck_assert_str_eq(value, "west");
    free(value);
    value = told(later, PMIX_CLUSTER_ID);
    ck_assert_str_eq(value, "west");
    free(value);
    ok(PMIx_server_deregister_resources(&i, 1, NULL, NULL));
    ck_assert_ptr_null(told(fd, PMIX_CLUSTER_ID));
    PMIx_Info_destruct(&i);
}

PX_TEST(a_get_finds_what_came_after_the_job_information)
{
    pmix_info_t i = info(PMIX_CLUSTER_ID, "west");
    int fd = raw_client(0);
    px_writer w;

    raw_get(&w, "job", PMIX_RANK_WILDCARD, PMIX_CLUSTER_ID, NULL);
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_NOT_FOUND);
    ok(PMIx_server_register_resources(&i, 1, NULL, NULL));
    raw_get(&w, "job", PMIX_RANK_WILDCARD, PMIX_CLUSTER_ID, NULL);
    ok(raw_request(fd, &w, NULL));
    PMIx_Info_destruct(&i);
}

PX_TEST(with_a_callback_nothing_waits_and_all_is_copied)
{
    pmix_info_t *i = malloc(sizeof *i);
    int fd = raw_client(0);
    char *value;

    *i = info(PMIX_CLUSTER_ID, "west");
    ok(PMIx_server_register_resources(i, 1, on_done, &done));
    PMIx_Info_destruct(i);
    memset(i, 0xee, sizeof *i);
    free(i);
    sem_wait(&done);
    ok(done_status);
    ck_assert_int_eq(inside_status, PMIX_ERR_WOULD_BLOCK);
    value = told(fd, PMIX_CLUSTER_ID);
    ck_assert_str_eq(value, "west");
    free(value);
}

/* ---- collect_job_info ------------------------------------------------------------------------------ */

PX_TEST(each_job_is_collected_once_in_order)
{
    static const char *const wanted[] = {"second", "job"};
    pmix_data_buffer_t b;
    pmix_proc_t procs[5];

    raw_add_job("second", 1, 0, geteuid());
    px_proc_set(&procs[0], "second", 0);
    px_proc_set(&procs[1], "nobody", 0);
    px_proc_set(&procs[2], "job", 1);
    px_proc_set(&procs[3], "job", 0);
    px_proc_set(&procs[4], "second", PMIX_RANK_WILDCARD);
    PMIx_Data_buffer_construct(&b);
    ok(PMIx_server_collect_job_info(procs, 5, &b));
    for (size_t i = 0; i < PX_COUNT(wanted); i++) {
        pmix_byte_object_t bytes = {0};
        pmix_data_buffer_t job;
        char *name = NULL;
        int32_t n = 1;

        ok(PMIx_Data_unpack(NULL, &b, &bytes, &n, PMIX_BYTE_OBJECT));
        PMIx_Data_buffer_construct(&job);
        ok(PMIx_Data_load(&job, &bytes));
        ok(PMIx_Data_unpack(NULL, &job, &name, &n, PMIX_STRING));
        ck_assert_str_eq(name, wanted[i]);
        ck_assert_uint_gt(job.bytes_used, 50);
        free(name);
        PMIx_Data_buffer_destruct(&job);
    }
    ck_assert_ptr_eq(b.unpack_ptr, b.base_ptr + b.bytes_used);
    PMIx_Data_buffer_destruct(&b);
}

static pmix_status_t collect_inside;

static void collect_on_loop(void *arg)
{
    pmix_data_buffer_t b = {0};

    collect_inside = PMIx_server_collect_job_info(arg, 1, &b);
}

PX_TEST(nothing_to_collect_leaves_the_buffer)
{
    pmix_data_buffer_t b;
    pmix_proc_t p = raw_proc("nobody", 0);
    uint32_t mark = 7;

    PMIx_Data_buffer_construct(&b);
    ok(PMIx_Data_pack(NULL, &b, &mark, 1, PMIX_UINT32));
    size_t used = b.bytes_used;
    ck_assert_int_eq(PMIx_server_collect_job_info(&p, 1, &b), PMIX_ERR_NOT_FOUND);
    px_proc_set(&p, "job", 0);
    raw_on_loop(collect_on_loop, &p);
    ck_assert_int_eq(collect_inside, PMIX_ERR_WOULD_BLOCK);
    ck_assert_uint_eq(b.bytes_used, used);
    raw_server_stop();
    ck_assert_int_eq(PMIx_server_collect_job_info(&p, 1, &b), PMIX_ERR_INIT);
    PMIx_Data_buffer_destruct(&b);
}

/* ---- not served ---------------------------------------------------------------------- */

static void on_inventory(pmix_status_t status PX_UNUSED, pmix_info_t *i PX_UNUSED,
                         size_t n PX_UNUSED, void *cbdata PX_UNUSED,
                         pmix_release_cbfunc_t release PX_UNUSED,
                         void *release_data PX_UNUSED)
{
    ck_abort();
}

PX_TEST(there_is_no_inventory)
{
    pmix_info_t i = info("k", "v");

    ck_assert_int_eq(PMIx_server_collect_inventory(NULL, 0, on_inventory, NULL),
                     PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(PMIx_server_deliver_inventory(&i, 1, NULL, 0, NULL, NULL),
                     PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(PMIx_server_deliver_inventory(&i, 1, &i, 1, NULL, NULL),
                     PMIX_ERR_NOT_SUPPORTED);
    PMIx_Info_destruct(&i);
}

PX_TEST(resources_without_a_name_or_of_a_node_are_refused)
{
    pmix_info_t i = info("", "v"), node = info(PMIX_NODE_INFO_ARRAY, "v");

    ck_assert_int_eq(PMIx_server_register_resources(&i, 1, NULL, NULL),
                     PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(PMIx_server_register_resources(&node, 1, NULL, NULL),
                     PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(PMIx_server_deregister_resources(&node, 1, NULL, NULL),
                     PMIX_ERR_NOT_SUPPORTED);
    PMIx_Info_destruct(&i);
    PMIx_Info_destruct(&node);
}

PX_TEST_MAIN("server/resources", setup, host_end)
