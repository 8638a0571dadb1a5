/* SPDX-License-Identifier: BSD-3-Clause */
/* Rendezvous files: their names, folders and contents. The servers run in this process. */
#include "contact_scene.h"

#include "alloc_fail.h"
#include "core/base/str.h"
#include "core/server/cleanup/session.h"
#include "core/server/door/door.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- names -------------------------------------------------------------------------------------------- */

PX_TEST(each_role_has_its_files_whatever_else_it_is)
{
    static const struct {
        unsigned role; /* 1 << index of the role */
        bool system;
        const char *format;
    } files[] = {
        {8, true, "pmix.sched.%s"},     {1, true, "pmix.sys.%s"},
        {16, true, "pmix.sysctrlr.%s"}, {2, false, "pmix.sys.%s"},
        {2, false, "pmix.%s.tool"},     {4, false, "pmix.%s.%ld"},
        {4, false, "pmix.%s.srv"},      {4, false, "pmix.%s.tool.%ld"},
        {4, false, "pmix.%s.tool.srv"},
    };

    for (unsigned set = 0; set < 1u << PX_COUNT(roles); set++) {
        struct attribute w[PX_COUNT(roles)];
        size_t n = 0;

        for (size_t k = 0; k < PX_COUNT(roles); k++)
            if (set & 1u << k)
                w[n++] = (struct attribute){roles[k], NULL};
        ok(server_init(NULL, w, n));
        size_t n_files = 0;
        for (size_t i = 0; i < PX_COUNT(files); i++) {
            char name[300];

            snprintf(name, sizeof(name), files[i].format, node, (long)getpid());
            bool there = is_there(
                path_of(files[i].system ? sys_dir : own_dir, "%s", name));
            ck_assert_msg(there == !!(set & files[i].role), "%s of %x", name, set);
            n_files += there;
        }
        /* No other file exists. */
        ck_assert_int_eq(rt_count(names_in(sys_dir), " ") +
                             rt_count(names_in(own_dir), " "),
                         (int)n_files);
        end();
        ck_assert_str_eq(names_in(sys_dir), "");
        ck_assert_str_eq(names_in(own_dir), "");
    }
}

PX_TEST(in_one_folder_system_and_session_are_one_file)
{
    const struct attribute w[] = {{SYSTEM, NULL}, {PMIX_SERVER_SESSION_SUPPORT, NULL}};

    ok(rmdir(own_dir) || symlink("sys", own_dir)); /* the same folder by another path */
    ok(server_init(NULL, w, 2));
    ck_assert(is_there(system_file()) &&
              is_there(path_of(sys_dir, "pmix.%s.tool", node)));
    ck_assert_int_eq(rt_count(names_in(sys_dir), " "), 2);
    end();
    ck_assert_str_eq(names_in(sys_dir), "");
    ok(unlink(own_dir) || mkdir(own_dir, 0700));
}

/* Returns the address that the server shares with this library alone. */
static const char *own_address(void)
{
    return strstr(px_process.server->own_uri, "usock:///");
}

PX_TEST(the_lines_are_those_that_tools_read)
{
    ok(init_as(SYSTEM));
    PX_AUTOFREE char *text = text_of_file(system_file());
    PX_AUTOFREE char *wanted = px_strf("%s\n" TENON_CLAIMED_VERSION "\n%ld\n%u:%u\n",
                                       px_process.server->uri, (long)getpid(),
                                       (unsigned)geteuid(), (unsigned)getegid());
    ck_assert(px_str_starts(text, "srv.0;tcp4://127.0.0.1:"));
    ck_assert_msg(px_str_starts(text, wanted), "%s", text);
    const char *date = text + strlen(wanted);
    ck_assert_uint_eq(strcspn(date, "\n"), 24); /* in the format of ctime */
    ck_assert(px_str_starts(date + 24, "\n\n" PX_RENDEZVOUS_FASTER "usock:///"));
    ok(unlink(system_file()));
    touch(system_file()); /* the file of another server stays */
    end();
    ok(unlink(system_file()));
}

PX_TEST(others_may_read_it_if_their_tools_may_come)
{
    const struct attribute w[] = {
        {SYSTEM, NULL},
        {PMIX_SERVER_ALLOW_FOREIGN_TOOLS, NULL},
        {PMIX_LAUNCHER_RENDEZVOUS_FILE, path_of(own_dir, "new/file")}};

    umask(077);
    ok(server_init(NULL, w, 1));
    ck_assert_uint_eq(stat_of(system_file()).st_mode & 07777, 0600);
    end();
    umask(022);
    ok(server_init(NULL, w, 3));
    ck_assert_uint_eq(stat_of(system_file()).st_mode & 07777, 0644);
    ck_assert_uint_eq(stat_of(path_of(own_dir, "new")).st_mode & 07777, 0755);
}

