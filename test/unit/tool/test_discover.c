/* SPDX-License-Identifier: BSD-3-Clause */
/* How a tool finds its server, the messages it sends there, the servers it refuses, and
 * its timeouts. */
#include "core/base/clock.h"
#include "core/base/str.h"
#include "px_test.h"
#include "test/unit/rt/rt_test.h"
#include "tool_server.h"

#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- ways ------------------------------------------------------------------------ */

PX_TEST(by_address)
{
    const char *uri = tool_server_uri("server-1");
    PX_AUTOFREE char *with_variables = px_strf("PMIX_SERVER_URI41:PMIX_SERVER_URI3;%s",
                                               uri);

    finds_by(PMIX_SERVER_URI, uri);
    ck_assert_str_eq(tool.nspace, "given");
    ck_assert_uint_eq(tool.rank, 3);
    finds_by(PMIX_TCP_URI, uri);
    finds_by(PMIX_SERVER_URI, with_variables);
    /* Invalid addresses, alone or combined with others. */
    fails_by(PMIX_SERVER_URI, "nonsense", PMIX_ERR_BAD_PARAM);
    add_text(PMIX_SERVER_URI, uri);
    fails_by(PMIX_TCP_URI, uri, PMIX_ERR_BAD_PARAM);
    add_text(PMIX_TCP_URI, "server-1.0;usock:///tmp/x");
    fails_with(PMIX_ERR_UNREACH);
}

PX_TEST(by_file)
{
    const char *path = tool_file("any-name", NULL);
    PX_AUTOFREE char *uri = px_strf("file:%s", path);

    finds_by(PMIX_TOOL_ATTACHMENT_FILE, path);
    finds_by(PMIX_SERVER_URI, uri);
    finds_by(PMIX_TCP_URI, uri);
}

PX_TEST(by_process_id_and_by_namespace)
{
    for (int form = PLAIN; form <= OLD; form++) {
        const char *path = tool_file(tool_name(form, "4711"), NULL);

        add_u32(PMIX_SERVER_PIDINFO, 4711);
        finds_it();
        add_u32(PMIX_SERVER_PIDINFO, 471); /* an id must match as a whole */
        fails_with(PMIX_ERR_UNREACH);
        ok(unlink(path));
        path = tool_file(tool_name(form, "their.nspace"), NULL);
        finds_by(PMIX_SERVER_NSPACE, "their.nspace");
        ok(unlink(path));
        fails_by(PMIX_SERVER_NSPACE, "their.nspace", PMIX_ERR_UNREACH);
    }
}

