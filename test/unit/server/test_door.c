/* SPDX-License-Identifier: BSD-3-Clause */
/* Door of a server: its addresses, a lack of descriptors, clients and tools that are admitted or
 * refused. None of these delays another. */
#include "../rt/rt_test.h"

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/str.h"
#include "core/rt/process.h"
#include "core/server/door/door.h"
#include "core/server/peer/peer.h"
#include "core/wire/frame.h"
#include "fake_host.h"
#include "raw.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

/* Replaces send of the C library. The next n_failures sends of the server fail; sends of the raw
 * client have MSG_DONTWAIT. */
static atomic_int n_failures;
static atomic_int failure;

ssize_t send(int fd, const void *bytes, size_t n, int flags)
{
    if (!(flags & MSG_DONTWAIT) && atomic_load(&n_failures) > 0) {
        atomic_fetch_sub(&n_failures, 1);
        errno = atomic_load(&failure);
        return -1;
    }
    return syscall(SYS_sendto, fd, bytes, n, flags, NULL, 0);
}

static void fail_sends(int n, int errnum)
{
    atomic_store(&failure, errnum);
    atomic_store(&n_failures, n);
}

static void start(void)
{
    raw_server_start(&host_module, 2, 0);
}

/* ---- addresses ------------------------------------------------------------------------------ */

PX_TEST(the_common_address_is_tcp_and_a_faster_one_stands_beside_it)
{
    start();
    const struct px_server *srv = px_process.server;

    ck_assert(px_str_starts(strchr(srv->uri, ';'), ";tcp4://127.0.0.1:"));
    ck_assert(px_str_starts(srv->own_uri, srv->uri));
    ck_assert(px_str_starts(srv->own_uri + strlen(srv->uri), ";usock://"));
    raw_server_stop();
    setenv("PMIX_MCA_ptl", "usock", 1); /* the only transport has the common address */
    start();
    ck_assert_ptr_nonnull(strstr(px_process.server->uri, ";usock://"));
    ck_assert_str_eq(px_process.server->own_uri, "");
}

