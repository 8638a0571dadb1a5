/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwarded output and input, to and from clients that use protocol messages. At any pace, each
 * byte arrives once and in order, or the server reports the number of lost bytes. */
#include "core/rt/process.h"
#include "core/server/iof/server_iof.h"
#include "core/server/peer/peer.h"
#include "iof_scene.h"

#include "alloc_fail.h"

#include <fcntl.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>

#define K 1024

/* ---- numbered bytes --------------------------------------------------------------------------------- */

/* Fills iof_chunk. Each word of a stream is its number, so that a lost, repeated or misplaced byte
 * shows. */
static void number(size_t n, uint64_t *next)
{
    for (size_t at = 0; at < n; at += sizeof(*next), ++*next)
        memcpy(iof_chunk + at, next, sizeof(*next));
}

static void check_numbers(const struct scene_piece *p, uint64_t *next)
{
    *next += p->dropped / sizeof(*next);
    for (const uint8_t *at = p->bytes.pos; at < p->bytes.end; at += sizeof(*next)) {
        uint64_t word;

        memcpy(&word, at, sizeof(word));
        if (word != *next) /* each check of Check is a system call */
            ck_abort_msg("word %llu at %llu", (unsigned long long)word,
                         (unsigned long long)*next);
        ++*next;
    }
}

static void read_numbers(int fd, uint64_t until, uint64_t *next)
{
    while (*next < until) {
        struct scene_piece p = scene_next_piece(fd);

        check_numbers(&p, next);
    }
}

/* ---- a host with a thread that writes ------------------------------------------------------------------ */

static struct writer {
    pmix_rank_t rank;
    bool waits; /* in the call; otherwise for the callback */
    uint64_t next;
    atomic_uint n, n_done; /* numbers of pieces */
    pmix_status_t status;
    pthread_t thread;
    sem_t answered;
} writer;

static void on_answered(pmix_status_t status, void *cbdata)
{
    struct writer *w = cbdata;

    w->status = status;
    sem_post(&w->answered);
}

static void *write_all(void *arg)
{
    struct writer *w = arg;

    for (; w->n_done < w->n && (!w->status || w->status == PMIX_ERR_PARTIAL_SUCCESS);
         w->n_done++) {
        pmix_status_t rc;

        number(IOF_CHUNK_B, &w->next);
        rc = iof_deliver(w->rank, OUT, IOF_CHUNK_B, NULL, w->waits ? NULL : on_answered,
                         w);
        if (w->waits || rc)
            w->status = rc;
        else
            sem_wait(&w->answered);
    }
    return NULL;
}

static void start_writer(pmix_rank_t rank, unsigned n, bool waits)
{
    writer = (struct writer){.rank = rank, .n = n, .waits = waits};
    sem_init(&writer.answered, 0, 0);
    ok(pthread_create(&writer.thread, NULL, write_all, &writer));
}

static pmix_status_t end_writer(void)
{
    pthread_join(writer.thread, NULL);
    return writer.status;
}

static void probe_full(void *arg)
{
    struct px_relay *relay = px_process.server->part.relay;
    pmix_proc_t source = raw_proc("job", writer.rank);
    const struct px_backlog *backlog = px_backlog_find(&relay->backlogs, &source);

    *(bool *)arg = backlog && !px_list_empty(&backlog->waiting);
}

/* Waits until the backlog of the writer is full. */
static void await_full(void)
{
    bool full = false;

    for (; !full; sched_yield())
        raw_on_loop(probe_full, &full);
}

static void probe_kept(void *arg)
{
    const struct px_backlogs *backlogs = &px_process.server->part.relay->backlogs;

    ck_assert_uint_eq(backlogs->kept_b > 0, backlogs->map.n_used > 0);
    *(size_t *)arg = backlogs->kept_b;
}

static size_t kept_b(void)
{
    size_t b = 0;

    raw_on_loop(probe_kept, &b);
    return b;
}

/* ---- nothing is lost -------------------------------------------------------------------------------- */

PX_TEST_LOOP(a_host_that_is_faster_than_the_reader_loses_nothing, 2)
{
    unsigned n = px_test_times(512, 4096);
    uint64_t next = 0;

    iof_start();
    (void)iof_pull(one, 2, OUT, 1);
    start_writer(2, n, _i);
    await_full();
    ck_assert_uint_le(kept_b(), IOF_STREAM_B + IOF_CHUNK_B);
    read_numbers(one, (uint64_t)n * IOF_CHUNK_B / 8, &next);
    ok(end_writer());
    ck_assert(raw_quiet(one));
    ck_assert_uint_eq(kept_b(), 0);
}

