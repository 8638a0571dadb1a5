/* SPDX-License-Identifier: BSD-3-Clause */
/* Rendezvous files: which there are, where, and what is in them; of those there is one of in a folder,
 * who lives keeps the name, and of those that want it at once one has it, whatever others have put
 * there. Servers in this process are told which files to have; those that contend for a name are
 * processes of their own. */
#include "../rt/rt_test.h"

#include "alloc_fail.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/str.h"
#include "core/link/rendezvous.h"
#include "core/server/cleanup/session.h"
#include "core/server/door/door.h"
#include "fake_host.h"
#include "files.h"
#include "others.h"
#include "raw.h"
#include "seccomp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum { NOBODY = PX_TEST_OTHER, LONG_MS = 15000 };

static const char *const roles[] = {
    PMIX_SERVER_SYSTEM_SUPPORT, PMIX_SERVER_SESSION_SUPPORT, PMIX_SERVER_TOOL_SUPPORT,
    PMIX_SERVER_SCHEDULER, PMIX_SERVER_SYS_CONTROLLER};
#define SYSTEM roles[0]

/* ---- files -------------------------------------------------------------------------- */

/* That of the node, and the server's own; both have to be empty at the end. */
static char sys_dir[256], own_dir[256], node[256];

static void setup(void)
{
    px_str_copy(sys_dir, sizeof(sys_dir), px_test_path("sys"));
    px_str_copy(own_dir, sizeof(own_dir), px_test_path("own"));
    ok(mkdir(sys_dir, 01777) || chmod(sys_dir, 01777) || mkdir(own_dir, 0700));
    unsetenv(PMIX_LAUNCHER_RNDZ_FILE);
    unsetenv("PMIX_LAUNCHER_RENDEZVOUS_FILE");
    ok(gethostname(node, sizeof(node)));
    px_str_copy(px_process.host, sizeof(px_process.host), node);
}

/* Good until some more of them were made. */
static PX_PRINTF(2, 3) char *path_of(const char *dir, const char *fmt, ...)
{
    static char paths[8][512];
    static unsigned n;
    char *p = paths[n++ % PX_COUNT(paths)], name[300];
    va_list args;

    va_start(args, fmt);
    vsnprintf(name, sizeof(name), fmt, args);
    va_end(args);
    snprintf(p, sizeof(paths[0]), "%s/%s", dir, name);
    return p;
}

/* That of a server for the whole node. */
static char *system_file(void)
{
    return path_of(sys_dir, "pmix.sys.%s", node);
}

static void put_file(const char *path, const char *text)
{
    touch(path);
    PX_AUTOCLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);
    ok(px_fd_write_all(fd, text, strlen(text), 0));
}

static void file_is(const char *path, const char *wanted)
{
    PX_AUTOFREE char *text = rt_read(path);

    ck_assert_str_eq(text, wanted);
}

static struct stat look(const char *path)
{
    struct stat st;

    ok(lstat(path, &st));
    return st;
}

/* What a server of another library writes, if there is one at that port. */
static void put_foreign(int port, pid_t pid)
{
    PX_AUTOFREE char *text = px_strf(
        "foreign.0;tcp4://127.0.0.1:%d\n4.2.2\n%ld\n%u:%u\nSat Nov 21\n\n", port,
        (long)pid, (unsigned)geteuid(), (unsigned)getegid());

    put_file(system_file(), text);
}

/* The names in a folder but for the private one, sorted, each with a space behind it. */
static char *names_in(const char *dir)
{
    static char all[2][4096];
    static unsigned turn;
    char *out = all[turn++ % 2];
    struct dirent **found;
    int n = scandir(dir, &found, NULL, alphasort);

    out[0] = '\0';
    for (int i = 0; i < n; i++) {
        const char *name = found[i]->d_name;

        if (name[0] != '.' && !px_str_starts(name, "pmix-server."))
            snprintf(out + strlen(out), sizeof(all[0]) - strlen(out), "%s ", name);
        ck_assert(!px_str_starts(name, ".pmix")); /* nothing aside */
        free(found[i]);
    }
    free(found);
    return out;
}

/* ---- servers ------------------------------------------------------------------------ */

