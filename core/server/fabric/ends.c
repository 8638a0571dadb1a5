/* SPDX-License-Identifier: BSD-3-Clause */
/* Notifications of fabric components of the end of each local process. Each end is
 * reported once: a finalize, a lost connection, the host's report, or the job's end. */
#include "core/model/nspace.h"
#include "core/plugin/select.h"
#include "core/server/peer/peer.h"
#include "core/server/server.h"
#include "frameworks/framework.h"
#include "tenon/pnet.h"

/* True if all n_expected processes have ended, including those not registered yet. */
static bool has_ended(const struct px_nspace *ns, uint32_t n_expected)
{
    uint32_t n = 0;

    PX_LIST_EACH (&ns->locals, struct px_local, l, link) {
        if (!l->end_reported)
            return false;
        n++;
    }
    return n >= n_expected;
}

static void report_job_end(const struct px_nspace *ns)
{
    size_t n;
    const struct px_module *m = px_modules("pnet", &n);

    for (size_t i = 0; i < n; i++)
        if (PX_OPS(pnet, &m[i])->local_app_finalized)
            PX_OPS(pnet, &m[i])->local_app_finalized(m[i].self, ns->name);
}

static void report_end(struct px_local *l, uint32_t n_expected)
{
    pmix_proc_t proc;
    size_t n;
    const struct px_module *m = px_modules("pnet", &n);

    if (l->end_reported)
        return;
    l->end_reported = true;
    px_proc_set(&proc, l->ns->name, l->rank);
    for (size_t i = 0; i < n; i++)
        if (PX_OPS(pnet, &m[i])->child_finalized)
            PX_OPS(pnet, &m[i])->child_finalized(m[i].self, &proc);
    if (has_ended(l->ns, n_expected))
        report_job_end(l->ns);
}

static void on_end(struct px_server *srv, const pmix_proc_t *proc)
{
    struct px_local *l = px_local_find(srv, proc);

    if (l)
        report_end(l, l->ns->n_local);
}

/* Reports the ends of all processes of a deregistered namespace. Processes not
 * registered yet are not expected any more. */
static void nspace_gone(struct px_server *srv PX_UNUSED, const char *nspace PX_UNUSED,
                        struct px_nspace *ns)
{
    if (!ns || px_list_empty(&ns->locals))
        return;
    if (has_ended(ns, 0) && !has_ended(ns, ns->n_local))
        report_job_end(ns);
    PX_LIST_EACH (&ns->locals, struct px_local, l, link)
        report_end(l, 0);
}

const struct px_server_part px_ends_part = {
    .name = "ends",
    .rank_gone = on_end,
    .proc_ended = on_end,
    .nspace_gone = nspace_gone,
};
