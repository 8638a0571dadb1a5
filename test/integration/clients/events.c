/* SPDX-License-Identifier: BSD-3-Clause */
/* Events between ranks and from hosts, forwarded output and services of some hosts. */
#include "client.h"

/* ---- events: to the namespace with a payload, to one rank only, and to deregistered handlers;
 * also the requested order of handlers ----------------------------------------------------- */

#define EVENT_ALL  (PMIX_EXTERNAL_ERR_BASE - 11)
#define EVENT_ONE  (PMIX_EXTERNAL_ERR_BASE - 12)
#define EVENT_DONE (PMIX_EXTERNAL_ERR_BASE - 13)

static atomic_int n_all, n_first, n_one, n_done, wrong_order;
static _Atomic uint32_t payload;
static pmix_proc_t source;

HANDLER(on_first)
{
    n_first++;
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, arg);
}

HANDLER(on_all)
{
    const pmix_info_t *given = find(info, n, "my.payload");

    source = *from;
    if (given)
        payload = given->value.data.uint32;
    if (n_first != n_all + 1)
        wrong_order = 1;
    n_all++;
    HANDLED();
}

HANDLER(on_one_or_done)
{
    if (status == EVENT_ONE)
        n_one++;
    else
        n_done++;
    HANDLED();
}

/* Notifies an event that skips default handlers, since the host's may end the job. With our library, waits for the
 * server's answer: the other ranks do not wait for an event that is refused. */
static void notify(pmix_status_t code, pmix_data_range_t range, pmix_info_t extra)
{
    pmix_info_t info[2] = {info_bool(PMIX_EVENT_NON_DEFAULT), extra};
    pmix_status_t rc = PMIx_Notify_event(code, &me, range, info, 2,
                                         strict() ? on_done : NULL, NULL);

    if (strict())
        rc = result(rc);
    CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED);
}

static void to_the_namespace(void)
{
    pmix_info_t extra;
    uint32_t n = 77;

    PMIX_INFO_LOAD(&extra, "my.payload", &n, PMIX_UINT32);
    if (me.rank == 0)
        notify(EVENT_ALL, PMIX_RANGE_NAMESPACE, extra);
    CHECK(wait_for(&n_all, 10));
    CHECK(payload == 77 && source.rank == 0 && !wrong_order);
    barrier();
    CHECK(n_all == 1 && n_first == 1);
}

static void to_the_last_rank(void)
{
    pmix_proc_t last = rank_of(job_size - 1);
    pmix_data_array_t targets = {.type = PMIX_PROC, .size = 1, .array = &last};
    pmix_info_t extra;

    PMIX_INFO_LOAD(&extra, PMIX_EVENT_CUSTOM_RANGE, &targets, PMIX_DATA_ARRAY);
    if (me.rank == 0)
        notify(EVENT_ONE, PMIX_RANGE_CUSTOM, extra);
    if (me.rank == last.rank)
        CHECK(wait_for(&n_one, 10));
    barrier();
    sleep_ms(100);
    CHECK(n_one == (me.rank == last.rank));
    PMIX_INFO_DESTRUCT(&extra);
}

JOINS(events)
{
    pmix_status_t all = EVENT_ALL, two[] = {EVENT_ONE, EVENT_DONE};
    pmix_info_t first[2] = {info_bool(PMIX_EVENT_HDLR_FIRST), info_bool("unused")};
    pmix_info_t unused = info_bool("my.unused");
    size_t id = watch(&all, 1, NULL, 0, on_all);

    PMIX_INFO_LOAD(&first[1], PMIX_EVENT_HDLR_NAME, "first", PMIX_STRING);
    watch(&all, 1, first, 2, on_first);
    PMIX_INFO_DESTRUCT(&first[1]);
    watch(two, 2, NULL, 0, on_one_or_done);
    barrier();
    to_the_namespace();
    to_the_last_rank();
    barrier();
    PMIx_Deregister_event_handler(id, NULL, NULL);
    barrier();
    if (me.rank == 0) { /* the second event arrives after the first */
        notify(EVENT_ALL, PMIX_RANGE_NAMESPACE, unused);
        notify(EVENT_DONE, PMIX_RANGE_NAMESPACE, unused);
    }
    CHECK(wait_for(&n_done, 10));
    CHECK(n_all == 1);
    barrier();
}

