/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/server/op.h"

#include "core/rt/process.h"
#include "core/server/server.h"

static void on_op(struct px_api *api)
{
    const struct px_server_op *op = PX_CONTAINER_OF(api, struct px_server_op, api);
    struct px_server *srv = px_process.server; /* NULL after the server's end */
    pmix_status_t rc = srv ? op->run(srv, op) : PMIX_ERR_INIT;

    if (rc != PX_DEFERRED) /* op may be freed after PX_DEFERRED */
        px_api_done(api, rc);
}

pmix_status_t px_server_submit(struct px_server_op *op, size_t size, bool sound)
{
    if (!px_server_here())
        return PMIX_ERR_INIT;
    op->api.start = on_op;
    op->api.invalid = !sound;
    op->api.at_once = !op->calls_host;
    return op->api.cb || op->api.finish ? px_api_post(&op->api, size)
                                        : px_api_wait(&op->api);
}
