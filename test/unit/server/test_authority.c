/* SPDX-License-Identifier: BSD-3-Clause */
/* Authority between users: what clients of two users may ask a server of root about jobs. */
#include "core/server/server.h"
#include "core/wire/requests.h"
#include "fake_host.h"
#include "pmix_connect.h"
#include "raw.h"

#include <string.h>

enum { ANN = 4711, BOB = 4712 };

/* Jobs: "anns" and "bobs" have a process of their user here. "owned" is of Ann by PMIX_USERID,
 * "unowned" of no known user; both have processes elsewhere. "joint" stands for the namespace of
 * Ann's connected process. "unknown" does not exist: only the host can decide. */
static const struct {
    const char *job;
    bool ann, bob;
} cells[] = {{"anns", true, false},  {"bobs", false, true},
             {"owned", true, false}, {"unowned", false, false},
             {"joint", true, false}, {"unknown", true, true}};

static pmix_nspace_t joint;

static void add_remote_job(const char *name, const uint32_t *user)
{
    const uint32_t size = 1;
    PX_AUTO(px_infos) infos = {0};

    ok(px_infos_add(&infos, PMIX_NODE_MAP, "other", PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_PROC_MAP, "0", PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_JOB_SIZE, &size, PMIX_UINT32));
    if (user)
        ok(px_infos_add(&infos, PMIX_USERID, user, PMIX_UINT32));
    ck_assert_int_eq(PMIx_server_register_nspace(raw_proc(name, 0).nspace, 0, infos.v,
                                                 infos.n, NULL, NULL),
                     PMIX_OPERATION_SUCCEEDED);
}

/* Makes a namespace of one process. */
static void connect_alone(int fd, const char *job)
{
    const pmix_proc_t proc = raw_proc(job, 0);
    px_writer w = raw_begin(PX_OP_CONNECT);
    PX_AUTO(px_infos) infos = {0};
    px_reader r, made;
    PX_AUTOFREE char *name = NULL;

    ok(px_infos_add(&infos, PX_CONNECT_MAKES, NULL, PMIX_BOOL));
    px_pack_procs(&w, &proc, 1);
    px_pack_infos(&w, infos.v, infos.n);
    raw_send(fd, 400, w);
    ok(raw_reply(fd, 400, &r));
    while (!px_reader_done(&r)) {
        free(name);
        ok(px_unpack_view(&r, &made, PMIX_BYTE_OBJECT));
        ok(px_unpack_str(&made, &name));
    }
    PMIx_Load_nspace(joint, name);
}

/* Queries the processes of a job. The host does not answer queries. */
static pmix_status_t query(int fd, const char *job)
{
    char key[] = PMIX_QUERY_PROC_TABLE, *keys[] = {key, NULL};
    pmix_info_t about;
    pmix_query_t q = {.keys = keys, .qualifiers = &about, .nqual = 1};
    const struct px_args args = {.queries = &q, .n_queries = 1};
    px_writer w = raw_begin(PX_OP_QUERY);

    ok(PMIx_Info_load(&about, PMIX_NSPACE, job, PMIX_STRING));
    px_pack_args(&w, &args, px_request_query.args);
    PMIx_Info_destruct(&about);
    return raw_request(fd, w, NULL);
}

static pmix_status_t get(int fd, const char *job)
{
    return raw_request(
        fd, raw_get(job, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, PMIX_IMMEDIATE), NULL);
}

/* Sends a request about all processes of a job, which the host refuses for its own reason. */
static pmix_status_t request(int fd, const struct px_request *table, const char *job)
{
    pmix_proc_t all = raw_proc(job, PMIX_RANK_WILDCARD);
    char text[] = "text";
    const struct px_args args = {.procs = &all,
                                 .n_procs = 1,
                                 .text = text,
                                 .bytes = {.bytes = text, .size = 1},
                                 .channels = PMIX_FWD_STDOUT_CHANNEL};
    px_writer w = raw_begin(table->op);

    px_pack_args(&w, &args, table->args);
    return raw_request(fd, w, NULL);
}

/* Sends a connect with a job, whose processes get an event for each process that joins. */
static void connect_each(int fd, const char *job, const char *own)
{
    const pmix_proc_t procs[] = {raw_proc(own, 0), raw_proc(job, PMIX_RANK_WILDCARD)};
    pmix_info_t each;

    ok(PMIx_Info_load(&each, PMIX_CONNECT_NOTIFY_EACH, NULL, PMIX_BOOL));
    raw_collect(fd, 401, PX_OP_CONNECT, procs, 2, &each);
}

PX_TEST(a_user_reaches_the_jobs_of_the_user_alone)
{
    static const struct px_request *const tables[] = {
        &px_request_abort, &px_request_job_control, &px_request_iof_pull,
        &px_request_iof_push};

    PX_TEST_NEEDS_ROOT;
    raw_server_start(&host_module, 1, 0);
    raw_add_job("anns", 1, 0, ANN);
    raw_add_job("bobs", 1, 0, BOB);
    add_remote_job("owned", &(uint32_t){ANN});
    add_remote_job("unowned", NULL);
    const int ann = raw_client_as(ANN, "anns", 0), bob = raw_client_as(BOB, "bobs", 0);
    const int root = raw_client_of("job", 0);

    connect_alone(ann, "anns");
    host.how = HOST_ERROR;
    host.status = PMIX_ERR_RESOURCE_BUSY;
    for (size_t i = 0; i < PX_COUNT(cells); i++) {
        const char *job = strcmp(cells[i].job, "joint") ? cells[i].job : joint;
        const struct {
            int fd;
            bool may;
        } users[] = {{ann, cells[i].ann}, {bob, cells[i].bob}, {root, true}};

        for (size_t u = 0; u < PX_COUNT(users); u++) {
            const int fd = users[u].fd;

            for (size_t k = 0; k < PX_COUNT(tables) + 2; k++) {
                pmix_status_t rc = k < PX_COUNT(tables)    ? request(fd, tables[k], job)
                                   : k == PX_COUNT(tables) ? get(fd, job)
                                                           : query(fd, job);

                ck_assert_msg((rc == PMIX_ERR_NO_PERMISSIONS) == !users[u].may,
                              "user %zu, job %s, request %zu: %d", u, cells[i].job, k,
                              rc);
            }
        }
    }
    host.how = HOST_INSIDE;
    connect_each(bob, "anns", "bobs");
    fails(raw_status(bob, 401), NO_PERMISSIONS);
    connect_each(root, "anns", "job");
    ck_assert(raw_quiet(root)); /* waits for Ann */
}

PX_TEST_MAIN("server/authority", NULL, host_end)
