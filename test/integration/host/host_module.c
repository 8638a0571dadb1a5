/* SPDX-License-Identifier: BSD-3-Clause */
/* Upcalls of the small host. The library's thread makes the upcalls, and a queue passes the replies to
 * the host's thread. */
#include "host.h"

#include <pthread.h>

#define MAX_PUBLISHED 64

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool running, stopping;
    enum host_answers how;
    struct reply *first, **last;
    int counts[UP_COUNT];
    int abort_status;
} host = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .changed = PTHREAD_COND_INITIALIZER,
          .abort_status = -1};

/* ---- replies --------------------------------------------------------------------- */

struct reply {
    struct reply *next;
    void (*fn)(void *arg);
    void *arg;
};

static void *answer(void *unused)
{
    pthread_mutex_lock(&host.lock);
    for (;;) {
        struct reply *r = host.first;

        if (!r && host.stopping)
            break;
        if (!r) {
            pthread_cond_wait(&host.changed, &host.lock);
            continue;
        }
        host.first = r->next;
        if (!host.first)
            host.last = &host.first;
        pthread_mutex_unlock(&host.lock);
        r->fn(r->arg);
        free(r);
        pthread_mutex_lock(&host.lock);
    }
    pthread_mutex_unlock(&host.lock);
    return NULL;
}

void host_answers(enum host_answers how)
{
    host.how = how;
    host.stopping = false;
    host.last = &host.first;
    host.running = true;
    HOST_CHECK(pthread_create(&host.thread, NULL, answer, NULL) == 0);
}

void host_stop_answering(void)
{
    if (!host.running)
        return;
    pthread_mutex_lock(&host.lock);
    host.stopping = true;
    pthread_cond_signal(&host.changed);
    pthread_mutex_unlock(&host.lock);
    pthread_join(host.thread, NULL);
    host.running = false;
}

void host_reply(void (*fn)(void *arg), void *arg)
{
    struct reply *r;

    if (host.how != HOST_LATER) {
        fn(arg);
        return;
    }
    r = host_alloc(sizeof(*r));
    r->fn = fn;
    r->arg = arg;
    pthread_mutex_lock(&host.lock);
    *host.last = r;
    host.last = &r->next;
    pthread_cond_signal(&host.changed);
    pthread_mutex_unlock(&host.lock);
}

static void count(enum host_upcall which)
{
    __atomic_add_fetch(&host.counts[which], 1, __ATOMIC_SEQ_CST);
}

int host_count(enum host_upcall which)
{
    return __atomic_load_n(&host.counts[which], __ATOMIC_SEQ_CST);
}

void host_reset_counts(void)
{
    for (int i = 0; i < UP_COUNT; i++)
        __atomic_store_n(&host.counts[i], 0, __ATOMIC_SEQ_CST);
    host.abort_status = -1;
}

int host_abort_status(void)
{
    return __atomic_load_n(&host.abort_status, __ATOMIC_SEQ_CST);
}

/* ---- replies of two kinds: a status, or bytes ------------------------------------ */

struct status_answer {
    pmix_status_t status;
    pmix_op_cbfunc_t cb;
    void *cbdata;
};

static void give_status(void *arg)
{
    struct status_answer *a = arg;

    if (a->cb)
        a->cb(a->status, a->cbdata);
    free(a);
}

static pmix_status_t with_status(pmix_status_t status, pmix_op_cbfunc_t cb,
                                 void *cbdata)
{
    struct status_answer *a;

    if (host.how == HOST_AT_ONCE)
        return status == PMIX_SUCCESS ? PMIX_OPERATION_SUCCEEDED : status;
    a = host_alloc(sizeof(*a));
    *a = (struct status_answer){status, cb, cbdata};
    host_reply(give_status, a);
    return PMIX_SUCCESS;
}

struct data_answer {
    pmix_status_t status;
    char *data;
    size_t n;
    pmix_modex_cbfunc_t cb;
    void *cbdata;
};

