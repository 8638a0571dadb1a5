/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests as another user. A build folder in a home folder may be closed to other users. */
#ifndef PX_TEST_OTHERS_H
#define PX_TEST_OTHERS_H

#include <stdbool.h>
#include <stdlib.h>
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

#endif
