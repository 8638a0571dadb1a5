/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/plugin/loader.h"
#include "core/rt/log.h"
#include "core/rt/process.h"
#include "fake.h"
#include "fake_files.h"
#include "pmix/src/include/pmix_frameworks.h"
#include "tenon/ptl.h"

#include <dlfcn.h>

#include <errno.h>

static rt_path dir, other;
static const char *home;
static px_catalog catalog;
static struct px_err err;

static void set_up(void)
{
    rt_make_dir(dir);
    rt_make_dir(other);
}

static void tear_down(void)
{
    px_catalog_cleanup(&catalog);
}

static void fill(const char *path)
{
    px_catalog_cleanup(&catalog);
    ck_assert_msg(px_catalog_fill(&catalog, path, home, &err) == PMIX_SUCCESS, "%s",
                  err.text);
}

PX_TEST(the_catalog_lists_files_of_known_frameworks_by_name_and_no_others)
{
    static const char *const names[] = {"pmix_mca_tenon_ptl_usock.so",
                                        "pmix_mca_tenon_ptl_a_b.so",
                                        "pmix_mca_tenon_gds_hash.so",
                                        "pmix_mca_tenon_nosuch_opx.so",
                                        "pmix_mca_tenon_ptl_.so",
                                        "pmix_mca_tenon_ptl.so",
                                        "libpmix.so",
                                        "pmix_mca_tenon_ptl_x.la",
                                        "xpmix_mca_tenon_ptl_y.so",
                                        "pmix_mca_tenon_.so",
                                        "pmix_ptl_z.so",
                                        "pmix_mca_gds_ds12.so",
                                        ".so"};
    char known[64];

    for (size_t i = 0; i < PX_COUNT(names); i++)
        rt_write(dir, names[i], "");
    fill(dir);

    ck_assert_uint_eq(catalog.n, 3);
    px_catalog_list(&catalog, PX_FW_PTL, known, sizeof(known));
    ck_assert_str_eq(known, "a_b, usock");
    px_catalog_list(&catalog, PX_FW_GDS, known, sizeof(known));
    ck_assert_str_eq(known, "hash");
    px_catalog_list(&catalog, PX_FW_PSEC, known, sizeof(known));
    ck_assert_str_eq(known, "none");
    px_catalog_list(&catalog, PX_FW_PTL, known, 6);
    ck_assert_str_eq(known, "a_b, ");
}

PX_TEST(the_users_own_components_come_after_those_of_the_path)
{
    rt_path dot, components, wanted;

    rt_join(dot, other, ".pmix");
    rt_join(components, dot, "components");
    ck_assert_int_eq(mkdir(dot, 0700) | mkdir(components, 0700), 0);
    rt_write(dir, "pmix_mca_tenon_ptl_a.so", "");
    rt_write(components, "pmix_mca_tenon_ptl_a.so", "");
    rt_write(components, "pmix_mca_tenon_ptl_b.so", "");
    home = other;
    fill(dir);

    ck_assert_uint_eq(catalog.n, 2);
    rt_join(wanted, dir, "pmix_mca_tenon_ptl_a.so");
    ck_assert_str_eq(catalog.v[0].file, wanted);
    rt_join(wanted, components, "pmix_mca_tenon_ptl_b.so");
    ck_assert_str_eq(catalog.v[1].file, wanted);
    home = dir; /* has no components folder, which is allowed */
    fill(NULL);
    ck_assert_uint_eq(catalog.n, 0);
}

/* Installs one module under a name and loads it. */
static pmix_status_t load(const char *module, const char *as, struct px_loaded *loaded)
{
    rt_install_as(dir, module, as);
    fill(dir);
    ck_assert_uint_eq(catalog.n, 1);
    pmix_status_t rc = px_loader_load(&catalog.v[0], loaded, &err);
    if (rc) {
        ck_assert_ptr_null(loaded->handle);
        ck_assert_ptr_null(strchr(err.text, '\n'));
    }
    return rc;
}

PX_TEST(a_sound_component_is_loaded_and_keeps_its_names_to_itself)
{
    struct px_loaded loaded;

    ck_assert_msg(load("ptl_a", "ptl_a", &loaded) == PMIX_SUCCESS, "%s", err.text);

    ck_assert_str_eq(loaded.component.framework, "ptl");
    ck_assert_str_eq(loaded.component.name, "a");
    ck_assert_ptr_null(dlsym(RTLD_DEFAULT, "px_ptl_a_component"));
    /* Operations newer than the component's framework header are NULL. */
    const struct px_ptl_ops *ops = loaded.component.ops;
    ck_assert(ops->listen && !ops->unlisten && !ops->connect);
    ck_assert_uint_eq(loaded.component.ops_size, sizeof(*ops));
    px_loader_unload(&loaded);
    px_loader_unload(&loaded); /* does nothing */
}

