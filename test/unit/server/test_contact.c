/* SPDX-License-Identifier: BSD-3-Clause */
/* Rendezvous files: which there are, where, and what is in them. Who may have a name is in
 * test_contact_name.c and test_contact_others.c. */
#include "contact_scene.h"

#include "../rt/rt_test.h"

#include "alloc_fail.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/link/rendezvous.h"
#include "core/server/cleanup/session.h"
#include "fake_host.h"
#include "px_test.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* ---- which there are ---------------------------------------------------------------------------------- */

PX_TEST(each_kind_has_its_files_whatever_else_it_is)
{
    static const char *const keys[] = {
        PMIX_SERVER_SYSTEM_SUPPORT, PMIX_SERVER_SESSION_SUPPORT,
        PMIX_SERVER_TOOL_SUPPORT, PMIX_SERVER_SCHEDULER, PMIX_SERVER_SYS_CONTROLLER};
    long pid = (long)getpid();
    const char *h = node_name();

    for (unsigned set = 0; set < 1u << PX_COUNT(keys); set++) {
        struct wish w[PX_COUNT(keys)];
        char in_sys[1024] = "", in_own[2048] = "";
        size_t n = 0;

        for (size_t k = 0; k < PX_COUNT(keys); k++)
            if (set & 1u << k)
                w[n++] = (struct wish){keys[k], NULL};
        if (set & 8)
            snprintf(in_sys + strlen(in_sys), 300, "pmix.sched.%s ", h);
        if (set & 1)
            snprintf(in_sys + strlen(in_sys), 300, "pmix.sys.%s ", h);
        if (set & 16)
            snprintf(in_sys + strlen(in_sys), 300, "pmix.sysctrlr.%s ", h);
        ok(server_init(NULL, w, n));
        ck_assert_str_eq(names_in(sys_dir), in_sys);
        size_t files = 0;
        if (set & 2)
            files += is_there(path_of(own_dir, "pmix.sys.%s", h)) +
                     is_there(path_of(own_dir, "pmix.%s.tool", h));
        if (set & 4)
            files += is_there(path_of(own_dir, "pmix.%s.%ld", h, pid)) +
                     is_there(path_of(own_dir, "pmix.%s.srv", h)) +
                     is_there(path_of(own_dir, "pmix.%s.tool.%ld", h, pid)) +
                     is_there(path_of(own_dir, "pmix.%s.tool.srv", h));
        ck_assert_uint_eq(files, (set & 2 ? 2 : 0) + (set & 4 ? 4 : 0));
        px_str_copy(in_own, sizeof(in_own), names_in(own_dir));
        for (char *c = in_own; (c = strchr(c, ' ')); c++)
            files--;
        ck_assert_uint_eq(files, 0); /* and no other */
        ok(PMIx_server_finalize());
        ck_assert_str_eq(names_in(sys_dir), "");
        ck_assert_str_eq(names_in(own_dir), "");
    }
}

PX_TEST(in_one_folder_system_and_session_are_one_file)
{
    const struct wish w[] = {{PMIX_SERVER_SYSTEM_SUPPORT, NULL},
                             {PMIX_SERVER_SESSION_SUPPORT, NULL}};
    char names[600];

    ck_assert_int_eq(rmdir(own_dir), 0);
    ck_assert_int_eq(symlink("sys", own_dir), 0); /* the same by another path */
    ok(server_init(NULL, w, 2));
    snprintf(names, sizeof(names), "pmix.%s.tool pmix.sys.%s ", node_name(),
             node_name());
    if (strcmp(node_name(), "sys") < 0)
        ck_assert_str_eq(names_in(sys_dir), names);
    PMIx_server_finalize();
    ck_assert_str_eq(names_in(sys_dir), "");
    ck_assert_int_eq(unlink(own_dir), 0);
    ck_assert_int_eq(mkdir(own_dir, 0700), 0);
}

PX_TEST(the_lines_are_those_that_tools_read)
{
    char text[1024] = "", *rest = text;
    uint64_t pid;

    ok(init_as(PMIX_SERVER_SYSTEM_SUPPORT));
    int fd = open(system_file(), O_RDONLY | O_CLOEXEC);
    ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
    close(fd);
    const char *line = strsep(&rest, "\n");
    ck_assert_str_eq(line, px_process.server->uri);
    ck_assert(px_str_starts(line, "srv.0;tcp4://127.0.0.1:"));
    ck_assert_str_eq(strsep(&rest, "\n"), PX_IMITATED_VERSION);
    ck_assert(px_str_to_u64(strsep(&rest, "\n"), 1, INT32_MAX, &pid));
    ck_assert_uint_eq(pid, (uint64_t)getpid());
    PX_AUTOFREE char *user = px_strf("%u:%u", (unsigned)geteuid(), (unsigned)getegid());
    ck_assert_str_eq(strsep(&rest, "\n"), user);
    ck_assert_uint_eq(strlen(strsep(&rest, "\n")), 24); /* as ctime has it */
    ck_assert_str_eq(rest, "\n");
}

