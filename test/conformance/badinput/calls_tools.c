/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of tools: good calls, for processes that are none, and calls with arguments that
 * make no sense. And the library's own thread. */
#include "rows.h"

#include <check.h>

static pmix_proc_t proc = {.nspace = "ns"}, server, *servers;
static pmix_server_module_t module;
static size_t n;

/* clang-format off */
#define GOOD_TOOLS(X)                                                                     \
    X(PMIx_tool_finalize())                                                               \
    X(PMIx_tool_attach_to_server(NULL, NULL, NULL, 0))                                    \
    X(PMIx_tool_connect_to_server(NULL, NULL, 0))                                         \
    X(PMIx_tool_disconnect(&proc))                                                        \
    X(PMIx_tool_get_servers(&servers, &n))                                                \
    X(PMIx_tool_set_server(&proc, NULL, 0))                                               \
    X(PMIx_tool_set_server_module(&module))

#define BAD_TOOLS(X)                                                                      \
    X(PMIx_tool_attach_to_server(&proc, &server, NULL, 1))                                \
    X(PMIx_tool_connect_to_server(&proc, NULL, 1))                                        \
    X(PMIx_tool_disconnect(NULL))                                                         \
    X(PMIx_tool_get_servers(NULL, &n))                                                    \
    X(PMIx_tool_get_servers(&servers, NULL))                                              \
    X(PMIx_tool_set_server(NULL, NULL, 0))                                                \
    X(PMIx_tool_set_server(&proc, NULL, 1))                                               \
    X(PMIx_tool_set_server_module(NULL))
/* clang-format on */

#define ROW(call) IS(expected, call)

void rows_of_good_tools(pmix_status_t expected)
{
    GOOD_TOOLS(ROW)
    IS(false, PMIx_tool_is_connected())
    SO(!servers && n == 0)
    RUNS(PMIx_Progress_thread_stop(NULL, 0)) /* whoever waits drives it from now on */
}

void rows_of_bad_tools(pmix_status_t expected)
{
    pmix_info_t other;

    BAD_TOOLS(ROW)
    SO(!servers && n == 0 && !server.nspace[0] && strcmp(proc.nspace, "ns") == 0)
    IS(PMIX_ERR_BAD_PARAM, PMIx_tool_init(NULL, NULL, 1))
    RUNS(PMIx_Progress_thread_stop(NULL, 1))
    RUNS(PMIx_Progress_thread_stop(NULL, SIZE_MAX))
    PMIx_Info_load(&other, PMIX_PROGRESS_THREAD_NAME, "of another library",
                   PMIX_STRING);
    RUNS(PMIx_Progress_thread_stop(&other, 1))
    PMIx_Info_destruct(&other);
}
