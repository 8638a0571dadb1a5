/* SPDX-License-Identifier: BSD-3-Clause */
/* The core's parameters: one table per prefix, and the configuration structure of each
 * table. All tables are in one place, so every role knows every name. */
#ifndef PX_CONFIG_CORE_PARAMS_H
#define PX_CONFIG_CORE_PARAMS_H

#include "tenon/param.h"

#include <stdint.h>

enum px_strict { PX_STRICT_OFF, PX_STRICT_WARN, PX_STRICT_ERROR };

struct px_base_conf {
    const char *component_path;
    const char *component_show_load_errors;
    uint64_t component_probe;                               /* ms; 0: no trial */
    int64_t verbose;                                        /* enum px_log_level */
    int64_t strict;                                         /* enum px_strict */
    const char *user_param_file, *param_files, *tune_files; /* read earlier, by name */
};

struct px_client_conf {
    uint64_t connect_timeout, finalize_timeout, singleton_timeout; /* ms */
    bool singleton_host;
    const char *singleton_program;
};

struct px_server_conf {
    uint64_t handshake_timeout, finalize_timeout, cleanup_timeout, unread_timeout,
        fabric_timeout, service_timeout, get_report, get_timeout; /* ms */
    uint64_t committed_per_user, committed_total, output_per_stream,
        output_total; /* bytes */
    const char *report_uri;
    bool remote_connections;
    int64_t timeline; /* collectives of a process; 0: no times are recorded */
};

struct px_host_builtin_conf {
    uint64_t grace, notice, debug_timeout; /* ms */
    uint64_t preload_limit;                /* bytes */
    uint64_t slots;
    bool output_required, pmi;
    const char *cluster_id;
};

struct px_iof_conf {
    uint64_t gather_time, drain_timeout; /* ms */
};

extern const struct px_param px_base_params[];         /* mca_base_* */
extern const struct px_param px_client_params[];       /* client_* */
extern const struct px_param px_server_params[];       /* server_* */
extern const struct px_param px_host_builtin_params[]; /* embedded_* */
extern const struct px_param px_iof_params[];          /* iof_* */

/* All tables of the core; the last row has no prefix. */
struct px_param_set {
    const char *prefix; /* of the names, e.g. "server_" */
    const struct px_param *table;
};
extern const struct px_param_set px_core_params[];

#endif
