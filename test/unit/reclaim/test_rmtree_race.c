/* SPDX-License-Identifier: BSD-3-Clause */
/* Removal while somebody, in a process of his own, swaps parts of the way or of the
 * tree for links to a canary, moves them about, fills them or removes them, too. The
 * canary has the same names, and the same owner, so only not following a link saves it.
 * A decoy that takes care of the last name alone has to lose, else the swapping proves
 * nothing. PX_TEST_BIG=10 swaps ten times as often. */
#include "rm_run.h"
#include "seccomp.h"

#include "core/base/attr.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { USER = 12345, OTHER = 12346, N_SWAPS = 1000, MAX_ROUNDS = 3000, DEPTH = 12 };

#define NEED_ROOT() PX_TEST_NEEDS(geteuid() == 0, "root")

/* What is shared with who disturbs. */
struct shared {
    atomic_bool stop;
    atomic_uint swaps;
};

static struct shared *shared;
static uid_t user; /* whose the tree is; 0: whoever runs this */
static char *canary;

static void begin(void)
{
    px_tree_begin(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    px_test_deny_by_env();
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(shared, MAP_FAILED);
}

static unsigned int swaps_wanted(void)
{
    const char *big = getenv("PX_TEST_BIG");

    return N_SWAPS * (big ? (unsigned int)atoi(big) : 1);
}

/* ---- processes of the user
 * --------------------------------------------------------------------- */

static void become_user(void)
{
    if (user && (setgroups(0, NULL) || setresgid(user, user, user) ||
                 setresuid(user, user, user)))
        _exit(1);
}

static pid_t start(void (*work)(const void *arg), const void *arg)
{
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        become_user();
        work(arg);
        _exit(0);
    }
    return pid;
}

static void finish(pid_t pid)
{
    int status;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

/* d/top with ten folders of files and a deep one, and a file beside it. */
static void build(const void *arg)
{
    const char *prefix = arg;
    char name[PATH_MAX];
    int n;

    for (int i = 0; i < 10; i++)
        for (int k = 0; k < 15; k++) {
            snprintf(name, sizeof(name), "%s/d/top/s%d/f%d", prefix, i, k);
            px_tree_make(name);
        }
    n = snprintf(name, sizeof(name), "%s/d/top/deep", prefix);
    for (int i = 0; i < DEPTH; i++) {
        n += snprintf(name + n, sizeof(name) - (size_t)n, "/%d", i);
        snprintf(name + n, sizeof(name) - (size_t)n, "/f");
        px_tree_make(name);
    }
    snprintf(name, sizeof(name), "%s/d/file", prefix);
    px_tree_make(name);
}

static void build_both(void)
{
    if (user)
        px_tree_chown("", user, user);
    finish(start(build, "canary"));
    canary = px_tree_list("canary");
    ck_assert_uint_gt(strlen(canary), 1000);
}

/* ---- swapping
 * --------------------------------------------------------------------------------- */

/* Names to be exchanged; the second is a link to that in the canary, unless it has no
 * target. */
struct point {
    const char *name, *other, *target;
};

static const struct point points[] = {
    {"a", "l", "canary"},
    {"a/d", "a/l", "canary/d"},
    {"a/d/top", "a/d/l", "canary/d/top"},
    {"a/d/top", "l", "canary/d/top"},
    {"a/d/top/s0", "a/d/top/s1", "canary/d/top/s0"},
    {"a/d/top/s5", "a/l", "canary/d/top/s5"},
    {"a/d/top/deep", "a/d/top/l", "canary/d/top/deep"},
    {"a/d/top/deep/0/1", "a/l", "canary/d/top/deep/0/1"},
    {"a/d/top/deep/0/1/2/3/4/5/6/7/8", "a/l", "canary/d/top/deep/0/1/2/3/4/5/6/7/8"},
    {"a/d/top/s3/f3", "a/d/top/s3/l", "canary/d/top/s3/f3"},
    {"a/d/file", "a/d/l", "canary/d/file"},
};

static void swap(const void *arg)
{
    const struct point *p = arg;
    char name[PATH_MAX], other[PATH_MAX];

    snprintf(name, sizeof(name), "%s", px_tree_path(p->name));
    snprintf(other, sizeof(other), "%s", px_tree_path(p->other));
    while (!atomic_load(&shared->stop))
        if (renameat2(AT_FDCWD, name, AT_FDCWD, other, RENAME_EXCHANGE) == 0)
            atomic_fetch_add(&shared->swaps, 1);
}

static void prepare(const void *arg)
{
    const struct point *p = arg;
    char link[PATH_MAX];

    build("a");
    if (!p->target) {
        px_tree_make(p->other);
        return;
    }
    snprintf(link, sizeof(link), "%s/%s", px_tree_root(), p->target);
    if (!strcmp(p->other, "a/d/top/s1"))
        ck_assert_int_eq(rename(px_tree_path(p->other), px_tree_path("a/s1")), 0);
    ck_assert_int_eq(symlink(link, px_tree_path(p->other)), 0);
}

typedef void (*remove_fn)(void);

static void remove_safely(void)
{
    struct px_rm_item items[] = {
        {px_tree_path("a/d/top"), PX_RM_DIR, PX_RM_RECURSE, 0, 0},
        {px_tree_path("a/d/file"), PX_RM_FILE, 0, 0, 0},
        {px_tree_path("a/d/top/s3/f3"), PX_RM_FILE, 0, 0, 0},
    };

    rm_run_as(user, items, PX_COUNT(items));
}

/* Nobody disturbs any more: all of it can be removed, wherever it is now. */
static void wipe(void)
{
    struct px_rm_item items[] = {
        {px_tree_path("l"), PX_RM_FILE, 0, 0, 0},
        {px_tree_path("l"), PX_RM_DIR, PX_RM_RECURSE, 0, 0},
        {px_tree_path("a"), PX_RM_FILE, 0, 0, 0},
        {px_tree_path("a"), PX_RM_DIR, PX_RM_RECURSE, 0, 0},
    };

    rm_run_as(user, items, PX_COUNT(items));
    ck_assert(!px_tree_has("a") && !px_tree_has("l"));
}

/* Removes again and again while p is swapped; false as soon as the canary is not as it
 * was. */
static bool canary_lives(const struct point *p, remove_fn remove, unsigned int wanted)
{
    unsigned int rounds = 0;

    atomic_store(&shared->swaps, 0);
    while (atomic_load(&shared->swaps) < wanted && rounds++ < MAX_ROUNDS) {
        atomic_store(&shared->stop, false);
        finish(start(prepare, p));
        unsigned int before = atomic_load(&shared->swaps);
        pid_t pid = start(swap, p);
        while (atomic_load(&shared->swaps) == before)
            sched_yield();
        remove();
        atomic_store(&shared->stop, true);
        finish(pid);
        char *now = px_tree_list("canary");
        bool lives = !strcmp(now, canary);
        free(now);
        if (!lives)
            return false;
        wipe();
    }
    ck_assert_uint_ge(atomic_load(&shared->swaps), wanted);
    return true;
}

/* ---- the decoy
 * -------------------------------------------------------------------------------- */

static void remove_naively(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    char name[PATH_MAX];
    struct dirent *e;

    while (dir && (e = readdir(dir))) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        snprintf(name, sizeof(name), "%.3000s/%s", path, e->d_name);
        if (e->d_type == DT_DIR)
            remove_naively(name);
        else
            unlink(name);
    }
    if (dir)
        closedir(dir);
    rmdir(path);
}

