/* SPDX-License-Identifier: BSD-3-Clause */
/* A client's own life: job information, commit, get, abort, finalize; and requests that no client would
 * make. */
#include "fake_host.h"
#include "px_test.h"
#include "raw.h"

#include <string.h>

static void setup(void)
{
    raw_server_start(&host_module, 3);
}

/* ---- commit ------------------------------------------------------------------------------- */

static pmix_status_t commit(int fd, uint8_t scope, const char *key, uint32_t n)
{
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = n};
    px_writer w, body;

    px_writer_init(&body, px_codec_default);
    px_pack_kval(&body, key, &v);
    raw_begin(&w, PX_OP_COMMIT);
    px_pack_u8(&w, scope, PMIX_SCOPE);
    px_pack_buffer(&w, &body.buf);
    px_writer_cleanup(&body);
    return raw_request(fd, &w, NULL);
}

static uint32_t get(int fd, pmix_rank_t rank, const char *key)
{
    px_writer w;
    px_reader r;

    raw_get(&w, "job", rank, key, PMIX_IMMEDIATE);
    return raw_request(fd, &w, &r) ? UINT32_MAX : raw_value_in(&r, key);
}

PX_TEST(a_later_commit_adds_and_replaces)
{
    int one = raw_client(0), two = raw_client(1);

    ok(commit(one, PMIX_LOCAL, "a", 1));
    ok(commit(one, PMIX_GLOBAL, "b", 2));
    ok(commit(one, PMIX_LOCAL, "a", 3));
    ck_assert_uint_eq(get(two, 0, "a"), 3);
    ck_assert_uint_eq(get(two, 0, "b"), 2);
}

PX_TEST(what_is_for_other_nodes_is_not_read_here)
{
    int one = raw_client(0), two = raw_client(1);

    ok(commit(one, PMIX_REMOTE, "far", 1));
    ck_assert_uint_eq(get(two, 0, "far"), UINT32_MAX);
}

