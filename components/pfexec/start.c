/* SPDX-License-Identifier: BSD-3-Clause */
#include "components/pfexec/start.h"

#include "components/pfexec/child.h"
#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/fd.h"
#include "core/base/list.h"
#include "core/os/os.h"
#include "core/os/proc.h"
#include "core/base/str.h"
#include "core/os/group.h"
#include "core/reclaim/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum {
    KILL_MS = 1000, /* time limit for a killed child to end */
    STATUS_LOST = 255 << 8,
};

enum { CGROUP_NO, CGROUP_TRY, CGROUP_YES };

struct pfexec {
    const struct px_services *services;
    struct px_pfexec_conf conf;
    const struct px_pfexec_way *way;
    struct px_starters *starters;
    uint64_t start_time; /* of this process; 0: not read yet */
    int group;           /* folder of the control group; -1: none yet */
    struct px_list children;
};

enum stage {
    STARTING, /* has not reported yet */
    STOPPING, /* runs its program, and will be stopped */
    GONE,     /* ended before it could be watched */
    FAILED,   /* did not become the program; reported after its end */
    STARTED,  /* on_start has been called, or is not wanted */
};

/* Process that runs, or has ended and waits for the loop to reap it. */
struct child {
    struct px_list link;
    struct pfexec *owner;
    pid_t pid;
    int pidfd; /* closed by the core; -1: none */
    enum stage stage;
    bool reaped; /* the pid may belong to another process */
    int line;    /* see child.h; -1: no report is expected */
    struct px_watch *watch;
    struct px_timer *timer;
    uint64_t nap_ms; /* pause between attempts to stop the process */
    struct px_pfexec_failure failure;
    struct px_pfexec_plan
        *plan;                  /* of a child that shares memory, until exec; or NULL */
    struct px_pfexec_spec spec; /* only functions, flags and arg stay valid */
    char *cwd;                  /* stored behind program; NULL: none */
    char program[];
};

static const struct px_param_name cgroup_names[] = {
    {"no", CGROUP_NO}, {"try", CGROUP_TRY}, {"yes", CGROUP_YES}, {NULL, 0}};

const struct px_param px_pfexec_params[] = {
    PX_PARAM_DURATION(
        struct px_pfexec_conf, start_timeout, "10s", 10, 3600000,
        "Time limit of the start of a program, e.g. from a file system that does not "
        "answer"),
    PX_PARAM_ENUM(
        struct px_pfexec_conf, cgroup, "no", cgroup_names,
        "Run programs in a control group below the server's own; try: only where "
        "possible"),
    PX_PARAM_END,
};

/* ---- children ------------------------------------------------------------------- */

/* Creates the record of a child. The descriptors of spec are not taken. */
static struct child *child_create(struct pfexec *p, const struct px_pfexec_spec *spec)
{
    size_t program_b = strlen(spec->program) + 1;
    size_t cwd_b = spec->cwd ? strlen(spec->cwd) + 1 : 0;
    struct child *c = malloc(sizeof(*c) + program_b + cwd_b);

    if (!c)
        return NULL;
    *c = (struct child){
        .owner = p, .pidfd = -1, .line = -1, .nap_ms = 1, .spec = *spec};
    px_list_init(&c->link);
    memcpy(c->program, spec->program, program_b);
    if (cwd_b)
        c->cwd = memcpy(c->program + program_b, spec->cwd, cwd_b);
    return c;
}

/* Stops waiting for the report of a start. */
static void stop_waiting(struct child *c)
{
    const struct px_services *services = c->owner->services;

    services->unwatch(px_take(&c->watch));
    services->timer_free(px_take(&c->timer));
    px_drop_fd(&c->line);
}

/* Frees the plan of a child that has left our memory. */
static void drop_plan(struct child *c)
{
    if (c->plan && c->owner->starters)
        c->owner->way->release(c->owner->starters, c->plan);
    free(px_take(&c->plan));
}