/* ---- late: each rank notifies an event, then registers a handler for the same event --------- */

JOINS(late)
{
    pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 30 - (pmix_status_t)me.rank;
    pmix_info_t unused = info_bool("my.unused");

    notify(code, PMIX_RANGE_NAMESPACE, unused);
    watch(&code, 1, NULL, 0, on_first);
    CHECK(wait_for(&n_first, 10));
    barrier();
    sleep_ms(100);
    CHECK(n_first == 1 || !strict());
}

/* ---- listener: commits a value, waits for an event of the host, sends an event back ------- */

#define FROM_HOST (PMIX_EXTERNAL_ERR_BASE - 21)
#define TO_HOST   (PMIX_EXTERNAL_ERR_BASE - 22)

static atomic_int n_host_events;

HANDLER(on_hosts_event)
{
    source = *from;
    n_host_events++;
    HANDLED();
}

JOINS(listener)
{
    pmix_status_t code = FROM_HOST, rc;

    watch(&code, 1, NULL, 0, on_hosts_event);
    put_u32(PMIX_GLOBAL, "listening", me.rank + 7);
    GOOD(PMIx_Commit());
    CHECK(wait_for(&n_host_events, 20));
    CHECK(!PMIX_CHECK_NSPACE(source.nspace, me.nspace));
    rc = PMIx_Notify_event(TO_HOST, &me, PMIX_RANGE_GLOBAL, NULL, 0, NULL, NULL);
    CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED);
    barrier();
    CHECK(n_host_events == 1);
}

/* ---- services SERVER: services that only some hosts offer, used by two ranks under minihost:
 * forwarded output and input, process sets, values of every job, groups. SERVER is "ours" or
 * "debian". Release 4.2.2 ("debian") leaves queries about sets to the host. ----------------------------------------------------------- */

static atomic_int n_pieces, bad_piece, late_set_defined, late_set_deleted;
static char text[64];
static size_t set_size, piece_id;

static void on_bytes(size_t id, pmix_iof_channel_t channel, pmix_proc_t *of,
                     pmix_byte_object_t *bytes, pmix_info_t info[], size_t n_info)
{
    piece_id = id;
    bad_piece |= channel != PMIX_FWD_STDOUT_CHANNEL || of->rank != 1 ||
                 bytes->size >= sizeof(text);
    if (!bad_piece && bytes->size)
        snprintf(text, sizeof(text), "%.*s", (int)bytes->size, bytes->bytes);
    n_pieces++;
}

/* A server may also notify sets that were defined before the registration. */
HANDLER(on_set)
{
    const pmix_info_t *name = find(info, n, PMIX_PSET_NAME);
    const pmix_info_t *members = find(info, n, PMIX_PSET_MEMBERS);

    if (members)
        set_size = members->value.data.darray->size;
    if (name && strcmp(name->value.data.string, "late") == 0 &&
        status == PMIX_PROCESS_SET_DEFINE)
        late_set_defined = 1;
    if (name && strcmp(name->value.data.string, "late") == 0 &&
        status == PMIX_PROCESS_SET_DELETE)
        late_set_deleted = 1;
    HANDLED();
}

/* Pushes input to rank 1, which the host delivers as output of rank 1. */
static void push(const char *what)
{
    pmix_proc_t target = rank_of(1);
    pmix_byte_object_t bo;

    bo.bytes = (char *)what;
    bo.size = strlen(what);
    GOOD(result(PMIx_IOF_push(&target, 1, &bo, NULL, 0, on_done, NULL)));
}

