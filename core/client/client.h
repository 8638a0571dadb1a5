/* SPDX-License-Identifier: BSD-3-Clause */
/* What the API calls share. They work in every role: all they need is in the model (self, own
 * namespace, uplink), which a server process fills in for itself. */
#ifndef PX_CLIENT_CLIENT_H
#define PX_CLIENT_CLIENT_H

#include "core/model/api.h"
#include "core/model/jobinfo.h"
#include "core/model/nspace.h"
#include "core/model/uplink.h"
#include "core/rt/call.h"
#include "core/rt/process.h"
#include "pmix.h"

struct px_client_conf {
    uint64_t connect_timeout, finalize_timeout; /* ms */
};

/* What only a process connected to a server by a socket has. */
struct px_client {
    struct px_conn *conn;
    unsigned refs;   /* further PMIx_Init calls */
    uint32_t pindex; /* what the server calls us */
    struct px_client_conf conf;
};

/* connect.c: finds the server in the environment, connects and shakes hands in the caller's
 * thread, within timeout_ms for each of the two. *fd is connected and non-blocking; codec, server
 * and version go into *up. */
pmix_status_t px_client_connect(const pmix_proc_t *self, uint64_t timeout_ms,
                                struct px_uplink *up, int *fd, uint32_t *pindex,
                                struct px_err *err);

/* get.c: KVALs of a get, connect or spawn reply: PROC or nspace first, as each has it. */
pmix_status_t px_client_store_rank(px_reader *r);
pmix_status_t px_client_store_job(px_reader *r);
/* fence.c: as many of those as there are, each a BYTE_OBJECT. */
pmix_status_t px_client_store_jobs(px_reader *r);

/* get_all.c: every key known of a rank, as a value that holds an array of infos; the caller's to
 * destruct. PMIX_ERR_NOT_FOUND if there is none. */
pmix_status_t px_client_get_all(const struct px_nspace *ns, pmix_rank_t rank,
                                pmix_value_t *out);

/* event_in.c: a notification has come from the server. */
void px_client_on_notify(px_reader *r);

/* iof.c: output has been forwarded here. */
void px_client_on_iof(px_reader *r);

#endif
