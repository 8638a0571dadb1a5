/* SPDX-License-Identifier: BSD-3-Clause */
/* The journal of a server: the files and folders that the server made, and the removals
 * that clients requested. If the server is killed, another process completes the work.
 * The file only grows by records. The pcleanup components and later servers read the
 * journal.
 *
 * Records belong to slots of scopes; a later record replaces an earlier record of the
 * same slot. Scope 0 lists the server's own files. Every other scope lists things to
 * remove when the scope's processes have ended. Decoding trusts no byte. Nothing here
 * uses malloc or locks, because processes made by a bare clone use these functions. */
#ifndef PX_RECLAIM_JOURNAL_H
#define PX_RECLAIM_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PX_JOURNAL_NAME     "journal"
#define PX_JOURNAL_DIR      "pmix-server." /* prefix of the folder's name */
#define PX_JOURNAL_MAX_SLOT (1u << 20)
#define PX_JOURNAL_MAX_B    (1u << 30) /* longer files are not journals of ours */

enum px_journal_type {
    PX_JOURNAL_NONE = 0, /* the slot is empty again */
    /* First record of the file. x, y: pid and start time of the server. path: text of
     * px_journal_whereabouts. */
    PX_JOURNAL_HEAD,
    /* Thing to remove. kind, flags (rmtree.h), uid, gid, path; x, y: device and inode
     * with PX_RM_SAME. */
    PX_JOURNAL_ITEM,
    /* Process that the scope waits for. x, y: pid and start time. */
    PX_JOURNAL_PROC,
    PX_JOURNAL_DONE, /* end of the scope: all slots are empty; slot is 0 */
};

enum px_journal_flag {
    /* PROC: a process that the server started. Cleanup kills the process and its
     * group. */
    PX_JOURNAL_END = 1,
    /* HEAD: the server could not lock the folder; only its process shows if the server
     * lives. */
    PX_JOURNAL_UNLOCKED = 2,
};

/* A record. The members before path have the same layout in the file. */
struct px_journal_record {
    uint8_t type;
    uint8_t kind;
    uint16_t flags;
    uint32_t slot;
    uint64_t scope;
    uint32_t uid, gid;
    uint64_t x, y;
    const char *path; /* terminated; points into the decoded bytes; "" for none */
};

/* The maximum size of an encoded record. */
#define PX_JOURNAL_RECORD_B 4224

/* Encodes r into out. Returns the length, a multiple of 8, or 0 if the path is too
 * long. */
size_t px_journal_encode(const struct px_journal_record *r,
                         uint8_t out[PX_JOURNAL_RECORD_B]);

/* Decodes the record at *at of n bytes and moves *at after the record. False at the end
 * and at a torn or invalid record; later records do not count. An ITEM's path is in
 * normal form (px_rm_path_check). Slots are below PX_JOURNAL_MAX_SLOT. */
bool px_journal_next(const uint8_t *bytes, size_t n, size_t *at,
                     struct px_journal_record *r);

/* Returns the start time of a process in clock ticks since boot. Returns 0 if the
 * process does not exist or has ended. */
uint64_t px_journal_start_time(int64_t pid);
/* Writes "<boot id>.<pid namespace> <node>" for HEAD to out, which has 320 bytes.
 * Writes " <node>" if the system does not provide the first two. */
void px_journal_whereabouts(const char *node, char *out);
/* True if head is of this boot, pid namespace and node, so its pids and paths are
 * valid. node NULL accepts any node. False if the system does not provide its
 * identity. */
bool px_journal_is_here(const struct px_journal_record *head, const char *node);

/* ---- view: the current state that a journal describes --------------------------- */

struct px_journal_entry {
    uint64_t scope;
    uint64_t at; /* offset of the record */
    uint32_t slot;
    uint8_t type;
    bool done; /* for the caller's use */
    bool past; /* the scope is done; its KEEP paths still count */
};

/* A private copy of the file's bytes, which other processes cannot change. */
struct px_journal_view {
    uint8_t *bytes;
    size_t size_b, mapped_b;
    size_t valid_b;                   /* end of the last valid record */
    struct px_journal_entry *entries; /* ITEM and PROC, by scope and slot */
    size_t n, entries_b;
    bool has_head;
    struct px_journal_record head;
};

/* Loads a journal. With only, omits entries of other scopes except KEEP paths. Returns
 * 0, or an errno, after which nothing needs unloading. */
int px_journal_view_load(int journal, const uint64_t *only,
                         struct px_journal_view *view);
void px_journal_view_unload(struct px_journal_view *view);
void px_journal_view_get(const struct px_journal_view *view,
                         const struct px_journal_entry *entry,
                         struct px_journal_record *r);
/* Returns the number of consecutive entries with the scope of entry first, from first
 * on. */
size_t px_journal_view_scope(const struct px_journal_view *view, size_t first);

#endif
