/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that play one scenario of several: PROGRAM SCENARIO CLIENTS, where CLIENTS is the folder of
 * the client programs. Prints "OK scenario" when all was as it should be. Without arguments it tells the
 * names of the scenarios, those that the reference implementation can play too with a star. */
#ifndef TEST_SCENARIO_H
#define TEST_SCENARIO_H

#include "host.h"

struct scenario {
    const char *name;
    void (*play)(void);
    int foreign; /* release 4.2.2 can do it too */
};

/* The folder of the client programs. */
extern const char *clients;

/* What main returns. Lists end with one without a name; lists of lists with NULL. */
int scenario_main(int argc, char **argv, const struct scenario *const *lists);

#endif
