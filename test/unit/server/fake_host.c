/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake_host.h"
#include "raw.h"

#include "core/base/str.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MAX_CALLS 4096

struct fake_host host;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called = PTHREAD_COND_INITIALIZER;
static const char *calls[MAX_CALLS];
static unsigned n_calls;

/* One answer that is due. */
struct due {
    struct due *next;
    void (*give)(struct due *d, pmix_status_t status);
    union {
        pmix_op_cbfunc_t op;
        pmix_info_cbfunc_t info;
        pmix_lookup_cbfunc_t lookup;
        pmix_spawn_cbfunc_t spawn;
        pmix_modex_cbfunc_t modex;
        pmix_credential_cbfunc_t credential;
        pmix_validation_cbfunc_t validation;
    } cb;
    void *cbdata;
    const pmix_proc_t *proc; /* the library's: must live until the answer */
    pmix_proc_t was;
    pthread_t thread;
};
static struct due *held, *threads;

/* ---- answers ----------------------------------------------------------------------- */

static void release(void *data PX_UNUSED)
{
    __atomic_add_fetch(&host.released, 1, __ATOMIC_RELAXED);
}

static void give_op(struct due *d, pmix_status_t status)
{
    d->cb.op(status, d->cbdata);
}

static void give_info(struct due *d, pmix_status_t status)
{
    d->cb.info(status, host.infos.v, host.infos.n, d->cbdata, release, NULL);
}

static void give_lookup(struct due *d, pmix_status_t status)
{
    d->cb.lookup(status, host.pdata, host.n_pdata, d->cbdata);
}

static void give_spawn(struct due *d, pmix_status_t status)
{
    pmix_nspace_t name;

    px_str_copy(name, sizeof(name), host.nspace);
    d->cb.spawn(status, name, d->cbdata);
}

static void give_modex(struct due *d, pmix_status_t status)
{
    d->cb.modex(status, host.bytes, host.n_bytes, d->cbdata, release, NULL);
}

/* Both gone once this returns. */
static void give_credential(struct due *d, pmix_status_t status)
{
    pmix_byte_object_t bo = {.bytes = malloc(host.n_bytes + 1), .size = host.n_bytes};

    if (host.n_bytes)
        memcpy(bo.bytes, host.bytes, host.n_bytes);
    d->cb.credential(status, status ? NULL : &bo, host.infos.v, host.infos.n,
                     d->cbdata);
    PMIx_Byte_object_destruct(&bo);
}

static void give_validation(struct due *d, pmix_status_t status)
{
    d->cb.validation(status, host.infos.v, host.infos.n, d->cbdata);
}

static void give(struct due *d, pmix_status_t status)
{
    host.args_lived = !d->proc || px_proc_same(d->proc, &d->was);
    d->give(d, status);
}

static void *give_in_thread(void *arg)
{
    give(arg, host.status);
    return NULL;
}

/* Whoever waits for the call may look at the record now, and answer it if it is held. */
static void tell(void)
{
    pthread_mutex_lock(&lock);
    ck_assert_uint_lt(n_calls, MAX_CALLS);
    calls[n_calls++] = host.name;
    pthread_cond_broadcast(&called);
    pthread_mutex_unlock(&lock);
}

static void arrived(const char *name, const pmix_proc_t *proc)
{
    host.name = name;
    if (proc)
        host.proc = *proc;
}

static pmix_status_t answer_as(enum host_how how, const struct due *due)
{
    struct due *d = calloc(1, sizeof(*d));

    *d = *due;
    if (d->proc)
        d->was = *d->proc;
    if (host.within)
        host.within();
    if (how == HOST_HELD) {
        pthread_mutex_lock(&lock);
        for (struct due **end = &held;; end = &(*end)->next) {
            if (!*end) {
                *end = d;
                break;
            }
        }
        pthread_mutex_unlock(&lock);
    }
    tell();
    switch (how) {
    case HOST_THREAD:
        d->next = threads;
        threads = d;
        ck_assert_int_eq(pthread_create(&d->thread, NULL, give_in_thread, d), 0);
        return PMIX_SUCCESS;
    case HOST_HELD:
        return PMIX_SUCCESS;
    case HOST_INSIDE:
    case HOST_BOTH:
        give(d, host.status);
        break;
    default:
        break;
    }
    free(d);
    return how == HOST_INSIDE ? PMIX_SUCCESS
           : how == HOST_DONE ? PMIX_OPERATION_SUCCEEDED
           : how == HOST_BOTH ? PMIX_ERROR
                              : host.status;
}

static pmix_status_t answer(const struct due *due)
{
    return answer_as(host.how, due);
}

bool host_answer(pmix_status_t status)
{
    pthread_mutex_lock(&lock);
    struct due *d = held;
    if (d)
        held = d->next;
    pthread_mutex_unlock(&lock);
    if (!d)
        return false;
    give(d, status);
    free(d);
    return true;
}

