/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of gds: a stored value is fetched by table, rank and key in any thread.
 * Walks keep the order, and clearing removes exactly the requested values. Each rule
 * has its own namespace, and values are numbers unless stated otherwise. Where peers
 * read in place, a peer must find the same. */
#include "contract.h"

#include "alloc_fail.h"
#include "core/base/str.h"
#include "core/types/type.h"
#include "seccomp.h"
#include "tenon/gds.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { MANY = 5000, READERS = 4, ROUNDS = 20 };

static struct px_gds_ns *ns;
static struct px_gds_ns *theirs; /* the peer's view of described; NULL: none */
static const struct px_gds_ns *described;

static const struct px_gds_ops *ops(void)
{
    return contract.component->ops;
}

static struct px_gds_ns *create(const char *nspace)
{
    struct px_gds_ns *made = NULL;

    ok(ops()->create(contract.self, nspace, &made));
    ck_assert_ptr_nonnull(made);
    return made;
}

static pmix_status_t attach_with(int *with_fd, struct px_gds_ns **made)
{
    pmix_proc_t reader = {.nspace = "job", .rank = 1};
    pmix_info_t *infos = NULL;
    size_t n = 0;
    int fd = -1;

    ok(ops()->describe(contract.self, ns, &reader, &infos, &n, &fd));
    pmix_status_t rc = ops()->attach(contract.self, "job", infos, n,
                                     with_fd ? *with_fd : fd, made);
    px_type_free_array(PMIX_INFO, infos, n);
    return rc;
}

/* Returns the descriptor that a peer gets; -1: none. */
static int described_fd(void)
{
    pmix_proc_t reader = {.nspace = "job", .rank = 1};
    pmix_info_t *infos = NULL;
    size_t n = 0;
    int fd = -1;

    ok(ops()->describe(contract.self, ns, &reader, &infos, &n, &fd));
    px_type_free_array(PMIX_INFO, infos, n);
    return fd;
}

static void detach(void)
{
    if (theirs)
        ops()->destroy(contract.self, theirs);
    theirs = NULL;
}

static void attach(void)
{
    detach();
    if (ops()->describe &&
        px_test_has_proc()) /* needed to make read-only descriptors */
        ok(attach_with(NULL, &theirs));
    described = ns;
}

void contract_gds_setup(void)
{
    contract_setup();
    ns = create("job");
    attach();
}

void contract_gds_teardown(void)
{
    ops()->destroy(contract.self, ns);
    detach();
    contract_teardown();
}

static pmix_status_t store(enum px_gds_table table, pmix_rank_t rank, const char *key,
                           const pmix_value_t *value)
{
    return ops()->store(contract.self, ns, table, rank, key, value);
}

static void put(enum px_gds_table table, pmix_rank_t rank, const char *key,
                uint32_t number)
{
    const pmix_value_t value = {.type = PMIX_UINT32, .data.uint32 = number};

    ok(store(table, rank, key, &value));
}

static void discard(enum px_gds_table table, pmix_rank_t rank, const char *key)
{
    const pmix_value_t none = {.type = PMIX_UNDEF};

    ok(store(table, rank, key, &none));
}

static pmix_status_t fetch_from(struct px_gds_ns *from, enum px_gds_table table,
                                pmix_rank_t rank, const char *key, pmix_value_t *out)
{
    return ops()->fetch(contract.self, from, table, rank, key, NULL, 0, out);
}

/* Checks a fetch by the peer. A peer that finds no data asks for their place again. */
static void expect_theirs(enum px_gds_table table, pmix_rank_t rank, const char *key,
                          pmix_status_t rc, const pmix_value_t *value)
{
    pmix_value_t v;
    pmix_status_t found = fetch_from(theirs, table, rank, key, &v);

    if (found == PMIX_ERR_NOT_FOUND && rc != PMIX_ERR_NOT_FOUND) {
        attach();
        found = fetch_from(theirs, table, rank, key, &v);
    }
    ck_assert_int_eq(found, rc);
    if (!rc) {
        ck_assert_int_eq(v.type, value->type);
        ck_assert_int_eq(px_type_compare(PMIX_VALUE, &v, value), 0);
        px_type_destruct(PMIX_VALUE, &v);
    }
}

