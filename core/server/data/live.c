/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/server/data/live.h"

#include "core/base/strv.h"
#include "core/model/nspace.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/peer/turn.h"
#include "core/server/server.h"

#include <string.h>

static pmix_status_t give_pid(struct px_req *req, const pmix_proc_t *proc,
                              pmix_value_t *out)
{
    struct px_server *srv = req->peer->server;
    const struct px_local *local = px_local_find(srv, proc);
    const struct px_peer *peer = px_peer_find(srv, proc);
    const pid_t pid = local && local->pid ? local->pid : peer ? peer->pid : 0;

    return pid ? PMIx_Value_load(out, &pid, PMIX_PID) : PMIX_ERR_NOT_FOUND;
}

static pmix_status_t give_exit_code(struct px_req *req, const pmix_proc_t *proc,
                                    pmix_value_t *out)
{
    const struct px_local *local = px_local_find(req->peer->server, proc);

    return local && local->exited ? PMIx_Value_load(out, &local->exit_code, PMIX_INT)
                                  : PMIX_ERR_NOT_FOUND;
}

/* Lists the running clients that the peer may know, unless procs is NULL. Returns their
 * number. */
static size_t each_local(const struct px_peer *peer, pmix_proc_t *procs)
{
    struct px_nspace *ns;
    size_t it = 0, n = 0;

    while ((ns = px_map_next(&peer->server->model->nspaces, &it, NULL, NULL))) {
        if (!ns->hosted || px_list_empty(&ns->locals) || !px_peer_may(peer, ns->name))
            continue;
        PX_LIST_EACH (&ns->locals, struct px_local, l, link) {
            if (l->exited)
                continue;
            if (procs)
                px_proc_set(&procs[n], ns->name, l->rank);
            n++;
        }
    }
    return n;
}

static pmix_status_t give_local_procs(struct px_req *req,
                                      const pmix_proc_t *proc PX_UNUSED,
                                      pmix_value_t *out)
{
    const size_t n = each_local(req->peer, NULL), size_b = n * sizeof(pmix_proc_t);
    pmix_status_t rc = px_charge(&req->charge, req->peer, 2 * size_b);
    PX_AUTOFREE pmix_proc_t *procs = rc ? NULL : calloc(n + 1, sizeof(*procs));
    const pmix_data_array_t array = {.type = PMIX_PROC, .size = n, .array = procs};

    if (!procs)
        return rc ? rc : PMIX_ERR_NOMEM;
    (void)px_work(req->peer, n);
    (void)each_local(req->peer, procs);
    return PMIx_Value_load(out, &array, PMIX_DATA_ARRAY);
}

/* Gives the names of sets or groups. rc: status of the search for these names. */
static pmix_status_t give_names(struct px_req *req, char **names, size_t work,
                                pmix_status_t rc, pmix_value_t *out)
{
    size_t size_b = 0;

    (void)px_work(req->peer, work);
    for (char **name = names; name && *name; name++)
        size_b += strlen(*name) + 1 + sizeof(*name);
    if (!rc)
        rc = names ? px_charge(&req->charge, req->peer, size_b) : PMIX_ERR_NOT_FOUND;
    const pmix_data_array_t array = {
        .type = PMIX_STRING, .size = px_strv_count(names), .array = names};
    return rc ? rc : PMIx_Value_load(out, &array, PMIX_DATA_ARRAY);
}

static pmix_status_t give_psets(struct px_req *req, const pmix_proc_t *proc,
                                pmix_value_t *out)
{
    PX_AUTO(px_strv) names = NULL;
    size_t work = 0;
    pmix_status_t rc = px_psets_of(req->peer->server, proc, &names, &work);

    return give_names(req, names, work, rc, out);
}

static pmix_status_t give_groups(struct px_req *req, const pmix_proc_t *proc,
                                 pmix_value_t *out)
{
    PX_AUTO(px_strv) names = NULL;
    size_t work = 0;
    pmix_status_t rc = px_groups_of(req->peer, proc, &names, &work);

    return give_names(req, names, work, rc, out);
}

static const struct {
    const char *key;
    pmix_status_t (*give)(struct px_req *req, const pmix_proc_t *proc,
                          pmix_value_t *out);
} live[] = {
    {PMIX_PROC_PID, give_pid},
    {PMIX_EXIT_CODE, give_exit_code},
    {PMIX_LOCAL_PROCS, give_local_procs},
    {PMIX_PSET_NAMES, give_psets},
    {PMIX_GROUP_NAMES, give_groups},
};

pmix_status_t px_live_find(struct px_req *req, const pmix_proc_t *proc, const char *key,
                           pmix_value_t *out)
{
    for (size_t i = 0; i < PX_COUNT(live); i++)
        if (strcmp(key, live[i].key) == 0)
            return live[i].give(req, proc, out);
    return PMIX_ERR_NOT_FOUND;
}
