/* SPDX-License-Identifier: BSD-3-Clause */
/* gds: the datastore. An object for each namespace holds the data of its ranks and of
 * the job, in tables. Contract in frameworks/gds/README.md. */
#ifndef TENON_GDS_H
#define TENON_GDS_H

#include "tenon/component.h"

#include <stdbool.h>

#define PX_GDS_ABI 1u

struct px_gds_ns; /* defined by the component */

enum px_gds_table {
    PX_GDS_INTERNAL, /* data of this process: Store_internal and uncommitted Put */
    PX_GDS_JOB,      /* data of the host: job level (rank WILDCARD) and per rank */
    PX_GDS_LOCAL,    /* committed for readers on this node */
    PX_GDS_REMOTE,   /* committed for readers on other nodes, or received from them */
    PX_GDS_NODE,     /* node realm: "rank" is the index in the table of nodes */
    PX_GDS_APP,      /* application realm: "rank" is the application number */
    PX_GDS_SESSION,  /* session realm: "rank" is the session id */
    PX_GDS_N_TABLES,
};

/* Returns one of 64 bits, chosen by the length and last character of a key of n
 * characters; 0 for an empty key. If no key of a table has the bit, the key is not in
 * the table. */
static inline uint64_t px_gds_key_bit(const char *key, size_t n)
{
    return n ? (uint64_t)1 << ((n * 8 + (uint8_t)key[n - 1]) % 64) : 0;
}

/* Handles a pair of a walk. A status other than PMIX_SUCCESS ends the walk, which
 * returns this status. value is borrowed. */
typedef pmix_status_t (*px_gds_walk_fn)(void *arg, pmix_rank_t rank, const char *key,
                                        const pmix_value_t *value);

/* Operations of gds. Loop thread only, except fetch, view and changes. */
struct px_gds_ops {
    pmix_status_t (*create)(void *self, const char *nspace, struct px_gds_ns **ns);
    void (*destroy)(void *self, struct px_gds_ns *ns);
    /* Stores a copy of value, in place of an earlier value of the key. UNDEF
     * deletes. */
    pmix_status_t (*store)(void *self, struct px_gds_ns *ns, enum px_gds_table table,
                           pmix_rank_t rank, const char *key,
                           const pmix_value_t *value);
    /* Finds a value. *out receives a copy; out NULL only tests for a value. quals are
     * the qualifiers of the request. Any thread, several at a time, and during walk and
     * describe. The core never runs fetch during a change of ns. Takes no lock and
     * makes no system call. PMIX_ERR_NOT_FOUND; PMIX_ERR_NOMEM. */
    pmix_status_t (*fetch)(void *self, struct px_gds_ns *ns, enum px_gds_table table,
                           pmix_rank_t rank, const char *key, const pmix_info_t *quals,
                           size_t n_quals, pmix_value_t *out);
    /* Walks the pairs of a rank in the order first stored. PMIX_RANK_UNDEF: all ranks,
     * ascending (WILDCARD last). */
    pmix_status_t (*walk)(void *self, struct px_gds_ns *ns, enum px_gds_table table,
                          pmix_rank_t rank, px_gds_walk_fn fn, void *arg);
    /* Removes the pairs of a rank; PMIX_RANK_UNDEF: of every rank. */
    void (*clear)(void *self, struct px_gds_ns *ns, enum px_gds_table table,
                  pmix_rank_t rank);

    /* Both of describe and attach are NULL if clients cannot read the store. Then
     * clients are sent all data they need, as every library supports.
     *
     * Describes how reader, a client with this component, can read ns in place. Called
     * in a server. *infos is malloc'd, for the first reply to reader. *fd goes to
     * reader too; -1: none. The component keeps *fd open until ns changes. */
    pmix_status_t (*describe)(void *self, struct px_gds_ns *ns,
                              const pmix_proc_t *reader, pmix_info_t **infos,
                              size_t *n_infos, int *fd);
    /* Opens the described ns in that client, for fetch, walk, view, changes and destroy
     * only. The caller keeps fd; -1: none was sent. */
    pmix_status_t (*attach)(void *self, const char *nspace, const pmix_info_t *infos,
                            size_t n_infos, int fd, struct px_gds_ns **ns);

    /* Finds the bytes of a PMIX_BYTE_OBJECT in place. Threads as for fetch. The bytes
     * of an attached ns stay valid as long as ns, others until ns changes.
     * PMIX_ERR_NOT_FOUND, also for other types, and for committed values (PX_GDS_LOCAL,
     * REMOTE) that may move. NULL: use fetch. */
    pmix_status_t (*view)(void *self, struct px_gds_ns *ns, enum px_gds_table table,
                          pmix_rank_t rank, const char *key, const void **bytes,
                          size_t *n_bytes);

    /* Returns a number that changes when a PX_GDS_INTERNAL entry is removed or
     * replaced; 0 if the server has given ns up. For an attached ns, in any thread.
     * NULL: unknown. */
    uint64_t (*changes)(void *self, struct px_gds_ns *ns);
};

#endif
