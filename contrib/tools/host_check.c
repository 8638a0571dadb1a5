/* SPDX-License-Identifier: BSD-3-Clause */
/* pmix_host_check: drives each request of the Standard through the host that has
 * started the program, and prints each answer beside what the Standard wants. */
#include "host_check.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "toolkit.h"

const char *tool_name = "pmix_host_check";

enum { TIMEOUT_S = 10, MAX_ROWS = 160 };

static const char help[] =
    "usage: LAUNCHER -n 2 pmix_host_check [OPTION]...\n"
    "\n"
    "Shows which requests of the PMIx Standard the launcher, or another host, serves. Run "
    "at\n"
    "least two processes of one job; rank 0 prints a table.\n"
    "\n"
    "  -t, --timeout SECONDS  time limit of each request (default: 10)\n"
    "  -s, --skip NAME        do not run the rows whose names begin with NAME\n"
    "  -w, --wanted           print the rows only that lack something the Standard "
    "requires\n"
    "  -h, --help             print this text\n"
    "  -V, --version          print the version\n"
    "\n"
    "The exit status is 0 if nothing is wrong, 1 if an answer is wrong or missing, 2 for a "
    "wrong\n"
    "command line.\n";

static struct check check;
static struct result results[MAX_ROWS];
static bool wanted_only;
static bool stopped; /* the processes cannot meet any more */
static const char
    *skipped; /* beginning of the names of rows that are not run; or NULL */

/* ---- helpers --------------------------------------------------------------------- */

bool settle(struct result *r, pmix_status_t rc)
{
    r->verdict = rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED ? SERVED
                 : rc == PMIX_ERR_NOT_SUPPORTED                       ? REFUSED
                                                                      : FAILED;
    if (r->verdict == FAILED)
        snprintf(r->text, sizeof(r->text), "%s", PMIx_Error_string(rc));
    return r->verdict == SERVED;
}

void wrong(struct result *r, const char *fmt, ...)
{
    va_list args;

    r->verdict = WRONG;
    va_start(args, fmt);
    vsnprintf(r->text, sizeof(r->text), fmt, args);
    va_end(args);
}

void load(pmix_info_t *info, const char *key, const void *value, pmix_data_type_t type)
{
    memset(info, 0, sizeof(*info));
    PMIx_Info_load(info, key, value, type);
}

void unload(pmix_info_t *info, size_t n)
{
    for (size_t i = 0; i < n; i++)
        PMIx_Value_destruct(&info[i].value);
}

void free_value(pmix_value_t *v)
{
    if (v)
        PMIx_Value_destruct(v);
    free(v);
}

void free_infos(pmix_info_t *info, size_t n)
{
    unload(info, n);
    free(info);
}

void name_proc(pmix_proc_t *proc, const char *nspace, pmix_rank_t rank)
{
    memset(proc, 0, sizeof(*proc));
    snprintf(proc->nspace, sizeof(proc->nspace), "%s", nspace);
    proc->rank = rank;
}

