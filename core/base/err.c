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

#ifdef __GLIBC_PREREQ
#if __GLIBC_PREREQ(2, 32)
#define HAS_STRERRORDESC
#endif
#endif

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

/* Sets status, and the text "<before><fmt>: <after>". after may be NULL. */
static pmix_status_t assign(struct px_err *err, pmix_status_t status,
                            const char *before, const char *fmt, va_list args,
                            const char *after)
{
    char text[sizeof(err->text)];
    size_t len = strlen(before);

    if (!err)
        return status;
    memcpy(text, before, len + 1);
    (void)vsnprintf(text + len, sizeof(text) - len, fmt, args);
    len = strlen(text);
    if (after)
        snprintf(text + len, sizeof(text) - len, ": %s", after);
    err->status = status;
    px_str_copy(err->text, sizeof(err->text), text);
    return status;
}

pmix_status_t px_err_set(struct px_err *err, pmix_status_t status, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    assign(err, status, "", fmt, args, NULL);
    va_end(args);
    return status;
}

pmix_status_t px_err_nomem(struct px_err *err, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    assign(err, PMIX_ERR_NOMEM, "cannot ", fmt, args, "out of memory");
    va_end(args);
    return PMIX_ERR_NOMEM;
}

/* strerror of glibc is not thread-safe, and %m allocates in glibc 2.41. */
const char *px_errno_text(int errnum)
{
#ifdef HAS_STRERRORDESC
    return strerrordesc_np(errnum);
#else
    return strerror(errnum);
#endif
}

pmix_status_t px_err_errno(struct px_err *err, const char *fmt, ...)
{
    const int errnum = errno;
    const pmix_status_t status = px_status_of_errno(errnum);
    const char *reason = px_errno_text(errnum);
    char number[24];
    va_list args;

    if (!reason)
        snprintf(number, sizeof(number), "error %d", errnum);
    va_start(args, fmt);
    assign(err, status, "", fmt, args, reason ? reason : number);
    va_end(args);
    errno = errnum;
    return status;
}

pmix_status_t px_err_prefix(struct px_err *err, const char *fmt, ...)
{
    const pmix_status_t status = err ? err->status : PMIX_ERROR;
    va_list args;

    va_start(args, fmt);
    assign(err, status, "", fmt, args, err ? err->text : NULL);
    va_end(args);
    return status;
}
