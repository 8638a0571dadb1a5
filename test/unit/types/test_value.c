/* SPDX-License-Identifier: BSD-3-Clause */
/* Values: load, unload, compare, convert and test for truth; conversions between number
 * types. */
#include "alloc_fail.h"
#include "core/types/number.h"
#include "px_test.h"
#include "sample.h"

#include <math.h>
#include <string.h>

/* Returns the argument that PMIx_Value_load expects for an object: the string or
 * pointer itself, otherwise the object's address. */
static const void *load_form(const struct px_type *t, const void *obj)
{
    const void *p;

    if (t->store != PX_STRING && t->store != PX_POINTER)
        return obj;
    memcpy(&p, obj, sizeof(p));
    return p;
}

/* Calls check with values of each type, loaded from the objects. */
static void for_every_value(void (*check)(const struct px_type *t, void *object,
                                          pmix_value_t *value))
{
    for (pmix_data_type_t id = 0; sample_type(&id); id++) {
        const struct px_type *t = px_type_find(id);

        if (t->in_value == PX_VALUE_NO || t->store == PX_REGEX) /* see below */
            continue;
        for (unsigned seed = 0; seed < SAMPLE_SEEDS; seed++) {
            union sample object;
            pmix_value_t value;

            sample_fill(id, &object, seed);
            ok(PMIx_Value_load(&value, load_form(t, &object), id));
            ck_assert_uint_eq(value.type, id);
            check(t, &object, &value);
            PMIx_Value_destruct(&value);
            px_type_destruct(id, &object);
        }
    }
}

static void has_an_object_of_its_own(const struct px_type *t, void *object,
                                     pmix_value_t *value)
{
    if (!load_form(t, object) || !t->size)
        return;
    ck_assert_ptr_ne(px_value_payload(value), object);
    ck_assert_int_eq(px_type_compare(t->id, px_value_payload(value), object), 0);
}

PX_TEST(a_loaded_value_holds_an_equal_object_of_its_own)
{
    for_every_value(has_an_object_of_its_own);
}

PX_TEST(a_regex_is_loaded_from_its_text)
{
    const char *text = "pmix[n[1:1-3]]";
    pmix_value_t value;

    ok(PMIx_Value_load(&value, text, PMIX_REGEX));
    ck_assert_uint_eq(value.data.bo.size, strlen(text) + 1);
    ck_assert_str_eq(value.data.bo.bytes, text);
    ck_assert_ptr_ne(value.data.bo.bytes, text);
    PMIx_Value_destruct(&value);
}

PX_TEST(no_data_gives_a_true_flag_and_else_nothing)
{
    pmix_value_t value;

    ok(PMIx_Value_load(&value, NULL, PMIX_BOOL));
    ck_assert(value.data.flag);
    ok(PMIx_Value_load(&value, NULL, PMIX_STRING));
    ck_assert_ptr_null(value.data.string);
    ok(PMIx_Value_load(&value, NULL, PMIX_PROC));
    ck_assert_ptr_null(value.data.proc);
    ok(PMIx_Value_load(&value, NULL, PMIX_UINT64));
    ck_assert_uint_eq(value.data.uint64, 0);
}

PX_TEST(a_namespace_may_be_loaded_from_a_short_string)
{
    char *exact = strdup(
        "job"); /* on the heap, where a sanitizer detects reads beyond the end */
    pmix_value_t value;

    ok(PMIx_Value_load(&value, exact, PMIX_PROC_NSPACE));
    ck_assert_str_eq(*value.data.nspace, "job");
    PMIx_Value_destruct(&value);
    free(exact);
}

