/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of a process, or of a job, packed for the one that asks. */
#ifndef PX_SERVER_DATA_REPLY_H
#define PX_SERVER_DATA_REPLY_H

#include "core/types/type.h"
#include "core/wire/codec.h"
#include "tenon/gds.h"

struct px_nspace;
struct px_req;
struct px_server;

/* How much an answer brings besides the value that is asked for. */
enum px_reply_extent {
    PX_REPLY_ALL,   /* all that the process has, unless no frame can hold it */
    PX_REPLY_PARTS, /* a part of what the client has not been sent yet */
    PX_REPLY_KEY,   /* nothing */
};

/* The table whose values of a process a reader on this node may see: what it committed
 * for its node if it lives here too, else what came from its node. */
enum px_gds_table px_reply_table(struct px_server *srv, const pmix_proc_t *proc);
/* Ends the request. key NULL: everything. */
void px_reply_found(struct px_req *req, const struct px_nspace *ns,
                    const pmix_proc_t *proc, const char *key,
                    enum px_reply_extent extent);
/* KVALs for another node: job information for rank WILDCARD, else what the rank has
 * committed for other nodes. */
void px_reply_pack_remote(px_writer *w, struct px_server *srv,
                          const struct px_nspace *ns, pmix_rank_t rank);

#endif
