/* SPDX-License-Identifier: BSD-3-Clause */
/* Servers of tools, made of bytes: as many connections as come, each from a server of its own name,
 * "server-1", "server-2" and so on, over the fake server's socket. And tools in the test's own
 * process, which find them or do without. */
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

/* The test's own folder is TMPDIR, and the environment tells nothing of a server. */
void tool_setup(void);
/* That, and the servers run, of which the environment tells nothing. */
void tool_server_setup(void);
/* Ends what there is of a tool, and of servers; nothing may be left. */
void tool_teardown(void);
void nothing_is_left(void);
/* "name.0;tcp4://..."; good until 8 more were asked for. */
const char *tool_server_uri(const char *name);

/* ---- a tool ---------------------------------------------------------------------- */

/* What the last tool was called, and what the next one is told. */
extern pmix_proc_t tool;
extern px_infos told;

void add(const char *key, const void *data, pmix_data_type_t type);
void add_text(const char *key, const char *text);
void add_u32(const char *key, uint32_t n);
void add_yes(const char *key);
pmix_status_t init(void);
void init_alone(void);
/* The last one, after which nothing is left. */
void finalize(void);
/* A tool that is told just that finds the server, or does not and leaves no trace; then what it was
 * told is forgotten. */
void finds_it(void);
void fails_with(pmix_status_t status);

/* ---- files ----------------------------------------------------------------------- */

/* Names of rendezvous files: pmix.<host>.<what>, pmix.<host>.tool.<what>, pmix.<what>.<host>; good
 * until 8 more were asked for. */
enum tool_name { PLAIN, OLD, KIND };
const char *tool_name(enum tool_name form, const char *what);
/* Writes a file of the test's folder, with mode 0600; its path. Text NULL: as a server of 4.2.2
 * does. */
const char *tool_file(const char *name, const char *text);
/* The text of a server of this version; NULL: tells none. */
const char *content(const char *version);

#endif
