/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine as a child: its output, its messages about processes, signals and the time
 * limit. */
#include "engine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine_lines.h"

extern char **environ;

/* Between the two interrupts that cancel a job of Flux. */
enum { AGAIN_MS = 300 };

enum { MAX_STEPS_B = 1 << 20 }; /* of a list of steps */

/* Steps to end the job. */
enum urge { NOT, ASKED, KILLED, GIVEN_UP };

struct run {
    struct engine_job *job;
    struct engine_lines lines;
    pid_t pid; /* of the engine; 0: it has ended */
    int engine_status;
    int signal_fd, child_fd;
    int err_fd; /* write end for srun's --error; -1: none */
    enum urge urge;
    int64_t deadline_ms; /* INT64_MAX: none */
    int status;          /* exit status after a signal or the time limit */
    uint64_t wanted; /* signals for the processes, as bits, until the step is known */
    int steps_fd;    /* list of steps from scontrol; -1: none */
    char *steps;     /* the list so far */
    size_t n_steps;
    char *step; /* number of the step, or NULL */
};

/* ---- start ----------------------------------------------------------------------- */

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* Variables that give other options to srun than pmixrun's. */
static const char *const unwanted[] = {
    "SLURM_NTASKS_PER_NODE", "SLURM_DISTRIBUTION",      "SLURM_LABELIO",
    "SLURM_STDOUTMODE",      "SLURM_STDERRMODE",        "SLURM_STDINMODE",
    "SLURM_HOSTFILE",        "SLURM_UNBUFFEREDIO",      "SLURM_CPU_BIND",
    "SLURM_MULTI_PROG",      "SLURM_ARBITRARY_NODELIST"};

/* Removes a variable from a copy of an environment. */
static void remove_variable(char **env, const char *name)
{
    const size_t len = strlen(name);

    while (*env && (strncmp(*env, name, len) != 0 || (*env)[len] != '='))
        env++;
    if (!*env)
        return;
    free(*env);
    do
        env[0] = env[1];
    while (*env++);
}

/* Returns the environment of the engine, with the variables of -x and --mca. */
static char **make_environment(const struct options *o)
{
    char **env = need(PMIx_Argv_copy(environ));

    for (size_t i = 0; i < sizeof(unwanted) / sizeof(unwanted[0]); i++)
        remove_variable(env, unwanted[i]);
    for (char **at = o->n_programs == 1 ? o->programs->env : o->env; at && *at; at++) {
        char *name = need_text("%.*s", (int)strcspn(*at, "="), *at);

        if (PMIx_Setenv(name, strchr(*at, '=') + 1, true, &env))
            need(NULL);
        free(name);
    }
    return env;
}

/* Becomes the engine. The engine has no terminal to get signals from, and ends the job
 * when pmixrun is killed. */
static void become_engine(const struct engine_job *job, char **env, pid_t parent,
                          const int streams[2])
{
    sigset_t none;

    sigemptyset(&none);
    setsid();
    os_end_with_parent(SIGTERM);
    os_leave_server(); /* the engine has to end the step */
    if (getppid() != parent)
        _exit(EXIT_TROUBLE);
    for (int i = 0; i < 2; i++)
        if (streams[i] >= 0 && dup2(streams[i], STDOUT_FILENO + i) < 0)
            _exit(EXIT_TROUBLE);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(job->path, job->words, env);
    complain("cannot run %s: %s", job->path, strerror(errno));
    _exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

/* Makes a pipe for a source of lines. Returns its write end. */
static int make_source(struct run *run, enum engine_source source)
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC) || fcntl(fds[0], F_SETFL, O_NONBLOCK))
        fail("cannot make a pipe: %s", strerror(errno));
    run->lines.fds[source] = fds[0];
    return fds[1];
}

/* Inserts an option after the engine's own first arguments. */
static void insert(struct engine_job *job, size_t at, char *word)
{
    engine_put(job, NULL);
    memmove(&job->words[at + 1], &job->words[at],
            (job->n - 1 - at) * sizeof(*job->words));
    job->words[at] = word;
}

