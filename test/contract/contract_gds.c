/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of gds: what is stored is found, by table, rank and key. How it is
 * walked and cleared is in contract_gds_walk.c. */
#include "contract_gds.h"

#include "alloc_fail.h"
#include "core/base/str.h"
#include "core/types/type.h"

#include <string.h>

enum { MANY = 5000 };

struct px_gds_ns *gds_ns;

const struct px_gds_ops *gds_ops(void)
{
    return contract.component->ops;
}

struct px_gds_ns *gds_create(const char *nspace)
{
    struct px_gds_ns *made = NULL;

    ck_assert_int_eq(gds_ops()->create(contract.self, nspace, &made), PMIX_SUCCESS);
    ck_assert_ptr_nonnull(made);
    return made;
}

void gds_destroy(struct px_gds_ns *n)
{
    gds_ops()->destroy(contract.self, n);
}

pmix_status_t gds_store(enum px_gds_table table, pmix_rank_t rank, const char *key,
                        const pmix_value_t *value)
{
    return gds_ops()->store(contract.self, gds_ns, table, rank, key, value);
}

void gds_put(enum px_gds_table table, pmix_rank_t rank, const char *key,
             uint32_t number)
{
    const pmix_value_t value = {.type = PMIX_UINT32, .data.uint32 = number};

    ck_assert_int_eq(gds_store(table, rank, key, &value), PMIX_SUCCESS);
}

void gds_discard(enum px_gds_table table, pmix_rank_t rank, const char *key)
{
    const pmix_value_t none = {.type = PMIX_UNDEF};

    ck_assert_int_eq(gds_store(table, rank, key, &none), PMIX_SUCCESS);
}

const pmix_value_t *gds_find(enum px_gds_table table, pmix_rank_t rank, const char *key)
{
    return gds_ops()->find(contract.self, gds_ns, table, rank, key);
}

/* -1: there is none. */
int64_t gds_get(enum px_gds_table table, pmix_rank_t rank, const char *key)
{
    const pmix_value_t *v = gds_find(table, rank, key);

    if (!v)
        return -1;
    ck_assert_int_eq(v->type, PMIX_UINT32);
    return v->data.uint32;
}

pmix_status_t gds_note(void *arg, pmix_rank_t rank, const char *key,
                       const pmix_value_t *value)
{
    struct account *a = arg;
    size_t len = strlen(a->text);

    if (++a->n == a->stop_at)
        return PMIX_ERR_EMPTY;
    if (rank == PMIX_RANK_WILDCARD)
        snprintf(a->text + len, sizeof(a->text) - len, "*/%s=%u ", key,
                 value->data.uint32);
    else
        snprintf(a->text + len, sizeof(a->text) - len, "%u/%s=%u ", rank, key,
                 value->data.uint32);
    return PMIX_SUCCESS;
}

void gds_expect_walk(enum px_gds_table table, pmix_rank_t rank, const char *text)
{
    struct account a = {.n = 0};

    ck_assert_int_eq(gds_ops()->walk(contract.self, gds_ns, table, rank, gds_note, &a),
                     PMIX_SUCCESS);
    ck_assert_str_eq(a.text, text);
}

/* ---- storing and finding --------------------------------------------------------- */

START_TEST(finds_what_was_stored)
{
    gds_ns = gds_create("job");
    gds_put(PX_GDS_JOB, 3, "pmix.lrank", 7);

    ck_assert_int_eq(gds_get(PX_GDS_JOB, 3, "pmix.lrank"), 7);
    gds_destroy(gds_ns);
}
END_TEST

START_TEST(finds_nothing_that_was_not_stored)
{
    gds_ns = gds_create("job");
    ck_assert_ptr_null(gds_find(PX_GDS_JOB, 3, "a"));
    gds_put(PX_GDS_JOB, 3, "a", 7);

    ck_assert_ptr_null(gds_find(PX_GDS_JOB, 3, "b"));
    ck_assert_ptr_null(gds_find(PX_GDS_JOB, 3, "A"));
    ck_assert_ptr_null(gds_find(PX_GDS_JOB, 3, "aa"));
    ck_assert_ptr_null(gds_find(PX_GDS_JOB, 4, "a"));
    ck_assert_ptr_null(gds_find(PX_GDS_JOB, PMIX_RANK_WILDCARD, "a"));
    gds_destroy(gds_ns);
}
END_TEST

