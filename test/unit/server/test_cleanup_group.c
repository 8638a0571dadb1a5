/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process that we have started leaves in its group: it ends with us, or with whoever reads our
 * journal. */
#include "core/base/fd.h"
#include "core/base/proc.h"
#include "core/base/str.h"
#include "core/server/cleanup/cleanup_impl.h"
#include "fake_host.h"
#include "px_test.h"
#include "raw.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

struct pair {
    pid_t leader, left;
};

static void setup(void)
{
    raw_server_start(&host_module, 2);
}

/* A process that leads a group, and one that it has left behind in it. */
static struct pair start_pair(void)
{
    struct pair pair;
    int fds[2];

    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    ck_assert_int_eq(pipe(fds), 0);
    pair.leader = fork();
    ck_assert_int_ge(pair.leader, 0);
    if (pair.leader == 0) {
        setpgid(0, 0);
        pair.left = fork();
        if (pair.left == 0)
            for (;;)
                pause();
        _exit(write(fds[1], &pair.left, sizeof(pair.left)) < 0);
    }
    ck_assert_int_eq(read(fds[0], &pair.left, sizeof(pair.left)), sizeof(pair.left));
    close(fds[0]);
    close(fds[1]);
    return pair;
}

static void start_on_loop(void *arg)
{
    const struct pair *pair = arg;
    pmix_proc_t proc;

    px_proc_set(&proc, "job", 0);
    px_cleanup_proc_started(px_process.server, &proc, pair->leader);
}

static void end_on_loop(void *arg)
{
    (void)arg;
    pmix_proc_t proc;

    px_proc_set(&proc, "job", 0);
    PX_PARTS_NOTIFY(px_process.server, proc_ended, &proc);
}

static void rewrite_on_loop(void *arg)
{
    (void)arg;
    px_cleanup_rewrite(px_process.server);
}

/* The leader has ended, is reaped and reported. */
static struct pair leave_one(void)
{
    struct pair pair = start_pair();

    raw_on_loop(start_on_loop, &pair);
    ck_assert_int_eq(waitpid(pair.leader, NULL, 0), pair.leader);
    raw_on_loop(end_on_loop, NULL);
    return pair;
}

/* How often the journal says that this process and its group end with us. */
static unsigned times_noted(pid_t pid)
{
    PX_AUTOFREE char *path = px_strf("%s/" PX_JOURNAL_NAME, px_process.server->dir);
    PX_AUTOCLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct px_journal_record r;
    struct stat st;
    size_t at = 0;
    unsigned n = 0;

    ck_assert_int_eq(fstat(fd, &st), 0);
    PX_AUTOFREE uint8_t *bytes = malloc((size_t)st.st_size);
    ck_assert_int_eq(pread(fd, bytes, (size_t)st.st_size, 0), st.st_size);
    while (px_journal_next(bytes, (size_t)st.st_size, &at, &r)) {
        if (r.scope != PX_CLEANUP_GROUPS)
            continue;
        if (r.type == PX_JOURNAL_DONE)
            n = 0;
        n += r.type == PX_JOURNAL_PROC && (r.flags & PX_JOURNAL_END) &&
             r.x == (uint64_t)pid;
    }
    return n;
}

START_TEST(what_an_ended_process_leaves_behind_ends_with_the_server)
{
    struct pair pair = leave_one();
    int status;

    ck_assert_int_eq(kill(pair.left, 0), 0);
    raw_server_stop();
    ck_assert_int_eq(waitpid(pair.left, &status, 0), pair.left);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}
END_TEST

START_TEST(the_journal_knows_the_group_after_its_leader_has_ended)
{
    struct pair pair = leave_one();

    ck_assert_uint_eq(times_noted(pair.leader), 1);
    raw_on_loop(rewrite_on_loop, NULL);
    ck_assert_uint_eq(times_noted(pair.leader), 2);
    raw_server_stop();
    ck_assert_int_eq(waitpid(pair.left, NULL, 0), pair.left);
}
END_TEST

static void count_on_loop(void *arg)
{
    *(uint32_t *)arg = px_process.server->cleanup->n_groups;
}

START_TEST(empty_groups_make_room_for_others)
{
    uint32_t n;

    for (int i = 0; i < 200; i++) {
        struct pair pair = leave_one();

        kill(pair.left, SIGKILL);
        ck_assert_int_eq(waitpid(pair.left, NULL, 0), pair.left);
    }
    raw_on_loop(count_on_loop, &n);
    ck_assert_uint_ge(n, 1);
    ck_assert_uint_le(n, 64);
    raw_server_stop();
}
END_TEST

PX_TEST_MAIN_WITH("server/cleanup_group", setup, host_done,
                  what_an_ended_process_leaves_behind_ends_with_the_server,
                  the_journal_knows_the_group_after_its_leader_has_ended,
                  empty_groups_make_room_for_others)