/* Frees the record of a child that has ended, or has no plan. */
static void child_free(struct child *c)
{
    stop_waiting(c);
    drop_plan(c);
    px_list_remove(&c->link);
    free(c);
}

static struct child *find(struct pfexec *p, pid_t pid)
{
    PX_LIST_EACH (&p->children, struct child, c, link) {
        if (c->pid == pid && !c->reaped)
            return c;
    }
    return NULL;
}

/* Sends a signal to the group or the process, by pidfd, which never means another
 * process. Without a pidfd the pid stays ours until we reap the child, unless another
 * part of this program reaps it. Returns 0 or an errno. */
static int send_to(const struct child *c, int signum, bool group)
{
    int errnum = px_os_pidfd_signal(c->pidfd, signum, group);

    if (errnum == 0 || errnum == ESRCH ||
        px_os_pidfd_signal(c->pidfd, 0, false) == ESRCH)
        return errnum; /* otherwise the kernel lacks the call */
    return kill(group ? -c->pid : c->pid, signum) ? errno : 0;
}

/* Kills the group, and the process, which may have left the group. */
static void kill_now(const struct child *c)
{
    if (c->reaped)
        return;
    send_to(c, SIGKILL, true);
    send_to(c, SIGKILL, false);
}

/* ---- from start to end ----------------------------------------------------------- */

static void report_start(const struct child *c, pmix_status_t status, const char *why)
{
    if (c->spec.on_start)
        c->spec.on_start(c->spec.arg, c->pid, status, why);
}

static void report_failure(struct child *c)
{
    const struct pfexec *p = c->owner;
    struct px_err err = {0};
    pmix_status_t rc;

    if (c->failure.step == PX_PFEXEC_NOT_IN_TIME)
        rc = px_err_set(&err, PMIX_ERR_TIMEOUT,
                        "cannot run " PX_PFEXEC_NAME ": not started within %llu ms",
                        c->program, (unsigned long long)p->conf.start_timeout);
    else
        rc = px_pfexec_describe(&c->failure, c->program, c->cwd, &err);
    c->stage = STARTED;
    report_start(c, rc, err.text);
}

/* Reads the report of a start. False: no report yet. End of file means that the program
 * runs, or that the process was killed before. */
static bool read_report(struct child *c)
{
    ssize_t n = PX_RETRY(recv(c->line, &c->failure, sizeof(c->failure), MSG_DONTWAIT));

    if (n < 0 && errno == EAGAIN)
        return false;
    c->stage = n == (ssize_t)sizeof(c->failure)         ? FAILED
               : c->spec.flags & PX_PFEXEC_STOP_AT_EXEC ? STOPPING
                                                        : STARTED;
    return true;
}

static void give_up(struct child *c)
{
    c->failure.step = PX_PFEXEC_NOT_IN_TIME;
    c->stage = FAILED;
    kill_now(c);
    c->owner->services->watch_set(c->watch, 0);
    c->owner->services->timer_set(c->timer, KILL_MS);
}

/* Stops the new program. exec closes the line shortly before it stops for this thread,
 * which traces the process. */
static void try_stop(struct child *c)
{
    c->owner->services->watch_set(c->watch, 0);
    if (px_os_untrace_stopped(c->pid)) {
        c->stage = STARTED;
    } else if (c->nap_ms > c->owner->conf.start_timeout) {
        give_up(c);
    } else {
        c->owner->services->timer_set(c->timer, c->nap_ms);
        c->nap_ms *= 2;
    }
}

static void on_report(struct child *c)
{
    if (c->stage == STOPPING)
        try_stop(c);
    if (c->stage == STARTED) {
        stop_waiting(c);
        drop_plan(c);
        report_start(c, PMIX_SUCCESS, "");
    } else if (c->stage == FAILED) { /* the process exits by itself */
        c->owner->services->watch_set(c->watch, 0);
        c->owner->services->timer_set(c->timer, KILL_MS);
    }
}

