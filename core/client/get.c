/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Get: searches the local data in the caller's thread, then asks the server. */
#include "core/client/client.h"
#include "core/model/assembly.h"
#include "core/model/group_values.h"
#include "core/model/lookup.h"
#include "core/model/proc_names.h"
#include "core/model/reader.h"
#include "core/topo/topo.h"

#include <string.h>
#include <unistd.h>

struct get_op {
    struct px_api api;
    pmix_proc_t proc; /* an empty namespace: see name_proc */
    bool of_self;
    pmix_value_t *value; /* the result, or the caller's storage before */
    pmix_value_cbfunc_t cb;
    struct px_list link;         /* in pending_gets.waiting or late_gets */
    struct get_request *request; /* this get's own pending request, or NULL */
    struct px_timer *timer;      /* PMIX_TIMEOUT, or the wait for a fence */
    bool now;                    /* the server must answer immediately */
    bool answered;               /* by the server, to this get */
    bool renewed;                /* the server has sent the job again */
    bool is_late;                /* has waited for a fence */
    bool lends;                  /* PMIX_GET_POINTER_VALUES */
};

static bool has_flag(const struct get_op *op, const char *key)
{
    return px_info_flag(op->api.args.info.v, op->api.args.info.n, key);
}

/* Completes a name, and returns its namespace or NULL. An empty namespace means the
 * caller's. PMIX_RANK with an invalid rank means the caller's rank. */
static struct px_nspace *name_proc(const struct px_model *m, pmix_proc_t *proc,
                                   bool of_self, const char *key)
{
    const pmix_proc_t *self = &m->self;

    proc->nspace[PMIX_MAX_NSLEN] = '\0';
    if (!proc->nspace[0])
        px_proc_set(proc, self->nspace, of_self ? self->rank : proc->rank);
    if (proc->rank == PMIX_RANK_INVALID && key && strcmp(key, PMIX_RANK) == 0)
        proc->rank = self->rank;
    if (key && strcmp(key, PMIX_LOCAL_PROCS) == 0) /* the same for every process */
        *proc = *self;
    return px_proc_localize(m, proc);
}

/* Adds a key unless an earlier table had the key. The tables come in the order of a
 * lookup. The name of the process is not a value that the process has: Open MPI 4's
 * daemons send all values, and cannot send a rank. */
static pmix_status_t gather(void *arg, pmix_rank_t rank PX_UNUSED, const char *key,
                            const pmix_value_t *value)
{
    px_infos *infos = arg;
    const bool is_name = strcmp(key, PMIX_PROCID) == 0 || strcmp(key, PMIX_RANK) == 0 ||
                         px_group_name_key(key, NULL);

    return is_name || px_info_find(infos->v, infos->n, key)
               ? PMIX_SUCCESS
               : px_infos_add_value(infos, key, value);
}

/* Returns all keys of a rank as a value that holds an array of infos. */
static pmix_status_t get_all(const struct px_nspace *ns, pmix_rank_t rank,
                             pmix_value_t *out)
{
    static const enum px_gds_table tables[] = {PX_GDS_INTERNAL, PX_GDS_JOB,
                                               PX_GDS_LOCAL, PX_GDS_REMOTE};
    px_infos infos = {0};
    pmix_data_array_t *array;
    pmix_status_t rc = PMIX_SUCCESS;

    if (rank == PMIX_RANK_UNDEF) /* UNDEF means the job here, but every rank in
                                  * px_store_walk */
        rank = PMIX_RANK_WILDCARD;
    for (size_t i = 0; !rc && i < PX_COUNT(tables); i++)
        rc = px_store_walk(&ns->store, tables[i], rank, gather, &infos);
    for (size_t i = 0; !rc && i < infos.n; i++)
        rc = px_value_inflate(&infos.v[i].value);
    if (!rc && infos.n == 0)
        rc = PMIX_ERR_NOT_FOUND;
    array = rc ? NULL : malloc(sizeof(*array));
    if (!array) {
        px_infos_cleanup(&infos);
        return rc ? rc : PMIX_ERR_NOMEM;
    }
    *array = (pmix_data_array_t){.type = PMIX_INFO, .size = infos.n, .array = infos.v};
    *out = (pmix_value_t){.type = PMIX_DATA_ARRAY, .data.darray = array};
    return PMIX_SUCCESS;
}

