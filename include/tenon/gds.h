/* SPDX-License-Identifier: BSD-3-Clause */
/* gds: the datastore. One object per namespace holds what its ranks and the job have
 * published, in tables. Contract in frameworks/gds/README.md. */
#ifndef TENON_GDS_H
#define TENON_GDS_H

#include "tenon/component.h"

#include <stdbool.h>

#define PX_GDS_ABI 1u

struct px_gds_ns; /* the component's own */

enum px_gds_table {
    PX_GDS_INTERNAL, /* this process's own: Store_internal and uncommitted Put */
    PX_GDS_JOB,      /* given by the host: job level (rank WILDCARD) and per rank */
    PX_GDS_LOCAL,    /* committed for readers on this node */
    PX_GDS_REMOTE,   /* committed for readers on other nodes, or received from them */
    PX_GDS_NODE,     /* node realm: "rank" is the index in the table of nodes */
    PX_GDS_APP,      /* application realm: "rank" is the application number */
    PX_GDS_SESSION,  /* session realm: "rank" is the session id */
    PX_GDS_N_TABLES,
};

/* One of 64, by length and end of a key of n characters; 0 without any. A bit that none
 * of a table's keys has tells without a search that a key is not there. */
static inline uint64_t px_gds_key_bit(const char *key, size_t n)
{
    return n ? (uint64_t)1 << ((n * 8 + (uint8_t)key[n - 1]) % 64) : 0;
}

/* Return anything but PMIX_SUCCESS to stop; the walk then returns that. value is
 * borrowed. */
typedef pmix_status_t (*px_gds_walk_fn)(void *arg, pmix_rank_t rank, const char *key,
                                        const pmix_value_t *value);

/* All but fetch, view and changes: the loop thread alone. */
struct px_gds_ops {
    pmix_status_t (*create)(void *self, const char *nspace, struct px_gds_ns **ns);
    void (*destroy)(void *self, struct px_gds_ns *ns);
    /* Copies; a later value under the same key replaces the earlier. UNDEF deletes. */
    pmix_status_t (*store)(void *self, struct px_gds_ns *ns, enum px_gds_table table,
                           pmix_rank_t rank, const char *key,
                           const pmix_value_t *value);
    /* Any thread, several at a time, beside walk and describe; the core keeps it apart
     * from what changes ns. Without a lock or a system call of its own. *out receives a
     * copy; out NULL only asks whether there is a value. quals are the qualifiers of
     * the question. PMIX_ERR_NOT_FOUND; PMIX_ERR_NOMEM. */
    pmix_status_t (*fetch)(void *self, struct px_gds_ns *ns, enum px_gds_table table,
                           pmix_rank_t rank, const char *key, const pmix_info_t *quals,
                           size_t n_quals, pmix_value_t *out);
    /* Every pair of a rank in the order first stored; PMIX_RANK_UNDEF: of every rank,
     * ranks ascending (WILDCARD last). */
    pmix_status_t (*walk)(void *self, struct px_gds_ns *ns, enum px_gds_table table,
                          pmix_rank_t rank, px_gds_walk_fn fn, void *arg);
    /* PMIX_RANK_UNDEF: of every rank. */
    void (*clear)(void *self, struct px_gds_ns *ns, enum px_gds_table table,
                  pmix_rank_t rank);

    /* Both NULL: peers read nothing by themselves and are sent all they need, which
     * every library understands.
     *
     * In a server: what reader, a client that has this component too, must know to read
     * ns in place; malloc'd infos for its first answer. *fd goes to it besides, -1 if
     * there is none; it is the component's, until ns changes. */
    pmix_status_t (*describe)(void *self, struct px_gds_ns *ns,
                              const pmix_proc_t *reader, pmix_info_t **infos,
                              size_t *n_infos, int *fd);
    /* In that client: *ns for the description, for fetch, walk, view, changes and
     * destroy alone. fd stays the caller's; -1: none came. */
    pmix_status_t (*attach)(void *self, const char *nspace, const pmix_info_t *infos,
                            size_t n_infos, int fd, struct px_gds_ns **ns);

    /* The bytes of a PMIX_BYTE_OBJECT where they are; where and when as fetch. They
     * stay while ns does if it was attached, else until it changes.
     * PMIX_ERR_NOT_FOUND, also for a value of another type, and for what is committed
     * (PX_GDS_LOCAL, REMOTE) if that may move. NULL: fetch it. */
    pmix_status_t (*view)(void *self, struct px_gds_ns *ns, enum px_gds_table table,
                          pmix_rank_t rank, const char *key, const void **bytes,
                          size_t *n_bytes);

    /* Of an attached ns, in any thread: another number once something of
     * PX_GDS_INTERNAL has gone or another value has come in its place; 0 if ns was
     * given up. NULL: it cannot be told. */
    uint64_t (*changes)(void *self, struct px_gds_ns *ns);
};

#endif
