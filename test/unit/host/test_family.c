/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs connected by a spawn or by PMIx_Connect. A job that fails ends the connected jobs, except
 * separate ones. An order ends only a job and its children. Real clients show in test/integration
 * that processes are notified in time. */
#include "jobs.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "core/rt/process.h"
#include "core/server/collective/collective.h"
#include "core/server/host.h"
#include "core/server/peer/peer.h"
#include "pmix_connect.h"

#define SCENE(j, f, e, ...)                           \
    {                                                 \
        .jobs = j, .fails = f, .ends = e, __VA_ARGS__ \
    }

static const struct scene {
    /* Jobs of two processes each. The letters of a job: its name; its parent, whose rank 0 spawns
     * the job (without one: this program); separate (s), recoverable (r) or continuous (c). */
    const char *jobs;
    const char *fails; /* process to kill, or whole job to end by order */
    const char *ends;  /* jobs that end; the others stay */
    const char *joins,
        *parts; /* jobs that connect, and that disconnect; a is rank 0 of A */
    /* jobs that connect and get a namespace; "e": EARLY_TERM_ALLOWED */
    const char *makes;
    const char *first; /* process that ends with success before anything else */
} scenes[] = {
    SCENE("A BA", "B1", "AB"),
    SCENE("A BA", "A0", "AB"),
    SCENE("A BA", "A1", "AB"),
    SCENE("A BA", "B1", "B", .first = "A0"),
    SCENE("A BA", "A1", "A", .first = "A0"),
    SCENE("A BA", "A", "AB"),
    SCENE("A BA", "B", "B"),
    SCENE("A BA CB", "C0", "ABC"),
    SCENE("A BA CB", "A1", "ABC"),
    SCENE("A BA CA", "B0", "ABC"),
    SCENE("A BA CB", "B", "BC"),
    SCENE("A BAs", "B0", "B"),
    SCENE("A BAs", "A0", "A"),
    SCENE("A BAs", "A", "A"),
    SCENE("A BAs CB", "C0", "BC"),
    SCENE("AT", "A0", "A"), /* child of a tool */
    /* A job that survives the loss of its own process survives the loss of other jobs. */
    SCENE("Ar BA", "B0", "B"),
    SCENE("Ac BA", "A0", ""),
    SCENE("A BAr", "B0", ""),
    SCENE("A BAr", "A0", "A"),
    /* connected without a spawn */
    SCENE("A B", "A0", "A"),
    SCENE("A B", "A0", "AB", .joins = "AB"),
    SCENE("A B", "A0", "A", .joins = "AB", .parts = "AB"),
    SCENE("A B CB", "C1", "ABC", .joins = "AB"),
    SCENE("A B", "A0", "AB", .makes = "AB"),
    SCENE("A B", "A0", "A", .makes = "ABe"),
    SCENE("A B C", "C1", "BC", .makes = "bC"),
    SCENE("A BAs", "B0", "AB", .joins = "AB"),
    /* disconnected by the set of the spawn or a larger set; a smaller set has no effect */
    SCENE("A BA", "B0", "B", .parts = "aB"),
    SCENE("A BA", "A", "A", .parts = "aB"),
    SCENE("A BA", "A0", "A", .joins = "aB", .parts = "aB"),
    SCENE("A BA", "A0", "A", .joins = "AB", .parts = "AB"),
    SCENE("A BA C", "A0", "AB", .joins = "BC", .parts = "BC"),
};

/* ---- jobs by letters ------------------------------------------------------------- */

static char names['Z'][PMIX_MAX_NSLEN + 1];

/* Returns a process by its text: "B1" is rank 1, "B" is all ranks, "b" is rank 0. */
static pmix_proc_t proc_of(const char *text)
{
    bool lower = text[0] >= 'a';
    pmix_proc_t p;

    px_proc_set(&p, names[text[0] - (lower ? 'a' - 'A' : 0)],
                lower     ? 0
                : text[1] ? (pmix_rank_t)(text[1] - '0')
                          : PMIX_RANK_WILDCARD);
    return p;
}

static const char *attribute_of(char flag)
{
    return flag == 's'   ? PMIX_SPAWN_CHILD_SEP
           : flag == 'r' ? PMIX_JOB_RECOVERABLE
                         : PMIX_JOB_CONTINUOUS;
}

/* Spawns the first job of a scene.jobs text. Returns the rest of the text. */
static const char *start(const char *job)
{
    char sh[] = "sh", c[] = "-c", name[] = {*job++, 0};
    char script[] = "while test ! -e $0.$PMIX_RANK; do sleep 0.01; done";
    char *argv[] = {sh, c, script, name, NULL};
    const pmix_app_t app = {
        .cmd = sh, .argv = argv, .cwd = (char *)px_test_dir(), .maxprocs = 2};
    pmix_proc_t parent = *px_server_name(px_process.server);
    PX_AUTO(px_infos) infos = {0};

    if (*job >= 'A' && *job <= 'Z')
        parent = proc_of((char[]){*job++, '0', 0});
    if (*job >= 'a')
        ok(px_infos_add(&infos, attribute_of(*job++), NULL, PMIX_BOOL));
    ok(spawn_by(&parent, infos.v, infos.n, &app));
    memcpy(names[(int)name[0]], job_name, sizeof(job_name));
    return job + strspn(job, " ");
}

