/* SPDX-License-Identifier: BSD-3-Clause */
/* A second belt: where the kernel has Landlock, a process that walks may do nothing to
 * the file system but remove, and only beneath the folders its items stand in. Reading
 * is not restricted. What it holds against is a mistake of ours. */
#include "core/reclaim/reclaim.h"

#include "core/base/attr.h"
#include "core/reclaim/rmpath.h"

#include <errno.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

enum { EXIT_NOT_CONFINED = 125 };

/* Newer than the headers of 5.13. */
#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13)
#endif

static const uint64_t removal = LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                LANDLOCK_ACCESS_FS_REMOVE_FILE;

/* All that changes or runs something but removal, of what a kernel of that version
 * knows; but for truncation by path and requests to devices: for their sake it would
 * climb from each folder that is opened, too. */
static uint64_t changes(long abi)
{
    uint64_t rights = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                      LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
                      LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                      LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                      LANDLOCK_ACCESS_FS_MAKE_SYM;

    if (abi >= 2)
        rights |= LANDLOCK_ACCESS_FS_REFER;
    return rights;
}

static void must(bool good)
{
    if (!good)
        _exit(EXIT_NOT_CONFINED);
}

/* The length of the path of the folder that path is in. */
static size_t parent_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return !slash ? 0 : slash == path ? 1 : (size_t)(slash - path);
}

static void allow_beneath(int rules, struct px_rm_sys *sys, const char *path, size_t n)
{
    char folder[PX_RM_MAX_PATH + 1];

    memcpy(folder, path, n);
    folder[n] = '\0';
    PX_AUTOCLOSE int fd = px_rm_open_way(sys, folder, geteuid());
    if (fd < 0) /* nor will the walker get there */
        return;
    struct landlock_path_beneath_attr rule = {.allowed_access = removal,
                                              .parent_fd = fd};
    must(syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) ==
         0);
}

static void allow(int rules, const struct px_rm_item *items, size_t n)
{
    const char *last = "";
    size_t last_n = 0;
    struct px_rm_sys sys = {0};

    for (size_t i = 0; i < n; i++) {
        size_t parent_n = parent_length(items[i].path);

        if (items[i].kind == PX_RM_KEEP || !parent_n || parent_n > PX_RM_MAX_PATH ||
            (parent_n == last_n && memcmp(items[i].path, last, last_n) == 0))
            continue;
        last = items[i].path;
        last_n = parent_n;
        allow_beneath(rules, &sys, last, last_n);
    }
}

bool px_reclaim_confine(const struct px_rm_item *items, size_t n)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
                       LANDLOCK_CREATE_RULESET_VERSION);

    if (abi < 1) /* not known, switched off, or not for us */
        return false;
    struct landlock_ruleset_attr attr = {.handled_access_fs = changes(abi) |
                                                              (items ? removal : 0)};
    long rules = syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
    if (rules < 0)
        return false;
    allow((int)rules, items, items ? n : 0);
    bool confined = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    must(confined ||
         errno == E2BIG); /* the host has done so as often as it may be done */
    close((int)rules);
    return confined;
}
