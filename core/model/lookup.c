/* SPDX-License-Identifier: BSD-3-Clause */
/* Lookup order: the host's values, then facts from the maps, then committed values. */
#include "core/model/lookup.h"

#include <string.h>

#include "core/model/resources.h"

/* ---- the dictionary -------------------------------------------------------------- */

#define ROW(key, type, realm, means)                               \
    {                                                              \
        key, sizeof(key) - 1, PX_KEY_##means, PX_KEY_##realm, type \
    }
/* Sorted by length; frequent keys first within a length. pmix.appnum keeps the host's
 * type: some programs read its value as the type that their launcher uses. */
const struct px_job_key px_job_keys[] = {
    ROW(PMIX_RANK, PMIX_PROC_RANK, PROC, NONE),
    ROW(PMIX_LOCALLDR, PMIX_PROC_RANK, NODE, LOCALLDR),
    ROW(PMIX_APPLDR, PMIX_PROC_RANK, APP, NONE),
    ROW(PMIX_CLUSTER_ID, PMIX_STRING, SESSION, NONE),
    ROW(PMIX_HOSTNAME_KEEP_FQDN, PMIX_BOOL, SESSION, NONE),
    ROW(PMIX_AVAIL_PHYS_MEMORY, PMIX_UINT64, NODE, NONE),
    ROW(PMIX_NODE_MAP, PMIX_UNDEF, JOB, NODE_MAP),
    ROW(PMIX_PROC_MAP, PMIX_UNDEF, JOB, PROC_MAP),
    ROW(PMIX_PROC_PID, PMIX_UNDEF, PROC, LIVE),
    ROW(PMIX_CREDENTIAL, PMIX_UNDEF, PROC, LIVE),
    ROW(PMIX_WDIR, PMIX_STRING, APP, NONE),
    ROW(PMIX_HOSTNAME, PMIX_STRING, NODE, HOSTNAME),
    ROW(PMIX_LOCAL_RANK, PMIX_UINT16, PROC, LOCAL_RANK),
    ROW(PMIX_NODE_RANK, PMIX_UINT16, PROC, LOCAL_RANK),
    ROW(PMIX_HOSTNAME_ALIASES, PMIX_STRING, NODE, NONE),
    ROW(PMIX_GLOBAL_RANK, PMIX_PROC_RANK, PROC, NONE),
    ROW(PMIX_LOCAL_CPUSETS, PMIX_UNDEF, NODE, LOCAL_CPUSETS),
    ROW(PMIX_NODE_LIST, PMIX_UNDEF, JOB, NODE_LIST),
    ROW(PMIX_NSDIR, PMIX_UNDEF, JOB, EVERY_RANKS),
    ROW(PMIX_REINCARNATION, PMIX_UINT32, PROC, COMMON),
    ROW(PMIX_NODEID, PMIX_UINT32, NODE, NODEID),
    ROW(PMIX_APPNUM, PMIX_UNDEF, PROC, APPNUM),
    ROW(PMIX_ANL_MAP, PMIX_UNDEF, JOB, ANL_MAP),
    ROW(PMIX_CPUSET, PMIX_UNDEF, PROC, COMMON),
    ROW(PMIX_PARENT_ID, PMIX_UNDEF, PROC, COMMON),
    ROW(PMIX_NSPACE, PMIX_UNDEF, JOB, NSPACE),
    ROW(PMIX_LOCAL_PEERS, PMIX_STRING, NODE, LOCAL_PEERS),
    ROW(PMIX_LOCAL_PROCS, PMIX_UNDEF, NODE, LIVE),
    ROW(PMIX_NODE_OVERSUBSCRIBED, PMIX_BOOL, NODE, NONE),
    ROW(PMIX_NPROC_OFFSET, PMIX_PROC_RANK, JOB, NONE),
    ROW(PMIX_PROCID, PMIX_UNDEF, JOB, PROCID),
    ROW(PMIX_TMPDIR, PMIX_STRING, SESSION, NONE),
    ROW(PMIX_APP_RANK, PMIX_PROC_RANK, PROC, NONE),
    ROW(PMIX_PACKAGE_RANK, PMIX_UINT16, PROC, NONE),
    ROW(PMIX_PSET_NAME, PMIX_STRING, APP, NONE),
    ROW(PMIX_RM_NAME, PMIX_STRING, SESSION, NONE),
    ROW(PMIX_SPAWNED, PMIX_BOOL, JOB, COMMON),
    ROW(PMIX_GROUP_NAMES, PMIX_UNDEF, PROC, LIVE),
    ROW(PMIX_OPTIONAL, PMIX_UNDEF, JOB, OPTIONAL),
    ROW(PMIX_APP_INFO, PMIX_UNDEF, JOB, APP_INFO),
    ROW(PMIX_SESSION_INFO, PMIX_UNDEF, JOB, SESSION_INFO),
    ROW(PMIX_APP_ARGV, PMIX_STRING, APP, NONE),
    ROW(PMIX_APP_SIZE, PMIX_UINT32, APP, NONE),
    ROW(PMIX_FABRIC_DEVICES, PMIX_UNDEF, NODE, NONE),
    ROW(PMIX_GROUP_MEMBERSHIP, PMIX_UNDEF, JOB, MEMBERS),
    ROW(PMIX_JOB_SIZE, PMIX_UINT32, JOB, JOB_SIZE),
    ROW(PMIX_MAX_PROCS, PMIX_UINT32, JOB, JOB_SIZE),
    ROW(PMIX_PSET_NAMES, PMIX_UNDEF, APP, LIVE),
    ROW(PMIX_SERVER_RANK, PMIX_PROC_RANK, JOB, NONE),
    ROW(PMIX_JOB_INFO, PMIX_UNDEF, JOB, JOB_INFO),
    ROW(PMIX_NODE_MAP_RAW, PMIX_UNDEF, JOB, NODE_LIST),
    ROW(PMIX_PROC_MAP_RAW, PMIX_UNDEF, JOB, PROC_MAP_RAW),
    ROW(PMIX_NODE_INFO, PMIX_UNDEF, JOB, NODE_INFO),
    ROW(PMIX_EXIT_CODE, PMIX_UNDEF, PROC, LIVE),
    ROW(PMIX_GET_POINTER_VALUES, PMIX_UNDEF, JOB, POINTER),
    ROW(PMIX_UNIV_SIZE, PMIX_UINT32, SESSION, NONE),
    ROW(PMIX_FABRIC_COORDINATES, PMIX_UNDEF, NODE, NONE),
    ROW(PMIX_JOB_NUM_APPS, PMIX_UINT32, JOB, NONE),
    ROW(PMIX_NODE_SIZE, PMIX_UINT32, NODE, NONE),
    ROW(PMIX_NUM_NODES, PMIX_UINT32, JOB, NUM_NODES),
    ROW(PMIX_NUM_SLOTS, PMIX_UINT32, JOB, NONE),
    ROW(PMIX_GROUP_CONTEXT_ID, PMIX_UNDEF, JOB, GROUP_CONTEXT),
    ROW(PMIX_SESSION_ID, PMIX_UINT32, SESSION, SESSION_ID),
    ROW(PMIX_LOCAL_SIZE, PMIX_UINT32, NODE, LOCAL_SIZE),
    ROW(PMIX_APP_MAP_TYPE, PMIX_STRING, APP, NONE),
    ROW(PMIX_NUM_ALLOCATED_NODES, PMIX_UINT32, JOB, NONE),
    ROW(PMIX_RM_VERSION, PMIX_STRING, SESSION, NONE),
    ROW(PMIX_GET_STATIC_VALUES, PMIX_UNDEF, JOB, STATIC),
    ROW(PMIX_SYSTEM_TMPDIR, PMIX_STRING, SESSION, NONE),
    ROW(PMIX_GET_REFRESH_CACHE, PMIX_UNDEF, JOB, REFRESH),
    ROW(PMIX_APP_MAP_REGEX, PMIX_UNDEF, APP, NONE),
    ROW(PMIX_SERVER_TMPDIR, PMIX_STRING, SESSION, NONE),
    ROW(PMIX_LAUNCHER_RENDEZVOUS_FILE, PMIX_UNDEF, JOB, EVERY_RANKS),
    ROW(PMIX_TDIR_RMCLEAN, PMIX_BOOL, SESSION, NONE),
};
#undef ROW
const size_t px_n_job_keys = PX_COUNT(px_job_keys);

