/* SPDX-License-Identifier: BSD-3-Clause */
/* Authority, as tables: users, and the policy that each request has in the dispatch table. */
#include "core/server/upcall.h"
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

PX_TEST(only_root_may_do_something_to_others)
{
    ck_assert(px_user_may(10, 10));
    ck_assert(px_user_may(0, 10));
    ck_assert(!px_user_may(10, 11));
    ck_assert(!px_user_may(10, 0));
}

PX_TEST(a_job_is_that_of_its_clients_users)
{
    PX_AUTO(px_infos) infos = {0};
    uint32_t owner = 20;
    pmix_nspace_t named = "named", unnamed = "unnamed";

    raw_server_start(&host_module, 1);
    raw_add_job("theirs", 2, 0, 10);
    ok(px_infos_add(&infos, PMIX_USERID, &owner, PMIX_UINT32));
    ok(PMIx_server_register_nspace(named, 0, infos.v, infos.n, NULL, NULL));
    ok(PMIx_server_register_nspace(unnamed, 0, NULL, 0, NULL, NULL));

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
}

/* ---- the policy of each request ------------------------------------------------------------ */

enum { ANY = PX_BY_ANY, NOT_TOOLS = PX_BY_CLIENT | PX_BY_SELF };

/* What is not here is refused. */
static const struct policy {
    uint8_t op, senders, reach;
} policies[] = {
    {PX_OP_REQ, ANY, PX_OWN},
    {PX_OP_ABORT, ANY, PX_OF_USER},
    {PX_OP_COMMIT, NOT_TOOLS, PX_OWN},
    {PX_OP_FENCE, ANY, PX_MEMBERS},
    {PX_OP_GET, ANY, PX_OF_USER},
    {PX_OP_FINALIZE, ANY | PX_BY_LEAVING, PX_OWN},
    {PX_OP_PUBLISH, ANY, PX_BY_HOST},
    {PX_OP_LOOKUP, ANY, PX_BY_HOST},
    {PX_OP_UNPUBLISH, ANY, PX_BY_HOST},
    {PX_OP_SPAWN, ANY, PX_BY_HOST},
    {PX_OP_CONNECT, ANY, PX_MEMBERS},
    {PX_OP_DISCONNECT, ANY, PX_MEMBERS},
    {PX_OP_NOTIFY, ANY, PX_OWN},
    {PX_OP_REGEVENTS, ANY, PX_OWN},
    {PX_OP_DEREGEVENTS, ANY | PX_BY_LEAVING, PX_OWN},
    {PX_OP_QUERY, ANY, PX_BY_HOST},
    {PX_OP_LOG, ANY, PX_BY_HOST},
    {PX_OP_ALLOC, ANY, PX_BY_HOST},
    {PX_OP_JOB_CONTROL, ANY, PX_OF_USER},
    {PX_OP_MONITOR, ANY, PX_BY_HOST},
    {PX_OP_GET_CREDENTIAL, ANY, PX_BY_HOST},
    {PX_OP_VALIDATE_CRED, ANY, PX_BY_HOST},
    {PX_OP_IOF_PULL, ANY, PX_OF_USER},
    {PX_OP_IOF_PUSH, ANY, PX_OF_USER},
    {PX_OP_IOF_DEREG, ANY, PX_OWN},
    {PX_OP_FABRIC_REGISTER, ANY, PX_BY_HOST},
    {PX_OP_FABRIC_UPDATE, ANY, PX_BY_HOST},
    {PX_OP_DEVICE_DISTANCES, ANY, PX_OWN},
    {PX_OP_RESBLK, ANY, PX_BY_HOST},
    {PX_OP_SESSION_CTRL, ANY, PX_BY_HOST},
};

static const struct policy *policy_of(unsigned op)
{
    for (size_t i = 0; i < PX_COUNT(policies); i++)
        if (policies[i].op == op)
            return &policies[i];
    return NULL;
}

static const struct px_rpc *row_of(unsigned op, size_t *n)
{
    const struct px_rpc *found = NULL;

    *n = 0;
    for (const struct px_server_part *const *p = px_server_parts; *p; p++) {
        for (const struct px_rpc *rpc = (*p)->rpcs; rpc && rpc->senders; rpc++) {
            if (rpc->op == op) {
                found = rpc;
                ++*n;
            }
        }
    }
    return found;
}

