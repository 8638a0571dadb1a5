/* SPDX-License-Identifier: BSD-3-Clause */
/* Races: the attacker exchanges names as fast as possible while removal runs, at each point of a path, and
 * of a tree below it. The attacker also replaces removed files, so that the race goes on. */
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHAIN    20
#define SIBLINGS 8
#define POINT_S  60 /* a longer time is a failure: a process hangs */
#define REBUILT  3  /* least number of removals amid swaps */

enum evil { A_LINK, A_FILE, A_FIFO, A_TREE };

/* A point of attack. The attacker exchanges the names good and other. The files to remove are at good.
 * other is a link into the canary, or a file of kind evil. */
struct point {
    const char *name;
    const char *good, *other;
    const char *
        below; /* registered path below good, which is checked afterwards; "": good itself */
    enum evil evil;
    const char *target;
    const char *reg;
    unsigned how;
};

enum {
    LEAF = 1,  /* good is a file */
    DECOY = 2, /* a naive remover loses here */
    CROWD = 4, /* more files beside good: more time between seeing and entering good */
    DEEP = 8,  /* too deep to keep all parent folders open */
};

static const struct point points[] = {
    {"a file and a link", "top/x", "evil", "", A_LINK, "C/bait/f0", "D:top", LEAF},
    {"a registered file and a link", "x", "evil", "", A_LINK, "C/bait/f0", "F:x", LEAF},
    {"a folder inside and a link", "top/x", "evil", "", A_LINK, "C/bait", "D:top",
     DECOY | CROWD},
    {"a folder deep inside and a link", "top/a/b/c/x", "evil", "", A_LINK, "C/bait",
     "D:top", DECOY | CROWD},
    {"the top and a link", "top", "evil", "", A_LINK, "C/bait/top", "D:top", DECOY},
    {"the folder of the top and a link", "way", "evil", "/top", A_LINK, "C/locked",
     "D:way/top", DECOY},
    {"the folder above that and a link", "way", "evil", "/way2/top", A_LINK, "C/locked",
     "D:way/way2/top", DECOY},
    {"the folder of a file and a link", "way", "evil", "/f0", A_LINK, "C/locked",
     "F:way/f0", DECOY},
    {"a folder and a link within the tree", "top/x", "top/y", "", A_LINK, "C/bait",
     "D:top", DECOY | CROWD},
    {"a folder and a link to a folder of root", "top/x", "evil", "", A_LINK,
     "C/mine/top", "D:top", CROWD},
    {"the top and a link to a bystander's", "top", "evil", "", A_LINK, "O/top", "D:top",
     0},
    {"a folder and a file", "top/x", "evil", "", A_FILE, "", "D:top", CROWD},
    {"a folder and a FIFO", "top/x", "evil", "", A_FIFO, "", "D:top", CROWD},
    {"the top and a FIFO", "top", "evil", "", A_FIFO, "", "D:top", 0},
    {"a folder that moves elsewhere", "top/x", "side/x", "", A_TREE, "", "D:top", 0},
    {"a folder that moves elsewhere, deep", "top/x", "side/a/b/x", "", A_TREE, "",
     "D:top", 0},
    {"a folder that moves elsewhere while its bottom is worked on", "top/a/b/x",
     "side/b/x", "", A_TREE, "", "D:top", DEEP},
};

#define N_POINTS (sizeof(points) / sizeof(points[0]))

/* State shared with the attacker. */
struct race {
    uint64_t swaps, rebuilt;
    const struct scene *s;
    const struct point *p;
};

static void make_parents(const char *path)
{
    char part[8192];

    for (const char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
        mkdir(part, 0755);
    }
}

/* Makes a chain of folders below path, with more beside them. */
static void deepen(const char *path)
{
    char part[4096];
    size_t n = (size_t)snprintf(part, sizeof(part), "%s", path);

    for (int i = 0; i < CHAIN; i++) {
        n += (size_t)snprintf(part + n, sizeof(part) - n, "/d");
        mkdir(part, 0755);
        snprintf(part + n, sizeof(part) - n, "/e");
        mkdir(part, 0755);
        part[n] = '\0';
    }
}

/* Makes folders of the same names beside the moving folder, at both places. A walk that lost its way up
 * would confuse them. */
static void make_siblings(const char *path)
{
    char sibling[600];

    for (int i = 0; i < SIBLINGS; i++) {
        snprintf(sibling, sizeof(sibling), "%.*s/s%d", (int)(strrchr(path, '/') - path),
                 path, i);
        grow(sibling, USER, USER);
    }
}

