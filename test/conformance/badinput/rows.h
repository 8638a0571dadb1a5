/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows: a call with arguments that make no sense, and what it must answer. A row is a line; the
 * name of the function is taken from its text, so that badinput.c can tell which functions have
 * none. All use the installed headers and the shared library, as a user's program would. */
#ifndef PX_BADINPUT_ROWS_H
#define PX_BADINPUT_ROWS_H

#include "pmix.h"
#include "pmix_server.h"
#include "pmix_connect.h"
#include "pmix_envars.h"
#include "pmix_tool.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A call that answers a status, a number or a pointer. */
#define IS(expected, call)                                                  \
    row_number(__FILE__, __LINE__, #call, (long long)(uintptr_t)(expected), \
               (long long)(uintptr_t)(call));
#define BAD(call)     IS(PMIX_ERR_BAD_PARAM, call)
#define UNKNOWN(call) IS(PMIX_ERR_UNKNOWN_DATA_TYPE, call)
/* A call that answers nothing: it comes back. */
#define RUNS(call)                                   \
    do {                                             \
        call;                                        \
        row_number(__FILE__, __LINE__, #call, 0, 0); \
    } while (0);
/* A call that answers constant text, or text to free. */
#define TEXT(expected, call)  row_text(__FILE__, __LINE__, #call, expected, call);
#define FREED(expected, call) row_freed(__FILE__, __LINE__, #call, expected, call);
/* What else must be so after it. */
#define SO(condition) \
    row_number(__FILE__, __LINE__, #condition, 1, (condition) ? 1 : 0);

void row_number(const char *file, int line, const char *call, long long expected,
                long long got);
void row_text(const char *file, int line, const char *call, const char *expected,
              const char *got);
void row_freed(const char *file, int line, const char *call, const char *expected,
               char *got);

/* Numbers that are no data type: before the first hole, the holes, behind the last, the ends. */
extern const pmix_data_type_t no_types[];
enum { N_NO_TYPES = 6 };

/* The tables of functions that need no start of the library. */
void rows_of_life(void);    /* life.c: construct, create, destruct, free */
void rows_of_values(void);  /* values.c: values, infos, lists, arrays */
void rows_of_names(void);   /* names.c: processes, keys, argv, texts */
void rows_of_buffers(void); /* buffers.c: PMIx_Data_* */
void rows_of_damaged_buffers(void);

/* calls.c: those that need it. In a good call nothing is wrong but the time, or the role. */
void rows_of_good_calls(pmix_status_t expected);
void rows_of_server_calls(pmix_status_t expected);
void rows_of_bad_calls(pmix_status_t expected);
void rows_of_bad_server_calls(pmix_status_t expected);
void rows_of_cleanup(pmix_status_t expected);
void calls_setup(void);
/* The same for tools. */
/* attach: of PMIx_tool_attach_to_server, which clients may call, too. */
void rows_of_good_tools(pmix_status_t expected, pmix_status_t attach);
void rows_of_bad_tools(pmix_status_t expected, pmix_status_t attach);

#endif
