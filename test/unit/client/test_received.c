/* SPDX-License-Identifier: BSD-3-Clause */
/* Job information that a server sends again. */
#include "fake_server.h"
#include "pmix.h"
#include "px_test.h"

static uint32_t newest = 7; /* each value, at present */

/* Values of the levels of a job. Each array is the one of number 1. */
static const struct level {
    const char *array, *id; /* NULL: outside an array */
    const char *key;
    pmix_rank_t rank;
    const char *flag; /* qualifier of a get, beside id */
} levels[] = {
    {NULL, NULL, PMIX_NUM_SLOTS, PMIX_RANK_WILDCARD, PMIX_JOB_INFO},
    {PMIX_PROC_DATA, PMIX_RANK, PMIX_GLOBAL_RANK, 1, PMIX_OPTIONAL},
    {PMIX_NODE_INFO_ARRAY, PMIX_NODEID, PMIX_NODE_SIZE, PMIX_RANK_WILDCARD,
     PMIX_NODE_INFO},
    {PMIX_APP_INFO_ARRAY, PMIX_APPNUM, PMIX_APP_SIZE, PMIX_RANK_WILDCARD,
     PMIX_APP_INFO},
    {PMIX_SESSION_INFO_ARRAY, PMIX_SESSION_ID, PMIX_UNIV_SIZE, PMIX_RANK_WILDCARD,
     PMIX_SESSION_INFO},
};

static void pack_levels(px_writer *w)
{
    const uint32_t one = 1;

    fake_usual_job_info(w);
    for (size_t i = 0; i < PX_COUNT(levels); i++) {
        PX_AUTO(px_infos) members = {0}, array = {0};

        if (!levels[i].array) {
            fake_put_u32(w, levels[i].key, newest);
            continue;
        }
        ok(px_infos_add(&members, levels[i].id, &one,
                        levels[i].rank == 1 ? PMIX_PROC_RANK : PMIX_UINT32));
        ok(px_infos_add(&members, levels[i].key, &newest, PMIX_UINT32));
        ok(px_infos_add_array(&array, levels[i].array, &members));
        px_pack_kval(w, levels[i].array, &array.v[0].value);
    }
}

/* Packs the job as the only part of the reply to a get. */
static void add_levels(px_writer *w, const struct fake_req *req)
{
    const pmix_proc_t job = rank(PMIX_RANK_WILDCARD);
    PX_AUTO(px_writer) body = fake_begin();

    if (req->op != PX_OP_GET)
        return;
    ck_assert_uint_eq(fake.received.rank, PMIX_RANK_WILDCARD);
    px_pack(&body, &job, 1, PMIX_PROC);
    pack_levels(&body);
    px_pack_bytes(w, body.buf.data, body.buf.len);
}

PX_TEST(a_refresh_renews_values_of_each_level)
{
    const uint32_t one = 1;

    fake.job_info = pack_levels;
    fake.add = add_levels;
    client_begin();
    for (unsigned i = 0; i < PX_COUNT(levels); i++) {
        const struct level *l = &levels[i];
        pmix_info_t how[] = {flag(l->flag), flag(l->flag),
                             flag(PMIX_GET_REFRESH_CACHE)};
        const pmix_proc_t p = rank(l->rank);
        pmix_value_t *v;

        if (l->array && l->rank != 1)
            PMIx_Info_load(&how[1], l->id, &one, PMIX_UINT32);
        for (size_t fresh = 0; fresh < 2; fresh++) {
            const bool of_rank = l->rank == 1; /* without other qualifiers */

            newest += (uint32_t)fresh;
            ok(PMIx_Get(&p, l->key, of_rank ? &how[2] : how,
                        of_rank ? fresh : 2 + fresh, &v));
            ck_assert_msg(v->data.uint32 == newest, "%s", l->key);
            PMIX_VALUE_RELEASE(v);
        }
        ck_assert_uint_eq(fake.n_ops[PX_OP_GET], i + 1);
    }
}

PX_TEST(a_refresh_keeps_the_values_if_the_server_has_none)
{
    fake.job_info = pack_levels;
    client_begin(); /* the server answers gets with NOT_FOUND */
    pmix_info_t refresh = flag(PMIX_GET_REFRESH_CACHE);
    pmix_proc_t job = rank(PMIX_RANK_WILDCARD);
    pmix_value_t *v;

    ok(PMIx_Get(&job, PMIX_NUM_SLOTS, &refresh, 1, &v));
    ck_assert_uint_eq(v->data.uint32, newest);
    PMIX_VALUE_RELEASE(v);
    ck_assert_uint_eq(fake.n_ops[PX_OP_GET], 1);
}

PX_TEST_MAIN("client/received", NULL, client_end)
