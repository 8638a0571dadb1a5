/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases that need more than a row: size, depth, things that go on while removal runs, places of
 * the system. */
#include "hostile.h"

#include <dirent.h>
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
#define MAX_LAST 5 /* he may have left more than one walk has time for */

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* ---- size and depth ----------------------------------------------------------------------- */

struct chain {
    const char *path;
    unsigned depth;
};

/* A folder in a folder ..., each hundredth with a file in it. */
static void dig(void *arg)
{
    const struct chain *c = arg;
    int fd = open(c->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    for (unsigned i = 0; fd >= 0 && i < c->depth; i++) {
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

static void dig_as_user(struct scene *s, const char *name, unsigned depth)
{
    struct chain c = {at(s, name), depth};

    if (end_process(spawn_user(dig, &c), false))
        die("case '%s': cannot dig", s->name);
}

static void deep(struct scene *s)
{
    if (!case_begin(s, "thousands of folders deep"))
        return;
    make(s, "T:top");
    s->timeout_s = 300;
    dig_as_user(s, "top/sub", (unsigned)number("HOSTILE_DEPTH", DEPTH));
    reg(s, "D:top");
    sweep(s);
    gone(s, "top");
    case_end(s);
}

/* What stays at the bottom keeps the way to it, and nothing else. */
static void deep_with_a_stranger(struct scene *s)
{
    static char path[4096];
    size_t n;

    if (!case_begin(s, "deep, a file of root at the bottom"))
        return;
    make(s, "T:top");
    dig_as_user(s, "top/sub", 1500);
    n = (size_t)snprintf(path, sizeof path, "top/sub");
    for (unsigned i = 0; i < 1500; i++)
        n += (size_t)snprintf(path + n, sizeof path - n, "/d");
    snprintf(path + n, sizeof path - n, "/x");
    if (mknod(at(s, path), S_IFREG | 0600, 0))
        die("cannot make %s", path);
    reg(s, "D:top");
    sweep(s);
    gone(s, "top/f0 top/sub/f top/sub/f0 top/sub/deep top/empty");
    stays(s, path);
    case_end(s);
}

struct crowd {
    const char *path;
    uint64_t n;
};

static void fill(void *arg)
{
    const struct crowd *c = arg;
    int fd = open(c->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char name[32];

    for (uint64_t i = 0; i < c->n; i++) {
        snprintf(name, sizeof name, "%" PRIu64, i);
        if (mknodat(fd, name, S_IFREG | 0644, 0))
            _exit(1);
    }
}

static void crowded(struct scene *s)
{
    struct crowd c = {NULL, number("HOSTILE_FILES", 100000)};
    double begin;

    if (!case_begin(s, "very many files in one folder"))
        return;
    s->timeout_s = 300;
    make(s, "T:top d:top/many");
    c.path = at(s, "top/many");
    if (end_process(spawn_user(fill, &c), false))
        die("cannot make %" PRIu64 " files", c.n);
    reg(s, "D:top");
    begin = now_s();
    sweep(s);
    printf("# %s: %" PRIu64 " files in one folder: %.2f s\n", s->level->name, c.n,
           now_s() - begin);
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
        snprintf(name, sizeof name, "new%" PRIu64, i);
        mknodat(fd, name, S_IFREG | 0644, 0);
        close(fd);
    }
}

/* Always one folder deeper than who comes after. */
static void keep_digging(void *arg)
{
    int fd = open((const char *)arg, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    for (;;) {
        int below = -1;

        if (mkdirat(fd, "d", 0755) == 0)
            below = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (below < 0) {
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

/* Whoever never stops must not keep the walk for ever either. */
static void pressed(struct scene *s, const struct pressing *p)
{
    pid_t pid;

    if (!case_begin(s, p->name))
        return;
    s->timeout_s = 30;
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
    for (int i = 0; i < MAX_LAST && access(at(s, "top"), F_OK) == 0; i++)
        sweep(s);
    gone(s, "top");
    case_end(s);
}

/* ---- against the walker's process ------------------------------------------------------------ */

/* Those of his processes that remove, as long as there are such: he started none of that name. */
static bool each_walker(bool (*fn)(pid_t pid))
{
    DIR *d = opendir("/proc");
    bool hit = false;

    for (struct dirent *e; d && (e = readdir(d));) {
        char path[64], comm[32] = "";
        int fd;

        if (e->d_name[0] < '1' || e->d_name[0] > '9')
            continue;
        snprintf(path, sizeof path, "/proc/%.20s/comm", e->d_name);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (read(fd, comm, sizeof comm - 1) > 0 && strncmp(comm, "tenon-", 6) == 0)
            hit |= fn(atoi(e->d_name));
        close(fd);
    }
    if (d)
        closedir(d);
    return hit;
}

static bool kill_one(pid_t pid)
{
    return kill(pid, SIGKILL) == 0;
}

static bool stop_one(pid_t pid)
{
    return kill(pid, SIGSTOP) == 0;
}

static bool trace_one(pid_t pid)
{
    return ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0;
}

/* How often he has got at one; and, of tracing, tried. */
struct hits {
    unsigned killed, stopped, traced, rounds;
};

static void keep_killing(void *arg)
{
    for (struct hits *hits = arg;; hits->rounds++)
        hits->killed += each_walker(kill_one);
}

static void keep_stopping(void *arg)
{
    for (struct hits *hits = arg;; hits->rounds++)
        hits->stopped += each_walker(stop_one);
}

static void keep_tracing(void *arg)
{
    for (struct hits *hits = arg;; hits->rounds++)
        hits->traced += each_walker(trace_one);
}

static struct hits *begin_hits(struct scene *s, const char *name, bool his_affair)
{
    struct hits *hits;

    if (s->level->powers || (s->level->own && his_affair) || !case_begin(s, name))
        return NULL;
    hits = mmap(NULL, sizeof *hits, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                -1, 0);
    if (hits == MAP_FAILED)
        die("no memory");
    make(s, "T:top B:top/big B:top/bigger T:a T:b");
    reg(s, "D:top D:a D:b");
    return hits;
}

/* Nobody is at it any more: now it goes. */
static void end_hits(struct scene *s, struct hits *hits)
{
    sweep(s);
    gone(s, "top a b");
    munmap(hits, sizeof *hits);
    case_end(s);
}

static void killed(struct scene *s)
{
    struct hits *hits = begin_hits(s, "the attacker kills who removes", true);
    pid_t pid;

    if (!hits)
        return;
    pid = spawn_user(keep_killing, hits);
    for (int i = 0; i < 50 && hits->killed == 0; i++) {
        s->level->remove(s);
        if (hits->killed == 0)
            make(s, "T:new B:new/big"), rename(at(s, "new"), at(s, "top"));
    }
    end_process(pid, true);
    if (hits->killed == 0)
        bad(s, "he has killed nobody in %u rounds", hits->rounds);
    end_hits(s, hits);
}

static void stopped(struct scene *s)
{
    struct hits *hits = begin_hits(s, "the attacker stops who removes", true);
    double begin = now_s();
    pid_t pid;

    if (!hits)
        return;
    s->timeout_s = 3; /* what a walk gets, where we say so */
    pid = spawn_user(keep_stopping, hits);
    s->level->remove(s);
    end_process(pid, true);
    if (now_s() - begin > 30)
        bad(s, "a stopped walk held everything up for %.1f s", now_s() - begin);
    s->timeout_s = 60;
    end_hits(s, hits);
}

static void traced(struct scene *s)
{
    struct hits *hits = begin_hits(s, "the attacker traces who removes", false);
    pid_t pid;

    if (!hits)
        return;
    pid = spawn_user(keep_tracing, hits);
    for (int i = 0; i < 3; i++) {
        s->level->remove(s);
        make(s, "T:new");
        rename(at(s, "new"), at(s, "top"));
    }
    end_process(pid, true);
    if (hits->traced || hits->rounds == 0)
        bad(s, "he got hold of %u processes in %u rounds", hits->traced, hits->rounds);
    end_hits(s, hits);
}

/* A bomb that takes all the processes its limit gives it. */
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

static void end_all_of_his(void *unused)
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
    make(s, "T:top d:d f:d/x o:d>0:0"); /* d/x: root could remove it, he could not */
    reg(s, "D:top F:d/x");
    pid = spawn_user(bomb, NULL);
    s->level->remove(s); /* the kernel may well refuse him another process */
    end_process(spawn_user(end_all_of_his, NULL), false);
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

/* A folder of a control group is removed by rmdir, also by its owner. */
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

static void too_long(struct scene *s)
{
    char path[6000];
    size_t n;

    if (!case_begin(s, "a path that is too long"))
        return;
    make(s, "T:top");
    reg(s, "D:top");
    n = (size_t)snprintf(path, sizeof path, "%s", s->home);
    while (n < 4096) /* one more than the longest */
        n += (size_t)snprintf(path + n, sizeof path - n, n == 4095 ? "x" : "/");
    for (size_t i = strlen(s->home) + 1; i < 4096; i += 2)
        path[i] = 'x';
    path[4095] = 'x';
    reg_path(s, REG_FILE, path);
    sweep_refused(s);
    stays(s, "top/f0");
    case_end(s);
}

/* With slashes it is as long, but what it means is not. */
static void long_with_slashes(struct scene *s)
{
    char path[4096];

    if (!case_begin(s, "a path of 4,095 bytes, mostly slashes"))
        return;
    make(s, "T:top");
    memset(path, '/', sizeof path - 1);
    memcpy(path, s->home, strlen(s->home));
    memcpy(path + sizeof path - 4, "top", 4);
    reg_path(s, REG_DIR, path);
    sweep(s);
    gone(s, "top");
    case_end(s);
}

static void empty_path(struct scene *s)
{
    if (s->level->server || !case_begin(s, "an empty path"))
        return; /* a server takes lists, of which it drops what is empty */
    make(s, "T:top");
    reg(s, "D:top");
    reg_path(s, REG_DIR, "");
    sweep_refused(s);
    stays(s, "top/f0");
    case_end(s);
}

/* Opened, mapped, somebody's folder: all the same. */
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
    deep_with_a_stranger(s);
    if (!s->level->powers)
        crowded(s);
    for (size_t i = 0; i < sizeof pressings / sizeof pressings[0]; i++)
        pressed(s, &pressings[i]);
    killed(s);
    stopped(s);
    traced(s);
    bombed(s);
    shared_memory(s);
    control_group(s);
    too_long(s);
    long_with_slashes(s);
    empty_path(s);
    in_use(s);
}
