/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows in three forms: a table, lines for programs, JSON. Texts come from other
 * processes, so that control characters do not reach a terminal. */
#include "tool.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static bool parsable, json;

/* clang-format off */
const struct tool_option format_options[] = {
    TAKES_FLAG("json", json, "print JSON"),
    TAKES_FLAG("parsable|parseable", parsable, "print lines of fields with colons between them; in a field a colon, a backslash and control characters have a backslash before them"),
    {0},
};
/* clang-format on */

enum format format_now(void)
{
    if (json && parsable)
        usage("--json and --parsable exclude each other");
    return json ? FORMAT_JSON : parsable ? FORMAT_PARSABLE : FORMAT_TABLE;
}

/* Numbers in JSON have as many digits as figures need. */
#define JSON_FLAGS (JSON_REAL_PRECISION(6) | JSON_ENCODE_ANY)

json_t *text_json(const char *text)
{
    json_t *value = text ? json_string(text) : json_null();
    char *copy;

    if (value)
        return value;
    copy = need_text("%s", text);
    for (char *c = copy; *c; c++)
        *c = (unsigned char)*c > 0x7e ? '?' : *c;
    value = need(json_string(copy));
    free(copy);
    return value;
}

void sheet_add(struct sheet *sheet, const char *fmt, ...)
{
    json_error_t error;
    va_list args;

    va_start(args, fmt);
    json_t *row = json_vpack_ex(&error, 0, fmt, args);
    va_end(args);
    if (!sheet->rows)
        sheet->rows = need(json_array());
    if (json_array_append_new(sheet->rows, need(row)))
        need(NULL);
}

void json_line(json_t *object)
{
    char *text = need(json_dumps(object, JSON_FLAGS | JSON_COMPACT));

    printf("%s\n", text);
    fflush(stdout);
    free(text);
    json_decref(object);
}

/* ---- texts ----------------------------------------------------------------------- */

/* Returns a cell as text without control characters, malloc'd. */
static char *cell_text(const json_t *cell)
{
    char *text = json_is_string(cell) ? need_text("%s", json_string_value(cell))
                 : json_is_null(cell) ? need_text("-")
                 : json_is_real(cell) ? need_text("%.1f", json_real_value(cell))
                 : json_is_boolean(cell)
                     ? need_text(json_is_true(cell) ? "true" : "false")
                     : need(json_dumps(cell, JSON_FLAGS));

    for (char *c = text; *c; c++)
        *c = (unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c;
    return text;
}

/* Prints a field of a parsable line. Nothing stands for an unknown value. */
static void print_field(const json_t *cell)
{
    char *text = json_is_null(cell)     ? need_text("%s", "")
                 : json_is_string(cell) ? need_text("%s", json_string_value(cell))
                                        : need(json_dumps(cell, JSON_FLAGS));

    for (const char *c = text; *c; c++) {
        const bool is_control = (unsigned char)*c < ' ' || *c == 0x7f;

        if (*c == '\n')
            printf("\\n");
        else if (is_control)
            printf("\\x%02x", (unsigned char)*c);
        else
            printf("%s%c", *c == ':' || *c == '\\' ? "\\" : "", *c);
    }
    free(text);
}

static void show_lines(const struct sheet *s)
{
    for (size_t r = 0; r < json_array_size(s->rows); r++) {
        const json_t *row = json_array_get(s->rows, r);

        printf("%s", s->name);
        for (size_t i = 0; s->columns[i]; i++) {
            printf(":");
            print_field(json_array_get(row, i));
        }
        printf("\n");
    }
}

/* ---- tables ---------------------------------------------------------------------- */

/* Columns on a terminal: bytes that continue a character of UTF-8 have none. */
static size_t width_of(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static void print_cell(const char *text, size_t width, bool right, bool last)
{
    const size_t own = width_of(text), pad = own < width ? width - own : 0;

    printf("%*s%s", right ? (int)pad : 0, "", text);
    if (!last)
        printf("%*s  ", right ? 0 : (int)pad, "");
}

static bool is_number(const json_t *rows, size_t column)
{
    for (size_t r = 0; r < json_array_size(rows); r++)
        if (json_is_number(json_array_get(json_array_get(rows, r), column)))
            return true;
    return false;
}

static void show_table(const struct sheet *s)
{
    const size_t n_rows = json_array_size(s->rows);
    size_t n = 0, width[32] = {0};

    while (s->columns[n] && n < sizeof(width) / sizeof(width[0]))
        n++;
    for (size_t i = 0; i < n; i++) {
        width[i] = s->headings ? width_of(s->headings[i]) : 0;
        for (size_t r = 0; r < n_rows; r++) {
            char *text = cell_text(json_array_get(json_array_get(s->rows, r), i));

            if (width_of(text) > width[i])
                width[i] = width_of(text);
            free(text);
        }
    }
    for (size_t i = 0; s->headings && i < n; i++)
        print_cell(s->headings[i], width[i], is_number(s->rows, i), i + 1 == n);
    if (s->headings)
        printf("\n");
    for (size_t r = 0; r < n_rows; r++) {
        for (size_t i = 0; i < n; i++) {
            char *text = cell_text(json_array_get(json_array_get(s->rows, r), i));

            print_cell(text, width[i], is_number(s->rows, i), i + 1 == n);
            free(text);
        }
        printf("\n");
    }
}

/* ---- JSON ------------------------------------------------------------------------ */

static json_t *objects_of(const struct sheet *s)
{
    json_t *all = need(json_array());

    for (size_t r = 0; r < json_array_size(s->rows); r++) {
        json_t *row = json_array_get(s->rows, r), *object = need(json_object());

        for (size_t i = 0; s->columns[i]; i++)
            if (json_object_set(object, s->columns[i], json_array_get(row, i)))
                need(NULL);
        if (json_array_append_new(all, object))
            need(NULL);
    }
    return all;
}

void sheets_show(struct sheet *const *sheets, size_t n)
{
    const enum format form = format_now();
    json_t *all = form == FORMAT_JSON ? need(json_object()) : NULL;

    for (size_t i = 0; i < n; i++) {
        struct sheet *s = sheets[i];

        if (!s->rows)
            s->rows = need(json_array());
        if (all && json_object_set_new(all, s->name, objects_of(s)))
            need(NULL);
        if (form == FORMAT_PARSABLE)
            show_lines(s);
        if (form == FORMAT_TABLE)
            show_table(s);
        json_decref(s->rows);
        s->rows = NULL;
    }
    if (all)
        json_line(all);
    fflush(stdout);
}
