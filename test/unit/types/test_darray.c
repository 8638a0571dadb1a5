/* SPDX-License-Identifier: BSD-3-Clause */
/* Data arrays. */
#include "px_test.h"
#include "sample.h"

PX_TEST(an_array_of_any_type_has_room_for_its_elements)
{
    for (pmix_data_type_t id = 0; sample_type(&id); id++) {
        const struct px_type *t = px_type_find(id);
        pmix_data_array_t array;

        if (t->store == PX_NONE)
            continue;
        PMIx_Data_array_construct(&array, 3, id);
        ck_assert_uint_eq(array.type, id);
        ck_assert_uint_eq(array.size, 3);
        for (unsigned i = 0; i < 3; i++)
            sample_fill(id, (char *)array.array + i * t->size, i);
        PMIx_Data_array_destruct(&array);
        ck_assert_uint_eq(array.type, PMIX_UNDEF);
        ck_assert_ptr_null(array.array);
    }
}

PX_TEST(elements_are_constructed)
{
    pmix_data_array_t *array = PMIx_Data_array_create(2, PMIX_PROC);
    const pmix_proc_t *procs = array->array;

    ck_assert_uint_eq(procs[0].rank, PMIX_RANK_UNDEF);
    ck_assert_uint_eq(procs[1].rank, PMIX_RANK_UNDEF);
    PMIx_Data_array_free(array);
}

PX_TEST(an_array_may_be_empty)
{
    pmix_data_array_t array = {PMIX_STRING, 7, &array};

    PMIx_Data_array_init(&array, PMIX_INFO);
    ck_assert_uint_eq(array.type, PMIX_INFO);
    ck_assert(array.size == 0 && !array.array);

    pmix_data_array_t *created = PMIx_Data_array_create(0, PMIX_INFO);
    ck_assert_ptr_nonnull(created);
    ck_assert(created->size == 0 && !created->array);
    PMIx_Data_array_free(created);
}

PX_TEST(there_are_no_elements_of_unknown_types)
{
    pmix_data_array_t array;

    PMIx_Data_array_construct(&array, 3, 29);
    ck_assert(array.size == 0 && !array.array);
    ck_assert_ptr_null(PMIx_Data_array_create(3, 29));
    ck_assert_ptr_null(PMIx_Data_array_create(3, PMIX_UNDEF));
}

PX_TEST(null_is_accepted)
{
    PMIx_Data_array_init(NULL, PMIX_INFO);
    PMIx_Data_array_construct(NULL, 1, PMIX_INFO);
    PMIx_Data_array_destruct(NULL);
    PMIx_Data_array_free(NULL);
}

PX_TEST_MAIN("types/darray", NULL, NULL)
