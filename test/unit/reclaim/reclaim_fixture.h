/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the sweeper share: a fresh folder, files in it, journals, and a
 * look at what is left. */
#ifndef PX_RECLAIM_FIXTURE_H
#define PX_RECLAIM_FIXTURE_H

#include "core/reclaim/journal.h"
#include "core/reclaim/privilege.h"
#include "core/reclaim/process.h"
#include "core/reclaim/server_dir.h"
#include "px_test.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STRANGER = 12345, OTHER_STRANGER = 12346 };

static char top[PATH_MAX]; /* of this test */

/* "<top>/<...>"; good until 16 calls later. */
__attribute__((format(printf, 1, 2))) static inline const char *in(const char *fmt, ...)
{
    static char paths[16][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 16];
    int n = snprintf(path, PATH_MAX, "%s/", top);
    va_list args;

    va_start(args, fmt);
    vsnprintf(path + n, (size_t)(PATH_MAX - n), fmt, args);
    va_end(args);
    return path;
}

static inline void make_top(void)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(top, sizeof(top), "%s/sweep.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    ck_assert(mkdtemp(top));
    char *real = realpath(top, NULL);
    ck_assert(real && strlen(real) < sizeof(top));
    strcpy(top, real);
    free(real);
    ck_assert_int_eq(chmod(top, 0755), 0);
}

/* Whoever owns what is left: not by what is tested. */
static inline void remove_top(void)
{
    char command[PATH_MAX + 16];

    if (rmdir(top) == 0)
        return;
    snprintf(command, sizeof(command), "rm -rf '%s'", top);
    ck_assert_int_eq(system(command), 0);
}

static inline void make_dir(const char *path)
{
    ck_assert_msg(mkdir(path, 0755) == 0, "%s", path);
}

static inline void make_file(const char *path)
{
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);

    ck_assert_msg(fd >= 0, "%s", path);
    close(fd);
}

static inline void give(const char *path, uid_t uid, gid_t gid)
{
    ck_assert_int_eq(lchown(path, uid, gid), 0);
}

static inline bool is_there(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

static inline void append(int journal, const struct px_journal_record *r)
{
    uint8_t bytes[PX_JOURNAL_RECORD_B];
    size_t n = px_journal_encode(r, bytes);

    ck_assert_uint_gt(n, 0);
    ck_assert_int_eq(write(journal, bytes, n), (ssize_t)n);
}

/* An item of the user who runs the test. */
static inline void append_item(int journal, uint64_t scope, uint32_t slot, uint8_t kind,
                               uint16_t flags, const char *path)
{
    append(journal, &(struct px_journal_record){.type = PX_JOURNAL_ITEM,
                                                .kind = kind,
                                                .flags = flags,
                                                .slot = slot,
                                                .scope = scope,
                                                .uid = geteuid(),
                                                .gid = getegid(),
                                                .path = path});
}

static inline void append_item_of(int journal, uint64_t scope, uint32_t slot,
                                  const char *path, uid_t uid, gid_t gid)
{
    append(journal, &(struct px_journal_record){.type = PX_JOURNAL_ITEM,
                                                .kind = PX_RM_FILE,
                                                .slot = slot,
                                                .scope = scope,
                                                .uid = uid,
                                                .gid = gid,
                                                .path = path});
}

static inline size_t open_descriptors(void)
{
    size_t n = 0;

    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

#endif