PX_TEST(scopes_and_keys_that_make_no_sense_are_refused)
{
    char longer[PMIX_MAX_KEYLEN + 2];
    int one = raw_client(0), two = raw_client(1);

    memset(longer, 'k', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    ck_assert_int_eq(commit(one, PMIX_INTERNAL, "a", 1), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(commit(one, 0, "a", 1), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(commit(one, 77, "a", 1), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(commit(one, PMIX_LOCAL, "", 1), PMIX_ERR_BAD_PARAM);
    ck_assert_int_lt(commit(one, PMIX_LOCAL, longer, 1), 0);
    ck_assert_uint_eq(get(two, 0, "a"), UINT32_MAX);
}

PX_TEST(a_damaged_commit_changes_nothing)
{
    int reader = raw_client(0), owner = raw_client(1);
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = 1};
    px_writer w, body;

    px_writer_init(&body, px_codec_default);
    px_pack_kval(&body, "good", &v);
    ok(px_buf_add(&body.buf, "\x02\xff", 2));
    raw_begin(&w, PX_OP_COMMIT);
    px_pack_u8(&w, PMIX_LOCAL, PMIX_SCOPE);
    px_pack_buffer(&w, &body.buf);
    px_writer_cleanup(&body);
    ck_assert_int_ne(raw_request(owner, &w, NULL), PMIX_SUCCESS);

    raw_get(&w, "job", 1, "good", PMIX_IMMEDIATE);
    ck_assert_int_eq(raw_request(reader, &w, NULL), PMIX_ERR_NOT_FOUND);
}

PX_TEST(job_information_begins_with_the_name)
{
    int fd = raw_client(1);
    PX_AUTOFREE char *name = NULL;
    px_writer w;
    px_reader r;
    size_t n = 0;

    raw_begin(&w, PX_OP_REQ);
    raw_send(fd, 500, &w);
    ck_assert(raw_recv(fd, 500, &r));
    ok(px_unpack_str(&r, &name));
    ck_assert_str_eq(name, "job");
    for (; !px_reader_done(&r); n++) {
        struct px_kval kv = {0};

        ok(px_unpack_kval(&r, &kv));
        px_kval_fini(&kv);
    }
    ck_assert_uint_gt(n, 5);
}

/* ---- get ---------------------------------------------------------------------------- */

PX_TEST(a_get_waits_for_the_commit)
{
    int reader = raw_client(0), owner = raw_client(1);
    pmix_status_t status;
    px_writer w;
    px_reader r;

    raw_get(&w, "job", 1, "colour", NULL);
    raw_send(reader, 600, &w);
    ck_assert(raw_quiet(reader));
    ok(raw_commit(owner, "colour", 7));

    ck_assert(raw_recv(reader, 600, &r));
    ok(px_unpack_status(&r, &status));
    ok(status);
    ck_assert_uint_eq(raw_value_in(&r, "colour"), 7);
}

PX_TEST(what_can_not_come_is_not_found_at_once)
{
    int reader = raw_client(0), owner = raw_client(1);
    px_writer w;

    ok(raw_commit(owner, "colour", 7));
    raw_get(&w, "job", 1, "shape", NULL); /* committed, but not this */
    ck_assert_int_eq(raw_request(reader, &w, NULL), PMIX_ERR_NOT_FOUND);
    raw_get(&w, "job", 9, "shape", NULL); /* no such rank */
    ck_assert_int_eq(raw_request(reader, &w, NULL), PMIX_ERR_NOT_FOUND);
    raw_get(&w, "job", 2, "shape", PMIX_IMMEDIATE); /* not yet, and no waiting */
    ck_assert_int_eq(raw_request(reader, &w, NULL), PMIX_ERR_NOT_FOUND);
    raw_get(&w, "stranger", 0, "shape", NULL); /* the host knows no such job */
    ck_assert_int_eq(raw_request(reader, &w, NULL), PMIX_ERR_NOT_FOUND);
}

PX_TEST(a_waiting_get_ends_when_its_owner_dies)
{
    int reader = raw_client(0), owner = raw_client(1);
    px_writer w;

    raw_get(&w, "job", 1, "colour", NULL);
    raw_send(reader, 601, &w);
    ck_assert(raw_quiet(reader));
    close(owner);
    ck_assert_int_eq(raw_status(reader, 601), PMIX_ERR_NOT_FOUND);
}

/* One that costs the server what the filler does. */
static void get_colour(px_writer *w, const char *filler)
{
    pmix_info_t info;

    raw_begin(w, PX_OP_GET);
    px_pack_str(w, "job");
    px_pack_rank(w, 1);
    PMIx_Info_load(&info, "filler", filler, PMIX_STRING);
    px_pack_infos(w, &info, 1);
    px_pack_str(w, "colour");
    PMIx_Info_destruct(&info);
}

PX_TEST(what_one_client_waits_for_is_bounded)
{
    enum { BEFORE_B = 255 << 20, EACH_B = 400 << 10, N = 2 };
    char *filler = malloc(EACH_B + 1);
    int reader = raw_client(0), owner = raw_client(1);
    pmix_proc_t proc = raw_proc("job", 0);
    px_writer w;

    px_peer_find(px_process.server, &proc)->pending_b += BEFORE_B;
    memset(filler, 'x', EACH_B);
    filler[EACH_B] = '\0';
    for (unsigned i = 0; i <= N; i++) {
        get_colour(&w, filler);
        raw_send(reader, 600 + i, &w);
    }
    ck_assert_int_eq(raw_status(reader, 600 + N), PMIX_ERR_OUT_OF_RESOURCE);
    raw_begin(&w, 200); /* there is room for small ones */
    ck_assert_int_eq(raw_request(reader, &w, NULL), PMIX_ERR_NOT_SUPPORTED);
    ok(raw_commit(owner, "colour", 7));
    for (unsigned i = 0; i < N; i++)
        ok(raw_status(reader, 600 + i));
    get_colour(&w, filler);
    ok(raw_request(reader, &w, NULL));
    free(filler);
}

/* ---- abort -------------------------------------------------------------------------------- */

static pmix_status_t abort_procs(int fd, const pmix_proc_t *procs, size_t n)
{
    px_writer w;

    raw_begin(&w, PX_OP_ABORT);
    px_pack_status(&w, 42);
    px_pack_str(&w, "no more");
    px_pack_procs(&w, procs, n);
    return raw_request(fd, &w, NULL);
}

PX_TEST(an_abort_goes_to_the_host_with_all_it_says)
{
    int fd = raw_client(1);
    pmix_proc_t p = raw_proc("job", 0);

    ok(abort_procs(fd, &p, 1));
    ck_assert_int_eq(host.code, 42);
    ck_assert_str_eq(host.text, "no more");
    ck_assert_uint_eq(host.n_procs, 1);
    ck_assert(px_proc_same(&host.procs[0], &p));
    ck_assert_ptr_eq(host.object, raw_object(1));
    ok(abort_procs(fd, NULL, 0));
    ck_assert_uint_eq(host.n_procs, 0);
}

PX_TEST(processes_of_another_user_are_not_aborted)
{
    pmix_proc_t procs[2];

    PX_TEST_NEEDS(geteuid() == 0, "root");
    raw_add_job("theirs", 1, 0, 4711);
    int theirs = raw_client_as(4711, "theirs", 0), ours = raw_client(0);
    px_proc_set(&procs[0], "theirs", 0);
    px_proc_set(&procs[1], "job", 1);
    ck_assert_int_eq(abort_procs(theirs, procs, 2), PMIX_ERR_NO_PERMISSIONS);
    ck_assert_uint_eq(host_calls("abort"), 0);
    ok(abort_procs(theirs, procs, 1));
    ok(abort_procs(ours, procs, 2)); /* root may */
}

/* ---- finalize ----------------------------------------------------------------------------- */

PX_TEST(a_client_is_let_go_when_the_host_has_answered)
{
    static const enum host_how hows[] = {HOST_INSIDE, HOST_THREAD, HOST_DONE,
                                         HOST_ERROR};

    for (size_t i = 0; i < PX_COUNT(hows); i++) {
        int fd = raw_client(0);

        host.how = hows[i];
        host.status = hows[i] == HOST_ERROR ? PMIX_ERR_NOT_SUPPORTED : PMIX_SUCCESS;
        ok(raw_finalize(fd));
        close(fd);
    }
}

PX_TEST(a_host_that_does_not_answer_keeps_a_client_for_a_while_only)
{
    raw_server_stop();
    setenv("PMIX_MCA_server_finalize_timeout", "20ms", 1);
    setup();
    int fd = raw_client(0);
    host.how = HOST_HELD;
    ok(raw_finalize(fd));
    close(fd);
    raw_await_gone(0);
    ck_assert(host_answer(PMIX_SUCCESS));
    ck_assert(host.args_lived);
}

PX_TEST(a_second_goodbye_is_answered_and_nothing_else_is_done)
{
    int fd = raw_client(0);

    ok(raw_finalize(fd));
    ok(raw_finalize(fd));
    ck_assert_uint_eq(host_calls("client_finalized"), 1);
}

PX_TEST(who_has_said_goodbye_has_nothing_to_ask)
{
    int fd = raw_client(0);
    px_writer w;

    ok(raw_finalize(fd));
    ck_assert_int_eq(commit(fd, PMIX_LOCAL, "a", 1), PMIX_ERR_INIT);
    raw_fence(fd, 700, false);
    ck_assert_int_eq(raw_status(fd, 700), PMIX_ERR_INIT);
    raw_begin(&w, PX_OP_DEREGEVENTS);
    px_pack_status(&w, -1);
    raw_send(fd, 701, &w); /* has no answer, now as before */
    ck_assert(raw_quiet(fd));
}

PX_TEST(each_return_of_a_rank_is_told_to_the_host)
{
    for (unsigned i = 1; i <= 3; i++) {
        int fd = raw_client(0);

        host_await("client_connected2", i);
        ok(raw_finalize(fd));
        ck_assert_uint_eq(host_calls("client_finalized"), i);
        close(fd);
    }
}

PX_TEST(without_slots_a_client_lives_and_ends_all_the_same)
{
    static const pmix_server_module_t nothing = {0};

    raw_server_stop();
    raw_server_start(&nothing, 1);
    int fd = raw_client(0);
    ck_assert_int_eq(abort_procs(fd, NULL, 0), PMIX_ERR_NOT_SUPPORTED);
    ok(raw_finalize(fd));
}

PX_TEST(a_message_without_a_command_is_answered)
{
    int fd = raw_client(0);
    px_writer w;

    px_writer_init(&w, px_codec_default);
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_BAD_PARAM);
}

/* ---- strange requests ----------------------------------------------------------------------- */

PX_TEST(no_request_of_random_bytes_harms_the_server)
{
    int fd = raw_client(0);
    unsigned seed = 1;

    for (int i = 0; i < 4000; i++) {
        px_writer w;
        uint8_t op = (uint8_t)(i % PX_OP_MAX);

        if (op == PX_OP_FINALIZE)
            continue;
        raw_begin(&w, op);
        for (unsigned n = (unsigned)rand_r(&seed) % 40; n > 0; n--) {
            uint8_t byte = (uint8_t)rand_r(&seed);

            if (rand_r(&seed) % 3 == 0)
                byte = 0x02;
            ok(px_buf_add(&w.buf, &byte, 1));
        }
        raw_send(fd, 1000 + (uint32_t)i, &w);
    }
    int other = raw_client(1);
    ok(commit(other, PMIX_LOCAL, "a", 1));
}

PX_TEST(frames_below_the_requests_are_ignored)
{
    int fd = raw_client(0);

    for (uint32_t tag = 0; tag < 100; tag += 33) {
        px_writer w;

        raw_begin(&w, PX_OP_COMMIT);
        raw_send(fd, tag, &w);
    }
    ck_assert(raw_quiet(fd));
}

PX_TEST_MAIN("server/job", setup, host_end)
