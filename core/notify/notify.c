/* SPDX-License-Identifier: BSD-3-Clause */
/* Delivery of events. Each event has its own chain of handlers, which run one at a
 * time. A handler may answer late, from any thread. */
#include "core/notify/notify.h"

#include "core/base/clock.h"
#include "core/link/api.h"
#include "core/notify/notify_impl.h"
#include "core/rt/log.h"

#include <string.h>

/* Limits of cached events, which late handlers may want. The oldest are removed
 * first. */
#define MAX_CACHED   64
#define MAX_CACHED_B (16u * 1024u * 1024u)
#define CACHE_MS     60000 /* maximum age, except for a programming model */

enum { CALLED, RETURNED, ANSWERED };

/* An event whose handlers are being called, or a cached event. */
struct event {
    struct px_msg msg;
    struct px_list link; /* in px_notify.running or .cached */
    struct px_notify *owner;
    pmix_status_t code;
    pmix_proc_t source;
    pmix_data_range_t range;
    px_infos infos;
    uint64_t at_ms; /* of a cached event: its arrival and size */
    size_t size_b;
    px_infos given;   /* infos passed to the current handler */
    px_infos results; /* results of previous handlers */
    px_infos answer;  /* results of the current handler, from its thread */
    pmix_status_t status;
    bool aborts;       /* a handler has returned PMIX_GROUP_CONSTRUCT_ABORT */
    _Atomic int state; /* state of the current handler, which may answer before it
                        * returns */
    size_t n_ids, pos;
    size_t ids[]; /* handlers that wanted the event at its arrival, in order */
};

static void event_free(struct event *e)
{
    if (!e)
        return;
    px_list_remove(&e->link);
    px_infos_cleanup(&e->infos);
    px_infos_cleanup(&e->given);
    px_infos_cleanup(&e->results);
    px_infos_cleanup(&e->answer);
    free(e);
}

pmix_status_t px_notify_create(struct px_client *client, struct px_notify **out)
{
    struct px_notify *n = calloc(1, sizeof(*n));

    if (!n)
        return PMIX_ERR_NOMEM;
    n->client = client;
    px_notify_set_route(n, NULL, NULL);
    px_list_init(&n->handlers.list);
    px_list_init(&n->running);
    px_list_init(&n->cached);
    *out = n;
    return PMIX_SUCCESS;
}

void px_notify_destroy(struct px_notify *n)
{
    if (!n)
        return;
    /* A handler without an answer may still use its event. Detach the event,
     * handler_done frees it. */
    PX_LIST_EACH (&n->running, struct event, e, link) {
        px_list_remove(&e->link);
        e->owner = NULL;
    }
    PX_LIST_EACH (&n->cached, struct event, e, link)
        event_free(e);
    px_handlers_fini(&n->handlers);
    free(n);
}

/* ---- receivers ------------------------------------------------------------------- */

/* Fills the set from an info. Returns false without an info or its processes. */
static bool read_set(const struct px_model *m, const pmix_info_t *info,
                     struct px_proc_index *set)
{
    const pmix_proc_t *procs;
    size_t n;

    if (!info || px_value_borrow_procs(&info->value, &procs, &n))
        return false;
    *set = px_proc_index_of(m, procs, n);
    return true;
}

struct px_aim px_aim_of(const struct px_model *m, pmix_status_t code,
                        const pmix_info_t *info, size_t n)
{
    if (n == 0)
        return (struct px_aim){.code = code};
    const pmix_info_t *custom = px_info_find(info, n, PMIX_EVENT_CUSTOM_RANGE);
    const pmix_info_t *about = px_info_find(info, n, PMIX_EVENT_AFFECTED_PROC);
    struct px_aim aim = {.code = code,
                         .is_custom = custom,
                         .non_default = px_info_flag(info, n, PMIX_EVENT_NON_DEFAULT)};

    about = about ? about : px_info_find(info, n, PMIX_EVENT_AFFECTED_PROCS);
    (void)read_set(m, custom, &aim.range); /* otherwise the range is empty */
    aim.is_about = read_set(m, about, &aim.affected);
    return aim;
}

