/* SPDX-License-Identifier: BSD-3-Clause */
/* Store behind publish and lookup: visible entries, their lifetime, and lookups that wait. */
#include "pubs_scene.h"

PX_TEST(what_was_published_is_found_with_its_owner)
{
    publish(&a1, plain, "shade,colour");
    lookup(&b0, plain, "colour", PMIX_SUCCESS, 1);
    ck_assert_uint_eq(first_value, 2);
    ck_assert(px_proc_same(&first_owner, &a1));
    lookup(&b0, plain, "shape", PMIX_ERR_NOT_FOUND, 0);
    lookup(&b0, plain, "shape,colour", PMIX_ERR_PARTIAL_SUCCESS, 1);
}

/* MPI_Lookup_name of Open MPI 5 passes an uninitialized range. */
PX_TEST(a_look_up_in_a_range_that_does_not_exist_uses_the_default)
{
    static const pmix_data_range_t ranges[] = {8, 85, 200, PMIX_RANGE_INVALID};

    publish(&a1, plain, "colour");
    for (size_t i = 0; i < PX_COUNT(ranges); i++) {
        const struct how odd = {.range = ranges[i]};

        lookup(&b0, odd, "colour", PMIX_SUCCESS, 1);
        refuse(&b0, odd, "shape", PMIX_ERR_BAD_PARAM);
    }
}

PX_TEST(a_request_is_refused_as_a_whole)
{
    const struct how odd = {.persistence = 99}, invalid = {.range = PMIX_RANGE_INVALID},
                     custom = {.range = PMIX_RANGE_CUSTOM};

    refuse(&a0, odd, "key", PMIX_ERR_BAD_PARAM);
    refuse(&a0, invalid, "key", PMIX_ERR_BAD_PARAM);
    refuse(&a0, custom, "key", PMIX_ERR_BAD_PARAM);
    refuse(&a0, plain, "twice,twice", PMIX_ERR_DUPLICATE_KEY);
    refuse(&a0, plain, "", PMIX_ERR_BAD_PARAM);
    lookup(&a0, plain, "", PMIX_ERR_BAD_PARAM, 0);
    ck_assert_uint_eq(pubs.n_pubs, 0);
    publish(&a0, plain, "there");
    refuse(&a0, plain, "there", PMIX_ERR_DUPLICATE_KEY);
    refuse(&b0, plain, "fresh,there", PMIX_ERR_DUPLICATE_KEY);
    lookup(&b0, plain, "fresh", PMIX_ERR_NOT_FOUND, 0);
    answered(1, PMIX_ERR_NOT_FOUND, 0);
}

/* a0 publishes a key. Another process looks the key up and also publishes the key. */
PX_TEST(ranges_and_users_decide_which_process_sees_an_entry)
{
    enum { SEEN = PMIX_SUCCESS, UNSEEN = PMIX_ERR_NOT_FOUND };
    enum { FREE = PMIX_SUCCESS, TAKEN = PMIX_ERR_DUPLICATE_KEY };
    const struct how any = {0}, job = {.range = PMIX_RANGE_NAMESPACE},
                     own = {.range = PMIX_RANGE_PROC_LOCAL},
                     rm = {.range = PMIX_RANGE_RM}, all = {.range = PMIX_RANGE_GLOBAL},
                     stranger = {.uid = ME + 1};
    const struct {
        struct how published;
        const pmix_proc_t *asker;
        struct how asked;
        int lookup, publish;
    } rows[] = {{any, &b0, any, SEEN, TAKEN},      {job, &a1, any, SEEN, FREE},
                {job, &a1, job, SEEN, TAKEN},      {job, &b0, any, UNSEEN, FREE},
                {job, &b0, job, UNSEEN, FREE},     {own, &a0, any, SEEN, FREE},
                {own, &a0, own, SEEN, TAKEN},      {own, &a1, any, UNSEEN, FREE},
                {own, &a1, own, UNSEEN, FREE},     {rm, &a0, any, SEEN, FREE},
                {rm, &a1, any, UNSEEN, FREE},      {rm, &a1, rm, UNSEEN, TAKEN},
                {all, &b0, any, SEEN, FREE},       {all, &b0, all, SEEN, TAKEN},
                {all, &a1, job, SEEN, FREE},       {all, &b0, job, UNSEEN, FREE},
                {any, &b0, stranger, UNSEEN, FREE}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        setup();
        publish(&a0, rows[i].published, "key");
        ck_assert_msg(
            try_lookup(rows[i].asker, rows[i].asked, "key") == rows[i].lookup &&
                try_publish(rows[i].asker, rows[i].asked, "key") == rows[i].publish,
            "row %zu", i);
        teardown();
    }
}