struct wish {
    const char *key;
    const char *text; /* NULL: a flag */
};

/* One that has both folders, and what it is told besides. */
static pmix_status_t server_init(const pmix_server_module_t *module,
                                 const struct wish *wishes, size_t n)
{
    PX_AUTO(px_infos) infos = {0};

    ok(px_infos_add(&infos, PMIX_SERVER_NSPACE, "srv", PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_SERVER_TMPDIR, own_dir, PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_SYSTEM_TMPDIR, sys_dir, PMIX_STRING));
    for (size_t i = 0; i < n; i++)
        ok(px_infos_add(&infos, wishes[i].key, wishes[i].text,
                        wishes[i].text ? PMIX_STRING : PMIX_BOOL));
    return PMIx_server_init((pmix_server_module_t *)(uintptr_t)module, infos.v,
                            infos.n);
}

static pmix_status_t init_as(const char *role)
{
    return server_init(NULL, &(struct wish){role, NULL}, 1);
}

static void start_with(const char *key, const char *text)
{
    ok(server_init(NULL, &(struct wish){key, text}, 1));
}

static void end(void)
{
    ok(PMIx_server_finalize());
}

/* A server in a process of its own, which starts one each time it is told to. */
struct child {
    pid_t pid;
    int to, from;
    char log[256];
};
static struct child children[8]; /* those that live end with the test */
static size_t n_children;

static void child_main(const struct child *c, int in, int out, uid_t uid,
                       const char *role)
{
    char order;
    int log = open(c->log, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0666);

    if (log >= 0)
        dup2(log, STDERR_FILENO);
    if (uid && (setresgid(uid, uid, uid) || setresuid(uid, uid, uid)))
        _exit(9);
    while (read(in, &order, 1) == 1 && order != 'q') {
        pmix_status_t rc = order == 'i' ? init_as(role) : PMIx_server_finalize();

        if (write(out, &rc, sizeof(rc)) != sizeof(rc))
            break;
    }
    PMIx_server_finalize();
    _exit(0);
}

/* As that user, unless 0. */
static struct child *child_of(const char *role, uid_t uid)
{
    int in[2], out[2];

    ck_assert_uint_lt(n_children, PX_COUNT(children));
    struct child *c = &children[n_children++];
    snprintf(c->log, sizeof(c->log), "%.200s/log.%zu", px_test_dir(), n_children);
    ok(pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC));
    c->pid = fork();
    if (c->pid == 0) {
        close(in[1]);
        close(out[0]);
        child_main(c, in[0], out[1], uid, role);
    }
    close(in[0]);
    close(out[1]);
    c->to = in[1];
    c->from = out[0];
    return c;
}

/* 'i' to start its server, 'f' to finalize it; and what became of it. */
static void child_tell(const struct child *c, char order)
{
    ck_assert_int_eq(write(c->to, &order, 1), 1);
}

static pmix_status_t child_hear(const struct child *c)
{
    pmix_status_t rc;

    ok(px_fd_read_all(c->from, &rc, sizeof(rc), px_clock_ms() + LONG_MS));
    return rc;
}

static pmix_status_t child_ask(const struct child *c, char order)
{
    child_tell(c, order);
    return child_hear(c);
}

/* Ends the process, by that signal or, if 0, in order. */
static void child_end(struct child *c, int signum)
{
    if (signum)
        kill(c->pid, signum);
    else
        child_tell(c, 'q'); /* other children have the pipe, too */
    close(c->to);
    close(c->from);
    ck_assert_int_eq(waitpid(c->pid, NULL, 0), c->pid);
    c->pid = 0;
}

static void teardown(void)
{
    for (size_t i = 0; i < n_children; i++)
        if (children[i].pid)
            child_end(&children[i], 0);
    host_end();
    ck_assert_msg(rmdir(sys_dir) == 0, "something is left in %s", sys_dir);
    ck_assert_msg(rmdir(own_dir) == 0, "something is left in %s", own_dir);
}

static void child_has_said(const struct child *c, const char *what)
{
    PX_AUTOFREE char *text = rt_read(c->log);

    rt_assert_has(text, what);
}

/* ---- which there are ---------------------------------------------------------------------------------- */

