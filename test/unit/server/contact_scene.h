/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of rendezvous files: folders to put them in, servers in this process that are told which to
 * have, and servers that are processes of their own, which contend for a name. */
#ifndef TEST_CONTACT_SCENE_H
#define TEST_CONTACT_SCENE_H

#include "core/base/attr.h"
#include "core/server/door/door.h"
#include "core/server/door/rendezvous_file.h"
#include "files.h"

/* That of the node, and the server's own. */
extern char sys_dir[80], own_dir[80];

/* Sets what PX_TEST_MAIN wants: both folders, which have to be empty at the end. */
void contact_setup(void);
void contact_teardown(void);

/* ---- files -------------------------------------------------------------------------- */

const char *node_name(void);
/* Good until some more of them were made. */
char *path_of(const char *dir, const char *fmt, ...) PX_PRINTF(2, 3);
/* That of a server for the whole node. */
char *system_file(void);
void put_file(const char *path, const char *text);
/* What a server of another library writes, if there is one at that port. */
char *foreign_text(int port, pid_t pid);
/* The names in a folder but for the private one, sorted, each with a space behind it. */
char *names_in(const char *dir);

/* ---- servers ------------------------------------------------------------------------ */

struct wish {
    const char *key;
    const char *text; /* NULL: a flag */
};

/* One that has both folders, and what it is told besides; and one that has just one flag. */
pmix_status_t server_init(const pmix_server_module_t *module, const struct wish *wishes,
                          size_t n);
pmix_status_t init_as(const char *key);

/* A server in a process of its own, which starts one each time it is told to. */
struct child {
    pid_t pid;
    int to, from;
    char log[96];
};
/* As that user, unless 0. */
struct child child_of(const char *key, uid_t uid);
/* 'i' to start its server, 'f' to finalize it; and what became of it. */
void child_tell(const struct child *c, char order);
pmix_status_t child_hear(const struct child *c);
pmix_status_t child_ask(const struct child *c, char order);
/* Ends the process, by that signal or, if 0, in order. */
void child_end(const struct child *c, int signum);
/* Whether that is in what it has written to stderr. */
bool child_has_said(const struct child *c, const char *what);

/* Two servers at once, n times; prepare, if there is one, puts something there before. One must have
 * got the name each time. Returns how often the first has. */
int race(int n, void (*prepare)(void));

#endif
