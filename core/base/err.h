/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors with a text, for set-up, launch and admin paths; errno to status. */
#ifndef PX_BASE_ERR_H
#define PX_BASE_ERR_H

#include "core/base/attr.h"
#include "pmix_common.h"

struct px_err {
    pmix_status_t status;
    char text[512];
};

/* All accept err == NULL and return the status, so that "return px_err_set(...)" works.
 * The first failing frame writes the text; callers may put context before it. */
pmix_status_t px_err_set(struct px_err *err, pmix_status_t status, const char *fmt, ...)
    PX_PRINTF(3, 4);
/* As above with ": strerror(errno)" appended and the status taken from errno, which it
 * keeps. Never PMIX_SUCCESS. */
pmix_status_t px_err_errno(struct px_err *err, const char *fmt, ...) PX_PRINTF(2, 3);
/* "cannot <fmt>: out of memory" and PMIX_ERR_NOMEM. */
pmix_status_t px_err_nomem(struct px_err *err, const char *fmt, ...) PX_PRINTF(2, 3);
/* Puts "fmt: " before the text. With err == NULL the status is not known: PMIX_ERROR.
 * So where err may be NULL, return the status in hand, not this function's. */
pmix_status_t px_err_prefix(struct px_err *err, const char *fmt, ...) PX_PRINTF(2, 3);

/* EINVAL -> PMIX_ERR_BAD_PARAM, ENOENT -> PMIX_ERR_NOT_FOUND, ... else
 * PMIX_ERROR, for 0 too: who asks has failed. */
pmix_status_t px_status_of_errno(int errnum);

#endif
