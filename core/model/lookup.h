/* SPDX-License-Identifier: BSD-3-Clause */
/* Lookup of a namespace's values: given values, and facts that follow from the maps. */
#ifndef PX_MODEL_LOOKUP_H
#define PX_MODEL_LOOKUP_H

#include "core/model/nspace.h"

#include <string.h>

enum px_key_realm { PX_KEY_JOB, PX_KEY_PROC, PX_KEY_NODE, PX_KEY_APP, PX_KEY_SESSION };

/* Special meanings of keys in a lookup: facts from the maps, and directives. */
enum px_key_means {
    /* EVERY_RANKS: a job-level key that programs also request for a rank. LIVE: the
     * server computes the value for each request. COMMON: a key of ranks, whose value
     * in the job's own row is that of each rank without a value */
    PX_KEY_NONE,
    PX_KEY_OPTIONAL,
    PX_KEY_REFRESH,
    PX_KEY_STATIC,
    PX_KEY_POINTER,
    PX_KEY_EVERY_RANKS,
    PX_KEY_LIVE,
    PX_KEY_ANL_MAP,
    PX_KEY_APPNUM,
    PX_KEY_APP_INFO,
    PX_KEY_COMMON,
    PX_KEY_GROUP_CONTEXT,
    PX_KEY_HOSTNAME,
    PX_KEY_JOB_INFO,
    PX_KEY_JOB_SIZE,
    PX_KEY_LOCAL_CPUSETS,
    PX_KEY_LOCALLDR,
    PX_KEY_LOCAL_PEERS,
    PX_KEY_LOCAL_RANK,
    PX_KEY_LOCAL_SIZE,
    PX_KEY_MEMBERS,
    PX_KEY_NODEID,
    PX_KEY_NODE_INFO,
    PX_KEY_NODE_LIST,
    PX_KEY_NODE_MAP,
    PX_KEY_NSPACE,
    PX_KEY_NUM_NODES,
    PX_KEY_PROC_MAP,
    PX_KEY_PROC_MAP_RAW,
    PX_KEY_PROCID,
    PX_KEY_SESSION_ID,
    PX_KEY_SESSION_INFO,
    PX_KEY_N_MEANS
};

/* A lookup request. The qualifiers of a Get select the realm; PX_KEY_JOB is the
 * default. */
struct px_lookup {
    const char *key;
    pmix_rank_t rank;
    enum px_key_realm realm;
    const pmix_info_t *quals; /* the request's qualifiers; borrowed */
    size_t n_quals;
    const char *hostname;         /* node realm; NULL: node_id counts */
    uint32_t node_id;             /* UINT32_MAX: this node */
    uint32_t app, session;        /* UINT32_MAX: the caller's own */
    bool is[PX_KEY_N_MEANS];      /* true if a true qualifier has that meaning */
    bool want_local, want_remote; /* committed tables to search */
    bool skip_internal;
    bool skip_received;             /* of live keys: they may be out of date */
    bool is_known;                  /* known is valid */
    const struct px_job_key *known; /* the key's row in the dictionary, or NULL */
};

/* Fills a lookup from qualifiers. By default rank WILDCARD keys of the node or app
 * realm (pmix.local.size, pmix.lpeers, ...) find this node's value. */
void px_lookup_init(struct px_lookup *l, const char *key, pmix_rank_t rank,
                    const pmix_info_t *info, size_t n);
/* Changes the key. */
static inline void px_lookup_set_key(struct px_lookup *l, const char *key)
{
    l->key = key;
    l->is_known = false;
}
/* Copies the value into *out, or computes it from the maps. Returns PMIX_ERR_NOT_FOUND
 * if there is none. Any thread inside the model's gate. */
pmix_status_t px_lookup_find(const struct px_model *m, const struct px_nspace *ns,
                             struct px_lookup *l, pmix_value_t *out);
/* Place of a registered value: a table and its row. id: the rank, the number of the
 * application or session, or the row of the node. */
struct px_place {
    enum px_gds_table table;
    uint32_t row, id;
};
/* Finds the place whose value px_lookup_find returns, among registered values and facts
 * of ranks and nodes. False if the value has another source. */