/* Makes the files aside, then moves them to path: the present path may lead into the canary. */
static void put_good(const struct scene *s, const struct point *p, const char *path)
{
    char stage[300], inner[600];
    int fd;

    snprintf(stage, sizeof(stage), "%s/stage", s->home);
    if (p->how & LEAF) {
        fd = open(stage, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (fd >= 0)
            close(fd);
    } else {
        snprintf(inner, sizeof(inner), "%s%s", stage, p->below);
        if (strrchr(p->below, '/') != p->below && p->below[0])
            make_parents(inner);
        if (p->below[0] && strcmp(p->below, "/f0") != 0)
            mkdir(stage, 0755);
        grow(strcmp(p->below, "/f0") ? inner : stage, USER, USER);
        if (p->how & DEEP)
            deepen(stage);
    }
    rename(stage, path);
}

static void put_evil(const struct scene *s, const struct point *p, const char *path)
{
    /* The naive remover cannot enter folders that the attacker may not enter. */
    bool is_locked = strcmp(p->target, "C/locked") == 0;
    const char *target = s->level->naive && is_locked ? "C/bait" : p->target;
    int fd;

    switch (p->evil) {
    case A_LINK:
        if (symlink(at(s, target), path))
            return;
        break;
    case A_FILE:
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd >= 0)
            close(fd);
        break;
    case A_FIFO:
        mkfifo(path, 0644);
        break;
    case A_TREE:
        put_good(s, p, path);
        break;
    }
}

/* Returns -1 if the path does not exist, 1 for the files to remove, 0 for other files. */
static int what_is(const struct point *p, const char *path)
{
    struct stat st;

    if (lstat(path, &st))
        return -1;
    return p->how & LEAF ? S_ISREG(st.st_mode) : S_ISDIR(st.st_mode);
}

/* Makes missing names again. */
static void repair(const struct scene *s, const struct point *p)
{
    const char *a = at(s, p->good), *b = at(s, p->other);
    int is_a, is_b;

    make_parents(a);
    make_parents(b);
    if (p->how & (DEEP | CROWD))
        make_siblings(a);
    if (p->how & DEEP)
        make_siblings(b);
    is_a = what_is(p, a);
    is_b = what_is(p, b);
    if (is_a < 0 && is_b < 0) {
        put_good(s, p, a);
        put_evil(s, p, b);
    } else if (is_a < 0) {
        (is_b == 1 && p->evil != A_TREE ? put_evil : put_good)(s, p, a);
    } else if (is_b < 0) {
        (is_a == 1 ? put_evil : put_good)(s, p, b);
    }
}

/* Makes the registered files in a folder anew. */
static void refill(struct race *race, const char *a, const char *b)
{
    char path[600];
    struct stat st;

    snprintf(path, sizeof(path), "%s%s", what_is(race->p, a) == 1 ? a : b,
             race->p->below);
    if (lstat(path, &st) == 0)
        return;
    make_parents(path);
    if (strcmp(race->p->below, "/f0") == 0)
        mknod(path, S_IFREG | 0644, 0);
    else
        grow(path, USER, USER);
    __atomic_add_fetch(&race->rebuilt, 1, __ATOMIC_RELAXED);
}

/* Exchanges two names. Without support of the file system, a name is missing for a moment. */
static bool swap_names(const char *a, const char *b, const char *aside)
{
    static bool by_hand;

    if (!by_hand && renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == 0)
        return true;
    by_hand = by_hand || errno == EINVAL || errno == ENOSYS;
    if (!by_hand || rename(a, aside))
        return false;
    if (rename(b, a) == 0)
        return rename(aside, b) == 0;
    rename(aside, a);
    return false;
}

static void attack(void *arg)
{
    struct race *race = arg;
    const char *a = strdup(at(race->s, race->p->good));
    const char *b = strdup(at(race->s, race->p->other));
    const char *aside = strdup(at(race->s, "aside"));

    for (unsigned n = 0;; n++) {
        if (n % 32 == 0 && race->p->below[0])
            refill(race, a, b);
        if (swap_names(a, b, aside)) {
            __atomic_add_fetch(&race->swaps, 1, __ATOMIC_RELAXED);
            continue;
        }
        repair(race->s, race->p);
        __atomic_add_fetch(&race->rebuilt, 1, __ATOMIC_RELAXED);
    }
}

/* Restores the scene after the attacker: the tree at good, nothing at other. */
static void settle(void *arg)
{
    struct race *race = arg;
    const char *a = at(race->s, race->p->good), *b = at(race->s, race->p->other);

    repair(race->s, race->p);
    if (what_is(race->p, a) != 1)
        swap_names(a, b, at(race->s, "aside2"));
    if (what_is(race->p, a) != 1)
        _exit(1);
    if (race->p->below[0])
        refill(race, a, b);
}

