/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that check, copy, pack, unpack and free arguments by tables. The tables:
 * one row per field, in the order of the message. */
#include "core/wire/requests.h"

#include "core/wire/ops.h"

#include <stddef.h>
#include <string.h>

static void *member(const struct px_args *args, size_t at)
{
    return (char *)args + at;
}

/* Reads a pointer member by memcpy, because pointers of different types may not
 * alias. */
static void *pointer(const struct px_args *args, const struct px_arg *a)
{
    void *p;

    memcpy(&p, member(args, a->at), sizeof(p));
    return p;
}

static size_t count(const struct px_args *args, const struct px_arg *a)
{
    return a->form == PX_ARG_SOLE ? 1 : *(size_t *)member(args, a->count_at);
}

static void set_array(struct px_args *args, const struct px_arg *a, void *p, size_t n)
{
    memcpy(member(args, a->at), &p, sizeof(p));
    if (a->count_at)
        *(size_t *)member(args, a->count_at) = n;
}

static bool is_given(const struct px_args *args, const struct px_arg *a)
{
    if (a->form == PX_ARG_ONE)
        return a->type != PMIX_STRING || pointer(args, a);
    return pointer(args, a) && count(args, a) > 0;
}

/* ---- arguments of a caller ------------------------------------------------------- */

bool px_args_sound(const struct px_args *args, const struct px_arg *table)
{
    for (const struct px_arg *a = table; a->form; a++) {
        const pmix_byte_object_t *bytes = member(args, a->at);
        bool sound = a->form == PX_ARG_ONE
                         ? a->type != PMIX_BYTE_OBJECT || bytes->size == 0 ||
                               bytes->bytes
                         : a->form == PX_ARG_SOLE || count(args, a) == 0 ||
                               (pointer(args, a) && count(args, a) <= INT32_MAX);

        if (!sound || (a->needed && !is_given(args, a)))
            return false;
    }
    return true;
}

static pmix_status_t copy_arg(struct px_args *to, const struct px_args *from,
                              const struct px_arg *a)
{
    size_t n = is_given(from, a) ? count(from, a) : 0;
    void *array = NULL;

    if (a->form == PX_ARG_ONE)
        return px_type_copy(a->type, member(to, a->at), member(from, a->at));
    pmix_status_t rc = px_type_copy_array(a->type, &array, pointer(from, a), n);
    if (!rc)
        set_array(to, a, array, n);
    return rc;
}

pmix_status_t px_args_copy(struct px_args *args, const struct px_arg *table)
{
    const struct px_args from = *args;
    pmix_status_t rc = PMIX_SUCCESS;

    for (const struct px_arg *a = table; a->form; a++) {
        if (a->form == PX_ARG_ONE)
            px_type_construct(a->type, member(args, a->at));
        else
            set_array(args, a, NULL, 0);
    }
    for (const struct px_arg *a = table; !rc && a->form; a++)
        rc = copy_arg(args, &from, a);
    if (rc)
        px_args_free(args, table);
    return rc;
}

static void pack_array(px_writer *w, const struct px_args *args, const struct px_arg *a)
{
    size_t n = count(args, a);
    char *const *strings = pointer(args, a);

    if (n > INT32_MAX) {
        w->status = w->status ? w->status : PMIX_ERR_BAD_PARAM;
        return;
    }
    if (a->form != PX_ARG_SOLE)
        px_pack_size(w, n);
    if (a->form != PX_ARG_EACH && n > 0)
        px_pack(w, strings, (int32_t)n, a->type);
    for (size_t i = 0; a->form == PX_ARG_EACH && i < n; i++)
        px_pack_str(w, strings[i]);
}

void px_pack_args(px_writer *w, const struct px_args *args, const struct px_arg *table)
{
    for (const struct px_arg *a = table; a->form; a++) {
        if (a->late && !is_given(args, a))
            continue;
        if (a->form == PX_ARG_ONE)
            px_pack(w, member(args, a->at), 1, a->type);
        else
            pack_array(w, args, a);
    }
}

/* ---- arguments of a message ------------------------------------------------------ */

static pmix_status_t unpack_strings(px_reader *r, struct px_args *args,
                                    const struct px_arg *a, size_t n)
{
    char **strings;
    pmix_status_t rc = PMIX_SUCCESS;

    if (n > PX_MAX_KEYS)
        return PMIX_ERR_OUT_OF_RESOURCE;
    strings = calloc(n + 1, sizeof(*strings));
    if (!strings)
        return PMIX_ERR_NOMEM;
    set_array(args, a, strings, n);
    for (size_t i = 0; !rc && i < n; i++) {
        rc = px_unpack_str(r, &strings[i]);
        if (!rc && !strings[i]) /* NULL would end the list early */
            rc = PMIX_ERR_BAD_PARAM;
    }
    return rc;
}

