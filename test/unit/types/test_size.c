/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory taken by objects. */
#include "px_test.h"
#include "sample.h"

#include <string.h>

PX_TEST(flat_objects_take_their_own_size)
{
    for (pmix_data_type_t id = 0; sample_type(&id); id++) {
        const struct px_type *t = px_type_find(id);
        union sample object;

        if (!t->flat)
            continue;
        sample_fill(id, &object, 1);
        ck_assert_uint_eq(px_type_size(id, &object), t->size);
    }
}

PX_TEST(empty_objects_own_nothing)
{
    for (pmix_data_type_t id = 0; sample_type(&id); id++) {
        union sample object;

        px_type_construct(id, &object);
        ck_assert_uint_eq(px_type_size(id, &object), px_type_find(id)->size);
    }
}

PX_TEST(strings_count_with_their_terminator)
{
    char *text = TEXT("12345");

    ck_assert_uint_eq(px_type_size(PMIX_STRING, &text), sizeof(char *) + 6);
}

PX_TEST(what_is_nested_counts)
{
    pmix_info_t infos[2] = {{.value = {PMIX_STRING, {.string = TEXT("123")}}}};
    pmix_data_array_t array = {PMIX_INFO, 2, infos};
    pmix_value_t value = {PMIX_DATA_ARRAY, {.darray = &array}};
    char *argv[] = {TEXT("ab"), TEXT("c"), NULL};
    pmix_app_t app = {.argv = argv, .info = infos, .ninfo = 2};

    ck_assert_uint_eq(px_type_size(PMIX_VALUE, &value),
                      sizeof(value) + sizeof(array) + sizeof(infos) + 4);
    ck_assert_uint_eq(px_type_size(PMIX_APP, &app),
                      sizeof(app) + sizeof(argv) + 3 + 2 + sizeof(infos) + 4);
}

PX_TEST(inline_data_of_a_value_counts_once)
{
    pmix_value_t number = {PMIX_UINT64, {.uint64 = 1}};
    pmix_value_t bytes = {PMIX_BYTE_OBJECT, {.bo = {TEXT("abc"), 3}}};

    ck_assert_uint_eq(px_type_size(PMIX_VALUE, &number), sizeof(number));
    ck_assert_uint_eq(px_type_size(PMIX_VALUE, &bytes), sizeof(bytes) + 3);
}

PX_TEST(a_copy_takes_no_more_than_the_original)
{
    for (pmix_data_type_t id = 0; sample_type(&id); id++) {
        for (unsigned seed = 0; seed < SAMPLE_SEEDS; seed++) {
            union sample original, copy;

            sample_fill(id, &original, seed);
            ok(px_type_copy(id, &copy, &original));
            ck_assert_uint_le(px_type_size(id, &copy), px_type_size(id, &original));
            px_type_destruct(id, &original);
            px_type_destruct(id, &copy);
        }
    }
}

PX_TEST(null_and_unknown_types_have_no_size)
{
    int object = 1;

    ck_assert_uint_eq(px_type_size(PMIX_INFO, NULL), 0);
    ck_assert_uint_eq(px_type_size(29, &object), 0);
}

PX_TEST_MAIN("types/size", NULL, NULL)
