/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranges around processes that publish or look up, and the users of these processes.
 * Loop thread only. */
#ifndef PX_HOST_SCOPE_H
#define PX_HOST_SCOPE_H

#include "core/host/pubs/pubs.h"

/* A user with entries or lookups. */
struct px_publisher {
    struct px_pubs *pubs;
    uint32_t uid;
    size_t refs, n_pubs, size_b;
};

/* Ids of users or groups, sorted. */
struct px_ids {
    bool given;
    uint32_t *v;
    size_t n;
};

/* Range around a process: the owner of entries, or the process that looks up. The
 * entries of one request share a scope, and the permissions to read them. */
struct px_scope {
    struct px_publisher *user;
    size_t refs, size_b;
    pmix_proc_t proc;
    pmix_data_range_t range;
    pmix_proc_t *chosen; /* custom range, sorted */
    size_t n_chosen;
    uint32_t gid;             /* of the process; -1: unknown */
    struct px_ids uids, gids; /* users and groups that may read */
};

/* Makes the scope of a request from its infos: PMIX_RANGE, PMIX_USERID, PMIX_GRPID, and
 * for entries PMIX_ACCESS_PERMISSIONS, PMIX_ACCESS_USERIDS and PMIX_ACCESS_GRPIDS. */
pmix_status_t px_scope_create(struct px_pubs *p, const pmix_proc_t *proc,
                              const pmix_info_t *info, size_t n, bool is_lookup,
                              struct px_scope **out);
void px_scope_unref(struct px_scope *s);
/* True if other is in the range of s. Only the ranges of the node and of all processes
 * reach across users, and a custom range. */
bool px_scope_includes(const struct px_scope *s, const struct px_scope *other);
/* True if the owner of entries names users or groups that may read. */
bool px_scope_is_shared(const struct px_scope *s);
/* True if a process may read these entries: its user and its group are in each given
 * list. Without a list, if the process has the owner's user. */
bool px_scope_admits(const struct px_scope *s, const struct px_scope *reader);
/* True if both are the same range of the same user: a key has one entry there. */
bool px_scope_same(const struct px_scope *a, const struct px_scope *b);
/* Returns a number that grows with the processes in the range. */
unsigned px_scope_width(const struct px_scope *s);

/* Returns the user of a request, or NULL if the user has no entries and lookups. */
const struct px_publisher *px_publisher_find(const struct px_pubs *p,
                                             const pmix_info_t *info, size_t n);
/* Counts bytes that a user begins or ceases to hold. */
void px_publisher_hold(struct px_publisher *u, size_t size_b);
void px_publisher_release(struct px_publisher *u, size_t size_b);

/* Logs the refusal of a request that exceeds a bound, and returns its status. */
pmix_status_t px_pubs_refuse(struct px_pubs *p, const pmix_proc_t *proc,
                             const char *what, size_t n, size_t most);

#endif
