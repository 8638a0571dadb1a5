/* SPDX-License-Identifier: BSD-3-Clause */
/* Namespaces and clients come and go, in the order hosts like, whoever waits for them. */
#include "core/base/str.h"
#include "core/server/host.h"
#include "core/server/server.h"
#include "fake_host.h"
#include "px_test.h"
#include "raw.h"

#include <semaphore.h>
#include <string.h>
#include <sys/wait.h>

static sem_t told;
static pmix_status_t told_status;

static void setup(void)
{
    sem_init(&told, 0, 0);
    raw_server_start(&host_module, 2);
}

static void on_told(pmix_status_t status, void *cbdata)
{
    ck_assert_ptr_eq(cbdata, &told);
    told_status = status;
    sem_post(&told);
}

static pmix_status_t await_told(void)
{
    sem_wait(&told);
    return told_status;
}

static pmix_status_t connects(const char *nspace, pmix_rank_t rank)
{
    struct px_hello h = raw_hello(nspace, rank);
    int fd;
    pmix_status_t rc = raw_connect(&h, &fd);

    if (!rc)
        close(fd);
    return rc;
}

PX_TEST(all_four_work_with_and_without_a_callback)
{
    pmix_proc_t p = raw_proc("more", 0);

    ok(PMIx_server_register_nspace(p.nspace, 1, NULL, 0, on_told, &told));
    ok(await_told());
    ok(PMIx_server_register_client(&p, geteuid(), getegid(), NULL, on_told, &told));
    ok(await_told());
    ok(connects("more", 0));

    PMIx_server_deregister_client(&p, on_told, &told);
    ok(await_told());
    ck_assert_int_eq(connects("more", 0), PMIX_ERR_NOT_FOUND);
    PMIx_server_deregister_nspace(p.nspace, on_told, &told);
    ok(await_told());

    raw_add_job("more", 1, 0, geteuid()); /* these are without */
    ok(connects("more", 0));
    PMIx_server_deregister_client(&p, NULL, NULL);
    PMIx_server_deregister_nspace(p.nspace, NULL, NULL);
    ck_assert_int_eq(connects("more", 0), PMIX_ERR_NOT_FOUND);
}

static struct px_msg busy;
static sem_t free_again;

static void on_busy(struct px_msg *msg PX_UNUSED)
{
    sem_wait(&free_again);
}

/* The library's thread comes to it long after the host has freed what it passed. */
PX_TEST(infos_may_go_as_soon_as_the_call_returns)
{
    pmix_info_t *info = malloc(2 * sizeof(*info));
    pmix_nspace_t nspace = "soon";
    pmix_proc_t job = raw_proc("soon", PMIX_RANK_WILDCARD);
    pmix_value_t *v;

    sem_init(&free_again, 0, 0);
    busy.run = on_busy;
    ck_assert(px_process_post(&busy));
    PMIx_Info_load(&info[0], PMIX_JOB_SIZE, &(uint32_t){1}, PMIX_UINT32);
    PMIx_Info_load(&info[1], "host.note", "a string of the host's", PMIX_STRING);
    ok(PMIx_server_register_nspace(nspace, 1, info, 2, on_told, &told));
    memset(info[1].value.data.string, '?', strlen(info[1].value.data.string));
    free(info[1].value.data.string);
    memset(info, 0xa5, 2 * sizeof(*info));
    free(info);
    memset(nspace, 0xa5, sizeof(nspace));
    sem_post(&free_again);
    ok(await_told());
    ok(PMIx_Get(&job, "host.note", NULL, 0, &v));
    ck_assert_str_eq(v->data.string, "a string of the host's");
    PMIX_VALUE_RELEASE(v);
}

PX_TEST(what_is_not_known_is_deregistered_with_success)
{
    pmix_proc_t p = raw_proc("nobody", 3);

    PMIx_server_deregister_client(&p, on_told, &told);
    ok(await_told());
    PMIx_server_deregister_nspace(p.nspace, on_told, &told);
    ok(await_told());
}

