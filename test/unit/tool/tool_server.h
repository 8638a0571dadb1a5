/* SPDX-License-Identifier: BSD-3-Clause */
/* Servers of tools, made of bytes: as many connections as come, each from a server of its own name,
 * "server-1", "server-2" and so on, over the fake server's socket. */
#ifndef TEST_TOOL_SERVER_H
#define TEST_TOOL_SERVER_H

#include "fake_server.h"
#include "pmix_tool.h"

struct tool_server {
    int accepted;         /* connections so far */
    pmix_status_t refuse; /* with this */
    bool same_name;       /* every one is "server-1" */
    bool mute;            /* accepts, and says nothing at all */
    bool silent;          /* welcomes, and answers no request */
    int fds[16];          /* by number, from 1 */
};
extern struct tool_server tool_server;

/* Starts it, and takes what it told the environment away again. */
void tool_server_start(void);
void tool_server_stop(void);
/* "server-1.0;tcp4://..."; the caller's. */
char *tool_server_uri(const char *name);

/* A folder of the test's own, which TMPDIR names; removed with all that is in it. */
extern char tool_dir[64];
void tool_dir_make(void);
void tool_dir_remove(void);
/* Writes a file there, with mode 0600; the path is good until the next call. */
const char *tool_file(const char *name, const char *text);
/* pmix.<host>.<what>, pmix.<host>.tool.<what>, pmix.sys.<host>: good until the next call */
const char *tool_file_plain(const char *what);
const char *tool_file_name(const char *what);
const char *tool_file_of(const char *kind);

#endif
