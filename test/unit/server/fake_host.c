/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake_host.h"
#include "raw.h"

#include "core/base/str.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MAX_CALLS 8192

struct fake_host host;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called = PTHREAD_COND_INITIALIZER;
static const char *calls[MAX_CALLS];
static unsigned n_calls;

enum kind { OP, INFO, LOOKUP, SPAWN, MODEX, CREDENTIAL, VALIDATION };

/* Answer that is due. */
struct due {
    struct due *next;
    enum kind kind;
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
    const pmix_proc_t *proc; /* the library's; must stay valid until the answer */
    pmix_proc_t was;
    pthread_t thread;
};
static struct due *held, *threads;

/* ---- answers ----------------------------------------------------------------------- */

static void release(void *data PX_UNUSED)
{
    __atomic_add_fetch(&host.released, 1, __ATOMIC_RELAXED);
}

/* Answers with a credential, which is freed after the callback. */
static void give_credential(const struct due *d, pmix_status_t status)
{
    pmix_byte_object_t bo = {.bytes = malloc(host.n_bytes + 1), .size = host.n_bytes};

    if (host.n_bytes)
        memcpy(bo.bytes, host.bytes, host.n_bytes);
    d->cb.credential(status, status ? NULL : &bo, host.infos.v, host.infos.n,
                     d->cbdata);
    PMIx_Byte_object_destruct(&bo);
}

static void give(const struct due *d, pmix_status_t status)
{
    host.args_lived = !d->proc || px_proc_same(d->proc, &d->was);
    switch (d->kind) {
    case OP:
        d->cb.op(status, d->cbdata);
        break;
    case INFO:
        d->cb.info(status, host.infos.v, host.infos.n, d->cbdata, release, NULL);
        break;
    case LOOKUP:
        d->cb.lookup(status, host.pdata, host.n_pdata, d->cbdata);
        break;
    case SPAWN:
        d->cb.spawn(status, host.nspace, d->cbdata);
        break;
    case MODEX:
        d->cb.modex(status, host.bytes, host.n_bytes, d->cbdata, release, NULL);
        break;
    case CREDENTIAL:
        give_credential(d, status);
        break;
    case VALIDATION:
        d->cb.validation(status, host.infos.v, host.infos.n, d->cbdata);
    }
}

