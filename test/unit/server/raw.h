/* SPDX-License-Identifier: BSD-3-Clause */
/* Client that consists only of protocol messages, for tests of a server in the same process. */
#ifndef TEST_RAW_H
#define TEST_RAW_H

#include "core/server/server.h"
#include "core/wire/codec.h"
#include "core/wire/hello.h"

#include "px_test.h"

#include <semaphore.h>

/* ---- the server ---------------------------------------------------------------------- */

/* Starts a server with this module (NULL: the built-in host). Job "job" has n_local ranks on this
 * node and n_remote ranks on node "other". */
void raw_server_start(const pmix_server_module_t *module, uint32_t n_local,
                      uint32_t n_remote);
/* Starts such a server and connects its first three local ranks: ranks 0, 1 and 2. */
void raw_start(const pmix_server_module_t *module, uint32_t n_local, uint32_t n_remote);
extern int one, two, three;
/* Adds a job to a running server. uid: user of the job's clients. */
void raw_add_job(const char *nspace, uint32_t n_local, uint32_t n_remote, uid_t uid);
void raw_drop_job(const char *nspace);
void raw_drop_it(void); /* drops "job"; suits host.within */
void raw_server_stop(void);
/* Stops the server if one runs. For fixtures. Connections may stay open. */
void raw_teardown(void);
/* Runs fn on the server's loop, after all earlier messages. fn may be NULL. */
void raw_on_loop(void (*fn)(void *arg), void *arg);
/* Callback for calls of the host's side. cbdata is &raw_ended. */
void raw_on_end(pmix_status_t status, void *cbdata);
/* Waits for the callback and returns its status. */
pmix_status_t raw_await_end(void);
extern sem_t raw_ended; /* one post for each callback */
/* Waits until the server has noticed that this rank of "job" has no connection any more. */
void raw_await_gone(pmix_rank_t rank);
/* The same for any process. */
void raw_await_left(pmix_proc_t proc);
/* Returns the bytes that are charged for the first connection of a rank of "job", or 0. */
size_t raw_charged_b(pmix_rank_t rank);
/* Returns the host's object of a rank, as raw_add_job registered it. */
void *raw_object(pmix_rank_t rank);

/* ---- connections --------------------------------------------------------------------- */

/* Returns a valid connect message of a rank. Tests may modify the message. */
struct px_hello raw_hello(const char *nspace, pmix_rank_t rank);
/* Connects and sends the connect message. *fd is the connection, or -1. Returns the server's
 * status. */
pmix_status_t raw_connect(const struct px_hello *hello, int *fd);
/* Connects as a valid client of "job" or of nspace. */
int raw_client(pmix_rank_t rank);
int raw_client_of(const char *nspace, pmix_rank_t rank);
/* Connects as a client of another user; geteuid() must be 0. */
int raw_client_as(uid_t uid, const char *nspace, pmix_rank_t rank);
int raw_socket(void); /* connected, without a connect message */
int raw_socket_as(uid_t uid);
/* Connects over the Unix socket, whose small buffer fills soon. */
int raw_near_socket(void);
void raw_connect_socket(int fd);
pmix_status_t raw_send_hello(int fd, const struct px_hello *hello);
/* True if the server closes the connection within 20 seconds. */
bool raw_closed(int fd);

/* ---- requests ------------------------------------------------------------------------ */

static inline pmix_proc_t raw_proc(const char *nspace, pmix_rank_t rank)
{
    pmix_proc_t p;

    px_proc_set(&p, nspace, rank);
    return p;
}

/* Begins a request. raw_send consumes the request. */
px_writer raw_begin(uint8_t op);
void raw_send(int fd, uint32_t tag, px_writer w);
/* Reads the next frame with this tag and drops frames with other tags. The payload stays
 * valid until the next call. Returns false if no frame comes for 20 seconds. */
bool raw_recv(int fd, uint32_t tag, px_reader *reply);
/* True if no message has come for this client, after the server has handled all earlier requests. */
bool raw_quiet(int fd);
/* Returns the status at the beginning of the reply with this tag. *rest is the remaining reply, if
 * rest is not NULL. */
pmix_status_t raw_reply(int fd, uint32_t tag, px_reader *rest);
pmix_status_t raw_status(int fd, uint32_t tag);
pmix_status_t raw_request(int fd, px_writer w, px_reader *rest);

/* Sends a fence, connect or disconnect of procs. info may be NULL. */
void raw_collect(int fd, uint32_t tag, uint8_t op, const pmix_proc_t *procs, size_t n,
                 const pmix_info_t *info);
pmix_status_t raw_finalize(int fd);
/* Returns a commit of one key in this scope. */
px_writer raw_commit_of(uint8_t scope, const char *key, const pmix_value_t *value);
/* Commits one uint32 under key, with global scope. */
pmix_status_t raw_commit(int fd, const char *key, uint32_t value);
/* Returns a get request. key NULL: all keys. flag: key of an info that is true, or NULL. */
px_writer raw_get(const char *nspace, pmix_rank_t rank, const char *key,
                  const char *flag);
/* Enters the part of the next process in a get reply. */
px_reader raw_part(px_reader *reply);
/* Reads the next key and value of a part, to be freed by px_kval_fini. Returns false at the end. */
bool raw_next_kval(px_reader *part, struct px_kval *kv);
/* Returns the uint32 under key in the rest of a get reply, or UINT32_MAX without such a value. */
uint32_t raw_value_in(px_reader *reply, const char *key);
/* Returns the server's present value of key, or UINT32_MAX without such a value. */
uint32_t raw_value(int fd, const char *nspace, pmix_rank_t rank, const char *key);
/* Returns a registration for events. infos may be NULL. */
px_writer raw_want(const pmix_status_t *codes, size_t n, const px_infos *infos);
/* Returns the code of the next notification, or 0 if none comes. Also returns its infos, if infos
 * is not NULL. */
pmix_status_t raw_next_event(int fd, px_infos *infos);

#endif
