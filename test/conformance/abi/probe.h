/* SPDX-License-Identifier: BSD-3-Clause */
/* Common part of the generated programs of this suite. Each row of a table is a function, and the program
 * prints the result of each row. C11 and C++17. */
#ifndef PROBE_H
#define PROBE_H

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>
#include <pmix_connect.h>
#include <pmix_envars.h>
#include <pmix_version.h>
#include <pmix/src/include/pmix_frameworks.h>

struct probe {
    int line; /* of the table */
    void (*run)(void);
};

static int probe_line;
static bool probe_bad;

/* Records a check of the present row. Only the first failure of a row is reported. */
static inline void probe_check(bool good, const char *what)
{
    if (good || probe_bad)
        return;
    probe_bad = true;
    printf("bad %d %s\n", probe_line, what);
}

static inline void probe_number(long long got, long long want, const char *what)
{
    char text[256];

    snprintf(text, sizeof(text), "%s is %lld, not %lld", what, got, want);
    probe_check(got == want, text);
}

static inline void probe_text(const char *got, const char *want, const char *what)
{
    char text[256];

    snprintf(text, sizeof(text), "%s is \"%s\", not \"%s\"", what, got ? got : "(null)",
             want);
    probe_check(got && strcmp(got, want) == 0, text);
}

#define CHECK(x)           probe_check((x), "not true: " #x)
#define CHECK_NUMBER(x, n) probe_number((long long)(x), (n), #x)
#define CHECK_TEXT(x, s)   probe_text((x), (s), #x)

/* SAME_TYPE: compares expressions or types without their top-level qualifiers. IS_UNSIGNED_ENUM: true for
 * an enum without negative enumerators. */
#ifdef __cplusplus
#include <type_traits>
#define SAME_TYPE(a, b)                                        \
    std::is_same<typename std::remove_cv<__typeof__(a)>::type, \
                 typename std::remove_cv<__typeof__(b)>::type>::value
#define IS_UNSIGNED_ENUM(t) \
    std::is_unsigned<typename std::underlying_type<t>::type>::value
#else
#define SAME_TYPE(a, b)     __builtin_types_compatible_p(__typeof__(a), __typeof__(b))
#define IS_UNSIGNED_ENUM(t) ((t)-1 > (t)0)
#endif

/* Checks that the library exports a function. The program is not linked with the library, which may lack
 * functions. */
static inline void probe_exported(const char *name)
{
    static void *library;
    char text[256];

    if (!library)
        library = dlopen(getenv("PROBE_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
    snprintf(text, sizeof(text), "%s is not exported", name);
    probe_check(library && dlsym(library, name), text);
}

/* Helpers for calls of macros: text, three and list_of_one return memory of the caller; check_list checks
 * and frees a list of two keys. */
static inline char *text(const char *s)
{
    char *copy = (char *)malloc(strlen(s) + 1);

    if (copy)
        strcpy(copy, s);
    return copy;
}

static inline char **three(void)
{
    char **argv = NULL;

    PMIx_Argv_append_nosize(&argv, "a");
    PMIx_Argv_append_nosize(&argv, "b");
    PMIx_Argv_append_nosize(&argv, "c");
    return argv;
}

static inline void *list_of_one(const char *key)
{
    void *list = PMIx_Info_list_start();

    CHECK_NUMBER(PMIx_Info_list_add(list, key, "v", PMIX_STRING), PMIX_SUCCESS);
    return list;
}

static inline void check_list(void *list, const char *first, const char *second)
{
    pmix_data_array_t array = PMIX_DATA_ARRAY_STATIC_INIT;

    CHECK_NUMBER(PMIx_Info_list_convert(list, &array), PMIX_SUCCESS);
    CHECK_NUMBER(array.size, 2);
    CHECK_TEXT(((pmix_info_t *)array.array)[0].key, first);
    CHECK_TEXT(((pmix_info_t *)array.array)[1].key, second);
    PMIx_Data_array_destruct(&array);
    PMIx_Info_list_release(list);
}

static inline int probe_all(const struct probe *probes, size_t n)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < n; i++) {
        probe_line = probes[i].line;
        probe_bad = false;
        printf("run %d\n", probe_line);
        probes[i].run();
        if (!probe_bad)
            printf("good %d\n", probe_line);
    }
    puts("end");
    return 0;
}

#endif
