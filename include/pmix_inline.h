/* SPDX-License-Identifier: BSD-3-Clause */
/* The macros that nearly every program uses, as code: releases before 4.2.3 do not
 * export the functions of the same names. So a program compiled with these headers runs
 * on those libraries too. */
#ifndef PMIX_INLINE_H
#define PMIX_INLINE_H

#include <stdlib.h>
#include <string.h>

#include "pmix_data.h"
#include "pmix_util.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- Helpers of the macros; not for programs --------------------------------------- */

static inline void pmix_inline_text(char *to, size_t size, const char *from)
{
    memset(to, 0, size);
    for (size_t i = 0; from && from[i] && i + 1 < size; i++)
        to[i] = from[i];
}

static inline bool pmix_inline_same_key(const char *a, const char *b)
{
    return a && b && strncmp(a, b, PMIX_MAX_KEYLEN) == 0;
}

static inline bool pmix_inline_same_nspace(const char *a, const char *b)
{
    return !a || !b || !a[0] || !b[0] || strncmp(a, b, PMIX_MAX_NSLEN) == 0;
}

static inline bool pmix_inline_same_rank(pmix_rank_t a, pmix_rank_t b)
{
    return a == b || a == PMIX_RANK_WILDCARD || b == PMIX_RANK_WILDCARD;
}

static inline bool pmix_inline_same_proc(const pmix_proc_t *a, const pmix_proc_t *b)
{
    return a && b && pmix_inline_same_nspace(a->nspace, b->nspace) &&
           pmix_inline_same_rank(a->rank, b->rank);
}

static inline void pmix_inline_proc(pmix_proc_t *p, const char *nspace,
                                    pmix_rank_t rank)
{
    pmix_inline_text(p->nspace, sizeof(p->nspace), nspace);
    p->rank = rank;
}

static inline pmix_status_t pmix_inline_argv_append(char ***argv, const char *arg)
{
    size_t n = 0;
    char **longer, *copy;

    while (*argv && (*argv)[n])
        n++;
    longer = (char **)realloc(*argv, (n + 2) * sizeof(char *));
    if (!longer)
        return PMIX_ERR_OUT_OF_RESOURCE;
    *argv = longer;
    longer[n] = longer[n + 1] = NULL;
    copy = arg ? (char *)malloc(strlen(arg) + 1) : NULL;
    if (!copy)
        return arg ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_ERR_BAD_PARAM;
    strcpy(copy, arg);
    longer[n] = copy;
    return PMIX_SUCCESS;
}

static inline void pmix_inline_argv_free(char **argv)
{
    for (size_t i = 0; argv && argv[i]; i++)
        free(argv[i]);
    free(argv);
}

static inline pmix_proc_t *pmix_inline_procs_create(size_t n)
{
    pmix_proc_t *p = n ? (pmix_proc_t *)calloc(n, sizeof(*p)) : NULL;

    for (size_t i = 0; p && i < n; i++)
        p[i].rank = PMIX_RANK_UNDEF;
    return p;
}

static inline void pmix_inline_info_destruct(pmix_info_t *info)
{
    if (info && !(info->flags & PMIX_INFO_PERSISTENT))
        PMIx_Value_destruct(&info->value);
    if (info)
        memset(info, 0, sizeof(*info));
}

static inline void pmix_inline_infos_free(pmix_info_t *info, size_t n)
{
    for (size_t i = 0; info && i < n; i++)
        pmix_inline_info_destruct(&info[i]);
    free(info);
}

static inline void pmix_inline_pdata_construct(pmix_pdata_t *pdata)
{
    memset(pdata, 0, sizeof(*pdata));
    pdata->proc.rank = PMIX_RANK_UNDEF;
}

static inline pmix_pdata_t *pmix_inline_pdata_create(size_t n)
{
    pmix_pdata_t *pdata = n ? (pmix_pdata_t *)malloc(n * sizeof(*pdata)) : NULL;

    for (size_t i = 0; pdata && i < n; i++)
        pmix_inline_pdata_construct(&pdata[i]);
    return pdata;
}

static inline void pmix_inline_pdata_destruct(pmix_pdata_t *pdata)
{
    if (!pdata)
        return;
    PMIx_Value_destruct(&pdata->value);
    pmix_inline_pdata_construct(pdata);
}

static inline void pmix_inline_bytes_destruct(pmix_byte_object_t *bo)
{
    if (!bo)
        return;
    free(bo->bytes);
    memset(bo, 0, sizeof(*bo));
}