PX_TEST(types_no_value_holds_are_refused_and_leave_it_undefined)
{
    for (unsigned id = 0; id < 600; id++) {
        const struct px_type *t = px_type_find((pmix_data_type_t)id);
        pmix_value_t value = {.type = PMIX_STRING},
                     source = {.type = (pmix_data_type_t)id};
        pmix_info_t object = {0};

        if (t && t->in_value != PX_VALUE_NO)
            continue;
        fails(PMIx_Value_load(&value, &object, (pmix_data_type_t)id),
              UNKNOWN_DATA_TYPE);
        ck_assert_uint_eq(value.type, PMIX_UNDEF);
        fails(PMIx_Value_xfer(&value, &source), UNKNOWN_DATA_TYPE);
        ck_assert_uint_eq(value.type, PMIX_UNDEF);
        ck_assert_ptr_null(px_value_payload(&source));
    }
}

PX_TEST(a_borrowing_value_points_to_the_data)
{
    pmix_proc_t proc = {"job", 1};
    pmix_byte_object_t bytes = {TEXT("abc"), 3};
    pmix_value_t value;

    ok(px_value_borrow(&value, &proc, PMIX_PROC));
    ck_assert_ptr_eq(value.data.proc, &proc);
    ok(px_value_borrow(&value, "text", PMIX_STRING));
    ck_assert_str_eq(px_value_string(&value), "text");
    ok(px_value_borrow(&value, &bytes, PMIX_BYTE_OBJECT));
    ck_assert_ptr_eq(value.data.bo.bytes, bytes.bytes);
    fails(px_value_borrow(&value, &bytes, PMIX_APP), UNKNOWN_DATA_TYPE);
    ck_assert_uint_eq(value.type, PMIX_UNDEF);
}

/* The expected results were measured with OpenPMIx 4.2.2 and 5.0.7: a scalar needs the
 * caller's storage, and other objects get memory of their own. */
static void is_unloaded(const struct px_type *t, void *object, pmix_value_t *value)
{
    bool scalar = t->in_value == PX_VALUE_INLINE && t->flat;
    union sample storage;
    void *data = NULL;
    size_t size = 77;

    if (!t->size || t->store == PX_STRING || t->store == PX_BYTES ||
        t->store == PX_POINTER)
        return;
    if (scalar) {
        fails(PMIx_Value_unload(value, &data, &size), BAD_PARAM);
        ck_assert_ptr_null(data);
        ck_assert_uint_eq(size, 77);
        data = &storage;
    }
    ok(PMIx_Value_unload(value, &data, &size));
    ck_assert(!scalar || data == &storage);
    ck_assert_uint_eq(size, t->size);
    ck_assert_int_eq(px_type_compare(t->id, data, object), 0);
    if (!scalar)
        px_type_free_array(t->id, data, 1);
}

PX_TEST(values_are_unloaded_to_storage_or_memory_of_their_own)
{
    for_every_value(is_unloaded);
}

PX_TEST(a_process_is_unloaded_to_where_the_caller_wants_it)
{
    pmix_proc_t proc = {0}, loaded = {"job", 4};
    void *to_proc = &proc;
    pmix_value_t value = {PMIX_PROC, {.proc = &loaded}};
    size_t size;

    ok(PMIx_Value_unload(&value, &to_proc, &size));
    ck_assert_ptr_eq(to_proc, &proc);
    ck_assert_uint_eq(proc.rank, 4);
}

PX_TEST(strings_and_bytes_are_unloaded_without_their_object)
{
    pmix_value_t string = {PMIX_STRING, {.string = TEXT("hello")}};
    pmix_value_t bytes = {PMIX_BYTE_OBJECT, {.bo = {TEXT("abc"), 3}}};
    pmix_value_t pointer = {PMIX_POINTER, {.ptr = &string}};
    char elsewhere[] = "elsewhere";
    void *data = elsewhere; /* must not be written to */
    size_t size;

    ok(PMIx_Value_unload(&string, &data, &size));
    ck_assert_str_eq(data, "hello");
    ck_assert_uint_eq(size, 5);
    ck_assert_ptr_ne(data, string.data.string);
    free(data);
    ok(PMIx_Value_unload(&bytes, &data, &size));
    ck_assert_mem_eq(data, "abc", 3);
    ck_assert_uint_eq(size, 3);
    free(data);
    ok(PMIx_Value_unload(&pointer, &data, &size));
    ck_assert_ptr_eq(data, &string);
    ck_assert_str_eq(elsewhere, "elsewhere");
}