PX_TEST(each_role_has_its_files_whatever_else_it_is)
{
    static const struct {
        unsigned role; /* 1 << its index */
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
        struct wish w[PX_COUNT(roles)];
        size_t n = 0;

        for (size_t k = 0; k < PX_COUNT(roles); k++)
            if (set & 1u << k)
                w[n++] = (struct wish){roles[k], NULL};
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
        ck_assert_int_eq(rt_count(names_in(sys_dir), " ") +
                             rt_count(names_in(own_dir), " "),
                         (int)n_files); /* and no other */
        end();
        ck_assert_str_eq(names_in(sys_dir), "");
        ck_assert_str_eq(names_in(own_dir), "");
    }
}

PX_TEST(in_one_folder_system_and_session_are_one_file)
{
    const struct wish w[] = {{SYSTEM, NULL}, {PMIX_SERVER_SESSION_SUPPORT, NULL}};

    ok(rmdir(own_dir) || symlink("sys", own_dir)); /* the same by another path */
    ok(server_init(NULL, w, 2));
    ck_assert(is_there(system_file()) &&
              is_there(path_of(sys_dir, "pmix.%s.tool", node)));
    ck_assert_int_eq(rt_count(names_in(sys_dir), " "), 2);
    end();
    ck_assert_str_eq(names_in(sys_dir), "");
    ok(unlink(own_dir) || mkdir(own_dir, 0700));
}

PX_TEST(the_lines_are_those_that_tools_read)
{
    ok(init_as(SYSTEM));
    PX_AUTOFREE char *text = rt_read(system_file());
    PX_AUTOFREE char *wanted = px_strf("%s\n" PX_IMITATED_VERSION "\n%ld\n%u:%u\n",
                                       px_process.server->uri, (long)getpid(),
                                       (unsigned)geteuid(), (unsigned)getegid());
    ck_assert(px_str_starts(text, "srv.0;tcp4://127.0.0.1:"));
    ck_assert_msg(px_str_starts(text, wanted), "%s", text);
    const char *date = text + strlen(wanted);
    ck_assert_uint_eq(strcspn(date, "\n"), 24); /* as ctime has it */
    ck_assert_str_eq(date + 24, "\n\n");
    ok(unlink(system_file()));
    touch(system_file()); /* one that is not its own stays */
    end();
    ok(unlink(system_file()));
}

PX_TEST(others_may_read_it_if_their_tools_may_come)
{
    const struct wish w[] = {
        {SYSTEM, NULL},
        {PMIX_SERVER_ALLOW_FOREIGN_TOOLS, NULL},
        {PMIX_LAUNCHER_RENDEZVOUS_FILE, path_of(own_dir, "new/file")}};

    umask(077);
    ok(server_init(NULL, w, 1));
    ck_assert_uint_eq(look(system_file()).st_mode & 07777, 0600);
    end();
    umask(022);
    ok(server_init(NULL, w, 3));
    ck_assert_uint_eq(look(system_file()).st_mode & 07777, 0644);
    ck_assert_uint_eq(look(path_of(own_dir, "new")).st_mode & 07777, 0755);
}

