/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables that clients read in place, and job information for other clients. */
#ifndef PX_SERVER_PEER_SHARE_H
#define PX_SERVER_PEER_SHARE_H

#include "core/wire/codec.h"

struct px_nspace;
struct px_peer;

/* True if the peer reads the shared tables of ns in place. Sends their description
 * before the next reply. */
bool px_peer_share(struct px_peer *peer, const struct px_nspace *ns);
/* Handles the report of a peer that misses data in the shared tables. Describes newer
 * tables to the peer. Without newer tables all data go in messages from now on. */
void px_peer_cannot_read(struct px_peer *peer, const struct px_nspace *ns);
/* True for a client of this library, which computes facts from the maps. */
bool px_peer_is_ours(const struct px_peer *peer);
/* Packs the job information that the peer needs, as px_jobinfo_pack and the like. */
void px_peer_pack_job(struct px_peer *peer, const struct px_nspace *ns, px_writer *w,
                      bool as_arrays);
/* Packs the job's name and its information with arrays as one BYTE_OBJECT. */
void px_peer_pack_named(struct px_peer *peer, const struct px_nspace *ns, px_writer *w);

#endif
