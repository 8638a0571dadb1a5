/* SPDX-License-Identifier: BSD-3-Clause */
/* Making system calls fail, as on an older kernel or in a container that forbids
 * them. */
#ifndef PX_TEST_SECCOMP_H
#define PX_TEST_SECCOMP_H

#include <stdbool.h>

/* From now on the system call of that number (SYS_...) fails with errnum, in this
 * thread and in all that it makes, for good. False if the kernel does not do that. Root
 * or not. */
bool px_test_deny(long number, int errnum);

/* Runs does(arg) in a thread of its own, twice: the second time the first system call
 * ends the thread, and its number is returned. -1: there was none; -2: the kernel
 * cannot tell. Root or not. */
long px_test_first_call_of(void (*does)(void *), void *arg);

/* What does() returns, 0 to 255, in a process of its own: what is denied there is not
 * denied here. -1: it has ended otherwise. */
int px_test_in_child(int (*does)(void));

/* Denies what the environment variable PX_TEST_DENY has, if it is set:
 * "openat2:ENOSYS,statx:EPERM". For the setup of a suite that is run under each. Ends
 * the process if the variable makes no sense, or nothing can be denied. */
void px_test_deny_by_env(void);

#endif
