/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames from the server that answer no request: notifications, for the handlers of
 * this process, and forwarded output. */

#include "core/client/client.h"
#include "core/link/iof.h"
#include "core/notify/notify.h"
#include "core/rt/log.h"

/* Marks what a server has seen already; nothing for users. */
#define SERVER_MARK "pmix.srvr.internal.notify"

struct incoming {
    pmix_status_t code;
    pmix_proc_t source;
    px_infos infos;
    uint8_t range;
};

static pmix_status_t read_event(px_reader *r, struct incoming *e)
{
    uint8_t op;
    pmix_status_t rc = px_unpack_u8(r, &op, PMIX_COMMAND);

    if (!rc && op != PX_OP_NOTIFY)
        rc = PMIX_ERR_UNPACK_FAILURE;
    if (!rc)
        rc = px_unpack_status(r, &e->code);
    if (!rc)
        rc = px_unpack1(r, &e->source, PMIX_PROC);
    if (!rc)
        rc = px_unpack_infos(r, &e->infos.v, &e->infos.n);
    e->infos.cap = e->infos.n;
    e->range = PMIX_RANGE_UNDEF;
    if (!rc && !px_reader_done(r)) /* sent by 4.2.1 and later only */
        rc = px_unpack_u8(r, &e->range, PMIX_DATA_RANGE);
    return rc;
}

void px_client_on_notify(px_reader *r)
{
    struct incoming e = {0};
    pmix_status_t rc = read_event(r, &e);

    if (!rc) {
        px_infos_drop(&e.infos, SERVER_MARK);
        /* The server has chosen us: whatever the range was, we are in it. */
        rc = px_notify_deliver(px_process.notify, e.code, &e.source, e.range, e.infos.v,
                               e.infos.n);
    }
    if (rc)
        px_log(PX_LOG_WARN, "client", "event from the server dropped: %s",
               PMIx_Error_string(rc));
    px_infos_cleanup(&e.infos);
}

void px_client_on_iof(px_reader *r)
{
    pmix_status_t rc = px_iof_receive(&px_process.model->iofs, r);

    if (rc)
        px_log(rc == PMIX_ERR_NOT_FOUND ? PX_LOG_DEBUG : PX_LOG_WARN, "client",
               "forwarded output dropped: %s", PMIx_Error_string(rc));
}
