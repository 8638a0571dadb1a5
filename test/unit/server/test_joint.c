/* SPDX-License-Identifier: BSD-3-Clause */
/* Namespaces of connected processes, as clients and hosts see them at the server: their names, the
 * host's part, refused requests, and the removal of each namespace. */
#include "core/model/proc_names.h"
#include "core/server/collective/collective.h"
#include "core/server/host.h"
#include "pmix_connect.h"

#include "fake_host.h"
#include "raw.h"

#include <string.h>

static const pmix_proc_t all = {"job", PMIX_RANK_WILDCARD};

/* Sends a connect that makes a namespace, with tag 400. key: info with this text, or a flag if text
 * is NULL; may be NULL. */
static void join(int fd, const pmix_proc_t *procs, size_t n, const char *key,
                 const char *text)
{
    px_writer w = raw_begin(PX_OP_CONNECT);
    PX_AUTO(px_infos) infos = {0};

    ok(px_infos_add(&infos, PX_CONNECT_MAKES, NULL, PMIX_BOOL));
    if (key)
        ok(px_infos_add(&infos, key, text, text ? PMIX_STRING : PMIX_BOOL));
    px_pack_procs(&w, procs, n);
    px_pack_infos(&w, infos.v, infos.n);
    raw_send(fd, 400, w);
}

/* Copies the name of the last job in the reply. */
static void read_name(int fd, pmix_nspace_t name)
{
    px_reader r, job;

    ok(raw_reply(fd, 400, &r));
    name[0] = '\0';
    while (!px_reader_done(&r)) {
        PX_AUTOFREE char *text = NULL;

        ok(px_unpack_view(&r, &job, PMIX_BYTE_OBJECT));
        ok(px_unpack_str(&job, &text));
        PMIx_Load_nspace(name, text);
    }
}

/* Connects rank 0, which is the only local one. */
static void join_alone(pmix_nspace_t name)
{
    join(one, &all, 1, NULL, NULL);
    read_name(one, name);
}

static pmix_status_t in(int fd, uint8_t op, const char *nspace)
{
    const pmix_proc_t procs = raw_proc(nspace, PMIX_RANK_WILDCARD);

    raw_collect(fd, 401, op, &procs, 1, NULL);
    return raw_status(fd, 401);
}

static const char *host_info(const char *key)
{
    return px_info_str(host.given.v, host.given.n, key);
}

PX_TEST(the_host_gets_the_id_and_name_of_the_namespace)
{
    pmix_nspace_t name;

    raw_start(&host_module, 2, 1);
    join(one, &all, 1, PMIX_CONNECT_ID, "x");
    join(two, &all, 1, PMIX_CONNECT_ID, "x");
    read_name(one, name);
    ok(raw_status(two, 400));
    ck_assert_uint_eq(host_calls("connect"), 1);
    ck_assert_str_eq(host_info(PMIX_NSPACE), name);
    ck_assert_str_eq(host_info(PMIX_CONNECT_ID), "x");
    ck_assert_ptr_null(px_info_find(host.given.v, host.given.n, PX_CONNECT_MAKES));
    ok(in(one, PX_OP_DISCONNECT, name));
    ck_assert_uint_eq(host_calls("disconnect"), 1);
    ck_assert_str_eq(host_info(PMIX_NSPACE), name);
    ck_assert_str_eq(host_info(PMIX_CONNECT_ID), "x");
    ck_assert(host.n_procs == 1 && host.procs[0].rank == 0);
    ok(in(two, PX_OP_FENCE, name)); /* ranks 1 and 2 remain, and only rank 1 is local */
    ck_assert(host.n_procs == 2 && host.procs[0].rank == 1 && host.procs[1].rank == 2);
    ck_assert_str_eq(host_info(PMIX_NSPACE), name);
    fails(in(one, PX_OP_FENCE, name), NOT_FOUND);
    fails(in(one, PX_OP_DISCONNECT, name), NOT_FOUND);
}

static void count_nspaces(void *n)
{
    *(size_t *)n = px_process.model->nspaces.n_used;
}

/* The job has one, two or three processes. */
PX_TEST_LOOP(a_process_leaves_alone, 3)
{
    uint32_t n_ranks = (uint32_t)_i + 1;
    int *const fds[] = {&one, &two, &three};
    pmix_nspace_t name;
    size_t before, after;

    raw_start(&host_module, n_ranks, 0);
    raw_on_loop(count_nspaces, &before);
    for (uint32_t cycle = 1; cycle <= 1100; cycle++) {
        for (uint32_t r = 0; r < n_ranks; r++)
            join(*fds[r], &all, 1, NULL, NULL);
        for (uint32_t r = 0; r < n_ranks; r++)
            read_name(*fds[r], name);
        for (uint32_t r = 0; r < n_ranks; r++) {
            ok(in(*fds[r], PX_OP_DISCONNECT, name));
            ck_assert(host.n_procs == 1 && host.procs[0].rank == r);
        }
        fails(in(one, PX_OP_DISCONNECT, name), BAD_PARAM); /* an unknown name */
    }
    raw_on_loop(count_nspaces, &after);
    ck_assert_uint_eq(after, before);
}

