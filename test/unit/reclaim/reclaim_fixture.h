/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of reclaim: a new folder that holds the folder of a dead server,
 * its journal, files and processes. */
#ifndef PX_RECLAIM_FIXTURE_H
#define PX_RECLAIM_FIXTURE_H

#include "core/base/attr.h"
#include "core/base/clock.h"
#include "core/reclaim/process.h"
#include "core/reclaim/server_dir.h"
#include "files.h"
#include "px_test.h"
#include "seccomp.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STRANGER = 12345, OTHER_STRANGER = 12346 };

#define SERVER "pmix-server.abcdef" /* name of the server's folder */

static char dir[PATH_MAX]; /* its path */
static int journal = -1;
static struct px_pcleanup_totals totals;

static const struct px_reclaim sweep = {
    .journal = -1, .node = "node", .timeout_ms = 20000};

/* Returns the path of a name in the tree, valid for the next 16 calls. */
__attribute__((format(printf, 1, 2))) static inline const char *in(const char *fmt, ...)
{
    char name[PATH_MAX];
    va_list args;

    va_start(args, fmt);
    vsnprintf(name, sizeof(name), fmt, args);
    va_end(args);
    return px_tree_path(name);
}

static inline void become(uid_t uid)
{
    ok(setresgid(uid, uid, uid));
    ok(setresuid(uid, uid, uid));
}

static inline void deny(long number, int errnum)
{
    ck_assert(px_test_deny(number, errnum));
}

/* ---- the journal ---------------------------------------------------------------- */

static inline void append(const struct px_journal_record *r)
{
    uint8_t bytes[PX_JOURNAL_RECORD_B];
    size_t n = px_journal_encode(r, bytes);

    ck_assert_uint_gt(n, 0);
    ck_assert_int_eq(write(journal, bytes, n), (ssize_t)n);
}

/* Example: append_record(.type = PX_JOURNAL_DONE, .scope = 1); */
#define append_record(...) append(&(struct px_journal_record){__VA_ARGS__})

/* Appends an item of the user who runs the test. */
static inline void append_item(uint64_t scope, uint32_t slot, uint8_t kind,
                               uint16_t flags, const char *path)
{
    append_record(.type = PX_JOURNAL_ITEM, .kind = kind, .flags = flags, .slot = slot,
                  .scope = scope, .uid = geteuid(), .gid = getegid(), .path = path);
}

static inline void append_file_of(uint64_t scope, uint32_t slot, const char *path,
                                  uid_t uid, gid_t gid)
{
    append_record(.type = PX_JOURNAL_ITEM, .kind = PX_RM_FILE, .slot = slot,
                  .scope = scope, .uid = uid, .gid = gid, .path = path);
}

static inline void append_tree(uint64_t scope, uint32_t slot, const char *path)
{
    append_item(scope, slot, PX_RM_DIR, PX_RM_RECURSE, path);
}

static inline void append_proc(uint64_t scope, uint32_t slot, pid_t pid, uint64_t start,
                               uint16_t flags)
{
    append_record(.type = PX_JOURNAL_PROC, .flags = flags, .slot = slot, .scope = scope,
                  .uid = geteuid(), .x = (uint64_t)pid, .y = start);
}

/* Makes a file and appends an item for its removal. */
static inline void file_in(uint64_t scope, uint32_t slot, const char *name)
{
    px_tree_make(name);
    append_item(scope, slot, PX_RM_FILE, 0, px_tree_path(name));
}

/* Starts a new journal with this head; whereabouts NULL is here. */
static inline void begin_journal(int64_t pid, uint64_t start, uint16_t flags,
                                 const char *whereabouts)
{
    char here[320];

    px_journal_whereabouts("node", here);
    ok(ftruncate(journal, 0));
    append_record(.type = PX_JOURNAL_HEAD, .flags = flags, .x = (uint64_t)pid,
                  .y = start, .path = whereabouts ? whereabouts : here);
}

static inline void make_server(const char *name)
{
    strcpy(dir, px_tree_path(name));
    ok(mkdir(dir, 0700));
    journal = open(in("%s/" PX_JOURNAL_NAME, name),
                   O_CREAT | O_EXCL | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
    ck_assert_int_ge(journal, 0);
    begin_journal(1, 1, 0, NULL);
}

static inline int remains(bool wait)
{
    return px_reclaim_server_dir(&sweep, dir, -1, wait, &totals);
}

static inline void setup(void)
{
    const char *tmp = getenv("TMPDIR");

    px_tree_begin(tmp && *tmp ? tmp : "/tmp");
    make_server(SERVER);
}

static inline void teardown(void)
{
    close(journal);
    px_tree_end();
}

/* ---- processes ------------------------------------------------------------------ */

/* Starts a sleeping child with its own group; end() ends and reaps the child. */
static inline pid_t start_process(void)
{
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setpgid(0, 0);
        for (;;)
            pause();
    }
    setpgid(pid, pid);
    return pid;
}

/* Returns the signal that ended the process, or 0 if the process lived until this
 * call. */
static inline int end(pid_t pid)
{
    int status = 0;

    if (waitpid(pid, &status, WNOHANG) == pid)
        return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return 0;
}

/* Returns the signal that ended or is about to end the process, or 0 if the process
 * lives on. */
static inline int ended_by(pid_t pid)
{
    siginfo_t info = {0};

    for (uint64_t until = px_clock_ms() + 10000; px_clock_ms() < until && !info.si_pid;
         usleep(1000))
        ok(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT));
    return end(pid);
}

#endif
