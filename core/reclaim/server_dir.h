/* SPDX-License-Identifier: BSD-3-Clause */
/* The remains of servers that are no more. */
#ifndef PX_RECLAIM_SERVER_DIR_H
#define PX_RECLAIM_SERVER_DIR_H

#include "core/reclaim/reclaim.h"

#include <time.h>

/* Does what a server that is no more has left undone; dir is its folder, by path, and
 * gone afterwards unless something in it has to stay. Kills what should have ended with
 * it (PX_JOURNAL_END). Then, as their processes end, removes the scopes, and at last
 * scope 0 and dir. If the journal is of another boot or node, only scope 0 and dir;
 * without a journal only dir. wait false: scopes whose processes live are left for
 * another time, and so are journal and dir.
 *
 * Nothing happens while another process holds the lock (BSD, exclusive) on dir; if the
 * server itself has ended, the lock is waited for, up to a second. locked
 * is -1, or the caller's descriptor of dir with that lock: then it counts, and dir may
 * have been moved or removed; s->journal is used if the journal is not in it any more,
 * and else not. Nothing either if the journal is not one: no file, linked elsewhere,
 * another's.
 *
 * 0 (also if dir is not there); EBUSY (the lock, or processes that live); EPERM (not a
 * folder or a journal of ours: owner, mode 0700 and 0600), or another errno. May
 * be killed anywhere: the next that calls it does the rest. */
int px_reclaim_server_dir(const struct px_reclaim *s, const char *dir, int locked,
                          bool wait, struct px_pcleanup_totals *totals);

/* Whether only this node has the file system; then its locks tell of every server, and
 * what is removed while it is open is gone. */
bool px_reclaim_is_local(int fd);

/* Calls px_reclaim_server_dir without waiting for each folder PX_JOURNAL_DIR* of this
 * user in tmpdir that is not locked; s->journal is not used. 0 also if some are left to
 * others or for later, else the first errno. */
int px_reclaim_tmpdir(const struct px_reclaim *s, const char *tmpdir,
                      struct px_pcleanup_totals *totals);

/* For tools: what a server that is no more has left, without changing anything. */
struct px_reclaim_left {
    bool alive;     /* its server lives, as far as can be told: nothing else is said */
    int64_t pid;    /* of the server; 0 if that is not known */
    size_t things;  /* to be removed, as its journal says */
    size_t living;  /* processes of which the end has to come before */
    time_t changed; /* the later change of folder and journal */
    const char *note; /* a constant: what is wrong with the journal; NULL */
};

/* dir: a folder PX_JOURNAL_DIR*, opened without following a link. The journal in it is
 * believed as little as a server would: it may be anything. 0 or an errno.
 * Allocates. */
int px_reclaim_inspect(int dir, struct px_reclaim_left *out);

#endif
