/* SPDX-License-Identifier: BSD-3-Clause */
/* cleanup_host SCENARIO CLIENTS: a host whose processes register clean-up (see scenario.h). */
#include "scenario.h"

#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOON_S 8.0 /* for what has to happen */
#define SAFE_S 0.4 /* for what must not */

static const char *dir;

/* ---- files ------------------------------------------------------------------------ */

static const char *path(const char *name)
{
    static char text[16][4096];
    static unsigned n;

    n = (n + 1) % 16;
    snprintf(text[n], sizeof text[n], "%s/%s", dir, name);
    return text[n];
}

static bool exists(const char *name)
{
    struct stat st;

    return lstat(path(name), &st) == 0;
}

static void gone_soon(const char *name)
{
    double end = host_now_s() + SOON_S;

    while (exists(name)) {
        HOST_CHECK(host_now_s() < end);
        usleep(2000);
    }
}

static void there_soon(const char *name)
{
    double end = host_now_s() + SOON_S;

    while (!exists(name)) {
        HOST_CHECK(host_now_s() < end);
        usleep(2000);
    }
}

static void stays(const char *name)
{
    usleep((useconds_t)(SAFE_S * 1e6));
    HOST_CHECK(exists(name));
}

static void make(const char *name)
{
    FILE *f = fopen(path(name), "w");

    HOST_CHECK(f && fclose(f) == 0);
}

/* ---- clients ---------------------------------------------------------------------- */

/* Orders for clients/cleanup.c; words that begin with '@' are files in our folder. Ends with NULL. */
static char **orders(const char *first, ...)
{
    static char words[64][4096];
    static char *argv[64];
    va_list rest;
    int n = 0;

    snprintf(words[0], sizeof words[0], "%s/cleanup", clients);
    va_start(rest, first);
    for (const char *word = first; word; word = va_arg(rest, const char *)) {
        n++;
        HOST_CHECK(n < 63);
        if (word[0] == '@')
            snprintf(words[n], sizeof words[n], "%s/%s", dir, word + 1);
        else
            snprintf(words[n], sizeof words[n], "%s", word);
    }
    va_end(rest);
    for (int i = 0; i <= n; i++)
        argv[i] = words[i];
    argv[n + 1] = NULL;
    return argv;
}

/* One command line for the shell; '@' as above. */
static char **shell(const char *script)
{
    static char text[16384];
    static char *argv[] = {(char *)"/bin/sh", (char *)"-c", text, NULL};
    size_t n = 0;

    n += (size_t)snprintf(text, sizeof text, "c=%s/cleanup d=%s; ", clients, dir);
    snprintf(text + n, sizeof text - n, "%s", script);
    return argv;
}

static pmix_server_module_t module;
static volatile int n_controls, n_strange;

static pmix_status_t on_control(const pmix_proc_t *proc, const pmix_proc_t targets[],
                                size_t n_targets, const pmix_info_t directives[],
                                size_t n, pmix_info_cbfunc_t cb, void *cbdata)
{
    (void)proc, (void)targets, (void)n_targets;
    n_controls++;
    for (size_t i = 0; i < n; i++)
        n_strange += strstr(directives[i].key, "clean") != NULL ||
                     strstr(directives[i].key, "clnup") != NULL;
    cb(PMIX_SUCCESS, NULL, 0, cbdata, NULL, NULL);
    return PMIX_SUCCESS;
}

static void open_server(void)
{
    module = host_module;
    module.job_control = on_control;
    host_answers(HOST_LATER);
    HOST_GOOD(host_init(&module));
}

static void close_server(void)
{
    host_stop_answering();
    HOST_GOOD(PMIx_server_finalize());
    HOST_CHECK(n_controls == 0);
}

/* A server with the job "job", started. */
static void start(struct host_job *job, int n, char *const argv[])
{
    open_server();
    host_register_job(job, "job", n);
    host_start_all(job, argv);
}

/* Removes those two that scenarios use as signs, if they are there; and ends the server. */
static void close_down(void)
{
    (void)unlink(path("now"));
    (void)unlink(path("end"));
    close_server();
}

/* ---- scenarios: the end of one process -------------------------------------------- */

static void finalized(void)
{
    struct host_job job;

    start(&job, 1,
          orders("file", "@a", "remove", "@a", "ask", "finalize", "there", "@a", "file",
                 "@now", "gone", "@now", "there", "@a", NULL));
    there_soon("now");
    stays("a");
    unlink(path("now"));
    HOST_CHECK(host_wait(&job, 20) == 0);
    gone_soon("a");
    close_server();
}

