/* SPDX-License-Identifier: BSD-3-Clause */
/* queried: what a server answers about its jobs, to queries and to the requests that newer clients make for
 * peers, nodes and refreshed values. */
#include "client.h"

#ifndef PMIX_QUERY_SUPPORTED_QUALIFIERS
#define PMIX_QUERY_SUPPORTED_QUALIFIERS "pmix.qry.quals"
#endif

/* Queries a key of the own job, and returns the first result. flag may be NULL. */
static pmix_status_t query(const char *key, const char *flag, pmix_info_t *first)
{
    pmix_info_t *results = NULL;
    pmix_query_t q;
    pmix_status_t rc;
    bool yes = true;
    size_t n = 0;

    PMIX_QUERY_CONSTRUCT(&q);
    PMIX_ARGV_APPEND(rc, q.keys, key);
    GOOD(rc);
    PMIX_QUERY_QUALIFIERS_CREATE(&q, flag ? 2 : 1);
    PMIX_INFO_LOAD(&q.qualifiers[0], PMIX_NSPACE, me.nspace, PMIX_STRING);
    if (flag)
        PMIX_INFO_LOAD(&q.qualifiers[1], flag, &yes, PMIX_BOOL);
    rc = PMIx_Query_info(&q, 1, &results, &n);
    PMIX_QUERY_DESTRUCT(&q);
    if (rc == PMIX_SUCCESS) {
        CHECK(n == 1 && PMIX_CHECK_KEY(&results[0], key));
        PMIX_INFO_XFER(first, &results[0]);
        PMIX_INFO_FREE(results, n);
    }
    return rc;
}

static bool has_text(const char *key, const char *part)
{
    pmix_info_t info;
    bool has;

    GOOD(query(key, NULL, &info));
    CHECK(info.value.type == PMIX_STRING);
    has = strstr(info.value.data.string, part) != NULL;
    PMIX_INFO_DESTRUCT(&info);
    return has;
}

static const pmix_data_array_t *array(pmix_info_t *info, pmix_data_type_t type)
{
    CHECK(info->value.type == PMIX_DATA_ARRAY && info->value.data.darray->type == type);
    return info->value.data.darray;
}

static void queries(void)
{
    const pmix_data_array_t *a;
    const pmix_proc_info_t *row;
    pmix_info_t info;

    CHECK(has_text(PMIX_QUERY_NAMESPACES, me.nspace));
    CHECK(has_text(PMIX_QUERY_SUPPORTED_KEYS, PMIX_QUERY_PROC_TABLE));
    CHECK(has_text(PMIX_QUERY_SPAWN_SUPPORT, PMIX_HOSTFILE));
    CHECK(has_text(PMIX_QUERY_DEBUG_SUPPORT, PMIX_DEBUG_STOP_IN_INIT));
    CHECK(has_text(PMIX_SERVER_URI, ";"));
    GOOD(query(PMIX_QUERY_PROC_TABLE, NULL, &info));
    a = array(&info, PMIX_PROC_INFO);
    CHECK(a->size == job_size);
    row = (const pmix_proc_info_t *)a->array + me.rank;
    CHECK(row->proc.rank == me.rank && row->pid == getpid() && row->hostname);
    CHECK(strstr(row->executable_name, "client"));
    CHECK(row->state == PMIX_PROC_STATE_CONNECTED);
    PMIX_INFO_DESTRUCT(&info);
    GOOD(query(PMIX_QUERY_NAMESPACE_INFO, NULL, &info));
    CHECK(array(&info, PMIX_INFO)->size == 1);
    PMIX_INFO_DESTRUCT(&info);
    GOOD(query(PMIX_QUERY_JOB_STATUS, NULL, &info));
    CHECK(info.value.type == PMIX_STATUS && info.value.data.status == PMIX_SUCCESS);
    GOOD(query(PMIX_QUERY_MEMORY_USAGE, PMIX_QUERY_REPORT_AVG, &info));
    a = array(&info, PMIX_INFO);
    CHECK(a->size == 2 && ((pmix_info_t *)a->array)[1].value.data.fval > 0);
    PMIX_INFO_DESTRUCT(&info);
    CHECK(query("example.none", NULL, &info) == PMIX_ERR_NOT_FOUND);
}

static void peers_and_nodes(void)
{
    pmix_value_t *host = NULL;
    pmix_proc_t *procs = NULL;
    char *nodes = NULL;
    size_t n = 0;

    GOOD(PMIx_Get(&me, PMIX_HOSTNAME, NULL, 0, &host));
    GOOD(PMIx_Resolve_peers(host->data.string, me.nspace, &procs, &n));
    CHECK(n == job_size && procs[n - 1].rank == n - 1);
    PMIX_PROC_FREE(procs, n);
    PMIX_VALUE_RELEASE(host);
    GOOD(PMIx_Resolve_nodes(me.nspace, &nodes));
    CHECK(nodes && nodes[0]);
    free(nodes);
}

/* Puts a value again after another rank has read it: a refresh gets the new one. */
static void refresh(void)
{
#ifdef PMIX_GET_REFRESH_CACHE
    pmix_info_t how = info_bool(PMIX_GET_REFRESH_CACHE);
    pmix_proc_t next = rank_of(next_rank());
    pmix_value_t *size = NULL;

    GOOD(PMIx_Get(&everyone, PMIX_JOB_SIZE, &how, 1, &size));
    CHECK(size->data.uint32 == job_size);
    PMIX_VALUE_RELEASE(size);
    for (uint32_t i = 1; i <= 2; i++) {
        pmix_value_t value = {.type = PMIX_UINT32, .data.uint32 = i}, *v = NULL;

        GOOD(PMIx_Put(PMIX_GLOBAL, "turn", &value));
        GOOD(PMIx_Commit());
        GOOD(PMIx_Fence(&everyone, 1, NULL, 0));
        GOOD(PMIx_Get(&next, "turn", &how, 1, &v));
        CHECK(v->data.uint32 == i);
        PMIX_VALUE_RELEASE(v);
        GOOD(PMIx_Fence(&everyone, 1, NULL, 0));
    }
#endif
}

JOINS(queried)
{
    (void)argc;
    (void)argv;
    GOOD(PMIx_Fence(&everyone, 1, NULL, 0));
    queries();
    peers_and_nodes();
    refresh();
    GOOD(PMIx_Fence(&everyone, 1, NULL, 0));
}
