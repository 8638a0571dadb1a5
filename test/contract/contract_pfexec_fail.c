/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of pfexec: a failed start leaves nothing behind and delays no other
 * start. */
#include "contract_pfexec.h"

#include "alloc_fail.h"
#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

PX_TEST(a_failure_names_the_program_and_the_reason)
{
    static const struct {
        const char *name,
            *text; /* name and text of a file; text "": a folder, NULL: missing */
        mode_t mode;
        pmix_status_t status;
        const char *reason;
    } rows[] = {
        {"missing", NULL, 0, PMIX_ERR_NOT_FOUND, "No such file or directory"},
        {"script", "#!/no/such/interpreter\n", 0755, PMIX_ERR_NOT_FOUND,
         "its interpreter /no/such/interpreter does not exist"},
        {"plain", "#!/bin/sh\n", 0644, PMIX_ERR_NO_PERMISSIONS, "it is not executable"},
        {"", NULL, 0, PMIX_ERR_NO_PERMISSIONS, "it is a directory"},
        {"fifo", NULL, 0, PMIX_ERR_NO_PERMISSIONS, "it is not a regular file"},
        {"noise", "\001\002 no program\n", 0755, PMIX_ERROR, "Exec format error"},
    };
    PX_AUTO(px_strv) argv = NULL;
    PX_AUTOFREE char *big = px_strf("%0200000d", 0);
    struct job job = job_of("/bin/true");

    ok(mkfifo(px_test_path("fifo"), 0700));
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const char *program = px_test_path(rows[i].name);
        struct job bad = job_of(program);
        PX_AUTOFREE char *why = px_strf("cannot run %s: %s", program, rows[i].reason);

        if (rows[i].text)
            process_write_file(program, rows[i].text, rows[i].mode);
        job_expect_failure(&bad, rows[i].status, why);
    }
    PX_AUTOFREE char *why = px_strf(
        "cannot enter directory %s: No such file or directory",
        px_test_path("missing"));
    job.spec.cwd = px_test_path("missing");
    job_expect_failure(&job, PMIX_ERR_JOB_WDIR_NOT_FOUND, why);
    job = job_of("/bin/true");
    job.spec.fds[1] = 12345;
    job_expect_failure(
        &job, PMIX_ERR_BAD_PARAM,
        "cannot give /bin/true its standard streams: Bad file descriptor");
    ok(px_strv_append(&argv, big));
    job = job_with("/bin/true", argv);
    job_expect_failure(&job, PMIX_ERR_BAD_PARAM,
                       "cannot run /bin/true: Argument list too long");
}

PX_TEST(a_name_of_any_length_leaves_room_for_the_reason)
{
    PX_AUTOFREE char *longer = px_strf("/%03000d", 0);
    struct job job = job_of(longer);

    ck_assert_int_eq(job_try_spawn(&job), PMIX_ERR_BAD_PARAM);
    ck_assert_ptr_nonnull(strstr(job.why, ": File name too long"));
    job.spec.program = NULL;
    ck_assert_int_eq(job_try_spawn(&job), PMIX_ERR_BAD_PARAM);
    job = job_of("/bin/true");
    job.spec.argv = NULL;
    ck_assert_int_eq(job_try_spawn(&job), PMIX_ERR_BAD_PARAM);
}

PX_TEST(running_out_of_descriptors_is_an_error)
{
    struct job job = job_of("/bin/true");

    for (size_t n = 0; n < 3; n++) {
        process_limit_fds(n);
        pmix_status_t rc = job_try_spawn(&job);
        process_limit_fds(SIZE_MAX);
        ck_assert_int_eq(rc, PMIX_ERR_OUT_OF_RESOURCE);
        ck_assert_ptr_nonnull(strstr(job.why, ": Too many open files"));
        ck_assert(has_no_children());
    }
    job_spawn(&job);
    ok(job_wait(&job));
}

