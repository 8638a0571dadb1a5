/* SPDX-License-Identifier: BSD-3-Clause */
/* Failing system calls, as on an older kernel or in a container. */
#ifndef PX_TEST_SECCOMP_H
#define PX_TEST_SECCOMP_H

#include <stdbool.h>

/* Lets a system call (SYS_...) fail with errnum from now on, in this thread and in its new threads. False
 * if the kernel does not support that. Works with and without root. */
bool px_test_deny(long number, int errnum);

/* Runs does(arg) twice in a thread. The second time, the first system call ends the thread. Returns the
 * number of the call; -1: no call; -2: not supported by the kernel. Works with and without root. */
long px_test_first_call_of(void (*does)(void *), void *arg);

/* Returns the result of does(), 0 to 255, in a child, where denied calls do not affect this process. -1:
 * the child has not exited normally. */
int px_test_in_child(int (*does)(void));

/* Denies the system calls in the environment variable PX_TEST_DENY, e.g. "openat2:ENOSYS,statx:EPERM". For
 * the setup of a suite. Ends the process if the variable is invalid, or if denial is not supported. */
void px_test_deny_by_env(void);

#endif
