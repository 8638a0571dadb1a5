/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors with a text, for set-up, launch and admin paths, and a map from errno to
 * status. */
#ifndef PX_BASE_ERR_H
#define PX_BASE_ERR_H

#include "core/base/attr.h"
#include "pmix_common.h"

struct px_err {
    pmix_status_t status;
    char text[512];
};

/* Sets status and text, and returns status, so that "return px_err_set(...)" works.
 * Every function here accepts err == NULL. The first failing frame writes the text;
 * callers may add context before the text. */
pmix_status_t px_err_set(struct px_err *err, pmix_status_t status, const char *fmt, ...)
    PX_PRINTF(3, 4);
/* Sets the status that matches errno and appends ": strerror(errno)" to the text.
 * Preserves errno. Never returns PMIX_SUCCESS. */
pmix_status_t px_err_errno(struct px_err *err, const char *fmt, ...) PX_PRINTF(2, 3);
/* Sets PMIX_ERR_NOMEM and "cannot <fmt>: out of memory". */
pmix_status_t px_err_nomem(struct px_err *err, const char *fmt, ...) PX_PRINTF(2, 3);
/* Puts "fmt: " before the text and returns err's status, or PMIX_ERROR if err is NULL.
 * Where err may be NULL, return your own status instead. */
pmix_status_t px_err_prefix(struct px_err *err, const char *fmt, ...) PX_PRINTF(2, 3);

/* Maps an errno to a status, e.g. EINVAL to PMIX_ERR_BAD_PARAM. Any other number,
 * including 0, gives PMIX_ERROR. */
pmix_status_t px_status_of_errno(int errnum);

/* Returns the text of an errno, which stays valid, or NULL for an unknown number. */
const char *px_errno_text(int errnum);

#endif