PX_TEST(one_that_does_not_read_holds_up_neither_other_streams_nor_the_server)
{
    uint64_t next = 0, taken;

    iof_start();
    (void)iof_pull(one, 2, OUT, 1);
    (void)iof_pull(one, 1, OUT, 2);
    (void)iof_pull(two, 0, OUT, 3);
    start_writer(2, 128, true);
    await_full();
    number(8, &next);
    for (int i = 0; i < 100; i++)
        ok(iof_deliver(0, OUT, 8, NULL, NULL, NULL));
    for (int i = 0; i < 100; i++)
        ck_assert_uint_eq(scene_next_piece(two).n, 8);
    /* The other stream of the slow reader has its turn after each piece of the first stream. */
    taken = (uint64_t)writer.n_done * IOF_CHUNK_B / 8;
    ok(iof_deliver(1, OUT, 8, NULL, NULL, NULL));
    next = 0;
    for (bool seen = false; !seen || next < 128u * IOF_CHUNK_B / 8;) {
        struct scene_piece p = scene_next_piece(one);

        if (p.source.rank == 1)
            seen = true;
        else
            check_numbers(&p, &next);
        ck_assert(seen || next < taken - IOF_STREAM_B / 8 / 2);
    }
    ok(end_writer());
}

static pmix_status_t statuses[64];
static atomic_uint n_answers;

static void on_status(pmix_status_t status, void *cbdata)
{
    *(pmix_status_t *)cbdata = status;
    n_answers++;
}

/* Each request gets all its output in order. Requests of one process may overlap, and a request may
 * come before its job is known. */
PX_TEST(requests_that_overlap_get_all_they_ask_for_each)
{
    enum { N = 40 };
    uint64_t got[3] = {0}, by_two = 0;

    iof_start();
    raw_drop_job("job"); /* and all its connections */
    raw_add_job("tools", 2, 0, geteuid());
    for (int i = 0; i < 2; i++)
        *(i ? &two : &one) = raw_client_of("tools", (pmix_rank_t)i);
    (void)iof_pull(one, 2, OUT, 1);
    (void)iof_pull(one, PMIX_RANK_WILDCARD, OUT | ERR, 2);
    raw_add_job("job", 3, 0, geteuid());
    (void)iof_pull_cached(two, PMIX_RANK_WILDCARD, OUT, 3, PMIX_IOF_DROP_OLDEST, 1);
    writer = (struct writer){0};
    start_writer(2, N, true);
    while (got[1] < N * IOF_CHUNK_B / 8 || got[2] < N * IOF_CHUNK_B / 8) {
        struct scene_piece p = scene_next_piece(one);

        ck_assert(p.id == 1 || p.id == 2);
        check_numbers(&p, &got[p.id]);
    }
    ck_assert(end_writer() == PMIX_SUCCESS ||
              writer.status == PMIX_ERR_PARTIAL_SUCCESS);
    ok(iof_deliver(2, OUT, 0, NULL, NULL, NULL));
    for (struct scene_piece p = {.n = 1}; p.n > 0;) {
        p = scene_next_piece(two);
        check_numbers(&p, &by_two);
    }
    ck_assert_uint_eq(by_two, N * IOF_CHUNK_B / 8);
}

/* A host that does not wait for callbacks is refused after twice the limit. Refused output is not
 * lost, as the host may deliver it again. */
PX_TEST(a_host_that_does_not_wait_is_refused)
{
    uint64_t next = 0, got = 0;
    unsigned n_refused = 0, n_held, n = PX_COUNT(statuses);

    iof_start();
    (void)iof_pull(one, 2, OUT, 1);
    for (unsigned i = 0; i < n; i++) {
        statuses[i] = 1;
        number(IOF_CHUNK_B, &next);
        ok(iof_deliver(2, OUT, IOF_CHUNK_B, NULL, on_status, &statuses[i]));
    }
    raw_on_loop(NULL, NULL);
    n_held = n - n_answers;
    for (unsigned i = 0; i < n; i++)
        n_refused += statuses[i] == PMIX_ERR_OUT_OF_RESOURCE;
    ck_assert_uint_eq(n_held, IOF_STREAM_B / IOF_CHUNK_B);
    ck_assert_uint_gt(n_refused, 0);
    read_numbers(one, (uint64_t)(n - n_refused) * IOF_CHUNK_B / 8, &got);
    raw_on_loop(NULL, NULL);
    ck_assert_uint_eq(n_answers, n);
    for (unsigned i = 0; i < n - n_refused; i++)
        ok(statuses[i]);
    ck_assert(raw_quiet(one));
}