PX_TEST(a_server_that_would_turn_tools_away_has_no_files_and_says_why)
{
    struct wish all[PX_COUNT(roles)];

    ck_assert_ptr_null(host_module.tool_connected);
    for (size_t k = 0; k < PX_COUNT(roles); k++)
        all[k] = (struct wish){roles[k], NULL};
    for (size_t k = 0; k < PX_COUNT(roles) + 2; k++) { /* each, all, none */
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

/* ---- paths that were chosen ------------------------------------------------------------------------ */

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
    ck_assert(S_ISCHR(look("/dev/null").st_mode));
    end();
    ck_assert(S_ISCHR(look("/dev/null").st_mode));
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

PX_TEST(it_reports_its_address_where_it_is_told_to)
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
    start_with(PMIX_TCP_REPORT_URI, "987"); /* which is none: no reason to fail */
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
        PX_AUTOFREE char *wanted = px_strf("%s\nv" PX_IMITATED_VERSION "\n",
                                           px_process.server->uri);
        file_is(path, wanted);
        end();
        ck_assert(!is_there(path));
        start_with(PMIX_TCP_REPORT_URI, other); /* which comes first */
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
            setenv(env[i], i ? "" : "relative", 1); /* as good as none */
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
    struct px_rendezvous_wish wish = {.dir = dir, .name = "file", .text = "text"};

    PX_TEST_NEEDS_ALLOC;
    ok(init_as(SYSTEM));
    while (px_process.server->session && px_process.server->session->n_reclaiming)
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    for (int with_folder = 0; with_folder < 2; with_folder++) {
        for (unsigned nth = 0; px_alloc_next(&nth);) {
            pmix_status_t rc = px_call(px_process.loop, do_publish, &wish);
            int kept = px_alloc_balance();

            if (!px_alloc_fail_end())
                ck_assert_uint_gt(nth, 8);
            if (rc) {
                fails(rc, NOMEM);
                ck_assert(!with_folder || kept == 0);
                ck_assert_str_eq(is_there(dir) ? names_in(dir) : "", "");
            } else { /* also if what is not needed any more was not crossed out */
                ck_assert_str_eq(names_in(dir), "file ");
                raw_on_loop(withdraw, NULL);
            }
        }
    }
    end();
    ck_assert(!is_there(path_of(own_dir, "a")));
}

/* ---- who lives keeps the name -------------------------------------------------------------------------- */

/* A process id that nobody has any more. */
static pid_t dead_pid(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    return pid;
}

static void has_said_who(const struct child *c, const struct child *owner)
{
    PX_AUTOFREE char *named = px_strf("pid %ld of uid %u, srv.0", (long)owner->pid,
                                      (unsigned)geteuid());

    child_has_said(c, named);
}

PX_TEST(a_second_of_those_there_is_one_of_does_not_start)
{
    static const int only_one[] = {0, 3, 4};

    for (size_t i = 0; i < PX_COUNT(only_one); i++) {
        const char *role = roles[only_one[i]];
        struct child *a = child_of(role, 0), *b = child_of(role, 0);

        ok(child_ask(a, 'i'));
        ok(kill(a->pid, SIGSTOP)); /* one that is stopped lives */
        fails(child_ask(b, 'i'), EXISTS);
        ok(kill(a->pid, SIGCONT));
        has_said_who(b, a);
        ok(child_ask(a, 'f'));
        ok(child_ask(b, 'i')); /* now it is free */
        ok(child_ask(b, 'f'));
    }
}

PX_TEST(one_that_was_killed_makes_room_at_once)
{
    PX_AUTOFREE char *clear = px_strf("rm -rf %s/pmix-server.*", own_dir);
    struct child *b = child_of(SYSTEM, 0);

    for (int i = 0; i < 5; i++) {
        struct child *a = child_of(SYSTEM, 0);

        ok(child_ask(a, 'i'));
        child_end(a, SIGKILL);
        int tries = 0;
        while (child_ask(b, 'i')) /* a child of it may have the lock for a moment */
            ck_assert_int_lt(++tries, 50);
        ok(child_ask(b, 'f'));
    }
    ok(system(
        clear)); /* private folders, which the next server may have found before us */
}

PX_TEST(a_second_session_server_goes_on_without_the_name)
{
    struct child *a = child_of(roles[1], 0), *b = child_of(roles[1], 0);
    struct px_rendezvous r;

    ok(child_ask(a, 'i'));
    ok(child_ask(b, 'i'));
    has_said_who(b, a);
    ok(child_ask(b, 'f'));
    ok(px_rendezvous_read(path_of(own_dir, "pmix.%s.tool", node), &r, NULL));
    ck_assert_int_eq(r.pid, a->pid);
}

static int listener(int *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ok(bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 8) ||
       getsockname(fd, (struct sockaddr *)&at, &n));
    *port = ntohs(at.sin_port);
    return fd;
}

