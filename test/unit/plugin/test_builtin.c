/* SPDX-License-Identifier: BSD-3-Clause */
/* Components linked into the library. The table below replaces the one of the build. */
#include "core/plugin/loader.h"
#include "test/unit/rt/rt_test.h"
#include "core/config/param_impl.h"
#include "core/plugin/select.h"
#include "core/rt/process.h"
#include "tenon/gds.h"
#include "tenon/psec.h"
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
static const struct px_psec_ops psec_ops;
static const struct px_ptl_ops ptl_ops;

#define BUILTIN(fw, FW, comp)                                                      \
    PX_COMPONENT_HEAD(fw, FW, comp), .open = builtin_open, .query = builtin_query, \
                                     .ops = &fw##_ops

static const struct px_component in_gds = {BUILTIN(gds, GDS, inside)};
static const struct px_component in_psec = {BUILTIN(psec, PSEC, inside)};
static const struct px_component in_ptl = {BUILTIN(ptl, PTL, a)};
/* A component built for a later core, whose descriptor has more members. */
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

const struct px_component *const px_builtin_components[] = {&in_gds, &in_psec, &in_ptl,
                                                            &in_future.now, NULL};

static px_catalog catalog;
static struct px_err err;
static const struct px_found *ptls;

/* Makes the catalog of a folder with files for two of the components; neither file
 * loads. */
static void set_up(void)
{
    const char *dir = px_test_dir();

    rt_write(dir, "pmix_mca_tenon_ptl_a.so", "");
    rt_write(dir, "pmix_mca_tenon_ptl_b.so", "");
    ok(px_catalog_fill(&catalog, dir, NULL, &err));
    ck_assert_uint_eq(px_catalog_part(&catalog, PX_FW_PTL, &ptls), 3);
}

static void tear_down(void)
{
    px_catalog_cleanup(&catalog);
}

PX_TEST(a_components_file_wins_over_the_one_inside)
{
    const struct px_found *gds;
    struct px_loaded loaded;

    ck_assert_uint_eq(px_catalog_part(&catalog, PX_FW_GDS, &gds), 1);
    ck_assert_str_eq(gds->name, "inside");
    ck_assert_str_eq(ptls[0].name, "a");
    ck_assert_ptr_nonnull(ptls[0].file);
    ck_assert_ptr_nonnull(ptls[0].component);
    ck_assert_ptr_nonnull(ptls[1].file);
    ck_assert_ptr_null(ptls[1].component);
    ck_assert_str_eq(ptls[2].name, "future");
    ck_assert_ptr_null(ptls[2].file);
    ck_assert_uint_eq(catalog.n_left_out, 0);

    ck_assert_int_eq(px_loader_load(&ptls[0], &loaded, &err), PMIX_ERR_NOT_FOUND);
    ok(px_loader_load_builtin(&ptls[0], &loaded, &err));
    ck_assert_str_eq(loaded.component.name, "a");
    px_loader_unload(&loaded);
    ok(px_loader_load(&ptls[2], &loaded, &err));
    ck_assert_str_eq(loaded.component.name, "future");
}

PX_TEST(the_one_inside_serves_where_the_file_does_not_load)
{
    static const struct px_param_origin nowhere = {0};
    struct px_base_conf conf = {.component_path = px_test_dir(),
                                .component_show_load_errors = "ptl/a"};
    struct px_selection *s;
    struct px_params *params;
    struct px_loop *loop = rt_loop(false);
    size_t n;

    ok(px_params_create_from(&nowhere, &params, &err));
    struct rt_capture c = rt_capture_begin();
    ok(px_selection_create(params, loop, &conf, &s, &err));
    px_process.selection = s;
    for (int i = 0; i < 2; i++) {
        ok(px_selection_open(s, PX_ROLE_CLIENT, NULL, &err));
        const struct px_module *m = px_modules("ptl", &n);
        ck_assert_uint_eq(n, 2);
        ck_assert_str_eq(m[0].component->name, "a");
        ck_assert_str_eq(m[1].component->name, "future");
        px_selection_close(s, 0);
    }
    PX_AUTOFREE char *text = rt_capture_end(&c);
    rt_assert_has(text, "pmix_mca_tenon_ptl_a.so");
    ck_assert_int_eq(rt_count(text, "the library's own is used"), 1);
    px_selection_destroy(s);
    px_loop_destroy(loop);
    px_params_destroy(params);
}

PX_TEST_MAIN("plugin/builtin", set_up, tear_down)
