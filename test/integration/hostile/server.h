/* SPDX-License-Identifier: BSD-3-Clause */
/* What the cases about whole servers share. The scene is made by root, and a server may be anybody's: so
 * each is a child. */
#ifndef TEST_HOSTILE_SERVER_H
#define TEST_HOSTILE_SERVER_H

#include "hostile.h"

#include "../host/host.h"

/* At this level: whose server it is, and who would like to harm him. */
uid_t who_serves(const struct scene *s);
uid_t who_attacks(const struct scene *s);
void give(const char *path, uid_t uid);

/* fn in a child that is a server of that user's with its files in tmp (NULL: TMPDIR), from its beginning
 * to its end; what fn returns, 0 to 3. On its way it looks for what others have left. */
int in_server(struct scene *s, uid_t uid, const char *tmp, int (*fn)(struct scene *s));
int do_nothing(struct scene *s);

/* In such a child: a client of that user with those options (of client.c) and the scene's registrations,
 * from its beginning to its end; its exit status. */
int run_client(struct scene *s, uid_t uid, const char *options);
/* Until nothing is registered any more, and nothing under way. */
void await_idle(struct scene *s);

/* A server that lives on. */
struct own {
    struct scene *s;
    uid_t uid;       /* whose server it is: who_serves, mostly */
    const char *tmp; /* where it makes its files */
    pid_t pid;
};

/* A client has registered what the scene has, and lives until "go" is there; the server as long. */
void begin_server(struct own *own);
void go(struct scene *s);
void kill_server(struct own *own);

/* Until it is not there, or is; false after some seconds. */
bool soon(const struct scene *s, const char *name, bool there);
/* Of those that the library makes, and the clients. */
void nobody_left(struct scene *s);
/* "pmix-server.XXXXXX" in tmp, where a server of ours is alone; NULL. */
const char *private_folder(const char *tmp);

/* server_squat.c: a journal that names what must stay, in the name of those who could remove it. */
void write_journal(struct scene *s, const char *path);
void canary_stays(struct scene *s);
void cases_squatters(struct scene *s);
/* Servers that end suddenly, or whose files are attacked. */
void cases_own_servers(struct scene *s);
void cases_requests(struct scene *s);

#endif
