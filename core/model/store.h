/* SPDX-License-Identifier: BSD-3-Clause */
/* A namespace's data: the tables of this process, in a datastore component, and a
 * server's shared tables that this process reads in place. */
#ifndef PX_MODEL_STORE_H
#define PX_MODEL_STORE_H

#include "core/base/gate.h"
#include "core/wire/codec.h"
#include "tenon/gds.h"

struct px_tables {
    const struct px_module *module;
    struct px_gds_ns *ns;           /* NULL: no tables */
    uint64_t keys[PX_GDS_N_TABLES]; /* bits of the keys that this process has put */
    uint32_t file;    /* inode of the readers' file; 0: not determined since the last
                       * change */
    uint64_t changes; /* px_store_changes when the job was read; 0: not read yet */
};

struct px_stores {
    struct px_read_gate *gate; /* closed during changes, which readers must not see */
    struct px_tables own;
    struct px_tables shared; /* tables that a server's clients read in place */
    bool is_writer;          /* this process is that server */
    bool spilled;            /* own holds values that could not be shared */
};

/* Creates the own tables. Returns PMIX_ERR_NOT_AVAILABLE without a component. */
pmix_status_t px_store_create(struct px_stores *store, struct px_read_gate *gate,
                              const char *nspace);
void px_store_destroy(struct px_stores *store); /* may be empty */

/* Server side: shares with clients the values that are put from now on, as far as
 * possible. Clients request the other values. */
void px_store_share(struct px_stores *store, const char *nspace);

/* Stores a value. px_store_put, px_store_keep and px_store_clear close the gate. Loop
 * thread. */
pmix_status_t px_store_put(struct px_stores *store, enum px_gds_table table,
                           pmix_rank_t rank, const char *key,
                           const pmix_value_t *value);
/* Stores a value of a rank for local and for remote readers. A value of PX_STORE_ONCE_B
 * or more is not stored twice. */
#define PX_STORE_ONCE_B 1024u
pmix_status_t px_store_put_global(struct px_stores *store, pmix_rank_t rank,
                                  const char *key, const pmix_value_t *value);
/* Stores a value that only this process may read. */
pmix_status_t px_store_keep(struct px_stores *store, enum px_gds_table table,
                            pmix_rank_t rank, const char *key,
                            const pmix_value_t *value);
/* Clears the values of a rank, or of every rank (PMIX_RANK_UNDEF). */
void px_store_clear(struct px_stores *store, enum px_gds_table table, pmix_rank_t rank);
pmix_status_t px_store_walk(const struct px_stores *store, enum px_gds_table table,
                            pmix_rank_t rank, px_gds_walk_fn fn, void *arg);
/* Walks the values of a rank for remote readers, without those that local readers have,
 * too. */
pmix_status_t px_store_walk_remote_only(const struct px_stores *store, pmix_rank_t rank,
                                        px_gds_walk_fn fn, void *arg);

/* Copies a value like fetch of px_gds_ops. Any thread inside the gate. */
pmix_status_t px_store_fetch(const struct px_stores *store, enum px_gds_table table,
                             pmix_rank_t rank, const char *key,
                             const pmix_info_t *quals, size_t n_quals,
                             pmix_value_t *out);
bool px_store_has(const struct px_stores *store, enum px_gds_table table,
                  pmix_rank_t rank, const char *key);
/* True if this process's own tables have values of a rank, or of any rank
 * (PMIX_RANK_UNDEF). */
bool px_store_keeps(const struct px_stores *store, enum px_gds_table table,
                    pmix_rank_t rank);
/* Reads a number. Returns false without a number. */
bool px_store_u32(const struct px_stores *store, enum px_gds_table table,
                  pmix_rank_t rank, const char *key, uint32_t *n);

/* ---- choice of a component by server and client ---------------------------------- */

/* Returns the component that a client names when it connects: our best component among
 * the server's names. Otherwise returns the component whose data travel in messages,
 * which every server supports. NULL: we have none. */
const struct px_module *px_store_choose(const char *names);
/* Returns the component that a peer named. A peer without a name gets the data in
 * messages. NULL: we do not have that component. */
const struct px_module *px_store_of_peer(const char *name);
/* Packs a value that describes the shared tables for reader, who named a component. The
 * value travels with *fd, which the store keeps. Returns PMIX_ERR_NOT_SUPPORTED if
 * nothing is shared or another component has the tables. */
pmix_status_t px_store_describe(const struct px_stores *store,
                                const struct px_module *named,
                                const pmix_proc_t *reader, px_writer *w, int *fd);
/* Client side: reads the description and attaches the tables. The caller keeps fd. On
 * failure nothing changes. */
pmix_status_t px_store_attach(struct px_stores *store, const char *nspace,
                              const pmix_value_t *description, int fd);
/* Stops reading the shared tables. Messages bring the data from now on. */
void px_store_detach(struct px_stores *store);

/* ---- records --------------------------------------------------------------------- */

/* Server side: puts a record into the shared tables; NULL withdraws the record. */
pmix_status_t px_store_note(struct px_stores *store, const char *key,
                            const pmix_value_t *value);
/* Copies a record. */
pmix_status_t px_store_noted(const struct px_stores *store, const char *key,
                             pmix_value_t *out);

/* Returns the change counter of the shared tables (px_gds_ops); 0 without shared
 * tables. */
uint64_t px_store_changes(const struct px_stores *store);
/* True if the record PX_STORE_JOB exists. Any thread inside the gate. */
bool px_store_has_job(const struct px_stores *store);

/* Returns the bytes of a record in place. They live as long as the tables are
 * attached. */
pmix_status_t px_store_view(const struct px_stores *store, const char *key,
                            const void **bytes, size_t *n);

/* Record in the shared tables that ends a fence of all ranks of a job. Readers wait on
 * turns as a futex. */
struct px_fence_futex {
    _Atomic uint32_t turns;
    _Atomic uint32_t id; /* inode of the record's file */
    /* Numbers of the last collectives that have one, see px_fence_futex_number. */
    struct px_fence_number {
        _Atomic uint32_t turn, low, high;
    } numbers[8];
};
/* Returns the fence futex, valid until the next call of one of these functions; NULL if
 * there is none. Loop thread. */
struct px_fence_futex *px_store_fence_futex(const struct px_stores *store);
/* Returns the server's fence futex, and creates it if necessary. */
struct px_fence_futex *px_store_make_fence_futex(struct px_stores *store);
void px_fence_futex_wake(struct px_fence_futex *futex);
/* Wakes the clients that sleep on the futex, so that these clients read their messages.
 * Does not change the turn. Server side. */
void px_fence_futex_rouse(const struct px_stores *store);
/* Server side: sets the number that readers get after the next wake. */
void px_fence_futex_set(struct px_fence_futex *futex, uint64_t number);
/* Reads the number of a turn. False if the turn has none, or seven later ones have. */
bool px_fence_futex_number(const struct px_fence_futex *futex, uint32_t turn,
                           uint64_t *number);
#define PX_STORE_FENCE_FUTEX "tenon.fence"

/* Key of the record that exists while the shared tables hold all job information
 * (jobinfo_share.c). */
#define PX_STORE_JOB "tenon.job"
/* Key of the record with the names of all nodes, see px_node_list. */
#define PX_STORE_NODES "nodes"
/* Qualifier of a Get: the client stops reading in place. */
#define PX_STORE_MESSAGES "tenon.messages"

#endif
