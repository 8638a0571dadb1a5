/* SPDX-License-Identifier: BSD-3-Clause */
/* Rendezvous files: which there are, and who may have a name. Servers that contend for one are
 * processes of their own. */
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/model/rendezvous.h"
#include "core/server/contact.h"
#include "core/server/session.h"
#include "alloc_fail.h"
#include "fake_host.h"
#include "others.h"
#include "px_test.h"
#include "seccomp.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum { NOBODY = PX_TEST_OTHER, LONG_MS = 15000 };

static char top[64], sys[80], own[80]; /* own: the server's */

static void setup(void)
{
    px_str_copy(top, sizeof(top), "/tmp/tncontact.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(top));
    ck_assert_int_eq(chmod(top, 0755), 0);
    snprintf(sys, sizeof(sys), "%s/sys", top);
    snprintf(own, sizeof(own), "%s/own", top);
    ck_assert_int_eq(mkdir(sys, 01777), 0);
    ck_assert_int_eq(chmod(sys, 01777), 0);
    ck_assert_int_eq(mkdir(own, 0700), 0);
    unsetenv(PMIX_LAUNCHER_RNDZ_FILE);
    unsetenv("PMIX_LAUNCHER_RENDEZVOUS_FILE");
    gethostname(px_process.host, sizeof(px_process.host));
}

static void teardown(void)
{
    ck_assert_msg(rmdir(sys) == 0, "something is left in %s", sys);
    ck_assert_msg(rmdir(own) == 0, "something is left in %s", own);
    ck_assert_msg(rmdir(top) == 0, "something is left in %s", top);
}

static const char *node(void)
{
    static char name[256];

    gethostname(name, sizeof(name));
    return name;
}

static char *path_of(const char *dir, const char *fmt, ...) PX_PRINTF(2, 3);

static char *path_of(const char *dir, const char *fmt, ...)
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

static char *system_file(void)
{
    return path_of(sys, "pmix.sys.%s", node());
}

static bool is_there(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

static void put(const char *path, const char *text)
{
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

/* Of a server of another library, if there is one at that port. */
static char *foreign_text(int port, pid_t pid)
{
    static char text[256];

    snprintf(text, sizeof(text),
             "foreign.0;tcp4://127.0.0.1:%d\n4.2.2\n%ld\n%u:%u\nSat Nov 21\n\n", port,
             (long)pid, (unsigned)geteuid(), (unsigned)getegid());
    return text;
}

/* A process id that nobody has any more. */
static pid_t dead_pid(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    return pid;
}

/* ---- starting servers ------------------------------------------------------------------------------- */

struct wish {
    const char *key;
    const char *text; /* NULL: a flag */
};

static pmix_status_t server_init(const pmix_server_module_t *module,
                                 const struct wish *wishes, size_t n)
{
    PX_AUTO(px_infos) infos = {0};
    bool yes = true;

    ck_assert_int_eq(px_infos_add(&infos, PMIX_SERVER_NSPACE, "srv", PMIX_STRING), 0);
    ck_assert_int_eq(px_infos_add(&infos, PMIX_SERVER_TMPDIR, own, PMIX_STRING), 0);
    ck_assert_int_eq(px_infos_add(&infos, PMIX_SYSTEM_TMPDIR, sys, PMIX_STRING), 0);
    for (size_t i = 0; i < n; i++)
        ck_assert_int_eq(
            px_infos_add(&infos, wishes[i].key,
                         wishes[i].text ? (const void *)wishes[i].text : &yes,
                         wishes[i].text ? PMIX_STRING : PMIX_BOOL),
            0);
    return PMIx_server_init((pmix_server_module_t *)module, infos.v, infos.n);
}

static pmix_status_t init_as(const char *key)
{
    const struct wish w = {key, NULL};

    return server_init(NULL, &w, 1);
}

/* A server in a process of its own, which starts one each time it is told to. */
struct child {
    pid_t pid;
    int to, from;
    char log[96];
};

static void child_main(const struct child *c, int in, int out, uid_t uid,
                       const char *key)
{
    char order;
    int log = open(c->log, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0666);

    if (log >= 0)
        dup2(log, STDERR_FILENO);
    if (uid && (setresgid(uid, uid, uid) || setresuid(uid, uid, uid)))
        _exit(9);
    while (read(in, &order, 1) == 1 && order != 'q') {
        pmix_status_t rc = PMIX_SUCCESS;

        if (order == 'i')
            rc = init_as(key);
        else
            rc = PMIx_server_finalize();
        if (write(out, &rc, sizeof(rc)) != sizeof(rc))
            break;
    }
    _exit(0);
}

static struct child child_of(const char *key, uid_t uid)
{
    static unsigned n;
    int in[2], out[2];
    struct child c;

    snprintf(c.log, sizeof(c.log), "%s/log.%u", top, n++);
    ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
    ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
    c.pid = fork();
    if (c.pid == 0) {
        close(in[1]);
        close(out[0]);
        child_main(&c, in[0], out[1], uid, key);
    }
    close(in[0]);
    close(out[1]);
    c.to = in[1];
    c.from = out[0];
    return c;
}

static void tell(const struct child *c, char order)
{
    ck_assert_int_eq(write(c->to, &order, 1), 1);
}

static pmix_status_t hear(const struct child *c)
{
    pmix_status_t rc;

    ck_assert_int_eq(px_fd_read_all(c->from, &rc, sizeof(rc), px_clock_ms() + LONG_MS),
                     PMIX_SUCCESS);
    return rc;
}

static pmix_status_t ask(const struct child *c, char order)
{
    tell(c, order);
    return hear(c);
}

static void end(const struct child *c, int signum)
{
    if (signum)
        kill(c->pid, signum);
    else
        tell(c, 'q'); /* other children have the pipe, too */
    close(c->to);
    close(c->from);
    ck_assert_int_eq(waitpid(c->pid, NULL, 0), c->pid);
    unlink(c->log);
}

static bool has_said(const struct child *c, const char *what)
{
    char text[4096] = "";
    int fd = open(c->log, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, sizeof(text) - 1);

    close(fd);
    return n > 0 && strstr(text, what);
}

/* Of a server that was killed; its private folder the next one may have found before us. */
static void clear_folder(const char *dir)
{
    PX_AUTOFREE char *command = px_strf("rm -rf %s/pmix-server.*", dir);

    ck_assert_int_eq(system(command), 0);
}

/* ---- which there are ---------------------------------------------------------------------------------- */

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
        if (found[i]->d_name[0] != '.' &&
            !px_str_starts(found[i]->d_name, "pmix-server."))
            snprintf(out + strlen(out), sizeof(all[0]) - strlen(out), "%s ",
                     found[i]->d_name);
        ck_assert(!px_str_starts(found[i]->d_name, ".pmix")); /* nothing aside */
        free(found[i]);
    }
    free(found);
    return out;
}

START_TEST(each_kind_has_its_files_whatever_else_it_is)
{
    static const char *const keys[] = {
        PMIX_SERVER_SYSTEM_SUPPORT, PMIX_SERVER_SESSION_SUPPORT,
        PMIX_SERVER_TOOL_SUPPORT, PMIX_SERVER_SCHEDULER, PMIX_SERVER_SYS_CONTROLLER};
    long pid = (long)getpid();
    const char *h = node();

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
        ck_assert_int_eq(server_init(NULL, w, n), PMIX_SUCCESS);
        ck_assert_str_eq(names_in(sys), in_sys);
        size_t files = 0;
        if (set & 2)
            files += is_there(path_of(own, "pmix.sys.%s", h)) +
                     is_there(path_of(own, "pmix.%s.tool", h));
        if (set & 4)
            files += is_there(path_of(own, "pmix.%s.%ld", h, pid)) +
                     is_there(path_of(own, "pmix.%s.srv", h)) +
                     is_there(path_of(own, "pmix.%s.tool.%ld", h, pid)) +
                     is_there(path_of(own, "pmix.%s.tool.srv", h));
        ck_assert_uint_eq(files, (set & 2 ? 2 : 0) + (set & 4 ? 4 : 0));
        px_str_copy(in_own, sizeof(in_own), names_in(own));
        for (char *c = in_own; (c = strchr(c, ' ')); c++)
            files--;
        ck_assert_uint_eq(files, 0); /* and no other */
        ck_assert_int_eq(PMIx_server_finalize(), PMIX_SUCCESS);
        ck_assert_str_eq(names_in(sys), "");
        ck_assert_str_eq(names_in(own), "");
    }
}
END_TEST