PX_TEST(a_server_that_would_turn_tools_away_has_no_files_and_logs_why)
{
    struct attribute all[PX_COUNT(roles)];

    ck_assert_ptr_null(host_module.tool_connected);
    for (size_t k = 0; k < PX_COUNT(roles); k++)
        all[k] = (struct attribute){roles[k], NULL};
    /* Each role, all roles, no role. */
    for (size_t k = 0; k < PX_COUNT(roles) + 2; k++) {
        size_t n = k < PX_COUNT(roles) ? 1 : k == PX_COUNT(roles) ? k : 0;
        struct rt_capture c = rt_capture_begin();

        ok(server_init(&host_module, n == 1 ? &all[k] : all, n));
        ck_assert(!px_process.server->part.door->tools);
        ck_assert_str_eq(names_in(sys_dir), "");
        ck_assert_str_eq(names_in(own_dir), "");
        end();
        PX_AUTOFREE char *text = rt_capture_end(&c);
        ck_assert_int_eq(rt_count(text, "\n"), n > 0);
        if (n)
            rt_assert_has(text,
                          "tools are refused, and no rendezvous file is written: the "
                          "host's module has no tool_connected");
    }
}

/* ---- chosen paths ---------------------------------------------------------------------------------- */

PX_TEST(a_launchers_file_is_made_with_the_parents_it_needs)
{
    static const char *const names[] = {PMIX_LAUNCHER_RNDZ_FILE,
                                        "PMIX_LAUNCHER_RENDEZVOUS_FILE"};
    const char *path = path_of(own_dir, "a/b/launcher");
    struct px_rendezvous r;

    for (size_t i = 0; i <= PX_COUNT(names); i++) {
        if (i < PX_COUNT(names)) {
            setenv(names[i], path, 1);
            ok(server_init(NULL, NULL, 0));
            unsetenv(names[i]);
        } else {
            start_with(PMIX_LAUNCHER_RENDEZVOUS_FILE, path);
        }
        ok(px_rendezvous_read(path, &r, NULL));
        ck_assert_str_eq(r.uri.server.nspace, "srv");
        ck_assert(px_process.server->part.door->tools);
        end();
        ck_assert(!is_there(path_of(own_dir, "a")));
    }
}

PX_TEST(a_relative_path_is_of_the_servers_directory)
{
    static const char *const paths[] = {"sub/launcher", "launcher"};

    for (size_t i = 0; i < PX_COUNT(paths); i++) {
        ok(chdir(own_dir));
        start_with(PMIX_LAUNCHER_RENDEZVOUS_FILE, paths[i]);
        ck_assert(is_there(path_of(own_dir, "%s", paths[i])));
        ok(chdir("/"));
        end();
        ck_assert_str_eq(names_in(own_dir), "");
    }
}

PX_TEST(an_empty_file_made_for_it_is_replaced_and_a_device_is_not)
{
    const char *path = path_of(own_dir, "made-by-a-debugger");
    struct px_rendezvous r;

    start_with(PMIX_LAUNCHER_RENDEZVOUS_FILE, "/dev/null");
    ck_assert(S_ISCHR(stat_of("/dev/null").st_mode));
    end();
    ck_assert(S_ISCHR(stat_of("/dev/null").st_mode));
    touch(path);
    start_with(PMIX_LAUNCHER_RENDEZVOUS_FILE, path);
    ok(px_rendezvous_read(path, &r, NULL));
}

static void report_to(const char *where, int read_from, const char *before)
{
    char text[1024] = "";

    start_with(PMIX_TCP_REPORT_URI, where);
    PX_AUTOFREE char *wanted = px_strf("%s%s\n", before, px_process.server->uri);
    ck_assert_int_gt(read(read_from, text, sizeof(text) - 1), 0);
    ck_assert_str_eq(text, wanted);
    end();
}

PX_TEST(it_reports_its_address_where_requested)
{
    int ends[2], was_out = dup(1), was_err = dup(2);
    char number[16];

    ok(pipe2(ends, O_CLOEXEC));
    dup2(ends[1], 1);
    report_to("-", ends[0], "");
    dup2(was_out, 1);
    dup2(ends[1], 2);
    report_to("+", ends[0], "");
    dup2(was_err, 2);
    snprintf(number, sizeof(number), "%d", ends[1]);
    report_to(number, ends[0],
              "PMIX_SERVER_URI41:PMIX_SERVER_URI4:PMIX_SERVER_URI3:PMIX_SERVER_URI21;");
    /* A bad descriptor is not a reason to fail. */
    start_with(PMIX_TCP_REPORT_URI, "987");
}