static pmix_status_t fetch(enum px_gds_table table, pmix_rank_t rank, const char *key,
                           pmix_value_t *out)
{
    pmix_status_t rc = fetch_from(ns, table, rank, key, out);

    if (theirs && ns == described && out)
        expect_theirs(table, rank, key, rc, out);
    return rc;
}

static pmix_status_t view(enum px_gds_table table, pmix_rank_t rank, const char *key,
                          const void **bytes, size_t *n)
{
    return ops()->view(contract.self, ns, table, rank, key, bytes, n);
}

/* Returns the number stored, or -1 if there is none. */
static int64_t get(enum px_gds_table table, pmix_rank_t rank, const char *key)
{
    pmix_value_t v;
    pmix_status_t rc = fetch(table, rank, key, &v);

    ck_assert_int_eq(fetch(table, rank, key, NULL), rc); /* asks only for existence */
    if (rc == PMIX_ERR_NOT_FOUND)
        return -1;
    ok(rc);
    ck_assert_int_eq(v.type, PMIX_UINT32);
    return v.data.uint32;
}

static void expect_text(enum px_gds_table table, pmix_rank_t rank, const char *key,
                        const char *text)
{
    pmix_value_t v;

    ok(fetch(table, rank, key, &v));
    ck_assert_str_eq(v.data.string, text);
    px_type_destruct(PMIX_VALUE, &v);
}

/* Collects "rank/key=value " of each pair of a walk. */
struct account {
    char text[4096];
    size_t n;
    size_t stop_at; /* pairs before the walk stops; 0: no limit */
};

static pmix_status_t note(void *arg, pmix_rank_t rank, const char *key,
                          const pmix_value_t *value)
{
    struct account *a = arg;
    size_t len = strlen(a->text);

    if (++a->n == a->stop_at)
        return PMIX_ERR_EMPTY;
    if (rank == PMIX_RANK_WILDCARD)
        a->text[len++] = '*';
    else
        len += (size_t)snprintf(a->text + len, sizeof(a->text) - len, "%u", rank);
    snprintf(a->text + len, sizeof(a->text) - len, "/%s=%u ", key, value->data.uint32);
    return PMIX_SUCCESS;
}

static pmix_status_t note_any(void *arg, pmix_rank_t rank PX_UNUSED,
                              const char *key PX_UNUSED,
                              const pmix_value_t *value PX_UNUSED)
{
    struct account *a = arg;

    return ++a->n == a->stop_at ? PMIX_ERR_EMPTY : PMIX_SUCCESS;
}

static pmix_status_t walk(enum px_gds_table table, pmix_rank_t rank, px_gds_walk_fn fn,
                          void *arg)
{
    return ops()->walk(contract.self, ns, table, rank, fn, arg);
}

static void expect_walk(enum px_gds_table table, pmix_rank_t rank, const char *text)
{
    struct account a = {.n = 0}, same = a;

    ok(walk(table, rank, note, &a));
    ck_assert_str_eq(a.text, text);
    if (!theirs)
        return;
    ok(ops()->walk(contract.self, theirs, table, rank, note, &same));
    ck_assert_str_eq(same.text, text);
}

/* ---- storing and finding --------------------------------------------------------- */

PX_TEST(finds_what_was_stored_and_nothing_else)
{
    static const char *const others[] = {"b", "A", "aa"};

    ck_assert_int_eq(get(PX_GDS_JOB, 3, "a"), -1);
    put(PX_GDS_JOB, 3, "a", 7);
    ck_assert_int_eq(get(PX_GDS_JOB, 3, "a"), 7);
    for (size_t i = 0; i < PX_COUNT(others); i++)
        ck_assert_int_eq(get(PX_GDS_JOB, 3, others[i]), -1);
    ck_assert_int_eq(get(PX_GDS_JOB, 4, "a"), -1);
    ck_assert_int_eq(get(PX_GDS_JOB, PMIX_RANK_WILDCARD, "a"), -1);
}

PX_TEST(a_later_value_replaces_the_earlier)
{
    const pmix_value_t text = {.type = PMIX_STRING, .data.string = (char *)"text"};

    put(PX_GDS_LOCAL, 0, "a", 1);
    put(PX_GDS_LOCAL, 0, "a", 2);
    ck_assert_int_eq(get(PX_GDS_LOCAL, 0, "a"), 2);
    ok(store(PX_GDS_LOCAL, 0, "a", &text));
    expect_text(PX_GDS_LOCAL, 0, "a", "text");
}

