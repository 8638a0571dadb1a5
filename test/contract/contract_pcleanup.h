/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the pcleanup suite share: a server's folder with the journal in it, things to be
 * removed, and learning how that went. */
#ifndef PX_CONTRACT_PCLEANUP_H
#define PX_CONTRACT_PCLEANUP_H

#include "contract.h"
#include "core/base/attr.h"
#include "core/reclaim/journal.h"
#include "core/reclaim/rmtree.h"
#include "files.h"
#include "process.h"
#include "tenon/pcleanup.h"

#include <limits.h>

enum { LATE_MS = 20000, SCOPE = 7 };

/* A server, with the component under test or another copy of it. */
struct srv {
    void *self;
    char path[PATH_MAX]; /* of its folder, in contract.dir */
    int dir, journal;    /* -1: not made yet */
};

const struct px_pcleanup_ops *pcleanup_ops(void);
/* Started, and nothing made yet. */
struct srv srv_of(void *self, const char *name);
void srv_make_dir(struct srv *s);
/* A journal in it, of this process as if it had started then. */
void srv_begin_journal(struct srv *s, uint64_t start_time);
/* Makes the folder, if need be, and a journal; tells of them. */
void srv_make_journal(struct srv *s);
/* All of that with contract.self. */
struct srv srv_begin(void);
/* Removes folder and journal, and ends in order. */
void srv_end(struct srv *s);
/* Appends to the journal. */
void srv_record(struct srv *s, const struct px_journal_record *r);
void srv_item(struct srv *s, uint64_t scope, const char *path, enum px_rm_kind kind,
              unsigned flags);
/* The scope waits for this process. */
void srv_proc(struct srv *s, uint64_t scope, pid_t pid, unsigned flags);

/* In contract.dir; in static memory, good for eight calls. */
const char *in_dir(const char *name);
/* An empty file, or folder. */
const char *make_file(const char *name);
const char *make_folder(const char *name);
/* A folder with n files. */
const char *make_tree(const char *name, unsigned n);

struct answer {
    unsigned n; /* how often it came */
    pmix_status_t status;
    struct px_pcleanup_totals totals;
};

void on_done(void *arg, pmix_status_t status, const struct px_pcleanup_totals *totals);
/* Runs the loop until it has come. */
void answer_wait(struct answer *a);
/* Runs a scope and waits for it; with success. */
struct answer sweep(struct srv *s, uint64_t scope);

/* From now on orphans below this process become its children. */
void adopt_orphans(void);
/* No process, live or dead, is left below this one, at the latest after so long. */
bool are_all_gone(uint64_t ms);
/* A process of that name below this one, or 0. */
pid_t find_process(const char *name);
/* Kills all processes below that one but this. */
void kill_all_below(pid_t top);

#endif
