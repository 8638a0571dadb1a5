/* SPDX-License-Identifier: BSD-3-Clause */
/* minihost N PROGRAM ARGS...: runs a job of N ranks on this node as a resource
 * manager would. MINIHOST_ANSWERS=later|inside|at-once says how it answers upcalls.
 * MINIHOST_UNTIL_GONE=PATH:PATH...: the library is told nothing of the end of the ranks
 * until nothing is there any more. Exits with the highest status of the ranks, or what
 * they aborted with. */
#include "host.h"

#include <string.h>
#include <unistd.h>

#define GONE_MS 10000

static enum host_answers how(void)
{
    const char *text = getenv("MINIHOST_ANSWERS");

    if (text && strcmp(text, "inside") == 0)
        return HOST_INSIDE;
    return text && strcmp(text, "at-once") == 0 ? HOST_AT_ONCE : HOST_LATER;
}

static void await_gone(const char *paths)
{
    char *list = strdup(paths ? paths : ""), *rest = list;
    int ms = 0;

    HOST_CHECK(list);
    for (char *path; (path = strtok_r(rest, ":", &rest));)
        for (; access(path, F_OK) == 0; ms += 5) {
            HOST_CHECK(ms < GONE_MS);
            usleep(5000);
        }
    free(list);
}

static int run_job(int n, char *const argv[])
{
    struct host_job job;
    int rc;

    host_register_job(&job, "minihost", n);
    host_start_all(&job, argv);
    rc = host_wait(&job, 60);
    await_gone(getenv("MINIHOST_UNTIL_GONE"));
    host_deregister_nspace("minihost");
    return rc;
}

int main(int argc, char **argv)
{
    pmix_server_module_t module = host_module;
    int rc;

    if (argc < 3 || atoi(argv[1]) < 1) {
        fprintf(stderr, "usage: minihost N PROGRAM ARGS...\n");
        return 2;
    }
    host_add_system(&module);
    host_answers(how());
    HOST_GOOD(host_init(&module));
    rc = run_job(atoi(argv[1]), argv + 2);
    if (host_abort_status() >= 0)
        rc = host_abort_status();
    host_stop_answering();
    HOST_GOOD(PMIx_server_finalize());
    return rc;
}
