/* SPDX-License-Identifier: BSD-3-Clause */
/* hostile_walker user|powers|decoy [SYSTEM_CALL=ERRNO...]: the cases against the walker alone.
 * user: as a server does it, in a process that becomes the user. powers: the walker with all that
 * root may do, so that nothing but itself protects what it should not touch. The system calls named
 * are denied to it, for its fallbacks. Variables: HOSTILE_SWAPS, how many in all; HOSTILE_FILES
 * and HOSTILE_DEPTH of the largest trees; HOSTILE_SWEEPS, how often at each point is enough;
 * HOSTILE_ONLY, cases with this in their names;
 * HOSTILE_VERBOSE. */
#include "decoy.h"
#include "hostile.h"

#include "core/reclaim/journal.h"
#include "core/reclaim/reclaim.h"
#include "seccomp.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SCOPE      7
#define SWAPS      100000
#define LOW_NOFILE 16

static const uint8_t kinds[] = {
    [REG_FILE] = PX_RM_FILE, [REG_DIR] = PX_RM_DIR, [REG_KEEP] = PX_RM_KEEP};

static uint8_t flags_of(const struct scene *s, const struct reg *r)
{
    if (r->kind != REG_DIR)
        return 0;
    return (uint8_t)((s->recurse ? PX_RM_RECURSE : 0) |
                     (s->leave_top ? PX_RM_LEAVE_TOP : 0));
}

/* As registration does: all or nothing. False: one is not good. */
static bool normal_forms(const struct scene *s, char (*out)[PX_RM_MAX_PATH + 1])
{
    for (size_t i = 0; i < s->n_regs; i++)
        if (px_rm_path_check(s->regs[i].path, out[i]) &&
            (!s->level->resolves ||
             px_rm_path_resolve(s->regs[i].path, USER, USER, out[i])))
            return false;
    return true;
}

static int journal_of(const struct scene *s, char (*paths)[PX_RM_MAX_PATH + 1])
{
    int fd = memfd_create("journal", MFD_CLOEXEC);
    uint8_t out[PX_JOURNAL_RECORD_B];
    char where[320];

    px_journal_whereabouts("here", where);
    for (size_t i = 0; i <= s->n_regs; i++) {
        struct px_journal_record r = {.type = PX_JOURNAL_HEAD,
                                      .x = (uint64_t)getpid(),
                                      .y = px_journal_start_time(getpid()),
                                      .path = where};
        size_t n;

        if (i > 0)
            r = (struct px_journal_record){.type = PX_JOURNAL_ITEM,
                                           .kind = kinds[s->regs[i - 1].kind],
                                           .flags = flags_of(s, &s->regs[i - 1]),
                                           .slot = (uint32_t)i,
                                           .scope = SCOPE,
                                           .uid = USER,
                                           .gid = USER,
                                           .path = paths[i - 1]};
        n = px_journal_encode(&r, out);
        if (n == 0 || write(fd, out, n) != (ssize_t)n)
            die("cannot write a journal");
    }
    return fd;
}

static bool remove_as_user(struct scene *s)
{
    char(*paths)[PX_RM_MAX_PATH + 1] = calloc(s->n_regs, sizeof *paths);
    struct px_pcleanup_totals totals = {0};
    struct px_reclaim sweep = {.node = "here", .timeout_ms = s->timeout_s * 1000};
    bool good;

    if (!paths)
        die("no memory");
    good = normal_forms(s, paths);
    if (good) {
        sweep.journal = journal_of(s, paths);
        px_reclaim_scope(&sweep, SCOPE, &totals);
        close(sweep.journal);
        s->n_removed += totals.files + totals.dirs;
    }
    free(paths);
    return good;
}

static void run_with_powers(const struct scene *s, char (*paths)[PX_RM_MAX_PATH + 1])
{
    struct px_rm_item *items = calloc(s->n_regs, sizeof *items);
    struct px_pcleanup_totals totals = {0};

    if (!items)
        _exit(94);
    for (size_t i = 0; i < s->n_regs; i++)
        items[i] = (struct px_rm_item){.path = paths[i],
                                       .kind = kinds[s->regs[i].kind],
                                       .flags = flags_of(s, &s->regs[i])};
    alarm(s->timeout_s);
    /* Not _exit: what was covered is written at the end. */
    exit(px_rm_run(items, s->n_regs, USER, USER, NULL, NULL, &totals) ? 93 : 0);
}