PX_TEST(ranks_of_no_process_are_refused)
{
    pmix_proc_t p = raw_proc("job", PMIX_RANK_VALID);

    ck_assert_int_eq(PMIx_server_register_client(&p, 0, 0, NULL, NULL, NULL),
                     PMIX_ERR_BAD_PARAM);
    p.rank = PMIX_RANK_WILDCARD;
    ck_assert_int_eq(PMIx_server_register_client(&p, 0, 0, NULL, NULL, NULL),
                     PMIX_ERR_BAD_PARAM);
}

PX_TEST(a_number_of_local_processes_may_be_unknown)
{
    pmix_proc_t p = raw_proc("vague", 0);

    ok(PMIx_server_register_nspace(p.nspace, -1, NULL, 0, NULL, NULL));
}

PX_TEST(a_bad_map_leaves_no_new_namespace_and_the_old_one_as_it_was)
{
    PX_AUTO(px_infos) infos = {0};
    pmix_nspace_t news = "news", job = "job";

    ok(px_infos_add(&infos, PMIX_NODE_MAP, "pmix[n[1:", PMIX_STRING));
    ck_assert_int_lt(PMIx_server_register_nspace(news, 1, infos.v, infos.n, NULL, NULL),
                     0);
    ck_assert_ptr_null(px_nspace_find(px_process.model, "news"));
    ck_assert_int_lt(PMIx_server_register_nspace(job, 1, infos.v, infos.n, NULL, NULL),
                     0);
    ck_assert_uint_eq(px_nspace_find(px_process.model, "job")->n_local, 2);
    ok(connects("job", 1));
}

PX_TEST(a_client_may_be_registered_before_its_namespace_and_again)
{
    pmix_proc_t p = raw_proc("early", 0);

    ok(PMIx_server_register_client(&p, geteuid() + 1, getegid(), NULL, NULL, NULL));
    ck_assert_int_eq(connects("early", 0), PMIX_ERR_INVALID_CRED);
    ok(PMIx_server_register_client(&p, geteuid(), getegid(), NULL, NULL, NULL));
    ok(PMIx_server_register_nspace(p.nspace, 1, NULL, 0, NULL, NULL));
    ok(connects("early", 0));
}

PX_TEST(the_hosts_object_comes_back_in_upcalls)
{
    int fd = raw_client(1);

    host_await("client_connected2", 1);
    ck_assert_ptr_eq(host.object, raw_object(1));
    ck_assert_uint_eq(host.proc.rank, 1);
    ok(raw_finalize(fd));
    host_await("client_finalized", 1);
    ck_assert_ptr_eq(host.object, raw_object(1));
}

/* ---- what waits for them ------------------------------------------------------------------- */

static void park_get(int fd, uint32_t tag, pmix_rank_t rank)
{
    px_writer w;

    raw_get(&w, "job", rank, "colour", NULL);
    raw_send(fd, tag, &w);
    ck_assert(raw_quiet(fd));
}

static void end_rank_1(void *arg PX_UNUSED)
{
    pmix_proc_t p = raw_proc("job", 1), unknown = raw_proc("job", 9);

    px_server_client_ended(px_process.server, &unknown);
    px_server_client_ended(px_process.server, &p);
}

/* Deregistered while it is connected, or before it came; ended before it came, as the built-in host
 * reports it. */
static void go(int how)
{
    int reader = raw_client(0), owner = how == 0 ? raw_client(1) : -1;
    pmix_proc_t p = raw_proc("job", 1);

    park_get(reader, 300, 1);
    raw_fence(reader, 301, false);
    ck_assert(raw_quiet(reader));
    host.how = how < 2 ? HOST_ERROR : HOST_INSIDE;
    host.status = how < 2 ? PMIX_ERR_NOT_SUPPORTED : PMIX_SUCCESS;
    if (how < 2)
        PMIx_server_deregister_client(&p, NULL, NULL);
    else
        raw_on_loop(end_rank_1, NULL);
    ck_assert_int_eq(raw_status(reader, 300), PMIX_ERR_NOT_FOUND);
    ck_assert_int_eq(raw_status(reader, 301), PMIX_ERR_LOST_CONNECTION);
    ck_assert(owner < 0 || raw_closed(owner));
}