PX_TEST(the_private_directory_is_the_servers_and_goes_with_it)
{
    struct stat st;

    start();
    PX_AUTOFREE char *dir = strdup(px_process.server->dir);
    ok(stat(dir, &st));
    ck_assert_uint_eq(st.st_mode & 0777, 0700);
    raw_server_stop();
    ck_assert_int_ne(stat(dir, &st), 0);
    setenv("PMIX_SERVER_TMPDIR", "/nonexistent/place", 1); /* not a reason to fail */
    start();
    ck_assert_ptr_nonnull(strstr(px_process.server->uri, ";tcp4://"));
    ck_assert_ptr_nonnull(strstr(px_process.server->own_uri, ";usock://"));
    close(raw_client(0));
    raw_server_stop();
    ck_assert_int_ne(access("/nonexistent", F_OK), 0);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void limit_fds(rlim_t n)
{
    struct rlimit limit;

    ok(getrlimit(RLIMIT_NOFILE, &limit));
    limit.rlim_cur = n ? n : limit.rlim_max;
    ok(setrlimit(RLIMIT_NOFILE, &limit));
}

static int plain_socket(void)
{
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* Takes all free descriptors, including those that the loop has just closed. */
static void take_all(void)
{
    for (int round = 0; round < 3; round++) {
        raw_on_loop(NULL, NULL);
        while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
            ;
    }
}

static void comes_in(int fd, pmix_rank_t rank)
{
    struct px_hello h = raw_hello("job", rank);

    ok(raw_send_hello(fd, &h));
}

PX_TEST(out_of_descriptors_it_waits_without_spinning_and_then_goes_on)
{
    start();
    int waiting = plain_socket();
    limit_fds(64);
    take_all();
    /* The kernel accepts the connection, the server cannot. */
    raw_connect_socket(waiting);
    double before = cpu_seconds();
    /* Time in which the server must not be busy. */
    nanosleep(&(struct timespec){.tv_nsec = 400 * 1000 * 1000}, NULL);
    ck_assert(cpu_seconds() - before < 0.2);
    limit_fds(0); /* at once, as the server needs more than one descriptor */
    comes_in(waiting, 0);
    close(raw_client(1));
}

PX_TEST(out_of_descriptors_silent_strangers_make_room)
{
    int silent[8];

    start();
    limit_fds(64);
    for (size_t i = 0; i < PX_COUNT(silent); i++)
        silent[i] = raw_socket();
    while (px_process.server->part.door->n_handshakes < PX_COUNT(silent))
        raw_on_loop(NULL, NULL);
    int fds[] = {plain_socket(), plain_socket()};
    take_all();
    /* Two connections, as the server may have put one descriptor back meanwhile. */
    for (pmix_rank_t r = 0; r < PX_COUNT(fds); r++) {
        raw_connect_socket(fds[r]);
        comes_in(fds[r], r);
    }
    ck_assert(raw_closed(silent[0])); /* the connection that was silent longest */
    limit_fds(0);
}

/* ---- strangers ------------------------------------------------------------------------------- */

/* Each connection sends something other than a connect message. */
PX_TEST(a_flood_of_garbage_is_logged_in_a_few_lines)
{
    enum { N = 500 };
    static const char garbage[64] = "GET / HTTP/1.0\r\n\r\n";
    struct rt_capture c = rt_capture_begin();

    start();
    for (int i = 0; i < N; i++) {
        int fd = raw_socket();

        ck_assert_int_eq(write(fd, garbage, sizeof(garbage)), sizeof(garbage));
        ck_assert(raw_closed(fd));
        close(fd);
    }
    raw_server_stop();
    PX_AUTOFREE char *text = rt_capture_end(&c);
    PX_AUTOFREE char *count = px_strf("%d more like it: uid %u", N - PX_LOG_RATE_LINES,
                                      (unsigned)geteuid());
    rt_assert_has(text, count);
    ck_assert_int_eq(rt_count(text, "\n"), PX_LOG_RATE_LINES + 1);
}

PX_TEST(a_user_who_opens_connections_without_end_crowds_out_only_those)
{
    enum { N = 140 };
    struct px_hello h = raw_hello("theirs", 0);
    uint32_t ids[] = {4711, getegid()};
    int greedy[N];

    PX_TEST_NEEDS_ROOT;
    start();
    raw_add_job("theirs", 1, 0, 4711);
    int patient = raw_socket_as(4711);
    for (int i = 0; i < N; i++)
        greedy[i] = raw_socket();
    raw_on_loop(NULL, NULL);
    h.cred = (uint8_t *)ids;
    ok(raw_send_hello(patient, &h));
    ck_assert(raw_closed(greedy[0]));
}

/* ---- clients --------------------------------------------------------------------------------- */

PX_TEST(who_is_not_registered_not_attested_or_not_understood_is_refused)
{
    uint32_t ids[2] = {geteuid() + 1, getegid()};
    struct {
        struct px_hello hello;
        pmix_status_t status;
    } rows[] = {
        {raw_hello("job", 0), PMIX_SUCCESS},
        {raw_hello("nojob", 0), PMIX_ERR_NOT_FOUND},
        {raw_hello("job", 7), PMIX_ERR_NOT_FOUND},
        {raw_hello("job", 0), PMIX_ERR_INVALID_CRED},
        {raw_hello("job", 0), PMIX_ERR_NOT_SUPPORTED},
        {raw_hello("job", 0), PMIX_ERR_NOT_SUPPORTED},
        {raw_hello("job", 0), PMIX_ERR_NOT_SUPPORTED},
        {raw_hello("job", 1), PMIX_SUCCESS},
        {raw_hello("job", 0), PMIX_SUCCESS},
    };
    int fd;

    rows[3].hello.cred = (uint8_t *)ids;
    strcpy(rows[4].hello.dialect, "v12");
    strcpy(rows[5].hello.gds, "ds21");
    strcpy(rows[6].hello.psec, "nosuch");
    strcpy(rows[8].hello.psec, "munge"); /* whose credential is not looked at */
    rows[8].hello.cred = (uint8_t *)ids;
    start();
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        pmix_status_t rc = raw_connect(&rows[i].hello, &fd);

        ck_assert_msg(rc == rows[i].status, "row %zu: %d", i, rc);
    }
}

PX_TEST(what_comes_with_the_connect_message_is_answered_after_it)
{
    static const struct {
        const char *nspace;
        pmix_status_t status;
    } rows[] = {{"job", PMIX_SUCCESS}, {"nojob", PMIX_ERR_NOT_FOUND}};

    start();
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        struct px_hello h = raw_hello(rows[i].nspace, 0);
        PX_AUTO(px_buf) bytes = {0};
        uint8_t header[PX_FRAME_HEADER_B];
        px_writer w = raw_begin(PX_OP_REQ);
        PX_AUTOCLOSE int fd = raw_socket();
        px_reader reply;
        uint32_t word;

        px_frame_encode(header, &(struct px_frame){.tag = PX_TAG_FIRST,
                                                   .nbytes = (uint32_t)w.buf.len});
        ok(px_hello_encode(&h, &bytes));
        ok(px_buf_add(&bytes, header, sizeof(header)));
        ok(px_buf_add(&bytes, w.buf.data, w.buf.len));
        px_writer_cleanup(&w);
        ok(px_fd_write_all(fd, bytes.data, bytes.len, 0));
        ok(px_fd_read_all(fd, &word, sizeof(word), 0));
        ck_assert_int_eq((pmix_status_t)ntohl(word), rows[i].status);
        if (rows[i].status)
            continue;
        ok(px_fd_read_all(fd, &word, sizeof(word), 0));
        ck_assert(raw_recv(fd, PX_TAG_FIRST, &reply));
    }
}

