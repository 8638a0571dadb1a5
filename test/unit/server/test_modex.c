/* SPDX-License-Identifier: BSD-3-Clause */
/* What servers give each other when a fence collects data. The other node's server is played by
 * this test: it reads what ours gives its host, and writes what comes back. */
#include "core/server/collective/collective.h"

#include "core/base/str.h"
#include "fake_host.h"
#include "px_test.h"
#include "raw.h"

#include <string.h>

#define FLAG_COLLECTED 0x01
#define FLAG_KEY_MAP   0x02

static int one, two;
static unsigned n_fences;

/* Ranks 0 and 1 here, 2 and 3 on the other node. */
static void setup(void)
{
    raw_server_start_part(&host_module, 2, 2);
    one = raw_client(0);
    two = raw_client(1);
}

static void stop(void)
{
    raw_server_stop();
    close(one);
    close(two);
}

static pmix_value_t number(uint32_t n)
{
    return (pmix_value_t){.type = PMIX_UINT32, .data.uint32 = n};
}

/* ---- the other server ------------------------------------------------------------------------ */

static px_writer fresh(void)
{
    px_writer w;

    px_writer_init(&w, px_codec_default);
    return w;
}

/* w goes into to as a BYTE_OBJECT. */
static void put_inside(px_writer *to, px_writer *w)
{
    ok(w->status);
    px_pack_bytes(to, w->buf.data, w->buf.len);
    px_writer_cleanup(w);
}

static void put_rank(px_writer *server, uint32_t rank, const char *key, uint32_t n)
{
    pmix_value_t v = number(n);
    px_writer w = fresh();

    px_pack_rank(&w, rank);
    px_pack_kval(&w, key, &v);
    put_inside(server, &w);
}

static px_writer server_with(uint8_t flags)
{
    px_writer w = fresh();

    px_pack_u8(&w, flags, PMIX_BYTE);
    return w;
}

/* Runs a collecting fence of both; the host joins what ours gave with what the other server gives. */
static pmix_status_t fence_with(px_writer *other)
{
    px_writer joined = fresh();

    host.how = HOST_HELD;
    raw_fence(one, 500, true);
    raw_fence(two, 500, true);
    host_await("fence_nb", ++n_fences);
    ok(px_buf_add(&joined.buf, host.data, host.n_data));
    if (other)
        put_inside(&joined, other);
    host.bytes = joined.buf.data;
    host.n_bytes = joined.buf.len;
    ck_assert(host_answer(PMIX_SUCCESS));
    px_writer_cleanup(&joined);
    pmix_status_t rc = raw_status(one, 500);
    ck_assert_int_eq(raw_status(two, 500), rc);
    return rc;
}

static uint32_t get(int fd, pmix_rank_t rank, const char *key)
{
    px_writer w;
    px_reader r;

    raw_get(&w, "job", rank, key, PMIX_IMMEDIATE);
    return raw_request(fd, &w, &r) ? UINT32_MAX : raw_value_in(&r, key);
}

/* ---- what ours gives --------------------------------------------------------------------------- */

PX_TEST(the_data_is_the_remote_scope_of_each_committed_rank)
{
    uint8_t flags = 0;
    px_reader all, server, part;
    struct px_kval kv = {0};
    pmix_rank_t rank;

    ok(raw_commit(two, "colour", 7)); /* rank 0 commits nothing */
    ok(fence_with(NULL));

    px_reader_init(&all, px_codec_default, host.data, host.n_data);
    ok(px_unpack_view(&all, &server, PMIX_BYTE_OBJECT));
    ck_assert(px_reader_done(&all));
    ok(px_unpack_u8(&server, &flags, PMIX_BYTE));
    ck_assert_uint_eq(flags, FLAG_COLLECTED);
    ok(px_unpack_view(&server, &part, PMIX_BYTE_OBJECT));
    ck_assert(px_reader_done(&server));
    ok(px_unpack_rank(&part, &rank));
    ck_assert_uint_eq(rank, 1);
    ok(px_unpack_kval(&part, &kv));
    ck_assert_str_eq(kv.key, "colour");
    ck_assert_uint_eq(kv.value.data.uint32, 7);
    ck_assert(px_reader_done(&part));
    px_kval_fini(&kv);
    stop();
}

PX_TEST(nobody_having_committed_is_no_data_but_no_error)
{
    ok(fence_with(NULL));
    ck_assert_uint_gt(host.n_data, 0); /* the flags */
    stop();
}

PX_TEST(without_collecting_no_data_goes_to_the_host)
{
    ok(raw_commit(one, "colour", 7));
    host.how = HOST_INSIDE;
    raw_fence(one, 500, false);
    raw_fence(two, 500, false);
    ok(raw_status(one, 500));
    ck_assert_ptr_null(host.data);
    ck_assert_uint_eq(host.n_data, 0);
    stop();
}

PX_TEST(the_data_is_the_hosts_to_free_whatever_it_answers)
{
    ok(raw_commit(one, "colour", 7));
    host.how = HOST_ERROR;
    host.status = PMIX_ERR_NOT_SUPPORTED;
    raw_fence(one, 500, true);
    raw_fence(two, 500, true);
    ck_assert_int_eq(raw_status(one, 500), PMIX_ERR_NOT_SUPPORTED);
    ck_assert_ptr_nonnull(host.data); /* host_done frees it */
    stop();
}