/* True for the key whose value is made of the text of PMIX_CPUSET. key may be NULL. */
static inline bool is_bitmap(const char *key)
{
    const size_t at = sizeof("pmix.") - 1;

    return key && px_key_is_reserved(key) && key[at] == PMIX_CPUSET_BITMAP[at] &&
           strcmp(key, PMIX_CPUSET_BITMAP) == 0;
}

/* Searches under another key, or for the member of an assembly. */
static pmix_status_t look_further(const struct px_model *m, const struct px_nspace *ns,
                                  struct px_lookup *l, pmix_value_t *v)
{
    pmix_proc_t member;
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    if (is_bitmap(l->key)) {
        px_lookup_set_key(l, PMIX_CPUSET); /* deliver() makes the bitmap */
        rc = px_lookup_find(m, ns, l, v);
        px_lookup_set_key(l, PMIX_CPUSET_BITMAP);
    }
    if (rc != PMIX_ERR_NOT_FOUND || !ns->assembly ||
        !px_assembly_member(ns->assembly, l->rank, &member))
        return rc;
    l->rank = member.rank;
    ns = px_nspace_find(m, member.nspace);
    return ns ? px_lookup_find(m, ns, l, v) : rc;
}

static pmix_status_t look_up(const struct px_model *m, const struct px_nspace *ns,
                             struct px_lookup *l, pmix_value_t *v)
{
    l->want_local = l->want_remote = true;
    pmix_status_t rc = px_lookup_find(m, ns, l, v);

    return rc == PMIX_ERR_NOT_FOUND && (ns->assembly || is_bitmap(l->key))
               ? look_further(m, ns, l, v)
               : rc;
}

/* Makes a bitmap of the text of PMIX_CPUSET. */
static pmix_status_t make_bitmap(pmix_value_t *v)
{
    pmix_cpuset_t *cpuset = PMIx_Cpuset_create(1);
    pmix_status_t rc = cpuset ? px_cpuset_parse(v->data.string, cpuset)
                              : PMIX_ERR_NOMEM;

    if (rc) {
        PMIx_Cpuset_free(cpuset, cpuset ? 1 : 0);
        return rc;
    }
    px_type_destruct(PMIX_VALUE, v);
    *v = (pmix_value_t){.type = PMIX_PROC_CPUSET, .data.cpuset = cpuset};
    return PMIX_SUCCESS;
}

/* Inflates a stored value, or replaces the text of a bitmap by the bitmap. */
static pmix_status_t restore(const char *key, pmix_value_t *v)
{
    pmix_status_t rc = px_value_is_compressed(v) ? px_value_inflate(v) : PMIX_SUCCESS;

    return !rc && v->type == PMIX_STRING && is_bitmap(key) ? make_bitmap(v) : rc;
}

/* Moves *v to *to, or to new memory if *to is NULL. key may be NULL. */
static inline pmix_status_t deliver(const char *key, pmix_value_t *v, pmix_value_t **to)
{
    bool is_plain = !px_value_is_compressed(v) && !is_bitmap(key);
    pmix_status_t rc = is_plain ? PMIX_SUCCESS : restore(key, v);

    if (!rc && !*to && !(*to = malloc(sizeof(**to))))
        rc = PMIX_ERR_NOMEM;
    if (rc)
        px_type_destruct(PMIX_VALUE, v);
    else
        **to = *v;
    return rc;
}

/* Moves *v to the get's result. */
static pmix_status_t give(struct get_op *op, pmix_value_t *v)
{
    pmix_value_t *kept = NULL;
    pmix_status_t rc = deliver(op->api.args.text, v, op->lends ? &kept : &op->value);

    if (rc || !op->lends)
        return rc;
    pmix_value_t *lent = px_client_lend(op->api.client, &op->proc, op->api.args.text,
                                        kept);
    free(kept);
    if (!lent)
        return PMIX_ERR_NOMEM;
    if (op->value)
        *op->value = *lent;
    else
        op->value = lent;
    return PMIX_SUCCESS;
}