PX_TEST(a_custom_range_is_those_named)
{
    PX_AUTO(px_infos) l = infos_of(&(struct how){.range = PMIX_RANGE_CUSTOM});

    ok(px_infos_add(&l, PMIX_EVENT_CUSTOM_RANGE, &b0, PMIX_PROC));
    ok(px_infos_add(&l, "few", "value", PMIX_STRING));
    ok(px_pubs_publish(&pubs, &a0, l.v, l.n));
    lookup(&b0, plain, "few", PMIX_SUCCESS, 1);
    lookup(&a1, plain, "few", PMIX_ERR_NOT_FOUND, 0);
    ck_assert_int_eq(px_pubs_publish(&pubs, &a1, l.v, l.n), PMIX_ERR_DUPLICATE_KEY);
    ok(px_infos_set(&l, PMIX_EVENT_CUSTOM_RANGE, &a1, PMIX_PROC));
    ok(px_pubs_publish(&pubs, &a1, l.v, l.n));
    lookup(&a1, plain, "few", PMIX_SUCCESS, 1);
    ck_assert(px_proc_same(&first_owner, &a1));
}

PX_TEST(of_entries_on_several_ranges_the_most_limited_one_is_found)
{
    const struct how all = {.range = PMIX_RANGE_GLOBAL},
                     job = {.range = PMIX_RANGE_NAMESPACE};

    publish(&a0, all, "key");
    publish(&a0, job, "x,key");
    publish(&a0, plain, "y,z,key");
    lookup(&a1, plain, "key", PMIX_SUCCESS, 1);
    ck_assert_uint_eq(first_value, 2);
    lookup(&b0, plain, "key", PMIX_SUCCESS, 1);
    ck_assert_uint_eq(first_value, 3);
    unpublish(&a0, "key"); /* in the session, by default */
    lookup(&b0, plain, "key", PMIX_SUCCESS, 1);
    ck_assert_uint_eq(first_value, 1);
    unpublish(&a0, "key"); /* elsewhere */
    lookup(&b0, plain, "key,y,z", PMIX_ERR_PARTIAL_SUCCESS, 2);
}

PX_TEST(permissions_decide_which_users_and_groups_read)
{
    enum { OTHER = ME + 1, GROUP };
    const uint32_t unknown = UINT32_MAX;
    enum { SEEN = PMIX_SUCCESS, DENIED = PMIX_ERR_NO_PERMISSIONS };
    enum { UNSEEN = PMIX_ERR_NOT_FOUND, ALL = PMIX_RANGE_GLOBAL };
    enum { NODE = PMIX_RANGE_LOCAL, SESSION = PMIX_RANGE_SESSION };
    const struct {
        pmix_data_range_t published;
        uint32_t of_user, of_group; /* 0: no list */
        pmix_data_range_t asked;
        uint32_t uid, gid;
        pmix_status_t lookup;
    } rows[] = {{ALL, OTHER, 0, ALL, OTHER, OTHER, SEEN},
                {ALL, OTHER, 0, ALL, ME, ME, DENIED},
                {ALL, ME, 0, SESSION, ME, ME, SEEN},
                {ALL, OTHER, 0, SESSION, OTHER, OTHER, UNSEEN},
                {SESSION, OTHER, 0, ALL, OTHER, OTHER, UNSEEN},
                {PMIX_RANGE_CUSTOM, OTHER, 0, ALL, OTHER, OTHER, SEEN},
                {PMIX_RANGE_PROC_LOCAL, OTHER, 0, ALL, OTHER, OTHER, UNSEEN},
                {NODE, 0, GROUP, ALL, OTHER, GROUP, SEEN},
                {NODE, 0, GROUP, ALL, OTHER, OTHER, DENIED},
                {NODE, 0, GROUP, ALL, OTHER, unknown, DENIED},
                {NODE, 0, unknown, ALL, OTHER, unknown, DENIED},
                {ALL, OTHER, GROUP, ALL, OTHER, GROUP, SEEN},
                {ALL, OTHER, GROUP, ALL, OTHER, ME, DENIED},
                {ALL, OTHER, GROUP, ALL, ME, GROUP, DENIED},
                {ALL, 0, 0, ALL, OTHER, OTHER, UNSEEN}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const struct how asked = {rows[i].uid, rows[i].gid, .range = rows[i].asked},
                         published = {.of_user = rows[i].of_user,
                                      .of_group = rows[i].of_group,
                                      .range = rows[i].published};
        setup();
        publish(&a0, published, "key");
        ck_assert_msg(try_lookup(&b0, asked, "key") == rows[i].lookup, "row %zu", i);
        teardown();
    }
}

