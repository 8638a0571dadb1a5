/* SPDX-License-Identifier: BSD-3-Clause */
/* A journal, read: what it says in the end. */
#ifndef PX_RECLAIM_JOURNAL_VIEW_H
#define PX_RECLAIM_JOURNAL_VIEW_H

#include "core/reclaim/journal.h"

/* Memory of nobody's allocator, zero; NULL if there is none. */
void *px_reclaim_map(size_t size_b);
void px_reclaim_unmap(void *mapped, size_t size_b);

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

#endif
