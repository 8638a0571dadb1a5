/* SPDX-License-Identifier: BSD-3-Clause */
/* Routing of values to datastore components. A server puts values for its clients into
 * the shared tables. A value that does not fit goes to the own tables, and its key is
 * withdrawn from the shared tables, which always works. Clients then request that
 * value. So each value is in exactly one of the two. */
#include "core/model/store.h"

#include "core/base/strv.h"
#include "core/os/os.h"
#include "core/plugin/select.h"
#include "core/rt/log.h"
#include "frameworks/framework.h"
#include "tenon/gds.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Creates tables with the best component that does not decline. in_place: only
 * components whose tables peers read in place, otherwise only the others. */
static pmix_status_t create(struct px_tables *tables, const char *nspace, bool in_place)
{
    size_t n = 0;
    const struct px_module *m = px_modules("gds", &n);
    pmix_status_t rc = PMIX_ERR_NOT_AVAILABLE;

    for (size_t i = 0; i < n; i++) {
        if (!PX_OPS(gds, &m[i])->describe == in_place)
            continue;
        tables->module = &m[i];
        rc = PX_OPS(gds, &m[i])->create(m[i].self, nspace, &tables->ns);
        if (rc != PMIX_ERR_NOT_SUPPORTED)
            break;
    }
    return rc;
}

pmix_status_t px_store_create(struct px_stores *store, struct px_read_gate *gate,
                              const char *nspace)
{
    store->gate = gate;
    return create(&store->own, nspace, false);
}

void px_store_share(struct px_stores *store, const char *nspace)
{
    struct px_tables shared = {0};

    if (store->shared.ns)
        return;
    pmix_status_t rc = create(&shared, nspace, true);
    if (rc && rc != PMIX_ERR_NOT_AVAILABLE)
        px_log(PX_LOG_INFO, "gds", "cannot share the data of %s: %s", nspace,
               PMIx_Error_string(rc));
    if (rc)
        return;
    px_read_gate_close(store->gate);
    store->shared = shared;
    store->is_writer = true;
    px_read_gate_open(store->gate);
}

static void tables_destroy(struct px_tables *t)
{
    if (t->ns)
        PX_OPS(gds, t->module)->destroy(t->module->self, t->ns);
    *t = (struct px_tables){0};
}

void px_store_destroy(struct px_stores *store)
{
    tables_destroy(&store->shared);
    tables_destroy(&store->own);
}

/* ---- tables ---------------------------------------------------------------------- */

static pmix_status_t put(struct px_tables *t, enum px_gds_table table, pmix_rank_t rank,
                         const char *key, const pmix_value_t *value)
{
    t->keys[table] |= px_gds_key_bit(key, strlen(key));
    t->file = 0;
    return PX_OPS(gds, t->module)
        ->store(t->module->self, t->ns, table, rank, key, value);
}

static inline pmix_status_t fetch(const struct px_tables *t, enum px_gds_table table,
                                  pmix_rank_t rank, const char *key,
                                  const pmix_info_t *quals, size_t n_quals,
                                  pmix_value_t *out)
{
    return PX_OPS(gds, t->module)
        ->fetch(t->module->self, t->ns, table, rank, key, quals, n_quals, out);
}

static const pmix_value_t nothing = {.type = PMIX_UNDEF};

/* Value of the table REMOTE that stands for the value of the table LOCAL. */
static const char as_local;
static const pmix_value_t same = {.type = PMIX_POINTER,
                                  .data.ptr = (void *)(uintptr_t)&as_local};

static bool is_same(const pmix_value_t *value)
{
    return value && value->type == same.type && value->data.ptr == same.data.ptr;
}

pmix_status_t px_store_note(struct px_stores *store, const char *key,
                            const pmix_value_t *value)
{
    px_read_gate_close(store->gate);
    pmix_status_t rc = put(&store->shared, PX_GDS_INTERNAL, PMIX_RANK_WILDCARD, key,
                           value ? value : &nothing);
    px_read_gate_open(store->gate);
    return rc;
}

