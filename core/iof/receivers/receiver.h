/* SPDX-License-Identifier: BSD-3-Clause */
/* A receiver of forwarded output: one PMIx_IOF_pull of this process, or the output of
 * processes that this process spawned. Output goes to the program's function, or to the
 * own stdout and stderr, and to files, as the directives specify. Loop thread only,
 * unless noted. */
#ifndef PX_IOF_RECEIVER_H
#define PX_IOF_RECEIVER_H

#include "core/base/err.h"
#include "core/base/list.h"
#include "core/base/map.h"
#include "core/iof/ends.h"
#include "core/iof/format.h"
#include "core/iof/name.h"
#include "core/rt/loop.h"
#include "core/wire/requests.h"
#include "pmix_tool.h"

struct px_iof_receivers;

/* Id of the receiver for pieces without a PMIx_IOF_pull. */
#define PX_IOF_UNASKED SIZE_MAX

struct px_iof_receiver {
    struct px_list node; /* in px_iof_receivers.list */
    struct px_iof_receivers *in;
    size_t id;               /* id for the user and in messages; never 0 in the list */
    pmix_proc_t server;      /* server that received the request */
    size_t server_id;        /* the server's number, after its answer */
    bool registered;         /* the server has answered */
    bool ending;             /* gets no further output */
    bool finished;           /* ending, and all output has been passed on */
    size_t held_b;           /* bytes taken and not passed on, apart from bytes in
                              * streams */
    size_t limit_b;          /* producers stop above this limit */
    void (*gone)(void *arg); /* called after the end; may be NULL */
    void *gone_arg;

    pmix_iof_cbfunc_t fn;  /* NULL: the own stdout and stderr */
    bool plain;            /* fn gets pieces unchanged */
    struct px_iof_way way; /* format of outlets, unless plain */
    enum px_iof_files files;
    bool files_only;
    char *path;
    const struct px_iof_std *std;
    struct px_map outlets; /* source and channel -> struct px_iof_outlet */
    size_t n_live;         /* outlets with a stream */
    struct px_list calls;  /* pending calls of fn, in order, see px_iof_receiver_call */
    bool failed;           /* the log has an error of an outlet */
};

/* Makes a receiver; fn NULL: for the own stdout and stderr. *rest: directives for the
 * server; the caller frees the array, the members are borrowed. Any thread. Returns
 * PMIX_ERR_BAD_PARAM for a bad directive or a contradiction, which err describes.
 * Returns the errors of px_iof_receivers_prepare. */
pmix_status_t px_iof_receiver_create(pmix_iof_cbfunc_t fn, const pmix_info_t *info,
                                     size_t n, px_infos *rest,
                                     struct px_iof_receiver **receiver,
                                     struct px_err *err);
/* Returns a started receiver for output of spawned processes. Returns NULL if memory is
 * exhausted. */
struct px_iof_receiver *px_iof_receiver_create_unasked(void);
/* Opens the own stdout and stderr, before the receiver is added. Returns
 * PMIX_ERR_NOMEM. */
pmix_status_t px_iof_receiver_start(struct px_iof_receiver *receiver);
/* Frees a receiver that is in no list. Any thread if it was never added. NULL is
 * allowed. */
void px_iof_receiver_destroy(struct px_iof_receiver *receiver);
/* Opens the components that write to the own stdout and stderr. Any thread. Returns
 * PMIX_ERR_WOULD_BLOCK on the loop while another thread begins or ends the library. */
pmix_status_t px_iof_receivers_prepare(struct px_err *err);

/* Takes a piece (px_request_piece), and may take members out of it. An empty piece is
 * the end of a stream. */
void px_iof_receiver_take(struct px_iof_receiver *receiver, struct px_args *piece);
/* Passes on gathered bytes, also incomplete lines. */
void px_iof_receiver_flush(struct px_iof_receiver *receiver);
/* Ends a receiver, which is freed after all its output has been passed on. */
void px_iof_receiver_end(struct px_iof_receiver *receiver);
/* Returns the number of bytes that have not been passed on. */
size_t px_iof_receiver_held(const struct px_iof_receiver *receiver);

/* ---- for files of this room ------------------------------------------------------ */

/* True if the receiver holds more than its limit. */
static inline bool px_iof_receiver_is_full(const struct px_iof_receiver *receiver)
{
    return receiver->held_b > receiver->limit_b;
}
/* Adds change to the held bytes, and resumes producers if there is room again. */
void px_iof_receiver_hold(struct px_iof_receiver *receiver, ssize_t change);
/* Calls the program's function with a piece, and takes the piece. The call happens
 * within, or later in order on the loop's own thread. */
void px_iof_receiver_call(struct px_iof_receiver *receiver, struct px_args *piece);
/* Releases an ending receiver that has passed on all its output. */
void px_iof_receiver_settle(struct px_iof_receiver *receiver);
/* Reads the directives for the receiver, and checks the others (directives.c). *rest:
 * directives for the server; the members are borrowed. Returns PMIX_ERR_BAD_PARAM or
 * PMIX_ERR_NOMEM. */
pmix_status_t px_iof_receiver_read(struct px_iof_receiver *receiver,
                                   const pmix_info_t *info, size_t n, px_infos *rest,
                                   struct px_err *err);

#endif
