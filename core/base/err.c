/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors with a text. A new text is composed in a local buffer first, because the old
 * text may be among the arguments. Nothing here allocates, so these functions can
 * report out of memory. */
#include "core/base/err.h"

#include "core/base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Table from errno to status. PMIX_ERR_SYS_LIMITS_* are for the launch path only. Here
 * every exhausted resource except memory maps to PMIX_ERR_OUT_OF_RESOURCE. */
static const struct {
    pmix_status_t status;
    int errnums[10]; /* terminated by 0 */
} statuses[] = {
    {PMIX_ERR_BAD_PARAM,
     {EINVAL, EBADF, EFAULT, E2BIG, EISDIR, ELOOP, EMSGSIZE, ENAMETOOLONG}},
    /* ENOTDIR: a parent is a file, so the path cannot exist */
    {PMIX_ERR_NOT_FOUND, {ENOENT, ENOTDIR, ENODEV, ENXIO, ESRCH}},
    {PMIX_ERR_NO_PERMISSIONS, {EACCES, EPERM, EROFS}},
    {PMIX_ERR_NOMEM, {ENOMEM}},
    {PMIX_ERR_OUT_OF_RESOURCE, {EDQUOT, EFBIG, EMFILE, ENFILE, ENOBUFS, ENOSPC}},
    {PMIX_ERR_EXISTS, {EEXIST, ENOTEMPTY}}, /* POSIX allows rmdir both errnos */
    {PMIX_ERR_RESOURCE_BUSY, {EADDRINUSE, EBUSY, ETXTBSY}},
    {PMIX_ERR_WOULD_BLOCK, {EAGAIN, EWOULDBLOCK, EINPROGRESS}},
    {PMIX_ERR_TIMEOUT, {ETIMEDOUT}},
    {PMIX_ERR_NOT_SUPPORTED,
     {EAFNOSUPPORT, ENOSYS, ENOTSUP, EOPNOTSUPP, EPROTONOSUPPORT}},
    {PMIX_ERR_UNREACH,
     {ECONNABORTED, ECONNREFUSED, ECONNRESET, EHOSTUNREACH, ENETDOWN, ENETUNREACH,
      ENOTCONN, EPIPE}},
};

pmix_status_t px_status_of_errno(int errnum)
{
    for (size_t i = 0; i < PX_COUNT(statuses); i++)
        for (const int *known = statuses[i].errnums; *known; known++)
            if (*known == errnum)
                return statuses[i].status;
    return PMIX_ERROR;
}

/* Formats into text[size], truncates if necessary, and returns the length. */
static size_t compose(char *text, size_t size, const char *fmt, va_list args)
{
    int len = vsnprintf(text, size, fmt, args);

    if (len < 0) {
        text[0] = '\0';
        return 0;
    }
    return (size_t)len < size ? (size_t)len : size - 1;
}

pmix_status_t px_err_set(struct px_err *err, pmix_status_t status, const char *fmt, ...)
{
    char text[sizeof(err->text)];
    va_list args;

    if (!err)
        return status;
    va_start(args, fmt);
    compose(text, sizeof(text), fmt, args);
    va_end(args);
    err->status = status;
    px_str_copy(err->text, sizeof(err->text), text);
    return status;
}

pmix_status_t px_err_nomem(struct px_err *err, const char *fmt, ...)
{
    char text[sizeof(err->text)];
    va_list args;

    va_start(args, fmt);
    compose(text, sizeof(text), fmt, args);
    va_end(args);
    return px_err_set(err, PMIX_ERR_NOMEM, "cannot %s: out of memory", text);
}

pmix_status_t px_err_errno(struct px_err *err, const char *fmt, ...)
{
    const int errnum = errno;
    const pmix_status_t status = px_status_of_errno(errnum);
    char text[sizeof(err->text)];
    va_list args;

    if (!err)
        return status;
    va_start(args, fmt);
    size_t len = compose(text, sizeof(text), fmt, args);
    va_end(args);
    /* strerror is not thread-safe, and %m allocates in glibc 2.41. */
    const char *reason = strerrordesc_np(errnum);
    if (reason)
        snprintf(text + len, sizeof(text) - len, ": %s", reason);
    else
        snprintf(text + len, sizeof(text) - len, ": error %d", errnum);
    err->status = status;
    px_str_copy(err->text, sizeof(err->text), text);
    errno = errnum;
    return status;
}

pmix_status_t px_err_prefix(struct px_err *err, const char *fmt, ...)
{
    char text[sizeof(err->text)];
    va_list args;

    if (!err)
        return PMIX_ERROR;
    va_start(args, fmt);
    size_t len = compose(text, sizeof(text), fmt, args);
    va_end(args);
    px_str_copy(text + len, sizeof(text) - len, ": ");
    len = strlen(text);
    px_str_copy(text + len, sizeof(text) - len, err->text);
    px_str_copy(err->text, sizeof(err->text), text);
    return err->status;
}
