/* SPDX-License-Identifier: BSD-3-Clause */
/* What an operation borrows becomes its own: whole, or not at all. */
#include "core/link/args.h"

#include "alloc_fail.h"
#include "px_test.h"

#include <string.h>

struct op {
    int first; /* offset 0 names nothing */
    pmix_proc_t *procs;
    size_t n_procs;
    const pmix_info_t *info;
    size_t n_info;
    char **keys;
    size_t n_keys;
    const char *text;
    const pmix_byte_object_t *bytes;
};

static const struct px_arg args[] = {
    PX_ARGS(struct op, procs, n_procs, PMIX_PROC),
    PX_ARGS(struct op, info, n_info, PMIX_INFO),
    PX_ARGS(struct op, keys, n_keys, PMIX_STRING),
    PX_ARG(struct op, text, PMIX_STRING),
    PX_ARG(struct op, bytes, PMIX_BYTE_OBJECT),
    PX_ARGS_END,
};

static pmix_proc_t procs[2];
static pmix_info_t info;
static char *keys[] = {(char *)"one", (char *)"two"};
static pmix_byte_object_t bytes = {.bytes = (char *)"\1\2\3", .size = 3};

static void setup(void)
{
    px_proc_set(&procs[1], "ns", 4);
    PMIx_Info_load(&info, "key", "value", PMIX_STRING);
}

static void teardown(void)
{
    PMIx_Info_destruct(&info);
}

static struct op full(void)
{
    return (struct op){.procs = procs,
                       .n_procs = 2,
                       .info = &info,
                       .n_info = 1,
                       .keys = keys,
                       .n_keys = 2,
                       .text = "text",
                       .bytes = &bytes};
}

START_TEST(copies_are_whole_and_ones_own)
{
    struct op op = full();

    ck_assert_int_eq(px_args_copy(&op, args), PMIX_SUCCESS);
    ck_assert(op.procs != procs && px_proc_same(&op.procs[1], &procs[1]));
    ck_assert_ptr_ne(op.info, &info);
    ck_assert_ptr_ne(op.info->value.data.string, info.value.data.string);
    ck_assert_str_eq(op.info->value.data.string, "value");
    ck_assert_ptr_ne(op.keys[1], keys[1]);
    ck_assert_str_eq(op.keys[1], "two");
    ck_assert_str_eq(op.text, "text");
    ck_assert_ptr_ne(op.bytes->bytes, bytes.bytes);
    ck_assert_mem_eq(op.bytes->bytes, "\1\2\3", 3);
    px_args_free(&op, args);
    ck_assert_ptr_null(op.procs);
    ck_assert_ptr_null(op.text);
    px_args_free(&op, args); /* nothing is left */
}
END_TEST

START_TEST(what_is_not_given_is_not_copied)
{
    struct op op = {.n_procs = 3, .keys = keys, .n_keys = 0};

    ck_assert_int_eq(px_args_copy(&op, args), PMIX_SUCCESS);
    ck_assert_uint_eq(op.n_procs, 0);
    ck_assert_ptr_null(op.keys);
    ck_assert_ptr_null(op.text);
    ck_assert_ptr_null(op.bytes);
    px_args_free(&op, args);
    op = full();
    ck_assert_int_eq(px_args_copy(&op, NULL), PMIX_SUCCESS);
    ck_assert_ptr_eq(op.procs, procs);
}
END_TEST

START_TEST(a_failed_copy_owns_nothing)
{
    pmix_info_t odd = {.key = "odd", .value = {.type = 12345}};
    struct op op = full();

    op.info = &odd;
    ck_assert_int_eq(px_args_copy(&op, args), PMIX_ERR_UNKNOWN_DATA_TYPE);
    ck_assert_ptr_null(op.procs);
    ck_assert_ptr_null(op.info);
    ck_assert_ptr_null(op.keys);
    ck_assert_ptr_null(op.bytes);
}
END_TEST

START_TEST(out_of_memory_owns_nothing_either)
{
    unsigned nth;

    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
    for (nth = 1;; nth++) {
        struct op op = full();

        px_alloc_fail_at(nth);
        pmix_status_t rc = px_args_copy(&op, args);
        int balance = px_alloc_balance();
        bool failed = px_alloc_fail_end();
        if (!failed) {
            ck_assert_int_eq(rc, PMIX_SUCCESS);
            px_args_free(&op, args);
            break;
        }
        ck_assert_int_eq(rc, PMIX_ERR_NOMEM);
        ck_assert_int_eq(balance, 0);
        ck_assert_ptr_null(op.bytes);
    }
    ck_assert_uint_ge(nth, 8);
}
END_TEST

PX_TEST_MAIN_WITH("model/args", setup, teardown, copies_are_whole_and_ones_own,
                  what_is_not_given_is_not_copied, a_failed_copy_owns_nothing,
                  out_of_memory_owns_nothing_either)