pmix_status_t px_store_noted(const struct px_stores *store, const char *key,
                             pmix_value_t *out)
{
    const struct px_tables *t = &store->shared;

    return t->ns ? fetch(t, PX_GDS_INTERNAL, PMIX_RANK_WILDCARD, key, NULL, 0, out)
                 : PMIX_ERR_NOT_FOUND;
}

uint64_t px_store_changes(const struct px_stores *store)
{
    const struct px_tables *t = &store->shared;

    return t->ns && PX_OPS(gds, t->module)->changes
               ? PX_OPS(gds, t->module)->changes(t->module->self, t->ns)
               : 0;
}

bool px_store_has_job(const struct px_stores *store)
{
    return (store->shared.changes &&
            store->shared.changes == px_store_changes(store)) ||
           px_store_noted(store, PX_STORE_JOB, NULL) == PMIX_SUCCESS;
}

pmix_status_t px_store_view(const struct px_stores *store, const char *key,
                            const void **bytes, size_t *n)
{
    const struct px_tables *t = &store->shared;

    return t->ns && PX_OPS(gds, t->module)->view
               ? PX_OPS(gds, t->module)
                     ->view(t->module->self, t->ns, PX_GDS_INTERNAL, PMIX_RANK_WILDCARD,
                            key, bytes, n)
               : PMIX_ERR_NOT_FOUND;
}

struct px_fence_futex *px_store_fence_futex(const struct px_stores *store)
{
    const void *bytes;
    size_t n;
    bool exists = !px_store_view(store, PX_STORE_FENCE_FUTEX, &bytes, &n) &&
                  n == sizeof(struct px_fence_futex);

    return exists ? (struct px_fence_futex *)bytes : NULL;
}

/* Returns the inode of the file that readers get, 0 if there is none. A change of the
 * tables may replace the file. */
static uint32_t number_of(struct px_tables *t)
{
    PX_AUTO(px_infos) infos = {0};
    const pmix_proc_t any = {.rank = PMIX_RANK_WILDCARD};
    struct stat st;
    int fd = -1;

    if (!t->file &&
        !PX_OPS(gds, t->module)
             ->describe(t->module->self, t->ns, &any, &infos.v, &infos.n, &fd) &&
        fd >= 0 && fstat(fd, &st) == 0)
        t->file = (uint32_t)st.st_ino;
    return t->file;
}

struct px_fence_futex *px_store_make_fence_futex(struct px_stores *store)
{
    struct px_fence_futex none = {0};
    const pmix_value_t value = {.type = PMIX_BYTE_OBJECT,
                                .data.bo = {(char *)&none, sizeof(none)}};

    /* A datastore without views cannot find the record again. Each fence would make
     * another record. */
    if (!store->is_writer || !PX_OPS(gds, store->shared.module)->view)
        return NULL;
    struct px_fence_futex *futex = px_store_fence_futex(store);
    if (!futex && !px_store_note(store, PX_STORE_FENCE_FUTEX, &value))
        futex = px_store_fence_futex(store);
    if (!futex)
        return NULL;
    futex->id = number_of(&store->shared); /* last: the note may replace the file */
    return futex->id ? futex : NULL;
}

void px_fence_futex_wake(struct px_fence_futex *futex)
{
    atomic_fetch_add_explicit(&futex->turns, 1, memory_order_release);
    px_os_futex_wake(&futex->turns, true);
}

void px_fence_futex_rouse(const struct px_stores *store)
{
    struct px_fence_futex *futex = px_store_fence_futex(store);

    if (futex)
        px_os_futex_wake(&futex->turns, true);
}

void px_fence_futex_set(struct px_fence_futex *futex, uint64_t number)
{
    const uint32_t turn = futex->turns + 1;
    struct px_fence_number *n = &futex->numbers[turn % PX_COUNT(futex->numbers)];

    n->low = (uint32_t)number;
    n->high = (uint32_t)(number >> 32);
    n->turn = turn;
}

