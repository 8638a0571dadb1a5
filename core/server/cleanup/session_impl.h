/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the session share. */
#ifndef PX_SERVER_CLEANUP_SESSION_IMPL_H
#define PX_SERVER_CLEANUP_SESSION_IMPL_H

#include "core/reclaim/rmtree.h"
#include "core/server/cleanup/session.h"
#include "frameworks/pcleanup/pcleanup.h"

/* Scopes of our own in the journal, besides 0: of folders that go before the server does. */
#define PX_SESSION_SCOPE (UINT64_C(1) << 63)

/* Something that was made, or is about to be; its place in the array is its slot. */
struct px_made {
    char *path; /* NULL: the slot is free */
    uint8_t kind;
    uint8_t flags;
    uint64_t device, inode; /* with PX_RM_SAME */
};

struct px_session {
    const struct px_module
        *cleaner;           /* has been told of the folder; NULL if there is none */
    int dir_fd, journal_fd; /* -1: none; dir_fd has the lock */
    dev_t device;           /* of the folder */
    ino_t inode;
    bool keep_dirs;         /* those we make are the host's to remove */
    char *own_tmpdir;       /* what PMIX_SERVER_TMPDIR says; NULL: nothing */
    uint64_t length, fresh; /* of the journal: now, and after it was written anew */
    bool torn;              /* its end can not be mended */
    bool unlocked;          /* there was no lock to be had */
    bool missed;            /* a record did not fit while it was written anew */
    struct px_made *made;
    uint32_t n_made;
    struct px_list drops;
    uint64_t n_drops;
    unsigned n_reclaiming; /* places where leftovers are looked for */
    unsigned n_reclaimed;  /* and were */
    struct px_pcleanup_totals removed;
    struct px_call *waiter; /* for the end of that, and its patience */
    struct px_timer *patience;
    bool swept;
};

static inline const struct px_pcleanup_ops *px_session_ops(const struct px_session *s)
{
    return px_pcleanup_ops(s->cleaner);
}

/* session_reclaim.c */
/* Begins to look in these folders; NULL: none, and one that stands there twice counts once. */
void px_session_reclaim(struct px_server *srv, char *const *places, size_t n);

/* session_items.c */
void px_session_tell_kept(void *arg, const char *path, enum px_rm_why why, int errnum);
void px_session_items_free(struct px_session *s);
/* Records what was made, for a journal that is written anew. */
void px_session_items_record(struct px_server *srv);

#endif
