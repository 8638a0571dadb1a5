/* SPDX-License-Identifier: BSD-3-Clause */
/* Event registrations of a peer. One sorted array holds the codes of all registrations.
 * An event finds the registrations of its code there, and a message removes its codes
 * in one pass. */
#include "core/server/event/interests.h"

#include "core/base/vec.h"
#include "core/server/host.h"
#include "core/server/peer/peer.h"
#include "core/server/server.h"

/* Frees a registration without entries in the index. */
static void interest_free(struct px_interests *all, struct px_interest *i)
{
    px_list_remove(&i->link);
    px_list_remove(&i->due);
    all->n_listed--;
    all->n_affected -= i->n_affected;
    px_charge_end(&i->charge);
    free(i->affected);
    free(i);
}

void px_interests_free(struct px_peer *peer)
{
    struct px_interests *all = px_take(&peer->interests);

    if (!all)
        return;
    PX_LIST_EACH (&all->list, struct px_interest, i, link)
        interest_free(all, i);
    free(all->index);
    free(all);
}

/* Returns the registrations of a peer, which may be none. NULL: out of memory. */
static struct px_interests *interests_of(struct px_peer *peer)
{
    struct px_interests *all = peer->interests ? peer->interests
                                               : calloc(1, sizeof(*all));

    if (!all || peer->interests)
        return all;
    px_list_init(&all->list);
    px_list_init(&all->due);
    return peer->interests = all;
}

/* ---- changes --------------------------------------------------------------------- */

static pmix_status_t check_limits(const struct px_interests *all, size_t n_codes,
                                  size_t n_affected)
{
    if (n_codes > PX_MAX_CODES || n_affected > PX_MAX_AFFECTED)
        return PMIX_ERR_BAD_PARAM;
    return all->n_listed >= PX_MAX_INTERESTS ||
                   all->n + n_codes > PX_MAX_INTEREST_CODES ||
                   all->n_affected + n_affected > PX_MAX_INTEREST_PROCS
               ? PMIX_ERR_OUT_OF_RESOURCE
               : PMIX_SUCCESS;
}

/* Merges sorted codes of a new registration into the index, which has room. */
static void merge(struct px_interests *all, struct px_interest *of,
                  const pmix_status_t *codes, size_t n)
{
    size_t old = all->n, at = all->n + n;

    all->n = at;
    of->n_entries = n;
    while (n > 0) {
        if (old > 0 && all->index[old - 1].code > codes[n - 1])
            all->index[--at] = all->index[--old];
        else
            all->index[--at] = (struct px_interest_entry){codes[--n], of};
    }
}

pmix_status_t px_interests_add(struct px_peer *peer, pmix_status_t *codes,
                               size_t n_codes, pmix_proc_t *affected, size_t n_affected,
                               struct px_interest **added)
{
    const pmix_status_t any = PX_ANY_CODE;
    struct px_interests *all = interests_of(peer);
    pmix_status_t rc = all ? check_limits(all, n_codes, n_affected) : PMIX_ERR_NOMEM;
    struct px_interest *i;
    size_t n;

    if (rc)
        return rc;
    n = n_codes ? px_codes_sort(codes, n_codes) : 1;
    i = calloc(1, sizeof(*i));
    if (!i || !px_vec_reserve(&all->index, all->n, &all->cap, n)) {
        free(i);
        return PMIX_ERR_NOMEM;
    }
    rc = px_charge(&i->charge, peer,
                   sizeof(*i) + n * sizeof(*all->index) +
                       n_affected * sizeof(*affected));
    if (rc) {
        free(i);
        return rc;
    }
    i->id = ++all->last_id;
    i->end = peer->server->part.next_event;
    i->is_default = n_codes == 0;
    i->affected = affected;
    i->n_affected = n_affected;
    merge(all, i, n_codes ? codes : &any, n);
    px_list_append(&all->list, &i->link);
    px_list_init(&i->due);
    all->n_listed++;
    all->n_affected += n_affected;
    *added = i;
    return PMIX_SUCCESS;
}