static inline void pmix_inline_app_destruct(pmix_app_t *app)
{
    if (!app)
        return;
    free(app->cmd);
    pmix_inline_argv_free(app->argv);
    pmix_inline_argv_free(app->env);
    free(app->cwd);
    pmix_inline_infos_free(app->info, app->ninfo);
    memset(app, 0, sizeof(*app));
}

static inline void pmix_inline_query_destruct(pmix_query_t *query)
{
    if (!query)
        return;
    pmix_inline_argv_free(query->keys);
    pmix_inline_infos_free(query->qualifiers, query->nqual);
    memset(query, 0, sizeof(*query));
}

/** Returns n zeroed objects, or NULL. gcc 14 warns about calloc(0, size) in macros. */
static inline void *pmix_inline_calloc(size_t n, size_t size)
{
    return n > 0 ? calloc(n, size) : NULL;
}

#define PMIX_INLINE_CREATE(type, n) ((type *)pmix_inline_calloc((n), sizeof(type)))

#define PMIX_INLINE_FREE(m, n, destruct)                                     \
    do {                                                                     \
        for (size_t pmix_n_ = (m) ? (size_t)(n) : 0; pmix_n_ > 0; pmix_n_--) \
            destruct(&(m)[pmix_n_ - 1]);                                     \
        free(m);                                                             \
        (m) = NULL;                                                          \
    } while (0)

/* -- Functions that programs write too --------------------------------------------- */

/** Wrap malloc, calloc and free of the program, which free the library's results. */
static inline void *pmix_malloc(size_t size)
{
    return malloc(size);
}

static inline void *pmix_calloc(size_t n, size_t size)
{
    return calloc(n, size);
}

static inline void pmix_free(void *m)
{
    free(m);
}

/** Returns the length of @p s, at most @p max; 0 for NULL. Reads at most max bytes. */
static inline size_t pmix_inline_length(const char *s, size_t max)
{
    const char *end = s ? (const char *)memchr(s, 0, max) : s;

    return end ? (size_t)(end - s) : s ? max : 0;
}

/** Returns the length of a key, at most PMIX_MAX_KEYLEN + 1, which does not fit in a
 * pmix_key_t. */
static inline size_t pmix_keylen(const char *src)
{
    return pmix_inline_length(src, PMIX_MAX_KEYLEN + 1);
}

/** Returns the length of a namespace, at most PMIX_MAX_NSLEN + 1. */
static inline size_t pmix_nslen(const char *src)
{
    return pmix_inline_length(src, PMIX_MAX_NSLEN + 1);
}

/** Copies up to @p len characters, and adds NUL. @p dest has room for @p len + 1. */
static inline void pmix_strncpy(char *dest, const char *src, size_t len)
{
    len = pmix_inline_length(src, len);
    if (src)
        memcpy(dest, src, len);
    dest[len] = '\0';
}

/* -- The macros; see pmix_deprecated.h for their parameters ------------------------ */

/* clang-format off */

/* Keys, namespaces, ranks. PMIX_CHECK_KEY takes an info or a pdata */
#define PMIX_LOAD_KEY(k, s)             pmix_inline_text((k), PMIX_MAX_KEYLEN + 1, (s))
#define PMIX_CHECK_KEY(m, s)            pmix_inline_same_key((m)->key, (s))
#define PMIX_LOAD_NSPACE(ns, s)         pmix_inline_text((ns), PMIX_MAX_NSLEN + 1, (s))
#define PMIX_CHECK_NSPACE(a, b)         pmix_inline_same_nspace((a), (b))
#define PMIX_CHECK_RANK(a, b)           pmix_inline_same_rank((a), (b))
#define PMIX_LOAD_PROCID(m, ns, rk)     pmix_inline_proc((m), (ns), (rk))
#define PMIX_XFER_PROCID(m, s)          (void)memcpy((m), (s), sizeof(pmix_proc_t))
#define PMIX_PROCID_XFER(m, s)          PMIX_XFER_PROCID((m), (s))
#define PMIX_CHECK_PROCID(a, b)         pmix_inline_same_proc((a), (b))

/* Processes */
#define PMIX_PROC_CONSTRUCT(m)          pmix_inline_proc((m), NULL, PMIX_RANK_UNDEF)
#define PMIX_PROC_DESTRUCT(m)           ((void)(m))
#define PMIX_PROC_CREATE(m, n)          (m) = pmix_inline_procs_create(n)
#define PMIX_PROC_LOAD(m, ns, rk)       pmix_inline_proc((m), (ns), (rk))
#define PMIX_PROC_FREE(m, n)            PMIX_INLINE_FREE(m, n, PMIX_PROC_DESTRUCT)
#define PMIX_PROC_RELEASE(m)            PMIX_INLINE_FREE(m, 1, PMIX_PROC_DESTRUCT)