PX_TEST(who_cannot_be_answered_finds_the_connection_closed)
{
    struct px_hello h = raw_hello("job", 0);
    int fd;

    start();
    fail_sends(1, ENOBUFS);
    fails(raw_connect(&h, &fd), UNREACH);
    ok(atomic_load(&n_failures));
    raw_await_gone(0);
    fail_sends(3, EINTR); /* an interrupted reply is sent again */
    close(raw_client(0));
    ok(atomic_load(&n_failures));
}

PX_TEST(a_rank_may_have_several_connections_but_not_without_end)
{
    struct px_hello h = raw_hello("job", 0);
    int fd[100], n = 0;
    pmix_status_t rc;

    start();
    while (n < 100 && (rc = raw_connect(&h, &fd[n])) == PMIX_SUCCESS)
        n++;
    fails(rc, OUT_OF_RESOURCE);
    close(raw_client(1)); /* the limit is not for another rank */
    ok(raw_commit(fd[0], "key", 1));
    close(fd[0]);
    ok(raw_commit(fd[1], "key", 2));
}

/* ---- decisions of the host ----------------------------------------------------------------- */

PX_TEST(a_host_that_refuses_is_asked_again_each_time)
{
    pmix_server_module_t older = host_module;
    struct px_hello h = raw_hello("job", 0);
    int fd;

    older.client_connected2 = NULL;
    for (int i = 0; i < 2; i++) {
        raw_server_start(i ? &older : &host_module, 2, 0);
        host.how_connected = HOST_ERROR;
        host.status = PMIX_ERR_NO_PERMISSIONS;
        fails(raw_connect(&h, &fd), NO_PERMISSIONS);
        fails(raw_connect(&h, &fd), NO_PERMISSIONS);
        host.how_connected = HOST_DONE;
        host.status = PMIX_SUCCESS;
        ok(raw_connect(&h, &fd));
        ck_assert_uint_eq(host_calls(i ? "client_connected" : "client_connected2"), 3);
        raw_server_stop();
    }
}

PX_TEST(a_refusal_that_comes_later_closes_the_connection)
{
    start();
    for (int i = 0; i < 2; i++) {
        host.how_connected = i ? HOST_THREAD : HOST_INSIDE;
        host.status = PMIX_ERR_NO_PERMISSIONS;
        ck_assert(raw_closed(raw_client(0)));
    }
    host.status = PMIX_SUCCESS;
    ok(raw_commit(raw_client(0), "key", 1));
}

PX_TEST(a_client_need_not_wait_for_a_slow_host)
{
    start();
    host.how_connected = HOST_HELD;
    int fd = raw_client(0);
    ok(raw_commit(fd, "key", 1));
    ck_assert(host_answer(PMIX_SUCCESS));
    ck_assert(host.args_lived);
    ok(raw_commit(fd, "key", 2));
    close(fd);
    raw_await_gone(0);
    (void)raw_client(1);
    raw_server_stop(); /* the host never answers for rank 1 */
}

static void deregister_it(void)
{
    pmix_proc_t p = host.proc;

    PMIx_server_deregister_client(&p, NULL, NULL);
}

PX_TEST(a_host_may_deregister_the_very_client_that_connects)
{
    struct px_hello h = raw_hello("job", 0);
    int fd;

    start();
    host.within = deregister_it;
    ck_assert_int_ne(raw_connect(&h, &fd), PMIX_SUCCESS);
    host.within = NULL;
    close(raw_client(1));
}

/* ---- tools --------------------------------------------------------------------------------- */

