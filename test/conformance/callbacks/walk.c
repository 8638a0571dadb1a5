/* SPDX-License-Identifier: BSD-3-Clause */
#include "walk.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { WAIT_S = 10, ROW_MS = 1000 };

static struct {
    enum walk_role role;
    const char *name; /* of the callback */
    atomic_bool armed, walking;
    bool is_static; /* rows of functions that need no state of the library */
    char last[128]; /* row that has returned last */
    struct timespec since;
    unsigned n_rows, n_wrong, n_accepted;
    atomic_uint n_answered;
    sem_t done;
} walk;

/* ---- what a row may return ------------------------------------------------------- */

/* Functions without a callback of their own that work in callbacks. A name that ends in '_' stands for all
 * names that begin with it. */
static const char *const at_once[] = {
    "PMIx_Commit",
    "PMIx_Compute_distances",
    "PMIx_Deregister_event_handler",
    "PMIx_Fabric_deregister",
    "PMIx_Forward_envars",
    "PMIx_Get_cpuset",
    "PMIx_Get_relative_locality",
    "PMIx_Heartbeat",
    "PMIx_IOF_deregister",
    "PMIx_IOF_push",
    "PMIx_Initialized",
    "PMIx_Load_topology",
    "PMIx_Notify_event",
    "PMIx_Parse_cpuset_string",
    "PMIx_Progress",
    "PMIx_Progress_thread_stop",
    "PMIx_Put",
    "PMIx_Register_attributes",
    "PMIx_Store_internal",
    "PMIx_server_",
    "PMIx_tool_is_connected",
    "deregister_client",
    "deregister_nspace",
};
/* Exceptions from names that end in '_'. */
static const char *const ends[] = {"PMIx_server_finalize", "PMIx_server_init"};
/* Functions whose answer needs another call of the same process. */
static const char *const open_ended[] = {"PMIx_Group_invite_nb"};
/* Functions after which the set of CPUs is not needed any more. */
static const char *const last_uses[] = {"PMIx_Get_cpuset", "PMIx_Compute_distances_nb",
                                        "PMIx_server_generate_locality_string"};

/* Functions that work with what this process knows, and refuse what needs the server. */
static const char *const partly[] = {"PMIx_Get", "PMIx_Resolve_"};

/* True if the function in a row's text is in a list of names. */
static bool is_in(const char *row, const char *const *names, size_t n_names)
{
    for (size_t i = 0; i < n_names; i++) {
        const size_t n = strlen(names[i]);

        if (strncmp(row, names[i], n) == 0 && (names[i][n - 1] == '_' || row[n] == '('))
            return true;
    }
    return false;
}
#define IS_IN(row, names) is_in(row, names, sizeof(names) / sizeof((names)[0]))

/* True if a row's call has a callback for its answer. A handler of events or output is none. */
static bool has_callback(const char *row)
{
    while ((row = strstr(row, "on.")) != NULL) {
        row += 3;
        if (strncmp(row, "event", 5) != 0 && strncmp(row, "iof", 3) != 0)
            return true;
    }
    return false;
}

/* A call with a callback, and a call of the list, is never refused because it would wait. Any other
 * one is refused for this reason, or because the function is not for this role. */
static bool is_right(const char *row, long long got)
{
    if (IS_IN(row, partly))
        return true;
    const bool works = has_callback(row) || (IS_IN(row, at_once) && !IS_IN(row, ends));

    return works == (got != PMIX_ERR_WOULD_BLOCK) || (!works && got == PMIX_ERR_INIT);
}

static double elapsed_ms(void)
{
    struct timespec now, was = walk.since;

    clock_gettime(CLOCK_MONOTONIC, &now);
    walk.since = now;
    return (double)(now.tv_sec - was.tv_sec) * 1e3 +
           (double)(now.tv_nsec - was.tv_nsec) / 1e6;
}

static void wrong(const char *row, const char *what)
{
    printf("%s: %s: %s\n", walk.name, row, what);
    walk.n_wrong++;
}

void row_number(const char *file, int line, const char *call, long long expected,
                long long got)
{
    char text[128];
    const double ms = elapsed_ms();

    (void)file, (void)line;
    walk.n_rows++;
    snprintf(walk.last, sizeof(walk.last), "%s", call);
    snprintf(text, sizeof(text), "took %.0f ms", ms);
    if (ms > ROW_MS)
        wrong(call, text);
    if (call[0] == '!') /* a condition of variables */
        return;
    if (!walk.is_static)
        calls_drop(IS_IN(call, last_uses));
    if (walk.is_static ? got == expected : is_right(call, got)) {
        if (!walk.is_static && has_callback(call) && got == PMIX_SUCCESS &&
            !IS_IN(call, open_ended))
            walk.n_accepted++;
        return;
    }
    snprintf(text, sizeof(text), "%s (%lld)", PMIx_Error_string((int)got), got);
    wrong(call, text);
}

void row_text(const char *file, int line, const char *call, const char *expected,
              const char *got)
{
    const bool same = expected && got ? strcmp(expected, got) == 0 : expected == got;

    row_number(file, line, call, true, same);
}

void row_freed(const char *file, int line, const char *call, const char *expected,
               char *got)
{
    row_text(file, line, call, expected, got);
    free(got);
}

/* ---- the walk ---------------------------------------------------------------------- */

void walk_here(void)
{
    bool yes = true;

    if (!atomic_compare_exchange_strong(&walk.armed, &yes, false))
        return;
    elapsed_ms();
    walk.is_static = true;
    rows_of_life();
    rows_of_values();
    rows_of_names();
    rows_of_buffers();
    walk.is_static = false;
    rows_of_good_calls(0);
    rows_of_good_tools(0, 0);
    IS(0, PMIx_Init(NULL, NULL, 0))
    IS(0, PMIx_server_init(NULL, NULL, 0))
    IS(0, PMIx_tool_init(NULL, NULL, 0))
    sem_post(&walk.done);
}

