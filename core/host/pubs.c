/* SPDX-License-Identifier: BSD-3-Clause */
/* The store behind publish and lookup. The range of an entry names its possible
 * readers, relative to the owner. The range of a lookup names the wanted owners,
 * relative to the asking process. Entries are visible to processes of the same user
 * only. A lookup is answered at once, or waits for enough entries. */
#include "core/host/pubs.h"

#include <string.h>

#include "core/base/strv.h"
#include "core/notify/notify.h"
#include "core/rt/log.h"
#include "core/rt/loop.h"
#include "core/wire/ops.h"

#define MAX_ANSWER_B PX_MAX_ANSWER_B /* larger entries do not fit in a reply */

/* Range around a process: the owner of an entry, or the process that looks up. */
struct scope {
    pmix_proc_t proc;
    uint32_t uid;
    pmix_data_range_t range;
    pmix_proc_t *chosen; /* custom range */
    size_t n_chosen;
};

struct pub {
    struct px_list link;
    struct scope scope;
    pmix_persistence_t persistence;
    pmix_key_t key;
    pmix_value_t value;
    size_t size_b;
};

struct waiter {
    struct px_list link;
    struct scope scope;
    char **keys;
    size_t n_wanted;
    struct px_timer *timer;
    pmix_lookup_cbfunc_t cb;
    void *cbdata;
};

/* ---- scopes --------------------------------------------------------------------- */

static pmix_status_t scope_init(struct scope *s, const pmix_proc_t *proc,
                                const pmix_info_t *info, size_t n, bool is_lookup)
{
    const pmix_info_t *chosen = px_info_find(info, n, PMIX_EVENT_CUSTOM_RANGE);
    uint32_t range = px_info_u32(info, n, PMIX_RANGE, PMIX_RANGE_UNDEF);

    *s = (struct scope){.proc = *proc,
                        .uid = px_info_u32(info, n, PMIX_USERID, geteuid())};
    if (range > PMIX_RANGE_PROC_LOCAL && !is_lookup) {
        px_log(
            PX_LOG_WARN, "host",
            "cannot publish for %s:%u: unknown PMIX_RANGE (got %u, expected 0 to %d)",
            proc->nspace, proc->rank, range, PMIX_RANGE_PROC_LOCAL);
        return PMIX_ERR_BAD_PARAM;
    }
    if (range > PMIX_RANGE_PROC_LOCAL) { /* programs pass values that they never set */
        px_log(PX_LOG_WARN, "host",
               "look-up of %s:%u uses the default instead of the unknown PMIX_RANGE %u",
               proc->nspace, proc->rank, range);
        range = PMIX_RANGE_UNDEF;
    }
    s->range = range == PMIX_RANGE_UNDEF ? PMIX_RANGE_SESSION
                                         : (pmix_data_range_t)range;
    if (s->range != PMIX_RANGE_CUSTOM)
        return PMIX_SUCCESS;
    return chosen ? px_value_procs(&chosen->value, &s->chosen, &s->n_chosen)
                  : PMIX_ERR_BAD_PARAM;
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
        for (size_t i = 0; i < s->n_chosen; i++)
            if (px_proc_match(&s->chosen[i], &other->proc))
                return true;
        return px_proc_same(&s->proc, &other->proc);
    default:
        return true;
    }
}

/* ---- entries -------------------------------------------------------------------- */

void px_pubs_init(struct px_pubs *p, struct px_loop *loop)
{
    *p = (struct px_pubs){.loop = loop};
    px_list_init(&p->pubs);
    px_list_init(&p->waiters);
}

