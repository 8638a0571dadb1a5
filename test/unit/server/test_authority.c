/* SPDX-License-Identifier: BSD-3-Clause */
/* Who may do what to whom, as a table. */
#include "fake_host.h"
#include "px_test.h"
#include "raw.h"

static struct {
    uid_t user;
    const char *nspace;
    bool answer;
} row;

static void ask(void *arg PX_UNUSED)
{
    struct px_peer peer = {.server = px_process.server, .uid = row.user};

    row.answer = px_peer_may(&peer, row.nspace);
}

static bool may(uid_t user, const char *nspace)
{
    row.user = user;
    row.nspace = nspace;
    raw_on_loop(ask, NULL);
    return row.answer;
}

static void ask_self(void *arg PX_UNUSED)
{
    row.answer = px_peer_may(px_process.server->self, "theirs");
}

START_TEST(only_root_may_do_something_to_others)
{
    ck_assert(px_user_may(10, 10));
    ck_assert(px_user_may(0, 10));
    ck_assert(!px_user_may(10, 11));
    ck_assert(!px_user_may(10, 0));
}
END_TEST

START_TEST(a_job_is_that_of_its_clients_users)
{
    PX_AUTO(px_infos) infos = {0};
    uint32_t owner = 20;
    pmix_nspace_t named = "named", unnamed = "unnamed";

    raw_server_start(&host_module, 1);
    raw_add_job("theirs", 2, 0, 10);
    ck_assert_int_eq(px_infos_add(&infos, PMIX_USERID, &owner, PMIX_UINT32), 0);
    ck_assert_int_eq(
        PMIx_server_register_nspace(named, 0, infos.v, infos.n, NULL, NULL),
        PMIX_SUCCESS);
    ck_assert_int_eq(PMIx_server_register_nspace(unnamed, 0, NULL, 0, NULL, NULL),
                     PMIX_SUCCESS);

    static const struct {
        uid_t user;
        const char *nspace;
        bool may;
    } rows[] = {
        {10, "theirs", true},  {11, "theirs", false}, {0, "theirs", true},
        {20, "named", true},   {21, "named", false},  {0, "named", true},
        {10, "unnamed", true}, /* only the host can tell */
        {10, "nowhere", true},
    };
    for (size_t i = 0; i < PX_COUNT(rows); i++)
        ck_assert_msg(may(rows[i].user, rows[i].nspace) == rows[i].may, "%u %s",
                      (unsigned)rows[i].user, rows[i].nspace);
    raw_on_loop(ask_self, NULL);
    ck_assert(row.answer);
    raw_server_stop();
}
END_TEST

PX_TEST_MAIN_WITH("server/authority", NULL, host_done,
                  only_root_may_do_something_to_others,
                  a_job_is_that_of_its_clients_users)
