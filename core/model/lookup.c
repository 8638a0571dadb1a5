/* SPDX-License-Identifier: BSD-3-Clause */
/* Given values come before those that follow from the maps, which is computed when
 * asked for, not stored: a million ranks cost what their map costs. */
#include "core/model/lookup.h"

#include <string.h>

#include "core/base/strv.h"
#include "core/model/assembly.h"

/* ---- the dictionary -------------------------------------------------------------- */

/* Sorted by the key's text. pmix.appnum keeps the host's type: programs are known that
 * read it as whatever their launcher has always given. */
const struct px_job_key px_job_keys[] = {
    {PMIX_APPLDR, PMIX_PROC_RANK, PX_KEY_APP},
    {PMIX_HOSTNAME_ALIASES, PMIX_STRING, PX_KEY_NODE},
    {PMIX_APP_MAP_REGEX, PMIX_UNDEF, PX_KEY_APP},
    {PMIX_APP_MAP_TYPE, PMIX_STRING, PX_KEY_APP},
    {PMIX_APP_ARGV, PMIX_STRING, PX_KEY_APP},
    {PMIX_APP_SIZE, PMIX_UINT32, PX_KEY_APP},
    {PMIX_APPNUM, PMIX_UNDEF, PX_KEY_PROC},
    {PMIX_APP_RANK, PMIX_PROC_RANK, PX_KEY_PROC},
    {PMIX_CLUSTER_ID, PMIX_STRING, PX_KEY_SESSION},
    {PMIX_FABRIC_DEVICES, PMIX_UNDEF, PX_KEY_NODE},
    {PMIX_HOSTNAME_KEEP_FQDN, PMIX_BOOL, PX_KEY_SESSION},
    {PMIX_GLOBAL_RANK, PMIX_PROC_RANK, PX_KEY_PROC},
    {PMIX_HOSTNAME, PMIX_STRING, PX_KEY_NODE},
    {PMIX_JOB_NUM_APPS, PMIX_UINT32, PX_KEY_JOB},
    {PMIX_JOB_SIZE, PMIX_UINT32, PX_KEY_JOB},
    {PMIX_LOCAL_CPUSETS, PMIX_UNDEF, PX_KEY_NODE},
    {PMIX_LOCALLDR, PMIX_PROC_RANK, PX_KEY_NODE},
    {PMIX_LOCAL_SIZE, PMIX_UINT32, PX_KEY_NODE},
    {PMIX_LOCAL_PEERS, PMIX_STRING, PX_KEY_NODE},
    {PMIX_LOCAL_PROCS, PMIX_UNDEF, PX_KEY_NODE},
    {PMIX_LOCAL_RANK, PMIX_UINT16, PX_KEY_PROC},
    {PMIX_MAX_PROCS, PMIX_UINT32, PX_KEY_JOB},
    {PMIX_NODE_OVERSUBSCRIBED, PMIX_BOOL, PX_KEY_NODE},
    {PMIX_NODE_SIZE, PMIX_UINT32, PX_KEY_NODE},
    {PMIX_NODEID, PMIX_UINT32, PX_KEY_NODE},
    {PMIX_NODE_RANK, PMIX_UINT16, PX_KEY_PROC},
    {PMIX_NUM_ALLOCATED_NODES, PMIX_UINT32, PX_KEY_JOB},
    {PMIX_NUM_NODES, PMIX_UINT32, PX_KEY_JOB},
    {PMIX_NUM_SLOTS, PMIX_UINT32, PX_KEY_JOB},
    {PMIX_NPROC_OFFSET, PMIX_PROC_RANK, PX_KEY_JOB},
    {PMIX_PACKAGE_RANK, PMIX_UINT16, PX_KEY_PROC},
    {PMIX_AVAIL_PHYS_MEMORY, PMIX_UINT64, PX_KEY_NODE},
    {PMIX_PSET_NAME, PMIX_STRING, PX_KEY_APP},
    {PMIX_PSET_NAMES, PMIX_UNDEF, PX_KEY_APP},
    {PMIX_RANK, PMIX_PROC_RANK, PX_KEY_PROC},
    {PMIX_REINCARNATION, PMIX_UINT32, PX_KEY_PROC},
    {PMIX_RM_NAME, PMIX_STRING, PX_KEY_SESSION},
    {PMIX_RM_VERSION, PMIX_STRING, PX_KEY_SESSION},
    {PMIX_SESSION_ID, PMIX_UINT32, PX_KEY_SESSION},
    {PMIX_SPAWNED, PMIX_BOOL, PX_KEY_JOB},
    {PMIX_SERVER_RANK, PMIX_PROC_RANK, PX_KEY_JOB},
    {PMIX_SERVER_TMPDIR, PMIX_STRING, PX_KEY_SESSION},
    {PMIX_SYSTEM_TMPDIR, PMIX_STRING, PX_KEY_SESSION},
    {PMIX_TDIR_RMCLEAN, PMIX_BOOL, PX_KEY_SESSION},
    {PMIX_TMPDIR, PMIX_STRING, PX_KEY_SESSION},
    {PMIX_UNIV_SIZE, PMIX_UINT32, PX_KEY_SESSION},
    {PMIX_WDIR, PMIX_STRING, PX_KEY_APP},
};
const size_t px_n_job_keys = PX_COUNT(px_job_keys);

