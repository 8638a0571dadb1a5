/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of tests on their own process, on other processes and on files. Each
 * failure fails the test, and each wait has a time limit. */
#ifndef PX_CONTRACT_PROCESS_H
#define PX_CONTRACT_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { OTHER_UID = 65534 }; /* a user other than root, for tests run by root */

/* Lets this process open at most n more descriptors; SIZE_MAX restores the limit. */
void process_limit_fds(size_t n);
void process_pause(uint64_t ms);

/* Runs run(arg) in a child, which exits with the result of run. */
pid_t process_fork(int (*run)(void *arg), void *arg);
/* Returns the exit status, or 128 + the signal that ended the process. */
int process_wait(pid_t pid, uint64_t timeout_ms);
/* Switches root permanently to another user. */
void process_become_other(void);
/* Moves this process, run by root, into a private network with loopback only. The
 * system assigns the ports first and first + 1 there. False if that is not possible. */
bool process_own_network(unsigned first);

/* Returns the whole file with a NUL behind it, in malloc memory. size may be NULL. */
char *process_read_file(const char *path, size_t *size);
/* Returns the output of a pipe up to its end, in malloc memory. */
char *process_read_end(int fd, uint64_t timeout_ms);
void process_write_file(const char *path, const char *text, mode_t mode);

#endif
