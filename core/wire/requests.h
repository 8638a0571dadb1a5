/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests of the protocol whose fields are a plain list: client and server share a
 * table each, so that what a message holds stands once. The others are read and written
 * by hand: commits, device distances, and what ends an interest in events. */
#ifndef PX_WIRE_REQUESTS_H
#define PX_WIRE_REQUESTS_H

#include "core/wire/args.h"

struct px_request {
    uint8_t op; /* enum px_op */
    struct px_arg args[6];
};

extern const struct px_request px_request_abort, px_request_fence, px_request_connect,
    px_request_disconnect, px_request_publish, px_request_lookup, px_request_unpublish,
    px_request_spawn, px_request_notify, px_request_regevents, px_request_query,
    px_request_log, px_request_alloc, px_request_job_control, px_request_monitor,
    px_request_get_cred, px_request_validate_cred, px_request_iof_pull,
    px_request_iof_push, px_request_iof_dereg, px_request_group_construct,
    px_request_group_destruct, px_request_group_destruct_old, px_request_group_leave,
    px_request_group_invite, px_request_group_join, px_request_fabric_register,
    px_request_fabric_update, px_request_block, px_request_session, px_request_get;
/* Messages of a server that no request asks for: an event; a piece of output, which
 * has no command. */
extern const struct px_request px_request_event, px_request_piece;
/* For calls that are no message, or one written by hand, and borrow infos. */
extern const struct px_request px_request_infos;

#endif
