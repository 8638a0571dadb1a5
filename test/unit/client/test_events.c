/* SPDX-License-Identifier: BSD-3-Clause */
/* Events between a client and its server: requested codes, calls of handlers, sent events. */
#include "alloc_fail.h"

#include "core/client/client.h"
#include "core/wire/frame.h"
#include "fake_server.h"
#include "px_test.h"
#include "seccomp.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CODE (-701)
static pmix_status_t one_code = CODE;

static sem_t called, updated;
static pmix_status_t last_code;
static px_infos last_infos;
static pmix_proc_t last_source;

/* Last change of the codes that the client wants: "+ -701", "-default". */
static char update[128];

static bool take_codes(int fd, struct fake_req *req)
{
    pmix_status_t codes[8];
    bool gone = req->op == PX_OP_DEREGEVENTS;
    size_t n = 0;

    if (req->op != PX_OP_REGEVENTS && !gone)
        return false;
    if (gone) {
        for (; !px_reader_done(&req->in); n++)
            ok(px_unpack_status(&req->in, &codes[n]));
    } else {
        n = fake.received.n_codes;
        if (n > 0)
            memcpy(codes, fake.received.codes, n * sizeof(*codes));
        fake_status(fd, req->tag, PMIX_SUCCESS);
    }
    strcpy(update, gone ? "-" : n ? "+" : "+default");
    for (size_t i = 0; i < n; i++)
        sprintf(update + strlen(update), codes[i] == INT_MIN ? "default" : " %d",
                codes[i]);
    sem_post(&updated);
    return true;
}

static const char *next_update(void)
{
    sem_wait(&updated);
    return update;
}

static void start(bool (*hook)(int fd, struct fake_req *req))
{
    sem_init(&called, 0, 0);
    sem_init(&updated, 0, 0);
    client_of_hook(hook);
}

static void stop(void)
{
    client_end();
    px_infos_cleanup(&last_infos);
}

