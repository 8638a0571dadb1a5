/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/model/lookup.h"
#include "model_test.h"

#include <string.h>

PX_TEST(numbers_take_the_type_of_the_dictionary_and_flags_without_a_value_are_set)
{
    struct px_model *m = model_make("n0", "", PMIX_RANK_UNDEF);
    struct px_nspace *ns = nspace_of(m, JOB);
    px_infos l = {0};
    pmix_value_t none = {.type = PMIX_UNDEF};

    add_num(&l, PMIX_LOCALLDR, 3, PMIX_INT);
    add_num(&l, PMIX_UNIV_SIZE, 12, PMIX_UINT64);
    add_num(&l, PMIX_NODE_SIZE, 4, PMIX_UINT16);
    add_num(&l, PMIX_JOB_SIZE, 4, PMIX_PROC_RANK);
    add_num(&l, PMIX_TDIR_RMCLEAN, 1, PMIX_INT);
    add_num(&l, "vendor.number", 5, PMIX_UINT16);
    ok(px_infos_add_value(&l, "vendor.flag", &none));
    ok(px_infos_add_value(&l, PMIX_SPAWNED, &none));
    add_str(&l, PMIX_MAX_PROCS, "many");
    must_register(m, ns, &l);

    assert_num(m, ns, ALL, PMIX_LOCALLDR, PMIX_PROC_RANK, 3);
    assert_num(m, ns, ALL, PMIX_UNIV_SIZE, PMIX_UINT32, 12);
    assert_num(m, ns, ALL, PMIX_NODE_SIZE, PMIX_UINT32, 4);
    assert_num(m, ns, ALL, PMIX_JOB_SIZE, PMIX_UINT32, 4);
    assert_flag(m, ns, ALL, PMIX_TDIR_RMCLEAN, true);
    assert_num(m, ns, ALL, "vendor.number", PMIX_UINT16, 5);
    assert_flag(m, ns, ALL, "vendor.flag", true);
    assert_flag(m, ns, ALL, PMIX_SPAWNED, true);
    assert_str(m, ns, ALL, PMIX_MAX_PROCS,
               "many"); /* what does not fit stays as given */
    px_model_destroy(m);
}

PX_TEST(numbers_that_do_not_fit_stay_as_given)
{
    static const pmix_value_t big = {.type = PMIX_UINT64, .data.uint64 = 1ull << 40};
    static const pmix_value_t negative = {.type = PMIX_INT, .data.integer = -1};
    pmix_value_t out;

    px_job_value_convert(PMIX_JOB_SIZE, &big, &out);
    ck_assert_int_eq(out.type, PMIX_UINT64);
    ck_assert_uint_eq(out.data.uint64, 1ull << 40);
    px_job_value_convert(PMIX_JOB_SIZE, &negative, &out);
    ck_assert_int_eq(out.type, PMIX_INT);
    px_job_value_convert(PMIX_LOCAL_RANK, &big, &out);
    ck_assert_int_eq(out.type, PMIX_UINT64);
}

PX_TEST(the_dictionary_is_in_order_and_finds_each_of_its_keys)
{
    for (size_t i = 0; i < px_n_job_keys; i++) {
        ck_assert_ptr_eq(px_job_key_find(px_job_keys[i].key), &px_job_keys[i]);
        if (i > 0)
            ck_assert_msg(strcmp(px_job_keys[i - 1].key, px_job_keys[i].key) < 0, "%s",
                          px_job_keys[i].key);
    }
    ck_assert_ptr_null(px_job_key_find("pmix.zzz"));
}

PX_TEST_MAIN("model/jobinfo_keys", NULL, NULL)
