/* SPDX-License-Identifier: BSD-3-Clause */
/* pmixrun: starts a job on this node and stays with it to its end. The library does the
 * work; this program asks for it and reports the events to the user. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <pmix_server.h>

#include "pmixrun.h"

/* Between a signal that was passed on, or the time limit, and KILL; and from there to
 * giving up: perhaps the output has no reader. */
enum { GRACE_MS = 2000, LAST_MS = 1000 };

/* How far the job has been urged to end. */
enum urge { NOT, ASKED, KILLED, GIVEN_UP };

struct run {
    const struct options *options;
    int signal_fd;
    pmix_nspace_t job;
    enum urge urge;
    int64_t deadline_ms; /* of the time limit or the urge; INT64_MAX: none */
    int status;          /* exit status */
    bool failed;         /* status is that of the first process that failed */
    bool finished;
};

const char tool_name[] = "pmixrun";

/* ---- preparations --------------------------------------------------------------- */

/* Opens the standard streams that are closed: else one of them would be the next file
 * that is opened, and the job's output would go there. */
static void open_streams(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

/* Open MPI 4 runs each process as a job of its own under a launcher that it does not
 * know, unless its component that does so is left out. */
static void set_ompi_defaults(void)
{
    (void)setenv("OMPI_MCA_schizo", "^orte", 0);
}

/* Signals are read from a descriptor, beside the events of the library. One that is
 * ignored, as after nohup, stays so. */
static int catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        struct sigaction was;

        if (sigaction(signals[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
            sigaddset(&set, signals[i]);
    }
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN); /* our own lines may find no reader */
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int spawn_failed(pmix_status_t rc)
{
    switch (rc) { /* the library has logged the reason */
    case PMIX_ERR_JOB_EXE_NOT_FOUND:
        return EXIT_NOT_FOUND;
    case PMIX_ERR_JOB_APP_NOT_EXECUTABLE:
    case PMIX_ERR_JOB_FAILED_TO_LAUNCH:
        return EXIT_NOT_EXECUTABLE;
    default:
        return EXIT_TROUBLE;
    }
}

static pmix_status_t spawn(struct run *run)
{
    const struct options *o = run->options;
    pmix_app_t *apps = PMIx_App_create(o->n_programs);
    pmix_info_t info;
    bool yes = true;
    pmix_status_t rc;

    if (!apps || PMIx_Info_load(&info, PMIX_FWD_STDIN, &yes, PMIX_BOOL))
        return PMIX_ERR_NOMEM;
    /* Their members are borrowed: there is nothing to free but the array. */
    for (size_t i = 0; i < o->n_programs; i++) {
        apps[i].cmd = o->programs[i].argv[0];
        apps[i].argv = o->programs[i].argv;
        apps[i].env = o->env;
        apps[i].cwd = (char *)o->dir;
        apps[i].maxprocs = o->programs[i].n;
    }
    rc = PMIx_Spawn(&info, 1, apps, o->n_programs, run->job);
    PMIx_Info_destruct(&info);
    free(apps);
    return rc;
}

/* ---- the end of a job ----------------------------------------------------------- */

/* To all processes of all jobs. */
static void control(const char *directive, int signum)
{
    pmix_info_t info, *results = NULL;
    size_t n_results = 0;
    bool yes = true;
    pmix_status_t rc = signum ? PMIx_Info_load(&info, directive, &signum, PMIX_INT)
                              : PMIx_Info_load(&info, directive, &yes, PMIX_BOOL);

    if (!rc)
        rc = PMIx_Job_control(NULL, 0, &info, 1, &results, &n_results);
    if (rc)
        complain("cannot end the job: %s", PMIx_Error_string(rc));
    PMIx_Info_free(results, n_results);
    PMIx_Info_destruct(&info);
}

/* One step further than before. */
static void urge(struct run *run, const char *directive, int signum)
{
    switch (run->urge) {
    case NOT:
        run->urge = ASKED;
        run->deadline_ms = now_ms() + GRACE_MS;
        control(directive, signum);
        break;
    case ASKED:
        run->urge = KILLED;
        run->deadline_ms = now_ms() + LAST_MS;
        control(PMIX_JOB_CTRL_KILL, 0);
        break;
    default:
        run->urge = GIVEN_UP;
        run->finished = true;
    }
}

static void on_signals(struct run *run)
{
    struct signalfd_siginfo s;

    while (read(run->signal_fd, &s, sizeof(s)) == (ssize_t)sizeof(s)) {
        if (run->options->verbose)
            complain("signal %u (%s)", s.ssi_signo, strsignal((int)s.ssi_signo));
        if (run->urge == NOT)
            run->status = EXIT_SIGNAL + (int)s.ssi_signo;
        urge(run, PMIX_JOB_CTRL_SIGNAL, (int)s.ssi_signo);
    }
}

static void on_deadline(struct run *run)
{
    if (run->urge == NOT) {
        complain("job ended after %d seconds, its time limit", run->options->timeout_s);
        run->status = EXIT_TIMEOUT;
    }
    urge(run, PMIX_JOB_CTRL_TERMINATE, 0);
}

/* ---- events --------------------------------------------------------------------- */

static void on_failure(struct run *run, const struct news *n)
{
    bool child = !PMIx_Check_nspace(n->job, run->job);

    if (run->urge == NOT) { /* else it was asked to end */
        complain("rank %u%s%s (host %s, pid %ld) %s", n->rank, child ? " of " : "",
                 child ? n->job : "", n->host, (long)n->pid, n->text);
        if (!run->failed)
            run->status = n->exit_code;
    }
    run->failed = true;
    if (child) /* its own job is ended by the library, that of its parent by us */
        control(PMIX_JOB_CTRL_TERMINATE, 0);
}

/* Jobs that processes have started count as well. */
static bool jobs_left(void)
{
    char key[] = PMIX_QUERY_NAMESPACES, *keys[] = {key, NULL};
    pmix_query_t query = {.keys = keys};
    pmix_info_t *info = NULL;
    size_t n = 0;
    bool left = PMIx_Query_info(&query, 1, &info, &n) == PMIX_SUCCESS && n == 1 &&
                info[0].value.type == PMIX_STRING && info[0].value.data.string &&
                info[0].value.data.string[0];

    PMIx_Info_free(info, n);
    return left;
}

static void on_end(struct run *run, const struct news *n)
{
    if (run->options->verbose)
        complain("job %s has ended, status %d", n->job, n->exit_code);
    if (n->exit_code && !run->failed && run->urge == NOT) {
        run->failed =
            true; /* not by any of its processes: the library has logged why */
        run->status = n->exit_code;
    }
    run->finished = !jobs_left();
}

static void on_news(struct run *run)
{
    struct news *n;

    while ((n = news_next())) {
        if (n->is_end)
            on_end(run, n);
        else
            on_failure(run, n);
        free(n);
    }
}

static void wait_or_kill(struct run *run)
{
    struct pollfd fds[] = {{.fd = run->signal_fd, .events = POLLIN},
                           {.fd = news_fd(), .events = POLLIN}};

    if (run->options->timeout_s)
        run->deadline_ms = now_ms() + run->options->timeout_s * INT64_C(1000);
    while (!run->finished) {
        int64_t left = run->deadline_ms - now_ms();
        int wait = run->deadline_ms == INT64_MAX ? -1 : left > 0 ? (int)left : 0;

        if (poll(fds, 2, wait) < 0 && errno != EINTR)
            break;
        on_signals(run);
        on_news(run);
        if (!run->finished && now_ms() >= run->deadline_ms)
            on_deadline(run);
    }
}

static int run_job(const struct options *o, int signal_fd)
{
    struct run run = {.options = o, .signal_fd = signal_fd, .deadline_ms = INT64_MAX};
    pmix_status_t rc = news_subscribe();

    if (rc) {
        complain("cannot watch the job: %s", PMIx_Error_string(rc));
        return EXIT_TROUBLE;
    }
    rc = spawn(&run);
    if (rc)
        return spawn_failed(rc);
    if (o->verbose)
        complain("job %s has started", run.job);
    wait_or_kill(&run);
    return run.status;
}

static int launch(const struct options *o)
{
    int signal_fd = catch_signals(), status;

    if (signal_fd < 0) {
        complain("cannot catch signals: %s", strerror(errno));
        return EXIT_TROUBLE;
    }
    if (PMIx_server_init(NULL, o->params, o->n_params) !=
        PMIX_SUCCESS) /* it has logged the reason */
        return EXIT_TROUBLE;
    status = run_job(o, signal_fd);
    PMIx_server_finalize();
    return status;
}

int main(int argc, char **argv)
{
    struct options options;
    int status;

    open_streams();
    options_parse(&options, argc, argv);
    if (options.dirs) {
        status = clean(&options);
    } else {
        set_ompi_defaults();
        orphans_adopt();
        status = launch(&options);
        orphans_end();
    }
    options_free(&options);
    return status;
}
