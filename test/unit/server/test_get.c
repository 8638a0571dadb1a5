/* SPDX-License-Identifier: BSD-3-Clause */
/* Get and direct modex: what is there, what is waited for, what the host is asked. */
#include "core/base/str.h"
#include "core/server/data/pending_get.h"
#include "fake_host.h"
#include "px_test.h"
#include "raw.h"

#include <semaphore.h>
#include <string.h>

static sem_t told;
static pmix_status_t told_status;
static char *told_data;
static size_t told_n;

/* Ranks 0 and 1 here, 2 and 3 elsewhere. */
static void setup(void)
{
    sem_init(&told, 0, 0);
    raw_server_start_part(&host_module, 2, 2);
}

static void teardown(void)
{
    free(told_data);
    host_done();
}

static void send_get(int fd, uint32_t tag, pmix_rank_t rank, const char *key)
{
    px_writer w;

    raw_get(&w, "job", rank, key, NULL);
    raw_send(fd, tag, &w);
}

/* What the other node's server would give for a rank. */
static px_buf values(const char *key, uint32_t n)
{
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = n};
    px_writer w;

    px_writer_init(&w, px_codec_default);
    px_pack_kval(&w, key, &v);
    return px_buf_take(&w.buf);
}

/* ---- waiting --------------------------------------------------------------------------------- */

PX_TEST(a_get_for_a_rank_that_is_lost_already_is_not_found_at_once)
{
    int one = raw_client(0), two = raw_client(1);

    close(two);
    raw_await_gone(1);
    send_get(one, 300, 1, "colour");
    ck_assert_int_eq(raw_status(one, 300), PMIX_ERR_NOT_FOUND);
    raw_server_stop();
    close(one);
}

PX_TEST(a_waiting_get_ends_when_the_rank_finalizes_without_a_commit)
{
    int one = raw_client(0), two = raw_client(1);

    send_get(one, 300, 1, "colour");
    ck_assert(raw_quiet(one));
    ok(raw_finalize(two));
    ck_assert_int_eq(raw_status(one, 300), PMIX_ERR_NOT_FOUND);
    send_get(one, 301, 1, "colour");
    ck_assert_int_eq(raw_status(one, 301), PMIX_ERR_NOT_FOUND);
    raw_server_stop();
    close(one);
    close(two);
}

PX_TEST(a_get_may_wait_with_a_deadline)
{
    int one = raw_client(0);
    pmix_info_t info;
    uint32_t second = 1;
    px_writer w;

    PMIx_Info_load(&info, PMIX_TIMEOUT, &second, PMIX_UINT32);
    raw_begin(&w, PX_OP_GET);
    px_pack_str(&w, "job");
    px_pack_rank(&w, 1);
    px_pack_infos(&w, &info, 1);
    px_pack_str(&w, "colour");
    ck_assert_int_eq(raw_request(one, &w, NULL), PMIX_ERR_TIMEOUT);
    raw_server_stop();
    close(one);
}

PX_TEST(without_a_key_everything_committed_comes)
{
    int one = raw_client(0), two = raw_client(1);
    pmix_status_t status;
    px_writer w;
    px_reader r;

    raw_begin(&w, PX_OP_GET);
    px_pack_str(&w, "job");
    px_pack_rank(&w, 1);
    px_pack_infos(&w, NULL, 0);
    raw_send(one, 300, &w);
    ck_assert(raw_quiet(one));
    ok(raw_commit(two, "colour", 7));
    ck_assert(raw_recv(one, 300, &r));
    ok(px_unpack_status(&r, &status));
    ok(status);
    ck_assert_uint_eq(raw_value_in(&r, "colour"), 7);
    raw_server_stop();
    close(one);
    close(two);
}

PX_TEST(who_has_a_key_is_found_for_who_does_not_know)
{
    int one = raw_client(0), two = raw_client(1);
    px_writer w;
    px_reader r;

    raw_get(&w, "job", PMIX_RANK_UNDEF, "colour", NULL);
    ck_assert_int_eq(raw_request(one, &w, NULL), PMIX_ERR_NOT_FOUND);
    ok(raw_commit(two, "colour", 7));
    raw_get(&w, "job", PMIX_RANK_UNDEF, "colour", NULL);
    ok(raw_request(one, &w, &r));
    ck_assert_uint_eq(raw_value_in(&r, "colour"), 7);
    raw_server_stop();
    close(one);
    close(two);
}

