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
    bool optional; /* start the process even if the limit cannot be set */
    struct rlimit limit;
};

struct px_pfexec_user {
    uid_t uid;
    gid_t gid;
    const gid_t *groups; /* all supplementary groups */
    size_t n_groups;
};

enum px_pfexec_flag {
    PX_PFEXEC_SESSION = 1,      /* the process leads a new session */
    PX_PFEXEC_STOP_AT_EXEC = 2, /* the process is stopped at its program's first
                                 * instruction, as if by SIGSTOP, before on_start */
    PX_PFEXEC_TERMINAL = 4,     /* stdout, a terminal, controls the session */
};

struct px_pfexec_spec {
    const char *program; /* path for execve, already found */
    char *const *argv;
    char *const *env;
    const char *cwd; /* NULL: the parent's directory */
    int fds[3];      /* become 0, 1, 2; -1: /dev/null. The caller keeps them. */
    /* Reports the end of the process. wait_status is that of waitpid. usage is NULL if
     * another part of this program has reaped the child; the status is 255 << 8 if the
     * kernel does not keep it. May be NULL. */
    void (*on_exit)(void *arg, pid_t pid, int wait_status, const struct rusage *usage);
    void *arg;
    /* Reports the new child within spawn. The child does not run the program before
     * forked returns, and never if this process ends meanwhile. May be NULL. */
    void (*forked)(void *arg, pid_t pid);
    /* Reports the result of the start. PMIX_SUCCESS: the program runs, or the child was
     * ended before, and on_exit follows. Otherwise nothing is left of the child,
     * on_exit is not called, and why names the failed step and the system's error. May
     * be NULL. */
    void (*on_start)(void *arg, pid_t pid, pmix_status_t status, const char *why);
    uint32_t size;  /* of this structure; members are only appended */
    uint32_t flags; /* enum px_pfexec_flag */
    /* NULL pointers: like the parent. */
    const void *cpus; /* allowed CPUs, as a mask of sched_setaffinity */
    size_t cpus_size; /* of the mask, in bytes */
    const struct px_pfexec_limit *limits;
    size_t n_limits;
    const mode_t *umask;
    const struct px_pfexec_user *user; /* user of the process; for root only */
    const int *more; /* descriptor that becomes 3; NULL: 3 is closed. The caller keeps
                      * it. */
};

struct px_pfexec_ops {
    /* Starts a program without waiting for a file system. The child leads its own
     * process group and dies with this process. The child has default signals, and no
     * descriptor above 2 but more. On success on_start is called once, from the loop.
     * On failure no callback is called, and why has the reason. spec is borrowed for
     * the call. */
    pmix_status_t (*spawn)(void *self, const struct px_pfexec_spec *spec, pid_t *pid,
                           char *why, size_t why_size);
    /* Sends a signal to the process and its group. PMIX_ERR_NOT_FOUND after the process
     * was reaped. */
    pmix_status_t (*signal)(void *self, pid_t pid, int signum);
    /* Drops the callbacks on_start and on_exit for this pid. */
    void (*forget)(void *self, pid_t pid);
};

#endif
