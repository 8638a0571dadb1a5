/* SPDX-License-Identifier: BSD-3-Clause */
/* Which server a tool finds, what it says there, and what it does not believe. */
#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/rt/process.h"
#include "core/types/type.h"
#include "px_test.h"
#include "tool_server.h"

#include <grp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static pmix_proc_t self;
static px_infos infos;

static void setup(void)
{
    tool_dir_make();
    tool_server_start();
    unsetenv(PMIX_LAUNCHER_RNDZ_URI);
}

static void teardown(void)
{
    px_infos_cleanup(&infos);
    tool_server_stop();
    tool_dir_remove();
}

static void add(const char *key, const void *data, pmix_data_type_t type)
{
    ck_assert_int_eq(px_infos_add(&infos, key, data, type), PMIX_SUCCESS);
}

static void add_u32(const char *key, uint32_t n)
{
    add(key, &n, PMIX_UINT32);
}

static void add_yes(const char *key)
{
    add(key, &(bool){true}, PMIX_BOOL);
}

/* What a server of this address writes; NULL: no version */
static const char *content(const char *version)
{
    static char text[512];
    PX_AUTOFREE char *uri = tool_server_uri("server-1");

    snprintf(text, sizeof(text), "%s\n%s\n4711\n0:0\ntoday\n", uri,
             version ? version : "");
    if (!version)
        *(strchr(text, '\n') + 1) = '\0';
    return text;
}

static void finds_it(void)
{
    ck_assert_int_eq(PMIx_tool_init(&self, infos.v, infos.n), PMIX_SUCCESS);
    ck_assert(PMIx_tool_is_connected());
    ck_assert_int_eq(PMIx_tool_finalize(), PMIX_SUCCESS);
    ck_assert(!PMIx_Initialized());
    px_infos_cleanup(&infos);
    ck_assert_int_eq(tool_server.accepted, 1);
    tool_server.accepted = 0;
}

static void fails_with(pmix_status_t status)
{
    memset(&self, 0x55, sizeof(self));
    ck_assert_int_eq(PMIx_tool_init(&self, infos.v, infos.n), status);
    ck_assert_uint_eq(self.rank, 0x55555555); /* as it was */
    ck_assert(!PMIx_Initialized());
    ck_assert_ptr_null(px_process.loop);
    ck_assert_ptr_null(px_process.tool);
    px_infos_cleanup(&infos);
}

/* ---- ways ------------------------------------------------------------------------------------------- */

START_TEST(by_address)
{
    PX_AUTOFREE char *uri = tool_server_uri("server-1");
    PX_AUTOFREE char *with_variables = px_strf("PMIX_SERVER_URI41:PMIX_SERVER_URI3;%s",
                                               uri);

    add(PMIX_SERVER_URI, uri, PMIX_STRING);
    finds_it();
    ck_assert_str_eq(self.nspace, "given");
    ck_assert_uint_eq(self.rank, 3);
    add(PMIX_TCP_URI, uri, PMIX_STRING);
    finds_it();
    add(PMIX_SERVER_URI, with_variables, PMIX_STRING);
    finds_it();
}
END_TEST

START_TEST(by_file)
{
    PX_AUTOFREE char *path = strdup(tool_file("any-name", content("4.2.2")));
    PX_AUTOFREE char *uri = px_strf("file:%s", path);

    add(PMIX_TOOL_ATTACHMENT_FILE, path, PMIX_STRING);
    finds_it();
    add(PMIX_SERVER_URI, uri, PMIX_STRING);
    finds_it();
    add(PMIX_TCP_URI, uri, PMIX_STRING);
    finds_it();
}
END_TEST