static pmix_status_t unpack_array(px_reader *r, struct px_args *args,
                                  const struct px_arg *a)
{
    void *array = NULL;
    size_t n = 1;
    pmix_status_t rc = a->form == PX_ARG_SOLE ? PMIX_SUCCESS : px_unpack_size(r, &n);

    if (rc || n == 0)
        return rc;
    if (a->form == PX_ARG_EACH)
        return unpack_strings(r, args, a, n);
    rc = px_unpack_array(r, &array, n, a->type);
    if (!rc)
        set_array(args, a, array, n);
    return rc;
}

pmix_status_t px_unpack_args(px_reader *r, struct px_args *args,
                             const struct px_arg *table)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (const struct px_arg *a = table; !rc && a->form; a++) {
        if (a->late && px_reader_done(r))
            break;
        rc = a->form == PX_ARG_ONE ? px_unpack1(r, member(args, a->at), a->type)
                                   : unpack_array(r, args, a);
        if (!rc && a->needed && !is_given(args, a))
            rc = PMIX_ERR_BAD_PARAM;
    }
    args->info.cap = args->info.n;
    args->more.cap = args->more.n;
    return rc;
}

void px_args_free(struct px_args *args, const struct px_arg *table)
{
    for (const struct px_arg *a = table; a->form; a++) {
        if (a->form == PX_ARG_ONE) {
            px_type_destruct(a->type, member(args, a->at));
        } else {
            void *array = pointer(args, a);

            px_type_free_array(a->type, array, array ? count(args, a) : 0);
            set_array(args, a, NULL, 0);
        }
    }
}

void px_args_cleanup(struct px_args *args)
{
    px_infos_cleanup(&args->info);
    px_infos_cleanup(&args->more);
    free(args->procs);
    px_type_free_array(PMIX_APP, args->apps, args->n_apps);
    px_type_free_array(PMIX_QUERY, args->queries, args->n_queries);
    px_type_free_array(PMIX_RESOURCE_UNIT, args->units, args->n_units);
    free(args->codes);
    px_type_free_array(PMIX_STRING, args->keys, args->n_keys);
    free(args->text);
    free(args->nspace);
    px_type_destruct(PMIX_BYTE_OBJECT, &args->bytes);
    *args = (struct px_args){0};
}

/* ---- the tables ------------------------------------------------------------------ */

#define AT(member) offsetof(struct px_args, member)
#define ONE(member, of)                                    \
    {                                                      \
        PX_ARG_ONE, false, false, PMIX_##of, AT(member), 0 \
    }
#define LATE(member, of)                                  \
    {                                                     \
        PX_ARG_ONE, true, false, PMIX_##of, AT(member), 0 \
    }
#define MANY(member, n, of)                                     \
    {                                                           \
        PX_ARG_MANY, false, false, PMIX_##of, AT(member), AT(n) \
    }
#define MANY_NEEDED(member, n, of)                             \
    {                                                          \
        PX_ARG_MANY, false, true, PMIX_##of, AT(member), AT(n) \
    }
#define KEYS(needed)                                                  \
    {                                                                 \
        PX_ARG_EACH, false, needed, PMIX_STRING, AT(keys), AT(n_keys) \
    }
#define SOLE(member, n, of)                                    \
    {                                                          \
        PX_ARG_SOLE, false, true, PMIX_##of, AT(member), AT(n) \
    }
#define INFOS      MANY(info.v, info.n, INFO)
#define MORE       MANY(more.v, more.n, INFO)
#define PROCS      MANY(procs, n_procs, PROC)
#define SOME_PROCS MANY_NEEDED(procs, n_procs, PROC)
#define TEXT       ONE(text, STRING)
#define NAME                                              \
    {                                                     \
        PX_ARG_ONE, false, true, PMIX_STRING, AT(text), 0 \
    }
/* The requesting user. Servers use the connection's credentials instead. */
#define USER ONE(number, UINT32)

#define REQUEST(name, op, ...) \
    const struct px_request px_request_##name = {op, {__VA_ARGS__}}