PX_TEST(persistence_decides_what_stays)
{
    publish(&a0, first_read, "once");
    lookup(&a1, plain, "once", PMIX_SUCCESS, 1);
    lookup(&a1, plain, "once", PMIX_ERR_NOT_FOUND, 0);
    publish(&a0, of_proc, "proc");
    publish(&a0, plain, "app");
    publish(&a0, of_session, "session");
    px_pubs_gone(&pubs, &a1);
    lookup(&b0, plain, "proc,app,session", PMIX_SUCCESS, 3);
    px_pubs_gone(&pubs, &a0);
    lookup(&b0, plain, "proc,app,session", PMIX_ERR_PARTIAL_SUCCESS, 2);
    px_pubs_gone(&pubs, &a_all);
    lookup(&b0, plain, "app", PMIX_ERR_NOT_FOUND, 0);
    lookup(&b0, plain, "session", PMIX_SUCCESS, 1);
    publish(&a0, of_proc, "proc");
    publish(&a0, plain, "app");
    px_pubs_tool_gone(&pubs, &a0);
    lookup(&b0, plain, "proc,app,session", PMIX_ERR_PARTIAL_SUCCESS, 1);
}

PX_TEST(only_the_owner_takes_back)
{
    publish(&a0, plain, "one,two,three");
    unpublish(&a1, NULL);
    unpublish(&a1, "one");
    lookup(&b0, plain, "one,two,three", PMIX_SUCCESS, 3);
    unpublish(&a0, "one");
    lookup(&b0, plain, "one,two,three", PMIX_ERR_PARTIAL_SUCCESS, 2);
    unpublish(&a0, NULL);
    lookup(&b0, plain, "two,three", PMIX_ERR_NOT_FOUND, 0);
}

PX_TEST(a_lookup_waits_for_all_its_keys_or_as_many_as_requested)
{
    publish(&a0, plain, "one");
    await(&b0, wait, "one,two");
    publish(&a1, plain, "other");
    ck_assert_int_eq(n_answers, 0);
    publish(&a1, plain, "two");
    answered(1, PMIX_SUCCESS, 2);
    await(&b0, wait_for_2, "three,four,five");
    publish(&a0, plain, "five");
    ck_assert_int_eq(n_answers, 1);
    publish(&a0, plain, "three");
    answered(2, PMIX_ERR_PARTIAL_SUCCESS, 2);
    lookup(&b0, wait_for_1, "five", PMIX_SUCCESS, 1);
}

PX_TEST(of_several_that_wait_one_gets_what_is_read_once)
{
    await(&a1, wait, "once");
    await(&b0, wait, "once");
    publish(&a0, first_read, "once");
    ck_assert_int_eq(n_answers, 1);
    publish(&a0, plain, "once");
    answered(2, PMIX_SUCCESS, 1);
}

PX_TEST(the_wait_of_a_process_ends_with_it)
{
    await(&a0, wait, "never");
    await(&a1, wait, "never");
    await(&b0, wait, "never");
    px_pubs_gone(&pubs, &a1);
    answered(1, PMIX_ERR_LOST_CONNECTION, 0);
    px_pubs_gone(&pubs, &a_all);
    ck_assert_int_eq(n_answers, 2);
    px_pubs_fini(&pubs);
    ck_assert_int_eq(n_answers, 3);
}