static int compare_key(const void *key, const void *row)
{
    return strcmp(key, ((const struct px_job_key *)row)->key);
}

const struct px_job_key *px_job_key_find(const char *key)
{
    return bsearch(key, px_job_keys, px_n_job_keys, sizeof(px_job_keys[0]),
                   compare_key);
}

enum px_key_realm px_key_realm(const char *key)
{
    const struct px_job_key *k = px_job_key_find(key);

    return k ? (enum px_key_realm)k->realm : PX_KEY_JOB;
}

void px_job_value_convert(const char *key, const pmix_value_t *in, pmix_value_t *out)
{
    const struct px_job_key *k = px_job_key_find(key);
    pmix_data_type_t type = k ? k->type : PMIX_UNDEF;
    pmix_value_t made = {0};

    *out = *in;
    if (in->type == PMIX_UNDEF || (type == PMIX_BOOL && in->type != PMIX_BOOL)) {
        out->type = PMIX_BOOL;
        out->data.flag = px_value_truth(in);
    } else if (type != PMIX_UNDEF && type != in->type &&
               PMIX_SUCCESS == PMIx_Value_get_number(in, &made.data, type)) {
        /* A number that the narrower type holds; all else stays what the host gave. */
        made.type = type;
        *out = made;
    }
}

/* ---- what follows from the maps -------------------------------------------------- */

static const char *const rank_facts[] = {PMIX_LOCAL_RANK, PMIX_NODE_RANK, PMIX_APPNUM,
                                         PMIX_HOSTNAME,   PMIX_NODEID,    NULL};
static const char *const node_facts[] = {
    PMIX_HOSTNAME, PMIX_NODEID, PMIX_LOCAL_PEERS, PMIX_LOCALLDR, PMIX_LOCAL_SIZE, NULL};
static const char *const job_facts[] = {PMIX_JOB_SIZE, PMIX_NUM_NODES, PMIX_NODE_LIST,
                                        PMIX_MAX_PROCS, NULL};

const char *const *px_facts(enum px_gds_table table, pmix_rank_t rank)
{
    return table == PX_GDS_NODE         ? node_facts
           : rank == PMIX_RANK_WILDCARD ? job_facts
                                        : rank_facts;
}

static pmix_status_t give_u32(pmix_value_t *out, uint32_t n)
{
    return px_value_borrow(out, &n, PMIX_UINT32);
}

/* Takes s. */
static pmix_status_t give_string(pmix_value_t *out, char *s)
{
    return s ? px_value_borrow(out, s, PMIX_STRING) : PMIX_ERR_NOMEM;
}

static pmix_status_t give_name(const struct px_nspace *ns, uint32_t node,
                               pmix_value_t *out)
{
    char name[PX_MAX_NODE_NAME + 1];

    return px_node_name(ns, node, name) ? give_string(out, strdup(name))
                                        : PMIX_ERR_NOT_FOUND;
}

/* The id the host gave a node, else its place in the map. */
static bool has_node_id(const struct px_nspace *ns, uint32_t node, uint32_t *id)
{
    if (px_store_u32(&ns->store, PX_GDS_NODE, node, PMIX_NODEID, id))
        return true;
    *id = node;
    return ns->map && node < ns->map->n_nodes;
}