static pmix_status_t find_here(struct get_op *op)
{
    const struct px_model *m = op->api.client->model;
    const struct px_nspace *ns = px_nspace_find(m, op->proc.nspace);
    const struct px_args *args = &op->api.args;
    struct px_lookup l;
    pmix_value_t v;
    pmix_status_t rc;

    if (!ns)
        return PMIX_ERR_NOT_FOUND;
    px_lookup_init(&l, args->text, op->proc.rank, args->info.v, args->info.n);
    l.skip_received = !op->answered;
    rc = args->text ? look_up(m, ns, &l, &v) : get_all(ns, op->proc.rank, &v);
    return rc ? rc : give(op, &v);
}

/* True if the server cannot know more about the process. False for a live key, and for
 * a key of our own with a timeout: another thread may still put that key. */
static bool knows_all(const pmix_proc_t *self, const char *nspace, pmix_rank_t rank,
                      const char *key, const pmix_info_t *info, size_t n)
{
    const bool reserved = key && px_key_is_reserved(key);

    if (strcmp(nspace, self->nspace) != 0 ||
        (reserved &&
         (px_key_is_live(px_job_key_find(key)) || px_group_name_key(key, NULL))))
        return false;
    return rank == PMIX_RANK_WILDCARD ||
           (rank == self->rank &&
            (!key || reserved || px_info_u32(info, n, PMIX_TIMEOUT, 0) == 0));
}

/* Finds the namespace that the caller means, and sets the rank in l. */
static const struct px_nspace *named(const struct px_model *m, const pmix_proc_t *proc,
                                     struct px_lookup *l)
{
    pmix_proc_t full;

    if (m->own && proc && proc->rank != PMIX_RANK_INVALID &&
        strcmp(proc->nspace, m->own->name) == 0) /* name is NUL-terminated, proc->nspace
                                                  * need not be */
        return m->own;
    full = proc ? *proc : m->self;
    const struct px_nspace *ns = name_proc(m, &full, !proc, l->key);
    l->rank = full.rank;
    return ns;
}

/* Searches in the caller's thread without a system call. Returns false if the loop must
 * do the search: the loop has more data, and its data never change during a search. */
static bool find_at_once(const pmix_proc_t *proc, struct px_lookup *l, pmix_value_t *v,
                         pmix_status_t *status)
{
    const struct px_model *m;
    const struct px_nspace *ns;
    struct px_gate_count *count;
    bool known = false;

    if (!l->key || l->is[PX_KEY_REFRESH] || l->is[PX_KEY_POINTER] ||
        !(m = px_model_enter(&count)))
        return false;
    ns = named(m, proc, l);
    const pmix_rank_t rank = l->rank;
    /* Searches for a key of any rank walk tables, which only the loop may do. */
    *status = rank == PMIX_RANK_UNDEF ? PMIX_ERR_WOULD_BLOCK
              : ns                    ? look_up(m, ns, l, v)
                                      : PMIX_ERR_NOT_FOUND;
    known = !*status;
    if (*status == PMIX_ERR_NOT_FOUND)
        known = (l->is[PX_KEY_OPTIONAL] ||
                 (ns &&
                  knows_all(&m->self, ns->name, rank, l->key, l->quals, l->n_quals))) &&
                !(ns && px_nspace_is_lost(ns));
    px_read_gate_leave(count);
    return known;
}

/* ---- pending gets ---------------------------------------------------------------- */

/* The answer to a get contains all of the server's values of a process. Of many gets
 * for one process only the first is sent. The others wait for its answer and search
 * again. The server may hold a request until its key is committed. To avoid delaying
 * gets whose keys exist, the next waiting get then sends its own request. */

/* Time after which the next waiting get is sent. */
#define SEND_AFTER_MS 10

/* Gets of one process that need the server; in px_client.pending_gets. */
struct pending_gets {
    struct px_client *client;
    pmix_proc_t proc;
    struct px_list waiting; /* struct get_op; empty without requests */
    unsigned n_requests;    /* pending requests */
    struct px_timer *timer; /* runs while a get waits */
};

/* A pending request. */
struct get_request {
    struct pending_gets *about;
    struct get_op *op; /* NULL if the get has ended */
};

static void on_get(struct px_api *api);
static void ask_for_messages(struct get_op *op, const struct px_nspace *ns);
static void renew_job(struct get_op *op, const struct px_nspace *ns);

static void ask_end(struct get_op *op, pmix_status_t status)
{
    px_timer_free(px_take(&op->timer));
    px_api_done(&op->api, status);
}