PX_TEST(a_callback_that_cannot_wait_is_refused_when_there_is_no_room)
{
    struct iof_filled inside = {0};

    iof_start();
    (void)iof_pull(one, 2, OUT, 1);
    raw_on_loop(iof_fill, &inside);
    fails(inside.status, OUT_OF_RESOURCE);
    ck_assert_uint_ge(inside.n, IOF_STREAM_B / IOF_CHUNK_B);
    for (unsigned i = 0; i < inside.n; i++)
        ck_assert_uint_eq(scene_next_piece(one).n, IOF_CHUNK_B);
    ck_assert(raw_quiet(one));
    ok(iof_deliver(2, OUT, 8, NULL, NULL, NULL));
}

/* ---- the end of waiting ------------------------------------------------------------------------------- */

static void shut_one(void)
{
    close(one);
    raw_await_gone(0);
}

static void stay(void)
{
}

static const struct {
    const char *name, *timeout;
    void (*act)(void);
    pmix_status_t status;
} ends[] = {
    {"its reader goes", "1h", shut_one, PMIX_SUCCESS},
    {"its reader is cut off, as it never reads", "1200ms", stay, PMIX_SUCCESS},
    {"the server ends", "1h", raw_server_stop, PMIX_ERR_LOST_CONNECTION},
};

PX_TEST_LOOP(a_delivery_that_waits_ends_when, 3)
{
    setenv("PMIX_MCA_server_unread_timeout", ends[_i].timeout, 1);
    setenv("PMIX_MCA_iof_drain_timeout", "20ms", 1);
    iof_start();
    (void)iof_pull(one, 2, OUT, 1);
    writer = (struct writer){0};
    start_writer(2, 400, true);
    await_full();
    writer.n = writer.n_done + 1;
    ends[_i].act();
    ck_assert_int_eq(end_writer(), ends[_i].status);
}

static void *stop_server(void *arg)
{
    raw_server_stop();
    return arg;
}

/* The server sends all accepted output before it ends. */
PX_TEST(a_server_that_ends_has_sent_what_it_took)
{
    uint64_t next = 0, got = 0;
    pthread_t thread;

    iof_start();
    (void)iof_pull(one, 2, OUT, 1);
    while (kept_b() < IOF_STREAM_B) {
        number(IOF_CHUNK_B, &next);
        ok(iof_deliver(2, OUT, IOF_CHUNK_B, NULL, NULL, NULL));
    }
    ok(pthread_create(&thread, NULL, stop_server, NULL));
    read_numbers(one, next, &got);
    pthread_join(thread, NULL);
    ck_assert(raw_closed(one));
}

PX_TEST(a_job_that_goes_leaves_its_readers_what_it_wrote)
{
    pmix_proc_t theirs = raw_proc("other", 0);
    pmix_byte_object_t bo = {.bytes = iof_chunk, .size = IOF_CHUNK_B};
    uint64_t next = 0, got = 0;
    unsigned n = 0;

    iof_start();
    raw_add_job("other", 1, 0, geteuid());
    ok(iof_deliver(1, OUT, 100, NULL, NULL, NULL)); /* no process pulls this output */
    ok(raw_request(one, scene_pull_of(&theirs, 1, OUT, 1, NULL), NULL));
    for (; kept_b() < IOF_STREAM_B; n++) {
        number(IOF_CHUNK_B, &next);
        at_once(PMIx_server_IOF_deliver(&theirs, OUT, &bo, NULL, 0, NULL, NULL));
    }
    raw_drop_job("other");
    ck_assert_uint_ge(kept_b(), IOF_STREAM_B);
    read_numbers(one, next, &got);
    ck_assert(raw_quiet(one));
    raw_drop_job("job");
    ck_assert_uint_eq(kept_b(), 0);
    ck_assert(raw_closed(one));
    fails(iof_deliver(1, OUT, 8, NULL, NULL, NULL), NOT_FOUND);
}

