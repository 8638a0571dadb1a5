/* SPDX-License-Identifier: BSD-3-Clause */
/* Which server a tool finds, and what it says there. */
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/rt/process.h"
#include "px_test.h"
#include "seeker.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- ways ------------------------------------------------------------------------ */

PX_TEST(by_address)
{
    PX_AUTOFREE char *uri = tool_server_uri("server-1");
    PX_AUTOFREE char *with_variables = px_strf("PMIX_SERVER_URI41:PMIX_SERVER_URI3;%s",
                                               uri);

    add(PMIX_SERVER_URI, uri, PMIX_STRING);
    finds_it();
    ck_assert_str_eq(seeker.nspace, "given");
    ck_assert_uint_eq(seeker.rank, 3);
    add(PMIX_TCP_URI, uri, PMIX_STRING);
    finds_it();
    add(PMIX_SERVER_URI, with_variables, PMIX_STRING);
    finds_it();
}

PX_TEST(by_file)
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

PX_TEST(by_process_id_and_by_namespace)
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

PX_TEST(servers_of_a_kind_are_in_the_folder_of_the_system)
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

PX_TEST(the_session_comes_first_where_nobody_is_named)
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

PX_TEST(a_server_of_many_files_is_asked_once)
{
    tool_file(tool_file_of("sys"), content("4.2.2"));
    tool_file(tool_file_plain("4711"), content("4.2.2"));
    tool_file(tool_file_name("4711"), content("4.2.2"));
    tool_file(tool_file_plain("their.nspace"), content("4.2.2"));
    tool_server.refuse = PMIX_ERR_NO_PERMISSIONS;
    fails_with(PMIX_ERR_UNREACH);
    ck_assert_int_eq(tool_server.accepted, 1);
}

PX_TEST(the_last_of_an_order_may_forbid_others)
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

PX_TEST(by_searching_all_folders)
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

PX_TEST(by_the_environment)
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

PX_TEST(a_launcher_is_connected_to_its_initiator_too)
{
    PX_AUTOFREE char *first = tool_server_uri("server-1");
    PX_AUTOFREE char *second = tool_server_uri("server-2");
    pmix_proc_t *servers;
    size_t n;

    setenv(PMIX_LAUNCHER_RNDZ_URI, second, 1);
    add_yes(PMIX_LAUNCHER);
    add(PMIX_SERVER_URI, first, PMIX_STRING);
    ok(PMIx_tool_init(&seeker, seeker_infos.v, seeker_infos.n));
    ok(PMIx_tool_get_servers(&servers, &n));
    ck_assert_uint_eq(n, 2);
    ck_assert_str_eq(servers[0].nspace, "server-1");
    ck_assert_str_eq(servers[1].nspace, "server-2");
    PMIX_PROC_FREE(servers, n);
    ok(PMIx_tool_finalize());
}

/* ---- what it says ---------------------------------------------------------------- */

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
        ck_assert_str_eq(seeker.nspace, "given");
        ck_assert_uint_eq(seeker.rank, rows[i].nspace ? 0 : 3);
    }
}

PX_TEST(it_tells_its_process_id_and_command)
{
    PX_TEST_NEEDS_PROC;
    PX_AUTOFREE char *uri = tool_server_uri("server-1");
    pmix_info_t *told = NULL;
    size_t n = 0;
    px_reader r;
    uint32_t pid;

    add(PMIX_SERVER_URI, uri, PMIX_STRING);
    finds_it();
    px_reader_init(&r, px_codec_default, fake.hello.blob, fake.hello.blob_len);
    ok(px_unpack_infos(&r, &told, &n));
    ck_assert(px_reader_done(&r));
    const pmix_info_t *i = px_info_find(told, n, PMIX_PROC_PID);
    ck_assert_ptr_nonnull(i);
    ck_assert(px_value_to_u32(&i->value, &pid));
    ck_assert_uint_eq(pid, getpid());
    ck_assert_ptr_nonnull(
        strstr(px_info_str(told, n, PMIX_CMD_LINE), "test_tool_discover"));
    px_type_free_array(PMIX_INFO, told, n);
}

PX_TEST(the_version_in_a_file_decides_about_the_dialect)
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

PX_TEST_MAIN("tool/discover", seeker_setup, seeker_teardown)
