/* SPDX-License-Identifier: BSD-3-Clause */
/* Entries with their keys and processes, and the turns of long requests. */
#include "core/host/pubs/pubs_impl.h"

#include <stdlib.h>
#include <string.h>

#include "core/rt/loop.h"
#include "core/server/host.h"

/* ---- keys and processes ---------------------------------------------------------- */

struct px_pub_topic *px_pub_topic_find(struct px_pubs *p, const char *key)
{
    p->steps++;
    return px_map_sget(&p->topics, key);
}

struct px_pub_topic *px_pub_topic_of(struct px_pubs *p, const char *key)
{
    struct px_pub_topic *t = px_pub_topic_find(p, key);

    if (t)
        return t;
    const size_t key_b = strlen(key) + 1;
    t = malloc(sizeof(*t) + key_b);
    if (!t || px_map_sput(&p->topics, key, t, NULL)) {
        free(t);
        return NULL;
    }
    px_list_init(&t->entries);
    px_list_init(&t->waits);
    t->n_staged = 0;
    memcpy(t->key, key, key_b);
    return t;
}

void px_pub_topic_drop(struct px_pubs *p, struct px_pub_topic *t)
{
    if (t && px_list_empty(&t->entries) && px_list_empty(&t->waits) &&
        t->n_staged == 0) {
        (void)px_map_sremove(&p->topics, t->key);
        free(t);
    }
}

struct px_pub_party *px_pub_party_find(const struct px_pubs *p, const pmix_proc_t *proc)
{
    pmix_proc_t name;

    px_proc_set(&name, proc->nspace, proc->rank);
    return px_map_get(&p->parties, &name, sizeof(name));
}

struct px_pub_party *px_pub_party_ref(struct px_pubs *p, const pmix_proc_t *proc)
{
    struct px_pub_party *y = px_pub_party_find(p, proc);

    if (!y) {
        y = calloc(1, sizeof(*y));
        if (y)
            px_proc_set(&y->proc, proc->nspace, proc->rank);
        if (!y || px_map_put(&p->parties, &y->proc, sizeof(y->proc), y, NULL)) {
            free(y);
            return NULL;
        }
        y->pubs = p;
        px_list_init(&y->entries);
        px_list_init(&y->waiters);
    }
    y->refs++;
    return y;
}

void px_pub_party_unref(struct px_pub_party *y)
{
    if (--y->refs > 0)
        return;
    (void)px_map_remove(&y->pubs->parties, &y->proc, sizeof(y->proc));
    free(y);
}

/* ---- entries -------------------------------------------------------------------- */

enum px_pub_view px_pub_view(struct px_pubs *p, const struct px_pub *pub,
                             const struct px_scope *asker)
{
    p->steps++;
    if (!px_scope_includes(pub->scope, asker) || !px_scope_includes(asker, pub->scope))
        return PX_PUB_HIDDEN;
    if (px_scope_admits(pub->scope, asker))
        return PX_PUB_VISIBLE;
    return px_scope_is_shared(pub->scope) ? PX_PUB_DENIED : PX_PUB_HIDDEN;
}

struct px_pub *px_pub_find(struct px_pubs *p, const struct px_pub_topic *t,
                           const struct px_scope *asker, enum px_pub_view *view)
{
    struct px_pub *found = NULL;

    *view = PX_PUB_HIDDEN;
    PX_LIST_EACH (&t->entries, struct px_pub, pub, same) {
        const enum px_pub_view seen = px_pub_view(p, pub, asker);

        if (seen > *view)
            *view = seen;
        if (seen != PX_PUB_VISIBLE)
            continue;
        if (pub->scope->user == asker->user)
            return pub;
        if (!found)
            found = pub;
    }
    return found;
}

pmix_status_t px_pub_place(struct px_pubs *p, struct px_pub *pub)
{
    struct px_list *next = &pub->topic->entries; /* of the first with a wider range */
    size_t n_own = 1;

    PX_LIST_EACH (&pub->topic->entries, struct px_pub, other, same) {
        p->steps++;
        n_own += other->party == pub->party;
        if (px_scope_same(other->scope, pub->scope))
            return PMIX_ERR_DUPLICATE_KEY;
        if (next == &pub->topic->entries &&
            px_scope_width(other->scope) > px_scope_width(pub->scope))
            next = &other->same;
    }
    if (n_own > PX_MAX_PUB_RANGES)
        return px_pubs_refuse(p, &pub->party->proc, "ranges of one key", n_own,
                              PX_MAX_PUB_RANGES);
    px_list_insert_before(next, &pub->same);
    return PMIX_SUCCESS;
}

static void pub_free(struct px_pub *pub)
{
    if (pub->scope)
        px_scope_unref(pub->scope);
    px_type_destruct(PMIX_VALUE, &pub->value);
    free(pub);
}

void px_pub_drop(struct px_pubs *p, struct px_pub *pub)
{
    px_pub_topic_drop(p, pub->topic);
    px_pub_party_unref(pub->party);
    pub_free(pub);
}

void px_pub_remove(struct px_pubs *p, struct px_pub *pub)
{
    px_list_remove(&pub->link);
    px_list_remove(&pub->same);
    px_pub_hide(p, pub);
    p->steps += pub->size_b / PX_PUB_FREE_B;
    p->n_pubs--;
    pub->scope->user->n_pubs--;
    px_publisher_release(pub->scope->user, pub->size_b);
    px_pub_drop(p, pub);
}

/* ---- turns ---------------------------------------------------------------------- */

/* Returns the request that holds memory, or the oldest one of the process that has
 * waited longest. */
static struct px_pub_request *next_request(const struct px_pubs *p)
{
    struct px_pub_request *next = NULL;

    PX_LIST_EACH (&p->requests, struct px_pub_request, r, link) {
        if (r->holds)
            return r;
        if (!next || r->party->served < next->party->served)
            next = r;
    }
    return next;
}

static void on_turn(void *arg)
{
    struct px_pubs *p = arg;
    struct px_pub_request *r = next_request(p);

    if (!r)
        return;
    r->party->served = ++p->n_turns;
    (void)r->go_on(r, PX_PUBS_PER_TURN);
    if (!px_list_empty(&p->requests))
        px_timer_set(p->timer, 0);
}

bool px_pub_take_turns(struct px_pubs *p, struct px_pub_request *r,
                       const pmix_proc_t *proc, size_t n)
{
    const struct px_pub_party *y = px_pub_party_find(p, proc);

    if (!p->loop || (n <= PX_PUBS_PER_TURN && !(y && y->n_requests > 0)))
        return false;
    if (!p->timer)
        p->timer = px_timer_create(p->loop, on_turn, p);
    r->party = p->timer ? px_pub_party_ref(p, proc) : NULL;
    if (!r->party)
        return false;
    r->party->n_requests++;
    px_list_append(&p->requests, &r->link);
    px_timer_set(p->timer, 0);
    return true;
}

size_t px_pub_budget(const struct px_pubs *p, uint64_t begun, size_t most)
{
    const uint64_t n = (p->steps - begun) / PX_PUB_STEPS_PER_KEY;

    return n < most ? most - (size_t)n : 0;
}

void px_pub_end_turns(struct px_pub_request *r)
{
    if (!px_list_linked(&r->link))
        return;
    px_list_remove(&r->link);
    r->holds = false;
    r->party->n_requests--;
    px_pub_party_unref(px_take(&r->party));
}