bool px_fence_futex_number(const struct px_fence_futex *futex, uint32_t turn,
                           uint64_t *number)
{
    const struct px_fence_number *n = &futex->numbers[turn % PX_COUNT(futex->numbers)];

    *number = (uint64_t)n->high << 32 | n->low;
    return n->turn == turn;
}

/* Puts a value into the own tables. The job then cannot be read in place. */
static pmix_status_t put_spilled(struct px_stores *store, enum px_gds_table table,
                                 pmix_rank_t rank, const char *key,
                                 const pmix_value_t *value)
{
    (void)put(&store->shared, table, rank, key, &nothing);
    if (table != PX_GDS_LOCAL && table != PX_GDS_REMOTE)
        (void)px_store_note(store, PX_STORE_JOB, NULL);
    store->spilled = true;
    return put(&store->own, table, rank, key, value);
}

static pmix_status_t put_local(struct px_stores *store, enum px_gds_table table,
                               pmix_rank_t rank, const char *key,
                               const pmix_value_t *value)
{
    bool shares = store->is_writer && table != PX_GDS_INTERNAL;

    px_read_gate_close(store->gate);
    pmix_status_t rc = put(shares ? &store->shared : &store->own, table, rank, key,
                           value);
    if (shares && rc && rc != PMIX_ERR_BAD_PARAM)
        rc = put_spilled(store, table, rank, key, value);
    else if (shares && !rc && store->spilled)
        (void)put(&store->own, table, rank, key, &nothing);
    px_read_gate_open(store->gate);
    return rc;
}

/* Gives remote readers a copy of the value that local readers have, if it is one. */
static pmix_status_t part_ways(struct px_stores *store, pmix_rank_t rank,
                               const char *key)
{
    pmix_value_t now, old;

    if (!(store->own.keys[PX_GDS_REMOTE] & px_gds_key_bit(key, strlen(key))) ||
        fetch(&store->own, PX_GDS_REMOTE, rank, key, NULL, 0, &now))
        return PMIX_SUCCESS;
    bool shared = is_same(&now);
    px_type_destruct(PMIX_VALUE, &now);
    if (!shared || px_store_fetch(store, PX_GDS_LOCAL, rank, key, NULL, 0, &old))
        return PMIX_SUCCESS;
    pmix_status_t rc = px_store_keep(store, PX_GDS_REMOTE, rank, key, &old);
    px_type_destruct(PMIX_VALUE, &old);
    return rc;
}

pmix_status_t px_store_put(struct px_stores *store, enum px_gds_table table,
                           pmix_rank_t rank, const char *key, const pmix_value_t *value)
{
    pmix_status_t rc = table == PX_GDS_LOCAL ? part_ways(store, rank, key)
                                             : PMIX_SUCCESS;

    return rc ? rc : put_local(store, table, rank, key, value);
}

pmix_status_t px_store_put_global(struct px_stores *store, pmix_rank_t rank,
                                  const char *key, const pmix_value_t *value)
{
    bool once = px_type_size(PMIX_VALUE, value) >= PX_STORE_ONCE_B;
    pmix_status_t rc = put_local(store, PX_GDS_LOCAL, rank, key, value);

    return rc ? rc
              : px_store_keep(store, PX_GDS_REMOTE, rank, key, once ? &same : value);
}

pmix_status_t px_store_keep(struct px_stores *store, enum px_gds_table table,
                            pmix_rank_t rank, const char *key,
                            const pmix_value_t *value)
{
    px_read_gate_close(store->gate);
    pmix_status_t rc = put(&store->own, table, rank, key, value);
    px_read_gate_open(store->gate);
    return rc;
}

