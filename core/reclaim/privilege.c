/* SPDX-License-Identifier: BSD-3-Clause */
/* Making a process a user who cannot come back. The ids are set by system calls: the C
 * library would first ask the threads of the process that has been copied, which are
 * not here, and take locks that are never let go of here. And a second belt: where the
 * kernel has Landlock, a process that walks may do nothing to the file system but
 * remove, and only beneath the folders its items stand in. Reading is not restricted.
 * It holds against a mistake of ours. */
#include "core/reclaim/privilege.h"

#include "core/base/attr.h"
#include "core/reclaim/rmpath.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { EXIT_NOT_CONFINED = 125, EXIT_NOT_THE_USER = 126 };

/* 32-bit systems have had calls for ids of 16 bits. */
#ifdef SYS_setresuid32
enum {
    NR_SETGROUPS = SYS_setgroups32,
    NR_SETRESGID = SYS_setresgid32,
    NR_SETRESUID = SYS_setresuid32,
    NR_SETUID = SYS_setuid32,
};
#else
enum {
    NR_SETGROUPS = SYS_setgroups,
    NR_SETRESGID = SYS_setresgid,
    NR_SETRESUID = SYS_setresuid,
    NR_SETUID = SYS_setuid,
};
#endif

static void must(bool good)
{
    if (!good)
        _exit(EXIT_NOT_THE_USER);
}

static bool is_user(uid_t uid)
{
    uid_t real, effective, saved;

    return getresuid(&real, &effective, &saved) == 0 && real == uid &&
           effective == uid && saved == uid;
}

static bool is_group(gid_t gid)
{
    gid_t real, effective, saved;

    return getresgid(&real, &effective, &saved) == 0 && real == gid &&
           effective == gid && saved == gid;
}

static bool has_only_group(gid_t gid)
{
    gid_t groups[2];

    return getgroups(PX_COUNT(groups), groups) == 1 && groups[0] == gid;
}

/* They go with root's uid, but not if the host has asked the kernel to keep them. */
static void drop_capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}},
                                  left[PX_COUNT(none)];

    memset(left, 0xff, sizeof(left)); /* until the kernel says what there is */
    must(syscall(SYS_capset, &head, none) == 0);
    must(syscall(SYS_capget, &head, left) == 0);
    for (size_t i = 0; i < PX_COUNT(left); i++)
        must(!left[i].effective && !left[i].permitted && !left[i].inheritable);
}

void px_drop_privileges(uid_t uid, gid_t gid)
{
    const uid_t same_uid = (uid_t)-1;
    const gid_t same_gid = (gid_t)-1;

    must(uid != same_uid && gid != same_gid);
    if (!is_user(uid) || (uid == 0 && !is_group(gid))) {
        must(syscall(NR_SETGROUPS, 1L, &gid) == 0);
        must(syscall(NR_SETRESGID, gid, gid, gid) == 0);
        must(syscall(NR_SETRESUID, uid, uid, uid) == 0);
        must(is_user(uid) && is_group(gid) && has_only_group(gid));
    }
    if (uid != 0) {
        drop_capabilities();
        must(syscall(NR_SETUID, 0L) < 0);
        must(syscall(NR_SETRESUID, same_uid, 0L, same_uid) < 0);
        must(is_user(uid));
    }
    must(prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) == 0);
    /* our memory is still that of the server: not for this user's debugger */
    must(prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L) == 0);
}

/* ---- only removing
 * ---------------------------------------------------------------- */

/* Newer than the headers of 5.13. */
#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13)
#endif

static void must_hold(bool good)
{
    if (!good)
        _exit(EXIT_NOT_CONFINED);
}

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
    must_hold(syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule,
                      0) == 0);
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
    must_hold(confined ||
              errno == E2BIG); /* the host has done so as often as it may be done */
    close((int)rules);
    return confined;
}
