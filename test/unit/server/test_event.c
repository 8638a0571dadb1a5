/* SPDX-License-Identifier: BSD-3-Clause */
/* Events between clients: who is told, who is not, what is kept for those who come later. */
#include "fake_host.h"
#include "px_test.h"
#include "raw.h"

#include <limits.h>
#include <string.h>

#define CODE        (-777)
#define SYSTEM_CODE (PMIX_EVENT_SYS_BASE - 1)

static void setup(void)
{
    raw_server_start(&host_module, 3);
}

static pmix_status_t want(int fd, const pmix_status_t *codes, size_t n,
                          const px_infos *infos)
{
    px_writer w;

    raw_begin(&w, PX_OP_REGEVENTS);
    px_pack_size(&w, n);
    if (n)
        px_pack(&w, codes, (int32_t)n, PMIX_STATUS);
    px_pack_infos(&w, infos ? infos->v : NULL, infos ? infos->n : 0);
    return raw_request(fd, &w, NULL);
}

static void want_no_more(int fd, pmix_status_t code)
{
    px_writer w;

    raw_begin(&w, PX_OP_DEREGEVENTS);
    px_pack_status(&w, code);
    raw_send(fd, 900, &w); /* not answered */
}

static pmix_status_t tell(int fd, pmix_status_t code, pmix_data_range_t range,
                          const px_infos *infos)
{
    px_writer w;

    raw_begin(&w, PX_OP_NOTIFY);
    px_pack_status(&w, code);
    px_pack_u8(&w, range, PMIX_DATA_RANGE);
    px_pack_infos(&w, infos->v, infos->n);
    return raw_request(fd, &w, NULL);
}

/* ---- registrations ------------------------------------------------------------------------------ */

PX_TEST(default_handlers_are_told_everything_until_they_go)
{
    int source = raw_client(0), fd = raw_client(1);

    for (int i = 0; i < 2; i++) { /* both numbers mean them */
        ok(want(fd, NULL, 0, NULL));
        ok(raw_notify(source, CODE, PMIX_RANGE_NAMESPACE));
        ck_assert_int_eq(raw_next_event(fd), CODE);
        want_no_more(fd, i ? INT_MAX : INT_MIN);
        ck_assert(raw_quiet(fd));
        ok(raw_notify(source, CODE, PMIX_RANGE_NAMESPACE));
        ck_assert(raw_quiet(fd));
    }
}

PX_TEST(one_code_of_several_may_be_given_up)
{
    static const pmix_status_t codes[] = {CODE, CODE - 1};
    int source = raw_client(0), fd = raw_client(1);

    ok(want(fd, codes, 2, NULL));
    want_no_more(fd, CODE);
    ck_assert(raw_quiet(fd));
    ok(raw_notify(source, CODE, PMIX_RANGE_NAMESPACE));
    ck_assert(raw_quiet(fd));
    ok(raw_notify(source, CODE - 1, PMIX_RANGE_NAMESPACE));
    ck_assert_int_eq(raw_next_event(fd), CODE - 1);
    want_no_more(fd, CODE - 1);
    want_no_more(fd, CODE - 1);
    ck_assert(raw_quiet(fd));
}

PX_TEST(who_names_affected_processes_hears_of_those_only)
{
    int source = raw_client(0), fd = raw_client(1);
    pmix_status_t code = CODE;
    pmix_proc_t p;

    for (pmix_rank_t r = 2; r > 0; r--) {
        PX_AUTO(px_infos) infos = {0};

        px_proc_set(&p, "job", r);
        ok(px_infos_add(&infos, PMIX_EVENT_AFFECTED_PROC, &p, PMIX_PROC));
        if (r == 2)
            ok(want(fd, &code, 1, &infos));
        ok(tell(source, CODE, PMIX_RANGE_NAMESPACE, &infos));
        if (r == 2)
            ck_assert_int_eq(raw_next_event(fd), CODE);
        else
            ck_assert(raw_quiet(fd));
    }
}

