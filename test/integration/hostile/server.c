/* SPDX-License-Identifier: BSD-3-Clause */
/* hostile_server [user|inproc|container]: the cases against a server, whose clients are the
 * attacker's programs. It is root's; or the attacker's own, with either component, and then it is
 * to protect others from him, and him from strangers and from his own mistakes; or that of a
 * container in which he is root. Variables as in walker.c. */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define SWAPS 10000
/* After so long a walk is given up. */
#define WALK_LIMIT "5s"
#define OWN_LIMIT  "3s"
#define SKIPPED    77

/* ---- the common server -------------------------------------------------------------------------- */

/* The scene is made by root, and the server may be anybody's: it is a process of its own, which
 * does what it is asked for through a socket. */
enum ask_what { ASK_CLIENT, ASK_IDLE, ASK_NSPACE, ASK_FORGET };

struct ask {
    enum ask_what what;
    uid_t uid;
    unsigned timeout_s;
    size_t n_words, size; /* of words, which follow; the first is the case's name */
};

struct answer {
    int rc;
    bool failed;
};

static int common = -1; /* -1: the server is in this process */

static bool write_all(int fd, const void *bytes, size_t n)
{
    for (const char *at = bytes; n > 0;) {
        ssize_t done = send(fd, at, n, MSG_NOSIGNAL);

        if (done <= 0)
            return false;
        at += done;
        n -= (size_t)done;
    }
    return true;
}

static bool read_all(int fd, void *bytes, size_t n)
{
    return n == 0 || recv(fd, bytes, n, MSG_WAITALL) == (ssize_t)n;
}

static int ask(struct scene *s, enum ask_what what, uid_t uid, char *const *words,
               size_t n)
{
    struct ask a = {.what = what, .uid = uid, .timeout_s = s->timeout_s};
    struct answer answer;
    bool good;

    a.n_words = n + 1;
    a.size = strlen(s->name) + 1;
    for (size_t i = 0; i < n; i++)
        a.size += strlen(words[i]) + 1;
    fflush(stdout);
    good = write_all(common, &a, sizeof a) &&
           write_all(common, s->name, strlen(s->name) + 1);
    for (size_t i = 0; good && i < n; i++)
        good = write_all(common, words[i], strlen(words[i]) + 1);
    if (!good || !read_all(common, &answer, sizeof answer))
        die("case '%s': the server is gone", s->name);
    s->failed |= answer.failed;
    return answer.rc;
}

static int do_as_asked(struct scene *s, const struct ask *a, char **words)
{
    switch (a->what) {
    case ASK_CLIENT:
        return client_here(s, a->uid, words);
    case ASK_IDLE:
        idle_here(s);
        return 0;
    case ASK_NSPACE:
        nspace_here(a->uid, words[0]);
        return 0;
    case ASK_FORGET:
        host_deregister_nspace(words[0]);
        return 0;
    }
    return -1;
}

/* False: nobody asks any more. */
static bool serve_one(struct scene *s, int fd)
{
    struct answer answer = {.rc = -1};
    char *text, *at, **words;
    struct ask a;

    if (!read_all(fd, &a, sizeof a))
        return false;
    text = at = malloc(a.size);
    words = calloc(a.n_words + 1, sizeof *words);
    if (!text || !words || !read_all(fd, text, a.size))
        return false;
    for (size_t i = 0; i < a.n_words; i++) {
        words[i] = at;
        at += strlen(at) + 1;
    }
    s->name = words[0];
    s->timeout_s = a.timeout_s;
    s->failed = false;
    answer.rc = do_as_asked(s, &a, words + 1);
    answer.failed = s->failed;
    fflush(stdout);
    free(words);
    free(text);
    return write_all(fd, &answer, sizeof answer);
}

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        die("cannot write %s", path);
    close(fd);
}

/* Root of a user namespace, who is the attacker outside, with a mount namespace below ours. False: this
 * machine does not let him. */
static bool enter_container(void)
{
    char map[40];

    become(USER, USER);
    if (prctl(PR_SET_DUMPABLE, 1) || unshare(CLONE_NEWUSER | CLONE_NEWNS))
        return false;
    snprintf(map, sizeof map, "0 %d 1\n", USER);
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/gid_map", map);
    write_file("/proc/self/uid_map", map);
    return geteuid() == 0 && getegid() == 0;
}

static void serve(struct scene *s, int fd)
{
    static pmix_server_module_t module;

    if (s->level->contained && !enter_container())
        _exit(SKIPPED);
    if (s->level->own && !s->level->contained)
        become(USER, USER);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL))
        _exit(97);
    module = host_module;
    host_answers(HOST_AT_ONCE);
    HOST_GOOD(host_init(&module));
    for (bool more = write_all(fd, "", 1); more; more = serve_one(s, fd)) {
    }
    HOST_GOOD(PMIx_server_finalize());
    host_stop_answering();
    fflush(NULL);
    _exit(0);
}

