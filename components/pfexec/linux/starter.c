/* SPDX-License-Identifier: BSD-3-Clause */
/* A starter is a thread that calls clone with CLONE_VM and CLONE_VFORK, as posix_spawn
 * does: the kernel suspends this thread alone until the child runs its program or has
 * ended. Meanwhile the child has the thread's local data, such as errno, and a part of
 * the thread's stack. The loop's thread waits only until the child exists. A child that
 * hangs in a file system holds up one starter, and no other start. The kernel kills the
 * children when the starter ends (PR_SET_PDEATHSIG), so starters live until the end of
 * the component. */
#include "starter.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum {
    MAX_STARTERS = 4, /* children that have not reached exec, beside forked ones */
    CHILD_B = 64 << 10,
    STACK_B = 4 * CHILD_B,
    END_S = 1,
    WITH_PIDFD = 0x1000, /* CLONE_PIDFD */
};

struct starter {
    pthread_t thread;
    sem_t order, born, idle;
    bool ends;
    const struct px_pfexec_plan *plan;
    pid_t pid;
    int pidfd;
    bool is_born; /* the child has set pid */

    /* Members of the callers. */
    bool busy;
    bool released; /* the child has left this memory, so the thread becomes idle */
};

struct px_starters {
    pid_t owner; /* a process that was forked since has none of the threads */
    size_t n;
    struct starter *all[MAX_STARTERS];
};

/* ---- the thread ------------------------------------------------------------------ */

/* Runs in the child. */
static int become(void *arg)
{
    struct starter *s = arg;

    s->pid = getpid();
    s->is_born = true;
    sem_post(&s->born);
    px_pfexec_run_child(s->plan);
}

/* Makes the child, and returns after its exec or end. */
static void start_child(struct starter *s)
{
    _Alignas(64) char stack[CHILD_B];

    s->is_born = false;
    pid_t pid = clone(become, stack + sizeof(stack),
                      CLONE_VM | CLONE_VFORK | WITH_PIDFD, s, &s->pidfd);
    if (!s->is_born) { /* no child, or a child whose memory an emulator has copied */
        s->pid = pid > 0 ? pid : 0;
        sem_post(&s->born);
    }
}

static void await(sem_t *s)
{
    while (sem_wait(s) < 0 && errno == EINTR)
        ;
}

static void *serve(void *arg)
{
    struct starter *s = arg;

    prctl(PR_SET_NAME, "tenon-starter");
    for (;;) {
        await(&s->order);
        if (s->ends)
            return NULL;
        start_child(s);
        sem_post(&s->idle);
    }
}

/* ---- the callers' side ----------------------------------------------------------- */

static void starter_free(struct starter *s)
{
    sem_destroy(&s->order);
    sem_destroy(&s->born);
    sem_destroy(&s->idle);
    free(s);
}

/* Starts a thread that blocks all signals, and so do its children until their exec. */
static struct starter *starter_create(void)
{
    struct starter *s = calloc(1, sizeof(*s));
    pthread_attr_t attr;
    sigset_t all, was;
    int errnum;

    if (!s)
        return NULL;
    sem_init(&s->order, 0, 0);
    sem_init(&s->born, 0, 0);
    sem_init(&s->idle, 0, 0);
    sigfillset(&all);
    errnum = pthread_attr_init(&attr);
    if (!errnum) {
        (void)pthread_attr_setstacksize(&attr, STACK_B);
        pthread_sigmask(SIG_SETMASK, &all, &was);
        errnum = pthread_create(&s->thread, &attr, serve, s);
        pthread_sigmask(SIG_SETMASK, &was, NULL);
        pthread_attr_destroy(&attr);
    }
    if (errnum)
        starter_free(px_take(&s));
    return s;
}

/* Returns a starter that waits for an order, or NULL. A child leaves this memory before
 * the start is reported, so a wait for its starter is short. */
static struct starter *find_idle(struct px_starters *all)
{
    struct starter *s;

    for (size_t i = 0; i < all->n; i++) {
        s = all->all[i];
        if (!s->busy || sem_trywait(&s->idle) == 0)
            return s;
    }
    for (size_t i = 0; i < all->n; i++) {
        s = all->all[i];
        if (s->released) {
            await(&s->idle);
            return s;
        }
    }
    s = all->n < MAX_STARTERS ? starter_create() : NULL;
    if (s)
        all->all[all->n++] = s;
    return s;
}

pid_t px_starters_run(struct px_starters **starters, const struct px_pfexec_plan *plan,
                      int *pidfd)
{
    if (!*starters)
        *starters = calloc(1, sizeof(**starters));
    if (!*starters)
        return 0;
    if ((*starters)->owner != plan->parent)
        **starters = (struct px_starters){.owner = plan->parent};
    struct starter *s = find_idle(*starters);
    if (!s)
        return 0;
    s->plan = plan;
    s->busy = true;
    s->released = false;
    sem_post(&s->order);
    await(&s->born);
    if (s->pid > 0)
        *pidfd = s->pidfd;
    return s->pid;
}

void px_starters_release(struct px_starters *starters,
                         const struct px_pfexec_plan *plan)
{
    for (size_t i = 0; i < starters->n; i++)
        if (starters->all[i]->plan == plan)
            starters->all[i]->released = true;
}

bool px_starters_end(struct px_starters *starters)
{
    bool ended = true;
    struct timespec until;

    if (!starters)
        return true;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += END_S;
    for (size_t i = 0; starters->owner == getpid() && i < starters->n; i++) {
        struct starter *s = starters->all[i];

        s->ends = true;
        sem_post(&s->order);
        if (pthread_timedjoin_np(s->thread, NULL, &until) == 0) {
            starter_free(s);
        } else {
            (void)pthread_detach(s->thread);
            ended = false;
        }
    }
    free(starters);
    return ended;
}
