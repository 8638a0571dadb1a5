/* SPDX-License-Identifier: BSD-3-Clause */
/* Backlogs of output without a server: random writers and readers, compared with a model of all
 * written bytes. */
#include "core/server/iof/backlog.h"

#include "alloc_fail.h"
#include "px_test.h"

#include <string.h>

enum { STREAM_B = 4096, TOTAL_B = 6 * STREAM_B, N_CURSORS = 4, N_PIECES = 5000 };

static struct px_backlogs backlogs;
static pmix_proc_t source = {"job", 3};

static void setup(void)
{
    px_backlogs_init(&backlogs, STREAM_B, TOTAL_B);
}

static void teardown(void)
{
    px_backlogs_fini(&backlogs);
}

static struct px_payload *payload(size_t n)
{
    px_buf b = {.data = calloc(1, n + 1), .len = n, .cap = n + 1};

    return px_payload_take(&b);
}

static struct px_piece *add(struct px_backlog *backlog, pmix_iof_channel_t channel,
                            size_t n)
{
    struct px_payload *bytes = payload(n);
    px_infos info = {0};
    struct px_piece *p = px_backlog_add(backlog, channel, bytes, &info);

    px_payload_unref(bytes);
    ck_assert_ptr_nonnull(p);
    return p;
}

/* Progress of each reader in each stream, and of the writer. */
static struct {
    struct px_cursor *cursor;
    struct px_cache cache;
    uint64_t got[PX_STREAMS], last;
} readers[N_CURSORS];
static uint64_t written[PX_STREAMS];

static void read_one(unsigned i)
{
    struct px_cursor *c = readers[i].cursor;
    uint64_t dropped = 0;
    const struct px_piece *p = px_cursor_next(c, &dropped);

    if (!p)
        return;
    /* The order of writing across all streams. */
    ck_assert_uint_gt(p->number, readers[i].last);
    readers[i].last = p->number;
    readers[i].got[px_stream_of(p->channel)] += dropped + p->bytes->bytes.len;
    px_cursor_pass(c);
}

static void write_one(struct px_backlog *backlog, pmix_iof_channel_t channel, size_t n)
{
    unsigned s = px_stream_of(channel);
    struct px_piece *p;

    if (px_backlog_is_full(backlog, s))
        return; /* the writer waits */
    p = add(backlog, channel, n);
    written[s] += n;
    for (unsigned i = 0; i < N_CURSORS; i++) {
        pmix_status_t rc = px_cursor_add(readers[i].cursor, p);

        ck_assert(!rc || (rc == PMIX_ERR_PARTIAL_SUCCESS &&
                          readers[i].cache.drop != PX_DROP_NONE));
    }
    px_piece_settle(p, false);
}

PX_TEST(each_reader_gets_all_or_the_number_of_bytes_it_missed)
{
    static const pmix_iof_channel_t channels[] = {
        PMIX_FWD_STDOUT_CHANNEL, PMIX_FWD_STDERR_CHANNEL, PMIX_FWD_STDDIAG_CHANNEL};
    struct px_backlog *backlog = px_backlog_get(&backlogs, &source);
    const char *seed = getenv("PX_TEST_SEED");

    srand(seed ? (unsigned)atoi(seed) : 1);
    for (unsigned i = 0; i < N_CURSORS; i++) {
        readers[i].cache = (struct px_cache){.size_b = i ? STREAM_B / i : STREAM_B,
                                             .drop = (enum px_drop)(i % 3)};
        readers[i].cursor = px_cursor_create(backlog, &readers[i].cache, NULL);
    }
    for (unsigned n = 0; n < N_PIECES; n++) {
        write_one(backlog, channels[(unsigned)rand() % 3], (unsigned)rand() % 700);
        for (unsigned i = 0; i < N_CURSORS; i++)
            if ((unsigned)rand() % (i + 2) == 0)
                read_one(i);
        /* Each stream may exceed the limit by one piece. */
        ck_assert_uint_le(backlogs.kept_b, 3u * (STREAM_B + 700));
    }
    for (unsigned i = 0; i < N_CURSORS; i++) {
        struct px_cursor *c = readers[i].cursor;

        while (px_cursor_next(c, NULL))
            read_one(i);
        for (unsigned s = 0; s < 3; s++)
            ck_assert_uint_eq(readers[i].got[s] + c->streams[s].dropped, written[s]);
        ck_assert(readers[i].cache.drop != PX_DROP_NONE || px_cursor_is_done(c));
        px_cursor_free(c, false);
    }
    px_backlog_drop_unasked(backlog);
    px_backlog_settle(backlog);
    ck_assert_uint_eq(backlogs.kept_b, 0);
    ck_assert_ptr_null(px_backlog_find(&backlogs, &source));
}

PX_TEST(all_streams_together_are_bounded_and_none_stops_for_ever)
{
    struct px_cache cache = {.size_b = STREAM_B};
    struct px_backlog *some[8];
    struct px_cursor *c[8];
    pmix_proc_t p = source;

    for (p.rank = 0; p.rank < PX_COUNT(some); p.rank++) {
        some[p.rank] = px_backlog_get(&backlogs, &p);
        c[p.rank] = px_cursor_create(some[p.rank], &cache, NULL);
        while (!px_backlog_is_full(some[p.rank], 0))
            ok(px_cursor_add(c[p.rank],
                             add(some[p.rank], PMIX_FWD_STDOUT_CHANNEL, 1024)));
        ck_assert_uint_le(backlogs.kept_b, TOTAL_B / 2 + (p.rank + 1) * 1024);
    }
    ck_assert(px_backlog_refuses(some[0], 0, 1));
    for (size_t i = 0; i < PX_COUNT(some); i++) {
        while (px_cursor_next(c[i], NULL))
            px_cursor_pass(c[i]);
        ck_assert(!px_backlog_is_full(some[i], 0) &&
                  !px_backlog_refuses(some[i], 0, STREAM_B));
    }
    ck_assert_uint_eq(backlogs.kept_b, 0);
}