static bool remove_with_powers(struct scene *s)
{
    char(*paths)[PX_RM_MAX_PATH + 1] = calloc(s->n_regs, sizeof *paths);
    bool good;
    pid_t pid;
    int how;

    if (!paths)
        die("no memory");
    good = normal_forms(s, paths);
    if (good) {
        fflush(NULL);
        pid = fork();
        if (pid == 0)
            run_with_powers(s, paths);
        how = end_process(pid, false);
        if (how)
            bad(s, "the walker ended with %d", how);
    }
    free(paths);
    return good;
}

/* ---- cases of this level only ---------------------------------------------------------------- */

/* With the walk in a process of which fn has changed something first. */
static void sweep_after(struct scene *s, void (*fn)(void *arg), void *arg)
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        fn(arg);
        s->level->remove(s);
        _exit(s->failed);
    }
    if (end_process(pid, false))
        s->failed = true;
}

static void few_descriptors(void *arg)
{
    struct rlimit few = {LOW_NOFILE, LOW_NOFILE};

    (void)arg;
    if (setrlimit(RLIMIT_NOFILE, &few))
        _exit(92);
}

/* So many are free. */
static void hardly_a_descriptor(void *arg)
{
    int n_free = *(int *)arg, last = -1;

    few_descriptors(NULL);
    for (int fd; (fd = dup(0)) >= 0;)
        last = fd;
    while (n_free-- > 0)
        close(last--);
}

static void case_descriptors(struct scene *s)
{
    if (case_begin(s, "16 descriptors, a deep tree")) {
        make(s, "T:top T:top/sub/deep/x T:top/sub/deep/x/sub/deep/y");
        make(s, "T:top/sub/deep/x/sub/deep/y/sub/deep/z "
                "T:top/sub/deep/x/sub/deep/y/sub/deep/z/sub/deep/z");
        reg(s, "D:top");
        sweep_after(s, few_descriptors, NULL);
        gone(s, "top");
        case_end(s);
    }
    if (case_begin(s, "hardly a descriptor left")) {
        make(s, "T:top");
        reg(s, "D:top");
        for (int n_free = 1; n_free < 9; n_free++) /* does it, or a part, or nothing */
            sweep_after(s, hardly_a_descriptor, &n_free);
        sweep(s);
        gone(s, "top");
        case_end(s);
    }
}

static void no_process(void *arg)
{
    struct rlimit none = {0, 0};

    (void)arg;
    if (setrlimit(RLIMIT_NPROC, &none))
        _exit(92);
}

static void case_processes(struct scene *s)
{
    if (case_begin(s, "the user has no process left")) {
        make(s, "T:top d:d f:d/x o:d>0:0"); /* d/x: root could, he could not */
        reg(s, "D:top F:d/x");
        sweep_after(s, no_process, NULL);
        stays(s, "d/x");
        sweep(s);
        gone(s, "top");
        stays(s, "d/x");
        case_end(s);
    }
}

struct denial {
    const char *name;
    int call, errnum;
};

static void deny(void *arg)
{
    const struct denial *d = arg;

    if (!px_test_deny(d->call, d->errnum))
        _exit(92);
}

/* Who could not become the user removes nothing at all: not even what the user could. */
static void case_drop(struct scene *s)
{
    static const struct denial denials[] = {
        {"setgroups fails", SYS_setgroups, EPERM},
        {"setresgid fails", SYS_setresgid, EPERM},
        {"setresuid says that there are too many processes", SYS_setresuid, EAGAIN},
        {"setgroups claims to have worked", SYS_setgroups, 0},
        {"setresgid claims to have worked", SYS_setresgid, 0},
        {"setresuid claims to have worked", SYS_setresuid, 0},
        {"capset fails", SYS_capset, EPERM},
        {"prctl fails", SYS_prctl, EINVAL},
    };

    for (size_t i = 0; i < sizeof denials / sizeof denials[0]; i++) {
        if (!case_begin(s, denials[i].name))
            continue;
        make(s, "T:top d:d f:d/x o:d>0:0");
        reg(s, "D:top F:d/x F:C/mine/top/f0");
        sweep_after(s, deny, (void *)&denials[i]);
        stays(s, "top/f0 top/sub/deep/f0 d/x");
        case_end(s);
    }
}