/* True if the entry goes: those of one registration, or of the codes. */
static bool goes(const struct px_interest_entry *e, const struct px_interest *only,
                 const pmix_status_t *codes, size_t n)
{
    if (only)
        return e->of == only;
    if (e->of->is_default)
        return px_codes_have(codes, n, INT_MIN) || px_codes_have(codes, n, INT_MAX);
    return px_codes_have(codes, n, e->code);
}

static void drop(struct px_interests *all, const struct px_interest *only,
                 const pmix_status_t *codes, size_t n)
{
    size_t kept = 0;

    if (!all)
        return;
    for (size_t at = 0; at < all->n; at++) {
        struct px_interest_entry e = all->index[at];

        if (!goes(&e, only, codes, n))
            all->index[kept++] = e;
        else if (--e.of->n_entries == 0)
            interest_free(all, e.of);
    }
    all->n = kept;
}

void px_interest_remove(struct px_interests *all, struct px_interest *i)
{
    drop(all, i, NULL, 0);
}

void px_interests_drop(struct px_interests *all, const pmix_status_t *codes, size_t n)
{
    drop(all, NULL, codes, n);
}

struct px_interest *px_interests_find(const struct px_interests *all, uint64_t id)
{
    for (struct px_list *l = all ? all->list.prev : NULL; l && l != &all->list;
         l = l->prev) {
        struct px_interest *i = PX_CONTAINER_OF(l, struct px_interest, link);

        if (i->id <= id)
            return i->id == id ? i : NULL;
    }
    return NULL;
}

/* ---- questions ------------------------------------------------------------------- */

/* Returns the place of the first entry that is not before (code, id). */
static size_t find(const struct px_interests *all, pmix_status_t code, uint64_t id)
{
    size_t from = 0, to = all->n;

    while (from < to) {
        size_t mid = from + (to - from) / 2;
        const struct px_interest_entry *e = &all->index[mid];

        if (e->code < code || (e->code == code && e->of->id < id))
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

static bool concerns(const struct px_interest *i, struct px_aim *aim, size_t *n_steps)
{
    size_t before = aim->affected.n_steps;
    bool hit = px_aim_concerns(aim, i->affected, i->n_affected);

    *n_steps += aim->affected.n_steps - before;
    return hit;
}

static bool any_wants(const struct px_interests *all, pmix_status_t code,
                      bool is_default, struct px_aim *aim, uint64_t before,
                      uint64_t number, size_t *n_steps)
{
    for (size_t at = find(all, code, 0); at < all->n && all->index[at].code == code;
         at++) {
        const struct px_interest *i = all->index[at].of;

        if (i->id >= before || i->end > number)
            return false;
        if (i->is_default == is_default && concerns(i, aim, n_steps))
            return true;
    }
    return false;
}

bool px_interests_want(const struct px_interests *all, struct px_aim *aim,
                       uint64_t before, uint64_t number, size_t *n_steps)
{
    return all && (any_wants(all, aim->code, false, aim, before, number, n_steps) ||
                   (!aim->non_default &&
                    any_wants(all, PX_ANY_CODE, true, aim, before, number, n_steps)));
}

bool px_interest_has(const struct px_interests *all, const struct px_interest *i,
                     pmix_status_t code)
{
    size_t at = find(all, code, i->id);

    return at < all->n && all->index[at].code == code && all->index[at].of == i;
}

bool px_interest_wants(const struct px_interests *all, const struct px_interest *i,
                       struct px_aim *aim, size_t *n_steps)
{
    return px_interest_has(all, i, aim->code) && concerns(i, aim, n_steps);
}

bool px_server_awaits_event(struct px_server *srv, const pmix_proc_t *proc,
                            pmix_status_t code)
{
    const struct px_peer *peer = px_peer_find(srv, proc);
    const struct px_interests *all = peer ? peer->interests : NULL;
    size_t at = all ? find(all, code, 0) : 0;

    return all && at < all->n && all->index[at].code == code;
}
