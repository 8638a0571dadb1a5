/* SPDX-License-Identifier: BSD-3-Clause */
#include "px_test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Check gives 4 seconds, too few on a busy machine; meson gives all tests of a file 90,
 * and four times as long with the sanitizers. */
#ifdef __SANITIZE_ADDRESS__
enum { TEST_TIMEOUT_S = 120 };
#else
enum { TEST_TIMEOUT_S = 30 };
#endif

enum {
    SETTLED_MS = 2000, /* time for processes and threads that end in the background */
    STEP_MS = 10,
    MAX_FDS = 16, /* for walking a tree */
    MAX_FD = 1 << 16,
    MAX_EXCUSED = 128,
    SKIPPED = 77, /* exit status of a skipped test for meson */
};

static char suite_dir[PATH_MAX]; /* TMPDIR of the executable */
static char own_dir[PATH_MAX];   /* of this test */

/* ---- skipping -------------------------------------------------------------------- */

__attribute__((weak)) const char *px_test_missing(void)
{
    return NULL;
}

void px_test_skip(const char *why)
{
    printf("SKIP %s: %s\n", tcase_name(), why);
}

const char *px_test_excuse(const char *program, const char *name)
{
    static char reason[128];
    const char *path = getenv("PX_TEST_SKIPS");
    char test[64], pattern[128];
    bool is_found = false;
    FILE *f = path && *path ? fopen(path, "re") : NULL;

    if (path && *path && !f) {
        perror("cannot read PX_TEST_SKIPS");
        exit(EXIT_FAILURE);
    }
    while (f && !is_found &&
           fscanf(f, "%63s %127s %127[^\n]", test, pattern, reason) == 3)
        is_found = strcmp(test, program) == 0 && fnmatch(pattern, name, 0) == 0;
    if (f)
        fclose(f);
    return is_found ? reason : NULL;
}

static void skip_excused(int i)
{
    (void)i;
    px_test_skip(px_test_excuse(program_invocation_short_name, tcase_name()));
}

bool px_test_is_root(void)
{
    return geteuid() == 0;
}

bool px_test_may(int capability)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

    return syscall(SYS_capget, &head, data) == 0 &&
           (data[capability / 32].effective >> capability % 32 & 1);
}

bool px_test_has_proc(void)
{
    return access("/proc/self/stat", R_OK) == 0;
}

bool px_test_has_terminals(void)
{
    int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    int other = fd >= 0 && unlockpt(fd) == 0 ? ioctl(fd, TIOCGPTPEER, O_RDWR | O_NOCTTY)
                                             : -1;

    close(fd);
    return other >= 0 && close(other) == 0;
}