PX_TEST(a_request_that_is_given_up_gets_first_what_there_is)
{
    uint64_t next = 0, got = 0;

    iof_start();
    size_t id = iof_pull(one, 2, OUT, 1);
    while (kept_b() < IOF_STREAM_B) {
        number(IOF_CHUNK_B, &next);
        ok(iof_deliver(2, OUT, IOF_CHUNK_B, NULL, NULL, NULL));
    }
    raw_send(one, 777, iof_make_stop(id));
    raw_on_loop(NULL, NULL);
    ck_assert_uint_eq(host_calls("iof_pull"), 1);
    read_numbers(one, next, &got);
    ok(raw_status(one, 777));
    ck_assert_uint_eq(host_calls("iof_pull"), 2);
    fails(iof_stop(one, id), BAD_PARAM);
}

/* The finalize is still answered, and the client gets the output that its connection has. */
PX_TEST(a_finalize_whose_output_is_not_read_is_answered_after_the_limit_with_a_line)
{
    PX_AUTOCLOSE int log = open(px_test_path("log"), O_CREAT | O_RDWR | O_APPEND, 0600);
    char text[4096] = "";

    setenv("PMIX_MCA_iof_drain_timeout", "1s", 1);
    iof_start();
    (void)iof_pull(one, 2, OUT, 1);
    while (kept_b() < IOF_STREAM_B)
        ok(iof_deliver(2, OUT, IOF_CHUNK_B, NULL, NULL, NULL));
    ck_assert_int_eq(dup2(log, STDERR_FILENO), STDERR_FILENO);
    raw_send(one, 778, raw_begin(PX_OP_FINALIZE));
    while (!strstr(text, "\n")) {
        ck_assert_int_ge(pread(log, text, sizeof(text) - 1, 0), 0);
        sched_yield();
    }
    ck_assert_msg(strstr(text, "of forwarded output to job.0, which finalizes: it has "
                               "not read for 1000 ms (iof_drain_timeout)"),
                  "%s", text);
    ok(raw_status(one, 778));
}

/* ---- before any request -------------------------------------------------------------------------------- */

PX_TEST(what_comes_before_a_tool_is_kept_for_it_and_for_none_after)
{
    uint64_t next = 0, got = 0;

    iof_start();
    for (size_t i = 0; i < IOF_STREAM_B / IOF_CHUNK_B; i++) {
        number(IOF_CHUNK_B, &next);
        ok(iof_deliver(2, OUT, IOF_CHUNK_B, NULL, NULL, NULL));
    }
    fails(iof_deliver(2, OUT, 8, NULL, NULL, NULL), OUT_OF_RESOURCE);
    /* The end of a stream is always accepted. */
    ok(iof_deliver(2, OUT, 0, NULL, NULL, NULL));
    /* Each stream has a limit of its own. */
    ok(iof_deliver(2, ERR, 8, NULL, NULL, NULL));
    (void)iof_pull(one, PMIX_RANK_WILDCARD, OUT, 1);
    read_numbers(one, next, &got);
    ck_assert_uint_eq(scene_next_piece(one).n, 0);
    (void)iof_pull(two, 2, OUT, 2);
    ck_assert(raw_quiet(one) && raw_quiet(two));
    ck_assert_uint_gt(kept_b(), 0);
    (void)iof_pull(two, 2, ERR, 3);
    ck_assert_uint_eq(scene_next_piece(two).channel, ERR);
    ck_assert_uint_eq(kept_b(), 0);
}

/* Ranks 10 and above have a stream each. */
PX_TEST(all_streams_together_are_bounded_and_none_stops_for_ever)
{
    enum { N = 8 };
    struct iof_filled inside = {0};
    unsigned n_read = 0;

    setenv("PMIX_MCA_server_output_total", "512k", 1);
    iof_start();
    (void)iof_pull(one, PMIX_RANK_WILDCARD, OUT, 1);
    raw_on_loop(iof_fill, &inside);
    fails(inside.status, OUT_OF_RESOURCE);
    ck_assert_uint_le(kept_b(), 5 * IOF_CHUNK_B);
    for (unsigned i = 0; i < 2 * N;
         i++) { /* of two pieces, each stream has room for one */
        statuses[i] = 1;
        ok(iof_deliver(10 + i % N, OUT, IOF_CHUNK_B, NULL, on_status, &statuses[i]));
    }
    raw_on_loop(NULL, NULL);
    for (unsigned i = N; i < 2 * N; i++)
        fails(statuses[i], OUT_OF_RESOURCE);
    ck_assert_uint_le(kept_b(), (5 + N) * IOF_CHUNK_B);
    for (; n_read < inside.n + N; n_read++)
        ck_assert_uint_eq(scene_next_piece(one).n, IOF_CHUNK_B);
    ck_assert(raw_quiet(one));
    for (unsigned i = 0; i < N; i++)
        ok(statuses[i]);
    ck_assert_uint_eq(kept_b(), 0);
}