static pmix_status_t give_node_id(const struct px_nspace *ns, uint32_t node,
                                  pmix_value_t *out)
{
    uint32_t id;

    return has_node_id(ns, node, &id) ? give_u32(out, id) : PMIX_ERR_NOT_FOUND;
}

static pmix_status_t rank_fact(const struct px_nspace *ns, pmix_rank_t rank,
                               const char *key, pmix_value_t *out)
{
    uint16_t local = 0;
    uint32_t node = ns->map ? px_procmap_node_of(ns->map, rank, &local) : UINT32_MAX;
    pmix_proc_t member;

    if (px_nspace_is_lost(ns)) /* and with it what was given instead */
        return PMIX_ERR_NOT_FOUND;
    if (ns->assembly && strcmp(key, PMIX_PROCID) == 0)
        return px_assembly_member(ns->assembly, rank, &member)
                   ? PMIx_Value_load(out, &member, PMIX_PROC)
                   : PMIX_ERR_NOT_FOUND;
    if (strcmp(key, PMIX_APPNUM) == 0)
        return !ns->many_apps && (node != UINT32_MAX || rank < ns->job_size)
                   ? give_u32(out, 0)
                   : PMIX_ERR_NOT_FOUND;
    if (node == UINT32_MAX)
        return PMIX_ERR_NOT_FOUND;
    if (strcmp(key, PMIX_HOSTNAME) == 0)
        return give_name(ns, node, out);
    if (strcmp(key, PMIX_NODEID) == 0)
        return give_node_id(ns, node, out);
    /* The rank among all jobs of the node is the host's to know; alone there, it is the
     * same. */
    if (strcmp(key, PMIX_LOCAL_RANK) == 0 || strcmp(key, PMIX_NODE_RANK) == 0)
        return px_value_borrow(out, &local, PMIX_UINT16);
    return PMIX_ERR_NOT_FOUND;
}

static pmix_status_t node_fact(const struct px_nspace *ns, uint32_t node,
                               const char *key, pmix_value_t *out)
{
    const struct px_procmap *map = ns->map;

    if (node >= px_node_rows(ns) || px_nspace_is_lost(ns))
        return PMIX_ERR_NOT_FOUND;
    if (strcmp(key, PMIX_HOSTNAME) == 0)
        return give_name(ns, node, out);
    if (strcmp(key, PMIX_NODEID) == 0)
        return give_node_id(ns, node, out);
    if (!map || node >= map->n_nodes || map->n_ranks == 0)
        return PMIX_ERR_NOT_FOUND;

    uint32_t n = px_procmap_size(map, node);
    if (strcmp(key, PMIX_LOCAL_PEERS) == 0)
        return give_string(out, px_procmap_peers(map, node));
    if (strcmp(key, PMIX_LOCAL_SIZE) == 0)
        return give_u32(out, n);
    if (strcmp(key, PMIX_LOCALLDR) == 0 && n > 0) {
        pmix_rank_t lowest = px_procmap_lowest(map, node);
        return px_value_borrow(out, &lowest, PMIX_PROC_RANK);
    }
    return PMIX_ERR_NOT_FOUND;
}

static pmix_status_t give_members(const struct px_nspace *ns, pmix_value_t *out)
{
    uint32_t n = ns->assembly->size;
    PX_AUTOFREE pmix_proc_t *procs = calloc(n, sizeof(*procs));
    pmix_data_array_t array = {.type = PMIX_PROC, .size = n, .array = procs};

    if (!procs)
        return PMIX_ERR_NOMEM;
    for (pmix_rank_t rank = 0; rank < n; rank++)
        (void)px_assembly_member(ns->assembly, rank, &procs[rank]);
    return PMIx_Value_load(out, &array, PMIX_DATA_ARRAY);
}

static pmix_status_t job_fact(const struct px_nspace *ns, const char *key,
                              pmix_value_t *out)
{
    if (px_nspace_is_lost(ns))
        return PMIX_ERR_NOT_FOUND;
    if (strcmp(key, PMIX_JOB_SIZE) == 0 || strcmp(key, PMIX_MAX_PROCS) == 0)
        return ns->job_size > 0 ? give_u32(out, ns->job_size) : PMIX_ERR_NOT_FOUND;
    if (ns->assembly && strcmp(key, PMIX_GROUP_MEMBERSHIP) == 0)
        return give_members(ns, out);
    if (!ns->map || ns->map->n_nodes == 0)
        return PMIX_ERR_NOT_FOUND;
    if (strcmp(key, PMIX_NUM_NODES) == 0)
        return give_u32(out, ns->map->n_nodes);
    if (strcmp(key, PMIX_NODE_LIST) == 0)
        return give_string(out, px_node_list(ns, &(size_t){0}));
    return PMIX_ERR_NOT_FOUND;
}

