/* SPDX-License-Identifier: BSD-3-Clause */
/* plog/file: a file of the site, for a machine without a system log, and for records of
 * jobs. */
#include "tenon/plog.h"

#include "core/base/attr.h"

#include <stdio.h>
#include <sys/stat.h>

enum { PRIORITY = 40 }; /* below the system's log */

struct conf {
    const char *path;
};

static pmix_status_t file_query(void *self, struct px_query *answer)
{
    const struct conf *conf = self;

    answer->priority = PRIORITY;
    if (conf->path)
        return PMIX_SUCCESS;
    snprintf(answer->reason, sizeof(answer->reason), "plog_file_path is not set");
    return PMIX_ERR_NOT_AVAILABLE;
}

static pmix_status_t file_target(void *self, const char *channel PX_UNUSED,
                                 struct px_piof_target *target)
{
    const struct conf *conf = self;

    target->path = conf->path;
    target->mode = S_IRUSR | S_IWUSR;
    target->keep = true;
    return PMIX_SUCCESS;
}

static const char *const channels[] = {PMIX_LOG_SYSLOG, PMIX_LOG_LOCAL_SYSLOG,
                                       PMIX_LOG_JOB_RECORD, NULL};

static const struct px_param params[] = {
    PX_PARAM_PATH(struct conf, path, NULL,
                  "File for the system's log, if the machine has none, and for the job "
                  "record (PMIX_LOG_JOB_RECORD); lines are appended"),
    PX_PARAM_END,
};

static const struct px_plog_ops ops = {
    .channels = channels,
    .target = file_target,
};

PX_COMPONENT(plog, file) = {
    PX_COMPONENT_HEAD(plog, PLOG, file),
    .version = "1.0",
    .params = params,
    .conf_size = sizeof(struct conf), /* self is the conf */
    .query = file_query,
    .ops = &ops,
};