static void remove_as_decoy(void)
{
    remove_naively(px_tree_path("a/d/top"));
}

START_TEST(the_decoy_is_beaten_by_swapping_a_middle_name)
{
    build_both();
    ck_assert(!canary_lives(&points[1], remove_as_decoy, 400 * N_SWAPS));
}
END_TEST

/* ---- what is tested
 * --------------------------------------------------------------------------- */

static void run_points(void)
{
    build_both();
    for (size_t i = 0; i < PX_COUNT(points); i++) {
        ck_assert_msg(canary_lives(&points[i], remove_safely, swaps_wanted()),
                      "the canary was reached by swapping %s", points[i].name);
        printf("%s: %u swaps\n", points[i].name, atomic_load(&shared->swaps));
    }
    free(canary);
}

START_TEST(no_swap_of_a_name_for_a_link_leads_out_of_the_tree)
{
    run_points();
}
END_TEST

START_TEST(nor_does_one_if_root_removes_for_a_user)
{
    NEED_ROOT();
    user = USER;
    run_points();
}
END_TEST

START_TEST(nor_does_one_reach_what_is_roots)
{
    NEED_ROOT();
    build("canary");
    canary = px_tree_list("canary");
    user = USER;
    px_tree_chown("", user, user);
    for (size_t i = 0; i < 3; i++)
        ck_assert(canary_lives(&points[i], remove_safely, swaps_wanted()));
    user = 0;
    free(canary);
}
END_TEST

START_TEST(folders_moved_about_are_removed_where_they_are_met_or_left)
{
    static const struct point moves[] = {
        {"a/d/top/deep/0/1", "a/spare/", NULL},
        {"a/d/top/deep/0/1/2/3/4/5", "a/d/top/s0/spare/", NULL},
        {"a/d/top/s0", "a/d/top/deep/0/1/", NULL},
    };

    build_both();
    for (size_t i = 0; i < PX_COUNT(moves); i++)
        ck_assert(canary_lives(&moves[i], remove_safely, swaps_wanted()));
    free(canary);
}
END_TEST

