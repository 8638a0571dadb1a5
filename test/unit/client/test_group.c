/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups: the messages, and the answers of each release's servers. */

#include "core/base/str.h"
#include "core/client/client.h"
#include "fake_server.h"
#include "px_test.h"

#include <semaphore.h>
#include <string.h>

/* What the server was asked, and what it answers after the status. */
static struct {
    uint8_t op;
    char name[64];
    size_t n_procs, n_infos;
    pmix_proc_t first;
    bool accept;
    pmix_status_t answer;
    bool bare; /* a status alone */
} seen;
static struct px_version release = {4, 2, 9};

static bool is_release(unsigned major, unsigned minor, unsigned rel)
{
    return release.major == major && release.minor == minor && release.release == rel;
}

static bool is_old(void)
{
    return is_release(4, 2, 2);
}

static void read_procs(px_reader *in)
{
    PX_AUTOFREE pmix_proc_t *procs = NULL;

    ok(px_unpack_procs(in, &procs, &seen.n_procs));
    if (seen.n_procs > 0)
        seen.first = procs[0];
}

static void read_request(struct fake_req *req)
{
    PX_AUTOFREE char *name = NULL;
    PX_AUTO(px_infos) infos = {0};

    seen.op = req->op;
    ok(px_unpack_str(&req->in, &name));
    px_str_copy(seen.name, sizeof seen.name, name);
    seen.n_procs = 99;
    if (req->op != PX_OP_GROUP_LEAVE && !(req->op == PX_OP_GROUP_DESTRUCT && is_old()))
        read_procs(&req->in);
    if (req->op == PX_OP_GROUP_JOIN)
        ok(px_unpack1(&req->in, &seen.accept, PMIX_BOOL));
    ok(px_unpack_infos(&req->in, &infos.v, &infos.n));
    infos.cap = seen.n_infos = infos.n;
    ck_assert(px_reader_done(&req->in));
}

static void pack_members(px_writer *w)
{
    pmix_proc_t members[2];

    px_proc_set(&members[0], "job", 0);
    px_proc_set(&members[1], "job", 1);
    px_pack_procs(w, members, 2);
}

/* Layouts by release as the wire notes tell them. */
static void pack_constructed(px_writer *w)
{
    bool yes = true;

    if (is_old()) {
        px_pack_size(w, 77);
        return;
    }
    pack_members(w);
    if (release.major < 6) {
        px_pack_size(w, 77);
        return;
    }
    px_pack(w, &yes, 1, PMIX_BOOL);
    px_pack_size(w, 77);
    if (release.minor >= 1) {
        pmix_info_t extra = {.key = "extra",
                             .value = {.type = PMIX_UINT32, .data.uint32 = 5}};

        px_pack_size(w, 2);
        px_pack(w, &extra, 1, PMIX_INFO);
        px_pack(w, &extra, 1, PMIX_INFO);
    }
}

static bool serve_groups(int fd, struct fake_req *req)
{
    px_writer w;

    if (req->op < PX_OP_GROUP_CONSTRUCT || req->op > PX_OP_GROUP_DESTRUCT)
        return false;
    read_request(req);
    w = fake_begin();
    px_pack_status(&w, seen.answer);
    if (req->op == PX_OP_GROUP_CONSTRUCT && !seen.answer && !seen.bare)
        pack_constructed(&w);
    fake_reply(fd, req->tag, &w);
    return true;
}

static void start(void)
{
    char version[32];

    fake.hook = serve_groups;
    fake_start();
    snprintf(version, sizeof version, "%u.%u.%u", release.major, release.minor,
             release.release);
    setenv("PMIX_VERSION", version, 1);
    ok(PMIx_Init(NULL, NULL, 0));
}

static pmix_info_t timeout(void)
{
    pmix_info_t i;
    int seconds = 5;

    PMIx_Info_load(&i, PMIX_TIMEOUT, &seconds, PMIX_INT);
    return i;
}

static size_t context_in(const pmix_info_t *results, size_t n)
{
    const pmix_info_t *i = px_info_find(results, n, PMIX_GROUP_CONTEXT_ID);

    return i ? i->value.data.size : SIZE_MAX;
}

static size_t members_in(const pmix_info_t *results, size_t n)
{
    const pmix_info_t *i = px_info_find(results, n, PMIX_GROUP_MEMBERSHIP);

    return i ? i->value.data.darray->size : 0;
}

/* ---- construct and destruct ------------------------------------------------------ */

