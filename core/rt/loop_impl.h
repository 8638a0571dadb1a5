/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the loop: loop.c, child.c, call.c, and their unit tests. */
#ifndef PX_RT_LOOP_IMPL_H
#define PX_RT_LOOP_IMPL_H

#include "core/base/list.h"
#include "core/rt/loop.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <pthread.h>
#include <stdatomic.h>

struct px_loop {
    struct event_base *base;
    atomic_bool external; /* becomes true only */
    pthread_t thread;     /* unless external */

    /* The thread that runs the loop: its pthread_self(), or 0. */
    _Atomic(uintptr_t) owner;

    /* The mailbox: newest first, turned round by the reader. */
    _Atomic(struct px_msg *) inbox;
    atomic_uint posting; /* px_post calls that may still touch this structure */
    atomic_uint held;    /* px_loop_hold calls not yet undone */
    int wake_fd;         /* an eventfd, written when the inbox was empty */
    struct event mail;

    /* External progress: whose turn it is to run the loop. */
    pthread_mutex_t turn_lock;
    pthread_cond_t turn_over;
    bool pumping;

    /* child.c */
    struct px_list children;
    void (*free_children)(struct px_loop *loop); /* NULL: there never were any */
    struct px_timer *poll; /* for those without a pidfd; made when first needed */
    bool no_pidfd;         /* tests set it to force the fallback */
};

/* External progress: runs the loop, or waits while another thread does, until *state
 * reaches until. Only the loop may set it. */
void px_loop_help(struct px_loop *loop, const _Atomic int *state, int until);

#endif
