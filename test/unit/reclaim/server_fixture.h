/* SPDX-License-Identifier: BSD-3-Clause */
/* A server that is no more, for tests: its folder with the journal, and processes that
 * it has had. */
#ifndef PX_SERVER_FIXTURE_H
#define PX_SERVER_FIXTURE_H

#include "core/base/clock.h"
#include "reclaim_fixture.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static char dir[PATH_MAX]; /* of the server */
static int journal = -1;
static struct px_pcleanup_totals totals;

static const struct px_reclaim sweep = {
    .journal = -1, .node = "node", .timeout_ms = 20000};

/* With a head that says it was here. */
static inline void begin_journal(void)
{
    char here[320];

    px_journal_whereabouts("node", here);
    append(journal, &(struct px_journal_record){
                        .type = PX_JOURNAL_HEAD, .x = 1, .y = 1, .path = here});
}

static inline void make_server(const char *name)
{
    strcpy(dir, in("%s", name));
    ck_assert_int_eq(mkdir(dir, 0700), 0);
    journal = open(in("%s/" PX_JOURNAL_NAME, name),
                   O_CREAT | O_EXCL | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
    ck_assert_int_ge(journal, 0);
    begin_journal();
}

static inline void setup(void)
{
    make_top();
    make_server("pmix-server.abcdef");
    totals = (struct px_pcleanup_totals){0};
}

static inline void teardown(void)
{
    close(journal);
    remove_top();
}

static inline int remains(bool wait)
{
    return px_reclaim_server_dir(&sweep, dir, -1, wait, &totals);
}

static inline void append_proc(uint64_t scope, uint32_t slot, pid_t pid, uint64_t start,
                               uint16_t flags)
{
    append(journal, &(struct px_journal_record){.type = PX_JOURNAL_PROC,
                                                .flags = flags,
                                                .slot = slot,
                                                .scope = scope,
                                                .uid = geteuid(),
                                                .x = (uint64_t)pid,
                                                .y = start});
}

static inline void file_in(uint64_t scope, uint32_t slot, const char *name)
{
    make_file(in("%s", name));
    append_item(journal, scope, slot, PX_RM_FILE, 0, in("%s", name));
}

/* A child that sleeps, with a group of its own; ended and waited for by end(). */
static inline pid_t start_process(void)
{
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setpgid(0, 0);
        for (;;)
            pause();
    }
    setpgid(pid, pid);
    return pid;
}

/* The signal that ended it; 0 if it lives, and ends only now. */
static inline int end(pid_t pid)
{
    int status = 0;

    if (waitpid(pid, &status, WNOHANG) == pid)
        return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return 0;
}

/* The signal that ended it or is about to; 0 if it goes on living. */
static inline int ended_by(pid_t pid)
{
    siginfo_t info;

    for (uint64_t until = px_clock_ms() + 10000; px_clock_ms() < until;) {
        info.si_pid = 0;
        ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT),
                         0);
        if (info.si_pid == pid)
            break;
        usleep(1000);
    }
    return end(pid);
}

#endif