PX_TEST(undef_deletes)
{
    discard(PX_GDS_LOCAL, 0, "never there");
    put(PX_GDS_LOCAL, 0, "a", 1);
    put(PX_GDS_LOCAL, 0, "b", 2);
    discard(PX_GDS_LOCAL, 0, "a");
    ck_assert_int_eq(get(PX_GDS_LOCAL, 0, "a"), -1);
    ck_assert_int_eq(get(PX_GDS_LOCAL, 0, "b"), 2);
    discard(PX_GDS_LOCAL, 0, "b");
    expect_walk(PX_GDS_LOCAL, 0, "");
    expect_walk(PX_GDS_LOCAL, PMIX_RANK_UNDEF, "");
}

PX_TEST(tables_ranks_and_namespaces_are_apart)
{
    struct px_gds_ns *first = ns;
    struct px_gds_ns *second = create("other job");
    for (uint32_t table = 0; table < PX_GDS_N_TABLES; table++) {
        put(table, 1, "a", 10 * table + 1);
        put(table, 2, "a", 10 * table + 2);
        put(table, PMIX_RANK_WILDCARD, "a", 10 * table + 3);
    }
    ns = second;
    put(PX_GDS_JOB, 1, "a", 99);
    ck_assert_int_eq(get(PX_GDS_LOCAL, 1, "a"), -1);
    ops()->destroy(contract.self, second);
    ops()->destroy(contract.self, NULL);
    ns = first;
    for (uint32_t table = 0; table < PX_GDS_N_TABLES; table++) {
        ck_assert_int_eq(get(table, 1, "a"), 10 * table + 1);
        ck_assert_int_eq(get(table, 2, "a"), 10 * table + 2);
        ck_assert_int_eq(get(table, PMIX_RANK_WILDCARD, "a"), 10 * table + 3);
    }
}

PX_TEST(nonsense_is_refused_and_stores_nothing)
{
    const pmix_value_t value = {.type = PMIX_UINT32};
    const pmix_value_t unknown = {.type = 0x7fff};

    fails(store(PX_GDS_N_TABLES, 0, "a", &value), BAD_PARAM);
    fails(store(PX_GDS_JOB, PMIX_RANK_UNDEF, "a", &value), BAD_PARAM);
    fails(store(PX_GDS_JOB, 0, "", &value), BAD_PARAM);
    fails(store(PX_GDS_JOB, 0, NULL, &value), BAD_PARAM);
    fails(store(PX_GDS_JOB, 0, "a", NULL), BAD_PARAM);
    fails(store(PX_GDS_JOB, 0, "a", &unknown), UNKNOWN_DATA_TYPE);
    expect_walk(PX_GDS_JOB, PMIX_RANK_UNDEF, "");

    put(PX_GDS_JOB, 0, "a", 1);
    fails(store(PX_GDS_JOB, 0, "a", &unknown), UNKNOWN_DATA_TYPE);
    ck_assert_int_eq(get(PX_GDS_JOB, 0, "a"), 1);
}

/* ---- copies ---------------------------------------------------------------------- */

/* Makes an array of infos that hold a string, bytes and another array. */
static void make_deep(pmix_value_t *value)
{
    PX_AUTO(px_infos) inner = {0};
    PX_AUTO(px_infos) outer = {0};
    const pmix_byte_object_t bytes = {.bytes = (char *)"\0\1\2", .size = 3};
    pmix_data_array_t array = {.type = PMIX_INFO};

    ok(px_infos_add(&inner, "inner", "deep down", PMIX_STRING));
    ok(px_infos_add(&outer, "text", "some text", PMIX_STRING));
    ok(px_infos_add(&outer, "bytes", &bytes, PMIX_BYTE_OBJECT));
    ok(px_infos_add_array(&outer, "array", &inner));
    array.array = outer.v;
    array.size = outer.n;
    const pmix_value_t borrowed = {.type = PMIX_DATA_ARRAY, .data.darray = &array};
    ok(px_type_copy(PMIX_VALUE, value, &borrowed));
}