START_TEST(in_one_folder_system_and_session_are_one_file)
{
    const struct wish w[] = {{PMIX_SERVER_SYSTEM_SUPPORT, NULL},
                             {PMIX_SERVER_SESSION_SUPPORT, NULL}};
    char names[600];

    ck_assert_int_eq(rmdir(own), 0);
    ck_assert_int_eq(symlink("sys", own), 0); /* the same by another path */
    ck_assert_int_eq(server_init(NULL, w, 2), PMIX_SUCCESS);
    snprintf(names, sizeof(names), "pmix.%s.tool pmix.sys.%s ", node(), node());
    if (strcmp(node(), "sys") < 0)
        ck_assert_str_eq(names_in(sys), names);
    PMIx_server_finalize();
    ck_assert_str_eq(names_in(sys), "");
    ck_assert_int_eq(unlink(own), 0);
    ck_assert_int_eq(mkdir(own, 0700), 0);
}
END_TEST

START_TEST(the_lines_are_those_that_tools_read)
{
    char text[1024] = "", *rest = text;
    uint64_t pid;

    ck_assert_int_eq(init_as(PMIX_SERVER_SYSTEM_SUPPORT), PMIX_SUCCESS);
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
    PMIx_server_finalize();
}
END_TEST

START_TEST(others_may_read_it_if_their_tools_may_come)
{
    const struct wish w[] = {{PMIX_SERVER_SYSTEM_SUPPORT, NULL},
                             {PMIX_SERVER_ALLOW_FOREIGN_TOOLS, NULL},
                             {PMIX_LAUNCHER_RENDEZVOUS_FILE, path_of(own, "new/file")}};
    struct stat st;

    umask(077);
    ck_assert_int_eq(server_init(NULL, w, 1), PMIX_SUCCESS);
    ck_assert_int_eq(lstat(system_file(), &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0600);
    PMIx_server_finalize();
    umask(022);
    ck_assert_int_eq(server_init(NULL, w, 3), PMIX_SUCCESS);
    ck_assert_int_eq(lstat(system_file(), &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0644);
    ck_assert_int_eq(lstat(path_of(own, "new"), &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0755);
    PMIx_server_finalize();
}
END_TEST

START_TEST(a_server_that_would_turn_tools_away_has_no_files)
{
    const struct wish w[] = {{PMIX_SERVER_SYSTEM_SUPPORT, NULL},
                             {PMIX_SERVER_TOOL_SUPPORT, NULL}};

    ck_assert_ptr_null(host_module.tool_connected);
    ck_assert_int_eq(server_init(&host_module, w, 2), PMIX_SUCCESS);
    ck_assert(!px_process.server->tools);
    ck_assert_str_eq(names_in(sys), "");
    ck_assert_str_eq(names_in(own), "");
    PMIx_server_finalize();
    host_done();
}
END_TEST

/* ---- paths that somebody has chosen ------------------------------------------------------------------ */

START_TEST(a_launchers_file_is_made_with_the_parents_it_needs)
{
    const char *path = path_of(own, "a/b/launcher");
    const struct wish w = {PMIX_LAUNCHER_RENDEZVOUS_FILE, path};
    struct px_rendezvous r;

    ck_assert_int_eq(server_init(NULL, &w, 1), PMIX_SUCCESS);
    ck_assert_int_eq(px_rendezvous_read(path, &r, NULL), PMIX_SUCCESS);
    ck_assert_str_eq(r.uri.server.nspace, "srv");
    ck_assert(px_process.server->tools);
    PMIx_server_finalize();
    ck_assert(!is_there(path_of(own, "a")));
}
END_TEST

START_TEST(the_environment_can_ask_for_it_too)
{
    static const char *const names[] = {PMIX_LAUNCHER_RNDZ_FILE,
                                        "PMIX_LAUNCHER_RENDEZVOUS_FILE"};

    for (size_t i = 0; i < PX_COUNT(names); i++) {
        setenv(names[i], path_of(own, "x/launcher"), 1);
        ck_assert_int_eq(server_init(NULL, NULL, 0), PMIX_SUCCESS);
        ck_assert(is_there(path_of(own, "x/launcher")));
        PMIx_server_finalize();
        ck_assert(!is_there(path_of(own, "x")));
        unsetenv(names[i]);
    }
}
END_TEST

START_TEST(a_relative_path_is_of_the_servers_directory)
{
    const struct wish w = {PMIX_LAUNCHER_RENDEZVOUS_FILE, "sub/launcher"};
    const struct wish plain = {PMIX_LAUNCHER_RENDEZVOUS_FILE, "launcher"};

    ck_assert_int_eq(chdir(own), 0);
    ck_assert_int_eq(server_init(NULL, &w, 1), PMIX_SUCCESS);
    ck_assert(is_there(path_of(own, "sub/launcher")));
    ck_assert_int_eq(chdir("/"), 0);
    PMIx_server_finalize();
    ck_assert(!is_there(path_of(own, "sub")));
    ck_assert_int_eq(chdir(own), 0);
    ck_assert_int_eq(server_init(NULL, &plain, 1), PMIX_SUCCESS);
    ck_assert(is_there(path_of(own, "launcher")));
    PMIx_server_finalize();
    ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

START_TEST(an_empty_file_made_for_it_is_replaced_and_then_removed)
{
    const char *path = path_of(own, "made-by-a-debugger");
    const struct wish w = {PMIX_LAUNCHER_RENDEZVOUS_FILE, path};
    struct px_rendezvous r;

    put(path, "");
    ck_assert_int_eq(server_init(NULL, &w, 1), PMIX_SUCCESS);
    ck_assert_int_eq(px_rendezvous_read(path, &r, NULL), PMIX_SUCCESS);
    PMIx_server_finalize();
}
END_TEST

START_TEST(a_device_is_not_replaced_by_a_file)
{
    const struct wish w = {PMIX_LAUNCHER_RENDEZVOUS_FILE, "/dev/null"};
    struct stat st;

    ck_assert_int_eq(server_init(NULL, &w, 1), PMIX_SUCCESS);
    ck_assert_int_eq(lstat("/dev/null", &st), 0);
    ck_assert(S_ISCHR(st.st_mode));
    PMIx_server_finalize();
    ck_assert_int_eq(lstat("/dev/null", &st), 0);
    ck_assert(S_ISCHR(st.st_mode));
}
END_TEST

static void report_to(const char *where, int read_from, const char *before)
{
    const struct wish w = {PMIX_TCP_REPORT_URI, where};
    char text[1024] = "";

    ck_assert_int_eq(server_init(NULL, &w, 1), PMIX_SUCCESS);
    PX_AUTOFREE char *wanted = px_strf("%s%s\n", before, px_process.server->uri);
    ck_assert_int_gt(read(read_from, text, sizeof(text) - 1), 0);
    ck_assert_str_eq(text, wanted);
    PMIx_server_finalize();
}

START_TEST(it_reports_its_address_where_it_is_told_to)
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
    close(ends[0]);
    close(ends[1]);
    close(was_out);
    close(was_err);
}
END_TEST

START_TEST(it_reports_its_address_to_a_file)
{
    const char *path = path_of(own, "uri");
    const struct wish w = {PMIX_TCP_REPORT_URI, path};
    char text[1024] = "";

    ck_assert_int_eq(server_init(NULL, &w, 1), PMIX_SUCCESS);
    PX_AUTOFREE char *wanted = px_strf("%s\nv" PX_IMITATED_VERSION "\n",
                                       px_process.server->uri);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
    close(fd);
    ck_assert_str_eq(text, wanted);
    PMIx_server_finalize();
    ck_assert(!is_there(path));
}
END_TEST

START_TEST(a_descriptor_that_is_none_is_no_reason_to_fail)
{
    const struct wish w = {PMIX_TCP_REPORT_URI, "987"};

    ck_assert_int_eq(server_init(NULL, &w, 1), PMIX_SUCCESS);
    PMIx_server_finalize();
}
END_TEST

/* ---- who lives keeps the name -------------------------------------------------------------------------- */

START_TEST(a_second_of_those_there_is_one_of_does_not_start)
{
    static const char *const keys[] = {
        PMIX_SERVER_SYSTEM_SUPPORT, PMIX_SERVER_SCHEDULER, PMIX_SERVER_SYS_CONTROLLER};

    for (size_t i = 0; i < PX_COUNT(keys); i++) {
        struct child a = child_of(keys[i], 0), b = child_of(keys[i], 0);

        ck_assert_int_eq(ask(&a, 'i'), PMIX_SUCCESS);
        ck_assert_int_eq(ask(&b, 'i'), PMIX_ERR_EXISTS);
        PX_AUTOFREE char *named = px_strf("pid %ld of uid %u, srv.0", (long)a.pid,
                                          (unsigned)geteuid());
        ck_assert(has_said(&b, named));
        ck_assert_int_eq(ask(&a, 'f'), PMIX_SUCCESS);
        ck_assert_int_eq(ask(&b, 'i'), PMIX_SUCCESS); /* now it is free */
        ck_assert_int_eq(ask(&b, 'f'), PMIX_SUCCESS);
        end(&a, 0);
        end(&b, 0);
    }
}
END_TEST

START_TEST(one_that_is_stopped_lives)
{
    struct child a = child_of(PMIX_SERVER_SYSTEM_SUPPORT, 0);
    struct child b = child_of(PMIX_SERVER_SYSTEM_SUPPORT, 0);

    ck_assert_int_eq(ask(&a, 'i'), PMIX_SUCCESS);
    ck_assert_int_eq(kill(a.pid, SIGSTOP), 0);
    ck_assert_int_eq(ask(&b, 'i'), PMIX_ERR_EXISTS);
    ck_assert_int_eq(kill(a.pid, SIGCONT), 0);
    ck_assert_int_eq(ask(&a, 'f'), PMIX_SUCCESS);
    end(&a, 0);
    end(&b, 0);
}
END_TEST

START_TEST(one_that_was_killed_makes_room_at_once)
{
    struct child b = child_of(PMIX_SERVER_SYSTEM_SUPPORT, 0);

    for (int i = 0; i < 5; i++) {
        struct child a = child_of(PMIX_SERVER_SYSTEM_SUPPORT, 0);

        ck_assert_int_eq(ask(&a, 'i'), PMIX_SUCCESS);
        end(&a, SIGKILL);
        ck_assert_int_eq(ask(&b, 'i'), PMIX_SUCCESS);
        ck_assert_int_eq(ask(&b, 'f'), PMIX_SUCCESS);
    }
    end(&b, 0);
    clear_folder(own);
}
END_TEST

START_TEST(a_second_session_server_goes_on_without_the_name)
{
    struct child a = child_of(PMIX_SERVER_SESSION_SUPPORT, 0);
    struct child b = child_of(PMIX_SERVER_SESSION_SUPPORT, 0);
    struct px_rendezvous r;

    ck_assert_int_eq(ask(&a, 'i'), PMIX_SUCCESS);
    ck_assert_int_eq(ask(&b, 'i'), PMIX_SUCCESS);
    PX_AUTOFREE char *named = px_strf("pid %ld of uid %u", (long)a.pid,
                                      (unsigned)geteuid());
    ck_assert(has_said(&b, named));
    ck_assert_int_eq(ask(&b, 'f'), PMIX_SUCCESS);
    ck_assert_int_eq(px_rendezvous_read(path_of(own, "pmix.%s.tool", node()), &r, NULL),
                     PMIX_SUCCESS);
    ck_assert_int_eq(r.pid, a.pid);
    ck_assert_int_eq(ask(&a, 'f'), PMIX_SUCCESS);
    end(&a, 0);
    end(&b, 0);
}
END_TEST

START_TEST(a_read_lock_of_a_stranger_is_no_sign_of_life)
{
    struct flock l = {.l_type = F_RDLCK, .l_whence = SEEK_SET};

    put(system_file(), foreign_text(1, dead_pid()));
    PX_AUTOCLOSE int fd = open(system_file(), O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(fcntl(fd, F_OFD_SETLK, &l), 0);
    ck_assert_int_eq(init_as(PMIX_SERVER_SYSTEM_SUPPORT), PMIX_SUCCESS);
    PMIx_server_finalize();
}
END_TEST

static int listener(int *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    ck_assert_int_eq(listen(fd, 8), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &n), 0);
    *port = ntohs(at.sin_port);
    return fd;
}

START_TEST(one_of_another_library_lives_while_it_answers)
{
    int port, fd = listener(&port);
    char *file = system_file();

    put(file, foreign_text(port, getpid()));
    ck_assert_int_eq(init_as(PMIX_SERVER_SYSTEM_SUPPORT), PMIX_ERR_EXISTS);
    ck_assert(is_there(file));
    close(fd); /* it does not listen any more */
    ck_assert_int_eq(init_as(PMIX_SERVER_SYSTEM_SUPPORT), PMIX_SUCCESS);
    PMIx_server_finalize();
}
END_TEST

START_TEST(a_port_that_somebody_else_has_now_is_no_sign_of_life)
{
    int port, fd = listener(&port);

    put(system_file(), foreign_text(port, dead_pid()));
    ck_assert_int_eq(init_as(PMIX_SERVER_SYSTEM_SUPPORT), PMIX_SUCCESS);
    PMIx_server_finalize();
    close(fd);
}
END_TEST

START_TEST(what_makes_no_sense_is_replaced)
{
    static const char *const texts[] = {"", "rubbish", "srv.0;tcp4://", "\n\n\n\n",
                                        "srv.0;tcp4://127.0.0.1:1\n4.2.2\n1\n"};

    for (size_t i = 0; i < PX_COUNT(texts); i++) {
        put(system_file(), texts[i]);
        ck_assert_int_eq(init_as(PMIX_SERVER_SYSTEM_SUPPORT), PMIX_SUCCESS);
        PMIx_server_finalize();
    }
}
END_TEST

START_TEST(with_several_names_only_this_one_is_replaced)
{
    char text[32] = "";

    put(path_of(own, "precious"), "precious");
    ck_assert_int_eq(link(path_of(own, "precious"), system_file()), 0);
    ck_assert_int_eq(init_as(PMIX_SERVER_SYSTEM_SUPPORT), PMIX_SUCCESS);
    PMIx_server_finalize();
    int fd = open(path_of(own, "precious"), O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(read(fd, text, sizeof(text)), 8);
    close(fd);
    ck_assert_str_eq(text, "precious");
    ck_assert_int_eq(unlink(path_of(own, "precious")), 0);
}
END_TEST

/* ---- races ------------------------------------------------------------------------------------------------ */

/* Both at once, n times; prepare puts something there before. Returns how often the first won. */
static int race(int n, void (*prepare)(void))
{
    setenv("PMIX_MCA_pcleanup", "^janitor,inproc", 1); /* which take time to start */
    struct child c[2] = {child_of(PMIX_SERVER_SYSTEM_SUPPORT, 0),
                         child_of(PMIX_SERVER_SYSTEM_SUPPORT, 0)};
    int won[2] = {0};

    for (int i = 0; i < n; i++) {
        pmix_status_t rc[2];

        if (prepare)
            prepare();
        tell(&c[i % 2], 'i');
        tell(&c[1 - i % 2], 'i');
        for (int k = 0; k < 2; k++)
            rc[k] = hear(&c[k]);
        ck_assert_msg((rc[0] == 0 && rc[1] == PMIX_ERR_EXISTS) ||
                          (rc[1] == 0 && rc[0] == PMIX_ERR_EXISTS),
                      "round %d: %s and %s", i, PMIx_Error_string(rc[0]),
                      PMIx_Error_string(rc[1]));
        int winner = rc[0] == 0 ? 0 : 1;
        won[winner]++;
        ck_assert(is_there(system_file()));
        ck_assert_int_eq(ask(&c[winner], 'f'), PMIX_SUCCESS);
        ck_assert_str_eq(names_in(sys), "");
    }
    end(&c[0], 0);
    end(&c[1], 0);
    return won[0];
}

START_TEST(of_two_that_start_at_once_one_has_the_name)
{
    printf("the first of two has won %d times of 200\n", race(200, NULL));
}
END_TEST

static void put_stale(void)
{
    put(system_file(), foreign_text(1, 1));
}

START_TEST(of_two_that_replace_a_stale_file_one_has_the_name)
{
    printf("the first of two has won %d times of 100\n", race(100, put_stale));
}
END_TEST

/* ---- what others put there ---------------------------------------------------------------------------- */

static void remains(const char *path, mode_t type)
{
    struct stat st;

    ck_assert_int_eq(lstat(path, &st), 0);
    ck_assert_uint_eq(st.st_mode & S_IFMT, type);
}

START_TEST(a_symbolic_link_of_our_own_is_left_alone)
{
    put(path_of(own, "target"), "precious");
    ck_assert_int_eq(symlink(path_of(own, "target"), system_file()), 0);
    ck_assert_int_eq(init_as(PMIX_SERVER_SYSTEM_SUPPORT), PMIX_ERR_NO_PERMISSIONS);
    remains(system_file(), S_IFLNK);
    ck_assert_int_eq(unlink(system_file()), 0);
    ck_assert_int_eq(unlink(path_of(own, "target")), 0);
}
END_TEST

START_TEST(a_fifo_does_not_stop_anybody)
{
    uint64_t began = px_clock_ms();

    ck_assert_int_eq(mkfifo(system_file(), 0600), 0);
    ck_assert_int_eq(init_as(PMIX_SERVER_SYSTEM_SUPPORT), PMIX_ERR_NO_PERMISSIONS);
    ck_assert_uint_lt(px_clock_ms() - began, 5000);
    remains(system_file(), S_IFIFO);
    ck_assert_int_eq(unlink(system_file()), 0);
}
END_TEST

START_TEST(a_directory_is_left_alone)
{
    ck_assert_int_eq(mkdir(system_file(), 0700), 0);
    ck_assert_int_eq(init_as(PMIX_SERVER_SYSTEM_SUPPORT), PMIX_ERR_NO_PERMISSIONS);
    ck_assert_int_eq(rmdir(system_file()), 0);
}
END_TEST

static void give_away(const char *path)
{
    ck_assert_int_eq(lchown(path, NOBODY, NOBODY), 0);
}

static void root_starts(void)
{
    struct stat st;

    ck_assert_int_eq(init_as(PMIX_SERVER_SYSTEM_SUPPORT), PMIX_SUCCESS);
    ck_assert_int_eq(lstat(system_file(), &st), 0);
    ck_assert(S_ISREG(st.st_mode));
    ck_assert_uint_eq(st.st_uid, 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0600);
    PMIx_server_finalize();
    ck_assert_str_eq(names_in(sys), "");
}

START_TEST(root_takes_the_name_from_whoever_squats_on_it)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char text[16] = "";

    PX_TEST_NEEDS(geteuid() == 0, "root");
    put(system_file(), foreign_text(1, 1));
    give_away(system_file());
    root_starts();

    put(system_file(), foreign_text(1, 1)); /* a lock does not help him */
    give_away(system_file());
    PX_AUTOCLOSE int fd = open(system_file(), O_RDWR | O_CLOEXEC);
    ck_assert_int_eq(fcntl(fd, F_OFD_SETLK, &l), 0);
    root_starts();

    put(path_of(own, "target"), "precious");
    ck_assert_int_eq(symlink(path_of(own, "target"), system_file()), 0);
    give_away(system_file());
    root_starts();
    int target = open(path_of(own, "target"), O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(read(target, text, sizeof(text)), 8);
    close(target);
    ck_assert_int_eq(unlink(path_of(own, "target")), 0);

    ck_assert_int_eq(mkfifo(system_file(), 0666), 0);
    give_away(system_file());
    root_starts();

    ck_assert_int_eq(mkdir(system_file(), 0700), 0);
    give_away(system_file());
    root_starts();
}
END_TEST

static void put_squatters(void)
{
    put(system_file(), foreign_text(1, 1));
    give_away(system_file());
}

START_TEST(of_two_that_take_it_from_a_squatter_one_has_the_name)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    printf("the first of two has won %d times of 50\n", race(50, put_squatters));
}
END_TEST

START_TEST(a_path_that_somebody_chose_is_not_taken_from_another_user)
{
    const char *path = path_of(sys, "his");
    const struct wish w = {PMIX_LAUNCHER_RENDEZVOUS_FILE, path};
    struct stat st;

    PX_TEST_NEEDS(geteuid() == 0, "root");
    put(path, "precious");
    give_away(path);
    ck_assert_int_eq(server_init(NULL, &w, 1), PMIX_SUCCESS);
    PMIx_server_finalize();
    ck_assert_int_eq(lstat(path, &st), 0);
    ck_assert_uint_eq(st.st_uid, NOBODY);
    ck_assert_uint_eq((unsigned long)st.st_size, 8);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(others_do_not_get_the_name_of_root)
{
    PX_TEST_NEEDS(px_test_others_load_it(), "root, and a build that others can read");
    ck_assert_int_eq(chown(own, NOBODY, NOBODY), 0);
    struct child a = child_of(PMIX_SERVER_SYSTEM_SUPPORT, 0);
    struct child b = child_of(PMIX_SERVER_SYSTEM_SUPPORT, NOBODY);

    ck_assert_int_eq(ask(&a, 'i'), PMIX_SUCCESS);
    ck_assert_int_eq(ask(&b, 'i'), PMIX_ERR_EXISTS);
    ck_assert(has_said(&b, "of uid 0"));
    ck_assert_int_eq(ask(&a, 'f'), PMIX_SUCCESS);
    end(&a, 0);
    put(system_file(), foreign_text(1, 1)); /* left over, and readable */
    ck_assert_int_eq(chmod(system_file(), 0644), 0);
    ck_assert_int_eq(ask(&b, 'i'), PMIX_ERR_NO_PERMISSIONS);
    ck_assert(has_said(&b, "belongs to uid 0, who alone can remove it"));
    remains(system_file(), S_IFREG);
    ck_assert_int_eq(unlink(system_file()), 0);
    ck_assert_int_eq(ask(&b, 'i'), PMIX_SUCCESS);
    ck_assert_int_eq(ask(&b, 'f'), PMIX_SUCCESS);
    end(&b, 0);
    ck_assert_int_eq(chown(own, 0, 0), 0);
}
END_TEST

START_TEST(root_takes_it_from_a_server_of_another_user_that_runs)
{
    struct px_rendezvous r;

    PX_TEST_NEEDS(px_test_others_load_it(), "root, and a build that others can read");
    ck_assert_int_eq(chown(own, NOBODY, NOBODY), 0);
    struct child a = child_of(PMIX_SERVER_SYSTEM_SUPPORT, 0);
    struct child b = child_of(PMIX_SERVER_SYSTEM_SUPPORT, NOBODY);

    ck_assert_int_eq(ask(&b, 'i'), PMIX_SUCCESS);
    ck_assert_int_eq(ask(&a, 'i'), PMIX_SUCCESS);
    ck_assert_int_eq(ask(&b, 'f'), PMIX_SUCCESS); /* removes only what is its own */
    ck_assert_int_eq(px_rendezvous_read(system_file(), &r, NULL), PMIX_SUCCESS);
    ck_assert_int_eq(r.pid, a.pid);
    ck_assert_int_eq(ask(&a, 'f'), PMIX_SUCCESS);
    end(&a, 0);
    end(&b, 0);
    ck_assert_int_eq(chown(own, 0, 0), 0);
}
END_TEST

/* ---- kernels and file systems that can less --------------------------------------------------- */

START_TEST(without_renameat2_names_are_taken_by_links)
{
    PX_TEST_NEEDS(px_test_deny(SYS_renameat2, EINVAL), "seccomp");
    struct child a = child_of(PMIX_SERVER_SYSTEM_SUPPORT, 0);
    struct child b = child_of(PMIX_SERVER_SYSTEM_SUPPORT, 0);
    struct px_rendezvous r;

    ck_assert_int_eq(ask(&a, 'i'), PMIX_SUCCESS);
    ck_assert_int_eq(px_rendezvous_read(system_file(), &r, NULL), PMIX_SUCCESS);
    ck_assert_int_eq(ask(&b, 'i'), PMIX_ERR_EXISTS);
    ck_assert_int_eq(ask(&a, 'f'), PMIX_SUCCESS);
    end(&a, 0);
    end(&b, 0);
    printf("the first of two has won %d times of 50\n", race(50, NULL));
}
END_TEST

START_TEST(without_random_numbers_names_are_made_all_the_same)
{
    PX_TEST_NEEDS(px_test_deny(SYS_getrandom, ENOSYS), "seccomp");
    ck_assert_int_eq(init_as(PMIX_SERVER_SYSTEM_SUPPORT), PMIX_SUCCESS);
    ck_assert(is_there(system_file()));
    PMIx_server_finalize();
}
END_TEST

/* ---- memory ---------------------------------------------------------------------------------- */

static void do_publish(struct px_call *call, void *args)
{
    struct px_contact_wish *wish = args;
    struct px_err err = {0};

    px_call_done(call, px_contact_publish(px_process.server, wish, &err));
}

static void do_withdraw(struct px_call *call, void *args PX_UNUSED)
{
    struct px_list *files = &px_process.server->contact_files;

    px_contact_withdraw(px_process.server,
                        PX_CONTAINER_OF(files->prev, struct px_contact_file, link));
    px_call_done(call, PMIX_SUCCESS);
}

START_TEST(without_memory_nothing_is_published)
{
    char *dir = path_of(own, "a/b");
    struct px_contact_wish wish = {.dir = dir, .name = "file", .text = "text"};
    pmix_status_t rc;

    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
    ck_assert_int_eq(init_as(PMIX_SERVER_SYSTEM_SUPPORT), PMIX_SUCCESS);
    while (px_process.server->session &&
           px_session_reclaiming(px_process.server, &(unsigned){0}))
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    unsigned nth = 1;
    for (;; nth++) {
        px_alloc_fail_at(nth);
        rc = px_call(px_process.loop, do_publish, &wish);
        if (!px_alloc_fail_end())
            break;
        ck_assert_msg(rc == PMIX_ERR_NOMEM, "%u: %s", nth, PMIx_Error_string(rc));
        ck_assert_str_eq(is_there(dir) ? names_in(dir) : "", "");
    }
    ck_assert_int_eq(rc, PMIX_SUCCESS);
    ck_assert_uint_gt(nth, 8);
    ck_assert_str_eq(names_in(dir), "file ");
    (void)px_call(px_process.loop, do_withdraw, NULL);
    for (nth = 1;; nth++) { /* now with its folder */
        px_alloc_fail_at(nth);
        rc = px_call(px_process.loop, do_publish, &wish);
        int kept = px_alloc_balance();
        if (!px_alloc_fail_end())
            break;
        ck_assert_int_eq(rc, PMIX_ERR_NOMEM);
        ck_assert_int_eq(kept, 0);
        ck_assert_str_eq(names_in(dir), "");
    }
    ck_assert_int_eq(rc, PMIX_SUCCESS);
    PMIx_server_finalize();
    ck_assert(!is_there(path_of(own, "a")));
}
END_TEST

/* ---- where ------------------------------------------------------------------------------------------------- */

START_TEST(directories_have_their_order)
{
    static const char *const env[] = {"PMIX_SERVER_TMPDIR", "TMPDIR", "TEMP", "TMP"};
    PX_AUTO(px_infos) infos = {0}, empty = {0};

    ck_assert_int_eq(px_infos_add(&infos, PMIX_SERVER_TMPDIR, "/given", PMIX_STRING),
                     0);
    ck_assert_int_eq(px_infos_add(&empty, PMIX_SERVER_TMPDIR, "", PMIX_STRING), 0);
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
END_TEST

PX_TEST_MAIN_WITH(
    "server/contact", setup, teardown, each_kind_has_its_files_whatever_else_it_is,
    in_one_folder_system_and_session_are_one_file, the_lines_are_those_that_tools_read,
    others_may_read_it_if_their_tools_may_come,
    a_server_that_would_turn_tools_away_has_no_files,
    a_launchers_file_is_made_with_the_parents_it_needs,
    the_environment_can_ask_for_it_too, a_relative_path_is_of_the_servers_directory,
    an_empty_file_made_for_it_is_replaced_and_then_removed,
    a_device_is_not_replaced_by_a_file, it_reports_its_address_where_it_is_told_to,
    it_reports_its_address_to_a_file, a_descriptor_that_is_none_is_no_reason_to_fail,
    a_second_of_those_there_is_one_of_does_not_start, one_that_is_stopped_lives,
    one_that_was_killed_makes_room_at_once,
    a_second_session_server_goes_on_without_the_name,
    a_read_lock_of_a_stranger_is_no_sign_of_life,
    one_of_another_library_lives_while_it_answers,
    a_port_that_somebody_else_has_now_is_no_sign_of_life,
    what_makes_no_sense_is_replaced, with_several_names_only_this_one_is_replaced,
    of_two_that_start_at_once_one_has_the_name,
    of_two_that_replace_a_stale_file_one_has_the_name,
    a_symbolic_link_of_our_own_is_left_alone, a_fifo_does_not_stop_anybody,
    a_directory_is_left_alone, root_takes_the_name_from_whoever_squats_on_it,
    of_two_that_take_it_from_a_squatter_one_has_the_name,
    a_path_that_somebody_chose_is_not_taken_from_another_user,
    others_do_not_get_the_name_of_root,
    root_takes_it_from_a_server_of_another_user_that_runs,
    without_renameat2_names_are_taken_by_links,
    without_random_numbers_names_are_made_all_the_same,
    without_memory_nothing_is_published, directories_have_their_order)