START_TEST(a_later_value_replaces_the_earlier)
{
    const pmix_value_t text = {.type = PMIX_STRING, .data.string = (char *)"text"};

    gds_ns = gds_create("job");
    gds_put(PX_GDS_LOCAL, 0, "a", 1);
    gds_put(PX_GDS_LOCAL, 0, "a", 2);
    ck_assert_int_eq(gds_get(PX_GDS_LOCAL, 0, "a"), 2);
    ck_assert_int_eq(gds_store(PX_GDS_LOCAL, 0, "a", &text), PMIX_SUCCESS);
    ck_assert_str_eq(gds_find(PX_GDS_LOCAL, 0, "a")->data.string, "text");
    gds_destroy(gds_ns);
}
END_TEST

START_TEST(a_value_can_be_stored_over_itself)
{
    const pmix_value_t text = {.type = PMIX_STRING, .data.string = (char *)"text"};

    gds_ns = gds_create("job");
    ck_assert_int_eq(gds_store(PX_GDS_LOCAL, 0, "a", &text), PMIX_SUCCESS);
    ck_assert_int_eq(gds_store(PX_GDS_LOCAL, 0, "a", gds_find(PX_GDS_LOCAL, 0, "a")),
                     PMIX_SUCCESS);
    ck_assert_str_eq(gds_find(PX_GDS_LOCAL, 0, "a")->data.string, "text");
    gds_destroy(gds_ns);
}
END_TEST

START_TEST(undef_deletes)
{
    gds_ns = gds_create("job");
    gds_discard(PX_GDS_LOCAL, 0, "never there");
    gds_put(PX_GDS_LOCAL, 0, "a", 1);
    gds_put(PX_GDS_LOCAL, 0, "b", 2);

    gds_discard(PX_GDS_LOCAL, 0, "a");

    ck_assert_ptr_null(gds_find(PX_GDS_LOCAL, 0, "a"));
    ck_assert_int_eq(gds_get(PX_GDS_LOCAL, 0, "b"), 2);
    gds_discard(PX_GDS_LOCAL, 0, "b");
    gds_expect_walk(PX_GDS_LOCAL, 0, "");
    gds_expect_walk(PX_GDS_LOCAL, PMIX_RANK_UNDEF, "");
    gds_destroy(gds_ns);
}
END_TEST

START_TEST(tables_ranks_and_namespaces_are_apart)
{
    gds_ns = gds_create("job");
    struct px_gds_ns *first = gds_ns;
    struct px_gds_ns *second = gds_create("other job");
    for (uint32_t table = 0; table < PX_GDS_N_TABLES; table++) {
        gds_put(table, 1, "a", 10 * table + 1);
        gds_put(table, 2, "a", 10 * table + 2);
        gds_put(table, PMIX_RANK_WILDCARD, "a", 10 * table + 3);
    }
    gds_ns = second;
    gds_put(PX_GDS_JOB, 1, "a", 99);

    ck_assert_int_eq(gds_get(PX_GDS_LOCAL, 1, "a"), -1);
    gds_destroy(second);
    gds_ns = first;
    for (uint32_t table = 0; table < PX_GDS_N_TABLES; table++) {
        ck_assert_int_eq(gds_get(table, 1, "a"), 10 * table + 1);
        ck_assert_int_eq(gds_get(table, 2, "a"), 10 * table + 2);
        ck_assert_int_eq(gds_get(table, PMIX_RANK_WILDCARD, "a"), 10 * table + 3);
    }
    gds_destroy(first);
}
END_TEST

