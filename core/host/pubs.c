/* SPDX-License-Identifier: BSD-3-Clause */
/* The store behind publish and lookup. A range says who may see an entry, seen from its
 * owner, and in a lookup whose entries are wanted, seen from who asks; other users see
 * nothing. */
#include "core/host/pubs_impl.h"

#include <string.h>

#include "core/base/strv.h"
#include "core/notify/handlers.h"

/* ---- scopes ---------------------------------------------------------------------- */

void px_pub_scope_fini(struct px_pub_scope *s)
{
    free(s->chosen);
    s->chosen = NULL;
}

pmix_status_t px_pub_scope_init(struct px_pub_scope *s, const pmix_proc_t *proc,
                                const pmix_info_t *info, size_t n)
{
    const pmix_info_t *chosen = px_info_find(info, n, PMIX_EVENT_CUSTOM_RANGE);
    uint32_t range = px_info_u32(info, n, PMIX_RANGE, PMIX_RANGE_UNDEF);

    *s = (struct px_pub_scope){.proc = *proc,
                               .uid = px_info_u32(info, n, PMIX_USERID, geteuid())};
    if (range > PMIX_RANGE_PROC_LOCAL)
        return PMIX_ERR_BAD_PARAM;
    s->range = range == PMIX_RANGE_UNDEF ? PMIX_RANGE_SESSION
                                         : (pmix_data_range_t)range;
    if (s->range != PMIX_RANGE_CUSTOM)
        return PMIX_SUCCESS;
    return chosen ? px_value_procs(&chosen->value, &s->chosen, &s->n_chosen)
                  : PMIX_ERR_BAD_PARAM;
}

/* On one node, in one session, the wide ranges are all the same. */
static bool includes(const struct px_pub_scope *s, const struct px_pub_scope *other)
{
    if (s->uid != other->uid)
        return false;
    switch (s->range) {
    case PMIX_RANGE_RM:
        return px_proc_same(&s->proc,
                            &other->proc); /* no process here is the manager */
    case PMIX_RANGE_NAMESPACE:
        return strcmp(s->proc.nspace, other->proc.nspace) == 0;
    case PMIX_RANGE_PROC_LOCAL:
        return px_proc_same(&s->proc, &other->proc);
    case PMIX_RANGE_CUSTOM:
        for (size_t i = 0; i < s->n_chosen; i++)
            if (px_proc_match(&s->chosen[i], &other->proc))
                return true;
        return px_proc_same(&s->proc, &other->proc);
    default:
        return true;
    }
}

bool px_pub_visible(const struct px_pub *pub, const struct px_pub_scope *to)
{
    return includes(&pub->scope, to) && includes(to, &pub->scope);
}

/* ---- entries --------------------------------------------------------------------- */

void px_pubs_init(struct px_pubs *p, struct px_loop *loop)
{
    *p = (struct px_pubs){.loop = loop};
    px_list_init(&p->pubs);
    px_list_init(&p->waiters);
}

static void pub_free(struct px_pub *pub)
{
    px_pub_scope_fini(&pub->scope);
    px_type_destruct(PMIX_VALUE, &pub->value);
    free(pub);
}

