/* SPDX-License-Identifier: BSD-3-Clause */
/* Valid and invalid values of each kind; and parameter names of other
 * implementations. */
#include "core/config/core_params.h"
#include "frameworks/framework.h"
#include "core/base/str.h"
#include "test/unit/rt/rt_test.h"

struct all {
    bool flag;
    int64_t number;
    uint64_t size, time;
    int64_t color;
    const char *text;
};

static const struct px_param_name colors[] = {{"red", 5}, {"green", -7}, {NULL, 0}};

static const struct px_param flag = PX_PARAM_BOOL(struct all, flag, "no", "");
static const struct px_param number = PX_PARAM_INT(struct all, number, "0", -5, 100,
                                                   "");
static const struct px_param size = PX_PARAM_SIZE(struct all, size, "0", 1024,
                                                  INT64_C(1) << 40, "");
static const struct px_param duration = PX_PARAM_DURATION(struct all, time, "0", 0,
                                                          3600 * 1000, "");
static const struct px_param color = PX_PARAM_ENUM(struct all, color, "red", colors,
                                                   "");
static const struct px_param text = PX_PARAM_STRING(struct all, text, NULL, "");

PX_TEST(a_text_is_a_value_of_its_kind)
{
    static const struct {
        const struct px_param *param;
        const char *text;
        int64_t value;
    } rows[] = {
        {&flag, "true", 1},        {&flag, "Yes", 1},
        {&flag, "on", 1},          {&flag, "1", 1},
        {&flag, "False", 0},       {&flag, "no", 0},
        {&flag, "off", 0},         {&flag, "0", 0},
        {&number, "-5", -5},       {&number, "100", 100},
        {&size, "1024", 1024},     {&size, "64K", 65536},
        {&size, "64k", 65536},     {&size, "1M", 1048576},
        {&size, "2G", 2147483648}, {&size, "1T", INT64_C(1) << 40},
        {&size, "3 M", 3 << 20},   {&duration, "5", 5000},
        {&duration, "250ms", 250}, {&duration, "5s", 5000},
        {&duration, "2m", 120000}, {&duration, "1h", 3600000},
        {&duration, "0", 0},       {&color, "green", -7},
        {&color, "RED", 5},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const bool is_flag = rows[i].param == &flag;
        union {
            bool flag;
            int64_t number;
        } v = {.number = is_flag ? 0 : 77};
        ck_assert_msg(px_param_from_text(rows[i].param, rows[i].text, &v) &&
                          (is_flag ? v.flag : v.number) == rows[i].value,
                      "%s: %jd", rows[i].text, (intmax_t)v.number);
    }
}

PX_TEST(other_texts_are_refused_and_change_nothing)
{
    static const struct {
        const struct px_param *param;
        const char *texts[12];
    } rows[] = {
        {&flag, {"", "2", "tru", "y", "true ", "-1"}},
        {&number,
         {"-6", "101", "", "abc", "1x", "1.5", "1e3", "99999999999999999999", " 1",
          "--1"}},
        {&size,
         {"1023", "2T", "K", "", "-1K", "1.5M", "1KB", "1Q", "64 K x",
          "18446744073709551615T", "99999999999999999999999999"}},
        {&duration, {"2h", "", "s", "1d", "5 seconds", "-1s", "0.5s"}},
        {&color, {"blue", ""}},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++)
        for (const char *const *bad = rows[i].texts; *bad; bad++) {
            int64_t value = 77;
            ck_assert_msg(!px_param_from_text(rows[i].param, *bad, &value), "%s", *bad);
            ck_assert_int_eq(value, 77);
        }
}

PX_TEST(a_string_is_borrowed)
{
    const char *given = "any thing";
    const char *value = NULL;

    ck_assert(px_param_from_text(&text, given, &value));
    ck_assert_ptr_eq(value, given);
}

PX_TEST(the_expected_values_are_described)
{
    static const struct {
        const struct px_param *param;
        const char *part;
    } cases[] = {{&flag, "true or false"},      {&number, "an integer from -5 to 100"},
                 {&size, "from 1024 to"},       {&duration, "250ms"},
                 {&color, "one of red, green"}, {&text, "a text"}};
    char out[192];

    for (size_t i = 0; i < PX_COUNT(cases); i++) {
        px_param_expected(cases[i].param, out, sizeof(out));
        rt_assert_has(out, cases[i].part);
    }
    px_param_expected(&color, out, 8); /* truncated */
    ck_assert_str_eq(out, "one of ");
}

PX_TEST(an_unknown_kind_has_no_size_and_takes_no_text)
{
    const struct px_param odd = {.name = "x", .kind = (enum px_param_kind)99};
    int64_t value = 1;

    ck_assert_uint_eq(px_param_size(odd.kind), 0);
    ck_assert_uint_eq(px_param_size(PX_PARAM_KIND_BOOL), sizeof(bool));
    ck_assert_uint_eq(px_param_size(PX_PARAM_KIND_ENUM), sizeof(int64_t));
    ck_assert_uint_eq(px_param_size(PX_PARAM_KIND_STRING), sizeof(char *));
    ck_assert(!px_param_from_text(&odd, "1", &value));
}

/* ---- names of other implementations -------------------------------------------------- */

static bool is_ours(const char *name)
{
    for (const struct px_param_set *set = px_core_params; set->prefix; set++) {
        const char *rest = name + strlen(set->prefix);

        if (!px_str_starts(name, set->prefix))
            continue;
        for (const struct px_param *p = set->table; p->kind != PX_PARAM_KIND_END; p++)
            if (strcmp(p->name, rest) == 0)
                return true;
    }
    return false;
}

PX_TEST(each_foreign_name_is_found_and_has_one_of_ours_or_a_reason)
{
    const struct px_param_foreign *f;

    for (size_t i = 0; (f = px_param_foreign_at(i)); i++) {
        const char *bar = f->ours ? strchr(f->ours, '_') : NULL;
        /* the set of components and their parameters is not available here */
        bool is_a_components = bar &&
                               px_framework_find(f->ours, (size_t)(bar - f->ours)) !=
                                   PX_FW_COUNT;

        ck_assert_msg(!f->ours != !f->why, "%s", f->name);
        ck_assert_msg(!f->ours || is_ours(f->ours) || is_a_components, "%s", f->name);
        ck_assert_msg(!f->ours || !strchr(f->name, '*'), "%s", f->name);
        ck_assert_msg(!is_ours(f->name), "%s is ours", f->name);
        /* Every name must come before a pattern that covers it. */
        ck_assert_str_eq(px_param_foreign_find(f->name)->name, f->name);
    }
}

PX_TEST(patterns_match_at_either_end)
{
    static const struct {
        const char *name, *pattern; /* NULL: none */
    } rows[] = {
        {"bfrops_base_verbose", "*_verbose"},
        {"bfrops", "bfrops*"},
        {"bfrops_base_default_type", "bfrops*"},
        {"ptl_base_max_retries", "ptl_base_*max_retries"},
        {"ptl_base_handshake_max_retries", "ptl_base_*max_retries"},
        {"ptl_base_if_include", "ptl_base_if_include"},
        {"ptl_base_if_includes", NULL},
        {"ptl_tcp_port_min", NULL},
        {"_verbos", NULL},
        {"", NULL},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const struct px_param_foreign *f = px_param_foreign_find(rows[i].name);

        ck_assert_pstr_eq(f ? f->name : NULL, rows[i].pattern);
    }
}

PX_TEST_MAIN("config/param_type", NULL, NULL)