/* Values */
#define PMIX_VALUE_CONSTRUCT(m)         (void)memset((m), 0, sizeof(pmix_value_t))
#define PMIX_VALUE_DESTRUCT(m)          PMIx_Value_destruct(m)
#define PMIX_VALUE_CREATE(m, n)         (m) = PMIX_INLINE_CREATE(pmix_value_t, n)
#define PMIX_VALUE_FREE(m, n)           PMIX_INLINE_FREE(m, n, PMIx_Value_destruct)
#define PMIX_VALUE_RELEASE(m)           PMIX_INLINE_FREE(m, 1, PMIx_Value_destruct)

/* Infos */
#define PMIX_INFO_CONSTRUCT(m)          (void)memset((m), 0, sizeof(pmix_info_t))
#define PMIX_INFO_DESTRUCT(m)           pmix_inline_info_destruct(m)
#define PMIX_INFO_CREATE(m, n)          (m) = PMIX_INLINE_CREATE(pmix_info_t, n)
#define PMIX_INFO_FREE(m, n)        PMIX_INLINE_FREE(m, n, pmix_inline_info_destruct)
#define PMIX_INFO_REQUIRED(m)           ((m)->flags |= PMIX_INFO_REQD)
#define PMIX_INFO_OPTIONAL(m)           ((m)->flags &= ~PMIX_INFO_REQD)
#define PMIX_INFO_IS_REQUIRED(m)        (((m)->flags & PMIX_INFO_REQD) != 0)
#define PMIX_INFO_IS_OPTIONAL(m)        (((m)->flags & PMIX_INFO_REQD) == 0)

/* Published data */
#define PMIX_PDATA_CONSTRUCT(m)         pmix_inline_pdata_construct(m)
#define PMIX_PDATA_DESTRUCT(m)          pmix_inline_pdata_destruct(m)
#define PMIX_PDATA_CREATE(m, n)         (m) = pmix_inline_pdata_create(n)
#define PMIX_PDATA_FREE(m, n)       PMIX_INLINE_FREE(m, n, pmix_inline_pdata_destruct)
#define PMIX_PDATA_RELEASE(m)       PMIX_INLINE_FREE(m, 1, pmix_inline_pdata_destruct)

/* Byte objects */
#define PMIX_BYTE_OBJECT_CONSTRUCT(m)   (void)memset((m), 0, sizeof(pmix_byte_object_t))
#define PMIX_BYTE_OBJECT_DESTRUCT(m)    pmix_inline_bytes_destruct(m)

/* Applications and queries */
#define PMIX_APP_CONSTRUCT(m)           (void)memset((m), 0, sizeof(pmix_app_t))
#define PMIX_APP_DESTRUCT(m)            pmix_inline_app_destruct(m)
#define PMIX_APP_CREATE(m, n)           (m) = PMIX_INLINE_CREATE(pmix_app_t, n)
#define PMIX_APP_FREE(m, n)         PMIX_INLINE_FREE(m, n, pmix_inline_app_destruct)
#define PMIX_APP_RELEASE(m)         PMIX_INLINE_FREE(m, 1, pmix_inline_app_destruct)
#define PMIX_APP_INFO_CREATE(m, n)                                                \
    do {                                                                          \
        (m)->ninfo = (n);                                                         \
        PMIX_INFO_CREATE((m)->info, (m)->ninfo);                                  \
    } while (0)
#define PMIX_QUERY_CONSTRUCT(m)         (void)memset((m), 0, sizeof(pmix_query_t))
#define PMIX_QUERY_DESTRUCT(m)          pmix_inline_query_destruct(m)
#define PMIX_QUERY_CREATE(m, n)         (m) = PMIX_INLINE_CREATE(pmix_query_t, n)
#define PMIX_QUERY_FREE(m, n)       PMIX_INLINE_FREE(m, n, pmix_inline_query_destruct)
#define PMIX_QUERY_RELEASE(m)       PMIX_INLINE_FREE(m, 1, pmix_inline_query_destruct)
#define PMIX_QUERY_QUALIFIERS_CREATE(m, n)                                        \
    do {                                                                          \
        (m)->nqual = (n);                                                         \
        PMIX_INFO_CREATE((m)->qualifiers, (m)->nqual);                            \
    } while (0)

/* Arrays of strings. Note that PMIX_ARGV_APPEND takes the array, not its address */
#define PMIX_ARGV_APPEND(r, a, s)       (r) = pmix_inline_argv_append(&(a), (s))
#define PMIX_ARGV_FREE(a)               pmix_inline_argv_free(a)

/* clang-format on */

#ifdef __cplusplus
}
#endif
#endif
