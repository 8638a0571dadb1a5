/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests behind publish and lookup that take several turns of the loop, and deadlines. */
#include "pubs_scene.h"

static struct px_loop *loop;

static void do_lookup(struct px_call *call, void *args PX_UNUSED)
{
    char key[] = "late", *keys[] = {key, NULL};
    int second = 1;
    pmix_info_t info[2];

    PMIx_Info_load(&info[0], PMIX_WAIT, &(bool){true}, PMIX_BOOL);
    PMIx_Info_load(&info[1], PMIX_TIMEOUT, &second, PMIX_INT);
    px_pubs_init(&pubs, loop);
    px_call_done(call, px_pubs_lookup(&pubs, &a0, keys, info, 2, on_found, NULL));
}

static void do_fini(struct px_call *call, void *args PX_UNUSED)
{
    px_pubs_fini(&pubs);
    px_call_done(call, PMIX_SUCCESS);
}

PX_TEST(a_lookup_gives_up_at_its_deadline)
{
    ok(px_loop_create(PX_PROGRESS_EXTERNAL, NULL, &loop));
    ok(px_call(loop, do_lookup, NULL));
    while (n_answers == 0)
        px_loop_pump(loop);
    ck_assert_int_eq(answer, PMIX_ERR_TIMEOUT);
    ok(px_call(loop, do_fini, NULL));
    px_loop_destroy(loop);
}

enum { N_MANY = 3 * PX_PUBS_PER_TURN + 1 };
static px_infos many;
static int n_published;
static pmix_status_t published;

static void on_published(pmix_status_t status, void *cbdata PX_UNUSED)
{
    n_published++;
    published = status;
}

/* Makes the loop, and a publish of many keys. */
static void begin_many(const struct how *how)
{
    PX_AUTO(px_strv) keys = numbered(N_MANY);

    many = infos_of(how);
    for (size_t i = 0; i < N_MANY; i++)
        ok(px_infos_add(&many, keys[i], &(bool){true}, PMIX_BOOL));
    ok(px_loop_create(PX_PROGRESS_EXTERNAL, NULL, &loop));
}

static void end_many(void)
{
    ok(px_call(loop, do_fini, NULL));
    px_loop_destroy(loop);
    px_infos_cleanup(&many);
}

/* Publishes many keys in turns, and looks one up before the last turn. *ends: then the owner
 * ends. */