static pmix_status_t meet(const struct check *c, bool collect)
{
    pmix_info_t info;

    load(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    return PMIx_Fence(&c->job, 1, &info, collect ? 1 : 0);
}

pmix_status_t meet_all(const struct check *c)
{
    return meet(c, false);
}

/* ---- limits of time -------------------------------------------------------------- */

static const char *volatile running = "PMIx_Init";

/* Async-signal-safe: the library may hold any lock. */
static void on_alarm(int signum)
{
    static const char before[] = "pmix_host_check: no answer to ",
                      after[] = " in time\n";

    (void)signum;
    (void)!write(STDERR_FILENO, before, sizeof(before) - 1);
    (void)!write(STDERR_FILENO, running, strlen(running));
    (void)!write(STDERR_FILENO, after, sizeof(after) - 1);
    _exit(EXIT_TROUBLE);
}

/* Several requests of one row share the limit; each has an earlier one of its own. */
static unsigned limit_s(void)
{
    return 3 * check.timeout_s;
}

/* Limits a step outside of the rows. Ends the program without an answer. */
static void begin(const char *name)
{
    running = name;
    alarm(limit_s());
}

struct limited {
    void (*work)(void *arg);
    void *arg;
    sem_t ended;
};

static void *run_work(void *p)
{
    struct limited *l = p;

    l->work(l->arg);
    sem_post(&l->ended);
    return NULL;
}

/* Runs work(arg) in a thread of its own for at most so many seconds. Returns false if
 * the work has not ended: the thread stays, and arg has to live on. */
static bool run_limited(void (*work)(void *arg), void *arg, unsigned seconds)
{
    struct limited *l = need(calloc(1, sizeof(*l)));
    struct timespec end;
    pthread_t thread;

    l->work = work;
    l->arg = arg;
    sem_init(&l->ended, 0, 0);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += seconds;
    if (pthread_create(&thread, NULL, run_work, l))
        fail("cannot start a thread");
    while (sem_timedwait(&l->ended, &end)) {
        if (errno == EINTR)
            continue;
        pthread_detach(thread);
        return false; /* the thread uses l for as long as the program runs */
    }
    pthread_join(thread, NULL);
    sem_destroy(&l->ended);
    free(l);
    return true;
}

/* ---- rows ------------------------------------------------------------------------ */

static const struct row *const lists[] = {call_rows, key_rows};
static const char *const titles[] = {"Requests", "Information of the job"};

/* A row, or without one a fence of all processes, in a thread of its own. */
struct attempt {
    const struct row *row;
    struct result result;
    pmix_status_t status; /* of the fence */
};

static void try_row(void *arg)
{
    struct attempt *a = arg;

    if (!a->row)
        a->status = meet_all(&check);
    else if (a->row->run)
        a->row->run(&check, &a->result);
    else
        run_key(&check, a->row, &a->result);
}

/* Runs a row for at most the limit. */
static void run_row(const struct row *row, struct result *r)
{
    struct attempt *a = need(calloc(1, sizeof(*a)));

    a->row = row;
    if (!run_limited(try_row, a, limit_s())) {
        r->verdict = SILENT; /* the attempt stays with its thread */
        return;
    }
    *r = a->result;
    free(a);
}

/* Waits for all processes. Another process may wait for a row for the whole limit.
 * Returns false, and fills reason, if the fence fails or has no answer. */
static bool meet_in_time(char *reason, size_t size)
{
    struct attempt *a = need(calloc(1, sizeof(*a)));

    if (!run_limited(try_row, a, 2 * limit_s())) {
        snprintf(reason, size, "no answer");
        return false;
    }
    const pmix_status_t rc = a->status;
    free(a);
    if (rc)
        snprintf(reason, size, "%s", PMIx_Error_string(rc));
    return rc == PMIX_SUCCESS;
}

/* Runs all rows. Requests need that the processes meet after each; information of the
 * job is in the process already. Returns the number of rows. */
static size_t run_all(void)
{
    char reason[80];
    bool deaf = false; /* even a request of this process hangs */
    size_t n = 0;

    alarm(0); /* each row has its own limit */
    for (size_t l = 0; l < sizeof(lists) / sizeof(lists[0]); l++) {
        for (const struct row *row = lists[l]; row->name && n < MAX_ROWS; row++, n++) {
            if ((stopped && row->run) || deaf ||
                (skipped && strncmp(row->name, skipped, strlen(skipped)) == 0))
                continue;
            run_row(row, &results[n]);
            deaf = !row->run && results[n].verdict == SILENT;
            if (row->run && !meet_in_time(reason, sizeof(reason))) {
                stopped = true;
                complain("cannot fence after \"%s\": %s; no other request can be tried",
                         row->name, reason);
            }
        }
    }
    return n;
}

/* Passes results to rank 0, by keys of each process. */
static void publish_results(size_t n)
{
    char verdicts[MAX_ROWS + 1];
    pmix_value_t value = {.type = PMIX_STRING, .data.string = verdicts};

    for (size_t i = 0; i < n; i++)
        verdicts[i] = (char)('0' + results[i].verdict);
    verdicts[n] = '\0';
    begin("PMIx_Commit");
    pmix_status_t rc = PMIx_Put(PMIX_GLOBAL, "host_check.verdicts", &value);
    if (!rc)
        rc = PMIx_Commit();
    if (!rc)
        rc = meet(&check, true);
    if (rc)
        fail("cannot commit the results: %s", PMIx_Error_string(rc));
}

/* Replaces results that are worse in another process. */
static void gather_results(size_t n)
{
    for (pmix_rank_t r = 1; r < check.size; r++) {
        pmix_proc_t other;
        pmix_value_t *v = NULL;

        name_proc(&other, check.me.nspace, r);
        pmix_status_t rc = PMIx_Get(&other, "host_check.verdicts", NULL, 0, &v);
        if (rc || v->type != PMIX_STRING || strlen(v->data.string) != n)
            fail("cannot get the results of rank %u: %s", r, PMIx_Error_string(rc));
        for (size_t i = 0; i < n; i++) {
            const enum verdict verdict = (enum verdict)(v->data.string[i] - '0');

            if (verdict <= results[i].verdict)
                continue;
            results[i].verdict = verdict;
            results[i].text[0] = '\0';
            if (verdict != SERVED)
                snprintf(results[i].text, sizeof(results[i].text), "at rank %u", r);
        }
        free_value(v);
    }
}

/* ---- the table ------------------------------------------------------------------- */

static const char *word_of(const struct row *row, const struct result *r)
{
    switch (r->verdict) {
    case SERVED:
        return row->run ? "served" : "given";
    case REFUSED:
        return row->run ? "not supported" : "missing";
    case FAILED:
        return "error";
    case WRONG:
        return "wrong";
    case SILENT:
        return "no answer";
    default:
        return "not tried";
    }
}

/* True if the Standard wants another answer. */
static bool lacks(const struct row *row, const struct result *r)
{
    return r->verdict >= FAILED || (row->must && r->verdict == REFUSED);
}

/* Prints the table. Returns the number of rows that lack something. */
static unsigned print_table(void)
{
    unsigned counts[SILENT + 1] = {0}, n_lacking = 0;
    size_t n = 0;

    printf("%s: %u processes of %s, %s\n", tool_name, check.size, check.me.nspace,
           PMIx_Get_version());
    for (size_t l = 0; l < sizeof(lists) / sizeof(lists[0]); l++) {
        printf("\n%-44s %-9s %s\n", titles[l], "Standard", "answer");
        for (const struct row *row = lists[l]; row->name; row++, n++) {
            const struct result *r = &results[n];
            const bool bad = lacks(row, r);

            counts[r->verdict]++;
            n_lacking += bad;
            if (!wanted_only || bad)
                printf("%-44s %-9s %s%s%s\n", row->name, row->must ? "shall" : "may",
                       word_of(row, r), r->text[0] ? ": " : "", r->text);
        }
    }
    if (stopped)
        printf("\nThe results are those of rank 0 alone.\n");
    printf("\n%u served, %u not supported, %u errors, %u wrong, %u without an answer, "
           "%u not tried; %u rows lack what the Standard requires\n",
           counts[SERVED], counts[REFUSED], counts[FAILED], counts[WRONG],
           counts[SILENT], counts[NOT_RUN], n_lacking);
    return n_lacking;
}

/* ---- main ------------------------------------------------------------------------ */

static void parse(char **argv)
{
    check.timeout_s = TIMEOUT_S;
    check.program = argv[0];
    for (char **at = argv + 1; *at; at++) {
        if (is_option(*at, "-h", "--help"))
            print_and_exit(help);
        else if (is_option(*at, "-V", "--version"))
            print_and_exit(need_text("%s, %s\n", tool_name, PMIx_Get_version()));
        else if (is_option(*at, "-t", "--timeout"))
            check.timeout_s = (unsigned)number(*at, argument(&at), 3600);
        else if (is_option(*at, "-s", "--skip"))
            skipped = argument(&at);
        else if (is_option(*at, "-w", "--wanted"))
            wanted_only = true;
        else if (is_option(*at, "--child", NULL)) /* started by the row of a spawn */
            exit(PMIx_Init(&check.me, NULL, 0) || PMIx_Finalize(NULL, 0));
        else
            usage("unknown option \"%s\"", *at);
    }
}

static void join(void)
{
    pmix_value_t *v = NULL;
    pmix_status_t rc = PMIx_Init(&check.me, NULL, 0);

    if (rc)
        fail("cannot connect to a host: %s; run \"LAUNCHER -n 2 %s\"",
             PMIx_Error_string(rc), tool_name);
    name_proc(&check.job, check.me.nspace, PMIX_RANK_WILDCARD);
    rc = PMIx_Get(&check.job, PMIX_JOB_SIZE, NULL, 0, &v);
    if (rc || v->type != PMIX_UINT32)
        fail("cannot get the size of the job: %s", PMIx_Error_string(rc));
    check.size = v->data.uint32;
    free_value(v);
    if (check.size < 2)
        fail("needs at least two processes, e.g. \"LAUNCHER -n 2 %s\"", tool_name);
}

/* Prints the table in rank 0. Returns the number of rows that lack something. */
static unsigned report(size_t n)
{
    unsigned n_lacking;

    if (check.me.rank != 0)
        return 0;
    if (!stopped) {
        begin("PMIx_Get");
        gather_results(n);
    }
    n_lacking = print_table();
    if (fflush(stdout))
        fail("cannot write the table");
    return n_lacking;
}

int main(int argc, char **argv)
{
    (void)argc;
    parse(argv);
    signal(SIGALRM, on_alarm);
    begin("PMIx_Init");
    join();
    pmix_status_t rc = meet_all(&check);
    if (rc)
        fail("cannot fence: %s", PMIx_Error_string(rc));
    const size_t n = run_all();
    if (!stopped)
        publish_results(n);
    const unsigned n_lacking = report(n);
    if (stopped) { /* a thread waits inside the library */
        if (check.me.rank != 0)
            sleep(check.timeout_s); /* launchers end a job when a process fails */
        _exit(EXIT_TROUBLE);
    }
    begin("PMIx_Fence");
    (void)meet_all(&check); /* the results are read before a process leaves */
    begin("PMIx_Finalize");
    rc = PMIx_Finalize(NULL, 0);
    if (rc)
        fail("cannot finalize: %s", PMIx_Error_string(rc));
    return n_lacking > 0 ? EXIT_TROUBLE : EXIT_SUCCESS;
}
