/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_server_setup_application: the host gathers data for a launch, on the node where
 * the launch begins. */
#include "core/base/str.h"
#include "core/link/api.h"
#include "core/rt/log.h"
#include "core/server/fabric/gather.h"
#include "core/server/op.h"
#include "core/server/server.h"
#include "core/wire/requests.h"

struct setup {
    struct px_server_op op;
    pmix_nspace_t nspace;
    px_infos answer;
    pmix_setup_application_cbfunc_t cb;
};

static void on_gathered(void *arg, px_infos *out, struct px_err *err)
{
    struct setup *s = arg;

    if (err->status)
        px_log(PX_LOG_ERROR, "server", "%s", err->text);
    s->answer = *out;
    px_api_done(&s->op.api, err->status);
}

static pmix_status_t gather(struct px_server *srv, const struct px_server_op *op)
{
    struct setup *s = PX_CONTAINER_OF(op, struct setup, op);
    const px_infos *info = &op->api.args.info;

    px_gather_start(srv, s->nspace, info->v, info->n, on_gathered, s);
    return PX_DEFERRED;
}

/* Frees the answer when the host has read it. Any thread. */
static void on_read(pmix_status_t status PX_UNUSED, void *cbdata)
{
    px_infos *answer = cbdata;

    px_infos_cleanup(answer);
    free(answer);
}

static void finish_setup(struct px_api *api)
{
    struct setup *s = PX_CONTAINER_OF(api, struct setup, op.api);
    px_infos *kept = s->answer.n ? malloc(sizeof(*kept)) : NULL;

    if (kept) {
        *kept = s->answer;
        s->cb(api->status, kept->v, kept->n, api->cbdata, on_read, kept);
        return;
    }
    s->cb(s->answer.n ? PMIX_ERR_NOMEM : api->status, NULL, 0, api->cbdata, NULL, NULL);
    px_infos_cleanup(&s->answer);
}

PX_EXPORT pmix_status_t PMIx_server_setup_application(
    const pmix_nspace_t nspace, pmix_info_t info[], size_t ninfo,
    pmix_setup_application_cbfunc_t cbfunc, void *cbdata)
{
    struct setup s = {.op = {.run = gather,
                             .api = {.function = "PMIx_server_setup_application",
                                     .finish = finish_setup,
                                     .request = &px_request_infos,
                                     .args.info = px_infos_borrow(info, ninfo),
                                     .cbdata = cbdata}},
                      .cb = cbfunc};
    bool sound = nspace && nspace[0] && cbfunc &&
                 px_str_copy(s.nspace, sizeof(s.nspace), nspace);

    return px_server_submit(&s.op, sizeof(s), sound);
}