PX_TEST(ranks_that_cannot_have_data_are_refused)
{
    static const pmix_rank_t ranks[] = {PMIX_RANK_VALID, PMIX_RANK_LOCAL_NODE,
                                        PMIX_RANK_INVALID, PMIX_RANK_LOCAL_PEERS};
    char *longer = px_strf("%0300d", 1);
    int fd = raw_client(0);
    px_writer w;

    for (size_t i = 0; i < PX_COUNT(ranks); i++) {
        raw_get(&w, "job", ranks[i], "colour", NULL);
        ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_BAD_PARAM);
    }
    raw_get(&w, longer, 0, "colour", NULL);
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_BAD_PARAM);
    ck_assert_uint_eq(host_calls("direct_modex"), 0);
    free(longer);
    raw_server_stop();
    close(fd);
}

PX_TEST(a_value_the_readers_dialect_lacks_does_not_hide_the_others)
{
    struct px_hello h = raw_hello("job", 0);
    pmix_value_t odd = {.type = PMIX_LINK_STATE, .data.linkstate = 1};
    pmix_value_t plain = {.type = PMIX_UINT32, .data.uint32 = 7};
    struct px_codec v3 = {.dialect = px_dialect_find("v3")};
    int two = raw_client(1), fd;
    px_writer w, body;
    px_reader r, part;
    pmix_status_t status;
    struct px_kval kv = {0};
    pmix_proc_t p;

    px_writer_init(&body, px_codec_default);
    px_pack_kval(&body, "odd", &odd);
    px_pack_kval(&body, "plain", &plain);
    raw_begin(&w, PX_OP_COMMIT);
    px_pack_u8(&w, PMIX_LOCAL, PMIX_SCOPE);
    px_pack_buffer(&w, &body.buf);
    px_writer_cleanup(&body);
    ok(raw_request(two, &w, NULL));

    strcpy(h.dialect, "v3");
    ok(raw_connect(&h, &fd));
    px_writer_init(&w, v3);
    px_pack_op(&w, PX_OP_GET);
    px_pack_str(&w, "job");
    px_pack_rank(&w, 1);
    px_pack_infos(&w, NULL, 0);
    px_pack_str(&w, "plain");
    raw_send(fd, 300, &w);
    ck_assert(raw_recv(fd, 300, &r));
    r.codec = v3;
    ok(px_unpack_status(&r, &status));
    ok(status);
    ok(px_unpack_view(&r, &part, PMIX_BYTE_OBJECT));
    ok(px_unpack1(&part, &p, PMIX_PROC));
    ok(px_unpack_kval(&part, &kv));
    ck_assert_str_eq(kv.key, "plain");
    ck_assert(px_reader_done(&part));
    px_kval_fini(&kv);
    raw_server_stop();
    close(two);
    close(fd);
}

PX_TEST(a_job_of_another_user_is_not_read)
{
    px_writer w;

    PX_TEST_NEEDS(geteuid() == 0, "root");
    raw_add_job("theirs", 1, 0, 4711);
    int theirs = raw_client_as(4711, "theirs", 0);
    ok(raw_commit(theirs, "colour", 7));
    raw_get(&w, "job", 0, "colour", PMIX_IMMEDIATE);
    ck_assert_int_eq(raw_request(theirs, &w, NULL), PMIX_ERR_NO_PERMISSIONS);
    raw_get(&w, "job", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, NULL);
    ck_assert_int_eq(raw_request(theirs, &w, NULL), PMIX_ERR_NO_PERMISSIONS);
    raw_get(&w, "theirs", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, NULL);
    ok(raw_request(theirs, &w, NULL));
    raw_server_stop();
    close(theirs);
}

/* ---- the host is asked ------------------------------------------------------------------------- */

