/* SPDX-License-Identifier: BSD-3-Clause */
/* scenario NAME CLIENT: plays one scenario of a host and its server library; CLIENT is the path of the
 * client program. Prints "OK NAME" after success. scenario api|cleanup: prints the names of the scenarios
 * of a kind, with a star if the reference implementation can play them, too. */
#ifndef TEST_SCENARIO_H
#define TEST_SCENARIO_H

#include "host.h"

#include <signal.h>

enum {
    CLEANUP = 1, /* belongs to cleanup, not to api */
    FOREIGN = 2, /* release 4.2.2 passes, too */
    SERVED = 4,  /* runs with a server that has all functions and replies later */
};

/* A scenario, which SCENARIO() adds to the list. */
struct scenario {
    const char *name;
    void (*play)(void);
    int how;
    struct scenario *next;
};
void list_scenario(struct scenario *scenario);

#define SCENARIO(name, how)                                      \
    static void name(void);                                      \
    __attribute__((constructor)) static void list_##name(void)   \
    {                                                            \
        static struct scenario row = {#name, name, (how), NULL}; \
        list_scenario(&row);                                     \
    }                                                            \
    static void name(void)

/* Returns the command line of the client with these words, or of "sh -c" if the words begin with an
 * exclamation mark. '@' stands for the folder of a cleanup. The result is valid until the second next
 * call. */
char **client(const char *words);
/* Start and end a server; module NULL means all functions. */
void open_server(enum host_answers how, const pmix_server_module_t *module);
void close_server(void);
/* Start a job; wait for its end and check its highest status; or both, with status 0. */
void start_job(struct host_job *job, const char *nspace, int n, const char *words);
void end_job(struct host_job *job, int status);
void run_job(const char *nspace, int n, const char *words);

#endif