static void give_data(void *arg)
{
    struct data_answer *a = arg;

    a->cb(a->status, a->data, a->n, a->cbdata, free, a->data);
    free(a);
}

static void with_data(pmix_status_t status, const char *data, size_t n,
                      pmix_modex_cbfunc_t cb, void *cbdata)
{
    struct data_answer *a = host_alloc(sizeof(*a));

    *a = (struct data_answer){status, NULL, n, cb, cbdata};
    if (n > 0)
        a->data = memcpy(host_alloc(n), data, n);
    host_reply(give_data, a);
}

/* ---- upcalls --------------------------------------------------------------------- */

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object,
                                  pmix_info_t info[], size_t n, pmix_op_cbfunc_t cb,
                                  void *cbdata)
{
    count(UP_CONNECTED);
    return with_status(PMIX_SUCCESS, cb, cbdata);
}

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *object,
                                  pmix_op_cbfunc_t cb, void *cbdata)
{
    count(UP_FINALIZED);
    return with_status(PMIX_SUCCESS, cb, cbdata);
}

/* Ends the caller's job, as resource managers do. */
static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status,
                              const char message[], pmix_proc_t procs[], size_t n,
                              pmix_op_cbfunc_t cb, void *cbdata)
{
    count(UP_ABORT);
    __atomic_store_n(&host.abort_status, status, __ATOMIC_SEQ_CST);
    host_kill_job(proc->nspace);
    return with_status(PMIX_SUCCESS, cb, cbdata);
}

/* Returns the data of this node, the only node. */
static pmix_status_t on_fence(const pmix_proc_t procs[], size_t n_procs,
                              const pmix_info_t info[], size_t n_info, char *data,
                              size_t n, pmix_modex_cbfunc_t cb, void *cbdata)
{
    with_data(PMIX_SUCCESS, data, n, cb, cbdata);
    free(data); /* the host frees the data with every library, against the Standard */
    return PMIX_SUCCESS;
}

static pmix_status_t on_dmodex(const pmix_proc_t *proc, const pmix_info_t info[],
                               size_t n, pmix_modex_cbfunc_t cb, void *cbdata)
{
    with_data(PMIX_ERR_NOT_FOUND, NULL, 0, cb, cbdata);
    return PMIX_SUCCESS;
}

/* Published data; host.lock protects it from upcalls of several threads. */
static pmix_pdata_t published[MAX_PUBLISHED];

/* Returns the entry of a key, or a free entry for "". */
static pmix_pdata_t *find_published(const char *key)
{
    for (int i = 0; i < MAX_PUBLISHED; i++)
        if (strcmp(published[i].key, key) == 0)
            return &published[i];
    return NULL;
}

static pmix_status_t add_published(const pmix_proc_t *owner, const pmix_info_t *info)
{
    pmix_pdata_t *p = find_published("");

    if (find_published(info->key))
        return PMIX_ERR_DUPLICATE_KEY;
    if (!p)
        return PMIX_ERR_OUT_OF_RESOURCE;
    p->proc = *owner;
    memcpy(p->key, info->key, sizeof(p->key));
    return PMIx_Value_xfer(&p->value, &info->value);
}

static pmix_status_t on_publish(const pmix_proc_t *proc, const pmix_info_t info[],
                                size_t n, pmix_op_cbfunc_t cb, void *cbdata)
{
    pmix_status_t rc = PMIX_SUCCESS;

    count(UP_PUBLISH);
    pthread_mutex_lock(&host.lock);
    for (size_t i = 0; i < n && rc == PMIX_SUCCESS; i++)
        if (strncmp(info[i].key, "pmix.", 5) != 0)
            rc = add_published(proc, &info[i]);
    pthread_mutex_unlock(&host.lock);
    return with_status(rc, cb, cbdata);
}

struct lookup_answer {
    pmix_pdata_t *found;
    size_t n;
    pmix_lookup_cbfunc_t cb;
    void *cbdata;
};

static void give_lookup(void *arg)
{
    struct lookup_answer *a = arg;

    a->cb(a->n ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND, a->found, a->n, a->cbdata);
    for (size_t i = 0; i < a->n; i++)
        PMIX_VALUE_DESTRUCT(&a->found[i].value);
    free(a->found);
    free(a);
}