struct change {
    const char *jobs;
    bool parts, makes;
};

static void do_change(struct px_call *call, void *arg)
{
    const struct change *change = arg;
    pmix_proc_t procs[3];
    struct px_collective c = {.server = px_process.server, .procs = procs};
    struct px_joint joint = {.procs = procs, .infos = &c.infos, .id = ""};
    pmix_status_t rc;

    for (const char *j = change->jobs; *j && *j != 'e'; j++)
        procs[c.n_procs++] = proc_of((char[]){*j, 0});
    px_members_sort(c.server, procs, &c.n_procs);
    joint.n_procs = c.n_procs;
    if (strchr(change->jobs, 'e'))
        ok(px_infos_add(&c.infos, PMIX_CONNECT_EARLY_TERM_ALLOWED, NULL, PMIX_BOOL));
    rc = change->makes   ? px_joint_make(c.server, &joint, true, &c.made)
         : change->parts ? px_connected_drop(&c, false)
                         : px_connected_add(&c, true);
    px_infos_cleanup(&c.infos);
    px_call_done(call, rc);
}

static void check(const struct scene *s, char name)
{
    const struct px_launch_job *job = px_job_find(launcher(), names[(int)name]);
    uint32_t n = 2u - (s->first && s->first[0] == name) - (s->fails[0] == name);

    ck_assert(!job->failing);
    if (strchr(s->ends, name))
        ck_assert(px_job_stage(job) == PX_JOB_ENDED &&
                  job->verdict == (s->fails[1] && s->fails[0] == name
                                       ? PMIX_ERR_JOB_ABORTED_BY_SIG
                                       : PMIX_ERR_JOB_KILLED_BY_CMD));
    else
        ck_assert(px_job_stage(job) == PX_JOB_RUNNING && job->n_running == n);
}

static void do_check(struct px_call *call, void *arg)
{
    const struct scene *s = arg;

    for (char name = 'A'; name <= 'C'; name++)
        if (names[(int)name][0])
            check(s, name);
    px_call_done(call, PMIX_SUCCESS);
}

PX_TEST_LOOP(jobs_end_with_those_that_they_are_connected_with, PX_COUNT(scenes))
{
    const struct scene *s = &scenes[_i];
    pmix_proc_t failing;

    PMIx_Load_nspace(names['T'], "tool");
    for (const char *job = s->jobs; *job;)
        job = start(job);
    if (s->joins)
        ok(px_call(px_process.loop, do_change, &(struct change){.jobs = s->joins}));
    if (s->makes)
        ok(px_call(px_process.loop, do_change,
                   &(struct change){.jobs = s->makes, .makes = true}));
    if (s->parts)
        ok(px_call(px_process.loop, do_change,
                   &(struct change){.jobs = s->parts, .parts = true}));
    if (s->first) {
        make_file((char[]){s->first[0], '.', s->first[1], 0});
        await_running(names[(int)s->first[0]], 1);
    }
    failing = proc_of(s->fails);
    ok(s->fails[1] ? send_signal(SIGKILL, &failing)
                   : control(PMIX_JOB_CTRL_TERMINATE, &failing));
    for (size_t i = 0; i < strlen(s->ends); i++)
        await_any_end();
    usleep(s->ends[0] ? 20000 : 100000);
    ok(px_call(px_process.loop, do_check, (void *)(uintptr_t)s));
    ck_assert_int_eq(seen.n_failures, s->fails[1] != '\0');
    ok(control(PMIX_JOB_CTRL_KILL, NULL));
}

static void do_lose(struct px_call *call, void *arg)
{
    px_local_lost(px_process.server, px_local_find(px_process.server, arg));
    px_call_done(call, PMIX_SUCCESS);
}

/* The broken connection of a process of A shows that the process is about to die. Job B fails as a
 * consequence, and its process ends before that of A, or after. */
PX_TEST_LOOP(the_job_that_fails_first_is_named_not_one_that_fails_over_that, 2)
{
    pmix_proc_t failing, others;

    start("A");
    start("BA");
    failing = proc_of("A0");
    others = proc_of("B0");
    ok(px_call(px_process.loop, do_lose, &failing));
    if (_i == 0)
        ok(send_signal(SIGKILL, &others));
    else
        ok(px_call(px_process.loop, do_lose, &others));
    usleep(50000);
    ok(send_signal(SIGTERM, &failing));
    if (_i == 1)
        ok(send_signal(SIGKILL, &others));
    await_any_end();
    await_any_end();
    ck_assert_int_eq(seen.n_failures, 1);
    ck_assert_str_eq(seen.culprit.nspace, failing.nspace);
}

PX_TEST_MAIN("host/family", jobs_setup, jobs_teardown)