PX_TEST(by_kind)
{
    static const struct {
        const char *key, *name, *kind;
    } rows[] = {
        {PMIX_CONNECT_TO_SYSTEM, "PMIX_CONNECT_TO_SYSTEM", "sys"},
        {PMIX_CONNECT_TO_SCHEDULER, "PMIX_CONNECT_TO_SCHEDULER", "sched"},
        {PMIX_CONNECT_TO_SYS_CONTROLLER, "PMIX_CONNECT_TO_SYS_CONTROLLER", "sysctrlr"},
        {PMIX_CONNECT_SYSTEM_FIRST, "PMIX_CONNECT_SYSTEM_FIRST", "sys"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const char *path = tool_file(tool_name(KIND, rows[i].kind), NULL);

        finds_by(rows[i].key, NULL);
        finds_by(PMIX_CONNECTION_ORDER, rows[i].name);
        finds_by(PMIX_CONNECTION_ORDER, rows[i].key);
        ok(unlink(path));
        fails_by(rows[i].key, NULL, PMIX_ERR_UNREACH);
    }
}

static const char dead[] = "dead.0;tcp4://127.0.0.1:1\n4.2.2\n1\n0:0\n";

/* Makes the server directory "a" in the system's one. */
static void make_server_dir(void)
{
    ok(mkdir(px_test_path("a"), 0700));
    setenv("PMIX_SERVER_TMPDIR", px_test_path("a"), 1);
}

static void server_file(const char *name, const char *text)
{
    PX_AUTOFREE char *below = px_strf("a/%s", name);

    tool_file(below, text);
}

PX_TEST(servers_of_a_kind_are_in_the_folder_of_the_system)
{
    const char *elsewhere = px_test_path("b");

    make_server_dir();
    ok(mkdir(elsewhere, 0700));
    setenv("PMIX_SYSTEM_TMPDIR", elsewhere, 1);
    server_file(tool_name(KIND, "sys"), NULL);
    server_file(tool_name(KIND, "sched"), NULL);
    fails_by(PMIX_CONNECT_TO_SYSTEM, NULL, PMIX_ERR_UNREACH);
    fails_by(PMIX_CONNECT_TO_SCHEDULER, NULL, PMIX_ERR_UNREACH);
    /* The attribute is stronger than the environment. */
    add_text(PMIX_SYSTEM_TMPDIR, px_test_dir());
    finds_by(PMIX_CONNECT_TO_SCHEDULER, NULL);
    /* With "first" only, the server may be missing. */
    finds_by(PMIX_CONNECT_SYSTEM_FIRST, NULL);
}

PX_TEST(the_session_comes_first_without_a_named_server)
{
    make_server_dir();
    server_file(tool_name(KIND, "sys"), NULL);
    server_file(tool_name(PLAIN, "1"), dead);
    tool_file(tool_name(PLAIN, "2"), dead);
    finds_it();
    /* Schedulers and system controllers are found only on request. */
    server_file(tool_name(KIND, "sys"), dead);
    tool_file(tool_name(KIND, "sched"), NULL);
    tool_file(tool_name(KIND, "sysctrlr"), NULL);
    fails_with(PMIX_ERR_UNREACH);
    /* Then any server, in both folders. */
    tool_file(tool_name(PLAIN, "3"), NULL);
    finds_it();
    tool_file(tool_name(PLAIN, "3"), dead);
    server_file(tool_name(PLAIN, "their.nspace"), NULL);
    finds_it();
}

PX_TEST(a_server_of_many_files_is_asked_once)
{
    tool_file(tool_name(KIND, "sys"), NULL);
    tool_file(tool_name(PLAIN, "4711"), NULL);
    tool_file(tool_name(OLD, "4711"), NULL);
    tool_file(tool_name(PLAIN, "their.nspace"), NULL);
    tool_server.refuse = PMIX_ERR_NO_PERMISSIONS;
    fails_with(PMIX_ERR_UNREACH);
    ck_assert_int_eq(tool_server.accepted, 1);
}

PX_TEST(the_last_of_an_order_may_forbid_others)
{
    tool_file(tool_name(OLD, "4711"), NULL);
    fails_by(PMIX_CONNECTION_ORDER, "PMIX_CONNECT_TO_SCHEDULER,PMIX_CONNECT_TO_SYSTEM",
             PMIX_ERR_UNREACH);
    add_text(PMIX_CONNECTION_ORDER,
             "PMIX_CONNECT_TO_SCHEDULER,PMIX_CONNECT_SYSTEM_FIRST");
    finds_it();
    fails_by(PMIX_CONNECTION_ORDER, "PMIX_CONNECT_TO_MARS", PMIX_ERR_BAD_PARAM);
}

PX_TEST(by_searching_all_folders)
{
    PX_AUTOFREE char *name = px_strf("a/b/%s", tool_name(OLD, "4711"));

    fails_with(PMIX_ERR_UNREACH);
    ok(mkdir(px_test_path("a"), 0700));
    ok(mkdir(px_test_path("a/b"), 0700));
    tool_file(name, NULL);
    finds_it();
    /* The file of a dead server beside it does no harm. */
    tool_file(tool_name(OLD, "1"), "dead.0;tcp4://127.0.0.1:1\n4.2.2\n");
    tool_file(tool_name(OLD, "2"), "garbage");
    finds_it();
}

PX_TEST(by_the_environment)
{
    const char *uri = tool_server_uri("server-1");

    setenv("PMIX_SERVER_URI41", uri, 1);
    finds_it();
    ck_assert_int_eq(fake.hello.flag, PX_FLAG_TOOL_NEEDS_ID);
    setenv("PMIX_NAMESPACE", "given", 1);
    setenv("PMIX_RANK", "9", 1);
    finds_it();
    ck_assert_int_eq(fake.hello.flag, PX_FLAG_TOOL_CLIENT);
    ck_assert_uint_eq(fake.hello.proc.rank, 9);
    /* A tool with a configured server does not fall back to another. */
    setenv("PMIX_SERVER_URI41", "dead.0;tcp4://127.0.0.1:1", 1);
    tool_file(tool_name(OLD, "4711"), NULL);
    fails_with(PMIX_ERR_UNREACH);
    unsetenv("PMIX_SERVER_URI41");
    setenv(PMIX_LAUNCHER_RNDZ_URI, uri, 1);
    finds_it();
    ck_assert_int_eq(fake.hello.flag, PX_FLAG_TOOL_HAS_ID);
    setenv(PMIX_LAUNCHER_RNDZ_URI, "dead.0;tcp4://127.0.0.1:1", 1);
    fails_with(PMIX_ERR_UNREACH);
}

PX_TEST(a_launcher_is_connected_to_its_initiator_too)
{
    const char *first = tool_server_uri("server-1");
    const char *second = tool_server_uri("server-2");
    pmix_proc_t *servers;
    size_t n;

    setenv(PMIX_LAUNCHER_RNDZ_URI, second, 1);
    add_yes(PMIX_LAUNCHER);
    add_text(PMIX_SERVER_URI, first);
    ok(init());
    ok(PMIx_tool_get_servers(&servers, &n));
    ck_assert_uint_eq(n, 2);
    ck_assert_str_eq(servers[0].nspace, "server-1");
    ck_assert_str_eq(servers[1].nspace, "server-2");
    PMIX_PROC_FREE(servers, n);
    ok(PMIx_tool_finalize());
}

/* ---- messages to the server ------------------------------------------------------ */

PX_TEST(its_role_follows_from_its_name)
{
    static const struct {
        const char *nspace;
        bool launcher;
        uint8_t flag;
    } rows[] = {{NULL, false, PX_FLAG_TOOL_NEEDS_ID},
                {NULL, true, PX_FLAG_LAUNCHER_NEEDS_ID},
                {"given", false, PX_FLAG_TOOL_HAS_ID},
                {"given", true, PX_FLAG_LAUNCHER_HAS_ID}};
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        if (rows[i].nspace)
            add_text(PMIX_TOOL_NSPACE, rows[i].nspace);
        if (rows[i].launcher)
            add_yes(PMIX_LAUNCHER);
        finds_by(PMIX_SERVER_URI, tool_server_uri("server-1"));
        ck_assert_int_eq(fake.hello.flag, rows[i].flag);
        ck_assert_uint_eq(fake.hello.uid, geteuid());
        ck_assert_uint_eq(fake.hello.gid, getegid());
        ck_assert_str_eq(fake.hello.gds, "hash");
        ck_assert_str_eq(tool.nspace, "given");
        ck_assert_uint_eq(tool.rank, rows[i].nspace ? 0 : 3);
    }
}

