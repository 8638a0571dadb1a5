/* SPDX-License-Identifier: BSD-3-Clause */
/* The store behind publish and lookup: which entries are seen, how long they stay, and which
 * lookups wait. */
#include "core/host/pubs.h"

#include <stdio.h>
#include <string.h>

#include "core/base/strv.h"
#include "core/rt/call.h"
#include "px_test.h"

#define ME 4711 /* user id of all but strangers */

static struct px_pubs pubs;
static pmix_proc_t a0, a1, b0;

/* The answer of the last lookup. */
static int n_answers;
static pmix_status_t answer;
static size_t n_found;
static uint32_t first_value;
static pmix_proc_t first_owner;

static void setup(void)
{
    px_pubs_init(&pubs, NULL);
    px_proc_set(&a0, "a", 0);
    px_proc_set(&a1, "a", 1);
    px_proc_set(&b0, "b", 0);
    n_answers = 0;
}

static void teardown(void)
{
    px_pubs_fini(&pubs);
    ck_assert_uint_eq(pubs.n_pubs, 0);
    ck_assert_uint_eq(pubs.size_b, 0);
}

static void on_found(pmix_status_t status, pmix_pdata_t data[], size_t n,
                     void *cbdata PX_UNUSED)
{
    n_answers++;
    answer = status;
    n_found = n;
    if (n > 0) {
        first_value = data[0].value.data.uint32;
        first_owner = data[0].proc;
    }
}

struct how { /* 0: not given */
    uint32_t uid;
    pmix_data_range_t range;
    pmix_persistence_t persistence;
    bool wait;
    int wait_for;
};

static px_infos infos_of(const struct how *how)
{
    px_infos l = {0};
    uint32_t uid = how->uid ? how->uid : ME;
    bool yes = true;

    ok(px_infos_add(&l, PMIX_USERID, &uid, PMIX_UINT32));
    if (how->range)
        ok(px_infos_add(&l, PMIX_RANGE, &how->range, PMIX_DATA_RANGE));
    if (how->persistence)
        ck_assert_int_eq(
            px_infos_add(&l, PMIX_PERSISTENCE, &how->persistence, PMIX_PERSIST), 0);
    if (how->wait_for)
        ok(px_infos_add(&l, PMIX_WAIT, &how->wait_for, PMIX_INT));
    else if (how->wait)
        ok(px_infos_add(&l, PMIX_WAIT, &yes, PMIX_BOOL));
    return l;
}

static pmix_status_t publish(const pmix_proc_t *who, struct how how, const char *key,
                             uint32_t value)
{
    px_infos l = infos_of(&how);
    pmix_status_t rc;

    ok(px_infos_add(&l, key, &value, PMIX_UINT32));
    rc = px_pubs_publish(&pubs, who, l.v, l.n);
    px_infos_cleanup(&l);
    return rc;
}

/* keys: separated by commas. Returns what was answered at once;
 * PMIX_OPERATION_IN_PROGRESS if nothing was. */
static pmix_status_t lookup(const pmix_proc_t *who, struct how how, const char *keys)
{
    px_infos l = infos_of(&how);
    PX_AUTO(px_strv) v = px_strv_split(keys, ',', false);
    int before = n_answers;
    pmix_status_t rc = px_pubs_lookup(&pubs, who, v, l.v, l.n, on_found, NULL);

    px_infos_cleanup(&l);
    if (rc)
        return rc;
    return n_answers == before ? PMIX_OPERATION_IN_PROGRESS : answer;
}

static void unpublish(const pmix_proc_t *who, const char *keys)
{
    PX_AUTO(px_strv) v = keys ? px_strv_split(keys, ',', false) : NULL;

    ok(px_pubs_unpublish(&pubs, who, v, NULL, 0));
}

#define PLAIN ((struct how){0})

PX_TEST(what_was_published_is_found_with_its_owner)
{
    ok(publish(&a1, PLAIN, "colour", 7));
    ok(lookup(&b0, PLAIN, "colour"));
    ck_assert_uint_eq(n_found, 1);
    ck_assert_uint_eq(first_value, 7);
    ck_assert(px_proc_same(&first_owner, &a1));
    ck_assert_int_eq(lookup(&b0, PLAIN, "shape"), PMIX_ERR_NOT_FOUND);
    ck_assert_int_eq(lookup(&b0, PLAIN, "shape,colour"), PMIX_ERR_PARTIAL_SUCCESS);
    ck_assert_uint_eq(n_found, 1);
}

PX_TEST(a_key_is_published_once)
{
    ok(publish(&a0, PLAIN, "colour", 1));
    ck_assert_int_eq(publish(&a0, PLAIN, "colour", 2), PMIX_ERR_DUPLICATE_KEY);
    ck_assert_int_eq(publish(&b0, PLAIN, "colour", 3), PMIX_ERR_DUPLICATE_KEY);
    ok(lookup(&b0, PLAIN, "colour"));
    ck_assert_uint_eq(first_value, 1);
}

