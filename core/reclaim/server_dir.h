/* SPDX-License-Identifier: BSD-3-Clause */
/* Remains of servers that have ended. */
#ifndef PX_RECLAIM_SERVER_DIR_H
#define PX_RECLAIM_SERVER_DIR_H

#include "core/reclaim/reclaim.h"

#include <time.h>

/* Completes the work of a server that has ended. dir is the path of the server's
 * folder. Kills processes that should have ended with the server (PX_JOURNAL_END).
 * Removes each scope when its processes have ended, then scope 0, then dir unless an
 * entry must stay. A journal of another boot or node allows only scope 0 and dir; a
 * missing journal only dir. With wait false, scopes with living processes remain for a
 * later call, and so do journal and dir.
 *
 * Does nothing while another process holds the BSD lock on dir. If the server itself
 * has ended, waits up to a second for the lock. locked is -1, or the caller's
 * descriptor of dir with the lock. Then dir may have been moved or removed since;
 * s->journal serves if dir does not contain a journal any more. Does nothing if the
 * journal is not a regular file with one link and this user as owner.
 *
 * Returns 0, also if dir does not exist. Returns EBUSY for the lock or living
 * processes. Returns EPERM unless folder and journal are ours, with modes 0700 and
 * 0600. Other failures give their errno. If this process is killed, the next call
 * continues. */
int px_reclaim_server_dir(const struct px_reclaim *s, const char *dir, int locked,
                          bool wait, struct px_pcleanup_totals *totals);

/* Calls px_reclaim_server_dir without waiting for each unlocked folder PX_JOURNAL_DIR*
 * of this user in tmpdir. s->journal is not used. Returns 0, also if some folders
 * remain for other users or later, or the first errno. */
int px_reclaim_tmpdir(const struct px_reclaim *s, const char *tmpdir,
                      struct px_pcleanup_totals *totals);

/* Remains of a server, for tools. */
struct px_reclaim_left {
    bool alive;       /* the server seems to live; other members are not set */
    int64_t pid;      /* of the server; 0 if unknown */
    size_t things;    /* items to remove according to the journal */
    size_t living;    /* processes that must end before the removal */
    time_t changed;   /* the later mtime of folder and journal */
    const char *note; /* constant text: the problem of the journal, or NULL */
};

/* Examines dir without changes. dir is a folder PX_JOURNAL_DIR*, opened without
 * following a link. The journal is untrusted. Returns 0 or an errno. Allocates. */
int px_reclaim_inspect(int dir, struct px_reclaim_left *out);

#endif
