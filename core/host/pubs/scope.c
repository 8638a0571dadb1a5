/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/host/pubs/scope.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/notify/notify.h"
#include "core/rt/log.h"
#include "core/server/host.h"

#define LOG_PERIOD_MS 60000u

/* ---- users ---------------------------------------------------------------------- */

static struct px_publisher *find(const struct px_pubs *p, uint32_t uid)
{
    return px_map_get(&p->users, &uid, sizeof(uid));
}

/* Returns the user id of a request. */
static uint32_t uid_of(const pmix_info_t *info, size_t n)
{
    return px_info_u32(info, n, PMIX_USERID, geteuid());
}

const struct px_publisher *px_publisher_find(const struct px_pubs *p,
                                             const pmix_info_t *info, size_t n)
{
    return find(p, uid_of(info, n));
}

/* Finds or adds a user, with a reference. NULL if out of memory. */
static struct px_publisher *user_ref(struct px_pubs *p, uint32_t uid)
{
    struct px_publisher *u = find(p, uid);

    if (!u) {
        u = calloc(1, sizeof(*u));
        if (!u || px_map_put(&p->users, &uid, sizeof(uid), u, NULL)) {
            free(u);
            return NULL;
        }
        u->pubs = p;
        u->uid = uid;
    }
    u->refs++;
    return u;
}

static void user_unref(struct px_publisher *u)
{
    if (--u->refs > 0)
        return;
    (void)px_map_remove(&u->pubs->users, &u->uid, sizeof(u->uid));
    free(u);
}

void px_publisher_hold(struct px_publisher *u, size_t size_b)
{
    u->size_b += size_b;
    u->pubs->size_b += size_b;
}

void px_publisher_release(struct px_publisher *u, size_t size_b)
{
    u->size_b -= size_b;
    u->pubs->size_b -= size_b;
}

/* ---- scopes --------------------------------------------------------------------- */

pmix_status_t px_pubs_refuse(struct px_pubs *p, const pmix_proc_t *proc,
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

void px_scope_unref(struct px_scope *s)
{
    if (!s || --s->refs > 0)
        return;
    px_publisher_release(s->user, s->size_b);
    user_unref(s->user);
    free(s->chosen);
    free(s);
}

static pmix_status_t read_chosen(struct px_scope *s, const pmix_info_t *info, size_t n)
{
    const pmix_info_t *chosen = px_info_find(info, n, PMIX_EVENT_CUSTOM_RANGE);
    const pmix_proc_t *named;
    size_t n_named;

    if (!chosen || px_value_borrow_procs(&chosen->value, &named, &n_named))
        return PMIX_ERR_BAD_PARAM;
    if (n_named > PX_MAX_PUB_CHOSEN)
        return px_pubs_refuse(s->user->pubs, &s->proc,
                              "processes in PMIX_EVENT_CUSTOM_RANGE", n_named,
                              PX_MAX_PUB_CHOSEN);
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

pmix_status_t px_scope_create(struct px_pubs *p, const pmix_proc_t *proc,
                              const pmix_info_t *info, size_t n, bool is_lookup,
                              struct px_scope **out)
{
    uint32_t range = px_info_u32(info, n, PMIX_RANGE, PMIX_RANGE_UNDEF);
    pmix_status_t rc = check_range(proc, is_lookup, &range);
    struct px_publisher *u = rc ? NULL : user_ref(p, uid_of(info, n));
    struct px_scope *s = u ? calloc(1, sizeof(*s)) : NULL;

    if (!s) {
        if (u)
            user_unref(u);
        return rc ? rc : PMIX_ERR_NOMEM;
    }
    *s = (struct px_scope){.user = u,
                           .refs = 1,
                           .proc = *proc,
                           .range = range == PMIX_RANGE_UNDEF
                                        ? PMIX_RANGE_SESSION
                                        : (pmix_data_range_t)range};
    if (s->range == PMIX_RANGE_CUSTOM)
        rc = read_chosen(s, info, n);
    s->size_b = sizeof(*s) + s->n_chosen * sizeof(*s->chosen);
    px_publisher_hold(u, s->size_b);
    if (rc)
        px_scope_unref(s);
    else
        *out = s;
    return rc;
}

static bool names(const struct px_scope *s, const pmix_proc_t *proc)
{
    pmix_proc_t job = *proc;

    job.rank = PMIX_RANK_WILDCARD;
    return s->n_chosen > 0 &&
           (bsearch(proc, s->chosen, s->n_chosen, sizeof(*proc), compare) ||
            bsearch(&job, s->chosen, s->n_chosen, sizeof(job), compare));
}

/* On one node all wide ranges are the same. */
bool px_scope_includes(const struct px_scope *s, const struct px_scope *other)
{
    if (s->user != other->user)
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

bool px_scope_same(const struct px_scope *a, const struct px_scope *b)
{
    if (a->user != b->user || a->range != b->range || a->n_chosen != b->n_chosen)
        return false;
    switch (a->range) {
    case PMIX_RANGE_NAMESPACE:
        return strcmp(a->proc.nspace, b->proc.nspace) == 0;
    case PMIX_RANGE_PROC_LOCAL:
        return px_proc_same(&a->proc, &b->proc);
    default:
        for (size_t i = 0; i < a->n_chosen; i++)
            if (compare(&a->chosen[i], &b->chosen[i]) != 0)
                return false;
        return true;
    }
}

unsigned px_scope_width(const struct px_scope *s)
{
    static const pmix_data_range_t ranges[] = {
        PMIX_RANGE_PROC_LOCAL, PMIX_RANGE_RM,      PMIX_RANGE_CUSTOM,
        PMIX_RANGE_NAMESPACE,  PMIX_RANGE_SESSION, PMIX_RANGE_LOCAL};
    unsigned width = 0;

    while (width < PX_COUNT(ranges) && ranges[width] != s->range)
        width++;
    return width;
}
