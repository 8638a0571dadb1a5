/* SPDX-License-Identifier: BSD-3-Clause */
/* Error texts and the conversion of errno. */
#include "core/base/err.h"
#include "px_test.h"

#include <errno.h>
#include <string.h>

static struct px_err err;

PX_TEST(without_an_err_the_status_is_still_returned)
{
    fails(px_err_set(NULL, PMIX_ERR_TIMEOUT, "%s", "x"), TIMEOUT);
    errno = ENOENT;
    fails(px_err_errno(NULL, "%s", "x"), NOT_FOUND);
    ck_assert_int_ne(px_err_prefix(NULL, "%s", "x"), PMIX_SUCCESS);
}

PX_TEST(errno_gives_status_and_reason_and_survives)
{
    errno = EACCES;
    fails(px_err_errno(&err, "open %s", "/x"), NO_PERMISSIONS);

    ck_assert_int_eq(errno, EACCES);
    fails(err.status, NO_PERMISSIONS);
    ck_assert_str_eq(err.text, "open /x: Permission denied");
    errno = 0;
    ck_assert_int_eq(px_err_errno(&err, "x"), PMIX_ERROR); /* not a success */
}

PX_TEST(prefix_puts_context_before_the_text)
{
    px_err_set(&err, PMIX_ERR_NOT_FOUND, "no reason");
    fails(px_err_prefix(&err, "component %s", "usock"), NOT_FOUND);

    ck_assert_str_eq(err.text, "component usock: no reason");
}

PX_TEST(the_old_text_may_be_an_argument)
{
    px_err_set(&err, PMIX_ERROR, "inner");
    px_err_set(&err, PMIX_ERR_INIT, "outer (%s)", err.text);
    ck_assert_str_eq(err.text, "outer (inner)");
    px_err_prefix(&err, "<%s>", err.text);
    ck_assert_str_eq(err.text, "<outer (inner)>: outer (inner)");
}

PX_TEST(a_long_text_is_cut_and_terminated)
{
    char text[2 * sizeof(err.text)];

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    memset(&err, 'y', sizeof(err));

    px_err_set(&err, PMIX_ERROR, "%s", text);
    ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
    px_err_prefix(&err, "%s", text);
    ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
    errno = EINVAL;
    px_err_errno(&err, "%s", text);
    ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
}

PX_TEST(a_prefix_that_nearly_fills_the_text_is_kept_whole)
{
    for (size_t len = 507; len < 513; len++) {
        struct px_err err = {0};
        char prefix[520] = {0};

        memset(prefix, 'p', len);
        px_err_set(&err, PMIX_ERROR, "reason");
        px_err_prefix(&err, "%s", prefix);

        size_t kept = len < sizeof(err.text) ? len : sizeof(err.text) - 1;
        ck_assert_mem_eq(err.text, prefix, kept);
        ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
    }
}

PX_TEST(each_errno_has_the_status_callers_test_for)
{
    static const struct {
        int errnum;
        pmix_status_t status;
    } wanted[] = {
        {EINVAL, PMIX_ERR_BAD_PARAM},       {ENOENT, PMIX_ERR_NOT_FOUND},
        {EACCES, PMIX_ERR_NO_PERMISSIONS},  {EPERM, PMIX_ERR_NO_PERMISSIONS},
        {ENOMEM, PMIX_ERR_NOMEM},           {EEXIST, PMIX_ERR_EXISTS},
        {EAGAIN, PMIX_ERR_WOULD_BLOCK},     {ENOSPC, PMIX_ERR_OUT_OF_RESOURCE},
        {EMFILE, PMIX_ERR_OUT_OF_RESOURCE}, {EPIPE, PMIX_ERR_UNREACH},
        {ECONNREFUSED, PMIX_ERR_UNREACH},   {ETIMEDOUT, PMIX_ERR_TIMEOUT},
        {ENOSYS, PMIX_ERR_NOT_SUPPORTED},   {EBUSY, PMIX_ERR_RESOURCE_BUSY},
    };

    for (size_t i = 0; i < PX_COUNT(wanted); i++)
        ck_assert_int_eq(px_status_of_errno(wanted[i].errnum), wanted[i].status);
}

PX_TEST(no_errno_becomes_a_success)
{
    for (int errnum = -1; errnum < 4096; errnum++)
        ck_assert_int_lt(px_status_of_errno(errnum), 0);
}

PX_TEST_MAIN("base/err", NULL, NULL)
