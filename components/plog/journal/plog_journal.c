/* SPDX-License-Identifier: BSD-3-Clause */
/* plog/journal: the journal of systemd, with the process that logs in fields of its
 * own. The child process loads libsystemd, which brings many libraries. */
#include "components/plog/names.h"

#include "core/base/attr.h"
#include "core/base/fd.h"
#include "core/base/str.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <syslog.h>
#include <systemd/sd-journal.h>

enum { PRIORITY = 60, N_FIELDS = 6 }; /* above syslog, which the journal reads too */

#define JOURNAL_PATH "/run/systemd/journal/socket"

static pmix_status_t journal_query(void *self PX_UNUSED, struct px_query *answer)
{
    answer->priority = PRIORITY;
    if (px_fd_socket_is_served(JOURNAL_PATH))
        return PMIX_SUCCESS;
    snprintf(answer->reason, sizeof(answer->reason), "cannot connect to %s: %m",
             JOURNAL_PATH);
    return PMIX_ERR_NOT_AVAILABLE;
}

static pmix_status_t journal_write(void *self, const struct px_plog_text *text)
{
    const int priority = plog_priority(self, text);
    PX_AUTOFREE char *message = plog_message(text);
    char *fields[N_FIELDS] = {
        message ? px_strf("MESSAGE=%s", message) : NULL,
        px_strf("PRIORITY=%d", LOG_PRI(priority)),
        px_strf("SYSLOG_FACILITY=%d", priority >> 3),
        px_strf("SYSLOG_IDENTIFIER=pmix"),
        px_strf("PMIX_NAMESPACE=%s", text->source->nspace),
        px_strf("PMIX_RANK=%u", text->source->rank),
    };
    struct iovec parts[N_FIELDS];
    pmix_status_t rc = PMIX_SUCCESS;
    void *library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
    __typeof__(&sd_journal_sendv) send = NULL;

    if (library)
        *(void **)&send = dlsym(library, "sd_journal_sendv");
    for (int i = 0; i < N_FIELDS; i++) {
        parts[i] = (struct iovec){fields[i], fields[i] ? strlen(fields[i]) : 0};
        if (!fields[i])
            rc = PMIX_ERR_NOMEM;
    }
    /* Without a journal sd_journal_sendv succeeds. */
    if (!rc &&
        (!send || !px_fd_socket_is_served(JOURNAL_PATH) || send(parts, N_FIELDS) < 0))
        rc = PMIX_ERR_NOT_AVAILABLE;
    for (int i = 0; i < N_FIELDS; i++)
        free(fields[i]);
    return rc;
}

static const char *const channels[] = {PMIX_LOG_SYSLOG, PMIX_LOG_LOCAL_SYSLOG, NULL};

static const struct px_param params[] = {
    PLOG_SYSLOG_PARAMS,
};

static const struct px_plog_ops ops = {
    .channels = channels,
    .write = journal_write,
};

PX_COMPONENT(plog, journal) = {
    PX_COMPONENT_HEAD(plog, PLOG, journal),
    .version = "1.0",
    .params = params,
    .conf_size = sizeof(struct plog_syslog_conf), /* self is the conf */
    .query = journal_query,
    .ops = &ops,
};