PX_TEST(it_sends_its_process_id_and_command)
{
    PX_TEST_NEEDS_PROC;
    const char *uri = tool_server_uri("server-1");
    pmix_info_t *sent = NULL;
    size_t n = 0;
    px_reader r;
    uint32_t pid;

    finds_by(PMIX_SERVER_URI, uri);
    px_reader_init(&r, px_codec_default, fake.hello.blob, fake.hello.blob_len);
    ok(px_unpack_infos(&r, &sent, &n));
    ck_assert(px_reader_done(&r));
    const pmix_info_t *i = px_info_find(sent, n, PMIX_PROC_PID);
    ck_assert_ptr_nonnull(i);
    ck_assert(px_value_to_u32(&i->value, &pid));
    ck_assert_uint_eq(pid, getpid());
    ck_assert_ptr_nonnull(
        strstr(px_info_str(sent, n, PMIX_CMD_LINE), "test_tool_discover"));
    px_type_free_array(PMIX_INFO, sent, n);
}

PX_TEST(the_version_in_a_file_decides_about_the_dialect)
{
    static const struct {
        const char *version, *dialect;
    } rows[] = {{"v3.2.5", "v3"}, {"3.1.5", "v3"},  {"4.0.0", "v4"}, {"4.1.2", "v41"},
                {"5.0.8", "v41"}, {"6.1.0", "v41"}, {NULL, "v41"}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        fake.codec.dialect = px_dialect_find(rows[i].dialect);
        finds_by(PMIX_TOOL_ATTACHMENT_FILE, tool_file("x", content(rows[i].version)));
        ck_assert_str_eq(fake.hello.dialect, rows[i].dialect);
    }
}

/* ---- the places searched --------------------------------------------------------- */

PX_TEST(the_message_lists_the_places_searched)
{
    const char *server = px_test_path("servers");
    const char *system = px_test_path("system");

    ok(mkdir(server, 0700));
    for (int i = 0; i < 3; i++) { /* any server, by process id, by kind */
        add_text(PMIX_SERVER_TMPDIR, server);
        add_text(PMIX_SYSTEM_TMPDIR, system);
        if (i == 1)
            add_u32(PMIX_SERVER_PIDINFO, 4711);
        else if (i == 2)
            add_yes(PMIX_CONNECT_TO_SYSTEM);
        struct rt_capture c = rt_capture_begin();
        fails_with(PMIX_ERR_UNREACH);
        PX_AUTOFREE char *logged = rt_capture_end(&c);
        ck_assert_msg(!strstr(logged, "PMIX_NAMESPACE"), "%s", logged);
        ck_assert_msg(strstr(logged, "PMIx_tool_init: no file pmix."), "%s", logged);
        ck_assert_msg(!strstr(logged, server) == (i == 2), "%s", logged);
        ck_assert_msg(strstr(logged, system), "%s", logged);
    }
}