PX_TEST(registrations_have_limits)
{
    int fd = raw_client(0);
    pmix_status_t code = CODE, rc = PMIX_SUCCESS;
    px_writer w;
    int n = 0;

    raw_begin(&w, PX_OP_REGEVENTS);
    px_pack_size(&w, (size_t)1 << 33);
    ck_assert_int_lt(raw_request(fd, &w, NULL), 0);
    for (; !rc && n < 100000; n++)
        rc = want(fd, &code, 1, NULL);
    ck_assert_int_eq(rc, PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_int_gt(n, 1000);
    want_no_more(fd, CODE); /* all of them */
    ok(want(fd, &code, 1, NULL));
}

PX_TEST(events_reach_those_who_asked_and_not_their_source)
{
    int source = raw_client(0), asked = raw_client(1), other = raw_client(2);

    ok(raw_want_event(source, -777));
    ok(raw_want_event(asked, -777));
    ok(raw_want_event(other, -778));
    ok(raw_notify(source, -777, PMIX_RANGE_NAMESPACE));

    ck_assert_int_eq(raw_next_event(asked), -777);
    ck_assert(raw_quiet(other));
    ck_assert(raw_quiet(source));
}

PX_TEST(an_event_is_replayed_once_to_who_asks_later)
{
    int source = raw_client(0), late = raw_client(1);

    ok(raw_notify(source, -779, PMIX_RANGE_NAMESPACE));
    ok(raw_want_event(late, -779));
    ck_assert_int_eq(raw_next_event(late), -779);

    ok(raw_want_event(late, -779));
    ck_assert(raw_quiet(late));
}

/* ---- whom it reaches ----------------------------------------------------------------------------- */

PX_TEST(a_range_that_does_not_exist_is_refused)
{
    int source = raw_client(0), fd = raw_client(1);

    ok(want(fd, NULL, 0, NULL));
    ck_assert_int_eq(raw_notify(source, CODE, PMIX_RANGE_PROC_LOCAL + 1),
                     PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(raw_notify(source, CODE, 200), PMIX_ERR_BAD_PARAM);
    ck_assert(raw_quiet(fd));
}

PX_TEST(a_custom_range_reaches_exactly_those_named)
{
    PX_AUTO(px_infos) infos = {0};
    int source = raw_client(0), in = raw_client(1), out = raw_client(2);
    pmix_proc_t p = raw_proc("job", 1);

    ok(px_infos_add(&infos, PMIX_EVENT_CUSTOM_RANGE, &p, PMIX_PROC));
    ok(want(in, NULL, 0, NULL));
    ok(want(out, NULL, 0, NULL));
    ok(tell(source, CODE, PMIX_RANGE_CUSTOM, &infos));
    ck_assert_int_eq(raw_next_event(in), CODE);
    ck_assert(raw_quiet(out));
}

PX_TEST(events_of_one_user_do_not_reach_another)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    raw_add_job("theirs", 2, 0, 4711);
    int ours = raw_client(0), theirs = raw_client_as(4711, "theirs", 0);
    int kin = raw_client_as(4711, "theirs", 1);

    ok(want(ours, NULL, 0, NULL));
    ok(want(theirs, NULL, 0, NULL));
    ok(raw_notify(kin, CODE, PMIX_RANGE_GLOBAL));
    ck_assert_int_eq(raw_next_event(theirs), CODE);
    ck_assert(raw_quiet(ours));
    ok(raw_want_event(ours, CODE)); /* nor later */
    ck_assert(raw_quiet(ours));
    ok(raw_notify(ours, CODE - 1, PMIX_RANGE_LOCAL));
    ck_assert_int_eq(raw_next_event(theirs), CODE - 1); /* root's does */
}

PX_TEST(who_has_finalized_is_told_no_more)
{
    int source = raw_client(0), fd = raw_client(1);

    ok(want(fd, NULL, 0, NULL));
    ok(raw_finalize(fd));
    ok(raw_notify(source, CODE, PMIX_RANGE_NAMESPACE));
    raw_server_stop();
    ck_assert(raw_closed(fd));
}

/* ---- the host ------------------------------------------------------------------------------------- */

PX_TEST(the_host_is_told_what_must_leave_the_node_with_a_mark)
{
    PX_AUTO(px_infos) none = {0}, stays = {0};
    int source = raw_client(1);

    ok(px_infos_add(&stays, PMIX_EVENT_STAYS_LOCAL, NULL, PMIX_BOOL));
    ok(tell(source, CODE, PMIX_RANGE_LOCAL, &none));
    ok(tell(source, CODE, PMIX_RANGE_PROC_LOCAL, &none));
    ok(tell(source, CODE, PMIX_RANGE_GLOBAL, &stays));
    ck_assert_uint_eq(host_calls("notify_event"), 0);

    host.how = HOST_THREAD;
    host.status = PMIX_ERR_NOT_SUPPORTED;
    ck_assert_int_eq(tell(source, CODE, PMIX_RANGE_GLOBAL, &none),
                     PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(host.code, CODE);
    ck_assert_uint_eq(host.n_keys, PMIX_RANGE_GLOBAL);
    ck_assert_uint_eq(host.proc.rank, 1);
    ck_assert(px_info_flag(host.given.v, host.given.n, "pmix.srvr.internal.notify"));
}

PX_TEST(the_host_learns_of_interest_in_system_events_only)
{
    static const pmix_status_t codes[] = {CODE, SYSTEM_CODE};
    int fd = raw_client(0);

    ok(want(fd, codes, 1, NULL));
    ck_assert_uint_eq(host_calls("register_events"), 0);
    ok(want(fd, codes, 2, NULL));
    ck_assert_uint_eq(host_calls("register_events"), 1);
    ck_assert_uint_eq(host.n_keys, 1);
    ck_assert_int_eq(host.code, SYSTEM_CODE);

    host.status = PMIX_ERR_NOT_SUPPORTED; /* is no obstacle */
    ok(want(fd, codes, 2, NULL));
    host.status = PMIX_ERR_NO_PERMISSIONS;
    ck_assert_int_eq(want(fd, codes, 2, NULL), PMIX_ERR_NO_PERMISSIONS);
}

/* As request 901, which the host holds. */
static void want_held(int fd, pmix_status_t code)
{
    px_writer w;

    host.how = HOST_HELD;
    raw_begin(&w, PX_OP_REGEVENTS);
    px_pack_size(&w, 1);
    px_pack_status(&w, code);
    px_pack_infos(&w, NULL, 0);
    raw_send(fd, 901, &w);
    host_await("register_events", 1);
}

PX_TEST(old_news_come_after_the_host_has_answered)
{
    int source = raw_client(0), fd = raw_client(1);
    pmix_status_t code = SYSTEM_CODE;

    ok(raw_notify(source, code, PMIX_RANGE_LOCAL));
    want_held(fd, code);
    ck_assert(raw_quiet(fd));
    ck_assert(host_answer(PMIX_SUCCESS));

    ok(raw_status(fd, 901));
    ck_assert_int_eq(raw_next_event(fd), code);
}

PX_TEST(who_gives_up_while_the_host_is_asked_gets_no_old_news)
{
    int source = raw_client(0), fd = raw_client(1);
    pmix_status_t code = SYSTEM_CODE;

    ok(raw_notify(source, code, PMIX_RANGE_LOCAL));
    want_held(fd, code);
    want_no_more(fd, code);
    ck_assert(raw_quiet(fd));
    ck_assert(host_answer(PMIX_SUCCESS));
    ok(raw_status(fd, 901));
    ck_assert(raw_quiet(fd));
}

/* ---- what is kept --------------------------------------------------------------------------------- */

PX_TEST(only_so_many_events_are_kept_and_some_not_at_all)
{
    PX_AUTO(px_infos) secret = {0};
    int source = raw_client(0), fd = raw_client(1);

    ok(px_infos_add(&secret, PMIX_EVENT_DO_NOT_CACHE, NULL, PMIX_BOOL));
    ok(tell(source, CODE, PMIX_RANGE_LOCAL, &secret));
    ok(raw_notify(source, CODE - 1, PMIX_RANGE_LOCAL));
    for (int i = 0; i < 300; i++)
        ok(raw_notify(source, CODE - 2, PMIX_RANGE_LOCAL));
    ok(raw_want_event(fd, CODE));
    ck_assert(raw_quiet(fd));
    ok(raw_want_event(fd, CODE - 1));
    ck_assert(raw_quiet(fd));
    ok(raw_want_event(fd, CODE - 2));
    for (int i = 0; i < 256; i++)
        ck_assert_int_eq(raw_next_event(fd), CODE - 2);
    ck_assert(raw_quiet(fd));
}

PX_TEST(an_event_of_the_server_itself_reaches_its_clients)
{
    int fd = raw_client(0);

    ok(raw_want_event(fd, CODE));
    ok(PMIx_Notify_event(CODE, NULL, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL));
    ck_assert_int_eq(raw_next_event(fd), CODE);
}

PX_TEST_MAIN("server/event", setup, host_end)
