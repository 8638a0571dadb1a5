/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the parts of the pcleanup suite: a server's folder with its journal, items
 * to remove, and the result of a removal. */
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

/* A server that uses the component under test or another copy of it. */
struct srv {
    void *self;
    char path[PATH_MAX]; /* path of the server's folder in contract.dir */
    int dir, journal;    /* -1: not made yet */
};

const struct px_pcleanup_ops *pcleanup_ops(void);
/* Returns a started server without a folder. */
struct srv srv_of(void *self, const char *name);
void srv_make_dir(struct srv *s);
/* Makes a journal in the folder, for this process with the given start time. */
void srv_begin_journal(struct srv *s, uint64_t start_time);
/* Makes the journal, and the folder if it is missing. Passes both to the component. */
void srv_make_journal(struct srv *s);
/* Starts a server with contract.self and makes its folder and journal. */
struct srv srv_begin(void);
/* Removes folder and journal, and ends the server in order. */
void srv_end(struct srv *s);
/* Appends to the journal. */
void srv_record(struct srv *s, const struct px_journal_record *r);
void srv_item(struct srv *s, uint64_t scope, const char *path, enum px_rm_kind kind,
              unsigned flags);
/* Adds a process for which the scope waits. */
void srv_proc(struct srv *s, uint64_t scope, pid_t pid, unsigned flags);

/* Returns a path in contract.dir, in static memory that lasts for eight calls. */
const char *in_dir(const char *name);
/* Make an empty file or folder. */
const char *make_file(const char *name);
const char *make_folder(const char *name);
/* Makes a folder with n files. */
const char *make_tree(const char *name, unsigned n);

struct answer {
    unsigned n; /* number of calls of on_done */
    pmix_status_t status;
    struct px_pcleanup_totals totals;
};

void on_done(void *arg, pmix_status_t status, const struct px_pcleanup_totals *totals);
/* Runs the loop until the answer has come. */
void answer_wait(struct answer *a);
/* Runs a scope and waits for its success. */
struct answer sweep(struct srv *s, uint64_t scope);

/* Makes this process the parent of orphans below it. */
void adopt_orphans(void);
/* True if all processes below this one, live or dead, go within ms. */
bool are_all_gone(uint64_t ms);
/* Returns a process of that name below this one, or 0. */
pid_t find_process(const char *name);
/* Kills all processes below top except this one. */
void kill_all_below(pid_t top);

#endif