PX_TEST(a_value_that_holds_nothing_cannot_be_unloaded)
{
    pmix_value_t undefined = {0}, nowhere = {PMIX_PROC, {0}}, unknown = {.type = 29};
    void *data = &data;
    size_t size = 77;

    fails(PMIx_Value_unload(&undefined, &data, &size), UNKNOWN_DATA_TYPE);
    fails(PMIx_Value_unload(&unknown, &data, &size), UNKNOWN_DATA_TYPE);
    fails(PMIx_Value_unload(&nowhere, &data, &size), EMPTY);
    ck_assert_ptr_eq(data, &data);
    ck_assert_uint_eq(size, 77);
}

PX_TEST(values_compare_by_content_and_integers_across_types)
{
    const pmix_value_t five = {PMIX_INT, {.integer = 5}};
    const pmix_value_t a = {PMIX_STRING, {.string = TEXT("a")}};
    const pmix_value_t minus = {PMIX_INT8, {.int8 = -1}};
    const struct {
        pmix_value_t left, right;
        pmix_value_cmp_t result;
    } rows[] = {
        {{PMIX_PROC_RANK, {.rank = 5}}, five, PMIX_EQUAL},
        {minus, {PMIX_UINT64, {.uint64 = UINT64_MAX}}, PMIX_VALUE2_GREATER},
        {{PMIX_UINT64, {.uint64 = UINT64_MAX}}, minus, PMIX_VALUE1_GREATER},
        {{PMIX_DOUBLE, {.dval = 5}}, five, PMIX_VALUE_TYPE_DIFFERENT},
        {{PMIX_STRING, {.string = TEXT("5")}}, five, PMIX_VALUE_TYPE_DIFFERENT},
        {a, a, PMIX_EQUAL},
        {a, {PMIX_STRING, {.string = TEXT("b")}}, PMIX_VALUE2_GREATER},
        {{PMIX_STRING, {.string = TEXT("b")}}, a, PMIX_VALUE1_GREATER},
        {a, {PMIX_STRING, {0}}, PMIX_VALUE1_GREATER},
        {{.type = PMIX_APP}, {.type = PMIX_APP}, PMIX_VALUE_COMPARISON_NOT_AVAIL},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        pmix_value_t left = rows[i].left, right = rows[i].right;

        ck_assert_int_eq(PMIx_Value_compare(&left, &right), rows[i].result);
    }
}

PX_TEST(size_is_that_of_the_value_and_of_its_data)
{
    pmix_value_t number = {PMIX_INT32, {.int32 = 1}};
    pmix_value_t string = {PMIX_STRING, {.string = TEXT("abc")}};
    pmix_value_t bytes = {PMIX_BYTE_OBJECT, {.bo = {TEXT("abc"), 3}}}, undefined = {0};
    size_t size;

    ok(PMIx_Value_get_size(&number, &size));
    ck_assert_uint_eq(size, sizeof(pmix_value_t) + 4);
    ok(PMIx_Value_get_size(&string, &size));
    ck_assert_uint_eq(size, sizeof(pmix_value_t) + 4);
    ok(PMIx_Value_get_size(&bytes, &size));
    ck_assert_uint_eq(size, sizeof(pmix_value_t) + sizeof(pmix_byte_object_t) + 3);
    fails(PMIx_Value_get_size(&undefined, &size), UNKNOWN_DATA_TYPE);
}