PX_TEST_HANDLER(handler)
{
    last_code = code;
    last_source = *source;
    px_infos_cleanup(&last_infos);
    ok(px_infos_add_copy(&last_infos, info, n));
    cb(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
    sem_post(&called);
}

static size_t reg(pmix_status_t *codes, size_t n, const char *yes)
{
    pmix_info_t info = yes ? flag(yes) : (pmix_info_t){0};
    int id = PMIx_Register_event_handler(codes, n, yes ? &info : NULL, yes ? 1 : 0,
                                         handler, NULL, NULL);
    ck_assert_int_ge(id, 0);
    return (size_t)id;
}

static void dereg(size_t id)
{
    ok(PMIx_Deregister_event_handler(id, NULL, NULL));
}

PX_TEST(the_server_learns_of_the_first_and_the_last_handler_of_a_code)
{
    pmix_status_t both[] = {CODE, CODE - 1, CODE - 1}; /* repeated */
    size_t one, two, three, all;

    start(take_codes);
    one = reg(both, 1, NULL);
    ck_assert_str_eq(next_update(), "+ -701");
    two = reg(both, 3, NULL);
    ck_assert_str_eq(next_update(), "+ -702");
    three = reg(both, 2, NULL); /* sends nothing */
    all = reg(NULL, 0, NULL);
    ck_assert_str_eq(next_update(), "+default");
    dereg(two);
    dereg(one);
    dereg(three);
    ck_assert_str_eq(next_update(), "- -702 -701");
    dereg(all);
    ck_assert_str_eq(next_update(), "-default");
}

/* ---- the first handler ----------------------------------------------------------- */

static atomic_int n_changes, n_wakes; /* of epoll sets; of threads, by an eventfd */
static size_t n_threads;              /* before the registration, as names in /proc */

PX_EXPORT int epoll_ctl(int ep, int op, int fd, struct epoll_event *event)
{
    n_changes++;
    return (int)syscall(SYS_epoll_ctl, ep, op, fd, event);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    n_wakes += n == sizeof(uint64_t);
    return syscall(SYS_write, fd, bytes, n);
}

static size_t count_threads(void)
{
    return px_test_count_names("/proc/self/task");
}

static bool answer_codes_to_a_thread(int fd, struct fake_req *req)
{
    while (req->op == PX_OP_REGEVENTS && count_threads() == n_threads)
        sched_yield();
    return take_codes(fd, req);
}

/* The changes fill both epoll sets, and let the thread sleep on the connection. */
PX_TEST(the_first_handler_starts_a_thread_while_the_server_works_and_does_not_wake_it)
{
    PX_TEST_NEEDS_PROC;
    start(answer_codes_to_a_thread);
    n_threads = count_threads();
    n_changes = n_wakes = 0;
    reg(&one_code, 1, NULL);
    ck_assert_uint_eq(count_threads(), n_threads + 1);
    ck_assert_int_le(n_changes, 4);
    ck_assert_int_eq(n_wakes, 0);
}

PX_TEST(without_a_thread_a_registration_fails_and_the_server_forgets_it)
{
    PX_TEST_NEEDS_ALLOC; /* the leak checker needs a thread */
    start(take_codes);
    PX_TEST_NEEDS(px_test_deny(SYS_clone3, EAGAIN) && px_test_deny(SYS_clone, EAGAIN),
                  "seccomp");
    fails(PMIx_Register_event_handler(&one_code, 1, NULL, 0, handler, NULL, NULL),
          OUT_OF_RESOURCE);
    (void)next_update();
    ck_assert_str_eq(next_update(), "- -701");
}

static bool answer_codes_then_notify(int fd, struct fake_req *req)
{
    PX_AUTO(px_infos) infos = {0};
    bool handled = take_codes(fd, req);

    if (req->op == PX_OP_COMMIT) { /* a commit makes the server send the event */
        ok(px_infos_add(&infos, "pmix.srvr.internal.notify", NULL, PMIX_BOOL));
        ok(px_infos_add(&infos, "detail", "x", PMIX_STRING));
        fake_event(fd, CODE, &infos);
    }
    return handled;
}

PX_TEST(an_event_reaches_its_handler_without_the_servers_internal_key)
{
    start(answer_codes_then_notify);
    ok(PMIx_Commit()); /* the event waits for a handler */
    reg(&one_code, 1, NULL);
    sem_wait(&called);
    ck_assert_int_eq(last_code, CODE);
    ok(PMIx_Commit());
    sem_wait(&called);
    ck_assert_int_eq(last_code, CODE);
    ck_assert_uint_eq(last_source.rank, 1);
    ck_assert_ptr_nonnull(px_info_find(last_infos.v, last_infos.n, "detail"));
    ck_assert_ptr_null(
        px_info_find(last_infos.v, last_infos.n, "pmix.srvr.internal.notify"));
}

PX_TEST(a_oneshot_handler_is_deregistered_at_the_server_too)
{
    start(answer_codes_then_notify);
    size_t id = reg(&one_code, 1, PMIX_EVENT_ONESHOT);
    ck_assert_str_eq(next_update(), "+ -701");
    ok(PMIx_Commit());
    sem_wait(&called);
    ck_assert_str_eq(next_update(), "- -701");
    fails(PMIx_Deregister_event_handler(id, NULL, NULL), NOT_FOUND);
    reg(&one_code, 1, NULL);
    ck_assert_str_eq(next_update(), "+ -701");
}

/* ---- a burst --------------------------------------------------------------------- */

enum { N_BURST = 100 };

static atomic_uint n_reads, n_in_order, n_allocs;

/* Replaces and counts the C library's recvmsg, which clients use for their connections. */
ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
    n_reads++;
    return syscall(SYS_recvmsg, fd, msg, flags);
}

