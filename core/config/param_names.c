/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters of OpenPMIx in users' files. Each has an equivalent here, or a reason why
 * it does not apply. */
#include "core/config/param_impl.h"

#include <string.h>

static const char tcp_is_local[] =
    "clients use the loopback interface; ptl_tcp_interfaces and ptl_tcp_no_interfaces "
    "choose the one for other machines";
static const char verbosity[] = "messages are chosen with mca_base_verbose";
static const char no_such_part[] = "nothing here corresponds to it";
static const char fixed_files[] =
    "files are listed in mca_base_param_files or included by others";
static const char forwards_for_all[] = "forward_envars is for all components";
static const char no_store[] = "the datastore needs no tuning of that kind";

/* The first matching row counts. */
static const struct px_param_foreign names[] = {
    {"mca_component_path", .ours = "mca_base_component_path"},
    {"mca_component_show_load_errors", .ours = "mca_base_component_show_load_errors"},
    {"mca_param_files", .ours = "mca_base_param_files"},
    {"mca_verbose", .ours = "mca_base_verbose"},
    {"ptl_base_handshake_wait_time", .ours = "server_handshake_timeout"},
    {"ptl_tcp_handshake_wait_time", .ours = "server_handshake_timeout"},
    {"ptl_base_connection_wait_time", .ours = "client_connect_timeout"},
    {"ptl_tcp_connection_wait_time", .ours = "client_connect_timeout"},
    {"ptl_base_report_uri", .ours = "server_report_uri"},
    {"ptl_tcp_report_uri", .ours = "server_report_uri"},
    {"ptl_base_remote_connections", .ours = "server_remote_connections"},
    {"ptl_tcp_remote_connections", .ours = "server_remote_connections"},
    {"forward_envars", .ours = "pnet_envar_patterns"},
    {"forward_envars_exclude", .ours = "pnet_envar_exclude"},
    {"pmix_debug", .ours = "pcleanup_janitor_verbose"}, /* also from PMIX_DEBUG */
    {"pmix_debug", .ours = "pcleanup_inproc_verbose"},

    {"mca_base_component_disable_dlopen", .why = "-Dbuiltin= of the build decides"},
    {"mca_component_disable_dlopen", .why = "-Dbuiltin= of the build decides"},
    {"mca_base_component_track_load_errors",
     .why = "pmix_info --check shows what does not load"},
    {"mca_base_override_param_file",
     .why = "it is always pmix-mca-params-override.conf beside pmix-mca-params.conf"},
    {"mca_base_suppress_*", .why = "mca_base_strict = off is silent"},
    {"mca_base_env_list*", .why = no_such_part},
    {"mca_base_envar_file_prefix", .why = fixed_files},
    {"mca_base_param_file_*", .why = fixed_files},
    {"mca_base_var_*", .why = no_such_part},
    /* always set on purpose: processes miss the effect */
    {"*_forward_envars", .why = forwards_for_all, .missed = true},
    {"ptl_base_if_include", .why = tcp_is_local},
    {"ptl_base_if_exclude", .why = tcp_is_local},
    {"ptl_base_disable_ipv*", .why = tcp_is_local},
    {"ptl_base_ipv*",
     .why = "ports are chosen with ptl_tcp_port_min and ptl_tcp_port_max"},
    {"ptl_base_max_msg_size", .why = "the limit is a constant of the protocol"},
    {"ptl_base_*max_retries", .why = "client_connect_timeout is the limit"},
    {"ptl_tcp_if_*", .why = tcp_is_local},
    {"ptl_tcp_disable_ipv*", .why = tcp_is_local},
    {"ptl_tcp_ipv*",
     .why = "ports are chosen with ptl_tcp_port_min and ptl_tcp_port_max"},
    {"ptl_tcp_*max_retries", .why = "client_connect_timeout is the limit"},
    {"ptl_tcp_server_uri", .why = "it is asked for when a tool is initialized"},
    {"ptl_client_*", .why = no_such_part},
    {"ptl_server_*", .why = no_such_part},
    {"ptl_tool_*", .why = no_such_part},
    {"*_verbose", .why = verbosity},
    {"gds_ds12_*", .why = no_store},
    {"gds_ds21_*", .why = no_store},
    {"gds_shmem*", .why = no_store},
    {"pfexec_base_sigkill_timeout", .why = "embedded_grace decides"},
    {"pfexec_base_*", .why = no_such_part},
    {"psec_dummy_handshake_*", .why = no_such_part},
    {"psec_none_*", .why = no_such_part},
    {"event_caching_window", .why = no_such_part},
    {"pmix_*", .why = no_such_part},
    {"bfrops*", .why = "the encoding is agreed with each peer"},
    {"pcompress*", .why = "compression is built in"},
    {"pdl*", .why = "components are loaded one way"},
    {"pgpu*", .why = no_such_part},
    {"hwloc_*", .why = no_such_part}, /* Open MPI 5 forwards its own */
    {"pif*", .why = tcp_is_local},
    {"pinstalldirs*", .why = "the library finds its folders by its own place"},
    {"pmdl*", .why = "programming models need no component"},
    {"preg*", .why = "regular expressions need no component"},
    {"prm*", .why = no_such_part},
    {"psensor*", .why = no_such_part},
    {"pshmem*", .why = no_store},
    {"psquash*", .why = "the encoding is agreed with each peer"},
    {"pstat*", .why = no_such_part},
    {"pstrg*", .why = no_such_part},
};

static bool matches(const char *pattern, const char *name)
{
    const char *star = strchr(pattern, '*');
    size_t before = star ? (size_t)(star - pattern) : strlen(pattern);

    if (strncmp(pattern, name, before) != 0)
        return false;
    if (!star)
        return name[before] == '\0';
    size_t behind = strlen(star + 1);
    size_t len = strlen(name);
    return len >= before + behind && strcmp(name + len - behind, star + 1) == 0;
}

const struct px_param_foreign *px_param_foreign_find(const char *name)
{
    for (size_t i = 0; i < PX_COUNT(names); i++) {
        if (matches(names[i].name, name))
            return &names[i];
    }
    return NULL;
}

const struct px_param_foreign *px_param_foreign_at(size_t i)
{
    return i < PX_COUNT(names) ? &names[i] : NULL;
}