void px_aim_fini(struct px_aim *aim)
{
    px_proc_index_fini(&aim->range);
    px_proc_index_fini(&aim->affected);
}

bool px_range_includes(struct px_aim *aim, pmix_data_range_t range,
                       const pmix_proc_t *source, const pmix_proc_t *proc)
{
    if (aim && aim->is_custom)
        return px_proc_index_has(&aim->range, proc);
    switch (range) {
    case PMIX_RANGE_RM:
    case PMIX_RANGE_CUSTOM: /* lacks a list of processes */
    case PMIX_RANGE_INVALID:
        return false;
    case PMIX_RANGE_NAMESPACE:
        return strcmp(source->nspace, proc->nspace) == 0;
    case PMIX_RANGE_PROC_LOCAL:
        return px_proc_same(source, proc);
    default:
        return true;
    }
}

bool px_aim_concerns(struct px_aim *aim, const pmix_proc_t *affected, size_t n_affected)
{
    bool hit = n_affected == 0 || !aim->is_about;

    for (size_t i = 0; i < n_affected && !hit; i++)
        hit = px_proc_index_meets(&aim->affected, &affected[i]);
    return hit;
}

static int compare_codes(const void *a, const void *b)
{
    pmix_status_t x = *(const pmix_status_t *)a, y = *(const pmix_status_t *)b;

    return (x > y) - (x < y);
}

size_t px_codes_sort(pmix_status_t *codes, size_t n)
{
    size_t kept = 0;

    if (n > 1)
        qsort(codes, n, sizeof(*codes), compare_codes);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || codes[i] != codes[kept - 1])
            codes[kept++] = codes[i];
    return kept;
}

bool px_codes_have(const pmix_status_t *sorted, size_t n, pmix_status_t code)
{
    return n > 0 && bsearch(&code, sorted, n, sizeof(code), compare_codes);
}

static bool handler_wants(const struct px_notify *n, const struct px_handler *h,
                          struct px_aim *aim, const pmix_proc_t *source)
{
    bool named = h->n_codes == 0 ? !aim->non_default
                                 : px_codes_have(h->codes, h->n_codes, aim->code);

    if (!named || !px_aim_concerns(aim, h->affected, h->n_affected))
        return false;
    for (size_t i = 0; i < h->n_sources; i++)
        if (px_proc_match(&h->sources[i], source))
            return true;
    return h->n_sources == 0 &&
           (h->range == PMIX_RANGE_UNDEF ||
            px_range_includes(NULL, h->range, &n->client->model->self, source));
}

/* ---- registration at the server -------------------------------------------------- */

bool px_notify_is_client(const struct px_notify *n)
{
    return n->client->channel.send && !px_notify_serves(n);
}

void px_notify_retire(struct px_notify *n, struct px_handler *h)
{
    struct px_channel *up = &n->client->channel;
    size_t n_gone;
    PX_AUTOFREE pmix_status_t *gone = px_handlers_only_of(&n->handlers, h, &n_gone);
    px_writer w;

    px_handlers_remove(h);
    /* Without memory the server continues to send unwanted events, which are
     * ignored. */
    if (n_gone == 0 || !px_notify_is_client(n))
        return;
    px_channel_begin(up, &w, PX_OP_DEREGEVENTS);
    for (size_t i = 0; i < n_gone; i++)
        px_pack_status(&w, gone[i]);
    (void)px_channel_request(up, &w, NULL, NULL); /* the server does not reply */
}

static void on_registered(void *arg PX_UNUSED, pmix_status_t status PX_UNUSED,
                          px_reader *reply PX_UNUSED)
{
}