/* ---- records ----------------------------------------------------------------------- */

static void record_infos(px_infos *to, const pmix_info_t *info, size_t n)
{
    px_infos_cleanup(to);
    ok(px_infos_add_copy(to, info, n));
}

static void record_procs(const pmix_proc_t *procs, size_t n)
{
    ck_assert_uint_le(n, PX_COUNT(host.procs));
    host.n_procs = n;
    for (size_t i = 0; i < n; i++)
        host.procs[i] = procs[i];
}

static void record_keys(char *const *keys)
{
    for (host.n_keys = 0; keys && keys[host.n_keys]; host.n_keys++) {
        ck_assert_uint_lt(host.n_keys, PX_COUNT(host.keys));
        px_str_copy(host.keys[host.n_keys], sizeof(host.keys[0]), keys[host.n_keys]);
    }
}

static unsigned count(const char *name)
{
    unsigned n = 0;

    for (unsigned i = 0; i < n_calls; i++)
        n += strcmp(calls[i], name) == 0;
    return n;
}

unsigned host_calls(const char *name)
{
    pthread_mutex_lock(&lock);
    unsigned n = count(name);
    pthread_mutex_unlock(&lock);
    return n;
}

void host_await(const char *name, unsigned n)
{
    pthread_mutex_lock(&lock);
    while (count(name) < n)
        pthread_cond_wait(&called, &lock);
    pthread_mutex_unlock(&lock);
}

void host_done(void)
{
    host.bytes = NULL; /* a test's, gone by now */
    host.n_bytes = 0;
    host.pdata = NULL;
    host.n_pdata = 0;
    while (host_answer(PMIX_SUCCESS))
        ;
    while (threads) {
        struct due *d = threads;

        threads = d->next;
        pthread_join(d->thread, NULL);
        free(d);
    }
    px_infos_cleanup(&host.given);
    px_infos_cleanup(&host.given_data);
    px_infos_cleanup(&host.infos);
    free(host.data);
    host.data = NULL;
}

void host_end(void)
{
    raw_teardown();
    host_done();
}

/* ---- slots ------------------------------------------------------------------------- */

#define DUE(kind, function, on)                                                    \
    &(struct due)                                                                  \
    {                                                                              \
        .give = give_##kind, .cb.kind = (function), .cbdata = cbdata, .proc = (on) \
    }

static pmix_status_t arrived_with(const char *name, const pmix_proc_t *proc,
                                  const pmix_info_t *info, size_t n,
                                  const struct due *due)
{
    record_infos(&host.given, info, n);
    arrived(name, proc);
    return answer(due);
}

static pmix_status_t client_connected(const pmix_proc_t *proc, void *object,
                                      pmix_op_cbfunc_t cb, void *cbdata PX_UNUSED)
{
    ck_assert(!cb); /* hosts of this slot do not call back */
    host.object = object;
    arrived("client_connected", proc);
    tell();
    return host.how_connected == HOST_DONE    ? PMIX_OPERATION_SUCCEEDED
           : host.how_connected == HOST_ERROR ? host.status
                                              : PMIX_SUCCESS;
}

static pmix_status_t client_connected2(const pmix_proc_t *proc, void *object,
                                       pmix_info_t info[], size_t n,
                                       pmix_op_cbfunc_t cb, void *cbdata)
{
    host.object = object;
    record_infos(&host.given, info, n);
    arrived("client_connected2", proc);
    return answer_as(host.how_connected, DUE(op, cb, proc));
}

static pmix_status_t client_finalized(const pmix_proc_t *proc, void *object,
                                      pmix_op_cbfunc_t cb, void *cbdata)
{
    host.object = object;
    arrived("client_finalized", proc);
    return answer(DUE(op, cb, proc));
}

static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status,
                              const char msg[], pmix_proc_t procs[], size_t n,
                              pmix_op_cbfunc_t cb, void *cbdata)
{
    host.object = object;
    host.code = status;
    px_str_copy(host.text, sizeof(host.text), msg);
    record_procs(procs, n);
    arrived("abort", proc);
    return answer(DUE(op, cb, proc));
}

static pmix_status_t fence_nb(const pmix_proc_t procs[], size_t n_procs,
                              const pmix_info_t info[], size_t n, char *data,
                              size_t n_data, pmix_modex_cbfunc_t cb, void *cbdata)
{
    record_procs(procs, n_procs);
    record_infos(&host.given, info, n);
    free(host.data);
    host.data = data;
    host.n_data = n_data;
    arrived("fence_nb", NULL);
    return answer(DUE(modex, cb, procs));
}

