/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/config/param_impl.h"
#include "px_test.h"

#include <string.h>

enum { SIZE = 1 << 20 };

/* What a text is read as: "1 a=b\n", "2 include x\n", "3 ! what is wrong\n". */
static const char *read_as(const char *content)
{
    static char said[1024];
    char *copy = strdup(content);
    struct px_param_text text = {.rest = copy, .line = 1};
    struct px_param_line line;
    size_t len = 0;

    said[0] = '\0';
    while (px_param_next_line(&text, &line)) {
        char *at = said + len;
        size_t room = sizeof(said) - len;
        int n = line.wrong ? snprintf(at, room, "%lu ! %s\n", line.number, line.wrong)
                : line.include
                    ? snprintf(at, room, "%lu include %s\n", line.number, line.include)
                    : snprintf(at, room, "%lu %s=%s\n", line.number, line.name,
                               line.value);
        len += (size_t)n;
        ck_assert_uint_lt(len, sizeof(said));
    }
    free(copy);
    return said;
}

PX_TEST(a_line_is_a_setting_an_include_or_wrong)
{
    ck_assert_str_eq(read_as("a = b\ninclude x # y\nc d"),
                     "1 a=b\n2 include x\n3 ! expected name = value\n");
    ck_assert_str_eq(read_as("include = 1\ninclude=2\nincluded x"),
                     "1 include=1\n2 include=2\n3 ! expected name = value\n");
    ck_assert_str_eq(read_as(""), "");
    ck_assert_str_eq(read_as("\n\n# x\n \t\r\n"), "");
}

PX_TEST(numbers_are_those_of_the_first_of_continued_lines)
{
    ck_assert_str_eq(read_as("a = 1, \\\n 2\nb = 3"), "1 a=1,   2\n3 b=3\n");
    ck_assert_str_eq(read_as("a = 1\\\r\n2"), "1 a=1 2\n");
    ck_assert_str_eq(read_as("\\\n\\\nb = 3\\"), "1 b=3\\\n");
}

PX_TEST(a_comment_is_not_continued)
{
    ck_assert_str_eq(read_as("# x \\\na = 1"), "2 a=1\n");
    ck_assert_str_eq(read_as("a = 1 # x \\\nb = 2"), "1 a=1\n");
    ck_assert_str_eq(read_as(" \\\n # x \\\na = 1"), "3 a=1\n");
}

PX_TEST(a_name_has_letters_digits_and_three_signs)
{
    ck_assert(px_param_is_name("ptl_tcp-9.x"));
    ck_assert(!px_param_is_name(""));
    ck_assert(!px_param_is_name("a b"));
    ck_assert(!px_param_is_name("a\xc3\xa9"));
    ck_assert(!px_param_is_name("a\n"));
}

PX_TEST(what_is_shown_of_a_line_is_cut)
{
    char text[200];
    struct px_param_text rest = {.rest = text, .line = 7};
    struct px_param_line line;

    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    ck_assert(px_param_next_line(&rest, &line));
    ck_assert_uint_eq(strlen(line.shown), sizeof(line.shown) - 1);
    ck_assert_uint_eq(line.number, 7);
    ck_assert(!px_param_next_line(&rest, &line));
}

/* Quadratic, it would take minutes; Check ends it after seconds. */
PX_TEST(a_line_of_half_a_million_lines_takes_no_time)
{
    char *content = malloc(SIZE + 1);

    ck_assert_ptr_nonnull(content);
    for (size_t i = 0; i < SIZE; i += 2)
        memcpy(content + i, "\\\n", 2);
    content[SIZE] = '\0';
    ck_assert_str_eq(read_as(content), "");
    memcpy(content + SIZE - 6, "a = 1\n", 6);
    ck_assert_str_eq(read_as(content), "1 a=1\n");
    free(content);
}

PX_TEST_MAIN("rt/param_file", NULL, NULL)
