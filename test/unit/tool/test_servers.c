/* SPDX-License-Identifier: BSD-3-Clause */
/* Several servers: the choice of the primary, the fate of the others, and of waiting
 * requests. */
#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/client/client.h"
#include "core/rt/process.h"
#include "core/types/type.h"
#include "px_test.h"
#include "tool_server.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/socket.h>

static sem_t came, asked;
static pmix_proc_t lost;

static void setup(void)
{
    tool_server_setup();
    sem_init(&came, 0, 0);
    sem_init(&asked, 0, 0);
}

static pmix_status_t attach(const char *name, bool primary, pmix_proc_t *server)
{
    const char *uri = tool_server_uri(name);
    PX_AUTO(px_infos) infos = {0};

    ok(px_infos_add(&infos, PMIX_SERVER_URI, uri, PMIX_STRING));
    if (primary)
        ok(px_infos_add(&infos, PMIX_PRIMARY_SERVER, &primary, PMIX_BOOL));
    if (!PMIx_Initialized())
        return PMIx_tool_init(&tool, infos.v, infos.n);
    return PMIx_tool_attach_to_server(NULL, server, infos.v, infos.n);
}

static void begin(void)
{
    ok(attach("server-1", false, NULL));
    ck_assert_str_eq(tool.nspace, "given");
    ck_assert_uint_eq(tool.rank, 3);
    ck_assert(PMIx_tool_is_connected());
}

static pmix_status_t leave(const char *name)
{
    pmix_proc_t p = proc_of(name, 0);

    return PMIx_tool_disconnect(&p);
}

static pmix_status_t choose(const char *name)
{
    pmix_proc_t p = proc_of(name, 0);

    return PMIx_tool_set_server(&p, NULL, 0);
}

/* Checks the names of the servers, in order, separated by commas. */
static void servers_are(const char *names)
{
    PX_AUTO(px_strv) wanted = px_strv_split(names, ',', false);
    pmix_proc_t *list = NULL;
    size_t n = 0;

    ok(PMIx_tool_get_servers(&list, &n));
    ck_assert_uint_eq(n, px_strv_count(wanted));
    for (size_t i = 0; i < n; i++)
        ck_assert_str_eq(list[i].nspace, wanted[i]);
    PMIX_PROC_FREE(list, n);
}

/* Sends a request that every server answers. */
static pmix_status_t ask(void)
{
    pmix_info_t data = flag(PMIX_LOG_STDERR);

    return PMIx_Log(&data, 1, NULL, 0);
}

PX_TEST(the_first_server_is_primary_and_others_follow)
{
    pmix_proc_t second = {0};

    begin();
    servers_are("server-1");
    ok(attach("server-2", false, &second));
    ck_assert_str_eq(second.nspace, "server-2");
    ck_assert_int_eq(fake.hello.flag, PX_FLAG_TOOL_HAS_ID);
    ck_assert_str_eq(fake.hello.proc.nspace, "given");
    servers_are("server-1,server-2");
    ok(attach("server-3", true, NULL));
    servers_are("server-3,server-1,server-2");
    ok(ask());
    finalize();
    ck_assert_uint_eq(fake.n_ops[PX_OP_FINALIZE], 3);
    ck_assert_uint_eq(fake.n_ops[PX_OP_REQ], 1);
}

PX_TEST(a_launcher_with_a_file_is_still_a_tool_of_its_server)
{
    const char *path = px_test_path("launcher");
    pmix_status_t code = -1234;

    add_text(PMIX_SERVER_URI, tool_server_uri("server-1"));
    add_text(PMIX_LAUNCHER_RENDEZVOUS_FILE, path);
    ok(init());
    ck_assert_int_eq(access(path, R_OK), 0);
    servers_are("server-1");
    handle_code(code, ignore_event);
    ok(PMIx_Notify_event(code, NULL, PMIX_RANGE_SESSION, NULL, 0, NULL, NULL));
    ok(ask());
    ck_assert_uint_eq(fake.n_ops[PX_OP_LOG], 1);
    ck_assert_uint_eq(fake.n_ops[PX_OP_REGEVENTS], 1);
    ck_assert_uint_eq(fake.n_ops[PX_OP_NOTIFY], 1);
    finalize();
    ck_assert_int_ne(access(path, F_OK), 0);
}

PX_TEST(a_server_that_is_connected_is_not_connected_again)
{
    pmix_proc_t same = {0};

    begin();
    ok(attach("server-1", false, &same));
    ck_assert_str_eq(same.nspace, "server-1");
    ck_assert_int_eq(tool_server.accepted, 1);
    /* A server whose address has a different name is recognised by its reply. */
    tool_server.same_name = true;
    ok(attach("alias", false, &same));
    ck_assert_str_eq(same.nspace, "server-1");
    servers_are("server-1");
}

