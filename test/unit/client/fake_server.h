/* SPDX-License-Identifier: BSD-3-Clause */
/* A server made of bytes, in a thread of the test, for clients in the test's own process. The test
 * says what it does in a script; by default it serves rank 0 of "job", two ranks on one node. */
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
    px_reader in; /* after the command */
    px_buf payload;
};

struct fake {
    struct px_codec codec;    /* what it speaks; set before fake_start */
    const char *uri_variable; /* "PMIX_SERVER_URI41" unless set */
    const char *nspace;       /* "job" unless set */
    const char *version;      /* "4.2.9" unless set */
    bool unasked;    /* a request has come with the connect message, and is next */
    bool no_members; /* groups are destructed without, as before 4.2.4 */
    /* What to do instead of serving. */
    void (*script)(void);
    /* Sees each request first; true: has dealt with it. */
    bool (*hook)(int fd, struct fake_req *req);
    /* Else all but what begins and ends a connection is answered with this, and behind it what add
     * packs; without either, a get finds nothing. */
    pmix_status_t answer;
    void (*add)(px_writer *w, const struct fake_req *req);
    /* Packs the job's information in place of the usual. */
    void (*job_info)(px_writer *w);
    struct px_hello hello; /* the last */
    struct px_args heard;  /* of the last request that has a table */
    uint8_t listened_op;
    unsigned n_ops[PX_OP_MAX];
    unsigned n_beats; /* heartbeats, which ask for nothing */
    int listener;
    bool runs;
};
extern struct fake fake;

/* Listens, sets the environment of a client, runs the script (or serves until the client leaves)
 * in a thread. */
void fake_start(void);
/* Waits for the script to end. */
void fake_stop(void);

/* ---- a client of it, in this process --------------------------------------------- */

/* fake_start and PMIx_Init; of_hook: of a server that has this hook. */
void client_begin(void);
void client_of_hook(bool (*hook)(int fd, struct fake_req *req));
/* PMIx_Init without any server: the library reports so, and works. */
void client_alone(pmix_proc_t *self);
#define DEAD_URI "server.0;tcp4://127.0.0.1:1"
/* rc: of PMIx_Init by rank 0 of "job". If no server has answered, expects a library that
 * works without one, and ends it. */
void client_lives_alone(pmix_status_t rc);
/* PMIx_Finalize and fake_stop, of what has begun and not ended yet: a fixture's end, too. */
void client_end(void);

/* The callback of calls that do not wait; its cbdata is &done. */
extern sem_t done;
extern pmix_status_t done_status;
void on_op(pmix_status_t status, void *cbdata);
/* Its status, once it has run. */
pmix_status_t await_op(void);
/* rc is the call's own, and with that its callback ran. */
void finished(pmix_status_t rc, pmix_status_t with);

/* A process; one of the job. */
pmix_proc_t proc_of(const char *nspace, pmix_rank_t r);
pmix_proc_t rank(pmix_rank_t r);
/* An info that says yes. */
pmix_info_t flag(const char *key);
/* Gets a number; UINT32_MAX if there is none. */
uint32_t get_u32(const char *nspace, pmix_rank_t r, const char *key);
/* A handler of events of this code; 0: of all. */
void handle_code(pmix_status_t code, pmix_notification_fn_t fn);
/* A process of this test's own ends well. */
void exits_with_0(pid_t pid);

/* ---- for scripts and hooks ------------------------------------------------------- */

/* The next connection; reads its connect message into fake.hello. */
int fake_accept(void);
/* Reads a connect message into fake.hello. */
void fake_read_hello(int fd);
/* The next connection, with nothing read. */
int fake_accept_mute(void);
void fake_answer_with(int fd, const void *bytes, size_t n);
/* The words that answer a connect message; index < 0: the status alone. */
void fake_words(int fd, pmix_status_t status, int index);
/* What a tool is told: status; its name (NULL: it has one); the server's, and a status again. */
void fake_tool_words(int fd, pmix_status_t status, const pmix_proc_t *tool,
                     const char *server);
/* False when the client has gone. The request is freed by the next call. */
bool fake_next(int fd, struct fake_req *req);
px_writer fake_begin(void);
void fake_reply(int fd, uint32_t tag, px_writer *w);
void fake_status(int fd, uint32_t tag, pmix_status_t status);
void fake_event(int fd, pmix_status_t code, const px_infos *infos);
/* Sends a piece of forwarded output. */
void fake_send_piece(int fd, const struct px_args *piece);
/* What every server answers to requests that need no thought. */
void fake_answer(int fd, struct fake_req *req);
/* Welcomes one client and serves it until it leaves. */
void fake_serve(void);
/* Until it leaves, one that has been welcomed; closes. */
void fake_serve_on(int fd);
void fake_put_u32(px_writer *w, const char *key, uint32_t n);
/* The KVALs of a job of two ranks here. */
void fake_usual_job_info(px_writer *w);

#endif