/* ---- refused servers ------------------------------------------------------------- */

static void file_is_refused(const char *path)
{
    fails_by(PMIX_TOOL_ATTACHMENT_FILE, path, PMIX_ERR_UNREACH);
    ck_assert_int_eq(tool_server.accepted, 0);
}

PX_TEST(bad_files_are_refused)
{
    const char *good = tool_file("good", NULL);
    const char *link_path = px_test_path("link");
    const char *fifo = px_test_path("fifo");
    PX_AUTOFREE char *big = malloc(8192);

    file_is_refused("/nowhere/at/all");
    file_is_refused(tool_file("stale", dead));
    file_is_refused(px_test_dir());
    file_is_refused(tool_file("empty", ""));
    file_is_refused(tool_file("garbage", "\x01\xff not an address\n\n\n"));
    file_is_refused(tool_file("half", "server-1.0;tcp4:"));
    snprintf(big, 8192, "%s", content("4.2.2"));
    memset(big + strlen(big), ' ', 8191 - strlen(big));
    big[8191] = '\0';
    file_is_refused(tool_file("big", big));
    ok(symlink(good, link_path));
    file_is_refused(link_path);
    ok(mkfifo(fifo, 0600));
    file_is_refused(fifo);
    ok(chmod(good, 0622));
    file_is_refused(good);
    ok(chmod(good, 0600));
    ok(unlink(link_path));
    ok(link(good, link_path));
    file_is_refused(good);
}

PX_TEST(a_file_of_another_user_is_refused)
{
    const char *path = tool_file("theirs", NULL);

    PX_TEST_NEEDS(geteuid() == 0, "root");
    ok(chown(path, 12345, 12345));
    file_is_refused(path);
}

PX_TEST(a_refusal_is_no_connection)
{
    const char *uri = tool_server_uri("server-1");

    tool_server.refuse = PMIX_ERR_NO_PERMISSIONS;
    fails_by(PMIX_SERVER_URI, uri, PMIX_ERR_UNREACH);
    add_text(PMIX_SERVER_URI, uri);
    add_yes(PMIX_TOOL_CONNECT_OPTIONAL);
    ok(init());
    ck_assert(!PMIx_tool_is_connected());
    ck_assert_ptr_nonnull(strstr(tool.nspace, "tool."));
    /* The tool can still connect later, and keeps its name. */
    tool_server.refuse = PMIX_SUCCESS;
    ok(PMIx_tool_attach_to_server(NULL, NULL, tool_infos.v, 1));
    ck_assert(PMIx_tool_is_connected());
    ck_assert_str_eq(fake.hello.proc.nspace, tool.nspace);
    ok(PMIx_tool_finalize());
}

/* ---- time ------------------------------------------------------------------------ */

PX_TEST(a_server_that_never_answers_costs_the_time_set)
{
    uint64_t began = px_clock_ms();

    tool_server.mute = true;
    add_text(PMIX_SERVER_URI, tool_server_uri("server-1"));
    add_u32(PMIX_TIMEOUT, 1);
    fails_with(PMIX_ERR_TIMEOUT);
    ck_assert_uint_ge(px_clock_ms() - began, 900);
    ck_assert_uint_lt(px_clock_ms() - began, 10000);
}

static void *appear(void *arg PX_UNUSED)
{
    usleep(300000);
    tool_file("later", NULL);
    return NULL;
}

PX_TEST(a_file_that_is_not_there_yet_may_be_waited_for)
{
    const char *path = px_test_path("later");
    pthread_t thread;

    for (int i = 0; i < 2; i++) {
        ok(pthread_create(&thread, NULL, appear, NULL));
        add_text(PMIX_TOOL_ATTACHMENT_FILE, path);
        if (i == 0)
            add_yes(PMIX_WAIT_FOR_CONNECTION);
        add_u32(i ? PMIX_CONNECT_MAX_RETRIES : PMIX_TIMEOUT, 20);
        if (i == 1)
            add_u32(PMIX_CONNECT_RETRY_DELAY, 1);
        finds_it();
        pthread_join(thread, NULL);
        ok(unlink(path));
    }
}

PX_TEST(retries_are_counted)
{
    uint64_t began = px_clock_ms();

    add_text(PMIX_TOOL_ATTACHMENT_FILE, "/nowhere/at/all");
    add_u32(PMIX_CONNECT_MAX_RETRIES, 1);
    add_u32(PMIX_CONNECT_RETRY_DELAY, 2);
    fails_with(PMIX_ERR_UNREACH);
    ck_assert_uint_ge(px_clock_ms() - began, 2000);
    ck_assert_uint_lt(px_clock_ms() - began, 3900);
}

PX_TEST_MAIN("tool/discover", tool_server_setup, tool_teardown)