PX_TEST(keeps_a_deep_copy)
{
    char key[] = "key";
    pmix_value_t value, same, found;

    make_deep(&value);
    make_deep(&same);
    ok(store(PX_GDS_REMOTE, 0, key, &value));
    px_type_destruct(PMIX_VALUE, &value);
    key[0] = '?';

    ok(fetch(PX_GDS_REMOTE, 0, "key", &found));
    ok(px_type_compare(PMIX_VALUE, &found, &same));
    discard(PX_GDS_REMOTE, 0, "key"); /* the caller owns the fetched value */
    ok(px_type_compare(PMIX_VALUE, &found, &same));
    px_type_destruct(PMIX_VALUE, &found);
    px_type_destruct(PMIX_VALUE, &same);
}

PX_TEST(shows_byte_objects_in_place)
{
    const pmix_value_t value = {.type = PMIX_BYTE_OBJECT,
                                .data.bo = {.bytes = (char *)"\0\1\2", .size = 3}};
    const void *bytes, *again;
    size_t n = 0;

    PX_TEST_NEEDS(ops()->view, "a store that shows values in place");
    ok(store(PX_GDS_JOB, 0, "map", &value));
    put(PX_GDS_JOB, 0, "number", 7);
    for (int i = 0; i < 2; i++) {
        ok(view(PX_GDS_JOB, 0, "map", i ? &again : &bytes, &n));
        ck_assert_mem_eq(i ? again : bytes, value.data.bo.bytes, 3);
        ck_assert_uint_eq(n, 3);
    }
    ck_assert_ptr_eq(bytes, again);
    fails(view(PX_GDS_JOB, 0, "number", &bytes, &n), NOT_FOUND);
    fails(view(PX_GDS_JOB, 0, "none", &bytes, &n), NOT_FOUND);
    fails(view(PX_GDS_JOB, 1, "map", &bytes, &n), NOT_FOUND);
    fails(view(PX_GDS_N_TABLES, 0, "map", &bytes, &n), NOT_FOUND);
}

/* ---- walking --------------------------------------------------------------------- */

PX_TEST(walks_a_rank_in_the_order_first_stored)
{
    put(PX_GDS_JOB, 0, "zebra", 1);
    put(PX_GDS_JOB, 1, "other", 9);
    put(PX_GDS_JOB, 0, "ape", 2);
    put(PX_GDS_JOB, 0, "mole", 3);
    put(PX_GDS_JOB, 0, "zebra", 4);

    expect_walk(PX_GDS_JOB, 0, "0/zebra=4 0/ape=2 0/mole=3 ");
    discard(PX_GDS_JOB, 0, "ape");
    put(PX_GDS_JOB, 0, "ape", 5); /* comes last now */
    expect_walk(PX_GDS_JOB, 0, "0/zebra=4 0/mole=3 0/ape=5 ");
    expect_walk(PX_GDS_JOB, 1, "1/other=9 ");
    expect_walk(PX_GDS_JOB, 2, "");
    expect_walk(PX_GDS_LOCAL, 0, "");
}

PX_TEST(walks_all_ranks_ascending_and_wildcard_last)
{
    put(PX_GDS_JOB, PMIX_RANK_WILDCARD, "size", 3);
    put(PX_GDS_JOB, 2, "b", 2);
    put(PX_GDS_JOB, 0, "z", 0);
    put(PX_GDS_JOB, 1000000, "c", 4);
    put(PX_GDS_JOB, 2, "a", 3);
    expect_walk(PX_GDS_JOB, PMIX_RANK_UNDEF, "0/z=0 2/b=2 2/a=3 1000000/c=4 */size=3 ");

    put(PX_GDS_JOB, 1, "y", 5);
    expect_walk(PX_GDS_JOB, PMIX_RANK_UNDEF,
                "0/z=0 1/y=5 2/b=2 2/a=3 1000000/c=4 */size=3 ");
    expect_walk(PX_GDS_JOB, PMIX_RANK_WILDCARD, "*/size=3 ");
}

