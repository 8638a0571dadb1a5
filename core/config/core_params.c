/* SPDX-License-Identifier: BSD-3-Clause */
/* The core's own parameters. */
#include "core/config/core_params.h"

#include "tenon/services.h"

static const struct px_param_name levels[] = {
    {"0", PX_LOG_ERROR},   {"error", PX_LOG_ERROR}, {"1", PX_LOG_WARN},
    {"warn", PX_LOG_WARN}, {"2", PX_LOG_INFO},      {"info", PX_LOG_INFO},
    {"3", PX_LOG_DEBUG},   {"debug", PX_LOG_DEBUG}, {NULL, 0},
};

static const struct px_param_name stricts[] = {
    {"off", PX_STRICT_OFF},
    {"warn", PX_STRICT_WARN},
    {"error", PX_STRICT_ERROR},
    {NULL, 0},
};

const struct px_param px_base_params[] = {
    PX_PARAM_STRING(
        struct px_base_conf, component_path, NULL,
        "Folders searched for components, separated by colons; default: pmix/ beside "
        "the library"),
    PX_PARAM_STRING(
        struct px_base_conf, component_show_load_errors, "none",
        "Components whose failures to load or open are reported, besides the selected "
        "ones: all, none, a list of <framework>[/<component>], or all but those after "
        "^"),
    PX_PARAM_DURATION(
        struct px_base_conf, component_probe, "10s", 0, 3600000,
        "Time limit of the child process that first loads, opens, queries and closes a "
        "foreign component, so that a crash ends only the child; 0: no child",
        .level = 1),
    PX_PARAM_ENUM(struct px_base_conf, verbose, "warn", levels,
                  "Least severe level of messages to print", .level = 1),
    PX_PARAM_ENUM(struct px_base_conf, strict, "warn", stricts,
                  "Reaction to invalid parameters: a warning each, failure, or nothing",
                  .level = 1),
    PX_PARAM_STRING(struct px_base_conf, user_param_file, NULL,
                    "The user's parameter file, if it is not ~/.pmix/mca-params.conf"),
    PX_PARAM_STRING(struct px_base_conf, param_files, NULL,
                    "Further parameter files, separated by colons", .level = 1),
    PX_PARAM_STRING(
        struct px_base_conf, tune_files, NULL,
        "Parameter files that override the environment, separated by colons; pmixrun "
        "--tune sets it"),
    PX_PARAM_END,
};

const struct px_param px_client_params[] = {
    /* Long, because a server answers late during a large launch. Finite, so that no
     * program hangs. */
    PX_PARAM_DURATION(struct px_client_conf, connect_timeout, "60s", 1, 3600000,
                      "How long PMIx_Init waits for each of the server's answers"),
    /* A silent server must not prevent a program from ending. */
    PX_PARAM_DURATION(struct px_client_conf, finalize_timeout, "5s", 1, 3600000,
                      "How long PMIx_Finalize waits for the server's goodbye"),
    PX_PARAM_BOOL(
        struct px_client_conf, singleton_host, "true",
        "Start pmixrun beside a process that was not launched, when the process first "
        "spawns, publishes, looks up or logs; pmixrun ends with the process"),
    PX_PARAM_STRING(struct px_client_conf, singleton_program, NULL,
                    "Absolute path of the program for client_singleton_host; default: "
                    "pmixrun of the library's installation"),
    PX_PARAM_DURATION(
        struct px_client_conf, singleton_timeout, "20s", 1, 3600000,
        "How long the program of client_singleton_host may take to start"),
    PX_PARAM_END,
};