static pmix_status_t publish_two(const char *first, const char *second)
{
    PX_AUTO(px_infos) l = infos_of(&(struct how){0});
    uint32_t value = 1;

    ok(px_infos_add(&l, first, &value, PMIX_UINT32));
    ok(px_infos_add(&l, second, &value, PMIX_UINT32));
    return px_pubs_publish(&pubs, &a0, l.v, l.n);
}

PX_TEST(a_request_is_refused_as_a_whole)
{
    PX_AUTO(px_infos) directives = infos_of(
        &(struct how){.range = PMIX_RANGE_NAMESPACE});

    ck_assert_int_eq(publish(&a0, (struct how){.persistence = 99}, "key", 1),
                     PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(publish(&a0, (struct how){.range = PMIX_RANGE_INVALID}, "key", 1),
                     PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(publish_two("twice", "twice"), PMIX_ERR_DUPLICATE_KEY);
    ck_assert_int_eq(px_pubs_publish(&pubs, &a0, directives.v, directives.n),
                     PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(px_pubs_lookup(&pubs, &a0, NULL, NULL, 0, on_found, NULL),
                     PMIX_ERR_BAD_PARAM);
    ck_assert_uint_eq(pubs.n_pubs, 0);
    ok(publish(&a0, PLAIN, "there", 1));
    ck_assert_int_eq(publish_two("fresh", "there"), PMIX_ERR_DUPLICATE_KEY);
    ck_assert_int_eq(lookup(&a0, PLAIN, "fresh"), PMIX_ERR_NOT_FOUND);
    ck_assert_int_eq(n_answers, 1);
}

/* a0 publishes; another process looks the key up and publishes it, too. */
PX_TEST(ranges_and_users_say_who_sees_an_entry)
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
    } rows[] = {{job, &a1, any, SEEN, TAKEN},   {job, &b0, any, UNSEEN, TAKEN},
                {job, &b0, job, UNSEEN, FREE},  {own, &a0, any, SEEN, TAKEN},
                {own, &a1, any, UNSEEN, TAKEN}, {own, &a1, own, UNSEEN, FREE},
                {rm, &a0, any, SEEN, TAKEN},    {rm, &a1, any, UNSEEN, TAKEN},
                {all, &b0, any, SEEN, TAKEN},   {all, &a1, job, SEEN, TAKEN},
                {all, &b0, job, UNSEEN, TAKEN}, {all, &b0, stranger, UNSEEN, FREE}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        setup();
        ok(publish(&a0, rows[i].published, "key", 1));
        ck_assert_msg(lookup(rows[i].asker, rows[i].asked, "key") == rows[i].lookup &&
                          publish(rows[i].asker, rows[i].asked, "key", 2) ==
                              rows[i].publish,
                      "row %zu", i);
        teardown();
    }
}

PX_TEST(a_custom_range_is_those_named)
{
    PX_AUTO(px_infos) l = {0};
    pmix_data_range_t custom = PMIX_RANGE_CUSTOM;
    uint32_t uid = ME;

    ck_assert_int_eq(publish(&a0, (struct how){.range = custom}, "few", 1),
                     PMIX_ERR_BAD_PARAM);
    ok(px_infos_add(&l, PMIX_RANGE, &custom, PMIX_DATA_RANGE));
    ok(px_infos_add(&l, PMIX_USERID, &uid, PMIX_UINT32));
    ok(px_infos_add(&l, PMIX_EVENT_CUSTOM_RANGE, &b0, PMIX_PROC));
    ok(px_infos_add(&l, "few", &uid, PMIX_UINT32));
    ok(px_pubs_publish(&pubs, &a0, l.v, l.n));
    ok(lookup(&b0, PLAIN, "few"));
    ck_assert_int_eq(lookup(&a1, PLAIN, "few"), PMIX_ERR_NOT_FOUND);
}

PX_TEST(first_read_is_the_last)
{
    publish(&a0, (struct how){.persistence = PMIX_PERSIST_FIRST_READ}, "once", 1);
    ok(lookup(&a1, PLAIN, "once"));
    ck_assert_int_eq(lookup(&a1, PLAIN, "once"), PMIX_ERR_NOT_FOUND);
}

PX_TEST(persistence_says_what_stays)
{
    publish(&a0, (struct how){.persistence = PMIX_PERSIST_PROC}, "proc", 1);
    publish(&a0, (struct how){.persistence = PMIX_PERSIST_APP}, "app", 1);
    publish(&a0, (struct how){.persistence = PMIX_PERSIST_SESSION}, "session", 1);
    px_pubs_proc_gone(&pubs, &a1);
    ok(lookup(&b0, PLAIN, "proc,app,session"));
    px_pubs_proc_gone(&pubs, &a0);
    ck_assert_int_eq(lookup(&b0, PLAIN, "proc"), PMIX_ERR_NOT_FOUND);
    ok(lookup(&b0, PLAIN, "app,session"));
    px_pubs_job_gone(&pubs, "a");
    ck_assert_int_eq(lookup(&b0, PLAIN, "app"), PMIX_ERR_NOT_FOUND);
    ok(lookup(&b0, PLAIN, "session"));
}

PX_TEST(only_the_owner_takes_back)
{
    publish(&a0, PLAIN, "one", 1);
    publish(&a0, PLAIN, "two", 1);
    publish(&a0, PLAIN, "three", 1);
    unpublish(&a1, NULL);
    unpublish(&a1, "one");
    ok(lookup(&b0, PLAIN, "one,two,three"));
    unpublish(&a0, "one");
    ck_assert_int_eq(lookup(&b0, PLAIN, "one"), PMIX_ERR_NOT_FOUND);
    unpublish(&a0, NULL);
    ck_assert_int_eq(lookup(&b0, PLAIN, "two,three"), PMIX_ERR_NOT_FOUND);
}

PX_TEST(a_lookup_waits_for_all_it_wants)
{
    publish(&a0, PLAIN, "one", 1);
    ck_assert_int_eq(lookup(&b0, (struct how){.wait = true}, "one,two"),
                     PMIX_OPERATION_IN_PROGRESS);
    publish(&a1, PLAIN, "other", 1);
    ck_assert_int_eq(n_answers, 0);
    publish(&a1, PLAIN, "two", 2);
    ck_assert_int_eq(n_answers, 1);
    ok(answer);
    ck_assert_uint_eq(n_found, 2);
}

PX_TEST(a_lookup_waits_for_as_many_as_it_says)
{
    ck_assert_int_eq(lookup(&b0, (struct how){.wait_for = 2}, "one,two,three"),
                     PMIX_OPERATION_IN_PROGRESS);
    publish(&a0, PLAIN, "three", 3);
    ck_assert_int_eq(n_answers, 0);
    publish(&a0, PLAIN, "one", 1);
    ck_assert_int_eq(n_answers, 1);
    ck_assert_int_eq(answer, PMIX_ERR_PARTIAL_SUCCESS);
    ck_assert_uint_eq(n_found, 2);
    ok(lookup(&b0, (struct how){.wait_for = 1}, "three"));
}

PX_TEST(of_several_that_wait_one_gets_what_is_read_once)
{
    struct how wait = {.wait = true};

    lookup(&a1, wait, "once");
    lookup(&b0, wait, "once");
    publish(&a0, (struct how){.persistence = PMIX_PERSIST_FIRST_READ}, "once", 1);
    ck_assert_int_eq(n_answers, 1);
    publish(&a0, PLAIN, "once", 2);
    ck_assert_int_eq(n_answers, 2);
    ck_assert_uint_eq(first_value, 2);
}

PX_TEST(the_wait_of_a_process_ends_with_it)
{
    struct how wait = {.wait = true};

    lookup(&a0, wait, "never");
    lookup(&a1, wait, "never");
    lookup(&b0, wait, "never");
    px_pubs_proc_gone(&pubs, &a1);
    ck_assert_int_eq(n_answers, 1);
    ck_assert_int_eq(answer, PMIX_ERR_LOST_CONNECTION);
    px_pubs_job_gone(&pubs, "a");
    ck_assert_int_eq(n_answers, 2);
    px_pubs_fini(&pubs);
    ck_assert_int_eq(n_answers, 3);
}

PX_TEST(there_is_a_limit)
{
    char key[32];

    for (unsigned i = 0; i < PX_MAX_PUBS; i++) {
        snprintf(key, sizeof(key), "key %u", i % 64);
        px_proc_set(&b0, "b",
                    i / 64); /* not seen by others: no comparison finds a duplicate */
        ok(publish(&b0, (struct how){.range = PMIX_RANGE_PROC_LOCAL}, key, i));
    }
    ck_assert_int_eq(publish(&a0, PLAIN, "one more", 1), PMIX_ERR_OUT_OF_RESOURCE);
}

static struct px_loop *loop;

static void do_lookup(struct px_call *call, void *args PX_UNUSED)
{
    char key[] = "late", *keys[] = {key, NULL};
    int second = 1;
    bool yes = true;
    pmix_info_t info[2];

    PMIx_Info_load(&info[0], PMIX_WAIT, &yes, PMIX_BOOL);
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
    ok(px_loop_create(true, &loop));
    ok(px_call(loop, do_lookup, NULL));
    while (n_answers == 0)
        px_loop_pump(loop);
    ck_assert_int_eq(answer, PMIX_ERR_TIMEOUT);
    ok(px_call(loop, do_fini, NULL));
    px_loop_destroy(loop);
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
