/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this room share. */
#ifndef PX_NOTIFY_NOTIFY_IMPL_H
#define PX_NOTIFY_NOTIFY_IMPL_H

#include "core/base/map.h"
#include "core/notify/handlers.h"

struct px_notify {
    struct px_handlers handlers;
    struct px_list chains;
    struct px_list unheard;
    size_t n_unheard;
    struct px_notify_hooks hooks;
    struct px_map codes; /* code -> count of handlers, as the server was told */
};

/* Events that came before this handler did. */
void px_notify_replay(struct px_notify *n, const struct px_handler *h);
void px_notify_codes_fini(struct px_notify *n);
/* Takes a handler out; the server is told of codes nobody here wants any more. */
void px_notify_retire(struct px_notify *n, struct px_handler *h);

#endif