static pid_t begin_common(struct scene *s)
{
    char ready;
    int ends[2], how;
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        die("no sockets");
    fflush(NULL);
    pid = fork();
    if (pid < 0)
        die("cannot fork");
    if (pid == 0) {
        close(ends[0]);
        serve(s, ends[1]);
    }
    close(ends[1]);
    common = ends[0];
    if (read_all(common, &ready, 1))
        return pid;
    how = end_process(pid, false);
    wipe(s, s->base);
    if (how == SKIPPED)
        printf("LEFT OUT %s: users may not make user namespaces here\n",
               s->level->name);
    else
        printf("FAIL %s: it has not begun (%d)\n", s->level->name, how);
    exit(how == SKIPPED ? SKIPPED : 1);
}

static int end_common(pid_t pid)
{
    shutdown(common, SHUT_RDWR); /* processes of the attacker may have a copy */
    close(common);
    common = -1;
    return end_process(pid, false);
}

/* ---- clients --------------------------------------------------------------------------------- */

int start_client(struct scene *s, uid_t uid, const struct args *a)
{
    return common < 0 ? client_here(s, uid, a->v) : ask(s, ASK_CLIENT, uid, a->v, a->n);
}

void await_idle(struct scene *s)
{
    if (common < 0)
        idle_here(s);
    else
        ask(s, ASK_IDLE, 0, NULL, 0);
}

int run_client(struct scene *s, uid_t uid, const struct args *a)
{
    int rc = start_client(s, uid, a);

    await_idle(s);
    return rc;
}

void begin_nspace(struct scene *s, uid_t uid, const char *name)
{
    ask(s, ASK_NSPACE, uid, (char *const[]){(char *)name}, 1);
}

void end_nspace(struct scene *s, const char *name)
{
    ask(s, ASK_FORGET, 0, (char *const[]){(char *)name}, 1);
    await_idle(s);
}

static bool server_remove(struct scene *s)
{
    struct args a;
    int rc;

    args_begin(&a);
    args_add_regs(&a, s);
    rc = run_client(s, USER, &a);
    args_end(&a);
    return rc == 0;
}

/* ---- whose it is ------------------------------------------------------------------------------- */

/* In a container it has root's powers over what is the attacker's, and none over anything else. */
static const struct kind {
    const char *arg, *component;
    struct level level;
} kinds[] = {
    {"root", "janitor", {.name = "server"}},
    {"user", "janitor", {.name = "the user's server", .own = true}},
    {"inproc", "inproc", {.name = "the user's server, inproc", .own = true}},
    {"container",
     "janitor",
     {.name = "container", .own = true, .contained = true, .powers = true}},
};

#define N_KINDS (sizeof kinds / sizeof kinds[0])

static struct level level_of(const char *arg)
{
    for (size_t i = 0; i < N_KINDS; i++)
        if (strcmp(kinds[i].arg, arg) == 0) {
            struct level level = kinds[i].level;

            setenv("PMIX_MCA_pcleanup", kinds[i].component, 1);
            level.server = level.no_wait = level.resolves = true;
            level.janitor = strcmp(kinds[i].component, "janitor") == 0;
            level.remove = server_remove;
            return level;
        }
    die("there is no '%s'", arg);
}

static void use_tmp(const struct scene *s)
{
    char tmp[300];

    snprintf(tmp, sizeof tmp, "%s/tmp", s->base);
    if ((mkdir(tmp, 0755) && errno != EEXIST) || chmod(tmp, 01777) ||
        setenv("TMPDIR", tmp, 1))
        die("cannot make %s", tmp);
}

int main(int argc, char **argv)
{
    const struct level level = level_of(argc > 1 ? argv[1] : "root");
    const char *swaps = getenv("HOSTILE_SWAPS");
    struct scene s;
    pid_t pid;
    int how;

    if (!realpath(argv[0], client_path))
        die("where is this program?");
    snprintf(strrchr(client_path, '/') + 1, 32, "hostile_client");
    scene_begin(&s, &level);
    use_tmp(&s);
    setenv("HOME", "/nonexistent", 1); /* the attacker may not look into root's */
    setenv("PMIX_MCA_pcleanup_janitor_timeout", level.own ? OWN_LIMIT : WALK_LIMIT, 1);
    setenv("PMIX_MCA_pcleanup_inproc_timeout", OWN_LIMIT, 1);
    if (!level.contained)
        cases_own_servers(&s);
    pid = begin_common(&s);
    cases_requests(&s);
    cases_rows(&s);
    if (!level.own || level.janitor) /* what walks is the same in both */
        cases_special(&s);
    cases_faulty(&s);
    cases_swaps(&s, swaps ? strtoull(swaps, NULL, 10) : SWAPS);
    how = end_common(pid);
    if (how)
        bad(&s, "the server has ended with %d", how), s.n_failed++;
    return scene_end(&s);
}
