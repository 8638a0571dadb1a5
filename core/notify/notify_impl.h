/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of this room. */
#ifndef PX_NOTIFY_NOTIFY_IMPL_H
#define PX_NOTIFY_NOTIFY_IMPL_H

#include "core/base/map.h"
#include "core/notify/handlers.h"
#include "core/notify/notify.h"

#include <limits.h>

struct px_notify {
    struct px_handlers handlers;
    struct px_list chains;
    struct px_list cached;
    size_t n_cached;
    struct px_notify_hooks hooks;
    struct px_map codes; /* code -> count of handlers, as the server was told */
};

/* Events that came before this handler did. */
void px_notify_replay(struct px_notify *n, const struct px_handler *h);

/* ---- codes.c --------------------------------------------------------------------- */

/* Stands for default handlers, on the wire when the last of them goes. */
#define PX_DEFAULT_CODE INT_MIN

/* A server's own handlers see what passes through it; only those that are none, or
 * have left events to their own server, have one to ask. */
bool px_notify_has_server(void);
/* True if this is the first handler for the code. */
bool px_notify_code_added(struct px_notify *n, pmix_status_t code);
/* Takes a handler out; the server learns which codes have no handler here any more. */
void px_notify_retire(struct px_notify *n, struct px_handler *h);
void px_notify_codes_fini(struct px_notify *n);

#endif
