/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that the host does not see and that drop privileges for good, and functions
 * to watch and kill processes. */
#ifndef PX_RECLAIM_PROCESS_H
#define PX_RECLAIM_PROCESS_H

#include "core/os/os.h"
#include "core/reclaim/journal.h"
#include "core/reclaim/rmtree.h"

/* Forks by px_os_fork_unseen, so hosts that reap every child do not notice. In the
 * child all signals are blocked. The child may call async-signal-safe functions only.
 * The child must not set ids through libc, which would look for the parent's threads.
 * Returns -1 with errno on failure. */
pid_t px_reclaim_fork(void);

/* Names of janitor and worker processes, which never kill each other. */
#define PX_RECLAIM_JANITOR "tenon-janitor"
#define PX_RECLAIM_WORKER  "tenon-sweep"

/* Detaches a child from the host. Blocks all signals and resets their handlers. Starts
 * a session, changes to "/" and sets umask 077. Closes all descriptors except
 * keep[0..n), which is sorted. Opens /dev/null as 0-2 unless keep contains them. Sets
 * the process name; makes the process not dumpable. */
void px_reclaim_detach(const char *name, const int *keep, size_t n);
/* Makes a detached child end with the thread of process parent that created the
 * child. */
void px_reclaim_bind(pid_t parent);
/* Forks a child for a vendor's component with the C library's fork, because components
 * allocate. The child is detached, ends with the calling thread, blocks no signal, and
 * has only stderr and descriptor keep. Returns the child's pid, 0 in the child, or -1
 * with errno. */
pid_t px_reclaim_fork_component(const char *name, int keep);

/* Starts the program argv[0] as an orphan: the host is not its parent, and sees neither
 * SIGCHLD nor a child. The program leads a session, has default signals, /dev/null as
 * its input, the output streams of this process, and the descriptors ends, sorted and
 * above 2. All other descriptors are closed. A program that cannot be executed leaves
 * its errno, an int, in report, which is one of ends. Returns false with errno if no
 * process can be made. */
bool px_reclaim_launch(char *const argv[], const int ends[2], int report);

/* Sets groups, gid and uid for good; drops capabilities (unless uid is root's) and sets
 * no_new_privs. Leaves the ids alone if the process already is that user and, for root,
 * in that group. Ends the process if a step fails or could be undone. */
void px_drop_privileges(uid_t uid, gid_t gid);
/* Restricts this process with Landlock after px_drop_privileges. The process may then
 * only remove, and only below the parent folders of the items (NULL: anywhere). Returns
 * false if Landlock is not available. Ends the process if the state is uncertain. */
bool px_reclaim_confine(const struct px_rm_item *items, size_t n);

/* Reaps the child without waiting. True if the child has ended (*status from waitpid)
 * or is not a child of ours (*status -1). */
bool px_reclaim_reap(pid_t pid, int *status);
/* Waits for the child's end until deadline_ms (0: no deadline). False on timeout. */
bool px_reclaim_reap_until(pid_t pid, uint64_t deadline_ms, int *status);
/* Kills the child and waits for its end. Gives up a child that hangs in the kernel. */
void px_reclaim_end(pid_t pid);

/* Kills the process of r (PROC with END) and its process group, if both still are the
 * same. The group may have lost its leader. */
void px_reclaim_kill(const struct px_journal_record *r);

/* Kills a process unless it is a janitor or worker. pidfd was opened before the caller
 * examined the process, so no other process is hit. pidfd is -1 on systems without
 * pidfds. False if the process lives on. */
bool px_reclaim_kill_one(int64_t pid, int pidfd);
/* Kills all processes with the tag of this server (px_osproc_rlimit_tag), except
 * janitors and workers. With wait, repeats until none is left, for at most a second. */
void px_reclaim_kill_tagged(int64_t server, uint64_t start, bool wait);

#endif