REQUEST(abort, PX_OP_ABORT, ONE(code, STATUS), TEXT, PROCS);
REQUEST(fence, PX_OP_FENCE, PROCS, INFOS);
REQUEST(connect, PX_OP_CONNECT, SOME_PROCS, INFOS);
REQUEST(disconnect, PX_OP_DISCONNECT, SOME_PROCS, INFOS);
REQUEST(publish, PX_OP_PUBLISH, USER, INFOS);
REQUEST(lookup, PX_OP_LOOKUP, USER, KEYS(true), INFOS);
REQUEST(unpublish, PX_OP_UNPUBLISH, USER, KEYS(false), INFOS);
REQUEST(spawn, PX_OP_SPAWN, INFOS, MANY_NEEDED(apps, n_apps, APP));
REQUEST(notify, PX_OP_NOTIFY, ONE(code, STATUS), ONE(directive, DATA_RANGE), INFOS);
REQUEST(regevents, PX_OP_REGEVENTS, MANY(codes, n_codes, STATUS), INFOS);
REQUEST(query, PX_OP_QUERY, MANY(queries, n_queries, QUERY));
REQUEST(log, PX_OP_LOG, ONE(stamp, TIME), INFOS, MORE);
REQUEST(alloc, PX_OP_ALLOC, ONE(directive, ALLOC_DIRECTIVE), INFOS);
REQUEST(job_control, PX_OP_JOB_CONTROL, PROCS, INFOS);
REQUEST(monitor, PX_OP_MONITOR, SOLE(info.v, info.n, INFO), ONE(code, STATUS), MORE);
REQUEST(get_cred, PX_OP_GET_CREDENTIAL, INFOS);
REQUEST(validate_cred, PX_OP_VALIDATE_CRED, ONE(bytes, BYTE_OBJECT), INFOS);
REQUEST(iof_pull, PX_OP_IOF_PULL, SOME_PROCS, INFOS, ONE(channels, IOF_CHANNEL),
        LATE(id, SIZE));
REQUEST(iof_push, PX_OP_IOF_PUSH, PROCS, INFOS, LATE(bytes, BYTE_OBJECT));
REQUEST(iof_dereg, PX_OP_IOF_DEREG, INFOS, ONE(id, SIZE));
REQUEST(group_construct, PX_OP_GROUP_CONSTRUCT, NAME, PROCS, INFOS);
REQUEST(group_destruct, PX_OP_GROUP_DESTRUCT, NAME, PROCS, INFOS);
REQUEST(group_destruct_old, PX_OP_GROUP_DESTRUCT, NAME, INFOS);
REQUEST(group_leave, PX_OP_GROUP_LEAVE, NAME, INFOS);
REQUEST(group_invite, PX_OP_GROUP_INVITE, NAME, SOME_PROCS, INFOS);
REQUEST(group_join, PX_OP_GROUP_JOIN, NAME, PROCS, ONE(accept, BOOL), INFOS);
REQUEST(fabric_register, PX_OP_FABRIC_REGISTER, INFOS);
REQUEST(fabric_update, PX_OP_FABRIC_UPDATE, ONE(id, SIZE));
/* Requests with types newer than most dialects; they are packed with
 * px_codec_newest. */
REQUEST(block, PX_OP_RESBLK, ONE(directive, RESBLOCK_DIRECTIVE), NAME,
        MANY(units, n_units, RESOURCE_UNIT), INFOS);
REQUEST(session, PX_OP_SESSION_CTRL, ONE(number, UINT32), INFOS);

REQUEST(get, PX_OP_GET, ONE(nspace, STRING), ONE(rank, PROC_RANK), INFOS,
        LATE(text, STRING));

/* Requests of other libraries' clients. An empty node or namespace means this node, or
 * all namespaces. */
REQUEST(refresh, PX_OP_REFRESH_CACHE, ONE(nspace, STRING), ONE(rank, PROC_RANK));
REQUEST(resolve_peers, PX_OP_RESOLVE_PEERS, TEXT, ONE(nspace, STRING));
REQUEST(resolve_nodes, PX_OP_RESOLVE_NODE, ONE(nspace, STRING));
REQUEST(fallback, PX_OP_GDS_FALLBACK, NAME);

/* An event from a server. Releases before 4.2.1 send no range. */
REQUEST(event, PX_OP_NOTIFY, ONE(code, STATUS), SOLE(procs, n_procs, PROC), INFOS,
        LATE(directive, DATA_RANGE));
#define PIECE_HEAD \
    SOLE(procs, n_procs, PROC), ONE(channels, IOF_CHANNEL), ONE(id, SIZE), INFOS
static const struct px_arg piece_head[] = {PIECE_HEAD, {0}};
REQUEST(piece, PX_OP_MAX, PIECE_HEAD, ONE(bytes, BYTE_OBJECT));
REQUEST(infos, PX_OP_MAX, INFOS, MORE);

void px_pack_piece_head(px_writer *w, const struct px_args *args)
{
    px_pack_args(w, args, piece_head);
    px_pack_bytes_head(w, args->bytes.size);
}
