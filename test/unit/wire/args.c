/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments by table: copied completely or not at all; unpacked as packed, or
 * refused. */
#include "core/wire/requests.h"
#include "core/wire/ops.h"

#include "px_test.h"
#include "wire_test.h"

#include <string.h>

static const struct px_request *const requests[] = {
    &px_request_abort,          &px_request_fence,
    &px_request_publish,        &px_request_lookup,
    &px_request_unpublish,      &px_request_spawn,
    &px_request_notify,         &px_request_regevents,
    &px_request_query,          &px_request_log,
    &px_request_alloc,          &px_request_job_control,
    &px_request_monitor,        &px_request_get_cred,
    &px_request_validate_cred,  &px_request_iof_pull,
    &px_request_iof_push,       &px_request_iof_dereg,
    &px_request_group_destruct, &px_request_group_destruct_old,
    &px_request_group_join,     &px_request_fabric_update,
    &px_request_session,        &px_request_block,
};

static pmix_proc_t procs[2];
static pmix_info_t info[2];
static char *keys[] = {(char *)"one", (char *)"two"};
static pmix_app_t apps[1];
static pmix_query_t queries[1];
static pmix_resource_unit_t units[2] = {{.type = 1, .count = 2}, {.type = 3}};
static pmix_status_t codes[] = {-1, -2, -3};

static void setup(void)
{
    px_proc_set(&procs[1], "ns", 4);
    PMIx_Info_load(&info[0], "key", "value", PMIX_STRING);
    PMIx_Info_load(&info[1], "more", "text", PMIX_STRING);
}

static void teardown(void)
{
    PMIx_Info_destruct(&info[0]);
    PMIx_Info_destruct(&info[1]);
}

static struct px_args full(void)
{
    return (struct px_args){
        .info = px_infos_borrow(info, 1),
        .more = px_infos_borrow(&info[1], 1),
        .procs = procs,
        .n_procs = 2,
        .apps = apps,
        .n_apps = 1,
        .queries = queries,
        .n_queries = 1,
        .units = units,
        .n_units = 2,
        .codes = codes,
        .n_codes = 3,
        .keys = keys,
        .n_keys = 2,
        .text = (char *)"text",
        .bytes = {.bytes = (char *)"\1\2\3", .size = 3},
        .code = -7,
        .stamp = 12345,
        .id = 99,
        .number = 5,
        .channels = PMIX_FWD_STDOUT_CHANNEL,
        .directive = 1,
        .accept = true,
    };
}

/* ---- copies ----------------------------------------------------------------------------------- */

PX_TEST(a_failed_copy_owns_nothing)
{
    const pmix_info_t odd = {.key = "odd", .value = {.type = 12345}};
    struct px_args a = full();

    a.info.v = (pmix_info_t *)&odd;
    fails(px_args_copy(&a, px_request_iof_push.args), UNKNOWN_DATA_TYPE);
    ck_assert_ptr_null(a.procs);
    ck_assert_ptr_null(a.info.v);
    ck_assert_ptr_null(a.bytes.bytes);
}

/* ---- messages --------------------------------------------------------------------------------- */

static pmix_status_t pack(const struct px_request *r, struct px_codec codec,
                          const struct px_args *args, px_buf *out)
{
    PX_AUTO(px_writer) w = writer_in(codec);

    px_pack_args(&w, args, r->args);
    *out = px_buf_take(&w.buf);
    return w.status;
}

static size_t n_late(const struct px_request *r)
{
    size_t n = 0;

    for (const struct px_arg *a = r->args; a->form; a++)
        n += a->late;
    return n;
}

/* Checks that unpacked arguments pack to the same bytes. Every shorter message is
 * refused, except without the fields that older clients leave out. */
static void goes_round(const struct px_request *r, struct px_codec codec)
{
    const struct px_args args = full();
    PX_AUTO(px_buf) sent = {0};
    size_t n_read = 0;

    if (pack(r, codec, &args, &sent))
        return; /* a type newer than the dialect */
    for (size_t n = 0; n <= sent.len; n++) {
        struct px_args got = {0};
        PX_AUTO(px_buf) again = {0};
        px_reader in;

        px_reader_init(&in, codec, sent.data, n);
        pmix_status_t rc = px_unpack_args(&in, &got, r->args);
        n_read += !rc;
        if (n == sent.len) {
            ck_assert_msg(!rc, "command %u: %s", r->op, PMIx_Error_string(rc));
            ck_assert(px_reader_done(&in));
            ok(pack(r, codec, &got, &again));
            ck_assert_uint_eq(again.len, sent.len);
            ck_assert_mem_eq(again.data, sent.data, sent.len);
            ck_assert(px_args_sound(&got, r->args));
        }
        px_args_cleanup(&got);
    }
    ck_assert_uint_eq(n_read, 1 + n_late(r));
}

PX_TEST_LOOP(a_server_reads_what_a_client_writes, 12)
{
    for (size_t i = 0; i < PX_COUNT(requests); i++)
        goes_round(requests[i], codec_of(all_dialects[_i / 2], _i % 2));
}

PX_TEST(what_is_needed_must_be_there)
{
    static const struct px_request *const needing[] = {
        &px_request_lookup, &px_request_spawn, &px_request_group_leave};
    const struct px_args nothing = {0};

    for (size_t i = 0; i < PX_COUNT(needing); i++) {
        struct px_args got = {0};
        PX_AUTO(px_buf) sent = {0};

        ck_assert(!px_args_sound(&nothing, needing[i]->args));
        ok(pack(needing[i], px_codec_default, &nothing, &sent));
        px_reader in = reader_of(px_codec_default, &sent);
        fails(px_unpack_args(&in, &got, needing[i]->args), BAD_PARAM);
        px_args_cleanup(&got);
    }
    ck_assert(!px_args_sound(&nothing, px_request_monitor.args));
    ck_assert(px_args_sound(&nothing, px_request_unpublish.args));
}

PX_TEST(arrays_and_bytes_have_an_address_and_a_length)
{
    const struct px_args no_procs = {.n_procs = 1}, no_bytes = {.bytes.size = 1};
    struct px_args endless = full();

    ck_assert(!px_args_sound(&no_procs, px_request_fence.args));
    ck_assert(!px_args_sound(&no_bytes, px_request_iof_push.args));
    endless.n_procs = (size_t)INT32_MAX + 1;
    ck_assert(!px_args_sound(&endless, px_request_fence.args));
    ck_assert(px_args_sound(&endless, px_request_publish.args));
}

static pmix_status_t unpack_keys(size_t n, const char *first)
{
    PX_AUTO(px_writer) w = writer_in(px_codec_default);
    struct px_args got = {0};

    px_pack_u32(&w, 0);
    px_pack_size(&w, n);
    px_pack_str(&w, first);
    px_pack_infos(&w, NULL, 0);
    px_reader in = reader_of(px_codec_default, &w.buf);
    pmix_status_t rc = px_unpack_args(&in, &got, px_request_lookup.args);
    px_args_cleanup(&got);
    return rc;
}

PX_TEST(keys_are_no_more_than_a_server_takes_and_none_is_missing)
{
    ok(unpack_keys(1, "key"));
    fails(unpack_keys(1, NULL), BAD_PARAM);
    ck_assert_int_ne(unpack_keys(2, "key"), PMIX_SUCCESS);
    fails(unpack_keys(PX_MAX_KEYS + 1, "key"), OUT_OF_RESOURCE);
    fails(unpack_keys(SIZE_MAX, "key"), OUT_OF_RESOURCE);
}

PX_TEST_MAIN("wire/args", setup, teardown)