PX_TEST(half_as_much_is_kept_of_all_streams_before_any_request)
{
    setenv("PMIX_MCA_server_output_total", "512k", 1);
    iof_start();
    for (pmix_rank_t r = 10; r < 14; r++)
        ok(iof_deliver(r, OUT, IOF_CHUNK_B, NULL, NULL, NULL));
    fails(iof_deliver(14, OUT, IOF_CHUNK_B, PMIX_IOF_DROP_OLDEST, NULL, NULL),
          OUT_OF_RESOURCE); /* this stream has nothing to drop */
    fails(iof_deliver(10, OUT, IOF_CHUNK_B, PMIX_IOF_DROP_OLDEST, NULL, NULL),
          PARTIAL_SUCCESS);
    ok(iof_deliver(14, OUT, 0, NULL, NULL, NULL));
    ck_assert_uint_le(kept_b(), 5 * IOF_CHUNK_B);
}

PX_TEST(the_last_bytes_are_kept_if_the_host_requests_it)
{
    enum { N = 40 };
    uint64_t next = 0, got = 0;

    iof_start();
    for (size_t i = 0; i < N; i++) {
        number(IOF_CHUNK_B, &next);
        ck_assert_int_eq(
            iof_deliver(2, OUT, IOF_CHUNK_B, PMIX_IOF_DROP_OLDEST, NULL, NULL),
            i < IOF_STREAM_B / IOF_CHUNK_B ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS);
        ck_assert_uint_le(kept_b(), IOF_STREAM_B);
    }
    fails(iof_deliver(2, OUT, IOF_STREAM_B + 1, PMIX_IOF_DROP_OLDEST, NULL, NULL),
          OUT_OF_RESOURCE);
    (void)iof_pull(one, 2, OUT, 1);
    struct scene_piece p = scene_next_piece(one);
    ck_assert_uint_eq(p.dropped, N * IOF_CHUNK_B - IOF_STREAM_B);
    check_numbers(&p, &got);
    read_numbers(one, next, &got);
    ck_assert(raw_quiet(one));
}

/* Output that a host refuses to forward stays for the next client. */
PX_TEST(a_request_that_is_refused_takes_nothing)
{
    iof_start();
    for (int i = 0; i < 3; i++) /* pieces keep their order across streams */
        ok(iof_deliver(2, i % 2 ? ERR : OUT, 8, NULL, NULL, NULL));
    host.how = HOST_ERROR;
    host.status = PMIX_ERR_NO_PERMISSIONS;
    fails(iof_pull_status(one, 2, OUT | ERR), NO_PERMISSIONS);
    host.how = HOST_INSIDE;
    host.status = PMIX_SUCCESS;
    (void)iof_pull(two, 2, OUT | ERR, 1);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(scene_next_piece(two).channel, i % 2 ? ERR : OUT);
    ck_assert(raw_quiet(one) && raw_quiet(two));
}

static struct {
    unsigned nth;
    pmix_status_t status;
    bool failed;
} scarce;

static void deliver_scarcely(void *arg PX_UNUSED)
{
    px_alloc_fail_at(++scarce.nth);
    scarce.status = iof_deliver(2, OUT, 8, NULL, NULL, NULL);
    scarce.failed = px_alloc_fail_end();
}

/* A piece is accepted or refused, whatever allocation fails. A piece with a reader but without
 * memory closes the reader's connection. Other readers still get all output. */
