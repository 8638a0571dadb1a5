/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the operating system beside POSIX, for the programs of this folder.
 * os_linux.c has them for Linux; docs/porting.md lists them. */
#ifndef TENON_TOOLS_OS_H
#define TENON_TOOLS_OS_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* Returns a non-blocking descriptor for these signals, which must be blocked; or -1. */
int os_signals(const sigset_t *set);
/* Takes a signal from such a descriptor. Returns 0 if none is pending. */
int os_next_signal(int fd);
/* Returns a descriptor that becomes readable when the process ends, or -1. */
int os_process_fd(pid_t pid);
/* Returns the process at the other end of a Unix socket; 0: unknown. */
pid_t os_peer(int fd);
/* Sends this process the signal when its parent ends. */
void os_end_with_parent(int signum);
/* Has the clean-up after a killed server spare this process: removes the mark that
 * processes of a server inherit. */
void os_leave_server(void);
/* Makes this process the parent of its descendants whose parents end. */
void os_adopt_orphans(void);
/* Opens the list of this process's children, adopted ones too, as decimal numbers. NULL
 * with ENOENT if the system has no list. */
FILE *os_children(void);
/* Opens a file about a process: "comm", its name, or "environ", each with a NUL. */
FILE *os_process_file(pid_t pid, const char *name);
/* Returns a path, malloc'd, by which other processes open a descriptor of this one. */
char *os_path_of_fd(int fd);
/* Returns a descriptor of a new file in memory, or -1. Programs that are executed have
 * it, too. */
int os_memory_file(const char *name);
/* Closes all descriptors above stderr but these two. */
void os_close_others(int one, int two);
/* Enlarges the buffer of a pipe if possible. */
void os_widen_pipe(int fd, int size_b);
/* Gives memory back to the system after large requests. */
void os_limit_free_memory(void);
/* Writes the path of the running program. False if unknown. */
bool os_program(char *path, size_t size);

#endif
