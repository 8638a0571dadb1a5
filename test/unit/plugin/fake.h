/* SPDX-License-Identifier: BSD-3-Clause */
/* Access to a fake component's state, in place of the ops of its framework. */
#ifndef RT_FAKE_H
#define RT_FAKE_H

#include "tenon/component.h"

struct fake_state {
    const struct px_services *services;
    int64_t level;
    const char *label;
    unsigned roles_at_open;
};

struct fake_ops {
    const struct fake_state *(*state)(void *self);
};

#endif