PX_TEST(what_does_not_fit_is_refused_naming_file_found_and_wanted)
{
    static const struct {
        const char *module, *as, *wanted;
    } cases[] = {
        {"ptl_oldabi", "ptl_oldabi",
         "pmix_mca_tenon_ptl_oldabi.so has component ABI 99, wanted 1"},
        {"ptl_oldfw", "ptl_oldfw",
         "pmix_mca_tenon_ptl_oldfw.so has ptl ABI 98, wanted 1"},
        {"ptl_small", "ptl_small",
         "pmix_mca_tenon_ptl_small.so has a descriptor of 24 bytes, wanted"},
        {"ptl_alias", "ptl_alias",
         "pmix_mca_tenon_ptl_alias.so calls itself ptl/other, wanted ptl/alias"},
        {"ptl_noops", "ptl_noops", "pmix_mca_tenon_ptl_noops.so lacks query or ops"},
        {"ptl_overrun", "ptl_overrun",
         "pmix_mca_tenon_ptl_overrun.so has parameters outside"},
        {"ptl_norows", "ptl_norows",
         "pmix_mca_tenon_ptl_norows.so has parameters of 8 bytes each"},
        {"ptl_a", "ptl_renamed",
         "pmix_mca_tenon_ptl_renamed.so has no symbol px_ptl_renamed_component"},
    };

    for (size_t i = 0; i < PX_COUNT(cases); i++) {
        struct px_loaded loaded;

        ck_assert_int_eq(load(cases[i].module, cases[i].as, &loaded),
                         PMIX_ERR_NOT_SUPPORTED);
        rt_assert_has(err.text, cases[i].wanted);
        rt_assert_has(err.text, dir);
        rt_make_dir(dir);
    }
}

PX_TEST(rows_of_older_and_later_headers_are_read_with_their_own_length)
{
    static const char *const modules[] = {"ptl_oldrows", "ptl_newrows"};

    for (size_t i = 0; i < PX_COUNT(modules); i++) {
        struct px_loaded loaded;

        ck_assert_msg(load(modules[i], modules[i], &loaded) == PMIX_SUCCESS, "%s",
                      err.text);
        const struct px_param *p = loaded.component.params;
        ck_assert_str_eq(p[0].name, "priority");
        ck_assert_str_eq(p[1].name, "level");
        ck_assert_int_eq(p[1].max, 9);
        ck_assert_str_eq(p[5].help, "Where to log calls");
        ck_assert_ptr_null(p[5].old_names);
        ck_assert_int_eq(p[5].level, 0);
        ck_assert_int_eq(p[6].kind, PX_PARAM_KIND_END);
        px_loader_unload(&loaded);
        rt_make_dir(dir);
    }
}

PX_TEST(what_cannot_be_loaded_is_refused_with_the_reason)
{
    struct px_loaded loaded;
    rt_path file;

    ck_assert_int_eq(load("ptl_unbound", "ptl_unbound", &loaded), PMIX_ERR_NOT_FOUND);
    rt_assert_has(err.text, "pmix_mca_tenon_ptl_unbound.so");
    rt_assert_has(err.text, "px_nobody_has_this");

    rt_join(file, dir, "pmix_mca_tenon_ptl_unbound.so");
    ck_assert_int_eq(unlink(file), 0);
    rt_write(dir, "pmix_mca_tenon_ptl_text.so",
             "This is not a shared object, but long enough to be one: "
             "64 bytes of ELF header are what the linker wants to see.\n");
    fill(dir);
    ck_assert_int_eq(px_loader_load(&catalog.v[0], &loaded, &err), PMIX_ERR_NOT_FOUND);
    rt_join(file, dir, "pmix_mca_tenon_ptl_text.so");
    rt_assert_has(err.text, file);
    rt_assert_has(err.text, "invalid ELF header");
}

PX_TEST(frameworks_are_found_by_their_whole_name)
{
    ck_assert_int_eq(px_framework_find("ptl", 3), PX_FW_PTL);
    ck_assert_int_eq(px_framework_find("pfexec_x", 6), PX_FW_PFEXEC);
    ck_assert_int_eq(px_framework_find("pt", 2), PX_FW_COUNT);
    ck_assert_int_eq(px_framework_find("", 0), PX_FW_COUNT);
    for (int id = 0; id < PX_FW_COUNT; id++) {
        ck_assert_int_eq(
            px_framework_find(px_frameworks[id].name, strlen(px_frameworks[id].name)),
            id);
        ck_assert_str_eq(pmix_framework_names[id], px_frameworks[id].name);
    }
    ck_assert_ptr_null(pmix_framework_names[PX_FW_COUNT]);
}

PX_TEST_MAIN("plugin/loader", set_up, tear_down)
