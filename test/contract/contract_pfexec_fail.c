/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of pfexec: how a start fails, what is said about it, and that nothing is
 * left. */
#include "contract_pfexec.h"

#include "alloc_fail.h"
#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/base/strv.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

/* Nothing of it is left, and nobody hears of it again. */
static void expect_failure(struct job *job, pmix_status_t status, const char *why)
{
    size_t n_fds = process_count_fds();

    ck_assert_int_eq(job_try_spawn(job), status);
    ck_assert_str_eq(job->why, why);
    ck_assert_int_eq(job->pid, 0);
    ck_assert_uint_eq(process_count_fds(), n_fds);
    ck_assert_uint_eq(fake_host_held(&contract.host), 0);
    ck_assert(has_no_children());
    ck_assert_int_eq(job->n_exits, 0);
}

static void expect_cannot_run(const char *program, pmix_status_t status,
                              const char *reason)
{
    struct job job = job_of(program);
    PX_AUTOFREE char *why = px_strf("cannot run %s: %s", program, reason);

    expect_failure(&job, status, why);
}

START_TEST(says_that_a_program_is_missing)
{
    PX_AUTOFREE char *program = px_strf("%s/missing", contract.dir);
    PX_AUTOFREE char *script = px_strf("%s/script", contract.dir);

    expect_cannot_run(program, PMIX_ERR_NOT_FOUND, "No such file or directory");
    process_write_file(script, "#!/no/such/interpreter\n", 0755);
    expect_cannot_run(script, PMIX_ERR_NOT_FOUND, "its interpreter does not exist");
}
END_TEST

START_TEST(says_that_a_program_is_not_executable)
{
    PX_AUTOFREE char *plain = px_strf("%s/plain", contract.dir);
    PX_AUTOFREE char *noise = px_strf("%s/noise", contract.dir);

    process_write_file(plain, "#!/bin/sh\n", 0644);
    expect_cannot_run(plain, PMIX_ERR_NO_PERMISSIONS, "Permission denied");
    expect_cannot_run(contract.dir, PMIX_ERR_NO_PERMISSIONS, "Permission denied");
    process_write_file(noise, "\001\002 no program\n", 0755);
    expect_cannot_run(noise, PMIX_ERROR, "Exec format error");
}
END_TEST

START_TEST(says_that_a_directory_cannot_be_entered)
{
    PX_AUTOFREE char *missing = px_strf("%s/missing", contract.dir);
    PX_AUTOFREE char *why = px_strf(
        "cannot enter directory %s: No such file or directory", missing);
    struct job job = job_of("/bin/true");

    job.spec.cwd = missing;
    expect_failure(&job, PMIX_ERR_NOT_FOUND, why);
}
END_TEST

START_TEST(says_that_a_stream_is_none)
{
    struct job job = job_of("/bin/true");

    job.spec.fds[1] = 12345;
    expect_failure(&job, PMIX_ERR_BAD_PARAM,
                   "cannot give /bin/true its standard streams: Bad file descriptor");
}
END_TEST

START_TEST(a_name_of_any_length_leaves_room_for_the_reason)
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
END_TEST

START_TEST(too_many_arguments_are_refused)
{
    PX_AUTO(px_strv) argv = NULL;
    PX_AUTOFREE char *big = px_strf("%0200000d", 0);

    ck_assert_int_eq(px_strv_append(&argv, big), PMIX_SUCCESS);
    struct job job = job_with("/bin/true", argv);
    expect_failure(&job, PMIX_ERR_BAD_PARAM,
                   "cannot run /bin/true: Argument list too long");
}
END_TEST

START_TEST(running_out_of_descriptors_is_an_error)
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
    ck_assert_int_eq(job_wait(&job), 0);
}
END_TEST

static int start_without_processes(void *arg PX_UNUSED)
{
    const struct rlimit none = {0, 0};
    struct job job = job_of("/bin/true");

    if (geteuid() == 0) /* root is not bound by the limit */
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

START_TEST(running_out_of_processes_is_an_error)
{
    pid_t pid = process_fork(start_without_processes, NULL);

    ck_assert_int_eq(process_wait(pid, LATE_MS), 0);
}
END_TEST

START_TEST(starting_without_memory_fails)
{
    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
    struct job job = job_of("/bin/true");

    for (unsigned nth = 1;; nth++) {
        px_alloc_fail_at(nth);
        pmix_status_t rc = job_try_spawn(&job);
        bool has_failed = px_alloc_fail_end();

        if (!has_failed) {
            ck_assert_int_eq(rc, PMIX_SUCCESS);
            break;
        }
        ck_assert_int_eq(rc, PMIX_ERR_NOMEM);
        ck_assert_ptr_nonnull(strstr(job.why, "out of memory"));
        ck_assert_int_eq(px_alloc_balance(), 0);
        ck_assert(has_no_children());
    }
    ck_assert_int_eq(job_wait(&job), 0);
}
END_TEST

START_TEST(a_child_that_cannot_be_watched_is_ended)
{
    static char *const argv[] = {(char *)"sleep", (char *)"60", NULL};
    struct job job = job_with("/bin/sleep", argv);

    contract.host.child_fails = PMIX_ERR_NOMEM;
    expect_failure(&job, PMIX_ERR_NOMEM, "cannot watch /bin/sleep: out of memory");
    contract.host.child_fails = 0;
}
END_TEST

/* To open a file of which another process holds a write lease, exec has to wait. */
START_TEST(a_start_that_takes_too_long_is_given_up)
{
    PX_AUTOFREE char *program = px_strf("%s/slow", contract.dir);
    PX_AUTOFREE char *why = px_strf("cannot run %s: not started within 200 ms",
                                    program);
    struct job job = job_of(program);

    ck_assert(contract_has_param("start_timeout"));
    ck_assert_int_eq(contract_reopen("start_timeout", "200ms"), PMIX_SUCCESS);
    process_write_file(program, "#!/bin/sh\n", 0755);
    PX_AUTOCLOSE int fd = open(program, O_RDWR | O_CLOEXEC);
    signal(SIGIO, SIG_IGN); /* asks to give the lease up */
    PX_TEST_NEEDS(fcntl(fd, F_SETLEASE, F_WRLCK) == 0, "a file system with leases");
    uint64_t start_ms = px_clock_ms();

    expect_failure(&job, PMIX_ERR_TIMEOUT, why);

    ck_assert_uint_ge(px_clock_ms() - start_ms, 180);
    ck_assert_uint_lt(px_clock_ms() - start_ms, SOON_MS);
}
END_TEST

size_t pfexec_fail_tests(const TTest **tests)
{
    const TTest *const own[] = {
        says_that_a_program_is_missing,
        says_that_a_program_is_not_executable,
        says_that_a_directory_cannot_be_entered,
        says_that_a_stream_is_none,
        a_name_of_any_length_leaves_room_for_the_reason,
        too_many_arguments_are_refused,
        running_out_of_descriptors_is_an_error,
        running_out_of_processes_is_an_error,
        starting_without_memory_fails,
        a_child_that_cannot_be_watched_is_ended,
        a_start_that_takes_too_long_is_given_up,
    };

    memcpy(tests, own, sizeof(own));
    return PX_COUNT(own);
}
