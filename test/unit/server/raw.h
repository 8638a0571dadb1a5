/* SPDX-License-Identifier: BSD-3-Clause */
/* A client made of nothing but the protocol, for tests of a server in the same process. */
#ifndef TEST_RAW_H
#define TEST_RAW_H

#include "core/server/server.h"
#include "core/wire/codec.h"
#include "core/wire/hello.h"

#include "px_test.h"

#include <semaphore.h>

/* ---- the server ---------------------------------------------------------------------- */

/* Starts a server with this module (NULL: its own host) whose job "job" has n_local ranks here, and
 * n_remote further ones on node "other". */
void raw_server_start(const pmix_server_module_t *module, uint32_t n_local,
                      uint32_t n_remote);
/* The same, and connects the first three of those here: ranks 0, 1 and 2. */
void raw_start(const pmix_server_module_t *module, uint32_t n_local, uint32_t n_remote);
extern int one, two, three;
/* A job in a server that runs; uid is its clients'. */
void raw_add_job(const char *nspace, uint32_t n_local, uint32_t n_remote, uid_t uid);
void raw_drop_job(const char *nspace);
void raw_drop_it(void); /* "job", as something for host.within */
void raw_server_stop(void);
/* The same, if one runs: for fixtures. Connections may stay open. */
void raw_teardown(void);
/* Runs on the server's loop, after all that was posted before; fn may be NULL. */
void raw_on_loop(void (*fn)(void *arg), void *arg);
/* Callback of a call of the host's side. cbdata is &raw_ended. */
void raw_on_end(pmix_status_t status, void *cbdata);
/* Waits for the callback; returns its status. */
pmix_status_t raw_await_end(void);
extern sem_t raw_ended; /* one post for each callback */
/* Waits until the server has noticed that no connection of that rank of "job" is left. */
void raw_await_gone(pmix_rank_t rank);
/* The host's object of a rank: what raw_add_job registered. */
void *raw_object(pmix_rank_t rank);

/* ---- connections --------------------------------------------------------------------- */

/* A valid connect message of a rank; tests spoil what they want to spoil. */
struct px_hello raw_hello(const char *nspace, pmix_rank_t rank);
/* Connects and says hello; *fd is the connection, -1 if none. Returns the server's status. */
pmix_status_t raw_connect(const struct px_hello *hello, int *fd);
/* Connects as a good client, of "job" or another. */
int raw_client(pmix_rank_t rank);
int raw_client_of(const char *nspace, pmix_rank_t rank);
/* As a client that runs as another user; geteuid() must be 0. */
int raw_client_as(uid_t uid, const char *nspace, pmix_rank_t rank);
int raw_socket(void); /* connected, nothing said */
int raw_socket_as(uid_t uid);
void raw_connect_socket(int fd);
pmix_status_t raw_send_hello(int fd, const struct px_hello *hello);
/* Returns true if the server closes the connection within 20 seconds. */
bool raw_closed(int fd);

/* ---- requests ------------------------------------------------------------------------ */

static inline pmix_proc_t raw_proc(const char *nspace, pmix_rank_t rank)
{
    pmix_proc_t p;

    px_proc_set(&p, nspace, rank);
    return p;
}

/* A request begins; it is consumed when it is sent. */
px_writer raw_begin(uint8_t op);
void raw_send(int fd, uint32_t tag, px_writer w);
/* Reads the next frame with this tag and drops frames with other tags. The payload stays
 * valid until the next call. Returns false if no frame comes for 20 seconds. */
bool raw_recv(int fd, uint32_t tag, px_reader *reply);
/* Nothing has come for this client, now that the server has seen all it was sent. */
bool raw_quiet(int fd);
/* The status that the reply with this tag begins with; *rest is what follows, if not NULL. */
pmix_status_t raw_reply(int fd, uint32_t tag, px_reader *rest);
pmix_status_t raw_status(int fd, uint32_t tag);
pmix_status_t raw_request(int fd, px_writer w, px_reader *rest);

/* Fence, connect or disconnect of these; info may be NULL. */
void raw_collect(int fd, uint32_t tag, uint8_t op, const pmix_proc_t *procs, size_t n,
                 const pmix_info_t *info);
pmix_status_t raw_finalize(int fd);
/* A commit in this scope, of one key. */
px_writer raw_commit_of(uint8_t scope, const char *key, const pmix_value_t *value);
/* Puts one uint32 under key for all. */
pmix_status_t raw_commit(int fd, const char *key, uint32_t value);
/* key NULL: all there is; flag: an info that is true, if not NULL. */
px_writer raw_get(const char *nspace, pmix_rank_t rank, const char *key,
                  const char *flag);
/* Enters the next process's part of a get reply. */
px_reader raw_part(px_reader *reply);
/* Reads the next key and value of a part; false at the end. Pairs with px_kval_fini. */
bool raw_next_kval(px_reader *part, struct px_kval *kv);
/* The uint32 under key in what is left of a get reply; UINT32_MAX if it is not there. */
uint32_t raw_value_in(px_reader *reply, const char *key);
/* What the server has of it now. */
uint32_t raw_value(int fd, const char *nspace, pmix_rank_t rank, const char *key);
/* To be notified of events; infos may be NULL. */
px_writer raw_want(const pmix_status_t *codes, size_t n, const px_infos *infos);
/* The next notification's code, 0 if none comes; and its infos, if not NULL. */
pmix_status_t raw_next_event(int fd, px_infos *infos);

#endif
