/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameter declarations of a component: a const table, parsed by the core into the component's
 * own configuration structure before it is opened. */
#ifndef TENON_PARAM_H
#define TENON_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum px_param_kind {
    PX_PARAM_KIND_END,
    PX_PARAM_KIND_BOOL, /* bool: true/false, yes/no, on/off, 1/0 */
    PX_PARAM_KIND_INT,  /* int64_t */
    PX_PARAM_KIND_SIZE, /* uint64_t bytes: 64K, 1M, 2G */
    PX_PARAM_KIND_DURATION, /* uint64_t milliseconds: 250ms, 5s, 2m; a bare number is seconds */
    PX_PARAM_KIND_ENUM,   /* int64_t of one of the names */
    PX_PARAM_KIND_STRING, /* const char *, owned by the core until close; NULL if unset */
};

struct px_param_name {
    const char *name; /* NULL ends the table */
    int64_t value;
};

struct px_param {
    const char *name; /* without the <framework>_<component>_ prefix */
    enum px_param_kind kind;
    size_t offset;
    const char *def; /* default as text; NULL only for strings */
    int64_t min, max;
    const struct px_param_name *names;
    const char *help;
};

#define PX_PARAM_BOOL(type, member, def, help)                                     \
    {                                                                              \
#member, PX_PARAM_KIND_BOOL, offsetof(type, member), def, 0, 1, NULL, help \
    }
#define PX_PARAM_INT(type, member, def, min, max, help)                               \
    {                                                                                 \
#member, PX_PARAM_KIND_INT, offsetof(type, member), def, min, max, NULL, help \
    }
#define PX_PARAM_SIZE(type, member, def, min, max, help)                               \
    {                                                                                  \
#member, PX_PARAM_KIND_SIZE, offsetof(type, member), def, min, max, NULL, help \
    }
#define PX_PARAM_DURATION(type, member, def, min_ms, max_ms, help)                    \
    {                                                                                 \
#member, PX_PARAM_KIND_DURATION, offsetof(type, member), def, min_ms, max_ms, \
            NULL, help                                                                \
    }
#define PX_PARAM_ENUM(type, member, def, names, help)                               \
    {                                                                               \
#member, PX_PARAM_KIND_ENUM, offsetof(type, member), def, 0, 0, names, help \
    }
#define PX_PARAM_STRING(type, member, def, help)                                     \
    {                                                                                \
#member, PX_PARAM_KIND_STRING, offsetof(type, member), def, 0, 0, NULL, help \
    }
#define PX_PARAM_END                                       \
    {                                                      \
        NULL, PX_PARAM_KIND_END, 0, NULL, 0, 0, NULL, NULL \
    }

#endif
