/* SPDX-License-Identifier: BSD-3-Clause */
/* Common part of all Check executables: a main made from the list of tests. Each test is a test case, so
 * CK_RUN_CASE=NAME runs a single test. CK_FORK=no runs all tests in one process, for a debugger. An
 * executable has a TMPDIR of its own, which must be empty when its tests have passed. */
#ifndef PX_TEST_H
#define PX_TEST_H

#include "times.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* Expects success of a call or of a status. */
#define ok(call)                                                         \
    do {                                                                 \
        int rc_ = (call);                                                \
        ck_assert_msg(rc_ == 0, "%s: %d, expected success", #call, rc_); \
    } while (0)

/* Expects PMIX_OPERATION_SUCCEEDED of a call: no callback follows. */
#define at_once(call)                                                      \
    do {                                                                   \
        int rc_ = (call);                                                  \
        ck_assert_msg(rc_ == PMIX_OPERATION_SUCCEEDED,                     \
                      "%s: %d, expected operation succeeded", #call, rc_); \
    } while (0)

/* Returns the status of a call that may also complete without its callback. */
#define px_test_completed(call)                               \
    ({                                                        \
        int rc_ = (call);                                     \
        rc_ == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc_; \
    })

/* Expects PMIX_ERR_<what> of a call. */
#define fails(call, what)                                                             \
    do {                                                                              \
        int rc_ = (call);                                                             \
        ck_assert_msg(rc_ == PMIX_ERR_##what, "%s: %d, expected " #what, #call, rc_); \
    } while (0)

/* Expects that PMIX_PROCID and PMIX_RANK of the calling process are *self. */
#define px_test_knows_itself(self)                         \
    do {                                                   \
        pmix_value_t *v_ = NULL;                           \
        ok(PMIx_Get(NULL, PMIX_PROCID, NULL, 0, &v_));     \
        ck_assert(PMIX_CHECK_PROCID(v_->data.proc, self)); \
        PMIX_VALUE_RELEASE(v_);                            \
        ok(PMIx_Get(NULL, PMIX_RANK, NULL, 0, &v_));       \
        ck_assert_uint_eq(v_->data.rank, (self)->rank);    \
        PMIX_VALUE_RELEASE(v_);                            \
    } while (0)

/* The head of an event handler, which may use any of its parameters. */
#define PX_TEST_HANDLER(name)                                                          \
    static void name(size_t id PX_UNUSED, pmix_status_t code PX_UNUSED,                \
                     const pmix_proc_t *source PX_UNUSED, pmix_info_t *info PX_UNUSED, \
                     size_t n PX_UNUSED, pmix_info_t *results PX_UNUSED,               \
                     size_t n_results PX_UNUSED,                                       \
                     pmix_event_notification_cbfunc_fn_t cb PX_UNUSED,                 \
                     void *cbdata PX_UNUSED)

/* Skips the test if this machine or build does not fulfil the condition. First line of a test.
 * contrib/check.sh counts skipped tests, and prints the reasons. */
#define PX_TEST_NEEDS(condition, what)   \
    do {                                 \
        if (!(condition)) {              \
            px_test_skip("needs " what); \
            return;                      \
        }                                \
    } while (0)

/* Skips all tests of the executable if the condition is false. Outside of functions. */
#define PX_TEST_SUITE_NEEDS(condition, what)       \
    const char *px_test_missing(void)              \
    {                                              \
        return (condition) ? NULL : "needs " what; \
    }

#define PX_TEST_NEEDS_ROOT PX_TEST_NEEDS(px_test_is_root(), "root")
#define PX_TEST_NEEDS_PROC PX_TEST_NEEDS(px_test_has_proc(), "/proc")

/* Returns the reason to skip all tests, or NULL. PX_TEST_SUITE_NEEDS defines it. */
const char *px_test_missing(void);
void px_test_skip(const char *why);
bool px_test_is_root(void);
bool px_test_has_proc(void);
bool px_test_has_terminals(void); /* pseudo terminals can be made */
/* True if this process has the capability in effect (CAP_* of linux/capability.h). */
bool px_test_may(int capability);

/* True if a pidfd has the exit status of a process that was reaped (Linux 6.15). */
bool px_test_kernel_keeps_status(void);

/* Returns the reason to skip a test that an emulator cannot run, or NULL. The file PX_TEST_SKIPS has lines "TEST PATTERN
 * REASON" (contrib/check.sh --ports). */
const char *px_test_excuse(const char *program, const char *name);

/* Counts the names in a folder, with "." and ".."; 0: the folder cannot be read. */
size_t px_test_count_names(const char *path);
/* Counts the open descriptors of this process, with or without /proc. */
size_t px_test_count_fds(void);

/* Returns a folder of this test, made at the first call: mode 0755, without a symbolic link in its path,
 * removed with its contents after the test. */
const char *px_test_dir(void);
/* Returns "folder/name" in px_test_dir(); valid for 16 more calls. */
const char *px_test_path(const char *name);

/* A test of this executable. PX_TEST adds it to the list. */
struct px_test {
    const TTest test;
    int n; /* how often it runs, with _i counting */
    struct px_test *next;
};
void px_test_list(struct px_test *test);
const struct px_test *px_test_first(void);

#define PX_TEST(name) PX_TEST_LOOP(name, 1)
#define PX_TEST_LOOP(name, times)                                   \
    static void name##_fn(int _i);                                  \
    __attribute__((constructor)) static void name##_list(void)      \
    {                                                               \
        static struct px_test row = {                               \
            {#name, name##_fn, __FILE__, __LINE__}, (times), NULL}; \
        px_test_list(&row);                                         \
    }                                                               \
    static void name##_fn(int _i CK_ATTRIBUTE_UNUSED)

/* Runs the tests listed, each with setup and teardown around it (either may be NULL) in a process
 * of its own. Returns what main should. */
int px_test_run(const char *suite_name, SFun setup, SFun teardown);

/* For a main that makes its own suite: adds a test to it, runs it. */
void px_test_add(Suite *suite, const TTest *test, int n, SFun setup, SFun teardown);
int px_test_run_suite(Suite *suite);

/* For a main that runs tests in its own way. begin: makes the TMPDIR; false if the executable cannot
 * run here (PX_TEST_SUITE_NEEDS, or PX_TEST_NEEDS=proc in the environment), which it has printed;
 * then the exit status is 77. end: removes the TMPDIR; returns what main should. */
bool px_test_begin(void);
int px_test_end(unsigned n_failed);

/* PX_TEST_MAIN("base/buf", setup, teardown) at the end of the file. */
#define PX_TEST_MAIN(suite_name, setup, teardown)        \
    int main(void)                                       \
    {                                                    \
        return px_test_run(suite_name, setup, teardown); \
    }

#endif
