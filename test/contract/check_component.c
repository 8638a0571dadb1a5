/* SPDX-License-Identifier: BSD-3-Clause */
/* pmix_component_check: runs the contract of a framework on one component, under a
 * fake host. Each rule runs in its own process, so a crash or a hang fails only that
 * rule. */
#include "contract.h"
#include "core/base/str.h"
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

/* Adds the rules of contract<suffix>*.c; suffix is "" or "_<framework>". Returns the
 * new number of rules. */
static size_t add_rules(const char *suffix, const TTest **rules, size_t n)
{
    PX_AUTOFREE char *start = px_strf(*suffix ? "contract%s" : "contract%s.", suffix);

    for (const struct px_test *t = px_test_first(); t; t = t->next) {
        const char *slash = strrchr(t->test.file, '/');

        if (!px_str_starts(slash ? slash + 1 : t->test.file, start))
            continue;
        if (n == MAX_RULES)
            abort(); /* a rule must not be dropped silently */
        rules[n++] = &t->test;
    }
    return n;
}

/* Finds the rules; those for every component come first. */
static size_t find_rules(const TTest **rules, size_t *n_common)
{
    enum px_framework_id id = contract_framework();
    PX_AUTOFREE char *suffix = px_strf("_%s", px_frameworks[id].name);

    *n_common = add_rules("", rules, 0);
    return add_rules(suffix, rules, *n_common);
}

/* Prints the result of a rule and returns false if it failed. A rule that CK_RUN_CASE
 * leaves out prints nothing. */
static bool report(const char *name, SRunner *runner)
{
    TestResult **results = srunner_results(runner);
    const char *skipped = contract_skipped();
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

static bool run(const TTest *rule, SFun setup, SFun teardown)
{
    PX_AUTOFREE char *name = px_strf(
        "contract/%s/%s", px_frameworks[contract_framework()].name, contract_name());
    const char *excuse = px_test_excuse(name, rule->name);
    if (excuse) {
        printf("skip %s: %s\n", rule->name, excuse);
        return true;
    }
    Suite *suite = suite_create("contract");

    contract_skip("");
    px_test_add(suite, rule, 1, setup, teardown);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_SILENT);
    bool good = report(rule->name, runner);
    srunner_free(runner);
    return good;
}

/* Runs all rules. The first one checks that the component loads; if it fails, the
 * others are skipped. */
static unsigned run_all(void)
{
    const TTest *rules[MAX_RULES];
    size_t n_common, n = find_rules(rules, &n_common);
    bool loads = run(rules[0], NULL, NULL);
    unsigned n_failed = !loads;

    for (size_t i = 1; i < n; i++) {
        bool of_gds = i >= n_common && contract_framework() == PX_FW_GDS;
        if (loads)
            n_failed += !run(rules[i], of_gds ? contract_gds_setup : contract_setup,
                             of_gds ? contract_gds_teardown : contract_teardown);
        else
            printf("skip %s: needs a component that loads\n", rules[i]->name);
    }
    return n_failed;
}

static void list(void)
{
    const TTest *rules[MAX_RULES];
    size_t n_common, n = find_rules(rules, &n_common);

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
    /* Check's default limit is 4 s, too short for a resent packet on a busy machine. */
    setenv("CK_DEFAULT_TIMEOUT", getenv("PX_TEST_LONG") ? "900" : "60", 0);
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
