/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows: a call with invalid arguments, and its expected result. A row is a line. badinput.c reads the name
 * of the function from the text of the line, and finds functions without a row. All rows use the installed
 * headers and the shared library, as a user's program does. */
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

/* A call that returns a status, a number or a pointer. */
#define IS(expected, call)                                                 \
    row_number(__FILE__, __LINE__, #call, (long long)(intptr_t)(expected), \
               (long long)(intptr_t)(call));
#define BAD(call)     IS(PMIX_ERR_BAD_PARAM, call)
#define UNKNOWN(call) IS(PMIX_ERR_UNKNOWN_DATA_TYPE, call)
/* A call without a result, which must return. */
#define RUNS(call)                                   \
    do {                                             \
        call;                                        \
        row_number(__FILE__, __LINE__, #call, 0, 0); \
    } while (0);
/* Calls that return constant text, or text to free. */
#define TEXT(expected, call)  row_text(__FILE__, __LINE__, #call, expected, call);
#define FREED(expected, call) row_freed(__FILE__, __LINE__, #call, expected, call);
/* A condition after a call. */
#define SO(condition) \
    row_number(__FILE__, __LINE__, #condition, 1, (condition) ? 1 : 0);

void row_number(const char *file, int line, const char *call, long long expected,
                long long got);
void row_text(const char *file, int line, const char *call, const char *expected,
              const char *got);
void row_freed(const char *file, int line, const char *call, const char *expected,
               char *got);

/* Numbers that are not data types: in the holes of the numbering, after the last type, and the extremes. */
extern const pmix_data_type_t no_types[];
enum { N_NO_TYPES = 6 };

/* Tables of functions that do not need an initialized library. */
void rows_of_life(void);    /* life.c: construct, create, destruct, free */
void rows_of_values(void);  /* values.c: values, infos, lists, arrays */
void rows_of_names(void);   /* names.c: processes, keys, argv, texts */
void rows_of_buffers(void); /* buffers.c: PMIx_Data_* */
void rows_of_damaged_buffers(void);

/* Callbacks and handlers in the calls of calls.c. Each program defines its own. */
extern const struct row_callbacks {
    pmix_op_cbfunc_t op;
    pmix_value_cbfunc_t value;
    pmix_lookup_cbfunc_t lookup;
    pmix_spawn_cbfunc_t spawn;
    pmix_connect_cbfunc_t joint;
    pmix_info_cbfunc_t info;
    pmix_hdlr_reg_cbfunc_t handler;
    pmix_setup_application_cbfunc_t setup;
    pmix_dmodex_response_fn_t dmodex;
    pmix_notification_fn_t event;
    pmix_credential_cbfunc_t credential;
    pmix_validation_cbfunc_t validation;
    pmix_device_dist_cbfunc_t distances;
    pmix_iof_cbfunc_t iof;
} on;

/* calls.c: functions that need an initialized library. A good call is valid, but comes too early or in
 * another role. */
void rows_of_good_calls(pmix_status_t expected);
void rows_of_server_calls(pmix_status_t expected);
void rows_of_bad_calls(pmix_status_t expected);
void rows_of_bad_server_calls(pmix_status_t expected);
void rows_of_cleanup(pmix_status_t expected);
void calls_setup(void);
/* Sets the process and the namespace of later calls. */
void calls_of(const pmix_proc_t *self);
/* Frees the results of the last calls. cpuset: also the set of CPUs. */
void calls_drop(bool cpuset);
/* Calls of tools. attach: status of PMIx_tool_attach_to_server, which clients may call, too. */
void rows_of_good_tools(pmix_status_t expected, pmix_status_t attach);
void rows_of_bad_tools(pmix_status_t expected, pmix_status_t attach);

#endif
