/* SPDX-License-Identifier: BSD-3-Clause */
/* pfexec: starts, signals and reaps local processes. Contract in frameworks/pfexec/README.md. */
#ifndef TENON_PFEXEC_H
#define TENON_PFEXEC_H

#include "tenon/component.h"

#define PX_PFEXEC_ABI 1u

struct px_pfexec_spec {
    const char *program; /* path for execve, already found */
    char *const *argv;
    char *const *env;
    const char *cwd; /* NULL: that of the parent */
    int fds[3];      /* become 0, 1, 2; -1: /dev/null. Stay the caller's. */
    px_child_fn on_exit;
    void *arg;
    /* Called within spawn once there is a child, which does not run the program before this has
     * returned, and never if this process ends meanwhile. May be NULL. spawn may fail afterwards. */
    void (*forked)(void *arg, pid_t pid);
};

struct px_pfexec_ops {
    /* Returns once the program runs, or the child failed before it did: why then says which step
     * and what the system answered. The child leads its own process group, dies with this
     * process, has default signals and no fd above 2. Waits at most the parameter
     * pfexec_<name>_start_timeout for the child to exec. */
    pmix_status_t (*spawn)(void *self, const struct px_pfexec_spec *spec, pid_t *pid,
                           char *why, size_t why_size);
    /* To the process and its group. PMIX_ERR_NOT_FOUND once it has been reaped. */
    pmix_status_t (*signal)(void *self, pid_t pid, int signum);
    /* The caller no longer wants on_exit for this pid. */
    void (*forget)(void *self, pid_t pid);
};

#endif
