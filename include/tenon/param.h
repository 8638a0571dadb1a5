/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameter declarations of a component: a const table. The core parses the parameters
 * into the component's configuration structure before open. */
#ifndef TENON_PARAM_H
#define TENON_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Syntax of a parameter, and the type of its member. The core owns texts, lists and
 * paths, which are valid until close. */
enum px_param_kind {
    PX_PARAM_KIND_END,
    PX_PARAM_KIND_BOOL,     /* bool: true/false, yes/no, on/off, 1/0 */
    PX_PARAM_KIND_INT,      /* int64_t */
    PX_PARAM_KIND_SIZE,     /* uint64_t bytes: 64K, 1M, 2G */
    PX_PARAM_KIND_DURATION, /* uint64_t milliseconds: 250ms, 5s; a bare number: s */
    PX_PARAM_KIND_ENUM,     /* int64_t of one of the names */
    PX_PARAM_KIND_STRING,   /* const char *; NULL if unset */
    PX_PARAM_KIND_UINT,     /* uint64_t */
    PX_PARAM_KIND_LIST,    /* const char *const *, NULL-ended: a, b, c; NULL if unset */
    PX_PARAM_KIND_PATH,    /* const char *: absolute; ~/ is the home; NULL if unset */
    PX_PARAM_KIND_VERSION, /* struct px_param_version: 1, 1.2 or 1.2.3 */
};

struct px_param_name {
    const char *name; /* NULL ends the table */
    int64_t value;
};

struct px_param_version {
    uint16_t major, minor, release;
};

/* Declaration of a parameter. Members are only appended; the descriptor has the size at
 * the component's build. */
struct px_param {
    const char *name; /* without the <framework>_<component>_ prefix */
    enum px_param_kind kind;
    size_t offset;
    const char *def; /* default as text; NULL only for strings, lists and paths */
    int64_t min, max;
    const struct px_param_name *names;
    const char *help;
    const char *old_names; /* former full names, separated by commas; NULL: none */
    int level;             /* audience: 1 users .. 9 developers; 0 counts as 2 */
    /* Checks a text or list. Returns NULL for a valid value, otherwise a constant text,
     * and sets *at to the byte with the mistake. The core skips such a value and uses
     * the next weaker source, finally the default. pmix_info calls the function in a
     * process of its own. */
    const char *(*check)(const char *text, size_t *at);
};

/* Rows of the table. More members may follow the help text: PX_PARAM_BOOL(struct conf,
 * fast, "false", "Be fast", .old_names = "ptl_tcp_speed", .level = 5). */
#define PX_PARAM_ROW(type, member, Kind, Def, Min, Max, Names, ...)                 \
    {                                                                               \
        .name = #member, .kind = PX_PARAM_KIND_##Kind,                              \
        .offset = offsetof(type, member), .def = (Def), .min = (Min), .max = (Max), \
        .names = (Names), .help = __VA_ARGS__                                       \
    }

#define PX_PARAM_BOOL(type, member, def, ...) \
    PX_PARAM_ROW(type, member, BOOL, def, 0, 1, NULL, __VA_ARGS__)
#define PX_PARAM_INT(type, member, def, min, max, ...) \
    PX_PARAM_ROW(type, member, INT, def, min, max, NULL, __VA_ARGS__)
#define PX_PARAM_UINT(type, member, def, min, max, ...) \
    PX_PARAM_ROW(type, member, UINT, def, min, max, NULL, __VA_ARGS__)
#define PX_PARAM_SIZE(type, member, def, min, max, ...) \
    PX_PARAM_ROW(type, member, SIZE, def, min, max, NULL, __VA_ARGS__)
#define PX_PARAM_DURATION(type, member, def, min_ms, max_ms, ...) \
    PX_PARAM_ROW(type, member, DURATION, def, min_ms, max_ms, NULL, __VA_ARGS__)
#define PX_PARAM_ENUM(type, member, def, names, ...) \
    PX_PARAM_ROW(type, member, ENUM, def, 0, 0, names, __VA_ARGS__)
#define PX_PARAM_STRING(type, member, def, ...) \
    PX_PARAM_ROW(type, member, STRING, def, 0, 0, NULL, __VA_ARGS__)
#define PX_PARAM_LIST(type, member, def, ...) \
    PX_PARAM_ROW(type, member, LIST, def, 0, 0, NULL, __VA_ARGS__)
#define PX_PARAM_PATH(type, member, def, ...) \
    PX_PARAM_ROW(type, member, PATH, def, 0, 0, NULL, __VA_ARGS__)
#define PX_PARAM_VERSION(type, member, def, ...) \
    PX_PARAM_ROW(type, member, VERSION, def, 0, 0, NULL, __VA_ARGS__)
#define PX_PARAM_END              \
    {                             \
        .kind = PX_PARAM_KIND_END \
    }

#endif
