/* SPDX-License-Identifier: BSD-3-Clause */
/* Components linked into the library: the table below takes the place of the one that
 * the build has made. */
#include "core/plugin/loader.h"
#include "test/unit/rt/rt_test.h"
#include "tenon/gds.h"
#include "tenon/ptl.h"

static pmix_status_t builtin_open(const struct px_services *services PX_UNUSED,
                                  const void *conf PX_UNUSED, void **self PX_UNUSED)
{
    return PMIX_SUCCESS;
}

static pmix_status_t builtin_query(void *self PX_UNUSED,
                                   struct px_query *answer PX_UNUSED)
{
    return PMIX_SUCCESS;
}

static const struct px_gds_ops gds_ops;
static const struct px_ptl_ops ptl_ops;

#define BUILTIN(fw, FW, comp)                                                      \
    PX_COMPONENT_HEAD(fw, FW, comp), .open = builtin_open, .query = builtin_query, \
                                     .ops = &fw##_ops

static const struct px_component in_gds = {BUILTIN(gds, GDS, inside)};
static const struct px_component in_ptl = {BUILTIN(ptl, PTL, a)};
/* Built for a later core, whose descriptor has more members. */
static const struct {
    struct px_component now;
    void *later;
} in_future = {
    .now = {.abi = PX_COMPONENT_ABI,
            .size = sizeof(in_future),
            .framework = "ptl",
            .framework_abi = PX_PTL_ABI,
            .name = "future",
            .open = builtin_open,
            .query = builtin_query,
            .ops = &ptl_ops,
            .ops_size = sizeof(ptl_ops)},
};

const struct px_component *const px_builtin_components[] = {&in_gds, &in_ptl,
                                                            &in_future.now, NULL};

START_TEST(built_in_components_take_the_same_path_and_come_first)
{
    const struct px_found *f;
    px_catalog catalog = {0};
    struct px_err err = {0};
    struct px_loaded loaded;
    rt_path dir;

    rt_make_dir(dir);
    rt_write(dir, "pmix_ptl_a.so", "");
    rt_write(dir, "pmix_ptl_b.so", "");
    ck_assert_int_eq(px_catalog_fill(&catalog, dir, NULL, &err), PMIX_SUCCESS);
    ck_assert_uint_eq(px_catalog_part(&catalog, PX_FW_GDS, &f), 1);
    ck_assert_str_eq(f[0].name, "inside");
    ck_assert_uint_eq(px_catalog_part(&catalog, PX_FW_PTL, &f), 3);
    ck_assert_str_eq(f[0].name, "a");
    ck_assert_ptr_null(f[0].file);
    ck_assert_ptr_nonnull(f[1].file);
    ck_assert_str_eq(f[2].name, "future");

    ck_assert_int_eq(px_loader_load(&f[0], &loaded, &err), PMIX_SUCCESS);
    ck_assert_str_eq(loaded.component.name, "a");
    px_loader_unload(&loaded);
    ck_assert_msg(px_loader_load(&f[2], &loaded, &err) == PMIX_SUCCESS, "%s", err.text);
    ck_assert_str_eq(loaded.component.name, "future");
    px_catalog_cleanup(&catalog);
    rt_remove_dir(dir);
}
END_TEST

PX_TEST_MAIN("rt/builtin", built_in_components_take_the_same_path_and_come_first)
