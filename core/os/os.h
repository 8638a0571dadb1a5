/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the operating system beside POSIX. With proc.h, group.h and pidof.h this
 * header has all that another system must provide; the files linux*.c have the
 * functions for Linux, and docs/porting.md lists them. All functions but those of the
 * last section are async-signal-safe. Functions return -1 or false with errno on
 * failure, unless their comments differ. */
#ifndef PX_OS_OS_H
#define PX_OS_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>

/* ---- threads that wait for a word (futex) ---------------------------------------- */

/* Waits while *word is seen, for at most ms milliseconds. */
void px_os_futex_wait(const _Atomic int *word, int seen, unsigned ms);
/* Waits also while *shared, a word of another process, is shared_seen. The address may
 * be invalid. Returns false if the system cannot wait for two words. */
bool px_os_futex_wait_both(const _Atomic int *word, int seen, const void *shared,
                           uint32_t shared_seen, unsigned ms);
/* Wakes one thread that waits for a word of this process, or all that wait for a shared
 * word. The memory may be gone. */
void px_os_futex_wake(const void *word, bool shared);

/* ---- sets of descriptors (epoll) ------------------------------------------------- */

/* The bits and operations have the values of epoll. */
enum px_os_ready {
    PX_OS_READ = 0x1,
    PX_OS_WRITE = 0x4,
    PX_OS_BROKEN = 0x18,   /* hang-up or error; reported unasked */
    PX_OS_ONCE = 1 << 30,  /* report once, until the next change */
    PX_OS_EDGE = 1u << 31, /* report each arrival once */
};
enum px_os_change { PX_OS_ADD = 1, PX_OS_REMOVE, PX_OS_CHANGE };

/* Makes a set, which is a descriptor, close-on-exec. Sets may contain sets. */
int px_os_set_create(void);
/* Changes the member fd. ready: bits of px_os_ready. */
int px_os_set_change(int set, enum px_os_change what, int fd, unsigned ready,
                     void *arg);
/* Waits for at most ms milliseconds (-1: no limit). Writes the args of up to two ready
 * members and the bits of the first. Returns their number. */
int px_os_set_wait(int set, void *args[2], int n, unsigned *ready, int ms);

/* ---- processes ------------------------------------------------------------------- */

/* Flag of waitpid and waitid: children of px_os_fork_unseen, too. */
#define PX_OS_WAIT_ALL 0x40000000 /* __WALL */

/* Forks without an exit signal: only a wait with PX_OS_WAIT_ALL sees the child. */
pid_t px_os_fork_unseen(void);
/* Returns a descriptor that becomes readable when the process ends, close-on-exec. */
int px_os_pidfd_open(int64_t pid);
/* Sends a signal to the process of the descriptor, or to its group. Returns an errno;
 * ENOSYS without a descriptor. */
int px_os_pidfd_signal(int pidfd, int signum, bool group);
/* Reaps a child that has ended, by pidfd or without (-1). Returns 1 with its wait
 * status and usage, and 0 while the child runs. A child that was reaped elsewhere gives
 * 2 with its wait status, or -1 if the system does not keep the status. */
int px_os_reap(pid_t pid, int pidfd, int *status, struct rusage *usage);
/* Sends this process the signal when the thread that made it ends. 0: no signal. */
bool px_os_end_with_parent(int signum);
/* Names this thread, and in a new process the process. */
void px_os_name_thread(const char *name);
/* Gives each signal its default action, also the signals that the C library reserves.
 * glibc's posix_spawn has its children ignore these. */
void px_os_reset_signals(void);
/* Lets the parent trace this process. The next exec stops. */
bool px_os_trace_me(void);
/* Ends the trace of a child that has stopped at exec, and leaves it stopped. */
bool px_os_untrace_stopped(pid_t pid);
/* True if started setuid, setgid or with file capabilities. The user's environment must
 * be ignored then. */
bool px_os_is_setuid(void);

/* ---- rights, in a new process with one thread ------------------------------------ */

