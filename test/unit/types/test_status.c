/* SPDX-License-Identifier: BSD-3-Clause */
/* Status codes by name. */
#include "core/types/names.h"
#include "px_test.h"

#include <stdint.h>
#include <string.h>

PX_TEST(a_status_is_found_by_its_text)
{
    fails(PMIx_Error_code("NOT-FOUND"), NOT_FOUND);
    fails(PMIx_Error_code("not-found"), NOT_FOUND);
    ok(PMIx_Error_code("SUCCESS"));
}

PX_TEST(a_status_is_found_by_its_constant_and_its_former_one)
{
    fails(PMIx_Error_code("PMIX_ERR_NOT_FOUND"), NOT_FOUND);
    fails(PMIx_Error_code("err_not_found"), NOT_FOUND);
    fails(PMIx_Error_code("PMIX_EXISTS"), EXISTS);
    fails(PMIx_Error_code("PMIX_ERR_EXISTS"), EXISTS);
}

PX_TEST(every_text_leads_back_to_its_status)
{
    unsigned n_named = 0;

    for (pmix_status_t s = -4000; s <= 100; s++) {
        const char *text = PMIx_Error_string(s);

        if (strcmp(text, "ERROR STRING NOT FOUND") == 0)
            continue;
        ck_assert_msg(PMIx_Error_code(text) == s, "%d %s", s, text);
        ck_assert_str_eq(px_name_of(PMIX_STATUS, s), text);
        n_named++;
    }
    ck_assert_uint_gt(n_named, 150);
}

/* Constants of one header that are a status: a negative number, or another status. */
static unsigned check_header(const char *path)
{
    FILE *f = fopen(path, "r");
    char line[512], name[128], value[128];
    unsigned n = 0;
    int number;

    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof(line), f)) {
        if (sscanf(line, "#define %127[A-Z0-9_] %127s", name, value) != 2 ||
            strcmp(name, "PMIX_EXTERNAL_ERR_BASE") == 0)
            continue;
        bool is_number = sscanf(value, "(%d)", &number) == 1 && number < 0;
        if (!is_number && PMIx_Error_code(value) == INT32_MIN)
            continue;
        n++;
        ck_assert_msg(PMIx_Error_code(name) ==
                          (is_number ? number : PMIx_Error_code(value)),
                      "%s", name);
        ck_assert_str_ne(PMIx_Error_string(PMIx_Error_code(name)),
                         "ERROR STRING NOT FOUND");
    }
    fclose(f);
    return n;
}

PX_TEST(every_status_of_the_headers_has_a_name)
{
    ck_assert_uint_ge(check_header(PX_INCLUDE_DIR "/pmix_status.h"), 100);
    ck_assert_uint_ge(check_header(PX_INCLUDE_DIR "/pmix_deprecated.h"), 40);
}

PX_TEST(unknown_names_are_the_least_number)
{
    ck_assert_int_eq(PMIx_Error_code(NULL), INT32_MIN);
    ck_assert_int_eq(PMIx_Error_code(""), INT32_MIN);
    ck_assert_int_eq(PMIx_Error_code("PMIX_"), INT32_MIN);
    ck_assert_int_eq(PMIx_Error_code("NO-SUCH-STATUS"), INT32_MIN);
    ck_assert_int_eq(PMIx_Error_code("ERROR STRING NOT FOUND"), INT32_MIN);
}

PX_TEST_MAIN("types/status", NULL, NULL)
