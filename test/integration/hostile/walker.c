/* SPDX-License-Identifier: BSD-3-Clause */
/* hostile_walker user|powers|decoy [SYSTEM_CALL=ERRNO...]: the cases against the walker alone. user: in a
 * process that becomes the user, as in a server. powers: with all powers of root, so that only the walker
 * itself protects files. The named system calls are denied, to test fallbacks. Variables: HOSTILE_SWAPS,
 * total number of swaps; HOSTILE_DEPTH, depth of the deepest tree; HOSTILE_SWEEPS, removals at each point;
 * HOSTILE_ONLY, a part of the names of cases to run; HOSTILE_VERBOSE. */
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

#define SCOPE 7
#define SWAPS 100000

static const uint8_t kinds[] = {
    [REG_FILE] = PX_RM_FILE, [REG_DIR] = PX_RM_DIR, [REG_KEEP] = PX_RM_KEEP};

static uint8_t flags_of(const struct scene *s, const struct reg *r)
{
    if (r->kind != REG_DIR)
        return 0;
    return (uint8_t)((s->recurse ? PX_RM_RECURSE : 0) |
                     (s->leave_top ? PX_RM_LEAVE_TOP : 0));
}

/* Computes the normal forms of all paths as registration does; false if one is invalid. */
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
    char(*paths)[PX_RM_MAX_PATH + 1] = calloc(s->n_regs, sizeof(*paths));
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
    struct px_rm_item *items = calloc(s->n_regs, sizeof(*items));
    struct px_pcleanup_totals totals = {0};

    if (!items)
        _exit(94);
    for (size_t i = 0; i < s->n_regs; i++)
        items[i] = (struct px_rm_item){.path = paths[i],
                                       .kind = kinds[s->regs[i].kind],
                                       .flags = flags_of(s, &s->regs[i])};
    alarm(s->timeout_s);
    /* Not _exit, because the coverage is written at exit. */
    exit(px_rm_run(items, s->n_regs, USER, USER, NULL, NULL, &totals) ? 93 : 0);
}

static bool remove_with_powers(struct scene *s)
{
    char(*paths)[PX_RM_MAX_PATH + 1] = calloc(s->n_regs, sizeof(*paths));
    bool good;
    pid_t pid;
    int how;

    if (!paths)
        die("no memory");
    good = normal_forms(s, paths);
    if (good) {
        pid = fork_or_die();
        if (pid == 0)
            run_with_powers(s, paths);
        how = end_process(pid, false);
        if (how)
            bad(s, "the walker ended with %d", how);
    }
    free(paths);
    return good;
}

static bool deny_named(char *const *args, int n)
{
    static const struct {
        const char *name;
        int call;
    } calls[] = {{"statx", SYS_statx},
                 {"clone3", SYS_clone3},
                 {"landlock", SYS_landlock_create_ruleset},
                 {"pidfd_open", SYS_pidfd_open},
                 {"close_range", SYS_close_range}};

    for (int i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof(calls) / sizeof(calls[0]); k++) {
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
    cases_swaps(&s, swaps ? strtoull(swaps, NULL, 10) : SWAPS);
    return scene_end(&s);
}
