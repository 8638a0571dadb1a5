/* SPDX-License-Identifier: BSD-3-Clause */
/* Common part of the cases with whole servers. Root makes the scene. Each server is a child, because it
 * may belong to another user. */
#ifndef TEST_HOSTILE_SERVER_H
#define TEST_HOSTILE_SERVER_H

#include "hostile.h"

#include "../host/host.h"

/* Users of this level: the server's, and the attacker's. */
uid_t server_uid(const struct scene *s);
uid_t attacker_uid(const struct scene *s);
void give(const char *path, uid_t uid);

/* Runs fn in a child, between begin and end of a server of that user with files in tmp (NULL: TMPDIR).
 * Returns the result of fn, 0 to 3. The server also removes leftovers of other servers. */
int in_server(struct scene *s, uid_t uid, const char *tmp, int (*fn)(struct scene *s));
int do_nothing(struct scene *s);

/* Orders of the usual client. */
#define REGISTERS "try finalize"
/* Runs a client of that user in such a child, with the scene's registrations and orders of the program cleanup.
 * Returns the exit status; 3: the request was refused. */
int run_client(struct scene *s, uid_t uid, const char *orders);
/* Waits until nothing is registered or under way. */
void await_idle(struct scene *s);

/* A server that stays. */
struct own {
    struct scene *s;
    uid_t uid;       /* user of the server: server_uid, mostly */
    const char *tmp; /* folder of its files */
    pid_t pid;
};

/* Starts a server, and a client that registers the scene's paths. Both live until "go" exists. */
void begin_server(struct own *own);
void go(struct scene *s);
void kill_server(struct own *own);

/* Waits until a name exists, or not; false after some seconds. */
bool soon(const struct scene *s, const char *name, bool there);
/* Expects the end of all clients, and of all processes that the library makes. */
void expect_none_left(struct scene *s);
/* Returns "pmix-server.XXXXXX" in tmp, the folder of a single server; or NULL. */
const char *private_folder(const char *tmp);

/* server_squat.c: writes a journal with files that must stay, as items of users that could remove them. */
void write_journal(struct scene *s, const char *path);
void canary_stays(struct scene *s);
void cases_squatters(struct scene *s);
/* Servers that end suddenly, or whose files are attacked. */
void cases_own_servers(struct scene *s);
void cases_requests(struct scene *s);

#endif