/* ---- what comes back ----------------------------------------------------------------------------- */

PX_TEST(keys_of_another_nodes_ranks_can_be_read_after_the_fence)
{
    px_writer other = server_with(FLAG_COLLECTED);

    ok(raw_commit(one, "colour", 7));
    put_rank(&other, 2, "colour", 22);
    put_rank(&other, 3, "colour", 33);
    ok(fence_with(&other));

    ck_assert_uint_eq(get(two, 2, "colour"), 22);
    ck_assert_uint_eq(get(one, 3, "colour"), 33);
    ck_assert_uint_eq(get(two, 0, "colour"), 7);
    ck_assert_uint_eq(host_calls("direct_modex"), 0);
    stop();
}

PX_TEST(the_form_with_a_key_map_is_understood_too)
{
    const char *keys[] = {"colour", "shape"};
    pmix_value_t v[] = {number(5), number(6)};
    px_writer other = server_with(FLAG_COLLECTED | FLAG_KEY_MAP), rank = fresh();

    px_pack_u32(&other, 2);
    px_pack(&other, keys, 2, PMIX_STRING);
    px_pack_rank(&rank, 3);
    for (uint32_t i = 0; i < 2; i++) {
        px_pack_u32(&rank, 1 - i);
        px_pack(&rank, &v[i], 1, PMIX_VALUE);
    }
    put_inside(&other, &rank);
    ok(fence_with(&other));

    ck_assert_uint_eq(get(one, 3, "shape"), 5);
    ck_assert_uint_eq(get(one, 3, "colour"), 6);
    stop();
}

PX_TEST(what_our_own_ranks_committed_since_is_not_overwritten)
{
    px_writer other = server_with(FLAG_COLLECTED);

    ok(raw_commit(one, "colour", 8));
    put_rank(&other, 0, "colour", 7); /* as it was when the fence began */
    ok(fence_with(&other));
    ck_assert_uint_eq(get(two, 0, "colour"), 8);

    host.how = HOST_HELD; /* and what it gives next time is the new value */
    raw_fence(one, 501, true);
    raw_fence(two, 501, true);
    host_await("fence_nb", 2);
    ck_assert_ptr_nonnull(memmem(host.data, host.n_data, "colour\0\x0e\x08", 9));
    stop();
}

PX_TEST(damaged_data_is_an_error_and_no_crash)
{
    static const uint8_t junk[] = {0x02, 0xff, 0xff, 0xff, 0x7f, 0x01};
    px_writer cases[6];

    cases[0] = server_with(FLAG_COLLECTED); /* a rank that no job has */
    put_rank(&cases[0], 4, "colour", 1);
    cases[1] = server_with(FLAG_COLLECTED);
    put_rank(&cases[1], PMIX_RANK_WILDCARD, "colour", 1);
    cases[2] = server_with(FLAG_COLLECTED);
    ok(px_buf_add(&cases[2].buf, junk, sizeof(junk)));
    cases[3] = server_with(FLAG_KEY_MAP); /* of more keys than there are bytes */
    px_pack_u32(&cases[3], UINT32_MAX);
    cases[4] = server_with(FLAG_KEY_MAP); /* an index beyond it */
    const char *key = "colour";
    pmix_value_t v = number(1);
    px_writer rank = fresh();
    px_pack_u32(&cases[4], 1);
    px_pack(&cases[4], &key, 1, PMIX_STRING);
    px_pack_rank(&rank, 2);
    px_pack_u32(&rank, 1);
    px_pack(&rank, &v, 1, PMIX_VALUE);
    put_inside(&cases[4], &rank);
    cases[5] = fresh(); /* not even flags */

    for (size_t i = 0; i < PX_COUNT(cases); i++) {
        ck_assert_int_lt(fence_with(&cases[i]), 0);
        free(host.data);
        host.data = NULL;
    }
    ok(raw_commit(one, "colour", 1));
    stop();
}

PX_TEST(ranks_are_numbered_through_all_jobs_that_take_part)
{
    pmix_proc_t both[2];
    px_writer joined = fresh(), other = server_with(FLAG_COLLECTED), w;
    pmix_info_t collect;
    px_reader r;

    raw_add_job("kin", 1, 2, geteuid()); /* sorted behind "job", whose size is 4 */
    int kin = raw_client_of("kin", 0);
    px_proc_set(&both[0], "job", 1);
    px_proc_set(&both[1], "kin", PMIX_RANK_WILDCARD);
    PMIx_Info_load(&collect, PMIX_COLLECT_DATA, NULL, PMIX_BOOL);
    put_rank(&other, 4 + 2, "colour", 42);
    put_inside(&joined, &other);
    host.bytes = joined.buf.data;
    host.n_bytes = joined.buf.len;
    for (int i = 0; i < 2; i++) {
        raw_begin(&w, PX_OP_FENCE);
        px_pack_procs(&w, both, 2);
        px_pack_infos(&w, &collect, 1);
        raw_send(i ? kin : two, 500, &w);
    }
    ok(raw_status(two, 500));
    ok(raw_status(kin, 500));

    raw_get(&w, "kin", 2, "colour", PMIX_IMMEDIATE);
    ok(raw_request(kin, &w, &r));
    ck_assert_uint_eq(raw_value_in(&r, "colour"), 42);
    px_writer_cleanup(&joined);
    stop();
    close(kin);
}

PX_TEST_MAIN("server/modex", setup, host_done)
