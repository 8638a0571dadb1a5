/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwarded output, and its receivers in this process. Loop thread only. */
#ifndef PX_LINK_IOF_H
#define PX_LINK_IOF_H

#include "core/base/list.h"
#include "core/rt/loop.h"
#include "core/wire/requests.h"
#include "pmix_tool.h"

struct px_iof;

struct px_iof_ops {
    /* A piece has come (px_request_piece); no bytes are the end of a stream. It may
     * take members out of the args. */
    void (*take)(struct px_iof *iof, struct px_args *piece);
    /* The server has gone: what is gathered goes on. */
    void (*flush)(struct px_iof *iof);
    /* Nothing more comes: when all that it has taken has gone on it calls px_iof_gone,
     * perhaps within. */
    void (*end)(struct px_iof *iof);
    /* Bytes it has, beside held_b. */
    size_t (*has)(const struct px_iof *iof);
    void (*destroy)(struct px_iof *iof);
};

/* One PMIx_IOF_pull of this process, part of what serves it; in px_iofs. */
struct px_iof {
    struct px_list link;
    struct px_iofs *in;
    const struct px_iof_ops *ops;
    size_t id;               /* the user's and the message's name for it; never 0 */
    pmix_proc_t server;      /* that was asked; a tool may ask another one next */
    size_t server_id;        /* the server's, once it has answered */
    bool registered;         /* it has */
    bool ending;             /* gets nothing any more */
    bool finished;           /* and has passed on all that it had */
    size_t held_b;           /* taken, and not gone on */
    size_t limit_b;          /* beyond which its server is not read */
    void (*gone)(void *arg); /* when it has; or NULL */
    void *gone_arg;
};

/* Of pieces that no pull asked for. */
#define PX_IOF_UNASKED SIZE_MAX

struct px_iofs {
    struct px_list list; /* struct px_iof */
    size_t last_id;
    /* Makes the receiver of output that this process gets for having spawned; NULL:
     * there is none. */
    struct px_iof *(*make_unasked)(void);
    /* A receiver has room again. NULL: none has to know. */
    void (*client_goes_on)(struct px_iofs *iofs);
    void (*server_goes_on)(struct px_iofs *iofs);
    /* This process's own stdin on its way to others; and its end. */
    void *input;
    void (*input_end)(struct px_iofs *iofs);
    void (*over)(void *arg); /* of px_iofs_end */
    void *over_arg;
    struct px_timer *timer;
    size_t ending_b; /* held when the timer was set */
    size_t n_pieces; /* that have come */
    struct px_msg msg;
};

void px_iofs_init(struct px_iofs *iofs);
void px_iofs_fini(struct px_iofs *iofs);
/* All receivers end; over, from the loop or within, when they have, or when one that
 * writes has made no progress for a while. */
void px_iofs_end(struct px_iofs *iofs, void (*over)(void *arg), void *arg);

/* Numbers it, if it has no number. */
void px_iof_add(struct px_iofs *iofs, struct px_iof *iof);
/* NULL: there is none, or it is ending. */
struct px_iof *px_iof_find(const struct px_iofs *iofs, size_t id);
/* It gets nothing any more, and is destroyed when it has ended. */
void px_iof_end(struct px_iof *iof);
/* It holds so many bytes more, or less. */
void px_iof_hold(struct px_iof *iof, ssize_t change);
/* For those that are ending; it is destroyed later. */
void px_iof_gone(struct px_iof *iof);

/* Reads a message of PX_TAG_IOF and hands it to its receiver. PMIX_ERR_NOT_FOUND if
 * that one has gone; or why it cannot be read. */
pmix_status_t px_iof_receive(struct px_iofs *iofs, px_reader *r);
/* Returns a number that changes whenever receivers get or pass on bytes, and in *held_b
 * what they have not passed on. */
size_t px_iofs_progress(const struct px_iofs *iofs, size_t *held_b);
/* This server is not to be read for now. */
bool px_iofs_full(const struct px_iofs *iofs, const pmix_proc_t *server);
/* This server has gone. */
void px_iofs_flush(struct px_iofs *iofs, const pmix_proc_t *server);

#endif
