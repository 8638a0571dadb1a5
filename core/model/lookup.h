/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding a value of a namespace: what was given, and what follows from the maps. */
#ifndef PX_MODEL_LOOKUP_H
#define PX_MODEL_LOOKUP_H

#include "core/model/nspace.h"

#include <string.h>

enum px_key_realm { PX_KEY_JOB, PX_KEY_PROC, PX_KEY_NODE, PX_KEY_APP, PX_KEY_SESSION };

/* The use a look-up has for a key: it follows from the maps, or is a directive. */
enum px_key_means {
    /* EVERY_RANKS: a rank is asked for its job's */
    PX_KEY_NONE,
    PX_KEY_OPTIONAL,
    PX_KEY_REFRESH,
    PX_KEY_STATIC,
    PX_KEY_EVERY_RANKS,
    PX_KEY_APPNUM,
    PX_KEY_APP_INFO,
    PX_KEY_HOSTNAME,
    PX_KEY_JOB_SIZE,
    PX_KEY_LOCALLDR,
    PX_KEY_LOCAL_PEERS,
    PX_KEY_LOCAL_RANK,
    PX_KEY_LOCAL_SIZE,
    PX_KEY_MEMBERS,
    PX_KEY_NODEID,
    PX_KEY_NODE_INFO,
    PX_KEY_NODE_LIST,
    PX_KEY_NUM_NODES,
    PX_KEY_PROCID,
    PX_KEY_SESSION_ID,
    PX_KEY_SESSION_INFO,
    PX_KEY_N_MEANS
};

/* A question. Realms come from the qualifiers of a Get; PX_KEY_JOB is the
 * default. */
struct px_lookup {
    const char *key;
    pmix_rank_t rank;
    enum px_key_realm realm;
    const pmix_info_t *quals; /* of the question; borrowed */
    size_t n_quals;
    const char *hostname;         /* node realm; NULL: see node_id */
    uint32_t node_id;             /* UINT32_MAX: this node */
    uint32_t app, session;        /* UINT32_MAX: own */
    bool is[PX_KEY_N_MEANS];      /* some qualifier of that meaning is true */
    bool want_local, want_remote; /* which committed tables to look in */
    bool skip_internal;
};

/* Fills realm, hostname, ... from info; defaults otherwise: rank WILDCARD keys that
 * belong to the node or app realm by the dictionary (pmix.local.size, pmix.lpeers, ...)
 * find this node's. */
void px_lookup_init(struct px_lookup *l, const char *key, pmix_rank_t rank,
                    const pmix_info_t *info, size_t n);
/* Copy of the value into *out. PMIX_ERR_NOT_FOUND. Derived facts are computed here. Any
 * thread that is inside the model's gate. */
pmix_status_t px_lookup_find(const struct px_model *m, const struct px_nspace *ns,
                             const struct px_lookup *l, pmix_value_t *out);
/* Whether the job itself has a value of a job-level key. */
bool px_job_has_value(const struct px_model *m, const struct px_nspace *ns,
                      const char *key);

/* ---- the dictionary -------------------------------------------------------------- */

/* A key with a place of its own, or with a meaning. */
struct px_job_key {
    const char *key;
    uint8_t length;
    uint8_t means;         /* enum px_key_means */
    uint8_t realm;         /* enum px_key_realm: the one a lone key belongs to */
    pmix_data_type_t type; /* UNDEF: as the host gave it */
};

extern const struct px_job_key px_job_keys[];
extern const size_t px_n_job_keys;

/* Known when a job is registered, or never: no process commits such a key. */
static inline bool px_key_is_reserved(const char *key)
{
    return key[0] == 'p' && key[1] == 'm' && key[2] == 'i' && key[3] == 'x' &&
           key[4] == '.';
}
/* NULL: any other key. */
const struct px_job_key *px_job_key_find(const char *key);
enum px_key_realm px_key_realm(const char *key);
/* *out borrows from *in: the same value, in the dictionary's type for the key if it
 * fits there; what has no type is true. */
void px_job_value_convert(const char *key, const pmix_value_t *in, pmix_value_t *out);

/* ---- what follows from the maps -------------------------------------------------- */

/* Of a rank or of the job (table PX_GDS_JOB), or of a node. Keys, ending with NULL: */
const char *const *px_facts(enum px_gds_table table, pmix_rank_t rank);
/* *out is the caller's to destruct. PMIX_ERR_NOT_FOUND: it does not follow from what is
 * known. */
pmix_status_t px_fact(const struct px_nspace *ns, enum px_gds_table table,
                      pmix_rank_t rank, const char *key, pmix_value_t *out);

/* "n1" and "n1.cluster" are one host; of two full names, only equal ones. */
bool px_same_host(const char *a, const char *b);
/* How many rows the node table has, and the name in one; false if it has none. */
uint32_t px_node_rows(const struct px_nspace *ns);
bool px_node_name(const struct px_nspace *ns, uint32_t row,
                  char name[PX_MAX_NODE_NAME + 1]);
/* Rows of the node table; UINT32_MAX if there is none. Names may be aliases the host
 * gave. */
uint32_t px_node_by_name(const struct px_nspace *ns, const char *name);
uint32_t px_node_by_id(const struct px_nspace *ns, uint32_t id);
/* Keeps which row has an id that is not its place, for the function above. */
pmix_status_t px_node_note_id(struct px_nspace *ns, uint32_t row,
                              const pmix_value_t *id);
/* As px_procmap_names, of a namespace that has a map: ready-made, if its server has
 * shared it. */
char *px_node_list(const struct px_nspace *ns, size_t *len);
/* Where the session table keeps a session: the default one (id UINT32_MAX) has a row
 * too. */
pmix_rank_t px_session_row(uint32_t id);

#endif
