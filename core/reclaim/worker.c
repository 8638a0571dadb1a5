/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers and the jobs they do. What runs in a worker is async-signal-safe. */
#include "core/reclaim/worker.h"

#include "core/base/clock.h"
#include "core/base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

enum {
    N_STREAMS = 3, /* 0, 1 and 2 are no place for anything else */
    TELL_MS = 1000,
    STOP_MS = 1000,
    NAP_US = 500,
};

#define NEWS_B offsetof(struct px_worker_msg, line) /* without a line */

/* ---- news ------------------------------------------------------------------------ */

int px_worker_socket(int ends[2])
{
    int made[2];
    int errnum = 0;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, made) < 0)
        return errno;
    for (int i = 0; i < 2; i++) {
        if (made[i] >= N_STREAMS)
            continue;
        int lifted = fcntl(made[i], F_DUPFD_CLOEXEC, N_STREAMS);
        if (lifted < 0) {
            errnum = errno;
            break;
        }
        close(made[i]);
        made[i] = lifted;
    }
    if (!errnum && fcntl(made[0], F_SETFL, O_NONBLOCK) < 0)
        errnum = errno;
    if (errnum) {
        close(made[0]);
        close(made[1]);
        return errnum;
    }
    memcpy(ends, made, sizeof(made));
    return 0;
}

static bool send_news(int fd, const struct px_worker_msg *news, size_t size, int flags)
{
    ssize_t n;

    do {
        n = send(fd, news, size, MSG_NOSIGNAL | flags);
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t)size;
}

bool px_worker_send_ended(int fd, const struct px_reclaim_job *job, int flags)
{
    const struct px_worker_msg news = {.type = PX_WORKER_ENDED,
                                       .errnum = job->errnum,
                                       .id = job->id,
                                       .totals = job->totals};

    return send_news(fd, &news, NEWS_B, flags);
}

static bool is_good(const struct px_worker_msg *news, size_t size)
{
    if (size < NEWS_B)
        return false;
    if (news->type == PX_WORKER_ENDED)
        return size == NEWS_B;
    return news->type == PX_WORKER_LINE && size > NEWS_B &&
           news->line[size - NEWS_B - 1] == '\0';
}

bool px_worker_is_transient(int errnum)
{
    return errnum == EINTR || errnum == EAGAIN || errnum == EWOULDBLOCK ||
           errnum == ENOMEM || errnum == ENOBUFS;
}

int px_worker_read(int fd, struct px_worker_msg *news)
{
    for (;;) {
        ssize_t n = recv(fd, news, sizeof(*news), MSG_DONTWAIT);

        if (n > 0 && is_good(news, (size_t)n))
            return 1;
        if (n == 0)
            return -1;
        if (n < 0 && errno != EINTR)
            return px_worker_is_transient(errno) ? 0 : -1;
    }
}

/* ---- telling --------------------------------------------------------------------- */

static const char *reason(enum px_rm_why why, int errnum)
{
    const char *text = NULL;

    switch (why) {
    case PX_RM_ASKED:
        return NULL;
    case PX_RM_FOREIGN:
        return "of another user or group";
    case PX_RM_MOUNT:
        return "a mount point";
    case PX_RM_LINK:
        return "a symbolic link is on the way";
    case PX_RM_REFUSED:
        return "such a thing is never removed";
    case PX_RM_MOVED:
        return "moved meanwhile";
    case PX_RM_FAILED:
        break;
    }
#if __GLIBC_PREREQ(2, 32)
    text = strerrordesc_np(errnum); /* unlike strerror, a constant */
#else
    (void)errnum;
#endif
    return text ? text : "the system refuses";
}

/* Cuts what is too long, and leaves room for what follows. */
static size_t append(char *line, size_t at, const char *text, size_t room)
{
    for (; *text && at < PX_WORKER_LINE_B - 1 - room; text++) {
        unsigned char c = (unsigned char)*text;
        line[at++] = c < ' ' || c == 0x7f ? '?' : (char)c;
    }
    return at;
}