PX_TEST(readers_convert_whatever_integer_type_the_host_used)
{
    pmix_value_t values[] = {
        {PMIX_UINT8, {.uint8 = 7}},    {PMIX_INT, {.integer = 7}},
        {PMIX_SIZE, {.size = 7}},      {PMIX_PID, {.pid = 7}},
        {PMIX_PROC_RANK, {.rank = 7}}, {PMIX_UINT64, {.uint64 = 7}}};

    for (size_t i = 0; i < PX_COUNT(values); i++) {
        uint64_t u64 = 0;
        uint32_t u32 = 0;
        int64_t i64 = 0;

        ck_assert(px_value_to_u64(&values[i], &u64) && u64 == 7);
        ck_assert(px_value_to_u32(&values[i], &u32) && u32 == 7);
        ck_assert(px_value_to_i64(&values[i], &i64) && i64 == 7);
    }
}

PX_TEST(readers_refuse_what_does_not_fit_or_is_no_integer)
{
    pmix_value_t negative = {PMIX_INT, {.integer = -1}};
    pmix_value_t big = {PMIX_UINT64, {.uint64 = UINT64_MAX}},
                 real = {PMIX_DOUBLE, {.dval = 1}};
    pmix_value_t text = {PMIX_STRING, {.string = TEXT("1")}}, undefined = {0};
    pmix_value_t flag = {PMIX_BOOL, {.flag = true}};
    uint64_t u64 = 5;
    uint32_t u32 = 5;
    int64_t i64 = 5;

    ck_assert(!px_value_to_u64(&negative, &u64) && !px_value_to_u32(&big, &u32));
    ck_assert(!px_value_to_i64(&big, &i64) && !px_value_to_u64(&real, &u64));
    ck_assert(!px_value_to_u64(&text, &u64) && !px_value_to_u64(&undefined, &u64));
    ck_assert(!px_value_to_u64(&flag, &u64));
    ck_assert(u64 == 5 && u32 == 5 && i64 == 5);
    ck_assert(px_value_to_i64(&negative, &i64) && i64 == -1);
}

PX_TEST(numbers_are_fetched_in_the_type_asked_for)
{
    pmix_value_t value = {PMIX_INT32, {.int32 = 1234}};
    pmix_value_t text = {PMIX_STRING, {.string = TEXT("1234")}};
    int16_t i16 = 0;
    int8_t i8 = 1;
    bool flag = false;

    ok(PMIx_Value_get_number(&value, &i16, PMIX_INT16));
    ck_assert_int_eq(i16, 1234);
    fails(PMIx_Value_get_number(&value, &i8, PMIX_INT8), LOST_PRECISION);
    ck_assert_int_eq(i8, 1);
    fails(PMIx_Value_get_number(&text, &i16, PMIX_INT16), BAD_PARAM);
    fails(PMIx_Value_get_number(&value, &flag, PMIX_BOOL), BAD_PARAM);
    fails(PMIx_Value_get_number(&value, &i16, 29), BAD_PARAM);
}

PX_TEST(words_and_numbers_in_strings_have_a_truth)
{
    static const struct {
        const char *text;
        pmix_boolean_t truth;
    } cases[] = {
        {"true", PMIX_BOOL_TRUE},  {"YES", PMIX_BOOL_TRUE},
        {"1", PMIX_BOOL_TRUE},     {"007", PMIX_BOOL_TRUE},
        {"", PMIX_BOOL_TRUE},      {"  ", PMIX_BOOL_TRUE},
        {" true", PMIX_BOOL_TRUE}, {"y", PMIX_BOOL_TRUE},
        {NULL, PMIX_BOOL_TRUE},    {"false", PMIX_BOOL_FALSE},
        {"no", PMIX_BOOL_FALSE},   {"0", PMIX_BOOL_FALSE},
        {"00", PMIX_BOOL_FALSE},   {"disable", PMIX_BOOL_FALSE},
        {"maybe", PMIX_NON_BOOL},  {"truest", PMIX_NON_BOOL},
        {"-1", PMIX_NON_BOOL},
    };

    for (size_t i = 0; i < PX_COUNT(cases); i++) {
        pmix_value_t value = {PMIX_STRING, {.string = TEXT(cases[i].text)}};

        ck_assert_msg(PMIx_Value_true(&value) == cases[i].truth, "%s", cases[i].text);
        ck_assert(px_value_truth(&value) == (cases[i].truth == PMIX_BOOL_TRUE));
    }
}

