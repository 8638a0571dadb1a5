/* SPDX-License-Identifier: BSD-3-Clause */
/* plog: sinks for the texts of PMIx_Log. A component serves channels. Either the core
 * writes the lines of a channel to a target of the component, in turns with other
 * output; or the component passes each text to a service, in a child process. Contract
 * in frameworks/plog/README.md. */
#ifndef TENON_PLOG_H
#define TENON_PLOG_H

#include "tenon/piof.h"

#include <time.h>

#define PX_PLOG_ABI 1u

/* A text for a channel. Members are only appended; size is that of the caller's
 * structure. */
struct px_plog_text {
    uint32_t size;
    const char *channel;       /* the key, such as PMIX_LOG_SYSLOG */
    const char *text;          /* without a newline at its end */
    int priority;              /* as for syslog(3), perhaps with a facility; -1: none */
    time_t stamp;              /* time to show; 0: none */
    const pmix_proc_t *source; /* process that logs, as its connection proves */
};

/* Operations of plog. Exactly one of target and write is NULL. */
struct px_plog_ops {
    /* Keys of the channels, with NULL at the end. */
    const char *const *channels;
    /* Sets the target of a channel (fd or path; the other members are preset), which
     * stays valid until close. Loop thread. PMIX_ERR_NOT_SUPPORTED: no target now. */
    pmix_status_t (*target)(void *self, const char *channel,
                            struct px_piof_target *target);
    /* Passes a text to the service. Called in a child process with the ids of the user
     * that logs, and with no descriptor but standard error; may wait.
     * PMIX_ERR_NOT_AVAILABLE: the service does not take the text. */
    pmix_status_t (*write)(void *self, const struct px_plog_text *text);
};

#endif