static pmix_status_t on_lookup(const pmix_proc_t *proc, char **keys,
                               const pmix_info_t info[], size_t n_info,
                               pmix_lookup_cbfunc_t cb, void *cbdata)
{
    struct lookup_answer *a = host_alloc(sizeof(*a));
    size_t n = 0;

    count(UP_LOOKUP);
    while (keys[n])
        n++;
    *a = (struct lookup_answer){.cb = cb, .cbdata = cbdata};
    a->found = host_alloc((n + 1) * sizeof(pmix_pdata_t));
    pthread_mutex_lock(&host.lock);
    for (size_t i = 0; i < n; i++) {
        const pmix_pdata_t *p = find_published(keys[i]);
        pmix_pdata_t *to = &a->found[a->n];

        if (!p)
            continue;
        to->proc = p->proc;
        memcpy(to->key, p->key, sizeof(to->key));
        HOST_GOOD(PMIx_Value_xfer(&to->value, &p->value));
        a->n++;
    }
    pthread_mutex_unlock(&host.lock);
    host_reply(give_lookup, a);
    return PMIX_SUCCESS;
}

static bool is_named(char **keys, const char *key)
{
    for (int k = 0; keys && keys[k]; k++)
        if (strcmp(keys[k], key) == 0)
            return true;
    return !keys;
}

static pmix_status_t on_unpublish(const pmix_proc_t *proc, char **keys,
                                  const pmix_info_t info[], size_t n,
                                  pmix_op_cbfunc_t cb, void *cbdata)
{
    count(UP_UNPUBLISH);
    pthread_mutex_lock(&host.lock);
    for (pmix_pdata_t *p = published; p < published + MAX_PUBLISHED; p++)
        if (p->key[0] && PMIX_CHECK_PROCID(&p->proc, proc) && is_named(keys, p->key)) {
            PMIX_VALUE_DESTRUCT(&p->value);
            memset(p, 0, sizeof(*p));
        }
    pthread_mutex_unlock(&host.lock);
    return with_status(PMIX_SUCCESS, cb, cbdata);
}

/* Upcall of connect and of disconnect. */
static pmix_status_t on_connect(const pmix_proc_t procs[], size_t n_procs,
                                const pmix_info_t info[], size_t n, pmix_op_cbfunc_t cb,
                                void *cbdata)
{
    return with_status(PMIX_SUCCESS, cb, cbdata);
}

static pmix_status_t on_register_events(pmix_status_t *codes, size_t n_codes,
                                        const pmix_info_t info[], size_t n,
                                        pmix_op_cbfunc_t cb, void *cbdata)
{
    return with_status(PMIX_SUCCESS, cb, cbdata);
}

static pmix_status_t on_deregister_events(pmix_status_t *codes, size_t n_codes,
                                          pmix_op_cbfunc_t cb, void *cbdata)
{
    return with_status(PMIX_SUCCESS, cb, cbdata);
}

static pmix_status_t on_notify(pmix_status_t code, const pmix_proc_t *source,
                               pmix_data_range_t range, pmix_info_t info[], size_t n,
                               pmix_op_cbfunc_t cb, void *cbdata)
{
    count(UP_NOTIFY);
    if (getenv("HOST_NOTIFY_AT_ONCE"))
        return PMIX_OPERATION_SUCCEEDED;
    return with_status(PMIX_SUCCESS, cb, cbdata);
}

const pmix_server_module_t host_module = {
    .client_connected2 = on_connected,
    .client_finalized = on_finalized,
    .abort = on_abort,
    .fence_nb = on_fence,
    .direct_modex = on_dmodex,
    .publish = on_publish,
    .lookup = on_lookup,
    .unpublish = on_unpublish,
    .connect = on_connect,
    .disconnect = on_connect,
    .register_events = on_register_events,
    .deregister_events = on_deregister_events,
    .notify_event = on_notify,
};