/* Index of the first key of each length. */
static const uint8_t first_keys[] = {
    [9] = 0,   [10] = 11, [11] = 20, [12] = 32, [13] = 38,
    [14] = 52, [15] = 62, [16] = 69, [17] = 73};

#define SHORTEST 9 /* bytes of a key */

/* Returns the last eight bytes of a key, in which keys of one length differ. */
static inline uint64_t end_of(const char *key, size_t n)
{
    uint64_t end;

    memcpy(&end, key + n - sizeof(end), sizeof(end));
    return end;
}

const struct px_job_key *px_job_key_find(const char *key)
{
    const size_t n = px_key_is_reserved(key) ? strnlen(key, PX_COUNT(first_keys)) : 0;
    const struct px_job_key *k = px_job_keys;

    if (n < SHORTEST || n >= PX_COUNT(first_keys))
        return NULL;
    const uint64_t end = end_of(key, n);
    for (k += first_keys[n]; k < px_job_keys + px_n_job_keys && k->length == n; k++)
        if (end_of(k->key, n) == end && memcmp(k->key, key, n) == 0)
            return k;
    return NULL;
}

enum px_key_realm px_key_realm(const char *key)
{
    return px_known_realm(px_job_key_find(key));
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
        /* Converts a number that the type can hold; other values keep the host's
         * type. */
        made.type = type;
        *out = made;
    }
}