PX_TEST(one_of_another_library_lives_while_it_answers)
{
    struct flock l = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    int port, fd = listener(&port);

    put_foreign(port, getpid());
    fails(init_as(SYSTEM), EXISTS);
    ck_assert(is_there(system_file()));
    close(fd); /* it does not listen any more */
    ok(init_as(SYSTEM));
    end();
    fd = listener(&port); /* another process has the port now */
    put_foreign(port, dead_pid());
    ok(init_as(SYSTEM));
    end();
    close(fd);
    put_foreign(1, dead_pid()); /* a stranger's lock for reading is no sign of life */
    PX_AUTOCLOSE int reader = open(system_file(), O_RDONLY | O_CLOEXEC);
    ok(fcntl(reader, F_OFD_SETLK, &l));
    ok(init_as(SYSTEM));
}

PX_TEST(what_makes_no_sense_is_replaced)
{
    static const char *const texts[] = {"", "rubbish", "srv.0;tcp4://", "\n\n\n\n",
                                        "srv.0;tcp4://127.0.0.1:1\n4.2.2\n1\n"};
    const char *precious = path_of(own_dir, "precious");

    for (size_t i = 0; i < PX_COUNT(texts); i++) {
        put_file(system_file(), texts[i]);
        ok(init_as(SYSTEM));
        end();
    }
    put_file(precious, "precious"); /* with several names only this one is replaced */
    ok(link(precious, system_file()));
    ok(init_as(SYSTEM));
    end();
    file_is(precious, "precious");
    ok(unlink(precious));
}

/* ---- races ------------------------------------------------------------------------------ */

/* Two servers at once, n times; prepare, if there is one, puts something there before. */
static void race(int n, void (*prepare)(void))
{
    setenv("PMIX_MCA_pcleanup", "^janitor,inproc", 1); /* which take time to start */
    struct child *c[2] = {child_of(SYSTEM, 0), child_of(SYSTEM, 0)};
    int won[2] = {0};

    for (int i = 0; i < n; i++) {
        pmix_status_t rc[2];

        if (prepare)
            prepare();
        child_tell(c[i % 2], 'i');
        child_tell(c[1 - i % 2], 'i');
        for (int k = 0; k < 2; k++)
            rc[k] = child_hear(c[k]);
        int winner = rc[0] == 0 ? 0 : 1;
        ck_assert_msg(rc[winner] == 0 && rc[1 - winner] == PMIX_ERR_EXISTS,
                      "round %d: %s and %s", i, PMIx_Error_string(rc[0]),
                      PMIx_Error_string(rc[1]));
        won[winner]++;
        ck_assert(is_there(system_file()));
        ok(child_ask(c[winner], 'f'));
        ck_assert_str_eq(names_in(sys_dir), "");
    }
    printf("the first of two has won %d times of %d\n", won[0], n);
}

PX_TEST(of_two_that_start_at_once_one_has_the_name)
{
    race(200, NULL);
}

static void put_stale(void)
{
    put_foreign(1, 1);
}

PX_TEST(of_two_that_replace_a_stale_file_one_has_the_name)
{
    race(100, put_stale);
}

/* ---- kernels and file systems that can less --------------------------------------------------- */

PX_TEST(without_renameat2_names_are_taken_by_links)
{
    PX_TEST_NEEDS(px_test_deny(SYS_renameat2, EINVAL), "seccomp");
    race(50, NULL);
}

PX_TEST(without_random_numbers_names_are_made_all_the_same)
{
    PX_TEST_NEEDS(px_test_deny(SYS_getrandom, ENOSYS), "seccomp");
    ok(init_as(SYSTEM));
    ck_assert(is_there(system_file()));
}

/* ---- what others put there ---------------------------------------------------------------------------- */

static void give_away(const char *path)
{
    ok(lchown(path, NOBODY, NOBODY));
}

/* Of that type, in place of the file. */
static void put_obstacle(mode_t type)
{
    if (type == S_IFREG)
        put_foreign(1, 1);
    else if (type == S_IFIFO)
        ok(mkfifo(system_file(), 0666));
    else if (type == S_IFDIR)
        ok(mkdir(system_file(), 0700));
    else
        ok(symlink(path_of(own_dir, "target"), system_file()));
}

static void remains(const char *path, mode_t type)
{
    ck_assert_uint_eq(look(path).st_mode & S_IFMT, type);
    ok(remove(path));
}

static const mode_t types[] = {S_IFLNK, S_IFIFO, S_IFDIR, S_IFREG};