PX_TEST(others_may_read_it_if_their_tools_may_come)
{
    const struct wish w[] = {
        {PMIX_SERVER_SYSTEM_SUPPORT, NULL},
        {PMIX_SERVER_ALLOW_FOREIGN_TOOLS, NULL},
        {PMIX_LAUNCHER_RENDEZVOUS_FILE, path_of(own_dir, "new/file")}};
    struct stat st;

    umask(077);
    ok(server_init(NULL, w, 1));
    ck_assert_int_eq(lstat(system_file(), &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0600);
    PMIx_server_finalize();
    umask(022);
    ok(server_init(NULL, w, 3));
    ck_assert_int_eq(lstat(system_file(), &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0644);
    ck_assert_int_eq(lstat(path_of(own_dir, "new"), &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0755);
}

PX_TEST(a_server_that_would_turn_tools_away_has_no_files_and_says_why)
{
    static const char *const keys[] = {
        PMIX_SERVER_SYSTEM_SUPPORT, PMIX_SERVER_SESSION_SUPPORT,
        PMIX_SERVER_TOOL_SUPPORT, PMIX_SERVER_SCHEDULER, PMIX_SERVER_SYS_CONTROLLER};
    struct wish all[PX_COUNT(keys)];

    ck_assert_ptr_null(host_module.tool_connected);
    for (size_t k = 0; k <= PX_COUNT(keys); k++) {
        struct rt_capture c = rt_capture_begin();

        if (k < PX_COUNT(keys))
            all[k] = (struct wish){keys[k], NULL};
        if (k < PX_COUNT(keys))
            ok(server_init(&host_module, &all[k], 1));
        else
            ok(server_init(&host_module, all, k));
        ck_assert(!px_process.server->part.door->tools);
        ck_assert_str_eq(names_in(sys_dir), "");
        ck_assert_str_eq(names_in(own_dir), "");
        PMIx_server_finalize();
        char *text = rt_capture_end(&c);
        ck_assert_int_eq(rt_count(text, "\n"), 1);
        rt_assert_has(text, "tools are refused, and no rendezvous file is written: the "
                            "host's module has no tool_connected");
        free(text);
    }
    struct rt_capture c = rt_capture_begin();
    ok(server_init(&host_module, NULL, 0)); /* which asks for nothing */
    PMIx_server_finalize();
    char *text = rt_capture_end(&c);
    ck_assert_str_eq(text, "");
    free(text);
    host_done();
}

/* ---- paths that somebody has chosen ------------------------------------------------------------------ */

PX_TEST(a_launchers_file_is_made_with_the_parents_it_needs)
{
    const char *path = path_of(own_dir, "a/b/launcher");
    const struct wish w = {PMIX_LAUNCHER_RENDEZVOUS_FILE, path};
    struct px_rendezvous r;

    ok(server_init(NULL, &w, 1));
    ok(px_rendezvous_read(path, &r, NULL));
    ck_assert_str_eq(r.uri.server.nspace, "srv");
    ck_assert(px_process.server->part.door->tools);
    PMIx_server_finalize();
    ck_assert(!is_there(path_of(own_dir, "a")));
}

PX_TEST(the_environment_can_ask_for_it_too)
{
    static const char *const names[] = {PMIX_LAUNCHER_RNDZ_FILE,
                                        "PMIX_LAUNCHER_RENDEZVOUS_FILE"};

    for (size_t i = 0; i < PX_COUNT(names); i++) {
        setenv(names[i], path_of(own_dir, "x/launcher"), 1);
        ok(server_init(NULL, NULL, 0));
        ck_assert(is_there(path_of(own_dir, "x/launcher")));
        PMIx_server_finalize();
        ck_assert(!is_there(path_of(own_dir, "x")));
        unsetenv(names[i]);
    }
}

PX_TEST(a_relative_path_is_of_the_servers_directory)
{
    const struct wish w = {PMIX_LAUNCHER_RENDEZVOUS_FILE, "sub/launcher"};
    const struct wish plain = {PMIX_LAUNCHER_RENDEZVOUS_FILE, "launcher"};

    ck_assert_int_eq(chdir(own_dir), 0);
    ok(server_init(NULL, &w, 1));
    ck_assert(is_there(path_of(own_dir, "sub/launcher")));
    ck_assert_int_eq(chdir("/"), 0);
    PMIx_server_finalize();
    ck_assert(!is_there(path_of(own_dir, "sub")));
    ck_assert_int_eq(chdir(own_dir), 0);
    ok(server_init(NULL, &plain, 1));
    ck_assert(is_there(path_of(own_dir, "launcher")));
    PMIx_server_finalize();
    ck_assert_int_eq(chdir("/"), 0);
}

PX_TEST(an_empty_file_made_for_it_is_replaced_and_then_removed)
{
    const char *path = path_of(own_dir, "made-by-a-debugger");
    const struct wish w = {PMIX_LAUNCHER_RENDEZVOUS_FILE, path};
    struct px_rendezvous r;

    put_file(path, "");
    ok(server_init(NULL, &w, 1));
    ok(px_rendezvous_read(path, &r, NULL));
}

PX_TEST(a_device_is_not_replaced_by_a_file)
{
    const struct wish w = {PMIX_LAUNCHER_RENDEZVOUS_FILE, "/dev/null"};
    struct stat st;

    ok(server_init(NULL, &w, 1));
    ck_assert_int_eq(lstat("/dev/null", &st), 0);
    ck_assert(S_ISCHR(st.st_mode));
    PMIx_server_finalize();
    ck_assert_int_eq(lstat("/dev/null", &st), 0);
    ck_assert(S_ISCHR(st.st_mode));
}

static void report_to(const char *where, int read_from, const char *before)
{
    const struct wish w = {PMIX_TCP_REPORT_URI, where};
    char text[1024] = "";

    ok(server_init(NULL, &w, 1));
    PX_AUTOFREE char *wanted = px_strf("%s%s\n", before, px_process.server->uri);
    ck_assert_int_gt(read(read_from, text, sizeof(text) - 1), 0);
    ck_assert_str_eq(text, wanted);
    PMIx_server_finalize();
}

PX_TEST(it_reports_its_address_where_it_is_told_to)
{
    int ends[2], was_out = dup(1), was_err = dup(2);
    char number[16];

    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    dup2(ends[1], 1);
    report_to("-", ends[0], "");
    dup2(was_out, 1);
    dup2(ends[1], 2);
    report_to("+", ends[0], "");
    dup2(was_err, 2);
    snprintf(number, sizeof(number), "%d", ends[1]);
    report_to(number, ends[0],
              "PMIX_SERVER_URI41:PMIX_SERVER_URI4:PMIX_SERVER_URI3:PMIX_SERVER_URI21;");
}

PX_TEST(it_reports_its_address_to_a_file)
{
    const char *path = path_of(own_dir, "uri");
    const struct wish w = {PMIX_TCP_REPORT_URI, path};
    char text[1024] = "";

    ok(server_init(NULL, &w, 1));
    PX_AUTOFREE char *wanted = px_strf("%s\nv" PX_IMITATED_VERSION "\n",
                                       px_process.server->uri);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
    close(fd);
    ck_assert_str_eq(text, wanted);
    PMIx_server_finalize();
    ck_assert(!is_there(path));
}

PX_TEST(a_parameter_of_any_name_can_ask_for_that_too)
{
    static const char *const names[] = {"PMIX_MCA_server_report_uri",
                                        "PMIX_MCA_ptl_base_report_uri",
                                        "PMIX_MCA_ptl_tcp_report_uri"};
    PX_AUTOFREE char *other = strdup(path_of(own_dir, "other"));
    PX_AUTOFREE char *path = strdup(path_of(own_dir, "uri"));
    const struct wish w = {PMIX_TCP_REPORT_URI, other};

    for (size_t i = 0; i < PX_COUNT(names); i++) {
        setenv(names[i], path, 1);
        ok(server_init(NULL, NULL, 0));
        ck_assert(px_process.server->part.door->tools);
        ck_assert(is_there(path));
        PMIx_server_finalize();
        ck_assert(!is_there(path));
        ok(server_init(NULL, &w, 1)); /* which comes first */
        ck_assert(is_there(other) && !is_there(path));
        PMIx_server_finalize();
        unsetenv(names[i]);
    }
}

PX_TEST(a_descriptor_that_is_none_is_no_reason_to_fail)
{
    const struct wish w = {PMIX_TCP_REPORT_URI, "987"};

    ok(server_init(NULL, &w, 1));
}

/* ---- where ------------------------------------------------------------------------------ */

PX_TEST(directories_have_their_order)
{
    static const char *const env[] = {"PMIX_SERVER_TMPDIR", "TMPDIR", "TEMP", "TMP"};
    PX_AUTO(px_infos) infos = {0}, empty = {0};

    ok(px_infos_add(&infos, PMIX_SERVER_TMPDIR, "/given", PMIX_STRING));
    ok(px_infos_add(&empty, PMIX_SERVER_TMPDIR, "", PMIX_STRING));
    for (size_t i = 0; i < PX_COUNT(env); i++) {
        PX_AUTOFREE char *dir = px_strf("/by/%s", env[i]);

        setenv(env[i], dir, 1);
    }
    PX_AUTOFREE char *given = px_rendezvous_dir(infos.v, infos.n, PMIX_SERVER_TMPDIR,
                                                "PMIX_SERVER_TMPDIR");
    ck_assert_str_eq(given, "/given");
    for (size_t i = 0; i < PX_COUNT(env); i++) {
        PX_AUTOFREE char *wanted = px_strf("/by/%s", env[i]);
        PX_AUTOFREE char *got = px_rendezvous_dir(NULL, 0, PMIX_SERVER_TMPDIR,
                                                  "PMIX_SERVER_TMPDIR");
        PX_AUTOFREE char *same = px_rendezvous_dir(empty.v, empty.n, PMIX_SERVER_TMPDIR,
                                                   "PMIX_SERVER_TMPDIR");

        ck_assert_str_eq(got, wanted);
        ck_assert_str_eq(same, wanted);
        if (i % 2)
            unsetenv(env[i]);
        else
            setenv(env[i], i ? "" : "relative", 1); /* as good as none */
    }
    PX_AUTOFREE char *last = px_rendezvous_dir(NULL, 0, PMIX_SERVER_TMPDIR,
                                               "PMIX_SERVER_TMPDIR");
    ck_assert_str_eq(last, "/tmp");
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void do_publish(struct px_call *call, void *args)
{
    struct px_rendezvous_wish *wish = args;
    struct px_err err = {0};

    px_call_done(call, px_rendezvous_file_publish(px_process.server, wish, &err));
}

static void do_withdraw(struct px_call *call, void *args PX_UNUSED)
{
    struct px_list *files = &px_process.server->part.door->files;

    px_rendezvous_file_withdraw(
        px_process.server,
        PX_CONTAINER_OF(files->prev, struct px_rendezvous_file, link));
    px_call_done(call, PMIX_SUCCESS);
}

PX_TEST(without_memory_nothing_is_published)
{
    char *dir = path_of(own_dir, "a/b");
    struct px_rendezvous_wish wish = {.dir = dir, .name = "file", .text = "text"};
    pmix_status_t rc;

    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
    ok(init_as(PMIX_SERVER_SYSTEM_SUPPORT));
    while (px_process.server->session && px_process.server->session->n_reclaiming)
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    unsigned nth = 1;
    for (;; nth++) {
        px_alloc_fail_at(nth);
        rc = px_call(px_process.loop, do_publish, &wish);
        if (!px_alloc_fail_end())
            break;
        if (!rc) { /* what is not needed any more was not crossed out */
            ck_assert_str_eq(names_in(dir), "file ");
            (void)px_call(px_process.loop, do_withdraw, NULL);
            continue;
        }
        ck_assert_msg(rc == PMIX_ERR_NOMEM, "%u: %s", nth, PMIx_Error_string(rc));
        ck_assert_str_eq(is_there(dir) ? names_in(dir) : "", "");
    }
    ok(rc);
    ck_assert_uint_gt(nth, 8);
    ck_assert_str_eq(names_in(dir), "file ");
    (void)px_call(px_process.loop, do_withdraw, NULL);
    for (nth = 1;; nth++) { /* now with its folder */
        px_alloc_fail_at(nth);
        rc = px_call(px_process.loop, do_publish, &wish);
        int kept = px_alloc_balance();
        if (!px_alloc_fail_end())
            break;
        if (!rc) {
            ck_assert_str_eq(names_in(dir), "file ");
            (void)px_call(px_process.loop, do_withdraw, NULL);
            continue;
        }
        ck_assert_int_eq(rc, PMIX_ERR_NOMEM);
        ck_assert_int_eq(kept, 0);
        ck_assert_str_eq(names_in(dir), "");
    }
    ok(rc);
    PMIx_server_finalize();
    ck_assert(!is_there(path_of(own_dir, "a")));
}

PX_TEST_MAIN("server/contact", contact_setup, contact_teardown)
