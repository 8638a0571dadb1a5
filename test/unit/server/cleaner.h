/* SPDX-License-Identifier: BSD-3-Clause */
/* Scene for tests of clean-up. Its component only records runs, and requests and the registry are
 * text. Clients of the server are processes of their own, so that they can die. */
#ifndef TEST_CLEANER_H
#define TEST_CLEANER_H

#include "core/server/cleanup/cleanup.h"
#include "raw.h"

#define CLEANER_WAIT_MS 10000

/* Fixtures for PX_TEST_MAIN. Setup starts a server with a fake host, the recording component and
 * the job "job" of 4 ranks. Teardown stops the server, whose folder must be empty. */
void cleaner_setup(void);
void cleaner_teardown(void);
/* cleaner_restart replaces the server by a new one whose job has n ranks. cleaner_stop ends the
 * server. */
void cleaner_restart(const pmix_server_module_t *host_module_or_null, uint32_t n);
void cleaner_stop(void);

/* Behaviour of the component. cleaner_refuses: status of run, if not 0. cleaner_status: status of
 * its callback. cleaner_holds: callbacks wait for cleaner_let_go. */
extern _Atomic pmix_status_t cleaner_refuses, cleaner_status;
extern _Atomic bool cleaner_holds;
/* Calls back for all held runs, and holds no further runs. */
void cleaner_let_go(void);
/* Waits for n runs. Returns their scopes in this order: "0 1 * other.*". */
const char *cleaner_ran(size_t n);
/* Checks that the number of runs stays the same for a short time. */
void cleaner_runs_nothing(size_t but);

/* ---- the registry, as text -------------------------------------------------------------------------- */

/* Returns each scope of "job" that has entries:
 *   "0: /a file, /b dir recurse leave-top | *: /c keep"
 * Scopes of other jobs show their job, "mine.*: ...". The journal must have the same entries. */
const char *cleaner_registry(void);
/* Reads the valid records of the journal, without the server's own files. *r is the same array each
 * time. Returns the number of records. */
size_t cleaner_journal(struct px_journal_record **r);
/* Waits until the journal has n processes. Returns their pids: "pid pid". */
const char *cleaner_pids(size_t n);
off_t cleaner_journal_b(void);

/* ---- requests --------------------------------------------------------------------------------------- */

/* Sends a request, made from text, and returns the status of the reply. The first word is the
 * target: "0", "0,job", "mine.*", or "-" for none. Paths follow as f=LIST and d=LIST (to remove) and
 * k=LIST (to keep). Other words are recurse, empty, leave, pause, id, or the key of any attribute.
 * "-recurse" is false, "~recurse" has no value, "!x" is required. "f:int", "f:bool" and "f:null"
 * have a value of this type. */
pmix_status_t cleaner_ask(int fd, const char *text);
/* Reads and registers a request on the loop, in one turn. */
pmix_status_t cleaner_register(struct px_peer *peer, const pmix_proc_t *procs, size_t n,
                               const px_infos *infos);
void cleaner_send(int fd, const char *text); /* without waiting for the reply */
void cleaner_parse(const char *text, pmix_proc_t *procs, size_t *n_procs,
                   px_infos *infos);
/* Returns begin and n paths, numbered from first with this number of digits. Example:
 * "0 f=/t/0007,/t/0008,...". The caller frees the text. */
char *cleaner_numbered(const char *begin, size_t first, size_t n, size_t digits);

/* ---- processes -------------------------------------------------------------------------------------- */

/* Plays steps of clients, separated by ";". Each client has a letter:
 *   a=0        a process connects as rank 0 of the job; a=mine.0; a=tool.0: as a tool
 *   a:REQUEST  sends a request; the reply is success
 *   a~  a-     finalizes; closes its connection
 *   a! a!9     exits; is killed by this signal
 *   ended 0    the host deregisters rank 0; "ended *" the job
 *   gone 0     the server has noticed the lost connection of rank 0
 *   quiet      no run starts
 *   ran 0 *    these scopes and no others have run, in this order
 *   pids 2     the journal has this number of processes
 *   has TEXT   the registry, as above
 *   hold, go   runs do not end between "hold" and "go" */
void cleaner_play(const char *script);
pid_t cleaner_pid(char client);
pmix_status_t cleaner_client_asks(char client, const char *request);

#endif
