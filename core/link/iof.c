/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/link/iof.h"

#include "core/rt/process.h"
#include "core/wire/requests.h"

void px_iofs_init(struct px_iofs *iofs)
{
    px_list_init(&iofs->list);
    px_list_init(&iofs->pieces);
    iofs->last_id = 0;
}

pmix_status_t px_iof_add(struct px_iofs *iofs, pmix_iof_cbfunc_t fn,
                         struct px_iof **iof)
{
    struct px_iof *i = calloc(1, sizeof *i);

    if (!i)
        return PMIX_ERR_NOMEM;
    i->id = ++iofs->last_id;
    i->fn = fn;
    px_list_append(&iofs->list, &i->link);
    *iof = i;
    return PMIX_SUCCESS;
}

struct px_iof *px_iof_find(const struct px_iofs *iofs, size_t id)
{
    PX_LIST_EACH (&iofs->list, struct px_iof, i, link)
        if (i->id == id)
            return i;
    return NULL;
}

void px_iof_remove(struct px_iof *iof)
{
    px_list_remove(&iof->link);
    free(iof);
}

/* Bytes on their way to a receiver, which may go before they arrive. */
struct piece {
    struct px_msg msg;
    struct px_list link; /* in px_iofs.pieces */
    const struct px_iofs *iofs;
    struct px_args args;
};

void px_iofs_fini(struct px_iofs *iofs)
{
    PX_LIST_EACH (&iofs->list, struct px_iof, i, link)
        px_iof_remove(i);
    PX_LIST_EACH (&iofs->pieces, struct piece, p, link) {
        px_list_remove(&p->link);
        p->iofs = NULL;
    }
}

static void on_piece(struct px_msg *msg)
{
    struct piece *p = PX_CONTAINER_OF(msg, struct piece, msg);
    struct px_args *a = &p->args;
    const struct px_iof *iof = p->iofs ? px_iof_find(p->iofs, a->id) : NULL;

    if (iof)
        iof->fn(iof->id, a->channels, a->procs, &a->bytes, a->info.v, a->info.n);
    px_list_remove(&p->link);
    px_args_cleanup(a);
    free(p);
}

pmix_status_t px_iof_receive(struct px_iofs *iofs, px_reader *r)
{
    struct piece *p = calloc(1, sizeof *p);
    pmix_status_t rc;

    if (!p)
        return PMIX_ERR_NOMEM;
    p->msg.run = on_piece;
    px_list_append(&iofs->pieces, &p->link);
    rc = px_unpack_args(r, &p->args, px_request_piece.args);
    if (!rc && px_iof_find(iofs, p->args.id))
        p->iofs = iofs;
    else if (!rc)
        rc = PMIX_ERR_NOT_FOUND;
    if (rc || !px_loop_defer(px_process.loop, &p->msg))
        on_piece(&p->msg);
    return rc;
}