/* ---- moved away
 * ------------------------------------------------------------------------------- */

/* What stays is told in the middle of the walk: a good time to disturb it. */
static void move_when_told(void *arg, const char *path, enum px_rm_why why, int errnum)
{
    rm_told(arg, path, why, errnum);
    if (rm_n_said == 1)
        ck_assert_int_eq(rename(px_tree_path("d/1/2"), px_tree_path("away/2")), 0);
}

START_TEST(when_the_way_back_has_gone_the_tree_is_left)
{
    struct px_rm_item item = {px_tree_path("d"), PX_RM_DIR, PX_RM_RECURSE, 0, 0};
    struct px_pcleanup_totals totals = {0};

    NEED_ROOT();
    px_tree_make("canary/f away/f d/1/2/3/4/5/6/7/8/9/10/11/12/f d/1/2/f d/f");
    px_tree_chown("d/1/2/3/4/5/6/7/8/9/10/11/12/f", OTHER, OTHER);
    ck_assert_int_eq(px_rm_run(&item, 1, 0, 0, move_when_told, rm_said, &totals), 0);
    rm_assert_said("FOREIGN d/1/2/3/4/5/6/7/8/9/10/11/12/f, MOVED d/1/2");
    ck_assert_uint_eq(totals.foreign, 1);
    ck_assert_uint_eq(totals.failed, 1);
    px_assert_tree("canary", "f");
    px_assert_tree("d", "1/");
    ck_assert(px_tree_has("away/2/3/4/5/6/7/8/9/10/11/12/f"));
    ck_assert(px_tree_has("away/f"));
}
END_TEST

/* ---- filled and emptied meanwhile
 * -------------------------------------------------------------- */

static void fill(const void *arg)
{
    const char *names[] = {"d", "d/s", "d/s/t"};
    char path[PATH_MAX];

    (void)arg;
    for (unsigned int i = 0; !atomic_load(&shared->stop); i++) {
        const char *folder = px_tree_path(names[i % 3]);

        mkdir(folder, 0700);
        snprintf(path, sizeof(path), "%.3000s/f%u", folder, i);
        int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        if (fd >= 0) {
            atomic_fetch_add(&shared->swaps, 1);
            close(fd);
        }
    }
}

START_TEST(who_fills_a_folder_for_ever_is_not_followed_for_ever)
{
    struct px_rm_item item = {px_tree_path("d"), PX_RM_DIR,
                              PX_RM_RECURSE | PX_RM_LEAVE_TOP, 0, 0};
    uint64_t files = 0;

    px_tree_make("d/s/t/");
    pid_t pids[] = {start(fill, NULL), start(fill, NULL)};
    while (files < 2000) {
        rm_run_as(0, &item, 1);
        files += rm_totals.files;
    }
    atomic_store(&shared->stop, true);
    finish(pids[0]);
    finish(pids[1]);
    printf("%u made, %llu removed meanwhile\n", atomic_load(&shared->swaps),
           (unsigned long long)files);
    ck_assert_uint_gt(files, 0);
    rm_run_as(0, &item, 1);
    rm_assert_said("");
    px_assert_tree("", "d/");
}
END_TEST

static void remove_too(const void *arg)
{
    while (!atomic_load(&shared->stop))
        sched_yield();
    remove_safely();
    (void)arg;
    if (rm_n_said)
        fprintf(stderr, "%s\n", rm_said);
    if (rm_n_said)
        _exit(1);
}

START_TEST(two_at_once_do_not_complain_of_each_other)
{
    for (int i = 0; i < 50; i++) {
        build("a");
        atomic_store(&shared->stop, false);
        pid_t pids[] = {start(remove_too, NULL), start(remove_too, NULL)};
        atomic_store(&shared->stop, true);
        finish(pids[0]);
        finish(pids[1]);
        px_assert_tree("a", "d/");
    }
}
END_TEST

PX_TEST_MAIN_WITH("reclaim/rmtree_race", begin, px_tree_end,
                  the_decoy_is_beaten_by_swapping_a_middle_name,
                  no_swap_of_a_name_for_a_link_leads_out_of_the_tree,
                  nor_does_one_if_root_removes_for_a_user,
                  nor_does_one_reach_what_is_roots,
                  folders_moved_about_are_removed_where_they_are_met_or_left,
                  when_the_way_back_has_gone_the_tree_is_left,
                  who_fills_a_folder_for_ever_is_not_followed_for_ever,
                  two_at_once_do_not_complain_of_each_other)
