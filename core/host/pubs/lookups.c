/* SPDX-License-Identifier: BSD-3-Clause */
/* Lookups: they find their keys, wait if they have to, copy the entries, and leave
 * their keys. */
#include "core/host/pubs/pubs_impl.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/strv.h"
#include "core/rt/loop.h"
#include "core/server/host.h"
#include "core/wire/ops.h"
#include "core/wire/requests.h"

#define MAX_ANSWER_B PX_MAX_ANSWER_B /* larger entries do not fit in a reply */
#define MAP_B        128u /* one entry of a map, with a short key and malloc's overhead */

enum stage { SEARCHES, COPIES, LEAVES };

struct px_pub_waiter {
    struct px_pub_request request; /* while the lookup takes several turns */
    struct px_pubs *pubs;
    struct px_scope *scope;
    char *const *keys; /* valid until the lookup waits */
    enum stage stage;
    size_t at; /* the first key that the stage has not handled */
    size_t n_wanted, n_found;
    size_t n_denied;  /* keys whose entries this process may not read */
    uint32_t limit_s; /* of the time to wait; 0: none */
    bool may_wait;
    struct px_list link;        /* in party.waiters, or among the due ones */
    struct px_pub_party *party; /* NULL: does not wait */
    struct px_timer *timer;
    pmix_pdata_t *v; /* the answer */
    size_t n, size_b;
    pmix_status_t status;
    pmix_lookup_cbfunc_t cb;
    void *cbdata;
    size_t n_keys;
    struct px_pub_wait waits[];
};
_Static_assert(sizeof(struct px_pub_waiter) + sizeof(struct px_scope) <= PX_LOOKUP_B,
               "the charge of a lookup covers its memory");
_Static_assert(sizeof(struct px_pub_wait) + sizeof(struct px_pub_topic) + MAP_B <=
                   PX_LOOKUP_KEY_B,
               "the charge of a key covers its memory");

static void stop_waiting(struct px_pub_waiter *w)
{
    px_list_remove(&w->link);
    px_timer_free(px_take(&w->timer));
    if (!w->party)
        return;
    w->party->n_waits -= w->n_keys;
    px_pub_party_unref(px_take(&w->party));
}

/* Takes the lookup off a key. After success, removes an entry for this reader alone. */
static void leave(struct px_pub_waiter *w, struct px_pub_wait *wait)
{
    struct px_pub *pub = wait->found;

    if (pub && pub->reader == w) {
        pub->reader = NULL;
        if (!w->status)
            px_pub_remove(w->pubs, pub);
    }
    px_list_remove(&wait->link);
    px_pub_topic_drop(w->pubs, px_take(&wait->topic));
    wait->found = NULL;
}

static void waiter_free(struct px_pub_waiter *w)
{
    stop_waiting(w);
    for (size_t i = 0; i < w->n_keys; i++)
        leave(w, &w->waits[i]);
    px_pub_end_turns(&w->request);
    px_type_free_array(PMIX_PDATA, w->v, w->n);
    px_scope_unref(w->scope);
    free(w);
}

static void give_up(struct px_pub_waiter *w, pmix_status_t status)
{
    w->status = status;
    w->cb(status, NULL, 0, w->cbdata);
    waiter_free(w);
}

static void on_deadline(void *arg)
{
    give_up(arg, PMIX_ERR_TIMEOUT);
}

/* ---- stages --------------------------------------------------------------------- */

static pmix_status_t search(struct px_pub_waiter *w, struct px_pub_wait *wait)
{
    struct px_pubs *p = w->pubs;
    const char *key = w->keys[w->at];
    enum px_pub_view view;

    wait->waiter = w;
    wait->topic = w->may_wait ? px_pub_topic_of(p, key) : px_pub_topic_find(p, key);
    if (!wait->topic)
        return w->may_wait ? PMIX_ERR_NOMEM : PMIX_SUCCESS;
    px_list_append(&wait->topic->waits, &wait->link);
    wait->found = px_pub_find(p, wait->topic, w->scope, &view);
    w->n_found += view == PX_PUB_VISIBLE;
    w->n_denied += view == PX_PUB_DENIED;
    return PMIX_SUCCESS;
}

/* Copies a found entry; a key may appear several times. An entry for one reader is
 * taken: other lookups do not copy it. */
static pmix_status_t copy(struct px_pub_waiter *w, struct px_pub_wait *wait)
{
    struct px_pub *pub = wait->found;

    if (!pub || (pub->reader && pub->reader != w))
        return PMIX_SUCCESS;
    if (pub->size_b > MAX_ANSWER_B - w->size_b)
        return PMIX_ERR_OUT_OF_RESOURCE;
    if (!w->v && !(w->v = calloc(w->n_keys, sizeof(*w->v))))
        return PMIX_ERR_NOMEM;
    pmix_pdata_t *to = &w->v[w->n];

    to->proc = pub->scope->proc;
    PMIx_Load_key(to->key, pub->topic->key);
    if (px_type_copy(PMIX_VALUE, &to->value, &pub->value))
        return PMIX_ERR_NOMEM;
    w->size_b += pub->size_b;
    w->pubs->steps += pub->size_b / PX_PUB_COPY_B;
    w->n++;
    if (pub->persistence == PMIX_PERSIST_FIRST_READ)
        pub->reader = w;
    return PMIX_SUCCESS;
}

