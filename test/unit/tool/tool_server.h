/* SPDX-License-Identifier: BSD-3-Clause */
/* Fake servers for tools, over the fake server's socket. Each connection reaches a new
 * server, named "server-1", "server-2" and so on. The tools run in the test's own
 * process, with or without a server. */
#ifndef TEST_TOOL_SERVER_H
#define TEST_TOOL_SERVER_H

#include "fake_server.h"
#include "pmix_tool.h"

struct tool_server {
    int accepted;         /* connections so far */
    pmix_status_t refuse; /* status of the next refusal */
    bool same_name;       /* each server is "server-1" */
    bool mute;            /* accepts without any reply */
    int fds[16];          /* connections by number, from 1 */
};
extern struct tool_server tool_server;

/* Makes the test's folder TMPDIR; the environment names no server. */
void tool_setup(void);
/* Calls tool_setup and starts the servers; the environment does not name them. */
void tool_server_setup(void);
/* Ends the tool and the servers, and checks that nothing is left. */
void tool_teardown(void);
void nothing_is_left(void);
/* Returns "name.0;tcp4://...", valid for eight more calls. */
const char *tool_server_uri(const char *name);

/* ---- a tool ---------------------------------------------------------------------- */

/* The identity of the last tool, and the infos of the next one. */
extern pmix_proc_t tool;
extern px_infos tool_infos;

void add(const char *key, const void *data, pmix_data_type_t type);
void add_text(const char *key, const char *text);
void add_u32(const char *key, uint32_t n);
void add_yes(const char *key);
pmix_status_t init(void);
void init_alone(void);
/* Ends the last tool and checks that nothing is left. */
void finalize(void);
/* Start a tool with exactly these infos, which then finds the server, or fails without
 * a trace. Both clear the infos. */
void finds_it(void);
/* Add an attribute first, whose value is the text, or true. */
void finds_by(const char *key, const char *text);
void fails_by(const char *key, const char *text, pmix_status_t status);
void fails_with(pmix_status_t status);

/* ---- files ----------------------------------------------------------------------- */

/* Names of rendezvous files: pmix.<host>.<what>, pmix.<host>.tool.<what>,
 * pmix.<what>.<host>; valid for eight more calls. */
enum tool_name { PLAIN, OLD, KIND };
const char *tool_name(enum tool_name form, const char *what);
/* Writes a file in the test's folder with mode 0600 and returns its path. text NULL: as
 * a server of 4.2.2 does. */
const char *tool_file(const char *name, const char *text);
/* Returns the file content of a server of this version; NULL: without a version. */
const char *content(const char *version);

#endif
