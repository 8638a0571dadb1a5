/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of clients: dispatch, commit, get, fence, events, and what a lost client leaves. */
#include "px_test.h"
#include "raw.h"

#include <string.h>

static void setup(void)
{
    raw_server_start(NULL, 3);
}

START_TEST(an_unknown_command_is_answered)
{
    int fd = raw_client(0);
    px_writer w;

    raw_begin(&w, 200);
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_NOT_SUPPORTED);
    px_writer_init(&w, px_codec_default);
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_BAD_PARAM);
}
END_TEST

START_TEST(job_information_begins_with_the_name)
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
END_TEST

START_TEST(a_get_waits_for_the_commit)
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
END_TEST

START_TEST(what_can_not_come_is_not_found_at_once)
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
END_TEST

START_TEST(a_waiting_get_ends_when_its_owner_dies)
{
    int reader = raw_client(0), owner = raw_client(1);
    pmix_status_t status;
    px_writer w;
    px_reader r;

    raw_get(&w, "job", 1, "colour", NULL);
    raw_send(reader, 601, &w);
    ck_assert(raw_quiet(reader));
    close(owner);

    ck_assert(raw_recv(reader, 601, &r));
    ok(px_unpack_status(&r, &status));
    ck_assert_int_eq(status, PMIX_ERR_NOT_FOUND);
}
END_TEST

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

START_TEST(what_one_client_waits_for_is_bounded)
{
    enum { BEFORE_B = 255 << 20, EACH_B = 400 << 10, N = 2 };
    char *filler = malloc(EACH_B + 1);
    int reader = raw_client(0), owner = raw_client(1);
    pmix_proc_t proc;
    px_writer w;

    px_proc_set(&proc, "job", 0);
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
END_TEST

START_TEST(a_damaged_commit_changes_nothing)
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
END_TEST

START_TEST(a_fence_ends_when_the_last_has_come)
{
    int fd[3];

    for (pmix_rank_t i = 0; i < 3; i++)
        fd[i] = raw_client(i);
    raw_fence(fd[0], 700, true);
    raw_fence(fd[1], 700, true);
    ck_assert(raw_quiet(fd[0]));
    raw_fence(fd[2], 700, true);

    for (int i = 0; i < 3; i++)
        ok(raw_status(fd[i], 700));
}
END_TEST

START_TEST(a_fence_ends_with_an_error_when_one_dies)
{
    int fd[3];

    for (pmix_rank_t i = 0; i < 3; i++)
        fd[i] = raw_client(i);
    raw_fence(fd[0], 701, false);
    raw_fence(fd[1], 701, false);
    ck_assert(raw_quiet(fd[0]));
    close(fd[2]);

    ck_assert_int_eq(raw_status(fd[0], 701), PMIX_ERR_LOST_CONNECTION);
    ck_assert_int_eq(raw_status(fd[1], 701), PMIX_ERR_LOST_CONNECTION);
}
END_TEST

START_TEST(a_fence_of_others_is_refused)
{
    int fd = raw_client(0);
    pmix_proc_t other;
    px_writer w;

    px_proc_set(&other, "job", 1);
    raw_begin(&w, PX_OP_FENCE);
    px_pack_procs(&w, &other, 1);
    px_pack_infos(&w, NULL, 0);
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_BAD_PARAM);
}
END_TEST

START_TEST(events_reach_those_who_asked_and_not_their_source)
{
    int source = raw_client(0), asked = raw_client(1), other = raw_client(2);
    pmix_status_t code;
    uint8_t op;
    px_reader r;

    ok(raw_want_event(source, -777));
    ok(raw_want_event(asked, -777));
    ok(raw_want_event(other, -778));
    ok(raw_notify(source, -777, PMIX_RANGE_NAMESPACE));

    ck_assert(raw_recv(asked, PX_TAG_NOTIFY, &r));
    ok(px_unpack_u8(&r, &op, PMIX_COMMAND));
    ok(px_unpack_status(&r, &code));
    ck_assert_int_eq(code, -777);
    ck_assert(raw_quiet(other));
    ck_assert(raw_quiet(source));
}
END_TEST

START_TEST(an_event_is_replayed_once_to_who_asks_later)
{
    int source = raw_client(0), late = raw_client(1);
    px_reader r;

    ok(raw_notify(source, -779, PMIX_RANGE_NAMESPACE));
    ok(raw_want_event(late, -779));
    ck_assert(raw_recv(late, PX_TAG_NOTIFY, &r));

    ok(raw_want_event(late, -779));
    ck_assert(raw_quiet(late));
}
END_TEST

START_TEST(finalize_is_answered_and_the_rank_may_come_back)
{
    int fd = raw_client(0);
    px_writer w;

    raw_begin(&w, PX_OP_FINALIZE);
    ok(raw_request(fd, &w, NULL));
    close(fd);
    fd = raw_client(0);
    ok(raw_commit(fd, "again", 1));
}
END_TEST

START_TEST(deregistering_a_namespace_ends_what_waits_for_it)
{
    int fd = raw_client(0);
    pmix_nspace_t job = "job";
    px_writer w;
    px_reader r;

    raw_get(&w, "job", 1, "colour", NULL);
    raw_send(fd, 800, &w);
    ck_assert(raw_quiet(fd));
    PMIx_server_deregister_nspace(job, NULL, NULL);

    while (raw_recv(fd, 800, &r))
        ;
}
END_TEST

PX_TEST_MAIN_WITH("server/requests", setup, raw_teardown,
                  an_unknown_command_is_answered, job_information_begins_with_the_name,
                  a_get_waits_for_the_commit, what_can_not_come_is_not_found_at_once,
                  a_waiting_get_ends_when_its_owner_dies,
                  what_one_client_waits_for_is_bounded,
                  a_damaged_commit_changes_nothing, a_fence_ends_when_the_last_has_come,
                  a_fence_ends_with_an_error_when_one_dies,
                  a_fence_of_others_is_refused,
                  events_reach_those_who_asked_and_not_their_source,
                  an_event_is_replayed_once_to_who_asks_later,
                  finalize_is_answered_and_the_rank_may_come_back,
                  deregistering_a_namespace_ends_what_waits_for_it)
