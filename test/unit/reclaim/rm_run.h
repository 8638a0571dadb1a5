/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs px_rm_run on the tree of tree.h and logs its reports. Shared by the tests of
 * rmtree.c. */
#ifndef PX_TEST_RM_RUN_H
#define PX_TEST_RM_RUN_H

#include "core/base/attr.h"
#include "core/reclaim/rmtree.h"
#include "px_test.h"
#include "seccomp.h"
#include "tree.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

static char rm_logged[8192]; /* "ASKED a/b, FOREIGN c", in order of the reports */
static size_t rm_n_logged;
static struct px_pcleanup_totals rm_totals;

/* Uses a file system in memory, because some tests make many files. */
static inline void rm_begin(void)
{
    px_tree_begin(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    px_test_deny_by_env();
}

static inline void rm_notified(void *arg, const char *path, enum px_rm_why why,
                               int errnum)
{
    static const char *const names[] = {"?",    "ASKED",   "FOREIGN", "MOUNT",
                                        "LINK", "REFUSED", "MOVED",   "FAILED"};
    size_t skip = strlen(px_tree_root()), len = strlen(rm_logged);

    ck_assert_ptr_eq(arg, rm_logged);
    rm_n_logged++;
    if (len > sizeof(rm_logged) - PX_RM_MAX_PATH - 64)
        return;
    if (strncmp(path, px_tree_root(), skip) == 0)
        path += skip + (path[skip] == '/');
    len += (size_t)sprintf(rm_logged + len, "%s%s %s", len ? ", " : "", names[why],
                           path);
    if (why == PX_RM_FAILED)
        sprintf(rm_logged + len, " %s", strerrorname_np(errnum));
}

/* Removes the items as a user; uid 0 is the user who runs the test. */
static inline void rm_run_as(uid_t uid, const struct px_rm_item *items, size_t n)
{
    memset(&rm_totals, 0, sizeof(rm_totals));
    rm_logged[0] = '\0';
    rm_n_logged = 0;
    ok(px_rm_run(items, n, uid ? uid : geteuid(), uid ? uid : getegid(), rm_notified,
                 rm_logged, &rm_totals));
    ck_assert_uint_eq(rm_totals.kept + rm_totals.foreign + rm_totals.failed,
                      rm_n_logged);
}

/* Removes one item; kept may be NULL. */
static inline void rm_one(const char *name, uint8_t kind, int flags, const char *kept)
{
    struct px_rm_item items[] = {
        {px_tree_path(name), kind, (uint8_t)flags, 0, 0},
        {px_tree_path(kept ? kept : ""), PX_RM_KEEP, 0, 0, 0},
    };

    rm_run_as(0, items, kept ? 2 : 1);
}

static inline void rm_dir(const char *name, int flags)
{
    rm_one(name, PX_RM_DIR, flags, NULL);
}

#define rm_assert_logged(text) ck_assert_str_eq(rm_logged, text)
#define rm_assert_removed(n_files, n_dirs)           \
    do {                                             \
        ck_assert_uint_eq(rm_totals.files, n_files); \
        ck_assert_uint_eq(rm_totals.dirs, n_dirs);   \
    } while (0)

#endif
