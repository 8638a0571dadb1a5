/* SPDX-License-Identifier: BSD-3-Clause */
/* Infos and growing arrays of them. */
#include "alloc_fail.h"
#include "px_test.h"
#include "sample.h"

#include <string.h>

PX_TEST(loading_copies_key_and_value_and_clears_the_flags)
{
    char key[] = "some.key";
    pmix_info_t info;

    memset(&info, 0xaa, sizeof(info));
    ok(PMIx_Info_load(&info, key, "text", PMIX_STRING));
    memset(key, 0, sizeof(key));

    ck_assert_str_eq(info.key, "some.key");
    ck_assert_str_eq(info.value.data.string, "text");
    ck_assert_uint_eq(info.flags, 0);
    PMIx_Info_destruct(&info);
}

PX_TEST(bad_arguments_leave_an_empty_info)
{
    char longest[PMIX_MAX_KEYLEN + 1], too_long[PMIX_MAX_KEYLEN + 2];
    pmix_info_t info;

    memset(longest, 'k', sizeof(longest));
    longest[PMIX_MAX_KEYLEN] = '\0';
    memset(too_long, 'k', sizeof(too_long));
    too_long[PMIX_MAX_KEYLEN + 1] = '\0';

    fails(PMIx_Info_load(NULL, "k", NULL, PMIX_BOOL), BAD_PARAM);
    fails(PMIx_Info_load(&info, NULL, NULL, PMIX_BOOL), BAD_PARAM);
    fails(PMIx_Info_load(&info, too_long, NULL, PMIX_BOOL), BAD_PARAM);
    fails(PMIx_Info_load(&info, "k", &info, PMIX_INFO), UNKNOWN_DATA_TYPE);
    ck_assert_str_eq(info.key, "");
    ck_assert_uint_eq(info.value.type, PMIX_UNDEF);
    ok(PMIx_Info_load(&info, longest, NULL, PMIX_BOOL));
    ck_assert_str_eq(info.key, longest);
}

PX_TEST(transfer_copies_unless_the_value_is_lent)
{
    pmix_info_t own, lent, copy;

    PMIx_Info_load(&own, "k", "text", PMIX_STRING);
    own.flags = PMIX_INFO_REQD | PMIX_INFO_QUALIFIER;
    ok(PMIx_Info_xfer(&copy, &own));
    ck_assert_ptr_ne(copy.value.data.string, own.value.data.string);
    ck_assert_int_eq(px_type_compare(PMIX_INFO, &copy, &own), 0);
    PMIx_Info_destruct(&copy);

    lent = own;
    PMIx_Info_persistent(&lent);
    ok(PMIx_Info_xfer(&copy, &lent));
    ck_assert_ptr_eq(copy.value.data.string, own.value.data.string);
    ck_assert(PMIx_Info_is_persistent(&copy));
    PMIx_Info_destruct(&copy);
    ck_assert_str_eq(own.value.data.string, "text");
    PMIx_Info_destruct(&own);
    fails(PMIx_Info_xfer(NULL, &own), BAD_PARAM);
    fails(PMIx_Info_xfer(&own, NULL), BAD_PARAM);
}

PX_TEST(flags_are_set_and_read_one_by_one)
{
    static const struct {
        void (*set)(pmix_info_t *info);
        bool (*is)(const pmix_info_t *info);
        pmix_info_directives_t flag;
    } flags[] = {
        {PMIx_Info_required, PMIx_Info_is_required, PMIX_INFO_REQD},
        {PMIx_Info_processed, PMIx_Info_was_processed, PMIX_INFO_REQD_PROCESSED},
        {PMIx_Info_qualifier, PMIx_Info_is_qualifier, PMIX_INFO_QUALIFIER},
        {PMIx_Info_persistent, PMIx_Info_is_persistent, PMIX_INFO_PERSISTENT},
        {PMIx_Info_set_end, PMIx_Info_is_end, PMIX_INFO_ARRAY_END},
    };

    for (size_t i = 0; i < PX_COUNT(flags); i++) {
        pmix_info_t info = {0};

        ck_assert(!flags[i].is(&info) && !flags[i].is(NULL));
        flags[i].set(NULL);
        flags[i].set(&info);
        ck_assert(flags[i].is(&info));
        ck_assert_uint_eq(info.flags, flags[i].flag);
    }
}

PX_TEST(optional_takes_back_required_alone)
{
    pmix_info_t info = {.flags = PMIX_INFO_REQD | PMIX_INFO_ARRAY_END};

    ck_assert(!PMIx_Info_is_optional(&info));
    PMIx_Info_optional(&info);
    ck_assert(PMIx_Info_is_optional(&info));
    ck_assert_uint_eq(info.flags, PMIX_INFO_ARRAY_END);
}

PX_TEST(an_info_takes_the_size_of_its_key_and_its_value)
{
    pmix_info_t info = {.value = {PMIX_UINT32, {.uint32 = 1}}};
    size_t size;

    ok(PMIx_Info_get_size(&info, &size));
    ck_assert_uint_eq(size, sizeof(info) + 4);
    fails(PMIx_Info_get_size(NULL, &size), BAD_PARAM);
}