/* Publishes n keys of a user, which no other process sees: none is a duplicate. */
static void fill(uint32_t uid, unsigned n)
{
    const struct how own = {.uid = uid, .range = PMIX_RANGE_PROC_LOCAL};
    char key[32];

    for (unsigned i = 0; i < n; i++) {
        snprintf(key, sizeof(key), "key %u", i);
        px_proc_set(&b0, "b", uid * PX_MAX_PUBS + i / 64);
        publish(&b0, own, key);
    }
}

PX_TEST(each_user_has_a_limit_and_all_have_one)
{
    const struct how other = {.uid = ME + 1};

    fill(ME, PX_MAX_PUBS);
    refuse(&a0, plain, "one more", PMIX_ERR_OUT_OF_RESOURCE);
    publish(&a0, other, "one more");
    unpublish(&b0, NULL);
    publish(&a1, plain, "one more");
    for (uint32_t uid = ME + 2; pubs.n_pubs + PX_MAX_PUBS <= PX_MAX_ALL_PUBS; uid++)
        fill(uid, PX_MAX_PUBS);
    fill(1, (unsigned)(PX_MAX_ALL_PUBS - pubs.n_pubs));
    refuse(&a0, (struct how){.uid = 2}, "first", PMIX_ERR_OUT_OF_RESOURCE);
}

/* Publishes a value of this size. */
static pmix_status_t publish_bytes(uint32_t uid, const char *key, size_t size_b)
{
    PX_AUTO(px_infos) l = infos_of(&(struct how){.uid = uid});
    pmix_byte_object_t bytes = {calloc(1, size_b), size_b};

    ok(px_infos_add(&l, key, &bytes, PMIX_BYTE_OBJECT));
    free(bytes.bytes);
    return px_pubs_publish(&pubs, &a0, l.v, l.n);
}

PX_TEST(the_bytes_of_a_user_have_a_limit)
{
    ok(publish_bytes(ME, "half", PX_MAX_PUBS_B / 2));
    ck_assert_int_eq(publish_bytes(ME, "more", PX_MAX_PUBS_B / 2),
                     PMIX_ERR_OUT_OF_RESOURCE);
    ok(publish_bytes(ME + 1, "more", PX_MAX_PUBS_B / 2));
    unpublish(&a0, "half");
    ok(publish_bytes(ME, "half", PX_MAX_PUBS_B / 2));
}

/* Each request takes a few steps for each of its keys, whatever else is stored. */
PX_TEST(a_request_costs_what_its_keys_cost)
{
    enum { N = 4096 };
    PX_AUTO(px_infos) l = infos_of(&plain), waits = infos_of(&wait);
    PX_AUTO(px_strv) few = numbered(16), all = numbered(N + 1);
    uint64_t before = pubs.steps;

    publish_numbered(N);
    ck_assert_uint_le(pubs.steps - before, 2 * N);
    before = pubs.steps;
    ok(px_pubs_lookup(&pubs, &b0, few, l.v, l.n, on_found, NULL));
    ck_assert_uint_eq(n_found, 16);
    ck_assert_uint_le(pubs.steps - before, 2 * 16);
    before = pubs.steps;
    ck_assert_int_eq(px_pubs_lookup(&pubs, &b0, all, waits.v, waits.n, on_found, NULL),
                     PMIX_ERR_OUT_OF_RESOURCE); /* one more than may wait */
    free(px_take(&all[N]));
    all[0][0] = 'x'; /* missing */
    ok(px_pubs_lookup(&pubs, &b0, all, waits.v, waits.n, on_found, NULL));
    publish(&a1, plain, "other");
    ck_assert_int_eq(n_answers, 1);
    ck_assert_uint_le(pubs.steps - before, 6 * N);
    before = pubs.steps;
    ok(px_pubs_unpublish(&pubs, &a0, few, NULL, 0));
    publish(&a0, plain, "x");
    ck_assert_int_eq(n_answers, 1); /* has lost what it had found */
    ck_assert_uint_le(pubs.steps - before, 6 * 16);
    publish(&a1, plain, "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15");
    answered(2, PMIX_SUCCESS, N);
    before = pubs.steps;
    ok(px_pubs_unpublish(&pubs, &a0, NULL, NULL, 0));
    ck_assert_uint_le(pubs.steps - before, N);
    ck_assert_uint_eq(pubs.n_pubs, 16);
}

