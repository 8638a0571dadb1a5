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
#include "core/notify/notify.h"
#include "core/rt/log.h"
#include "core/rt/loop.h"
#include "core/server/host.h"
#include "core/wire/ops.h"
#include "core/wire/requests.h"

#define MAX_ANSWER_B  PX_MAX_ANSWER_B /* larger entries do not fit in a reply */
#define LOG_PERIOD_MS 60000u
#define MAP_B         128u /* one entry of a map, with a short key and malloc's overhead */

/* Range around a process: the owner of entries, or the process that looks up. The
 * entries of one request share a scope. */
struct scope {
    struct px_pubs *pubs;
    size_t refs, size_b;
    pmix_proc_t proc;
    uint32_t uid;
    pmix_data_range_t range;
    pmix_proc_t *chosen; /* custom range, sorted */
    size_t n_chosen;
};

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
    char key[];
};

struct pub {
    struct px_list link; /* in party.entries */
    struct px_list same; /* in topic.entries */
    struct party *party;
    struct topic *topic;
    struct scope *scope;
    pmix_persistence_t persistence;
    pmix_value_t value;
    size_t size_b;
    bool leaves; /* is in the answer of its only reader */
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
    struct scope *scope;
    size_t n_wanted, n_found;
    struct px_timer *timer;
    pmix_lookup_cbfunc_t cb;
    void *cbdata;
    size_t n_keys;
    struct wait waits[];
};
_Static_assert(sizeof(struct waiter) + sizeof(struct scope) <= PX_LOOKUP_B,
               "the charge of a lookup covers its memory");
_Static_assert(sizeof(struct wait) + sizeof(struct topic) + MAP_B <= PX_LOOKUP_KEY_B,
               "the charge of a key covers its memory");

/* ---- scopes --------------------------------------------------------------------- */

/* Logs the refusal of a request that exceeds a bound, and returns its status. */
static pmix_status_t refuse(struct px_pubs *p, const pmix_proc_t *proc,
                            const char *what, size_t n, size_t most)
{
    if (!p->rate && p->loop)
        p->rate = px_log_rate_create(p->loop, LOG_PERIOD_MS);
    if (p->rate)
        px_log_limited(p->rate, (uid_t)-1, PMIX_ERR_OUT_OF_RESOURCE, "host",
                       "cannot serve %s:%u: too many %s (got %zu, at most %zu)",
                       proc->nspace, proc->rank, what, n, most);
    return PMIX_ERR_OUT_OF_RESOURCE;
}