/* ---- requests -------------------------------------------------------------------- */

/* Reads qualifiers backwards, so that the first of equal keys counts. */
static void read_qualifiers(struct px_lookup *l)
{
    for (size_t n = l->n_quals; n-- > 0;) {
        const enum px_key_means is = px_known_means(px_job_key_find(l->quals[n].key));
        const pmix_value_t *v = &l->quals[n].value;
        uint32_t *number = is == PX_KEY_NODEID       ? &l->node_id
                           : is == PX_KEY_APPNUM     ? &l->app
                           : is == PX_KEY_SESSION_ID ? &l->session
                                                     : NULL;

        if (is == PX_KEY_HOSTNAME)
            l->hostname = px_value_string(v);
        else if (!number)
            l->is[is] = is == PX_KEY_GROUP_CONTEXT || px_value_truth(v);
        else if (!px_value_to_u32(v, number))
            *number = UINT32_MAX;
    }
}

/* Searches the dictionary once for each key, and only if a table lacks the key. */
static const struct px_job_key *known(struct px_lookup *l)
{
    if (!l->is_known)
        l->known = l->key ? px_job_key_find(l->key) : NULL;
    l->is_known = true;
    return l->known;
}

static bool is_of(struct px_lookup *l, enum px_key_realm realm)
{
    return l->key && px_known_realm(known(l)) == realm;
}

void px_lookup_init(struct px_lookup *l, const char *key, pmix_rank_t rank,
                    const pmix_info_t *info, size_t n)
{
    *l = (struct px_lookup){.key = key,
                            .rank = rank,
                            .quals = info,
                            .n_quals = n,
                            .node_id = UINT32_MAX,
                            .app = UINT32_MAX,
                            .session = UINT32_MAX};
    if (n == 0)
        return;
    read_qualifiers(l);

    /* A qualifier that names a node selects the node realm, even without
     * PMIX_NODE_INFO. */
    bool named_node = l->hostname || l->node_id != UINT32_MAX;
    if (l->is[PX_KEY_NODE_INFO] || (named_node && is_of(l, PX_KEY_NODE)))
        l->realm = PX_KEY_NODE;
    else if (l->is[PX_KEY_APP_INFO] || (l->app != UINT32_MAX && is_of(l, PX_KEY_APP)))
        l->realm = PX_KEY_APP;
    else if (l->is[PX_KEY_SESSION_INFO] ||
             (l->session != UINT32_MAX && is_of(l, PX_KEY_SESSION)))
        l->realm = PX_KEY_SESSION;
}

