/* SPDX-License-Identifier: BSD-3-Clause */
/* A scripted server in a thread of the test, for clients in the same process. Without a script the
 * server serves rank 0 of "job", a job of two ranks on one node. */
#ifndef TEST_FAKE_SERVER_H
#define TEST_FAKE_SERVER_H

#include "core/types/type.h"
#include "core/wire/hello.h"
#include "core/wire/requests.h"

#include <semaphore.h>
#include <stdbool.h>

struct fake_req {
    uint32_t tag;
    uint8_t op;
    px_reader in; /* positioned after the command */
    px_buf payload;
};

struct fake {
    struct px_codec codec;    /* codec of the server; set before fake_start */
    const char *uri_variable; /* "PMIX_SERVER_URI41" unless set */
    const char *nspace;       /* "job" unless set */
    const char *version;      /* "4.2.9" unless set */
    bool unasked;             /* a request follows the connect message unasked */
    bool no_members;          /* group messages carry no members, as before 4.2.4 */
    /* Script that replaces fake_serve(). */
    void (*script)(void);
    /* Gets each request first; returns true if the hook has handled the request. */
    bool (*hook)(int fd, struct fake_req *req);
    /* Status of each reply, except to connect and finalize requests; add packs the rest of the
     * reply. Without answer and add, a get finds nothing. */
    pmix_status_t answer;
    void (*add)(px_writer *w, const struct fake_req *req);
    /* Packs the job's information in place of fake_usual_job_info(). */
    void (*job_info)(px_writer *w);
    struct px_hello hello;   /* last connect message */
    struct px_args received; /* arguments of the last request that has a table */
    uint8_t received_op;
    unsigned n_ops[PX_OP_MAX];
    unsigned n_beats; /* heartbeats, which get no reply */
    int listener;
    bool runs;
};
extern struct fake fake;

/* Listens, sets the environment of a client and starts a thread. The thread runs the script, or
 * serves until the client leaves. */
void fake_start(void);
/* Waits for the script's end. */
void fake_stop(void);

/* ---- a client of the server, in this process ------------------------------------- */

/* Calls fake_start and PMIx_Init; client_of_hook also sets the server's hook. */
void client_begin(void);
void client_of_hook(bool (*hook)(int fd, struct fake_req *req));
/* Calls PMIx_Init without a server; expects PMIX_ERR_UNREACH. */
void client_alone(void);
extern pmix_proc_t client_self; /* set by client_alone */
/* Gets a number of the job of client_self. */
uint32_t own_u32(pmix_rank_t r, const char *key);
/* Calls the last PMIx_Finalize. */
void client_finalize(void);
#define DEAD_URI "server.0;tcp4://127.0.0.1:1"
/* Checks after PMIX_ERR_UNREACH that the library works without a server, then finalizes. rc: result
 * of PMIx_Init in rank 0 of "job"; with any other rc the function does nothing. */
void client_lives_alone(pmix_status_t rc);
/* Calls PMIx_Finalize and fake_stop if the library or the server still runs; also a teardown. */
void client_end(void);

/* Callback of non-blocking calls; its cbdata is &done. */
extern sem_t done;
extern pmix_status_t done_status;
void on_op(pmix_status_t status, void *cbdata);
/* Waits for on_op() and returns its status. */
pmix_status_t await_op(void);
/* Expects that a call returned success (rc) and that on_op() gets the status with. */
void finished(pmix_status_t rc, pmix_status_t with);

/* Return a process of nspace, and a process of "job". */
pmix_proc_t proc_of(const char *nspace, pmix_rank_t r);
pmix_proc_t rank(pmix_rank_t r);
/* Returns an info with the value true. */
pmix_info_t flag(const char *key);
/* Gets a number; returns UINT32_MAX if the get fails. */
uint32_t get_u32(const char *nspace, pmix_rank_t r, const char *key);
/* Registers fn as handler of events with this code, or of all events if code is 0. */
void handle_code(pmix_status_t code, pmix_notification_fn_t fn);
/* Handler that answers at once. */
extern const pmix_notification_fn_t ignore_event;
/* Waits for a child of this process and expects exit code 0. */
void exits_with_0(pid_t pid);

/* ---- for scripts and hooks ------------------------------------------------------- */

/* Accepts the next connection and reads its connect message into fake.hello. */
int fake_accept(void);
/* Accepts the next connection as the server of index 7. */
int fake_welcome(void);
/* Calls fake_welcome and answers the first request. */
int fake_serve_job(void);
/* Reads a connect message into fake.hello. */
void fake_read_hello(int fd);
/* Accepts the next connection without a read. */
int fake_accept_mute(void);
void fake_answer_with(int fd, const void *bytes, size_t n);
/* Sends the reply to a connect message; index < 0 sends only the status. */
void fake_words(int fd, pmix_status_t status, int index);
/* Sends the reply to a tool's connect message: status, the tool's name, the server's name, success.
 * tool is NULL if the tool has a name. */
void fake_tool_words(int fd, pmix_status_t status, const pmix_proc_t *tool,
                     const char *server);
/* Reads the next request; returns false when the client has gone. The next call frees the request. */
bool fake_next(int fd, struct fake_req *req);
px_writer fake_begin(void);
void fake_reply(int fd, uint32_t tag, px_writer *w);
void fake_raw(int fd, uint32_t tag, const char *bytes, size_t n);
void fake_status(int fd, uint32_t tag, pmix_status_t status);
/* Send an event of rank 1, or of another process. */
void fake_event(int fd, pmix_status_t code, const px_infos *infos);
void fake_event_of(int fd, pmix_status_t code, const pmix_proc_t *source,
                   const px_infos *infos);
/* Sends a piece of forwarded output. */
void fake_send_piece(int fd, const struct px_args *piece);
/* Sends the standard reply to a request. */
void fake_answer(int fd, struct fake_req *req);
/* Accepts one client and serves the client until it leaves. */
void fake_serve(void);
/* Serves an accepted client until the client leaves, then closes fd. */
void fake_serve_on(int fd);
void fake_put_u32(px_writer *w, const char *key, uint32_t n);
/* Packs the KVALs of a job of two ranks on this node. */
void fake_usual_job_info(px_writer *w);

#endif
