/* SPDX-License-Identifier: BSD-3-Clause */
/* Loading of components. A component's code may crash while it is loaded. So a
 * component of a vendor is first loaded in a child process, as by the library. */
#include "contrib/tools/pmix_info/info.h"

#include "contrib/tools/toolkit.h"
#include "core/plugin/trial.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* Loads the component in the child, whose standard output is /dev/null. */
static void try_load(void *found, int fd PX_UNUSED)
{
    struct px_loaded loaded;

    dup2(STDOUT_FILENO, STDERR_FILENO);
    (void)px_loader_load(found, &loaded, NULL);
}

/* Loads a component, and discards the output of its code. */
static pmix_status_t load_silently(const struct px_found *found, struct px_loaded *out,
                                   struct px_err *err)
{
    PX_AUTOCLOSE int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int streams[] = {STDOUT_FILENO, STDERR_FILENO}, saved[PX_COUNT(streams)];

    fflush(NULL);
    for (size_t i = 0; i < PX_COUNT(streams); i++) {
        saved[i] = fcntl(streams[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        dup2(null, streams[i]);
    }
    pmix_status_t rc = px_loader_load(found, out, err);
    fflush(NULL);
    for (size_t i = 0; i < PX_COUNT(streams); i++) {
        dup2(saved[i], streams[i]);
        px_drop_fd(&saved[i]);
    }
    return rc;
}

void component_load(struct component *c, uint64_t trial_ms)
{
    struct px_err err = {0};
    char how[128];

    if (trial_ms && c->found->file && !c->found->own &&
        !px_trial_run(try_load, (void *)c->found, trial_ms, how, sizeof(how)))
        c->why = need_text("it %s", how);
    else if (load_silently(c->found, &c->loaded, &err))
        c->why = need(strdup(err.text));
}
