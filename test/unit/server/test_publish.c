/* SPDX-License-Identifier: BSD-3-Clause */
/* Publish, lookup, unpublish: what reaches the host, and what of its answer the client. */
#include "fake_host.h"
#include "px_test.h"
#include "raw.h"

#include <string.h>

static void setup(void)
{
    raw_server_start(&host_module, 2);
}

static px_writer lookup(uint8_t op, const char *const *keys, size_t n,
                        const px_infos *infos)
{
    px_writer w;

    raw_begin(&w, op);
    px_pack_u32(&w, 77); /* a user the client claims to be */
    px_pack_size(&w, n);
    for (size_t i = 0; i < n; i++)
        px_pack_str(&w, keys[i]);
    px_pack_infos(&w, infos ? infos->v : NULL, infos ? infos->n : 0);
    return w;
}

PX_TEST(the_host_learns_the_user_that_the_connection_proves)
{
    PX_AUTO(px_infos) infos = {0};
    int fd = raw_client(1);
    uint32_t claimed = 77, value = 5;
    unsigned n = 0;
    px_writer w;

    ok(px_infos_add(&infos, PMIX_USERID, &claimed, PMIX_UINT32));
    ok(px_infos_add(&infos, "colour", &value, PMIX_UINT32));
    ok(px_infos_add(&infos, PMIX_USERID, &claimed, PMIX_UINT32));
    raw_begin(&w, PX_OP_PUBLISH);
    px_pack_u32(&w, claimed);
    px_pack_infos(&w, infos.v, infos.n);
    ok(raw_request(fd, &w, NULL));

    ck_assert_str_eq(host.name, "publish");
    ck_assert_uint_eq(host.proc.rank, 1);
    ck_assert_uint_eq(px_info_u32(host.given.v, host.given.n, "colour", 0), 5);
    ck_assert_uint_eq(px_info_u32(host.given.v, host.given.n, PMIX_USERID, 77),
                      geteuid());
    for (size_t i = 0; i < host.given.n; i++)
        n += PMIx_Check_key(host.given.v[i].key, PMIX_USERID);
    ck_assert_uint_eq(n, 1);
    raw_server_stop();
    close(fd);
}

PX_TEST(keys_go_to_the_host_and_what_it_found_comes_back)
{
    static const char *const keys[] = {"colour", "shape"};
    pmix_pdata_t found[2], *got = NULL;
    int fd = raw_client(0);
    size_t n = 0;
    px_reader r;

    for (int i = 0; i < 2; i++) {
        memset(&found[i], 0, sizeof(found[i]));
        px_proc_set(&found[i].proc, "job", 1);
        PMIx_Load_key(found[i].key, keys[i]);
        found[i].value = (pmix_value_t){.type = PMIX_UINT32,
                                        .data.uint32 = 10u + (unsigned)i};
    }
    host.pdata = found;
    host.n_pdata = 2;
    px_writer w = lookup(PX_OP_LOOKUP, keys, 2, NULL);
    ok(raw_request(fd, &w, &r));

    ck_assert_uint_eq(host.n_keys, 2);
    ck_assert_str_eq(host.keys[1], "shape");
    ok(px_unpack_size(&r, &n));
    ck_assert_uint_eq(n, 2);
    ok(px_unpack_array(&r, (void **)&got, n, PMIX_PDATA));
    ck_assert_uint_eq(got[1].value.data.uint32, 11);
    ck_assert(px_proc_same(&got[1].proc, &found[1].proc));
    px_type_free_array(PMIX_PDATA, got, n);
    raw_server_stop();
    close(fd);
}

PX_TEST(part_of_an_answer_comes_with_its_status)
{
    static const char *const keys[] = {"colour"};
    pmix_pdata_t found = {.key = "colour"};
    int fd = raw_client(0);
    size_t n = 0;
    px_reader r;

    host.status = PMIX_ERR_PARTIAL_SUCCESS;
    host.pdata = &found;
    host.n_pdata = 1;
    px_writer w = lookup(PX_OP_LOOKUP, keys, 1, NULL);
    ck_assert_int_eq(raw_request(fd, &w, &r), PMIX_ERR_PARTIAL_SUCCESS);
    ok(px_unpack_size(&r, &n));
    ck_assert_uint_eq(n, 1);

    host.status = PMIX_ERR_NOT_FOUND;
    host.pdata = NULL;
    host.n_pdata = 3; /* a host that counts what it does not give */
    w = lookup(PX_OP_LOOKUP, keys, 1, NULL);
    ck_assert_int_eq(raw_request(fd, &w, &r), PMIX_ERR_NOT_FOUND);
    ck_assert(px_reader_done(&r));
    raw_server_stop();
    close(fd);
}

PX_TEST(unpublish_without_keys_means_everything)
{
    static const char *const keys[] = {"colour"};
    int fd = raw_client(0);

    px_writer w = lookup(PX_OP_UNPUBLISH, keys, 1, NULL);
    ok(raw_request(fd, &w, NULL));
    ck_assert_uint_eq(host.n_keys, 1);
    w = lookup(PX_OP_UNPUBLISH, NULL, 0, NULL);
    ok(raw_request(fd, &w, NULL));
    ck_assert_uint_eq(host.n_keys, 0);
    raw_server_stop();
    close(fd);
}

PX_TEST(nonsense_is_refused_and_never_reaches_the_host)
{
    static const char *const hole[] = {"colour", NULL, "shape"};
    int fd = raw_client(0);
    px_writer w = lookup(PX_OP_LOOKUP, NULL, 0, NULL); /* of nothing */

    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_BAD_PARAM);
    w = lookup(PX_OP_LOOKUP, hole, 3, NULL);
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_BAD_PARAM);
    for (uint8_t op = PX_OP_PUBLISH; op <= PX_OP_UNPUBLISH; op++) {
        raw_begin(&w, op); /* and nothing more */
        ck_assert_int_lt(raw_request(fd, &w, NULL), 0);
        raw_begin(&w, op);
        px_pack_u32(&w, 0);
        px_pack_size(&w, (size_t)1 << 40);
        ck_assert_int_lt(raw_request(fd, &w, NULL), 0);
    }
    ck_assert_uint_eq(
        host_calls("publish") + host_calls("lookup") + host_calls("unpublish"), 0);
    raw_server_stop();
    close(fd);
}

PX_TEST(what_the_host_does_not_offer_is_not_supported)
{
    static const char *const keys[] = {"colour"};
    pmix_server_module_t module = host_module;

    raw_server_stop();
    module.publish = NULL;
    module.lookup = NULL;
    module.unpublish = NULL;
    raw_server_start(&module, 1);
    int fd = raw_client(0);
    for (uint8_t op = PX_OP_PUBLISH; op <= PX_OP_UNPUBLISH; op++) {
        px_writer w = lookup(op, keys, 1, NULL);

        ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_NOT_SUPPORTED);
    }
    raw_server_stop();
    close(fd);
}

PX_TEST_MAIN("server/publish", setup, host_done)
