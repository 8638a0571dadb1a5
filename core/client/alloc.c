/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocations, resource blocks, sessions. */
#include "core/client/info_call.h"

/* ---- allocations ----------------------------------------------------------------- */

static struct px_info_call make_alloc(pmix_alloc_directive_t directive,
                                      const pmix_info_t *info, size_t n_info)
{
    return (struct px_info_call){
        .api = {
            .request = &px_request_alloc,
            .args = {.directive = directive, .info = px_infos_borrow(info, n_info)}}};
}

PX_EXPORT pmix_status_t PMIx_Allocation_request(pmix_alloc_directive_t directive,
                                                pmix_info_t *info, size_t ninfo,
                                                pmix_info_t **results, size_t *nresults)
{
    return px_info_call_wait(make_alloc(directive, info, ninfo), results, nresults);
}

PX_EXPORT pmix_status_t PMIx_Allocation_request_nb(pmix_alloc_directive_t directive,
                                                   pmix_info_t *info, size_t ninfo,
                                                   pmix_info_cbfunc_t cbfunc,
                                                   void *cbdata)
{
    return px_info_call_post(make_alloc(directive, info, ninfo), cbfunc, cbdata);
}

/* ---- resource blocks ------------------------------------------------------------- */

/* The command came with the types it carries, which the dialect of the connection
 * need not have. */
static void on_block(struct px_api *api)
{
    struct px_codec codec = px_codec_newest(px_process.channel->codec);
    px_writer w;

    if (!px_dialect_knows(codec.dialect, PMIX_RESOURCE_UNIT)) {
        px_api_done(api, PMIX_ERR_NOT_SUPPORTED);
        return;
    }
    px_channel_begin(px_process.channel, &w, PX_OP_RESBLK);
    w.codec = codec;
    px_pack_args(&w, &api->args, api->request->args);
    px_api_request(api, &w, px_api_status_reply);
}

static struct px_api make_block(pmix_resource_block_directive_t directive,
                                const char *block, const pmix_resource_unit_t *units,
                                size_t n_units, const pmix_info_t *info, size_t n_info)
{
    return (struct px_api){.start = on_block,
                           .request = &px_request_block,
                           .args = {.directive = directive,
                                    .text = (char *)block,
                                    .units = (pmix_resource_unit_t *)units,
                                    .n_units = n_units,
                                    .info = px_infos_borrow(info, n_info)}};
}

PX_EXPORT pmix_status_t PMIx_Resource_block(pmix_resource_block_directive_t directive,
                                            char *block,
                                            const pmix_resource_unit_t *units,
                                            size_t nunits, const pmix_info_t *info,
                                            size_t ninfo)
{
    return px_api_call(make_block(directive, block, units, nunits, info, ninfo));
}

PX_EXPORT pmix_status_t PMIx_Resource_block_nb(
    pmix_resource_block_directive_t directive, char *block,
    const pmix_resource_unit_t *units, size_t nunits, const pmix_info_t *info,
    size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return px_api_call_nb(make_block(directive, block, units, nunits, info, ninfo),
                          cbfunc, cbdata);
}

/* ---- sessions -------------------------------------------------------------------- */

PX_EXPORT pmix_status_t PMIx_Session_control(uint32_t sessionID,
                                             const pmix_info_t info[], size_t ninfo,
                                             pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct px_info_call c = {
        .api = {.request = &px_request_session,
                .args = {.number = sessionID, .info = px_infos_borrow(info, ninfo)}}};
    pmix_status_t rc;

    if (cbfunc)
        return px_info_call_post(c, cbfunc, cbdata);
    rc = px_info_call_wait(c, NULL, NULL);
    return rc ? rc : PMIX_OPERATION_SUCCEEDED;
}