pmix_status_t px_fact(const struct px_nspace *ns, enum px_gds_table table,
                      pmix_rank_t rank, const char *key, pmix_value_t *out)
{
    return table == PX_GDS_NODE         ? node_fact(ns, rank, key, out)
           : rank == PMIX_RANK_WILDCARD ? job_fact(ns, key, out)
                                        : rank_fact(ns, rank, key, out);
}

/* ---- rows ------------------------------------------------------------------------ */

bool px_same_host(const char *a, const char *b)
{
    size_t n = strcspn(a, "."), m = strcspn(b, ".");

    return n == m && memcmp(a, b, n) == 0 && (strcmp(a, b) == 0 || !a[n] || !b[m]);
}

uint32_t px_node_rows(const struct px_nspace *ns)
{
    return ns->map ? ns->map->n_rows : 0;
}

bool px_node_name(const struct px_nspace *ns, uint32_t row,
                  char name[PX_MAX_NODE_NAME + 1])
{
    return ns->map && px_procmap_name(ns->map, row, name) > 0;
}

char *px_node_list(const struct px_nspace *ns, size_t *len)
{
    const void *shared;

    if (!ns->in_place || px_nspace_is_lost(ns) ||
        px_store_view(&ns->store, PX_STORE_NODES, &shared, len))
        return px_procmap_names(ns->map, len);
    char *text = malloc(*len + 1);
    if (text) {
        memcpy(text, shared, *len);
        text[*len] = '\0';
    }
    return text;
}

struct alias {
    const char *name;
    pmix_rank_t row;
};

static pmix_status_t match_alias(void *arg, pmix_rank_t row, const char *key,
                                 const pmix_value_t *value)
{
    struct alias *alias = arg;

    if (row >= alias->row || strcmp(key, PMIX_HOSTNAME_ALIASES) != 0)
        return PMIX_SUCCESS;
    PX_AUTO(px_strv) names = px_strv_split(px_value_string(value), ',', false);
    if (px_strv_has(names, alias->name))
        alias->row = row;
    return PMIX_SUCCESS;
}

uint32_t px_node_by_name(const struct px_nspace *ns, const char *name)
{
    struct alias alias = {.name = name, .row = UINT32_MAX};

    if (!ns->map)
        return UINT32_MAX;
    uint32_t row = px_procmap_find(ns->map, name);
    if (row == UINT32_MAX) {
        (void)px_store_walk(&ns->store, PX_GDS_NODE, PMIX_RANK_UNDEF, match_alias,
                            &alias);
        row = alias.row;
    }
    return row == UINT32_MAX ? px_procmap_find_host(ns->map, name) : row;
}

uint32_t px_node_by_id(const struct px_nspace *ns, uint32_t id)
{
    uint32_t n = px_node_rows(ns), found;

    /* Ids are places in nearly every job: look there first. */
    if (id < n && has_node_id(ns, id, &found) && found == id)
        return id;
    for (uint32_t i = 0; i < n; i++)
        if (has_node_id(ns, i, &found) && found == id)
            return i;
    return UINT32_MAX;
}

pmix_rank_t px_session_row(uint32_t id)
{
    return id == UINT32_MAX ? PMIX_RANK_WILDCARD : id; /* UNDEF would name every row */
}

/* ---- questions ------------------------------------------------------------------- */

void px_lookup_init(struct px_lookup *l, const char *key, pmix_rank_t rank,
                    const pmix_info_t *info, size_t n)
{
    *l = (struct px_lookup){.key = key, .rank = rank, .quals = info, .n_quals = n};
    l->hostname = px_info_str(info, n, PMIX_HOSTNAME);
    l->node_id = px_info_u32(info, n, PMIX_NODEID, UINT32_MAX);
    l->app = px_info_u32(info, n, PMIX_APPNUM, UINT32_MAX);
    l->session = px_info_u32(info, n, PMIX_SESSION_ID, UINT32_MAX);

    /* Naming a node asks for it, whether or not the realm is named too. */
    enum px_key_realm home = px_key_realm(key);
    bool named_node = l->hostname || l->node_id != UINT32_MAX;
    if (px_info_flag(info, n, PMIX_NODE_INFO) || (named_node && home == PX_KEY_NODE))
        l->realm = PX_KEY_NODE;
    else if (px_info_flag(info, n, PMIX_APP_INFO) ||
             (l->app != UINT32_MAX && home == PX_KEY_APP))
        l->realm = PX_KEY_APP;
    else if (px_info_flag(info, n, PMIX_SESSION_INFO) ||
             (l->session != UINT32_MAX && home == PX_KEY_SESSION))
        l->realm = PX_KEY_SESSION;
}

