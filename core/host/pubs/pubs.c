/* SPDX-License-Identifier: BSD-3-Clause */
/* The store behind publish and lookup. The range of an entry names its possible
 * readers, relative to the owner. The range of a lookup names the wanted owners,
 * relative to the asking process. Entries are visible to processes of the same user, or
 * of the users and groups that the owner lists. A lookup is answered at once, or waits
 * for enough entries.
 *
 * Entries and waits hang on their key and on their process, so a request costs what its
 * keys cost. A request of many keys takes several turns of the loop. */
#include "core/host/pubs/pubs.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/strv.h"
#include "core/host/pubs/pubs_impl.h"
#include "core/rt/log.h"
#include "core/rt/loop.h"
#include "core/server/host.h"
#include "core/wire/requests.h"

/* A publish. Its entries are made first, and become visible together. */
struct publish {
    struct px_pub_request request;
    struct px_pubs *pubs;
    const pmix_info_t *info;
    size_t n, at; /* infos; of them, those that are staged */
    struct px_scope *scope;
    struct px_pub_party *party;
    pmix_persistence_t persistence;
    size_t n_new, new_b;   /* entries; their bytes */
    struct px_list staged; /* struct px_pub.link */
    pmix_op_cbfunc_t cb;
    void *cbdata;
};

/* Reason of a removal: a request of the owner, or an end. */
enum reason { UNPUBLISH, END_OF_PROC, END_OF_JOB, END_OF_ALL };

/* A removal of entries. */
struct removal {
    struct px_pub_request request;
    struct px_pub_party *party;
    enum reason reason;
    char *const *keys; /* those that are left; NULL: all entries */
    uint32_t range;
    pmix_op_cbfunc_t cb; /* NULL: no process waits */
    void *cbdata;
};

void px_pubs_init(struct px_pubs *p, struct px_loop *loop)
{
    *p = (struct px_pubs){.loop = loop};
    px_list_init(&p->requests);
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
    return sizeof(struct px_pub) + px_type_size(PMIX_VALUE, &data->value);
}

/* ---- publish --------------------------------------------------------------------- */

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
    w->party = px_pub_party_ref(w->pubs, owner);
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
    struct px_pub_topic *t = px_pub_topic_of(w->pubs, data->key);
    struct px_pub *pub = t ? calloc(1, sizeof(*pub)) : NULL;
    pmix_status_t rc = pub ? px_type_copy(PMIX_VALUE, &pub->value, &data->value)
                           : PMIX_ERR_NOMEM;

    if (rc) {
        free(pub);
        px_pub_topic_drop(w->pubs, t);
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
    w->pubs->steps += pub->size_b / PX_PUB_COPY_B;
    px_list_append(&w->staged, &pub->link);
    return PMIX_SUCCESS;
}

/* Makes entries of up to most further infos. */
static pmix_status_t stage(struct publish *w, size_t most)
{
    const uint64_t begun = w->pubs->steps;
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t n = 0; !rc && w->at < w->n && n < px_pub_budget(w->pubs, begun, most);
         w->at++, n++)
        if (!is_directive(w->info[w->at].key))
            rc = stage_one(w, &w->info[w->at]);
    return rc;
}

/* Makes the entries visible. Stops at the first key with an entry on the same range. */
static pmix_status_t reveal(struct publish *w, size_t *n_done)
{
    PX_LIST_EACH (&w->staged, struct px_pub, pub, link) {
        const pmix_status_t rc = px_pub_place(w->pubs, pub);

        if (rc)
            return rc;
        pub->topic->n_staged--;
        px_list_remove(&pub->link);
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
        struct px_pub *pub = PX_CONTAINER_OF(at, struct px_pub, link);

        if (!rc) {
            px_pub_show(w->pubs, pub, &due);
            continue;
        }
        at = at->next;
        px_pub_remove(w->pubs, pub);
    }
    px_pub_answer_due(&due);
    PX_LIST_EACH (&w->staged, struct px_pub, pub, link) {
        px_list_remove(&pub->link);
        pub->topic->n_staged--;
        px_pub_drop(w->pubs, pub);
    }
    w->pubs->n_pubs -= w->n_new; /* those that are not visible */
    w->scope->user->n_pubs -= w->n_new;
    px_publisher_release(w->scope->user, w->new_b);
    px_scope_unref(w->scope);
    px_pub_party_unref(w->party);
    return rc;
}

pmix_status_t px_pubs_publish(struct px_pubs *p, const pmix_proc_t *owner,
                              const pmix_info_t *info, size_t n)
{
    struct publish w = {.pubs = p, .info = info, .n = n};
    pmix_status_t rc = begin(&w, owner);

    return rc ? rc : finish(&w, stage(&w, SIZE_MAX));
}

static void end_publish(struct publish *w, pmix_status_t rc)
{
    px_pub_end_turns(&w->request);
    rc = finish(w, rc);
    w->cb(rc, w->cbdata);
    free(w);
}

