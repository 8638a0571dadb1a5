/* SPDX-License-Identifier: BSD-3-Clause */
/* Common part of the tests of the Standard's sentences. A file tests the sentences of one chapter with
 * "must", "shall" or "required", and the name of a test is its sentence in short. A test is a program of a
 * user with the shared library: it may be a host in its own process, or have clients run under pmixrun. */
#ifndef TEST_STANDARD_H
#define TEST_STANDARD_H

#include "px_test.h"

#include "pmix_server.h"

#define PX_UNUSED __attribute__((unused))

/* ---- clients ------------------------------------------------------------------------------- */

/* A function that this program runs as a client, and its name. STANDARD_CLIENT adds it to the list. */
struct standard_client {
    const char *name;
    void (*run)(void);
    bool is_tool;
    struct standard_client *next;
};
void standard_list(struct standard_client *client);

/* Defines a client: it has initialized, with its name in standard_me, and finalizes afterwards. */
#define STANDARD_CLIENT(name) STANDARD_PROGRAM(name, false)
/* Defines a tool in the same way. */
#define STANDARD_TOOL(name) STANDARD_PROGRAM(name, true)
#define STANDARD_PROGRAM(name, is_tool)                                         \
    static void name##_run(void);                                               \
    __attribute__((constructor)) static void name##_list(void)                  \
    {                                                                           \
        static struct standard_client row = {#name, name##_run, is_tool, NULL}; \
        standard_list(&row);                                                    \
    }                                                                           \
    static void name##_run(void)
extern pmix_proc_t standard_me;

/* Ends a client if the condition is false. */
#define STANDARD_CHECK(condition) \
    standard_check((condition), #condition, __FILE__, __LINE__)
void standard_check(bool condition, const char *text, const char *file, int line);

/* Runs a client under pmixrun with these options (one string), and expects its success. The
 * output of the client and of pmixrun is in standard_out and standard_err afterwards. */
void standard_run(const char *options, const char *client);
/* Does the same for any exit status, and returns it. */
int standard_try(const char *options, const char *client);
extern char standard_out[1 << 16], standard_err[1 << 16];
/* Runs a client of the server in this process, and returns its exit status. proc is the client's registered
 * name, or NULL for a tool, which finds the server itself. */
int standard_fork(const pmix_proc_t *proc, const char *client);
/* Counts the lines that contain the text. */
unsigned standard_count(const char *lines, const char *text);

/* First line of a test with clients. */
#define STANDARD_NEEDS_PMIXRUN PX_TEST_NEEDS(getenv("PX_TEST_PMIXRUN"), "pmixrun")

/* ---- answers ------------------------------------------------------------------------------- */

/* Status and count of answers of a call's callback; cbdata is ignored. */
void standard_on_op(pmix_status_t status, void *cbdata);
/* Returns the status of a call: rc, or after PMIX_SUCCESS the status that its callback gets. */
pmix_status_t standard_wait(pmix_status_t rc);
/* Counts the answers to all callbacks until now. */
unsigned standard_answers(void);

/* Returns the info with the key, or NULL. */
const pmix_info_t *standard_find(const pmix_info_t *info, size_t n, const char *key);

/* Runs the client that the command line names, or the tests. */
int standard_main(int argc, char **argv, const char *suite, SFun setup, SFun teardown);
#define STANDARD_MAIN(suite, setup, teardown)                     \
    int main(int argc, char **argv)                               \
    {                                                             \
        return standard_main(argc, argv, suite, setup, teardown); \
    }

#endif
