/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of clean-up: a component that only notes what it is asked for, and clients of a server in
 * this process that are processes of their own, so that they can die. */
#ifndef TEST_CLEANER_H
#define TEST_CLEANER_H

#include "core/server/cleanup/cleanup_impl.h"
#include "raw.h"

#define CLEANER_WAIT_MS 10000

#define WILD  PMIX_RANK_WILDCARD
#define FILES PMIX_REGISTER_CLEANUP
#define DIRS  PMIX_REGISTER_CLEANUP_DIR
#define KEEP  PMIX_CLEANUP_IGNORE

/* Ranks 0 and 1 of the job that such a server has, and all of it. */
extern pmix_proc_t me, other, job;

/* Sets what PX_TEST_MAIN_WITH wants: a folder for the server, which has to be empty at the end. */
void cleaner_setup(void);
void cleaner_teardown(void);
/* A server with our component and the job "job" of n ranks; and its end. */
void cleaner_server(const pmix_server_module_t *module, uint32_t n);
void cleaner_stop(void);
/* The same, and then this connection's unless it is -1. */
void cleaner_end(int fd);

/* Scopes that were run, in that order; 0 behind the last. */
extern uint64_t cleaner_ran[64];
/* What run returns, and whether it calls back at once (on the loop), with this status. */
extern _Atomic pmix_status_t cleaner_refuses, cleaner_status;
extern _Atomic bool cleaner_holds;
/* Waits until n scopes have been run. */
void cleaner_await(size_t n);
size_t cleaner_n_ran(void);
/* Gives it some time to run more than so many, which it must not. */
void cleaner_runs_nothing(size_t but);
/* Calls back for what was held. */
void cleaner_let_go(void);

/* ---- the registry, as text -------------------------------------------------------------------------- */

/* The entries of the scope of that name: "/a file; /b dir recurse leave-top"; "" if there is none. */
const char *cleaner_scope(const char *nspace, pmix_rank_t rank);
/* What the journal says of all scopes that are not done, in the same form. */
const char *cleaner_journal(void);
/* The same of the processes that are waited for: "pid pid". */
const char *cleaner_journal_pids(void);
/* Waits until those are so many. */
void cleaner_await_pids(size_t n);
size_t cleaner_n_entries(void);
uint64_t cleaner_scope_id(const char *nspace, pmix_rank_t rank);

/* ---- requests --------------------------------------------------------------------------------------- */

/* key, value, key, value ..., NULL: a value of "" + 1 is a directive that is true. */
#define YES ((const char *)1)
#define NO  ((const char *)2)
px_writer cleaner_request(const pmix_proc_t *target, const char *const *infos);
/* Sends it and returns the answer. target NULL: none. */
pmix_status_t cleaner_ask(int fd, const pmix_proc_t *target, const char *const *infos);
#define ASK(fd, target, ...) \
    cleaner_ask(fd, target, (const char *const[]){__VA_ARGS__, NULL})
/* "/t/0007,/t/0008,...": n numbers from first on, of so many digits; the caller's. */
char *cleaner_numbered(size_t first, size_t n, size_t digits);

/* ---- processes -------------------------------------------------------------------------------------- */

struct cleaner_client {
    pid_t pid;
    int orders, answers;
};
/* A process that has connected as this rank. */
struct cleaner_client cleaner_client(const char *nspace, pmix_rank_t rank);
/* A tool of that name, rank 0, at a server without a host; makes it take tools. */
struct cleaner_client cleaner_tool(const char *nspace);
/* It sends such a request; target NULL: itself. Returns the answer. */
pmix_status_t cleaner_client_asks(const struct cleaner_client *c,
                                  const pmix_proc_t *target, const char *const *infos);
#define CLIENT_ASKS(c, target, ...) \
    cleaner_client_asks(c, target, (const char *const[]){__VA_ARGS__, NULL})
void cleaner_client_finalizes(const struct cleaner_client *c);
void cleaner_client_disconnects(const struct cleaner_client *c);
/* It ends, by that signal or, if 0, by itself. */
void cleaner_client_ends(struct cleaner_client *c, int signum);

#endif
