/* SPDX-License-Identifier: BSD-3-Clause */
/* The store behind publish and lookup. The range of an entry names its possible
 * readers, relative to the owner. The range of a lookup names the wanted owners,
 * relative to the asking process. Entries are visible to processes of the same user
 * only. A lookup is answered at once, or waits for enough entries.
 *
 * Entries and waits hang on their key and on their process, so a request costs what its
 * keys cost. */
#include "core/host/pubs.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/strv.h"
#include "core/host/scope.h"
#include "core/rt/log.h"
#include "core/rt/loop.h"
#include "core/server/host.h"
#include "core/wire/ops.h"
#include "core/wire/requests.h"

#define MAX_ANSWER_B PX_MAX_ANSWER_B /* larger entries do not fit in a reply */
#define MAP_B        128u /* one entry of a map, with a short key and malloc's overhead */

/* A process that has entries or waits. */
struct party {
    struct px_pubs *pubs;
    size_t refs;
    pmix_proc_t proc;
    struct px_list entries, waiters;
    size_t n_waits;
};

/* A key with entries or waits. */
struct topic {
    struct px_list entries, waits;
    size_t n_staged; /* entries of publishes that are not finished */
    char key[];
};

struct pub {
    struct px_list link; /* in party.entries */
    struct px_list same; /* in topic.entries */
    struct party *party;
    struct topic *topic;
    struct px_scope *scope;
    pmix_persistence_t persistence;
    pmix_value_t value;
    size_t size_b;
    bool leaves; /* is in the answer of its only reader */
};

/* A publish. Its entries are made first, and become visible together. */
struct publish {
    struct px_list link; /* in px_pubs.publishes */
    struct px_pubs *pubs;
    const pmix_info_t *info;
    size_t n, at; /* infos; of them, those that are staged */
    struct px_scope *scope;
    struct party *party;
    pmix_persistence_t persistence;
    size_t n_new, new_b;   /* entries; their bytes */
    struct px_list staged; /* struct pub.link */
    pmix_op_cbfunc_t cb;
    void *cbdata;
};

/* One key of a lookup. */
struct wait {
    struct px_list link; /* in topic.waits, once the lookup waits */
    struct waiter *waiter;
    struct topic *topic;
    struct pub *found;
};

struct waiter {
    struct px_list link; /* in party.waiters, once it waits; or among the due ones */
    struct px_pubs *pubs;
    struct party *party; /* NULL: does not wait */
    struct px_scope *scope;
    size_t n_wanted, n_found;
    struct px_timer *timer;
    pmix_lookup_cbfunc_t cb;
    void *cbdata;
    size_t n_keys;
    struct wait waits[];
};
_Static_assert(sizeof(struct waiter) + sizeof(struct px_scope) <= PX_LOOKUP_B,
               "the charge of a lookup covers its memory");
_Static_assert(sizeof(struct wait) + sizeof(struct topic) + MAP_B <= PX_LOOKUP_KEY_B,
               "the charge of a key covers its memory");

/* ---- keys and processes ---------------------------------------------------------- */

static struct topic *find_topic(struct px_pubs *p, const char *key)
{
    p->steps++;
    return px_map_sget(&p->topics, key);
}

/* Finds or adds a key. NULL if out of memory. */
static struct topic *topic_of(struct px_pubs *p, const char *key)
{
    struct topic *t = find_topic(p, key);

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

/* Frees a key without entries and waits. */
static void topic_drop(struct px_pubs *p, struct topic *t)
{
    if (t && px_list_empty(&t->entries) && px_list_empty(&t->waits) &&
        t->n_staged == 0) {
        (void)px_map_sremove(&p->topics, t->key);
        free(t);
    }
}

static struct party *find_party(const struct px_pubs *p, const pmix_proc_t *proc)
{
    pmix_proc_t name;