PX_TEST(each_command_has_one_row_or_is_refused)
{
    raw_server_start(&host_module, 1);
    int fd = raw_client(0);
    for (unsigned op = 0; op <= UINT8_MAX; op++) {
        const struct policy *policy = policy_of(op);
        size_t n;
        const struct px_rpc *row = row_of(op, &n);
        px_writer w;

        ck_assert_msg(n == (policy ? 1 : 0), "%zu rows for command %u", n, op);
        if (row) {
            ck_assert_msg(row->senders == policy->senders, "senders of %u", op);
            ck_assert_msg(row->reach == policy->reach, "reach of %u", op);
            ck_assert_msg(!row->handler != !row->forward, "handler of %u", op);
            ck_assert(!row->forward || row->forward->request->op == op);
        } else {
            raw_begin(&w, (uint8_t)op);
            ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_NOT_SUPPORTED);
        }
    }
}

static void admit_each(void *arg PX_UNUSED)
{
    static const struct {
        uint8_t as;
        bool tool, finalized;
    } senders[] = {
        {PX_BY_CLIENT, false, false},
        {PX_BY_TOOL, true, false},
        {PX_BY_LEAVING, false, true},
        {PX_BY_LEAVING, true, true},
    };

    for (size_t i = 0; i < PX_COUNT(policies); i++) {
        size_t n;
        struct px_req req = {.rpc = row_of(policies[i].op, &n),
                             .peer = px_process.server->self};

        ck_assert_int_eq(px_req_admit(&req), policies[i].senders & PX_BY_SELF
                                                 ? PMIX_SUCCESS
                                                 : PMIX_ERR_NOT_SUPPORTED);
        for (size_t k = 0; k < PX_COUNT(senders); k++) {
            struct px_peer peer = {.server = px_process.server,
                                   .tool = senders[k].tool,
                                   .finalized = senders[k].finalized};

            req.peer = &peer;
            ck_assert_int_eq(px_req_admit(&req),
                             policies[i].senders & senders[k].as ? PMIX_SUCCESS
                             : peer.finalized                    ? PMIX_ERR_INIT
                                              : PMIX_ERR_NOT_SUPPORTED);
        }
    }
}

PX_TEST(each_sender_may_make_the_requests_of_its_rows)
{
    raw_server_start(&host_module, 1);
    raw_on_loop(admit_each, NULL);
}

static void reach_each(void *arg PX_UNUSED)
{
    static const pmix_proc_t rank = {"mine", 0}, all = {"mine", PMIX_RANK_WILDCARD},
                             here = {"mine", PMIX_RANK_LOCAL_NODE}, next = {"mine", 1},
                             theirs = {"theirs", 0};
    static const struct {
        uint8_t reach;
        const pmix_proc_t *proc;
        pmix_status_t status;
    } rows[] = {
        {PX_OWN, &theirs, PMIX_SUCCESS},
        {PX_BY_HOST, &theirs, PMIX_SUCCESS},
        {PX_OF_USER, &next, PMIX_SUCCESS},
        {PX_OF_USER, &theirs, PMIX_ERR_NO_PERMISSIONS},
        {PX_MEMBERS, &rank, PMIX_SUCCESS},
        {PX_MEMBERS, &all, PMIX_SUCCESS},
        {PX_MEMBERS, &here, PMIX_SUCCESS},
        {PX_MEMBERS, &next, PMIX_ERR_BAD_PARAM},
        {PX_MEMBERS, &theirs, PMIX_ERR_BAD_PARAM},
        {0, &rank, PMIX_ERR_NO_PERMISSIONS}, /* a row that says nothing */
    };
    struct px_peer peer = {.server = px_process.server, .uid = 10, .proc = rank};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const struct px_rpc rpc = {.reach = rows[i].reach};
        const struct px_req req = {.peer = &peer, .rpc = &rpc};
        const pmix_proc_t procs[] = {*rows[i].proc, theirs};

        peer.local = px_local_find(px_process.server, &rank);
        ck_assert_int_eq(px_req_may(&req, rows[i].proc, 1), rows[i].status);
        if (rows[i].reach == PX_OF_USER) /* each of them counts */
            ck_assert_int_eq(px_req_may(&req, procs, 2), PMIX_ERR_NO_PERMISSIONS);
        peer.local = NULL; /* a tool, or the server itself */
        if (rows[i].reach == PX_MEMBERS)
            ck_assert_int_eq(px_req_may(&req, rows[i].proc, 1), PMIX_ERR_BAD_PARAM);
    }
}

PX_TEST(a_request_concerns_whom_its_row_says)
{
    raw_server_start(&host_module, 1);
    raw_add_job("mine", 2, 0, 10);
    raw_add_job("theirs", 1, 0, 11);
    raw_on_loop(reach_each, NULL);
}

PX_TEST_MAIN("server/authority", NULL, host_end)