static void start_for_tools(const pmix_server_module_t *module, bool tools)
{
    PX_AUTO(px_infos) infos = {0};

    ok(px_infos_add(&infos, PMIX_SERVER_NSPACE, "srv", PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_SERVER_TOOL_SUPPORT, &tools, PMIX_BOOL));
    ok(PMIx_server_init((pmix_server_module_t *)(uintptr_t)module, infos.v, infos.n));
    raw_add_job("job", 1, 0, geteuid());
}

static struct px_hello tool_hello(uint8_t flag, const char *nspace)
{
    struct px_hello h = raw_hello(nspace, 0);

    h.flag = flag;
    h.uid = geteuid();
    h.gid = getegid();
    strcpy(h.gds, "ds21"); /* tools of some releases send this */
    return h;
}

/* Sends a connect message and returns the server's status. *name is the first name in the reply:
 * the tool's, if the tool has none, otherwise the server's. */
static pmix_status_t try_on(int fd, const struct px_hello *h, pmix_proc_t *name)
{
    PX_AUTO(px_buf) out = {0};
    uint64_t deadline = px_clock_ms() + 5000;
    uint32_t word;

    ok(px_hello_encode(h, &out));
    ok(px_fd_write_all(fd, out.data, out.len, deadline));
    ok(px_fd_read_all(fd, &word, sizeof(word), deadline));
    *name = (pmix_proc_t){0};
    if (!word)
        ok(px_fd_read_all(fd, name->nspace, sizeof(name->nspace), deadline));
    return (pmix_status_t)ntohl(word);
}

static pmix_status_t try_hello(struct px_hello h, pmix_proc_t *name)
{
    PX_AUTOCLOSE int fd = raw_socket();
    pmix_proc_t unused;

    return try_on(fd, &h, name ? name : &unused);
}

static pmix_status_t knock(uint8_t flag, const char *nspace, pmix_proc_t *name)
{
    return try_hello(tool_hello(flag, nspace), name);
}

PX_TEST(without_support_or_a_word_of_the_host_on_tools_there_are_none)
{
    static const pmix_server_module_t module = {0};

    start_for_tools(NULL, false);
    for (uint8_t flag = 1; flag < PX_FLAG_MAX; flag++)
        if (flag != PX_FLAG_SINGLETON)
            fails(knock(flag, "mine", NULL), NOT_SUPPORTED);
    ok(knock(PX_FLAG_TOOL_CLIENT, "job", NULL)); /* a registered client */
    raw_server_stop();
    start_for_tools(&module, true);
    fails(knock(PX_FLAG_TOOL_NEEDS_ID, "", NULL), NOT_SUPPORTED);
    fails(knock(PX_FLAG_TOOL_HAS_ID, "mine", NULL), NOT_SUPPORTED);
    ok(knock(PX_FLAG_TOOL_CLIENT, "job", NULL));
}

/* Releases of OpenPMIx differ in the answer that a singleton expects. */
PX_TEST(a_singleton_gets_the_answer_that_its_release_reads)
{
    static const struct {
        const char *version;
        bool as_tool;
    } rows[] = {{"4.2.2", true},  {"5.0.7a1", true}, {"5.0.8", true},
                {"5.0.9", false}, {"6.0.0", true},   {"6.1.0", false}};

    start_for_tools(NULL, true);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        struct px_hello h = tool_hello(PX_FLAG_SINGLETON, "job");
        uint8_t bytes[2 * sizeof(uint32_t) + sizeof(pmix_nspace_t)];
        uint64_t deadline = px_clock_ms() + 5000;
        PX_AUTO(px_buf) out = {0};
        PX_AUTOCLOSE int fd = raw_socket();

        strcpy(h.gds, "shmem2"); /* chosen before the singleton knows a server */
        snprintf(h.version_text, sizeof(h.version_text), "%s", rows[i].version);
        ok(px_hello_encode(&h, &out));
        ok(px_fd_write_all(fd, out.data, out.len, deadline));
        ok(px_fd_read_all(fd, bytes, 2 * sizeof(uint32_t), deadline));
        if (rows[i].as_tool)
            ck_assert_str_eq((char *)bytes + sizeof(uint32_t), "srv");
        else
            ck_assert_int_eq(bytes[sizeof(uint32_t)], 0); /* the index of the client */
    }
}

