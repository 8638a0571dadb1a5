/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters that users of OpenPMIx have in their files. Each means the same as one of ours,
 * or does not apply, and then there is a reason. */
#include "core/config/param_impl.h"

#include <string.h>

static const char tcp_is_local[] =
    "peers are on this node: ptl_tcp listens on the loopback interface only";
static const char verbosity[] = "messages are chosen with mca_base_verbose";
static const char no_such_part[] = "nothing here corresponds to it";
static const char fixed_files[] =
    "files are listed in mca_base_param_files or included by others";
static const char no_forwarding[] =
    "variables are not forwarded: the launcher passes the environment";
static const char no_store[] = "the datastore needs no tuning of that kind";

#define SAME(theirs, own)        \
    {                            \
        theirs, own, NULL, false \
    }
#define NOT(pattern, reason)         \
    {                                \
        pattern, NULL, reason, false \
    }
/* Set on purpose wherever it is set: its processes lack something without it. */
#define MISSED(pattern, reason)     \
    {                               \
        pattern, NULL, reason, true \
    }

/* The first that matches counts. */
static const struct px_param_foreign names[] = {
    SAME("mca_component_path", "mca_base_component_path"),
    SAME("mca_component_show_load_errors", "mca_base_component_show_load_errors"),
    SAME("mca_param_files", "mca_base_param_files"),
    SAME("mca_verbose", "mca_base_verbose"),
    SAME("ptl_base_handshake_wait_time", "server_handshake_timeout"),
    SAME("ptl_tcp_handshake_wait_time", "server_handshake_timeout"),
    SAME("ptl_base_connection_wait_time", "client_connect_timeout"),
    SAME("ptl_tcp_connection_wait_time", "client_connect_timeout"),
    SAME("ptl_base_report_uri", "server_report_uri"),
    SAME("ptl_tcp_report_uri", "server_report_uri"),
    SAME("pmix_debug", "pcleanup_janitor_verbose"), /* also from PMIX_DEBUG */
    SAME("pmix_debug", "pcleanup_inproc_verbose"),

    NOT("mca_base_component_disable_dlopen", "-Dbuiltin= of the build decides"),
    NOT("mca_component_disable_dlopen", "-Dbuiltin= of the build decides"),
    NOT("mca_base_component_track_load_errors",
        "pmix_info --check shows what does not load"),
    NOT("mca_base_override_param_file",
        "it is always pmix-mca-params-override.conf beside pmix-mca-params.conf"),
    NOT("mca_base_suppress_*", "mca_base_strict = off is silent"),
    NOT("mca_base_env_list*", no_such_part),
    NOT("mca_base_envar_file_prefix", fixed_files),
    NOT("mca_base_param_file_*", fixed_files),
    NOT("mca_base_var_*", no_such_part),
    MISSED("forward_envars", no_forwarding),
    MISSED("*_forward_envars", no_forwarding),
    NOT("ptl_base_if_include", tcp_is_local),
    NOT("ptl_base_if_exclude", tcp_is_local),
    NOT("ptl_base_disable_ipv*", tcp_is_local),
    NOT("ptl_base_ipv*", "ports are chosen with ptl_tcp_port_min and ptl_tcp_port_max"),
    NOT("ptl_base_max_msg_size", "the limit is a constant of the protocol"),
    NOT("ptl_base_*max_retries", "client_connect_timeout is the limit"),
    NOT("ptl_tcp_if_*", tcp_is_local),
    NOT("ptl_tcp_remote_connections", tcp_is_local),
    NOT("ptl_tcp_disable_ipv*", tcp_is_local),
    NOT("ptl_tcp_ipv*", "ports are chosen with ptl_tcp_port_min and ptl_tcp_port_max"),
    NOT("ptl_tcp_*max_retries", "client_connect_timeout is the limit"),
    NOT("ptl_tcp_server_uri", "it is asked for when a tool is initialized"),
    NOT("ptl_client_*", no_such_part),
    NOT("ptl_server_*", no_such_part),
    NOT("ptl_tool_*", no_such_part),
    NOT("*_verbose", verbosity),
    NOT("gds_ds12_*", no_store),
    NOT("gds_ds21_*", no_store),
    NOT("gds_shmem*", no_store),
    NOT("pfexec_base_sigkill_timeout", "embedded_grace decides"),
    NOT("pfexec_base_*", no_such_part),
    NOT("psec_dummy_handshake_*", no_such_part),
    NOT("psec_none_*", no_such_part),
    NOT("event_caching_window", no_such_part),
    NOT("pmix_*", no_such_part),
    NOT("bfrops*", "the encoding is agreed with each peer"),
    NOT("pcompress*", "compression is built in"),
    NOT("pdl*", "components are loaded one way"),
    NOT("pgpu*", no_such_part),
    NOT("pif*", tcp_is_local),
    NOT("pinstalldirs*", "the library finds its folders by its own place"),
    NOT("pmdl*", "programming models need no component"),
    NOT("preg*", "regular expressions need no component"),
    NOT("prm*", no_such_part),
    NOT("psensor*", no_such_part),
    NOT("pshmem*", no_store),
    NOT("psquash*", "the encoding is agreed with each peer"),
    NOT("pstat*", no_such_part),
    NOT("pstrg*", no_such_part),
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
