/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of requests, and tables of their order and form. Client and server use the
 * same table. px_args_copy copies arguments that outlive a call. Programs free their
 * arguments as soon as the call returns (adr/0009). */
#ifndef PX_WIRE_REQUESTS_H
#define PX_WIRE_REQUESTS_H

#include "core/types/type.h"
#include "core/wire/codec.h"

#include <time.h>

/* Arguments of a request. Only the members listed in the request's table are set. A
 * client borrows all members from its caller; a server owns them. */
typedef struct px_args {
    px_infos info; /* directives, or the published data */
    px_infos more; /* directives besides published data */
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
    char **keys; /* NULL-terminated in a server */
    size_t n_keys;
    char *text;   /* name of a group, block or key; message of an abort */
    char *nspace; /* with rank: the target process */
    pmix_rank_t rank;
    pmix_status_t code;
    pmix_byte_object_t bytes;
    time_t stamp;
    size_t id;       /* of a forwarding or a fabric */
    uint32_t number; /* of a session or a user */
    pmix_iof_channel_t channels;
    uint8_t directive; /* of an allocation or block; or a range */
    bool accept;
} px_args;

enum px_arg_form {
    PX_ARG_END,
    PX_ARG_ONE,  /* an object inside struct px_args */
    PX_ARG_SOLE, /* a pointer to exactly one object */
    PX_ARG_MANY, /* a count, then all elements as one operation */
    PX_ARG_EACH, /* a count, then an operation per string */
};

struct px_arg {
    uint8_t form; /* enum px_arg_form */
    bool late;    /* keeps its value if absent; a NULL string is not sent */
    bool needed;  /* PMIX_ERR_BAD_PARAM if empty, in client and server */
    pmix_data_type_t type;
    uint16_t at, count_at; /* offsets of the object or pointer, and of its size_t */
};

#define PX_MAX_KEYS 8192u /* limit of PX_ARG_EACH in a server */

/* Wraps the caller's infos for a member that borrows them. */
static inline px_infos px_infos_borrow(const pmix_info_t *info, size_t n)
{
    return (px_infos){.v = (pmix_info_t *)info, .n = n};
}

/* Key in a connect that makes a namespace: the last job of the reply. */
#define PX_CONNECT_MAKES "tenon.connect.makes"

/* Key in a get: the client requests missing parts again. */
#define PX_GET_PARTS "tenon.parts"

/* ---- arguments of a caller ------------------------------------------------------- */

/* True if all needed arguments are present and no array is NULL or too long for a
 * message. */
bool px_args_sound(const struct px_args *args, const struct px_arg *table);
/* Replaces every argument in the table by a copy. On failure args owns nothing. Returns
 * PMIX_ERR_NOMEM, or the reason why a value cannot be copied. */
pmix_status_t px_args_copy(struct px_args *args, const struct px_arg *table);
void px_pack_args(px_writer *w, const struct px_args *args, const struct px_arg *table);

/* ---- arguments of a message ------------------------------------------------------ */

/* Reads a request into args, which must own nothing. Returns PMIX_ERR_BAD_PARAM for
 * missing arguments or a NULL string, PMIX_ERR_OUT_OF_RESOURCE for more than
 * PX_MAX_KEYS strings, otherwise px_unpack's status.
 * On failure args owns the arguments read before. */
pmix_status_t px_unpack_args(px_reader *r, struct px_args *args,
                             const struct px_arg *table);
/* Frees the arguments in the table. */
void px_args_free(struct px_args *args, const struct px_arg *table);
/* Frees all arguments. */
void px_args_cleanup(struct px_args *args);

/* ---- the tables ------------------------------------------------------------------ */

/* The requests whose fields are a plain list. Client and server share a table each, so
 * each message is defined once. Commits, device distances and deregistrations of events
 * are packed by hand. */
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
    px_request_fabric_update, px_request_block, px_request_session, px_request_get,
    px_request_refresh, px_request_resolve_peers, px_request_resolve_nodes,
    px_request_fallback;
/* Messages that a server sends without a request: an event, and a piece of output,
 * which has no command. */
extern const struct px_request px_request_event, px_request_piece;
/* Packs a piece without its bytes, which follow and which several messages may
 * share. */
void px_pack_piece_head(px_writer *w, const struct px_args *args);
/* For calls that only borrow infos: local calls, and messages packed by hand. */
extern const struct px_request px_request_infos;

#endif