PX_TEST(a_walk_stops_when_asked)
{
    struct account one = {.stop_at = 2}, all = {.stop_at = 3};

    for (uint32_t i = 0; i < 4; i++)
        put(PX_GDS_JOB, i / 2, i % 2 ? "odd" : "even", i);
    fails(walk(PX_GDS_JOB, 0, note, &one), EMPTY);
    ck_assert_str_eq(one.text, "0/even=0 ");
    fails(walk(PX_GDS_JOB, PMIX_RANK_UNDEF, note, &all), EMPTY);
    ck_assert_str_eq(all.text, "0/even=0 0/odd=1 ");
    ck_assert_uint_eq(all.n, 3);
}

/* ---- clearing -------------------------------------------------------------------- */

PX_TEST(clears_one_rank_or_all_ranks_of_one_table)
{
    ops()->clear(contract.self, ns, PX_GDS_LOCAL, 5); /* the rank has no values */
    for (uint32_t rank = 0; rank < 4; rank++) {
        put(PX_GDS_LOCAL, rank, "a", rank);
        put(PX_GDS_REMOTE, rank, "a", rank);
    }

    ops()->clear(contract.self, ns, PX_GDS_LOCAL, 1);

    expect_walk(PX_GDS_LOCAL, PMIX_RANK_UNDEF, "0/a=0 2/a=2 3/a=3 ");
    expect_walk(PX_GDS_REMOTE, PMIX_RANK_UNDEF, "0/a=0 1/a=1 2/a=2 3/a=3 ");
    put(PX_GDS_LOCAL, 1, "b", 7);
    put(PX_GDS_LOCAL, PMIX_RANK_WILDCARD, "a", 8);
    expect_walk(PX_GDS_LOCAL, PMIX_RANK_UNDEF, "0/a=0 1/b=7 2/a=2 3/a=3 */a=8 ");

    ops()->clear(contract.self, ns, PX_GDS_LOCAL, PMIX_RANK_UNDEF);

    expect_walk(PX_GDS_LOCAL, PMIX_RANK_UNDEF, "");
    ck_assert_int_eq(get(PX_GDS_LOCAL, 0, "a"), -1);
    expect_walk(PX_GDS_REMOTE, PMIX_RANK_UNDEF, "0/a=0 1/a=1 2/a=2 3/a=3 ");
    put(PX_GDS_LOCAL, 4, "b", 3);
    expect_walk(PX_GDS_LOCAL, PMIX_RANK_UNDEF, "4/b=3 ");
}

/* ---- many, and too many ---------------------------------------------------------- */

PX_TEST(holds_thousands_of_keys)
{
    for (uint32_t i = 0; i < 2 * MANY; i++) {
        PX_AUTOFREE char *key = px_strf("key.%u", i % MANY);
        if (i < MANY)
            put(PX_GDS_LOCAL, 0, key, i);
        else
            ck_assert_int_eq(get(PX_GDS_LOCAL, 0, key), i - MANY);
    }
}

static pmix_status_t check_ascending(void *arg, pmix_rank_t rank, const char *key,
                                     const pmix_value_t *value)
{
    uint32_t *next = arg;

    if (rank != *next || value->data.uint32 != rank || strcmp(key, "a") != 0)
        return PMIX_ERROR;
    ++*next;
    return PMIX_SUCCESS;
}

/* Ranks arrive in the order in which nodes report; here round robin. */
PX_TEST(holds_thousands_of_ranks)
{
    const uint32_t n_nodes = 50;
    uint32_t next = 0;

    for (uint32_t node = 0; node < n_nodes; node++) {
        for (uint32_t rank = node; rank < MANY; rank += n_nodes)
            put(PX_GDS_REMOTE, rank, "a", rank);
    }
    ok(walk(PX_GDS_REMOTE, PMIX_RANK_UNDEF, check_ascending, &next));
    ck_assert_uint_eq(next, MANY);
}

