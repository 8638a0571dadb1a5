/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of a process: steps from its start to its end, and collectives. A client has a
 * record if parameter server_timeline is not 0. Times are px_clock_ns(). Without a
 * record the functions do nothing. Loop thread only. */
#ifndef PX_SERVER_PEER_TIMELINE_H
#define PX_SERVER_PEER_TIMELINE_H

#include "core/types/type.h"
#include "core/wire/codec.h"

struct px_local;
struct px_server;
struct px_timeline;

/* Steps in the order of TENON_TIMELINE_STEPS. */
enum px_step {
    PX_STEP_FORK,     /* the host has made the process */
    PX_STEP_EXEC,     /* the process runs its program */
    PX_STEP_INIT,     /* own time: PMIx_Init begins */
    PX_STEP_CONNECT,  /* first connection */
    PX_STEP_JOB,      /* first answer with the information of the job */
    PX_STEP_READY,    /* own time: PMIx_Init ends */
    PX_STEP_PUT,      /* own time: first put */
    PX_STEP_COMMIT,   /* first commit that was stored */
    PX_STEP_FINALIZE, /* last request to finalize */
    PX_STEP_EXIT,     /* the host has noticed the end */
    PX_N_STEPS,
};

/* Makes a record. *out is NULL if the server records nothing. PMIX_ERR_NOMEM. */
pmix_status_t px_timeline_create(const struct px_server *srv, struct px_timeline **out);
void px_timeline_free(struct px_timeline *t); /* NULL is fine */
/* Empties the record of a process that is started again. */
void px_timeline_reset(struct px_local *local);

/* Records the present time of a step. Only PX_STEP_FINALIZE replaces an earlier time.
 * local may be NULL. */
void px_timeline_stamp(struct px_local *local, enum px_step step);
/* Records the own times that the rest of a finalize request has. */
void px_timeline_read(struct px_local *local, px_reader *rest);

/* Returns the number of the next collective, or 0 if the server records nothing. */
uint64_t px_timeline_number(struct px_server *srv);
/* Records that the process enters a collective. op: its request. number 0: nothing. */
void px_timeline_enter(const struct px_server *srv, struct px_local *local,
                       uint64_t number, uint8_t op);
/* Records that the process leaves the collective. last: rank that entered last, or
 * PMIX_RANK_UNDEF if that process is of another job. */
void px_timeline_leave(struct px_local *local, uint64_t number, uint64_t now_ns,
                       pmix_rank_t last);

/* Returns the number of recorded collectives. */
size_t px_timeline_length(const struct px_timeline *t);
/* Adds the record, as TENON_QUERY_TIMELINE has it. */
pmix_status_t px_timeline_describe(px_infos *infos, struct px_timeline *t);

#endif
