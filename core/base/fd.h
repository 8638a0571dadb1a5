/* SPDX-License-Identifier: BSD-3-Clause */
/* File descriptors: flags, whole transfers, closing what a child must not have. */
#ifndef PX_BASE_FD_H
#define PX_BASE_FD_H

#include "core/base/attr.h"
#include "pmix_common.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

pmix_status_t px_fd_nonblock(int fd);
pmix_status_t px_fd_cloexec(int fd);
/* As write(2), but begun again when it is interrupted; and a reader that has gone is
 * EPIPE alone, without a SIGPIPE, the limit of a file EFBIG without a SIGXFSZ. */
ssize_t px_fd_write(int fd, const void *bytes, size_t n);
ssize_t px_fd_writev(int fd, const struct iovec *v, int n); /* so with writev(2) */
/* Whole transfers on a blocking or non-blocking fd, until deadline_ms of px_clock_ms()
 * (0: no deadline); what is ready is moved even after it. PMIX_ERR_TIMEOUT;
 * PMIX_ERR_UNREACH at EOF or when the reader is gone, without a SIGPIPE; or errno's
 * status. How much was moved before a failure is not told: give up the fd. */
pmix_status_t px_fd_write_all(int fd, const void *bytes, size_t n,
                              uint64_t deadline_ms);
pmix_status_t px_fd_read_all(int fd, void *bytes, size_t n, uint64_t deadline_ms);
/* Room for n descriptors in this process's table, or as many as its limit allows. The
 * kernel lets a thread wait for milliseconds whenever the table of a process with
 * several threads grows: best called while there is one. */
void px_fd_make_room(int n);
/* Async-signal-safe: closes every fd >= from (close_range, else /proc, else a loop). */
void px_fd_close_from(int from);
/* The same from there to last, which is closed, too. */
void px_fd_close_range(int from, int last);
/* Async-signal-safe: calls each, until it says false, with the names in a folder that
 * is open for reading, but "." and "..". 0 or an errno. */
int px_fd_each_name(int folder, bool (*each)(void *arg, const char *name), void *arg);

#endif