static pmix_status_t register_codes(struct px_notify *n, pmix_status_t *codes,
                                    size_t n_codes)
{
    const struct px_args args = {.codes = codes, .n_codes = n_codes};

    return px_channel_ask(&n->client->channel, &px_request_regevents, &args,
                          on_registered, NULL);
}

pmix_status_t px_notify_connected(struct px_notify *n)
{
    PX_AUTOFREE pmix_status_t *codes = NULL;
    size_t n_codes = 0;
    bool any = false; /* true: a default handler gets events of all codes */
    pmix_status_t rc = PMIX_SUCCESS;

    if (!px_notify_is_client(n))
        return PMIX_SUCCESS;
    PX_LIST_EACH (&n->handlers.list, struct px_handler, h, link) {
        n_codes += h->n_codes;
        any |= h->n_codes == 0;
    }
    codes = malloc((n_codes + 1) * sizeof(*codes));
    if (!codes)
        return PMIX_ERR_NOMEM;
    n_codes = 0;
    PX_LIST_EACH (&n->handlers.list, struct px_handler, h, link)
        for (size_t i = 0; i < h->n_codes; i++)
            codes[n_codes++] = h->codes[i];
    n_codes = px_codes_sort(codes, n_codes);
    if (n_codes > 0)
        rc = register_codes(n, codes, n_codes);
    return rc || !any ? rc : register_codes(n, NULL, 0);
}

/* ---- watches --------------------------------------------------------------------- */

/* Passes the event on. The watch gets the event after the handlers. */
static void pass(size_t id PX_UNUSED, pmix_status_t code PX_UNUSED,
                 const pmix_proc_t *source PX_UNUSED, pmix_info_t *info PX_UNUSED,
                 size_t n_info PX_UNUSED, pmix_info_t *results PX_UNUSED,
                 size_t n_results PX_UNUSED, pmix_event_notification_cbfunc_fn_t done,
                 void *arg)
{
    done(PMIX_SUCCESS, NULL, 0, NULL, NULL, arg);
}

static void show_watch(const struct event *e)
{
    const struct px_notify *n = e->owner;
    const struct px_handled handled = {
        .aborts = e->aborts,
        .leads = px_info_flag(e->results.v, e->results.n, PMIX_GROUP_LEADER)};

    if (n->watches)
        n->watch.on_event(n->watch.ctx, e->code, &e->source, &e->given, &handled);
}

pmix_status_t px_notify_watch(struct px_notify *n, const pmix_status_t *codes,
                              size_t n_codes, const struct px_event_watch *watch)
{
    struct px_args args = {0};
    struct px_handler *h;
    pmix_status_t rc;

    if (n->watches)
        return PMIX_SUCCESS;
    rc = px_handlers_add(&n->handlers, codes, n_codes, NULL, 0, pass, &h);
    if (rc)
        return rc;
    PX_AUTOFREE pmix_status_t *fresh = px_handlers_only_of(&n->handlers, h,
                                                           &args.n_codes);
    args.codes = fresh;
    rc = fresh ? px_loop_need_thread(n->client->loop) : PMIX_ERR_NOMEM;
    if (!rc && args.n_codes > 0)
        rc = register_codes(n, args.codes, args.n_codes);
    if (rc) {
        px_handlers_remove(h);
        return rc;
    }
    n->watch = *watch;
    n->watch_id = h->id;
    n->watches = true;
    return PMIX_SUCCESS;
}

void px_notify_unwatch(struct px_notify *n)
{
    struct px_handler *h = px_handlers_find(&n->handlers, n->watch_id);

    if (n->watches && h)
        px_notify_retire(n, h);
    n->watches = false;
}

/* ---- the chain ------------------------------------------------------------------- */

static void chain_step(struct event *e);

static void on_answer(struct px_msg *msg)
{
    struct event *e = PX_CONTAINER_OF(msg, struct event, msg);

    if (e->owner)
        chain_step(e);
    else
        event_free(e);
}

