/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/config/param_impl.h"
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

PX_TEST(a_bool_is_any_of_eight_words)
{
    static const char *const yes[] = {"true", "yes", "on", "1", "TRUE", "Yes"};
    static const char *const no[] = {"false", "no", "off", "0", "False"};
    static const char *const neither[] = {"", "2", "tru", "y", "true ", "-1"};
    bool value;

    for (size_t i = 0; i < PX_COUNT(yes); i++) {
        value = false;
        ck_assert_msg(px_param_from_text(&flag, yes[i], &value) && value, "%s", yes[i]);
    }
    for (size_t i = 0; i < PX_COUNT(no); i++) {
        value = true;
        ck_assert_msg(px_param_from_text(&flag, no[i], &value) && !value, "%s", no[i]);
    }
    for (size_t i = 0; i < PX_COUNT(neither); i++)
        ck_assert_msg(!px_param_from_text(&flag, neither[i], &value), "%s", neither[i]);
}

PX_TEST(an_integer_lies_within_its_range)
{
    static const char *const bad[] = {"-6", "101", "",    "abc",
                                      "1x", "1.5", "1e3", "99999999999999999999",
                                      " 1", "--1"};
    int64_t value = 77;

    for (size_t i = 0; i < PX_COUNT(bad); i++)
        ck_assert_msg(!px_param_from_text(&number, bad[i], &value), "%s", bad[i]);
    ck_assert_int_eq(value, 77);
    ck_assert(px_param_from_text(&number, "-5", &value));
    ck_assert_int_eq(value, -5);
    ck_assert(px_param_from_text(&number, "100", &value));
    ck_assert_int_eq(value, 100);
}

PX_TEST(a_size_has_binary_units)
{
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"1024", 1024},  {"64K", 65536},      {"64k", 65536},
                {"1M", 1048576}, {"2G", 2147483648u}, {"1T", UINT64_C(1) << 40},
                {"3 M", 3 << 20}};
    static const char *const bad[] = {"1023",
                                      "2T",
                                      "K",
                                      "",
                                      "-1K",
                                      "1.5M",
                                      "1KB",
                                      "1Q",
                                      "64 K x",
                                      "18446744073709551615T",
                                      "99999999999999999999999999"};
    uint64_t value;

    for (size_t i = 0; i < PX_COUNT(good); i++) {
        ck_assert_msg(px_param_from_text(&size, good[i].text, &value), "%s",
                      good[i].text);
        ck_assert_uint_eq(value, good[i].value);
    }
    for (size_t i = 0; i < PX_COUNT(bad); i++)
        ck_assert_msg(!px_param_from_text(&size, bad[i], &value), "%s", bad[i]);
}

PX_TEST(a_duration_is_in_seconds_unless_it_says_otherwise)
{
    static const struct {
        const char *text;
        uint64_t ms;
    } good[] = {{"5", 5000},    {"250ms", 250},  {"5s", 5000},
                {"2m", 120000}, {"1h", 3600000}, {"0", 0}};
    static const char *const bad[] = {"2h", "", "s", "1d", "5 seconds", "-1s", "0.5s"};
    uint64_t value;

    for (size_t i = 0; i < PX_COUNT(good); i++) {
        ck_assert_msg(px_param_from_text(&duration, good[i].text, &value), "%s",
                      good[i].text);
        ck_assert_uint_eq(value, good[i].ms);
    }
    for (size_t i = 0; i < PX_COUNT(bad); i++)
        ck_assert_msg(!px_param_from_text(&duration, bad[i], &value), "%s", bad[i]);
}

PX_TEST(an_enum_is_one_of_its_names)
{
    int64_t value = 0;

    ck_assert(px_param_from_text(&color, "green", &value));
    ck_assert_int_eq(value, -7);
    ck_assert(px_param_from_text(&color, "RED", &value));
    ck_assert_int_eq(value, 5);
    ck_assert(!px_param_from_text(&color, "blue", &value));
    ck_assert(!px_param_from_text(&color, "", &value));
}

PX_TEST(a_string_is_borrowed)
{
    const char *given = "any thing";
    const char *value = NULL;

    ck_assert(px_param_from_text(&text, given, &value));
    ck_assert_ptr_eq(value, given);
}

PX_TEST(what_is_expected_can_be_told)
{
    static const struct {
        const struct px_param *param;
        const char *part;
    } cases[] = {{&flag, "true or false"},      {&number, "an integer from -5 to 100"},
                 {&size, "from 1024 to"},       {&duration, "250ms"},
                 {&color, "one of red, green"}, {&text, "a text"}};
    char told[192];

    for (size_t i = 0; i < PX_COUNT(cases); i++) {
        px_param_expected(cases[i].param, told, sizeof(told));
        rt_assert_has(told, cases[i].part);
    }
    px_param_expected(&color, told, 8); /* cut, not overrun */
    ck_assert_str_eq(told, "one of ");
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

PX_TEST_MAIN("rt/param_type", NULL, NULL)
