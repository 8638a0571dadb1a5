/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes as /proc tells of them. A pid alone may belong to another process by now:
 * the start time says which one is meant. No malloc, no stdio, no locks: also for
 * processes made by a bare clone. */
#ifndef PX_BASE_PROC_H
#define PX_BASE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct px_osproc_stat {
    char state; /* as ps(1) shows it */
    int64_t parent, pgrp;
    int64_t threads;
    uint64_t start; /* in clock ticks since the system started */
};

/* False if there is no such process, or /proc is not to be read. */
bool px_osproc_stat(int64_t pid, struct px_osproc_stat *out);
/* From that file's text, terminated; false if the kernel does not write such. */
bool px_osproc_stat_parse(const char *text, struct px_osproc_stat *out);

/* Nothing is left of it but what a parent may want to know. A leader that has left its
 * threads behind has not ended. */
bool px_osproc_stat_ended(const struct px_osproc_stat *st);

/* Whether the process with that pid and start time (0: any process that has the pid)
 * has ended, even if no process has waited for it yet. */
bool px_osproc_ended(int64_t pid, uint64_t start);

/* A number of the process with that pid and start time, for whatever it starts to
 * carry: as hard limit of real time (RLIMIT_RTTIME, in microseconds: many years), which
 * a process hands on to all that it starts, and changes only on purpose. limit is the
 * present one, and the number less. 0: there is none below, or no start time. */
uint64_t px_osproc_rlimit_tag(int64_t pid, uint64_t start, uint64_t limit);
/* Whether process pid carries it. Any limit that it was made below gives the same. */
bool px_osproc_has_rlimit_tag(int64_t pid, uint64_t mark);

/* "/proc/<pid><rest>" to out; false if it does not fit. */
bool px_osproc_path(int64_t pid, const char *rest, char *out, size_t size);
/* The path of what an open descriptor of ours is of, without links; false if it is not
 * to be had. */
bool px_osproc_fd_path(int fd, char *out, size_t size);
/* All of a short file to out, terminated; false if it is not there or does not fit. */
bool px_osproc_read(const char *path, char *out, size_t size);

#endif
