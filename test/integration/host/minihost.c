/* SPDX-License-Identifier: BSD-3-Clause */
/* minihost N PROGRAM ARGS...: runs a job of N ranks on this node as a resource
 * manager would. MINIHOST_ANSWERS=later|inside|at-once says how it answers upcalls.
 * Exits with the highest status of the ranks, or what they aborted with. */
#include "host.h"

#include <string.h>

static enum host_answers how(void)
{
    const char *text = getenv("MINIHOST_ANSWERS");

    if (text && strcmp(text, "inside") == 0)
        return HOST_INSIDE;
    return text && strcmp(text, "at-once") == 0 ? HOST_AT_ONCE : HOST_LATER;
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
    rc = host_run("minihost", atoi(argv[1]), argv + 2);
    if (host_abort_status() >= 0)
        rc = host_abort_status();
    host_stop_answering();
    HOST_GOOD(PMIx_server_finalize());
    return rc;
}
