/* SPDX-License-Identifier: BSD-3-Clause */
/* What a server that is no more has left, without changing anything. For tools. */
#ifndef PX_RECLAIM_INSPECT_H
#define PX_RECLAIM_INSPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

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
