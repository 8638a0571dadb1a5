/* SPDX-License-Identifier: BSD-3-Clause */
/* Many changes of one environment. */
#include "core/base/env_edit.h"

#include <stdio.h>
#include <string.h>

#include "alloc_fail.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "px_test.h"

/* Applies changes such as "A+=x", separated by "|": += appends with a colon, ^= prepends
 * without a separator, <= makes the first with a colon, ?= adds, := sets, ! unsets. */
static pmix_status_t change(px_env_edit *d, const char *changes)
{
    static const char signs[] = {
        [PX_ENV_SET] = ':',    [PX_ENV_ADD] = '?',   [PX_ENV_PREPEND] = '^',
        [PX_ENV_APPEND] = '+', [PX_ENV_FIRST] = '<', [PX_ENV_UNSET] = '!'};
    pmix_status_t rc = PMIX_SUCCESS;

    while (!rc && *changes) {
        const size_t len = strcspn(changes, "|"), name = strcspn(changes, "^?+<:!");
        const enum px_env_how how = (enum px_env_how)(
            (const char *)memchr(signs, changes[name], sizeof(signs)) - signs);
        char value[64] = "";

        if (len > name + 2)
            snprintf(value, sizeof(value), "%.*s", (int)(len - name - 2),
                     changes + name + 2);
        rc = px_env_edit_change(d, how, changes, name, value,
                                how == PX_ENV_PREPEND ? '\0' : ':');
        changes += len + (changes[len] == '|');
    }
    return rc;
}

PX_TEST(changes_apply_in_order)
{
    static const struct {
        const char *env, *changes, *after;
        pmix_status_t status;
    } rows[] = {
        {NULL, "", "", 0},
        {"A=1|junk|=x", "B:=2", "A=1|junk|=x|B=2", 0},
        {"A=1|B=2|A=3|A=4", "A:=9", "A=9|B=2", 0},
        {"A=1|A=3|B=2", "A!", "B=2", 0},
        {"A=1", "A?=2|B?=3|A!|A?=4", "A=4|B=3", 0},
        {"A=1", "A+=2|A^=0|A+=3|A^=x|A+=|B+=b|C^=c", "A=x01:2:3:|B=b|C=c", 0},
        {"A=1|A=2", "A+=3|A:=4|B:=|B+=5", "A=4|B=:5", 0},
        {"A=", "A!|B!|A+=1|A+=2", "A=1:2", 0},
        {"A=1:2|B=10", "A<=1|A<=2|A<=2|B<=1|C<=3", "A=2:1:2|B=1:10|C=3", 0},
        {"A=1", ":=x", "", PMIX_ERR_BAD_PARAM},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_strv) env = rows[i].env ? px_strv_split(rows[i].env, '|', true)
                                           : NULL;
        PX_AUTO(px_strv) out = NULL;
        px_env_edit d = {0};

        ok(px_env_edit_begin(&d, env));
        ck_assert_int_eq(change(&d, rows[i].changes), rows[i].status);
        if (rows[i].status) {
            px_env_edit_cleanup(&d);
            continue;
        }
        ok(px_env_edit_end(&d, &out));
        PX_AUTOFREE char *text = px_strv_join(out, '|');
        ck_assert_str_eq(text, rows[i].after);
    }
}

static pmix_status_t edit(char **env, const char *changes, char ***out)
{
    px_env_edit d = {0};
    pmix_status_t rc = px_env_edit_begin(&d, env);

    if (!rc)
        rc = change(&d, changes);
    if (!rc)
        return px_env_edit_end(&d, out);
    px_env_edit_cleanup(&d);
    return rc;
}

PX_TEST(without_memory_nothing_changes)
{
    PX_AUTO(px_strv) env = px_strv_split("A=1|B=2|A=3", '|', true);
    char **out = NULL;

    PX_TEST_NEEDS_ALLOC;
    for (unsigned nth = 0; px_alloc_next(&nth);)
        if (px_alloc_check(edit(env, "A+=2|B:=3|C:=4|A^=0", &out)))
            ck_assert_ptr_null(out);
    ck_assert_str_eq(px_env_get(out, "A"), "01:2");
    px_strv_free(out);
}

/* Each change takes a few allocations, however many variables there are, and a value
 * that grows is moved a few times. */
PX_TEST(changes_cost_what_their_text_costs)
{
    enum { N = 20000 };
    PX_AUTO(px_strv) out = NULL;
    px_env_edit d = {0};
    char name[16];

    PX_TEST_NEEDS_ALLOC;
    px_alloc_fail_at(0);
    for (int i = 0; i < N && !px_env_edit_change(&d, PX_ENV_APPEND, "A", 1, "1", ':');
         i++)
        (void)px_env_edit_change(&d, PX_ENV_PREPEND, "A", 1, "2", ':');
    const unsigned n_growing = px_alloc_count();
    for (int i = 0; i < N; i++)
        (void)px_env_edit_change(&d, PX_ENV_SET, name,
                                 (size_t)snprintf(name, sizeof(name), "V%d", i), "", 0);
    const pmix_status_t rc = px_env_edit_end(&d, &out);
    const unsigned n = px_alloc_count();
    px_alloc_fail_end();
    ok(rc);
    ck_assert_uint_eq(strlen(out[0]), 1 + 4 * N);
    ck_assert_uint_le(n_growing, 32);
    ck_assert_uint_le(n, 32 + 3 * N);
}

PX_TEST_MAIN("base/env_edit", NULL, NULL)