PX_TEST(what_is_no_file_and_our_own_is_left_alone)
{
    put_file(path_of(own_dir, "target"), "precious");
    for (size_t i = 0; types[i] != S_IFREG; i++) {
        uint64_t began = px_clock_ms();

        put_obstacle(types[i]);
        fails(init_as(SYSTEM), NO_PERMISSIONS);
        ck_assert_uint_lt(px_clock_ms() - began, 5000);
        remains(system_file(), types[i]);
    }
    remains(path_of(own_dir, "target"), S_IFREG);
}

static void root_starts(void)
{
    ok(init_as(SYSTEM));
    struct stat st = look(system_file());
    ck_assert(S_ISREG(st.st_mode));
    ck_assert_uint_eq(st.st_uid, 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0600);
    end();
    ck_assert_str_eq(names_in(sys_dir), "");
}

static void put_squatters(void)
{
    put_foreign(1, 1);
    give_away(system_file());
}

PX_TEST(root_takes_the_name_from_whoever_squats_on_it)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    PX_TEST_NEEDS_ROOT;
    put_file(path_of(own_dir, "target"), "precious");
    for (size_t i = 0; i < PX_COUNT(types); i++) {
        put_obstacle(types[i]);
        give_away(system_file());
        root_starts();
    }
    file_is(path_of(own_dir, "target"), "precious");
    ok(unlink(path_of(own_dir, "target")));
    put_squatters();
    PX_AUTOCLOSE int fd = open(system_file(), O_RDWR | O_CLOEXEC);
    ok(fcntl(fd, F_OFD_SETLK, &l)); /* does not help */
    root_starts();
    race(50, put_squatters);
}

PX_TEST(a_path_that_was_chosen_is_not_taken_from_another_user)
{
    const char *path = path_of(sys_dir, "theirs");

    PX_TEST_NEEDS_ROOT;
    put_file(path, "precious");
    give_away(path);
    start_with(PMIX_LAUNCHER_RENDEZVOUS_FILE, path);
    end();
    ck_assert_uint_eq(look(path).st_uid, NOBODY);
    file_is(path, "precious");
    ok(unlink(path));
}

/* One's own are followed: who removes the file put them there. */
PX_TEST(it_is_not_removed_through_a_link_of_another_user)
{
    const char *dir = path_of(own_dir, "dir"), *moved = path_of(own_dir, "moved"),
               *other = path_of(own_dir, "other"), *ours = path_of(own_dir, "dir/file"),
               *theirs = path_of(own_dir, "other/file");

    PX_TEST_NEEDS_ROOT;
    ok(mkdir(dir, 0700) || mkdir(other, 0700));
    start_with(PMIX_LAUNCHER_RENDEZVOUS_FILE, ours);
    ok(link(ours, theirs) || rename(dir, moved) || symlink(other, dir) ||
       lchown(dir, 4711, 4711));
    end();
    ck_assert(is_there(theirs));
    ok(unlink(theirs) || unlink(dir) || rmdir(other));
    ok(unlink(path_of(own_dir, "moved/file")) || rmdir(moved));
}

PX_TEST(others_do_not_get_the_name_of_root_who_takes_theirs)
{
    struct px_rendezvous r;

    PX_TEST_NEEDS(px_test_others_load_it(), "root, and a build that others can read");
    give_away(own_dir);
    struct child *a = child_of(SYSTEM, 0), *b = child_of(SYSTEM, NOBODY);

    ok(child_ask(a, 'i'));
    fails(child_ask(b, 'i'), EXISTS);
    child_has_said(b, "of uid 0");
    ok(child_ask(a, 'f'));
    put_foreign(1, 1); /* left over, and readable */
    ok(chmod(system_file(), 0644));
    fails(child_ask(b, 'i'), NO_PERMISSIONS);
    child_has_said(b, "belongs to uid 0, who alone can remove it");
    remains(system_file(), S_IFREG);
    ok(child_ask(b, 'i'));
    ok(child_ask(a, 'i'));
    ok(child_ask(b, 'f')); /* removes only what is its own */
    ok(px_rendezvous_read(system_file(), &r, NULL));
    ck_assert_int_eq(r.pid, a->pid);
}

PX_TEST_MAIN("server/contact", setup, teardown)