const struct px_param px_server_params[] = {
    PX_PARAM_DURATION(struct px_server_conf, handshake_timeout, "5s", 1, 3600000,
                      "How long a connecting process may take to identify itself"),
    /* Clients stop waiting after two seconds. */
    PX_PARAM_DURATION(struct px_server_conf, finalize_timeout, "1500ms", 1, 3600000,
                      "How long a finalizing client waits for the host's reply"),
    PX_PARAM_DURATION(struct px_server_conf, cleanup_timeout, "10s", 0, 3600000,
                      "How long a finalizing server waits for registered clean-up"),
    /* Long, because a process may be stopped in a debugger. */
    PX_PARAM_DURATION(
        struct px_server_conf, unread_timeout, "5m", 1, 3600000,
        "How long a process may leave many received bytes unread, or occupy memory "
        "that others wait for, before it is disconnected"),
    PX_PARAM_DURATION(
        struct px_server_conf, fabric_timeout, "30s", 1, 3600000,
        "Time limit of the fabric components' part in the launch of a job"),
    PX_PARAM_DURATION(
        struct px_server_conf, service_timeout, "10s", 1, 3600000,
        "Time limit of a component that passes a text to the system's log, or that "
        "makes or validates a credential"),
    PX_PARAM_DURATION(
        struct px_server_conf, get_report, "30s", 0, INT64_MAX / 4,
        "How long PMIx_Get waits for a key before the server logs the waiting process, "
        "the key and its process; 0: never"),
    PX_PARAM_DURATION(struct px_server_conf, get_timeout, "0", 0, INT64_MAX / 4,
                      "How long PMIx_Get waits for a key before it fails with "
                      "PMIX_ERR_TIMEOUT; a shorter PMIX_TIMEOUT counts; 0: for ever"),
    PX_PARAM_SIZE(
        struct px_server_conf, committed_per_user, "2g", 0, INT64_MAX,
        "Limit of the bytes of committed values, messages under way and waiting "
        "requests of all processes of one user"),
    PX_PARAM_SIZE(
        struct px_server_conf, committed_total, "8g", 0, INT64_MAX,
        "Limit of the bytes of committed values, messages under way and waiting "
        "requests of all processes"),
    PX_PARAM_SIZE(
        struct px_server_conf, output_per_stream, "1m", 4096, INT64_MAX / 4,
        "Limit of the bytes that a server keeps for slow readers: of each output "
        "stream of a process, and of its input"),
    PX_PARAM_SIZE(
        struct px_server_conf, output_total, "256m", 4096, INT64_MAX / 4,
        "Limit of the bytes that a server keeps of all streams, half of them for "
        "output without a reader; each writer may have one more piece under way"),
    PX_PARAM_STRING(
        struct px_server_conf, report_uri, NULL,
        "Where a server reports its address, unless PMIX_TCP_REPORT_URI is set: "
        "\"-\" (standard output), \"+\" (standard error), the number of a "
        "descriptor, or a file; it then lets tools in"),
    PX_PARAM_BOOL(
        struct px_server_conf, remote_connections, "false",
        "Admit tools on other machines, by credentials of psec/munge; their streams "
        "are not encrypted (PMIX_SERVER_REMOTE_CONNECTIONS)"),
    PX_PARAM_INT(
        struct px_server_conf, timeline, "0", 0, 1000000,
        "Record the times of each process, from its start to its end, and of so many "
        "collectives, for the query tenon.qry.timeline; pmixrun --timeline sets it; "
        "0: record nothing"),
    PX_PARAM_END,
};

const struct px_param px_host_builtin_params[] = {
    PX_PARAM_DURATION(
        struct px_host_builtin_conf, grace, "2s", 0, 3600000,
        "Time that processes of an ending job have before they are killed"),
    PX_PARAM_DURATION(
        struct px_host_builtin_conf, notice, "250ms", 0, 3600000,
        "Time that event handlers have after a failure, before the job ends"),
    /* Long, because a person may have to start the debugger. */
    PX_PARAM_DURATION(
        struct px_host_builtin_conf, debug_timeout, "60m", 0, INT64_MAX / 4,
        "How long a process that has stopped for a debugger waits for a release or a "
        "debugger, before its job ends; 0: for ever"),
    PX_PARAM_UINT(
        struct px_host_builtin_conf, slots, "0", 0, 1048576,
        "Slots of this server: one for each process. A job that a tool submits waits until "
        "enough slots are free, and a tool may end the server; 0: no job waits. pmixrun "
        "--serve and --daemonize set this"),
    PX_PARAM_BOOL(
        struct px_host_builtin_conf, output_required, "true",
        "End a job whose output cannot be written, e.g. to a full disk; otherwise the "
        "job goes on, and its further output is lost"),
    PX_PARAM_BOOL(
        struct px_host_builtin_conf, pmi, "true",
        "Offer PMI-1 and PMI-2 to processes besides PMIx, by a socket that PMI_FD names"),
    PX_PARAM_SIZE(
        struct px_host_builtin_conf, preload_limit, "1g", 0, INT64_MAX,
        "Limit of the bytes of programs and files that are copied for a job on "
        "request"),
    PX_PARAM_STRING(struct px_host_builtin_conf, cluster_id, NULL,
                    "Name of the cluster that this node is part of, for "
                    "PMIX_CLUSTER_ID; without a colon; pmixrun --cluster-id sets it"),
    PX_PARAM_END,
};

const struct px_param px_iof_params[] = {
    /* No time limit. Most programs write to pipes in blocks that end in the middle of a
     * line. Any limit could mix lines of processes. */
    PX_PARAM_DURATION(
        struct px_iof_conf, gather_time, "0", 0, 3600000,
        "How long an incomplete line of forwarded output is kept back, so that it is "
        "not mixed with other lines; 0: until its end, but not at a terminal",
        .level = 1),
    /* Finite, so that no program hangs. */
    PX_PARAM_DURATION(
        struct px_iof_conf, drain_timeout, "30s", 0, 3600000,
        "How long a finalizing process waits for a stalled reader of output that was "
        "forwarded to it, and a finalizing server for stalled readers of forwarded "
        "output"),
    PX_PARAM_END,
};

const struct px_param_set px_core_params[] = {
    {"mca_base_", px_base_params}, {"client_", px_client_params},
    {"server_", px_server_params}, {"embedded_", px_host_builtin_params},
    {"iof_", px_iof_params},       {NULL, NULL},
};