static void on_line(void *arg, int fd PX_UNUSED, unsigned events PX_UNUSED)
{
    struct child *c = arg;

    if (read_report(c))
        on_report(c);
}

static void on_end(void *arg, pid_t pid, int wait_status)
{
    struct child *c = arg;
    const struct px_services *services = c->owner->services;
    const struct rusage *usage = c->stage == GONE ? NULL
                                                  : services->child_usage(services);

    bool reported = c->stage == STARTED;

    c->reaped = true;
    if (c->stage == STARTING)
        (void)read_report(c);
    if (c->stage == FAILED) {
        report_failure(c);
    } else {
        c->stage = STARTED;
        if (!reported)
            report_start(c, PMIX_SUCCESS, "");
        if (c->spec.on_exit)
            c->spec.on_exit(c->spec.arg, pid, wait_status, usage);
    }
    child_free(c);
}

static void on_timer(void *arg)
{
    struct child *c = arg;
    const struct px_services *services = c->owner->services;

    if (c->stage == GONE) {
        on_end(c, c->pid, STATUS_LOST);
    } else if (c->stage == STOPPING) {
        on_report(c);
    } else if (c->stage == FAILED) {
        /* The process hangs in a dead file system, and is reaped later. */
        services->log(services, PX_LOG_WARN, "process %ld does not die", (long)c->pid);
        c->spec.on_exit = NULL;
        stop_waiting(c);
        report_failure(c);
    } else if (read_report(c)) { /* late, because this process was held up */
        on_report(c);
    } else {
        give_up(c);
    }
}

/* ---- starting ------------------------------------------------------------------- */

/* True if the child may share the memory of this process until exec. The thread that
 * makes a child is its tracer. A child of another user must not reach the memory. */
static bool may_share(const struct pfexec *p, const struct px_pfexec_spec *spec)
{
    return p->way->run && p->services->may_start_threads(p->services) && !spec->user &&
           !(spec->flags & PX_PFEXEC_STOP_AT_EXEC);
}

/* Forks with all signals blocked, so that no handler of the parent runs in the
 * child. */
static pid_t fork_child(struct child *c, const struct px_pfexec_plan *plan)
{
    sigset_t all;
    sigset_t was;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &was);
    pid_t pid = c->owner->way->fork(&c->pidfd);
    if (pid == 0)
        px_pfexec_run_child(plan);
    int errnum = errno;
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    errno = errnum;
    return pid;
}

static pmix_status_t run_plan(struct child *c, const struct px_pfexec_plan *plan,
                              struct px_err *err)
{
    struct pfexec *p = c->owner;

    if (may_share(p, plan->spec)) {
        c->plan = px_pfexec_plan_copy(plan);
        if (!c->plan)
            return px_err_set(err, PMIX_ERR_NOMEM, "out of memory");
        c->pid = p->way->run(&p->starters, c->plan, &c->pidfd);
    }
    if (c->pid == 0)
        c->pid = fork_child(c, plan);
    return c->pid < 0 ? px_err_errno(err, "cannot fork") : PMIX_SUCCESS;
}

/* Opens the control group; the first child makes the group. *members stays -1 without a
 * group if none is required. */
static pmix_status_t open_group(struct pfexec *p, int *members, struct px_err *err)
{
    bool must = p->conf.cgroup == CGROUP_YES;
    struct px_osproc_stat st = {0};

    if (p->conf.cgroup == CGROUP_NO || (p->start_time && p->group < 0 && !must))
        return PMIX_SUCCESS;
    if (p->group < 0) {
        p->start_time = px_osproc_stat(getpid(), &st) ? st.start : 1;
        p->group = px_group_make(getpid(), p->start_time);
    }
    if (p->group < 0) {
        px_err_errno(err, "cannot make a control group");
        if (!must)
            p->services->log(p->services, PX_LOG_INFO, "%s", err->text);
        return must ? PMIX_ERR_JOB_SYS_OP_FAILED : PMIX_SUCCESS;
    }
    *members = openat(p->group, "cgroup.procs", O_WRONLY | O_CLOEXEC);
    return *members < 0 ? px_err_errno(err, "cannot open its control group")
                        : PMIX_SUCCESS;
}