/* Starts the engine, with pipes for the streams that pmixrun reads. */
static void start(struct run *run)
{
    struct engine_job *job = run->job;
    int streams[2] = {-1, -1}, err = -1;
    char **env = make_environment(job->options);
    const pid_t parent = getpid();

    if (job->labelled)
        streams[0] = make_source(run, ENGINE_STDOUT);
    if (job->engine->is_slurm) {
        err = make_source(run, ENGINE_STDERR); /* apart from srun's own lines */
        insert(job, 1, need_text("--error=%s", os_path_of_fd(err)));
        streams[1] = make_source(run, ENGINE_OWN);
    } else if (job->labelled) {
        streams[1] = make_source(run, ENGINE_STDERR);
    }
    run->pid = fork();
    if (run->pid == 0)
        become_engine(job, env, parent, streams);
    if (run->pid < 0)
        fail("cannot start %s: %s", job->engine->program, strerror(errno));
    for (int i = 0; i < 2; i++)
        close_fd(streams[i]);
    run->err_fd = err; /* srun opens it by its name */
    PMIx_Argv_free(env);
}

/* ---- signals for the processes --------------------------------------------------- */

/* Runs a program with this standard output and no other. Returns 0 or an errno. */
static int spawn_helper(const char *const words[], int out)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none;
    pid_t pid;

    sigemptyset(&none);
    if (posix_spawn_file_actions_init(&files) || posix_spawnattr_init(&attr))
        return ENOMEM;
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attr, &none);
    int error = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    if (!error)
        error = posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null",
                                                 O_WRONLY, 0);
    if (!error)
        error = posix_spawnp(&pid, words[0], &files, &attr, (char **)words, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    return error;
}

/* Starts a helper program of Slurm. Returns a descriptor of its output, or -1 after a
 * line about the error. */
static int start_helper(const char *const words[])
{
    int fds[2] = {-1, -1};
    int error = pipe2(fds, O_CLOEXEC) || fcntl(fds[0], F_SETFL, O_NONBLOCK)
                    ? errno
                    : spawn_helper(words, fds[1]);

    close_fd(fds[1]);
    if (!error)
        return fds[0];
    close_fd(fds[0]);
    complain("cannot send a signal to the processes: cannot run %s: %s", words[0],
             strerror(error));
    return -1;
}

/* Sends the wanted signals to the processes of the step. */
static void send_wanted(struct run *run)
{
    for (int signum = 1; signum < 64; signum++) {
        char *option = need_text("--signal=%d", signum);

        if (run->wanted & (UINT64_C(1) << signum))
            close_fd(
                start_helper((const char *[]){"scancel", option, run->step, NULL}));
        free(option);
    }
    run->wanted = 0;
}

/* Finds the number of the step that our srun has: "StepId=3.1 ...
 * SrunHost:Pid=n0:17". */
static void read_step(struct run *run)
{
    static const char key[] = "StepId=";
    char *end = need_text(":%ld", (long)run->pid), *rest = run->steps, *line;

    while (!run->step && (line = strsep(&rest, "\n"))) {
        size_t n = strlen(line);

        while (n > 0 && line[n - 1] == ' ')
            line[--n] = '\0';
        if (n > strlen(end) && strcmp(line + n - strlen(end), end) == 0 &&
            strncmp(line, key, strlen(key)) == 0)
            run->step = need_text("%.*s", (int)strcspn(line + strlen(key), " "),
                                  line + strlen(key));
    }
    free(end);
}