static void *give_in_thread(void *arg)
{
    give(arg, host.status);
    return NULL;
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
    host.n_bytes = host.n_pdata = 0; /* belongs to a test that has ended */
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

#define PROC     const pmix_proc_t *proc
#define PROCS    const pmix_proc_t procs[], size_t n_procs
#define INFOS    const pmix_info_t info[], size_t n
#define CB(kind) pmix_##kind##_cbfunc_t cb, void *cbdata
#define DUE(kind_, member, on)                                           \
    &(struct due)                                                        \
    {                                                                    \
        .kind = (kind_), .cb.member = cb, .cbdata = cbdata, .proc = (on) \
    }

static pmix_status_t arrived_as(enum host_how how, const char *name, INFOS,
                                const struct due *due)
{
    struct due *d = malloc(sizeof(*d)), **end = &held;

    *d = *due;
    host.name = name;
    if (d->proc)
        host.proc = d->was = *d->proc;
    record_infos(&host.given, info, n);
    if (host.within)
        host.within();
    pthread_mutex_lock(&lock); /* host_await may return now, and the test may answer */
    while (*end)
        end = &(*end)->next;
    if (how == HOST_HELD)
        *end = d;
    ck_assert_uint_lt(n_calls, MAX_CALLS);
    calls[n_calls++] = name;
    pthread_cond_broadcast(&called);
    pthread_mutex_unlock(&lock);
    if (how == HOST_HELD)
        return PMIX_SUCCESS;
    if (how == HOST_THREAD) {
        d->next = threads;
        threads = d;
        ok(pthread_create(&d->thread, NULL, give_in_thread, d));
        return PMIX_SUCCESS;
    }
    if (how == HOST_INSIDE || how == HOST_BOTH)
        give(d, host.status);
    free(d);
    return how == HOST_INSIDE ? PMIX_SUCCESS
           : how == HOST_DONE ? PMIX_OPERATION_SUCCEEDED
           : how == HOST_BOTH ? PMIX_ERROR
                              : host.status;
}

static pmix_status_t arrived(const char *name, INFOS, const struct due *due)
{
    return arrived_as(host.how, name, info, n, due);
}

static pmix_status_t client_connected(PROC, void *object, CB(op))
{
    ck_assert(!cb); /* a host does not call back in this slot */
    host.object = object;
    return arrived_as(host.how_connected == HOST_ERROR ? HOST_ERROR : HOST_DONE,
                      "client_connected", NULL, 0, DUE(OP, op, proc));
}

static pmix_status_t client_connected2(PROC, void *object, pmix_info_t info[], size_t n,
                                       CB(op))
{
    host.object = object;
    return arrived_as(host.how_connected, "client_connected2", info, n,
                      DUE(OP, op, proc));
}

static pmix_status_t client_finalized(PROC, void *object, CB(op))
{
    host.object = object;
    return arrived("client_finalized", NULL, 0, DUE(OP, op, proc));
}

static pmix_status_t on_abort(PROC, void *object, int status, const char msg[],
                              pmix_proc_t procs[], size_t n_procs, CB(op))
{
    host.object = object;
    host.code = status;
    px_str_copy(host.text, sizeof(host.text), msg);
    record_procs(procs, n_procs);
    return arrived("abort", NULL, 0, DUE(OP, op, proc));
}

static pmix_status_t fence_nb(PROCS, INFOS, char *data, size_t n_data, CB(modex))
{
    record_procs(procs, n_procs);
    free(host.data);
    host.data = data;
    host.n_data = n_data;
    return arrived("fence_nb", info, n, DUE(MODEX, modex, procs));
}

static pmix_status_t direct_modex(PROC, INFOS, CB(modex))
{
    return arrived("direct_modex", info, n, DUE(MODEX, modex, proc));
}

static pmix_status_t on_publish(PROC, INFOS, CB(op))
{
    return arrived("publish", info, n, DUE(OP, op, proc));
}

static pmix_status_t on_lookup(PROC, char **keys, INFOS, CB(lookup))
{
    record_keys(keys);
    return arrived("lookup", info, n, DUE(LOOKUP, lookup, proc));
}

static pmix_status_t on_unpublish(PROC, char **keys, INFOS, CB(op))
{
    record_keys(keys);
    return arrived("unpublish", info, n, DUE(OP, op, proc));
}

static pmix_status_t on_spawn(PROC, INFOS, const pmix_app_t apps[], size_t n_apps,
                              CB(spawn))
{
    px_str_copy(host.text, sizeof(host.text), n_apps ? apps[0].cmd : "");
    host.code = (int)n_apps;
    return arrived("spawn", info, n, DUE(SPAWN, spawn, proc));
}

static pmix_status_t on_connect(PROCS, INFOS, CB(op))
{
    record_procs(procs, n_procs);
    return arrived("connect", info, n, DUE(OP, op, procs));
}

static pmix_status_t on_disconnect(PROCS, INFOS, CB(op))
{
    record_procs(procs, n_procs);
    return arrived("disconnect", info, n, DUE(OP, op, procs));
}

static pmix_status_t register_events(pmix_status_t *codes, size_t n_codes, INFOS,
                                     CB(op))
{
    host.code = n_codes ? codes[0] : 0;
    host.n_keys = n_codes;
    return arrived("register_events", info, n, DUE(OP, op, NULL));
}

static pmix_status_t notify_event(pmix_status_t code, PROC, pmix_data_range_t range,
                                  pmix_info_t info[], size_t n, CB(op))
{
    host.code = code;
    host.n_keys = range;
    return arrived("notify_event", info, n, DUE(OP, op, proc));
}

static pmix_status_t on_query(pmix_proc_t *proc, pmix_query_t *queries, size_t n,
                              CB(info))
{
    host.code = (int)n;
    record_keys(n ? queries[0].keys : NULL);
    return arrived("query", n ? queries[0].qualifiers : NULL, n ? queries[0].nqual : 0,
                   DUE(INFO, info, proc));
}

pmix_status_t host_log2(PROC, const pmix_info_t data[], size_t n_data, INFOS, CB(op))
{
    record_infos(&host.given_data, data, n_data);
    return arrived("log2", info, n, DUE(OP, op, proc));
}

static void on_log(PROC, const pmix_info_t data[], size_t n_data, INFOS, CB(op))
{
    record_infos(&host.given_data, data, n_data);
    (void)arrived("log", info, n, DUE(OP, op, proc));
}

static pmix_status_t on_allocate(PROC, pmix_alloc_directive_t directive, INFOS,
                                 CB(info))
{
    host.code = directive;
    return arrived("allocate", info, n, DUE(INFO, info, proc));
}

static pmix_status_t job_control(PROC, PROCS, INFOS, CB(info))
{
    record_procs(procs, n_procs);
    return arrived("job_control", info, n, DUE(INFO, info, proc));
}

static pmix_status_t on_monitor(PROC, const pmix_info_t *monitor, pmix_status_t error,
                                INFOS, CB(info))
{
    record_infos(&host.given_data, monitor, 1);
    host.code = error;
    return arrived("monitor", info, n, DUE(INFO, info, proc));
}

static pmix_status_t get_credential(PROC, INFOS, CB(credential))
{
    return arrived("get_credential", info, n, DUE(CREDENTIAL, credential, proc));
}

static pmix_status_t validate_credential(PROC, const pmix_byte_object_t *cred, INFOS,
                                         CB(validation))
{
    snprintf(host.text, sizeof(host.text), "%.*s", (int)cred->size, cred->bytes);
    host.code = (int)cred->size;
    return arrived("validate_credential", info, n, DUE(VALIDATION, validation, proc));
}

static pmix_status_t on_fabric(PROC, pmix_fabric_operation_t op, INFOS, CB(info))
{
    host.code = (int)op;
    return arrived("fabric", info, n, DUE(INFO, info, proc));
}

static pmix_status_t on_group(pmix_group_operation_t op, char grp[], PROCS, INFOS,
                              CB(info))
{
    host.code = op;
    px_str_copy(host.text, sizeof(host.text), grp);
    record_procs(procs, n_procs);
    return arrived("group", info, n, DUE(INFO, info, procs));
}

static pmix_status_t session_control(PROC, uint32_t session, INFOS, CB(info))
{
    host.code = (int)session;
    return arrived("session_control", info, n, DUE(INFO, info, proc));
}

static pmix_status_t resource_block(PROC, pmix_resource_block_directive_t directive,
                                    const char *block,
                                    const pmix_resource_unit_t *units, size_t n_units,
                                    INFOS, CB(op))
{
    px_str_copy(host.text, sizeof(host.text), block);
    host.code = directive;
    host.n_keys = n_units ? units[n_units - 1].count : 0;
    return arrived("resource_block", info, n, DUE(OP, op, proc));
}

static pmix_status_t iof_pull(PROCS, INFOS, pmix_iof_channel_t channels, CB(op))
{
    host.code = channels;
    record_procs(procs, n_procs);
    return arrived("iof_pull", info, n, DUE(OP, op, procs));
}

static pmix_status_t push_stdin(PROC, PROCS, INFOS, const pmix_byte_object_t *bo,
                                CB(op))
{
    record_procs(procs, n_procs);
    host.n_data = bo->size;
    snprintf(host.text, sizeof(host.text), "%.*s", (int)bo->size,
             bo->bytes ? bo->bytes : "");
    return arrived("push_stdin", info, n, DUE(OP, op, proc));
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
    .group = on_group,
    .client_connected2 = client_connected2,
    .session_control = session_control,
    .resource_block = resource_block,
};