void walk_begin(enum walk_role role, const pmix_proc_t *self)
{
    walk.role = role;
    sem_init(&walk.done, 0, 0);
    calls_setup();
    if (self)
        calls_of(self);
}

void walk_arm(const char *name)
{
    walk.name = name;
    walk.n_rows = walk.n_wrong = walk.n_accepted = 0;
    walk.n_answered = 0;
    walk.armed = true;
}

unsigned walk_await(void)
{
    struct timespec end;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += WAIT_S;
    if (sem_timedwait(&walk.done, &end)) {
        printf("%s: hangs after row %u, %s\n", walk.name, walk.n_rows, walk.last);
        fflush(stdout);
        return 1;
    }
    for (int i = 0; i < WAIT_S * 100 && walk.n_answered < walk.n_accepted; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    if (walk.n_answered < walk.n_accepted)
        wrong("accepted calls", "not all are answered");
    if (walk.n_rows < 900 || walk.n_accepted < 30)
        wrong("rows", "too few calls");
    printf("%s: %u rows, %u accepted, %u answered\n", walk.name, walk.n_rows,
           walk.n_accepted, walk.n_answered);
    fflush(stdout);
    return walk.n_wrong;
}

/* ---- callbacks --------------------------------------------------------------------- */

/* Every callback: walks, or counts the answer to a row's call. */
static void answered(const void *cbdata)
{
    if (cbdata == &on)
        walk_here();
    else
        walk.n_answered++;
}

static void on_op(pmix_status_t status, void *cbdata)
{
    (void)status;
    answered(cbdata);
}

static void on_value(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    (void)status, (void)value;
    answered(cbdata);
}

static void on_lookup(pmix_status_t status, pmix_pdata_t data[], size_t n, void *cbdata)
{
    (void)status, (void)data, (void)n;
    answered(cbdata);
}

static void on_spawn(pmix_status_t status, pmix_nspace_t nspace, void *cbdata)
{
    (void)status, (void)nspace;
    answered(cbdata);
}

static void on_joint(pmix_status_t status, char nspace[], int rank, void *cbdata)
{
    (void)status, (void)nspace, (void)rank;
    answered(cbdata);
}

static void on_info(pmix_status_t status, pmix_info_t *info, size_t n, void *cbdata,
                    pmix_release_cbfunc_t release, void *release_data)
{
    (void)status, (void)info, (void)n;
    if (release)
        release(release_data);
    answered(cbdata);
}

static void on_handler(pmix_status_t status, size_t id, void *cbdata)
{
    (void)status, (void)id;
    answered(cbdata);
}

static void on_setup(pmix_status_t status, pmix_info_t info[], size_t n, void *cbdata,
                     pmix_op_cbfunc_t release, void *release_data)
{
    (void)info, (void)n;
    if (release)
        release(status, release_data);
    answered(cbdata);
}

static void on_dmodex(pmix_status_t status, char *data, size_t n, void *cbdata)
{
    (void)status, (void)data, (void)n;
    answered(cbdata);
}

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source,
                     pmix_info_t info[], size_t n, pmix_info_t results[],
                     size_t n_results, pmix_event_notification_cbfunc_fn_t cb,
                     void *cbdata)
{
    (void)id, (void)code, (void)source, (void)info, (void)n, (void)results,
        (void)n_results;
    cb(PMIX_SUCCESS, NULL, 0, NULL, NULL, cbdata);
}

static void on_credential(pmix_status_t status, pmix_byte_object_t *cred,
                          pmix_info_t info[], size_t n, void *cbdata)
{
    (void)status, (void)cred, (void)info, (void)n;
    answered(cbdata);
}

static void on_validation(pmix_status_t status, pmix_info_t info[], size_t n,
                          void *cbdata)
{
    (void)status, (void)info, (void)n;
    answered(cbdata);
}

static void on_distances(pmix_status_t status, pmix_device_distance_t *distances,
                         size_t n, void *cbdata, pmix_release_cbfunc_t release,
                         void *release_data)
{
    (void)status, (void)distances, (void)n;
    if (release)
        release(release_data);
    answered(cbdata);
}

static void on_iof(size_t id, pmix_iof_channel_t channel, pmix_proc_t *source,
                   pmix_byte_object_t *bytes, pmix_info_t info[], size_t n)
{
    (void)id, (void)channel, (void)source, (void)bytes, (void)info, (void)n;
}

const struct row_callbacks on = {
    .op = on_op,
    .value = on_value,
    .lookup = on_lookup,
    .spawn = on_spawn,
    .joint = on_joint,
    .info = on_info,
    .handler = on_handler,
    .setup = on_setup,
    .dmodex = on_dmodex,
    .event = on_event,
    .credential = on_credential,
    .validation = on_validation,
    .distances = on_distances,
    .iof = on_iof,
};

void walk_event(size_t id, pmix_status_t code, const pmix_proc_t *source,
                pmix_info_t info[], size_t n, pmix_info_t results[], size_t n_results,
                pmix_event_notification_cbfunc_fn_t cb, void *cbdata)
{
    walk_here();
    on_event(id, code, source, info, n, results, n_results, cb, cbdata);
}

void walk_iof(size_t id, pmix_iof_channel_t channel, pmix_proc_t *source,
              pmix_byte_object_t *bytes, pmix_info_t info[], size_t n)
{
    walk_here();
    on_iof(id, channel, source, bytes, info, n);
}
