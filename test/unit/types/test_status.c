/* SPDX-License-Identifier: BSD-3-Clause */
/* Status codes by name. */
#include "core/types/names.h"
#include "px_test.h"

#include <stdint.h>
#include <string.h>

START_TEST(a_status_is_found_by_its_text)
{
    ck_assert_int_eq(PMIx_Error_code("NOT-FOUND"), PMIX_ERR_NOT_FOUND);
    ck_assert_int_eq(PMIx_Error_code("not-found"), PMIX_ERR_NOT_FOUND);
    ck_assert_int_eq(PMIx_Error_code("SUCCESS"), PMIX_SUCCESS);
}
END_TEST

START_TEST(a_status_is_found_by_its_constant_and_its_former_one)
{
    ck_assert_int_eq(PMIx_Error_code("PMIX_ERR_NOT_FOUND"), PMIX_ERR_NOT_FOUND);
    ck_assert_int_eq(PMIx_Error_code("err_not_found"), PMIX_ERR_NOT_FOUND);
    ck_assert_int_eq(PMIx_Error_code("PMIX_EXISTS"), PMIX_ERR_EXISTS);
    ck_assert_int_eq(PMIx_Error_code("PMIX_ERR_EXISTS"), PMIX_ERR_EXISTS);
}
END_TEST

START_TEST(every_text_leads_back_to_its_status)
{
    unsigned n_named = 0;

    for (pmix_status_t s = -4000; s <= 100; s++) {
        const char *text = PMIx_Error_string(s);

        if (strcmp(text, "ERROR STRING NOT FOUND") == 0)
            continue;
        ck_assert_msg(PMIx_Error_code(text) == s, "%d %s", s, text);
        ck_assert_str_eq(px_status_name(s), text);
        n_named++;
    }
    ck_assert_uint_gt(n_named, 150);
}
END_TEST

START_TEST(unknown_names_are_the_least_number)
{
    ck_assert_int_eq(PMIx_Error_code(NULL), INT32_MIN);
    ck_assert_int_eq(PMIx_Error_code(""), INT32_MIN);
    ck_assert_int_eq(PMIx_Error_code("PMIX_"), INT32_MIN);
    ck_assert_int_eq(PMIx_Error_code("NO-SUCH-STATUS"), INT32_MIN);
    ck_assert_int_eq(PMIx_Error_code("ERROR STRING NOT FOUND"), INT32_MIN);
}
END_TEST

PX_TEST_MAIN("types/status", a_status_is_found_by_its_text,
             a_status_is_found_by_its_constant_and_its_former_one,
             every_text_leads_back_to_its_status, unknown_names_are_the_least_number)