/* The real names, in a mount namespace where nothing else is there. */
static void in_a_tmp(void *arg)
{
    struct scene *s = arg;

    if (unshare(CLONE_NEWNS) || mount("hostile", "/tmp", "tmpfs", 0, "mode=1777"))
        _exit(92);
    make(s, "T:=/tmp/mine f:=/tmp/x f:=/tmp/theirs o:=/tmp/theirs>12346:12346");
    reg(s, "D:=/tmp D:=/tmp/ F:=/tmp/x F:=/tmp");
    sweep(s);
    gone(s, "=/tmp/x");
    stays(s, "=/tmp/mine/f0 =/tmp/theirs =/tmp/mine/sub/deep/f0");
    _exit(s->failed);
}

static void case_tmp(struct scene *s)
{
    pid_t pid;

    if (!case_begin(s, "/tmp itself"))
        return;
    fflush(NULL);
    pid = fork();
    if (pid == 0)
        in_a_tmp(s);
    if (end_process(pid, false))
        s->failed = true;
    case_end(s);
}

/* The walker is handed what no registration would take: somebody has written into a journal. */
static void in_a_jail(void *arg)
{
    static const char *const paths[] = {"/",     "//",         "",     "relative",
                                        "../x",  "/..",        "/.",   "/top/../x",
                                        "/proc", "/proc/self", "/sys", "/top/.."};
    struct scene *s = arg;
    struct px_pcleanup_totals totals = {0};

    if (chroot(s->home) || chdir("/"))
        _exit(92);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        for (uint8_t kind = PX_RM_FILE; kind <= PX_RM_DIR; kind++) {
            struct px_rm_item item = {.path = paths[i], .kind = kind, .flags = 0};

            if (kind == PX_RM_DIR)
                item.flags = PX_RM_RECURSE;
            px_rm_run(&item, 1, USER, USER, NULL, NULL, &totals);
        }
    _exit(0);
}

static void case_jail(struct scene *s)
{
    pid_t pid;

    if (!case_begin(s, "paths that no registration would let pass"))
        return;
    make(s, "T:proc T:sys f:relative f:x T:proc/self T:top");
    fflush(NULL);
    pid = fork();
    if (pid == 0)
        in_a_jail(s);
    if (end_process(pid, false))
        bad(s, "it did not end well");
    stays(s, "relative x proc/f0 sys/f0 proc/self/f0 top/f0");
    case_end(s);
}

static bool deny_named(char *const *args, int n)
{
    static const struct {
        const char *name;
        int call;
    } calls[] = {
        {"openat2", SYS_openat2},       {"statx", SYS_statx},
        {"clone3", SYS_clone3},         {"landlock", SYS_landlock_create_ruleset},
        {"pidfd_open", SYS_pidfd_open}, {"close_range", SYS_close_range}};

    for (int i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) {
            size_t len = strlen(calls[k].name);

            if (strncmp(args[i], calls[k].name, len) == 0 && args[i][len] == '=' &&
                !px_test_deny(calls[k].call,
                              strcmp(args[i] + len + 1, "EPERM") ? ENOSYS : EPERM))
                return false;
        }
    return true;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const char *swaps = getenv("HOSTILE_SWAPS");
    struct level level = {.name = what, .remove = remove_as_user};
    struct scene s;

    level.powers = strcmp(what, "powers") == 0;
    level.resolves = !level.powers;
    if (level.powers)
        level.remove = remove_with_powers;
    scene_begin(&s, strcmp(what, "decoy") == 0 ? &decoy : &level);
    if (!deny_named(argv + 2, argc - 2))
        die("cannot deny system calls");
    if (s.level == &decoy) {
        case_decoy(&s);
        return scene_end(&s);
    }
    cases_rows(&s);
    cases_special(&s);
    cases_faulty(&s);
    case_disk(&s);
    case_descriptors(&s);
    if (!level.powers) {
        case_processes(&s);
        case_drop(&s);
        case_tmp(&s);
    }
    case_jail(&s);
    cases_swaps(&s, swaps ? strtoull(swaps, NULL, 10) : SWAPS);
    return scene_end(&s);
}