PX_TEST_HANDLER(in_order)
{
    n_in_order += code == CODE - (int)n_in_order;
    cb(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
    if (code == CODE - (N_BURST - 1)) {
        n_allocs = px_alloc_count();
        px_alloc_fail_end();
        sem_post(&called);
    }
}

/* Sends all events in one write, before the reply to the commit. */
static bool answer_codes_then_burst(int fd, struct fake_req *req)
{
    PX_AUTO(px_buf) burst = {0};
    const pmix_proc_t source = rank(1);
    uint8_t header[PX_FRAME_HEADER_B];

    for (int i = 0; i < N_BURST && req->op == PX_OP_COMMIT; i++) {
        px_writer w = fake_begin();

        px_pack_op(&w, PX_OP_NOTIFY);
        px_pack_status(&w, CODE - i);
        px_pack(&w, &source, 1, PMIX_PROC);
        px_pack_infos(&w, NULL, 0);
        px_frame_encode(header, &(struct px_frame){.tag = PX_TAG_NOTIFY,
                                                   .nbytes = (uint32_t)w.buf.len});
        ok(px_buf_add(&burst, header, sizeof(header)));
        ok(px_buf_add(&burst, w.buf.data, w.buf.len));
        px_writer_cleanup(&w);
    }
    n_reads = 0;
    px_alloc_fail_at(0);
    if (burst.len)
        fake_answer_with(fd, burst.data, burst.len);
    return take_codes(fd, req);
}

/* One allocation is for the event, one for its decoded source. */
PX_TEST(a_burst_is_read_at_once_with_two_allocations_for_an_event)
{
    start(answer_codes_then_burst);
    ck_assert_int_ge(
        PMIx_Register_event_handler(NULL, 0, NULL, 0, in_order, NULL, NULL), 0);
    ok(PMIx_Commit());
    sem_wait(&called);
    ck_assert_uint_eq(n_in_order, N_BURST);
    ck_assert_uint_le(n_reads, 2); /* the second for the reply */
    if (px_alloc_can_fail())
        ck_assert_uint_le(n_allocs, 2 * N_BURST + 20);
}

static const char *damaged;
static size_t n_damaged;

static bool send_damaged(int fd, struct fake_req *req)
{
    if (req->op == PX_OP_COMMIT)
        fake_raw(fd, PX_TAG_NOTIFY, damaged, n_damaged);
    return take_codes(fd, req);
}

PX_TEST(a_damaged_event_is_dropped_and_nothing_else)
{
    static const struct {
        const char *bytes;
        size_t n;
    } rows[] = {
        {"", 0},
        {"\x02\x0d", 2},                                  /* another command */
        {"\x02\x0c\x02\x0d\x02", 5},                      /* no source */
        {"\x02\x0c\x02\x0d\x02\x02\x00\x00\x02\xff", 10}, /* a truncated count */
    };

    start(send_damaged);
    reg(NULL, 0, NULL);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        damaged = rows[i].bytes;
        n_damaged = rows[i].n;
        ok(PMIx_Commit());
    }
    ck_assert_int_eq(sem_trywait(&called), -1);
}

PX_TEST(an_own_event_goes_to_own_handlers_and_to_the_server)
{
    start(take_codes);
    pmix_info_t required;
    int n_refused = 0;

    fake.answer = PMIX_ERR_NO_PERMISSIONS;
    reg(NULL, 0, NULL);
    PMIX_INFO_LOAD(&required, "test.required", NULL, PMIX_BOOL);
    PMIX_INFO_REQUIRED(&required);
    fails(PMIx_Notify_event(CODE, NULL, PMIX_RANGE_GLOBAL, &required, 1, NULL, NULL),
          NO_PERMISSIONS);
    ck_assert_int_eq(fake.received.code, CODE);
    ck_assert_uint_eq(fake.received.directive, PMIX_RANGE_GLOBAL);
    sem_wait(&called);
    for (int i = 0; i < 64; i++) { /* one call waits for the reply */
        n_refused += PMIx_Notify_event(CODE, NULL, PMIX_RANGE_GLOBAL, NULL, 0, NULL,
                                       NULL) < 0;
        sem_wait(&called);
    }
    ck_assert_int_eq(n_refused, 1);
    ok(PMIx_Notify_event(CODE, NULL, PMIX_RANGE_PROC_LOCAL, NULL, 0, NULL, NULL));
    sem_wait(&called);
    fails(PMIx_Notify_event(CODE, NULL, PMIX_RANGE_RM, NULL, 0, NULL, NULL),
          NO_PERMISSIONS);
    ck_assert_int_eq(sem_trywait(&called), -1);
    ck_assert_uint_eq(fake.n_ops[PX_OP_NOTIFY], 66);
}

PX_TEST_HANDLER(without_memory)
{
    cb(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
    sem_post(&called);
}

/* Each allocation of a call without a callback fails in turn. */
PX_TEST(an_event_without_memory_is_refused)
{
    unsigned n_refused = 0;

    PX_TEST_NEEDS_ALLOC;
    start(take_codes);
    ck_assert_int_ge(
        PMIx_Register_event_handler(NULL, 0, NULL, 0, without_memory, NULL, NULL), 0);
    for (unsigned nth = 0; px_alloc_next(&nth);) {
        pmix_status_t rc = PMIx_Notify_event(CODE, NULL, PMIX_RANGE_PROC_LOCAL, NULL, 0,
                                             NULL, NULL);
        bool failed = px_alloc_fail_end();

        ck_assert(rc == PMIX_SUCCESS || (failed && rc == PMIX_ERR_NOMEM));
        n_refused += rc != PMIX_SUCCESS;
        if (!rc)
            sem_wait(&called);
    }
    ck_assert_uint_gt(n_refused, 1);
}

PX_TEST_MAIN("client/events", NULL, stop)