/* Descriptors 1 and 2 are free, so the child must move its own out of the way. */
static int start_short_of_descriptors(void *arg)
{
    size_t n = (size_t)(intptr_t)arg;
    struct job job = job_of("/bin/true");

    close(1);
    close(2);
    process_limit_fds(n);
    pmix_status_t rc = job_try_spawn(&job);
    if (rc == PMIX_ERR_OUT_OF_RESOURCE &&
        strcmp(job.why, "cannot give /bin/true its standard streams: Too many open "
                        "files") == 0)
        return 1;
    return rc && !strstr(job.why, ": Too many open files") ? 2 : 0;
}

PX_TEST(a_child_may_run_out_of_descriptors_too)
{
    int n_in_child = 0;

    for (intptr_t n = 0; n < 8; n++) {
        int rc = process_wait(process_fork(start_short_of_descriptors, (void *)n),
                              LATE_MS);

        ck_assert_int_lt(rc, 2);
        n_in_child += rc;
    }
    ck_assert_int_gt(n_in_child, 0);
}

static int start_without_processes(void *arg PX_UNUSED)
{
    const struct rlimit none = {0, 0};
    struct job job = job_of("/bin/true");

    if (geteuid() == 0) /* the limit does not bind root */
        process_become_other();
    if (setrlimit(RLIMIT_NPROC, &none) < 0)
        return 1;
    if (job_try_spawn(&job) != PMIX_ERR_OUT_OF_RESOURCE)
        return 2;
    if (strcmp(job.why, "cannot run /bin/true: cannot fork: "
                        "Resource temporarily unavailable") != 0)
        return 3;
    return !has_no_children();
}

PX_TEST(running_out_of_processes_is_an_error)
{
    run_in_process(start_without_processes, NULL);
}

PX_TEST(starting_without_memory_fails)
{
    PX_TEST_NEEDS_ALLOC;
    struct job job = job_of("/bin/true");

    job_spawn(&job); /* makes what all starts share */
    ok(job_wait(&job));
    job.n_starts = job.n_exits = 0;
    for (unsigned nth = 0; px_alloc_next(&nth);) {
        pmix_status_t rc = pfexec_ops()->spawn(contract.self, &job.spec, &job.pid,
                                               job.why, sizeof(job.why));

        if (!px_alloc_check(rc))
            break;
        ck_assert_ptr_nonnull(strstr(job.why, "out of memory"));
        ck_assert(has_no_children());
    }
    ok(job_wait(&job));
}

PX_TEST(a_child_that_cannot_be_watched_is_ended)
{
    static char *const argv[] = {(char *)"sleep", (char *)"60", NULL};
    struct job job = job_with("/bin/sleep", argv);

    contract.host.child_fails = PMIX_ERR_NOMEM;
    job_expect_failure(&job, PMIX_ERR_NOMEM,
                       "cannot run /bin/sleep: cannot watch it: out of memory");
    contract.host.child_fails = 0;
}

/* The host program reaps every child, and this child is killed at once. */
PX_TEST(a_child_that_is_gone_already_has_ended)
{
    struct job job = job_of_script("exit 3");

    contract.host.child_fails = PMIX_ERR_NOT_FOUND;
    job_spawn(&job);
    contract.host.child_fails = 0;

    ck_assert_int_eq(job_wait(&job), 255 << 8);
    ck_assert_int_eq(job.usage.ru_maxrss, 0);
    ck_assert_int_eq(waitpid(-1, NULL, __WALL),
                     job.pid); /* the component does not know this reap */
    ck_assert_uint_eq(fake_host_held(&contract.host), 0);
}

static void *close_later(void *fd)
{
    process_pause(50);
    close(*(int *)fd);
    return NULL;
}

/* Usually another process holds the file open, forked while it was written. */
PX_TEST(a_program_that_is_still_open_for_writing_is_waited_for)
{
    const char *program = px_test_path("new");
    struct job job = job_of(program);
    pthread_t closer;

    process_write_file(program, "#!/bin/sh\n", 0755);
    int fd = open(program, O_RDWR | O_CLOEXEC);
    ok(pthread_create(&closer, NULL, close_later, &fd));
    job_spawn(&job);
    ok(job_wait(&job));
    pthread_join(closer, NULL);
    fd = open(program, O_RDWR | O_CLOEXEC);
    ck_assert_int_eq(job_try_spawn(&job), PMIX_ERR_RESOURCE_BUSY);
    ck_assert_ptr_nonnull(strstr(job.why, ": Text file busy"));
    close(fd);
}