/* The time after which an immediate get stops waiting for a fence. */
#define FENCE_MS 1000

static void on_late(void *arg)
{
    struct get_op *op = arg;

    px_list_remove(&op->link);
    ask_end(op, PMIX_ERR_NOT_FOUND);
}

/* Has an immediate get without a value wait for a fence of its caller, which may bring
 * the value (adr/0028). Returns false without such a fence. */
static bool wait_for_fence(struct get_op *op)
{
    struct px_client *client = op->api.client;
    const char *key = op->api.args.text;

    if (op->is_late || !key || px_key_is_reserved(key) ||
        !has_flag(op, PMIX_IMMEDIATE) || !px_client_is_fencing(client, &op->proc) ||
        !(op->timer = px_timer_create(client->loop, on_late, op)))
        return false;
    op->is_late = true;
    px_timer_set(op->timer, FENCE_MS);
    px_list_append(&client->late_gets, &op->link);
    return true;
}

void px_client_get_again(struct px_client *client)
{
    while (!px_list_empty(&client->late_gets)) {
        struct get_op *op = PX_CONTAINER_OF(client->late_gets.next, struct get_op,
                                            link);

        px_list_remove(&op->link);
        px_timer_free(px_take(&op->timer));
        on_get(&op->api);
    }
}

/* Completes a get after its own answer has been stored. */
static void answered(struct get_op *op, pmix_status_t status)
{
    struct px_nspace *ns = NULL;
    bool is_there = !status;

    op->answered = !status;
    /* A get of all keys returns the local values if the server has none. */
    if (!status || (status == PMIX_ERR_NOT_FOUND && !op->api.args.text))
        status = find_here(op);
    if (is_there && status == PMIX_ERR_NOT_FOUND)
        ns = px_nspace_find(op->api.client->model, op->proc.nspace);
    if (ns && ns->store.shared.ns && !ns->hosted)
        ask_for_messages(op, ns);
    else if (status != PMIX_ERR_NOT_FOUND || !wait_for_fence(op))
        px_api_done(&op->api, status);
}

static struct get_op *first_of(struct pending_gets *a)
{
    return px_list_empty(&a->waiting)
               ? NULL
               : PX_CONTAINER_OF(a->waiting.next, struct get_op, link);
}

static void drop_if_idle(struct pending_gets *a)
{
    if (a->n_requests > 0)
        return;
    px_timer_free(a->timer);
    px_map_remove(&a->client->pending_gets, &a->proc, sizeof(a->proc));
    free(a);
}

/* ---- answers --------------------------------------------------------------------- */

/* Completes waiting gets in order of arrival, up to the first without a value. lost:
 * the failure that ends all requests, or PMIX_SUCCESS. */
static void serve_waiting(struct pending_gets *a, pmix_status_t lost)
{
    for (struct get_op *op; (op = first_of(a));) {
        pmix_status_t rc = lost ? lost : find_here(op);

        if (rc == PMIX_ERR_NOT_FOUND)
            return;
        px_list_remove(&op->link);
        ask_end(op, rc);
    }
}

static void on_answer(void *arg, pmix_status_t status, px_reader *reply);

