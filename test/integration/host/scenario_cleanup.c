/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenarios of a host whose processes register clean-up. Ranks run the client "cleanup" with orders. */
#include "scenario.h"

#include <sys/stat.h>

#define SOON_S 8.0 /* limit for expected changes */
#define SAFE_S 0.4 /* time without an unexpected change */

static volatile int n_controls, n_strange;

static pmix_status_t on_control(const pmix_proc_t *proc, const pmix_proc_t targets[],
                                size_t n_targets, const pmix_info_t directives[],
                                size_t n, pmix_info_cbfunc_t cb, void *cbdata)
{
    n_controls++;
    for (size_t i = 0; i < n; i++)
        n_strange += strstr(directives[i].key, "clean") != NULL ||
                     strstr(directives[i].key, "clnup") != NULL;
    cb(PMIX_SUCCESS, NULL, 0, cbdata, NULL, NULL);
    return PMIX_SUCCESS;
}

static void open_for_cleanup(void)
{
    pmix_server_module_t module = host_module;

    module.job_control = on_control;
    open_server(HOST_LATER, &module);
}

/* Returns the path of a name in the folder, valid until the second next call. */
static const char *path(const char *name)
{
    static char text[2][4096];
    static unsigned n;

    n = (n + 1) % 2;
    snprintf(text[n], sizeof(text[n]), "%s/%s", getenv("CLEANUP_DIR"), name);
    return text[n];
}

static bool exists(const char *name)
{
    struct stat st;

    return lstat(path(name), &st) == 0;
}

static void soon(const char *name, bool there)
{
    double end = host_now_s() + SOON_S;

    while (exists(name) != there) {
        HOST_CHECK(host_now_s() < end);
        usleep(2000);
    }
}

static void step(struct host_job *job, const char *verb, const char *name)
{
    FILE *f;

    if (strcmp(verb, "there") == 0) {
        soon(name, true);
    } else if (strcmp(verb, "gone") == 0) {
        soon(name, false);
    } else if (strcmp(verb, "stays") == 0) {
        usleep((useconds_t)(SAFE_S * 1e6));
        HOST_CHECK(exists(name));
    } else if (strcmp(verb, "none") == 0) {
        HOST_CHECK(!exists(name));
    } else if (strcmp(verb, "make") == 0) {
        f = fopen(path(name), "w");
        HOST_CHECK(f && fclose(f) == 0);
    } else if (strcmp(verb, "drop") == 0) {
        HOST_CHECK(remove(path(name)) == 0);
    } else if (strcmp(verb, "kill") == 0) {
        HOST_CHECK(kill(job->pids[atoi(name)], SIGKILL) == 0);
    } else if (strcmp(verb, "status") == 0) {
        HOST_CHECK(host_wait(job, 20) == atoi(name));
    } else if (strcmp(verb, "deregister") == 0) {
        if (strcmp(name, "job") == 0)
            host_deregister_nspace(name);
        else
            host_deregister_client("job", (pmix_rank_t)atoi(name));
    } else {
        HOST_CHECK(!"a known verb");
    }
}

/* Executes the host's steps, each a verb and a name:
 *   there FILE, gone FILE   waits until the file exists, or is gone
 *   stays FILE, none FILE   checks that the file exists for a moment, or does not exist
 *   make FILE, drop FILE    makes or removes the file
 *   kill RANK, status N     kills a rank; waits for all ranks, whose highest status is N
 *   deregister RANK|job     deregisters a client or the namespace */
static void see(struct host_job *job, const char *steps)
{
    char text[1024], *rest = text, *verb, *name;

    snprintf(text, sizeof(text), "%s", steps);
    while ((verb = strsep(&rest, " ")) && (name = strsep(&rest, " ")))
        step(job, verb, name);
}

/* Runs "job" while the host executes the steps. n ranks follow the orders, n_absent ranks never start. */
static void play(int n, int n_absent, const char *orders, const char *steps)
{
    struct host_job job;

    open_for_cleanup();
    host_register_job(&job, "job", n + n_absent);
    for (int r = 0; r < n; r++)
        host_start_rank(&job, r, client(orders));
    see(&job, steps);
    close_server();
    HOST_CHECK(n_controls == 0);
}

/* ---- the end of one process -------------------------------------------------------- */

SCENARIO(finalized, CLEANUP)
{
    play(1, 0,
         "cleanup file @a remove @a ask finalize there @a file @now gone @now there @a",
         "there now stays a drop now status 0 gone a");
}

SCENARIO(exited, CLEANUP)
{
    play(1, 0, "cleanup file @a dir @d file @d/x remove @a tree @d ask exit",
         "status 0 gone a gone d");
}

SCENARIO(killed, CLEANUP)
{
    play(1, 0, "cleanup file @a remove @a ask file @now wait @never",
         "there now stays a kill 0 status 137 gone a drop now");
}

SCENARIO(connection_lost_then_ended, CLEANUP)
{
    play(1, 0, "cleanup file @a remove @a ask disconnect file @now wait @end exit",
         "there now stays a make end status 0 gone a drop now drop end");
}

