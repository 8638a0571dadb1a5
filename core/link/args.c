/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of what an operation borrows. */
#include "core/link/args.h"

#include <string.h>

/* The members have types of their own: their bytes are read and written, not they. */
static void *get(const void *op, const struct px_arg *a)
{
    void *p;

    memcpy(&p, (const char *)op + a->at, sizeof p);
    return p;
}

static void set(void *op, const struct px_arg *a, const void *p)
{
    memcpy((char *)op + a->at, &p, sizeof p);
}

static size_t count(const void *op, const struct px_arg *a)
{
    size_t n = 1;

    if (a->count_at)
        memcpy(&n, (const char *)op + a->count_at, sizeof n);
    return get(op, a) ? n : 0;
}

static bool is_string(const struct px_arg *a)
{
    return a->type == PMIX_STRING && a->count_at == 0;
}

static pmix_status_t copy_one(void *op, const struct px_arg *a)
{
    const void *from = get(op, a);
    size_t n = count(op, a);
    void *to = NULL;
    pmix_status_t rc = PMIX_SUCCESS;

    if (!is_string(a))
        rc = px_type_copy_array(a->type, &to, from, n);
    else if (from && !(to = strdup(from)))
        rc = PMIX_ERR_NOMEM;
    set(op, a, to);
    if (a->count_at)
        memcpy((char *)op + a->count_at, &n, sizeof n);
    return rc;
}

pmix_status_t px_args_copy(void *op, const struct px_arg *args)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (const struct px_arg *a = args; a && a->at; a++) {
        if (rc) /* still the caller's: not to be freed below */
            set(op, a, NULL);
        else
            rc = copy_one(op, a);
    }
    if (rc)
        px_args_free(op, args);
    return rc;
}

void px_args_free(void *op, const struct px_arg *args)
{
    for (const struct px_arg *a = args; a && a->at; a++) {
        void *p = get(op, a);

        if (is_string(a))
            free(p);
        else
            px_type_free_array(a->type, p, count(op, a));
        set(op, a, NULL);
    }
}