static int start_without_clone3(void *arg PX_UNUSED)
{
    struct px_query answer = {0};
    struct job job = job_of_script("exit 6");

    if (!px_test_deny(SYS_clone3, ENOSYS))
        return 1;
    if (contract.component->query(contract.self, &answer))
        return strstr(answer.reason, "Function not implemented") ? 0 : 2;
    return job_try_spawn(&job) ? 3 : job_wait(&job) != 6 << 8;
}

PX_TEST(declines_or_works_on_an_old_kernel)
{
    run_in_process(start_without_clone3, NULL);
}

/* exec waits for a file on which another process holds a write lease. There are more
 * such starts than a component may have threads for starts. */
PX_TEST(starts_that_take_too_long_are_given_up_and_delay_no_other)
{
    const char *program = px_test_path("slow");
    PX_AUTOFREE char *why = px_strf("cannot run %s: not started within 1000 ms",
                                    program);
    struct job slow[6], others[5];

    ck_assert(contract_has_param("start_timeout"));
    ok(contract_reopen("start_timeout", "1s"));
    process_write_file(program, "#!/bin/sh\n", 0755);
    PX_AUTOCLOSE int fd = open(program, O_RDWR | O_CLOEXEC);
    signal(SIGIO, SIG_IGN); /* the request to release the lease */
    PX_TEST_NEEDS(fcntl(fd, F_SETLEASE, F_WRLCK) == 0, "a file system with leases");
    size_t n_fds = px_test_count_fds();
    uint64_t start_ms = px_clock_ms();

    for (size_t i = 0; i < PX_COUNT(slow); i++) {
        slow[i] = job_of(program);
        ok(job_begin(&slow[i]));
    }
    for (size_t i = 0; i < PX_COUNT(others); i++) {
        others[i] = job_of("/bin/true");
        job_spawn(&others[i]);
        ok(job_wait(&others[i]));
    }
    for (size_t i = 0; i < PX_COUNT(slow); i++)
        ck_assert_int_eq(slow[i].n_starts, 0);
    ck_assert_uint_lt(px_clock_ms() - start_ms, 1000);

    for (size_t i = 0; i < PX_COUNT(slow); i++) {
        ck_assert(fake_host_run(&contract.host, SOON_MS, has_started, &slow[i]));
        ck_assert_int_eq(slow[i].started, PMIX_ERR_TIMEOUT);
        ck_assert_str_eq(slow[i].why, why);
        ck_assert_int_eq(slow[i].n_exits, 0);
    }
    ck_assert_uint_ge(px_clock_ms() - start_ms, 900);
    ck_assert(has_no_children());
    ck_assert_uint_eq(px_test_count_fds(), n_fds);
    ck_assert_uint_eq(fake_host_held(&contract.host), 0);
}

PX_TEST(a_start_can_be_signalled_forgotten_and_closed)
{
    const char *program = px_test_path("slow");
    struct job jobs[3] = {job_of(program), job_of(program), job_of(program)};

    process_write_file(program, "#!/bin/sh\n", 0755);
    PX_AUTOCLOSE int fd = open(program, O_RDWR | O_CLOEXEC);
    signal(SIGIO, SIG_IGN);
    PX_TEST_NEEDS(fcntl(fd, F_SETLEASE, F_WRLCK) == 0, "a file system with leases");
    for (size_t i = 0; i < PX_COUNT(jobs); i++)
        ok(job_begin(&jobs[i]));
    pfexec_ops()->forget(contract.self, jobs[1].pid);
    for (size_t i = 0; i < 2; i++)
        ok(pfexec_ops()->signal(contract.self, jobs[i].pid, SIGTERM));
    ck_assert_int_eq(job_wait(&jobs[0]),
                     SIGTERM); /* the job ended; its start did not fail */

    contract_close();

    while (fake_host_held(&contract.host))
        fake_host_run(&contract.host, 10, NULL, NULL);
    ck_assert(has_no_children());
    ck_assert_int_eq(jobs[1].n_starts + jobs[1].n_exits, 0);
    ck_assert_int_eq(jobs[2].n_starts + jobs[2].n_exits, 0);
}
