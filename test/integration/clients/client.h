/* SPDX-License-Identifier: BSD-3-Clause */
/* client NAME ARGUMENT...: the programs that PMIx tests run as ranks, in one executable. The programs use
 * only the public API and compile with the headers of release 4.2.2. Newer functions stand inside #ifdef
 * TENON_SERVER_MODULE_SIZE. A failed check ends the process with status 99. */
#ifndef TEST_CLIENT_H
#define TEST_CLIENT_H

#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ALARM_S 60 /* limit of every program */

extern pmix_proc_t me, everyone;
extern uint32_t job_size;

/* A program, which PROGRAM() adds to the list. main() initializes PMIx before a program that JOINS,
 * finalizes PMIx after the program and prints "OK name rank". argv[0] is the program's name. */
struct program {
    const char *name;
    void (*run)(int argc, char **argv);
    bool joins;
    struct program *next;
};
void list_program(struct program *program);

#define PROGRAM(name, joins)                                          \
    static void run_##name(int argc, char **argv);                    \
    __attribute__((constructor)) static void list_##name(void)        \
    {                                                                 \
        static struct program row = {#name, run_##name, joins, NULL}; \
        list_program(&row);                                           \
    }                                                                 \
    static void run_##name(int argc, char **argv)
#define JOINS(name) PROGRAM(name, true)
#define ALONE(name) PROGRAM(name, false)

/* Calls PMIx_Init, or PMIx_tool_init as AS_TOOL asks; expects PMIX_ERR_UNREACH in a process without a
 * launcher. finish() finalizes the same. */
void init_as(pmix_proc_t *proc);
pmix_status_t finish(void);
/* Becomes a rank of a job; only programs that are ALONE call begin(). */
void begin(void);

/* ---- checks ------------------------------------------------------------------------ */

#define CHECK(c)                                                                      \
    do {                                                                              \
        if (!(c)) {                                                                   \
            fprintf(stderr, "%s:%d: rank %u: check failed: %s\n", __FILE__, __LINE__, \
                    me.rank, #c);                                                     \
            fflush(NULL);                                                             \
            _exit(99);                                                                \
        }                                                                             \
    } while (0)

#define EXPECT(call, wanted)                                                   \
    do {                                                                       \
        pmix_status_t rc_ = (call);                                            \
        if (rc_ != (wanted)) {                                                 \
            fprintf(stderr, "%s:%d: rank %u: %s: %s, expected %s\n", __FILE__, \
                    __LINE__, me.rank, #call, PMIx_Error_string(rc_),          \
                    PMIx_Error_string(wanted));                                \
            fflush(NULL);                                                      \
            _exit(99);                                                         \
        }                                                                      \
    } while (0)

#define GOOD(call) EXPECT(call, PMIX_SUCCESS)

/* Gets a value of a process; checks its type and a condition about the value, v. */
#define VALUE_OF(proc, key, wanted, condition)  \
    do {                                        \
        pmix_value_t *v = NULL;                 \
        GOOD(PMIx_Get(proc, key, NULL, 0, &v)); \
        CHECK(v && v->type == (wanted));        \
        CHECK(condition);                       \
        PMIX_VALUE_RELEASE(v);                  \
    } while (0)
/* Checks a value of a rank of this job. */
#define VALUE_IS(rank, key, wanted, condition) \
    do {                                       \
        pmix_proc_t p_ = rank_of(rank);        \
        VALUE_OF(&p_, key, wanted, condition); \
    } while (0)
#define U32_IS(rank, key, n) VALUE_IS(rank, key, PMIX_UINT32, v->data.uint32 == (n))
#define TEXT_IS(rank, key, text) \
    VALUE_IS(rank, key, PMIX_STRING, strcmp(v->data.string, text) == 0)

/* Prints a status that may differ between hosts, without a check. */
static inline void report(const char *what, pmix_status_t rc)
{
    printf("ANSWER %u %s %s\n", me.rank, what, PMIx_Error_string(rc));
    fflush(stdout);
}

/* True if STRICT is set: server and library are ours. Then the programs also check behaviour that
 * release 4.2.2 lacks. */
static inline bool strict(void)
{
    return getenv("STRICT") != NULL;
}

/* ---- time -------------------------------------------------------------------------- */

static inline double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline void sleep_ms(int ms)
{
    usleep((useconds_t)ms * 1000);
}

static inline bool wait_for(atomic_int *flag, double seconds)
{
    double end = now_s() + seconds;

    while (!*flag && now_s() < end)
        sleep_ms(5);
    return *flag != 0;
}

/* ---- calls that end in a callback -------------------------------------------------- */

extern atomic_int n_answers;
/* Callback that keeps the status for result(). */
void on_done(pmix_status_t status, void *arg);
/* Returns rc; after success waits for the callback and returns its status. */
pmix_status_t result(pmix_status_t rc);
/* Callback of calls that register something. */
void on_registered(pmix_status_t status, size_t id, void *arg);
/* Waits for the registration and returns its id. */
size_t registered(pmix_status_t rc);

/* The head of an event handler. */
#define HANDLER(name)                                                            \
    static void name(size_t id, pmix_status_t status, const pmix_proc_t *from,   \
                     pmix_info_t info[], size_t n, pmix_info_t results[],        \
                     size_t n_results, pmix_event_notification_cbfunc_fn_t done, \
                     void *arg)
#define HANDLED() done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg)

/* Registers a handler. After a refusal the callback does not come. */
static inline size_t watch(pmix_status_t *codes, size_t n, pmix_info_t *info,
                           size_t n_info, pmix_notification_fn_t handler)
{
    return registered(PMIx_Register_event_handler(codes, n, info, n_info, handler,
                                                  on_registered, NULL));
}

/* ---- processes, infos, values ------------------------------------------------------ */

static inline pmix_proc_t rank_of(pmix_rank_t rank)
{
    pmix_proc_t p;

    PMIX_LOAD_PROCID(&p, me.nspace, rank);
    return p;
}

static inline pmix_rank_t next_rank(void)
{
    return (me.rank + 1) % job_size;
}

static inline pmix_info_t info_bool(const char *key)
{
    pmix_info_t i;
    bool yes = true;

    PMIX_INFO_LOAD(&i, key, &yes, PMIX_BOOL);
    return i;
}

static inline pmix_info_t info_timeout(int seconds)
{
    pmix_info_t i;

    PMIX_INFO_LOAD(&i, PMIX_TIMEOUT, &seconds, PMIX_INT);
    return i;
}

static inline const pmix_info_t *find(const pmix_info_t *info, size_t n,
                                      const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (PMIX_CHECK_KEY(&info[i], key))
            return &info[i];
    return NULL;
}

static inline void put_u32(pmix_scope_t scope, const char *key, uint32_t n)
{
    pmix_value_t v = {.type = PMIX_UINT32};

    v.data.uint32 = n;
    GOOD(PMIx_Put(scope, key, &v));
}

/* Gets a number, with one directive or NULL. */
static inline pmix_status_t get_u32(pmix_rank_t rank, const char *key,
                                    const pmix_info_t *info, uint32_t *out)
{
    pmix_proc_t p = rank_of(rank);
    pmix_value_t *v = NULL;
    pmix_status_t rc = PMIx_Get(&p, key, info, info != NULL, &v);

    if (rc)
        return rc;
    CHECK(v->type == PMIX_UINT32);
    *out = v->data.uint32;
    PMIX_VALUE_RELEASE(v);
    return PMIX_SUCCESS;
}

static inline void barrier(void)
{
    GOOD(PMIx_Fence(NULL, 0, NULL, 0));
}

static inline pmix_status_t fence_with_data(void)
{
    pmix_info_t i = info_bool(PMIX_COLLECT_DATA);

    return PMIx_Fence(NULL, 0, &i, 1);
}

/* Returns an application of n processes; cmd NULL: this program. The arguments, up to NULL, are copies, since
 * Debian's library changes them. Ends in PMIX_APP_DESTRUCT. */
pmix_app_t app_of(const char *cmd, int n, const char *const argv[]);

/* ---- files ------------------------------------------------------------------------- */

static inline bool exists(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

static inline void make_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    CHECK(fd >= 0 && write(fd, "x", 1) == 1);
    close(fd);
}

/* Registers a file or, with its contents, a folder for removal at the end of a process or job. */
static inline pmix_status_t remove_at_end_of(const pmix_proc_t *proc, const char *key,
                                             const char *path)
{
    pmix_info_t info[2] = {info_bool("unused"), info_bool(PMIX_CLEANUP_RECURSIVE)};
    pmix_info_t *results = NULL;
    size_t n = 0;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info[0], key, path, PMIX_STRING);
    rc = PMIx_Job_control(proc, 1, info, 1 + !strcmp(key, PMIX_REGISTER_CLEANUP_DIR),
                          &results, &n);
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_FREE(results, n);
    return rc;
}
static inline pmix_status_t remove_at_end(const char *key, const char *path)
{
    return remove_at_end_of(&me, key, path);
}

#endif