static pmix_status_t direct_modex(const pmix_proc_t *proc, const pmix_info_t info[],
                                  size_t n, pmix_modex_cbfunc_t cb, void *cbdata)
{
    return arrived_with("direct_modex", proc, info, n, DUE(modex, cb, proc));
}

static pmix_status_t on_publish(const pmix_proc_t *proc, const pmix_info_t info[],
                                size_t n, pmix_op_cbfunc_t cb, void *cbdata)
{
    return arrived_with("publish", proc, info, n, DUE(op, cb, proc));
}

static pmix_status_t on_lookup(const pmix_proc_t *proc, char **keys,
                               const pmix_info_t info[], size_t n,
                               pmix_lookup_cbfunc_t cb, void *cbdata)
{
    record_keys(keys);
    return arrived_with("lookup", proc, info, n, DUE(lookup, cb, proc));
}

static pmix_status_t on_unpublish(const pmix_proc_t *proc, char **keys,
                                  const pmix_info_t info[], size_t n,
                                  pmix_op_cbfunc_t cb, void *cbdata)
{
    record_keys(keys);
    return arrived_with("unpublish", proc, info, n, DUE(op, cb, proc));
}

static pmix_status_t on_spawn(const pmix_proc_t *proc, const pmix_info_t info[],
                              size_t n, const pmix_app_t apps[], size_t n_apps,
                              pmix_spawn_cbfunc_t cb, void *cbdata)
{
    record_infos(&host.given, info, n);
    px_str_copy(host.text, sizeof(host.text), n_apps ? apps[0].cmd : "");
    host.code = (int)n_apps;
    arrived("spawn", proc);
    return answer(DUE(spawn, cb, proc));
}

static pmix_status_t on_connect(const pmix_proc_t procs[], size_t n_procs,
                                const pmix_info_t info[], size_t n, pmix_op_cbfunc_t cb,
                                void *cbdata)
{
    record_procs(procs, n_procs);
    return arrived_with("connect", NULL, info, n, DUE(op, cb, procs));
}

static pmix_status_t on_disconnect(const pmix_proc_t procs[], size_t n_procs,
                                   const pmix_info_t info[], size_t n,
                                   pmix_op_cbfunc_t cb, void *cbdata)
{
    record_procs(procs, n_procs);
    return arrived_with("disconnect", NULL, info, n, DUE(op, cb, procs));
}

static pmix_status_t register_events(pmix_status_t *codes, size_t n_codes,
                                     const pmix_info_t info[], size_t n,
                                     pmix_op_cbfunc_t cb, void *cbdata)
{
    host.code = n_codes ? codes[0] : 0;
    host.n_keys = n_codes;
    return arrived_with("register_events", NULL, info, n, DUE(op, cb, NULL));
}

static pmix_status_t deregister_events(pmix_status_t *codes PX_UNUSED,
                                       size_t n_codes PX_UNUSED, pmix_op_cbfunc_t cb,
                                       void *cbdata)
{
    arrived("deregister_events", NULL);
    return answer(DUE(op, cb, NULL));
}

static pmix_status_t notify_event(pmix_status_t code, const pmix_proc_t *source,
                                  pmix_data_range_t range, pmix_info_t info[], size_t n,
                                  pmix_op_cbfunc_t cb, void *cbdata)
{
    host.code = code;
    host.n_keys = range;
    return arrived_with("notify_event", source, info, n, DUE(op, cb, source));
}

static pmix_status_t on_query(pmix_proc_t *proc, pmix_query_t *queries, size_t n,
                              pmix_info_cbfunc_t cb, void *cbdata)
{
    host.code = (int)n;
    record_keys(n ? queries[0].keys : NULL);
    record_infos(&host.given, n ? queries[0].qualifiers : NULL,
                 n ? queries[0].nqual : 0);
    arrived("query", proc);
    return answer(DUE(info, cb, proc));
}

static void on_log(const pmix_proc_t *client, const pmix_info_t data[], size_t n_data,
                   const pmix_info_t directives[], size_t n, pmix_op_cbfunc_t cb,
                   void *cbdata)
{
    record_infos(&host.given_data, data, n_data);
    record_infos(&host.given, directives, n);
    arrived("log", client);
    (void)answer(DUE(op, cb, client));
}

static pmix_status_t on_allocate(const pmix_proc_t *client,
                                 pmix_alloc_directive_t directive,
                                 const pmix_info_t data[], size_t n,
                                 pmix_info_cbfunc_t cb, void *cbdata)
{
    host.code = directive;
    return arrived_with("allocate", client, data, n, DUE(info, cb, client));
}

static pmix_status_t job_control(const pmix_proc_t *requestor,
                                 const pmix_proc_t targets[], size_t n_targets,
                                 const pmix_info_t directives[], size_t n,
                                 pmix_info_cbfunc_t cb, void *cbdata)
{
    record_procs(targets, n_targets);
    return arrived_with("job_control", requestor, directives, n,
                        DUE(info, cb, requestor));
}