static int compare(const void *a, const void *b)
{
    const pmix_proc_t *x = a, *y = b;
    int order = strncmp(x->nspace, y->nspace, sizeof(x->nspace));

    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static void scope_unref(struct scope *s)
{
    if (!s || --s->refs > 0)
        return;
    s->pubs->size_b -= s->size_b;
    free(s->chosen);
    free(s);
}

static pmix_status_t read_chosen(struct scope *s, const pmix_info_t *info, size_t n)
{
    const pmix_info_t *chosen = px_info_find(info, n, PMIX_EVENT_CUSTOM_RANGE);
    const pmix_proc_t *named;
    size_t n_named;

    if (!chosen || px_value_borrow_procs(&chosen->value, &named, &n_named))
        return PMIX_ERR_BAD_PARAM;
    if (n_named > PX_MAX_PUB_CHOSEN)
        return refuse(s->pubs, &s->proc, "processes in PMIX_EVENT_CUSTOM_RANGE",
                      n_named, PX_MAX_PUB_CHOSEN);
    pmix_status_t rc = px_value_procs(&chosen->value, &s->chosen, &s->n_chosen);
    if (!rc && s->n_chosen > 0)
        qsort(s->chosen, s->n_chosen, sizeof(*s->chosen), compare);
    return rc;
}

/* Checks the range of a request. An unknown range of a lookup becomes the default,
 * because programs pass values that they never set. */
static pmix_status_t check_range(const pmix_proc_t *proc, bool is_lookup,
                                 uint32_t *range)
{
    if (*range <= PMIX_RANGE_PROC_LOCAL)
        return PMIX_SUCCESS;
    if (!is_lookup) {
        px_log(
            PX_LOG_WARN, "host",
            "cannot publish for %s:%u: unknown PMIX_RANGE (got %u, expected 0 to %d)",
            proc->nspace, proc->rank, *range, PMIX_RANGE_PROC_LOCAL);
        return PMIX_ERR_BAD_PARAM;
    }
    px_log(PX_LOG_WARN, "host",
           "look-up of %s:%u uses the default instead of the unknown PMIX_RANGE %u",
           proc->nspace, proc->rank, *range);
    *range = PMIX_RANGE_UNDEF;
    return PMIX_SUCCESS;
}

static pmix_status_t scope_create(struct px_pubs *p, const pmix_proc_t *proc,
                                  const pmix_info_t *info, size_t n, bool is_lookup,
                                  struct scope **out)
{
    uint32_t range = px_info_u32(info, n, PMIX_RANGE, PMIX_RANGE_UNDEF);
    pmix_status_t rc = check_range(proc, is_lookup, &range);
    struct scope *s = rc ? NULL : calloc(1, sizeof(*s));

    if (!s)
        return rc ? rc : PMIX_ERR_NOMEM;
    *s = (struct scope){.pubs = p,
                        .refs = 1,
                        .proc = *proc,
                        .uid = px_info_u32(info, n, PMIX_USERID, geteuid()),
                        .range = range == PMIX_RANGE_UNDEF ? PMIX_RANGE_SESSION
                                                           : (pmix_data_range_t)range};
    if (s->range == PMIX_RANGE_CUSTOM)
        rc = read_chosen(s, info, n);
    s->size_b = sizeof(*s) + s->n_chosen * sizeof(*s->chosen);
    p->size_b += s->size_b;
    if (rc)
        scope_unref(s);
    else
        *out = s;
    return rc;
}

static bool names(const struct scope *s, const pmix_proc_t *proc)
{
    pmix_proc_t job = *proc;

    job.rank = PMIX_RANK_WILDCARD;
    return s->n_chosen > 0 &&
           (bsearch(proc, s->chosen, s->n_chosen, sizeof(*proc), compare) ||
            bsearch(&job, s->chosen, s->n_chosen, sizeof(job), compare));
}

/* True if other is in the range of s. On one node all wide ranges are the same. */
static bool includes(const struct scope *s, const struct scope *other)
{
    if (s->uid != other->uid)
        return false;
    switch (s->range) {
    case PMIX_RANGE_NAMESPACE:
        return strcmp(s->proc.nspace, other->proc.nspace) == 0;
    case PMIX_RANGE_RM: /* no process is the resource manager */
    case PMIX_RANGE_PROC_LOCAL:
    case PMIX_RANGE_CUSTOM:
        return names(s, &other->proc) || px_proc_same(&s->proc, &other->proc);
    default:
        return true;
    }
}

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
    memcpy(t->key, key, key_b);
    return t;
}

