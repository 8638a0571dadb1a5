/* SPDX-License-Identifier: BSD-3-Clause */
/* Opaque lists of infos. */
#include "alloc_fail.h"
#include "px_test.h"
#include "sample.h"

static void *list;

static void start(void)
{
    list = PMIx_Info_list_start();
}

static void release(void)
{
    PMIx_Info_list_release(list);
}

/* The texts on the list, each a string value, joined. */
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

PX_TEST(an_empty_list_converts_to_an_empty_array)
{
    pmix_data_array_t array = {PMIX_STRING, 7, &array};
    void *next = &array;

    fails(PMIx_Info_list_convert(list, &array), EMPTY);
    ck_assert_uint_eq(array.type, PMIX_INFO);
    ck_assert_uint_eq(array.size, 0);
    ck_assert_ptr_null(array.array);
    ck_assert_ptr_null(PMIx_Info_list_get_info(list, NULL, &next));
    ck_assert_ptr_null(next);
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

PX_TEST(bad_arguments_are_refused_and_add_nothing)
{
    pmix_info_t info = {.key = "k"}, odd = {.key = "k", .value = {.type = 29}};
    pmix_value_t value = {0};
    pmix_data_array_t array;
    void *next;

    fails(PMIx_Info_list_add(NULL, "k", "x", PMIX_STRING), BAD_PARAM);
    fails(PMIx_Info_list_prepend(NULL, "k", "x", PMIX_STRING), BAD_PARAM);
    fails(PMIx_Info_list_add_unique(NULL, "k", "x", PMIX_STRING, true), BAD_PARAM);
    fails(PMIx_Info_list_add_value(NULL, "k", &value), BAD_PARAM);
    fails(PMIx_Info_list_add_value_unique(NULL, "k", &value, true), BAD_PARAM);
    fails(PMIx_Info_list_xfer(NULL, &info), BAD_PARAM);
    fails(PMIx_Info_list_xfer_unique(NULL, &info, true), BAD_PARAM);
    fails(PMIx_Info_list_insert(NULL, &info), BAD_PARAM);
    fails(PMIx_Info_list_convert(NULL, &array), BAD_PARAM);
    ck_assert_uint_eq(PMIx_Info_list_get_size(NULL), 0);
    ck_assert_ptr_null(PMIx_Info_list_get_info(NULL, NULL, &next));
    PMIx_Info_list_release(NULL);

    fails(PMIx_Info_list_add(list, NULL, "x", PMIX_STRING), BAD_PARAM);
    fails(PMIx_Info_list_add(list, "k", "x", 29), UNKNOWN_DATA_TYPE);
    fails(PMIx_Info_list_add_value(list, "k", NULL), BAD_PARAM);
    fails(PMIx_Info_list_xfer(list, NULL), BAD_PARAM);
    fails(PMIx_Info_list_xfer(list, &odd), UNKNOWN_DATA_TYPE);
    fails(PMIx_Info_list_insert(list, NULL), BAD_PARAM);
    fails(PMIx_Info_list_convert(list, NULL), BAD_PARAM);
    ck_assert_ptr_null(PMIx_Info_list_get_info(list, NULL, NULL));
    ck_assert_uint_eq(PMIx_Info_list_get_size(list), 0);
}

PX_TEST(any_allocation_may_fail)
{
    PX_TEST_NEEDS_ALLOC;

    for (unsigned nth = 1, failed = 1; failed; nth++) {
        void *l = PMIx_Info_list_start();
        pmix_data_array_t array = {0};

        px_alloc_fail_at(nth);
        pmix_status_t rc = PMIx_Info_list_add(l, "a", "text", PMIX_STRING);
        if (!rc)
            rc = PMIx_Info_list_convert(l, &array);
        failed = px_alloc_fail_end();
        ck_assert_int_eq(rc, failed ? PMIX_ERR_NOMEM : PMIX_SUCCESS);
        ck_assert_uint_eq(array.size, !failed);
        PMIx_Data_array_destruct(&array);
        PMIx_Info_list_release(l);
    }
}

PX_TEST_MAIN("types/info_list", start, release)