/* Stores a new rank, a new key and a changed value; a failure leaves no trace. */
static pmix_status_t fill(const pmix_value_t *deep)
{
    static const struct {
        pmix_rank_t rank;
        const char *key;
    } at[] = {{0, "a"}, {0, "b"}, {0, "a"}, {7, "a"}};
    struct px_gds_ns *first = ns;
    pmix_status_t rc = ops()->create(contract.self, "other job", &ns);

    for (size_t i = 0; !rc && i < PX_COUNT(at); i++) {
        pmix_value_t v;
        pmix_status_t before = fetch(PX_GDS_LOCAL, at[i].rank, at[i].key, NULL);

        rc = store(PX_GDS_LOCAL, at[i].rank, at[i].key, deep);
        if (rc && fetch(PX_GDS_LOCAL, at[i].rank, at[i].key, NULL) != before)
            rc = PMIX_ERROR;
        if (rc && before) /* the key was absent before, as expected */
            break;
        pmix_status_t fetched = fetch(PX_GDS_LOCAL, at[i].rank, at[i].key, &v);
        if (!fetched && px_type_compare(PMIX_VALUE, &v, deep) != 0)
            rc = PMIX_ERROR;
        if (!fetched)
            px_type_destruct(PMIX_VALUE, &v);
        if (!rc)
            rc = fetched;
    }
    if (ns != first)
        ops()->destroy(contract.self, ns);
    ns = first;
    return rc;
}

PX_TEST(running_out_of_memory_changes_nothing)
{
    PX_TEST_NEEDS_ALLOC;
    pmix_value_t deep;
    unsigned nth = 0;

    make_deep(&deep);
    while (px_alloc_next(&nth))
        px_alloc_check(fill(&deep));
    ck_assert_uint_gt(nth, 10);
    px_type_destruct(PMIX_VALUE, &deep);
}

/* ---- many threads ---------------------------------------------------------------- */

/* Makes no assertions, which would make system calls. */
static void fetch_all(void *arg)
{
    struct px_gds_ns *const from[] = {ns, theirs};
    unsigned *n_wrong = arg;

    for (uint32_t i = 0; i < 2 * MANY; i += 7) {
        const uint32_t rank = i % MANY;
        struct px_gds_ns *at = from[i / MANY];
        pmix_value_t v;

        if (!at)
            continue;
        *n_wrong += fetch_from(at, PX_GDS_JOB, rank, "a", &v) || v.data.uint32 != rank;
        *n_wrong += fetch_from(at, PX_GDS_JOB, rank, "b", NULL) != PMIX_ERR_NOT_FOUND;
    }
}

static void *read_rounds(void *arg)
{
    for (int i = 0; i < ROUNDS; i++)
        fetch_all(arg);
    return NULL;
}

PX_TEST(many_threads_fetch_while_one_walks)
{
    pthread_t threads[READERS];
    unsigned n_wrong[READERS] = {0};

    for (uint32_t rank = MANY; rank-- > 0;)
        put(PX_GDS_JOB, rank, "a", rank);
    for (int i = 0; i < READERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_rounds, &n_wrong[i]),
                         0);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t next = 0;
        ok(walk(PX_GDS_JOB, PMIX_RANK_UNDEF, check_ascending, &next));
        ck_assert_uint_eq(next, MANY);
    }
    for (int i = 0; i < READERS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_uint_eq(n_wrong[i], 0);
    }
}

PX_TEST(fetching_takes_no_system_call_and_no_memory_but_the_values)
{
    PX_TEST_NEEDS_ALLOC;
    struct px_gds_ns *const from[] = {ns, theirs};
    const pmix_value_t text = {.type = PMIX_STRING, .data.string = (char *)"text"};
    pmix_value_t v;
    unsigned n_wrong = 0;

    for (uint32_t rank = 0; rank < MANY; rank++)
        put(PX_GDS_JOB, rank, "a", rank);
    ck_assert_int_eq(px_test_first_call_of(fetch_all, &n_wrong), -1);
    px_alloc_fail_at(0);
    fetch_all(&n_wrong);
    ck_assert_uint_eq(px_alloc_count(), 0); /* a number needs no memory of its own */
    ck_assert_uint_eq(n_wrong, 0);
    ok(store(PX_GDS_JOB, 0, "text", &text));
    for (size_t i = 0; i < PX_COUNT(from) && from[i]; i++) {
        px_alloc_fail_at(0);
        pmix_status_t rc = fetch_from(from[i], PX_GDS_JOB, 0, "text", &v);
        px_alloc_fail_end();
        ok(rc);
        ck_assert_uint_eq(px_alloc_count(), 1);
        PMIX_VALUE_DESTRUCT(&v);
    }
}

/* ---- peers that read in place ---------------------------------------------------- */

