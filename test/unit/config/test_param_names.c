/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/config/param_impl.h"
#include "core/config/core_params.h"
#include "frameworks/framework.h"
#include "px_test.h"

#include <string.h>

static bool is_ours(const char *name)
{
    for (const struct px_param_set *set = px_core_params; set->prefix; set++) {
        size_t n = strlen(set->prefix);

        if (strncmp(set->prefix, name, n) != 0)
            continue;
        for (const struct px_param *p = set->table; p->kind != PX_PARAM_KIND_END; p++) {
            if (strcmp(p->name, name + n) == 0)
                return true;
        }
    }
    return false;
}

/* Whether there is such a component, and what its parameters are, is not known here. */
static bool is_a_components(const char *name)
{
    const char *bar = strchr(name, '_');

    return bar && px_framework_find(name, (size_t)(bar - name)) != PX_FW_COUNT;
}

PX_TEST(each_foreign_name_means_one_of_ours_or_says_why_not)
{
    const struct px_param_foreign *f;

    for (size_t i = 0; (f = px_param_foreign_at(i)); i++) {
        ck_assert_msg(!f->ours != !f->why, "%s", f->name);
        ck_assert_msg(!f->ours || is_ours(f->ours) || is_a_components(f->ours), "%s",
                      f->name);
        ck_assert_msg(!f->ours || !strchr(f->name, '*'), "%s", f->name);
        ck_assert_msg(!is_ours(f->name), "%s is ours", f->name);
    }
}

/* One that stands behind a pattern which covers it would never be found. Some mean several of ours. */
PX_TEST(each_is_found_by_its_own_name)
{
    const struct px_param_foreign *f;

    for (size_t i = 0; (f = px_param_foreign_at(i)); i++)
        ck_assert_str_eq(px_param_foreign_find(f->name)->name, f->name);
}

PX_TEST(patterns_match_at_either_end)
{
    static const struct {
        const char *name, *pattern;
    } rows[] = {
        {"bfrops_base_verbose", "*_verbose"},
        {"bfrops", "bfrops*"},
        {"bfrops_base_default_type", "bfrops*"},
        {"ptl_base_max_retries", "ptl_base_*max_retries"},
        {"ptl_base_handshake_max_retries", "ptl_base_*max_retries"},
        {"ptl_base_if_include", "ptl_base_if_include"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const struct px_param_foreign *f = px_param_foreign_find(rows[i].name);

        ck_assert_msg(f && strcmp(f->name, rows[i].pattern) == 0, "%s: %s",
                      rows[i].name, f ? f->name : "not found");
    }
    ck_assert_ptr_null(px_param_foreign_find("ptl_base_if_includes"));
    ck_assert_ptr_null(px_param_foreign_find("ptl_tcp_port_min"));
    ck_assert_ptr_null(px_param_foreign_find("_verbos"));
    ck_assert_ptr_null(px_param_foreign_find(""));
}

PX_TEST_MAIN("rt/param_names", NULL, NULL)
