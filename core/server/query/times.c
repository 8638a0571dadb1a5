/* SPDX-License-Identifier: BSD-3-Clause */
/* The query for the times of a process, and the steps that other parts see. */
#include "core/model/query.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/peer/timeline.h"
#include "core/server/query/answers.h"
#include "core/server/server.h"
#include "pmix_tool.h"

static pmix_status_t answer_timeline(struct px_server *srv, const pmix_query_t *q,
                                     const char *key, struct px_answers *a)
{
    PX_AUTO(px_infos) infos = {0};
    const struct px_local *local;
    pmix_proc_t target;
    size_t cost_b = 0;
    pmix_status_t rc = px_query_target(q, &a->req->peer->proc, &target);

    if (rc)
        return rc;
    local = px_local_find(srv, &target);
    if (!local || !local->timeline)
        return PMIX_ERR_NOT_FOUND;
    rc = px_answers_work(a, px_timeline_length(local->timeline));
    if (!rc)
        rc = px_timeline_describe(&infos, local->timeline);
    for (size_t i = 0; i < infos.n; i++)
        cost_b += px_type_size(PMIX_INFO, &infos.v[i]);
    return rc ? rc : px_answer_array(a, key, infos.v, infos.n, PMIX_INFO, cost_b);
}

static const struct px_query_key keys[] = {
    {TENON_QUERY_TIMELINE, answer_timeline, PMIX_PROCID "," PMIX_NSPACE "," PMIX_RANK,
     false},
    {0},
};

/* ---- hooks of the part ----------------------------------------------------------- */

static void peer_here(struct px_server *srv PX_UNUSED, struct px_peer *peer)
{
    px_timeline_stamp(peer->local, PX_STEP_CONNECT);
}

static void proc_ended(struct px_server *srv, const pmix_proc_t *proc)
{
    if (srv->conf.timeline)
        px_timeline_stamp(px_local_find(srv, proc), PX_STEP_EXIT);
}

const struct px_server_part px_timeline_part = {
    .name = "timeline",
    .query_keys = keys,
    .peer_here = peer_here,
    .proc_ended = proc_ended,
};
