/* SPDX-License-Identifier: BSD-3-Clause */
/* What packing and copying may cost, in allocations, which unlike time do not wobble. */
#include "alloc_fail.h"
#include "core/wire/codec.h"
#include "px_test.h"

#include <string.h>

enum { N = 100000 };

/* A buffer that doubles from 64 bytes holds 64 MB after 20 steps. */
enum { MOST_GROWTH = 20 };

static int numbers[N], back[N];

static void fill(void)
{
    for (int i = 0; i < N; i++)
        numbers[i] = (i - N / 2) * 4001;
}

PX_TEST(integers_cost_no_allocation_each)
{
    pmix_data_buffer_t buffer = {0};
    pmix_status_t rc = PMIX_SUCCESS;

    PX_TEST_NEEDS_ALLOC;
    fill();
    px_alloc_fail_at(0);
    for (int i = 0; i < N && !rc; i++)
        rc = PMIx_Data_pack(NULL, &buffer, &numbers[i], 1, PMIX_INT);
    unsigned n_allocs = px_alloc_count();
    px_alloc_fail_end();
    ok(rc);
    ck_assert_uint_ge(n_allocs, 1);
    ck_assert_uint_le(n_allocs, MOST_GROWTH);
    free(buffer.base_ptr);
}

PX_TEST(an_array_of_integers_costs_none_either)
{
    pmix_data_buffer_t buffer = {0};
    int32_t n = N;

    PX_TEST_NEEDS_ALLOC;
    fill();
    px_alloc_fail_at(0);
    pmix_status_t rc = PMIx_Data_pack(NULL, &buffer, numbers, N, PMIX_INT);
    unsigned n_allocs = px_alloc_count();
    px_alloc_fail_end();
    ok(rc);
    ck_assert_uint_le(n_allocs, MOST_GROWTH);

    px_alloc_fail_at(0);
    rc = PMIx_Data_unpack(NULL, &buffer, back, &n, PMIX_INT);
    n_allocs = px_alloc_count();
    px_alloc_fail_end();
    ok(rc);
    ck_assert_int_eq(n, N);
    ck_assert_int_eq(memcmp(numbers, back, sizeof(back)), 0);
    ck_assert_uint_eq(n_allocs, 0);
    free(buffer.base_ptr);
}

/* Every dialect, as the loop sends them: into a writer. */
PX_TEST(integers_of_every_kind_and_dialect_cost_none)
{
    static const char *const dialects[] = {"v21", "v3", "v4", "v41", "v51", "v61"};
    static const pmix_data_type_t types[] = {
        PMIX_INT,    PMIX_INT16,  PMIX_INT32,  PMIX_INT64,  PMIX_UINT,
        PMIX_UINT16, PMIX_UINT32, PMIX_UINT64, PMIX_SIZE,   PMIX_PID,
        PMIX_TIME,   PMIX_BOOL,   PMIX_BYTE,   PMIX_STATUS, PMIX_TIMEVAL};
    static const uint64_t number[2] = {12345, 0};

    PX_TEST_NEEDS_ALLOC;
    for (size_t d = 0; d < 2 * PX_COUNT(dialects); d++) {
        struct px_codec codec = {px_dialect_find(dialects[d / 2]), d & 1};

        for (size_t t = 0; t < PX_COUNT(types); t++) {
            px_writer w;

            px_writer_init(&w, codec);
            px_alloc_fail_at(0);
            for (int i = 0; i < 1000; i++)
                px_pack(&w, number, 1, types[t]);
            unsigned n_allocs = px_alloc_count();
            px_alloc_fail_end();
            ok(w.status);
            ck_assert_uint_le(n_allocs, MOST_GROWTH);
            px_writer_cleanup(&w);
        }
    }
}

/* px_type.flat says which objects these are; all their values are copied by a struct copy. */
PX_TEST(a_copy_of_what_owns_nothing_allocates_nothing)
{
    unsigned n_flat = 0;

    PX_TEST_NEEDS_ALLOC;
    for (pmix_data_type_t id = 0; id < px_n_types; id++) {
        const struct px_type *t = px_type_find(id);
        pmix_value_t from = {.type = id}, to;

        if (!t || !t->flat)
            continue;
        void *object = calloc(1, t->size + 1u), *copy = calloc(1, t->size + 1u);
        px_type_construct(id, object);
        px_alloc_fail_at(0);
        pmix_status_t rc = px_type_copy(id, copy, object);
        unsigned n_allocs = px_alloc_count();
        px_alloc_fail_end();
        ok(rc);
        ck_assert_uint_eq(n_allocs, 0);
        ck_assert_int_eq(memcmp(copy, object, t->size), 0);
        if (t->in_value == PX_VALUE_INLINE) {
            px_alloc_fail_at(0);
            rc = PMIx_Value_xfer(&to, &from);
            n_allocs = px_alloc_count();
            px_alloc_fail_end();
            ok(rc);
            ck_assert_uint_eq(n_allocs, 0);
            ck_assert_int_eq(to.type, id);
        }
        free(object);
        free(copy);
        n_flat++;
    }
    ck_assert_uint_gt(n_flat, 30);
}

PX_TEST_MAIN("wire/allocs", NULL, NULL)
