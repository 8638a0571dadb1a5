/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of the system, whose state Linux shows in /proc. The kernel reuses pids, so
 * a start time identifies the process. Nothing here uses malloc, stdio or locks,
 * because processes made by px_os_fork_unseen call these functions. */
#ifndef PX_OS_PROC_H
#define PX_OS_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Folder with files about processes, in the format of Linux. */
#define PX_OSPROC "/proc"

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

/* Calls each with every process until each returns false. Returns an errno. */
int px_osproc_each(bool (*each)(void *arg, int64_t pid), void *arg);
/* Returns the user of a process. False if the process does not exist. */
bool px_osproc_owner(int64_t pid, uid_t *uid);
/* Reads the name that px_os_name_thread has given. */
bool px_osproc_name(int64_t pid, char *out, size_t size);
/* True if a debugger is attached to the process, or that is unknown. */
bool px_osproc_is_traced(int64_t pid);
/* Reads this process's command line, with spaces between the words, and cut to fit. */
bool px_osproc_command_line(char *out, size_t size);
/* Writes names of the boot of this machine and of the process's pid namespace. Process
 * ids of other names mean other processes. "" if unknown. Returns the length. */
size_t px_osproc_space(char out[128]);
/* Resource whose hard limit is a tag. */
#define PX_OSPROC_TAG_RESOURCE RLIMIT_RTTIME

/* Writes "/proc/<pid><rest>" to out. False if out is too small. */
bool px_osproc_path(int64_t pid, const char *rest, char *out, size_t size);
/* Resolves the path of an open descriptor. False if the descriptor has no path or out
 * is too small. */
bool px_osproc_fd_path(int fd, char *out, size_t size);
/* Reads a whole short file into out and adds a NUL. False if the file cannot be read or
 * out is too small. */
bool px_osproc_read(const char *path, char *out, size_t size);

#endif