PX_TEST(the_host_is_asked_once_for_a_rank_however_many_wait)
{
    int one = raw_client(0), two = raw_client(1);
    PX_AUTO(px_buf) bytes = values("colour", 7);
    pmix_status_t status;
    px_reader r;

    host.how = HOST_HELD;
    send_get(one, 300, 2, "colour");
    send_get(one, 301, 2, "shape");
    send_get(two, 302, 2, "colour");
    ck_assert(raw_quiet(one));
    ck_assert(raw_quiet(two));
    ck_assert_uint_eq(host_calls("direct_modex"), 1);
    ck_assert_uint_eq(host.proc.rank, 2);
    ck_assert_str_eq(px_info_str(host.given.v, host.given.n, PMIX_REQUIRED_KEY),
                     "colour");
    host.bytes = bytes.data;
    host.n_bytes = bytes.len;
    ck_assert(host_answer(PMIX_SUCCESS));

    ck_assert(raw_recv(one, 300, &r));
    ok(px_unpack_status(&r, &status));
    ck_assert_uint_eq(raw_value_in(&r, "colour"), 7);
    ck_assert_int_eq(raw_status(one, 301),
                     PMIX_ERR_NOT_FOUND); /* it did not bring that */
    ok(raw_status(two, 302));
    send_get(two, 303, 2, "colour"); /* known now */
    ok(raw_status(two, 303));
    ck_assert_uint_eq(host_calls("direct_modex"), 1);
    raw_server_stop();
    close(one);
    close(two);
}

PX_TEST(however_the_host_answers_its_status_is_the_reply)
{
    static const struct {
        enum host_how how;
        pmix_status_t status, reply;
    } rows[] = {
        {HOST_INSIDE, PMIX_ERR_TIMEOUT, PMIX_ERR_TIMEOUT},
        {HOST_THREAD, PMIX_ERR_NOT_FOUND, PMIX_ERR_NOT_FOUND},
        {HOST_ERROR, PMIX_ERR_NOT_SUPPORTED, PMIX_ERR_NOT_SUPPORTED},
        {HOST_DONE, PMIX_SUCCESS, PMIX_ERR_NOT_FOUND}, /* and brought nothing */
    };
    int fd = raw_client(0);

    for (uint32_t i = 0; i < PX_COUNT(rows); i++) {
        host.how = rows[i].how;
        host.status = rows[i].status;
        send_get(fd, 300 + i, 2, "colour");
        ck_assert_int_eq(raw_status(fd, 300 + i), rows[i].reply);
    }
    raw_server_stop();
    close(fd);
}

PX_TEST(damaged_data_of_the_host_is_an_error)
{
    int fd = raw_client(0);

    host.bytes = "\x02\xff\xff";
    host.n_bytes = 3;
    send_get(fd, 300, 2, "colour");
    ck_assert_int_lt(raw_status(fd, 300), 0);
    raw_server_stop();
    close(fd);
}

PX_TEST(a_job_of_another_place_can_be_asked_for)
{
    PX_AUTO(px_buf) bytes = values("colour", 9);
    int fd = raw_client(0);
    px_writer w;
    px_reader r, job;

    host.bytes = bytes.data;
    host.n_bytes = bytes.len;
    raw_get(&w, "faraway", 5, "colour", NULL);
    ok(raw_request(fd, &w, &r));
    ok(px_unpack_view(&r, &job, PMIX_BYTE_OBJECT));
    ck_assert_uint_eq(raw_value_in(&r, "colour"), 9);
    raw_server_stop();
    close(fd);
}

PX_TEST(an_answer_that_nobody_waits_for_any_more_makes_no_namespace)
{
    PX_AUTO(px_buf) bytes = values("colour", 9);
    int fd = raw_client(0), other = raw_client(1);
    px_writer w;

    host.how = HOST_HELD;
    host.bytes = bytes.data;
    host.n_bytes = bytes.len;
    raw_get(&w, "faraway", 5, "colour", NULL);
    raw_send(fd, 300, &w);
    host_await("direct_modex", 1);
    close(fd);
    raw_await_gone(0);
    ck_assert(host_answer(PMIX_SUCCESS));
    ck_assert(raw_quiet(other));
    ck_assert_ptr_null(px_nspace_find(px_process.model, "faraway"));
    raw_server_stop();
    close(other);
}

