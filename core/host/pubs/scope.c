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
    free(s->uids.v);
    free(s->gids.v);
    free(s);
}

static pmix_status_t read_chosen(struct px_scope *s, const pmix_info_t *info, size_t n)
{
    const pmix_info_t *chosen = px_info_find(info, n, PMIX_EVENT_CUSTOM_RANGE);
    const pmix_proc_t *named;
    size_t n_named;

    if (!chosen && px_scope_is_shared(s)) /* the range is that of the permissions */
        return PMIX_SUCCESS;
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

/* ---- permissions ---------------------------------------------------------------- */

static int compare_ids(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static bool has_id(const struct px_ids *ids, uint32_t id)
{
    return ids->n > 0 && bsearch(&id, ids->v, ids->n, sizeof(id), compare_ids);
}

static pmix_status_t read_ids(struct px_scope *s, struct px_ids *ids,
                              const pmix_data_array_t *a)
{
    if (a->size > PX_MAX_PUB_CHOSEN)
        return px_pubs_refuse(s->user->pubs, &s->proc, "users or groups that may read",
                              a->size, PX_MAX_PUB_CHOSEN);
    *ids = (struct px_ids){.given = true, .n = a->size};
    if (ids->n == 0)
        return PMIX_SUCCESS;
    if (px_type_copy_array(PMIX_UINT32, (void **)&ids->v, a->array, a->size)) {
        ids->n = 0;
        return PMIX_ERR_NOMEM;
    }
    qsort(ids->v, ids->n, sizeof(*ids->v), compare_ids);
    return PMIX_SUCCESS;
}

static pmix_status_t refuse_permission(const struct px_scope *s,
                                       const pmix_info_t *info, const char *reason,
                                       pmix_status_t status)
{
    px_log(PX_LOG_WARN, "host", "cannot publish for %s:%u: %s: %s", s->proc.nspace,
           s->proc.rank, info->key, reason);
    return status;
}

/* Reads the permissions among infos, which are those of PMIX_ACCESS_PERMISSIONS or of
 * the request. A list that cannot be read is an error: all could read the entries. */
static pmix_status_t read_permissions(struct px_scope *s, const pmix_info_t *info,
                                      size_t n, bool is_inner)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < n; i++) {
        const char *key = info[i].key;
        const bool is_list = !is_inner && strcmp(key, PMIX_ACCESS_PERMISSIONS) == 0;
        struct px_ids *ids = strcmp(key, PMIX_ACCESS_USERIDS) == 0  ? &s->uids
                             : strcmp(key, PMIX_ACCESS_GRPIDS) == 0 ? &s->gids
                                                                    : NULL;
        const pmix_data_array_t *a = info[i].value.type == PMIX_DATA_ARRAY
                                         ? info[i].value.data.darray
                                         : NULL;

        if (!ids && !is_list) {
            if (is_inner)
                rc = refuse_permission(s, &info[i], "unknown permission",
                                       PMIX_ERR_NOT_SUPPORTED);
            continue;
        }
        if (!a || a->type != (is_list ? PMIX_INFO : PMIX_UINT32) ||
            (a->size > 0 && !a->array) || (ids && ids->given))
            rc = refuse_permission(s, &info[i],
                                   is_list ? "expected one array of PMIX_INFO"
                                           : "expected one array of PMIX_UINT32",
                                   PMIX_ERR_BAD_PARAM);
        else
            rc = is_list ? read_permissions(s, a->array, a->size, true)
                         : read_ids(s, ids, a);
    }
    return rc;
}

bool px_scope_is_shared(const struct px_scope *s)
{
    return s->uids.given || s->gids.given;
}

bool px_scope_admits(const struct px_scope *s, const struct px_scope *reader)
{
    if (!px_scope_is_shared(s))
        return s->user == reader->user;
    return (!s->uids.given || has_id(&s->uids, reader->user->uid)) &&
           (!s->gids.given ||
            (reader->gid != (uint32_t)-1 && has_id(&s->gids, reader->gid)));
}

/* ---- ranges --------------------------------------------------------------------- */

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
    s->gid = px_info_u32(info, n, PMIX_GRPID, (uint32_t)-1);
    if (!is_lookup)
        rc = read_permissions(s, info, n, false);
    if (!rc && s->range == PMIX_RANGE_CUSTOM)
        rc = read_chosen(s, info, n);
    s->size_b = sizeof(*s) + s->n_chosen * sizeof(*s->chosen) +
                (s->uids.n + s->gids.n) * sizeof(*s->uids.v);
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
    switch (s->range) {
    case PMIX_RANGE_SESSION: /* a session has one user */
        return s->user == other->user;
    case PMIX_RANGE_NAMESPACE:
        return strcmp(s->proc.nspace, other->proc.nspace) == 0;
    case PMIX_RANGE_RM: /* no process is the resource manager */
    case PMIX_RANGE_PROC_LOCAL:
    case PMIX_RANGE_CUSTOM:
        return names(s, &other->proc) || px_proc_same(&s->proc, &other->proc) ||
               (s->range == PMIX_RANGE_CUSTOM && s->n_chosen == 0 &&
                px_scope_is_shared(s));
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