PX_TEST(to_describe_and_to_attach_go_together)
{
    ck_assert_int_eq(!ops()->describe, !ops()->attach);
}

PX_TEST(a_peer_sees_what_comes_and_goes)
{
    PX_TEST_NEEDS(theirs, "a store that peers read in place");
    for (uint32_t i = 0; i < MANY; i++) {
        PX_AUTOFREE char *key = px_strf("key.%u", i % 50);
        ck_assert_int_eq(get(PX_GDS_JOB, i % 7, key), i < 350 ? -1 : (int)i - 350);
        put(PX_GDS_JOB, i % 7, key, i);
    }
    ops()->clear(contract.self, ns, PX_GDS_JOB, 3);
    for (uint32_t i = MANY - 350; i < MANY; i++) {
        PX_AUTOFREE char *key = px_strf("key.%u", i % 50);
        ck_assert_int_eq(get(PX_GDS_JOB, i % 7, key), i % 7 == 3 ? -1 : (int)i);
    }
}

/* Replaced values are freed, and peers continue to read. */
PX_TEST(stores_more_than_it_holds)
{
    static char bytes[300000];
    const pmix_value_t large = {.type = PMIX_BYTE_OBJECT,
                                .data.bo = {.bytes = bytes, .size = sizeof(bytes)}};
    pmix_value_t v;

    put(PX_GDS_JOB, PMIX_RANK_WILDCARD, "small", 7);
    for (int i = 0; i < 40; i++) {
        memset(bytes, i, sizeof(bytes));
        ok(store(PX_GDS_JOB, 0, i % 2 ? "odd" : "even", &large));
        ok(fetch(PX_GDS_JOB, 0, i % 2 ? "odd" : "even", &v));
        ck_assert_mem_eq(v.data.bo.bytes, bytes, sizeof(bytes));
        px_type_destruct(PMIX_VALUE, &v);
        ck_assert_int_eq(get(PX_GDS_JOB, PMIX_RANK_WILDCARD, "small"), 7);
    }
}

PX_TEST(a_peer_outlives_what_it_reads)
{
    const void *bytes = NULL;
    const pmix_value_t map = {.type = PMIX_BYTE_OBJECT,
                              .data.bo = {.bytes = (char *)"map", .size = 3}};
    size_t n = 0;

    PX_TEST_NEEDS(theirs && ops()->view, "a store that peers read in place");
    ok(store(PX_GDS_JOB, 0, "map", &map));
    ok(ops()->view(contract.self, theirs, PX_GDS_JOB, 0, "map", &bytes, &n));
    ops()->destroy(contract.self, ns);
    ns = NULL;
    ck_assert_mem_eq(bytes, "map", n);
    ok(fetch_from(theirs, PX_GDS_JOB, 0, "map", NULL));
}

/* A peer may reuse results of a table while its change counter stays the same. */
PX_TEST(a_peer_knows_of_changes)
{
    PX_TEST_NEEDS(theirs && ops()->changes, "a store that peers read in place");
    put(PX_GDS_INTERNAL, 0, "a", 1);
    put(PX_GDS_INTERNAL, 0, "b", 1);
    const uint64_t first = ops()->changes(contract.self, theirs);
    ck_assert_uint_ne(first, 0);
    put(PX_GDS_INTERNAL, 0, "c", 1);
    put(PX_GDS_JOB, 0, "a", 1);
    discard(PX_GDS_JOB, 0, "a");
    ck_assert_uint_eq(ops()->changes(contract.self, theirs), first);
    put(PX_GDS_INTERNAL, 0, "a", 2);
    const uint64_t second = ops()->changes(contract.self, theirs);
    ck_assert_uint_ne(second, first);
    discard(PX_GDS_INTERNAL, 0, "b");
    ck_assert_uint_ne(ops()->changes(contract.self, theirs), second);
}

/* Makes a sealed memory file of the first n bytes of another file. */
static int copy_of(int from, size_t n)
{
    PX_AUTOFREE char *bytes = calloc(1, n + 1);
    int fd = memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    ck_assert_int_ge(pread(from, bytes, n, 0), 0);
    ck_assert_int_eq(write(fd, bytes, n), (ssize_t)n);
    ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    return fd;
}

