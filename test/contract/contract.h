/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the contract suites: the component under test, loaded from the file on the
 * command line, and the rules for components of every framework. */
#ifndef PX_CONTRACT_H
#define PX_CONTRACT_H

#include "fake_host.h"
#include "frameworks/framework.h"
#include "px_test.h"
#include "tenon/component.h"

/* The component under test, opened anew for each test. */
extern struct contract {
    const struct px_component *built;     /* the file's own descriptor */
    const struct px_component *component; /* after conversion by the library */
    struct fake_host host;
    void *conf;
    void *self; /* the result of open */
    bool is_open;
    const char *dir; /* px_test_dir() */
} contract;

/* Checks only the name of the file. Returns NULL, or a description of the problem. */
const char *contract_begin(const char *file, char **settings);
void contract_end(void);
enum px_framework_id contract_framework(void);
/* Returns the part of the component's name after the framework. */
const char *contract_name(void);
/* Returns the missing requirement of the rule that ran last, or "". */
const char *contract_skipped(void);
void contract_skip(const char *what);

/* Setup and teardown of each rule except the first common one. */
void contract_setup(void);
void contract_teardown(void);

/* Setup and teardown of the gds suite, instead of the ones above. */
void contract_gds_setup(void);
void contract_gds_teardown(void);

/* Rules are tests (PX_TEST). contract.c has those of every component,
 * contract_<framework>*.c those of a framework. */

#undef PX_TEST_NEEDS
#define PX_TEST_NEEDS(condition, what) \
    do {                               \
        if (!(condition)) {            \
            contract_skip(what);       \
            return;                    \
        }                              \
    } while (0)

bool contract_has_param(const char *name);
/* Closes the component and opens it again with one more parameter. Returns the result
 * of open. */
pmix_status_t contract_reopen(const char *name, const char *value);
pmix_status_t contract_open(void);
void contract_close(void);

#endif
