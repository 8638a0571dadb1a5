/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies are equal, deep, and leave nothing behind when they fail. */
#include "alloc_fail.h"
#include "px_test.h"
#include "sample.h"

#include <string.h>

PX_TEST(a_copy_equals_what_was_copied)
{
    for (pmix_data_type_t id = 0; sample_type(&id); id++) {
        for (unsigned seed = 0; seed < SAMPLE_SEEDS; seed++) {
            union sample original, copy;

            sample_fill(id, &original, seed);
            ok(px_type_copy(id, &copy, &original));
            ck_assert_msg(px_type_compare(id, &copy, &original) == 0, "type %u seed %u",
                          id, seed);
            px_type_destruct(id, &original);
            px_type_destruct(id, &copy);
        }
    }
}

PX_TEST(a_copy_shares_no_memory_with_what_was_copied)
{
    for (pmix_data_type_t id = 0; sample_type(&id); id++) {
        for (unsigned seed = 0; seed < SAMPLE_SEEDS; seed++) {
            union sample original, copy;

            sample_fill(id, &original, seed);
            char *before = px_type_print(id, &original);
            ok(px_type_copy(id, &copy, &original));
            px_type_destruct(id, &original);
            char *after = px_type_print(id, &copy);

            ck_assert_str_eq(before, after);
            px_type_destruct(id, &copy);
            free(before);
            free(after);
        }
    }
}

PX_TEST(arrays_are_copied_element_by_element)
{
    char *words[] = {TEXT("one"), NULL, TEXT("three")};
    void *copy = NULL;

    ok(px_type_copy_array(PMIX_STRING, &copy, words, 3));

    char **copied = copy;
    ck_assert_str_eq(copied[0], "one");
    ck_assert_ptr_ne(copied[0], words[0]);
    ck_assert_ptr_null(copied[1]);
    ck_assert_str_eq(copied[2], "three");
    px_type_free_array(PMIX_STRING, copy, 3);
}

PX_TEST(an_array_of_no_elements_is_null)
{
    void *copy = &copy;

    ok(px_type_copy_array(PMIX_INFO, &copy, NULL, 0));
    ck_assert_ptr_null(copy);
}

PX_TEST(unknown_types_are_refused_and_change_nothing)
{
    static const pmix_data_type_t unknown[] = {26, 28, 29, 44, 76, UINT16_MAX};
    int original = 1, copy = 2;
    void *array = &copy;

    for (size_t i = 0; i < PX_COUNT(unknown); i++) {
        fails(px_type_copy(unknown[i], &copy, &original), UNKNOWN_DATA_TYPE);
        fails(px_type_copy_array(unknown[i], &array, &original, 1), UNKNOWN_DATA_TYPE);
    }
    ck_assert_int_eq(copy, 2);
    ck_assert_ptr_eq(array, &copy);
}

PX_TEST(a_value_of_a_type_no_value_holds_is_refused_wherever_it_is)
{
    pmix_info_t infos[2];
    pmix_data_array_t array = {PMIX_INFO, 2, infos}, copy;

    PMIx_Info_load(&infos[0], "key", "text", PMIX_STRING);
    PMIx_Info_construct(&infos[1]);
    infos[1].value.type = PMIX_APP;

    fails(px_type_copy(PMIX_DATA_ARRAY, &copy, &array), UNKNOWN_DATA_TYPE);
    ck_assert_ptr_null(copy.array);
    ck_assert_uint_eq(copy.size, 0);
    PMIx_Info_destruct(&infos[0]);
}

PX_TEST(a_handle_of_another_library_cannot_be_copied)
{
    pmix_cpuset_t with = {TEXT("other"), TEXT("bitmap")},
                  without = {TEXT("other"), NULL};
    pmix_topology_t topology = {TEXT("other"), TEXT("topology")}, copied;
    pmix_cpuset_t copy;

    fails(px_type_copy(PMIX_PROC_CPUSET, &copy, &with), NOT_SUPPORTED);
    fails(px_type_copy(PMIX_TOPO, &copied, &topology), NOT_SUPPORTED);
    ok(px_type_copy(PMIX_PROC_CPUSET, &copy, &without));
    ck_assert_str_eq(copy.source, "other");
    px_type_destruct(PMIX_PROC_CPUSET, &copy);
}

PX_TEST(a_size_without_memory_is_nothing)
{
    pmix_byte_object_t bytes = {NULL, 7}, bytes_copy;
    pmix_data_array_t array = {PMIX_INFO, 7, NULL}, array_copy;
    pmix_app_t app = {.ninfo = 7}, app_copy;

    ok(px_type_copy(PMIX_BYTE_OBJECT, &bytes_copy, &bytes));
    ck_assert_uint_eq(bytes_copy.size, 0);
    ok(px_type_copy(PMIX_DATA_ARRAY, &array_copy, &array));
    ck_assert_uint_eq(array_copy.size, 0);
    ck_assert_uint_eq(array_copy.type, PMIX_INFO);
    ok(px_type_copy(PMIX_APP, &app_copy, &app));
    ck_assert_uint_eq(app_copy.ninfo, 0);
}

PX_TEST(a_buffer_is_copied_with_its_reading_position)
{
    char packed[] = "abcdef";
    pmix_data_buffer_t original = {packed, packed + 6, packed + 2, 7, 6}, copy;

    ok(px_type_copy(PMIX_DATA_BUFFER, &copy, &original));
    ck_assert_ptr_ne(copy.base_ptr, packed);
    ck_assert_int_eq(copy.unpack_ptr - copy.base_ptr, 2);
    ck_assert_int_eq(copy.pack_ptr - copy.base_ptr, 6);
    ck_assert_uint_eq(copy.bytes_used, 6);
    PMIx_Data_buffer_destruct(&copy);
}

PX_TEST(the_copy_of_a_persistent_info_owns_its_value)
{
    pmix_info_t lent = {.key = "key",
                        .flags = PMIX_INFO_PERSISTENT | PMIX_INFO_REQD,
                        .value = {PMIX_STRING, {.string = TEXT("not malloc'd")}}},
                copy;

    ok(px_type_copy(PMIX_INFO, &copy, &lent));
    ck_assert_uint_eq(copy.flags, PMIX_INFO_REQD);
    ck_assert_ptr_ne(copy.value.data.string, lent.value.data.string);
    px_type_destruct(PMIX_INFO, &copy);
}

PX_TEST(any_allocation_may_fail)
{
    PX_TEST_NEEDS_ALLOC;

    for (pmix_data_type_t id = 0; sample_type(&id); id++) {
        union sample original, copy, zero;
        pmix_status_t rc;

        memset(&zero, 0, sizeof(zero));
        sample_fill(id, &original, 3);
        for (unsigned nth = 1;; nth++) {
            memset(&copy, 0, sizeof(copy));
            px_alloc_fail_at(nth);
            rc = px_type_copy(id, &copy, &original);
            if (!px_alloc_fail_end())
                break;
            fails(rc, NOMEM);
            ck_assert_int_eq(px_type_size(id, &copy), px_type_size(id, &zero));
        }
        ok(rc);
        px_type_destruct(id, &copy);
        px_type_destruct(id, &original);
    }
}

PX_TEST_MAIN("types/copy", NULL, NULL)
