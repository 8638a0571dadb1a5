/* SPDX-License-Identifier: BSD-3-Clause */
/* What the contract suites share: the component under test, from the file that the
 * command line names, and the rules that hold for the components of every framework. */
#ifndef PX_CONTRACT_H
#define PX_CONTRACT_H

#include "fake_host.h"
#include "frameworks/framework.h"
#include "px_test.h"
#include "tenon/component.h"

/* The component under test, open; each test has it fresh. */
extern struct contract {
    const struct px_component *built;     /* the file's own descriptor */
    const struct px_component *component; /* as the library sees it */
    struct fake_host host;
    void *conf;
    void *self; /* what open gave */
    bool is_open;
    const char *dir; /* px_test_dir() */
} contract;

/* Looks at the file's name only. NULL, or what is wrong with it. */
const char *contract_begin(const char *file, char **settings);
void contract_end(void);
enum px_framework_id contract_framework(void);
/* What the rule that ran last needs, "" if nothing. */
const char *contract_skipped(void);
void contract_skip(const char *what);

/* Around each rule but the first common one. */
void contract_setup(void);
void contract_teardown(void);

/* Instead of these in the suite of gds. */
void contract_gds_setup(void);
void contract_gds_teardown(void);

/* The rules are the tests (PX_TEST) of contract.c for every component, and for those of a
 * framework the ones of contract_<framework>*.c. */

#undef PX_TEST_NEEDS
#define PX_TEST_NEEDS(condition, what) \
    do {                               \
        if (!(condition)) {            \
            contract_skip(what);       \
            return;                    \
        }                              \
    } while (0)

bool contract_has_param(const char *name);
/* Closes the component and opens it with this parameter set besides those of the
 * command line; returns what open did. */
pmix_status_t contract_reopen(const char *name, const char *value);
pmix_status_t contract_open(void);
void contract_close(void);

#endif
