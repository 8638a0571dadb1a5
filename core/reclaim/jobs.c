/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs and their workers. All code that runs in a worker is async-signal-safe. */
#include "core/reclaim/jobs.h"

#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/fd.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CHECK_MS = 100, /* between checks of workers without a pidfd watch */
    AGAIN_MS = 50,  /* before the first retry of a job; doubles with each retry */
    MAX_DOUBLED = 5,
    MAX_TRIES = 40, /* about a minute of workers being killed */
    LINES_AT_ONCE = 64,
    SLOW_MS = 1000, /* maximum wait for a reader of log lines */
};

struct px_reclaim_result {
    struct px_pcleanup_totals totals;
    int errnum;
};

/* A job that waits, runs or has ended. */
struct px_reclaim_job {
    struct px_list link; /* in waiting or ended */
    uint64_t scope;      /* scope to remove if tmpdir is NULL */
    char *tmpdir;
    px_pcleanup_done_fn done;
    void *arg;
    unsigned tries;
    struct px_reclaim_result result; /* valid once the job has ended */
};

#define RESULTS_B (PX_RECLAIM_AT_ONCE * sizeof(struct px_reclaim_result))

pmix_status_t px_reclaim_status(int errnum)
{
    if (errnum == EAGAIN)
        return PMIX_ERR_OUT_OF_RESOURCE;
    return errnum ? px_status_of_errno(errnum) : PMIX_SUCCESS;
}

int px_reclaim_socket(int ends[2])
{
    int made[2], errnum = 0;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, made) < 0)
        return errno;
    ends[0] = fcntl(made[0], F_DUPFD_CLOEXEC, 3);
    ends[1] = fcntl(made[1], F_DUPFD_CLOEXEC, 3);
    if (ends[0] < 0 || ends[1] < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0) {
        errnum = errno;
        px_drop_fd(&ends[0]);
        px_drop_fd(&ends[1]);
    }
    close(made[0]);
    close(made[1]);
    return errnum;
}

/* ---- reports -------------------------------------------------------------------- */

static const char *reason(enum px_rm_why why, int errnum)
{
    static const char *const reasons[] = {
        [PX_RM_FOREIGN] = "of another user or group",
        [PX_RM_MOUNT] = "a mount point",
        [PX_RM_LINK] = "a symbolic link is on the way",
        [PX_RM_REFUSED] = "such a thing is never removed",
        [PX_RM_MOVED] = "moved meanwhile",
        [PX_RM_FAILED] = "the system refuses",
    };

    return why == PX_RM_FAILED && px_errno_text(errnum) ? px_errno_text(errnum)
                                                        : reasons[why];
}

/* Appends text to line, replaces control characters by '?', and leaves room bytes
 * free. */
static size_t append(char *line, size_t at, const char *text, size_t room)
{
    for (; *text && at < PX_RECLAIM_LINE_B - 2 - room; text++) {
        unsigned char c = (unsigned char)*text;
        line[at++] = c < ' ' || c == 0x7f ? '?' : (char)c;
    }
    return at;
}

void px_reclaim_report(void *in_vain, const char *path, enum px_rm_why why, int errnum)
{
    enum { REASON_B = 128 };
    struct pollfd reader = {.fd = STDERR_FILENO, .events = POLLOUT};
    bool *vain = in_vain;
    char line[PX_RECLAIM_LINE_B];
    int was = errno;

    if (why == PX_RM_ASKED || *vain)
        return;
    size_t n = append(line, 0, "cannot remove ", REASON_B);
    n = append(line, n, path, REASON_B);
    n = append(line, n, ": ", 0);
    n = append(line, n, reason(why, errnum), 0);
    line[n++] = '\n';
    *vain = poll(&reader, 1, SLOW_MS) <= 0 ||
            px_fd_write(STDERR_FILENO, line, n) != (ssize_t)n;
    errno = was;
}

