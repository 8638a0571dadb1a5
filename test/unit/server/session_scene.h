/* SPDX-License-Identifier: BSD-3-Clause */
/* Scene for tests of a server's files: a tree that is TMPDIR, and the records of the journal. */
#ifndef TEST_SESSION_SCENE_H
#define TEST_SESSION_SCENE_H

#include "core/server/cleanup/registry.h"
#include "files.h"
#include "raw.h"
#include "tree.h"

/* Fixtures for PX_TEST_MAIN. Teardown stops the server. Then the tree must be session_left, which
 * is "" unless a test sets it. */
void session_setup(void);
void session_teardown(void);
extern const char *session_left;

/* Returns the path of a name in the tree, or in the server's folder. */
#define at px_tree_path
const char *inside(const char *name);

/* Starts a server. server_tmpdir: name of its directory, or NULL. */
void session_start(const char *server_tmpdir);
void session_start_with(const px_infos *infos);
struct px_server *server(void);
/* Denies a system call in this thread and the server's. */
void session_deny(long call, int errnum);

struct entry {
    struct px_journal_record r;
    char path[256];
};
extern struct entry entries[4096];
/* Reads the journal into entries. Returns the number of records. */
size_t journal(void);
/* Returns the last record of a path in the journal. */
const struct px_journal_record *record_of(const char *path);
off_t journal_b(void);

#endif
