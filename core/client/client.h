/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the API calls. They work in every role: all they need is in the model
 * (self, own namespace, channel), which a server process fills in for itself. */
#ifndef PX_CLIENT_CLIENT_H
#define PX_CLIENT_CLIENT_H

#include "core/client/server_addr.h"
#include "core/config/core_params.h"
#include "core/link/api.h"
#include "core/model/jobinfo.h"
#include "core/model/nspace.h"
#include "core/link/channel.h"
#include "core/rt/call.h"
#include "core/rt/process.h"
#include "pmix.h"

struct px_link;

/* Of a process that is a client or a tool, and no server alone. The counts and the
 * role belong to the holder of the process lock, the rest to the loop. */
struct px_client {
    struct px_list links;    /* of struct px_link */
    struct px_link *primary; /* the model's channel is its; NULL: no server */
    unsigned inits, tool_inits;
    enum px_role role; /* of the one who came first */
    struct px_client_conf conf;
};

/* ---- init.c: the process lock is held, the caller is not the loop ---------------- */

/* One way from the address of a server to being connected. */
struct px_start {
    struct px_server_addr addr;
    bool primary; /* the server is to be the primary one */
    struct px_call *call;
    struct px_timer *timer;
    struct px_err err;
};

/* The role and px_process.client, without any server; and their end, with all
 * connections. */
pmix_status_t px_client_begin(enum px_role role, const pmix_info_t *info, size_t n_info,
                              struct px_err *err);
void px_client_end(void);
/* Takes the connection that was made: it joins the others. The first time, the
 * process gets its name from the address, and its job's information from the server. */
pmix_status_t px_client_start(struct px_start *s);
/* The same without a server. */
pmix_status_t px_client_start_alone(struct px_start *s);
/* Says goodbye to every server. */
void px_client_leave_all(void);
/* The name that the environment gives; *given false if none. */
pmix_status_t px_client_identity(pmix_proc_t *self, bool *given, struct px_err *err);
/* A name of one's own, unique on this node as long as the process lives. */
void px_client_name_self(pmix_proc_t *self, const char *kind);
/* Fills servers with up to n of those connected, the primary one first; returns how
 * many there are. */
size_t px_client_servers(pmix_proc_t *servers, size_t n);

/* connect.c: the address that it will try first; NULL if the environment has none. */
const char *px_client_address(void);

/* get.c: KVALs of a job in a reply, its name first. */
pmix_status_t px_client_store_job(px_reader *r);
/* fence.c: as many of those as there are, each a BYTE_OBJECT. */
pmix_status_t px_client_store_jobs(px_reader *r);

/* get_all.c: every key known of a rank, as a value that holds an array of infos; the
 * caller's to destruct. PMIX_ERR_NOT_FOUND if there is none. */
pmix_status_t px_client_get_all(const struct px_nspace *ns, pmix_rank_t rank,
                                pmix_value_t *out);

/* incoming.c: a notification from the server; output that is forwarded here. */
void px_client_on_notify(px_reader *r);
void px_client_on_iof(px_reader *r);

#endif
