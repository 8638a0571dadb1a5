/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/link/iof.h"

#include "core/wire/requests.h"

void px_iofs_init(struct px_iofs *iofs)
{
    px_list_init(&iofs->list);
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

void px_iofs_fini(struct px_iofs *iofs)
{
    PX_LIST_EACH (&iofs->list, struct px_iof, i, link)
        px_iof_remove(i);
}

pmix_status_t px_iof_receive(const struct px_iofs *iofs, px_reader *r)
{
    struct px_args p = {0};
    pmix_status_t rc = px_unpack_args(r, &p, px_request_piece.args);
    const struct px_iof *iof = rc ? NULL : px_iof_find(iofs, p.id);

    if (iof)
        iof->fn(iof->id, p.channels, p.procs, &p.bytes, p.info.v, p.info.n);
    else if (!rc)
        rc = PMIX_ERR_NOT_FOUND;
    px_args_cleanup(&p);
    return rc;
}