/* Receives the handler's answer in any thread, also before the handler returns. */
static void handler_done(pmix_status_t status, pmix_info_t *results, size_t n,
                         pmix_op_cbfunc_t cb, void *thiscbdata,
                         void *notification_cbdata)
{
    struct event *e = notification_cbdata;
    pmix_status_t rc = px_infos_add_copy(&e->answer, results, n);

    if (cb)
        cb(rc, thiscbdata);
    e->status = status;
    if (atomic_exchange(&e->state, ANSWERED) != RETURNED)
        return;
    e->msg = (struct px_msg){.run = on_answer, .for_user = true};
    if (!px_process_post(&e->msg))
        event_free(e);
}

/* Prepares infos for a handler. The last handler gets the event's own infos. */
static pmix_status_t prepare(struct event *e, const struct px_handler *h)
{
    pmix_status_t rc = PMIX_SUCCESS;

    px_infos_cleanup(&e->given);
    if (e->pos == e->n_ids) {
        e->given = e->infos;
        e->infos = (px_infos){0};
    } else {
        rc = px_infos_add_copy(&e->given, e->infos.v, e->infos.n);
    }
    if (!rc && h->name)
        rc = px_infos_add(&e->given, PMIX_EVENT_HDLR_NAME, h->name, PMIX_STRING);
    if (!rc && h->has_object)
        rc = px_infos_add(&e->given, PMIX_EVENT_RETURN_OBJECT, h->object, PMIX_POINTER);
    return rc;
}

/* Calls the next handler. Returns false if there is none. */
static bool call_next(struct event *e)
{
    while (e->pos < e->n_ids) {
        size_t id = e->ids[e->pos++];
        struct px_handler *h = px_handlers_find(&e->owner->handlers, id);

        if (!h) /* deregistered meanwhile */
            continue;
        if (prepare(e, h)) {
            px_log(PX_LOG_ERROR, "event", "event %s not delivered: out of memory",
                   PMIx_Error_string(e->code));
            continue;
        }
        pmix_notification_fn_t fn = h->fn;
        if (h->oneshot)
            px_notify_retire(e->owner, h);
        atomic_store(&e->state, CALLED);
        fn(id, e->code, &e->source, e->given.v, e->given.n, e->results.v, e->results.n,
           handler_done, e);
        return true;
    }
    return false;
}

/* Calls handlers until one answers later. */
static void chain_step(struct event *e)
{
    int was;

    do {
        e->aborts |= e->status == PMIX_GROUP_CONSTRUCT_ABORT;
        if (e->answer.n && px_infos_add_copy(&e->results, e->answer.v, e->answer.n))
            px_log(PX_LOG_WARN, "event", "results of a handler dropped: out of memory");
        px_infos_cleanup(&e->answer);
        if (e->status == PMIX_EVENT_ACTION_COMPLETE || !call_next(e)) {
            show_watch(e);
            event_free(e);
            return;
        }
        was = CALLED;
    } while (!atomic_compare_exchange_strong(&e->state, &was, RETURNED));
}

/* True if later handlers must get the event as well: it declares a programming model of
 * a library in this process. */
static bool is_lasting(const struct event *e)
{
    return e->code == PMIX_MODEL_DECLARED && e->range == PMIX_RANGE_PROC_LOCAL;
}

static bool is_same(const struct event *a, const struct event *b)
{
    const pmix_data_array_t x = {PMIX_INFO, a->infos.n, a->infos.v};
    const pmix_data_array_t y = {PMIX_INFO, b->infos.n, b->infos.v};

    return px_proc_same(&a->source, &b->source) &&
           px_type_compare(PMIX_DATA_ARRAY, &x, &y) == 0;
}

/* ---- the cache ------------------------------------------------------------------- */

/* Takes the event out of the cache, for its handler or to be freed. */
static struct event *uncache(struct px_notify *n, struct event *e)
{
    px_list_remove(&e->link);
    n->n_cached--;
    n->cached_b -= e->size_b;
    return e;
}