START_TEST(nonsense_is_refused_and_stores_nothing)
{
    const pmix_value_t value = {.type = PMIX_UINT32};
    const pmix_value_t unknown = {.type = 0x7fff};

    gds_ns = gds_create("job");
    ck_assert_int_eq(gds_store(PX_GDS_N_TABLES, 0, "a", &value), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(gds_store(PX_GDS_JOB, PMIX_RANK_UNDEF, "a", &value),
                     PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(gds_store(PX_GDS_JOB, 0, "", &value), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(gds_store(PX_GDS_JOB, 0, NULL, &value), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(gds_store(PX_GDS_JOB, 0, "a", NULL), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(gds_store(PX_GDS_JOB, 0, "a", &unknown),
                     PMIX_ERR_UNKNOWN_DATA_TYPE);
    gds_expect_walk(PX_GDS_JOB, PMIX_RANK_UNDEF, "");

    gds_put(PX_GDS_JOB, 0, "a", 1);
    ck_assert_int_eq(gds_store(PX_GDS_JOB, 0, "a", &unknown),
                     PMIX_ERR_UNKNOWN_DATA_TYPE);
    ck_assert_int_eq(gds_get(PX_GDS_JOB, 0, "a"), 1);
    gds_destroy(gds_ns);
}
END_TEST

/* ---- copies ---------------------------------------------------------------------- */

/* An array of infos that hold a string, bytes, and an array again. */
static void make_deep(pmix_value_t *value)
{
    PX_AUTO(px_infos) inner = {0};
    PX_AUTO(px_infos) outer = {0};
    const pmix_byte_object_t bytes = {.bytes = (char *)"\0\1\2", .size = 3};
    pmix_data_array_t array = {.type = PMIX_INFO};

    ck_assert_int_eq(px_infos_add(&inner, "inner", "deep down", PMIX_STRING), 0);
    ck_assert_int_eq(px_infos_add(&outer, "text", "some text", PMIX_STRING), 0);
    ck_assert_int_eq(px_infos_add(&outer, "bytes", &bytes, PMIX_BYTE_OBJECT), 0);
    ck_assert_int_eq(px_infos_add_array(&outer, "array", &inner), 0);
    array.array = outer.v;
    array.size = outer.n;
    const pmix_value_t borrowed = {.type = PMIX_DATA_ARRAY, .data.darray = &array};
    ck_assert_int_eq(px_type_copy(PMIX_VALUE, value, &borrowed), PMIX_SUCCESS);
}

START_TEST(keeps_a_deep_copy)
{
    char key[] = "key";
    pmix_value_t value;
    pmix_value_t same;

    make_deep(&value);
    make_deep(&same);
    gds_ns = gds_create("job");
    ck_assert_int_eq(gds_store(PX_GDS_REMOTE, 0, key, &value), PMIX_SUCCESS);
    px_type_destruct(PMIX_VALUE, &value);
    key[0] = '?';

    const pmix_value_t *found = gds_find(PX_GDS_REMOTE, 0, "key");
    ck_assert_ptr_nonnull(found);
    ck_assert_int_eq(px_type_compare(PMIX_VALUE, found, &same), 0);
    px_type_destruct(PMIX_VALUE, &same);
    gds_destroy(gds_ns);
}
END_TEST

START_TEST(what_is_found_stays_until_that_rank_is_stored_to)
{
    gds_ns = gds_create("job");
    gds_put(PX_GDS_JOB, 0, "a", 1);
    const pmix_value_t *found = gds_find(PX_GDS_JOB, 0, "a");

    for (uint32_t rank = 1; rank < MANY; rank++) {
        gds_put(PX_GDS_JOB, rank, "a", rank);
        gds_put(PX_GDS_LOCAL, 0, "a", rank);
    }
    ck_assert_ptr_eq(gds_find(PX_GDS_JOB, 0, "a"), found);
    ck_assert_uint_eq(found->data.uint32, 1);
    gds_destroy(gds_ns);
}
END_TEST

/* ---- many, and too many ---------------------------------------------------------- */

static pmix_status_t check_many(void *arg, pmix_rank_t rank, const char *key,
                                const pmix_value_t *value)
{
    uint32_t *next = arg;
    char expected[32];

    snprintf(expected, sizeof(expected), "key.%u", *next);
    if (rank != 0 || strcmp(key, expected) != 0 || value->data.uint32 != *next)
        return PMIX_ERROR;
    ++*next;
    return PMIX_SUCCESS;
}

START_TEST(holds_thousands_of_keys)
{
    uint32_t next = 0;

    gds_ns = gds_create("job");
    for (uint32_t i = 0; i < MANY; i++) {
        PX_AUTOFREE char *key = px_strf("key.%u", i);
        gds_put(PX_GDS_LOCAL, 0, key, i);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        PX_AUTOFREE char *key = px_strf("key.%u", i);
        ck_assert_int_eq(gds_get(PX_GDS_LOCAL, 0, key), i);
    }
    ck_assert_int_eq(
        gds_ops()->walk(contract.self, gds_ns, PX_GDS_LOCAL, 0, check_many, &next),
        PMIX_SUCCESS);
    ck_assert_uint_eq(next, MANY);
    gds_destroy(gds_ns);
}
END_TEST

static pmix_status_t check_ascending(void *arg, pmix_rank_t rank, const char *key,
                                     const pmix_value_t *value)
{
    uint32_t *next = arg;

    if (rank != *next || value->data.uint32 != rank || strcmp(key, "a") != 0)
        return PMIX_ERROR;
    ++*next;
    return PMIX_SUCCESS;
}

/* Ranks come as nodes report: here dealt out round robin. */
START_TEST(holds_thousands_of_ranks)
{
    const uint32_t n_nodes = 50;
    uint32_t next = 0;

    gds_ns = gds_create("job");
    for (uint32_t node = 0; node < n_nodes; node++) {
        for (uint32_t rank = node; rank < MANY; rank += n_nodes)
            gds_put(PX_GDS_REMOTE, rank, "a", rank);
    }
    ck_assert_int_eq(gds_ops()->walk(contract.self, gds_ns, PX_GDS_REMOTE,
                                     PMIX_RANK_UNDEF, check_ascending, &next),
                     PMIX_SUCCESS);
    ck_assert_uint_eq(next, MANY);
    gds_destroy(gds_ns);
}
END_TEST

/* A new rank, a new key, another value: each either happens or leaves no trace. */
static pmix_status_t fill(const pmix_value_t *deep)
{
    static const struct {
        pmix_rank_t rank;
        const char *key;
    } at[] = {{0, "a"}, {0, "b"}, {0, "a"}, {7, "a"}};
    pmix_status_t rc = gds_ops()->create(contract.self, "job", &gds_ns);

    if (rc)
        return rc;
    for (size_t i = 0; !rc && i < PX_COUNT(at); i++) {
        const pmix_value_t *before = gds_find(PX_GDS_LOCAL, at[i].rank, at[i].key);

        rc = gds_store(PX_GDS_LOCAL, at[i].rank, at[i].key, deep);
        if (rc && gds_find(PX_GDS_LOCAL, at[i].rank, at[i].key) != before)
            rc = PMIX_ERROR;
        if (rc && before && px_type_compare(PMIX_VALUE, before, deep) != 0)
            rc = PMIX_ERROR;
    }
    gds_ops()->destroy(contract.self, gds_ns);
    return rc;
}

START_TEST(running_out_of_memory_changes_nothing)
{
    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
    pmix_value_t deep;
    unsigned n_failed = 0;

    make_deep(&deep);
    for (unsigned nth = 1;; nth++) {
        px_alloc_fail_at(nth);
        pmix_status_t rc = fill(&deep);
        bool has_failed = px_alloc_fail_end();

        ck_assert_int_eq(px_alloc_balance(), 0);
        if (!has_failed) {
            ck_assert_int_eq(rc, PMIX_SUCCESS);
            break;
        }
        ck_assert_int_eq(rc, PMIX_ERR_NOMEM);
        n_failed++;
    }
    ck_assert_uint_gt(n_failed, 10);
    px_type_destruct(PMIX_VALUE, &deep);
}
END_TEST

START_TEST(destroying_nothing_is_fine)
{
    gds_destroy(NULL);
}
END_TEST

size_t contract_gds(const TTest **tests)
{
    const TTest *const own[] = {
        finds_what_was_stored,
        finds_nothing_that_was_not_stored,
        a_later_value_replaces_the_earlier,
        a_value_can_be_stored_over_itself,
        undef_deletes,
        tables_ranks_and_namespaces_are_apart,
        nonsense_is_refused_and_stores_nothing,
        keeps_a_deep_copy,
        what_is_found_stays_until_that_rank_is_stored_to,
        holds_thousands_of_keys,
        holds_thousands_of_ranks,
        running_out_of_memory_changes_nothing,
        destroying_nothing_is_fine,
    };
    size_t n = PX_COUNT(own);

    memcpy(tests, own, sizeof(own));
    n += gds_walk_tests(tests + n);
    return n;
}
