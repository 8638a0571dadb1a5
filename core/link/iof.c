/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwarded output: its message, packed and read, and this process's receivers of
 * it. */
#include "core/link/iof.h"

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

void px_iof_pack(px_writer *w, const struct px_iof_piece *piece, size_t id)
{
    px_pack(w, piece->source, 1, PMIX_PROC);
    px_pack(w, &piece->channel, 1, PMIX_IOF_CHANNEL);
    px_pack_size(w, id);
    px_pack_infos(w, piece->info, piece->n_info);
    px_pack_bytes(w, piece->bytes, piece->n);
}

struct received {
    pmix_proc_t source;
    pmix_iof_channel_t channel;
    size_t id;
    px_infos infos;
    pmix_byte_object_t bytes;
};

static pmix_status_t read_piece(px_reader *r, struct received *p)
{
    pmix_status_t rc = px_unpack1(r, &p->source, PMIX_PROC);

    if (!rc)
        rc = px_unpack1(r, &p->channel, PMIX_IOF_CHANNEL);
    if (!rc)
        rc = px_unpack_size(r, &p->id);
    if (!rc)
        rc = px_unpack_infos(r, &p->infos.v, &p->infos.n);
    p->infos.cap = p->infos.n;
    return rc ? rc : px_unpack_bytes(r, &p->bytes);
}

pmix_status_t px_iof_receive(const struct px_iofs *iofs, px_reader *r)
{
    struct received p = {0};
    pmix_status_t rc = read_piece(r, &p);
    const struct px_iof *iof = rc ? NULL : px_iof_find(iofs, p.id);

    if (iof)
        iof->fn(iof->id, p.channel, &p.source, &p.bytes, p.infos.v, p.infos.n);
    else if (!rc)
        rc = PMIX_ERR_NOT_FOUND;
    px_infos_cleanup(&p.infos);
    free(p.bytes.bytes);
    return rc;
}