static void exited(void)
{
    struct host_job job;

    start(&job, 1,
          orders("file", "@a", "dir", "@d", "file", "@d/x", "remove", "@a", "tree",
                 "@d", "ask", "exit", NULL));
    HOST_CHECK(host_wait(&job, 20) == 0);
    gone_soon("a");
    gone_soon("d");
    close_server();
}

static void killed(void)
{
    struct host_job job;

    start(&job, 1,
          orders("file", "@a", "remove", "@a", "ask", "file", "@now", "wait", "@never",
                 NULL));
    there_soon("now");
    stays("a");
    kill(job.pids[0], SIGKILL);
    HOST_CHECK(host_wait(&job, 20) == 128 + SIGKILL);
    gone_soon("a");
    close_down();
}

static void connection_lost_then_ended(void)
{
    struct host_job job;

    start(&job, 1,
          orders("file", "@a", "remove", "@a", "ask", "disconnect", "file", "@now",
                 "wait", "@end", "exit", NULL));
    there_soon("now");
    stays("a");
    make("end");
    HOST_CHECK(host_wait(&job, 20) == 0);
    gone_soon("a");
    close_down();
}

static void whole_trees_but_what_is_ignored(void)
{
    struct host_job job;

    start(&job, 1,
          orders("dir", "@d", "dir", "@d/e", "dir", "@d/f", "file", "@d/e/keep", "file",
                 "@d/e/x", "file", "@d/f/y", "tree", "@d", "recursive", "ignore",
                 "@d/e/keep", "ask", "remove", "@d/e/keep", "refused", "finalize",
                 NULL));
    HOST_CHECK(host_wait(&job, 20) == 0);
    gone_soon("d/f");
    gone_soon("d/e/x");
    stays("d/e/keep");
    unlink(path("d/e/keep"));
    rmdir(path("d/e"));
    rmdir(path("d"));
    close_server();
}

/* ---- of a job --------------------------------------------------------------------- */

static void four_ranks_of_a_job(void)
{
    static const char *const ends[] = {"end0", "end1", "end2", "end3"};
    struct host_job job;

    open_server();
    host_register_job(&job, "job", 4);
    make("a");
    host_start_all(&job, orders("job", "remove", "@a", "ask", "file", "@up%r", "wait",
                                "@end%r", "finalize", NULL));
    there_soon("up0");
    there_soon("up1");
    there_soon("up2");
    there_soon("up3");
    for (int r = 0; r < 4; r++) {
        stays("a");
        make(ends[r]);
    }
    HOST_CHECK(host_wait(&job, 20) == 0);
    gone_soon("a");
    for (int r = 0; r < 4; r++) {
        char up[16];

        snprintf(up, sizeof up, "up%d", r);
        unlink(path(up));
        unlink(path(ends[r]));
    }
    close_server();
}

static void a_rank_that_never_comes(void)
{
    struct host_job job;

    open_server();
    host_register_job(&job, "job", 2);
    host_start_rank(
        &job, 0, orders("file", "@a", "job", "remove", "@a", "ask", "finalize", NULL));
    HOST_CHECK(host_wait(&job, 20) == 0);
    stays("a");
    host_deregister_client("job", 1);
    gone_soon("a");
    host_deregister_nspace("job");
    close_server();
}

static void deregistered_namespace(void)
{
    struct host_job job;

    open_server();
    host_register_job(&job, "job", 2);
    host_start_rank(&job, 0,
                    orders("file", "@a", "file", "@b", "job", "remove", "@a", "ask",
                           "rank", "1", "remove", "@b", "ask", "finalize", "file",
                           "@now", "wait", "@end", NULL));
    there_soon("now");
    host_deregister_nspace("job");
    gone_soon("b"); /* rank 1 is known to be no more */
    stays("a");     /* rank 0 lives */
    make("end");
    HOST_CHECK(host_wait(&job, 20) == 0);
    gone_soon("a");
    close_down();
}

static void two_namespaces_of_one_user(void)
{
    struct host_job one, two;

    open_server();
    host_register_job(&one, "one", 1);
    host_register_job(&two, "two", 1);
    make("a");
    make("b");
    host_start_all(&two, orders("file", "@up", "wait", "@end", NULL));
    there_soon("up");
    host_start_all(&one, orders("job", "remove", "@a", "ask", "nspace", "two", "remove",
                                "@b", "ask", "nspace", "three", "remove", "@b",
                                "refused", "finalize", NULL));
    HOST_CHECK(host_wait(&one, 20) == 0);
    gone_soon("a");
    stays("b");
    make("end");
    HOST_CHECK(host_wait(&two, 20) == 0);
    gone_soon("b");
    unlink(path("up"));
    unlink(path("end"));
    close_server();
}

/* ---- odd ones --------------------------------------------------------------------- */

