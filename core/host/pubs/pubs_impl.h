/* SPDX-License-Identifier: BSD-3-Clause */
/* State that the files of this room share. */
#ifndef PX_HOST_PUBS_IMPL_H
#define PX_HOST_PUBS_IMPL_H

#include "core/host/pubs/pubs.h"
#include "core/host/pubs/scope.h"

/* A process that has entries, waits or requests of several turns. */
struct px_pub_party {
    struct px_pubs *pubs;
    size_t refs;
    pmix_proc_t proc;
    struct px_list entries, waiters;
    size_t n_waits;
    size_t n_requests; /* of several turns */
    uint64_t served;   /* the last turn of these requests */
};

/* A key with entries or waits. */
struct px_pub_topic {
    struct px_list entries; /* those with limited ranges first */
    struct px_list waits;
    size_t n_staged; /* entries of publishes that are not finished */
    char key[];
};

struct px_pub {
    struct px_list link; /* in party.entries */
    struct px_list same; /* in topic.entries */
    struct px_pub_party *party;
    struct px_pub_topic *topic;
    struct px_scope *scope;
    pmix_persistence_t persistence;
    pmix_value_t value;
    size_t size_b;
    const struct px_pub_waiter *reader; /* the only one, whose answer has the value */
};

/* One key of a lookup. */
struct px_pub_wait {
    struct px_list link; /* in topic.waits */
    struct px_pub_waiter *waiter;
    struct px_pub_topic *topic; /* NULL: has no entries and is not awaited */
    struct px_pub *found;
};

/* A request that takes several turns of the loop. */
struct px_pub_request {
    struct px_list link; /* in px_pubs.requests */
    struct px_pub_party *party;
    bool holds;    /* holds memory that one request at a time may hold */
    bool outlives; /* continues after the end of its process */
    /* Handles up to most further elements. Returns true after the answer; the request
     * is freed then. */
    bool (*go_on)(struct px_pub_request *r, size_t most);
    /* Answers the request, whose process has ended, and frees it. */
    void (*give_up)(struct px_pub_request *r);
};

/* Lists a request of n elements for later turns. Requests of a process stay in order.
 * False: it should be served at once, because it is short or memory is missing. */
bool px_pub_take_turns(struct px_pubs *p, struct px_pub_request *r,
                       const pmix_proc_t *proc, size_t n);
/* Returns the keys that a turn of most keys may handle, after the steps since begun. */
size_t px_pub_budget(const struct px_pubs *p, uint64_t begun, size_t most);
/* Bytes of a value that count as a step when they are copied, and when freed. */
#define PX_PUB_COPY_B 256u
#define PX_PUB_FREE_B 1024u
/* Steps that count as a further key of a turn. */
#define PX_PUB_STEPS_PER_KEY 16u
/* Removes a request from the list; does nothing for one that is not there. */
void px_pub_end_turns(struct px_pub_request *r);

struct px_pub_topic *px_pub_topic_find(struct px_pubs *p, const char *key);
/* Finds or adds a key. NULL if out of memory. */
struct px_pub_topic *px_pub_topic_of(struct px_pubs *p, const char *key);
/* Frees a key without entries and waits. t may be NULL. */
void px_pub_topic_drop(struct px_pubs *p, struct px_pub_topic *t);

struct px_pub_party *px_pub_party_find(const struct px_pubs *p,
                                       const pmix_proc_t *proc);
/* Finds or adds a process, with a reference. NULL if out of memory. */
struct px_pub_party *px_pub_party_ref(struct px_pubs *p, const pmix_proc_t *proc);
void px_pub_party_unref(struct px_pub_party *y);

/* Result of the comparison of an entry with a lookup. */
enum px_pub_view {
    PX_PUB_HIDDEN,
    PX_PUB_DENIED, /* in the range, but the owner has listed other readers */
    PX_PUB_VISIBLE,
};
enum px_pub_view px_pub_view(struct px_pubs *p, const struct px_pub *pub,
                             const struct px_scope *asker);
/* Returns the entry of a key that a lookup finds, or NULL. Of several entries the
 * lookup finds one of its own user, then the one with the most limited range. *view is
 * the best of all entries. */
struct px_pub *px_pub_find(struct px_pubs *p, const struct px_pub_topic *t,
                           const struct px_scope *asker, enum px_pub_view *view);
/* Adds an entry to those of its key, in the order of ranges. PMIX_ERR_DUPLICATE_KEY:
 * the key has an entry on the same range. PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t px_pub_place(struct px_pubs *p, struct px_pub *pub);
/* Frees an entry that is in no list. */
void px_pub_drop(struct px_pubs *p, struct px_pub *pub);
/* Removes an entry. Lookups that have found the entry look again. */
void px_pub_remove(struct px_pubs *p, struct px_pub *pub);

/* Has the lookups that have found an entry look again. */
void px_pub_hide(struct px_pubs *p, const struct px_pub *pub);
/* Shows a new entry to the lookups that wait for its key. Lists those that are due. */
void px_pub_show(struct px_pubs *p, struct px_pub *pub, struct px_list *due);
/* Answers lookups that have found enough, unless another has read what they found. */
void px_pub_answer_due(struct px_list *due);
/* Ends the waiting lookups of a process that has ended. */
void px_pub_waits_gone(struct px_pub_party *y);

#endif