START_TEST(by_process_id_and_by_namespace)
{
    pid_t pid = 4711;

    for (int i = 0; i < 2; i++) {
        PX_AUTOFREE char *by_pid = strdup(i ? tool_file_name("4711")
                                            : tool_file_plain("4711"));
        PX_AUTOFREE char *by_name = strdup(i ? tool_file_name("their.nspace")
                                             : tool_file_plain("their.nspace"));
        const char *path = tool_file(by_pid, content("4.2.2"));

        pid = 4711;
        add(PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
        finds_it();
        ck_assert_int_eq(unlink(path), 0);
        path = tool_file(by_name, content("4.2.2"));
        add(PMIX_SERVER_NSPACE, "their.nspace", PMIX_STRING);
        finds_it();
        ck_assert_int_eq(unlink(path), 0);
        add(PMIX_SERVER_NSPACE, "their.nspace", PMIX_STRING);
        fails_with(PMIX_ERR_UNREACH);
    }
    tool_file(tool_file_name("4711"), content("4.2.2"));
    tool_file(tool_file_plain("4711"), content("4.2.2"));
    pid = 471; /* no beginning of a name */
    add(PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
    fails_with(PMIX_ERR_UNREACH);
}
END_TEST

START_TEST(by_kind)
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
        const char *path = tool_file(tool_file_of(rows[i].kind), content("4.2.2"));

        add_yes(rows[i].key);
        finds_it();
        add(PMIX_CONNECTION_ORDER, rows[i].name, PMIX_STRING);
        finds_it();
        add(PMIX_CONNECTION_ORDER, rows[i].key, PMIX_STRING);
        finds_it();
        ck_assert_int_eq(unlink(path), 0);
        add_yes(rows[i].key);
        fails_with(PMIX_ERR_UNREACH);
    }
}
END_TEST

static const char dead[] = "dead.0;tcp4://127.0.0.1:1\n4.2.2\n1\n0:0\n";

/* In the folder of servers: a name of its own, "a", in that of the system. */
static void make_server_dir(void)
{
    PX_AUTOFREE char *folder = px_strf("%s/a", tool_dir);

    ck_assert_int_eq(mkdir(folder, 0700), 0);
    setenv("PMIX_SERVER_TMPDIR", folder, 1);
}

static const char *in_server_dir(const char *name)
{
    static char path[512];

    snprintf(path, sizeof(path), "a/%s", name);
    return path;
}

START_TEST(servers_of_a_kind_are_in_the_folder_of_the_system)
{
    PX_AUTOFREE char *elsewhere = px_strf("%s/b", tool_dir);

    make_server_dir();
    ck_assert_int_eq(mkdir(elsewhere, 0700), 0);
    setenv("PMIX_SYSTEM_TMPDIR", elsewhere, 1);
    tool_file(in_server_dir(tool_file_of("sys")), content("4.2.2"));
    tool_file(in_server_dir(tool_file_of("sched")), content("4.2.2"));
    add_yes(PMIX_CONNECT_TO_SYSTEM);
    fails_with(PMIX_ERR_UNREACH);
    add_yes(PMIX_CONNECT_TO_SCHEDULER);
    fails_with(PMIX_ERR_UNREACH);
    /* The attribute is stronger than the environment. */
    add(PMIX_SYSTEM_TMPDIR, tool_dir, PMIX_STRING);
    add_yes(PMIX_CONNECT_TO_SCHEDULER);
    finds_it();
    /* Asked to come first only, it may be missing. */
    add_yes(PMIX_CONNECT_SYSTEM_FIRST);
    finds_it();
}
END_TEST

START_TEST(the_session_comes_first_where_nobody_is_named)
{
    make_server_dir();
    tool_file(in_server_dir(tool_file_of("sys")), content("4.2.2"));
    tool_file(in_server_dir(tool_file_plain("1")), dead);
    tool_file(tool_file_plain("2"), dead);
    finds_it();
    /* Schedulers and system controllers want to be asked for. */
    tool_file(in_server_dir(tool_file_of("sys")), dead);
    tool_file(tool_file_of("sched"), content("4.2.2"));
    tool_file(tool_file_of("sysctrlr"), content("4.2.2"));
    fails_with(PMIX_ERR_UNREACH);
    /* Then whoever there is, in both folders. */
    tool_file(tool_file_plain("3"), content("4.2.2"));
    finds_it();
    tool_file(tool_file_plain("3"), dead);
    tool_file(in_server_dir(tool_file_plain("their.nspace")), content("4.2.2"));
    finds_it();
}
END_TEST

START_TEST(a_server_of_many_files_is_asked_once)
{
    tool_file(tool_file_of("sys"), content("4.2.2"));
    tool_file(tool_file_plain("4711"), content("4.2.2"));
    tool_file(tool_file_name("4711"), content("4.2.2"));
    tool_file(tool_file_plain("their.nspace"), content("4.2.2"));
    tool_server.refuse = PMIX_ERR_NO_PERMISSIONS;
    fails_with(PMIX_ERR_UNREACH);
    ck_assert_int_eq(tool_server.accepted, 1);
}
END_TEST