/* Sets real, effective and saved ids and the groups, without the locks of libc. */
bool px_os_set_ids(uid_t uid, gid_t gid, const gid_t *groups, size_t n);
/* Drops all capabilities. False if one is left, or if root's uid could be regained. */
bool px_os_drop_capabilities(void);
/* Keeps programs that this process executes from more rights. */
bool px_os_refuse_new_rights(void);
/* Keeps processes of the same user from reading this process's memory. */
bool px_os_hide_memory(void);
/* Begins rules that forbid to write, create and execute files, and to remove them if
 * removal. Returns a descriptor, or -1 if the system has no such rules. */
int px_os_confine_begin(bool removal);
/* Allows removal below an open folder. */
bool px_os_confine_allow(int rules, int folder);
/* Applies the rules to this process. E2BIG: too many nested rules. */
bool px_os_confine(int rules);

/* ---- files ----------------------------------------------------------------------- */

/* Describes the file name in folder at, or at itself ("" for name). Follows no link and
 * mounts nothing; no_wait: asks no server. *is_mount: 1 for the root of a mount, 0 for
 * another file, -1 if unknown, as always with plain. Returns an errno. ENOSYS or EPERM:
 * try plain. */
int px_os_stat(int at, const char *name, bool plain, bool no_wait, struct stat *st,
               int *is_mount);
/* Returns the number of the file's mount, or minus an errno. */
int64_t px_os_mount_of(int fd);
/* True for file systems of the kernel, such as /proc. Nothing may be removed there. */
bool px_os_fs_is_pseudo(int fd);
/* Returns a reason why the path cannot be removed, judged by the text, or NULL. */
const char *px_os_path_is_pseudo(const char *path);
/* True if only this node has mounted the file system. Then its locks show every server,
 * and files removed while open are gone. */
bool px_os_fs_is_local(int fd);
/* Calls each with every name in an open directory but "." and "..", until each returns
 * false. Returns an errno. */
int px_os_each_name(int folder, bool (*each)(void *arg, const char *name), void *arg);
/* Closes every descriptor in [from, last]. False if the system has no list of them. */
bool px_os_close_range(int from, int last);
/* Renames within a folder. EEXIST if to exists; EINVAL or ENOSYS: use link. */
int px_os_rename_to_free(int folder, const char *from, const char *to);
/* Locks a byte for writing, until the last copy of the descriptor is closed. */
bool px_os_lock_byte(int fd, off_t byte);
/* True if another description holds such a lock in [from, from + n); n 0: to the
 * end. */
bool px_os_is_locked(int fd, off_t from, off_t n);

/* ---- memory ---------------------------------------------------------------------- */

/* Allocates the pages of [at, at + n) in one call where the system can. Errors do not
 * matter, because faults allocate the rest. */
void px_os_populate(void *at, size_t n);
/* Flag of mmap: a page counts when it is written. */
#define PX_OS_MAP_LAZY MAP_NORESERVE
/* Clears the page in children. */
bool px_os_wipe_on_fork(void *page, size_t n);

/* ---- the machine: not async-signal-safe ------------------------------------------ */

struct px_os_peer {
    pid_t pid; /* 0: of another pid namespace */
    uid_t uid; /* -1: unknown */
    gid_t gid; /* -1: unknown */
};
/* Identifies the process at the other end of a Unix socket. */
bool px_os_peer(int fd, struct px_os_peer *peer);
/* Opens the file of a descriptor again: a description of its own. */
int px_os_reopen(int fd, int flags);
/* Returns the path of the running program, malloc'd, or NULL. */
char *px_os_program_file(void);
/* Returns the path that was given to exec. */
const char *px_os_exec_name(void);
/* True if the file system of fd may block. */
bool px_os_fs_may_wait(int fd);
/* Returns an address in the middle of the largest unused range of this process. Other
 * processes keep their mappings at the ends of the same range, so the address is most
 * likely free there, too. 0: not found. */
uint64_t px_os_find_hole(size_t size_b);
/* Returns free memory of malloc to the system. */
void px_os_trim(void);

#endif
