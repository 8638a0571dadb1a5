/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes that this library supports, by function, and the refusal of required
 * attributes without support. */
#ifndef PX_LINK_REQUIRED_H
#define PX_LINK_REQUIRED_H

#include "core/types/type.h"

enum px_level {
    PX_LEVEL_CLIENT,
    PX_LEVEL_SERVER,
    PX_LEVEL_TOOL,
    PX_LEVEL_HOST,
    PX_N_LEVELS,
};

struct px_support {
    const char *function;   /* "PMIx_Get"; also for PMIx_Get_nb */
    const char *attributes; /* names, separated by commas; NULL: none */
};

struct px_support_rows {
    const struct px_support *rows;
    size_t n;
};

/* Rows of this library. The rows for PX_LEVEL_HOST are the built-in host's, in
 * px_builtin_host. */
extern const struct px_support_rows px_support_library_rows[PX_N_LEVELS];

/* Returns the row of a function, or NULL. */
const struct px_support *px_support_find(const struct px_support *rows, size_t n,
                                         const char *function);
/* Checks directives that no other party reads. The supported attributes are this
 * library's rows of function and the rows in more, which may be NULL. Returns
 * PMIX_ERR_NOT_SUPPORTED for another required attribute. Logs the attribute, the
 * function and the refusing party. Any thread, before init too. */
pmix_status_t px_required_check(const char *function,
                                const struct px_support_rows *more,
                                const pmix_info_t *info, size_t n);
/* Returns the first required attribute that px_required_check would refuse, or NULL. */
const pmix_info_t *px_required_unknown(const char *function,
                                       const struct px_support_rows *more,
                                       const pmix_info_t *info, size_t n);

#endif