START_TEST(the_last_of_an_order_may_forbid_others)
{
    tool_file(tool_file_name("4711"), content("4.2.2"));
    add(PMIX_CONNECTION_ORDER, "PMIX_CONNECT_TO_SCHEDULER,PMIX_CONNECT_TO_SYSTEM",
        PMIX_STRING);
    fails_with(PMIX_ERR_UNREACH);
    add(PMIX_CONNECTION_ORDER, "PMIX_CONNECT_TO_SCHEDULER,PMIX_CONNECT_SYSTEM_FIRST",
        PMIX_STRING);
    finds_it();
    add(PMIX_CONNECTION_ORDER, "PMIX_CONNECT_TO_MARS", PMIX_STRING);
    fails_with(PMIX_ERR_BAD_PARAM);
}
END_TEST

START_TEST(by_searching_all_folders)
{
    PX_AUTOFREE char *folder = px_strf("%s/a", tool_dir);
    PX_AUTOFREE char *deep = px_strf("%s/a/b", tool_dir);
    PX_AUTOFREE char *name = px_strf("a/b/%s", tool_file_name("4711"));

    fails_with(PMIX_ERR_UNREACH);
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    ck_assert_int_eq(mkdir(deep, 0700), 0);
    tool_file(name, content("4.2.2"));
    finds_it();
    /* A dead server's file beside it does no harm. */
    tool_file(tool_file_name("1"), "dead.0;tcp4://127.0.0.1:1\n4.2.2\n");
    tool_file(tool_file_name("2"), "garbage");
    finds_it();
}
END_TEST

START_TEST(by_the_environment)
{
    PX_AUTOFREE char *uri = tool_server_uri("server-1");

    setenv("PMIX_SERVER_URI41", uri, 1);
    finds_it();
    ck_assert_int_eq(fake.hello.flag, PX_FLAG_TOOL_NEEDS_ID);
    setenv("PMIX_NAMESPACE", "given", 1);
    setenv("PMIX_RANK", "9", 1);
    finds_it();
    ck_assert_int_eq(fake.hello.flag, PX_FLAG_TOOL_CLIENT);
    ck_assert_uint_eq(fake.hello.proc.rank, 9);
    /* Whoever has a server has no other by chance. */
    setenv("PMIX_SERVER_URI41", "dead.0;tcp4://127.0.0.1:1", 1);
    tool_file(tool_file_name("4711"), content("4.2.2"));
    fails_with(PMIX_ERR_UNREACH);
    unsetenv("PMIX_SERVER_URI41");
    setenv(PMIX_LAUNCHER_RNDZ_URI, uri, 1);
    finds_it();
    ck_assert_int_eq(fake.hello.flag, PX_FLAG_TOOL_HAS_ID);
    setenv(PMIX_LAUNCHER_RNDZ_URI, "dead.0;tcp4://127.0.0.1:1", 1);
    fails_with(PMIX_ERR_UNREACH);
}
END_TEST

START_TEST(a_launcher_is_connected_to_its_initiator_too)
{
    PX_AUTOFREE char *first = tool_server_uri("server-1");
    PX_AUTOFREE char *second = tool_server_uri("server-2");
    pmix_proc_t *servers;
    size_t n;

    setenv(PMIX_LAUNCHER_RNDZ_URI, second, 1);
    add_yes(PMIX_LAUNCHER);
    add(PMIX_SERVER_URI, first, PMIX_STRING);
    ck_assert_int_eq(PMIx_tool_init(&self, infos.v, infos.n), PMIX_SUCCESS);
    ck_assert_int_eq(PMIx_tool_get_servers(&servers, &n), PMIX_SUCCESS);
    ck_assert_uint_eq(n, 2);
    ck_assert_str_eq(servers[0].nspace, "server-1");
    ck_assert_str_eq(servers[1].nspace, "server-2");
    PMIX_PROC_FREE(servers, n);
    ck_assert_int_eq(PMIx_tool_finalize(), PMIX_SUCCESS);
}
END_TEST

