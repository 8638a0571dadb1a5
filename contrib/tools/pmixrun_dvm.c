/* SPDX-License-Identifier: BSD-3-Clause */
/* The server that stays (DVM): its options, those of the commands that use it, and the
 * server itself. pmixrun_submit.c has the commands. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmix_server.h>

#include "engine/engine.h"
#include "pmixrun.h"

#define GRACE "PMIX_MCA_embedded_grace"

enum {
    NEWS_B = 1 << 20, /* of a pipe: ends of some 4000 jobs */
    GATHER_MS = 20,   /* for the ends of jobs whose orphans are sought at once */
};

/* ---- options --------------------------------------------------------------------- */

/* Reads an option with an argument that names a server. */
static void take_server(struct options *o, const char *option, char *text)
{
    if (o->dvm.server)
        usage("%s contradicts %s", option, o->dvm.server);
    if (!*text)
        usage("%s \"\" is empty", option);
    o->dvm.server = option;
    if (strcmp(option, "--dvm-pid") == 0) {
        const pid_t pid = number(option, text, INT_MAX);

        add_param(o, PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
    } else if (strcmp(option, "--dvm-uri") == 0) {
        add_param(o, PMIX_SERVER_URI, text, PMIX_STRING);
    } else {
        o->dvm.name = text;
    }
}

static void set_task(struct options *o, const char *option, enum dvm_task task)
{
    if (o->dvm.task && o->dvm.task != task)
        usage("%s contradicts an earlier option", option);
    o->dvm.task = task;
}

bool dvm_take_option(struct options *o, char ***at)
{
    char *option = **at;

    if (is_option(option, "--serve", "--daemonize")) {
        set_task(o, option, DVM_SERVE);
        o->dvm.daemonize |= strcmp(option, "--daemonize") == 0;
    } else if (strcmp(option, "--submit") == 0) {
        set_task(o, option, DVM_SUBMIT);
    } else if (strcmp(option, "--terminate") == 0) {
        set_task(o, option, DVM_TERMINATE);
    } else if (is_option(option, "--dvm-uri", "--dvm-pid") ||
               strcmp(option, "--dvm-name") == 0) {
        take_server(o, option, argument(at));
    } else if (strcmp(option, "--slots") == 0) {
        o->dvm.slots = number(option, argument(at), DVM_MAX_SLOTS);
    } else if (strcmp(option, "--no-wait") == 0) {
        o->dvm.no_wait = true;
    } else if (strcmp(option, "--no-ready-msg") == 0) {
        o->dvm.quiet = true;
    } else {
        return false;
    }
    return true;
}

/* Returns the number of CPUs that this process may use. */
static int count_cpus(void)
{
    cpu_set_t cpus;
    const int n = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 0;

    return n > 0 ? n : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* Returns the process number of a living server with this name; 0: none. Reads the
 * server's rendezvous file, whose third line is that number. */
static pid_t find_namesake(const struct options *o, const char *name)
{
    static const char *const vars[] = {"PMIX_SERVER_TMPDIR", "TMPDIR", "TEMP", "TMP"};
    const char *dir = NULL;
    char host[256] = "", *path, line[4096];
    FILE *file;
    pid_t pid = 0;

    for (size_t i = 0; i < o->n_params; i++)
        if (PMIx_Check_key(o->params[i].key, PMIX_SERVER_TMPDIR))
            dir = o->params[i].value.data.string;
    for (size_t i = 0; !dir && i < sizeof(vars) / sizeof(vars[0]); i++)
        dir = secure_getenv(vars[i]);
    (void)gethostname(host, sizeof(host) - 1);
    path = need_text("%s/pmix.%s.%s", dir ? dir : "/tmp", host, name);
    file = fopen(path, "re");
    for (int i = 0; file && i < 3 && fgets(line, sizeof(line), file); i++)
        pid = i == 2 ? (pid_t)atol(line) : 0;
    if (file)
        fclose(file);
    free(path);
    return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM) ? pid : 0;
}

/* Chooses the name of a server. A second server of a user without a name of its own is
 * found by its address or process number only. */
static void choose_name(struct options *o)
{
    const pid_t pid = find_namesake(o, dvm_name(o));

    if (pid && o->dvm.name)
        usage("--dvm-name %s: the server with this name runs, pid %ld", o->dvm.name,
              (long)pid);
    if (pid)
        o->dvm.name = need_text("%s-%ld", dvm_name(o), (long)getpid());
    add_param(o, PMIX_SERVER_NSPACE, dvm_name(o), PMIX_STRING);
}

/* Reads the nodes of --host and --hostfile, which need an allocation, except numbers of
 * slots. */
static void read_nodes(const struct options *o, struct engine_nodes *nodes)
{
    for (size_t i = 0; i < o->n_asked; i++) {
        const bool is_file = PMIx_Check_key(o->asked[i].key, PMIX_HOSTFILE);

        if (is_file && !o->engine)
            usage("--hostfile is not supported by a server of one node: --host NODE:N "
                  "gives a number of slots");
        if (is_file || PMIx_Check_key(o->asked[i].key, PMIX_HOST))
            engine_nodes_read(nodes, is_file ? "--hostfile" : "--host",
                              o->asked[i].value.data.string);
    }
}

static void check_server(struct options *o)
{
    const bool yes = true;
    struct engine_nodes nodes = {0};
    char *slots;

    if (o->runs || o->clean || o->singleton.nspace[0] || o->timeout_s ||
        o->keepalive >= 0 || o->dvm.no_wait)
        usage("a server that stays goes without options for programs");
    if (o->dvm.server && !o->dvm.name)
        usage("%s has no meaning for a server; use --dvm-name", o->dvm.server);
    read_nodes(o, &nodes);
    slots = need_text("%ld", o->engine         ? engine_serve(o, &nodes)
                             : o->dvm.slots    ? o->dvm.slots
                             : nodes.has_slots ? engine_nodes_slots(&nodes)
                                               : count_cpus());
    add_param(o, "PMIX_MCA_embedded_slots", slots, PMIX_STRING);
    if (o->verbose)
        complain("launcher %s, %s slots", o->engine ? o->engine->name : "local", slots);
    free(slots);
    if (o->engine && !secure_getenv(GRACE)) /* pmixrun ends its job in less time */
        add_default(o, GRACE, "5s");
    choose_name(o);
    add_param(o, PMIX_SERVER_TOOL_SUPPORT, &yes, PMIX_BOOL);
}

void dvm_check(struct options *o)
{
    if (o->dvm.task == DVM_SERVE) {
        check_server(o);
    } else if (o->dvm.task) {
        submit_check(o);
    } else if (o->dvm.no_wait || o->dvm.slots || o->dvm.quiet) {
        usage("%s needs %s",
              o->dvm.no_wait ? "--no-wait"
              : o->dvm.slots ? "--slots"
                             : "--no-ready-msg",
              o->dvm.no_wait ? "--submit" : "--serve or --daemonize");
    }
}

const char *dvm_name(const struct options *o)
{
    static char made[64]; /* each user has a server of this name */

    snprintf(made, sizeof(made), "tenon-dvm-%lu", (unsigned long)geteuid());
    return o->dvm.name ? o->dvm.name : made;
}

/* ---- the daemon ------------------------------------------------------------------ */

static int ready_fd = -1; /* to the command that waits for the daemon; -1: none */

/* Waits for the daemon, and ends with the daemon's status if it does not start. */
static void __attribute__((noreturn)) await_daemon(pid_t pid, int fd)
{
    char byte;
    int status = 0;
    ssize_t n;

    do
        n = read(fd, &byte, 1);
    while (n < 0 && errno == EINTR);
    if (n == 1)
        _exit(EXIT_SUCCESS);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    _exit(WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status)
                                                   : EXIT_TROUBLE);
}