PX_TEST(the_deprecated_call_makes_it_primary)
{
    pmix_info_t info;

    begin();
    PMIx_Info_load(&info, PMIX_SERVER_URI, tool_server_uri("server-2"), PMIX_STRING);
    ok(PMIx_tool_connect_to_server(NULL, &info, 1));
    PMIx_Info_destruct(&info);
    servers_are("server-2,server-1");
}

PX_TEST(leaving_the_primary_one_leaves_none)
{
    begin();
    ok(attach("server-2", false, NULL));
    ok(leave("server-1"));
    fails(leave("server-1"), NOT_FOUND);
    ck_assert(!PMIx_tool_is_connected());
    servers_are("server-2");
    fails(ask(), UNREACH);
    fails(PMIx_Fence(NULL, 0, NULL, 0), UNREACH);
    fails(choose("server-1"), UNREACH);
    ok(choose("server-2"));
    ck_assert(PMIx_tool_is_connected());
    ok(ask());
    ok(leave("server-2"));
    /* After the last server, the next one becomes primary. */
    ok(attach("server-3", false, NULL));
    ok(ask());
}

PX_TEST_HANDLER(on_lost)
{
    ck_assert_int_eq(code, PMIX_ERR_LOST_CONNECTION);
    lost = *source;
    cb(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
    sem_post(&came);
}

PX_TEST(the_loss_of_a_server_is_an_event)
{
    begin();
    ok(attach("server-2", false, NULL));
    handle_code(PMIX_ERR_LOST_CONNECTION, on_lost);
    shutdown(tool_server.fds[2], SHUT_RDWR);
    sem_wait(&came);
    ck_assert_str_eq(lost.nspace, "server-2");
    servers_are("server-1");
    ok(ask());
    shutdown(tool_server.fds[1], SHUT_RDWR);
    sem_wait(&came);
    ck_assert_str_eq(lost.nspace, "server-1");
    ck_assert(!PMIx_tool_is_connected());
    fails(ask(), UNREACH);
    /* A further init searches for a server again. */
    fails(PMIx_tool_init(&tool, NULL, 0), UNREACH);
}

/* ---- waiting --------------------------------------------------------------------- */

static pmix_status_t wait_for_second(uint32_t seconds)
{
    pmix_info_t infos[] = {flag(PMIX_WAIT_FOR_CONNECTION), {{0}, 0, {0}}};
    pmix_proc_t second = proc_of("server-2", 0);

    PMIx_Info_load(&infos[1], PMIX_TIMEOUT, &seconds, PMIX_UINT32);
    return PMIx_tool_set_server(&second, infos, seconds ? 2 : 1);
}

static void *wait_long(void *status)
{
    *(pmix_status_t *)status = wait_for_second(0);
    return NULL;
}

PX_TEST(the_primary_one_may_be_waited_for)
{
    uint64_t began = px_clock_ms();
    pmix_status_t waited;
    pthread_t thread;

    begin();
    fails(wait_for_second(1), TIMEOUT);
    ck_assert_uint_ge(px_clock_ms() - began, 1000);
    servers_are("server-1");
    ok(pthread_create(&thread, NULL, wait_long, &waited));
    ok(attach("server-2", false, NULL));
    pthread_join(thread, NULL);
    ok(waited);
    servers_are("server-2,server-1");
}

static bool swallow(int fd PX_UNUSED, struct fake_req *req)
{
    if (req->op != PX_OP_LOG)
        return false;
    sem_post(&asked);
    return true;
}

static pmix_status_t asked_status;

static void *ask_in_vain(void *arg PX_UNUSED)
{
    asked_status = ask();
    return NULL;
}

static pthread_t begin_asking(void)
{
    pthread_t thread;

    ok(pthread_create(&thread, NULL, ask_in_vain, NULL));
    sem_wait(&asked);
    return thread;
}

static void asked_in_vain(pthread_t thread, pmix_status_t status)
{
    pthread_join(thread, NULL);
    ck_assert_int_eq(asked_status, status);
}

PX_TEST(what_waits_for_a_server_that_is_left_fails)
{
    pthread_t thread;

    fake.hook = swallow;
    begin();
    ok(attach("server-2", true, NULL));
    ok(choose("server-1"));
    thread = begin_asking();
    /* Choosing another server does not disturb the request; the loss of its own server
     * ends it. */
    ok(choose("server-2"));
    ok(leave("server-1"));
    asked_in_vain(thread, PMIX_ERR_UNREACH);
}

PX_TEST(stopping_the_thread_leaves_no_call_waiting)
{
    pthread_t thread;

    fake.hook = swallow;
    begin();
    thread = begin_asking();
    PMIx_Progress_thread_stop(NULL, 0);
    shutdown(tool_server.fds[1],
             SHUT_RDWR); /* only visible to the thread that drives progress */
    asked_in_vain(thread, PMIX_ERR_LOST_CONNECTION);
}

static bool hang_up(int fd, struct fake_req *req)
{
    if (req->op != PX_OP_FINALIZE)
        return false;
    shutdown(fd, SHUT_RDWR);
    return true;
}

/* "server-1" twice: a detach by name removes either of them, and no other server. */
PX_TEST(any_server_of_a_name_is_one_server)
{
    pmix_proc_t any = proc_of("server-1", PMIX_RANK_WILDCARD), *list = NULL;
    size_t n = 0;

    begin();
    ok(attach("server-2", false, NULL));
    PX_LIST_EACH (&px_process.client->role->links, struct px_uplink, l, link) {
        if (strcmp(l->server.nspace, "server-2") == 0)
            px_proc_set(&l->server, "server-1", 1);
    }
    fake.hook = hang_up;
    ok(PMIx_tool_disconnect(&any));
    ok(PMIx_tool_get_servers(&list, &n));
    ck_assert_uint_eq(n, 1);
    PMIx_Proc_free(list, n);
}

static int stopped_at;

static bool note_stop(int fd, struct fake_req *req)
{
    if (req->op == PX_OP_IOF_DEREG)
        stopped_at = fd;
    if (req->op != PX_OP_IOF_DEREG && req->op != PX_OP_IOF_PULL)
        return false;
    fake_status(fd, req->tag, PMIX_SUCCESS);
    return true;
}

static void on_output(size_t id PX_UNUSED, pmix_iof_channel_t channel PX_UNUSED,
                      pmix_proc_t *from PX_UNUSED, pmix_byte_object_t *bytes PX_UNUSED,
                      pmix_info_t info[] PX_UNUSED, size_t n PX_UNUSED)
{
}

/* Each server numbers its own requests. */
PX_TEST(forwarding_is_stopped_where_it_was_asked_for)
{
    int id[2];

    fake.hook = note_stop;
    begin();
    for (int i = 0; i < 2; i++) {
        id[i] = PMIx_IOF_pull(&tool, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_output,
                              NULL, NULL);
        ck_assert_int_gt(id[i], 0);
    }
    ok(attach("server-2", true, NULL));
    ok(PMIx_IOF_deregister((size_t)id[0], NULL, 0, NULL, NULL));
    ck_assert_int_eq(stopped_at, tool_server.fds[1]);
    stopped_at = -1;
    ok(leave("server-1"));
    ok(PMIx_IOF_deregister((size_t)id[1], NULL, 0, NULL, NULL));
    ck_assert_int_eq(stopped_at, -1);
}

static pmix_info_cbfunc_t held_cb;
static void *held_data[4];
static int n_held;

static pmix_status_t hold_query(pmix_proc_t *proc PX_UNUSED,
                                pmix_query_t *queries PX_UNUSED, size_t n PX_UNUSED,
                                pmix_info_cbfunc_t cb, void *cbdata)
{
    held_cb = cb;
    held_data[n_held++] = cbdata;
    sem_post(&came);
    return PMIX_SUCCESS;
}

static pmix_status_t own_answer;

static void on_own_answer(pmix_status_t status, pmix_info_t *info PX_UNUSED,
                          size_t n PX_UNUSED, void *cbdata PX_UNUSED,
                          pmix_release_cbfunc_t release, void *release_data)
{
    own_answer = status;
    if (release)
        release(release_data);
    sem_post(&came);
}

/* Tool and server number their requests from the same start. */
PX_TEST(a_late_answer_to_itself_is_none_of_another_server)
{
    pmix_server_module_t module = {.query = hold_query};
    char *keys[] = {(char *)(uintptr_t)PMIX_QUERY_NAMESPACES, NULL};
    pmix_query_t q = {.keys = keys};
    pthread_t thread;

    fake.hook = swallow;
    init_alone();
    ok(PMIx_tool_set_server_module(&module));
    for (size_t i = 0; i < PX_COUNT(held_data); i++) {
        ok(PMIx_Query_info_nb(&q, 1, on_own_answer, NULL));
        sem_wait(&came);
    }
    ok(attach("server-1", true, NULL));
    for (size_t i = 0; i < PX_COUNT(held_data); i++)
        sem_wait(&came);
    ck_assert_int_eq(own_answer, PMIX_ERR_LOST_CONNECTION);
    thread = begin_asking();
    for (int i = 0; i < n_held; i++)
        held_cb(PMIX_ERR_EXISTS, NULL, 0, held_data[i], NULL, NULL);
    ok(leave("server-1"));
    asked_in_vain(thread, PMIX_ERR_UNREACH);
}

PX_TEST_MAIN("tool/servers", setup, tool_teardown)
