/* SPDX-License-Identifier: BSD-3-Clause */
/* Walkers over objects by the table of types. Laws are checked on generated objects of
 * every type: a copy is equal and independent, the order is total. Text and size match
 * the content, and a freed object owns nothing. Some types have expected results.
 * PX_TEST_SEED=<number> selects other objects. */
#include "alloc_fail.h"
#include "core/base/attr.h"
#include "px_test.h"
#include "sample.h"

#include <math.h>
#include <string.h>

/* ---- laws ------------------------------------------------------------------------------------ */

enum { N_SEEDS = 200 };

struct thing {
    pmix_data_type_t type;
    unsigned seed;
    void *obj;
};

#define THING_MUST(x, condition)                                       \
    ck_assert_msg(condition, "%s, object %u of PX_TEST_SEED=%llu: %s", \
                  px_type_find((x)->type)->name, (x)->seed,            \
                  (unsigned long long)gen_seed(), #condition)

static struct thing make(pmix_data_type_t type, unsigned seed)
{
    struct gen g = {.state = (gen_seed() * 104729 + seed) * 1000003 + type,
                    .wild = seed & 1};

    return (struct thing){type, seed, gen_array(&g, type, 1)};
}

static void unmake(struct thing *x)
{
    px_type_free_array(x->type, x->obj, 1);
}

static void for_everything(unsigned n_seeds, void (*f)(struct thing *))
{
    struct gen g = {0};

    for (pmix_data_type_t type = 0; sample_type(&type); type++)
        for (unsigned seed = 0; gen_can(&g, type) && seed < n_seeds; seed++) {
            struct thing x = make(type, seed);

            f(&x);
            unmake(&x);
        }
}

static void has_an_equal_copy(struct thing *x)
{
    char *text = px_type_print(x->type, x->obj);
    size_t size = px_type_size(x->type, x->obj);
    void *copy = NULL;

    THING_MUST(x, px_type_copy_array(x->type, &copy, x->obj, 1) == PMIX_SUCCESS);
    THING_MUST(x, px_type_compare(x->type, copy, x->obj) == 0);
    THING_MUST(x, px_type_size(x->type, copy) == size);
    unmake(x); /* the copy is independent */
    x->obj = copy;
    char *after = px_type_print(x->type, x->obj);
    THING_MUST(x, text && after && strcmp(text, after) == 0);
    free(text);
    free(after);
}

PX_TEST(a_copy_is_equal_and_stands_alone)
{
    for_everything(N_SEEDS, has_an_equal_copy);
}

static void copying_lacks_memory(struct thing *x)
{
    for (unsigned nth = 0; px_alloc_next(&nth);) {
        void *copy = NULL;

        px_alloc_check(px_type_copy_array(x->type, &copy, x->obj, 1));
        px_type_free_array(x->type, copy, copy ? 1 : 0);
    }
}

PX_TEST(copying_reports_want_of_memory)
{
    PX_TEST_NEEDS_ALLOC;
    for_everything(5, copying_lacks_memory);
}

/* Checks that the object is all zero, and that a constructed object owns no memory. */
static void ends_empty(struct thing *x)
{
    static const union sample zero;
    size_t size = px_type_find(x->type)->size;

    for (int twice = 0; twice < 2; twice++) {
        px_type_destruct(x->type, x->obj);
        THING_MUST(x, memcmp(x->obj, &zero, size) == 0);
    }
    px_type_construct(x->type, x->obj);
    THING_MUST(x, px_type_size(x->type, x->obj) == size);
}

PX_TEST(destructed_objects_are_empty_and_may_be_destructed_again)
{
    for_everything(SAMPLE_SEEDS, ends_empty);
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

static void is_in_order(struct thing *x)
{
    struct thing y = make(x->type, x->seed + 1), z = make(x->type, x->seed + 2);
    int xy = sign(px_type_compare(x->type, x->obj, y.obj)),
        yz = sign(px_type_compare(x->type, y.obj, z.obj)),
        xz = sign(px_type_compare(x->type, x->obj, z.obj));

    THING_MUST(x, px_type_compare(x->type, x->obj, x->obj) == 0);
    THING_MUST(x, px_type_compare(x->type, y.obj, x->obj) * xy <= 0);
    THING_MUST(x, sign(px_type_compare(x->type, y.obj, x->obj)) == -xy);
    THING_MUST(x, xy != yz || xz == xy);
    unmake(&y);
    unmake(&z);
}

PX_TEST(objects_have_an_order)
{
    for_everything(N_SEEDS, is_in_order);
}

/* Checks that text contains the whole object, unless it is truncated. */
static void has_text_and_size(struct thing *x)
{
    const struct px_type *t = px_type_find(x->type);
    struct thing y = make(x->type, x->seed + 2);
    char *text = px_type_print(x->type, x->obj), *other = px_type_print(y.type, y.obj);

    THING_MUST(x, text && *text && !strchr(text, '\n'));
    THING_MUST(x,
               strcmp(text, other) == 0 || px_type_compare(y.type, x->obj, y.obj) != 0);
    THING_MUST(x, px_type_size(x->type, x->obj) >= t->size);
    THING_MUST(x, !t->flat || px_type_size(x->type, x->obj) == t->size);
    free(text);
    free(other);
    unmake(&y);
}

PX_TEST(every_object_has_text_and_a_size)
{
    for_everything(N_SEEDS, has_text_and_size);
}

static void printing_lacks_memory(struct thing *x)
{
    for (unsigned nth = 0; px_alloc_next(&nth);) {
        PX_AUTOFREE char *text = px_type_print(x->type, x->obj);

        px_alloc_check(text ? PMIX_SUCCESS : PMIX_ERR_NOMEM);
    }
}

PX_TEST(printing_reports_want_of_memory)
{
    PX_TEST_NEEDS_ALLOC;
    for_everything(3, printing_lacks_memory);
}

/* ---- order ----------------------------------------------------------------------------------- */

PX_TEST(objects_are_ordered_by_worth)
{
    char handles[2], *nothing[] = {NULL}, *none = NULL, *empty = TEXT(""),
                     *a = TEXT("a");
    pmix_info_t unused;
    const struct {
        pmix_data_type_t type;
        int order;
        const void *left, *right;
    } rows[] = {
        {PMIX_INT32, -1, &(int32_t){-1}, &(int32_t){1}},
        {PMIX_UINT32, -1, &(uint32_t){1}, &(uint32_t){UINT32_MAX}},
        {PMIX_INT8, -1, &(int8_t){-128}, &(int8_t){127}},
        {PMIX_UINT8, 1, &(int8_t){-128}, &(int8_t){127}},
        {PMIX_DOUBLE, 0, &(double){NAN}, &(double){NAN}},
        {PMIX_DOUBLE, -1, &(double){NAN}, &(double){-HUGE_VAL}},
        {PMIX_TIMEVAL, -1, &(struct timeval){1, 999999}, &(struct timeval){2, 0}},
        {PMIX_TIMEVAL, -1, &(struct timeval){2, 0}, &(struct timeval){2, 1}},
        {PMIX_STRING, 0, NULL, NULL},
        {PMIX_STRING, -1, NULL, &none},
        {PMIX_STRING, -1, &none, &empty},
        {PMIX_STRING, -1, &empty, &a},
        {PMIX_BYTE_OBJECT, -1, &(pmix_byte_object_t){TEXT("ab"), 2},
         &(pmix_byte_object_t){TEXT("aba"), 3}},
        {PMIX_BYTE_OBJECT, -1, &(pmix_byte_object_t){TEXT("aba"), 3},
         &(pmix_byte_object_t){TEXT("b"), 1}},
        /* an empty vector equals a missing one; members that never travel count, too */
        {PMIX_QUERY, 0, &(pmix_query_t){0},
         &(pmix_query_t){.keys = nothing, .qualifiers = &unused}},
        {PMIX_PROC_INFO, 1, &(pmix_proc_info_t){.exit_code = 1},
         &(pmix_proc_info_t){.exit_code = 0}},
        /* the owner of the value makes no difference */
        {PMIX_INFO, 0, &(pmix_info_t){.key = "k"},
         &(pmix_info_t){.key = "k", .flags = PMIX_INFO_PERSISTENT}},
        {PMIX_INFO, -1, &(pmix_info_t){.key = "k"},
         &(pmix_info_t){.key = "k", .flags = PMIX_INFO_REQD}},
        {PMIX_VALUE, -1, &(pmix_value_t){PMIX_UINT32, {.uint32 = 1}},
         &(pmix_value_t){PMIX_PROC_RANK, {.rank = 1}}},
        /* foreign handles are compared by address */
        {PMIX_PROC_CPUSET, -1, &(pmix_cpuset_t){TEXT("other"), &handles[0]},
         &(pmix_cpuset_t){TEXT("other"), &handles[1]}},
        {PMIX_PROC_CPUSET, 0, &(pmix_cpuset_t){TEXT("other"), handles},
         &(pmix_cpuset_t){TEXT("other"), handles}},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++)
        ck_assert_msg(sign(px_type_compare(rows[i].type, rows[i].left,
                                           rows[i].right)) == rows[i].order,
                      "row %zu, %s", i, px_type_find(rows[i].type)->name);
}

/* ---- copies ---------------------------------------------------------------------------------- */

PX_TEST(unknown_types_are_refused_and_change_nothing)
{
    static const pmix_data_type_t unknown[] = {26, 28, 29, 44, 76, UINT16_MAX};
    int original = 1, copy = 2;
    void *array = &copy;

    for (size_t i = 0; i < PX_COUNT(unknown); i++) {
        fails(px_type_copy(unknown[i], &copy, &original), UNKNOWN_DATA_TYPE);
        fails(px_type_copy_array(unknown[i], &array, &original, 1), UNKNOWN_DATA_TYPE);
    }
    ck_assert_int_eq(copy, 2);
    ck_assert_ptr_eq(array, &copy);
}

PX_TEST(a_value_of_a_type_no_value_holds_is_refused_wherever_it_is)
{
    pmix_info_t infos[2];
    pmix_data_array_t array = {PMIX_INFO, 2, infos}, copy;

    PMIx_Info_load(&infos[0], "key", "text", PMIX_STRING);
    PMIx_Info_construct(&infos[1]);
    infos[1].value.type = PMIX_APP;

    fails(px_type_copy(PMIX_DATA_ARRAY, &copy, &array), UNKNOWN_DATA_TYPE);
    ck_assert_ptr_null(copy.array);
    ck_assert_uint_eq(copy.size, 0);
    PMIx_Info_destruct(&infos[0]);
}

PX_TEST(a_size_without_memory_is_nothing)
{
    pmix_byte_object_t bytes = {NULL, 7}, bytes_copy;
    pmix_data_array_t array = {PMIX_INFO, 7, NULL}, array_copy;
    pmix_app_t app = {.ninfo = 7}, app_copy;

    ok(px_type_copy(PMIX_BYTE_OBJECT, &bytes_copy, &bytes));
    ck_assert_uint_eq(bytes_copy.size, 0);
    ok(px_type_copy(PMIX_DATA_ARRAY, &array_copy, &array));
    ck_assert_uint_eq(array_copy.size, 0);
    ck_assert_uint_eq(array_copy.type, PMIX_INFO);
    ok(px_type_copy(PMIX_APP, &app_copy, &app));
    ck_assert_uint_eq(app_copy.ninfo, 0);
}

PX_TEST(a_buffer_is_copied_with_its_reading_position)
{
    char packed[] = "abcdef";
    pmix_data_buffer_t original = {packed, packed + 6, packed + 2, 7, 6}, copy;

    ok(px_type_copy(PMIX_DATA_BUFFER, &copy, &original));
    ck_assert_ptr_ne(copy.base_ptr, packed);
    ck_assert_int_eq(copy.unpack_ptr - copy.base_ptr, 2);
    ck_assert_int_eq(copy.pack_ptr - copy.base_ptr, 6);
    ck_assert_uint_eq(copy.bytes_used, 6);
    PMIx_Data_buffer_destruct(&copy);
}

PX_TEST(the_copy_of_a_persistent_info_owns_its_value)
{
    pmix_info_t lent = {.key = "key",
                        .flags = PMIX_INFO_PERSISTENT | PMIX_INFO_REQD,
                        .value = {PMIX_STRING, {.string = TEXT("not malloc'd")}}},
                copy;

    ok(px_type_copy(PMIX_INFO, &copy, &lent));
    ck_assert_uint_eq(copy.flags, PMIX_INFO_REQD);
    ck_assert_ptr_ne(copy.value.data.string, lent.value.data.string);
    px_type_destruct(PMIX_INFO, &copy);
}

/* ---- construction and destruction ------------------------------------------------------------ */

#define SAME(ID, c_type, initializer)                           \
    do {                                                        \
        static const c_type expected = initializer;             \
        union sample object;                                    \
                                                                \
        memset(&object, 0xaa, sizeof(object));                  \
        px_type_construct(PMIX_##ID, &object);                  \
        ck_assert_mem_eq(&object, &expected, sizeof(expected)); \
    } while (0)

PX_TEST(constructed_objects_equal_their_static_initializers)
{
    SAME(PROC, pmix_proc_t, PMIX_PROC_STATIC_INIT);
    SAME(PROC_INFO, pmix_proc_info_t, PMIX_PROC_INFO_STATIC_INIT);
    SAME(NODE_PID, pmix_node_pid_t, PMIX_NODE_PID_STATIC_INIT);
    SAME(VALUE, pmix_value_t, PMIX_VALUE_STATIC_INIT);
    SAME(INFO, pmix_info_t, PMIX_INFO_STATIC_INIT);
    SAME(PDATA, pmix_pdata_t, PMIX_LOOKUP_STATIC_INIT);
    SAME(APP, pmix_app_t, PMIX_APP_STATIC_INIT);
    SAME(QUERY, pmix_query_t, PMIX_QUERY_STATIC_INIT);
    SAME(REGATTR, pmix_regattr_t, PMIX_REGATTR_STATIC_INIT);
    SAME(BYTE_OBJECT, pmix_byte_object_t, PMIX_BYTE_OBJECT_STATIC_INIT);
    SAME(DATA_ARRAY, pmix_data_array_t, PMIX_DATA_ARRAY_STATIC_INIT);
    SAME(DATA_BUFFER, pmix_data_buffer_t, PMIX_DATA_BUFFER_STATIC_INIT);
    SAME(ENVAR, pmix_envar_t, PMIX_ENVAR_STATIC_INIT);
    SAME(COORD, pmix_coord_t, PMIX_COORD_STATIC_INIT);
    SAME(GEOMETRY, pmix_geometry_t, PMIX_GEOMETRY_STATIC_INIT);
    SAME(DEVICE, pmix_device_t, PMIX_DEVICE_STATIC_INIT);
    SAME(DEVICE_DIST, pmix_device_distance_t, PMIX_DEVICE_DIST_STATIC_INIT);
    SAME(ENDPOINT, pmix_endpoint_t, PMIX_ENDPOINT_STATIC_INIT);
    SAME(RESOURCE_UNIT, pmix_resource_unit_t, PMIX_RESOURCE_UNIT_STATIC_INIT);
    SAME(PROC_STATS, pmix_proc_stats_t, PMIX_PROC_STATS_STATIC_INIT);
    SAME(DISK_STATS, pmix_disk_stats_t, PMIX_DISK_STATS_STATIC_INIT);
    SAME(NET_STATS, pmix_net_stats_t, PMIX_NET_STATS_STATIC_INIT);
    SAME(NODE_STATS, pmix_node_stats_t, PMIX_NODE_STATS_STATIC_INIT);
    SAME(PROC_CPUSET, pmix_cpuset_t, PMIX_CPUSET_STATIC_INIT);
    SAME(TOPO, pmix_topology_t, PMIX_TOPOLOGY_STATIC_INIT);
}

PX_TEST(there_is_no_array_of_nothing)
{
    void *copy = &copy;

    ok(px_type_copy_array(PMIX_INFO, &copy, NULL, 0));
    ck_assert_ptr_null(copy);
    ck_assert_ptr_null(px_type_create_array(PMIX_INFO, 0));
    ck_assert_ptr_null(px_type_create_array(PMIX_UNDEF, 1));
    ck_assert_ptr_null(px_type_create_array(29, 1));
}

PX_TEST(null_and_unknown_types_are_left_alone)
{
    int untouched = 1;

    for (pmix_data_type_t id = 0; sample_type(&id); id++) {
        px_type_construct(id, NULL);
        px_type_destruct(id, NULL);
        px_type_free_array(id, NULL, 3);
        ck_assert_uint_eq(px_type_size(id, NULL), 0);
    }
    px_type_construct(29, &untouched);
    px_type_destruct(29, &untouched);
    ck_assert_int_eq(untouched, 1);
    ck_assert_uint_eq(px_type_size(29, &untouched), 0);
}

PX_TEST(a_value_of_an_unknown_type_becomes_undefined)
{
    pmix_value_t value = {.type = 29, .data.ptr = TEXT("not malloc'd")};

    px_type_destruct(PMIX_VALUE, &value);
    ck_assert_uint_eq(value.type, PMIX_UNDEF);
}

/* ---- size ------------------------------------------------------------------------------------ */

PX_TEST(what_is_owned_counts_once)
{
    pmix_info_t infos[2] = {{.value = {PMIX_STRING, {.string = TEXT("123")}}}};
    pmix_data_array_t array = {PMIX_INFO, 2, infos};
    char *text = TEXT("12345"), *argv[] = {TEXT("ab"), TEXT("c"), NULL};
    const size_t in_value = sizeof(pmix_value_t);
    const struct {
        pmix_data_type_t type;
        const void *obj;
        size_t size;
    } rows[] = {
        {PMIX_STRING, &text, sizeof(text) + 6},
        {PMIX_VALUE, &(pmix_value_t){PMIX_UINT64, {.uint64 = 1}}, in_value},
        {PMIX_VALUE, &(pmix_value_t){PMIX_BYTE_OBJECT, {.bo = {TEXT("abc"), 3}}},
         in_value + 3},
        {PMIX_VALUE, &(pmix_value_t){PMIX_DATA_ARRAY, {.darray = &array}},
         in_value + sizeof(array) + sizeof(infos) + 4},
        {PMIX_APP, &(pmix_app_t){.argv = argv, .info = infos, .ninfo = 2},
         sizeof(pmix_app_t) + sizeof(argv) + 3 + 2 + sizeof(infos) + 4},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++)
        ck_assert_uint_eq(px_type_size(rows[i].type, rows[i].obj), rows[i].size);
}

/* ---- text ------------------------------------------------------------------------------------ */

PX_TEST(objects_print_as_people_write_them)
{
    char *null = NULL, *plain = TEXT("caf\xc3\xa9"), *odd = TEXT("a\"b\\c\nd");
    char *argv[] = {TEXT("prog"), TEXT("-x"), NULL};
    pmix_info_t info = {.key = "k", .value = {PMIX_UINT32, {.uint32 = 7}}};
    pmix_app_t app = {
        .cmd = TEXT("prog"), .argv = argv, .maxprocs = 2, .info = &info, .ninfo = 1};
    uint16_t elements[] = {1, 2};
    pmix_data_array_t array = {PMIX_UINT16, 2, elements}, empty = {PMIX_INFO, 0, NULL};
    const struct {
        pmix_data_type_t type;
        const void *obj;
        const char *text;
    } rows[] = {
        {PMIX_INT32, &(int32_t){-5}, "-5"},
        {PMIX_UINT64, &(uint64_t){UINT64_MAX}, "18446744073709551615"},
        {PMIX_DOUBLE, &(double){1.5}, "1.5"},
        {PMIX_BOOL, &(bool){true}, "true"},
        {PMIX_STATUS, &(pmix_status_t){PMIX_ERR_NOT_FOUND},
         PMIx_Error_string(PMIX_ERR_NOT_FOUND)},
        {PMIX_STATUS, &(pmix_status_t){-12345}, "-12345"},
        {PMIX_SCOPE, &(pmix_scope_t){PMIX_GLOBAL}, "SHARE ACROSS ALL NODES"},
        {PMIX_DATA_TYPE, &(pmix_data_type_t){PMIX_PROC}, "PMIX_PROC"},
        {PMIX_INFO_DIRECTIVES, &(pmix_info_directives_t){PMIX_INFO_REQD}, "REQUIRED"},
        {PMIX_TIMEVAL, &(struct timeval){10, 500}, "10.000500"},
        {PMIX_STRING, &null, "NULL"},
        {PMIX_STRING, &plain, "\"caf\xc3\xa9\""},
        {PMIX_STRING, &odd, "\"a\\x22b\\x5cc\\x0ad\""},
        {PMIX_PROC, &(pmix_proc_t){"job", 3}, "job:3"},
        {PMIX_PROC, &(pmix_proc_t){"job", PMIX_RANK_WILDCARD}, "job:WILDCARD"},
        {PMIX_INFO, &info, "{key: \"k\", flags: OPTIONAL, value: PMIX_UINT32 7}"},
        {PMIX_APP, &app,
         "{cmd: \"prog\", argv: {\"prog\", \"-x\"}, env: {}, cwd: NULL, "
         "maxprocs: 2, info: {{key: \"k\", flags: OPTIONAL, value: PMIX_UINT32 7}}}"},
        {PMIX_VALUE, &(pmix_value_t){PMIX_DATA_ARRAY, {.darray = &array}},
         "PMIX_DATA_ARRAY PMIX_UINT16[2] {1, 2}"},
        {PMIX_DATA_ARRAY, &empty, "PMIX_INFO[0]"},
        {PMIX_VALUE, &(pmix_value_t){PMIX_PROC, {.proc = NULL}}, "PMIX_PROC NULL"},
        {PMIX_VALUE, &(pmix_value_t){PMIX_BYTE_OBJECT, {.bo = {TEXT("\x01\xff"), 2}}},
         "PMIX_BYTE_OBJECT 2 bytes 01 ff"},
        {PMIX_VALUE, &(pmix_value_t){0}, "PMIX_UNDEF"},
        {PMIX_VALUE, &(pmix_value_t){.type = 29}, "unknown type 29"},
        {PMIX_INFO, NULL, "NULL"},
        {29, "x", "unknown type 29"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTOFREE char *text = px_type_print(rows[i].type, rows[i].obj);

        ck_assert_str_eq(text, rows[i].text);
    }
}

PX_TEST(long_byte_objects_are_cut_short)
{
    char zeros[100] = {0};
    pmix_byte_object_t bytes = {zeros, sizeof(zeros)};
    char *text = px_type_print(PMIX_BYTE_OBJECT, &bytes);

    ck_assert_int_eq(strncmp(text, "100 bytes 00 00", 15), 0);
    ck_assert_str_eq(text + strlen(text) - 3, "...");
    free(text);
}

PX_TEST(unterminated_arrays_are_not_read_beyond_their_end)
{
    pmix_proc_t proc;

    memset(&proc, 'x', sizeof(proc));
    char *text = px_type_print(PMIX_PROC, &proc);
    ck_assert_uint_eq(strchr(text, ':') - text, sizeof(proc.nspace));
    free(text);
}

PX_TEST(public_functions_print_their_types)
{
    pmix_proc_t proc = {"job", 3};
    pmix_value_t value = {PMIX_BOOL, {.flag = true}};
    char *texts[] = {PMIx_Proc_string(&proc), PMIx_Value_string(&value),
                     PMIx_Info_string(NULL), PMIx_App_string(&(pmix_app_t){0})};

    ck_assert_str_eq(texts[0], "job:3");
    ck_assert_str_eq(texts[1], "PMIX_BOOL true");
    ck_assert_str_eq(texts[2], "NULL");
    ck_assert_ptr_nonnull(texts[3]);
    for (size_t i = 0; i < PX_COUNT(texts); i++)
        free(texts[i]);
}

PX_TEST_MAIN("types/walk", NULL, NULL)