PX_TEST(truth_of_other_types_is_presence_flag_or_being_non_zero)
{
    pmix_value_t undefined = {0}, off = {PMIX_BOOL, {.flag = false}};
    pmix_value_t zero = {PMIX_INT, {.integer = 0}}, minus = {PMIX_INT, {.integer = -1}};
    pmix_value_t half = {PMIX_DOUBLE, {.dval = 0.5}}, proc = {PMIX_PROC, {0}};

    ck_assert(px_value_truth(&undefined) && !px_value_truth(&off));
    ck_assert(!px_value_truth(&zero) && px_value_truth(&minus) &&
              px_value_truth(&half));
    ck_assert(!px_value_truth(&proc));
    ck_assert_int_eq(PMIx_Value_true(&undefined), PMIX_BOOL_TRUE);
    ck_assert_int_eq(PMIx_Value_true(&minus), PMIX_NON_BOOL);
}

PX_TEST(loading_survives_any_failed_allocation)
{
    pmix_envar_t envar = {TEXT("NAME"), TEXT("value"), ':'};
    pmix_value_t value;

    PX_TEST_NEEDS_ALLOC;
    for (unsigned nth = 0; px_alloc_next(&nth);)
        if (px_alloc_check(PMIx_Value_load(&value, &envar, PMIX_ENVAR)))
            ck_assert_uint_eq(value.type, PMIX_UNDEF);
    PMIx_Value_destruct(&value);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static struct px_number number_of(pmix_data_type_t id, const void *at)
{
    struct px_number n;

    ck_assert(px_number_read(px_type_find(id), at, &n));
    return n;
}

static struct px_number real(double d)
{
    return number_of(PMIX_DOUBLE, &d);
}

static struct px_number whole(int64_t i)
{
    return number_of(PMIX_INT64, &i);
}

static struct px_number natural(uint64_t u)
{
    return number_of(PMIX_UINT64, &u);
}

PX_TEST(every_integer_type_keeps_its_least_and_greatest)
{
    static const pmix_data_type_t ids[] = {
        PMIX_INT8,   PMIX_INT16,  PMIX_INT32,   PMIX_INT64,     PMIX_UINT8,
        PMIX_UINT16, PMIX_UINT32, PMIX_UINT64,  PMIX_INT,       PMIX_UINT,
        PMIX_SIZE,   PMIX_PID,    PMIX_STATUS,  PMIX_PROC_RANK, PMIX_TIME,
        PMIX_BYTE,   PMIX_SCOPE,  PMIX_DEVTYPE, PMIX_LOCTYPE,
    };

    for (size_t i = 0; i < PX_COUNT(ids); i++) {
        const struct px_type *t = px_type_find(ids[i]);

        for (int bits = 0; bits < 4;
             bits++) { /* all bits alike, or all but the top one */
            uint64_t in = bits & 1 ? UINT64_MAX : 0, out = ~in;
            ((uint8_t *)&in)[t->size - 1] ^= bits & 2 ? 0x80 : 0;
            struct px_number n = number_of(ids[i], &in);

            ok(px_number_write(t, &out, &n));
            ck_assert_mem_eq(&in, &out, t->size);
        }
    }
}

PX_TEST(a_number_that_does_not_fit_is_refused_and_nothing_stored)
{
    static const struct {
        pmix_data_type_t id;
        int64_t below, above; /* just outside the range */
    } limits[] = {
        {PMIX_INT8, -129, 128},
        {PMIX_INT16, -32769, 32768},
        {PMIX_INT32, INT64_C(-2147483649), INT64_C(2147483648)},
        {PMIX_UINT8, -1, 256},
        {PMIX_UINT16, -1, 65536},
        {PMIX_UINT32, -1, INT64_C(4294967296)},
    };

    for (size_t i = 0; i < PX_COUNT(limits); i++) {
        const struct px_type *t = px_type_find(limits[i].id);
        struct px_number below = whole(limits[i].below), above = whole(limits[i].above);
        pmix_status_t sign = limits[i].below == -1 ? PMIX_ERR_CHANGE_SIGN
                                                   : PMIX_ERR_LOST_PRECISION;
        uint64_t stored = 7;

        ck_assert_int_eq(px_number_write(t, &stored, &below), sign);
        fails(px_number_write(t, &stored, &above), LOST_PRECISION);
        ck_assert_uint_eq(stored, 7);
    }
}

PX_TEST(the_fraction_of_a_real_is_cut_off)
{
    struct px_number n = real(-1234.567);
    int32_t i32;
    uint32_t u32;

    ok(px_number_write(px_type_find(PMIX_INT32), &i32, &n));
    ck_assert_int_eq(i32, -1234);
    fails(px_number_write(px_type_find(PMIX_UINT32), &u32, &n), CHANGE_SIGN);
}

PX_TEST(reals_beyond_64_bits_are_refused)
{
    static const double beyond[] = {1e300, -1e300, 18446744073709551616.0, HUGE_VAL,
                                    NAN};
    uint64_t u64;
    int64_t i64;

    for (size_t i = 0; i < PX_COUNT(beyond); i++) {
        struct px_number n = real(beyond[i]);

        fails(px_number_write(px_type_find(PMIX_INT64), &i64, &n), LOST_PRECISION);
        ck_assert_int_ne(px_number_write(px_type_find(PMIX_UINT64), &u64, &n),
                         PMIX_SUCCESS);
    }
    struct px_number most = real(18446744073709549568.0), least = real(-0x1p63);
    ok(px_number_write(px_type_find(PMIX_UINT64), &u64, &most));
    ck_assert_uint_eq(u64, UINT64_C(18446744073709549568));
    ok(px_number_write(px_type_find(PMIX_INT64), &i64, &least));
    ck_assert_int_eq(i64, INT64_MIN);
}

PX_TEST(whole_numbers_become_reals)
{
    struct px_number n = whole(-5);
    float f;
    double d;

    ok(px_number_write(px_type_find(PMIX_FLOAT), &f, &n));
    ok(px_number_write(px_type_find(PMIX_DOUBLE), &d, &n));
    ck_assert(f == -5 && d == -5);
}

PX_TEST(what_is_no_number_is_refused)
{
    static const pmix_data_type_t ids[] = {PMIX_UNDEF,   PMIX_BOOL, PMIX_STRING,
                                           PMIX_POINTER, PMIX_PROC, PMIX_TIMEVAL,
                                           PMIX_VALUE,   PMIX_INFO, PMIX_BYTE_OBJECT};
    struct px_number n, five = whole(5);
    pmix_info_t room = {0};

    for (size_t i = 0; i < PX_COUNT(ids); i++) {
        ck_assert(!px_number_read(px_type_find(ids[i]), &room, &n));
        fails(px_number_write(px_type_find(ids[i]), &room, &five), BAD_PARAM);
    }
}

PX_TEST(numbers_compare_by_worth_whatever_their_types)
{
    struct px_number ascending[] = {real(NAN),  real(-HUGE_VAL),     whole(INT64_MIN),
                                    real(-1.5), whole(-1),           real(-0.5),
                                    natural(0), real(0.5),           natural(1),
                                    whole(2),   natural(UINT64_MAX), real(1e30)};

    for (size_t i = 0; i < PX_COUNT(ascending); i++) {
        ck_assert_int_eq(px_number_compare(&ascending[i], &ascending[i]), 0);
        for (size_t j = 0; j < i; j++) {
            ck_assert_int_lt(px_number_compare(&ascending[j], &ascending[i]), 0);
            ck_assert_int_gt(px_number_compare(&ascending[i], &ascending[j]), 0);
        }
    }
    struct px_number one = whole(1), same = real(1);
    ck_assert_int_eq(px_number_compare(&one, &same), 0);
}

PX_TEST_MAIN("types/value", NULL, NULL)