static void clear(struct px_tables *t, enum px_gds_table table, pmix_rank_t rank)
{
    t->file = 0;
    PX_OPS(gds, t->module)->clear(t->module->self, t->ns, table, rank);
}

void px_store_clear(struct px_stores *store, enum px_gds_table table, pmix_rank_t rank)
{
    px_read_gate_close(store->gate);
    clear(&store->own, table, rank);
    if (store->is_writer)
        clear(&store->shared, table, rank);
    px_read_gate_open(store->gate);
}

/* True if the shared tables come first: values from messages may be older. Internal
 * values are in the own tables only. */
static bool has_shared(const struct px_stores *store, enum px_gds_table table)
{
    return store->shared.ns && table != PX_GDS_INTERNAL;
}

static pmix_status_t walk(const struct px_tables *t, enum px_gds_table table,
                          pmix_rank_t rank, px_gds_walk_fn fn, void *arg)
{
    return PX_OPS(gds, t->module)->walk(t->module->self, t->ns, table, rank, fn, arg);
}

/* A walk through the table REMOTE. */
struct remote_walk {
    const struct px_stores *store;
    px_gds_walk_fn fn;
    void *arg;
    bool skips; /* the values that local readers have, too */
};

static pmix_status_t pass_remote(void *arg, pmix_rank_t rank, const char *key,
                                 const pmix_value_t *value)
{
    const struct remote_walk *w = arg;
    pmix_value_t local;

    if (!is_same(value))
        return w->fn(w->arg, rank, key, value);
    if (w->skips)
        return PMIX_SUCCESS;
    pmix_status_t rc = px_store_fetch(w->store, PX_GDS_LOCAL, rank, key, NULL, 0,
                                      &local);
    if (rc)
        return rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc;
    rc = w->fn(w->arg, rank, key, &local);
    px_type_destruct(PMIX_VALUE, &local);
    return rc;
}

pmix_status_t px_store_walk_remote_only(const struct px_stores *store, pmix_rank_t rank,
                                        px_gds_walk_fn fn, void *arg)
{
    struct remote_walk w = {store, fn, arg, true};

    return walk(&store->own, PX_GDS_REMOTE, rank, pass_remote, &w);
}

pmix_status_t px_store_walk(const struct px_stores *store, enum px_gds_table table,
                            pmix_rank_t rank, px_gds_walk_fn fn, void *arg)
{
    struct remote_walk w = {store, fn, arg, false};
    pmix_status_t rc = has_shared(store, table)
                           ? walk(&store->shared, table, rank, fn, arg)
                           : PMIX_SUCCESS;

    if (rc)
        return rc;
    return table == PX_GDS_REMOTE ? walk(&store->own, table, rank, pass_remote, &w)
                                  : walk(&store->own, table, rank, fn, arg);
}

pmix_status_t px_store_fetch(const struct px_stores *store, enum px_gds_table table,
                             pmix_rank_t rank, const char *key,
                             const pmix_info_t *quals, size_t n_quals,
                             pmix_value_t *out)
{
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    if (has_shared(store, table))
        rc = fetch(&store->shared, table, rank, key, quals, n_quals, out);
    if (rc == PMIX_ERR_NOT_FOUND && store->own.keys[table] &&
        store->own.keys[table] & px_gds_key_bit(key, strlen(key)))
        rc = fetch(&store->own, table, rank, key, quals, n_quals, out);
    if (!rc && table == PX_GDS_REMOTE && is_same(out))
        rc = px_store_fetch(store, PX_GDS_LOCAL, rank, key, quals, n_quals, out);
    return rc;
}

static pmix_status_t stop_there(void *arg PX_UNUSED, pmix_rank_t rank PX_UNUSED,
                                const char *key PX_UNUSED,
                                const pmix_value_t *value PX_UNUSED)
{
    return PMIX_EXISTS;
}

bool px_store_keeps(const struct px_stores *store, enum px_gds_table table,
                    pmix_rank_t rank)
{
    return walk(&store->own, table, rank, stop_there, NULL) == PMIX_EXISTS;
}

