/* SPDX-License-Identifier: BSD-3-Clause */
/* Process identifiers, namespaces, ranks and keys. */
#include "core/base/str.h"
#include "core/types/type.h"
#include "pmix_common.h"

#include <string.h>

bool px_proc_same(const pmix_proc_t *a, const pmix_proc_t *b)
{
    return a->rank == b->rank && strncmp(a->nspace, b->nspace, sizeof(a->nspace)) == 0;
}

bool px_proc_match(const pmix_proc_t *a, const pmix_proc_t *b)
{
    return PMIx_Check_rank(a->rank, b->rank) &&
           strncmp(a->nspace, b->nspace, sizeof(a->nspace)) == 0;
}

/* Copies src and zeroes the rest, because procs are hashed and compared as memory. dst
 * may be src. */
static void set_chars(char *dst, size_t size, const char *src)
{
    size_t len = src ? strnlen(src, size - 1) : 0;

    if (len)
        memmove(dst, src, len);
    memset(dst + len, 0, size - len);
}

void px_proc_set(pmix_proc_t *p, const char *nspace, pmix_rank_t rank)
{
    set_chars(p->nspace, sizeof(p->nspace), nspace);
    p->rank = rank;
}

/* -- loading: long strings are truncated ------------------------------------------- */

PX_EXPORT void PMIx_Load_key(pmix_key_t key, const char *src)
{
    if (key)
        set_chars(key, sizeof(pmix_key_t), src);
}

PX_EXPORT void PMIx_Load_nspace(pmix_nspace_t nspace, const char *src)
{
    if (nspace)
        set_chars(nspace, sizeof(pmix_nspace_t), src);
}

PX_EXPORT void PMIx_Load_procid(pmix_proc_t *p, const char *nspace, pmix_rank_t rank)
{
    if (p)
        px_proc_set(p, nspace, rank);
}

PX_EXPORT void PMIx_Proc_load(pmix_proc_t *p, const char *nspace, pmix_rank_t rank)
{
    PMIx_Load_procid(p, nspace, rank);
}

PX_EXPORT void PMIx_Xfer_procid(pmix_proc_t *dst, const pmix_proc_t *src)
{
    if (dst && src)
        *dst = *src;
}

/* -- checking ---------------------------------------------------------------------- */

PX_EXPORT bool PMIx_Check_key(const char *key, const char *name)
{
    return key && name && strncmp(key, name, PMIX_MAX_KEYLEN) == 0;
}

PX_EXPORT bool PMIx_Check_reserved_key(const char *key)
{
    return key && px_str_starts(key, "pmix");
}

PX_EXPORT bool PMIx_Nspace_invalid(const char *nspace)
{
    return !nspace || !*nspace;
}

PX_EXPORT bool PMIx_Check_nspace(const char *a, const char *b)
{
    return PMIx_Nspace_invalid(a) || PMIx_Nspace_invalid(b) ||
           strncmp(a, b, PMIX_MAX_NSLEN) == 0;
}

PX_EXPORT bool PMIx_Check_rank(pmix_rank_t a, pmix_rank_t b)
{
    return a == b || a == PMIX_RANK_WILDCARD || b == PMIX_RANK_WILDCARD;
}

PX_EXPORT bool PMIx_Check_procid(const pmix_proc_t *a, const pmix_proc_t *b)
{
    return a && b && PMIx_Check_nspace(a->nspace, b->nspace) &&
           PMIx_Check_rank(a->rank, b->rank);
}

PX_EXPORT bool PMIx_Procid_invalid(const pmix_proc_t *p)
{
    return !p || PMIx_Nspace_invalid(p->nspace) || p->rank == PMIX_RANK_INVALID;
}

PX_EXPORT bool PMIx_Rank_valid(pmix_rank_t rank)
{
    return rank < PMIX_RANK_VALID;
}

/* -- namespaces of other clusters: "cluster:nspace" -------------------------------- */

PX_EXPORT void PMIx_Multicluster_nspace_construct(pmix_nspace_t target,
                                                  pmix_nspace_t cluster,
                                                  pmix_nspace_t nspace)
{
    pmix_nspace_t joined = {0};

    if (!target || !cluster || !nspace)
        return;
    size_t len = strnlen(cluster, PMIX_MAX_NSLEN - 1);
    memcpy(joined, cluster, len);
    joined[len++] = ':';
    px_str_copy(joined + len, sizeof(joined) - len, nspace);
    PMIx_Load_nspace(target, joined);
}

PX_EXPORT void PMIx_Multicluster_nspace_parse(pmix_nspace_t target,
                                              pmix_nspace_t cluster,
                                              pmix_nspace_t nspace)
{
    pmix_nspace_t joined;

    if (!target || !cluster || !nspace)
        return;
    PMIx_Load_nspace(joined, target);
    char *separator = strchr(joined, ':');
    if (separator)
        *separator = '\0';
    PMIx_Load_nspace(nspace, separator ? separator + 1 : joined);
    PMIx_Load_nspace(cluster, separator ? joined : NULL);
}
