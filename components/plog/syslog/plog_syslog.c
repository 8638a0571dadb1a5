/* SPDX-License-Identifier: BSD-3-Clause */
/* plog/syslog: the system's log by syslog(3), which reports no failure. So the
 * component checks that a process reads /dev/log. */
#include "components/plog/names.h"

#include "core/base/attr.h"
#include "core/base/fd.h"

#include <stdio.h>
#include <stdlib.h>
#include <syslog.h>

enum { PRIORITY = 50 };

#define LOG_PATH "/dev/log"

static pmix_status_t syslog_query(void *self PX_UNUSED, struct px_query *answer)
{
    answer->priority = PRIORITY;
    if (px_fd_socket_is_served(LOG_PATH))
        return PMIX_SUCCESS;
    snprintf(answer->reason, sizeof(answer->reason), "cannot connect to %s: %m",
             LOG_PATH);
    return PMIX_ERR_NOT_AVAILABLE;
}

static pmix_status_t syslog_write(void *self, const struct px_plog_text *text)
{
    const struct plog_syslog_conf *conf = self;
    PX_AUTOFREE char *message = plog_message(text);

    if (!message)
        return PMIX_ERR_NOMEM;
    if (!conf->console && !px_fd_socket_is_served(LOG_PATH))
        return PMIX_ERR_NOT_AVAILABLE;
    openlog("pmix", LOG_PID | (conf->console ? LOG_CONS : 0), LOG_USER);
    syslog(plog_priority(conf, text), "%s", message);
    closelog();
    return PMIX_SUCCESS;
}

static const char *const channels[] = {PMIX_LOG_SYSLOG, PMIX_LOG_LOCAL_SYSLOG, NULL};

static const struct px_param params[] = {
    PX_PARAM_BOOL(struct plog_syslog_conf, console, "false",
                  "Write to the system's console if no process reads the log"),
    PLOG_SYSLOG_PARAMS,
};

static const struct px_plog_ops ops = {
    .channels = channels,
    .write = syslog_write,
};

PX_COMPONENT(plog, syslog) = {
    PX_COMPONENT_HEAD(plog, PLOG, syslog),
    .version = "1.0",
    .params = params,
    .conf_size = sizeof(struct plog_syslog_conf), /* self is the conf */
    .query = syslog_query,
    .ops = &ops,
};
