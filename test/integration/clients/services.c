/* SPDX-License-Identifier: BSD-3-Clause */
/* services SERVER: what only some hosts offer, asked of host/services_host.c by two
 * ranks: forwarded output and input, process sets, values of every job, groups. SERVER
 * is "ours" or "debian": that of release 4.2.2 constructs groups, which ours does not
 * yet, but leaves queries about sets to the host. */
#include "client.h"

#include <pmix_tool.h>

static atomic_int n_pieces, bad_piece, told_late, registered, answered;
static char text[64];
static size_t handler, set_size, piece_id;
static pmix_status_t status_of;

static void on_bytes(size_t id, pmix_iof_channel_t channel, pmix_proc_t *source,
                     pmix_byte_object_t *payload, pmix_info_t info[], size_t n_info)
{
    (void)info, (void)n_info;
    piece_id = id;
    bad_piece |= channel != PMIX_FWD_STDOUT_CHANNEL || source->rank != 1 ||
                 payload->size >= sizeof text;
    if (!bad_piece && payload->size) {
        memcpy(text, payload->bytes, payload->size);
        text[payload->size] = '\0';
    }
    n_pieces++;
}

static void on_registered(pmix_status_t status, size_t id, void *arg)
{
    (void)arg;
    status_of = status;
    handler = id;
    registered = 1;
}

static void on_done(pmix_status_t status, void *arg)
{
    (void)arg;
    status_of = status;
    answered = 1;
}

/* A server may tell of sets that were defined before, too. */
static void on_set(size_t id, pmix_status_t status, const pmix_proc_t *from,
                   pmix_info_t info[], size_t n_info, pmix_info_t results[],
                   size_t n_results, pmix_event_notification_cbfunc_fn_t done,
                   void *arg)
{
    int is_late = 0;

    (void)id, (void)status, (void)from, (void)results, (void)n_results;
    for (size_t i = 0; i < n_info; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_PSET_NAME))
            is_late = strcmp(info[i].value.data.string, "late") == 0;
        if (PMIX_CHECK_KEY(&info[i], PMIX_PSET_MEMBERS))
            set_size = info[i].value.data.darray->size;
    }
    if (is_late)
        told_late = 1;
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

/* ---- forwarding ------------------------------------------------------------------------ */

/* What arrives at the host as input of rank 1 it treats as rank 1's output. */
static void push(const char *what)
{
    pmix_proc_t target = rank_of(1);
    pmix_byte_object_t bo;

    bo.bytes = (char *)what;
    bo.size = strlen(what);
    answered = 0;
    GOOD(PMIx_IOF_push(&target, 1, &bo, NULL, 0, on_done, NULL));
    CHECK(wait_for(&answered, 10));
    GOOD(status_of);
}

static void streams(bool ours)
{
    pmix_proc_t source = rank_of(1);
    pmix_status_t rc;

    registered = 0;
    GOOD(PMIx_IOF_pull(&source, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_bytes,
                       on_registered, NULL));
    CHECK(wait_for(&registered, 10));
    GOOD(status_of);
    push("hello");
    CHECK(wait_for(&n_pieces, 10));
    CHECK(!bad_piece);
    CHECK(strcmp(text, "hello") == 0);
    CHECK(piece_id == handler);
    answered = 0;
    rc = PMIx_IOF_deregister(handler, NULL, 0, on_done, NULL);
    CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED);
    if (!rc) {
        CHECK(wait_for(&answered, 10));
        if (ours) /* the other server leaves this status to chance */
            GOOD(status_of);
    }
    push("again"); /* to nobody any more */
}

/* ---- process sets ----------------------------------------------------------------------- */

static size_t query(const char *key, const char *set, pmix_info_t **results)
{
    pmix_query_t q;
    size_t n = 0;

    PMIX_QUERY_CONSTRUCT(&q);
    PMIX_ARGV_APPEND(status_of, q.keys, key);
    if (set) {
        PMIX_QUERY_QUALIFIERS_CREATE(&q, 1);
        PMIX_INFO_LOAD(&q.qualifiers[0], PMIX_PSET_NAME, set, PMIX_STRING);
    }
    GOOD(PMIx_Query_info(&q, 1, results, &n));
    PMIX_QUERY_DESTRUCT(&q);
    CHECK(n >= 1);
    return n;
}

static void sets(void)
{
    pmix_info_t *results = NULL;
    pmix_data_array_t *array;
    size_t n = query(PMIX_QUERY_NUM_PSETS, NULL, &results);

    CHECK(results[0].value.type == PMIX_SIZE && results[0].value.data.size >= 1);
    PMIX_INFO_FREE(results, n);
    n = query(PMIX_QUERY_PSET_NAMES, NULL, &results);
    array = results[0].value.data.darray;
    CHECK(array->type == PMIX_STRING && array->size >= 1);
    CHECK(strcmp(((char **)array->array)[0], "pair") == 0);
    PMIX_INFO_FREE(results, n);
    n = query(PMIX_QUERY_PSET_MEMBERSHIP, "pair", &results);
    array = results[0].value.data.darray;
    CHECK(array->type == PMIX_PROC && array->size == 2);
    CHECK(((pmix_proc_t *)array->array)[1].rank == 1);
    PMIX_INFO_FREE(results, n);
}

static void set_events(void)
{
    pmix_status_t code = PMIX_PROCESS_SET_DEFINE;

    registered = 0;
    PMIx_Register_event_handler(&code, 1, NULL, 0, on_set, on_registered, NULL);
    CHECK(wait_for(&registered, 10));
    GOOD(status_of);
    barrier();
    if (me.rank == 0)
        push("define"); /* the host's word for it */
    CHECK(wait_for(&told_late, 10));
    CHECK(set_size == 2);
}

/* ---- groups ------------------------------------------------------------------------------ */

static void groups(bool served)
{
    pmix_proc_t procs[2] = {rank_of(0), rank_of(1)};
    pmix_info_t *results = NULL;
    size_t n = 0;
    pmix_status_t rc = PMIx_Group_construct("sea", procs, 2, NULL, 0, &results, &n);

    CHECK(rc == (served ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED));
    if (results)
        PMIX_INFO_FREE(results, n);
    EXPECT(PMIx_Group_destruct("sea", NULL, 0),
           served ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED);
    CHECK(PMIx_Group_leave("sea", NULL, 0) != PMIX_SUCCESS);
}

int main(int argc, char **argv)
{
    bool ours = argc > 1 && strcmp(argv[1], "ours") == 0;
    pmix_value_t *v = NULL;

    begin();
    CHECK(job_size == 2);
    if (ours)
        sets();
    GOOD(PMIx_Get(&everyone, PMIX_CLUSTER_ID, NULL, 0, &v));
    CHECK(v->type == PMIX_STRING && strcmp(v->data.string, "west") == 0);
    PMIX_VALUE_RELEASE(v);
    if (me.rank == 0)
        streams(ours);
    barrier();
    set_events();
    groups(!ours);
    barrier();
    return end("services");
}
