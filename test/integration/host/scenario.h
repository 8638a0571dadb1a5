/* SPDX-License-Identifier: BSD-3-Clause */
/* scenario NAME CLIENT: plays one scenario of a host and its server library; CLIENT is the path of the client
 * program. Prints "OK NAME" when all was as it should be. scenario api|cleanup: tells the names of those, with a
 * star if the reference implementation can play them too. */
#ifndef TEST_SCENARIO_H
#define TEST_SCENARIO_H

#include "host.h"

#include <signal.h>

enum {
    CLEANUP = 1, /* one of cleanup, not of api */
    FOREIGN = 2, /* release 4.2.2 can do it too */
    SERVED = 4,  /* there is a server, with every slot, which answers later */
};

/* Listed by being written down. */
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

/* The command line of the client with these words, or of "sh -c" if they begin with an exclamation mark.
 * '@' stands for the folder of a cleanup. Good for the next call, too. */
char **client(const char *words);
/* A server whose host has these slots, NULL: every one; and its end. */
void open_server(enum host_answers how, const pmix_server_module_t *module);
void close_server(void);
/* A job that runs, its end with that as the highest status, and both with success. */
void start_job(struct host_job *job, const char *nspace, int n, const char *words);
void end_job(struct host_job *job, int status);
void run_job(const char *nspace, int n, const char *words);

#endif