static void read_lines(struct px_reclaim_jobs *p)
{
    char line[PX_RECLAIM_LINE_B];
    ssize_t n;

    for (int i = 0; i < LINES_AT_ONCE; i++) {
        n = PX_RETRY(recv(p->lines[0], line, sizeof(line), MSG_DONTWAIT));
        if (n <= 0)
            break;
        line[n - 1] = '\0';
        p->services->log(p->services, PX_LOG_WARN, "%s", line);
    }
}

/* ---- workers -------------------------------------------------------------------- */

static void job_free(struct px_reclaim_job *job)
{
    if (job)
        free(job->tmpdir);
    free(job);
}

static struct px_reclaim_job *first_of(const struct px_list *list)
{
    return px_list_empty(list)
               ? NULL
               : PX_CONTAINER_OF(list->next, struct px_reclaim_job, link);
}

static void end(struct px_reclaim_jobs *p, struct px_reclaim_job *job, int errnum)
{
    job->result.errnum = errnum;
    px_list_append(&p->ended, &job->link);
}

static void tend(void *arg);

static void on_event(void *arg, int fd PX_UNUSED, unsigned events PX_UNUSED)
{
    tend(arg);
}

/* Runs a job in the child. The child leads its own session. */
static PX_NORETURN void work(const struct px_reclaim_jobs *p,
                             const struct px_reclaim_job *job,
                             struct px_reclaim_result *result, pid_t parent)
{
    const int keep[] = {STDERR_FILENO, p->journal};
    bool in_vain = false, reports = p->conf.verbose >= PX_RECLAIM_REPORT_LEVEL &&
                                    dup2(p->lines[1], STDERR_FILENO) == STDERR_FILENO;
    const struct px_reclaim s = {
        .journal = p->journal,
        .node = p->node,
        .notify = reports ? px_reclaim_report : NULL,
        .arg = &in_vain,
        .timeout_ms = (uint32_t)p->conf.timeout,
    };

    px_reclaim_detach(PX_RECLAIM_WORKER, reports ? keep : keep + 1,
                      (size_t)(reports + (p->journal >= 0)));
    if (p->bound)
        px_reclaim_bind(parent);
    result->errnum = job->tmpdir ? px_reclaim_tmpdir(&s, job->tmpdir, &result->totals)
                                 : px_reclaim_scope(&s, job->scope, &result->totals);
    _exit(EXIT_SUCCESS);
}

/* Starts a worker. Returns 0 or an errno. If the worker cannot be watched, the timer
 * checks it. */
static int start_worker(struct px_reclaim_jobs *p, int i, struct px_reclaim_job *job)
{
    pid_t parent = getpid();

    p->results[i] = (struct px_reclaim_result){0};
    pid_t pid = px_reclaim_fork();
    if (pid == 0)
        work(p, job, &p->results[i], parent);
    if (pid < 0)
        return errno;
    p->workers[i].pid = pid;
    p->workers[i].job = job;
    p->workers[i].pidfd = px_os_pidfd_open(pid);
    if (p->workers[i].pidfd >= 0)
        p->workers[i].watch = p->services->watch(p->services, p->workers[i].pidfd,
                                                 PX_READABLE, on_event, p);
    return 0;
}

static void drop_worker(struct px_reclaim_jobs *p, int i)
{
    p->services->unwatch(p->workers[i].watch);
    px_drop_fd(&p->workers[i].pidfd);
    memset(&p->workers[i], 0, sizeof(p->workers[i]));
    p->workers[i].pidfd = -1;
}

/* Reaps a worker if it has ended, and kills the rest of the worker's process group. The
 * kill comes before the reaping, because the group's number is reserved only until
 * then. */
static bool has_ended(pid_t pid, int *status)
{
    siginfo_t info = {0};
    int r = PX_RETRY(
        waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT | PX_OS_WAIT_ALL));

    if (r == 0 && info.si_pid != pid)
        return false;
    if (r == 0)
        kill(-pid, SIGKILL);
    return px_reclaim_reap(pid, status);
}

