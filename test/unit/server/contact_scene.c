/* SPDX-License-Identifier: BSD-3-Clause */
#include "contact_scene.h"

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/str.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONG_MS = 15000 };

const char *const roles[] = {PMIX_SERVER_SYSTEM_SUPPORT, PMIX_SERVER_SESSION_SUPPORT,
                             PMIX_SERVER_TOOL_SUPPORT, PMIX_SERVER_SCHEDULER,
                             PMIX_SERVER_SYS_CONTROLLER};

/* ---- files -------------------------------------------------------------------------- */

char sys_dir[256], own_dir[256], node[256];

void contact_setup(void)
{
    px_str_copy(sys_dir, sizeof(sys_dir), px_test_path("sys"));
    px_str_copy(own_dir, sizeof(own_dir), px_test_path("own"));
    ok(mkdir(sys_dir, 01777) || chmod(sys_dir, 01777) || mkdir(own_dir, 0700));
    unsetenv(PMIX_LAUNCHER_RNDZ_FILE);
    unsetenv("PMIX_LAUNCHER_RENDEZVOUS_FILE");
    ok(gethostname(node, sizeof(node)));
    px_str_copy(px_process.host, sizeof(px_process.host), node);
}

char *path_of(const char *dir, const char *fmt, ...)
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

char *system_file(void)
{
    return path_of(sys_dir, "pmix.sys.%s", node);
}

void put_file(const char *path, const char *text)
{
    touch(path);
    PX_AUTOCLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);
    ok(px_fd_write_all(fd, text, strlen(text), 0));
}

void file_is(const char *path, const char *wanted)
{
    PX_AUTOFREE char *text = text_of_file(path);

    ck_assert_str_eq(text, wanted);
}

struct stat stat_of(const char *path)
{
    struct stat st;

    ok(lstat(path, &st));
    return st;
}

void put_foreign(int port, pid_t pid)
{
    PX_AUTOFREE char *text = px_strf(
        "foreign.0;tcp4://127.0.0.1:%d\n4.2.2\n%ld\n%u:%u\nSat Nov 21\n\n", port,
        (long)pid, (unsigned)geteuid(), (unsigned)getegid());

    put_file(system_file(), text);
}

char *names_in(const char *dir)
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
        ck_assert(!px_str_starts(name, ".pmix")); /* no temporary file is left */
        free(found[i]);
    }
    free(found);
    return out;
}

/* ---- servers ------------------------------------------------------------------------ */

pmix_status_t server_init(const pmix_server_module_t *module,
                          const struct attribute *attributes, size_t n)
{
    PX_AUTO(px_infos) infos = {0};

    ok(px_infos_add(&infos, PMIX_SERVER_NSPACE, "srv", PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_SERVER_TMPDIR, own_dir, PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_SYSTEM_TMPDIR, sys_dir, PMIX_STRING));
    for (size_t i = 0; i < n; i++)
        ok(px_infos_add(&infos, attributes[i].key, attributes[i].text,
                        attributes[i].text ? PMIX_STRING : PMIX_BOOL));
    return PMIx_server_init((pmix_server_module_t *)(uintptr_t)module, infos.v,
                            infos.n);
}

pmix_status_t init_as(const char *role)
{
    return server_init(NULL, &(struct attribute){role, NULL}, 1);
}

void start_with(const char *key, const char *text)
{
    ok(server_init(NULL, &(struct attribute){key, text}, 1));
}

void end(void)
{
    ok(PMIx_server_finalize());
}

static struct child children[8]; /* teardown ends the processes that still run */
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

struct child *child_of(const char *role, uid_t uid)
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

void child_send(const struct child *c, char order)
{
    ck_assert_int_eq(write(c->to, &order, 1), 1);
}

pmix_status_t child_receive(const struct child *c)
{
    pmix_status_t rc;

    ok(px_fd_read_all(c->from, &rc, sizeof(rc), px_clock_ms() + LONG_MS));
    return rc;
}

pmix_status_t child_ask(const struct child *c, char order)
{
    child_send(c, order);
    return child_receive(c);
}

void child_end(struct child *c, int signum)
{
    if (signum)
        kill(c->pid, signum);
    else
        /* Closing the pipe is not enough, as other children have inherited it. */
        child_send(c, 'q');
    close(c->to);
    close(c->from);
    ck_assert_int_eq(waitpid(c->pid, NULL, 0), c->pid);
    c->pid = 0;
}

void contact_teardown(void)
{
    for (size_t i = 0; i < n_children; i++)
        if (children[i].pid)
            child_end(&children[i], 0);
    host_end();
    ck_assert_msg(rmdir(sys_dir) == 0, "something is left in %s", sys_dir);
    ck_assert_msg(rmdir(own_dir) == 0, "something is left in %s", own_dir);
}

void child_has_printed(const struct child *c, const char *what)
{
    PX_AUTOFREE char *text = text_of_file(c->log);

    rt_assert_has(text, what);
}