void dvm_begin(const struct options *o)
{
    int fds[2];
    pid_t pid;

    if (!o->dvm.daemonize)
        return;
    if (pipe2(fds, O_CLOEXEC) < 0 || (pid = fork()) < 0)
        fail("cannot start a daemon: %s", strerror(errno));
    if (pid > 0) {
        close(fds[1]);
        await_daemon(pid, fds[0]);
    }
    close(fds[0]);
    ready_fd = fds[1];
    (void)setsid();
}

/* Leaves the standard streams of the command, and lets the command end. */
static void detach(void)
{
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
        (void)dup2(null, fd);
    if (null > STDERR_FILENO)
        close(null);
    (void)!chdir("/");
    (void)!write(ready_fd, "", 1);
    close(ready_fd);
    ready_fd = -1;
}

static void report_ready(const struct options *o)
{
    if (o->dvm.daemonize)
        detach();
    else if (!o->dvm.quiet)
        (void)dprintf(STDOUT_FILENO, "DVM ready\n");
}

/* ---- the wait -------------------------------------------------------------------- */

/* Event for the main thread. */
struct news {
    bool ends;         /* a command ends this server */
    pmix_nspace_t job; /* that has ended */
};

static int news_fds[2] = {-1, -1};

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source,
                     pmix_info_t info[], size_t n_info, pmix_info_t *results,
                     size_t n_results, pmix_event_notification_cbfunc_fn_t done,
                     void *cbdata)
{
    struct news n = {.ends = code == PMIX_ERR_JOB_KILLED_BY_CMD};

    (void)id;
    (void)source;
    (void)results;
    (void)n_results;
    for (size_t i = 0; i < n_info; i++)
        if (PMIx_Check_key(info[i].key, PMIX_NSPACE) &&
            info[i].value.type == PMIX_STRING)
            PMIx_Load_nspace(n.job, info[i].value.data.string);
    (void)!write(news_fds[1], &n, sizeof(n)); /* full: the server's end kills orphans */
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static pmix_status_t subscribe(void)
{
    pmix_status_t codes[] = {PMIX_EVENT_JOB_END, PMIX_ERR_JOB_KILLED_BY_CMD};
    pmix_status_t rc;

    if (pipe2(news_fds, O_CLOEXEC | O_NONBLOCK) < 0)
        return PMIX_ERR_OUT_OF_RESOURCE;
    os_widen_pipe(news_fds[1], NEWS_B);
    rc = PMIx_Register_event_handler(codes, sizeof(codes) / sizeof(codes[0]), NULL, 0,
                                     on_event, NULL, NULL);
    return rc < 0 ? rc : PMIX_SUCCESS;
}

/* Handles ended jobs. Looks once for the orphans of many jobs. True if a command ends
 * this server. */
static bool read_news(void)
{
    struct news some[32];
    bool ends = false;
    ssize_t got;

    while ((got = read(news_fds[0], some, sizeof(some))) > 0) {
        const bool orphans = orphans_exist();

        for (size_t i = 0; i < (size_t)got / sizeof(some[0]); i++) {
            ends |= some[i].ends;
            if (orphans && !some[i].ends)
                orphans_end_of(some[i].job);
        }
    }
    return ends;
}

int dvm_serve(const struct options *o, int signal_fd)
{
    struct pollfd fds[] = {{.fd = signal_fd, .events = POLLIN},
                           {.fd = -1, .events = POLLIN}};
    pmix_status_t rc = subscribe();
    int status = 0, signum;
    bool ends = false;

    if (rc) {
        complain("cannot watch jobs: %s", PMIx_Error_string(rc));
        return EXIT_TROUBLE;
    }
    fds[1].fd = news_fds[0];
    report_ready(o);
    while (!ends && !status) {
        if (poll(fds, sizeof(fds) / sizeof(fds[0]), -1) < 0 && errno != EINTR)
            break;
        if (fds[1].revents) /* more ends may follow */
            (void)poll(fds, 1, GATHER_MS);
        while ((signum = guard_next_signal(signal_fd)))
            if (!guard_is_passed_on(signum))
                status = EXIT_SIGNAL + signum;
        ends = read_news();
    }
    return status;
}
