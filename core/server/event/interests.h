/* SPDX-License-Identifier: BSD-3-Clause */
/* Event registrations of one peer, indexed by code. Loop thread only. */
#ifndef PX_SERVER_EVENT_INTERESTS_H
#define PX_SERVER_EVENT_INTERESTS_H

#include "core/base/list.h"
#include "core/notify/notify.h"
#include "core/server/data/memory.h"

#include <limits.h>

struct px_peer;

/* Limits of one peer's registrations. Beyond them a registration ends with
 * PMIX_ERR_OUT_OF_RESOURCE. */
#define PX_MAX_INTERESTS      4096u  /* registrations */
#define PX_MAX_INTEREST_CODES 16384u /* their codes; also codes of one DEREGEVENTS */
#define PX_MAX_INTEREST_PROCS 4096u  /* processes that they name */
/* Beyond these, a single registration ends with PMIX_ERR_BAD_PARAM. */
#define PX_MAX_CODES    4096u
#define PX_MAX_AFFECTED 1024u

/* One registration. */
struct px_interest {
    struct px_list link; /* in px_interests.list */
    struct px_list due;  /* in px_interests.due while cached events are sent */
    uint64_t id;         /* later registrations have greater numbers */
    size_t n_entries;    /* in the index; freed with the last one */
    bool is_default;     /* takes events of all codes */
    pmix_proc_t *affected;
    size_t n_affected;
    uint64_t next, end; /* numbers of the cached events to be sent: next <= n < end;
                         * later events are sent when they come */
    struct px_charge charge;
};

/* A code of a registration, or PX_ANY_CODE. */
struct px_interest_entry {
    pmix_status_t code;
    struct px_interest *of;
};
#define PX_ANY_CODE INT_MIN

/* Registrations of one peer, since its first one. The functions accept NULL. */
struct px_interests {
    struct px_list list, due;
    struct px_interest_entry *index; /* sorted by code, then by age */
    size_t n, cap, n_listed, n_affected;
    uint64_t last_id;
};

/* Frees all registrations of a peer. */
void px_interests_free(struct px_peer *peer);
/* Adds a registration, and charges the peer for its memory. Sorts the codes; n_codes 0:
 * a default handler. Takes affected on success. PMIX_ERR_BAD_PARAM and
 * PMIX_ERR_OUT_OF_RESOURCE: see the limits; PMIX_ERR_NOMEM. */
pmix_status_t px_interests_add(struct px_peer *peer, pmix_status_t *codes,
                               size_t n_codes, pmix_proc_t *affected, size_t n_affected,
                               struct px_interest **added);
/* Returns the registration, or NULL if it was removed. */
struct px_interest *px_interests_find(const struct px_interests *all, uint64_t id);
/* Removes one registration. */
void px_interest_remove(struct px_interests *all, struct px_interest *i);
/* Removes sorted codes from all registrations, in one pass. INT_MIN and INT_MAX stand
 * for default handlers. */
void px_interests_drop(struct px_interests *all, const pmix_status_t *codes, size_t n);
/* True if a registration with a smaller id than before, older than the event of this
 * number, wants the event. Adds the processes that the function has compared to
 * *n_steps. */
bool px_interests_want(const struct px_interests *all, struct px_aim *aim,
                       uint64_t before, uint64_t number, size_t *n_steps);
/* True if this registration, which has codes, wants the event. */
bool px_interest_wants(const struct px_interests *all, const struct px_interest *i,
                       struct px_aim *aim, size_t *n_steps);
/* True if this registration has the code. */
bool px_interest_has(const struct px_interests *all, const struct px_interest *i,
                     pmix_status_t code);

#endif
