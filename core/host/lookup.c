/* SPDX-License-Identifier: BSD-3-Clause */
/* Lookups: answered from what is there, or kept until enough is. */
#include <string.h>

#include "core/base/strv.h"
#include "core/rt/loop.h"
#include "core/host/pubs_impl.h"
#include "core/wire/ops.h"

#define MAX_ANSWER_B PX_MAX_FRAME_B /* what has no room in a reply need not be copied */

struct waiter {
    struct px_list link;
    struct px_pubs *pubs;
    struct px_pub_scope scope;
    char **keys;
    size_t n_wanted;
    struct px_timer *timer;
    pmix_lookup_cbfunc_t cb;
    void *cbdata;
};

static struct px_pub *find(const struct px_pubs *p, const struct px_pub_scope *who,
                           const char *key)
{
    PX_LIST_EACH (&p->pubs, struct px_pub, pub, link)
        if (strcmp(pub->key, key) == 0 && px_pub_visible(pub, who))
            return pub;
    return NULL;
}

static size_t count(const struct px_pubs *p, const struct waiter *w)
{
    size_t n = 0;

    for (char **key = w->keys; *key; key++)
        n += find(p, &w->scope, *key) != NULL;
    return n;
}

static void waiter_free(struct waiter *w)
{
    px_list_remove(&w->link);
    px_timer_free(w->timer);
    px_pub_scope_fini(&w->scope);
    px_strv_free(w->keys);
    free(w);
}

/* Copies of what is there, of a key as often as it is asked for. Entries for one reader are gone by then: nobody gets them
 * twice. */
static pmix_status_t gather(struct px_pubs *p, const struct waiter *w,
                            pmix_pdata_t *found, size_t *n)
{
    size_t room_b = MAX_ANSWER_B;

    for (char **key = w->keys; *key; key++) {
        struct px_pub *pub = find(p, &w->scope, *key);
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
        struct px_pub *pub = find(p, &w->scope, *key);

        if (pub && pub->persistence == PMIX_PERSIST_FIRST_READ)
            px_pub_remove(p, pub);
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

/* PMIX_WAIT says for how many; as a flag, or 0, for all. False: it does not wait. */
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

static pmix_status_t waiter_create(struct px_pubs *p, const pmix_proc_t *who,
                                   char *const *keys, const pmix_info_t *info, size_t n,
                                   struct waiter **out)
{
    struct waiter *w;

    if (!keys || !keys[0])
        return PMIX_ERR_BAD_PARAM;
    w = calloc(1, sizeof(*w));
    if (!w)
        return PMIX_ERR_NOMEM;
    w->pubs = p;
    pmix_status_t rc = px_pub_scope_init(&w->scope, who, info, n);
    if (!rc) {
        w->keys = px_strv_dup(keys);
        rc = w->keys ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    }
    if (rc) {
        waiter_free(w);
        return rc;
    }
    *out = w;
    return PMIX_SUCCESS;
}

pmix_status_t px_pubs_lookup(struct px_pubs *p, const pmix_proc_t *who,
                             char *const *keys, const pmix_info_t *info, size_t n,
                             pmix_lookup_cbfunc_t cb, void *cbdata)
{
    uint32_t seconds = px_info_u32(info, n, PMIX_TIMEOUT, 0);
    struct waiter *w;
    pmix_status_t rc = waiter_create(p, who, keys, info, n, &w);

    if (rc)
        return rc;
    w->cb = cb;
    w->cbdata = cbdata;
    if (!wants_to_wait(info, n, px_strv_count(keys), &w->n_wanted) ||
        count(p, w) >= w->n_wanted) {
        answer(p, w);
        return PMIX_SUCCESS;
    }
    if (seconds) {
        w->timer = px_timer_create(p->loop, on_deadline, w);
        if (!w->timer) {
            waiter_free(w);
            return PMIX_ERR_NOMEM;
        }
        px_timer_set(w->timer, seconds * UINT64_C(1000));
    }
    px_list_append(&p->waiters, &w->link);
    return PMIX_SUCCESS;
}

void px_pubs_satisfy(struct px_pubs *p)
{
    PX_LIST_EACH (&p->waiters, struct waiter, w, link)
        if (count(p, w) >= w->n_wanted)
            answer(p, w);
}

void px_pubs_give_up(struct px_pubs *p, const char *nspace, const pmix_proc_t *proc)
{
    PX_LIST_EACH (&p->waiters, struct waiter, w, link)
        if ((!proc || px_proc_same(&w->scope.proc, proc)) &&
            (!nspace || strcmp(w->scope.proc.nspace, nspace) == 0))
            give_up(w, PMIX_ERR_LOST_CONNECTION);
}
