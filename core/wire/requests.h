/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of requests, and tables of their order and form. A client packs by the
 * table that its server unpacks by; arguments that outlive a call are copied by it,
 * as programs free them as soon as the call returns (adr/0009). */
#ifndef PX_WIRE_REQUESTS_H
#define PX_WIRE_REQUESTS_H

#include "core/types/type.h"
#include "core/wire/codec.h"

#include <time.h>

/* Each request has the members that its table lists; the others stay zero. A client
 * borrows all of it from its caller, a server owns it. */
typedef struct px_args {
    px_infos info; /* directives; of a publication what is published */
    px_infos more; /* directives beside such infos */
    pmix_proc_t *procs;
    size_t n_procs;
    pmix_app_t *apps;
    size_t n_apps;
    pmix_query_t *queries;
    size_t n_queries;
    pmix_resource_unit_t *units;
    size_t n_units;
    pmix_status_t *codes;
    size_t n_codes;
    char **keys; /* a server's ends with NULL */
    size_t n_keys;
    char *text;   /* name of a group, block or key; message of an abort */
    char *nspace; /* with rank: of whom something is asked */
    pmix_rank_t rank;
    pmix_byte_object_t bytes;
    pmix_status_t code;
    time_t stamp;
    size_t id;       /* of forwarding, of a fabric */
    uint32_t number; /* of a session, of a user */
    pmix_iof_channel_t channels;
    uint8_t directive; /* of an allocation or a block; a range */
    bool accept;
} px_args;

enum px_arg_form {
    PX_ARG_END,
    PX_ARG_ONE,  /* an object inside of struct px_args */
    PX_ARG_SOLE, /* a pointer to exactly one */
    PX_ARG_MANY, /* their number, then all of them as one operation */
    PX_ARG_EACH, /* their number, then an operation each; strings only */
};

struct px_arg {
    uint8_t form; /* enum px_arg_form */
    bool late; /* may be absent, and then keeps its value; a NULL string is not sent */
    bool needed; /* a request without any is PMIX_ERR_BAD_PARAM, on either side */
    pmix_data_type_t type;
    uint16_t at,
        count_at; /* in struct px_args: the object or pointer, and its size_t */
};

#define PX_MAX_KEYS 65536u /* what a server takes of PX_ARG_EACH */

/* The caller's infos, for a member that only borrows them. */
static inline px_infos px_infos_borrow(const pmix_info_t *info, size_t n)
{
    return (px_infos){.v = (pmix_info_t *)info, .n = n};
}

/* Marks a connect that is to make a namespace: the last job of its answer. */
#define PX_CONNECT_MAKES "tenon.connect.makes"

/* In a get: the client asks again for what an answer does not bring. */
#define PX_GET_PARTS "tenon.parts"

/* ---- a caller's ------------------------------------------------------------------ */

/* True if what is needed is there, and no array is NULL or longer than a message can
 * say. */
bool px_args_sound(const struct px_args *args, const struct px_arg *table);
/* All that the table lists becomes a copy of args' own. On failure it owns nothing.
 * PMIX_ERR_NOMEM, or why a value cannot be copied. */
pmix_status_t px_args_copy(struct px_args *args, const struct px_arg *table);
void px_pack_args(px_writer *w, const struct px_args *args, const struct px_arg *table);

/* ---- one's own ------------------------------------------------------------------- */

/* Into args that own nothing. PMIX_ERR_BAD_PARAM for what is needed and not there,
 * too many strings, or a NULL among them; else as px_unpack. On failure args hold
 * what was read before. */
pmix_status_t px_unpack_args(px_reader *r, struct px_args *args,
                             const struct px_arg *table);
/* Frees what the table lists. */
void px_args_free(struct px_args *args, const struct px_arg *table);
/* Frees everything. */
void px_args_cleanup(struct px_args *args);

/* ---- the tables ------------------------------------------------------------------ */

/* The requests of the protocol whose fields are a plain list: client and server share a
 * table each, so that what a message holds stands once. The others are read and written
 * by hand: commits, device distances, and what ends an interest in events. */
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
/* A piece but for its bytes, which follow and may be shared by several messages. */
void px_pack_piece_head(px_writer *w, const struct px_args *args);
/* For calls that are no message, or one written by hand, and borrow infos. */
extern const struct px_request px_request_infos;

#endif
