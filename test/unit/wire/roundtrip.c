/* SPDX-License-Identifier: BSD-3-Clause */
/* unpack(pack(x)) == x for every type, in every dialect and both buffer forms. Damaged
 * messages do no harm. Costs are counted in allocations, which vary less than time.
 * PX_TEST_SEED=<number> selects other objects. */
#include "alloc_fail.h"
#include "core/wire/codec.h"
#include "px_test.h"
#include "wire_test.h"

#include <string.h>

enum { MAX_N = 3, LAST_TYPE = 80 };

struct sample {
    struct px_codec codec;
    pmix_data_type_t type;
    unsigned seed; /* number among samples of the type */
    int32_t n;
    char *values;
    px_writer w; /* the values, packed */
};

/* Asserts a condition for sample s. */
#define SAMPLE_MUST(s, condition)                                              \
    ck_assert_msg(condition, "%s in %s%s, sample %u of PX_TEST_SEED=%llu: %s", \
                  px_type_find((s)->type)->name, (s)->codec.dialect->name,     \
                  (s)->codec.described ? " described" : "", (s)->seed,         \
                  (unsigned long long)gen_seed(), #condition)

/* Wraps the n objects of a type into one array, or the first object into one value. */
static void put_inside(struct sample *s, struct gen *g, pmix_data_type_t element)
{
    const struct px_type *t = px_type_find(element);
    pmix_data_array_t *a;

    g->levels++;
    if (s->type == PMIX_VALUE) {
        pmix_value_t *v = calloc(1, sizeof(*v));

        v->type = element;
        if (t->in_value == PX_VALUE_INLINE)
            gen_object(g, element, &v->data);
        else
            v->data.ptr = gen_array(g, element, 1);
        s->values = (char *)v;
    } else {
        a = calloc(1, sizeof(*a));
        a->type = element;
        a->size = element == PMIX_POINTER ? 1 : (size_t)s->n;
        a->array = gen_array(g, element, a->size);
        s->values = (char *)a;
    }
    s->n = 1;
}

static void make(struct sample *s, pmix_data_type_t type, bool wild)
{
    struct gen g = {.state = (gen_seed() * 7919 + s->seed) * 1000003 + type,
                    .dialect = s->codec.dialect,
                    .wild = wild};

    s->type = type;
    s->n = type == PMIX_POINTER ? 1 : (int32_t)gen_below(&g, MAX_N + 1);
    if (s->seed % 3 == 1) {
        s->type = PMIX_DATA_ARRAY;
        put_inside(s, &g, type);
    } else if (s->seed % 3 == 2 && px_type_find(type)->in_value != PX_VALUE_NO) {
        s->type = PMIX_VALUE;
        put_inside(s, &g, type);
    } else {
        s->values = gen_array(&g, type, (size_t)s->n);
    }
    s->w = writer_in(s->codec);
    px_pack(&s->w, s->values, s->n, s->type);
    SAMPLE_MUST(s, s->w.status == PMIX_SUCCESS);
}

struct plan {
    unsigned first, n; /* range of seeds */
    bool wild;
};

/* Calls f with samples of each type in each codec: up to MAX_N objects, a data array
 * of them, and a value. The value holds one of the objects if a value can hold the
 * type. */
static void for_every_sample(struct plan plan, void (*f)(struct sample *))
{
    for (size_t d = 0; d < 2 * n_dialects; d++) {
        struct px_codec codec = codec_of(all_dialects[d / 2], d & 1);
        struct gen g = {.dialect = codec.dialect};

        for (pmix_data_type_t type = 0; type < LAST_TYPE; type++)
            for (unsigned i = 0; gen_can(&g, type) && i < plan.n; i++) {
                struct sample s = {.codec = codec, .seed = plan.first + i};

                make(&s, type, plan.wild);
                f(&s);
                px_type_free_array(s.type, s.values, (size_t)s.n);
                px_writer_cleanup(&s.w);
            }
    }
}

/* Allocates room for the unpacked objects. */
static char *sample_room(const struct sample *s)
{
    return calloc(MAX_N + 1, px_type_find(s->type)->size);
}

static void drop(const struct sample *s, char *room, int32_t n)
{
    px_type_free_array(s->type, room, (size_t)n);
}

static bool some_dialect_can(pmix_data_type_t type)
{
    for (size_t d = 0; d < n_dialects; d++) {
        struct gen g = {.dialect = px_dialect_find(all_dialects[d])};

        if (gen_can(&g, type))
            return true;
    }
    return false;
}

/* gen_object aborts on a type that it cannot make. */
PX_TEST(there_is_an_object_of_every_type_in_the_table)
{
    struct gen g = {0};

    for (unsigned type = 1; type <= UINT16_MAX; type++) {
        const struct px_type *t = px_type_find((pmix_data_type_t)type);

        if (!t)
            continue;
        ck_assert_msg(type < LAST_TYPE, "%s is beyond the last", t->name);
        ck_assert_msg(gen_can(&g, t->id), "%s has no generator", t->name);
        ck_assert_msg(some_dialect_can(t->id), "%s travels nowhere", t->name);
    }
}

/* ---- there and back ------------------------------------------------------------------------- */

static void comes_back(struct sample *s)
{
    size_t size = px_type_find(s->type)->size;
    char *back = sample_room(s);
    int32_t n = MAX_N;
    px_reader r = reader_of(s->codec, &s->w.buf);
    PX_AUTO(px_writer) again = writer_in(s->codec);

    SAMPLE_MUST(s, px_unpack(&r, back, &n, s->type) == PMIX_SUCCESS);
    SAMPLE_MUST(s, n == s->n);
    SAMPLE_MUST(s, px_reader_done(&r));
    for (size_t i = 0; i < (size_t)n; i++)
        SAMPLE_MUST(
            s, px_type_compare(s->type, back + i * size, s->values + i * size) == 0);
    px_pack(&again, back, n, s->type);
    SAMPLE_MUST(s, again.status == PMIX_SUCCESS && again.buf.len == s->w.buf.len);
    SAMPLE_MUST(s, memcmp(again.buf.data, s->w.buf.data, again.buf.len) == 0);
    drop(s, back, n);
}

PX_TEST(every_type_comes_back_as_it_was)
{
    for_every_sample((struct plan){.n = 60}, comes_back);
}

PX_TEST(the_largest_and_deepest_come_back_as_they_were)
{
    for_every_sample((struct plan){.n = 45, .wild = true}, comes_back);
}

/* Checks that two samples of a type are equal exactly if their messages are. */
static void equals_what_is_packed_alike(struct sample *s)
{
    size_t size = px_type_find(s->type)->size;
    px_writer w[2];

    if (s->n < 2 || s->type == PMIX_POINTER)
        return;
    for (size_t i = 0; i < 2; i++) {
        w[i] = writer_in(s->codec);
        px_pack(&w[i], s->values + i * size, 1, s->type);
    }
    bool alike = w[0].buf.len == w[1].buf.len &&
                 memcmp(w[0].buf.data, w[1].buf.data, w[0].buf.len) == 0;
    bool equal = px_type_compare(s->type, s->values, s->values + size) == 0;
    SAMPLE_MUST(s, alike == equal);
    px_writer_cleanup(&w[0]);
    px_writer_cleanup(&w[1]);
}

PX_TEST(objects_are_equal_if_their_messages_are)
{
    for_every_sample((struct plan){.first = 100, .n = 30}, equals_what_is_packed_alike);
}

/* ---- tables of processes --------------------------------------------------------------------- */

/* Rows that differ in their ranks, and rows that differ in one more member. */
static const pmix_proc_info_t table[] = {
#define ROW(rank_, ...)                                             \
    {                                                               \
        .proc = {"ns", rank_}, .hostname = (char *)(uintptr_t) "h", \
        .state = PMIX_PROC_STATE_RUNNING, __VA_ARGS__               \
    }
    ROW(0, .pid = 0),      ROW(127, .pid = 0),
    ROW(128, .pid = 0),    ROW(PMIX_RANK_WILDCARD, .pid = 0),
    ROW(129, .pid = 1),    ROW(130, .pid = 2),
    ROW(131, .pid = 300),  ROW(132, .executable_name = (char *)(uintptr_t) "x"),
    ROW(133, .pid = 300),  ROW(134, .pid = INT32_MAX),
#undef ROW
    {.proc = {"ns", 135}}, {.proc = {"ns", 136}},
    {.proc = {"n", 137}},  {.proc = {"n", 138}, .hostname = (char *)(uintptr_t) ""},
};

/* The reader copies a row that differs from the one before in its rank. */
static pmix_status_t read_table(struct px_codec codec, const uint8_t *bytes, size_t n_b,
                                size_t n, void **back)
{
    px_reader r;

    px_reader_init(&r, codec, bytes, n_b);
    return px_unpack_array(&r, back, n, PMIX_PROC_INFO);
}

PX_TEST(a_table_whose_rows_mostly_repeat_comes_back_as_it_was)
{
    const size_t n = PX_COUNT(table);
    const bool can_fail = px_alloc_can_fail();

    for (size_t d = 0; d < 2 * n_dialects; d++) {
        const struct px_codec codec = codec_of(all_dialects[d / 2], d & 1);
        PX_AUTO(px_writer) w = writer_in(codec);
        void *back = NULL;

        px_pack(&w, table, (int32_t)n, PMIX_PROC_INFO);
        ok(w.status);
        ok(read_table(codec, w.buf.data, w.buf.len, n, &back));
        for (size_t i = 0; i < n; i++)
            ck_assert_msg(px_type_compare(PMIX_PROC_INFO, &table[i],
                                          (pmix_proc_info_t *)back + i) == 0,
                          "row %zu of %s", i, all_dialects[d / 2]);
        px_type_free_array(PMIX_PROC_INFO, back, n);
        for (size_t cut = 0; cut < w.buf.len; cut++) {
            PX_AUTOFREE uint8_t *part = malloc(cut + 1);

            memcpy(part, w.buf.data, cut);
            ck_assert_int_ne(read_table(codec, part, cut, n, &back), PMIX_SUCCESS);
            ck_assert_ptr_null(back);
        }
        for (unsigned nth = 0; can_fail && px_alloc_next(&nth);)
            if (!px_alloc_check(read_table(codec, w.buf.data, w.buf.len, n, &back)))
                px_type_free_array(PMIX_PROC_INFO, back, n);
    }
}

/* ---- no memory ------------------------------------------------------------------------------ */

/* Fails each allocation in turn. */
static void reading_lacks_memory(struct sample *s)
{
    char *dst = sample_room(s);

    for (unsigned nth = 0; px_alloc_next(&nth);) {
        int32_t n = MAX_N;
        px_reader r = reader_of(s->codec, &s->w.buf);

        if (!px_alloc_check(px_unpack(&r, dst, &n, s->type)))
            drop(s, dst, n);
    }
}

PX_TEST(reading_reports_want_of_memory)
{
    PX_TEST_NEEDS_ALLOC;
    for_every_sample((struct plan){.n = 3}, reading_lacks_memory);
}

static void writing_lacks_memory(struct sample *s)
{
    for (unsigned nth = 0; px_alloc_next(&nth);) {
        px_writer w = writer_in(s->codec);

        px_pack(&w, s->values, s->n, s->type);
        pmix_status_t rc = w.status;
        px_writer_cleanup(&w);
        px_alloc_check(rc);
    }
}

PX_TEST(writing_reports_want_of_memory)
{
    PX_TEST_NEEDS_ALLOC;
    for_every_sample((struct plan){.n = 3}, writing_lacks_memory);
}

/* ---- cost ------------------------------------------------------------------------------------ */

/* A buffer that doubles from 64 bytes holds 64 MB after 20 steps. */
enum { MOST_GROWTH = 20 };

static unsigned n_allocs;

#define COUNTED(call)                   \
    do {                                \
        px_alloc_fail_at(0);            \
        pmix_status_t status_ = (call); \
        n_allocs = px_alloc_count();    \
        px_alloc_fail_end();            \
        ok(status_);                    \
    } while (0)

static pmix_status_t pack_1000(px_writer *w, pmix_data_type_t type)
{
    static const uint64_t number[2] = {12345, 0};

    for (int i = 0; i < 1000; i++)
        px_pack(w, number, 1, type);
    return w->status;
}

/* Covers every dialect and packs into a writer, as the loop does. */
PX_TEST(integers_of_every_kind_and_dialect_cost_none)
{
    static const pmix_data_type_t types[] = {
        PMIX_INT,    PMIX_INT16,  PMIX_INT32,  PMIX_INT64,  PMIX_UINT,
        PMIX_UINT16, PMIX_UINT32, PMIX_UINT64, PMIX_SIZE,   PMIX_PID,
        PMIX_TIME,   PMIX_BOOL,   PMIX_BYTE,   PMIX_STATUS, PMIX_TIMEVAL};

    PX_TEST_NEEDS_ALLOC;
    for (size_t d = 0; d < 2 * n_dialects; d++)
        for (size_t t = 0; t < PX_COUNT(types); t++) {
            PX_AUTO(px_writer) w = writer_in(codec_of(all_dialects[d / 2], d & 1));

            COUNTED(pack_1000(&w, types[t]));
            ck_assert_uint_le(n_allocs, MOST_GROWTH);
        }
}

/* px_type.flat lists these types; a copy of their structure copies all their
 * content. */
PX_TEST(a_copy_of_what_owns_nothing_allocates_nothing)
{
    unsigned n_flat = 0;

    PX_TEST_NEEDS_ALLOC;
    for (pmix_data_type_t id = 0; id < px_n_types; id++) {
        const struct px_type *t = px_type_find(id);
        pmix_value_t from = {.type = id}, to;

        if (!t || !t->flat)
            continue;
        PX_AUTOFREE char *object = calloc(2, t->size + 1u);
        px_type_construct(id, object);
        COUNTED(px_type_copy(id, object + t->size, object));
        ck_assert_uint_eq(n_allocs, 0);
        ck_assert_int_eq(memcmp(object + t->size, object, t->size), 0);
        if (t->in_value == PX_VALUE_INLINE) {
            COUNTED(PMIx_Value_xfer(&to, &from));
            ck_assert(n_allocs == 0 && to.type == id);
        }
        n_flat++;
    }
    ck_assert_uint_gt(n_flat, 30);
}

PX_TEST(a_large_byte_object_is_allocated_once)
{
    static char bytes[64 << 10];
    pmix_byte_object_t from = {bytes, sizeof(bytes)}, to = {0};
    pmix_data_buffer_t buffer = {0};
    int32_t n = 1;

    PX_TEST_NEEDS_ALLOC;
    COUNTED(PMIx_Data_pack(NULL, &buffer, &from, 1, PMIX_BYTE_OBJECT));
    ck_assert_uint_eq(n_allocs, 2); /* the count, then all */
    COUNTED(PMIx_Data_unpack(NULL, &buffer, &to, &n, PMIX_BYTE_OBJECT));
    ck_assert_uint_eq(n_allocs, 1);
    ck_assert_mem_eq(to.bytes, bytes, sizeof(bytes));
    free(to.bytes);
    free(buffer.base_ptr);
}

PX_TEST_MAIN("wire/roundtrip", NULL, NULL)