bool px_lookup_place(const struct px_model *m, const struct px_nspace *ns,
                     struct px_lookup *l, struct px_place *at);
/* True if the job itself has a value for a job-level key. */
bool px_job_has_value(const struct px_model *m, const struct px_nspace *ns,
                      const char *key);

/* ---- the dictionary -------------------------------------------------------------- */

/* A key with a realm, a type or a special meaning. */
struct px_job_key {
    const char *key;
    uint8_t length;
    uint8_t means;         /* enum px_key_means */
    uint8_t realm;         /* enum px_key_realm of the key outside an array */
    pmix_data_type_t type; /* UNDEF keeps the host's type */
};

extern const struct px_job_key px_job_keys[];
extern const size_t px_n_job_keys;

/* True for reserved keys. Processes do not commit such keys, so registration is their
 * only source. */
static inline bool px_key_is_reserved(const char *key)
{
    return key[0] == 'p' && key[1] == 'm' && key[2] == 'i' && key[3] == 'x' &&
           key[4] == '.';
}
/* Finds a key in the dictionary; NULL for other keys. */
const struct px_job_key *px_job_key_find(const char *key);
enum px_key_realm px_key_realm(const char *key);
/* Returns the meaning or the realm of a row of the dictionary. known may be NULL. */
static inline enum px_key_means px_known_means(const struct px_job_key *known)
{
    return known ? (enum px_key_means)known->means : PX_KEY_NONE;
}
static inline enum px_key_realm px_known_realm(const struct px_job_key *known)
{
    return known ? (enum px_key_realm)known->realm : PX_KEY_JOB;
}
/* True for a key whose value changes while the job runs. */
static inline bool px_key_is_live(const struct px_job_key *known)
{
    return px_known_means(known) == PX_KEY_LIVE;
}
/* Converts a value to the dictionary's type for the key, if the value fits that type.
 * *out borrows from *in. A value without a type becomes true. */
void px_job_value_convert(const char *key, const pmix_value_t *in, pmix_value_t *out);

/* ---- facts that follow from the maps: facts.c ------------------------------------ */

/* Returns the keys of facts of a rank or job (table PX_GDS_JOB), or of a node. The last
 * is NULL. */
const char *const *px_facts(enum px_gds_table table, pmix_rank_t rank);
/* Computes a fact; the caller destructs *out. key may be NULL. Returns
 * PMIX_ERR_NOT_FOUND if the fact cannot be computed. */
pmix_status_t px_fact(const struct px_nspace *ns, enum px_gds_table table,
                      pmix_rank_t rank, const struct px_job_key *key,
                      pmix_value_t *out);

/* True if both names mean one host. "n1" and "n1.cluster" do; two different full names
 * do not. */
bool px_same_host(const char *a, const char *b);
/* Returns the number of rows of the node table. */
uint32_t px_node_rows(const struct px_nspace *ns);
bool px_node_name(const struct px_nspace *ns, uint32_t row,
                  char name[PX_MAX_NODE_NAME + 1]);
/* Finds a row by name or alias; UINT32_MAX if there is none. */
uint32_t px_node_by_name(const struct px_nspace *ns, const char *name);
uint32_t px_node_by_id(const struct px_nspace *ns, uint32_t id);
/* Sets the id that the host gave a node, otherwise the node's position in the map.
 * False if the map does not have the node. */
bool px_node_id(const struct px_nspace *ns, uint32_t row, uint32_t *id);
/* Stores the row of an id for px_node_by_id, if the id differs from the row. */
pmix_status_t px_node_note_id(struct px_nspace *ns, uint32_t row,
                              const pmix_value_t *id);
/* Returns px_procmap_names of the namespace's map, or a copy of the server's shared
 * list. The namespace has a map. */
char *px_node_list(const struct px_nspace *ns, size_t *len);
/* Returns the row of a session in the session table. The default session (id
 * UINT32_MAX) has a row, too. */
pmix_rank_t px_session_row(uint32_t id);

#endif
