/* SPDX-License-Identifier: BSD-3-Clause */
/* The only writable global: its lock, its handling of forks, and the entries to its
 * loop. */
#include "core/rt/process.h"

#include "core/os/os.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>

enum {
    PID_CHANGING = -1,
    MOST_SPENT = 16, /* each thread may exceed this number by one */
};

struct px_process px_process = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .topology.lock = PTHREAD_MUTEX_INITIALIZER,
    .log_level = PX_LOG_WARN,
};

/* ---- fork ------------------------------------------------------------------------ */

/* Makes a page that the kernel clears in a forked child. So px_process_is_mine needs no
 * system call. The page stays until the process ends, because any thread may read
 * it. */
static void put_stamp(void)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);

    if (!px_process.stamp) {
        void *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (page == MAP_FAILED)
            return;
        if (!px_os_wipe_on_fork(page, size)) {
            munmap(page, size);
            return;
        }
        px_process.stamp = page;
    }
    atomic_store(px_process.stamp, 1);
}

bool px_process_is_mine(void)
{
    if (px_process.stamp)
        return atomic_load_explicit(px_process.stamp, memory_order_relaxed);
    return atomic_load(&px_process.pid) == getpid();
}

/* Resets the state in a forked child. The parent's machine has no thread here and may
 * be in the middle of a change. None of it can be used or freed. It stays reachable,
 * and inherited sockets stay open. */
static void leave_parent_behind(void)
{
    struct px_process *left = aligned_alloc(_Alignof(struct px_process), sizeof(*left));

    if (left)
        memcpy(left, &px_process, sizeof(*left));
    if (px_process.loop)
        px_loop_abandon(px_process.loop);
    atomic_store(&px_process.open, false);
    atomic_store(&px_process.log_level, PX_LOG_WARN);
    memset((char *)&px_process + offsetof(struct px_process, users), 0,
           sizeof(px_process) - offsetof(struct px_process, users));
    px_process.topology.handle = NULL;
    px_process.parents = left;
    pthread_mutex_init(&px_process.topology.lock, NULL);
    pthread_mutex_init(&px_process.lock, NULL);
}

/* Detects a fork. pthread_atfork is unsuitable: its handlers stay when the library is
 * unloaded, and slow down every fork of the host. */
static void notice_fork(void)
{
    pid_t me = getpid();
    pid_t was = atomic_load(&px_process.pid);

    while (was != me) {
        if (was == PID_CHANGING) {
            sched_yield();
            was = atomic_load(&px_process.pid);
        } else if (atomic_compare_exchange_weak(&px_process.pid, &was, PID_CHANGING)) {
            if (was)
                leave_parent_behind();
            put_stamp();
            atomic_store(&px_process.pid, me);
            return;
        }
    }
}

void px_process_lock(void)
{
    notice_fork();
    pthread_mutex_lock(&px_process.lock);
}

bool px_process_trylock(void)
{
    notice_fork();
    return pthread_mutex_trylock(&px_process.lock) == 0;
}

void px_process_unlock(void)
{
    pthread_mutex_unlock(&px_process.lock);
}

/* ---- memory of messages ---------------------------------------------------------- */

static void free_spent(void)
{
    struct px_msg *msg = atomic_exchange_explicit(&px_process.spent, NULL,
                                                  memory_order_acquire);

    while (msg) {
        struct px_msg *next = msg->next;

        free(msg);
        atomic_fetch_sub_explicit(&px_process.n_spent, 1, memory_order_relaxed);
        msg = next;
    }
}

void *px_process_alloc_msg(size_t size)
{
    if (atomic_load_explicit(&px_process.spent, memory_order_relaxed))
        free_spent();
    return malloc(size);
}

void px_process_free_msg(void *arg)
{
    struct px_msg *msg = arg;
    struct px_msg *newest = atomic_load_explicit(&px_process.spent,
                                                 memory_order_relaxed);

    if (atomic_load_explicit(&px_process.n_spent, memory_order_relaxed) >= MOST_SPENT) {
        free(msg);
        return;
    }
    atomic_fetch_add_explicit(&px_process.n_spent, 1, memory_order_relaxed);
    do {
        msg->next = newest;
    } while (!atomic_compare_exchange_weak_explicit(
        &px_process.spent, &newest, msg, memory_order_release, memory_order_relaxed));
}

/* ---- loop ------------------------------------------------------------------------ */

pmix_status_t px_process_start_loop(enum px_progress progress, struct event_base *base)
{
    pmix_status_t rc = px_loop_create(progress, base, &px_process.loop);
    if (!rc)
        atomic_store(&px_process.open, true);
    return rc;
}

/* Destroys the loop after pending posts, which hold the loop. */
void px_process_end_loop(void)
{
    atomic_store(&px_process.open, false);
    while (atomic_load(&px_process.posters))
        sched_yield();
    px_loop_destroy(px_process.loop);
    px_process.loop = NULL;
    free_spent();
}

/* ---- entry from other threads ---------------------------------------------------- */

bool px_process_on_loop(void)
{
    return px_loop_is_current(px_process.loop) && px_process_is_mine();
}

bool px_process_post(struct px_msg *msg)
{
    bool open;

    atomic_fetch_add(&px_process.posters, 1);
    open = atomic_load(&px_process.open);
    if (open) {
        /* The message may start work that ends at any time. */
        (void)px_loop_need_thread(px_process.loop);
        px_post(px_process.loop, msg);
    }
    atomic_fetch_sub(&px_process.posters, 1);
    return open;
}

pmix_status_t px_process_call(px_call_fn fn, void *args)
{
    struct px_loop *loop = NULL;
    pmix_status_t rc;

    atomic_fetch_add(&px_process.posters, 1);
    if (atomic_load(&px_process.open))
        loop = px_process.loop;
    if (loop)
        px_loop_hold(loop);
    atomic_fetch_sub(&px_process.posters, 1);
    if (!loop)
        return PMIX_ERR_INIT;
    rc = px_call(loop, fn, args);
    px_loop_let_go(loop);
    return rc;
}
