/* SPDX-License-Identifier: BSD-3-Clause */
/* Giving back what objects own. That nothing leaks is what the leak sanitizer sees
 * here. */
#include "px_test.h"
#include "sample.h"

#include <string.h>

PX_TEST(a_destructed_object_is_all_zero)
{
    static const union sample zero;

    for (pmix_data_type_t id = 0; sample_type(&id); id++) {
        for (unsigned seed = 0; seed < SAMPLE_SEEDS; seed++) {
            union sample object;

            sample_fill(id, &object, seed);
            px_type_destruct(id, &object);
            ck_assert_mem_eq(&object, &zero, px_type_find(id)->size);
            px_type_destruct(id, &object); /* which can be done again */
        }
    }
}

PX_TEST(the_value_of_a_persistent_info_stays)
{
    char text[] = "not malloc'd";
    pmix_info_t info = {.key = "key",
                        .flags = PMIX_INFO_PERSISTENT,
                        .value = {PMIX_STRING, {.string = text}}};

    px_type_destruct(PMIX_INFO, &info);

    ck_assert_str_eq(text, "not malloc'd");
    ck_assert_uint_eq(info.value.type, PMIX_UNDEF);
}

PX_TEST(a_handle_of_another_library_stays)
{
    char handle[] = "theirs";
    pmix_topology_t topology = {strdup("other"), handle};

    px_type_destruct(PMIX_TOPO, &topology);

    ck_assert_str_eq(handle, "theirs");
    ck_assert_ptr_null(topology.topology);
}

PX_TEST(null_and_unknown_types_are_left_alone)
{
    int untouched = 1;

    for (pmix_data_type_t id = 0; sample_type(&id); id++) {
        px_type_destruct(id, NULL);
        px_type_free_array(id, NULL, 3);
    }
    px_type_destruct(29, &untouched);
    ck_assert_int_eq(untouched, 1);
}

PX_TEST(a_value_of_an_unknown_type_becomes_undefined)
{
    pmix_value_t value = {.type = 29, .data.ptr = TEXT("not malloc'd")};

    px_type_destruct(PMIX_VALUE, &value);
    ck_assert_uint_eq(value.type, PMIX_UNDEF);
}

PX_TEST(arrays_give_back_elements_and_themselves)
{
    for (pmix_data_type_t id = 0; sample_type(&id); id++) {
        const struct px_type *t = px_type_find(id);

        if (t->store == PX_NONE)
            continue;
        char *array = calloc(3, t->size);
        for (unsigned i = 0; i < 3; i++)
            sample_fill(id, array + i * t->size, i);
        px_type_free_array(id, array, 3);
    }
}

PX_TEST_MAIN("types/destruct", NULL, NULL)