/* ---- tables ---------------------------------------------------------------------- */

static pmix_status_t fetch(const struct px_nspace *ns, const struct px_lookup *l,
                           enum px_gds_table table, pmix_rank_t row, pmix_value_t *out)
{
    return px_store_fetch(&ns->store, table, row, l->key, l->quals, l->n_quals, out);
}

/* The tables that hold values of ranks, first choice first; ends in PX_GDS_N_TABLES. */
static void choose_tables(const struct px_lookup *l, enum px_gds_table tables[5])
{
    size_t n = 0;

    if (!l->skip_internal)
        tables[n++] = PX_GDS_INTERNAL;
    tables[n++] = PX_GDS_JOB;
    if (l->want_local)
        tables[n++] = PX_GDS_LOCAL;
    if (l->want_remote)
        tables[n++] = PX_GDS_REMOTE;
    tables[n] = PX_GDS_N_TABLES;
}

static pmix_status_t find_given(const struct px_nspace *ns, const struct px_lookup *l,
                                pmix_value_t *out)
{
    enum px_gds_table tables[5];
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    choose_tables(l, tables);
    for (size_t i = 0; rc == PMIX_ERR_NOT_FOUND && tables[i] != PX_GDS_N_TABLES; i++)
        rc = fetch(ns, l, tables[i], l->rank, out);
    return rc;
}

struct any_rank {
    const char *key;
    pmix_value_t *out;
    bool found;
};

static pmix_status_t match_key(void *arg, pmix_rank_t rank PX_UNUSED, const char *key,
                               const pmix_value_t *value)
{
    struct any_rank *any = arg;

    if (strcmp(key, any->key) != 0)
        return PMIX_SUCCESS;
    any->found = true;
    pmix_status_t rc = px_type_copy(PMIX_VALUE, any->out, value);
    return rc ? rc : PMIX_EXISTS; /* ends the walk */
}

static pmix_status_t find_any_rank(const struct px_nspace *ns,
                                   const struct px_lookup *l, pmix_value_t *out)
{
    struct any_rank any = {.key = l->key, .out = out};
    enum px_gds_table tables[5];

    choose_tables(l, tables);
    for (size_t i = 0; tables[i] != PX_GDS_N_TABLES; i++) {
        pmix_status_t rc = px_store_walk(&ns->store, tables[i], PMIX_RANK_UNDEF,
                                         match_key, &any);
        if (any.found)
            return rc == PMIX_EXISTS ? PMIX_SUCCESS : rc;
        if (rc)
            return rc;
    }
    return PMIX_ERR_NOT_FOUND;
}

/* ---- realms ---------------------------------------------------------------------- */

static pmix_status_t find_node(const struct px_nspace *ns, const struct px_lookup *l,
                               pmix_value_t *out)
{
    uint32_t node = l->hostname                ? px_node_by_name(ns, l->hostname)
                    : l->node_id != UINT32_MAX ? px_node_by_id(ns, l->node_id)
                                               : ns->this_node;

    if (node == UINT32_MAX)
        return PMIX_ERR_NOT_FOUND;
    pmix_status_t rc = fetch(ns, l, PX_GDS_NODE, node, out);
    return rc == PMIX_ERR_NOT_FOUND ? node_fact(ns, node, l->key, out) : rc;
}

static pmix_status_t find_app(const struct px_model *m, const struct px_nspace *ns,
                              const struct px_lookup *l, pmix_value_t *out)
{
    uint32_t app = l->app != UINT32_MAX ? l->app : ns == m->own ? m->appnum : 0;

    return fetch(ns, l, PX_GDS_APP, app, out);
}

