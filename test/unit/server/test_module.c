/* SPDX-License-Identifier: BSD-3-Clause */
/* A host's module is read as far as it is known to reach, and not a byte further. */
#include "core/server/upcall.h"

#include "core/server/server.h"
#include "px_test.h"

#include <string.h>
#include <sys/mman.h>

#define COMMON_B 224u
#define OURS_B   sizeof(pmix_server_module_t)

static void *pages;
static size_t page_b;

static void setup(void)
{
    page_b = (size_t)sysconf(_SC_PAGESIZE);
    pages = mmap(NULL, 2 * page_b, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                 -1, 0);
    ck_assert_ptr_ne(pages, MAP_FAILED);
    ck_assert_int_eq(mprotect((char *)pages + page_b, page_b, PROT_NONE), 0);
}

static void teardown(void)
{
    munmap(pages, 2 * page_b);
}

/* A module of that many bytes with nothing readable behind it; slot i holds 1000 + i. */
static const pmix_server_module_t *module_of(size_t bytes)
{
    char *at = (char *)pages + page_b - bytes;

    for (uintptr_t i = 0; i < bytes / sizeof(i); i++) {
        uintptr_t v = 1000 + i;

        memcpy(at + i * sizeof(v), &v, sizeof(v));
    }
    return (const pmix_server_module_t *)(const void *)at;
}

static uintptr_t slot(const pmix_server_module_t *m, size_t i)
{
    uintptr_t v;

    memcpy(&v, (const char *)m + i * sizeof(v), sizeof(v));
    return v;
}

/* What stands in slots 28 to 31 if the module is of so many bytes and says so (told). */
static void tail_is(size_t bytes, const size_t *told, uintptr_t tool2, uintptr_t log2,
                    uintptr_t session, uintptr_t block)
{
    const uintptr_t wanted[] = {tool2, log2, session, block};
    pmix_info_t info = {.key = TENON_SERVER_MODULE_SIZE,
                        .value = {.type = PMIX_SIZE, .data.size = told ? *told : 0}};
    pmix_server_module_t m;

    memset(&m, 0xee, sizeof(m));
    px_module_take(module_of(bytes), told ? &info : NULL, told ? 1 : 0, &m);
    for (size_t i = 0; i < 28; i++)
        ck_assert_uint_eq(slot(&m, i), 1000 + i);
    for (size_t i = 28; i < 32; i++)
        ck_assert_uint_eq(slot(&m, i), wanted[i - 28]);
}

static void told(size_t bytes, uintptr_t tool2, uintptr_t log2, uintptr_t session,
                 uintptr_t block)
{
    tail_is(bytes, &bytes, tool2, log2, session, block);
}

PX_TEST(nothing_behind_28_slots_is_read_unasked)
{
    tail_is(COMMON_B, NULL, 0, 0, 0, 0);
    tail_is(OURS_B, NULL, 0, 0, 0, 0); /* a later release's: whose is not known */
}

PX_TEST(each_release_has_its_slots_where_they_belong)
{
    ck_assert_uint_eq(OURS_B, 256);
    told(COMMON_B, 0, 0, 0, 0);
    told(232, 0, 0, 1028, 0);
    told(240, 0, 0, 1028, 1029);
    told(OURS_B, 1028, 1029, 1030, 1031);
}

PX_TEST(sizes_of_no_release_give_what_is_sure)
{
    const size_t larger = 512;

    told(248, 0, 0, 0, 0);
    tail_is(OURS_B, &larger, 1028, 1029, 1030, 1031);
    tail_is(OURS_B, &(size_t){SIZE_MAX}, 1028, 1029, 1030, 1031);
    told(226, 0, 0, 0, 0);
}

PX_TEST(a_module_that_says_it_is_smaller_is_read_so_far)
{
    pmix_info_t info = {.key = TENON_SERVER_MODULE_SIZE,
                        .value = {.type = PMIX_UINT32, .data.uint32 = 16}};
    pmix_server_module_t m;

    px_module_take(module_of(16), &info, 1, &m);
    ck_assert_uint_eq(slot(&m, 0), 1000);
    ck_assert_uint_eq(slot(&m, 1), 1001);
    for (size_t i = 2; i < 32; i++)
        ck_assert_uint_eq(slot(&m, i), 0);
}

PX_TEST(a_size_that_is_no_number_says_nothing)
{
    pmix_info_t info = {.key = TENON_SERVER_MODULE_SIZE,
                        .value = {.type = PMIX_STRING, .data.string = (char *)"256"}};
    pmix_server_module_t m;

    px_module_take(module_of(COMMON_B), &info, 1, &m);
    ck_assert_uint_eq(slot(&m, 27), 1027);
    ck_assert_uint_eq(slot(&m, 28), 0);
}

static pmix_server_module_t *good_module(size_t bytes)
{
    char *at = (char *)pages + page_b - bytes;

    memset(at, 0, bytes);
    return (pmix_server_module_t *)(void *)at;
}

static pmix_status_t log2_slot(const pmix_proc_t *client PX_UNUSED,
                               const pmix_info_t data[] PX_UNUSED,
                               size_t n_data PX_UNUSED,
                               const pmix_info_t directives[] PX_UNUSED,
                               size_t n PX_UNUSED, pmix_op_cbfunc_t cb PX_UNUSED,
                               void *cbdata PX_UNUSED)
{
    return PMIX_OPERATION_SUCCEEDED;
}

/* The function, as an old binary calls it; the header's way in is a macro. */
PX_TEST(an_old_binary_is_served_without_looking_further)
{
    pmix_server_module_t *m = good_module(COMMON_B);

    ok((PMIx_server_init)(m, NULL, 0));
    ck_assert_ptr_null(px_process.server->module.log2);
}

PX_TEST(our_header_tells_the_size_by_itself)
{
    pmix_server_module_t *m = good_module(OURS_B);
    pmix_info_t info[2];

    m->log2 = log2_slot;
    ok(PMIx_server_init(m, NULL, 0));
    ck_assert_ptr_eq(px_process.server->module.log2, log2_slot);
    ok(PMIx_server_finalize());
    /* The host's own infos get there as well, and stay his. */
    PMIx_Info_load(&info[0], PMIX_SERVER_NSPACE, "mine", PMIX_STRING);
    PMIx_Info_load(&info[1], PMIX_SERVER_RANK, &(pmix_rank_t){7}, PMIX_PROC_RANK);
    ok(PMIx_server_init(m, info, 2));
    ck_assert_ptr_eq(px_process.server->module.log2, log2_slot);
    ck_assert_str_eq(px_process.server->proc.nspace, "mine");
    ck_assert_uint_eq(px_process.server->proc.rank, 7);
    ok(PMIx_server_finalize());
    ck_assert_str_eq(info[0].value.data.string, "mine");
    PMIx_Info_destruct(&info[0]);
    PMIx_Info_destruct(&info[1]);
}

PX_TEST_MAIN("server/module", setup, teardown)
