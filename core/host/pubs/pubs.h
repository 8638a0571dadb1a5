/* SPDX-License-Identifier: BSD-3-Clause */
/* Entries that processes have published, and lookups that wait for entries. Loop thread
 * only. */
#ifndef PX_HOST_PUBS_H
#define PX_HOST_PUBS_H

#include "core/base/list.h"
#include "core/base/map.h"
#include "core/types/type.h"
#include "pmix_callbacks.h"
#include "pmix_server.h"

/* Bounds on what one user can publish through one server, and all users. */
#define PX_MAX_PUBS       8192u
#define PX_MAX_PUBS_B     (64u * 1024u * 1024u)
#define PX_MAX_ALL_PUBS   65536u
#define PX_MAX_ALL_PUBS_B (512u * 1024u * 1024u)
/* Keys of one request; keys that the lookups of one process wait for; processes of a
 * custom range, or users or groups that may read. */
#define PX_MAX_PUB_WAITS  4096u
#define PX_MAX_PUB_CHOSEN 4096u
/* Ranges on which one process can publish the same key. */
#define PX_MAX_PUB_RANGES 8u

struct px_log_rate;
struct px_loop;

struct px_pubs {
    struct px_loop *loop;     /* for deadlines */
    struct px_log_rate *rate; /* of refusals; NULL before the first */
    struct px_map topics;     /* key -> struct topic */
    struct px_map parties;    /* pmix_proc_t -> struct party */
    struct px_map users;      /* user id -> struct user */
    struct px_list requests;  /* those that take several turns */
    struct px_timer *timer;   /* runs while there are some; NULL before the first */
    size_t n_pubs, size_b;
    uint64_t n_turns; /* of these requests */
    uint64_t steps;   /* of all requests: keys, and entries and waits compared */
};

void px_pubs_init(struct px_pubs *p, struct px_loop *loop);
/* Frees all entries. Answers waiting lookups with PMIX_ERR_LOST_CONNECTION. */
void px_pubs_fini(struct px_pubs *p);

/* These functions take the arguments of the host functions of the same names
 * (pmix_server.h), with PMIX_USERID among the infos. A publish stores all entries or
 * none. PMIX_ERR_OUT_OF_RESOURCE, with a log line: the request exceeds a bound. */
pmix_status_t px_pubs_publish(struct px_pubs *p, const pmix_proc_t *owner,
                              const pmix_info_t *info, size_t n);
/* Removes entries of this owner. keys NULL: all entries. */
pmix_status_t px_pubs_unpublish(struct px_pubs *p, const pmix_proc_t *owner,
                                char *const *keys, const pmix_info_t *info, size_t n);

/* The same in turns of the loop: a request of more entries or keys takes several turns,
 * and so do later requests of its process. Processes take turns. The entries of a
 * publish become visible together. PMIX_OPERATION_SUCCEEDED: done. PMIX_SUCCESS: cb
 * will be called; keys and infos must stay until then. */
#define PX_PUBS_PER_TURN 1024u
pmix_status_t px_pubs_publish_in_turns(struct px_pubs *p, const pmix_proc_t *owner,
                                       const pmix_info_t *info, size_t n,
                                       pmix_op_cbfunc_t cb, void *cbdata);
pmix_status_t px_pubs_unpublish_in_turns(struct px_pubs *p, const pmix_proc_t *owner,
                                         char *const *keys, const pmix_info_t *info,
                                         size_t n, pmix_op_cbfunc_t cb, void *cbdata);
/* Looks up keys, in turns if there is a loop. PMIX_SUCCESS: cb has been called or will
 * be, and takes the array, which px_type_free_array frees. After an error cb is never
 * called. */
pmix_status_t px_pubs_lookup(struct px_pubs *p, const pmix_proc_t *asker,
                             char *const *keys, const pmix_info_t *info, size_t n,
                             pmix_lookup_cbfunc_t cb, void *cbdata);

/* Handles the end of a process; rank PMIX_RANK_WILDCARD: the end of a job. Removes the
 * entries that end with the process or job, in turns like a removal, and answers its
 * lookups. */
void px_pubs_gone(struct px_pubs *p, const pmix_proc_t *proc);
/* Handles the end of a tool, which is a job of one process. */
void px_pubs_tool_gone(struct px_pubs *p, const pmix_proc_t *tool);

#endif