static void a_script_with_two_programs(void)
{
    struct host_job job;

    start(&job, 1,
          shell("$c file $d/a remove $d/a ask finalize && : >$d/between && "
                "$c file $d/b remove $d/b ask file $d/now wait $d/end "
                "finalize"));
    there_soon("now");
    gone_soon("a"); /* at the end of the first */
    stays("b");
    make("end");
    HOST_CHECK(host_wait(&job, 20) == 0);
    gone_soon("b");
    unlink(path("between"));
    close_down();
}

static void the_host_hears_nothing_of_it(void)
{
    struct host_job job;

    start(&job, 1,
          orders("file", "@a", "remove", "@a", "tree", "@d", "recursive", "ask",
                 "pause", "ignore", "@x", "ask", "remove", "relative", "refused",
                 "finalize", NULL));
    HOST_CHECK(host_wait(&job, 20) == 0);
    gone_soon("a");
    HOST_CHECK(n_controls == 1 && n_strange == 0);
    n_controls = 0;
    close_server();
}

static void a_host_that_knows_no_job_control(void)
{
    struct host_job job;

    open_server();
    close_server();
    host_answers(HOST_LATER);
    module.job_control = NULL;
    HOST_GOOD(host_init(&module));
    host_register_job(&job, "job", 1);
    host_start_all(
        &job, orders("file", "@a", "remove", "@a", "ask", "pause", "refused", NULL));
    HOST_CHECK(host_wait(&job, 20) == 0);
    gone_soon("a");
    close_server();
}

static void the_server_asks_for_it(void)
{
    struct host_job job;
    pmix_proc_t target;
    pmix_info_t info;

    open_server();
    host_register_job(&job, "job", 1);
    make("a");
    make("b");
    PMIX_LOAD_PROCID(&target, "job", PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&info, PMIX_REGISTER_CLEANUP, path("a"), PMIX_STRING);
    HOST_GOOD(PMIx_Job_control(&target, 1, &info, 1, NULL, NULL));
    PMIX_INFO_DESTRUCT(&info);
    PMIX_INFO_LOAD(&info, PMIX_REGISTER_CLEANUP, path("b"), PMIX_STRING);
    HOST_GOOD(PMIx_Job_control(NULL, 0, &info, 1, NULL, NULL));
    PMIX_INFO_DESTRUCT(&info);
    host_start_all(&job, orders("there", "@a", "finalize", NULL));
    HOST_CHECK(host_wait(&job, 20) == 0);
    gone_soon("a");
    stays("b");
    close_server();
    HOST_CHECK(!exists("b"));
}

static void a_server_that_ends_before_its_clients(void)
{
    struct host_job job;

    open_server();
    host_register_job(&job, "job", 2);
    make("b");
    host_start_rank(&job, 0,
                    orders("file", "@a", "remove", "@a", "ask", "rank", "1", "remove",
                           "@b", "ask", "disconnect", "file", "@now", "wait", "@end",
                           "exit", NULL));
    there_soon("now");
    close_server();
    HOST_CHECK(!exists("b")); /* nobody waits for that */
    stays("a");
    make("end");
    HOST_CHECK(host_wait(&job, 20) == 0);
    gone_soon("a"); /* who has seen to it outlives the server */
    unlink(path("now"));
    unlink(path("end"));
}

/* ---- all of them ------------------------------------------------------------------- */

static const struct scenario scenarios[] = {
    {"finalized", finalized, 0},
    {"exited", exited, 0},
    {"killed", killed, 0},
    {"connection_lost_then_ended", connection_lost_then_ended, 0},
    {"whole_trees_but_what_is_ignored", whole_trees_but_what_is_ignored, 0},
    {"four_ranks_of_a_job", four_ranks_of_a_job, 0},
    {"a_rank_that_never_comes", a_rank_that_never_comes, 0},
    {"deregistered_namespace", deregistered_namespace, 0},
    {"two_namespaces_of_one_user", two_namespaces_of_one_user, 0},
    {"a_script_with_two_programs", a_script_with_two_programs, 0},
    {"the_host_hears_nothing_of_it", the_host_hears_nothing_of_it, 0},
    {"a_host_that_knows_no_job_control", a_host_that_knows_no_job_control, 0},
    {"the_server_asks_for_it", the_server_asks_for_it, 0},
    {"a_server_that_ends_before_its_clients", a_server_that_ends_before_its_clients, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    const struct scenario *const lists[] = {scenarios, NULL};

    if (argc > 2) {
        alarm(90);
        dir = getenv("CLEANUP_DIR");
        HOST_CHECK(dir);
    }
    return scenario_main(argc, argv, lists);
}
