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

static pmix_status_t count(void *arg, pmix_rank_t rank PX_UNUSED,
                           const char *key PX_UNUSED,
                           const pmix_value_t *value PX_UNUSED)
{
    ++*(int *)arg;
    return PMIX_SUCCESS;
}

PX_TEST(tables_are_apart_by_kind_and_rank)
{
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = 7};
    uint32_t number;
    int n = 0;

    ok(px_store_put(&ns->store, PX_GDS_LOCAL, 1, "k", &v));
    v.data.uint32 = 8;
    ok(px_store_put(&ns->store, PX_GDS_REMOTE, 1, "k", &v));

    ck_assert(px_store_u32(&ns->store, PX_GDS_LOCAL, 1, "k", &number) && number == 7);
    ck_assert(px_store_u32(&ns->store, PX_GDS_REMOTE, 1, "k", &number) && number == 8);
    ck_assert(!px_store_has(&ns->store, PX_GDS_LOCAL, 2, "k"));
    ck_assert(!px_store_has(&ns->store, PX_GDS_JOB, 1, "k"));
    ok(px_store_walk(&ns->store, PX_GDS_LOCAL, PMIX_RANK_UNDEF, count, &n));
    ck_assert_int_eq(n, 1);
    px_store_clear(&ns->store, PX_GDS_LOCAL, 1);
    ck_assert(!px_store_has(&ns->store, PX_GDS_LOCAL, 1, "k"));
}

PX_TEST(a_model_goes_with_all_its_namespaces)
{
    pmix_value_t v = {.type = PMIX_STRING, .data.string = (char *)(uintptr_t) "text"};

    for (int i = 0; i < 100; i++) {
        char name[32];
        snprintf(name, sizeof(name), "job%d", i);
        ok(px_store_put(&nspace_of(model, name)->store, PX_GDS_INTERNAL, 0, "k", &v));
    }
    model_teardown(); /* the sanitizer detects leaks */
    px_model_destroy(NULL);
}

PX_TEST_MAIN("model/nspace", setup, model_teardown)
