/* SPDX-License-Identifier: BSD-3-Clause */
/* Scene for tests of a server's files: a folder that must be empty at the end, and the records of
 * the journal. */
#ifndef TEST_SESSION_SCENE_H
#define TEST_SESSION_SCENE_H

#include "core/server/cleanup/registry.h"
#include "files.h"
#include "raw.h"

extern char session_top[256];

/* Fixtures for PX_TEST_MAIN. Setup makes the folder TMPDIR. Teardown stops the server; then the
 * folder must be empty. */
void session_setup(void);
void session_teardown(void);
/* Returns a path in the folder, which stays valid until eight more calls. */
char *at(const char *name);

/* Starts a server. server_tmpdir: directory of its own, or NULL. rmclean: with PMIX_TDIR_RMCLEAN. */
void session_start(const char *server_tmpdir, bool rmclean);
struct px_server *server(void);

struct entry {
    uint8_t type, kind;
    uint16_t flags;
    uint32_t slot;
    uint64_t scope, x, y;
    char path[256];
};
/* journal copies at most this number of records and returns their number. entry_of returns the last
 * record of a path. */
size_t journal(struct entry *e, size_t most);
const struct entry *entry_of(const struct entry *e, size_t n, const char *path);

#endif
