/* SPDX-License-Identifier: BSD-3-Clause */
/* A collective in progress on this node: its participants, those that have arrived,
 * their data. */
#ifndef PX_SERVER_COLLECTIVE_COLLECTIVE_H
#define PX_SERVER_COLLECTIVE_COLLECTIVE_H

#include "core/server/upcall.h"

struct px_collective {
    struct px_list link;
    struct px_server *server;
    uint8_t op;
    pmix_proc_t *procs; /* sorted; the upcall's to free once handed over */
    size_t n_procs;
    px_infos infos; /* of the first to come */
    bool collect;
    struct px_list reqs; /* px_req.link: participants that wait */
    struct px_timer *timer;
    bool handed_over; /* the host has it now; no more may join */
    bool lost_some; /* a participant that had come, or was to come, will not be back */
};

/* Calls fn for each registered local rank that procs name, each once. */
typedef void (*px_local_fn)(void *arg, struct px_local *local);
void px_collective_locals(const struct px_collective *c, px_local_fn fn, void *arg);

/* Name and information of a job, as one BYTE_OBJECT. */
void px_collective_pack_job(const struct px_nspace *ns, px_writer *w);

/* ---- data/modex.c ---------------------------------------------------------------- */

/* Data of the local participants as the host carries them to other nodes (wire: one
 * BYTE_OBJECT per server), and back into tables. */
pmix_status_t px_modex_pack(const struct px_collective *c, px_buf *out);
pmix_status_t px_modex_unpack(const struct px_collective *c, const px_buf *in);

#endif
