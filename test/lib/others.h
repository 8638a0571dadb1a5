/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests as another user. A build folder in a home folder may be closed to other users. */
#ifndef PX_TEST_OTHERS_H
#define PX_TEST_OTHERS_H

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PX_TEST_OTHER = 12345 };

/* True if another user can load the library's components. False without root. For PX_TEST_NEEDS. */
static inline bool px_test_others_load_it(void)
{
    const char *dir = getenv("PMIX_MCA_mca_base_component_path");
    int status = -1;
    pid_t pid = dir && geteuid() == 0 ? fork() : -1;

    if (pid == 0)
        _exit(setresgid(PX_TEST_OTHER, PX_TEST_OTHER, PX_TEST_OTHER) ||
              setresuid(PX_TEST_OTHER, PX_TEST_OTHER, PX_TEST_OTHER) ||
              access(dir, R_OK | X_OK));
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static inline bool px_test_write(const char *file, const char *text)
{
    int fd = open(file, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return done;
}

/* Makes an ordinary user the root of new namespaces, in which no other user exists. */
static inline bool px_test_become_inner_root(int namespaces)
{
    char uid[64], gid[64];

    snprintf(uid, sizeof(uid), "0 %u 1", geteuid());
    snprintf(gid, sizeof(gid), "0 %u 1", getegid());
    return unshare(CLONE_NEWUSER | namespaces) == 0 &&
           px_test_write("/proc/self/setgroups", "deny") &&
           px_test_write("/proc/self/uid_map", uid) &&
           px_test_write("/proc/self/gid_map", gid);
}

#endif