static void pub_remove(struct px_pubs *p, struct pub *pub)
{
    px_list_remove(&pub->link);
    p->n_pubs--;
    p->size_b -= pub->size_b;
    free(pub->scope.chosen);
    px_type_destruct(PMIX_VALUE, &pub->value);
    free(pub);
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

/* Returns an entry with this key. both: each scope includes the other; otherwise one
 * suffices. */
static struct pub *find(const struct px_pubs *p, const struct scope *scope,
                        const char *key, bool both)
{
    PX_LIST_EACH (&p->pubs, struct pub, pub, link) {
        bool seen = includes(&pub->scope, scope), wanted = includes(scope, &pub->scope);

        if (strcmp(pub->key, key) == 0 && (both ? seen && wanted : seen || wanted))
            return pub;
    }
    return NULL;
}

static pmix_status_t publish_one(struct px_pubs *p, const pmix_proc_t *owner,
                                 const pmix_info_t *info, size_t n,
                                 const pmix_info_t *data)
{
    uint32_t persistence = px_info_u32(info, n, PMIX_PERSISTENCE, PMIX_PERSIST_APP);
    struct pub *pub;

    if (persistence > PMIX_PERSIST_SESSION || !data->key[0])
        return PMIX_ERR_BAD_PARAM;
    pub = calloc(1, sizeof(*pub));
    if (!pub)
        return PMIX_ERR_NOMEM;
    memcpy(pub->key, data->key, sizeof(pub->key));
    pub->persistence = (pmix_persistence_t)persistence;
    pmix_status_t rc = scope_init(&pub->scope, owner, info, n, false);
    if (!rc && find(p, &pub->scope, pub->key, false))
        rc = PMIX_ERR_DUPLICATE_KEY;
    if (!rc)
        rc = px_type_copy(PMIX_VALUE, &pub->value, &data->value);
    pub->size_b = rc ? 0 : sizeof(*pub) + px_type_size(PMIX_VALUE, &pub->value);
    px_list_append(&p->pubs, &pub->link);
    p->n_pubs++;
    p->size_b += pub->size_b;
    if (!rc && (p->n_pubs > PX_MAX_PUBS || p->size_b > PX_MAX_PUBS_B))
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    if (rc)
        pub_remove(p, pub);
    return rc;
}

/* ---- lookups -------------------------------------------------------------------- */

static size_t count(const struct px_pubs *p, const struct waiter *w)
{
    size_t n = 0;

    for (char **key = w->keys; *key; key++)
        n += find(p, &w->scope, *key, true) != NULL;
    return n;
}

static void waiter_free(struct waiter *w)
{
    px_list_remove(&w->link);
    px_timer_free(w->timer);
    free(w->scope.chosen);
    px_strv_free(w->keys);
    free(w);
}

/* Copies the found entries; a key may appear several times. Then removes the entries
 * for one reader. */
static pmix_status_t gather(struct px_pubs *p, const struct waiter *w,
                            pmix_pdata_t *found, size_t *n)
{
    size_t room_b = MAX_ANSWER_B;

    for (char **key = w->keys; *key; key++) {
        struct pub *pub = find(p, &w->scope, *key, true);
        pmix_pdata_t *to = &found[*n];

        if (!pub)
            continue;
        if (pub->size_b > room_b)
            return PMIX_ERR_OUT_OF_RESOURCE;
        room_b -= pub->size_b;
        to->proc = pub->scope.proc;
        memcpy(to->key, pub->key, sizeof(to->key));
        if (px_type_copy(PMIX_VALUE, &to->value, &pub->value))
            return PMIX_ERR_NOMEM;
        (*n)++;
    }
    for (char **key = w->keys; *key; key++) {
        struct pub *pub = find(p, &w->scope, *key, true);

        if (pub && pub->persistence == PMIX_PERSIST_FIRST_READ)
            pub_remove(p, pub);
    }
    return PMIX_SUCCESS;
}

static void answer(struct px_pubs *p, struct waiter *w)
{
    size_t n_keys = px_strv_count(w->keys), n = 0;
    pmix_pdata_t *found = calloc(n_keys, sizeof(*found));
    pmix_status_t rc = found ? gather(p, w, found, &n) : PMIX_ERR_NOMEM;

    if (rc) {
        px_type_free_array(PMIX_PDATA, found, n);
        found = NULL;
        n = 0;
    } else if (n < n_keys) {
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

/* Ends the lookups of a process or a job. proc NULL: all lookups. */
static void give_up_of(struct px_pubs *p, const pmix_proc_t *proc)
{
    PX_LIST_EACH (&p->waiters, struct waiter, w, link)
        if (!proc || px_proc_match(&w->scope.proc, proc))
            give_up(w, PMIX_ERR_LOST_CONNECTION);
}

pmix_status_t px_pubs_lookup(struct px_pubs *p, const pmix_proc_t *asker,
                             char *const *keys, const pmix_info_t *info, size_t n,
                             pmix_lookup_cbfunc_t cb, void *cbdata)
{
    uint32_t seconds = px_info_u32(info, n, PMIX_TIMEOUT, 0);
    struct waiter *w;

    if (!keys || !keys[0])
        return PMIX_ERR_BAD_PARAM;
    w = malloc(sizeof(*w));
    if (!w)
        return PMIX_ERR_NOMEM;
    *w = (struct waiter){.keys = px_strv_dup(keys), .cb = cb, .cbdata = cbdata};
    pmix_status_t rc = scope_init(&w->scope, asker, info, n, true);
    if (!rc && !w->keys)
        rc = PMIX_ERR_NOMEM;
    if (!rc && (!wants_to_wait(info, n, px_strv_count(keys), &w->n_wanted) ||
                count(p, w) >= w->n_wanted)) {
        answer(p, w);
        return PMIX_SUCCESS;
    }
    if (!rc && seconds && !(w->timer = px_timer_create(p->loop, on_deadline, w)))
        rc = PMIX_ERR_NOMEM;
    if (rc) {
        waiter_free(w);
        return rc;
    }
    if (w->timer)
        px_timer_set(w->timer, seconds * UINT64_C(1000));
    px_list_append(&p->waiters, &w->link);
    return PMIX_SUCCESS;
}

/* ---- publish, unpublish, ends --------------------------------------------------- */

pmix_status_t px_pubs_publish(struct px_pubs *p, const pmix_proc_t *owner,
                              const pmix_info_t *info, size_t n)
{
    const size_t n_before = p->n_pubs;
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < n; i++)
        if (!is_directive(info[i].key))
            rc = publish_one(p, owner, info, n, &info[i]);
    if (!rc && p->n_pubs == n_before)
        rc = PMIX_ERR_BAD_PARAM;
    while (rc && p->n_pubs > n_before)
        pub_remove(p, PX_CONTAINER_OF(p->pubs.prev, struct pub, link));
    if (rc)
        return rc;
    /* The new entry may complete a lookup. */
    PX_LIST_EACH (&p->waiters, struct waiter, w, link)
        if (count(p, w) >= w->n_wanted)
            answer(p, w);
    return PMIX_SUCCESS;
}

void px_pubs_unpublish(struct px_pubs *p, const pmix_proc_t *owner, char *const *keys,
                       const pmix_info_t *info, size_t n)
{
    uint32_t range = px_info_u32(info, n, PMIX_RANGE, PMIX_RANGE_UNDEF);

    PX_LIST_EACH (&p->pubs, struct pub, pub, link)
        if (px_proc_same(&pub->scope.proc, owner) &&
            (!keys || px_strv_has(keys, pub->key)) &&
            (range == PMIX_RANGE_UNDEF || range == pub->scope.range))
            pub_remove(p, pub);
}

/* True if the entry ends with this process or job. */
static bool goes_with(const struct pub *pub, const pmix_proc_t *proc)
{
    return px_proc_match(&pub->scope.proc, proc) &&
           (proc->rank == PMIX_RANK_WILDCARD
                ? pub->persistence != PMIX_PERSIST_SESSION &&
                      pub->persistence != PMIX_PERSIST_INDEF
                : pub->persistence == PMIX_PERSIST_PROC);
}

void px_pubs_gone(struct px_pubs *p, const pmix_proc_t *proc)
{
    PX_LIST_EACH (&p->pubs, struct pub, pub, link)
        if (goes_with(pub, proc))
            pub_remove(p, pub);
    give_up_of(p, proc);
}

void px_pubs_fini(struct px_pubs *p)
{
    give_up_of(p, NULL);
    PX_LIST_EACH (&p->pubs, struct pub, pub, link)
        pub_remove(p, pub);
}