SCENARIO(whole_trees_but_what_is_ignored, CLEANUP)
{
    play(
        1, 0,
        "cleanup dir @d dir @d/e dir @d/f file @d/e/keep file @d/e/x file @d/f/y tree @d "
        "recursive ignore @d/e/keep ask remove @d/e/keep refused finalize",
        "status 0 gone d/f gone d/e/x stays d/e/keep drop d/e/keep drop d/e drop d");
}

/* ---- a job ------------------------------------------------------------------------- */

SCENARIO(four_ranks_of_a_job, CLEANUP)
{
    see(NULL, "make a");
    play(
        4, 0, "cleanup job remove @a ask file @up%r wait @end%r finalize",
        "there up0 there up1 there up2 there up3 stays a make end0 stays a make end1 "
        "stays a make end2 stays a make end3 status 0 gone a drop up0 drop up1 drop up2 "
        "drop up3 drop end0 drop end1 drop end2 drop end3");
}

SCENARIO(a_rank_that_never_comes, CLEANUP)
{
    play(1, 1, "cleanup file @a job remove @a ask finalize",
         "status 0 stays a deregister 1 gone a deregister job");
}

/* The deregistration ends rank 1, while rank 0 runs. */
SCENARIO(deregistered_namespace, CLEANUP)
{
    play(
        1, 1,
        "cleanup file @a file @b job remove @a ask rank 1 remove @b ask finalize file @now "
        "wait @end",
        "there now deregister job gone b stays a make end status 0 gone a drop now drop "
        "end");
}

SCENARIO(two_namespaces_of_one_user, CLEANUP)
{
    struct host_job one, two;

    open_for_cleanup();
    host_register_job(&one, "one", 1);
    start_job(&two, "two", 1, "cleanup file @up wait @end");
    see(&two, "make a make b there up");
    host_start_all(&one, client("cleanup job remove @a ask nspace two remove @b ask "
                                "nspace three remove @b refused finalize"));
    see(&one, "status 0 gone a stays b make end");
    see(&two, "status 0 gone b drop up drop end");
    close_server();
}

/* ---- unusual cases ----------------------------------------------------------------- */

/* The end of the first program removes its files. */
SCENARIO(a_script_with_two_programs, CLEANUP)
{
    play(1, 0,
         "!\"$0\" cleanup file @a remove @a ask finalize && : >@between && "
         "\"$0\" cleanup file @b remove @b ask file @now wait @end finalize",
         "there now gone a stays b make end status 0 gone b drop between drop now drop "
         "end");
}

SCENARIO(the_host_gets_no_cleanup_request, CLEANUP)
{
    struct host_job job;

    open_for_cleanup();
    start_job(
        &job, "job", 1,
        "cleanup file @a remove @a tree @d recursive ask checkpoint ignore @x ask remove "
        "relative refused finalize");
    see(&job, "status 0 gone a");
    HOST_CHECK(n_controls == 1 && n_strange == 0);
    close_server();
}

SCENARIO(a_host_that_knows_no_job_control, CLEANUP | SERVED)
{
    struct host_job job;

    start_job(&job, "job", 1, "cleanup file @a remove @a ask checkpoint refused");
    see(&job, "status 0 gone a");
}

SCENARIO(the_server_asks_for_it, CLEANUP)
{
    struct host_job job;
    pmix_proc_t target;
    pmix_info_t info;

    open_for_cleanup();
    host_register_job(&job, "job", 1);
    see(&job, "make a make b");
    PMIX_LOAD_PROCID(&target, "job", PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&info, PMIX_REGISTER_CLEANUP, path("a"), PMIX_STRING);
    HOST_GOOD(PMIx_Job_control(&target, 1, &info, 1, NULL, NULL));
    PMIX_INFO_DESTRUCT(&info);
    PMIX_INFO_LOAD(&info, PMIX_REGISTER_CLEANUP, path("b"), PMIX_STRING);
    HOST_GOOD(PMIx_Job_control(NULL, 0, &info, 1, NULL, NULL));
    PMIX_INFO_DESTRUCT(&info);
    host_start_all(&job, client("cleanup there @a finalize"));
    see(&job, "status 0 gone a stays b");
    close_server();
    HOST_CHECK(n_controls == 0 && !exists("b"));
}

/* The end of the server removes files of a rank that never started. Files of a running rank stay until
 * its end, since the janitor process outlives the server. */
SCENARIO(a_server_that_ends_before_its_clients, CLEANUP)
{
    struct host_job job;

    open_for_cleanup();
    host_register_job(&job, "job", 2);
    see(&job, "make b");
    host_start_rank(
        &job, 0,
        client("cleanup file @a remove @a ask rank 1 remove @b ask disconnect "
               "file @now wait @end exit"));
    see(&job, "there now");
    close_server();
    see(&job, "none b stays a make end status 0 gone a drop now drop end");
}
