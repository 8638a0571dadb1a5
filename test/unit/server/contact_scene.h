/* SPDX-License-Identifier: BSD-3-Clause */
/* Scene for tests of rendezvous files. The node and the server have a folder each, which must be
 * empty at the end. Servers run in this process and in processes of their own. */
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

/* Folder of the node, folder of the server, and name of the node. */
extern char sys_dir[256], own_dir[256], node[256];

/* Fixtures for PX_TEST_MAIN. */
void contact_setup(void);
void contact_teardown(void);

/* Returns a path that stays valid until eight more calls. */
PX_PRINTF(2, 3) char *path_of(const char *dir, const char *fmt, ...);
/* Returns the path of the file of a system server. */
char *system_file(void);
void put_file(const char *path, const char *text);
void file_is(const char *path, const char *wanted);
struct stat stat_of(const char *path);
/* Writes the rendezvous file of another library's server with this port and pid. */
void put_foreign(int port, pid_t pid);
/* Returns the sorted names in a folder, each followed by a space, but not the private folder. */
char *names_in(const char *dir);

struct attribute {
    const char *key;
    const char *text; /* NULL: a flag */
};
/* Starts a server with both folders and these further attributes. */
pmix_status_t server_init(const pmix_server_module_t *module,
                          const struct attribute *attributes, size_t n);
pmix_status_t init_as(const char *role);
void start_with(const char *key, const char *text);
void end(void);

/* Process that starts and finalizes a server on request. */
struct child {
    pid_t pid;
    int to, from;
    char log[256];
};
/* Forks a child that runs as uid, unless uid is 0. Teardown ends the child. */
struct child *child_of(const char *role, uid_t uid);
/* child_send sends 'i' to start the child's server, or 'f' to finalize the server. child_receive
 * returns the status of this operation. */
void child_send(const struct child *c, char order);
pmix_status_t child_receive(const struct child *c);
pmix_status_t child_ask(const struct child *c, char order);
/* Ends the process by signum, or by a request if signum is 0. */
void child_end(struct child *c, int signum);
void child_has_printed(const struct child *c, const char *what);

#endif