PX_TEST(as_much_is_kept_for_those_who_have_not_asked_yet)
{
    pmix_proc_t p = source;
    size_t dropped, n = 0;

    for (p.rank = 0;
         !px_backlog_make_room(px_backlog_get(&backlogs, &p), 0, 1024, false, &dropped);
         p.rank = (pmix_rank_t)(++n / 4))
        px_piece_settle(
            add(px_backlog_get(&backlogs, &p), PMIX_FWD_STDOUT_CHANNEL, 1024), true);
    px_backlog_settle(px_backlog_get(&backlogs, &p));
    ck_assert_uint_eq(backlogs.kept_b, TOTAL_B / 2);
    ck_assert_uint_eq(backlogs.unasked_b, TOTAL_B / 2);
    /* A backlog with pieces can drop them for new pieces. A new backlog has nothing to drop. */
    p.rank = 0;
    ok(px_backlog_make_room(px_backlog_get(&backlogs, &p), 0, 2048, true, &dropped));
    ck_assert_uint_eq(dropped, 2048);
    p.rank = 99;
    ok(px_backlog_make_room(px_backlog_get(&backlogs, &p), 0, 2048, true, &dropped));
    fails(px_backlog_make_room(px_backlog_get(&backlogs, &p), 0, 4096, true, &dropped),
          OUT_OF_RESOURCE);
    px_backlog_settle(px_backlog_get(&backlogs, &p));
}

static struct px_cache all = {.size_b = STREAM_B};

/* Runs the life of a backlog, from the first piece to the last cursor. */
static pmix_status_t life(struct px_payload *bytes)
{
    struct px_backlog *backlog = px_backlog_get(&backlogs, &source);
    struct px_cursor *c = backlog ? px_cursor_create(backlog, &all, NULL) : NULL;
    px_infos info = {0};
    struct px_piece *p = c ? px_backlog_add(backlog, PMIX_FWD_STDERR_CHANNEL, bytes,
                                            &info)
                           : NULL;
    pmix_status_t rc = p ? px_cursor_add(c, p) : PMIX_ERR_NOMEM;

    if (p)
        px_piece_settle(p, false);
    if (c)
        px_cursor_free(c, false);
    if (backlog)
        px_backlog_settle(backlog);
    return rc;
}

PX_TEST(without_memory_nothing_is_left)
{
    struct px_payload *bytes;

    PX_TEST_NEEDS_ALLOC;
    bytes = payload(100);
    ok(life(bytes)); /* gives the map its slots */
    for (unsigned nth = 0; px_alloc_next(&nth);)
        px_alloc_check(life(bytes));
    ck_assert_uint_eq(backlogs.kept_b + backlogs.unasked_b + backlogs.map.n_used, 0);
    ck_assert_uint_eq(bytes->refs, 1);
    px_payload_unref(bytes);
}

static const struct {
    const char *keys[3];
    uint64_t size_b;
    pmix_status_t status;
    struct px_cache cache;
} caches[] = {
    {{NULL}, 0, PMIX_SUCCESS, {STREAM_B, PX_DROP_NONE}},
    {{PMIX_IOF_CACHE_SIZE}, 10, PMIX_SUCCESS, {10, PX_DROP_NONE}},
    {{PMIX_IOF_CACHE_SIZE, PMIX_IOF_DROP_OLDEST},
     UINT64_MAX,
     PMIX_SUCCESS,
     {STREAM_B, PX_DROP_OLDEST}},
    {{PMIX_IOF_DROP_NEWEST}, 0, PMIX_SUCCESS, {STREAM_B, PX_DROP_NEWEST}},
    {{PMIX_IOF_DROP_NEWEST, PMIX_IOF_DROP_OLDEST}, 0, PMIX_ERR_BAD_PARAM, {0}},
};

PX_TEST(a_cache_follows_the_directives_and_is_never_larger_than_a_stream)
{
    for (size_t i = 0; i < PX_COUNT(caches); i++) {
        PX_AUTO(px_infos) infos = {0};
        struct px_cache cache = {0};

        for (size_t k = 0; caches[i].keys[k]; k++)
            if (strcmp(caches[i].keys[k], PMIX_IOF_CACHE_SIZE) == 0)
                ok(px_infos_add(&infos, PMIX_IOF_CACHE_SIZE, &caches[i].size_b,
                                PMIX_UINT64));
            else
                ok(px_infos_add(&infos, caches[i].keys[k], NULL, PMIX_BOOL));
        ck_assert_int_eq(px_cache_read(&cache, infos.v, infos.n, STREAM_B),
                         caches[i].status);
        ck_assert_uint_eq(cache.size_b, caches[i].cache.size_b);
        ck_assert_int_eq(cache.drop, caches[i].cache.drop);
    }
}

PX_TEST_MAIN("server/iof_backlog", setup, teardown)