/* Begins to wait: the keys know the lookup already. */
static pmix_status_t begin_wait(struct px_pub_waiter *w)
{
    struct px_pubs *p = w->pubs;
    struct px_pub_party *y = px_pub_party_ref(p, &w->scope->proc);

    if (!y)
        return PMIX_ERR_NOMEM;
    w->party = y;
    y->n_waits += w->n_keys;
    if (y->n_waits > PX_MAX_PUB_WAITS)
        return px_pubs_refuse(p, &y->proc, "keys that lookups wait for", y->n_waits,
                              PX_MAX_PUB_WAITS);
    if (w->limit_s && !(w->timer = px_timer_create(p->loop, on_deadline, w)))
        return PMIX_ERR_NOMEM;
    if (w->timer)
        px_timer_set(w->timer, w->limit_s * UINT64_C(1000));
    px_list_append(&y->waiters, &w->link);
    return PMIX_SUCCESS;
}

/* Does up to most steps of the present stage. Returns true at the end of the stage. */
static bool do_stage(struct px_pub_waiter *w, size_t most)
{
    const uint64_t begun = w->pubs->steps;

    for (size_t n = 0; w->at < w->n_keys && n < px_pub_budget(w->pubs, begun, most);
         w->at++, n++) {
        struct px_pub_wait *wait = &w->waits[w->at];

        if (w->stage == LEAVES)
            leave(w, wait);
        else if (!w->status)
            w->status = w->stage == SEARCHES ? search(w, wait) : copy(w, wait);
        if (w->status && w->stage == SEARCHES)
            return true;
    }
    return w->at == w->n_keys;
}

static void begin_stage(struct px_pub_waiter *w, enum stage stage)
{
    w->stage = stage;
    w->at = 0;
    w->request.holds = px_list_linked(&w->request.link);
}

/* Answers a lookup that has left its keys. */
static void answer(struct px_pub_waiter *w)
{
    if (w->status) {
        give_up(w, w->status);
        return;
    }
    const pmix_status_t rc = w->n == w->n_keys          ? PMIX_SUCCESS
                             : w->n > 0                 ? PMIX_ERR_PARTIAL_SUCCESS
                             : w->n_denied == w->n_keys ? PMIX_ERR_NO_PERMISSIONS
                                                        : PMIX_ERR_NOT_FOUND;
    w->cb(rc, px_take(&w->v), w->n, w->cbdata);
    w->n = 0;
    waiter_free(w);
}

/* Waits again: other lookups have read entries that this one had found. */
static void wait_again(struct px_pub_waiter *w)
{
    w->n_found = 0;
    for (size_t i = 0; i < w->n_keys; i++) {
        struct px_pub *pub = w->waits[i].found;

        w->n_found += pub != NULL;
        if (pub && pub->reader == w)
            pub->reader = NULL;
    }
    px_type_free_array(PMIX_PDATA, px_take(&w->v), w->n);
    w->n = w->size_b = 0;
    px_pub_end_turns(&w->request);
    pmix_status_t rc = begin_wait(w);
    if (rc)
        give_up(w, rc);
}

/* Copies, leaves the keys, and answers: does up to most steps of one stage. Returns
 * true after the answer, or if the lookup waits again. */
static bool copy_and_answer(struct px_pub_waiter *w, size_t most)
{
    if (!do_stage(w, most))
        return false;
    if (w->stage == COPIES && w->may_wait && !w->status && w->n < w->n_wanted) {
        wait_again(w);
        return true;
    }
    if (w->stage == COPIES) {
        begin_stage(w, LEAVES);
        return false;
    }
    answer(w);
    return true;
}

/* Returns the keys of a turn that the copies of the found entries count as. */
static size_t n_to_copy(const struct px_pub_waiter *w)
{
    size_t size_b = 0;

    for (size_t i = 0; i < w->n_keys; i++)
        size_b += w->waits[i].found ? w->waits[i].found->size_b : 0;
    return w->n_keys + size_b / PX_PUB_COPY_B / PX_PUB_STEPS_PER_KEY;
}

/* Answers a lookup that waits for nothing more, at once or in several turns. */
static void reply(struct px_pub_waiter *w)
{
    stop_waiting(w);
    (void)px_pub_take_turns(w->pubs, &w->request, &w->scope->proc, n_to_copy(w));
    begin_stage(w, COPIES);
    if (w->request.holds)
        return;
    while (!copy_and_answer(w, SIZE_MAX))
        ;
}

