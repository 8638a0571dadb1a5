/* SPDX-License-Identifier: BSD-3-Clause */
/* Replies with the values of a process or of a job. */
#ifndef PX_SERVER_DATA_REPLY_H
#define PX_SERVER_DATA_REPLY_H

#include "core/types/type.h"
#include "core/wire/codec.h"
#include "tenon/gds.h"

struct px_nspace;
struct px_peer;
struct px_req;
struct px_server;

/* Values that a reply carries besides the requested one. */
enum px_reply_extent {
    PX_REPLY_ALL,   /* all values of the process, unless they exceed a frame */
    PX_REPLY_PARTS, /* the next values that were not sent yet */
    PX_REPLY_KEY,   /* no other values */
};

/* Returns the table that holds a process's values for readers on this node. A local
 * process's own commits for its node, or the values received from another node. */
enum px_gds_table px_reply_table(struct px_server *srv, const pmix_proc_t *proc);
/* Replies with the values and ends the request. key NULL: all values. */
void px_reply_found(struct px_req *req, const struct px_nspace *ns,
                    const pmix_proc_t *proc, const char *key,
                    enum px_reply_extent extent);
/* Replies with one value of a process, and ends the request. */
void px_reply_value(struct px_req *req, const pmix_proc_t *proc, const char *key,
                    const pmix_value_t *value);
/* Packs KVALs for another node: job information for rank WILDCARD, else the values that
 * the rank has committed for other nodes. */
void px_reply_pack_remote(px_writer *w, struct px_server *srv,
                          const struct px_nspace *ns, pmix_rank_t rank);
/* Packs KVALs for a client on this node: job-level values for rank WILDCARD, else the
 * values of the rank that are here. */
void px_reply_pack_values(px_writer *w, struct px_peer *to, const struct px_nspace *ns,
                          pmix_rank_t rank);

#endif