PX_TEST_LOOP(without_memory_no_piece_goes_missing_unseen, 2)
{
    unsigned n_taken = 0;

    PX_TEST_NEEDS_ALLOC;
    iof_start();
    if (_i)
        (void)iof_pull(one, 2, OUT, 1);
    do {
        raw_on_loop(deliver_scarcely, NULL);
        ck_assert(scarce.status == PMIX_SUCCESS || scarce.status == PMIX_ERR_NOMEM);
        n_taken += !scarce.status;
        if (!_i)
            continue;
        raw_on_loop(NULL, NULL);
        if (!px_peer_find(px_process.server, &(pmix_proc_t){"job", 0})) {
            close(one);
            one = raw_client(0);
            (void)iof_pull(one, 2, OUT, 1);
        } else if (!scarce.status) {
            ck_assert_uint_eq(scene_next_piece(one).n, 8);
        } else {
            ck_assert(raw_quiet(one));
        }
    } while (scarce.failed);
    if (!_i) {
        (void)iof_pull(one, 2, OUT, 1);
        for (; n_taken > 0; n_taken--)
            ck_assert_uint_eq(scene_next_piece(one).n, 8);
        ck_assert(raw_quiet(one));
    }
}

/* Runs the life of a backlog, from the first piece to the last cursor. */
static pmix_status_t life(struct px_backlogs *backlogs, struct px_payload *bytes)
{
    static const struct px_cache all = {.size_b = IOF_STREAM_B};
    const pmix_proc_t source = raw_proc("job", 3);
    struct px_backlog *backlog = px_backlog_get(backlogs, &source);
    struct px_cursor *c = backlog ? px_cursor_create(backlog, &all, NULL) : NULL;
    px_infos info = {0};
    struct px_piece *p = c ? px_backlog_add(backlog, ERR, bytes, &info) : NULL;
    pmix_status_t rc = p ? px_cursor_add(c, p) : PMIX_ERR_NOMEM;

    if (p)
        px_piece_settle(p, false);
    if (c)
        px_cursor_free(c, false);
    if (backlog)
        px_backlog_settle(backlog);
    return rc;
}

PX_TEST(without_memory_nothing_is_left_of_a_backlog)
{
    PX_TEST_NEEDS_ALLOC;
    px_buf text = {.data = calloc(1, 100), .len = 100, .cap = 100};
    struct px_payload *bytes = px_payload_take(&text);
    struct px_backlogs backlogs;

    px_backlogs_init(&backlogs, IOF_STREAM_B, IOF_STREAM_B);
    ok(life(&backlogs, bytes)); /* gives the map its slots */
    for (unsigned nth = 0; px_alloc_next(&nth);)
        px_alloc_check(life(&backlogs, bytes));
    ck_assert_uint_eq(backlogs.kept_b + backlogs.unasked_b + backlogs.map.n_used, 0);
    ck_assert_uint_eq(bytes->refs, 1);
    px_payload_unref(bytes);
    px_backlogs_fini(&backlogs);
}

PX_TEST(memory_does_not_grow_with_the_streams_there_were)
{
    enum { N = 10000 };
    struct px_backlogs *backlogs;

    raw_server_start(&host_module, 1, N);
    one = raw_client(0);
    backlogs = &px_process.server->part.relay->backlogs;
    for (pmix_rank_t r = 1; r <= N; r++)
        ok(iof_deliver(r, OUT, 8, NULL, NULL, NULL));
    ck_assert_uint_eq(backlogs->map.n_used, N);
    (void)iof_pull(one, PMIX_RANK_WILDCARD, OUT, 1);
    for (pmix_rank_t r = 1; r <= N; r++)
        (void)scene_next_piece(one);
    for (pmix_rank_t r = 1; r <= N; r++) {
        ok(iof_deliver(r, OUT, 8, NULL, NULL, NULL));
        ck_assert_uint_eq(scene_next_piece(one).source.rank, r);
    }
    ck_assert_uint_eq(kept_b(), 0);
}

/* ---- directives ---------------------------------------------------------------------------------------- */

static const struct {
    const char *drop;
    uint32_t size_b;
    size_t piece_b;
} caches[] = {
    {PMIX_IOF_DROP_OLDEST, 256 * K, IOF_CHUNK_B},
    {PMIX_IOF_DROP_NEWEST, 256 * K, IOF_CHUNK_B},
    {PMIX_IOF_DROP_OLDEST, 2000, 24},
    {PMIX_IOF_DROP_NEWEST, 2000, 24},
    {PMIX_IOF_DROP_OLDEST, 0, IOF_CHUNK_B},
    {PMIX_IOF_DROP_NEWEST, UINT32_MAX, IOF_CHUNK_B},
    {PMIX_IOF_DROP_OLDEST, 1, IOF_CHUNK_B},
    {PMIX_IOF_DROP_NEWEST, 1, IOF_CHUNK_B},
};

