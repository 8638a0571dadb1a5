/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests do to their own process, to others and to files. Whatever fails, fails the
 * test; whatever waits, waits for so long and no longer. */
#ifndef PX_CONTRACT_PROCESS_H
#define PX_CONTRACT_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { OTHER_UID = 65534 }; /* somebody who is not root, for tests that root runs */

size_t process_count_threads(void);
/* Lets this process open n descriptors more, and no more; SIZE_MAX: as many as
 * before. */
void process_limit_fds(size_t n);
void process_pause(uint64_t ms);

/* Runs run(arg) in a child, which exits with what run returns. */
pid_t process_fork(int (*run)(void *arg), void *arg);
/* Exit status, or 128 + the signal that ended it. */
int process_wait(pid_t pid, uint64_t timeout_ms);
/* For root: becomes another user, for good. */
void process_become_other(void);
/* For root: moves this process into a network of its own, with loopback only, in which
 * the system gives out the ports first and first + 1. False if that is not to be
 * had. */
bool process_own_network(unsigned first);

/* The whole file, with a NUL behind it, in malloc memory. size may be NULL. */
char *process_read_file(const char *path, size_t *size);
/* What comes out of a pipe until it ends, in malloc memory. */
char *process_read_end(int fd, uint64_t timeout_ms);
void process_write_file(const char *path, const char *text, mode_t mode);
bool process_dir_is_empty(const char *path);

#endif