/* Reads the list of steps as far as it is there. */
static void on_steps(struct run *run)
{
    char bytes[4096];
    ssize_t n;

    while ((n = read(run->steps_fd, bytes, sizeof(bytes))) > 0) {
        run->steps = grow(run->steps, run->n_steps + (size_t)n + 1, 1);
        memcpy(run->steps + run->n_steps, bytes, (size_t)n);
        run->n_steps += (size_t)n;
        run->steps[run->n_steps] = '\0';
        if (run->n_steps > MAX_STEPS_B)
            break;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    close(run->steps_fd);
    run->steps_fd = -1;
    if (run->steps)
        read_step(run);
    if (run->step)
        send_wanted(run);
    else
        complain("cannot find the step of srun: the signal is lost");
}

/* Sends a signal to the processes. srun itself ends the job at most signals. */
static void signal_processes(struct run *run, int signum)
{
    if (!run->job->engine->is_slurm) {
        complain("%s passes signal %d on to no process", run->job->engine->program,
                 signum);
        return;
    }
    run->wanted |= UINT64_C(1) << signum;
    if (run->step)
        send_wanted(run);
    else if (run->steps_fd < 0)
        run->steps_fd = start_helper((const char *[]){
            "scontrol", "--oneliner", "show", "step", getenv("SLURM_JOB_ID"), NULL});
}

/* Takes the next step to end the job. */
static void urge(struct run *run, int signum)
{
    const bool is_slurm = run->job->engine->is_slurm;

    switch (run->urge) {
    case NOT:
        guard_expect_end(run->status);
        run->lines.is_ending = true;
        if (is_slurm)
            signal_processes(run, signum);
        else if (run->pid)
            kill(run->pid, SIGINT);
        run->deadline_ms = now_ms() + (is_slurm ? GRACE_MS : AGAIN_MS);
        run->urge = ASKED;
        break;
    case ASKED:
        if (run->pid)
            kill(run->pid, is_slurm ? SIGTERM : SIGINT);
        run->deadline_ms = now_ms() + (is_slurm ? LAST_MS : GRACE_MS);
        run->urge = KILLED;
        break;
    default:
        run->urge = GIVEN_UP; /* the engine gets a signal when pmixrun ends */
    }
}

/* ---- the job --------------------------------------------------------------------- */

static void on_signals(struct run *run)
{
    int signum;

    while ((signum = guard_next_signal(run->signal_fd))) {
        if (run->job->options->verbose)
            complain("signal %d (%s)", signum, strsignal(signum));
        if (guard_is_passed_on(signum)) {
            signal_processes(run, signum);
            continue;
        }
        if (run->urge == NOT)
            run->status = EXIT_SIGNAL + signum;
        urge(run, signum);
    }
}

static void on_deadline(struct run *run)
{
    if (run->urge == NOT) {
        complain("job ended after %d seconds, its time limit",
                 run->job->options->timeout_s);
        run->status = EXIT_TIMEOUT;
    }
    urge(run, SIGTERM);
}

/* Reaps children: the engine, and helpers. */
static void on_children(struct run *run)
{
    int status;
    pid_t pid;

    while (os_next_signal(run->child_fd))
        continue;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != run->pid)
            continue;
        run->pid = 0;
        run->engine_status = WIFEXITED(status) ? WEXITSTATUS(status)
                                               : EXIT_SIGNAL + WTERMSIG(status);
        close_fd(run->err_fd);
        run->err_fd = -1;
    }
}

static void stay(struct run *run)
{
    const struct options *o = run->job->options;

    run->deadline_ms = o->timeout_s ? now_ms() + o->timeout_s * INT64_C(1000)
                                    : INT64_MAX;
    while (run->urge != GIVEN_UP && (run->pid || engine_lines_left(&run->lines))) {
        struct pollfd fds[4 + ENGINE_SOURCES] = {
            {.fd = run->signal_fd, .events = POLLIN},
            {.fd = run->child_fd, .events = POLLIN},
            {.fd = run->steps_fd, .events = POLLIN}};
        const int64_t left = run->deadline_ms - now_ms();
        const int n = 3 + engine_lines_poll(&run->lines, fds + 3);

        if (poll(fds, (nfds_t)n,
                 run->deadline_ms == INT64_MAX ? -1
                 : left > 0                    ? (int)left
                                               : 0) < 0 &&
            errno != EINTR)
            break;
        on_signals(run);
        on_children(run);
        if (run->steps_fd >= 0 && fds[2].revents)
            on_steps(run);
        engine_lines_read(&run->lines);
        if (now_ms() >= run->deadline_ms)
            on_deadline(run);
    }
}

static int final_status(const struct run *run)
{
    if (run->urge != NOT)
        return run->status;
    if (run->lines.exec_status)
        return run->lines.exec_status;
    return run->lines.failed ? run->lines.failure_status : run->engine_status;
}

/* Returns a descriptor for the ends of children, or -1. */
static int catch_children(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return os_signals(&set);
}

/* Checks the folder of the processes. Slurm would run them in another. */
static bool has_folder(const char *dir)
{
    struct stat st;
    const int error = !dir || stat(dir, &st) == 0 ? 0 : errno;

    if (dir && (error || !S_ISDIR(st.st_mode))) {
        complain("cannot enter directory %s: %s", dir,
                 strerror(error ? error : ENOTDIR));
        return false;
    }
    return true;
}

int engine_start(struct engine_job *job)
{
    static struct run run; /* lives until the end */
    const int caught = catch_signals();

    run.job = job;
    run.steps_fd = run.err_fd = -1;
    engine_lines_init(&run.lines, job);
    run.child_fd = catch_children();
    run.signal_fd = caught < 0 ? -1 : guard_begin(caught);
    if (run.signal_fd < 0 || run.child_fd < 0)
        fail("cannot catch signals: %s", strerror(errno));
    if (!has_folder(job->options->dir) ||
        (job->labelled && !engine_output_begin(job->options)))
        return EXIT_TROUBLE;
    start(&run);
    stay(&run);
    engine_lines_end(&run.lines);
    guard_end();
    if (job->labelled)
        engine_output_end();
    return final_status(&run);
}