/* ---- what it says -------------------------------------------------------------------------------------- */

START_TEST(its_role_follows_from_its_name)
{
    static const struct {
        const char *nspace;
        bool launcher;
        uint8_t flag;
    } rows[] = {{NULL, false, PX_FLAG_TOOL_NEEDS_ID},
                {NULL, true, PX_FLAG_LAUNCHER_NEEDS_ID},
                {"given", false, PX_FLAG_TOOL_HAS_ID},
                {"given", true, PX_FLAG_LAUNCHER_HAS_ID}};
    PX_AUTOFREE char *uri = tool_server_uri("server-1");

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        if (rows[i].nspace)
            add(PMIX_TOOL_NSPACE, rows[i].nspace, PMIX_STRING);
        if (rows[i].launcher)
            add_yes(PMIX_LAUNCHER);
        add(PMIX_SERVER_URI, uri, PMIX_STRING);
        finds_it();
        ck_assert_int_eq(fake.hello.flag, rows[i].flag);
        ck_assert_uint_eq(fake.hello.uid, geteuid());
        ck_assert_uint_eq(fake.hello.gid, getegid());
        ck_assert_str_eq(fake.hello.gds, "hash");
        ck_assert_str_eq(self.nspace, "given");
        ck_assert_uint_eq(self.rank, rows[i].nspace ? 0 : 3);
    }
}
END_TEST

START_TEST(it_tells_its_process_id_and_command)
{
    PX_AUTOFREE char *uri = tool_server_uri("server-1");
    pmix_info_t *told = NULL;
    size_t n = 0;
    px_reader r;
    uint32_t pid;

    add(PMIX_SERVER_URI, uri, PMIX_STRING);
    finds_it();
    px_reader_init(&r, px_codec_default, fake.hello.blob, fake.hello.blob_len);
    ck_assert_int_eq(px_unpack_infos(&r, &told, &n), PMIX_SUCCESS);
    ck_assert(px_reader_done(&r));
    const pmix_info_t *i = px_info_find(told, n, PMIX_PROC_PID);
    ck_assert_ptr_nonnull(i);
    ck_assert(px_value_to_u32(&i->value, &pid));
    ck_assert_uint_eq(pid, getpid());
    ck_assert_ptr_nonnull(
        strstr(px_info_str(told, n, PMIX_CMD_LINE), "test_tool_seek"));
    px_type_free_array(PMIX_INFO, told, n);
}
END_TEST

START_TEST(the_version_in_a_file_decides_about_the_dialect)
{
    static const struct {
        const char *version, *dialect;
    } rows[] = {{"v3.2.5", "v3"}, {"3.1.5", "v3"},  {"4.0.0", "v4"}, {"4.1.2", "v41"},
                {"5.0.8", "v41"}, {"6.1.0", "v41"}, {NULL, "v41"}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        fake.codec.dialect = px_dialect_find(rows[i].dialect);
        add(PMIX_TOOL_ATTACHMENT_FILE, tool_file("x", content(rows[i].version)),
            PMIX_STRING);
        finds_it();
        ck_assert_str_eq(fake.hello.dialect, rows[i].dialect);
    }
}
END_TEST

/* ---- what it does not believe ------------------------------------------------------------------------------ */

static void file_is_refused(const char *path)
{
    add(PMIX_TOOL_ATTACHMENT_FILE, path, PMIX_STRING);
    fails_with(PMIX_ERR_UNREACH);
    ck_assert_int_eq(tool_server.accepted, 0);
}

START_TEST(bad_files_are_refused)
{
    PX_AUTOFREE char *good = strdup(tool_file("good", content("4.2.2")));
    PX_AUTOFREE char *link_path = px_strf("%s/link", tool_dir);
    PX_AUTOFREE char *fifo = px_strf("%s/fifo", tool_dir);
    PX_AUTOFREE char *big = malloc(8192);

    file_is_refused("/nowhere/at/all");
    file_is_refused(tool_dir);
    file_is_refused(tool_file("empty", ""));
    file_is_refused(tool_file("garbage", "\x01\xff not an address\n\n\n"));
    file_is_refused(tool_file("half", "server-1.0;tcp4:"));
    snprintf(big, 8192, "%s", content("4.2.2"));
    memset(big + strlen(big), ' ', 8191 - strlen(big));
    big[8191] = '\0';
    file_is_refused(tool_file("big", big));
    ck_assert_int_eq(symlink(good, link_path), 0);
    file_is_refused(link_path);
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    file_is_refused(fifo);
    ck_assert_int_eq(chmod(good, 0622), 0);
    file_is_refused(good);
    ck_assert_int_eq(chmod(good, 0600), 0);
    ck_assert_int_eq(unlink(link_path), 0);
    ck_assert_int_eq(link(good, link_path), 0);
    file_is_refused(good);
}
END_TEST

