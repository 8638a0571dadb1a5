/* SPDX-License-Identifier: BSD-3-Clause */
/* What the cases with servers of their own share. */
#ifndef TEST_HOSTILE_SERVER_ONE_H
#define TEST_HOSTILE_SERVER_ONE_H

#include "server.h"

/* At this level: whose server it is, and who would like to harm him. */
uid_t who_serves(const struct scene *s);
uid_t who_attacks(const struct scene *s);
void give(const char *path, uid_t uid);

struct own {
    struct scene *s;
    uid_t uid;       /* whose server it is: who_serves, mostly */
    const char *tmp; /* where it makes its files */
    pid_t pid;
};

/* In this process. */
void begin_here(const struct own *own);
void end_here(void);
/* In a child. Begins, and ends in order: on its way it looks for what others have left. */
void pass_by(struct scene *s, uid_t uid, const char *tmp);
/* In a child. A client has registered what the scene has, and lives on until "go" is there. */
void begin_server(struct own *own);
void go(struct scene *s);
void kill_server(struct own *own);

/* The last process whose name begins so, of this pid namespace, where all are ours; 0. */
pid_t find_process(const char *name_begin);
/* Of those that the library makes, and the clients. */
void nobody_left(struct scene *s);
/* "pmix-server.XXXXXX" in tmp, where a server of ours is alone; NULL. */
const char *private_folder(const char *tmp);

/* server_squat.c: a journal that names what must stay, in the name of those who could remove it. */
void write_journal(struct scene *s, const char *path);
void canary_stays(struct scene *s);
void cases_squatters(struct scene *s);

#endif