static void streams(bool ours)
{
    pmix_proc_t of = rank_of(1);
    size_t id = registered(PMIx_IOF_pull(&of, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL,
                                         on_bytes, on_registered, NULL));
    pmix_status_t rc;

    push("hello");
    CHECK(wait_for(&n_pieces, 10));
    CHECK(!bad_piece);
    CHECK(strcmp(text, "hello") == 0);
    CHECK(piece_id == id);
    rc = PMIx_IOF_deregister(id, NULL, 0, on_done, NULL);
    CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED);
    rc = result(rc);
    if (ours) /* release 4.2.2 returns a random status */
        CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED);
    push("again"); /* no receiver is left */
}

/* Queries a key, of one set if set is not NULL, and returns the first result. */
static void query(const char *key, const char *set, pmix_info_t *first)
{
    pmix_info_t *results = NULL;
    pmix_query_t q;
    pmix_status_t rc;
    size_t n = 0;

    PMIX_QUERY_CONSTRUCT(&q);
    PMIX_ARGV_APPEND(rc, q.keys, key);
    GOOD(rc);
    if (set) {
        PMIX_QUERY_QUALIFIERS_CREATE(&q, 1);
        PMIX_INFO_LOAD(&q.qualifiers[0], PMIX_PSET_NAME, set, PMIX_STRING);
    }
    GOOD(PMIx_Query_info(&q, 1, &results, &n));
    PMIX_QUERY_DESTRUCT(&q);
    CHECK(n >= 1);
    PMIX_INFO_XFER(first, &results[0]);
    PMIX_INFO_FREE(results, n);
}

static void sets(void)
{
    pmix_info_t number, names, members;
    pmix_data_array_t *array;

    query(PMIX_QUERY_NUM_PSETS, NULL, &number);
    CHECK(number.value.type == PMIX_SIZE && number.value.data.size >= 1);
    query(PMIX_QUERY_PSET_NAMES, NULL, &names);
    array = names.value.data.darray;
    CHECK(array->type == PMIX_STRING && array->size >= 1);
    CHECK(strcmp(((char **)array->array)[0], "pair") == 0);
    query(PMIX_QUERY_PSET_MEMBERSHIP, "pair", &members);
    array = members.value.data.darray;
    CHECK(array->type == PMIX_PROC && array->size == 2);
    CHECK(((pmix_proc_t *)array->array)[1].rank == 1);
    PMIX_INFO_DESTRUCT(&names);
    PMIX_INFO_DESTRUCT(&members);
}

static void groups(void)
{
    pmix_proc_t procs[2] = {rank_of(0), rank_of(1)};
    pmix_info_t *results = NULL;
    size_t n = 0;

    GOOD(PMIx_Group_construct("sea", procs, 2, NULL, 0, &results, &n));
    if (results)
        PMIX_INFO_FREE(results, n);
    GOOD(PMIx_Group_destruct("sea", NULL, 0));
    CHECK(PMIx_Group_leave("sea", NULL, 0) != PMIX_SUCCESS);
}

JOINS(services)
{
    bool ours = argc > 1 && strcmp(argv[1], "ours") == 0;
    pmix_status_t codes[] = {PMIX_PROCESS_SET_DEFINE, PMIX_PROCESS_SET_DELETE};

    CHECK(job_size == 2);
    if (ours) {
        sets();
        TEXT_IS(1, "site.key", "of rank 1");
    }
    TEXT_IS(PMIX_RANK_WILDCARD, PMIX_CLUSTER_ID, "west");
    if (me.rank == 0)
        streams(ours);
    barrier();
    watch(codes, 2, NULL, 0, on_set);
    barrier();
    if (me.rank == 0)
        push("define"); /* makes the host define a set */
    CHECK(wait_for(&late_set_defined, 10));
    CHECK(set_size == 2);
    barrier();
    if (ours && me.rank == 0)
        push("delete");
    CHECK(!ours || wait_for(&late_set_deleted, 10));
    groups();
    barrier();
}

JOINS(cluster)
{
    pmix_value_t *v = NULL;

    if (argc > 1)
        TEXT_IS(PMIX_RANK_WILDCARD, PMIX_CLUSTER_ID, argv[1]);
    else
        EXPECT(PMIx_Get(&everyone, PMIX_CLUSTER_ID, NULL, 0, &v), PMIX_ERR_NOT_FOUND);
}
