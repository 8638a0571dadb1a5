/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocations, resource blocks, sessions. */
#include "core/client/ask.h"

/* ---- allocations --------------------------------------------------------------------------------- */

struct alloc_op {
    struct px_ask ask;
    pmix_alloc_directive_t directive;
    const pmix_info_t *info;
    size_t n_info;
};

static const struct px_arg alloc_args[] = {
    PX_ARGS(struct alloc_op, info, n_info, PMIX_INFO),
    PX_ARGS_END,
};

static void on_alloc(struct px_api *api)
{
    struct alloc_op *op = PX_CONTAINER_OF(api, struct alloc_op, ask.api);
    px_writer w;

    px_channel_begin(px_process.channel, &w, PX_OP_ALLOC);
    px_pack_u8(&w, op->directive, PMIX_ALLOC_DIRECTIVE);
    px_pack_infos(&w, op->info, op->n_info);
    px_ask_send(&op->ask, &w);
}

static struct alloc_op make_alloc_op(pmix_alloc_directive_t directive,
                                     const pmix_info_t *info, size_t n_info)
{
    return (struct alloc_op){.ask.api = {.start = on_alloc, .args = alloc_args},
                             .directive = directive,
                             .info = info,
                             .n_info = n_info};
}

PX_EXPORT pmix_status_t PMIx_Allocation_request(pmix_alloc_directive_t directive,
                                                pmix_info_t *info, size_t ninfo,
                                                pmix_info_t **results, size_t *nresults)
{
    struct alloc_op op = make_alloc_op(directive, info, ninfo);
    pmix_status_t rc = px_api_check(NULL, 0, info, ninfo);

    return rc ? rc : px_ask_wait(&op.ask, results, nresults);
}

PX_EXPORT pmix_status_t PMIx_Allocation_request_nb(pmix_alloc_directive_t directive,
                                                   pmix_info_t *info, size_t ninfo,
                                                   pmix_info_cbfunc_t cbfunc,
                                                   void *cbdata)
{
    struct alloc_op op = make_alloc_op(directive, info, ninfo);
    pmix_status_t rc = px_api_check(NULL, 0, info, ninfo);

    return rc ? rc : px_ask_post(&op.ask, sizeof op, cbfunc, cbdata);
}

/* ---- resource blocks -------------------------------------------------------------------------------- */

struct block_op {
    struct px_api api;
    pmix_resource_block_directive_t directive;
    const char *block;
    const pmix_resource_unit_t *units;
    size_t n_units;
    const pmix_info_t *info;
    size_t n_info;
};

static const struct px_arg block_args[] = {
    PX_ARG(struct block_op, block, PMIX_STRING),
    PX_ARGS(struct block_op, units, n_units, PMIX_RESOURCE_UNIT),
    PX_ARGS(struct block_op, info, n_info, PMIX_INFO),
    PX_ARGS_END,
};

/* The command came with the types it carries, which the dialect of the connection need not have. */
static void on_block(struct px_api *api)
{
    struct block_op *op = PX_CONTAINER_OF(api, struct block_op, api);
    px_writer w;

    px_channel_begin(px_process.channel, &w, PX_OP_RESBLK);
    w.codec = px_codec_newest(w.codec);
    if (!px_dialect_knows(w.codec.dialect, PMIX_RESOURCE_UNIT)) {
        px_writer_cleanup(&w);
        px_api_done(api, PMIX_ERR_NOT_SUPPORTED);
        return;
    }
    px_pack_u8(&w, op->directive, PMIX_RESBLOCK_DIRECTIVE);
    px_pack_str(&w, op->block);
    px_pack_size(&w, op->n_units);
    if (op->n_units > 0)
        px_pack(&w, op->units, (int32_t)op->n_units, PMIX_RESOURCE_UNIT);
    px_pack_infos(&w, op->info, op->n_info);
    px_api_request(api, &w, px_api_status_reply);
}

static struct block_op make_block_op(pmix_resource_block_directive_t directive,
                                     const char *block,
                                     const pmix_resource_unit_t *units, size_t n_units,
                                     const pmix_info_t *info, size_t n_info)
{
    return (struct block_op){.api = {.start = on_block, .args = block_args},
                             .directive = directive,
                             .block = block,
                             .units = units,
                             .n_units = n_units,
                             .info = info,
                             .n_info = n_info};
}

static pmix_status_t check_block(const struct block_op *op)
{
    pmix_status_t rc = px_api_check(op->units, op->n_units, op->info, op->n_info);

    return !rc && !op->block ? PMIX_ERR_BAD_PARAM : rc;
}

PX_EXPORT pmix_status_t PMIx_Resource_block(pmix_resource_block_directive_t directive,
                                            char *block,
                                            const pmix_resource_unit_t *units,
                                            size_t nunits, const pmix_info_t *info,
                                            size_t ninfo)
{
    struct block_op op = make_block_op(directive, block, units, nunits, info, ninfo);
    pmix_status_t rc = check_block(&op);

    return rc ? rc : px_api_wait(&op.api);
}

PX_EXPORT pmix_status_t PMIx_Resource_block_nb(
    pmix_resource_block_directive_t directive, char *block,
    const pmix_resource_unit_t *units, size_t nunits, const pmix_info_t *info,
    size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct block_op op = make_block_op(directive, block, units, nunits, info, ninfo);
    pmix_status_t rc = check_block(&op);

    op.api.cb = cbfunc;
    op.api.cbdata = cbdata;
    return rc ? rc : px_api_post(&op.api, sizeof op);
}

/* ---- sessions ---------------------------------------------------------------------------------------- */

struct session_op {
    struct px_ask ask;
    uint32_t session;
    const pmix_info_t *info;
    size_t n_info;
};

static const struct px_arg session_args[] = {
    PX_ARGS(struct session_op, info, n_info, PMIX_INFO),
    PX_ARGS_END,
};

static void on_session(struct px_api *api)
{
    struct session_op *op = PX_CONTAINER_OF(api, struct session_op, ask.api);
    px_writer w;

    px_channel_begin(px_process.channel, &w, PX_OP_SESSION_CTRL);
    px_pack_u32(&w, op->session);
    px_pack_infos(&w, op->info, op->n_info);
    px_ask_send(&op->ask, &w);
}

PX_EXPORT pmix_status_t PMIx_Session_control(uint32_t sessionID,
                                             const pmix_info_t info[], size_t ninfo,
                                             pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct session_op op = {.ask.api = {.start = on_session, .args = session_args},
                            .session = sessionID,
                            .info = info,
                            .n_info = ninfo};
    pmix_status_t rc = px_api_check(NULL, 0, info, ninfo);

    if (rc)
        return rc;
    if (cbfunc)
        return px_ask_post(&op.ask, sizeof op, cbfunc, cbdata);
    rc = px_ask_wait(&op.ask, NULL, NULL);
    return rc ? rc : PMIX_OPERATION_SUCCEEDED;
}