/* Removes the oldest events beyond the limits, and all that are too old. */
static void trim_cache(struct px_notify *n)
{
    uint64_t now = px_clock_ms();

    PX_LIST_EACH (&n->cached, struct event, e, link)
        if ((!is_lasting(e) && now - e->at_ms > CACHE_MS) || n->n_cached > MAX_CACHED ||
            n->cached_b > MAX_CACHED_B)
            event_free(uncache(n, e));
}

static void cache_event(struct px_notify *n, struct event *e)
{
    if (px_info_flag(e->infos.v, e->infos.n, PMIX_EVENT_DO_NOT_CACHE)) {
        event_free(e);
        return;
    }
    PX_LIST_EACH (&n->cached, struct event, old, link)
        if (is_lasting(e) && is_lasting(old) && is_same(e, old))
            event_free(uncache(n, old));
    e->at_ms = px_clock_ms();
    e->size_b = sizeof(*e);
    for (size_t i = 0; i < e->infos.n; i++)
        e->size_b += px_type_size(PMIX_INFO, &e->infos.v[i]);
    px_list_append(&n->cached, &e->link);
    n->n_cached++;
    n->cached_b += e->size_b;
    trim_cache(n);
}

/* Posts the event: the caller may be a handler, so no handler may run here. */
static void start(struct px_notify *n, struct event *e)
{
    px_list_append(&n->running, &e->link);
    e->status = PMIX_SUCCESS;
    e->msg = (struct px_msg){.run = on_answer, .for_user = true};
    px_post(n->client->loop, &e->msg);
}

/* Makes an event for up to n_ids handlers. Returns NULL if memory is exhausted. */
static struct event *event_create(struct px_notify *n, pmix_status_t code,
                                  const pmix_proc_t *source, pmix_data_range_t range,
                                  size_t n_ids)
{
    struct event *e = calloc(1, sizeof(*e) + n_ids * sizeof(e->ids[0]));

    if (!e)
        return NULL;
    px_list_init(&e->link);
    e->owner = n;
    e->code = code;
    e->source = *source;
    e->range = range;
    return e;
}

/* Copies an event for a single later handler. */
static struct event *event_copy(const struct event *e)
{
    struct event *copy = event_create(e->owner, e->code, &e->source, e->range, 1);

    if (copy && px_infos_add_copy(&copy->infos, e->infos.v, e->infos.n))
        event_free(px_take(&copy));
    if (!copy)
        px_log(PX_LOG_ERROR, "event", "cannot keep event %s: out of memory",
               PMIx_Error_string(e->code));
    return copy;
}

/* Lists the handlers that get the event, which then belongs to them. only: as in
 * px_notify_offer. */
static void choose(struct px_notify *n, struct event *e, struct px_aim *aim,
                   const struct px_handler *only)
{
    PX_LIST_EACH (&n->handlers.list, struct px_handler, h, link)
        if ((!only || h == only) && handler_wants(n, h, aim, &e->source))
            e->ids[e->n_ids++] = h->id;
}

/* Makes an event with room for all handlers, or for the later handler of a cached
 * event. */
static struct event *event_for_all(struct px_notify *n, const struct px_aim *aim,
                                   const pmix_proc_t *source, pmix_data_range_t range)
{
    size_t room = 1;

    PX_LIST_EACH (&n->handlers.list, struct px_handler, h, link)
        room++;
    return event_create(n, aim->code, source, range, room);
}

