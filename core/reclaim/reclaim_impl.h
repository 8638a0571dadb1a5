/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the sweeper share: what a journal says in the end, and a walk as a
 * user. */
#ifndef PX_RECLAIM_IMPL_H
#define PX_RECLAIM_IMPL_H

#include "core/reclaim/journal.h"
#include "core/reclaim/reclaim.h"

#include <sys/stat.h>

/* Memory of nobody's allocator, zero; NULL if there is none. */
void *px_reclaim_map(size_t size_b);
void px_reclaim_unmap(void *mapped, size_t size_b);

/* ---- a journal, read: what it says in the end
 * ------------------------------------- */

struct px_journal_entry {
    uint64_t scope;
    uint64_t at; /* offset of the record */
    uint32_t slot;
    uint8_t type;
    bool done; /* free for who goes through them */
    bool past; /* its scope is done: what it wants kept still counts */
};

/* A copy of the file's bytes, which nobody can change while we look. */
struct px_journal_view {
    uint8_t *bytes;
    size_t size_b, mapped_b;
    size_t valid_b;                   /* up to the first record that is torn or wrong */
    struct px_journal_entry *entries; /* ITEM and PROC, by scope and slot */
    size_t n, entries_b;
    bool has_head;
    struct px_journal_record head;
};

/* With only, what does not belong to that scope is left out, but for what others want
 * kept. 0 or an errno; then there is nothing to unload. */
int px_journal_view_load(int journal, const uint64_t *only,
                         struct px_journal_view *view);
void px_journal_view_unload(struct px_journal_view *view);
void px_journal_view_get(const struct px_journal_view *view,
                         const struct px_journal_entry *entry,
                         struct px_journal_record *r);
/* The entries of the same scope as the first, from there on. */
size_t px_journal_view_scope(const struct px_journal_view *view, size_t first);

/* Whether the server lives, of whose folder nobody has the lock, as its process does
 * (is_here: pids of the journal mean something). A node whose file system others have
 * mounted, too (shared), may have locks of its own only: then what another node's
 * server left is that node's. Others have no locks (unlocked); or the server got none,
 * which does not count for its own descriptor (else found). */
bool px_journal_view_in_use(const struct px_journal_view *view, bool is_here,
                            bool unlocked, bool shared, bool found);

/* ---- walking as somebody
 * ---------------------------------------------------------- */

/* One child that becomes uid and gid and removes the items. 0 if it was made, whatever
 * became of it: else an errno. */
int px_reclaim_walk(const struct px_reclaim *s, const struct px_rm_item *items,
                    size_t n, uid_t uid, gid_t gid, struct px_pcleanup_totals *totals);

/* Which of a scope's items. */
struct px_reclaim_pick {
    bool files_only;
    const char
        *spare; /* NULL, or a folder: stays, and items beneath it are passed over */
};

/* What the owner of one item has among those entries, and what anybody wants kept
 * there, and, without pick, the same user in other scopes; items has room for one more
 * than the view has entries. Marks as done what is not to be looked at again. 0 if
 * there is nothing to remove. */
size_t px_reclaim_collect(const struct px_journal_view *view, size_t first, size_t n,
                          const struct px_journal_record *owner,
                          const struct px_reclaim_pick *pick, struct px_rm_item *items);
/* The n entries from first on, all of one scope, user by user. pick may be NULL. */
int px_reclaim_entries(const struct px_reclaim *s, const struct px_journal_view *view,
                       size_t first, size_t n, const struct px_reclaim_pick *pick,
                       struct px_pcleanup_totals *totals);
/* Whether path is folder, or beneath it. */
bool px_reclaim_is_in(const char *path, const char *folder);

/* ---- the folder of a server
 * ------------------------------------------------------- */

struct px_server_folder {
    char path[PX_RM_MAX_PATH + 1]; /* where it is now */
    bool is_gone;                  /* then where it was */
    struct stat st;
    int fd;         /* open for reading, and locked by us or the caller */
    bool unlocked;  /* its file system has no such locks */
    int journal;    /* -1: there is none */
    bool is_found;  /* by its path: whoever opens it is not its server's own */
    bool is_shared; /* its file system may be that of other nodes, too */
};

/* Opens both, after which px_server_folder_close has to be called; if it is not ours,
 * or in use, an errno as px_reclaim_server_dir has it. ENOENT: it is not there. With
 * locked, s->journal will do if there is none in the folder any more. */
int px_server_folder_open(struct px_server_folder *f, const struct px_reclaim *s,
                          const char *path, int locked);
void px_server_folder_close(struct px_server_folder *f);

#endif