PX_TEST(our_own_host_names_each_tool)
{
    pmix_proc_t first, second, third;

    start_for_tools(NULL, true);
    ok(knock(PX_FLAG_TOOL_NEEDS_ID, "", &first));
    ok(knock(PX_FLAG_LAUNCHER_NEEDS_ID, "", &second));
    ck_assert_str_ne(first.nspace, second.nspace);
    ck_assert_str_ne(first.nspace, "srv");
    /* A tool with a name gets the server's name at once. */
    ok(knock(PX_FLAG_TOOL_HAS_ID, "mine", &third));
    ck_assert_str_eq(third.nspace, "srv");
    fails(knock(PX_FLAG_TOOL_LEGACY, "", NULL), NOT_SUPPORTED);
}

PX_TEST(a_name_that_is_taken_is_given_to_no_other)
{
    struct px_hello h = tool_hello(PX_FLAG_TOOL_HAS_ID, "tool-1-of-srv");
    pmix_proc_t name;

    start_for_tools(NULL, true);
    raw_add_job("tool-2-of-srv", 1, 0, geteuid());
    PX_AUTOCLOSE int fd = raw_socket();
    ok(try_on(fd, &h, &name));
    ok(knock(PX_FLAG_TOOL_NEEDS_ID, "", &name));
    ck_assert_str_eq(name.nspace, "tool-3-of-srv");
    fails(knock(PX_FLAG_TOOL_HAS_ID, "srv", NULL), NO_PERMISSIONS);
    fails(knock(PX_FLAG_TOOL_HAS_ID, "", NULL), BAD_PARAM);
    raw_add_job("other", 1, 0, geteuid() + 1);
    fails(knock(PX_FLAG_TOOL_CLIENT, "other", NULL), NO_PERMISSIONS);
    ok(knock(PX_FLAG_TOOL_CLIENT, "job", NULL));
    h.uid++; /* the kernel does not confirm this uid */
    fails(try_hello(h, NULL), INVALID_CRED);
}

/* Gets the size of a job. */
static pmix_status_t size_at(int fd, const char *nspace)
{
    return raw_request(fd, raw_get(nspace, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, NULL),
                       NULL);
}

/* Connects a tool that has a name. */
static int admitted(const struct px_hello *h)
{
    int fd = raw_socket();
    char rest[8]; /* rest of the reply */
    pmix_proc_t name;

    ok(try_on(fd, h, &name));
    ok(px_fd_read_all(fd, rest, sizeof(rest), px_clock_ms() + 5000));
    return fd;
}

static void leaves(int fd, const pmix_proc_t *name)
{
    close(fd);
    raw_await_left(*name);
}

PX_TEST(a_tool_is_a_job_of_one_while_it_is_connected)
{
    struct px_hello h = tool_hello(PX_FLAG_TOOL_HAS_ID, "mine");

    start_for_tools(NULL, true);
    PX_AUTOCLOSE int client = raw_client(0);
    fails(size_at(client, "mine"), NOT_FOUND);
    int fd = admitted(&h);
    const struct px_nspace *ns = px_nspace_find(px_process.model, "mine");
    ck_assert_ptr_nonnull(ns);
    ck_assert_uint_eq(ns->job_size, 1);
    ok(size_at(client, "mine"));
    leaves(fd, &h.proc);
    ck_assert_ptr_null(px_nspace_find(px_process.model, "mine"));
    /* The host's own description replaces the description of the tool. */
    fd = admitted(&h);
    raw_add_job("mine", 3, 0, geteuid());
    ck_assert_uint_eq(px_nspace_find(px_process.model, "mine")->job_size, 3);
    leaves(fd, &h.proc);
    ck_assert_ptr_nonnull(px_nspace_find(px_process.model, "mine"));
}

static void register_mine(void)
{
    raw_add_job("mine", 1, 0, geteuid() + 1);
}

static pmix_status_t register_and_admit(pmix_info_t *info PX_UNUSED, size_t n PX_UNUSED,
                                        pmix_tool_connection_cbfunc_t cb, void *cbdata)
{
    register_mine();
    cb(PMIX_SUCCESS, NULL, cbdata);
    return PMIX_SUCCESS;
}

/* A tool can guess the name of a job, and claim the name before the job exists. */
PX_TEST(who_has_a_name_before_its_owner_loses_it)
{
    struct px_hello h = tool_hello(PX_FLAG_TOOL_HAS_ID, "mine");
    pmix_server_module_t module = {.tool_connected2 = register_and_admit};

    start_for_tools(NULL, true);
    PX_AUTOCLOSE int fd = admitted(&h);
    px_peer_find(px_process.server, &h.proc)->uid =
        4711; /* not root, which may keep the name */
    register_mine();
    ck_assert(raw_closed(fd));
    raw_server_stop();
    start_for_tools(&module, true);
    fails(try_hello(h, NULL), NO_PERMISSIONS);
}