static bool continue_publish(struct px_pub_request *r, size_t most)
{
    struct publish *w = PX_CONTAINER_OF(r, struct publish, request);
    pmix_status_t rc = stage(w, most);

    if (!rc && w->at < w->n)
        return false;
    end_publish(w, rc);
    return true;
}

static void give_up_publish(struct px_pub_request *r)
{
    end_publish(PX_CONTAINER_OF(r, struct publish, request), PMIX_ERR_LOST_CONNECTION);
}

pmix_status_t px_pubs_publish_in_turns(struct px_pubs *p, const pmix_proc_t *owner,
                                       const pmix_info_t *info, size_t n,
                                       pmix_op_cbfunc_t cb, void *cbdata)
{
    struct publish *w = malloc(sizeof(*w));

    if (!w)
        return PMIX_ERR_NOMEM;
    *w = (struct publish){
        .request = {.go_on = continue_publish, .give_up = give_up_publish},
        .pubs = p,
        .info = info,
        .n = n,
        .cb = cb,
        .cbdata = cbdata};
    pmix_status_t rc = begin(w, owner);
    if (!rc && px_pub_take_turns(p, &w->request, owner,
                                 n + w->new_b / PX_PUB_COPY_B / PX_PUB_STEPS_PER_KEY))
        return PMIX_SUCCESS;
    if (!rc)
        rc = finish(w, stage(w, SIZE_MAX));
    free(w);
    return rc ? rc : PMIX_OPERATION_SUCCEEDED;
}

/* ---- unpublish ------------------------------------------------------------------- */

static bool is_in(const struct removal *w, const struct px_pub *pub, uint32_t range)
{
    w->party->pubs->steps++;
    if (w->reason == END_OF_PROC)
        return pub->persistence == PMIX_PERSIST_PROC;
    if (w->reason == END_OF_JOB)
        return pub->persistence != PMIX_PERSIST_SESSION &&
               pub->persistence != PMIX_PERSIST_INDEF;
    return pub->party == w->party &&
           (range == PMIX_RANGE_UNDEF || range == pub->scope->range);
}

/* Removes the entries of an owner for this key on a range. Returns their number. */
static size_t unpublish_on(const struct removal *w, const char *key, uint32_t range)
{
    struct px_pubs *p = w->party->pubs;
    struct px_pub_topic *t = px_pub_topic_find(p, key);
    size_t n = 0;

    if (!t)
        return 0;
    t->n_staged++; /* keeps the key */
    PX_LIST_EACH (&t->entries, struct px_pub, pub, same)
        if (is_in(w, pub, range)) {
            px_pub_remove(p, pub);
            n++;
        }
    t->n_staged--;
    px_pub_topic_drop(p, t);
    return n;
}

/* Removes the entries of an owner for this key. Without a range, removes the entry of
 * the session, which is the default. Without such an entry, removes all. */
static void unpublish_one(const struct removal *w, const char *key)
{
    if (w->range != PMIX_RANGE_UNDEF || unpublish_on(w, key, PMIX_RANGE_SESSION) == 0)
        (void)unpublish_on(w, key, w->range);
}

/* Removes entries of up to most further keys. Returns true if no key is left. */
static bool remove_some(struct removal *w, size_t most)
{
    struct px_pub_party *y = w->party;
    const uint64_t begun = y->pubs->steps;

    if (w->keys) {
        for (size_t n = 0; *w->keys && n < px_pub_budget(y->pubs, begun, most);
             w->keys++, n++)
            unpublish_one(w, *w->keys);
        return !*w->keys;
    }
    size_t n = 0;
    PX_LIST_EACH (&y->entries, struct px_pub, pub, link) {
        if (n >= px_pub_budget(y->pubs, begun, most))
            return false;
        if (!is_in(w, pub, w->range))
            continue;
        px_pub_remove(y->pubs, pub);
        n++;
    }
    return true;
}

/* Begins a removal. w->party NULL: the owner has no entries. */
static pmix_status_t begin_removal(struct px_pubs *p, struct removal *w,
                                   const pmix_proc_t *owner, char *const *keys,
                                   const pmix_info_t *info, size_t n)
{
    const size_t n_keys = px_strv_count(keys);

    w->keys = keys;
    w->range = px_info_u32(info, n, PMIX_RANGE, PMIX_RANGE_UNDEF);
    if (n_keys > PX_MAX_KEYS)
        return px_pubs_refuse(p, owner, "keys to unpublish", n_keys, PX_MAX_KEYS);
    w->party = px_pub_party_find(p, owner);
    if (w->party)
        w->party->refs++;
    return PMIX_SUCCESS;
}

pmix_status_t px_pubs_unpublish(struct px_pubs *p, const pmix_proc_t *owner,
                                char *const *keys, const pmix_info_t *info, size_t n)
{
    struct removal w = {0};
    pmix_status_t rc = begin_removal(p, &w, owner, keys, info, n);

    if (rc || !w.party)
        return rc;
    (void)remove_some(&w, SIZE_MAX);
    px_pub_party_unref(w.party);
    return PMIX_SUCCESS;
}

