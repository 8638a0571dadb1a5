/* SPDX-License-Identifier: BSD-3-Clause */
/* The streams of jobs for others: what they push to the stdin of processes. */
#include "jobs.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/fd.h"

static const pmix_proc_t other = {.nspace = "a-tool"};

/* n processes of another's job, whose stdin is that of `to`, or NULL: the first. */
static void spawn_fed(int n, const pmix_rank_t *to, const char *script)
{
    char sh[] = "sh", c[] = "-c", *argv[] = {sh, c, (char *)script, NULL};
    pmix_app_t app = {
        .cmd = sh, .argv = argv, .cwd = (char *)px_test_dir(), .maxprocs = n};
    PX_AUTO(px_infos) infos = {0};

    ok(px_infos_add(&infos, PMIX_FWD_STDIN, NULL, PMIX_BOOL));
    if (to)
        ok(px_infos_add(&infos, PMIX_STDIN_TGT, to, PMIX_PROC_RANK));
    ok(spawn_by(&other, infos.v, infos.n, &app));
}

static pmix_proc_t rank_of_job(pmix_rank_t rank)
{
    pmix_proc_t proc;

    px_proc_set(&proc, job_name, rank);
    return proc;
}

static pmix_status_t push_to(const pmix_proc_t *targets, size_t n, const char *text)
{
    pmix_byte_object_t bytes = {(char *)text, strlen(text)};

    return PMIx_IOF_push(targets, n, &bytes, NULL, 0, NULL, NULL);
}

static pmix_status_t push(pmix_rank_t rank, const char *text)
{
    pmix_proc_t target = rank_of_job(rank);

    return push_to(&target, 1, text);
}

static void assert_file(const char *name, const char *wanted)
{
    char text[256] = "";
    PX_AUTOCLOSE int fd = open(px_test_path(name), O_RDONLY | O_CLOEXEC);

    ck_assert_msg(fd >= 0, "no file %s", name);
    ck_assert_int_ge(read(fd, text, sizeof(text) - 1), 0);
    ck_assert_str_eq(text, wanted);
    remove_file(name);
}

PX_TEST(what_is_pushed_comes_to_one_to_some_or_to_all_until_its_end)
{
    const pmix_rank_t all = PMIX_RANK_WILDCARD;

    spawn_fed(3, &all, "cat >in.$PMIX_RANK");
    const pmix_proc_t some[] = {rank_of_job(0), rank_of_job(2), rank_of_job(0)};
    ok(push(1, "one "));
    ok(push_to(some, 3, "some "));
    ok(push(PMIX_RANK_WILDCARD, "all"));
    ok(push(0, ""));
    ok(push(0, "too late"));
    ok(push(PMIX_RANK_WILDCARD, ""));
    await_end(PMIX_SUCCESS);
    assert_file("in.0", "some all");
    assert_file("in.1", "one all");
    assert_file("in.2", "some all");
}

PX_TEST(a_push_may_be_the_last)
{
    const bool yes = true;
    pmix_byte_object_t bytes = {(char *)"text", 4};
    pmix_info_t last;

    spawn_fed(1, NULL, "cat >in");
    const pmix_proc_t target = rank_of_job(0);
    ok(PMIx_Info_load(&last, PMIX_IOF_COMPLETE, &yes, PMIX_BOOL));
    ok(PMIx_IOF_push(&target, 1, &bytes, &last, 1, NULL, NULL));
    await_end(PMIX_SUCCESS);
    assert_file("in", "text");
}

PX_TEST(what_cannot_be_pushed_is_an_error_and_pushes_nothing)
{
    spawn_fed(2, NULL, "exec cat >in.$PMIX_RANK"); /* to rank 0 alone */
    const struct {
        pmix_proc_t proc;
        pmix_status_t status;
    } rows[] = {{rank_of_job(1), PMIX_ERR_NOT_SUPPORTED},
                {rank_of_job(2), PMIX_ERR_NOT_FOUND},
                {{.nspace = "none"}, PMIX_ERR_NOT_FOUND}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const pmix_proc_t targets[] = {rank_of_job(0), rows[i].proc};

        ck_assert_int_eq(push_to(targets, 2, "text"), rows[i].status);
    }
    ok(push(PMIX_RANK_WILDCARD, "")); /* to those that have one */
    await_end(PMIX_SUCCESS);
    assert_file("in.0", "");
    assert_file("in.1", "");
    spawn_sleepers(1);
    fails(push(0, "text"), NOT_SUPPORTED);
    fails(push(PMIX_RANK_WILDCARD, "text"), NOT_SUPPORTED);
}

/* Processes that never read, or have ended, hold up neither their job nor others. */
PX_TEST(pushes_that_nobody_reads_end_with_the_job)
{
    enum { N = 3 << 20 };
    PX_AUTOFREE char *text = calloc(1, N);

    memset(text, 'x', N - 1);
    spawn_fed(2, &(pmix_rank_t){PMIX_RANK_WILDCARD},
              "test $PMIX_RANK = 1 || exit 0; while ! test -f go; do sleep 0.01; done");
    make_file("go");
    ok(push(PMIX_RANK_WILDCARD,
            text)); /* more than has room: until the last has ended */
    await_end(PMIX_SUCCESS);
    remove_file("go");
}

PX_TEST_MAIN("host/forward", jobs_setup, jobs_teardown)