size_t px_test_count_names(const char *path)
{
    DIR *d = opendir(path);
    size_t n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

bool px_test_kernel_keeps_status(void)
{
    struct utsname name;
    int major = 0, minor = 0;

    ck_assert_int_eq(uname(&name), 0);
    ck_assert_int_eq(sscanf(name.release, "%d.%d", &major, &minor), 2);
    return major > 6 || (major == 6 && minor >= 15);
}

size_t px_test_count_fds(void)
{
    size_t n = px_test_count_names("/proc/self/fd");

    if (n)
        return n - 3; /* ".", "..", and that for counting */
    for (int fd = 0; fd < MAX_FD; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* ---- folders --------------------------------------------------------------------- */

static int open_up(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)at;
    if (type == FTW_D)
        chmod(path, 0700);
    else if (type == FTW_DNR && chmod(path, 0700) == 0)
        nftw(path, open_up, MAX_FDS, FTW_PHYS | FTW_MOUNT);
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    remove(path);
    return 0;
}

static void remove_tree(const char *dir)
{
    if (geteuid() != 0)
        nftw(dir, open_up, MAX_FDS, FTW_PHYS | FTW_MOUNT);
    nftw(dir, remove_one, MAX_FDS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static void make_dir(char *dir, const char *name, mode_t mode)
{
    const char *tmp = getenv("TMPDIR");
    char real[PATH_MAX];

    if (!realpath(tmp && *tmp ? tmp : "/tmp", real) ||
        snprintf(dir, PATH_MAX, "%s/%s.XXXXXX", real, name) >= PATH_MAX ||
        !mkdtemp(dir) || chmod(dir, mode)) {
        perror("cannot make a folder for tests");
        exit(EXIT_FAILURE);
    }
}

const char *px_test_dir(void)
{
    if (!own_dir[0])
        make_dir(own_dir, "own", 0755);
    return own_dir;
}

const char *px_test_path(const char *name)
{
    static char paths[16][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 16];

    ck_assert_int_lt(snprintf(path, PATH_MAX, "%s/%s", px_test_dir(), name), PATH_MAX);
    return path;
}

static void end_own_dir(void)
{
    if (own_dir[0])
        remove_tree(own_dir);
    own_dir[0] = '\0';
}

/* Makes the TMPDIR of the executable. All users may write to it, as to /tmp, because tests become other
 * users. */
static void begin_suite_dir(void)
{
    make_dir(suite_dir, "px", 01777);
    setenv("TMPDIR", suite_dir, 1);
}

/* Returns the first entry of the folder, or NULL. */
static const char *first_left(void)
{
    static char name[NAME_MAX + 1];
    DIR *d = opendir(suite_dir);
    struct dirent *e;

    name[0] = '\0';
    while (d && (e = readdir(d)) && !name[0])
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            snprintf(name, sizeof(name), "%s", e->d_name);
    if (d)
        closedir(d);
    return name[0] ? name : NULL;
}

/* Removes the folder; false, with a line, if the tests left files. Waits up to limit_ms for janitors. */
static bool end_suite_dir(int limit_ms)
{
    const struct timespec step = {0, STEP_MS * 1000000L};
    const char *left = first_left();

    for (int ms = 0; left && ms < limit_ms; ms += STEP_MS) {
        nanosleep(&step, NULL);
        left = first_left();
    }
    if (left)
        printf("LEFT in the temporary folder: %s\n", left);
    remove_tree(suite_dir);
    return !left;
}

/* ---- running --------------------------------------------------------------------- */

static const char *what_is_missing(void)
{
    const char *needs = getenv("PX_TEST_NEEDS");

    if (needs && strcmp(needs, "proc") == 0 && !px_test_has_proc())
        return "needs /proc";
    return px_test_missing();
}

bool px_test_begin(void)
{
    const char *missing = what_is_missing();

    if (missing)
        printf("SKIP all: %s\n", missing);
    else
        begin_suite_dir();
    return !missing;
}

int px_test_end(unsigned n_failed)
{
    /* After a failure the folder does not decide. */
    bool is_clean = end_suite_dir(n_failed ? 0 : SETTLED_MS);

    return n_failed || !is_clean ? EXIT_FAILURE : EXIT_SUCCESS;
}

void px_test_add(Suite *suite, const TTest *test, int n, SFun setup, SFun teardown)
{
    static TTest excused[MAX_EXCUSED];
    static size_t n_excused;
    TCase *tcase = tcase_create(test->name);

    suite_add_tcase(suite, tcase);
    if (px_test_excuse(program_invocation_short_name, test->name)) {
        if (n_excused == MAX_EXCUSED)
            abort(); /* a test must not be dropped silently */
        excused[n_excused] = (TTest){test->name, skip_excused, test->file, test->line};
        tcase_add_loop_test(tcase, &excused[n_excused++], 0, n > 0 ? n : 1);
        return;
    }
    if (!getenv("CK_DEFAULT_TIMEOUT"))
        tcase_set_timeout(tcase, TEST_TIMEOUT_S);
    tcase_add_checked_fixture(tcase, NULL, end_own_dir); /* after the teardown */
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, test, 0, n > 0 ? n : 1);
}

int px_test_run_suite(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    int status = SKIPPED;

    if (px_test_begin()) {
        srunner_run_all(runner, CK_ENV);
        status = px_test_end((unsigned)srunner_ntests_failed(runner));
    }
    srunner_free(runner);
    return status;
}

static struct px_test *first, **last = &first;

void px_test_list(struct px_test *test)
{
    *last = test;
    last = &test->next;
}

const struct px_test *px_test_first(void)
{
    return first;
}

int px_test_run(const char *suite_name, SFun setup, SFun teardown)
{
    Suite *suite = suite_create(suite_name);

    for (struct px_test *t = first; t; t = t->next)
        px_test_add(suite, &t->test, t->n, setup, teardown);
    return px_test_run_suite(suite);
}