static pmix_status_t make_child(struct child *c, struct px_err *err)
{
    const struct px_pfexec_spec *spec = &c->spec;
    const struct px_services *services = c->owner->services;
    bool needs_null = spec->fds[0] < 0 || spec->fds[1] < 0 || spec->fds[2] < 0;
    PX_AUTOCLOSE int null_fd = needs_null ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
    int ends[2];

    if (needs_null && null_fd < 0)
        return px_err_errno(err, "cannot open /dev/null");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return px_err_errno(err, "cannot make a socket");
    PX_AUTOCLOSE int far_end = ends[1]; /* so that the child has the only copy */
    c->line = ends[0];
    c->watch = services->watch(services, c->line, PX_READABLE, on_line, c);
    c->timer = services->timer(services, on_timer, c);
    if (!c->watch || !c->timer)
        return px_err_set(err, PMIX_ERR_NOMEM, "out of memory");
    PX_AUTOCLOSE int members = -1;
    pmix_status_t rc = open_group(c->owner, &members, err);
    if (rc)
        return rc;
    const struct px_pfexec_plan plan = {.spec = spec,
                                        .parent = getpid(),
                                        .null_fd = null_fd,
                                        .line = far_end,
                                        .far_end = c->line,
                                        .members = members,
                                        .may_stay_out = c->owner->conf.cgroup !=
                                                        CGROUP_YES};
    return run_plan(c, &plan, err);
}

/* Watches the child, which waits for its go-ahead. So the child can only have ended by
 * a signal. */
static pmix_status_t watch_child(struct child *c, struct px_err *err)
{
    const struct px_services *services = c->owner->services;
    int rc = services->child_pidfd(services, c->pid, c->pidfd, on_end, c);

    if (rc == PMIX_ERR_NOT_FOUND) { /* another part of this program has reaped the
                                     * child */
        c->pidfd = -1;
        c->stage = GONE;
        c->reaped = true;
        services->watch_set(c->watch, 0);
        services->timer_set(c->timer, 0);
        return PMIX_SUCCESS;
    }
    if (rc) {
        kill(c->pid, SIGKILL);
        /* the child is not in any file system call yet */
        (void)PX_RETRY(waitpid(c->pid, NULL, PX_OS_WAIT_ALL));
        return px_err_set(err, PMIX_ERR_NOMEM, "cannot watch it: out of memory");
    }
    services->timer_set(c->timer, c->owner->conf.start_timeout);
    return PMIX_SUCCESS;
}

static pmix_status_t start(struct pfexec *p, const struct px_pfexec_spec *spec,
                           pid_t *pid, struct px_err *err)
{
    struct child *c = child_create(p, spec);
    pmix_status_t rc = c ? make_child(c, err)
                         : px_err_set(err, PMIX_ERR_NOMEM, "out of memory");

    if (!rc)
        rc = watch_child(c, err);
    if (rc) {
        px_err_prefix(err, "cannot run " PX_PFEXEC_NAME, spec->program);
        if (c)
            child_free(c);
        return rc;
    }
    if (!(spec->flags & PX_PFEXEC_SESSION))
        setpgid(c->pid, c->pid); /* the child does the same; the first call wins */
    px_list_append(&p->children, &c->link);
    *pid = c->pid;
    if (spec->forked)
        spec->forked(spec->arg, c->pid);
    if (c->stage == STARTING) /* the end of a dead child is reported anyway */
        (void)PX_RETRY(send(c->line, "", 1, MSG_NOSIGNAL));
    return PMIX_SUCCESS;
}