/* Whoever reads descriptor 2 may have stopped: he is waited for once. */
static bool write_line(const struct px_worker_msg *news, size_t len)
{
    struct pollfd wanted = {.fd = PX_WORKER_REPORT_FD, .events = POLLOUT};

    if (poll(&wanted, 1, TELL_MS) <= 0)
        return false;
    if (send_news(PX_WORKER_REPORT_FD, news, NEWS_B + len + 1, MSG_DONTWAIT))
        return true;
    if (errno != ENOTSOCK)
        return errno == EPIPE || errno == ECONNRESET; /* nobody to wait for */
    char text[PX_WORKER_LINE_B];
    memcpy(text, news->line, len);
    text[len] = '\n';
    return write(PX_WORKER_REPORT_FD, text, len + 1) == (ssize_t)len + 1;
}

void px_worker_report(void *arg, const char *path, enum px_rm_why why, int errnum)
{
    enum { REASON_B = 128 };
    struct px_worker_reporter *teller = arg;
    struct px_worker_msg news = {.type = PX_WORKER_LINE};
    const char *text = reason(why, errnum);
    int was = errno;

    if (!text || teller->in_vain)
        return;
    size_t len = append(news.line, 0, "cannot remove ", REASON_B);
    len = append(news.line, len, path, REASON_B);
    len = append(news.line, len, ": ", 0);
    len = append(news.line, len, text, 0);
    news.line[len] = '\0';
    teller->in_vain = !write_line(&news, len);
    errno = was;
}

/* ---- workers --------------------------------------------------------------------- */

/* Not before the detaching, which clears it. */
static void bind_to(pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent)
        _exit(EXIT_FAILURE);
}

static PX_NORETURN void work(const struct px_reclaim *s,
                             const struct px_reclaim_job *job, int news, pid_t parent)
{
    static const int tell_fd = PX_WORKER_REPORT_FD;
    struct px_worker_reporter teller = {0};
    struct px_reclaim mine = *s;
    struct px_reclaim_job result = *job;
    int keep[] = {news, mine.journal};
    size_t n_keep = mine.journal >= 0 && !job->tmpdir ? 2 : 1;

    if (n_keep == 2 && keep[0] > keep[1]) {
        keep[0] = mine.journal;
        keep[1] = news;
    }
    px_reclaim_detach("tenon-sweep", keep, n_keep);
    if (parent)
        bind_to(parent);
    if (mine.told && dup2(news, PX_WORKER_REPORT_FD) < 0)
        mine.told = NULL;
    mine.arg = &teller;
    mine.keep = &tell_fd;
    mine.n_keep = mine.told ? 1 : 0;
    result.totals = (struct px_rm_totals){0};
    result.errnum = job->tmpdir ? px_reclaim_tmpdir(&mine, job->tmpdir, &result.totals)
                                : px_reclaim_scope(&mine, job->scope, &result.totals);
    _exit(!px_worker_send_ended(news, &result, 0));
}

pid_t px_worker_start(const struct px_reclaim *s, const struct px_reclaim_job *job,
                      int news, bool bound)
{
    const pid_t parent = bound ? getpid() : 0;
    pid_t pid = px_reclaim_fork();

    if (pid == 0)
        work(s, job, news, parent);
    return pid;
}

pmix_status_t px_reclaim_status(int errnum)
{
    if (errnum == EAGAIN)
        return PMIX_ERR_OUT_OF_RESOURCE;
    return errnum ? px_status_of_errno(errnum) : PMIX_SUCCESS;
}

bool px_reclaim_reap(pid_t pid, int *status)
{
    pid_t r;

    *status = -1;
    do {
        r = waitpid(pid, status, WNOHANG | __WALL);
    } while (r < 0 && errno == EINTR);
    return r != 0;
}

bool px_reclaim_reap_within(pid_t pid, uint64_t ms)
{
    const uint64_t deadline_ms = px_clock_ms() + ms;
    const struct timespec nap = {.tv_nsec = NAP_US * 1000L};
    int status;

    while (!px_reclaim_reap(pid, &status)) {
        if (px_clock_ms() >= deadline_ms)
            return false;
        nanosleep(&nap, NULL);
    }
    return true;
}

/* The group has its number for as long as the child is not reaped: that it has ended
 * has to be known before. */
bool px_worker_reap(pid_t pid, int *status)
{
    siginfo_t info = {0};
    int r;

    do {
        r = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL);
    } while (r < 0 && errno == EINTR);
    if (r == 0 && info.si_pid != pid)
        return false;
    if (r == 0)
        kill(-pid, SIGKILL);
    return px_reclaim_reap(pid, status);
}

