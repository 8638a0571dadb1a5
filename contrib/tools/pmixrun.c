/* SPDX-License-Identifier: BSD-3-Clause */
/* pmixrun: starts a job on this node and stays with it to its end. The library does the
 * work; this program asks for it and reports the events to the user. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <pmix_envars.h>
#include <pmix_server.h>
#include <pmix_tool.h>

#include "engine/engine.h"
#include "pmixrun.h"

/* Time for reports on a timeout and the end of the job after them. */
enum { REPORTS_MS = 20000 };

/* Between two looks for jobs that are left after the end of one. A launch that fails
 * then reports its failure to its spawner alone. */
enum { LEFT_MS = 250 };

/* Steps to end the job. */
enum urge { NOT, ASKED, KILLED, GIVEN_UP };

struct run {
    const struct options *options;
    int signal_fd;       /* of the guard */
    struct news *answer; /* to the request, while the library has it; or NULL */
    pmix_nspace_t job;
    enum urge urge;
    int64_t deadline_ms; /* time limit, or end of the current step; INT64_MAX: none */
    int status;          /* exit status */
    bool failed;         /* status comes from the first process that failed */
    bool any_ended;      /* a job has ended, or was not started */
    bool own_ended;      /* with --submit: the job has ended, or was not started */
    bool finished;
};

const char *tool_name = "pmixrun";

/* ---- events ---------------------------------------------------------------------- */

/* Pipe of pointers to news. Event handlers must not block, so the main thread
 * prints. */
static int news_fds[2] = {-1, -1};
/* News for an event that comes while memory is exhausted: otherwise the end of a job
 * would be lost. NULL: used. */
static struct news *_Atomic spare;

struct news {
    /* Answer to the request; failure or restart of a process; end of a job. */
    enum { ANSWER, FAILURE, RESTART, END, LOST } kind;
    pmix_status_t status; /* of an answer, or of events that do not come */
    pmix_nspace_t job;
    int exit_code;
    pmix_status_t verdict; /* of the end of a job */
    bool apart;            /* failures of the job do not count */
    /* failures only: */
    pmix_proc_t proc; /* that failed, or that aborted others */
    pid_t pid;
    char host[256];
    char text[8192]; /* "killed by signal 9 (Killed)"; an abort's has up to 4 KiB */
};

static void copy_text(char *to, size_t size, const pmix_value_t *v)
{
    if (v->type != PMIX_STRING || !v->data.string)
        return;
    snprintf(to, size, "%s", v->data.string);
    for (; *to; to++) /* makes one line of a text that may come from a process */
        if ((unsigned char)*to < ' ' || *to == 0x7f)
            *to = ' ';
}

static void read_info(struct news *n, const pmix_info_t *i)
{
    const pmix_value_t *v = &i->value;

    if (PMIx_Check_key(i->key, PMIX_NSPACE))
        copy_text(n->job, sizeof(n->job), v);
    else if (PMIx_Check_key(i->key, PMIX_HOSTNAME))
        copy_text(n->host, sizeof(n->host), v);
    else if (PMIx_Check_key(i->key, PMIX_EVENT_TEXT_MESSAGE))
        copy_text(n->text, sizeof(n->text), v);
    else if (PMIx_Check_key(i->key, PMIX_EXIT_CODE) && v->type == PMIX_INT)
        n->exit_code = v->data.integer;
    else if (PMIx_Check_key(i->key, PMIX_JOB_TERM_STATUS) && v->type == PMIX_STATUS)
        n->verdict = v->data.status;
    else if (PMIx_Check_key(i->key, PMIX_PROC_PID) && v->type == PMIX_PID)
        n->pid = v->data.pid;
    else if (PMIx_Check_key(i->key, PMIX_SPAWN_CHILD_SEP))
        n->apart = PMIX_INFO_TRUE(i);
}

static struct news *make_news(void)
{
    struct news *n = calloc(1, sizeof(*n));

    return n ? n : atomic_exchange(&spare, NULL);
}

static void send_news(struct news *n)
{
    ssize_t put;

    do
        put = write(news_fds[1], &n, sizeof(n));
    while (put < 0 && errno == EINTR);
    if (put < 0) /* not expected: the pipe holds thousands */
        free(n);
}