static pmix_status_t find_session(const struct px_nspace *ns, const struct px_lookup *l,
                                  pmix_value_t *out)
{
    uint32_t id = l->session != UINT32_MAX ? l->session : ns->session;

    return fetch(ns, l, PX_GDS_SESSION, px_session_row(id), out);
}

/* A key of the job as a whole, or of the realm it belongs to, as the job itself has
 * it. */
static pmix_status_t find_own_job(const struct px_model *m, const struct px_nspace *ns,
                                  const struct px_lookup *l, pmix_value_t *out)
{
    struct px_lookup job = *l;
    pmix_status_t rc;

    job.rank = PMIX_RANK_WILDCARD;
    rc = find_given(ns, &job, out);
    if (rc == PMIX_ERR_NOT_FOUND)
        rc = job_fact(ns, l->key, out);
    if (rc != PMIX_ERR_NOT_FOUND)
        return rc;
    switch (px_key_realm(l->key)) {
    case PX_KEY_NODE:
        return find_node(ns, l, out);
    case PX_KEY_APP:
        return find_app(m, ns, l, out);
    case PX_KEY_SESSION:
        return find_session(ns, l, out);
    default:
        return PMIX_ERR_NOT_FOUND;
    }
}

/* Resources hold for each job that has no value of its own. */
static pmix_status_t find_job(const struct px_model *m, const struct px_nspace *ns,
                              const struct px_lookup *l, pmix_value_t *out)
{
    pmix_status_t rc = find_own_job(m, ns, l, out);

    if (rc != PMIX_ERR_NOT_FOUND)
        return rc;
    const pmix_info_t *r = px_info_find(m->resources.v, m->resources.n, l->key);
    return r ? px_type_copy(PMIX_VALUE, out, &r->value) : rc;
}

bool px_job_has_value(const struct px_model *m, const struct px_nspace *ns,
                      const char *key)
{
    struct px_lookup l;
    pmix_value_t v;

    px_lookup_init(&l, key, PMIX_RANK_WILDCARD, NULL, 0);
    if (find_own_job(m, ns, &l, &v))
        return false;
    px_type_destruct(PMIX_VALUE, &v);
    return true;
}

static pmix_status_t find_rank(const struct px_model *m, const struct px_nspace *ns,
                               const struct px_lookup *l, pmix_value_t *out)
{
    /* Programs ask for these by their own rank, too. */
    bool is_every_ranks = px_key_realm(l->key) == PX_KEY_SESSION ||
                          strcmp(l->key, PMIX_NSDIR) == 0 ||
                          strcmp(l->key, PMIX_LAUNCHER_RENDEZVOUS_FILE) == 0;
    pmix_status_t rc = find_given(ns, l, out);

    if (rc == PMIX_ERR_NOT_FOUND)
        rc = rank_fact(ns, l->rank, l->key, out);
    return rc == PMIX_ERR_NOT_FOUND && is_every_ranks ? find_job(m, ns, l, out) : rc;
}

static bool names_a_rank(const struct px_lookup *l)
{
    return l->rank < PMIX_RANK_VALID;
}

pmix_status_t px_lookup_find(const struct px_model *m, const struct px_nspace *ns,
                             const struct px_lookup *l, pmix_value_t *out)
{
    bool own = l->hostname == NULL && l->node_id == UINT32_MAX;
    pmix_status_t rc;

    switch (l->realm) {
    case PX_KEY_NODE:
        /* Host name and the like of a rank are asked for as of a node, too. */
        rc = own && names_a_rank(l) ? find_rank(m, ns, l, out) : PMIX_ERR_NOT_FOUND;
        return rc == PMIX_ERR_NOT_FOUND ? find_node(ns, l, out) : rc;
    case PX_KEY_APP:
        return find_app(m, ns, l, out);
    case PX_KEY_SESSION:
        rc = find_session(ns, l, out);
        /* Some of the session's facts are kept with the job: number of nodes, ... */
        return rc == PMIX_ERR_NOT_FOUND && l->session == UINT32_MAX
                   ? find_job(m, ns, l, out)
                   : rc;
    default:
        if (names_a_rank(l))
            return find_rank(m, ns, l, out);
        rc = l->rank == PMIX_RANK_UNDEF ? find_any_rank(ns, l, out)
                                        : PMIX_ERR_NOT_FOUND;
        return rc == PMIX_ERR_NOT_FOUND ? find_job(m, ns, l, out) : rc;
    }
}
