/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a running server, which this program asks as a tool. */
#include "contrib/tools/pmix_info/info.h"

#include "contrib/tools/toolkit.h"
#include "pmix_tool.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { LIMIT_S = 60 };

/* Ends the program if the server does not answer in time. */
static void *on_limit(void *arg PX_UNUSED)
{
    static const char text[] = "pmix_info: the server has not answered in time\n";

    sleep(LIMIT_S);
    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
    _exit(EXIT_TIMEOUT);
}

/* Keeps the only answer among the results. */
static void keep(struct info *info, pid_t pid, pmix_info_t *results, size_t n)
{
    const pmix_data_array_t *array = n == 1 && results->value.type == PMIX_DATA_ARRAY
                                         ? results->value.data.darray
                                         : NULL;

    if (!array || array->type != PMIX_INFO)
        fail("cannot read the state of server %d: expected an array of infos",
             (int)pid);
    info->host = array->array;
    info->n_host = array->size;
}

void host_ask(struct info *info, pid_t pid)
{
    char *keys[] = {need_text("%s", TENON_QUERY_SERVER), NULL};
    pmix_query_t query = {.keys = keys};
    pmix_info_t *results = NULL, server;
    pmix_proc_t self;
    pthread_t limit;
    size_t n = 0;

    if (pthread_create(&limit, NULL, on_limit, NULL))
        fail("cannot start a thread");
    PMIx_Info_load(&server, PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
    pmix_status_t rc = PMIx_tool_init(&self, &server, 1);
    if (rc) /* the library has logged the reason */
        fail("cannot connect to server %d: %s", (int)pid, PMIx_Error_string(rc));
    rc = PMIx_Query_info(&query, 1, &results, &n);
    (void)PMIx_tool_finalize();
    if (rc)
        fail("cannot get the state of server %d: %s", (int)pid, PMIx_Error_string(rc));
    keep(info, pid, results, n);
    free(keys[0]);
}

char *host_text(const pmix_value_t *v)
{
    return v->type == PMIX_STRING && v->data.string
               ? need_text("%s", v->data.string)
               : need_text("%llu", v->type == PMIX_UINT64
                                       ? (unsigned long long)v->data.uint64
                                       : 0ull);
}
