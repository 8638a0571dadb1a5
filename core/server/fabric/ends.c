/* SPDX-License-Identifier: BSD-3-Clause */
/* Fabric components hear of the end of each local process once, however it ends: by a
 * finalize, a lost connection, the host's word, or with its job. */
#include "core/model/nspace.h"
#include "core/plugin/select.h"
#include "core/server/peer/peer.h"
#include "core/server/server.h"
#include "frameworks/framework.h"
#include "tenon/pnet.h"

/* Of those that are to come, too. */
static bool has_ended(const struct px_nspace *ns, uint32_t n_expected)
{
    uint32_t n = 0;

    PX_LIST_EACH (&ns->locals, struct px_local, l, link) {
        if (!l->is_told)
            return false;
        n++;
    }
    return n >= n_expected;
}

static void tell_job(const struct px_nspace *ns)
{
    size_t n;
    const struct px_module *m = px_modules("pnet", &n);

    for (size_t i = 0; i < n; i++)
        if (PX_OPS(pnet, &m[i])->local_app_finalized)
            PX_OPS(pnet, &m[i])->local_app_finalized(m[i].self, ns->name);
}

static void tell(struct px_local *l, uint32_t n_expected)
{
    pmix_proc_t proc;
    size_t n;
    const struct px_module *m = px_modules("pnet", &n);

    if (l->is_told)
        return;
    l->is_told = true;
    px_proc_set(&proc, l->ns->name, l->rank);
    for (size_t i = 0; i < n; i++)
        if (PX_OPS(pnet, &m[i])->child_finalized)
            PX_OPS(pnet, &m[i])->child_finalized(m[i].self, &proc);
    if (has_ended(l->ns, n_expected))
        tell_job(l->ns);
}

static void on_end(struct px_server *srv, const pmix_proc_t *proc)
{
    struct px_local *l = px_local_find(srv, proc);

    if (l)
        tell(l, l->ns->n_local);
}

/* Processes that were to come do not any more. */
static void nspace_gone(struct px_server *srv PX_UNUSED, const char *nspace PX_UNUSED,
                        struct px_nspace *ns)
{
    if (!ns || px_list_empty(&ns->locals))
        return;
    if (has_ended(ns, 0) && !has_ended(ns, ns->n_local))
        tell_job(ns);
    PX_LIST_EACH (&ns->locals, struct px_local, l, link)
        tell(l, 0);
}

const struct px_server_part px_ends_part = {
    .name = "ends",
    .rank_gone = on_end,
    .proc_ended = on_end,
    .nspace_gone = nspace_gone,
};