START_TEST(a_file_of_somebody_else_is_refused)
{
    const char *path = tool_file("theirs", content("4.2.2"));

    PX_TEST_NEEDS(geteuid() == 0, "root");
    ck_assert_int_eq(chown(path, 12345, 12345), 0);
    file_is_refused(path);
}
END_TEST

/* Somebody else has the port now; he hears nothing. */
static int squat(int orders, int reports)
{
    struct sockaddr_in sa = {.sin_family = AF_INET,
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(sa);
    char byte;
    int s, conn;

    if (setgroups(0, NULL) || setresgid(12345, 12345, 12345) ||
        setresuid(12345, 12345, 12345) ||
        (s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) < 0 ||
        bind(s, (struct sockaddr *)&sa, len) || listen(s, 4) ||
        getsockname(s, (struct sockaddr *)&sa, &len) ||
        write(reports, &sa.sin_port, sizeof(sa.sin_port)) != sizeof(sa.sin_port))
        return 2;
    if (read(orders, &byte, 1) != 1 ||
        (conn = accept4(s, NULL, NULL, SOCK_CLOEXEC)) < 0)
        return 3;
    return read(conn, &byte, 1) > 0; /* until it hangs up */
}

START_TEST(a_port_that_somebody_else_has_taken_hears_nothing)
{
    int orders[2], reports[2], status;
    in_port_t port = 0;
    char text[128];

    PX_TEST_NEEDS(geteuid() == 0, "root");
    ck_assert_int_eq(pipe(orders), 0);
    ck_assert_int_eq(pipe(reports), 0);
    pid_t pid = fork();
    if (pid == 0)
        _exit(squat(orders[0], reports[1]));
    ck_assert_int_eq(read(reports[0], &port, sizeof(port)), sizeof(port));
    snprintf(text, sizeof(text), "dead.0;tcp4://127.0.0.1:%d\n4.2.2\n1\n0:0\n",
             ntohs(port));
    file_is_refused(tool_file("stale", text));
    ck_assert_int_eq(write(orders[1], "", 1), 1);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    for (int i = 0; i < 2; i++) {
        close(orders[i]);
        close(reports[i]);
    }
}
END_TEST

START_TEST(a_server_that_died_is_not_there)
{
    file_is_refused(tool_file("stale", dead));
}
END_TEST

START_TEST(addresses_that_make_no_sense_are_bad_parameters)
{
    PX_AUTOFREE char *uri = tool_server_uri("server-1");

    add(PMIX_SERVER_URI, "nonsense", PMIX_STRING);
    fails_with(PMIX_ERR_BAD_PARAM);
    add(PMIX_SERVER_URI, uri, PMIX_STRING);
    add(PMIX_TCP_URI, uri, PMIX_STRING);
    fails_with(PMIX_ERR_BAD_PARAM);
    add(PMIX_TCP_URI, "server-1.0;usock:///tmp/x", PMIX_STRING);
    fails_with(PMIX_ERR_UNREACH);
}
END_TEST

START_TEST(a_refusal_is_no_connection)
{
    PX_AUTOFREE char *uri = tool_server_uri("server-1");

    tool_server.refuse = PMIX_ERR_NO_PERMISSIONS;
    add(PMIX_SERVER_URI, uri, PMIX_STRING);
    fails_with(PMIX_ERR_UNREACH);
    add(PMIX_SERVER_URI, uri, PMIX_STRING);
    add_yes(PMIX_TOOL_CONNECT_OPTIONAL);
    ck_assert_int_eq(PMIx_tool_init(&self, infos.v, infos.n), PMIX_SUCCESS);
    ck_assert(!PMIx_tool_is_connected());
    ck_assert_ptr_nonnull(strstr(self.nspace, "tool."));
    /* It can still connect later, and keeps its name. */
    tool_server.refuse = PMIX_SUCCESS;
    ck_assert_int_eq(PMIx_tool_attach_to_server(NULL, NULL, infos.v, 1), PMIX_SUCCESS);
    ck_assert(PMIx_tool_is_connected());
    ck_assert_str_eq(fake.hello.proc.nspace, self.nspace);
    ck_assert_int_eq(PMIx_tool_finalize(), PMIX_SUCCESS);
}
END_TEST

/* ---- time ---------------------------------------------------------------------------------------------------- */

START_TEST(a_server_that_never_answers_costs_the_time_set)
{
    PX_AUTOFREE char *uri = tool_server_uri("server-1");
    uint64_t began = px_clock_ms();

    tool_server.mute = true;
    add(PMIX_SERVER_URI, uri, PMIX_STRING);
    add_u32(PMIX_TIMEOUT, 1);
    fails_with(PMIX_ERR_TIMEOUT);
    ck_assert_uint_ge(px_clock_ms() - began, 900);
    ck_assert_uint_lt(px_clock_ms() - began, 10000);
}
END_TEST

START_TEST(a_server_that_tells_nothing_of_the_job_costs_the_usual_time)
{
    PX_AUTOFREE char *uri = tool_server_uri("server-1");

    setenv("PMIX_MCA_client_connect_timeout", "300ms", 1);
    tool_server.silent = true;
    add(PMIX_SERVER_URI, uri, PMIX_STRING);
    fails_with(PMIX_ERR_TIMEOUT);
}
END_TEST

static void *appear(void *arg PX_UNUSED)
{
    usleep(300000);
    tool_file("later", content("4.2.2"));
    return NULL;
}

START_TEST(a_file_that_is_not_there_yet_may_be_waited_for)
{
    PX_AUTOFREE char *path = px_strf("%s/later", tool_dir);
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, appear, NULL), 0);
    add(PMIX_TOOL_ATTACHMENT_FILE, path, PMIX_STRING);
    add_yes(PMIX_WAIT_FOR_CONNECTION);
    add_u32(PMIX_TIMEOUT, 20);
    finds_it();
    pthread_join(thread, NULL);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, appear, NULL), 0);
    add(PMIX_TOOL_ATTACHMENT_FILE, path, PMIX_STRING);
    add_u32(PMIX_CONNECT_MAX_RETRIES, 20);
    add_u32(PMIX_CONNECT_RETRY_DELAY, 1);
    finds_it();
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(retries_are_counted)
{
    uint64_t began = px_clock_ms();

    add(PMIX_TOOL_ATTACHMENT_FILE, "/nowhere/at/all", PMIX_STRING);
    add_u32(PMIX_CONNECT_MAX_RETRIES, 1);
    add_u32(PMIX_CONNECT_RETRY_DELAY, 1);
    fails_with(PMIX_ERR_UNREACH);
    ck_assert_uint_ge(px_clock_ms() - began, 1000);
    ck_assert_uint_lt(px_clock_ms() - began, 1900);
}
END_TEST

PX_TEST_MAIN_WITH(
    "tool/seek", setup, teardown, by_address, by_file, by_process_id_and_by_namespace,
    by_kind, the_last_of_an_order_may_forbid_others, by_searching_all_folders,
    servers_of_a_kind_are_in_the_folder_of_the_system,
    the_session_comes_first_where_nobody_is_named, a_server_of_many_files_is_asked_once,
    a_port_that_somebody_else_has_taken_hears_nothing, by_the_environment,
    a_launcher_is_connected_to_its_initiator_too, its_role_follows_from_its_name,
    it_tells_its_process_id_and_command,
    the_version_in_a_file_decides_about_the_dialect, bad_files_are_refused,
    a_file_of_somebody_else_is_refused, a_server_that_died_is_not_there,
    addresses_that_make_no_sense_are_bad_parameters, a_refusal_is_no_connection,
    a_server_that_never_answers_costs_the_time_set,
    a_server_that_tells_nothing_of_the_job_costs_the_usual_time,
    a_file_that_is_not_there_yet_may_be_waited_for, retries_are_counted)