/* A process with a signal to kill it pending makes no children, so that those it has
 * are in its group. */
void px_worker_stop(pid_t pid)
{
    kill(pid, SIGKILL);
    kill(-pid, SIGKILL);
    (void)px_reclaim_reap_within(pid, STOP_MS);
}

/* ---- jobs ------------------------------------------------------------------------ */

void px_reclaim_queue_init(struct px_reclaim_queue *q)
{
    q->last_id = 0;
    q->n_active = 0;
    px_list_init(&q->waiting);
    px_list_init(&q->active);
    px_list_init(&q->ended);
}

void px_reclaim_job_free(struct px_reclaim_job *job)
{
    if (job)
        free(job->tmpdir);
    free(job);
}

static void clear(struct px_list *list)
{
    PX_LIST_EACH (list, struct px_reclaim_job, job, link) {
        px_list_remove(&job->link);
        px_reclaim_job_free(job);
    }
}

void px_reclaim_queue_fini(struct px_reclaim_queue *q)
{
    clear(&q->waiting);
    clear(&q->active);
    clear(&q->ended);
    q->n_active = 0;
}

struct px_reclaim_job *px_reclaim_queue_add(struct px_reclaim_queue *q, uint64_t scope,
                                            const char *tmpdir, void (*done)(void),
                                            void *arg)
{
    struct px_reclaim_job *job = calloc(1, sizeof(*job));

    if (!job)
        return NULL;
    job->scope = scope;
    job->tmpdir = tmpdir ? strdup(tmpdir) : NULL;
    job->done = done;
    job->arg = arg;
    if (tmpdir && !job->tmpdir) {
        free(job);
        return NULL;
    }
    job->id = ++q->last_id;
    px_list_append(&q->waiting, &job->link);
    return job;
}

struct px_reclaim_job *px_reclaim_queue_next(const struct px_reclaim_queue *q)
{
    if (px_list_empty(&q->waiting) || q->n_active >= PX_RECLAIM_AT_ONCE)
        return NULL;
    return PX_CONTAINER_OF(q->waiting.next, struct px_reclaim_job, link);
}

void px_reclaim_queue_activate(struct px_reclaim_queue *q, struct px_reclaim_job *job)
{
    px_list_remove(&job->link);
    px_list_append(&q->active, &job->link);
    q->n_active++;
}

void px_reclaim_queue_again(struct px_reclaim_queue *q)
{
    while (!px_list_empty(&q->active)) {
        struct px_list *last = q->active.prev;
        px_list_remove(last);
        px_list_prepend(&q->waiting, last);
    }
    q->n_active = 0;
}

struct px_reclaim_job *px_reclaim_queue_find(const struct px_reclaim_queue *q,
                                             uint64_t id)
{
    PX_LIST_EACH (&q->active, struct px_reclaim_job, job, link) {
        if (job->id == id)
            return job;
    }
    return NULL;
}

static void end(struct px_reclaim_queue *q, struct px_reclaim_job *job, int errnum)
{
    px_list_remove(&job->link);
    px_list_append(&q->ended, &job->link);
    job->errnum = errnum;
}

void px_reclaim_queue_end(struct px_reclaim_queue *q, struct px_reclaim_job *job,
                          int errnum, const struct px_rm_totals *totals)
{
    if (px_reclaim_queue_find(q, job->id))
        q->n_active--;
    end(q, job, errnum);
    if (totals)
        job->totals = *totals;
}

void px_reclaim_queue_end_all(struct px_reclaim_queue *q, int errnum)
{
    px_reclaim_queue_again(q);
    PX_LIST_EACH (&q->waiting, struct px_reclaim_job, job, link)
        end(q, job, errnum);
}

struct px_reclaim_job *px_reclaim_queue_take(struct px_reclaim_queue *q)
{
    if (px_list_empty(&q->ended))
        return NULL;
    struct px_reclaim_job *job = PX_CONTAINER_OF(q->ended.next, struct px_reclaim_job,
                                                 link);
    px_list_remove(&job->link);
    return job;
}

void px_reclaim_queue_deliver(struct px_reclaim_queue *q,
                              void (*tell)(const struct px_reclaim_job *job))
{
    struct px_reclaim_job *job;

    while ((job = px_reclaim_queue_take(q))) {
        tell(job);
        px_reclaim_job_free(job);
    }
}
