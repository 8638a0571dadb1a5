/* SPDX-License-Identifier: BSD-3-Clause */
/* What every Check executable shares: a main made from the list of its tests. Each test
 * is a test case of its own, so that CK_RUN_CASE=<its name> runs one alone; CK_FORK=no
 * keeps them in one process, for a debugger. */
#ifndef PX_TEST_H
#define PX_TEST_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* Check gives a test 4 s: too few on a busy machine. Seconds; meson gives them all 90. */
enum { PX_TEST_TIMEOUT = 30 };

/* Adds the test n times, each with setup and teardown around it (either may be NULL), in a process of its
 * own, and with _i counting. */
static inline void px_test_add(Suite *suite, const TTest *test, int n, SFun setup,
                               SFun teardown)
{
    TCase *tcase = tcase_create(test->name);

    if (!getenv("CK_DEFAULT_TIMEOUT"))
        tcase_set_timeout(tcase, PX_TEST_TIMEOUT);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, test, 0, n);
    suite_add_tcase(suite, tcase);
}

/* Returns what main should. */
static inline int px_test_end(Suite *suite)
{
    SRunner *runner = srunner_create(suite);

    srunner_run_all(runner, CK_ENV);
    int n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Runs the NULL-terminated tests. */
static inline int px_test_run(const char *suite_name, SFun setup, SFun teardown,
                              const TTest *const *tests)
{
    Suite *suite = suite_create(suite_name);

    for (; *tests; tests++)
        px_test_add(suite, *tests, 1, setup, teardown);
    return px_test_end(suite);
}

/* The same of tests of which some are run several times. */
struct px_test_loop {
    const TTest *test;
    int n;
};

static inline int px_test_run_loops(const char *suite_name, SFun setup, SFun teardown,
                                    const struct px_test_loop *tests, size_t n)
{
    Suite *suite = suite_create(suite_name);

    for (size_t i = 0; i < n; i++)
        px_test_add(suite, tests[i].test, tests[i].n, setup, teardown);
    return px_test_end(suite);
}

/* PX_TEST_MAIN("base/buf", first_test, second_test) at the end of the file. */
#define PX_TEST_MAIN(suite_name, ...) \
    PX_TEST_MAIN_WITH(suite_name, NULL, NULL, __VA_ARGS__)

#define PX_TEST_MAIN_WITH(suite_name, setup, teardown, ...)     \
    int main(void)                                              \
    {                                                           \
        const TTest *const tests[] = {__VA_ARGS__, NULL};       \
                                                                \
        return px_test_run(suite_name, setup, teardown, tests); \
    }

/* First in a test that needs what not every machine or build has. */
#define PX_TEST_NEEDS(condition, what)                         \
    do {                                                       \
        if (!(condition)) {                                    \
            printf("SKIP %s: needs %s\n", tcase_name(), what); \
            return;                                            \
        }                                                      \
    } while (0)

#endif
