/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Query_info at a server: replies, and what answers need. Loop thread only. */
#ifndef PX_SERVER_QUERY_QUERY_H
#define PX_SERVER_QUERY_QUERY_H

#include "core/base/list.h"
#include "core/server/query/answers.h"

struct px_nspace;
struct px_peer;

/* Appends the keys that this server knows, each once. */
pmix_status_t px_server_query_keys(const struct px_server *srv, char ***list);
/* True unless a qualifier names another node. */
bool px_query_is_here(const struct px_server *srv, const pmix_query_t *q,
                      const struct px_answers *a);

/* State of the part. */
struct px_queries {
    struct px_list replies; /* struct px_slow_reply */
};

/* ---- answers that take many turns (slow.c) --------------------------------------- */

/* Replies with the answers, then the host's infos, now or in later turns. Takes
 * a->slow. */
void px_query_reply(struct px_req *req, pmix_status_t status, struct px_answers *a,
                    const px_infos *hosts);

/* Describes row->proc, as far as the host or the registration knows the process. The
 * row borrows texts until the next call. */
struct px_view {
    struct px_server *server;
    struct px_nspace *ns;  /* NULL: none yet */
    struct px_list *local; /* next registered client */
    struct px_view_pid *pids;
    size_t n_pids, cap;
    uint32_t node; /* of the last process; UINT32_MAX: none */
    bool has_host;
    char host[256]; /* name of that node */
    size_t n_alike; /* ranks from the last process on with the same description */
};
/* Finds pids that px_view_process reports. The built-in host knows its own. */
void px_query_find_pids(const struct px_answers *a, const char *nspace);
void px_view_process(struct px_view *v, pmix_proc_info_t *row);
void px_view_fini(struct px_view *v);

/* Hooks of the part. */
void px_slow_turn(struct px_server *srv, struct px_peer *peer);
void px_slow_gone(struct px_server *srv, struct px_peer *peer);
void px_slow_stop(struct px_server *srv);

#endif