/* ---- tables ---------------------------------------------------------------------- */

static pmix_status_t fetch(const struct px_nspace *ns, struct px_lookup *l,
                           enum px_gds_table table, pmix_rank_t row, pmix_value_t *out)
{
    return px_store_fetch(&ns->store, table, row, l->key, l->quals, l->n_quals, out);
}

/* True if the lookup includes a table of ranks' values. The tables' order is the
 * lookup's order. */
static inline bool is_wanted(struct px_lookup *l, enum px_gds_table t)
{
    switch (t) {
    case PX_GDS_INTERNAL:
        return !l->skip_internal;
    case PX_GDS_LOCAL:
        return l->want_local;
    case PX_GDS_REMOTE:
        return l->want_remote && !(l->skip_received && px_key_is_live(known(l)));
    default:
        return true;
    }
}

/* Searches facts before commits: facts are cheap, and commits may be many. */
static pmix_status_t find_given(const struct px_nspace *ns, struct px_lookup *l,
                                pmix_rank_t rank, pmix_value_t *out)
{
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    for (enum px_gds_table t = PX_GDS_INTERNAL;
         rc == PMIX_ERR_NOT_FOUND && t <= PX_GDS_REMOTE; t++) {
        if (is_wanted(l, t))
            rc = fetch(ns, l, t, rank, out);
        if (rc == PMIX_ERR_NOT_FOUND && t == PX_GDS_JOB && known(l))
            rc = px_fact(ns, t, rank, known(l), out);
    }
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
    return rc ? rc : PMIX_EXISTS; /* stops the walk */
}

static pmix_status_t find_any_rank(const struct px_nspace *ns, struct px_lookup *l,
                                   pmix_value_t *out)
{
    struct any_rank any = {.key = l->key, .out = out};
    pmix_status_t rc = PMIX_SUCCESS;

    for (enum px_gds_table t = PX_GDS_INTERNAL; !rc && t <= PX_GDS_REMOTE; t++)
        if (is_wanted(l, t))
            rc = px_store_walk(&ns->store, t, PMIX_RANK_UNDEF, match_key, &any);
    if (any.found)
        return rc == PMIX_EXISTS ? PMIX_SUCCESS : rc;
    return rc ? rc : PMIX_ERR_NOT_FOUND;
}

/* ---- realms ---------------------------------------------------------------------- */

/* Returns a resource if the search for the job's own value failed with rc NOT_FOUND. */
static pmix_status_t or_resource(pmix_status_t rc, const struct px_model *m,
                                 struct px_lookup *l, enum px_key_realm realm,
                                 uint32_t id, const char *name, pmix_value_t *out)
{
    const pmix_value_t *v = rc == PMIX_ERR_NOT_FOUND && m->resources.n > 0
                                ? px_resource_find(m, realm, id, name, l->key)
                                : NULL;

    return v ? px_type_copy(PMIX_VALUE, out, v) : rc;
}

/* Finds a value that nodes with the same packages and devices share. */
static pmix_status_t find_alike(const struct px_model *m, const char *key,
                                pmix_value_t *out)
{
    const pmix_value_t *v = key && strcmp(key, PMIX_TOPOLOGY_SIGNATURE) == 0
                                ? px_resource_of_any_node(m, key)
                                : NULL;

    return v ? px_type_copy(PMIX_VALUE, out, v) : PMIX_ERR_NOT_FOUND;
}

static uint32_t node_row(const struct px_nspace *ns, const struct px_lookup *l)
{
    return l->hostname                ? px_node_by_name(ns, l->hostname)
           : l->node_id != UINT32_MAX ? px_node_by_id(ns, l->node_id)
                                      : ns->this_node;
}

