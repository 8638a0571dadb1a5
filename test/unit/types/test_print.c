/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects as text. */
#include "alloc_fail.h"
#include "px_test.h"
#include "sample.h"

#include <string.h>

static void assert_prints(pmix_data_type_t id, const void *obj, const char *expected)
{
    char *text = px_type_print(id, obj);

    ck_assert_str_eq(text, expected);
    free(text);
}

PX_TEST(any_object_prints_as_one_line)
{
    for (pmix_data_type_t id = 0; sample_type(&id); id++) {
        for (unsigned seed = 0; seed < SAMPLE_SEEDS; seed++) {
            union sample object;

            sample_fill(id, &object, seed);
            char *text = px_type_print(id, &object);
            ck_assert_ptr_nonnull(text);
            ck_assert_ptr_null(strchr(text, '\n'));
            free(text);
            px_type_destruct(id, &object);
        }
    }
}

PX_TEST(numbers_print_as_numbers_and_enumerations_by_name)
{
    assert_prints(PMIX_INT32, &(int32_t){-5}, "-5");
    assert_prints(PMIX_UINT64, &(uint64_t){UINT64_MAX}, "18446744073709551615");
    assert_prints(PMIX_DOUBLE, &(double){1.5}, "1.5");
    assert_prints(PMIX_BOOL, &(bool){true}, "true");
    assert_prints(PMIX_STATUS, &(pmix_status_t){PMIX_ERR_NOT_FOUND}, "NOT-FOUND");
    assert_prints(PMIX_STATUS, &(pmix_status_t){-12345}, "-12345");
    assert_prints(PMIX_SCOPE, &(pmix_scope_t){PMIX_GLOBAL}, "SHARE ACROSS ALL NODES");
    assert_prints(PMIX_DATA_TYPE, &(pmix_data_type_t){PMIX_PROC}, "PMIX_PROC");
    assert_prints(PMIX_INFO_DIRECTIVES, &(pmix_info_directives_t){PMIX_INFO_REQD},
                  "REQUIRED");
    assert_prints(PMIX_TIMEVAL, &(struct timeval){10, 500}, "10.000500");
}

PX_TEST(strings_are_quoted_and_escaped)
{
    char *null = NULL, *plain = TEXT("caf\xc3\xa9"), *odd = TEXT("a\"b\\c\nd");

    assert_prints(PMIX_STRING, &null, "NULL");
    assert_prints(PMIX_STRING, &plain, "\"caf\xc3\xa9\"");
    assert_prints(PMIX_STRING, &odd, "\"a\\x22b\\x5cc\\x0ad\"");
}

PX_TEST(processes_print_as_namespace_and_rank)
{
    pmix_proc_t proc = {"job", 3}, all = {"job", PMIX_RANK_WILDCARD};

    assert_prints(PMIX_PROC, &proc, "job:3");
    assert_prints(PMIX_PROC, &all, "job:WILDCARD");
}

PX_TEST(structures_print_their_members)
{
    char *argv[] = {TEXT("prog"), TEXT("-x"), NULL};
    pmix_info_t info = {.key = "k", .value = {PMIX_UINT32, {.uint32 = 7}}};
    pmix_app_t app = {
        .cmd = TEXT("prog"), .argv = argv, .maxprocs = 2, .info = &info, .ninfo = 1};

    assert_prints(PMIX_INFO, &info,
                  "{key: \"k\", flags: OPTIONAL, value: PMIX_UINT32 7}");
    assert_prints(
        PMIX_APP, &app,
        "{cmd: \"prog\", argv: {\"prog\", \"-x\"}, env: {}, cwd: NULL, "
        "maxprocs: 2, info: {{key: \"k\", flags: OPTIONAL, value: PMIX_UINT32 7}}}");
}

PX_TEST(values_print_with_their_type)
{
    uint16_t elements[] = {1, 2};
    pmix_data_array_t array = {PMIX_UINT16, 2, elements}, empty = {PMIX_INFO, 0, NULL};
    pmix_value_t nested = {PMIX_DATA_ARRAY, {.darray = &array}};
    pmix_value_t absent = {PMIX_PROC, {.proc = NULL}};
    pmix_value_t bytes = {PMIX_BYTE_OBJECT, {.bo = {TEXT("\x01\xff"), 2}}};

    assert_prints(PMIX_VALUE, &nested, "PMIX_DATA_ARRAY PMIX_UINT16[2] {1, 2}");
    assert_prints(PMIX_DATA_ARRAY, &empty, "PMIX_INFO[0]");
    assert_prints(PMIX_VALUE, &absent, "PMIX_PROC NULL");
    assert_prints(PMIX_VALUE, &bytes, "PMIX_BYTE_OBJECT 2 bytes 01 ff");
    assert_prints(PMIX_VALUE, &(pmix_value_t){0}, "PMIX_UNDEF");
    assert_prints(PMIX_VALUE, &(pmix_value_t){.type = 29}, "unknown type 29");
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

PX_TEST(null_and_unknown_types_print_too)
{
    assert_prints(PMIX_INFO, NULL, "NULL");
    assert_prints(29, "x", "unknown type 29");
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

PX_TEST(out_of_memory_is_null)
{
    pmix_info_t info = {.key = "k", .value = {PMIX_UINT32, {.uint32 = 7}}};
    char *text;

    PX_TEST_NEEDS_ALLOC;
    for (unsigned nth = 1;; nth++) {
        px_alloc_fail_at(nth);
        text = px_type_print(PMIX_INFO, &info);
        if (!px_alloc_fail_end())
            break;
        ck_assert_ptr_null(text);
    }
    ck_assert_ptr_nonnull(text);
    free(text);
}

PX_TEST_MAIN("types/print", NULL, NULL)
