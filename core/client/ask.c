/* SPDX-License-Identifier: BSD-3-Clause */
/* Gets on their way to the server. An answer brings what the server has of a process,
 * so that of many gets of one process only the first goes out; the others wait for its
 * answer, and look again. The server may keep the first waiting for a key that is not
 * committed yet, which must not hold up others whose keys are there: these are tried
 * one at a time in a way that never waits, and one that is still missing then goes out
 * itself. */
#include "core/client/client.h"

#include <string.h>

/* How long an answer may take before others are tried. */
#define PATIENCE_MS 10

struct px_asking {
    pmix_proc_t proc;
    struct px_list waiting;     /* struct px_ask, as long as there are requests */
    unsigned n_requests;        /* under way */
    const struct px_ask *tried; /* one of those that wait, or NULL */
    bool is_trying;             /* the answer for that, or one that has ended, is due */
    struct px_timer *patience;
};

struct px_asked {
    struct px_asking *about;
    struct px_ask *ask; /* NULL: it has ended, or is tried only */
    bool is_try;
};

static void try_next(struct px_asking *a);

static void ask_end(struct px_ask *ask, pmix_status_t status)
{
    px_timer_free(px_take(&ask->timer));
    ask->done(ask, status);
}

static void leave(struct px_ask *ask)
{
    if (ask->about->tried == ask)
        ask->about->tried = NULL;
    px_list_remove(&ask->link);
}

static struct px_ask *first_of(struct px_asking *a)
{
    return px_list_empty(&a->waiting)
               ? NULL
               : PX_CONTAINER_OF(a->waiting.next, struct px_ask, link);
}

static void drop_if_idle(struct px_asking *a)
{
    if (a->n_requests > 0)
        return;
    px_timer_free(a->patience);
    px_map_remove(&px_process.model->asking, &a->proc, sizeof(a->proc));
    free(a);
}

/* ---- answers --------------------------------------------------------------------- */

/* In the order they came, up to the first that is not served; lost: why no more answers
 * will come. */
static void serve_waiting(struct px_asking *a, pmix_status_t lost)
{
    for (struct px_ask *ask; (ask = first_of(a));) {
        pmix_status_t rc = lost ? lost : ask->look(ask);

        if (rc == PMIX_ERR_NOT_FOUND)
            return;
        leave(ask);
        ask_end(ask, rc);
    }
}

static void on_answer(void *arg, pmix_status_t status, px_reader *reply);

static pmix_status_t send(struct px_asking *a, struct px_ask *ask, bool is_try)
{
    static const bool yes = true;
    struct px_args args = *ask->args;
    PX_AUTO(px_infos) info = {0};
    struct px_asked *r = calloc(1, sizeof *r);
    pmix_status_t rc = r ? PMIX_SUCCESS : PMIX_ERR_NOMEM;

    args.nspace = a->proc.nspace;
    args.rank = a->proc.rank;
    if (!rc)
        rc = px_infos_add_copy(&info, args.info.v, args.info.n);
    if (!rc)
        rc = px_infos_add(&info, PX_GET_PARTS, &yes, PMIX_BOOL);
    if (!rc && (is_try || ask->now))
        rc = px_infos_set(&info, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
    args.info = info;
    if (!rc) {
        *r = (struct px_asked){
            .about = a, .ask = is_try ? NULL : ask, .is_try = is_try};
        rc = px_channel_ask(px_process.channel, &px_request_get, &args, on_answer, r);
    }
    if (rc) {
        free(r);
        return rc;
    }
    a->n_requests++;
    if (!is_try)
        ask->request = r;
    return rc;
}

static void send_own(struct px_asking *a, struct px_ask *ask)
{
    pmix_status_t rc = send(a, ask, false);

    if (rc)
        ask_end(ask, rc);
}

static void try_next(struct px_asking *a)
{
    for (struct px_ask *ask; !a->is_trying && (ask = first_of(a));) {
        pmix_status_t rc = send(a, ask, true);

        if (rc) {
            leave(ask);
            ask_end(ask, rc);
        } else {
            a->is_trying = true;
            a->tried = ask;
        }
    }
}

/* The one that was tried, and is not served yet. */
static void tried_in_vain(struct px_asking *a, pmix_status_t status)
{
    struct px_ask *ask = (struct px_ask *)a->tried;

    leave(ask);
    if (status && (status != PMIX_ERR_NOT_FOUND || ask->now))
        ask_end(ask, status);
    else
        send_own(a, ask);
}

static void on_answer(void *arg, pmix_status_t status, px_reader *reply)
{
    struct px_asked *r = arg;
    struct px_asking *a = r->about;
    struct px_ask *ask = r->ask;
    bool is_try = r->is_try;

    free(r);
    status = px_client_read_values(status, reply);
    if (ask) {
        ask->request = NULL;
        px_timer_free(px_take(&ask->timer));
        ask->answered(ask, status);
    }
    serve_waiting(a, reply ? PMIX_SUCCESS : status);
    if (is_try) {
        a->is_trying = false;
        if (a->tried) {
            tried_in_vain(a, status);
            serve_waiting(a, PMIX_SUCCESS);
        }
    }
    try_next(a);
    a->n_requests--;
    drop_if_idle(a);
}

/* ---- questions ------------------------------------------------------------------- */

static void on_limit(void *arg)
{
    struct px_ask *ask = arg;

    if (ask->request)
        ask->request->ask = NULL;
    else
        leave(ask);
    ask_end(ask, PMIX_ERR_TIMEOUT);
}

static void on_patience(void *arg)
{
    try_next(arg);
}

static struct px_asking *asking_create(const pmix_proc_t *proc)
{
    struct px_asking *a = calloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->proc = *proc;
    px_list_init(&a->waiting);
    a->patience = px_timer_create(px_process.loop, on_patience, a);
    if (a->patience && px_map_put(&px_process.model->asking, proc, sizeof(*proc), a,
                                  NULL) == PMIX_SUCCESS)
        return a;
    px_timer_free(a->patience);
    free(a);
    return NULL;
}

/* Behind others. */
static void wait_for_others(struct px_ask *ask)
{
    struct px_asking *a = ask->about;
    bool is_first = px_list_empty(&a->waiting);

    px_list_append(&a->waiting, &ask->link);
    if (ask->now)
        try_next(a);
    else if (is_first)
        px_timer_set(a->patience, PATIENCE_MS);
}

void px_ask(struct px_ask *ask, const pmix_proc_t *proc)
{
    const px_infos *info = &ask->args->info;
    uint32_t seconds = px_info_u32(info->v, info->n, PMIX_TIMEOUT, 0);
    pmix_proc_t key = {0}; /* with nothing behind the name */

    px_proc_set(&key, proc->nspace, proc->rank);
    if (seconds) {
        ask->timer = px_timer_create(px_process.loop, on_limit, ask);
        if (ask->timer)
            px_timer_set(ask->timer, seconds * 1000ull);
    }
    struct px_asking *a = px_map_get(&px_process.model->asking, &key, sizeof(key));
    bool is_first = !a;
    if (is_first)
        a = asking_create(&key);
    ask->about = a;
    if (!a || (seconds && !ask->timer))
        ask_end(ask, PMIX_ERR_NOMEM);
    else if (is_first || !ask->args->text) /* all of a process is never there already */
        send_own(a, ask);
    else
        wait_for_others(ask);
    if (a && is_first)
        drop_if_idle(a);
}
