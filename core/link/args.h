/* SPDX-License-Identifier: BSD-3-Clause */
/* What an operation borrows from its caller, as a table, so that whatever outlives the call can be
 * given copies: programs free what they passed as soon as the call returns. */
#ifndef PX_LINK_ARGS_H
#define PX_LINK_ARGS_H

#include "core/types/type.h"

#include <stddef.h>

/* One member of an operation that points to the caller's. Never the first member. */
struct px_arg {
    size_t at;             /* offset of the pointer; 0 ends the table */
    size_t count_at;       /* offset of its size_t; 0: one object, or NULL */
    pmix_data_type_t type; /* of what is pointed to; of a char * itself PMIX_STRING */
};

#define PX_ARGS(op, member, n_member, of)                \
    {                                                    \
        offsetof(op, member), offsetof(op, n_member), of \
    }
#define PX_ARG(op, member, of)      \
    {                               \
        offsetof(op, member), 0, of \
    }
#define PX_ARGS_END \
    {               \
        0, 0, 0     \
    }

/* Each pointer of op becomes one to a copy of op's own. On failure it owns nothing, and they are
 * NULL. A table that is NULL lists nothing. PMIX_ERR_NOMEM, or why a value cannot be copied. */
pmix_status_t px_args_copy(void *op, const struct px_arg *args);
/* Frees those copies. */
void px_args_free(void *op, const struct px_arg *args);

#endif
