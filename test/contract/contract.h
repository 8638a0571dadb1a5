/* SPDX-License-Identifier: BSD-3-Clause */
/* What the contract suites share: the component under test, from the file that the
 * command line names, and the rules that hold for the components of every framework. */
#ifndef PX_CONTRACT_H
#define PX_CONTRACT_H

#include "fake_host.h"
#include "px_test.h"
#include "tenon/component.h"

/* The component under test, open; each test has it fresh. */
extern struct contract {
    const struct px_component *component;
    struct fake_host host;
    void *conf;
    void *self; /* what open gave */
    bool is_open;
    char *dir; /* private, empty before each test and removed after it */
} contract;

/* main of a suite: "contract_<fw> FILE.so [PARAMETER=VALUE]...". Runs the common tests
 * and those given, up to NULL. */
int contract_main(int argc, char **argv, const char *framework, uint32_t abi,
                  const TTest *const *tests);

bool contract_has_param(const char *name);
/* Closes the component and opens it with this parameter set besides those of the
 * command line; returns what open did. */
pmix_status_t contract_reopen(const char *name, const char *value);
void contract_close(void);

#endif