/* Frees a key without entries and waits. */
static void topic_drop(struct px_pubs *p, struct topic *t)
{
    if (t && px_list_empty(&t->entries) && px_list_empty(&t->waits)) {
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
}

/* True if each scope includes the other; both false: one suffices. */
static bool are_visible(struct px_pubs *p, const struct scope *a, const struct scope *b,
                        bool both)
{
    p->steps++;
    return both ? includes(a, b) && includes(b, a) : includes(a, b) || includes(b, a);
}

static struct pub *find(struct px_pubs *p, const struct topic *t,
                        const struct scope *scope, bool both)
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
        scope_unref(pub->scope);
    px_type_destruct(PMIX_VALUE, &pub->value);
    free(pub);
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
    p->size_b -= pub->size_b;
    topic_drop(p, t);
    party_unref(pub->party);
    pub_free(pub);
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

static pmix_status_t publish_one(struct px_pubs *p, struct scope *scope,
                                 uint32_t persistence, const pmix_info_t *data)
{
    struct topic *t = topic_of(p, data->key);
    struct party *y = t ? party_ref(p, &scope->proc) : NULL;
    struct pub *pub = y ? calloc(1, sizeof(*pub)) : NULL;
    pmix_status_t rc = !pub ? PMIX_ERR_NOMEM
                       : find(p, t, scope, false)
                           ? PMIX_ERR_DUPLICATE_KEY
                           : px_type_copy(PMIX_VALUE, &pub->value, &data->value);

    if (rc) {
        free(pub);
        if (y)
            party_unref(y);
        topic_drop(p, t);
        return rc;
    }
    pub->persistence = (pmix_persistence_t)persistence;
    pub->scope = scope;
    scope->refs++;
    pub->topic = t;
    pub->party = y;
    pub->size_b = size_of(data);
    px_list_append(&t->entries, &pub->same);
    px_list_append(&y->entries, &pub->link);
    p->n_pubs++;
    p->size_b += pub->size_b;
    return PMIX_SUCCESS;
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
    scope_unref(w->scope);
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
        return refuse(p, &y->proc, "keys that lookups wait for", y->n_waits,
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
        return refuse(p, asker, "keys to look up", n_keys, PX_MAX_KEYS);
    w = calloc(1, sizeof(*w) + n_keys * sizeof(w->waits[0]));
    if (!w)
        return PMIX_ERR_NOMEM;
    w->pubs = p;
    w->n_keys = n_keys;
    w->cb = cb;
    w->cbdata = cbdata;
    pmix_status_t rc = scope_create(p, asker, info, n, true, &w->scope);
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
static pmix_status_t check(struct px_pubs *p, const pmix_proc_t *owner,
                           const pmix_info_t *info, size_t n)
{
    size_t n_pubs = p->n_pubs, size_b = p->size_b;

    for (size_t i = 0; i < n; i++) {
        if (!info[i].key[0])
            return PMIX_ERR_BAD_PARAM;
        if (is_directive(info[i].key))
            continue;
        n_pubs++;
        size_b += size_of(&info[i]);
    }
    if (n_pubs == p->n_pubs)
        return PMIX_ERR_BAD_PARAM;
    if (n_pubs > PX_MAX_PUBS)
        return refuse(p, owner, "entries", n_pubs, PX_MAX_PUBS);
    return size_b > PX_MAX_PUBS_B
               ? refuse(p, owner, "bytes of entries", size_b, PX_MAX_PUBS_B)
               : PMIX_SUCCESS;
}

/* Adds all entries or none. *y becomes the owner, and *n_done their number. */
static pmix_status_t add(struct px_pubs *p, const pmix_proc_t *owner,
                         const pmix_info_t *info, size_t n, struct party **y,
                         size_t *n_done)
{
    uint32_t persistence = px_info_u32(info, n, PMIX_PERSISTENCE, PMIX_PERSIST_APP);
    const size_t n_before = p->n_pubs;
    struct scope *scope;
    pmix_status_t rc = persistence > PMIX_PERSIST_SESSION
                           ? PMIX_ERR_BAD_PARAM
                           : scope_create(p, owner, info, n, false, &scope);

    if (rc)
        return rc;
    for (size_t i = 0; i < n && !rc; i++)
        if (!is_directive(info[i].key))
            rc = publish_one(p, scope, persistence, &info[i]);
    scope_unref(scope);
    *y = find_party(p, owner);
    *n_done = p->n_pubs - n_before;
    while (rc && p->n_pubs > n_before)
        pub_remove(p, PX_CONTAINER_OF((*y)->entries.prev, struct pub, link));
    return rc;
}

pmix_status_t px_pubs_publish(struct px_pubs *p, const pmix_proc_t *owner,
                              const pmix_info_t *info, size_t n)
{
    struct party *y = NULL;
    struct px_list due, *at;
    size_t n_done = 0;
    pmix_status_t rc = check(p, owner, info, n);

    if (!rc)
        rc = add(p, owner, info, n, &y, &n_done);
    if (rc)
        return rc;
    px_list_init(&due);
    at = &y->entries;
    for (size_t i = 0; i < n_done; i++) {
        at = at->prev;
        show(p, PX_CONTAINER_OF(at, struct pub, link), &due);
    }
    answer_due(p, &due);
    return PMIX_SUCCESS;
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
        return refuse(p, owner, "keys to unpublish", n_keys, PX_MAX_KEYS);
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
    struct party *y = find_party(p, proc);
    size_t pos = 0;

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

    while ((y = px_map_next(&p->parties, &pos, NULL, NULL)))
        party_gone(y, NULL);
    px_map_fini(&p->parties);
    px_map_fini(&p->topics);
    px_log_rate_destroy(px_take(&p->rate));
}