static void construct_and_destruct(unsigned n_extra)
{
    pmix_proc_t everyone = rank(PMIX_RANK_WILDCARD);
    pmix_info_t directive = timeout();
    pmix_info_t *results = NULL;
    size_t n = 0, told = is_old() ? 0 : 2;

    start();
    ok(PMIx_Group_construct("sea", &everyone, 1, &directive, 1, &results, &n));
    ck_assert_uint_eq(seen.op, PX_OP_GROUP_CONSTRUCT);
    ck_assert_str_eq(seen.name, "sea");
    ck_assert_uint_eq(seen.n_procs, 1);
    ck_assert_uint_eq(seen.first.rank, PMIX_RANK_WILDCARD);
    ck_assert_uint_eq(seen.n_infos, 1);
    ck_assert_uint_eq(n, 1 + (told > 0) + n_extra);
    ck_assert_uint_eq(context_in(results, n), 77);
    ck_assert_uint_eq(members_in(results, n), told);
    PMIx_Info_free(results, n);

    /* Without a place for the results. */
    ok(PMIx_Group_construct("ice", &everyone, 1, NULL, 0, NULL, NULL));
    ok(PMIx_Group_destruct("sea", &directive, 1));
    ck_assert_uint_eq(seen.op, PX_OP_GROUP_DESTRUCT);
    ck_assert_uint_eq(seen.n_procs, is_old() ? 99 : 2); /* as the server has told */
    ck_assert_uint_eq(seen.n_infos, 1);
    ok(PMIx_Group_destruct("sea", NULL, 0));
    ck_assert_uint_eq(seen.n_procs, is_old() ? 99 : 0); /* forgotten */
}

PX_TEST(servers_of_4_2_2_tell_the_context)
{
    release = (struct px_version){4, 2, 2};
    construct_and_destruct(0);
}

PX_TEST(servers_of_4_2_9_tell_the_members_too)
{
    construct_and_destruct(0);
}

PX_TEST(servers_of_6_0_tell_whether_there_is_a_context)
{
    release = (struct px_version){6, 0, 0};
    construct_and_destruct(0);
}

PX_TEST(servers_of_6_1_tell_infos_besides)
{
    release = (struct px_version){6, 1, 0};
    construct_and_destruct(2);
}

PX_TEST(a_bare_status_constructs_what_was_asked_for)
{
    pmix_proc_t procs[2] = {rank(0), rank(1)};
    pmix_info_t *results = (pmix_info_t *)procs; /* to be overwritten */
    size_t n = 9;

    seen.bare = true;
    start();
    ok(PMIx_Group_construct("sea", procs, 2, NULL, 0, &results, &n));
    ck_assert_ptr_null(results);
    ck_assert_uint_eq(n, 0);
    ok(PMIx_Group_destruct("sea", NULL, 0));
    ck_assert_uint_eq(seen.n_procs, 2);
}

PX_TEST(refusals_come_through_and_leave_the_group)
{
    pmix_proc_t procs[2] = {rank(0), rank(1)};
    pmix_info_t *results = NULL;
    size_t n = 0;

    start();
    ok(PMIx_Group_construct("sea", procs, 2, NULL, 0, NULL, NULL));
    seen.answer = PMIX_ERR_NOT_SUPPORTED;
    ck_assert_int_eq(PMIx_Group_construct("ice", procs, 2, NULL, 0, &results, &n),
                     PMIX_ERR_NOT_SUPPORTED);
    ck_assert_ptr_null(results);
    ck_assert_int_eq(PMIx_Group_destruct("sea", NULL, 0), PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(PMIx_Group_leave("sea", NULL, 0), PMIX_ERR_NOT_SUPPORTED);
    ck_assert_uint_eq(seen.op, PX_OP_GROUP_LEAVE);
    ck_assert_int_eq(PMIx_Group_destruct("sea", NULL, 0), PMIX_ERR_NOT_SUPPORTED);
    ck_assert_uint_eq(seen.n_procs, 2); /* it is still there */
}

PX_TEST(members_are_copied_replaced_and_forgotten)
{
    pmix_proc_t procs[2] = {rank(0), rank(1)};
    static const struct {
        const char *name;
        size_t n_procs;
    } rows[] = {{"sea", 1}, {"sea", 0}, {"ice", 2}, {"ice", 0}};

    start();
    seen.bare = true;
    ok(PMIx_Group_construct("sea", procs, 2, NULL, 0, NULL, NULL));
    ok(PMIx_Group_construct("ice", procs, 2, NULL, 0, NULL, NULL));
    ok(PMIx_Group_construct("sea", procs + 1, 1, NULL, 0, NULL, NULL));
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ok(PMIx_Group_destruct(rows[i].name, NULL, 0));
        ck_assert_uint_eq(seen.n_procs, rows[i].n_procs);
    }
}

PX_TEST_MAIN("client/group", NULL, client_end)
