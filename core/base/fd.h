/* SPDX-License-Identifier: BSD-3-Clause */
/* File descriptors: flags, whole transfers, closing ranges. */
#ifndef PX_BASE_FD_H
#define PX_BASE_FD_H

#include "core/base/attr.h"
#include "pmix_common.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

pmix_status_t px_fd_nonblock(int fd);
pmix_status_t px_fd_cloexec(int fd);
/* True if a process serves the Unix socket of this name, a datagram socket or another;
 * else errno has the reason. Never waits. */
bool px_fd_socket_is_served(const char *path);
/* Writes like write(2) and retries after EINTR. A reader that has gone gives EPIPE
 * without SIGPIPE. A file at its size limit gives EFBIG without SIGXFSZ. */
ssize_t px_fd_write(int fd, const void *bytes, size_t n);
ssize_t px_fd_writev(int fd, const struct iovec *v, int n); /* writev(2), likewise */
/* Transfers all n bytes on a blocking or non-blocking fd until deadline_ms of
 * px_clock_ms(); 0 means no deadline. Bytes that are ready move even after the
 * deadline. Returns PMIX_ERR_TIMEOUT; PMIX_ERR_UNREACH at EOF or if the reader is gone,
 * without SIGPIPE; or errno's status. After a failure, close fd: the number of bytes
 * moved is unknown. */
pmix_status_t px_fd_write_all(int fd, const void *bytes, size_t n,
                              uint64_t deadline_ms);
pmix_status_t px_fd_read_all(int fd, void *bytes, size_t n, uint64_t deadline_ms);
/* Waits until fd is ready for poll's events, or broken. deadline_ms and the status are
 * those of whole transfers. */
pmix_status_t px_fd_await(int fd, short events, uint64_t deadline_ms);
/* Grows this process's descriptor table to n entries, or to the limit if lower. Call
 * this function before threads start. In a multithreaded process each growth of the
 * table blocks a thread for milliseconds. */
void px_fd_make_room(int n);
/* Closes every fd >= from. Async-signal-safe. */
void px_fd_close_from(int from);
/* Closes every fd in [from, last]. Async-signal-safe. */
void px_fd_close_range(int from, int last);

#endif