static struct race *begin(struct scene *s, const struct point *p)
{
    struct race *race = mmap(NULL, sizeof(*race), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (race == MAP_FAILED)
        die("no memory");
    *race = (struct race){.s = s, .p = p};
    /* A target of moves, which belongs to the attacker and is not registered. */
    make(s, "T:side");
    reg(s, p->reg);
    return race;
}

static uint64_t count_of(const uint64_t *n)
{
    return __atomic_load_n(n, __ATOMIC_RELAXED);
}

/* Returns the least number of removals at each point. */
static unsigned sweeps_wanted(const struct scene *s)
{
    const char *text = getenv("HOSTILE_SWEEPS");
    unsigned most = text ? (unsigned)strtoul(text, NULL, 10) : UINT_MAX,
             n = s->level->own       ? 3
                 : s->level->no_wait ? 10
                 : s->level->powers  ? 150
                                     : 30;

    return n < most ? n : most;
}

static void one(struct scene *s, const struct point *p, uint64_t wanted)
{
    unsigned least = sweeps_wanted(s), n = 0;
    struct race *race;
    double end;
    pid_t pid;

    if (!case_begin(s, p->name))
        return;
    race = begin(s, p);
    pid = spawn_user(attack, race);
    end = now_s() + POINT_S;
    for (; n < least || count_of(&race->swaps) < wanted ||
           count_of(&race->rebuilt) < REBUILT;
         n++) {
        if (now_s() > end) {
            bad(s, "%u sweeps, %" PRIu64 " swaps, %" PRIu64 " times made anew in %d s",
                n, race->swaps, race->rebuilt, POINT_S);
            break;
        }
        sweep(s);
    }
    end_process(pid, true);
    stays(s, "side/f0 side/sub/f0 side/sub/deep/f0 side/empty");
    if (p->how & DEEP)
        stays(s, "side/b/s0/f0 side/b/s1/sub/f0 side/b/s2/f0 side/b/s3/f0 side/b/s4/f0 "
                 "side/b/s5/f0 side/b/s6/f0 side/b/s7/f0");
    /* Removal works after the attacker has ended. */
    if (end_process(spawn_user(settle, race), false))
        bad(s, "the scene cannot be brought in order");
    sweep(s);
    gone(s, p->how & LEAF ? p->good : strchr(p->reg, ':') + 1);
    stays(s, "side/f0 side/sub/f0 side/sub/deep/f0");
    s->n_swaps += race->swaps;
    if (getenv("HOSTILE_VERBOSE"))
        printf("# %s: %" PRIu64 " swaps, %" PRIu64 " times made anew, %u sweeps\n",
               p->name, race->swaps, race->rebuilt, n);
    munmap(race, sizeof(*race));
    case_end(s);
}

struct pair {
    const char *a, *b, *aside;
};

static void exchange(void *arg)
{
    const struct pair *names = arg;

    for (;;)
        swap_names(names->a, names->b, names->aside);
}

pid_t spawn_swapper(struct scene *s, const char *a, const char *b)
{
    struct pair names = {at(s, a), at(s, b), at(s, "aside")};

    return spawn_user(exchange, &names);
}

void cases_swaps(struct scene *s, uint64_t total)
{
    for (size_t i = 0; i < N_POINTS; i += each())
        one(s, &points[i], (total + N_POINTS - 1) / N_POINTS);
}

/* True if the canary was changed within the time. */
static bool is_beaten(struct scene *s, const struct point *p, double seconds)
{
    struct race *race;
    bool hurt = false;
    double end;
    pid_t pid;
    unsigned n = 0;

    case_begin(s, p->name);
    race = begin(s, p);
    pid = spawn_user(attack, race);
    for (end = now_s() + seconds; !hurt && now_s() < end; n++) {
        s->level->remove(s);
        hurt = canary_differs(s) != NULL;
    }
    end_process(pid, true);
    printf("# the decoy, %s: %s after %u sweeps\n", p->name, hurt ? "beaten" : "unhurt",
           n);
    munmap(race, sizeof(*race));
    forget_regs(s);
    if (hurt)
        canary_make(s);
    return hurt;
}

void case_decoy(struct scene *s)
{
    unsigned tried = 0, beaten = 0;

    for (size_t i = 0; i < N_POINTS; i++) {
        if (!(points[i].how & DECOY))
            continue;
        tried++;
        beaten += is_beaten(s, &points[i], 60);
    }
    case_begin(s, "a naive remover is beaten");
    if (beaten != tried)
        bad(s, "only at %u of %u points: these attacks prove nothing", beaten, tried);
    case_end(s);
}