static pmix_status_t find_node(const struct px_model *m, const struct px_nspace *ns,
                               struct px_lookup *l, pmix_value_t *out)
{
    uint32_t node = node_row(ns, l);
    bool is_this = !l->hostname && l->node_id == UINT32_MAX;
    char name[PX_MAX_NODE_NAME + 1];
    uint32_t id = l->node_id;
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    if (node == UINT32_MAX)
        return or_resource(rc, m, l, PX_KEY_NODE, id,
                           is_this ? m->hostname : l->hostname, out);
    rc = fetch(ns, l, PX_GDS_NODE, node, out);
    if (rc == PMIX_ERR_NOT_FOUND)
        rc = px_fact(ns, PX_GDS_NODE, node, known(l), out);
    if (rc != PMIX_ERR_NOT_FOUND)
        return rc;
    (void)px_node_id(ns, node, &id);
    rc = or_resource(rc, m, l, PX_KEY_NODE, id,
                     px_node_name(ns, node, name) ? name : NULL, out);
    return rc == PMIX_ERR_NOT_FOUND && m->nodes_alike ? find_alike(m, l->key, out) : rc;
}

/* True if the job has one application, to which all its ranks belong. */
static bool is_one_app(const struct px_nspace *ns)
{
    return !ns->many_apps && ns->job_size > 0 && !px_nspace_is_lost(ns);
}

/* Returns what the host may leave out for the only application of a job. */
static pmix_status_t find_only_app(const struct px_nspace *ns, const char *key,
                                   pmix_value_t *out)
{
    static const pmix_rank_t first = 0;

    if (!is_one_app(ns))
        return PMIX_ERR_NOT_FOUND;
    return strcmp(key, PMIX_APP_SIZE) == 0
               ? px_value_borrow(out, &ns->job_size, PMIX_UINT32)
           : strcmp(key, PMIX_APPLDR) == 0
               ? px_value_borrow(out, &first, PMIX_PROC_RANK)
               : PMIX_ERR_NOT_FOUND;
}

static uint32_t app_row(const struct px_model *m, const struct px_nspace *ns,
                        const struct px_lookup *l)
{
    return l->app != UINT32_MAX ? l->app : ns == m->own ? m->appnum : 0;
}

static inline pmix_status_t find_app(const struct px_model *m,
                                     const struct px_nspace *ns, struct px_lookup *l,
                                     pmix_value_t *out)
{
    uint32_t app = app_row(m, ns, l);
    pmix_status_t rc = or_resource(fetch(ns, l, PX_GDS_APP, app, out), m, l, PX_KEY_APP,
                                   app, NULL, out);

    return rc == PMIX_ERR_NOT_FOUND && app == 0 && l->key
               ? find_only_app(ns, l->key, out)
               : rc;
}

static uint32_t session_id(const struct px_nspace *ns, const struct px_lookup *l)
{
    return l->session != UINT32_MAX ? l->session : ns->session;
}

static pmix_status_t find_session(const struct px_model *m, const struct px_nspace *ns,
                                  struct px_lookup *l, pmix_value_t *out)
{
    uint32_t id = session_id(ns, l);
    pmix_status_t rc = fetch(ns, l, PX_GDS_SESSION, px_session_row(id), out);

    return or_resource(rc, m, l, PX_KEY_SESSION, id, NULL, out);
}

/* Finds a job-level key, or a key of another realm in the job's own row. */
static pmix_status_t find_own_job(const struct px_model *m, const struct px_nspace *ns,
                                  struct px_lookup *l, pmix_value_t *out)
{
    pmix_status_t rc = find_given(ns, l, PMIX_RANK_WILDCARD, out);

    if (rc != PMIX_ERR_NOT_FOUND)
        return rc;
    switch (px_known_realm(known(l))) {
    case PX_KEY_NODE:
        return find_node(m, ns, l, out);
    case PX_KEY_APP:
        return find_app(m, ns, l, out);
    case PX_KEY_SESSION:
        return find_session(m, ns, l, out);
    default:
        return PMIX_ERR_NOT_FOUND;
    }
}