PX_TEST(a_request_beyond_a_bound_is_refused_before_the_work)
{
    enum { MANY = PX_MAX_KEYS + 1 };
    PX_AUTO(px_infos) l = infos_of(&plain),
                      custom = infos_of(&(struct how){.range = PMIX_RANGE_CUSTOM});
    PX_AUTO(px_strv) keys = numbered(MANY);
    pmix_data_array_t chosen = {PMIX_PROC, PX_MAX_PUB_CHOSEN + 1, NULL};

    chosen.array = calloc(chosen.size, sizeof(pmix_proc_t));
    ok(px_infos_add(&custom, PMIX_EVENT_CUSTOM_RANGE, &chosen, PMIX_DATA_ARRAY));
    ok(px_infos_add(&custom, "key", &(bool){true}, PMIX_BOOL));
    free(chosen.array);
    for (size_t i = 0; i < MANY; i++)
        ok(px_infos_add(&l, keys[i], &(bool){true}, PMIX_BOOL));
    ck_assert_int_eq(px_pubs_publish(&pubs, &a0, l.v, l.n), PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_int_eq(px_pubs_publish(&pubs, &a0, custom.v, custom.n),
                     PMIX_ERR_OUT_OF_RESOURCE);
    publish(&a0, plain, "one");
    pubs.steps = 0;
    ck_assert_int_eq(px_pubs_lookup(&pubs, &a0, keys, l.v, 1, on_found, NULL),
                     PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_int_eq(px_pubs_unpublish(&pubs, &a0, keys, NULL, 0),
                     PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_uint_eq(pubs.steps, 0);
}

static pmix_status_t publish_then_wait(const px_infos *l, const px_infos *w)
{
    char one[] = "one", two[] = "two", *keys[] = {one, two, NULL};
    pmix_status_t rc = px_pubs_publish(&pubs, &a0, l->v, l->n);

    if (!rc)
        rc = px_pubs_lookup(&pubs, &b0, keys, w->v, w->n, on_found, NULL);
    if (rc)
        (void)px_pubs_unpublish(&pubs, &a0, NULL, NULL, 0);
    return rc;
}

PX_TEST(without_memory_nothing_is_stored)
{
    PX_AUTO(px_infos) l = infos_of(&plain), w = infos_of(&wait);

    PX_TEST_NEEDS_ALLOC;
    ok(px_infos_add(&l, "one", "value", PMIX_STRING));
    ok(px_infos_add(&l, "other", "value", PMIX_STRING));
    for (unsigned nth = 0; px_alloc_next(&nth);) {
        pmix_status_t rc = publish_then_wait(&l, &w);

        if (px_alloc_fail_end())
            ck_assert_int_eq(rc, PMIX_ERR_NOMEM);
        else
            ok(rc);
        ck_assert_uint_eq(pubs.n_pubs, rc ? 0 : 2);
    }
    publish(&a1, plain, "two");
    answered(1, PMIX_SUCCESS, 2);
}

PX_TEST(the_same_value_is_not_copied_without_end)
{
    enum { VALUE_B = 1 << 20, N = 40 };
    char *value = malloc(VALUE_B), *keys[N + 1] = {NULL};
    px_infos l = infos_of(&(struct how){.range = PMIX_RANGE_SESSION});

    memset(value, 'x', VALUE_B);
    value[VALUE_B - 1] = '\0';
    ok(px_infos_add(&l, "big", value, PMIX_STRING));
    ok(px_pubs_publish(&pubs, &a0, l.v, l.n));
    for (size_t i = 0; i < N; i++)
        keys[i] = (char *)(uintptr_t) "big";
    ok(px_pubs_lookup(&pubs, &a1, keys, l.v, 1, on_found, NULL));
    ck_assert_int_eq(answer, PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_uint_eq(n_found, 0);
    keys[3] = NULL;
    ok(px_pubs_lookup(&pubs, &a1, keys, l.v, 1, on_found, NULL));
    ok(answer);
    ck_assert_uint_eq(n_found, 3);
    px_infos_cleanup(&l);
    free(value);
}

PX_TEST_MAIN("host/pubs", setup, teardown)