bool px_store_has(const struct px_stores *store, enum px_gds_table table,
                  pmix_rank_t rank, const char *key)
{
    return px_store_fetch(store, table, rank, key, NULL, 0, NULL) == PMIX_SUCCESS;
}

bool px_store_u32(const struct px_stores *store, enum px_gds_table table,
                  pmix_rank_t rank, const char *key, uint32_t *n)
{
    pmix_value_t v;

    if (px_store_fetch(store, table, rank, key, NULL, 0, &v))
        return false;
    bool is_number = px_value_to_u32(&v, n);
    px_type_destruct(PMIX_VALUE, &v);
    return is_number;
}

/* ---- choice of a component by server and client ---------------------------------- */

const struct px_module *px_store_choose(const char *names)
{
    PX_AUTO(px_strv) list = names ? px_strv_split(names, ',', false) : NULL;
    const struct px_module *by_messages = NULL;
    size_t n;
    const struct px_module *m = px_modules("gds", &n);

    for (size_t i = 0; i < n; i++) {
        if (px_strv_has(list, m[i].component->name))
            return &m[i];
        if (!by_messages && !PX_OPS(gds, &m[i])->describe)
            by_messages = &m[i];
    }
    return by_messages;
}

const struct px_module *px_store_of_peer(const char *name)
{
    const struct px_module *m = px_store_choose(name);

    return m && (!name[0] || strcmp(m->component->name, name) == 0) ? m : NULL;
}

pmix_status_t px_store_describe(const struct px_stores *store,
                                const struct px_module *named,
                                const pmix_proc_t *reader, px_writer *w, int *fd)
{
    PX_AUTO(px_infos) infos = {0};
    PX_AUTO(px_infos) whole = {0};

    if (!store->is_writer || named != store->shared.module)
        return PMIX_ERR_NOT_SUPPORTED;
    pmix_status_t rc = PX_OPS(gds, named)
                           ->describe(named->self, store->shared.ns, reader, &infos.v,
                                      &infos.n, fd);
    if (!rc)
        rc = px_infos_add_array(&whole, named->component->name, &infos);
    if (rc)
        return rc;
    pmix_data_array_t array = {.type = PMIX_INFO, .size = whole.n, .array = whole.v};
    const pmix_value_t value = {.type = PMIX_DATA_ARRAY, .data.darray = &array};
    px_pack(w, &value, 1, PMIX_VALUE);
    return w->status;
}

static void replace(struct px_stores *store, struct px_tables shared)
{
    struct px_tables old = store->shared;

    px_read_gate_close(store->gate);
    store->shared = shared;
    px_read_gate_open(store->gate);
    tables_destroy(&old);
}

static pmix_status_t attach(const char *nspace, const pmix_value_t *description, int fd,
                            struct px_tables *out)
{
    const pmix_info_t *named, *infos;
    size_t n;

    if (!px_value_infos(description, &named, &n) || n != 1 ||
        !px_value_infos(&named[0].value, &infos, &n))
        return PMIX_ERR_UNPACK_FAILURE;
    out->module = px_store_of_peer(named[0].key);
    if (!out->module || !PX_OPS(gds, out->module)->attach)
        return PMIX_ERR_NOT_SUPPORTED;
    return PX_OPS(gds, out->module)
        ->attach(out->module->self, nspace, infos, n, fd, &out->ns);
}

pmix_status_t px_store_attach(struct px_stores *store, const char *nspace,
                              const pmix_value_t *description, int fd)
{
    struct px_tables shared = {0};
    pmix_status_t rc = store->is_writer ? PMIX_ERR_EXISTS
                                        : attach(nspace, description, fd, &shared);

    if (!rc)
        replace(store, shared);
    return rc;
}

void px_store_detach(struct px_stores *store)
{
    if (!store->is_writer)
        replace(store, (struct px_tables){0});
}