/* ---- operations ----------------------------------------------------------------- */

/* Copies the members that the caller provides. False: the caller sets members or flags
 * that are unknown here. */
static bool read_spec(struct px_pfexec_spec *known, const struct px_pfexec_spec *given)
{
    const char *bytes = (const char *)given;

    memcpy(known, given, given->size < sizeof(*known) ? given->size : sizeof(*known));
    for (size_t i = sizeof(*known); i < given->size; i++)
        if (bytes[i])
            return false;
    return !(known->flags & ~(uint32_t)(PX_PFEXEC_SESSION | PX_PFEXEC_STOP_AT_EXEC |
                                        PX_PFEXEC_TERMINAL));
}

static pmix_status_t pfexec_spawn(void *self, const struct px_pfexec_spec *given,
                                  pid_t *pid, char *why, size_t why_size)
{
    struct px_err err = {.text = "a program and its arguments are needed"};
    struct px_pfexec_spec spec = {0};
    pmix_status_t rc = PMIX_ERR_BAD_PARAM;

    if (!read_spec(&spec, given))
        rc = px_err_set(&err, PMIX_ERR_NOT_SUPPORTED, "cannot start a process so");
    else if (spec.program && spec.argv)
        rc = start(self, &spec, pid, &err);
    if (rc == PMIX_ERR_WOULD_BLOCK) /* EAGAIN: this user may not have more processes */
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    if (rc && why)
        px_str_copy(why, why_size, err.text);
    return rc;
}

static pmix_status_t pfexec_signal(void *self, pid_t pid, int signum)
{
    const struct child *c = find(self, pid);

    if (!c)
        return PMIX_ERR_NOT_FOUND;
    int errnum = send_to(c, signum, true);
    if (getpgid(pid) != pid) /* the process has left the group; a member would get two
                              * signals */
        errnum = send_to(c, signum, false);
    return errnum ? px_status_of_errno(errnum) : PMIX_SUCCESS;
}

/* Drops the callbacks. The process stays in the list to be reaped. The last entry
 * counts: an earlier entry with this pid may have been reaped elsewhere. */
static void pfexec_forget(void *self, pid_t pid)
{
    struct child *last = NULL;

    PX_LIST_EACH (&((struct pfexec *)self)->children, struct child, c, link)
        last = c->pid == pid ? c : last;
    if (last) {
        last->spec.on_start = NULL;
        last->spec.on_exit = NULL;
    }
}

const struct px_pfexec_ops px_pfexec_ops = {
    .spawn = pfexec_spawn,
    .signal = pfexec_signal,
    .forget = pfexec_forget,
};

/* ---- life ----------------------------------------------------------------------- */

pmix_status_t px_pfexec_open(const struct px_services *services, const void *conf,
                             const struct px_pfexec_way *way, void **self)
{
    struct pfexec *p = malloc(sizeof(*p));

    if (!p)
        return PMIX_ERR_NOMEM;
    *p = (struct pfexec){.services = services,
                         .conf = *(const struct px_pfexec_conf *)conf,
                         .way = way,
                         .group = -1};
    px_list_init(&p->children);
    *self = p;
    return PMIX_SUCCESS;
}

void px_pfexec_close(void *self)
{
    struct pfexec *p = self;

    if (!p)
        return;
    PX_LIST_EACH (&p->children, struct child, c, link)
        kill_now(c);
    const bool ended = !p->way->end || p->way->end(px_take(&p->starters));
    PX_LIST_EACH (&p->children, struct child, c, link) {
        if (!ended) /* a child in a dead file system may still use its plan */
            c->plan = NULL;
        p->services->child_forget(p->services, c->pid); /* the child is reaped all the
                                                         * same */
        child_free(c);
    }
    if (p->group >= 0) {
        px_drop_fd(&p->group);
        px_group_end(getpid(), p->start_time, px_reclaim_kill_one);
    }
    free(p);
}
