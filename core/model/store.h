/* SPDX-License-Identifier: BSD-3-Clause */
/* A namespace's data: the tables that this process keeps, in a component of the
 * datastore that took the namespace, and those of a server that it reads in place. */
#ifndef PX_MODEL_STORE_H
#define PX_MODEL_STORE_H

#include "core/base/gate.h"
#include "core/wire/codec.h"
#include "tenon/gds.h"

struct px_tables {
    const struct px_module *module;
    struct px_gds_ns *ns;           /* NULL: there is none */
    uint64_t keys[PX_GDS_N_TABLES]; /* bits of those that this process has put */
    uint32_t file;    /* the number of what readers get; 0: not asked since a change */
    uint64_t changes; /* px_store_changes before its job was read; 0: never */
};

struct px_stores {
    struct px_read_gate *gate; /* closed while readers must not see a change */
    struct px_tables own;
    struct px_tables shared; /* those that a server's clients read in place */
    bool is_writer;          /* this process is that server */
    bool spilled;            /* some of what was to be shared is in own */
};

/* PMIX_ERR_NOT_AVAILABLE: there is no component for it. */
pmix_status_t px_store_create(struct px_stores *store, struct px_read_gate *gate,
                              const char *nspace);
void px_store_destroy(struct px_stores *store); /* empty is fine */

/* In a server: what is put from now on is for its clients to read, as far as that is
 * possible; they ask for the rest. */
void px_store_share(struct px_stores *store, const char *nspace);

/* Loop thread; these three close the gate. */
pmix_status_t px_store_put(struct px_stores *store, enum px_gds_table table,
                           pmix_rank_t rank, const char *key,
                           const pmix_value_t *value);
/* The same of what only this process may read. */
pmix_status_t px_store_keep(struct px_stores *store, enum px_gds_table table,
                            pmix_rank_t rank, const char *key,
                            const pmix_value_t *value);
/* PMIX_RANK_UNDEF: of every rank. */
void px_store_clear(struct px_stores *store, enum px_gds_table table, pmix_rank_t rank);
pmix_status_t px_store_walk(const struct px_stores *store, enum px_gds_table table,
                            pmix_rank_t rank, px_gds_walk_fn fn, void *arg);

/* Any thread inside the gate. Copies, as fetch of px_gds_ops. */
pmix_status_t px_store_fetch(const struct px_stores *store, enum px_gds_table table,
                             pmix_rank_t rank, const char *key,
                             const pmix_info_t *quals, size_t n_quals,
                             pmix_value_t *out);
bool px_store_has(const struct px_stores *store, enum px_gds_table table,
                  pmix_rank_t rank, const char *key);
/* Whether any of that is in this process's own tables, and not in those it shares.
 * PMIX_RANK_UNDEF: of every rank. */
bool px_store_keeps(const struct px_stores *store, enum px_gds_table table,
                    pmix_rank_t rank);
/* False if there is no number. */
bool px_store_u32(const struct px_stores *store, enum px_gds_table table,
                  pmix_rank_t rank, const char *key, uint32_t *n);

/* ---- what a server and its reader agree on --------------------------------------- */

/* The component that a client names when it connects: our best of a server's names;
 * without any, the one whose data travel in messages, which every server can send.
 * NULL: we have none. */
const struct px_module *px_store_choose(const char *names);
/* By name. A peer that names none is sent all in messages: see above. NULL: we have no
 * such. */
const struct px_module *px_store_of_peer(const char *name);
/* Packs as one value all that reader, who named a component, needs to read the shared
 * tables in place; *fd goes with it, and stays the store's. PMIX_ERR_NOT_SUPPORTED:
 * it did not name the one that has them, or nothing is shared. */
pmix_status_t px_store_describe(const struct px_stores *store,
                                const struct px_module *named,
                                const pmix_proc_t *reader, px_writer *w, int *fd);
/* The reader's side of that; fd stays the caller's. On failure nothing changes. */
pmix_status_t px_store_attach(struct px_stores *store, const char *nspace,
                              const pmix_value_t *description, int fd);
/* The process goes on with what messages bring. */
void px_store_detach(struct px_stores *store);

/* ---- records --------------------------------------------------------------------- */

/* A server tells its readers of the shared tables themselves. NULL withdraws. */
pmix_status_t px_store_note(struct px_stores *store, const char *key,
                            const pmix_value_t *value);
/* As px_store_fetch. */
pmix_status_t px_store_noted(const struct px_stores *store, const char *key,
                             pmix_value_t *out);

/* See changes of px_gds_ops; 0: nothing is known of the shared tables. */
uint64_t px_store_changes(const struct px_stores *store);
/* PX_STORE_JOB is there: any thread inside the gate. */
bool px_store_has_job(const struct px_stores *store);

/* The bytes of an object in place, as long as the tables are attached. */
pmix_status_t px_store_view(const struct px_stores *store, const char *key,
                            const void **bytes, size_t *n);

/* By which a server ends the fence of all ranks of a job at once: a record that changes
 * in its place. Readers sleep until turns is another. */
struct px_fence_futex {
    _Atomic uint32_t turns;
    _Atomic uint32_t id; /* of the file that it is in */
};
/* Loop thread, until the next call of one of these functions; NULL: there is none. */
struct px_fence_futex *px_store_bell(const struct px_stores *store);
/* A server's, which it makes if it must. */
struct px_fence_futex *px_store_hang_bell(struct px_stores *store);
void px_fence_futex_wake(struct px_fence_futex *bell);
#define PX_STORE_BELL "tenon.bell"

/* The record that is there while the shared tables hold all of a job's information:
 * jobinfo_share.c. */
#define PX_STORE_JOB "tenon.job"
/* Meanwhile an object there may have the names of all nodes, see px_node_list. */
#define PX_STORE_NODES "nodes"
/* In a Get: the client reads nothing in place any more. */
#define PX_STORE_MESSAGES "tenon.messages"

#endif
