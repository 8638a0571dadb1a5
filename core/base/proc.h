/* SPDX-License-Identifier: BSD-3-Clause */
/* Process state read from /proc. The kernel reuses pids, so a start time identifies the
 * process. Nothing here uses malloc, stdio or locks, because processes made by a bare
 * clone call these functions. */
#ifndef PX_BASE_PROC_H
#define PX_BASE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct px_osproc_stat {
    char state; /* the letter that ps(1) shows */
    int64_t parent, pgrp;
    int64_t threads;
    uint64_t start; /* in clock ticks since boot */
};

/* Reads a process's state. False if the process does not exist or /proc is
 * unreadable. */
bool px_osproc_stat(int64_t pid, struct px_osproc_stat *out);
/* Parses the NUL-terminated text of /proc/<pid>/stat. False if the format is
 * unknown. */
bool px_osproc_stat_parse(const char *text, struct px_osproc_stat *out);

/* True if only the exit status remains. A thread group leader whose other threads still
 * run has not ended. */
bool px_osproc_stat_ended(const struct px_osproc_stat *st);

/* True if the process with this pid and start time has ended, even if no parent has
 * waited for it. start 0 means any process with this pid. */
bool px_osproc_ended(int64_t pid, uint64_t start);

/* Returns a tag for all descendants of the process with this pid and start time. The
 * tag is a hard RLIMIT_RTTIME in microseconds, equal to many years. Child processes
 * inherit the limit and change it only on purpose. Returns a tag below limit, the
 * current limit. Returns 0 if none is left or start is 0. */
uint64_t px_osproc_rlimit_tag(int64_t pid, uint64_t start, uint64_t limit);
/* True if process pid has the tag. Every limit from which the tag was derived gives the
 * same result. */
bool px_osproc_has_rlimit_tag(int64_t pid, uint64_t tag);

/* Writes "/proc/<pid><rest>" to out. False if out is too small. */
bool px_osproc_path(int64_t pid, const char *rest, char *out, size_t size);
/* Resolves the path of an open descriptor. False if the descriptor has no path or out
 * is too small. */
bool px_osproc_fd_path(int fd, char *out, size_t size);
/* Reads a whole short file into out and adds a NUL. False if the file cannot be read or
 * out is too small. */
bool px_osproc_read(const char *path, char *out, size_t size);

#endif
