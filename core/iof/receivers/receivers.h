/* SPDX-License-Identifier: BSD-3-Clause */
/* Receivers of forwarded output in this process, and the producers that bring the
 * output. A receiver above its limit stops its producers, and resumes them when there
 * is room. Loop thread only. */
#ifndef PX_IOF_RECEIVERS_H
#define PX_IOF_RECEIVERS_H

#include "core/iof/receivers/receiver.h"

struct px_client;
struct px_iof_input;
struct px_timer;

/* A server that sends output to this process, over a connection or within this
 * process. */
struct px_iof_producer {
    struct px_list node; /* in px_iof_receivers.producers */
    struct px_iof_receivers *receivers;
    pmix_proc_t server;
    void (*resume)(void *arg); /* Allows the producer to bring output again. */
    void *arg;
};

/* The own stdin on its way to other processes (client/push.c). One chunk is being sent
 * while the next waits in the kernel. */
struct px_stdin_pusher {
    struct px_client *client;
    struct px_iof_input *input; /* NULL after the end or close */
    struct px_args args;        /* targets and directives */
    pmix_proc_t server;
    bool under_way;
};

struct px_iof_receivers {
    struct px_list list; /* struct px_iof_receiver */
    struct px_list producers;
    size_t last_id;
    bool shows_unasked; /* the receiver PX_IOF_UNASKED is made when needed */
    struct px_stdin_pusher *pusher; /* NULL if there is none */
    void (*over)(void *arg);        /* see px_iof_receivers_end */
    void *over_arg;
    struct px_timer *timer;
    size_t ending_b; /* held bytes when the timer was set */
    size_t n_pieces; /* number of received pieces */
    struct px_msg msg;
};

/* Creates the set. Returns PMIX_ERR_NOMEM. */
pmix_status_t px_iof_receivers_create(struct px_iof_receivers **receivers);
/* Frees the pusher and all receivers with their bytes. NULL is allowed. */
void px_iof_receivers_destroy(struct px_iof_receivers *receivers);
/* Ends the pusher and all receivers. Calls over, perhaps within, after every receiver
 * has passed on its output, or after iof_drain_timeout without progress. */
void px_iof_receivers_end(struct px_iof_receivers *receivers, void (*over)(void *arg),
                          void *arg);

/* Adds a receiver, and gives it a number if it has none. */
void px_iof_receivers_add(struct px_iof_receivers *receivers,
                          struct px_iof_receiver *receiver);
/* Returns the receiver with this number, or NULL if it is missing or ending. */
struct px_iof_receiver *px_iof_receivers_find(const struct px_iof_receivers *receivers,
                                              size_t id);
/* Frees a receiver later that has passed on all its output; for receiver.c. */
void px_iof_receivers_release(struct px_iof_receiver *receiver);
/* Resumes the producers that no receiver stops; for receiver.c. */
void px_iof_receivers_resume(struct px_iof_receivers *receivers);

/* Reads a message of PX_TAG_IOF and gives the piece to its receiver. Returns
 * PMIX_ERR_NOT_FOUND if that receiver does not exist, or the error of a malformed
 * message. */
pmix_status_t px_iof_receive(struct px_iof_receivers *receivers, px_reader *r);
/* Returns a number that changes with each piece that a receiver gets or passes on.
 * *held_b: number of bytes not passed on yet. */
size_t px_iof_receivers_progress(const struct px_iof_receivers *receivers,
                                 size_t *held_b);
/* Passes on gathered output of a server that has gone, also incomplete lines. */
void px_iof_receivers_flush(struct px_iof_receivers *receivers,
                            const pmix_proc_t *server);

/* Adds a producer, whose other members are set. */
void px_iof_producer_attach(struct px_iof_producer *producer,
                            struct px_iof_receivers *receivers);
/* Removes a producer, which is not resumed any more. */
void px_iof_producer_detach(struct px_iof_producer *producer);
/* True if a receiver is above its limit: the producer must wait for resume. */
bool px_iof_producer_is_stopped(const struct px_iof_producer *producer);

/* Closes the input and frees receivers->pusher, if there is one. */
void px_stdin_pusher_free(struct px_iof_receivers *receivers);

#endif
