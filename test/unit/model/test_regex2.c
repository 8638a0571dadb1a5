/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists in few bytes, there and back, and bytes that are none. */
#include "core/base/buf.h"
#include "core/model/procmap.h"
#include "core/wire/codec.h"
#include "pmix_server.h"
#include "px_test.h"

#include <string.h>

static void assert_returns(const char *list, const char *type)
{
    pmix_regex2_t regex = PMIX_REGEX2_STATIC_INIT;
    PX_AUTOFREE char *out = NULL;

    ok(PMIx_generate_regex2(list, NULL, 0, &regex));
    ck_assert_str_eq(regex.type, type);
    ck_assert(regex.len <= strlen(list) + 1);
    ok(PMIx_parse_regex2(&regex, NULL, 0, &out));
    ck_assert_str_eq(out, list);
    PMIx_Regex2_destruct(&regex);
    ck_assert_ptr_null(regex.bytes);
}

static char *long_list(void)
{
    PX_AUTO(px_buf) list = {0};
    char name[32];

    for (int i = 0; i < 2000; i++) {
        int n = snprintf(name, sizeof(name), "%snode%04d", i ? "," : "", i);
        ok(px_buf_add(&list, name, (size_t)n + (i == 1999)));
    }
    return (char *)px_buf_take(&list).data;
}

PX_TEST(lists_come_back_as_they_were)
{
    PX_AUTOFREE char *list = long_list();

    assert_returns("", "raw");
    assert_returns("n1", "raw");
    assert_returns("n3,n1,login,n02", "raw");
    assert_returns("0,1,2;3-5;;6", "raw");
    assert_returns(list, "compress");
}

PX_TEST(they_travel_in_values)
{
    struct px_codec codec = {.dialect = px_dialect_find("v61")};
    pmix_value_t value = {.type = PMIX_REGEX2}, out;
    pmix_regex2_t regex;
    px_writer w;
    px_reader r;

    ok(PMIx_generate_regex2("n1,n2", NULL, 0, &regex));
    value.data.regex2 = &regex;
    px_writer_init(&w, codec);
    px_pack(&w, &value, 1, PMIX_VALUE);
    ok(w.status);
    px_reader_init(&r, codec, w.buf.data, w.buf.len);
    ok(px_unpack1(&r, &out, PMIX_VALUE));
    ck_assert_int_eq(PMIx_Value_compare(&value, &out), PMIX_EQUAL);
    /* type, then a size, then so many bytes: as the field writes it */
    ck_assert_mem_eq(w.buf.data + w.buf.len - 7, "\6n1,n2", 7);
    PMIx_Value_destruct(&out);
    PMIx_Regex2_destruct(&regex);
    px_writer_cleanup(&w);
}

PX_TEST(bad_arguments_are_refused_and_change_nothing)
{
    pmix_info_t info;
    pmix_regex2_t regex = {.type = (char *)"raw", .bytes = (uint8_t *)"n1", .len = 3};
    const pmix_regex2_t before = regex;
    char *out = NULL;

    ck_assert_int_eq(PMIx_generate_regex2(NULL, NULL, 0, &regex), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(PMIx_generate_regex2("a", NULL, 0, NULL), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(PMIx_generate_regex2("a", NULL, 1, &regex), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(PMIx_parse_regex2(NULL, NULL, 0, &out), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(PMIx_parse_regex2(&regex, NULL, 0, NULL), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(PMIx_parse_regex2(&regex, NULL, 1, &out), PMIX_ERR_BAD_PARAM);

    PMIx_Info_load(&info, PMIX_TIMEOUT, &(int){1}, PMIX_INT);
    ok(PMIx_parse_regex2(&regex, &info, 1, &out));
    free(out);
    out = NULL;
    PMIx_Info_required(&info);
    ck_assert_int_eq(PMIx_parse_regex2(&regex, &info, 1, &out), PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(PMIx_generate_regex2("a", &info, 1, &regex),
                     PMIX_ERR_NOT_SUPPORTED);
    ck_assert_mem_eq(&regex, &before, sizeof(regex));
    ck_assert_ptr_null(out);
}

PX_TEST(bytes_that_are_no_list_are_refused)
{
    static const struct {
        const char *type, *bytes;
        size_t len;
        pmix_status_t expected;
    } rows[] = {
        {NULL, "n1", 3, PMIX_ERR_BAD_PARAM},
        {"raw", NULL, 0, PMIX_ERR_BAD_PARAM},
        {"raw", "", 0, PMIX_ERR_BAD_PARAM},
        {"raw", "n1\0n2", 6, PMIX_ERR_BAD_PARAM},
        {"", "n1", 3, PMIX_ERR_NOT_SUPPORTED},
        {"rawer", "n1", 3, PMIX_ERR_NOT_SUPPORTED},
        {"compress", "n1", 3, PMIX_ERR_BAD_PARAM},
        {"compress", "\4\0\0\0zzzzzzzz", 12, PMIX_ERR_BAD_PARAM},
        {"compress", "\377\377\377\377zzzzzzzz", 12, PMIX_ERR_BAD_PARAM},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        /* just as long as it says, so that a sanitizer sees a read beyond its end */
        PX_AUTOFREE uint8_t *exact = rows[i].len ? malloc(rows[i].len) : NULL;
        pmix_regex2_t regex = {(char *)rows[i].type, exact, rows[i].len};
        char *out = NULL;

        if (exact)
            memcpy(exact, rows[i].bytes, rows[i].len);
        ck_assert_int_eq(PMIx_parse_regex2(&regex, NULL, 0, &out), rows[i].expected);
        ck_assert_ptr_null(out);
    }
}

PX_TEST(a_list_without_its_nul_is_read_to_its_end)
{
    PX_AUTOFREE uint8_t *exact = malloc(5);
    pmix_regex2_t regex = {(char *)"raw", exact, 5};
    PX_AUTOFREE char *out = NULL;

    memcpy(exact, "n1,n2", 5);
    ok(PMIx_parse_regex2(&regex, NULL, 0, &out));
    ck_assert_str_eq(out, "n1,n2");
}

PX_TEST_MAIN("model/regex2", NULL, NULL)
