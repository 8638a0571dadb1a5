/* SPDX-License-Identifier: BSD-3-Clause */
/* What the cases about whole servers share. */
#ifndef TEST_HOSTILE_SERVER_H
#define TEST_HOSTILE_SERVER_H

#include "hostile.h"

#include "../host/host.h"

/* The program that registers. */
extern char client_path[];

/* Arguments of client.c, to which the registrations of the scene are added. */
struct args {
    char **v;
    size_t n;
};

void args_begin(struct args *a);
void args_add(struct args *a, const char *word, ...); /* ..., NULL */
void args_add_regs(struct args *a, const struct scene *s);
void args_end(struct args *a);

/* Of the common server; or, in a process that has one of its own, of that. */

/* One client of that user, from its beginning to its end: its exit status (see client.c). */
int start_client(struct scene *s, uid_t uid, const struct args *a);
/* The same, and clean-up is done. */
int run_client(struct scene *s, uid_t uid, const struct args *a);
/* Nothing is registered any more, and nothing under way. */
void await_idle(struct scene *s);
/* A namespace of that user's, in which nobody runs. */
void begin_nspace(struct scene *s, uid_t uid, const char *name);
void end_nspace(struct scene *s, const char *name);

/* The same of the server that is in this process. */
int client_here(struct scene *s, uid_t uid, char **argv);
void idle_here(struct scene *s);
void nspace_here(uid_t uid, const char *name);

/* Until it is not there, or is; false after some seconds. */
bool soon(const struct scene *s, const char *name, bool there);

/* Servers of their own, made and ended by each case: before the common one is made. */
void cases_own_servers(struct scene *s);
/* Requests. */
void cases_requests(struct scene *s);

#endif