static void do_publish_many(struct px_call *call, void *ends)
{
    px_pubs_init(&pubs, loop);
    ok(px_pubs_publish_in_turns(&pubs, &a0, many.v, many.n, on_published, NULL));
    lookup(&b0, plain, "0", PMIX_ERR_NOT_FOUND, 0);
    ck_assert_uint_eq(pubs.n_pubs, N_MANY); /* counted from the beginning */
    ck_assert_int_eq(px_pubs_publish(&pubs, &a1, many.v, many.n), PMIX_SUCCESS);
    ck_assert_int_eq(px_pubs_publish(&pubs, &b0, many.v, many.n),
                     PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_int_eq(n_published, 0);
    if (*(bool *)ends)
        px_pubs_gone(&pubs, &a0);
    else
        ok(px_pubs_unpublish(&pubs, &a1, NULL, NULL, 0));
    px_call_done(call, PMIX_SUCCESS);
}

/* No entry is visible before all entries are. */
PX_TEST_LOOP(many_keys_are_published_over_several_turns, 2)
{
    bool ends = _i == 1;
    uint64_t n_turns = 0;

    begin_many(&plain);
    ok(px_call(loop, do_publish_many, &ends));
    for (; n_published == 0; n_turns++)
        px_loop_pump(loop);
    ck_assert_int_eq(published, ends ? PMIX_ERR_LOST_CONNECTION : PMIX_SUCCESS);
    ck_assert_uint_ge(n_turns, ends ? 0 : 4);
    ck_assert_uint_eq(pubs.n_pubs, N_MANY);
    ck_assert_int_eq(n_published, 1);
    end_many();
}

enum { PLAIN, LOSES_ONE, READ_ONCE, ENDS, WAITS, WAITS_AGAIN, N_SCENES };

/* Looks up many keys in turns, and changes what the lookup finds. */
static void do_lookup_many(struct px_call *call, void *scene)
{
    const bool waits = *(int *)scene >= WAITS;
    PX_AUTO(px_infos) l = infos_of(waits ? &wait : &plain);
    static char **keys; /* of the requests */

    px_strv_free(keys);
    keys = numbered(N_MANY + waits);
    px_pubs_init(&pubs, loop);
    ok(px_pubs_publish(&pubs, &a0, many.v, many.n));
    ok(px_pubs_lookup(&pubs, &b0, keys, l.v, l.n, on_found, NULL));
    ck_assert_int_eq(n_answers, 0);
    if (*(int *)scene == LOSES_ONE)
        unpublish(&a0, "3072");
    if (*(int *)scene == READ_ONCE)
        ok(px_pubs_lookup(&pubs, &a1, keys, l.v, l.n, on_found, NULL));
    if (*(int *)scene == ENDS)
        px_pubs_gone(&pubs, &b0);
    px_call_done(call, PMIX_SUCCESS);
}

/* Publishes the key that the lookup waits for; for one reader, which is another. */
static void do_publish_last(struct px_call *call, void *once)
{
    const int before = n_answers;

    if (*(bool *)once)
        await(&a1, wait, "3073");
    publish(&a0, *(bool *)once ? first_read : plain, "3073");
    ck_assert_int_eq(n_answers - before, *(bool *)once);
    px_call_done(call, PMIX_SUCCESS);
}

/* Runs the loop until no lookup takes turns. */
static void await_turns(void)
{
    while (!px_list_empty(&pubs.requests))
        px_loop_pump(loop);
}

/* Each key is searched, copied and left. Only one of two lookups gets what is read once. */
PX_TEST_LOOP(many_keys_are_looked_up_over_several_turns, N_SCENES)
{
    static const struct {
        const struct how *how;
        int n_answers;
        pmix_status_t last;
        size_t n_found, n_left, n_turns;
    } rows[] = {
        [PLAIN] = {&plain, 1, PMIX_SUCCESS, N_MANY, N_MANY, 3 * 4},
        [LOSES_ONE] = {&plain, 1, PMIX_ERR_PARTIAL_SUCCESS, N_MANY - 1, N_MANY - 1,
                       3 * 4},
        [READ_ONCE] = {&first_read, 2, PMIX_ERR_NOT_FOUND, N_MANY, 0, 6 * 4},
        [ENDS] = {&plain, 1, PMIX_ERR_LOST_CONNECTION, 0, N_MANY, 0},
        [WAITS] = {&plain, 1, PMIX_SUCCESS, N_MANY + 1, N_MANY + 1, 3 * 4},
        [WAITS_AGAIN] = {&plain, 2, PMIX_SUCCESS, N_MANY + 2, N_MANY + 1, 4 * 4},
    };

    n_found_in_all = 0;
    begin_many(rows[_i].how);
    ok(px_call(loop, do_lookup_many, &_i));
    for (bool once = _i == WAITS_AGAIN; _i >= WAITS; once = false) {
        await_turns();
        ok(px_call(loop, do_publish_last, &once));
        if (!once)
            break;
    }
    await_turns();
    ck_assert_int_eq(n_answers, rows[_i].n_answers);
    ck_assert_int_eq(answer, rows[_i].last);
    ck_assert_uint_eq(n_found_in_all, rows[_i].n_found);
    ck_assert_uint_eq(pubs.n_pubs, rows[_i].n_left);
    ck_assert_uint_ge(pubs.n_turns, rows[_i].n_turns);
    ck_assert(px_list_empty(&pubs.requests));
    end_many();
}

/* Removes many keys in turns. Only later requests of the owner come after the removal. */
static void do_remove_many(struct px_call *call, void *scene)
{
    static char **all, last[] = "3072", *keys[] = {last, NULL}; /* of the requests */
    PX_AUTO(px_infos) l = infos_of(&plain);

    px_strv_free(all);
    all = *(int *)scene == PLAIN ? NULL : numbered(N_MANY);
    px_pubs_init(&pubs, loop);
    ok(px_pubs_publish(&pubs, &a0, many.v, many.n));
    ok(px_pubs_unpublish_in_turns(&pubs, &a0, all, NULL, 0, on_published, NULL));
    ok(px_pubs_lookup(&pubs, &a0, keys, l.v, l.n, on_found, NULL));
    ck_assert_int_eq(n_answers, 0);
    ok(px_pubs_lookup(&pubs, &b0, keys, l.v, l.n, on_found, NULL));
    answered(1, PMIX_SUCCESS, 1);
    if (*(int *)scene == ENDS)
        px_pubs_gone(&pubs, &a0);
    px_call_done(call, PMIX_SUCCESS);
}

/* The owner publishes many keys and ends. *of_job: then its job ends, too. */
static void do_end_many(struct px_call *call, void *of_job)
{
    px_pubs_init(&pubs, loop);
    ok(px_pubs_publish(&pubs, &a0, many.v, many.n));
    publish(&a0, of_session, "stays");
    px_pubs_gone(&pubs, &a0);
    if (*(bool *)of_job)
        px_pubs_gone(&pubs, &a_all);
    ck_assert_uint_eq(pubs.n_pubs, N_MANY + 1);
    /* A later process of this name publishes after the removal. */
    ok(px_pubs_publish_in_turns(&pubs, &a0, many.v, many.n, on_published, NULL));
    px_call_done(call, PMIX_SUCCESS);
}

PX_TEST_LOOP(many_keys_end_with_their_process_over_several_turns, 2)
{
    bool of_job = _i == 1;

    n_published = 0;
    begin_many(of_job ? &plain : &of_proc);
    ok(px_call(loop, do_end_many, &of_job));
    await_turns();
    ck_assert_int_eq(n_published, 1);
    ok(published);
    ck_assert_uint_eq(pubs.n_pubs, N_MANY + 1);
    ck_assert_uint_ge(pubs.n_turns, 4 + 4);
    end_many();
}

PX_TEST_LOOP(many_keys_are_removed_over_several_turns, 4)
{
    n_published = 0;
    begin_many(&of_session);
    ok(px_call(loop, do_remove_many, &_i));
    while (n_answers < 2 || n_published < 1)
        px_loop_pump(loop);
    answered(2, _i == ENDS ? PMIX_ERR_LOST_CONNECTION : PMIX_ERR_NOT_FOUND, 0);
    ck_assert_int_eq(n_published, 1);
    ok(published);
    ck_assert_uint_eq(pubs.n_pubs, 0);
    ck_assert_uint_ge(pubs.n_turns, _i == ENDS ? 4 : 5);
    end_many();
}

/* Each of many processes has the key for itself, so that a search passes many entries. */
static void do_search_long(struct px_call *call, void *arg PX_UNUSED)
{
    static char *keys[PX_PUBS_PER_TURN + 1];
    PX_AUTO(px_infos) l = infos_of(&plain);
    px_pubs_init(&pubs, loop);
    for (pmix_rank_t r = 0; r < 64; r++) {
        const pmix_proc_t proc = {"c", r};
        publish(&proc, (struct how){.range = PMIX_RANGE_PROC_LOCAL}, "0");
    }
    for (size_t i = 0; i < PX_PUBS_PER_TURN; i++)
        keys[i] = (char *)(uintptr_t) "0";
    ok(px_pubs_lookup(&pubs, &b0, keys, l.v, l.n, on_found, NULL));
    ck_assert_int_eq(n_answers, 0);
    px_call_done(call, PMIX_SUCCESS);
}

PX_TEST(a_search_among_many_entries_takes_several_turns)
{
    begin_many(&plain);
    ok(px_call(loop, do_search_long, NULL));
    while (n_answers == 0)
        px_loop_pump(loop);
    answered(1, PMIX_ERR_NOT_FOUND, 0);
    ck_assert_uint_ge(pubs.n_turns, 64 / 16);
    end_many();
}

enum { LARGE_B = PX_PUBS_PER_TURN * 4096 / 2, N_LARGE = 7 }; /* two in a turn */

/* Publishes large values in turns. */
static void do_publish_large(struct px_call *call, void *infos)
{
    const px_infos *l = infos;

    px_pubs_init(&pubs, loop);
    ok(px_pubs_publish_in_turns(&pubs, &a0, l->v, l->n, on_published, NULL));
    px_call_done(call, PMIX_SUCCESS);
}

static void do_lookup_large(struct px_call *call, void *keys)
{
    PX_AUTO(px_infos) l = infos_of(&plain);

    ok(px_pubs_lookup(&pubs, &b0, keys, l.v, l.n, on_found, NULL));
    px_call_done(call, PMIX_SUCCESS);
}

PX_TEST(large_values_are_copied_over_several_turns)
{
    static char bytes[LARGE_B];
    const pmix_byte_object_t large = {bytes, LARGE_B};
    PX_AUTO(px_strv) keys = numbered(N_LARGE);
    PX_AUTO(px_infos) infos = infos_of(&plain);

    n_published = 0;
    begin_many(&plain);
    for (size_t i = 0; i < N_LARGE; i++)
        ok(px_infos_add(&infos, keys[i], &large, PMIX_BYTE_OBJECT));
    ok(px_call(loop, do_publish_large, &infos));
    await_turns();
    ck_assert_int_eq(n_published, 1);
    ok(published);
    ck_assert_uint_eq(pubs.n_turns, (N_LARGE + 1) / 2);
    ok(px_call(loop, do_lookup_large, keys));
    await_turns();
    answered(1, PMIX_SUCCESS, N_LARGE);
    /* One more turn of the lookup leaves the keys, and one answers. */
    ck_assert_uint_eq(pubs.n_turns, 2 * ((N_LARGE + 1) / 2) + 1);
    end_many();
}

PX_TEST_MAIN("host/pubs_turns", setup, teardown)
