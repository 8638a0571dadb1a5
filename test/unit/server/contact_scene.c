/* SPDX-License-Identifier: BSD-3-Clause */
#include "contact_scene.h"
#include "raw.h"

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/server/cleanup/session.h"
#include "px_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { LONG_MS = 15000 };

char sys_dir[80], own_dir[80];
static char top[64];

void contact_setup(void)
{
    px_str_copy(top, sizeof(top), "/tmp/tncontact.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(top));
    ck_assert_int_eq(chmod(top, 0755), 0);
    snprintf(sys_dir, sizeof(sys_dir), "%s/sys", top);
    snprintf(own_dir, sizeof(own_dir), "%s/own", top);
    ck_assert_int_eq(mkdir(sys_dir, 01777), 0);
    ck_assert_int_eq(chmod(sys_dir, 01777), 0);
    ck_assert_int_eq(mkdir(own_dir, 0700), 0);
    unsetenv(PMIX_LAUNCHER_RNDZ_FILE);
    unsetenv("PMIX_LAUNCHER_RENDEZVOUS_FILE");
    gethostname(px_process.host, sizeof(px_process.host));
}

void contact_teardown(void)
{
    raw_teardown();
    ck_assert_msg(rmdir(sys_dir) == 0, "something is left in %s", sys_dir);
    ck_assert_msg(rmdir(own_dir) == 0, "something is left in %s", own_dir);
    ck_assert_msg(rmdir(top) == 0, "something is left in %s", top);
}

const char *node_name(void)
{
    static char name[256];

    gethostname(name, sizeof(name));
    return name;
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
    return path_of(sys_dir, "pmix.sys.%s", node_name());
}

void put_file(const char *path, const char *text)
{
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

char *foreign_text(int port, pid_t pid)
{
    static char text[256];

    snprintf(text, sizeof(text),
             "foreign.0;tcp4://127.0.0.1:%d\n4.2.2\n%ld\n%u:%u\nSat Nov 21\n\n", port,
             (long)pid, (unsigned)geteuid(), (unsigned)getegid());
    return text;
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

/* ---- starting servers ------------------------------------------------------------------------------- */

pmix_status_t server_init(const pmix_server_module_t *module, const struct wish *wishes,
                          size_t n)
{
    PX_AUTO(px_infos) infos = {0};
    bool yes = true;

    ok(px_infos_add(&infos, PMIX_SERVER_NSPACE, "srv", PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_SERVER_TMPDIR, own_dir, PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_SYSTEM_TMPDIR, sys_dir, PMIX_STRING));
    for (size_t i = 0; i < n; i++)
        ck_assert_int_eq(
            px_infos_add(&infos, wishes[i].key,
                         wishes[i].text ? (const void *)wishes[i].text : &yes,
                         wishes[i].text ? PMIX_STRING : PMIX_BOOL),
            0);
    return PMIx_server_init((pmix_server_module_t *)module, infos.v, infos.n);
}

pmix_status_t init_as(const char *key)
{
    const struct wish w = {key, NULL};

    return server_init(NULL, &w, 1);
}

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

struct child child_of(const char *key, uid_t uid)
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

void child_tell(const struct child *c, char order)
{
    ck_assert_int_eq(write(c->to, &order, 1), 1);
}

pmix_status_t child_hear(const struct child *c)
{
    pmix_status_t rc;

    ok(px_fd_read_all(c->from, &rc, sizeof(rc), px_clock_ms() + LONG_MS));
    return rc;
}

pmix_status_t child_ask(const struct child *c, char order)
{
    child_tell(c, order);
    return child_hear(c);
}

void child_end(const struct child *c, int signum)
{
    if (signum)
        kill(c->pid, signum);
    else
        child_tell(c, 'q'); /* other children have the pipe, too */
    close(c->to);
    close(c->from);
    ck_assert_int_eq(waitpid(c->pid, NULL, 0), c->pid);
    unlink(c->log);
}

bool child_has_said(const struct child *c, const char *what)
{
    char text[4096] = "";
    int fd = open(c->log, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, sizeof(text) - 1);

    close(fd);
    return n > 0 && strstr(text, what);
}

/* ---- races ------------------------------------------------------------------------------ */

int race(int n, void (*prepare)(void))
{
    setenv("PMIX_MCA_pcleanup", "^janitor,inproc", 1); /* which take time to start */
    struct child c[2] = {child_of(PMIX_SERVER_SYSTEM_SUPPORT, 0),
                         child_of(PMIX_SERVER_SYSTEM_SUPPORT, 0)};
    int won[2] = {0};

    for (int i = 0; i < n; i++) {
        pmix_status_t rc[2];

        if (prepare)
            prepare();
        child_tell(&c[i % 2], 'i');
        child_tell(&c[1 - i % 2], 'i');
        for (int k = 0; k < 2; k++)
            rc[k] = child_hear(&c[k]);
        ck_assert_msg((rc[0] == 0 && rc[1] == PMIX_ERR_EXISTS) ||
                          (rc[1] == 0 && rc[0] == PMIX_ERR_EXISTS),
                      "round %d: %s and %s", i, PMIx_Error_string(rc[0]),
                      PMIx_Error_string(rc[1]));
        int winner = rc[0] == 0 ? 0 : 1;
        won[winner]++;
        ck_assert(is_there(system_file()));
        ok(child_ask(&c[winner], 'f'));
        ck_assert_str_eq(names_in(sys_dir), "");
    }
    child_end(&c[0], 0);
    child_end(&c[1], 0);
    return won[0];
}