/* Ends the search: the lookup waits, or *replies. */
static pmix_status_t end_search(struct px_pub_waiter *w, bool *replies)
{
    *replies = !w->status && (!w->may_wait || w->n_found >= w->n_wanted);
    return w->status || *replies ? w->status : begin_wait(w);
}

static bool go_on(struct px_pub_request *r, size_t most)
{
    struct px_pub_waiter *w = PX_CONTAINER_OF(r, struct px_pub_waiter, request);
    bool replies;

    if (w->stage != SEARCHES)
        return copy_and_answer(w, most);
    if (!do_stage(w, most))
        return false;
    pmix_status_t rc = end_search(w, &replies);
    if (rc)
        give_up(w, rc);
    else if (replies)
        begin_stage(w, COPIES);
    else
        px_pub_end_turns(r);
    return !replies;
}

static void give_up_request(struct px_pub_request *r)
{
    give_up(PX_CONTAINER_OF(r, struct px_pub_waiter, request),
            PMIX_ERR_LOST_CONNECTION);
}

/* ---- lookups -------------------------------------------------------------------- */

/* True if PMIX_WAIT asks to wait. *n_wanted becomes the number of keys to wait for. A
 * flag or 0 means all keys. */
static bool wants_to_wait(const pmix_info_t *info, size_t n, size_t n_keys,
                          size_t *n_wanted)
{
    const pmix_info_t *wait = px_info_find(info, n, PMIX_WAIT);
    uint32_t many = 0;

    if (!wait || (wait->value.type == PMIX_BOOL && !wait->value.data.flag))
        return false;
    if (wait->value.type != PMIX_BOOL)
        (void)px_value_to_u32(&wait->value, &many);
    *n_wanted = many == 0 || many > n_keys ? n_keys : many;
    return true;
}

pmix_status_t px_pubs_lookup(struct px_pubs *p, const pmix_proc_t *asker,
                             char *const *keys, const pmix_info_t *info, size_t n,
                             pmix_lookup_cbfunc_t cb, void *cbdata)
{
    size_t n_keys = px_strv_count(keys);
    struct px_pub_waiter *w;
    bool replies;

    if (n_keys == 0)
        return PMIX_ERR_BAD_PARAM;
    if (n_keys > PX_MAX_KEYS)
        return px_pubs_refuse(p, asker, "keys to look up", n_keys, PX_MAX_KEYS);
    w = calloc(1, sizeof(*w) + n_keys * sizeof(w->waits[0]));
    if (!w)
        return PMIX_ERR_NOMEM;
    w->request.go_on = go_on;
    w->request.give_up = give_up_request;
    w->pubs = p;
    w->keys = keys;
    w->n_keys = n_keys;
    w->limit_s = px_info_u32(info, n, PMIX_TIMEOUT, 0);
    w->may_wait = wants_to_wait(info, n, n_keys, &w->n_wanted);
    w->cb = cb;
    w->cbdata = cbdata;
    pmix_status_t rc = px_scope_create(p, asker, info, n, true, &w->scope);
    if (!rc && (px_pub_take_turns(p, &w->request, asker, n_keys) ||
                (!do_stage(w, PX_PUBS_PER_TURN) &&
                 px_pub_take_turns(p, &w->request, asker, SIZE_MAX))))
        return PMIX_SUCCESS;
    if (!rc) {
        (void)do_stage(w, SIZE_MAX); /* what is left, without a loop */
        rc = end_search(w, &replies);
    }
    if (rc) {
        w->status = rc;
        waiter_free(w);
    } else if (replies) {
        reply(w);
    }
    return rc;
}

void px_pub_hide(struct px_pubs *p, const struct px_pub *pub)
{
    enum px_pub_view view;

    PX_LIST_EACH (&pub->topic->waits, struct px_pub_wait, wait, link) {
        if (wait->found != pub)
            continue;
        wait->found = px_pub_find(p, pub->topic, wait->waiter->scope, &view);
        wait->waiter->n_found -= !wait->found;
    }
}

void px_pub_show(struct px_pubs *p, struct px_pub *pub, struct px_list *due)
{
    PX_LIST_EACH (&pub->topic->waits, struct px_pub_wait, wait, link) {
        struct px_pub_waiter *w = wait->waiter;

        if (wait->found || px_pub_view(p, pub, w->scope) != PX_PUB_VISIBLE)
            continue;
        wait->found = pub;
        if (++w->n_found != w->n_wanted || !w->party)
            continue;
        px_list_remove(&w->link);
        px_list_append(due, &w->link);
    }
}

void px_pub_answer_due(struct px_list *due)
{
    PX_LIST_EACH (due, struct px_pub_waiter, w, link) {
        if (w->n_found >= w->n_wanted) {
            reply(w);
            continue;
        }
        px_list_remove(&w->link);
        px_list_append(&w->party->waiters, &w->link);
    }
}

void px_pub_waits_gone(struct px_pub_party *y)
{
    PX_LIST_EACH (&y->waiters, struct px_pub_waiter, w, link)
        give_up(w, PMIX_ERR_LOST_CONNECTION);
}
