/* SPDX-License-Identifier: BSD-3-Clause */
/* Infos, growing arrays of them, and opaque lists. */
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
    memset(&copy, 0xaa, sizeof(copy));
    ok(PMIx_Info_xfer(&copy, &own));
    ck_assert_mem_eq(copy.key, own.key, sizeof(own.key)); /* with zeros behind it */
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

        ck_assert(!flags[i].is(&info));
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

    for (unsigned nth = 0; px_alloc_next(&nth);) {
        px_infos outer = {0}, members = {0};
        pmix_status_t rc = px_infos_add(&members, "a", "1", PMIX_STRING);

        if (!rc)
            rc = px_infos_add_copy(&outer, members.v, members.n);
        if (!rc)
            rc = px_infos_add_array(&outer, "members", &members);
        px_infos_cleanup(&outer);
        px_infos_cleanup(&members);
        px_alloc_check(rc);
    }
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void *list;

static void start(void)
{
    list = PMIx_Info_list_start();
}

static void release(void)
{
    PMIx_Info_list_release(list);
}

/* Joins the string values on the list. */
static const char *texts(void)
{
    static char joined[64];
    void *at = NULL, *next;
    size_t len = 0;

    joined[0] = '\0';
    if (PMIx_Info_list_get_size(list) == 0)
        return joined;
    do {
        pmix_info_t *info = PMIx_Info_list_get_info(list, at, &next);

        len += snprintf(joined + len, sizeof(joined) - len, "%s%s", len ? " " : "",
                        info->value.data.string);
        at = next;
    } while (at);
    return joined;
}

PX_TEST(what_is_added_is_walked_in_order)
{
    pmix_value_t value = {PMIX_STRING, {.string = TEXT("two")}};
    pmix_info_t info = {.key = "c", .value = {PMIX_STRING, {.string = TEXT("three")}}};

    ok(PMIx_Info_list_add(list, "a", "one", PMIX_STRING));
    ok(PMIx_Info_list_add_value(list, "b", &value));
    ok(PMIx_Info_list_xfer(list, &info));
    ok(PMIx_Info_list_prepend(list, "z", "zero", PMIX_STRING));

    ck_assert_str_eq(texts(), "zero one two three");
    ck_assert_uint_eq(PMIx_Info_list_get_size(list), 4);
}

PX_TEST(a_key_may_stand_twice_unless_asked_otherwise)
{
    PMIx_Info_list_add(list, "a", "one", PMIX_STRING);
    PMIx_Info_list_add(list, "a", "two", PMIX_STRING);
    ck_assert_str_eq(texts(), "one two");

    ok(PMIx_Info_list_add_unique(list, "a", "new", PMIX_STRING, false));
    ck_assert_str_eq(texts(), "one two");
    ok(PMIx_Info_list_add_unique(list, "a", "new", PMIX_STRING, true));
    ck_assert_str_eq(texts(), "new two");
    ok(PMIx_Info_list_add_unique(list, "b", "added", PMIX_STRING, false));
    ck_assert_str_eq(texts(), "new two added");
}

PX_TEST(values_and_infos_may_be_added_once_too)
{
    pmix_value_t value = {PMIX_STRING, {.string = TEXT("value")}};
    pmix_info_t info = {.key = "a", .value = {PMIX_STRING, {.string = TEXT("info")}}};

    ok(PMIx_Info_list_add_value_unique(list, "a", &value, false));
    ok(PMIx_Info_list_xfer_unique(list, &info, false));
    ck_assert_str_eq(texts(), "value");
    ok(PMIx_Info_list_xfer_unique(list, &info, true));
    ck_assert_str_eq(texts(), "info");
}

PX_TEST(an_inserted_info_stays_its_owners)
{
    pmix_info_t info;
    pmix_data_array_t array;

    PMIx_Info_load(&info, "a", "mine", PMIX_STRING);
    ok(PMIx_Info_list_insert(list, &info));
    ck_assert_uint_eq(info.flags, 0);
    ok(PMIx_Info_list_convert(list, &array));
    PMIx_Info_list_release(list);
    list = NULL;

    ck_assert_ptr_eq(((pmix_info_t *)array.array)->value.data.string,
                     info.value.data.string);
    PMIx_Data_array_destruct(&array);
    ck_assert_str_eq(info.value.data.string, "mine");
    PMIx_Info_destruct(&info);
}

PX_TEST(a_converted_list_is_an_array_of_copies)
{
    pmix_data_array_t array;

    PMIx_Info_list_add(list, "a", "one", PMIX_STRING);
    PMIx_Info_list_add(list, "b", "two", PMIX_STRING);
    ok(PMIx_Info_list_convert(list, &array));
    PMIx_Info_list_add(list, "c", "three", PMIX_STRING);

    ck_assert_uint_eq(array.type, PMIX_INFO);
    ck_assert_uint_eq(array.size, 2);
    ck_assert_str_eq(((pmix_info_t *)array.array)[1].key, "b");
    ck_assert_str_eq(texts(), "one two three");
    PMIx_Data_array_destruct(&array);
}

PX_TEST(pointers_into_the_list_stay_good_while_it_grows)
{
    void *next;

    PMIx_Info_list_add(list, "first", "one", PMIX_STRING);
    pmix_info_t *first = PMIx_Info_list_get_info(list, NULL, &next);
    for (int i = 0; i < 100; i++)
        PMIx_Info_list_add(list, "more", NULL, PMIX_BOOL);

    ck_assert_ptr_eq(PMIx_Info_list_get_info(list, NULL, &next), first);
    ck_assert_str_eq(first->value.data.string, "one");
}

PX_TEST(a_list_survives_any_failed_allocation)
{
    PX_TEST_NEEDS_ALLOC;

    for (unsigned nth = 0; px_alloc_next(&nth);) {
        pmix_data_array_t array = {0};
        void *l = PMIx_Info_list_start();
        pmix_status_t rc = l ? PMIx_Info_list_add(l, "a", "text", PMIX_STRING)
                             : PMIX_ERR_NOMEM;

        if (!rc)
            rc = PMIx_Info_list_convert(l, &array);
        size_t n = array.size;
        PMIx_Data_array_destruct(&array);
        PMIx_Info_list_release(l);
        ck_assert_uint_eq(n, !px_alloc_check(rc));
    }
}

PX_TEST_MAIN("types/info", start, release)
