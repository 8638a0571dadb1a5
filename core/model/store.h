/* SPDX-License-Identifier: BSD-3-Clause */
/* A namespace's data: the tables that this process keeps, in a component of the
 * datastore that took the namespace, and those of a server that it reads in place. */
#ifndef PX_MODEL_STORE_H
#define PX_MODEL_STORE_H

#include "core/wire/codec.h"
#include "tenon/gds.h"

struct px_tables {
    const struct px_module *module;
    struct px_gds_ns *ns; /* NULL: there is none */
};

struct px_stores {
    struct px_tables own;
    struct px_tables shared; /* a server's, read in place */
};

/* By the best component that does not decline. PMIX_ERR_NOT_AVAILABLE: there is
 * none. */
pmix_status_t px_store_create(struct px_stores *store, const char *nspace);
void px_store_destroy(struct px_stores *store); /* empty is fine */

/* Loop thread; these two close the gate. */
pmix_status_t px_store_put(struct px_stores *store, enum px_gds_table table,
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
/* Adds to a job's information what reader, who named a component, needs to read ns in
 * place. */
void px_store_describe(const struct px_stores *store, const char *nspace,
                       const struct px_module *named, const pmix_proc_t *reader,
                       px_writer *w);
/* The key of what that adds, and what a reader does with the value. A failure leaves it
 * with what messages bring. */
#define PX_STORE_DESCRIPTION "tenon.gds"
void px_store_attach(struct px_stores *store, const char *nspace,
                     const pmix_value_t *description);

#endif