static pmix_status_t on_monitor(const pmix_proc_t *requestor,
                                const pmix_info_t *monitor, pmix_status_t error,
                                const pmix_info_t directives[], size_t n,
                                pmix_info_cbfunc_t cb, void *cbdata)
{
    record_infos(&host.given_data, monitor, 1);
    host.code = error;
    return arrived_with("monitor", requestor, directives, n, DUE(info, cb, requestor));
}

static pmix_status_t get_credential(const pmix_proc_t *proc,
                                    const pmix_info_t directives[], size_t n,
                                    pmix_credential_cbfunc_t cb, void *cbdata)
{
    return arrived_with("get_credential", proc, directives, n,
                        DUE(credential, cb, proc));
}

static pmix_status_t validate_credential(const pmix_proc_t *proc,
                                         const pmix_byte_object_t *cred,
                                         const pmix_info_t directives[], size_t n,
                                         pmix_validation_cbfunc_t cb, void *cbdata)
{
    px_str_copy(host.text, sizeof(host.text), cred->bytes);
    host.code = (int)cred->size;
    return arrived_with("validate_credential", proc, directives, n,
                        DUE(validation, cb, proc));
}

static pmix_status_t on_fabric(const pmix_proc_t *requestor, pmix_fabric_operation_t op,
                               const pmix_info_t directives[], size_t n,
                               pmix_info_cbfunc_t cb, void *cbdata)
{
    host.code = (int)op;
    return arrived_with("fabric", requestor, directives, n, DUE(info, cb, requestor));
}

static pmix_status_t session_control(const pmix_proc_t *requestor, uint32_t session,
                                     const pmix_info_t directives[], size_t n,
                                     pmix_info_cbfunc_t cb, void *cbdata)
{
    host.code = (int)session;
    return arrived_with("session_control", requestor, directives, n,
                        DUE(info, cb, requestor));
}

static pmix_status_t resource_block(const pmix_proc_t *requestor,
                                    pmix_resource_block_directive_t directive,
                                    const char *block,
                                    const pmix_resource_unit_t *units, size_t n_units,
                                    const pmix_info_t *info, size_t n,
                                    pmix_op_cbfunc_t cb, void *cbdata)
{
    px_str_copy(host.text, sizeof(host.text), block);
    host.code = directive;
    host.n_keys = n_units ? units[n_units - 1].count : 0;
    return arrived_with("resource_block", requestor, info, n, DUE(op, cb, requestor));
}

pmix_status_t host_log2(const pmix_proc_t *client, const pmix_info_t data[],
                        size_t n_data, const pmix_info_t directives[], size_t n,
                        pmix_op_cbfunc_t cb, void *cbdata)
{
    record_infos(&host.given_data, data, n_data);
    return arrived_with("log2", client, directives, n, DUE(op, cb, client));
}

static pmix_status_t iof_pull(const pmix_proc_t procs[], size_t n_procs,
                              const pmix_info_t directives[], size_t n,
                              pmix_iof_channel_t channels, pmix_op_cbfunc_t cb,
                              void *cbdata)
{
    host.code = channels;
    record_procs(procs, n_procs);
    return arrived_with("iof_pull", NULL, directives, n, DUE(op, cb, procs));
}

static pmix_status_t push_stdin(const pmix_proc_t *source, const pmix_proc_t targets[],
                                size_t n_targets, const pmix_info_t directives[],
                                size_t n, const pmix_byte_object_t *bo,
                                pmix_op_cbfunc_t cb, void *cbdata)
{
    record_procs(targets, n_targets);
    record_infos(&host.given, directives, n);
    host.n_data = bo->size;
    snprintf(host.text, sizeof host.text, "%.*s", (int)bo->size,
             bo->bytes ? bo->bytes : "");
    arrived("push_stdin", source);
    return answer(DUE(op, cb, source));
}

const pmix_server_module_t host_module = {
    .client_connected = client_connected,
    .client_finalized = client_finalized,
    .abort = on_abort,
    .fence_nb = fence_nb,
    .direct_modex = direct_modex,
    .publish = on_publish,
    .lookup = on_lookup,
    .unpublish = on_unpublish,
    .spawn = on_spawn,
    .connect = on_connect,
    .disconnect = on_disconnect,
    .register_events = register_events,
    .deregister_events = deregister_events,
    .notify_event = notify_event,
    .query = on_query,
    .log = on_log,
    .allocate = on_allocate,
    .job_control = job_control,
    .iof_pull = iof_pull,
    .push_stdin = push_stdin,
    .monitor = on_monitor,
    .get_credential = get_credential,
    .validate_credential = validate_credential,
    .fabric = on_fabric,
    .client_connected2 = client_connected2,
    .session_control = session_control,
    .resource_block = resource_block,
};
