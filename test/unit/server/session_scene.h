/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of what a server makes in the file system: a folder for it, which has to be empty at the end,
 * and what the journal says. */
#ifndef TEST_SESSION_SCENE_H
#define TEST_SESSION_SCENE_H

#include "core/server/cleanup/registry.h"
#include "files.h"
#include "raw.h"

extern char session_top[256];

/* For PX_TEST_MAIN: the folder, as TMPDIR; at the end the server is stopped, and nothing is left. */
void session_setup(void);
void session_teardown(void);
/* A path in it, good until eight more are made. */
char *at(const char *name);

/* A server with a directory of its own to work in and maybe more to say. */
void session_start(const char *server_tmpdir, bool rmclean);
struct px_server *server(void);

struct entry {
    uint8_t type, kind;
    uint16_t flags;
    uint32_t slot;
    uint64_t scope, x, y;
    char path[256];
};
/* The journal, read again: how many records there are, of which most are told; the last of that path. */
size_t journal(struct entry *e, size_t most);
const struct entry *entry_of(const struct entry *e, size_t n, const char *path);

#endif
