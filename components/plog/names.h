/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of syslog(3) for parameters, and the message of a text: shared by the
 * components that pass texts to the system's log. */
#ifndef PX_COMPONENTS_PLOG_NAMES_H
#define PX_COMPONENTS_PLOG_NAMES_H

#include "tenon/plog.h"

/* Configuration of both components. */
struct plog_syslog_conf {
    int64_t level, facility;
    bool console; /* of syslog */
};

extern const struct px_param_name plog_levels[], plog_facilities[];

/* Parameters of both components, the last rows of their tables. */
#define PLOG_SYSLOG_PARAMS                                                        \
    PX_PARAM_ENUM(struct plog_syslog_conf, level, "error", plog_levels,           \
                  "Priority of a text without PMIX_LOG_SYSLOG_PRI"),              \
        PX_PARAM_ENUM(struct plog_syslog_conf, facility, "user", plog_facilities, \
                      "Facility of a text whose PMIX_LOG_SYSLOG_PRI has "         \
                      "none"),                                                    \
        PX_PARAM_END

/* Returns the priority of a text with its facility. */
int plog_priority(const struct plog_syslog_conf *conf, const struct px_plog_text *text);
/* Returns "[namespace,rank] time text", malloc'd. The time is ISO 8601; without a stamp
 * the message has none. NULL: out of memory. */
char *plog_message(const struct px_plog_text *text);

#endif