/* Finds a job-level value. A resource applies to jobs without their own value. */
static pmix_status_t find_job(const struct px_model *m, const struct px_nspace *ns,
                              struct px_lookup *l, pmix_value_t *out)
{
    pmix_status_t rc = find_own_job(m, ns, l, out);

    return or_resource(rc, m, l, PX_KEY_JOB, UINT32_MAX, ns->name, out);
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

/* Finds a value of the node that runs a rank. */
static pmix_status_t find_node_of(const struct px_model *m, const struct px_nspace *ns,
                                  struct px_lookup *l, pmix_value_t *out)
{
    struct px_lookup of_node = *l;
    uint32_t node = ns->map ? px_procmap_node_of(ns->map, l->rank, NULL) : UINT32_MAX;

    if (node == UINT32_MAX || !px_node_id(ns, node, &of_node.node_id))
        return PMIX_ERR_NOT_FOUND;
    return find_node(m, ns, &of_node, out);
}

/* Sets the application of a rank, unless the lookup names one. */
static pmix_status_t name_app_of(const struct px_nspace *ns, struct px_lookup *l)
{
    struct px_lookup of_rank = *l;
    pmix_value_t number;

    if (l->app != UINT32_MAX)
        return PMIX_SUCCESS;
    px_lookup_set_key(&of_rank, PMIX_APPNUM);
    pmix_status_t rc = find_given(ns, &of_rank, l->rank, &number);
    return !rc && !px_value_to_u32(&number, &l->app) ? PMIX_ERR_NOT_FOUND : rc;
}

/* Finds a value of the application of a rank. */
static pmix_status_t find_app_of(const struct px_model *m, const struct px_nspace *ns,
                                 struct px_lookup *l, pmix_value_t *out)
{
    struct px_lookup of_app = *l;
    pmix_status_t rc = name_app_of(ns, &of_app);

    return rc ? rc : find_app(m, ns, &of_app, out);
}

/* Finds a value of a rank for which neither the host nor the rank has given one. */
static pmix_status_t find_not_given(const struct px_model *m,
                                    const struct px_nspace *ns, struct px_lookup *l,
                                    pmix_value_t *out)
{
    pmix_status_t rc = or_resource(PMIX_ERR_NOT_FOUND, m, l, PX_KEY_PROC, l->rank,
                                   ns->name, out);
    const struct px_job_key *key = known(l);

    if (rc != PMIX_ERR_NOT_FOUND || !key)
        return rc;
    if (key->realm == PX_KEY_NODE)
        return find_node_of(m, ns, l, out);
    if (key->realm == PX_KEY_APP)
        return find_app_of(m, ns, l, out);
    if (is_one_app(ns) && l->rank < ns->job_size && strcmp(l->key, PMIX_APP_RANK) == 0)
        return px_value_borrow(out, &l->rank, PMIX_PROC_RANK);
    /* Programs request these job-level keys also for their own rank. */
    return key->realm == PX_KEY_SESSION || key->means == PX_KEY_EVERY_RANKS
               ? find_job(m, ns, l, out)
               : rc;
}

static inline pmix_status_t find_rank(const struct px_model *m,
                                      const struct px_nspace *ns, struct px_lookup *l,
                                      pmix_value_t *out)
{
    pmix_status_t rc = find_given(ns, l, l->rank, out);

    return rc == PMIX_ERR_NOT_FOUND && (known(l) || m->resources.n > 0)
               ? find_not_given(m, ns, l, out)
               : rc;
}

static bool names_a_rank(struct px_lookup *l)
{
    return l->rank < PMIX_RANK_VALID;
}

pmix_status_t px_lookup_find(const struct px_model *m, const struct px_nspace *ns,
                             struct px_lookup *l, pmix_value_t *out)
{
    bool own = l->hostname == NULL && l->node_id == UINT32_MAX;
    pmix_status_t rc;

