/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/model/nspace.h"
#include "model_test.h"

#include <string.h>

static void setup(void)
{
    serve("here");
}

PX_TEST(getting_a_namespace_twice_gives_the_same)
{
    ck_assert_str_eq(model->hostname, "here");
    ck_assert_ptr_null(model->own);
    ck_assert_uint_eq(model->self.rank, PMIX_RANK_UNDEF);
    ck_assert_ptr_null(px_nspace_find(model, "job"));
    ns = nspace_of(model, "job");
    ck_assert_ptr_eq(nspace_of(model, "job"), ns);
    ck_assert_ptr_eq(px_nspace_find(model, "job"), ns);
    ck_assert_ptr_ne(nspace_of(model, "job2"), ns);
    ck_assert_str_eq(ns->name, "job");
    ck_assert(!ns->complete);
    ck_assert(px_list_empty(&ns->locals));
    ck_assert_uint_eq(ns->this_node, UINT32_MAX);
}

PX_TEST(names_are_not_empty_and_not_too_long)
{
    char name[PMIX_MAX_NSLEN + 2];

    ns = NULL;
    memset(name, 'n', sizeof(name));
    name[PMIX_MAX_NSLEN + 1] = '\0';
    ck_assert_int_eq(px_nspace_get(model, name, &ns), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(px_nspace_get(model, "", &ns), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(px_nspace_get(model, NULL, &ns), PMIX_ERR_BAD_PARAM);
    ck_assert_ptr_null(ns);
    name[PMIX_MAX_NSLEN] = '\0';
    ok(px_nspace_get(model, name, &ns));
    ck_assert_str_eq(ns->name, name);
}

PX_TEST(a_removed_namespace_is_gone_with_its_data)
{
    const pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = 7};

    model->own = ns = nspace_of(model, "job");
    ok(px_store_put(&ns->store, PX_GDS_JOB, 0, "k", &v));
    px_nspace_remove(model, ns);
    px_nspace_remove(model, NULL);

    ck_assert_ptr_null(px_nspace_find(model, "job"));
    ck_assert_ptr_null(model->own);
    ck_assert(!px_store_has(&nspace_of(model, "job")->store, PX_GDS_JOB, 0, "k"));
}

PX_TEST(an_expected_namespace_is_found_until_it_is_removed)
{
    struct px_nspace *own = nspace_of(model, "own"), *job = nspace_of(model, "job");
    const pmix_proc_t self = {"own", 0};

    ok(px_model_set_self(model, &self));
    for (unsigned i = 0; i < 2; i++) { /* first the own namespace is expected */
        ck_assert_ptr_eq(px_nspace_find(model, "own"), own);
        ck_assert_ptr_eq(px_nspace_find(model, "job"), job);
        ck_assert_ptr_null(px_nspace_find(model, "jo"));
        px_nspace_expect(model, "job");
        px_nspace_expect(model, "unknown");
        ck_assert_ptr_eq(model->likely, job);
    }
    px_nspace_remove(model, job);
    ck_assert_ptr_eq(model->likely, own);
    ck_assert_ptr_null(px_nspace_find(model, "job"));
    ck_assert_ptr_eq(px_nspace_find(model, "own"), own);
    px_nspace_remove(model, own);
    ck_assert_ptr_null(px_nspace_find(model, "own"));
}

PX_TEST_MAIN("model/nspace", setup, model_teardown)