/* Starts waiting jobs while workers are free. The loop reports failures later. */
static void start_jobs(struct px_reclaim_jobs *p)
{
    struct px_reclaim_job *job;

    for (int i = 0; i < PX_RECLAIM_AT_ONCE && (job = first_of(&p->waiting)); i++) {
        if (p->workers[i].pid)
            continue;
        px_list_remove(&job->link);
        int errnum = start_worker(p, i, job);
        if (errnum)
            end(p, job, errnum);
    }
}

/* Queues a job again whose worker or worker's child was killed. The retry does not
 * count things that are already gone. */
static void try_again(struct px_reclaim_jobs *p, struct px_reclaim_job *job)
{
    unsigned doubled = job->tries < MAX_DOUBLED ? job->tries : MAX_DOUBLED;

    p->again_ms = px_clock_ms() + (AGAIN_MS << doubled);
    job->tries++;
    px_list_prepend(&p->waiting, &job->link);
}

/* Collects workers that have ended. A job ends only after its worker, so no process of
 * the job remains when the job is reported. */
static void reap(struct px_reclaim_jobs *p)
{
    int status;

    for (int i = 0; i < PX_RECLAIM_AT_ONCE; i++) {
        struct px_reclaim_job *job = p->workers[i].job;

        if (!job || !has_ended(p->workers[i].pid, &status))
            continue;
        read_lines(p); /* before the job is reported */
        job->result = p->results[i];
        if (status == 0 && job->result.errnum != ECHILD)
            end(p, job, job->result.errnum);
        else if (job->tries < MAX_TRIES)
            try_again(p, job);
        else
            end(p, job, ECHILD);
        drop_worker(p, i);
    }
}

/* Calls done of every job that has ended. done may call finish. */
static void deliver(struct px_reclaim_jobs *p)
{
    struct px_reclaim_job *job;

    while ((job = first_of(&p->ended))) {
        px_list_remove(&job->link);
        job->done(job->arg, px_reclaim_status(job->result.errnum), &job->result.totals);
        job_free(job);
    }
}

/* Does all pending work, whatever woke the loop. */
static void tend(void *arg)
{
    struct px_reclaim_jobs *p = arg;

    read_lines(p);
    reap(p);
    uint64_t now = px_clock_ms();
    if (now >= p->again_ms)
        start_jobs(p);
    else if (!px_list_empty(&p->waiting))
        p->services->timer_set(p->timer, p->again_ms - now);
    for (int i = 0; i < PX_RECLAIM_AT_ONCE; i++) {
        if (p->workers[i].pid && !p->workers[i].watch)
            p->services->timer_set(p->timer, CHECK_MS);
    }
    deliver(p);
}

/* ---- life ----------------------------------------------------------------------- */

void px_reclaim_jobs_init(struct px_reclaim_jobs *p, const struct px_services *services,
                          const void *conf)
{
    *p = (struct px_reclaim_jobs){.services = services,
                                  .conf = *(const struct px_reclaim_conf *)conf,
                                  .journal = -1,
                                  .lines = {-1, -1}};
    for (int i = 0; i < PX_RECLAIM_AT_ONCE; i++)
        p->workers[i].pidfd = -1;
    px_list_init(&p->waiting);
    px_list_init(&p->ended);
}

static void drop_all(struct px_reclaim_jobs *p)
{
    struct px_reclaim_job *job;

    for (int i = 0; i < PX_RECLAIM_AT_ONCE; i++) {
        job_free(p->workers[i].job);
        drop_worker(p, i);
    }
    while ((job = first_of(&p->waiting)) || (job = first_of(&p->ended))) {
        px_list_remove(&job->link);
        job_free(job);
    }
    p->services->unwatch(px_take(&p->lines_watch));
    p->services->timer_free(px_take(&p->timer));
    px_drop_fd(&p->lines[0]);
    px_drop_fd(&p->lines[1]);
    px_drop_fd(&p->journal);
    px_reclaim_unmap(px_take(&p->results), RESULTS_B);
    free(px_take(&p->node));
    p->again_ms = 0;
}