    switch (l->realm) {
    case PX_KEY_NODE:
        /* Programs request a rank's host name and similar keys in the node realm. */
        rc = own && names_a_rank(l) ? find_rank(m, ns, l, out) : PMIX_ERR_NOT_FOUND;
        return rc == PMIX_ERR_NOT_FOUND ? find_node(m, ns, l, out) : rc;
    case PX_KEY_APP:
        rc = names_a_rank(l) ? find_app_of(m, ns, l, out) : PMIX_ERR_NOT_FOUND;
        return rc == PMIX_ERR_NOT_FOUND ? find_app(m, ns, l, out) : rc;
    case PX_KEY_SESSION:
        rc = find_session(m, ns, l, out);
        /* Some facts of a session are job level, for example the number of nodes. */
        return rc == PMIX_ERR_NOT_FOUND && l->session == UINT32_MAX
                   ? find_job(m, ns, l, out)
                   : rc;
    default:
        if (names_a_rank(l) && !l->is[PX_KEY_JOB_INFO])
            return find_rank(m, ns, l, out);
        rc = l->rank == PMIX_RANK_UNDEF ? find_any_rank(ns, l, out)
                                        : PMIX_ERR_NOT_FOUND;
        return rc == PMIX_ERR_NOT_FOUND ? find_job(m, ns, l, out) : rc;
    }
}

/* ---- places of registered values ------------------------------------------------- */

/* True if the place has the key, or the maps imply the value there. */
static bool has_value(const struct px_nspace *ns, struct px_lookup *l,
                      const struct px_place *at)
{
    const bool has_facts = at->table == PX_GDS_NODE ||
                           (at->table == PX_GDS_JOB && at->row != PMIX_RANK_WILDCARD);
    pmix_value_t fact;

    if (px_store_has(&ns->store, at->table, at->row, l->key))
        return true;
    if (!has_facts || px_fact(ns, at->table, at->row, known(l), &fact))
        return false;
    px_type_destruct(PMIX_VALUE, &fact);
    return true;
}

/* Returns the place of a value of a realm for the rank or the qualifiers. row
 * UINT32_MAX: unknown. */
static struct px_place place_in(const struct px_model *m, const struct px_nspace *ns,
                                struct px_lookup *l, enum px_key_realm realm)
{
    const bool own = !l->hostname && l->node_id == UINT32_MAX;
    struct px_lookup of = *l;
    uint32_t id;

    switch (realm) {
    case PX_KEY_NODE:
        id = !own || !names_a_rank(l) ? node_row(ns, l)
             : ns->map                ? px_procmap_node_of(ns->map, l->rank, NULL)
                                      : UINT32_MAX;
        return (struct px_place){PX_GDS_NODE, id, id};
    case PX_KEY_APP:
        id = names_a_rank(l) && name_app_of(ns, &of) ? UINT32_MAX : app_row(m, ns, &of);
        return (struct px_place){PX_GDS_APP, id, id};
    case PX_KEY_SESSION:
        id = session_id(ns, l);
        return (struct px_place){PX_GDS_SESSION, px_session_row(id), id};
    default:
        id = names_a_rank(l) && !l->is[PX_KEY_JOB_INFO] ? l->rank : PMIX_RANK_WILDCARD;
        return (struct px_place){PX_GDS_JOB, id, id};
    }
}

bool px_lookup_place(const struct px_model *m, const struct px_nspace *ns,
                     struct px_lookup *l, struct px_place *at)
{
    const bool of_rank = l->realm == PX_KEY_NODE && !l->hostname &&
                         l->node_id == UINT32_MAX && names_a_rank(l);
    const bool of_job = l->realm == PX_KEY_SESSION && l->session == UINT32_MAX;
    const enum px_key_realm realms[] = {
        of_rank ? PX_KEY_JOB : l->realm,
        l->realm != PX_KEY_JOB ? l->realm : px_known_realm(known(l)),
        of_job ? PX_KEY_JOB : l->realm};

    for (size_t i = 0; i < PX_COUNT(realms); i++) {
        *at = place_in(m, ns, l, realms[i]);
        if (at->row != UINT32_MAX && has_value(ns, l, at))
            return true;
    }
    return false;
}