PX_TEST(it_reports_its_address_to_a_file_which_parameters_name_too)
{
    static const char *const names[] = {"PMIX_MCA_server_report_uri",
                                        "PMIX_MCA_ptl_base_report_uri",
                                        "PMIX_MCA_ptl_tcp_report_uri"};
    const char *other = path_of(own_dir, "other"), *path = path_of(own_dir, "uri");

    for (size_t i = 0; i < PX_COUNT(names); i++) {
        setenv(names[i], path, 1);
        ok(server_init(NULL, NULL, 0));
        ck_assert(px_process.server->part.door->tools);
        PX_AUTOFREE char *wanted = px_strf("%s\nv" TENON_CLAIMED_VERSION
                                           "\n\n\n\n" PX_RENDEZVOUS_FASTER "%s\n",
                                           px_process.server->uri, own_address());
        file_is(path, wanted);
        end();
        ck_assert(!is_there(path));
        start_with(PMIX_TCP_REPORT_URI, other); /* takes precedence */
        ck_assert(is_there(other) && !is_there(path));
        end();
        unsetenv(names[i]);
    }
}

static void dir_is(const char *wanted, const pmix_info_t *info, size_t n)
{
    PX_AUTOFREE char *got = px_rendezvous_dir(info, n, PMIX_SERVER_TMPDIR,
                                              "PMIX_SERVER_TMPDIR");

    ck_assert_str_eq(got, wanted);
}

PX_TEST(directories_have_their_order)
{
    static const char *const env[] = {"PMIX_SERVER_TMPDIR", "TMPDIR", "TEMP", "TMP"};
    PX_AUTO(px_infos) infos = {0}, empty = {0};
    char dir[64];

    ok(px_infos_add(&infos, PMIX_SERVER_TMPDIR, "/given", PMIX_STRING));
    ok(px_infos_add(&empty, PMIX_SERVER_TMPDIR, "", PMIX_STRING));
    for (size_t i = 0; i < PX_COUNT(env); i++) {
        snprintf(dir, sizeof(dir), "/by/%s", env[i]);
        setenv(env[i], dir, 1);
    }
    dir_is("/given", infos.v, infos.n);
    for (size_t i = 0; i < PX_COUNT(env); i++) {
        snprintf(dir, sizeof(dir), "/by/%s", env[i]);
        dir_is(dir, NULL, 0);
        dir_is(dir, empty.v, empty.n);
        if (i % 2)
            unsetenv(env[i]);
        else
            setenv(env[i], i ? "" : "relative", 1); /* same as no value */
    }
    dir_is("/tmp", NULL, 0);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void do_publish(struct px_call *call, void *args)
{
    struct px_err err = {0};

    px_call_done(call, px_rendezvous_file_publish(px_process.server, args, &err));
}

static void withdraw(void *arg PX_UNUSED)
{
    struct px_list *files = &px_process.server->part.door->files;

    px_rendezvous_file_withdraw(
        px_process.server,
        PX_CONTAINER_OF(files->prev, struct px_rendezvous_file, link));
}

PX_TEST(without_memory_nothing_is_published)
{
    const char *dir = path_of(own_dir, "a/b");
    struct px_rendezvous_request request = {.dir = dir, .name = "file", .text = "text"};

    PX_TEST_NEEDS_ALLOC;
    ok(init_as(SYSTEM));
    while (px_process.server->part.session &&
           px_process.server->part.session->n_reclaiming)
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    for (int with_folder = 0; with_folder < 2; with_folder++) {
        for (unsigned nth = 0; px_alloc_next(&nth);) {
            pmix_status_t rc = px_call(px_process.loop, do_publish, &request);
            int kept = px_alloc_balance();

            if (!px_alloc_fail_end())
                ck_assert_uint_gt(nth, 8);
            if (rc) {
                fails(rc, NOMEM);
                ck_assert(!with_folder || kept == 0);
                ck_assert_str_eq(is_there(dir) ? names_in(dir) : "", "");
            } else { /* succeeds even if a needless entry of the journal stays */
                ck_assert_str_eq(names_in(dir), "file ");
                raw_on_loop(withdraw, NULL);
            }
        }
    }
    end();
    ck_assert(!is_there(path_of(own_dir, "a")));
}

PX_TEST_MAIN("server/contact", contact_setup, contact_teardown)
