/* SPDX-License-Identifier: BSD-3-Clause */
/* pmix_component_check: holds one component to the contract of its framework, under a fake host.
 * Each rule runs in a process of its own, so that one that crashes or hangs is one rule that
 * failed. */
#include "contract.h"
#include "seccomp.h"

#include <getopt.h>
#include <string.h>

enum { MAX_RULES = 120, SKIPPED = 77 };

static const char usage[] =
    "usage: pmix_component_check [-l] FILE.so [PARAMETER=VALUE]...\n"
    "\n"
    "Loads the component pmix_mca_tenon_<framework>_<name>.so and checks the rules of its framework.\n"
    "Prints \"pass\", \"fail\" or \"skip\" for each. PARAMETER is one of the component's own,\n"
    "without the prefix <framework>_<name>_.\n"
    "\n"
    "  -l  list the rules, run none\n"
    "  -h  this text\n"
    "\n"
    "Exit status: 0 if no rule failed, 1 if one did, 2 for a wrong command line.\n";

static const struct suite {
    size_t (*rules)(const TTest **tests);
    SFun setup, teardown; /* around each of them; may be NULL */
} suites[PX_FW_COUNT] = {
    [PX_FW_PTL] = {.rules = contract_ptl},
    [PX_FW_GDS] = {contract_gds, contract_gds_setup, contract_gds_teardown},
    [PX_FW_PSEC] = {.rules = contract_psec},
    [PX_FW_PFEXEC] = {.rules = contract_pfexec},
    [PX_FW_PNET] = {.rules = contract_pnet},
    [PX_FW_PCLEANUP] = {.rules = contract_pcleanup},
};

static size_t rules_of(enum px_framework_id id, const TTest **rules)
{
    const TTest *all[2 * MAX_RULES];
    size_t n = contract_common(all);

    n += suites[id].rules(all + n);
    if (n > MAX_RULES)
        abort(); /* better than leaving one out */
    memcpy(rules, all, n * sizeof(*all));
    return n;
}

/* Prints how it went; false if it failed. A rule that CK_RUN_CASE leaves out has no line. */
static bool report(const char *name, SRunner *runner)
{
    TestResult **results = srunner_results(runner);
    const char *skipped = contract_note()->skipped;
    bool has_run = srunner_ntests_run(runner) > 0;
    bool failed = srunner_ntests_failed(runner) > 0;

    if (failed)
        printf("fail %s: %s (%s:%d)\n", name, tr_msg(results[0]),
               strrchr(tr_lfile(results[0]), '/')
                   ? strrchr(tr_lfile(results[0]), '/') + 1
                   : tr_lfile(results[0]),
               tr_lno(results[0]));
    else if (has_run && skipped[0])
        printf("skip %s: needs %s\n", name, skipped);
    else if (has_run)
        printf("pass %s\n", name);
    fflush(stdout);
    free(results);
    return !failed;
}

static bool run(const TTest *rule, bool fixture, const struct suite *own)
{
    Suite *suite = suite_create("contract");
    TCase *tcase = tcase_create(rule->name);

    contract_skip("");
    if (fixture)
        tcase_add_checked_fixture(tcase, contract_setup, contract_teardown);
    if (own)
        tcase_add_checked_fixture(tcase, own->setup, own->teardown);
    tcase_add_test(tcase, rule);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_SILENT);
    bool good = report(rule->name, runner);
    srunner_free(runner);
    return good;
}

static unsigned run_all(void)
{
    const TTest *rules[MAX_RULES];
    size_t n_common = contract_common(rules);
    size_t n = rules_of(contract_framework(), rules);
    unsigned n_failed = !run(rules[0], false, NULL);

    for (size_t i = 1; i < n; i++) {
        if (n_failed && i == 1) { /* it does not load */
            for (; i < n; i++)
                printf("skip %s: needs a component that loads\n", rules[i]->name);
            break;
        }
        n_failed += !run(rules[i], true,
                         i < n_common ? NULL : &suites[contract_framework()]);
    }
    return n_failed;
}

static void list(void)
{
    const TTest *rules[MAX_RULES];
    size_t n = rules_of(contract_framework(), rules);

    for (size_t i = 0; i < n; i++)
        puts(rules[i]->name);
}

int main(int argc, char **argv)
{
    bool only_list = false;
    int option;

    while ((option = getopt(argc, argv, "+lh")) != -1) {
        if (option == 'l') {
            only_list = true;
            continue;
        }
        fputs(usage, option == 'h' ? stdout : stderr);
        return option == 'h' ? EXIT_SUCCESS : 2;
    }
    if (optind == argc) {
        fputs(usage, stderr);
        return 2;
    }
    px_test_deny_by_env();
    /* Check gives a test 4 s, which a resent packet on a busy machine may exceed. */
    setenv("CK_DEFAULT_TIMEOUT", "60", 0);
    const char *wrong = contract_begin(argv[optind], argv + optind + 1);
    if (wrong) {
        fprintf(stderr, "pmix_component_check: %s: %s\n", argv[optind], wrong);
        return 2;
    }
    int status = EXIT_SUCCESS;
    if (only_list)
        list();
    else
        status = px_test_begin() ? px_test_end(run_all()) : SKIPPED;
    contract_end();
    return status;
}
