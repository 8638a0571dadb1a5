/* SPDX-License-Identifier: BSD-3-Clause */
/* The journal of a server: what it has made and what it was asked to remove, so that
 * another process can do it if the server is killed. A file of records that is only
 * appended to; also the memory of the pcleanup components, and what a later server
 * finds.
 *
 * Records stand in slots of scopes: a later one for the same slot replaces the earlier.
 * Scope 0 is the server's own: what it has made. Every other scope is a set of things
 * to remove when its processes have ended. Decoding trusts nothing. No malloc, no
 * locks: also for processes made by a bare clone. */
#ifndef PX_RECLAIM_JOURNAL_H
#define PX_RECLAIM_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PX_JOURNAL_NAME     "journal"
#define PX_JOURNAL_DIR      "pmix-server." /* begin of the name of the folder it is in */
#define PX_JOURNAL_MAX_SLOT (1u << 20)
#define PX_JOURNAL_MAX_B    (1u << 30) /* a longer file is none of ours */

enum px_journal_type {
    PX_JOURNAL_NONE = 0, /* the slot is empty again */
    /* first in the file. x, y: pid and start time of the server; path: of
     * px_journal_whereabouts; flags: below */
    PX_JOURNAL_HEAD,
    /* kind, flags (rmtree.h), uid, gid, path; x, y: device and inode with PX_RM_SAME */
    PX_JOURNAL_ITEM,
    /* the scope waits for its end. x, y: pid and start time; flags: below */
    PX_JOURNAL_PROC,
    PX_JOURNAL_DONE, /* the scope as a whole is no more: its slots are empty; slot 0 */
};

enum px_journal_flag {
    /* PROC: the server has started it, and it ends with the server: it and its process
     * group are killed */
    PX_JOURNAL_END = 1,
    /* HEAD: the server could not lock the folder: its process tells whether it lives */
    PX_JOURNAL_UNLOCKED = 2,
};

/* The members before path are in the file as they are here. */
struct px_journal_record {
    uint8_t type;
    uint8_t kind;
    uint16_t flags;
    uint32_t slot;
    uint64_t scope;
    uint32_t uid, gid;
    uint64_t x, y;
    const char *path; /* terminated; points into the bytes when decoded; "" for none */
};

/* The most bytes that px_journal_encode can need. */
#define PX_JOURNAL_RECORD_B 4224

/* Writes r to out and returns its length, which is a multiple of 8; 0 if the path is
 * too long. */
size_t px_journal_encode(const struct px_journal_record *r,
                         uint8_t out[PX_JOURNAL_RECORD_B]);

/* The record at *at of a journal of n bytes, and moves *at behind it. False at the end,
 * and before what is torn or wrong: nothing after it counts. The path of an ITEM is in
 * normal form (px_rm_path_check), the slot below PX_JOURNAL_MAX_SLOT. */
bool px_journal_next(const uint8_t *bytes, size_t n, size_t *at,
                     struct px_journal_record *r);

/* The start time of a process, in clock ticks since the system started; 0 if there is
 * none, or it has ended and is not waited for yet. */
uint64_t px_journal_start_time(int64_t pid);
/* "<boot id>.<pid namespace> <node>" for HEAD, or " <node>" if the system does not
 * tell; out has 320 bytes. */
void px_journal_whereabouts(const char *node, char *out);
/* Whether that is where we are: its pids and paths mean what they meant. False also if
 * the system does not tell. With NULL any node will do. */
bool px_journal_is_here(const struct px_journal_record *head, const char *node);

/* ---- a journal, read: what it says in the end ----------------------------------- */

struct px_journal_entry {
    uint64_t scope;
    uint64_t at; /* offset of the record */
    uint32_t slot;
    uint8_t type;
    bool done; /* for the caller */
    bool past; /* its scope is done: what it wants kept still counts */
};

/* A copy of the file's bytes, which no process can change while we look. */
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
/* How many entries there are of the same scope as the first, from there on. */
size_t px_journal_view_scope(const struct px_journal_view *view, size_t first);

#endif
