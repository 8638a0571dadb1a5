/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of rendezvous files: a folder of the node and one of the server's own, which have to be empty
 * at the end; servers in this process, and in processes of their own. */
#ifndef TEST_CONTACT_SCENE_H
#define TEST_CONTACT_SCENE_H

#include "../rt/rt_test.h"

#include "core/base/attr.h"
#include "core/link/rendezvous.h"
#include "fake_host.h"
#include "files.h"
#include "raw.h"

#include <sys/stat.h>

extern const char *const roles[5];
#define SYSTEM roles[0]

/* That of the node, the server's own, and its name. */
extern char sys_dir[256], own_dir[256], node[256];

/* For PX_TEST_MAIN. */
void contact_setup(void);
void contact_teardown(void);

/* Good until eight more of them were made. */
PX_PRINTF(2, 3) char *path_of(const char *dir, const char *fmt, ...);
/* That of a server for the whole node. */
char *system_file(void);
void put_file(const char *path, const char *text);
void file_is(const char *path, const char *wanted);
struct stat look(const char *path);
/* What a server of another library writes, if there is one at that port. */
void put_foreign(int port, pid_t pid);
/* The names in a folder but for the private one, sorted, each with a space behind it. */
char *names_in(const char *dir);

struct placement {
    const char *key;
    const char *text; /* NULL: a flag */
};
/* A server that has both folders, and what it is told besides. */
pmix_status_t server_init(const pmix_server_module_t *module,
                          const struct placement *placements, size_t n);
pmix_status_t init_as(const char *role);
void start_with(const char *key, const char *text);
void end(void);

/* A server in a process of its own, which starts one each time it is told to. */
struct child {
    pid_t pid;
    int to, from;
    char log[256];
};
/* As that user, unless 0. It ends with the test. */
struct child *child_of(const char *role, uid_t uid);
/* 'i' to start its server, 'f' to finalize it; and what became of it. */
void child_send(const struct child *c, char order);
pmix_status_t child_receive(const struct child *c);
pmix_status_t child_ask(const struct child *c, char order);
/* Ends the process, by that signal or, if 0, in order. */
void child_end(struct child *c, int signum);
void child_has_printed(const struct child *c, const char *what);

#endif