    px_proc_set(&name, proc->nspace, proc->rank);
    return px_map_get(&p->parties, &name, sizeof(name));
}

/* Finds or adds a process, with a reference. NULL if out of memory. */
static struct party *party_ref(struct px_pubs *p, const pmix_proc_t *proc)
{
    struct party *y = find_party(p, proc);

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

static void party_unref(struct party *y)
{
    if (--y->refs > 0)
        return;
    (void)px_map_remove(&y->pubs->parties, &y->proc, sizeof(y->proc));
    free(y);
}

/* ---- entries -------------------------------------------------------------------- */

void px_pubs_init(struct px_pubs *p, struct px_loop *loop)
{
    *p = (struct px_pubs){.loop = loop};
    px_list_init(&p->publishes);
}

/* True if each scope includes the other; both false: one suffices. */
static bool are_visible(struct px_pubs *p, const struct px_scope *a,
                        const struct px_scope *b, bool both)
{
    p->steps++;
    return both ? px_scope_includes(a, b) && px_scope_includes(b, a)
                : px_scope_includes(a, b) || px_scope_includes(b, a);
}

static struct pub *find(struct px_pubs *p, const struct topic *t,
                        const struct px_scope *scope, bool both)
{
    if (t)
        PX_LIST_EACH (&t->entries, struct pub, pub, same)
            if (are_visible(p, pub->scope, scope, both))
                return pub;
    return NULL;
}

static void pub_free(struct pub *pub)
{
    if (pub->scope)
        px_scope_unref(pub->scope);
    px_type_destruct(PMIX_VALUE, &pub->value);
    free(pub);
}

/* Frees an entry that is in no list. */
static void pub_drop(struct px_pubs *p, struct pub *pub)
{
    topic_drop(p, pub->topic);
    party_unref(pub->party);
    pub_free(pub);
}

/* Removes an entry. Lookups that have found it and wait for more look again. */
static void pub_remove(struct px_pubs *p, struct pub *pub)
{
    struct topic *t = pub->topic;

    px_list_remove(&pub->link);
    px_list_remove(&pub->same);
    PX_LIST_EACH (&t->waits, struct wait, wait, link) {
        if (wait->found != pub)
            continue;
        wait->found = find(p, t, wait->waiter->scope, true);
        wait->waiter->n_found -= !wait->found;
    }
    p->n_pubs--;
    pub->scope->user->n_pubs--;
    px_publisher_release(pub->scope->user, pub->size_b);
    pub_drop(p, pub);
}

static bool is_directive(const char *key)
{
    static const char *const directives[] = {
        PMIX_RANGE,          PMIX_PERSISTENCE,   PMIX_USERID,
        PMIX_GRPID,          PMIX_TIMEOUT,       PMIX_ACCESS_PERMISSIONS,
        PMIX_ACCESS_USERIDS, PMIX_ACCESS_GRPIDS, PMIX_EVENT_CUSTOM_RANGE,
    };

    for (size_t i = 0; i < PX_COUNT(directives); i++)
        if (strcmp(key, directives[i]) == 0)
            return true;
    return false;
}

static size_t size_of(const pmix_info_t *data)
{
    return sizeof(struct pub) + px_type_size(PMIX_VALUE, &data->value);
}

/* ---- lookups -------------------------------------------------------------------- */

/* Takes the lookup off its keys. */
static void stop_waiting(struct waiter *w)
{
    px_list_remove(&w->link);
    for (size_t i = 0; i < w->n_keys && w->party; i++) {
        px_list_remove(&w->waits[i].link);
        topic_drop(w->pubs, px_take(&w->waits[i].topic));
    }
    if (w->party) {
        w->party->n_waits -= w->n_keys;
        party_unref(px_take(&w->party));
    }
}

static void waiter_free(struct waiter *w)
{
    stop_waiting(w);
    px_timer_free(w->timer);
    px_scope_unref(w->scope);
    free(w);
}

/* Copies the found entries; a key may appear several times. Then removes the entries
 * for one reader. */
static pmix_status_t gather(struct px_pubs *p, const struct waiter *w,
                            pmix_pdata_t *found, size_t *n)
{
    size_t room_b = MAX_ANSWER_B;
    struct px_list read;

    for (size_t i = 0; i < w->n_keys; i++) {
        const struct pub *pub = w->waits[i].found;
        pmix_pdata_t *to = &found[*n];

        if (!pub)
            continue;
        if (pub->size_b > room_b)
            return PMIX_ERR_OUT_OF_RESOURCE;
        room_b -= pub->size_b;
        to->proc = pub->scope->proc;
        PMIx_Load_key(to->key, pub->topic->key);
        if (px_type_copy(PMIX_VALUE, &to->value, &pub->value))
            return PMIX_ERR_NOMEM;
        (*n)++;
    }
    px_list_init(&read);
    for (size_t i = 0; i < w->n_keys; i++) {
        struct pub *pub = w->waits[i].found;

        if (!pub || pub->persistence != PMIX_PERSIST_FIRST_READ || pub->leaves)
            continue;
        pub->leaves = true;
        px_list_remove(&pub->link);
        px_list_append(&read, &pub->link);
    }
    PX_LIST_EACH (&read, struct pub, pub, link)
        pub_remove(p, pub);
    return PMIX_SUCCESS;
}

static void answer(struct px_pubs *p, struct waiter *w)
{
    size_t n = 0;
    pmix_pdata_t *found = calloc(w->n_keys, sizeof(*found));

    stop_waiting(w);
    pmix_status_t rc = found ? gather(p, w, found, &n) : PMIX_ERR_NOMEM;
    if (rc) {
        px_type_free_array(PMIX_PDATA, found, n);
        found = NULL;
        n = 0;
    } else if (n < w->n_keys) {
        rc = n > 0 ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_ERR_NOT_FOUND;
    }
    w->cb(rc, n > 0 ? found : NULL, n, w->cbdata);
    px_type_free_array(PMIX_PDATA, found, n);
    waiter_free(w);
}

static void give_up(struct waiter *w, pmix_status_t status)
{
    w->cb(status, NULL, 0, w->cbdata);
    waiter_free(w);
}

static void on_deadline(void *arg)
{
    give_up(arg, PMIX_ERR_TIMEOUT);
}

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

/* Hangs a lookup on its keys. */
static pmix_status_t wait_for(struct px_pubs *p, struct waiter *w, char *const *keys,
                              uint32_t seconds)
{
    struct party *y = party_ref(p, &w->scope->proc);

    if (!y)
        return PMIX_ERR_NOMEM;
    w->party = y;
    y->n_waits += w->n_keys;
    if (y->n_waits > PX_MAX_PUB_WAITS)
        return px_pubs_refuse(p, &y->proc, "keys that lookups wait for", y->n_waits,
                              PX_MAX_PUB_WAITS);
    for (size_t i = 0; i < w->n_keys; i++) {
        struct wait *wait = &w->waits[i];

        wait->topic = topic_of(p, keys[i]);
        if (!wait->topic)
            return PMIX_ERR_NOMEM;
        px_list_append(&wait->topic->waits, &wait->link);
    }
    if (seconds && !(w->timer = px_timer_create(p->loop, on_deadline, w)))
        return PMIX_ERR_NOMEM;
    if (w->timer)
        px_timer_set(w->timer, seconds * UINT64_C(1000));
    px_list_append(&y->waiters, &w->link);
    return PMIX_SUCCESS;
}

pmix_status_t px_pubs_lookup(struct px_pubs *p, const pmix_proc_t *asker,
                             char *const *keys, const pmix_info_t *info, size_t n,
                             pmix_lookup_cbfunc_t cb, void *cbdata)
{
    size_t n_keys = px_strv_count(keys);
    struct waiter *w;

    if (n_keys == 0)
        return PMIX_ERR_BAD_PARAM;
    if (n_keys > PX_MAX_KEYS)
        return px_pubs_refuse(p, asker, "keys to look up", n_keys, PX_MAX_KEYS);
    w = calloc(1, sizeof(*w) + n_keys * sizeof(w->waits[0]));
    if (!w)
        return PMIX_ERR_NOMEM;
    w->pubs = p;
    w->n_keys = n_keys;
    w->cb = cb;
    w->cbdata = cbdata;
    pmix_status_t rc = px_scope_create(p, asker, info, n, true, &w->scope);
    for (size_t i = 0; i < n_keys && !rc; i++) {
        w->waits[i].waiter = w;
        w->waits[i].found = find(p, find_topic(p, keys[i]), w->scope, true);
        w->n_found += w->waits[i].found != NULL;
    }
    if (!rc &&
        (!wants_to_wait(info, n, n_keys, &w->n_wanted) || w->n_found >= w->n_wanted)) {
        answer(p, w);
        return PMIX_SUCCESS;
    }
    if (!rc)
        rc = wait_for(p, w, keys, px_info_u32(info, n, PMIX_TIMEOUT, 0));
    if (rc)
        waiter_free(w);
    return rc;
}

/* ---- publish, unpublish, ends --------------------------------------------------- */

/* Shows a new entry to the lookups that wait for its key. Lists those that are due. */
static void show(struct px_pubs *p, struct pub *pub, struct px_list *due)
{
    PX_LIST_EACH (&pub->topic->waits, struct wait, wait, link) {
        struct waiter *w = wait->waiter;

        if (wait->found || !are_visible(p, pub->scope, w->scope, true))
            continue;
        wait->found = pub;
        if (++w->n_found != w->n_wanted)
            continue;
        px_list_remove(&w->link);
        px_list_append(due, &w->link);
    }
}

/* Answers lookups that have found enough, unless another has read what they found. */
static void answer_due(struct px_pubs *p, struct px_list *due)
{
    PX_LIST_EACH (due, struct waiter, w, link) {
        if (w->n_found >= w->n_wanted) {
            answer(p, w);
            continue;
        }
        px_list_remove(&w->link);
        px_list_append(&w->party->waiters, &w->link);
    }
}

/* Checks the entries of a publish, and the bounds, before the work. */
static pmix_status_t check(struct publish *w, const pmix_proc_t *owner)
{
    struct px_pubs *p = w->pubs;
    const struct px_publisher *u = px_publisher_find(p, w->info, w->n);

    for (size_t i = 0; i < w->n; i++) {
        if (!w->info[i].key[0])
            return PMIX_ERR_BAD_PARAM;
        if (is_directive(w->info[i].key))
            continue;
        w->n_new++;
        w->new_b += size_of(&w->info[i]);
    }
    if (w->n_new == 0)
        return PMIX_ERR_BAD_PARAM;
    const struct {
        const char *what;
        size_t n, most;
    } bounds[] = {
        {"entries of this user", w->n_new + (u ? u->n_pubs : 0), PX_MAX_PUBS},
        {"bytes of this user's entries", w->new_b + (u ? u->size_b : 0), PX_MAX_PUBS_B},
        {"entries", w->n_new + p->n_pubs, PX_MAX_ALL_PUBS},
        {"bytes of entries", w->new_b + p->size_b, PX_MAX_ALL_PUBS_B},
    };
    for (size_t i = 0; i < PX_COUNT(bounds); i++)
        if (bounds[i].n > bounds[i].most)
            return px_pubs_refuse(p, owner, bounds[i].what, bounds[i].n,
                                  bounds[i].most);
    return PMIX_SUCCESS;
}

/* Begins a publish: reads the directives, and counts its entries for the user. */
static pmix_status_t begin(struct publish *w, const pmix_proc_t *owner)
{
    uint32_t persistence = px_info_u32(w->info, w->n, PMIX_PERSISTENCE,
                                       PMIX_PERSIST_APP);
    pmix_status_t rc = check(w, owner);

    px_list_init(&w->staged);
    if (!rc && persistence > PMIX_PERSIST_SESSION)
        rc = PMIX_ERR_BAD_PARAM;
    if (!rc)
        rc = px_scope_create(w->pubs, owner, w->info, w->n, false, &w->scope);
    if (rc)
        return rc;
    w->persistence = (pmix_persistence_t)persistence;
    w->party = party_ref(w->pubs, owner);
    if (!w->party) {
        px_scope_unref(w->scope);
        return PMIX_ERR_NOMEM;
    }
    w->pubs->n_pubs += w->n_new;
    w->scope->user->n_pubs += w->n_new;
    px_publisher_hold(w->scope->user, w->new_b);
    return PMIX_SUCCESS;
}

static pmix_status_t stage_one(struct publish *w, const pmix_info_t *data)
{
    struct topic *t = topic_of(w->pubs, data->key);
    struct pub *pub = t ? calloc(1, sizeof(*pub)) : NULL;
    pmix_status_t rc = pub ? px_type_copy(PMIX_VALUE, &pub->value, &data->value)
                           : PMIX_ERR_NOMEM;

    if (rc) {
        free(pub);
        topic_drop(w->pubs, t);
        return rc;
    }
    pub->persistence = w->persistence;
    pub->scope = w->scope;
    w->scope->refs++;
    pub->topic = t;
    t->n_staged++;
    pub->party = w->party;
    w->party->refs++;
    pub->size_b = size_of(data);
    px_list_append(&w->staged, &pub->link);
    return PMIX_SUCCESS;
}

/* Makes entries of up to most further infos. */
static pmix_status_t stage(struct publish *w, size_t most)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (; !rc && w->at < w->n && most > 0; w->at++, most--)
        if (!is_directive(w->info[w->at].key))
            rc = stage_one(w, &w->info[w->at]);
    return rc;
}

/* Makes the entries visible. Stops at the first key that another entry has. */
static pmix_status_t reveal(struct publish *w, size_t *n_done)
{
    PX_LIST_EACH (&w->staged, struct pub, pub, link) {
        if (find(w->pubs, pub->topic, w->scope, false))
            return PMIX_ERR_DUPLICATE_KEY;
        pub->topic->n_staged--;
        px_list_remove(&pub->link);
        px_list_append(&pub->topic->entries, &pub->same);
        px_list_append(&w->party->entries, &pub->link);
        w->n_new--;
        w->new_b -= pub->size_b;
        ++*n_done;
    }
    return PMIX_SUCCESS;
}

/* Ends a publish: all entries become visible, or none stays. */
static pmix_status_t finish(struct publish *w, pmix_status_t rc)
{
    struct px_list due, *at = &w->party->entries;
    size_t n_done = 0;

    if (!rc)
        rc = reveal(w, &n_done);
    px_list_init(&due);
    for (size_t i = 0; i < n_done; i++) {
        at = at->prev;
        struct pub *pub = PX_CONTAINER_OF(at, struct pub, link);

        if (!rc) {
            show(w->pubs, pub, &due);
            continue;
        }
        at = at->next;
        pub_remove(w->pubs, pub);
    }
    answer_due(w->pubs, &due);
    PX_LIST_EACH (&w->staged, struct pub, pub, link) {
        px_list_remove(&pub->link);
        pub->topic->n_staged--;
        pub_drop(w->pubs, pub);
    }
    w->pubs->n_pubs -= w->n_new; /* those that are not visible */
    w->scope->user->n_pubs -= w->n_new;
    px_publisher_release(w->scope->user, w->new_b);
    px_scope_unref(w->scope);
    party_unref(w->party);
    return rc;
}

pmix_status_t px_pubs_publish(struct px_pubs *p, const pmix_proc_t *owner,
                              const pmix_info_t *info, size_t n)
{
    struct publish w = {.pubs = p, .info = info, .n = n};
    pmix_status_t rc = begin(&w, owner);

    return rc ? rc : finish(&w, stage(&w, n));
}

static void end_publish(struct publish *w, pmix_status_t rc)
{
    px_list_remove(&w->link);
    rc = finish(w, rc);
    w->cb(rc, w->cbdata);
    free(w);
}

/* Continues the oldest publish. */
static void on_turn(void *arg)
{
    struct px_pubs *p = arg;
    struct publish *w = PX_CONTAINER_OF(p->publishes.next, struct publish, link);

    if (px_list_empty(&p->publishes))
        return;
    pmix_status_t rc = stage(w, PX_PUBS_PER_TURN);
    if (rc || w->at == w->n)
        end_publish(w, rc);
    if (!px_list_empty(&p->publishes))
        px_timer_set(p->timer, 0);
}

pmix_status_t px_pubs_publish_in_turns(struct px_pubs *p, const pmix_proc_t *owner,
                                       const pmix_info_t *info, size_t n,
                                       pmix_op_cbfunc_t cb, void *cbdata)
{
    struct publish *w = n > PX_PUBS_PER_TURN ? calloc(1, sizeof(*w)) : NULL;
    pmix_status_t rc;

    if (w && !p->timer)
        p->timer = px_timer_create(p->loop, on_turn, p);
    if (!w || !p->timer) { /* few entries, or no memory to wait */
        free(w);
        rc = px_pubs_publish(p, owner, info, n);
        return rc ? rc : PMIX_OPERATION_SUCCEEDED;
    }
    *w = (struct publish){.pubs = p, .info = info, .n = n, .cb = cb, .cbdata = cbdata};
    rc = begin(w, owner);
    if (rc) {
        free(w);
        return rc;
    }
    px_list_append(&p->publishes, &w->link);
    px_timer_set(p->timer, 0);
    return PMIX_SUCCESS;
}

/* Ends the publishes of a process that ends. proc NULL: of all. */
static void publishes_gone(struct px_pubs *p, const pmix_proc_t *proc)
{
    PX_LIST_EACH (&p->publishes, struct publish, w, link)
        if (!proc || px_proc_match(&w->party->proc, proc))
            end_publish(w, PMIX_ERR_LOST_CONNECTION);
}

static bool is_in(struct px_pubs *p, const struct pub *pub, const struct party *y,
                  uint32_t range)
{
    p->steps++;
    return pub->party == y && (range == PMIX_RANGE_UNDEF || range == pub->scope->range);
}

/* Removes the entry of an owner for this key: there is at most one. */
static void unpublish_one(struct px_pubs *p, const struct party *y, const char *key,
                          uint32_t range)
{
    const struct topic *t = find_topic(p, key);

    if (t)
        PX_LIST_EACH (&t->entries, struct pub, pub, same)
            if (is_in(p, pub, y, range)) {
                pub_remove(p, pub);
                return;
            }
}

pmix_status_t px_pubs_unpublish(struct px_pubs *p, const pmix_proc_t *owner,
                                char *const *keys, const pmix_info_t *info, size_t n)
{
    uint32_t range = px_info_u32(info, n, PMIX_RANGE, PMIX_RANGE_UNDEF);
    size_t n_keys = px_strv_count(keys);
    struct party *y = find_party(p, owner);

    if (n_keys > PX_MAX_KEYS)
        return px_pubs_refuse(p, owner, "keys to unpublish", n_keys, PX_MAX_KEYS);
    if (!y)
        return PMIX_SUCCESS;
    y->refs++;
    for (size_t i = 0; i < n_keys; i++)
        unpublish_one(p, y, keys[i], range);
    if (!keys)
        PX_LIST_EACH (&y->entries, struct pub, pub, link)
            if (is_in(p, pub, y, range))
                pub_remove(p, pub);
    party_unref(y);
    return PMIX_SUCCESS;
}

/* True if the entry ends with its process, or with the job of its process. */
static bool goes_with(const struct pub *pub, const pmix_proc_t *proc)
{
    return proc->rank == PMIX_RANK_WILDCARD
               ? pub->persistence != PMIX_PERSIST_SESSION &&
                     pub->persistence != PMIX_PERSIST_INDEF
               : pub->persistence == PMIX_PERSIST_PROC;
}

/* Handles the end of proc, which matches the party. proc NULL: the end of all. */
static void party_gone(struct party *y, const pmix_proc_t *proc)
{
    y->refs++;
    PX_LIST_EACH (&y->waiters, struct waiter, w, link)
        give_up(w, PMIX_ERR_LOST_CONNECTION);
    PX_LIST_EACH (&y->entries, struct pub, pub, link)
        if (!proc || goes_with(pub, proc))
            pub_remove(y->pubs, pub);
    party_unref(y);
}

void px_pubs_gone(struct px_pubs *p, const pmix_proc_t *proc)
{
    struct party *y;
    size_t pos = 0;

    publishes_gone(p, proc);
    y = find_party(p, proc);
    if (proc->rank != PMIX_RANK_WILDCARD) {
        if (y)
            party_gone(y, proc);
        return;
    }
    while ((y = px_map_next(&p->parties, &pos, NULL, NULL)))
        if (px_proc_match(&y->proc, proc))
            party_gone(y, proc);
}

void px_pubs_fini(struct px_pubs *p)
{
    struct party *y;
    size_t pos = 0;

    publishes_gone(p, NULL);
    while ((y = px_map_next(&p->parties, &pos, NULL, NULL)))
        party_gone(y, NULL);
    px_timer_free(px_take(&p->timer));
    px_map_fini(&p->parties);
    px_map_fini(&p->topics);
    px_map_fini(&p->users);
    px_log_rate_destroy(px_take(&p->rate));
}
