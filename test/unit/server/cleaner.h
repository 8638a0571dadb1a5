/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of clean-up: a component that only notes what it is asked for, requests and the registry as
 * text, and clients of a server in this process that are processes of their own, so that they can die. */
#ifndef TEST_CLEANER_H
#define TEST_CLEANER_H

#include "core/server/cleanup/cleanup.h"
#include "raw.h"

#define CLEANER_WAIT_MS 10000

/* For PX_TEST_MAIN: a server with a fake host, our component and the job "job" of 4 ranks. At the end
 * it is stopped, and its folder must be empty. */
void cleaner_setup(void);
void cleaner_teardown(void);
/* Another server in its place; its end, for good; and what connections to close after that. */
void cleaner_restart(const pmix_server_module_t *host_module_or_null, uint32_t n);
void cleaner_stop(void);

/* What run returns, and whether it calls back at once (on the loop), with this status. */
extern _Atomic pmix_status_t cleaner_refuses, cleaner_status;
extern _Atomic bool cleaner_holds;
/* Calls back for what was held. */
void cleaner_let_go(void);
/* The scopes that were run, in that order: "0 1 * other.*"; waits until they are so many. */
const char *cleaner_ran(size_t n);
/* Gives it some time to run more than so many, which it must not. */
void cleaner_runs_nothing(size_t but);

/* ---- the registry, as text -------------------------------------------------------------------------- */

/* "0: /a file, /b dir recurse leave-top | *: /c keep": every scope that has entries, of "job"; of others
 * with their name, "mine.*: ...". The journal must say the same. */
const char *cleaner_registry(void);
/* Records of the journal that count, but of what the server has made; the same array each time. */
size_t cleaner_journal(struct px_journal_record **r);
/* Waits until so many processes stand in the journal, and returns them: "pid pid". */
const char *cleaner_pids(size_t n);
off_t cleaner_journal_b(void);

/* ---- requests --------------------------------------------------------------------------------------- */

/* A request as text: for whom ("0", "0,job", "mine.*", "-" for none), then f=LIST d=LIST k=LIST (to remove, to
 * keep), recurse, empty, leave, pause, id, or the key of any attribute. Of attributes: "-recurse" is false,
 * "~recurse" has no value, "!x" is required; "f:int", "f:bool", "f:null" have a value of that type. */
px_writer cleaner_request(const char *text);
void cleaner_parse(const char *text, pmix_proc_t *procs, size_t *n_procs,
                   px_infos *infos);
/* Sends it and returns the answer. */
pmix_status_t cleaner_ask(int fd, const char *text);
/* "0 f=/t/0007,/t/0008,...": n numbers from first on, of so many digits; the caller's. */
char *cleaner_numbered(const char *begin, size_t first, size_t n, size_t digits);

/* ---- processes -------------------------------------------------------------------------------------- */

/* Plays what clients do, step by step, separated by ";". Clients have a letter:
 *   a=0        a process connects as rank 0 of the job; a=mine.0; a=tool.0: as a tool
 *   a:REQUEST  asks, and the answer is success
 *   a~  a-     finalizes; closes its connection
 *   a! a!9     exits; is killed by that signal
 *   ended 0    the host deregisters rank 0; "ended *" the job
 *   quiet      nothing is run
 *   ran 0 *    these scopes have been run, in that order, and no others
 *   pids 2     so many processes stand in the journal
 *   has TEXT   the registry, as above
 *   hold, go   runs do not end until they are let go */
void cleaner_play(const char *script);
pid_t cleaner_pid(char client);
pmix_status_t cleaner_client_asks(char client, const char *request);

#endif