static void deregister_job(void)
{
    pmix_nspace_t job = "job";

    PMIx_server_deregister_nspace(job, NULL, NULL);
}

PX_TEST(the_host_may_deregister_the_job_while_it_is_asked)
{
    int fd = raw_client(0);

    host.within = deregister_job;
    send_get(fd, 300, 2, "colour");
    ck_assert_int_eq(raw_status(fd, 300), PMIX_ERR_NOT_FOUND);
    ck_assert(raw_closed(fd));
    raw_server_stop();
    close(fd);
}

PX_TEST(without_the_slot_what_is_elsewhere_is_not_found)
{
    static const pmix_server_module_t nothing = {0};

    raw_server_stop();
    raw_server_start_part(&nothing, 1, 1);
    int fd = raw_client(0);
    send_get(fd, 300, 1, "colour");
    ck_assert_int_eq(raw_status(fd, 300), PMIX_ERR_NOT_FOUND);
    raw_server_stop();
    close(fd);
}

/* ---- the host asks -------------------------------------------------------------------------------- */

static void on_data(pmix_status_t status, char *data, size_t n, void *cbdata)
{
    ck_assert_ptr_eq(cbdata, &told);
    told_status = status;
    free(told_data);
    told_data = n ? memcpy(malloc(n), data, n) : NULL;
    told_n = n;
    sem_post(&told);
}

static void ask_for(const char *nspace, pmix_rank_t rank)
{
    pmix_proc_t p;

    px_proc_set(&p, nspace, rank);
    ok(PMIx_server_dmodex_request(&p, on_data, &told));
}

static pmix_status_t answer_for(const char *nspace, pmix_rank_t rank)
{
    ask_for(nspace, rank);
    sem_wait(&told);
    return told_status;
}

PX_TEST(the_host_gets_what_a_rank_committed_for_other_nodes_once_it_has)
{
    int fd = raw_client(0);

    ask_for("job", 0);
    ck_assert(raw_quiet(fd));
    ck_assert_int_ne(sem_trywait(&told), 0);
    ok(raw_commit(fd, "colour", 7));
    sem_wait(&told);
    ok(told_status);
    ck_assert_ptr_nonnull(memmem(told_data, told_n, "colour", 7));
    ok(answer_for("job", 0));
    ok(answer_for("job", PMIX_RANK_WILDCARD));
    ck_assert_ptr_nonnull(
        memmem(told_data, told_n, PMIX_JOB_SIZE, strlen(PMIX_JOB_SIZE)));
    raw_server_stop();
    close(fd);
}

PX_TEST(the_host_is_told_what_will_never_come)
{
    int fd = raw_client(0);

    ck_assert_int_eq(answer_for("job", 3), PMIX_ERR_NOT_FOUND); /* not here */
    ask_for("job", 0);
    ask_for("job", 0);
    close(fd);
    sem_wait(&told);
    ck_assert_int_eq(told_status, PMIX_ERR_NOT_FOUND);
    sem_wait(&told);
    ck_assert_int_eq(answer_for("job", 0), PMIX_ERR_NOT_FOUND);
    ask_for("job", 1);
    raw_server_stop();
    sem_wait(&told);
    ck_assert_int_eq(told_status, PMIX_ERR_LOST_CONNECTION);
}

static void on_data_deregister(pmix_status_t status, char *data, size_t n, void *cbdata)
{
    deregister_job();
    on_data(status, data, n, cbdata);
}

PX_TEST(the_host_may_deregister_the_job_when_it_is_told)
{
    int one = raw_client(0), two = raw_client(1);
    pmix_proc_t p;

    px_proc_set(&p, "job", 1);
    send_get(one, 300, 1, "colour");
    ck_assert(raw_quiet(one));
    for (int i = 0; i < 3; i++)
        ok(PMIx_server_dmodex_request(&p, on_data_deregister, &told));
    raw_on_loop(NULL, NULL);
    close(two);
    for (int i = 0; i < 3; i++)
        sem_wait(&told);
    ck_assert_int_eq(told_status, PMIX_ERR_NOT_FOUND);
    raw_server_stop();
    close(one);
}

PX_TEST_MAIN("server/get", setup, teardown)
