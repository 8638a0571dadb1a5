/* SPDX-License-Identifier: BSD-3-Clause */
/* A receiver of forwarded output: one PMIx_IOF_pull of this process, or the output of
 * processes that this process has spawned. Output goes to the program's function, or to
 * the own stdout and stderr, and to files, in the way that the directives name. Loop
 * thread only, unless noted. */
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

/* Number of the receiver for pieces without a PMIx_IOF_pull. */
#define PX_IOF_UNASKED SIZE_MAX

struct px_iof_receiver {
    struct px_list node; /* in px_iof_receivers.list */
    struct px_iof_receivers *in;
    size_t id;               /* for the user and in messages; never 0 in the list */
    pmix_proc_t server;      /* the server that was asked */
    size_t server_id;        /* number of the server, after its answer */
    bool registered;         /* the server has answered */
    bool ending;             /* gets no more output */
    bool finished;           /* ending, and all output has been passed on */
    size_t held_b;           /* taken and not passed on, beside bytes in streams */
    size_t limit_b;          /* above, producers stop */
    void (*gone)(void *arg); /* called after the end; or NULL */
    void *gone_arg;

    pmix_iof_cbfunc_t fn;  /* NULL: the own streams */
    bool plain;            /* fn gets pieces as they come */
    struct px_iof_way way; /* else: by outlets, in this way */
    enum px_iof_files files;
    bool files_only;
    char *path;
    const struct px_iof_std *std;
    struct px_map outlets; /* source and channel -> struct px_iof_outlet */
    size_t n_live;         /* outlets with a stream */
    struct px_list calls;  /* of fn, in order; see px_iof_receiver_call */
    bool failed;           /* the log has an error of an outlet */
};

/* Makes a receiver; fn NULL: for the own streams. *rest: the directives that the server
 * carries out; its members are borrowed, its array is not. Any thread.
 * PMIX_ERR_BAD_PARAM: a directive is wrong or contradicts another, and err names both.
 * Other errors as px_iof_receivers_prepare. */
pmix_status_t px_iof_receiver_create(pmix_iof_cbfunc_t fn, const pmix_info_t *info,
                                     size_t n, px_infos *rest,
                                     struct px_iof_receiver **receiver,
                                     struct px_err *err);
/* Returns a started receiver for the output of spawned processes. NULL: out of
 * memory. */
struct px_iof_receiver *px_iof_receiver_create_unasked(void);
/* Opens the own streams, before the receiver is added. PMIX_ERR_NOMEM. */
pmix_status_t px_iof_receiver_start(struct px_iof_receiver *receiver);
/* Frees a receiver that is in no list. Any thread if it was never added. NULL is
 * fine. */
void px_iof_receiver_destroy(struct px_iof_receiver *receiver);
/* Opens the components that write to the own streams. Any thread.
 * PMIX_ERR_WOULD_BLOCK: on the loop, while another thread begins or ends the
 * library. */
pmix_status_t px_iof_receivers_prepare(struct px_err *err);

/* Takes a piece (px_request_piece), and may take members out of it. No bytes: the end
 * of a stream. */
void px_iof_receiver_take(struct px_iof_receiver *receiver, struct px_args *piece);
/* Passes on gathered bytes, also lines without end. */
void px_iof_receiver_flush(struct px_iof_receiver *receiver);
/* Ends a receiver, which is freed when all of its output has been passed on. */
void px_iof_receiver_end(struct px_iof_receiver *receiver);
/* Returns the bytes that have not been passed on. */
size_t px_iof_receiver_held(const struct px_iof_receiver *receiver);

/* ---- for files of this room ------------------------------------------------------ */

/* True if the receiver holds more than its limit. */
static inline bool px_iof_receiver_is_full(const struct px_iof_receiver *receiver)
{
    return receiver->held_b > receiver->limit_b;
}
/* Counts bytes that are held, or not any more, and resumes producers. */
void px_iof_receiver_hold(struct px_iof_receiver *receiver, ssize_t change);
/* Calls the program's function with a piece, which is taken: within, or in order when
 * the loop's own thread can. */
void px_iof_receiver_call(struct px_iof_receiver *receiver, struct px_args *piece);
/* Releases an ending receiver that has passed on all of its output. */
void px_iof_receiver_settle(struct px_iof_receiver *receiver);
/* Reads the directives for the receiver, and checks the others (directives.c).
 * PMIX_ERR_BAD_PARAM, PMIX_ERR_NOMEM. */
pmix_status_t px_iof_receiver_read(struct px_iof_receiver *receiver,
                                   const pmix_info_t *info, size_t n,
                                   struct px_err *err);
/* Lists the directives for the server; the members are borrowed (directives.c). */
pmix_status_t px_iof_receiver_list_rest(const pmix_info_t *info, size_t n,
                                        px_infos *rest);
/* Chooses between plain pieces and outlets, as the directives say (directives.c). */
void px_iof_receiver_choose(struct px_iof_receiver *receiver);

#endif
