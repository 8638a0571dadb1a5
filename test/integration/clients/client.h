/* SPDX-License-Identifier: BSD-3-Clause */
/* For the PMIx client programs here: public API only, and only what the headers of
 * release 4.2.2 have too, because they are compiled against those as well. A check
 * that fails ends the program with status 99; a rank that saw only right answers
 * prints "OK name rank". */
#ifndef TEST_CLIENT_H
#define TEST_CLIENT_H

#include <pmix.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ALARM_S 60 /* whatever happens, no program stays longer */

static pmix_proc_t me, everyone;
static uint32_t job_size;

#define CHECK(c)                                                                \
    do {                                                                        \
        if (!(c)) {                                                             \
            fprintf(stderr, "%s:%d: rank %u: not so: %s\n", __FILE__, __LINE__, \
                    me.rank, #c);                                               \
            fflush(NULL);                                                       \
            _exit(99);                                                          \
        }                                                                       \
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

/* Some answers differ between hosts, rightly: these are told, not judged. */
static inline pmix_status_t tell(const char *what, pmix_status_t rc)
{
    printf("ANSWER %u %s %s\n", me.rank, what, PMIx_Error_string(rc));
    fflush(stdout);
    return rc;
}

/* STRICT: server and library are ours, so also what release 4.2.2 is known not to do
 * is checked. */
static inline bool strict(void)
{
    return getenv("STRICT") != NULL;
}

static inline double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline void sleep_ms(int ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000L};

    nanosleep(&t, NULL);
}

static inline bool wait_for(atomic_int *flag, double seconds)
{
    double end = now_s() + seconds;

    while (!*flag && now_s() < end)
        sleep_ms(5);
    return *flag != 0;
}

static inline pmix_proc_t rank_of(pmix_rank_t rank)
{
    pmix_proc_t p;

    PMIX_LOAD_PROCID(&p, me.nspace, rank);
    return p;
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

static inline void put_u32(pmix_scope_t scope, const char *key, uint32_t n)
{
    pmix_value_t v = {.type = PMIX_UINT32};

    v.data.uint32 = n;
    GOOD(PMIx_Put(scope, key, &v));
}

static inline pmix_status_t get_u32(const pmix_proc_t *p, const char *key,
                                    const pmix_info_t *info, size_t n, uint32_t *out)
{
    pmix_value_t *v = NULL;
    pmix_status_t rc = PMIx_Get(p, key, info, n, &v);

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

static inline void begin(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(ALARM_S);
    GOOD(PMIx_Init(&me, NULL, 0));
    PMIX_LOAD_PROCID(&everyone, me.nspace, PMIX_RANK_WILDCARD);
    GOOD(get_u32(&everyone, PMIX_JOB_SIZE, NULL, 0, &job_size));
    CHECK(me.rank < job_size);
}

static inline int end(const char *name)
{
    GOOD(PMIx_Finalize(NULL, 0));
    printf("OK %s %u\n", name, me.rank);
    return 0;
}

#endif