static void assign(void)
{
    PX_AUTO(px_infos) infos = {0};
    struct px_err err;

    ok(px_infos_add(&infos, PMIX_CONNECT_NSPACE, host_info(PMIX_NSPACE), PMIX_STRING));
    ok(px_server_add_nspace(px_process.server, "mine", 0, infos.v, infos.n, &err));
}

PX_TEST(a_host_may_give_it_another_name)
{
    pmix_nspace_t name;
    size_t before, after;

    raw_start(&host_module, 1, 0);
    raw_on_loop(count_nspaces, &before);
    host.within = assign;
    join_alone(name);
    host.within = NULL;
    ck_assert_str_eq(name, "mine");
    ok(in(one, PX_OP_FENCE, "mine"));
    ok(in(one, PX_OP_DISCONNECT, "mine"));
    raw_on_loop(count_nspaces, &after);
    ck_assert_uint_eq(after, before + 1); /* the host has to remove the namespace */
    raw_drop_job("mine");
    join_alone(name);
    ck_assert(strncmp(name, "connected-", 10) == 0);
    raw_on_loop(count_nspaces, &after);
    ck_assert_uint_eq(after, before + 1);
    close(one);
    raw_await_gone(0);
    raw_on_loop(count_nspaces, &after);
    ck_assert_uint_eq(after, before);
}

/* The host does not support connects. */
PX_TEST(a_host_that_knows_nothing_of_it_has_connects_within_the_node)
{
    pmix_nspace_t name;

    for (int remote = 0; remote < 2; remote++) {
        host.how = HOST_INSIDE;
        host.status = PMIX_SUCCESS;
        raw_start(&host_module, 1, (uint32_t)remote);
        host.how = HOST_ERROR;
        host.status = PMIX_ERR_NOT_SUPPORTED;
        join(one, &all, 1, NULL, NULL);
        if (remote) {
            fails(raw_status(one, 400), NOT_SUPPORTED);
        } else {
            read_name(one, name);
            ok(in(one, PX_OP_DISCONNECT, name));
        }
        raw_server_stop();
    }
}

PX_TEST(one_that_cannot_leave_in_time_is_a_member_still)
{
    pmix_nspace_t name;
    uint32_t second = 1;
    pmix_info_t info;
    pmix_proc_t procs;

    raw_start(&host_module, 1, 0);
    join_alone(name);
    procs = raw_proc(name, PMIX_RANK_WILDCARD);
    PMIx_Info_load(&info, PMIX_TIMEOUT, &second, PMIX_UINT32);
    host.how = HOST_HELD;
    raw_collect(one, 401, PX_OP_DISCONNECT, &procs, 1, &info);
    fails(raw_status(one, 401), TIMEOUT);
    ck_assert(host_answer(PMIX_ERR_NO_PERMISSIONS));
    host.how = HOST_INSIDE;
    ok(in(one, PX_OP_FENCE, name));
    ok(in(one, PX_OP_DISCONNECT, name));
}

PX_TEST(bad_ids_are_refused)
{
    static char long_id[PMIX_MAX_NSLEN + 2];
    const char *const ids[] = {"", long_id, NULL}; /* the last one is a flag */

    raw_start(NULL, 1, 0);
    memset(long_id, 'x', sizeof(long_id) - 1);
    for (size_t i = 0; i < PX_COUNT(ids); i++) {
        join(one, &all, 1, PMIX_CONNECT_ID, ids[i]);
        fails(raw_status(one, 400), BAD_PARAM);
    }
    join(one, &all, 1, PMIX_CONNECT_NOTIFY_REQ, NULL);
    ok(raw_status(one, 400));
}

PX_TEST(only_processes_of_the_same_user_are_asked_to_connect)
{
    const pmix_proc_t both[] = {{"other", PMIX_RANK_WILDCARD},
                                {"job", PMIX_RANK_WILDCARD}};

    PX_TEST_NEEDS(geteuid() == 0, "root, to be another user");
    raw_start(NULL, 1, 0);
    raw_add_job("other", 1, 0, 12345);
    int other = raw_client_as(12345, "other", 0);
    join(other, both, 2, PMIX_CONNECT_NOTIFY_REQ, NULL);
    fails(raw_status(other, 400), NO_PERMISSIONS);
    join(other, both, 1, PMIX_CONNECT_NOTIFY_REQ, NULL);
    ok(raw_status(other, 400));
}

static void make_many(void *arg)
{
    const px_infos none = {0};
    const struct px_joint j = {.procs = &all, .n_procs = 1, .infos = &none, .id = ""};
    const struct px_nspace *made;
    unsigned *n = arg;

    for (*n = 0; !px_joint_make(px_process.server, &j, true, &made); ++*n)
        ;
}

PX_TEST(they_are_bounded_and_go_with_their_job)
{
    size_t before, after;
    unsigned n = 0;

    raw_start(NULL, 1, 0);
    raw_on_loop(count_nspaces, &before);
    raw_on_loop(make_many, &n);
    ck_assert_uint_eq(n, 1024);
    raw_drop_job("job");
    raw_on_loop(count_nspaces, &after);
    ck_assert_uint_eq(after, before - 1);
}

PX_TEST_MAIN("server/joint", NULL, host_end)
