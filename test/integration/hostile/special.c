/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases that need more than a row: depth, activity during removal, and places of the system. */
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEPTH    10000
#define MAX_DUG  100000
#define MAX_LAST 5 /* walks that may be needed for all files of the attacker */

/* ---- depth ---------------------------------------------------------------------------------- */

/* Makes a chain of folders. Each hundredth folder has a file. */
static void dig(void *arg)
{
    const char *text = getenv("HOSTILE_DEPTH");
    unsigned depth = text ? (unsigned)atoi(text) : DEPTH;
    int fd = open((const char *)arg, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    for (unsigned i = 0; fd >= 0 && i < depth; i++) {
        int below;

        if (mkdirat(fd, "d", 0755) ||
            (i % 100 == 0 && mknodat(fd, "f", S_IFREG | 0644, 0)))
            _exit(1);
        below = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(fd);
        fd = below;
    }
    if (fd < 0)
        _exit(1);
}

static void deep(struct scene *s)
{
    if (!case_begin(s, "thousands of folders deep"))
        return;
    make(s, "T:top");
    s->timeout_s = 300;
    if (end_process(spawn_user(dig, (void *)at(s, "top/sub")), false))
        die("case '%s': cannot dig", s->name);
    reg(s, "D:top");
    sweep(s);
    gone(s, "top");
    case_end(s);
}

/* ---- while it runs ------------------------------------------------------------------------- */

static void keep_creating(void *arg)
{
    const char *path = arg;
    char name[32];

    for (uint64_t i = 0;; i++) {
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        if (fd < 0) {
            mkdir(path, 0755);
            continue;
        }
        snprintf(name, sizeof(name), "new%" PRIu64, i);
        mknodat(fd, name, S_IFREG | 0644, 0);
        close(fd);
    }
}

/* Digs deeper than the walk, up to a depth that rm removes in seconds. */
static void keep_digging(void *arg)
{
    int fd = open((const char *)arg, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    for (unsigned depth = 0;; depth++) {
        int below = -1;

        if (depth < MAX_DUG && mkdirat(fd, "d", 0755) == 0)
            below = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (below < 0) {
            depth = 0;
            below = open((const char *)arg, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            usleep(100);
        }
        if (fd >= 0)
            close(fd);
        fd = below;
    }
}

static void keep_renaming(void *arg)
{
    const struct scene *s = arg;
    const char *a = at(s, "top/sub"), *b = at(s, "top/other"), *c = at(s, "side/sub2");

    for (;;) {
        rename(a, b);
        rename(b, c);
        if (rename(c, a) && errno == ENOENT && access(a, F_OK))
            grow(a, USER, USER);
    }
}

static void keep_changing_modes(void *arg)
{
    const struct scene *s = arg;
    const char *a = at(s, "top"), *b = at(s, "top/sub");

    for (;;) {
        chmod(a, 0);
        chmod(b, 0555);
        chmod(b, 01777);
        chmod(a, 0700);
    }
}

struct pressing {
    const char *name;
    void (*fn)(void *arg);
    const char *arg; /* a name, or NULL: the scene */
};

/* Expects that a process which changes the tree without end does not keep the walk from ending. */
static void pressed(struct scene *s, const struct pressing *p)
{
    pid_t pid;

    if (!case_begin(s, p->name))
        return;
    s->timeout_s = 120;
    make(s, "T:top T:side f:x B:top/big");
    reg(s, "D:top F:x");
    pid = spawn_user(p->fn, p->arg ? (void *)at(s, p->arg) : s);
    for (int i = 0; i < (s->level->no_wait ? 2 : 5); i++)
        sweep(s);
    end_process(pid, true);
    gone(s, "x");
    stays(s, "side/f0 side/sub/f0");
    chmod(at(s, "top"), 0755);
    chmod(at(s, "top/sub"), 0755);
    s->full_time = true; /* a walk of seconds may be too short for the depth */
    for (int i = 0; i < MAX_LAST && access(at(s, "top"), F_OK) == 0; i++)
        sweep(s);
    gone(s, "top");
    case_end(s);
}

/* ---- against the walker's process ------------------------------------------------------------ */

/* The attacker's action against all processes with the walkers' name. The attacker has not started any of
 * them. n: successful actions; rounds: searches for processes. */
struct hits {
    enum { KILL, STOP, TRACE } how;
    unsigned n, rounds;
};

static void keep_hitting(void *arg)
{
    struct hits *hits = arg;

    for (;; hits->rounds++)
        for (pid_t pid = 0; (pid = find_process("tenon-", pid));)
            hits->n += hits->how == TRACE
                           ? ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0
                           : kill(pid, hits->how == KILL ? SIGKILL : SIGSTOP) == 0;
}

static void hit(struct scene *s, const char *name, int how)
{
    struct hits *hits;
    double begin;
    pid_t pid;

    if (s->level->powers || (s->level->own && how != TRACE) || !case_begin(s, name))
        return;
    hits = mmap(NULL, sizeof(*hits), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                -1, 0);
    if (hits == MAP_FAILED)
        die("no memory");
    hits->how = how;
    make(s, "T:top B:top/big B:top/bigger T:a T:b");
    reg(s, "D:top D:a D:b");
    if (how == STOP)
        s->timeout_s = 3; /* limit of a walk, where it can be set */
    begin = now_s();
    pid = spawn_user(keep_hitting, hits);
    for (int i = 0; i < (how == KILL ? 50 : how == TRACE ? 3 : 1); i++) {
        s->level->remove(s);
        if (how == KILL && hits->n > 0)
            break;
        make(s, how == KILL ? "T:new B:new/big" : "T:new");
        rename(at(s, "new"), at(s, "top"));
    }
    end_process(pid, true);
    if (how == KILL && hits->n == 0)
        bad(s, "the attacker has not killed any process in %u rounds", hits->rounds);
    if (how == TRACE && (hits->n > 0 || hits->rounds == 0))
        bad(s, "the attacker has traced %u processes in %u rounds", hits->n,
            hits->rounds);
    if (how == STOP && now_s() - begin > 30)
        bad(s, "a stopped walk held everything up for %.1f s", now_s() - begin);
    s->timeout_s = 60;
    sweep(s); /* works, because the attacker has ended */
    gone(s, "top a b");
    munmap(hits, sizeof(*hits));
    case_end(s);
}

/* Forks up to the limit of processes. */
static void bomb(void *arg)
{
    struct rlimit some = {20, 20};

    (void)arg;
    if (setrlimit(RLIMIT_NPROC, &some))
        _exit(1);
    for (;;)
        if (fork() < 0)
            usleep(1000);
}

static void kill_all_of_attacker(void *unused)
{
    (void)unused;
    for (int i = 0; i < 50; i++) {
        kill(-1, SIGKILL);
        usleep(1000);
    }
}

static void bombed(struct scene *s)
{
    pid_t pid;

    if (s->level->powers || s->level->own ||
        !case_begin(s, "the attacker has no process left"))
        return;
    make(
        s,
        "T:top d:d f:d/x o:d>0:0"); /* d/x: root could remove it, the attacker could not */
    reg(s, "D:top F:d/x");
    pid = spawn_user(bomb, NULL);
    s->level->remove(s); /* the kernel may refuse the attacker another process */
    end_process(spawn_user(kill_all_of_attacker, NULL), false);
    end_process(pid, true);
    stays(s, "d/x");
    sweep(s);
    gone(s, "top");
    stays(s, "d/x");
    case_end(s);
}

/* ---- places of the system ---------------------------------------------------------------------- */

static void shared_memory(struct scene *s)
{
    if (!case_begin(s, "the root of shared memory"))
        return;
    make(s, "f:=/dev/shm/h_mine f:=/dev/shm/h_other o:=/dev/shm/h_other>12346:12346 "
            "f:=/dev/shm/h_kept");
    reg(s, "D:=/dev/shm D:=/dev/shm/ F:=/dev/shm/h_mine F:=/dev/shm/h_other");
    sweep(s);
    gone(s, "=/dev/shm/h_mine");
    stays(s, "=/dev/shm =/dev/shm/h_other =/dev/shm/h_kept");
    unlink("/dev/shm/h_other");
    unlink("/dev/shm/h_kept");
    case_end(s);
}

/* Tests a folder of a control group, which its owner may remove by rmdir. */
static void control_group(struct scene *s)
{
    const char *dir;
    bool here;

    if (!case_begin(s, "control groups, by what they are"))
        return;
    make(s, "d:cg T:top");
    dir = at(s, "cg");
    here = mount("none", dir, "cgroup", 0, "none,name=hostile") == 0 ||
           mount("none", dir, "cgroup2", 0, NULL) == 0;
    dir = at(s, "cg/hostile");
    if (!here || mkdir(dir, 0755) || lchown(dir, USER, USER)) {
        s->missing = "control group";
        left_out(s);
    } else {
        reg(s, "D:cg/hostile D:cg F:cg/hostile/cgroup.procs D:top");
        sweep(s);
        gone(s, "top");
        stays(s, "cg/hostile cg/hostile/cgroup.procs");
        rmdir(dir);
    }
    case_end(s);
}

/* Tests files that are open or mapped, and a folder that is a working directory. */
static void in_use(struct scene *s)
{
    const char *dir;
    int fd;

    if (!case_begin(s, "what is in use"))
        return;
    make(s, "T:top");
    dir = at(s, "top/sub");
    fd = open(at(s, "top/f0"), O_RDWR | O_CLOEXEC);
    if (fd < 0 || chdir(dir))
        die("cannot use %s", dir);
    reg(s, "D:top");
    sweep(s);
    if (!s->renames_open)
        gone(s, "top");
    if (chdir("/") || close(fd))
        die("cannot go back");
    if (s->renames_open)
        sweep(s);
    gone(s, "top");
    case_end(s);
}

void cases_special(struct scene *s)
{
    static const struct pressing pressings[] = {
        {"files made while it runs", keep_creating, "top"},
        {"files made deeper while it runs", keep_creating, "top/sub/deep"},
        {"folders made ever deeper while it runs", keep_digging, "top/sub"},
        {"folders renamed while it runs", keep_renaming, NULL},
        {"modes changed while it runs", keep_changing_modes, NULL},
    };

    deep(s);
    for (size_t i = 0; i < sizeof(pressings) / sizeof(pressings[0]); i += each())
        pressed(s, &pressings[i]);
    if (!s->level->server || each() == 1) /* rarely hits a server */
        hit(s, "the attacker kills who removes", KILL);
    hit(s, "the attacker stops who removes", STOP);
    hit(s, "the attacker traces who removes", TRACE);
    bombed(s);
    shared_memory(s);
    control_group(s);
    in_use(s);
}