pmix_status_t px_notify_take(struct px_notify *n, pmix_status_t code,
                             const pmix_proc_t *source, pmix_data_range_t range,
                             px_infos *infos, bool may_keep)
{
    struct px_aim aim = px_aim_of(n->client->model, code, infos->v, infos->n);
    struct event *e = event_for_all(n, &aim, source, range), *kept;

    if (e)
        choose(n, e, &aim, NULL);
    px_aim_fini(&aim);
    if (!e)
        return PMIX_ERR_NOMEM;
    e->infos = *infos;
    *infos = (px_infos){0};
    kept = e->n_ids == 0 ? e : is_lasting(e) ? event_copy(e) : NULL;
    if (e->n_ids)
        start(n, e);
    if (kept && may_keep)
        cache_event(n, kept);
    else
        event_free(kept);
    return PMIX_SUCCESS;
}

pmix_status_t px_notify_deliver(struct px_notify *n, pmix_status_t code,
                                const pmix_proc_t *source, pmix_data_range_t range,
                                const pmix_info_t *info, size_t n_info)
{
    PX_AUTO(px_infos) copy = {0};
    pmix_status_t rc = n_info ? px_infos_add_copy(&copy, info, n_info) : PMIX_SUCCESS;

    return rc ? rc : px_notify_take(n, code, source, range, &copy, true);
}

pmix_status_t px_notify_offer(struct px_notify *n, struct px_aim *aim,
                              const pmix_proc_t *source, pmix_data_range_t range,
                              const px_infos *infos, const struct px_handler *only,
                              bool *taken)
{
    struct event *e = event_for_all(n, aim, source, range);
    pmix_status_t rc = PMIX_SUCCESS;

    *taken = false;
    if (!e)
        return PMIX_ERR_NOMEM;
    choose(n, e, aim, only);
    if (e->n_ids && infos->n)
        rc = px_infos_add_copy(&e->infos, infos->v, infos->n);
    *taken = !rc && e->n_ids;
    if (*taken)
        start(n, e);
    else
        event_free(e);
    return rc;
}

void px_notify_replay_own(struct px_notify *n, const struct px_handler *h)
{
    trim_cache(n);
    PX_LIST_EACH (&n->cached, struct event, e, link) {
        struct px_aim aim = px_aim_of(n->client->model, e->code, e->infos.v,
                                      e->infos.n);
        bool wanted = handler_wants(n, h, &aim, &e->source);
        struct event *due;

        px_aim_fini(&aim);
        if (!wanted)
            continue;
        due = is_lasting(e) ? event_copy(e) : uncache(n, e);
        if (!due)
            continue;
        due->ids[due->n_ids++] = h->id;
        start(n, due);
    }
}

/* ---- routes ---------------------------------------------------------------------- */

/* Delivers an event to the handlers of a client. Does not cache an event if the server
 * caches its copy for later handlers. */
static pmix_status_t client_deliver(void *ctx, pmix_status_t code,
                                    const pmix_proc_t *source, pmix_data_range_t range,
                                    const px_infos *info)
{
    struct px_notify *n = ctx;
    const struct px_model *m = n->client->model;
    struct px_aim aim = px_aim_of(m, code, info->v, info->n);
    bool is_here = px_range_includes(&aim, range, source, &m->self);
    bool may_keep = range == PMIX_RANGE_PROC_LOCAL || range == PMIX_RANGE_CUSTOM ||
                    !px_notify_is_client(n);
    PX_AUTO(px_infos) copy = {0};
    pmix_status_t rc = PMIX_SUCCESS;

    px_aim_fini(&aim);
    if (is_here && info->n)
        rc = px_infos_add_copy(&copy, info->v, info->n);
    return rc || !is_here ? rc
                          : px_notify_take(n, code, source, range, &copy, may_keep);
}

static void client_replay(void *ctx, const struct px_handler *h)
{
    px_notify_replay_own(ctx, h);
}

static const struct px_event_route client_route = {.deliver = client_deliver,
                                                   .replay = client_replay};

void px_notify_set_route(struct px_notify *n, const struct px_event_route *route,
                         void *ctx)
{
    n->route = route ? route : &client_route;
    n->route_ctx = route ? ctx : n;
}

bool px_notify_serves(const struct px_notify *n)
{
    return n->route != &client_route;
}
