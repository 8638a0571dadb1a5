/* SPDX-License-Identifier: BSD-3-Clause */
#include "components/plog/names.h"

#include "core/base/str.h"

#include <syslog.h>

const struct px_param_name plog_levels[] = {
    {"emerg", LOG_EMERG},
    {"alert", LOG_ALERT},
    {"crit", LOG_CRIT},
    {"err", LOG_ERR},
    {"error", LOG_ERR},
    {"warn", LOG_WARNING},
    {"warning", LOG_WARNING},
    {"notice", LOG_NOTICE},
    {"info", LOG_INFO},
    {"debug", LOG_DEBUG},
    {NULL, 0},
};

const struct px_param_name plog_facilities[] = {
    {"auth", LOG_AUTH},     {"authpriv", LOG_AUTHPRIV},
    {"priv", LOG_AUTHPRIV}, {"daemon", LOG_DAEMON},
    {"user", LOG_USER},     {"local0", LOG_LOCAL0},
    {"local1", LOG_LOCAL1}, {"local2", LOG_LOCAL2},
    {"local3", LOG_LOCAL3}, {"local4", LOG_LOCAL4},
    {"local5", LOG_LOCAL5}, {"local6", LOG_LOCAL6},
    {"local7", LOG_LOCAL7}, {NULL, 0},
};

int plog_priority(const struct plog_syslog_conf *conf, const struct px_plog_text *text)
{
    const int priority = text->priority < 0 ? (int)conf->level : text->priority;

    return priority & LOG_FACMASK ? priority : priority | (int)conf->facility;
}

char *plog_message(const struct px_plog_text *text)
{
    char stamp[40] = "";
    struct tm local;

    if (text->stamp && localtime_r(&text->stamp, &local))
        strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S%z ", &local);
    return px_strf("[%s,%u] %s%s", text->source->nspace, text->source->rank, stamp,
                   text->text);
}
