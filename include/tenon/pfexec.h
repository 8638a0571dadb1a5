/* SPDX-License-Identifier: BSD-3-Clause */
/* pfexec: starts, signals and reaps local processes. Contract in
 * frameworks/pfexec/README.md. */
#ifndef TENON_PFEXEC_H
#define TENON_PFEXEC_H

#include "tenon/component.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#define PX_PFEXEC_ABI 1u

struct px_pfexec_limit {
    int resource;  /* RLIMIT_... */
    bool optional; /* a process that cannot have it is started all the same */
    struct rlimit limit;
};

struct px_pfexec_user {
    uid_t uid;
    gid_t gid;
    const gid_t *groups; /* the supplementary ones, all of them */
    size_t n_groups;
};

enum px_pfexec_flag {
    PX_PFEXEC_SESSION = 1,      /* leads a session of its own */
    PX_PFEXEC_STOP_AT_EXEC = 2, /* is stopped at its program's first instruction, as if
                                 * by SIGSTOP, before on_start comes */
    PX_PFEXEC_TERMINAL = 4,     /* its stdout, a terminal, controls its session */
};

struct px_pfexec_spec {
    const char *program; /* path for execve, already found */
    char *const *argv;
    char *const *env;
    const char *cwd; /* NULL: that of the parent */
    int fds[3];      /* become 0, 1, 2; -1: /dev/null. Stay the caller's. */
    /* wait_status is as from waitpid; usage is NULL if another part of this program
     * has reaped the child, and the status 255 << 8 where the kernel does not keep
     * it. May be NULL. */
    void (*on_exit)(void *arg, pid_t pid, int wait_status, const struct rusage *usage);
    void *arg;
    /* Called within spawn once there is a child, which does not run the program
     * before this has returned, and never if this process ends meanwhile. May be
     * NULL. */
    void (*forked)(void *arg, pid_t pid);
    /* PMIX_SUCCESS: the program runs, or something has ended the child first, as
     * on_exit says next. Else nothing is left of the child, on_exit does not come,
     * and why says which step failed and what the system answered. May be NULL. */
    void (*on_start)(void *arg, pid_t pid, pmix_status_t status, const char *why);
    uint32_t size;  /* of this structure; members are only appended */
    uint32_t flags; /* enum px_pfexec_flag */
    /* If a pointer is NULL, as the parent has it. */
    const void *cpus; /* that it may use: a mask as sched_setaffinity takes it */
    size_t cpus_size; /* of the mask, in bytes */
    const struct px_pfexec_limit *limits;
    size_t n_limits;
    const mode_t *umask;
    const struct px_pfexec_user *user; /* for root: whom it becomes */
};

struct px_pfexec_ops {
    /* Begins to start a program, and never waits for a file system. The child leads
     * its own process group, dies with this process, has default signals and no fd
     * above 2. On success on_start comes once, from the loop; on failure no callback
     * comes, and why says the reason. The spec and all in it may go when this has
     * returned. */
    pmix_status_t (*spawn)(void *self, const struct px_pfexec_spec *spec, pid_t *pid,
                           char *why, size_t why_size);
    /* To the process and its group. PMIX_ERR_NOT_FOUND once it has been reaped. */
    pmix_status_t (*signal)(void *self, pid_t pid, int signum);
    /* The caller no longer wants on_start and on_exit for this pid. */
    void (*forget)(void *self, pid_t pid);
};

#endif
