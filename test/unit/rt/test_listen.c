/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that wait on a word of another process: each way in which a wait may end, and
 * its system calls. */
#include "core/rt/loop.h"
#include "rt_test.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static atomic_int n_calls; /* calls of these three functions */

PX_EXPORT int epoll_ctl(int ep, int op, int fd, struct epoll_event *event)
{
    atomic_fetch_add(&n_calls, 1);
    return (int)syscall(SYS_epoll_ctl, ep, op, fd, event);
}

PX_EXPORT int epoll_wait(int ep, struct epoll_event *events, int n, int ms)
{
    atomic_fetch_add(&n_calls, 1);
    return (int)syscall(SYS_epoll_pwait, ep, events, n, ms, NULL, 0);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    atomic_fetch_add(&n_calls, 1);
    return syscall(SYS_write, fd, bytes, n);
}

enum ending {
    RINGS,           /* the word changes */
    RINGS_BEFORE,    /* the word changes before the call sleeps */
    RINGS_FALSELY,   /* first an unrelated change of the word */
    RINGS_UNDER_ONE, /* the word changes while another thread runs the loop as a guest */
    WRITES,          /* the loop's own thread sees data in the pipe */
    WRITES_ALONE,    /* the calling thread sees them, without a loop thread */
    GOES,            /* the word's memory is unmapped before the pipe is written to */
    N_ENDINGS,
};

enum { BY_WORD = 7, BY_PIPE, OTHER };

static struct {
    enum ending ending;
    struct px_loop *loop;
    _Atomic uint32_t *word;
    int ends[2];
    struct px_call *call, *other;
    struct px_watch *watch; /* watch of the pipe; NULL: none */
    pthread_t watcher;
    atomic_int n_begun, n_notified;
    bool watches, listens;
} ear;

static void ring(uint32_t value)
{
    atomic_store(ear.word, value);
    syscall(SYS_futex, ear.word, FUTEX_WAKE, 100, NULL, NULL, 0);
}

static void end(pmix_status_t status)
{
    px_watch_free(ear.watch);
    px_call_done(ear.call, status);
}

static void on_ring(struct px_call *call, void *args PX_UNUSED)
{
    atomic_fetch_add(&ear.n_notified, 1);
    if (ear.ending >= WRITES)
        return;
    if (atomic_load(ear.word) == 2)
        end(BY_WORD);
    else
        ck_assert(px_call_listen(call, ear.word, atomic_load(ear.word), on_ring));
}

static void on_byte(void *arg PX_UNUSED, int fd PX_UNUSED, unsigned events PX_UNUSED)
{
    ear.watcher = pthread_self();
    end(BY_PIPE);
}

static void on_begin(struct px_call *call, void *args PX_UNUSED)
{
    ear.call = call;
    if (ear.watches)
        ear.watch = px_watch_create(ear.loop, ear.ends[0], PX_READABLE, on_byte, NULL);
    ear.listens = px_call_listen(call, ear.word, 0, on_ring);
    if (ear.ending == RINGS_BEFORE)
        ring(2);
    atomic_fetch_add(&ear.n_begun, 1);
}

static void on_other(struct px_call *call, void *args PX_UNUSED)
{
    ear.other = call;
    atomic_fetch_add(&ear.n_begun, 1);
}

static void *wait_for(void *fn)
{
    return (void *)(intptr_t)px_call(ear.loop, *(px_call_fn *)fn, NULL);
}

static pthread_t start(px_call_fn *fn)
{
    int before = atomic_load(&ear.n_begun);
    pthread_t thread;

    ok(pthread_create(&thread, NULL, wait_for, fn));
    while (atomic_load(&ear.n_begun) == before)
        sched_yield();
    return thread;
}

static int join(pthread_t thread)
{
    void *result;

    pthread_join(thread, &result);
    return (int)(intptr_t)result;
}

static void do_end_other(void *arg PX_UNUSED)
{
    px_call_done(ear.other, OTHER);
}

static void prepare(enum ending ending, bool watches)
{
    ear.ending = ending;
    ear.watches = watches;
    ear.word = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(ear.word, MAP_FAILED);
    ok(pipe(ear.ends));
    ok(px_loop_create(PX_PROGRESS_LAZY, NULL, &ear.loop));
    if (ending != WRITES_ALONE)
        ok(px_loop_need_thread(ear.loop));
}

/* Starts a call that listens. The loop's own thread has the first turn, during which a
 * call cannot listen. */
static pthread_t start_listening(void)
{
    static px_call_fn begin = on_begin;

    px_loop_let_guests(ear.loop, true);
    for (int n = 0; !ear.listens; n++) {
        pthread_t caller = start(&begin);

        if (ear.listens)
            return caller;
        ck_assert_int_lt(n, 1000);
        ck_assert_int_eq(write(ear.ends[1], "", 1), 1);
        (void)join(caller);
        ck_assert_int_eq(read(ear.ends[0], &(char){0}, 1), 1);
    }
    ck_abort();
    return 0;
}

PX_TEST_LOOP(a_call_that_listens_ends_by_the_word_or_by_what_comes, N_ENDINGS)
{
    static px_call_fn begin_other = on_other;
    pthread_t caller, second = 0;

    prepare((enum ending)_i, true);
    caller = start_listening();
    if (_i == RINGS_UNDER_ONE)
        second = start(&begin_other);
    if (_i == RINGS_FALSELY)
        for (ring(1); !atomic_load(&ear.n_notified);)
            sched_yield();
    if (_i == GOES)
        munmap(ear.word, (size_t)sysconf(_SC_PAGESIZE));
    if (_i < WRITES)
        ring(2);
    else
        ck_assert_int_eq(write(ear.ends[1], "", 1), 1);
    ck_assert_int_eq(join(caller), _i < WRITES ? BY_WORD : BY_PIPE);
    if (_i == WRITES)
        ck_assert(!pthread_equal(ear.watcher, caller));
    if (_i == RINGS_UNDER_ONE) {
        rt_on_loop(ear.loop, do_end_other, NULL);
        ck_assert_int_eq(join(second), OTHER);
    }
    px_loop_destroy(ear.loop);
}

/* No system call on a descriptor is made; also without a thread of the loop. */
PX_TEST(a_call_that_listens_leaves_descriptors_alone)
{
    prepare(RINGS_BEFORE, false);
    px_loop_destroy(ear.loop);
    ok(px_loop_create(PX_PROGRESS_LAZY, NULL, &ear.loop));
    for (int i = 0; i < 3; i++) {
        *ear.word = 0;
        atomic_store(&n_calls, 0);
        ck_assert_int_eq(px_call(ear.loop, on_begin, NULL), BY_WORD);
        ck_assert(ear.listens);
        ck_assert_int_eq(atomic_load(&n_calls), 0);
    }
    px_loop_destroy(ear.loop);
}

/* With external progress the call waits on descriptors as usual. */
PX_TEST(with_external_progress_no_call_listens)
{
    prepare(WRITES, true);
    px_loop_destroy(ear.loop);
    ear.loop = rt_loop(true);
    ck_assert_int_eq(write(ear.ends[1], "", 1), 1);
    ck_assert_int_eq(px_call(ear.loop, on_begin, NULL), BY_PIPE);
    ck_assert(!ear.listens);
    px_loop_destroy(ear.loop);
}

PX_TEST_MAIN("rt/listen", NULL, NULL)