/* Received and dropped bytes add up to all bytes. Another process, which reads, gets all bytes. */
PX_TEST_LOOP(what_is_dropped_for_one_is_counted_and_reported, PX_COUNT(caches))
{
    size_t n = 3 * IOF_STREAM_B / IOF_CHUNK_B, piece_b = caches[_i].piece_b, most_b;
    bool oldest = strcmp(caches[_i].drop, PMIX_IOF_DROP_OLDEST) == 0;
    uint64_t next = 0, fast = 0, slow = 0, dropped = 0, seen;
    size_t n_partial = 0;

    iof_start();
    (void)iof_pull_cached(one, 2, OUT, 1, caches[_i].drop, caches[_i].size_b);
    (void)iof_pull(two, 2, OUT, 2);
    if (piece_b < IOF_CHUNK_B) /* the first client falls behind */
        while (kept_b() == 0) {
            number(IOF_CHUNK_B, &next);
            ok(iof_deliver(2, OUT, IOF_CHUNK_B, NULL, NULL, NULL));
            read_numbers(two, next, &fast);
        }
    n = piece_b < IOF_CHUNK_B ? 1000 : n;
    for (size_t i = 0; i < n; i++) {
        pmix_status_t rc;

        number(piece_b, &next);
        rc = iof_deliver(2, OUT, piece_b, NULL, NULL, NULL);
        ck_assert(rc == PMIX_SUCCESS || rc == PMIX_ERR_PARTIAL_SUCCESS);
        n_partial += rc == PMIX_ERR_PARTIAL_SUCCESS;
        read_numbers(two, next, &fast);
    }
    most_b = caches[_i].size_b && caches[_i].size_b < IOF_STREAM_B ? caches[_i].size_b
                                                                   : IOF_STREAM_B;
    ck_assert_uint_gt(n_partial, 0);
    ck_assert_uint_le(kept_b(), most_b < IOF_CHUNK_B ? IOF_STREAM_B : most_b);
    /* With DROP_NEWEST, the next piece reports the dropped bytes. The end of the stream is always
     * accepted. */
    ok(iof_deliver(2, OUT, 0, NULL, NULL, NULL));
    do {
        struct scene_piece p = scene_next_piece(one);

        seen = slow;
        check_numbers(&p, &slow);
        dropped += p.dropped;
        ck_assert(oldest || !p.dropped || p.n == 0);
    } while (slow < next);
    ck_assert_uint_eq(slow, next);
    ck_assert_uint_gt(dropped, 0);
    if (piece_b == IOF_CHUNK_B)
        ck_assert_uint_eq(dropped % IOF_CHUNK_B, 0);
    if (piece_b == IOF_CHUNK_B && !oldest)
        ck_assert_uint_eq(dropped, n_partial * IOF_CHUNK_B);
    (void)seen;
}

PX_TEST(directives_that_contradict_or_make_no_sense_are_refused)
{
    static const char *const keys[][2] = {
        {PMIX_IOF_DROP_OLDEST, PMIX_IOF_DROP_NEWEST},
        {PMIX_IOF_CACHE_SIZE, NULL},
    };
    pmix_proc_t source = raw_proc("job", 2);
    pmix_byte_object_t bo = {.bytes = iof_chunk, .size = 8};

    iof_start();
    for (size_t i = 0; i < PX_COUNT(keys); i++) {
        PX_AUTO(px_infos) infos = {0};

        if (keys[i][1])
            for (size_t k = 0; k < 2; k++)
                ok(px_infos_add(&infos, keys[i][k], NULL, PMIX_BOOL));
        else
            ok(px_infos_add(&infos, keys[i][0], "much", PMIX_STRING));
        fails(raw_request(one, scene_pull(2, OUT, 1, &infos), NULL), BAD_PARAM);
        fails(iof_push(one, "x", &infos), BAD_PARAM);
        fails(PMIx_server_IOF_deliver(&source, OUT, &bo, infos.v, infos.n, NULL, NULL),
              BAD_PARAM);
    }
    ck_assert_uint_eq(host_calls("iof_pull") + host_calls("push_stdin"), 0);
    ck_assert_uint_eq(kept_b(), 0);
}

PX_TEST_MAIN("server/iof", NULL, host_end)