PX_TEST(a_client_that_goes_is_waited_for_no_more)
{
    for (int how = 0; how < 3; how++) {
        go(how);
        host_end();
        host.status = PMIX_SUCCESS;
        setup();
    }
}

PX_TEST(deregistering_a_namespace_drops_its_clients_and_its_data)
{
    int one = raw_client(0), two = raw_client(1);
    pmix_nspace_t job = "job";
    px_reader rest;
    px_writer w;

    ok(raw_commit(one, "colour", 1));
    raw_get(&w, "job", 1, "shape", NULL); /* which never comes */
    raw_send(one, 300, &w);
    ck_assert(raw_quiet(one));
    PMIx_server_deregister_nspace(job, NULL, NULL);
    while (raw_recv(one, 300, &rest))
        ;
    ck_assert(raw_closed(two));
    ck_assert_ptr_null(px_nspace_find(px_process.model, "job"));
    close(one);
    close(two);

    raw_add_job("job", 2, 0, geteuid());
    two = raw_client(1);
    raw_get(&w, "job", 0, "colour", PMIX_IMMEDIATE);
    ck_assert_int_eq(raw_request(two, &w, NULL), PMIX_ERR_NOT_FOUND);
}

PX_TEST(a_lost_rank_is_an_event_only_if_nobody_announced_it)
{
    int one = raw_client(0);
    pmix_nspace_t job = "job";

    PMIx_server_deregister_nspace(job, NULL, NULL);
    ck_assert(raw_closed(one));
    raw_on_loop(NULL, NULL);
    ck_assert_uint_eq(host_calls("notify_event"), 0);
}

PX_TEST(the_servers_own_namespace_may_be_registered_and_deregistered)
{
    pmix_proc_t self = px_process.model->self, p = self;
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = 1};
    int fd;

    p.rank = 7;
    ok(PMIx_server_register_nspace(self.nspace, 1, NULL, 0, NULL, NULL));
    ok(PMIx_server_register_client(&p, geteuid(), getegid(), NULL, NULL, NULL));
    fd = raw_client_of(self.nspace, 7);
    PMIx_server_deregister_nspace(self.nspace, NULL, NULL);

    ck_assert(raw_closed(fd));
    ck_assert_int_eq(connects(self.nspace, 7), PMIX_ERR_NOT_FOUND);
    ok(PMIx_Put(PMIX_GLOBAL, "still", &v));
}

/* ---- where from ------------------------------------------------------------------------------ */

static pmix_status_t from_within;

static void register_more(void)
{
    pmix_nspace_t more = "more";

    from_within = PMIx_server_register_nspace(more, 0, NULL, 0, NULL, NULL);
}

PX_TEST(a_host_may_register_from_within_an_upcall)
{
    int fd = raw_client(0);

    host.within = register_more;
    ok(raw_finalize(fd));
    ok(from_within);
    ck_assert_ptr_nonnull(px_nspace_find(px_process.model, "more"));
}

static int call_all_in_child(void)
{
    pmix_proc_t p = raw_proc("job", 0);

    if (PMIx_server_register_nspace(p.nspace, 1, NULL, 0, NULL, NULL) != PMIX_ERR_INIT)
        return 1;
    if (PMIx_server_register_nspace(p.nspace, 1, NULL, 0, on_told, &told) !=
        PMIX_ERR_INIT)
        return 2;
    if (PMIx_server_register_client(&p, 0, 0, NULL, NULL, NULL) != PMIX_ERR_INIT)
        return 3;
    PMIx_server_deregister_client(&p, NULL, NULL);
    PMIx_server_deregister_nspace(p.nspace, on_told, &told);
    return await_told() == PMIX_ERR_INIT ? 0 : 4;
}

PX_TEST(a_forked_child_of_a_server_is_none)
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        _exit(call_all_in_child());
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    ok(connects("job", 0));
}

PX_TEST_MAIN("server/reg", setup, host_end)