PX_TEST(infos_are_found_by_key)
{
    pmix_info_t infos[] = {
        {.key = "number", .value = {PMIX_INT, {.integer = 7}}},
        {.key = "text", .value = {PMIX_STRING, {.string = TEXT("abc")}}},
        {.key = "flag", .value = {PMIX_BOOL, {.flag = true}}},
        {.key = "present"},
        {.key = "number", .value = {PMIX_INT, {.integer = 8}}},
    };
    size_t n = PX_COUNT(infos);

    ck_assert_ptr_eq(px_info_find(infos, n, "number"), &infos[0]);
    ck_assert_ptr_null(px_info_find(infos, n, "num"));
    ck_assert_ptr_null(px_info_find(NULL, 0, "number"));
    ck_assert_uint_eq(px_info_u32(infos, n, "number", 1), 7);
    ck_assert_uint_eq(px_info_u32(infos, n, "text", 1), 1);
    ck_assert_uint_eq(px_info_u32(infos, n, "absent", 1), 1);
    ck_assert_str_eq(px_info_str(infos, n, "text"), "abc");
    ck_assert_ptr_null(px_info_str(infos, n, "number"));
    ck_assert(px_info_flag(infos, n, "flag") && px_info_flag(infos, n, "present"));
    ck_assert(!px_info_flag(infos, n, "absent") && !px_info_flag(infos, n, "text"));
    ck_assert_int_eq(PMIx_Info_true(&infos[3]), PMIX_BOOL_TRUE);
    ck_assert_int_eq(PMIx_Info_true(NULL), PMIX_NON_BOOL);
}

PX_TEST(a_growing_array_keeps_what_is_added_in_order)
{
    PX_AUTO(px_infos) infos = {0};
    pmix_value_t value = {PMIX_STRING, {.string = TEXT("copied")}};
    pmix_info_t more[] = {{.key = "first"}, {.key = "second"}};

    for (uint32_t i = 0; i < 100; i++)
        ok(px_infos_add(&infos, "number", &i, PMIX_UINT32));
    ok(px_infos_add_value(&infos, "value", &value));
    ok(px_infos_add_copy(&infos, more, 2));

    ck_assert_uint_eq(infos.n, 103);
    ck_assert_uint_eq(infos.v[99].value.data.uint32, 99);
    ck_assert_str_eq(infos.v[100].value.data.string, "copied");
    ck_assert_str_eq(infos.v[102].key, "second");
}

PX_TEST(a_growing_array_is_unchanged_by_what_it_refuses)
{
    PX_AUTO(px_infos) infos = {0};
    pmix_value_t odd = {.type = PMIX_APP};
    pmix_info_t half[2] = {{.key = "ok", .value = {PMIX_STRING, {.string = TEXT("x")}}},
                           {.key = "odd", .value = {.type = 29}}};

    ok(px_infos_add(&infos, "k", NULL, PMIX_BOOL));
    fails(px_infos_add(&infos, NULL, NULL, PMIX_BOOL), BAD_PARAM);
    fails(px_infos_add_value(&infos, "k", &odd), UNKNOWN_DATA_TYPE);
    fails(px_infos_add_copy(&infos, half, 2), UNKNOWN_DATA_TYPE);
    ck_assert_uint_eq(infos.n, 1);
}

PX_TEST(a_list_ends_as_an_array_within_another)
{
    PX_AUTO(px_infos) outer = {0};
    px_infos members = {0}, none = {0};

    px_infos_add(&members, "a", "1", PMIX_STRING);
    px_infos_add(&members, "b", "2", PMIX_STRING);
    ok(px_infos_add_array(&outer, "members", &members));
    ok(px_infos_add_array(&outer, "none", &none));

    const pmix_data_array_t *array = outer.v[0].value.data.darray;
    ck_assert_uint_eq(array->type, PMIX_INFO);
    ck_assert_uint_eq(array->size, 2);
    ck_assert_str_eq(((pmix_info_t *)array->array)[1].value.data.string, "2");
    ck_assert(members.n == 0 && !members.v);
    ck_assert_uint_eq(outer.v[1].value.data.darray->size, 0);
}

PX_TEST(a_growing_array_survives_any_failed_allocation)
{
    PX_TEST_NEEDS_ALLOC;

    for (unsigned nth = 1, failed = 1; failed; nth++) {
        px_infos outer = {0}, members = {0};
        pmix_status_t rc;

        px_alloc_fail_at(nth);
        rc = px_infos_add(&members, "a", "1", PMIX_STRING);
        if (!rc)
            rc = px_infos_add_copy(&outer, members.v, members.n);
        if (!rc)
            rc = px_infos_add_array(&outer, "members", &members);
        failed = px_alloc_fail_end();
        ck_assert_int_eq(rc, failed ? PMIX_ERR_NOMEM : PMIX_SUCCESS);
        px_infos_cleanup(&outer);
        px_infos_cleanup(&members);
    }
}

PX_TEST_MAIN("types/info", NULL, NULL)