/* Sends the request of a get, or ends the get. Returns false after a failure. */
static bool send(struct pending_gets *a, struct get_op *op)
{
    static const bool yes = true;
    struct px_args args = op->api.args;
    PX_AUTO(px_infos) info = {0};
    struct get_request *r = calloc(1, sizeof(*r));
    pmix_status_t rc = r ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    const char *key = args.text ? px_group_name_key(args.text, NULL) : NULL;

    if (key) /* the request has the qualifier */
        args.text = (char *)key;
    args.nspace = a->proc.nspace;
    args.rank = a->proc.rank;
    if (!rc)
        rc = px_infos_add_copy(&info, args.info.v, args.info.n);
    if (!rc)
        rc = px_infos_add(&info, PX_GET_PARTS, &yes, PMIX_BOOL);
    if (!rc && op->now)
        rc = px_infos_set(&info, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
    args.info = info;
    if (!rc) {
        *r = (struct get_request){.about = a, .op = op};
        rc = px_channel_ask(&a->client->channel, &px_request_get, &args, on_answer, r);
    }
    if (rc) {
        free(r);
        ask_end(op, rc);
        return false;
    }
    a->n_requests++;
    op->request = r;
    return true;
}

/* Sends the request of the first waiting get. */
static void send_next(void *arg)
{
    struct pending_gets *a = arg;
    struct get_op *op;
    bool sent = false;

    while (!sent && (op = first_of(a))) {
        px_list_remove(&op->link);
        sent = send(a, op);
    }
    if (first_of(a))
        px_timer_set(a->timer, SEND_AFTER_MS);
}

static void on_answer(void *arg, pmix_status_t status, px_reader *reply)
{
    struct get_request *r = arg;
    struct pending_gets *a = r->about;
    struct get_op *op = r->op;

    free(r);
    status = px_client_read_values(a->client, status, reply);
    if (op) {
        op->request = NULL;
        px_timer_free(px_take(&op->timer));
        answered(op, status);
    }
    serve_waiting(a, reply ? PMIX_SUCCESS : status);
    send_next(a);
    a->n_requests--;
    drop_if_idle(a);
}

/* ---- requests -------------------------------------------------------------------- */

static void on_limit(void *arg)
{
    struct get_op *op = arg;

    if (op->request)
        op->request->op = NULL;
    else
        px_list_remove(&op->link);
    ask_end(op, PMIX_ERR_TIMEOUT);
}

static struct pending_gets *pending_gets_create(struct px_client *client,
                                                const pmix_proc_t *proc)
{
    struct pending_gets *a = calloc(1, sizeof(*a));

    if (!a)
        return NULL;
    a->client = client;
    a->proc = *proc;
    px_list_init(&a->waiting);
    a->timer = px_timer_create(client->loop, send_next, a);
    if (a->timer &&
        px_map_put(&client->pending_gets, proc, sizeof(*proc), a, NULL) == PMIX_SUCCESS)
        return a;
    px_timer_free(a->timer);
    free(a);
    return NULL;
}

/* Queues a get behind the pending gets of the same process. */
static void wait_for_others(struct pending_gets *a, struct get_op *op)
{
    bool is_first = px_list_empty(&a->waiting);

    px_list_append(&a->waiting, &op->link);
    if (op->now && a->n_requests == 1) /* the server may hold that request */
        send_next(a);
    else if (is_first)
        px_timer_set(a->timer, SEND_AFTER_MS);
}

/* Sends or queues a get. Makes a get of a reserved key of a complete job immediate,
 * because no process commits such a key. */
static void ask_server(struct get_op *op, const struct px_nspace *ns)
{
    struct px_client *client = op->api.client;
    const struct px_args *args = &op->api.args;
    uint32_t seconds = px_info_u32(args->info.v, args->info.n, PMIX_TIMEOUT, 0);
    pmix_proc_t key = {0}; /* a map key: zero behind the name */
    bool never = args->text && px_key_is_reserved(args->text) && ns && ns->complete &&
                 op->proc.rank < PMIX_RANK_VALID;

    op->now = never || has_flag(op, PMIX_IMMEDIATE);
    px_proc_set(&key, op->proc.nspace, op->proc.rank);
    if (seconds) {
        op->timer = px_timer_create(client->loop, on_limit, op);
        if (op->timer)
            px_timer_set(op->timer, seconds * 1000ull);
    }
    struct pending_gets *a = px_map_get(&client->pending_gets, &key, sizeof(key));
    bool is_first = !a;
    if (is_first)
        a = pending_gets_create(client, &key);
    if (!a || (seconds && !op->timer))
        ask_end(op, PMIX_ERR_NOMEM);
    else if (is_first || !args->text) /* a get of all keys always needs its own
                                       * request */
        (void)send(a, op);
    else
        wait_for_others(a, op);
    if (a && is_first)
        drop_if_idle(a);
}

/* Computes values of this process that its server need not know. */
static pmix_status_t give_own(struct get_op *op)
{
    const char *key = op->api.args.text;
    const pid_t pid = getpid();
    pmix_value_t v;
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    if (key && strcmp(key, PMIX_CREDENTIAL) == 0)
        rc = px_client_credential(&v);
    else if (key && strcmp(key, PMIX_PROC_PID) == 0)
        rc = PMIx_Value_load(&v, &pid, PMIX_PID);
    return rc ? rc : give(op, &v);
}

/* True if a get refreshes what the host has registered, and this process has a copy. */
static bool renews_job(const struct get_op *op, const struct px_nspace *ns)
{
    const char *key = op->api.args.text;

    return ns && !ns->in_place && !ns->hosted && !op->renewed &&
           has_flag(op, PMIX_GET_REFRESH_CACHE) && !has_flag(op, PMIX_OPTIONAL) &&
           (op->proc.rank == PMIX_RANK_WILDCARD || (key && px_key_is_reserved(key))) &&
           !(key && px_key_is_live(px_job_key_find(key)));
}

/* Ends a get in a callback, which cannot wait for the server. */
static bool refuse_inside(struct px_api *api)
{
    if (api->inside)
        px_api_done(api, PMIX_ERR_WOULD_BLOCK);
    return api->inside;
}

static void on_get(struct px_api *api)
{
    struct get_op *op = PX_CONTAINER_OF(api, struct get_op, api);
    const struct px_client *client = api->client;
    const struct px_model *m = client->model;
    bool is_alone, stays_here;
    struct px_nspace *ns;
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    ns = name_proc(m, &op->proc, op->of_self, api->args.text);
    /* Most values of an assembly's member are stored under the member's own name. */
    if (ns && ns->assembly && op->proc.rank < PMIX_RANK_VALID) {
        rc = has_flag(op, PMIX_GET_REFRESH_CACHE) ? rc : find_here(op);
        if (rc == PMIX_ERR_NOT_FOUND &&
            px_assembly_member(ns->assembly, op->proc.rank, &op->proc))
            ns = px_nspace_find(m, op->proc.nspace);
        else if (rc != PMIX_ERR_NOT_FOUND) {
            px_api_done(api, rc);
            return;
        }
    }
    /* A process that is its own server must not ask itself. Through its host the
     * request might reach this waiting caller. */
    is_alone = client->standalone || px_proc_same(&client->channel.server, &m->self);
    if (!is_alone && renews_job(op, ns)) {
        if (!refuse_inside(api))
            renew_job(op, ns);
        return;
    }
    stays_here = is_alone || (ns && ns->hosted) ||
                 knows_all(&m->self, op->proc.nspace, op->proc.rank, api->args.text,
                           api->args.info.v, api->args.info.n) ||
                 has_flag(op, PMIX_OPTIONAL);
    const bool refreshes = ns && !stays_here && has_flag(op, PMIX_GET_REFRESH_CACHE);
    if (refreshes && refuse_inside(api))
        return;
    if (refreshes)
        px_store_clear(&ns->store, PX_GDS_REMOTE, op->proc.rank);
    /* Only the server has all values of a peer. */
    if (api->args.text || stays_here)
        rc = find_here(op);
    if (rc == PMIX_ERR_NOT_FOUND && ns && px_nspace_is_lost(ns) && !is_alone) {
        if (!refuse_inside(api))
            ask_for_messages(op, ns);
        return;
    }
    if (rc == PMIX_ERR_NOT_FOUND && px_proc_same(&op->proc, &m->self))
        rc = give_own(op);
    if (rc == PMIX_ERR_NOT_FOUND && !stays_here) {
        if (!refuse_inside(api))
            ask_server(op, ns);
        return;
    }
    px_api_done(api, rc);
}

/* ---- data that cannot be read in place ------------------------------------------- */

/* Handles the server's new description of the shared data, or the data themselves. */
static void on_messages(void *arg, pmix_status_t status, px_reader *reply)
{
    struct get_op *op = arg;
    struct px_client *client = op->api.client;
    struct px_nspace *ns;

    status = px_client_read_values(client, status, reply);
    ns = px_nspace_find(client->model, op->proc.nspace);
    if (ns && !ns->in_place)
        px_jobinfo_detach(ns);
    if (status)
        px_api_done(&op->api, status);
    else
        on_get(&op->api);
}

static void ask_for_messages(struct get_op *op, const struct px_nspace *ns)
{
    pmix_status_t rc = px_client_ask_job(op->api.client, ns, true, on_messages, op);

    if (rc)
        px_api_done(&op->api, rc);
}

/* Continues a get after the server has sent the job again. A server without the job
 * changes nothing. */
static void on_renewed(void *arg, pmix_status_t status, px_reader *reply)
{
    struct get_op *op = arg;

    status = px_client_read_values(op->api.client, status, reply);
    op->renewed = true;
    if (status && status != PMIX_ERR_NOT_FOUND)
        px_api_done(&op->api, status);
    else
        on_get(&op->api);
}

static void renew_job(struct get_op *op, const struct px_nspace *ns)
{
    pmix_status_t rc = px_client_ask_job(op->api.client, ns, false, on_renewed, op);

    if (rc)
        px_api_done(&op->api, rc);
}

static void finish_get(struct px_api *api)
{
    struct get_op *op = PX_CONTAINER_OF(api, struct get_op, api);

    op->cb(api->status, api->status ? NULL : op->value, api->cbdata);
    if (op->value && !op->lends)
        px_type_free_array(PMIX_VALUE, op->value, 1);
}

static pmix_status_t check(const char *key, const pmix_info_t *info, size_t n_info)
{
    if (!px_initialized())
        return PMIX_ERR_INIT;
    if ((n_info > 0 && (!info || n_info > INT32_MAX)) ||
        (key && (strnlen(key, PMIX_MAX_KEYLEN + 1) > PMIX_MAX_KEYLEN || !*key)))
        return PMIX_ERR_BAD_PARAM;
    return n_info > 0 ? px_required_check("PMIx_Get", NULL, info, n_info)
                      : PMIX_SUCCESS;
}

static struct get_op make_get(const pmix_proc_t *proc, const char *key,
                              const pmix_info_t *info, size_t n_info)
{
    struct get_op op = {
        .api = {.start = on_get,
                .request = &px_request_get,
                .args = {.text = (char *)key, .info = px_infos_borrow(info, n_info)}},
        .of_self = !proc};

    if (proc)
        op.proc = *proc;
    return op;
}

/* Continues PMIx_Get on the loop, which may ask the server. */
PX_NOINLINE static pmix_status_t get_on_loop(const pmix_proc_t *proc, const char *key,
                                             const struct px_lookup *l,
                                             pmix_value_t **val)
{
    struct get_op op = make_get(proc, key, l->quals, l->n_quals);

    op.value = *val;
    op.lends = l->is[PX_KEY_POINTER];
    op.api.at_once = true;
    pmix_status_t rc = px_api_wait(&op.api);
    *val = op.value;
    return rc;
}

PX_EXPORT pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char key[],
                                 const pmix_info_t info[], size_t ninfo,
                                 pmix_value_t **val)
{
    px_group_name name;
    pmix_status_t rc = check(key, info, ninfo);
    struct px_lookup l;
    pmix_value_t v;

    if (rc)
        return rc;
    px_lookup_init(&l, key, proc ? proc->rank : PMIX_RANK_UNDEF, info, ninfo);
    l.skip_received = true;
    if (l.is[PX_KEY_GROUP_CONTEXT]) {
        rc = px_group_name_read(&key, info, ninfo, name);
        px_lookup_set_key(&l, key);
    }
    if (rc)
        return rc;
    if (!val || (l.is[PX_KEY_STATIC] && !*val))
        return PMIX_ERR_BAD_PARAM;
    if (!l.is[PX_KEY_STATIC])
        *val = NULL;
    if (find_at_once(proc, &l, &v, &rc))
        return rc ? rc : deliver(key, &v, val);
    return get_on_loop(proc, key, &l, val);
}

PX_EXPORT pmix_status_t PMIx_Get_nb(const pmix_proc_t *proc, const char key[],
                                    const pmix_info_t info[], size_t ninfo,
                                    pmix_value_cbfunc_t cbfunc, void *cbdata)
{
    px_group_name name;
    pmix_status_t rc = check(key, info, ninfo);

    if (!rc && ninfo > 0)
        rc = px_group_name_read(&key, info, ninfo, name);
    if (rc || !cbfunc)
        return rc ? rc : PMIX_ERR_BAD_PARAM;
    struct get_op op = make_get(proc, key, info, ninfo);
    op.lends = px_info_flag(info, ninfo, PMIX_GET_POINTER_VALUES);
    op.api.finish = finish_get;
    op.api.cbdata = cbdata;
    op.cb = cbfunc;
    return px_api_post(&op.api, sizeof(op));
}
