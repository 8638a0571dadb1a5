/* SPDX-License-Identifier: BSD-3-Clause */
/* The receivers of forwarded output in this process, and the producers that bring the
 * output. A receiver that holds too much has its producers stop, and resumes them when
 * there is room. Loop thread only. */
#ifndef PX_IOF_RECEIVERS_H
#define PX_IOF_RECEIVERS_H

#include "core/iof/receivers/receiver.h"

struct px_client;
struct px_iof_input;
struct px_timer;

/* A server that sends output to this process: over a connection, or in this process. */
struct px_iof_producer {
    struct px_list node; /* in px_iof_receivers.producers */
    struct px_iof_receivers *receivers;
    pmix_proc_t server;
    void (*resume)(void *arg); /* the producer may bring output again */
    void *arg;
};

/* The own stdin on its way to other processes (client/push.c). One chunk is on its way
 * while the next waits in the kernel. */
struct px_stdin_pusher {
    struct px_client *client;
    struct px_iof_input *input; /* NULL: at the end, or closed */
    struct px_args args;        /* targets and directives */
    pmix_proc_t server;
    bool under_way;
};

struct px_iof_receivers {
    struct px_list list; /* struct px_iof_receiver */
    struct px_list producers;
    size_t last_id;
    bool shows_unasked; /* a receiver for PX_IOF_UNASKED is made when needed */
    struct px_stdin_pusher *pusher; /* NULL: none */
    void (*over)(void *arg);        /* see px_iof_receivers_end */
    void *over_arg;
    struct px_timer *timer;
    size_t ending_b; /* held when the timer was set */
    size_t n_pieces; /* received */
    struct px_msg msg;
};

/* PMIX_ERR_NOMEM. */
pmix_status_t px_iof_receivers_create(struct px_iof_receivers **receivers);
/* Frees the pusher and all receivers with what they hold. NULL is fine. */
void px_iof_receivers_destroy(struct px_iof_receivers *receivers);
/* Ends the pusher and all receivers. Calls over, perhaps within, when every receiver
 * has passed its output on, or none has for iof_drain_timeout. */
void px_iof_receivers_end(struct px_iof_receivers *receivers, void (*over)(void *arg),
                          void *arg);

/* Adds a receiver, and numbers a receiver without a number. */
void px_iof_receivers_add(struct px_iof_receivers *receivers,
                          struct px_iof_receiver *receiver);
/* Returns the receiver with this number unless it is ending, or NULL. */
struct px_iof_receiver *px_iof_receivers_find(const struct px_iof_receivers *receivers,
                                              size_t id);
/* Frees a receiver later that has passed on all of its output; for receiver.c. */
void px_iof_receivers_release(struct px_iof_receiver *receiver);
/* Resumes the producers that no receiver stops; for receiver.c. */
void px_iof_receivers_resume(struct px_iof_receivers *receivers);

/* Reads a message of PX_TAG_IOF and gives the piece to its receiver.
 * PMIX_ERR_NOT_FOUND: there is no such receiver; or the reason why the message cannot
 * be read. */
pmix_status_t px_iof_receive(struct px_iof_receivers *receivers, px_reader *r);
/* Returns a number that changes with each piece that a receiver gets or passes on.
 * *held_b: bytes that the receivers have not passed on. */
size_t px_iof_receivers_progress(const struct px_iof_receivers *receivers,
                                 size_t *held_b);
/* Passes on gathered output from a server that has gone, also lines without end. */
void px_iof_receivers_flush(struct px_iof_receivers *receivers,
                            const pmix_proc_t *server);

/* Adds a producer, whose other members are set. */
void px_iof_producer_attach(struct px_iof_producer *producer,
                            struct px_iof_receivers *receivers);
/* Removes a producer, which is not resumed any more. */
void px_iof_producer_detach(struct px_iof_producer *producer);
/* True if a receiver holds too much: the producer must wait for resume. */
bool px_iof_producer_is_stopped(const struct px_iof_producer *producer);

/* Closes the input and frees receivers->pusher, if there is one. */
void px_stdin_pusher_free(struct px_iof_receivers *receivers);

#endif