/* Has a client and a tool take part in the same collective. */
static void both(int client, int tool, uint8_t op, const pmix_proc_t *procs, size_t n)
{
    static uint32_t tag = 500;

    raw_collect(tool, ++tag, op, procs, n, NULL);
    ck_assert(raw_quiet(tool));
    raw_collect(client, tag, op, procs, n, NULL);
    ok(raw_status(tool, tag));
    ok(raw_status(client, tag));
}

/* Tools of a job that the host registered, and of a job of their own. */
PX_TEST_LOOP(a_tool_commits_and_takes_part_while_it_is_connected, 2)
{
    struct px_hello h = tool_hello(_i ? PX_FLAG_TOOL_HAS_ID : PX_FLAG_TOOL_CLIENT,
                                   _i ? "mine" : "other");
    const pmix_proc_t all = raw_proc(h.proc.nspace, PMIX_RANK_WILDCARD);
    pmix_proc_t procs[] = {raw_proc("job", PMIX_RANK_WILDCARD), all};

    start_for_tools(NULL, true);
    if (_i == 0)
        raw_add_job("other", 1, 0, geteuid());
    PX_AUTOCLOSE int client = raw_client(0);
    fails((raw_collect(client, 201, PX_OP_FENCE, &h.proc, 1, NULL),
           raw_status(client, 201)),
          BAD_PARAM);
    int fd = admitted(&h);
    ok(raw_commit(fd, "key", 7));
    ck_assert_uint_eq(raw_value(client, h.proc.nspace, 0, "key"), 7);
    raw_collect(fd, 202, PX_OP_FENCE, &all, 1, NULL); /* alone */
    ok(raw_status(fd, 202));
    raw_collect(fd, 203, PX_OP_FENCE, procs, 1, NULL); /* not a member */
    fails(raw_status(fd, 203), BAD_PARAM);
    both(client, fd, PX_OP_FENCE, procs, 2);
    procs[1] = h.proc;
    both(client, fd, PX_OP_CONNECT, procs, 2);
    both(client, fd, PX_OP_DISCONNECT, procs, 2);
    raw_collect(client, 204, PX_OP_FENCE, procs, 2, NULL);
    leaves(fd, &h.proc);
    fails(raw_status(client, 204), LOST_CONNECTION);
    ck_assert(_i == 0 || !px_nspace_find(px_process.model, "mine"));
    fd = admitted(&h);
    both(client, fd, PX_OP_FENCE, procs, 2);
    leaves(fd, &h.proc);
}

PX_TEST(a_rank_finalizes_while_a_tool_of_the_rank_is_connected)
{
    struct px_hello h = tool_hello(PX_FLAG_TOOL_CLIENT, "job");

    start();
    int client = raw_client(0), fd = admitted(&h);
    ck_assert_uint_eq(host_calls("client_finalized"), 0);
    ok(raw_finalize(client));
    ck_assert_uint_eq(host_calls("client_finalized"), 1);
    close(fd);
}

PX_TEST(tools_of_one_namespace_are_named_one_by_one)
{
    struct px_hello h = tool_hello(PX_FLAG_TOOL_HAS_ID, "mine");
    pmix_proc_t procs[] = {raw_proc("mine", 4), raw_proc("mine", 5)};
    const pmix_proc_t all = raw_proc("mine", PMIX_RANK_WILDCARD);
    int fds[2];

    start_for_tools(NULL, true);
    h.proc.rank = 4;
    fds[0] = admitted(&h);
    raw_collect(fds[0], 202, PX_OP_FENCE, procs, 2, NULL);
    fails(raw_status(fds[0], 202), NOT_FOUND); /* the other one is not there */
    h.proc.rank = 5;
    fds[1] = admitted(&h);
    raw_collect(fds[0], 203, PX_OP_FENCE, procs, 1, NULL);
    ok(raw_status(fds[0], 203));
    raw_collect(fds[0], 204, PX_OP_FENCE, &all, 1, NULL);
    raw_collect(fds[1], 204, PX_OP_FENCE, procs, 2, NULL);
    ok(raw_status(fds[0], 204));
    ok(raw_status(fds[1], 204));
    leaves(fds[1], &h.proc);
    raw_collect(fds[0], 205, PX_OP_FENCE, &all, 1, NULL);
    ok(raw_status(fds[0], 205));
    close(fds[0]);
}

PX_TEST_MAIN("server/door", NULL, host_end)