void px_pub_remove(struct px_pubs *p, struct px_pub *pub)
{
    px_list_remove(&pub->link);
    p->n_pubs--;
    p->size_b -= pub->size_b;
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

/* In both if somebody could see both. */
static bool has_key(const struct px_list *pubs, const struct px_pub_scope *scope,
                    const char *key)
{
    PX_LIST_EACH (pubs, struct px_pub, pub, link)
        if (strcmp(pub->key, key) == 0 &&
            (includes(&pub->scope, scope) || includes(scope, &pub->scope)))
            return true;
    return false;
}

static pmix_status_t pub_create(const pmix_proc_t *owner, const pmix_info_t *info,
                                size_t n, const pmix_info_t *data, struct px_pub **out)
{
    uint32_t persistence = px_info_u32(info, n, PMIX_PERSISTENCE, PMIX_PERSIST_APP);
    struct px_pub *pub;
    pmix_status_t rc;

    if (persistence > PMIX_PERSIST_SESSION || !data->key[0])
        return PMIX_ERR_BAD_PARAM;
    pub = calloc(1, sizeof(*pub));
    if (!pub)
        return PMIX_ERR_NOMEM;
    rc = px_pub_scope_init(&pub->scope, owner, info, n);
    if (!rc)
        rc = px_type_copy(PMIX_VALUE, &pub->value, &data->value);
    if (rc) {
        pub_free(pub);
        return rc;
    }
    memcpy(pub->key, data->key, sizeof(pub->key));
    pub->persistence = (pmix_persistence_t)persistence;
    pub->size_b = sizeof(*pub) + px_type_size(PMIX_VALUE, &pub->value);
    *out = pub;
    return PMIX_SUCCESS;
}

/* Entries of one request, made and checked, not yet visible. */
static pmix_status_t collect(struct px_pubs *p, const pmix_proc_t *owner,
                             const pmix_info_t *info, size_t n, struct px_pubs *fresh)
{
    for (size_t i = 0; i < n; i++) {
        struct px_pub *pub;

        if (is_directive(info[i].key))
            continue;
        pmix_status_t rc = pub_create(owner, info, n, &info[i], &pub);
        if (rc)
            return rc;
        if (has_key(&p->pubs, &pub->scope, pub->key) ||
            has_key(&fresh->pubs, &pub->scope, pub->key)) {
            pub_free(pub);
            return PMIX_ERR_DUPLICATE_KEY;
        }
        px_list_append(&fresh->pubs, &pub->link);
        fresh->n_pubs++;
        fresh->size_b += pub->size_b;
    }
    if (fresh->n_pubs == 0)
        return PMIX_ERR_BAD_PARAM;
    return p->n_pubs + fresh->n_pubs > PX_MAX_PUBS ||
                   p->size_b + fresh->size_b > PX_MAX_PUBS_B
               ? PMIX_ERR_OUT_OF_RESOURCE
               : PMIX_SUCCESS;
}

/* ---- publish, unpublish, ends ---------------------------------------------------- */

pmix_status_t px_pubs_publish(struct px_pubs *p, const pmix_proc_t *owner,
                              const pmix_info_t *info, size_t n)
{
    struct px_pubs fresh;
    pmix_status_t rc;

    px_pubs_init(&fresh, NULL);
    rc = collect(p, owner, info, n, &fresh);
    PX_LIST_EACH (&fresh.pubs, struct px_pub, pub, link) {
        px_list_remove(&pub->link);
        if (rc) {
            pub_free(pub);
            continue;
        }
        px_list_append(&p->pubs, &pub->link);
        p->n_pubs++;
        p->size_b += pub->size_b;
    }
    if (rc)
        return rc;
    px_pubs_satisfy(p);
    return PMIX_SUCCESS;
}

pmix_status_t px_pubs_unpublish(struct px_pubs *p, const pmix_proc_t *owner,
                                char *const *keys, const pmix_info_t *info, size_t n)
{
    uint32_t range = px_info_u32(info, n, PMIX_RANGE, PMIX_RANGE_UNDEF);

    PX_LIST_EACH (&p->pubs, struct px_pub, pub, link)
        if (px_proc_same(&pub->scope.proc, owner) &&
            (!keys || px_strv_has(keys, pub->key)) &&
            (range == PMIX_RANGE_UNDEF || range == pub->scope.range))
            px_pub_remove(p, pub);
    return PMIX_SUCCESS;
}

void px_pubs_proc_gone(struct px_pubs *p, const pmix_proc_t *proc)
{
    PX_LIST_EACH (&p->pubs, struct px_pub, pub, link)
        if (pub->persistence == PMIX_PERSIST_PROC &&
            px_proc_same(&pub->scope.proc, proc))
            px_pub_remove(p, pub);
    px_pubs_give_up(p, NULL, proc);
}

void px_pubs_job_gone(struct px_pubs *p, const char *nspace)
{
    PX_LIST_EACH (&p->pubs, struct px_pub, pub, link)
        if (strcmp(pub->scope.proc.nspace, nspace) == 0 &&
            pub->persistence != PMIX_PERSIST_SESSION &&
            pub->persistence != PMIX_PERSIST_INDEF)
            px_pub_remove(p, pub);
    px_pubs_give_up(p, nspace, NULL);
}

void px_pubs_fini(struct px_pubs *p)
{
    px_pubs_give_up(p, NULL, NULL);
    PX_LIST_EACH (&p->pubs, struct px_pub, pub, link)
        px_pub_remove(p, pub);
}
