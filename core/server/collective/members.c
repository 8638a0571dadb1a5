/* SPDX-License-Identifier: BSD-3-Clause */
/* The participants of a collective. */
#include "core/model/jobinfo.h"
#include "core/server/collective/collective.h"

#include <string.h>

int px_collective_by_proc(const void *a, const void *b)
{
    return px_type_compare(PMIX_PROC, a, b);
}

static bool has_proc(const struct px_collective *c, const char *nspace,
                     pmix_rank_t rank)
{
    pmix_proc_t p;

    px_proc_set(&p, nspace, rank);
    return bsearch(&p, c->procs, c->n_procs, sizeof p, px_collective_by_proc);
}

bool px_collective_has(const struct px_collective *c, const struct px_local *local)
{
    const char *nspace = local->ns->name;

    return has_proc(c, nspace, local->rank) ||
           has_proc(c, nspace, PMIX_RANK_WILDCARD) ||
           has_proc(c, nspace, PMIX_RANK_LOCAL_NODE);
}

void px_collective_locals(const struct px_collective *c, px_local_fn fn, void *arg)
{
    const char *last = "";

    for (size_t i = 0; i < c->n_procs; i++) {
        struct px_nspace *ns = NULL;

        if (strcmp(c->procs[i].nspace, last) != 0)
            ns = px_nspace_find(px_process.model, c->procs[i].nspace);
        last = c->procs[i].nspace;
        if (!ns)
            continue;
        PX_LIST_EACH (&ns->locals, struct px_local, l, link)
            if (px_collective_has(c, l))
                fn(arg, l);
    }
}

void px_collective_pack_job(const struct px_nspace *ns, px_writer *w)
{
    px_writer body;

    px_writer_init(&body, w->codec);
    px_pack_str(&body, ns->name);
    px_jobinfo_pack(px_process.model, ns, &body, true);
    if (body.status && !w->status)
        w->status = body.status;
    px_pack_bytes(w, body.buf.data, body.buf.len);
    px_writer_cleanup(&body);
}
