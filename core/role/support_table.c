/* SPDX-License-Identifier: BSD-3-Clause */
/* Which attributes this library itself honours. Attributes that are handed to a host
 * are the host's affair. A row here is a promise: add a name when the code reads it. */
#include "core/role/support.h"

#define ROWS(table) .rows = (table), .n = PX_COUNT(table)

static const struct px_support client[] = {
    {"PMIx_Init", "PMIX_EXTERNAL_PROGRESS"},
    {"PMIx_Finalize", "PMIX_EMBED_BARRIER"},
    {"PMIx_Get", "PMIX_TIMEOUT,PMIX_OPTIONAL,PMIX_GET_REFRESH_CACHE,"
                 "PMIX_GET_STATIC_VALUES,PMIX_SESSION_INFO,PMIX_SESSION_ID,"
                 "PMIX_APP_INFO,PMIX_APPNUM,PMIX_NODE_INFO,PMIX_HOSTNAME,PMIX_NODEID"},
    {"PMIx_Register_event_handler",
     "PMIX_EVENT_HDLR_NAME,PMIX_EVENT_HDLR_FIRST,PMIX_EVENT_HDLR_LAST,"
     "PMIX_EVENT_HDLR_FIRST_IN_CATEGORY,PMIX_EVENT_HDLR_LAST_IN_CATEGORY,"
     "PMIX_EVENT_HDLR_BEFORE,PMIX_EVENT_HDLR_AFTER,PMIX_EVENT_HDLR_APPEND,"
     "PMIX_EVENT_ONESHOT,PMIX_EVENT_RETURN_OBJECT,PMIX_EVENT_CUSTOM_RANGE,"
     "PMIX_EVENT_AFFECTED_PROC,PMIX_EVENT_AFFECTED_PROCS,PMIX_RANGE"},
    {"PMIx_Notify_event", "PMIX_EVENT_AFFECTED_PROC,PMIX_EVENT_AFFECTED_PROCS,"
                          "PMIX_EVENT_CUSTOM_RANGE,PMIX_EVENT_NON_DEFAULT,"
                          "PMIX_EVENT_DO_NOT_CACHE"},
    {"PMIx_Query_info", "PMIX_QUERY_ATTRIBUTE_SUPPORT"},
};

static const struct px_support server[] = {
    {"PMIx_server_init",
     "PMIX_SERVER_NSPACE,PMIX_SERVER_RANK,PMIX_SERVER_TMPDIR,PMIX_SYSTEM_TMPDIR,"
     "PMIX_TDIR_RMCLEAN,PMIX_SERVER_TOOL_SUPPORT,PMIX_SERVER_ALLOW_FOREIGN_TOOLS,"
     "PMIX_SERVER_SYSTEM_SUPPORT,PMIX_SERVER_SESSION_SUPPORT,PMIX_SERVER_SCHEDULER,"
     "PMIX_SERVER_SYS_CONTROLLER,PMIX_LAUNCHER_RENDEZVOUS_FILE,PMIX_TCP_REPORT_URI,"
     "PMIX_EXTERNAL_PROGRESS"},
    {"PMIx_server_register_nspace", "PMIX_REGISTER_NODATA,PMIX_CONNECT_NSPACE"},
    {"PMIx_Forward_envars", "PMIX_FORWARD_ENVARS_EXCLUDE"},
    {"PMIx_server_setup_application",
     "PMIX_NODE_MAP,PMIX_PROC_MAP,PMIX_PARENT_ID,PMIX_SETUP_APP_ENVARS,"
     "PMIX_SETUP_APP_NONENVARS,PMIX_SETUP_APP_ALL"},
    {"PMIx_server_setup_local_support",
     "PMIX_SET_ENVAR,PMIX_ADD_ENVAR,PMIX_UNSET_ENVAR,PMIX_PREPEND_ENVAR,"
     "PMIX_APPEND_ENVAR"},
    {"PMIx_Get", "PMIX_TIMEOUT,PMIX_IMMEDIATE"},
    {"PMIx_Fence", "PMIX_TIMEOUT,PMIX_COLLECT_DATA"},
    {"PMIx_Connect",
     "PMIX_TIMEOUT,PMIX_CONNECT_ID,PMIX_CONNECT_NOTIFY_EACH,PMIX_CONNECT_NOTIFY_REQ,"
     "PMIX_CONNECT_OPTIONAL,PMIX_CONNECT_XCHG_ONLY"},
    {"PMIx_Disconnect", "PMIX_TIMEOUT,PMIX_CONNECT_ID"},
    {"PMIx_Connect_nspace",
     "PMIX_TIMEOUT,PMIX_CONNECT_ID,PMIX_CONNECT_NOTIFY_EACH,PMIX_CONNECT_NOTIFY_REQ,"
     "PMIX_CONNECT_OPTIONAL,PMIX_CONNECT_EARLY_TERM_ALLOWED,PMIX_CONNECT_XCHG_ONLY"},
    {"PMIx_Disconnect_nspace", "PMIX_TIMEOUT,PMIX_CONNECT_NOTIFY_EACH"},
    {"PMIx_Notify_event", "PMIX_EVENT_AFFECTED_PROC,PMIX_EVENT_AFFECTED_PROCS,"
                          "PMIX_EVENT_DO_NOT_CACHE,PMIX_EVENT_STAYS_LOCAL"},
    {"PMIx_Query_info", "PMIX_QUERY_ATTRIBUTE_SUPPORT"},
    {"PMIx_Job_control",
     "PMIX_REGISTER_CLEANUP,PMIX_REGISTER_CLEANUP_DIR,PMIX_CLEANUP_RECURSIVE,"
     "PMIX_CLEANUP_EMPTY,PMIX_CLEANUP_IGNORE,PMIX_CLEANUP_LEAVE_TOPDIR"},
    {"PMIx_IOF_pull", "PMIX_IOF_CACHE_SIZE,PMIX_IOF_DROP_OLDEST,PMIX_IOF_DROP_NEWEST"},
    {"PMIx_IOF_push", "PMIX_IOF_CACHE_SIZE,PMIX_IOF_DROP_OLDEST,PMIX_IOF_DROP_NEWEST"},
    {"PMIx_server_IOF_deliver", "PMIX_IOF_DROP_OLDEST"},
};

void px_support_library(struct px_support_table tables[PX_N_LEVELS])
{
    static const struct px_support_table library[PX_N_LEVELS] = {
        [PX_LEVEL_CLIENT] = {ROWS(client)},
        [PX_LEVEL_SERVER] = {ROWS(server)},
    };

    for (int level = 0; level < PX_N_LEVELS; level++) {
        tables[level] = library[level];
        tables[level].functions = px_support_functions[level];
    }
}
