/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of the built-in host on the processes of a job whose time is over. */
#include "jobs.h"

#include <string.h>
#include <sys/stat.h>

#include "core/base/clock.h"
#include "core/os/proc.h"
#include "core/server/host.h"

/* Puts a debugger of the test first in PATH. */
static void setup(void)
{
    PX_AUTOFREE char *path = px_strf("%s:/usr/bin:/bin", px_test_dir());

    jobs_setup();
    setenv("PATH", path, 1);
    ck_assert_ptr_nonnull(freopen(px_test_path("log"), "w", stderr));
    setvbuf(stderr, NULL, _IONBF, 0);
}

static void make_debugger(const char *body)
{
    FILE *f = fopen(px_test_path("eu-stack"), "we");

    fprintf(f, "#!/bin/sh\n%s\n", body);
    fclose(f);
    ok(chmod(px_test_path("eu-stack"), 0700));
}

static bool has_printed(const char *text)
{
    char log[65536];

    ck_assert(px_osproc_read(px_test_path("log"), log, sizeof(log)));
    return strstr(log, text);
}

static void run_too_long(const char *limit, const char *report, pmix_status_t spawned,
                         const char *script)
{
    PX_AUTO(px_infos) infos = {0};

    ok(px_infos_add(&infos, limit, &(uint32_t){1}, PMIX_UINT32));
    ok(px_infos_add(&infos, report, NULL, PMIX_BOOL));
    for (size_t i = 0; i < infos.n; i++)
        PMIx_Info_required(&infos.v[i]);
    ck_assert_int_eq(spawn_with(&infos, 2, script), spawned);
    if (!spawned)
        await_end(PMIX_ERR_TIMEOUT);
}

PX_TEST(states_are_reported_if_asked_for)
{
    run_too_long(PMIX_JOB_TIMEOUT, PMIX_TIMEOUT_REPORT_STATE, PMIX_SUCCESS,
                 "test $PMIX_RANK = 0 || exec sleep 20");
    ck_assert(has_printed("rank 0 of ") && has_printed(": ended \n"));
    ck_assert(has_printed("rank 1 of ") && has_printed("running, not connected"));
    ck_assert(!has_printed("stack of"));
}

PX_TEST(stacks_are_shown_if_asked_for)
{
    make_debugger("echo \"frames of $1 $2\"; test -d /proc/$2 && touch lives");
    run_too_long(PMIX_JOB_TIMEOUT, PMIX_TIMEOUT_STACKTRACES, PMIX_SUCCESS,
                 "echo $$ >pid$PMIX_RANK; exec sleep 20");
    for (int r = 0; r < 2; r++) {
        PX_AUTOFREE char *rank = px_strf("stack of rank %d of ", r);
        PX_AUTOFREE char *file = px_strf("pid%d", r);
        char pid[32];

        ck_assert(px_osproc_read(px_test_path(file), pid, sizeof(pid)));
        PX_AUTOFREE char *frames = px_strf("frames of -p %s", pid);
        ck_assert(has_printed(rank) && has_printed(frames));
    }
    ck_assert(!has_printed("running"));
}

PX_TEST(a_job_whose_stacks_cannot_be_had_ends_all_the_same)
{
    make_debugger("exec sleep 60");
    uint64_t began = px_clock_ms();

    run_too_long(PMIX_JOB_TIMEOUT, PMIX_TIMEOUT_STACKTRACES, PMIX_SUCCESS, "sleep 1.3");
    ck_assert_uint_lt(px_clock_ms() - began, 14000);
    ck_assert(has_printed("takes too long"));
    setenv("PATH", px_test_dir(), 1);
    ok(unlink(px_test_path("eu-stack")));
    ok(symlink("/bin/sh", px_test_path("sh")));
    run_too_long(PMIX_JOB_TIMEOUT, PMIX_TIMEOUT_STACKTRACES, PMIX_SUCCESS,
                 "exec /bin/sleep 20");
    ck_assert(has_printed("no debugger found (expected eu-stack, gstack, "));
}

PX_TEST_MAIN("host/timeout", setup, jobs_teardown)