static void on_spawned(pmix_status_t status, char nspace[], void *cbdata)
{
    struct news *n = cbdata;

    n->status = status;
    PMIx_Load_nspace(n->job, nspace);
    send_news(n);
}

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source,
                     pmix_info_t info[], size_t n_info, pmix_info_t *results,
                     size_t n_results, pmix_event_notification_cbfunc_fn_t done,
                     void *cbdata)
{
    struct news *n = make_news();

    (void)id;
    (void)results;
    (void)n_results;
    if (n) {
        n->kind = code == PMIX_EVENT_JOB_END         ? END
                  : code == PMIX_ERR_PROC_RESTART    ? RESTART
                  : code == PMIX_ERR_LOST_CONNECTION ? LOST
                                                     : FAILURE;
        n->proc = *source;
        for (size_t i = 0; i < n_info; i++)
            read_info(n, &info[i]);
        send_news(n);
    }
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void on_subscribed(pmix_status_t status, size_t id, void *cbdata)
{
    struct news *n = status < 0 ? make_news() : NULL;

    (void)id;
    (void)cbdata;
    if (n) {
        n->kind = LOST;
        n->status = status;
        send_news(n);
    }
}

/* submits: the job runs under another server, which may be lost. That server handles
 * the registration before the request for the job, so pmixrun sends both at once. */
static pmix_status_t subscribe(bool submits)
{
    pmix_status_t codes[] = {
        PMIX_ERR_LOST_CONNECTION,     PMIX_EVENT_JOB_END,
        PMIX_ERR_PROC_ABORTED_BY_SIG, PMIX_ERR_EXIT_NONZERO_TERM,
        PMIX_ERR_PROC_TERM_WO_SYNC,   PMIX_ERR_PROC_REQUESTED_ABORT,
        PMIX_ERR_PROC_RESTART};
    pmix_status_t rc;

    spare = calloc(1, sizeof(*spare));
    if (!spare || pipe2(news_fds, O_CLOEXEC | O_NONBLOCK) < 0)
        return PMIX_ERR_OUT_OF_RESOURCE;
    rc = PMIx_Register_event_handler(codes + !submits,
                                     sizeof(codes) / sizeof(codes[0]) - !submits, NULL,
                                     0, on_event, submits ? on_subscribed : NULL, NULL);
    return rc < 0 ? rc : PMIX_SUCCESS;
}

/* ---- preparations --------------------------------------------------------------- */

int catch_signals(void)
{
    static const int signals[] = {SIGINT,  SIGTERM, SIGHUP, SIGUSR1,
                                  SIGUSR2, SIGCONT, SIGTSTP};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        struct sigaction was;

        if (sigaction(signals[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
            sigaddset(&set, signals[i]);
    }
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN); /* pmixrun's own output may be without a reader */
    signal(SIGCHLD, SIG_DFL); /* if ignored, the kernel discards exit statuses */
    return os_signals(&set);
}

/* Starts the job without waiting. The answer comes as news, so signals and the time
 * limit are handled meanwhile. */
static pmix_status_t spawn(struct run *run)
{
    const struct options *o = run->options;
    const bool submits = o->dvm.task == DVM_SUBMIT;
    pmix_app_t *apps = PMIx_App_create(o->n_programs);
    pmix_status_t rc;

    run->answer = calloc(1, sizeof(*run->answer));
    rc = apps && run->answer ? PMIX_SUCCESS : PMIX_ERR_NOMEM;

    /* Members are borrowed, so only the arrays are freed. */
    for (size_t i = 0; !rc && i < o->n_programs; i++) {
        const struct program *p = &o->programs[i];

        apps[i].cmd = p->argv[0];
        apps[i].argv = p->argv;
        apps[i].env = submits ? submit_environment(p) : p->env;
        apps[i].cwd = (char *)(p->dir ? p->dir : o->dir);
        apps[i].maxprocs = p->n;
    }
    if (!rc)
        rc = PMIx_Spawn_nb(o->asked, o->n_asked, apps, o->n_programs, on_spawned,
                           run->answer);
    for (size_t i = 0; submits && apps && i < o->n_programs; i++)
        free(apps[i].env);
    free(apps);
    return rc;
}

/* ---- the end of a job ----------------------------------------------------------- */

static bool is_submitted(const struct run *run)
{
    return run->options->dvm.task == DVM_SUBMIT;
}

/* Sends a directive to all processes of all jobs, or of the submitted job. */
static void control(const struct run *run, const char *directive, int signum)
{
    const bool submits = is_submitted(run);
    pmix_proc_t job;
    pmix_info_t info, *results = NULL;
    size_t n_results = 0;
    bool yes = true;
    pmix_status_t rc = signum ? PMIx_Info_load(&info, directive, &signum, PMIX_INT)
                              : PMIx_Info_load(&info, directive, &yes, PMIX_BOOL);

    PMIx_Load_procid(&job, run->job, PMIX_RANK_WILDCARD);
    if (!rc)
        rc = PMIx_Job_control(submits ? &job : NULL, submits, &info, 1, &results,
                              &n_results);
    if (rc)
        complain("cannot control the job: %s", PMIx_Error_string(rc));
    PMIx_Info_free(results, n_results);
    PMIx_Info_destruct(&info);
}

/* Takes the next step to end the job. directive, signum: for the first step. */
static void urge(struct run *run, const char *directive, int signum)
{
    /* The server drops a job that waits in the queue when its submitter ends. */
    if (is_submitted(run) && !run->job[0])
        run->urge = KILLED;
    switch (run->urge) {
    case NOT:
        guard_expect_end(run->status);
        run->urge = ASKED;
        run->deadline_ms = now_ms() + GRACE_MS;
        control(run, directive, signum);
        break;
    case ASKED:
        run->urge = KILLED;
        run->deadline_ms = now_ms() + LAST_MS;
        control(run, PMIX_JOB_CTRL_KILL, 0);
        break;
    default:
        run->urge = GIVEN_UP;
        run->finished = true;
    }
}

static void on_signals(struct run *run)
{
    int signum;

    while ((signum = guard_next_signal(run->signal_fd))) {
        if (run->options->verbose)
            complain("signal %d (%s)", signum, strsignal(signum));
        if (guard_is_passed_on(signum) && is_submitted(run) && !run->job[0])
            continue;
        if (guard_is_passed_on(signum)) {
            control(run, PMIX_JOB_CTRL_SIGNAL, signum);
            continue;
        }
        if (run->urge == NOT)
            run->status = EXIT_SIGNAL + signum;
        urge(run, PMIX_JOB_CTRL_SIGNAL, signum);
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

/* Ends the job whose starter has closed its end of the keepalive. */
static void on_keepalive(struct run *run, int *fd)
{
    if (!singleton_has_left(*fd))
        return;
    *fd = -1;
    if (run->urge == NOT) {
        complain("job ended: the other end of descriptor %d is closed",
                 run->options->keepalive);
        run->status = EXIT_TROUBLE;
        urge(run, PMIX_JOB_CTRL_TERMINATE, 0);
    }
}

/* Reports a failed process, unless pmixrun has asked the job to end. */
static void complain_of(struct run *run, const struct news *n)
{
    bool foreign = !PMIx_Check_nspace(n->proc.nspace, run->job);
    char pid[32] = ""; /* unknown for a tool */

    if (n->pid)
        snprintf(pid, sizeof(pid), ", pid %ld", (long)n->pid);
    if (run->urge == NOT)
        complain("rank %u%s%s (host %s%s) %s", n->proc.rank, foreign ? " of " : "",
                 foreign ? n->proc.nspace : "", n->host, pid, n->text);
}

static void on_failure(struct run *run, const struct news *n)
{
    complain_of(run, n);
    if (run->urge == NOT && !run->failed && !n->apart)
        run->status = n->exit_code;
    run->failed |= !n->apart;
}

/* True if a job runs, or if the server does not answer. Includes jobs that processes
 * have started, but not those of other submitters. */
static bool jobs_left(const struct run *run)
{
    if (is_submitted(run))
        return !run->own_ended;

    char key[] = PMIX_QUERY_NAMESPACES, *keys[] = {key, NULL};
    pmix_query_t query = {.keys = keys};
    pmix_info_t *info = NULL;
    size_t n = 0;
    pmix_status_t rc = PMIx_Query_info(&query, 1, &info, &n);
    bool left = rc || n != 1 || info[0].value.type != PMIX_STRING ||
                !info[0].value.data.string || info[0].value.data.string[0];

    PMIx_Info_free(info, n);
    return left;
}

static void on_end(struct run *run, const struct news *n)
{
    if (run->options->verbose)
        complain("job %s has ended, status %d", n->job, n->exit_code);
    /* The job failed without a failed process; the library has logged the reason. A
     * job that was ended because of another job gives the status until the cause is
     * known. */
    if (n->exit_code && !n->apart && !run->failed && run->urge == NOT) {
        run->failed = n->verdict != PMIX_ERR_JOB_KILLED_BY_CMD;
        if (run->failed || !run->status)
            run->status = n->exit_code;
    }
    run->any_ended = true;
    run->own_ended |= !run->job[0] || PMIx_Check_nspace(n->job, run->job);
    if (run->options->top && PMIx_Check_nspace(n->job, run->job))
        top_look(n->job);
    timeline_take(n->job);
}

/* Returns the exit status for a refused start. The library has logged the reason. */
static int status_of_refusal(pmix_status_t rc)
{
    return rc == PMIX_ERR_JOB_EXE_NOT_FOUND ? EXIT_NOT_FOUND
           : rc == PMIX_ERR_JOB_APP_NOT_EXECUTABLE ||
                   rc == PMIX_ERR_JOB_FAILED_TO_LAUNCH
               ? EXIT_NOT_EXECUTABLE
               : EXIT_TROUBLE;
}

static void on_answer(struct run *run, const struct news *n)
{
    run->answer = NULL; /* freed as any news */
    PMIx_Load_nspace(run->job, n->job);
    if (n->status && run->urge == NOT)
        run->status = status_of_refusal(n->status);
    if (n->status && is_submitted(run))
        complain("cannot start the job: %s", submit_refusal(n->status));
    run->any_ended |= n->status != PMIX_SUCCESS;
    run->own_ended |= n->status != PMIX_SUCCESS;
    if (!n->status && is_submitted(run))
        submit_started(run->options, n->job);
    if (!n->status && run->options->verbose)
        complain("job %s has started", run->job);
}

/* Ends with the server, which ends the job. */
static void on_lost(struct run *run, const struct news *n)
{
    if (n->status)
        complain("cannot watch the job: %s", PMIx_Error_string(n->status));
    else
        complain("the connection to the server is lost");
    if (run->urge == NOT)
        run->status = EXIT_TROUBLE;
    run->any_ended = run->own_ended = true;
}

static void on_news(struct run *run)
{
    static void (*const handlers[])(struct run *,
                                    const struct news *) = {[ANSWER] = on_answer,
                                                            [FAILURE] = on_failure,
                                                            [RESTART] = complain_of,
                                                            [END] = on_end,
                                                            [LOST] = on_lost};
    struct news *n;

    while (read(news_fds[0], &n, sizeof(n)) == (ssize_t)sizeof(n)) {
        handlers[n->kind](run, n);
        memset(n, 0, sizeof(*n));
        free(atomic_exchange(&spare, n));
    }
}

static void wait_or_kill(struct run *run)
{
    struct pollfd fds[] = {{.fd = run->signal_fd, .events = POLLIN},
                           {.fd = news_fds[0], .events = POLLIN},
                           {.fd = run->options->keepalive, .events = POLLIN}};
    const int look_ms = run->options->top        ? TOP_MS
                        : run->options->progress ? PROGRESS_MS
                                                 : 0;
    int64_t next_look_ms = 0;

    if (run->options->timeout_s)
        run->deadline_ms = now_ms() + run->options->timeout_s * INT64_C(1000) +
                           (run->options->reports ? REPORTS_MS : 0);
    while (!run->finished) {
        int64_t left = run->deadline_ms - now_ms();
        int wait = run->deadline_ms == INT64_MAX ? -1 : left > 0 ? (int)left : 0;

        if (look_ms && (wait < 0 || wait > look_ms))
            wait = look_ms;
        if (run->any_ended && (wait < 0 || wait > LEFT_MS))
            wait = LEFT_MS;
        if (poll(fds, sizeof(fds) / sizeof(fds[0]), wait) < 0 && errno != EINTR)
            break;
        if (fds[2].revents)
            on_keepalive(run, &fds[2].fd);
        on_signals(run);
        on_news(run);
        if (run->any_ended && !run->finished) {
            run->finished = !jobs_left(run);
            on_news(run); /* of jobs that ended meanwhile */
        }
        if (look_ms && *run->job && !run->finished && now_ms() >= next_look_ms) {
            (run->options->top ? top_look : progress_look)(run->job);
            next_look_ms = now_ms() + look_ms;
        }
        if (!run->finished && now_ms() >= run->deadline_ms)
            on_deadline(run);
    }
}

static int run_job(struct run *run)
{
    const struct options *o = run->options;
    pmix_status_t rc = subscribe(is_submitted(run));

    if (rc) {
        complain("cannot watch the job: %s", PMIx_Error_string(rc));
        return EXIT_TROUBLE;
    }
    if (o->forwards) /* the library logs bad patterns */
        rc = PMIx_Forward_envars(o->self, o->forwards, NULL, 0);
    if (!rc)
        rc = spawn(run);
    if (rc)
        return status_of_refusal(rc);
    wait_or_kill(run);
    timeline_take(run->job); /* of a job that does not end */
    return run->status;
}

/* Frees news that came too late to handle. The library has ended, and calls nothing
 * back. */
static void drop_news(struct run *run)
{
    struct news *n;

    while (news_fds[0] >= 0 && read(news_fds[0], &n, sizeof(n)) > 0) {
        run->answer = n == run->answer ? NULL : run->answer;
        free(n);
    }
    free(run->answer);
    free(atomic_exchange(&spare, NULL));
}

static int launch(const struct options *o)
{
    int caught = catch_signals(), status = EXIT_TROUBLE;
    int signal_fd = caught < 0 ? -1 : guard_begin(caught);
    struct run run = {.options = o, .signal_fd = signal_fd, .deadline_ms = INT64_MAX};

    if (signal_fd < 0) {
        complain("cannot catch signals: %s", strerror(errno));
    } else if (o->dvm.task == DVM_SUBMIT) {
        if (submit_begin(o)) {
            status = run_job(&run);
            guard_end();
            PMIx_tool_finalize();
            drop_news(&run);
        }
    } else if (PMIx_server_init(NULL, o->params, o->n_params) == PMIX_SUCCESS) {
        status = o->singleton.nspace[0]     ? singleton_serve(o, signal_fd)
                 : o->dvm.task == DVM_SERVE ? dvm_serve(o, signal_fd)
                                            : run_job(&run);
        guard_end();
        PMIx_server_finalize();
        drop_news(&run);
    } /* else the library has logged the reason */
    return status;
}

/* Writes the number of this process. False after a line about an error. */
static bool report_pid(const char *to)
{
    int fd = strcmp(to, "-") == 0 ? STDOUT_FILENO
             : strcmp(to, "+") == 0
                 ? STDERR_FILENO
                 : open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    bool written = fd >= 0 && dprintf(fd, "%ld\n", (long)getpid()) > 0;

    if (!written)
        complain("cannot write the process number to %s: %s", to, strerror(errno));
    if (fd > STDERR_FILENO)
        close(fd);
    return written;
}

/* Opens standard streams that are closed. Otherwise the next opened file would get
 * the number of a standard stream, and the job's output. Writing to a closed stdout
 * stays an error. */
static void open_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR);
}

/* Descriptors that pmixrun needs for itself, and for each process: for its end, its
 * output, and programs of PMI-1 and PMI-2. They are measured for the default
 * components, with some to spare. */
enum { OWN_FDS = 40, PROCESS_FDS = 4 };

/* Checks the hard limit of descriptors before anything starts. The library raises the
 * soft limit. */
static bool has_descriptors(const struct options *o)
{
    struct rlimit limit;
    long n = 0;

    for (size_t i = 0; i < o->n_programs; i++)
        n += o->programs[i].n ? o->programs[i].n : 1;
    const rlim_t needed = OWN_FDS + PROCESS_FDS * (rlim_t)n;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_max >= needed)
        return true;
    complain("cannot start %ld process%s: %llu file descriptors are needed, and the "
             "hard limit is %llu (see ulimit -Hn)",
             n, n == 1 ? "" : "es", (unsigned long long)needed,
             (unsigned long long)limit.rlim_max);
    return false;
}

int main(int argc, char **argv)
{
    static struct options options; /* lives until the end */
    int status;

    (void)argc;
    os_limit_free_memory();
    open_streams();
    options_parse(&options, argv);
    if (options.dirs)
        return clean(&options);
    if (options.engine && !options.dvm.task)
        return options.report_pid && !report_pid(options.report_pid)
                   ? EXIT_TROUBLE
                   : engine_run(options.engine, &options);
    if (options.n_programs)
        engine_show(&options, "local");
    if (options.singleton.nspace[0])
        singleton_begin(&options);
    if (options.dvm.task == DVM_TERMINATE)
        return submit_terminate(&options);
    dvm_begin(&options);
    if ((options.dvm.task == DVM_NONE && !has_descriptors(&options)) ||
        (options.report_pid && !report_pid(options.report_pid)))
        return EXIT_TROUBLE;
    /* Under an unknown launcher, Open MPI 4's schizo/orte makes each process a job of
     * its own. In an allocation schizo/slurm does so. */
    (void)setenv("OMPI_MCA_schizo", "^orte,slurm", 0);
    orphans_adopt();
    if (options.timeline)
        timeline_begin(options.timeline);
    if (options.progress || options.top)
        progress_begin();
    status = launch(&options);
    progress_end();
    if (!timeline_end() && status == EXIT_SUCCESS)
        status = EXIT_TROUBLE;
    if (options.engine) /* of pmixruns that were killed */
        orphans_await(ENGINE_END_MS);
    orphans_end();
    return status;
}
