/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of one stream: only whole ones go on, unless they are longer than anybody's
 * patience. */
#include "core/host/lines.h"

#include <string.h>

#include "px_test.h"

static px_lines lines;

static void setup(void)
{
    ck_assert_int_eq(px_lines_init(&lines), PMIX_SUCCESS);
}

static void teardown(void)
{
    px_lines_cleanup(&lines);
}

static void feed(const char *text)
{
    uint8_t *to;
    size_t n = strlen(text);

    ck_assert_uint_ge(px_lines_room(&lines, &to), n);
    memcpy(to, text, n);
    px_lines_added(&lines, n);
}

static void fill(size_t n, char c)
{
    uint8_t *to;

    ck_assert_uint_ge(px_lines_room(&lines, &to), n);
    memset(to, c, n);
    px_lines_added(&lines, n);
}

static void assert_ready(const char *text)
{
    ck_assert_uint_eq(lines.ready, strlen(text));
    ck_assert_mem_eq(lines.bytes, text, lines.ready);
}

START_TEST(a_part_of_a_line_waits_for_the_rest)
{
    feed("one");
    assert_ready("");
    feed(" line\nand a");
    assert_ready("one line\n");
}
END_TEST

START_TEST(several_lines_go_on_together)
{
    feed("1\n2\n3");
    assert_ready("1\n2\n");
    feed("\n\n");
    assert_ready("1\n2\n3\n\n");
}
END_TEST

START_TEST(what_was_taken_makes_room_for_more)
{
    uint8_t *to;

    feed("first\nsecond\nthi");
    px_lines_taken(&lines, strlen("first\n"));
    assert_ready("second\n");
    px_lines_taken(&lines, strlen("sec"));
    assert_ready("ond\n");
    px_lines_taken(&lines, strlen("ond\n"));
    assert_ready("");
    ck_assert_uint_eq(px_lines_room(&lines, &to), PX_LINE_MAX_B - strlen("thi"));
    feed("rd\n");
    assert_ready("third\n");
}
END_TEST

START_TEST(the_end_completes_the_last_line_as_it_is)
{
    feed("last\nwithout newline");
    px_lines_end(&lines);
    assert_ready("last\nwithout newline");
}
END_TEST

START_TEST(bytes_of_value_zero_are_bytes_like_others)
{
    uint8_t *to;

    ck_assert_uint_gt(px_lines_room(&lines, &to), 4);
    memcpy(to, "a\0b\n", 4);
    px_lines_added(&lines, 4);
    ck_assert_uint_eq(lines.ready, 4);
}
END_TEST

START_TEST(a_line_that_fills_the_buffer_goes_on_in_pieces)
{
    uint8_t *to;

    fill(PX_LINE_MAX_B - 1, 'x');
    ck_assert_uint_eq(lines.ready, 0);
    fill(1, 'x');
    ck_assert_uint_eq(lines.ready, PX_LINE_MAX_B);
    ck_assert_uint_eq(px_lines_room(&lines, &to), 0);
    px_lines_taken(&lines, PX_LINE_MAX_B);
    feed("end\n");
    assert_ready("end\n");
}
END_TEST

START_TEST(a_full_buffer_with_a_line_in_it_is_not_cut_elsewhere)
{
    feed("line\n");
    fill(PX_LINE_MAX_B - 5, 'x');
    assert_ready("line\n");
    px_lines_taken(&lines, 5);
    ck_assert_uint_eq(lines.ready, 0);
    fill(4, 'x');
    ck_assert_uint_eq(lines.ready, 0);
    fill(1, 'x');
    ck_assert_uint_eq(lines.ready, PX_LINE_MAX_B);
}
END_TEST

PX_TEST_MAIN_WITH("server/embedded_lines", setup, teardown,
                  a_part_of_a_line_waits_for_the_rest, several_lines_go_on_together,
                  what_was_taken_makes_room_for_more,
                  the_end_completes_the_last_line_as_it_is,
                  bytes_of_value_zero_are_bytes_like_others,
                  a_line_that_fills_the_buffer_goes_on_in_pieces,
                  a_full_buffer_with_a_line_in_it_is_not_cut_elsewhere)