static bool continue_removal(struct px_pub_request *r, size_t most)
{
    struct removal *w = PX_CONTAINER_OF(r, struct removal, request);

    if (!remove_some(w, most))
        return false;
    px_pub_end_turns(r);
    if (w->cb)
        w->cb(PMIX_SUCCESS, w->cbdata);
    px_pub_party_unref(w->party);
    free(w);
    return true;
}

/* Removes what is left: entries may outlive the process. */
static void give_up_removal(struct px_pub_request *r)
{
    (void)continue_removal(r, SIZE_MAX);
}

pmix_status_t px_pubs_unpublish_in_turns(struct px_pubs *p, const pmix_proc_t *owner,
                                         char *const *keys, const pmix_info_t *info,
                                         size_t n, pmix_op_cbfunc_t cb, void *cbdata)
{
    struct removal *w = malloc(sizeof(*w));

    if (!w)
        return PMIX_ERR_NOMEM;
    *w = (struct removal){.request = {.go_on = continue_removal,
                                      .give_up = give_up_removal,
                                      .outlives = true},
                          .cb = cb,
                          .cbdata = cbdata};
    pmix_status_t rc = begin_removal(p, w, owner, keys, info, n);
    if (rc || !w->party) {
        free(w);
        return rc ? rc : PMIX_OPERATION_SUCCEEDED;
    }
    if (px_pub_take_turns(p, &w->request, owner,
                          keys ? px_strv_count(keys)
                               : px_list_length(&w->party->entries)) ||
        (!remove_some(w, PX_PUBS_PER_TURN) &&
         px_pub_take_turns(p, &w->request, owner, SIZE_MAX)))
        return PMIX_SUCCESS;
    (void)remove_some(w, SIZE_MAX); /* what is left, without a loop */
    px_pub_party_unref(w->party);
    free(w);
    return PMIX_OPERATION_SUCCEEDED;
}

/* ---- ends ------------------------------------------------------------------------ */

/* Ends the long requests of a process that ends. proc NULL: of all. */
static void requests_gone(struct px_pubs *p, const pmix_proc_t *proc)
{
    PX_LIST_EACH (&p->requests, struct px_pub_request, r, link)
        if (!proc || (!r->outlives && px_proc_match(&r->party->proc, proc)))
            r->give_up(r);
}

/* Returns the keys of a turn that the removal of a party's entries counts as. */
static size_t n_to_remove(const struct px_pub_party *y)
{
    size_t n = 0, size_b = 0;

    PX_LIST_EACH (&y->entries, struct px_pub, pub, link) {
        n++;
        size_b += pub->size_b;
    }
    return n + size_b / PX_PUB_FREE_B / PX_PUB_STEPS_PER_KEY;
}

/* Removes the entries of a party that end with it, at once or in turns. */
static void remove_ended(struct px_pub_party *y, enum reason reason)
{
    const size_t n = reason == END_OF_ALL ? 0 : n_to_remove(y);
    struct removal now = {
        .request = {.go_on = continue_removal,
                    .give_up = give_up_removal,
                    .outlives = true},
        .party = y,
        .reason = reason,
    };
    struct removal *later = n > 0 ? malloc(sizeof(*later)) : NULL;

    if (later) {
        *later = now;
        y->refs++;
        if (px_pub_take_turns(y->pubs, &later->request, &y->proc, n))
            return;
        y->refs--;
        free(later);
    }
    (void)remove_some(&now, SIZE_MAX);
}

/* Handles the end of a process, its job or all. */
static void party_gone(struct px_pub_party *y, enum reason reason)
{
    y->refs++;
    px_pub_waits_gone(y);
    remove_ended(y, reason);
    px_pub_party_unref(y);
}

void px_pubs_gone(struct px_pubs *p, const pmix_proc_t *proc)
{
    struct px_pub_party *y;
    size_t pos = 0;

    requests_gone(p, proc);
    y = px_pub_party_find(p, proc);
    if (proc->rank != PMIX_RANK_WILDCARD) {
        if (y)
            party_gone(y, END_OF_PROC);
        return;
    }
    while ((y = px_map_next(&p->parties, &pos, NULL, NULL)))
        if (px_proc_match(&y->proc, proc))
            party_gone(y, END_OF_JOB);
}

void px_pubs_tool_gone(struct px_pubs *p, const pmix_proc_t *tool)
{
    struct px_pub_party *y;

    requests_gone(p, tool);
    y = px_pub_party_find(p, tool);
    if (y)
        party_gone(y, END_OF_JOB);
}

void px_pubs_fini(struct px_pubs *p)
{
    struct px_pub_party *y;
    size_t pos = 0;

    requests_gone(p, NULL);
    while ((y = px_map_next(&p->parties, &pos, NULL, NULL)))
        party_gone(y, END_OF_ALL);
    px_timer_free(px_take(&p->timer));
    px_map_fini(&p->parties);
    px_map_fini(&p->topics);
    px_map_fini(&p->users);
    px_log_rate_destroy(px_take(&p->rate));
}