PX_TEST(a_peer_attaches_to_nothing_else)
{
    PX_TEST_NEEDS(theirs, "a store that peers read in place");
    struct px_gds_ns *made = NULL;
    const int fd = described_fd();
    int ends[2];

    ck_assert_int_ne(ops()->attach(contract.self, "job", NULL, 0, fd, &made), 0);
    if (fd < 0)
        return;
    ok(pipe2(ends, O_CLOEXEC));
    const int fds[] = {-1,
                       99,
                       open("/dev/null", O_RDONLY | O_CLOEXEC),
                       open("/", O_RDONLY | O_CLOEXEC),
                       open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
                       ends[0],
                       ends[1],
                       memfd_create("unsealed", MFD_CLOEXEC),
                       copy_of(fd, 0),
                       copy_of(fd, 8),
                       copy_of(fd, 4095)};
    size_t before = px_test_count_fds();
    for (size_t i = 0; i < PX_COUNT(fds); i++) {
        int other = fds[i];
        ck_assert_msg(attach_with(&other, &made) != 0, "%zu", i);
        ck_assert_uint_eq(px_test_count_fds(), before);
        if (i > 1) {
            close(other);
            before--;
        }
    }
    ck_assert_ptr_null(made);
}

/* A server writes random bytes into the shared memory. A peer may find nothing or
 * something wrong, but must return. */
PX_TEST(a_peer_reads_what_changes_under_it)
{
    PX_TEST_NEEDS(theirs, "a store that peers read in place");
    struct px_gds_ns *made = NULL;
    struct account a = {.stop_at = 100};
    struct stat st;

    for (uint32_t i = 0; i < 50; i++) {
        PX_AUTOFREE char *key = px_strf("key.%u", i);
        put(PX_GDS_JOB, i % 3, key, i);
    }
    const int fd = described_fd();
    PX_TEST_NEEDS(fd >= 0 && !fstat(fd, &st), "a store that is a file");
    PX_AUTOCLOSE int copy = copy_of(fd, (size_t)st.st_size);
    ok(attach_with(&copy, &made));
    ok(fetch_from(made, PX_GDS_JOB, 1, "key.1", NULL));
    for (uint64_t i = 0, word = 1; i < MANY; i++) {
        pmix_value_t v;

        word = word * 6364136223846793005u + 1442695040888963407u;
        ck_assert_int_eq(pwrite(copy, &word, 1 + i % 8, (off_t)(word >> 33) % 16384),
                         (ssize_t)(1 + i % 8));
        if (!fetch_from(made, PX_GDS_JOB, 1, "key.1", &v))
            px_type_destruct(PMIX_VALUE, &v);
        a.n = 0;
        (void)ops()->walk(contract.self, made, PX_GDS_JOB, PMIX_RANK_UNDEF, note_any,
                          &a);
    }
    ops()->destroy(contract.self, made);
}

PX_TEST(a_peer_can_change_nothing)
{
    const pmix_value_t v = {.type = PMIX_UINT32};

    PX_TEST_NEEDS(theirs, "a store that peers read in place");
    ck_assert_int_ne(ops()->store(contract.self, theirs, PX_GDS_JOB, 0, "a", &v), 0);
    const int fd = described_fd();
    PX_TEST_NEEDS(fd >= 0, "a store that is a file");
    ck_assert_int_eq(write(fd, "x", 1), -1);
    ck_assert_int_eq(ftruncate(fd, 1 << 20), -1);
    ck_assert_int_eq(fallocate(fd, 0, 0, 1 << 20), -1);
    ck_assert_ptr_eq(mmap(NULL, 1, PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
    ck_assert_ptr_eq(mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0),
                     MAP_FAILED);
    /* A peer of the same user cannot write either: the file is sealed. */
    PX_AUTOFREE char *path = px_strf("/proc/self/fd/%d", fd);
    PX_AUTOCLOSE int again = fchmod(fd, 0600) ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (again < 0)
        return;
    ck_assert_int_eq(write(again, "x", 1), -1);
    ck_assert_int_eq(ftruncate(again, 0), -1);
    ck_assert_int_eq(fallocate(again, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 1),
                     -1);
    ck_assert_ptr_eq(mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, again, 0),
                     MAP_FAILED);
}