pmix_status_t px_reclaim_jobs_start(void *self, const char *dir, const char *node)
{
    struct px_reclaim_jobs *p = self;
    const struct px_services *services = p->services;

    if (p->node)
        return PMIX_ERR_EXISTS;
    if (strlen(dir) > PX_RM_MAX_PATH)
        return PMIX_ERR_BAD_PARAM;
    void *results = mmap(NULL, RESULTS_B, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    p->owner = getpid();
    p->results = results == MAP_FAILED ? NULL : results;
    p->node = strdup(node);
    p->timer = services->timer(services, tend, p);
    int errnum = p->results && p->node && p->timer ? px_reclaim_socket(p->lines)
                                                   : ENOMEM;
    if (!errnum)
        p->lines_watch = services->watch(services, p->lines[0], PX_READABLE, on_event,
                                         p);
    if (p->lines_watch)
        return PMIX_SUCCESS;
    drop_all(p);
    return errnum ? px_status_of_errno(errnum) : PMIX_ERR_NOMEM;
}

pmix_status_t px_reclaim_jobs_journal(void *self, int dir_fd PX_UNUSED, int journal_fd)
{
    struct px_reclaim_jobs *p = self;

    if (!p->node)
        return PMIX_ERR_INIT;
    int journal = fcntl(journal_fd, F_DUPFD_CLOEXEC, 3);
    if (journal < 0)
        return px_status_of_errno(errno);
    px_drop_fd(&p->journal);
    p->journal = journal;
    return PMIX_SUCCESS;
}

/* Queues a job. The loop starts the job, so done is not called from here. */
static pmix_status_t add(struct px_reclaim_jobs *p, uint64_t scope, const char *tmpdir,
                         px_pcleanup_done_fn done, void *arg)
{
    struct px_reclaim_job *job = calloc(1, sizeof(*job));
    char *copy = tmpdir ? strdup(tmpdir) : NULL;

    if (!job || (tmpdir && !copy)) {
        free(job);
        free(copy);
        return PMIX_ERR_NOMEM;
    }
    *job = (struct px_reclaim_job){
        .scope = scope, .tmpdir = copy, .done = done, .arg = arg};
    px_list_append(&p->waiting, &job->link);
    p->services->timer_set(p->timer, 0);
    return PMIX_SUCCESS;
}

pmix_status_t px_reclaim_jobs_run(void *self, uint64_t scope, px_pcleanup_done_fn done,
                                  void *arg)
{
    struct px_reclaim_jobs *p = self;

    return p->journal < 0 ? PMIX_ERR_INIT : add(p, scope, NULL, done, arg);
}

pmix_status_t px_reclaim_jobs_reclaim(void *self, const char *tmpdir,
                                      px_pcleanup_done_fn done, void *arg)
{
    struct px_reclaim_jobs *p = self;

    return !p->node                          ? PMIX_ERR_INIT
           : strlen(tmpdir) > PX_RM_MAX_PATH ? PMIX_ERR_BAD_PARAM
                                             : add(p, 0, tmpdir, done, arg);
}

/* Kills all workers and frees everything. A process with a pending SIGKILL cannot fork,
 * so all children of a worker are in its group. */
void px_reclaim_jobs_finish(void *self, bool left PX_UNUSED)
{
    struct px_reclaim_jobs *p = self;

    if (!p->node)
        return;
    for (int i = 0; i < PX_RECLAIM_AT_ONCE && p->owner == getpid(); i++) {
        if (!p->workers[i].pid)
            continue;
        kill(p->workers[i].pid, SIGKILL);
        kill(-p->workers[i].pid, SIGKILL);
        px_reclaim_end(p->workers[i].pid);
    }
    read_lines(p);
    drop_all(p);
}
