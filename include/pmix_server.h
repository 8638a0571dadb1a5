/* SPDX-License-Identifier: BSD-3-Clause */
/* The server interface: the functions that a resource manager calls. Those that it
 * implements stand in pmix_server_module.h. */
#ifndef PMIX_SERVER_H
#define PMIX_SERVER_H

#include "pmix.h"
#include "pmix_server_module.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -- Functions that the host calls ------------------------------------------------ */

/*
 * The conventions of pmix.h hold. Source, unless a function says otherwise: PMIx
 * Standard 5.0, ch. Server-Specific Interfaces. The functions below with a callback
 * never block if one is given; with @p cbfunc NULL they block until they are done and
 * return how that went. Success is then PMIX_OPERATION_SUCCEEDED where a function
 * names PMIX_SUCCESS (PMIx_server_IOF_flow_control excepted).
 */

/**
 * Start the server: listen for clients.
 *
 * Blocks until the server listens. May be called several times; each call wants its own
 * PMIx_server_finalize, and the arguments of all but the first are ignored.
 *
 * A client or a tool may become a server, too: it keeps its own name and the server its
 * calls go to, and has a second name as a server. A process that begins as a server is
 * a client of itself: PMIx_Init and PMIx_tool_init return the server's name.
 *
 * @param module  copied, as far as TENON_SERVER_MODULE_SIZE says; NULL for a host that
 *                offers nothing
 * @param info    PMIX_SERVER_NSPACE, PMIX_SERVER_RANK, PMIX_SERVER_TMPDIR,
 *                PMIX_SYSTEM_TMPDIR and others
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, also for a parameter of the environment or
 *         a file; PMIX_ERR_NOT_FOUND if components are missing; PMIX_ERR_WOULD_BLOCK;
 *         PMIX_ERR_NOMEM; else why nothing can be listened on, PMIX_ERR_NO_PERMISSIONS
 *         and PMIX_ERR_OUT_OF_RESOURCE among them
 */
pmix_status_t PMIx_server_init(pmix_server_module_t *module, pmix_info_t info[],
                               size_t ninfo);

/* PMIx_server_init, told of the module's size. Infos that are none go on as they are,
 * to be refused there. */
static inline pmix_status_t tenon_server_init(pmix_server_module_t *module,
                                              pmix_info_t info[], size_t ninfo)
{
    pmix_info_t *more;
    pmix_status_t rc;

    if (!module || (ninfo && !info) || ninfo >= SIZE_MAX / sizeof(*more))
        return PMIx_server_init(module, info, ninfo);
    more = (pmix_info_t *)calloc(ninfo + 1, sizeof(*more));
    if (!more)
        return PMIX_ERR_NOMEM;
    /* Borrowed for the call, values and all; the new one comes first, as some mark the
     * last as such. */
    strcpy(more[0].key, TENON_SERVER_MODULE_SIZE);
    more[0].value.type = PMIX_SIZE;
    more[0].value.data.size = sizeof(*module);
    if (ninfo)
        memcpy(more + 1, info, ninfo * sizeof(*more));
    rc = PMIx_server_init(module, more, ninfo + 1);
    free(more);
    return rc;
}
#define PMIx_server_init(module, info, ninfo) tenon_server_init(module, info, ninfo)

/**
 * Undo one PMIx_server_init; the last one drops all clients and removes what the server
 * made.
 *
 * Blocks until that is done; the last one, of a server without a host's module, ends
 * the jobs it started first.
 *
 * @return PMIX_SUCCESS; PMIX_ERR_INIT if there is no server; PMIX_ERR_WOULD_BLOCK from
 *         within a callback
 */
pmix_status_t PMIx_server_finalize(void);

/**
 * Make a job known, before its local processes are started.
 *
 * Without @p cbfunc it may also be called from within a callback.
 *
 * @param nspace        copied. Known already: its information is replaced or added to
 * @param nlocalprocs   how many of its processes will be clients of this server; 0 for
 *                      none; negative if not known
 * @param info          job, application, node and process information; copied
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for an empty or overlong name;
 *         PMIX_ERR_NOMEM; PMIX_ERR_INIT if there is no server. The callback gets, or
 *         without one it returns too: PMIX_ERR_BAD_PARAM if maps make no sense,
 *         PMIX_ERR_OUT_OF_RESOURCE if they are beyond all measure; nothing changes then
 */
pmix_status_t PMIx_server_register_nspace(const pmix_nspace_t nspace, int nlocalprocs,
                                          pmix_info_t info[], size_t ninfo,
                                          pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Forget a job and all its clients; connected ones are dropped, what they asked to be
 * cleaned up is.
 *
 * @param cbfunc  gets PMIX_SUCCESS, also for a job that is not known;
 *                PMIX_ERR_BAD_PARAM for a name that cannot be; PMIX_ERR_INIT
 */
void PMIx_server_deregister_nspace(const pmix_nspace_t nspace, pmix_op_cbfunc_t cbfunc,
                                   void *cbdata);

/**
 * Announce a local process, before it is started.
 *
 * @param proc           copied
 * @param uid, gid       who it will run as; only a process that runs as that can
 *                       connect in its name
 * @param server_object  handed to the host's functions; never touched by the library
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for a namespace or rank that names no
 *         process;
 *         PMIX_ERR_NOMEM; PMIX_ERR_INIT if there is no server
 */
pmix_status_t PMIx_server_register_client(const pmix_proc_t *proc, uid_t uid, gid_t gid,
                                          void *server_object, pmix_op_cbfunc_t cbfunc,
                                          void *cbdata);

/**
 * Forget a local process, and drop it if it is connected.
 *
 * @param cbfunc  gets PMIX_SUCCESS, also for a process that is not known;
 *                PMIX_ERR_BAD_PARAM for a name that cannot be; PMIX_ERR_INIT
 */
void PMIx_server_deregister_client(const pmix_proc_t *proc, pmix_op_cbfunc_t cbfunc,
                                   void *cbdata);

/**
 * Add what a process needs to find this server to the environment it will be started
 * with.
 *
 * Never blocks. Best called before fork: between fork and exec it works only where
 * malloc does. Variables of a server above this one are taken out.
 *
 * @param proc  the process; whether it is registered is not looked at
 * @param env   address of a malloc'd, NULL-terminated array; moved as it grows
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM; PMIX_ERR_NOMEM; PMIX_ERR_INIT if there is
 *         no server
 */
pmix_status_t PMIx_server_setup_fork(const pmix_proc_t *proc, char ***env);

/**
 * Get what a local process has published, for another node that asked for it.
 *
 * Never blocks. If the process has not committed yet, the answer comes when it has.
 *
 * @param proc    copied
 * @param cbfunc  must not be NULL
 * @return PMIX_SUCCESS, and the callback will come; PMIX_ERR_BAD_PARAM; PMIX_ERR_NOMEM;
 *         PMIX_ERR_INIT if there is no server
 */
pmix_status_t PMIx_server_dmodex_request(const pmix_proc_t *proc,
                                         pmix_dmodex_response_fn_t cbfunc,
                                         void *cbdata);

/**
 * Prepare a job where it is launched from: gather environment, fabric keys and ports.
 *
 * Never blocks. The result holds what the fabric components of this server contribute
 * to the launch; it is empty if there are none, or they have nothing to say. A
 * component that cannot do its part fails the launch with its status; one that crashes
 * or takes longer than server_fabric_timeout is left out, unless
 * pnet_<name>_required is set.
 *
 * @param info    PMIX_NODE_MAP and PMIX_PROC_MAP; PMIX_PARENT_ID, one or several
 *                processes or namespaces (PMIX_PROC, PMIX_STRING, PMIX_PROC_NSPACE, or
 *                an array of one of these), whose forwarded variables the job gets;
 *                PMIX_SETUP_APP_ENVARS, PMIX_ALLOC_FABRIC and others; copied
 * @param cbfunc  must not be NULL; receives what each node passes to
 *                PMIx_server_setup_local_support. PMIX_ERR_NOT_AVAILABLE: a required
 *                component cannot do its part; PMIX_ERR_JOB_CANCELED: the job was
 *                deregistered, or the server ends; PMIX_ERR_BAD_PARAM for maps or
 *                parents that cannot be read
 * @return PMIX_SUCCESS, and the callback will come; PMIX_ERR_BAD_PARAM; PMIX_ERR_NOMEM;
 *         PMIX_ERR_INIT if there is no server
 */
pmix_status_t PMIx_server_setup_application(const pmix_nspace_t nspace,
                                            pmix_info_t info[], size_t ninfo,
                                            pmix_setup_application_cbfunc_t cbfunc,
                                            void *cbdata);

/**
 * Prepare this node for a job, before its first local process is started.
 *
 * Hands each fabric component what that of the same name has contributed, and keeps the
 * variables it wants for the processes, for PMIx_server_setup_fork. A contribution that
 * no component of this node understands is left out with a line in the log.
 *
 * @param info    what PMIx_server_setup_application gave, perhaps among other things;
 *                copied
 * @param cbfunc  gets PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, PMIX_ERR_UNPACK_FAILURE or
 *                another status of PMIx_Data_unpack for what is no such thing, of which
 *                nothing is applied; the status of a component that cannot do its part.
 *                NULL: blocks, and that status is returned
 * @return PMIX_SUCCESS, and the callback will come; PMIX_ERR_BAD_PARAM; PMIX_ERR_NOMEM;
 *         PMIX_ERR_INIT if there is no server
 */
pmix_status_t PMIx_server_setup_local_support(const pmix_nspace_t nspace,
                                              pmix_info_t info[], size_t ninfo,
                                              pmix_op_cbfunc_t cbfunc, void *cbdata);

/* -- Process sets, resources, job information ------------------------------------- */

/*
 * The conventions of what follows: PMIX_ERR_INIT while there is no server,
 * PMIX_ERR_WOULD_BLOCK where a call would wait in a callback, PMIX_ERR_BAD_PARAM for an
 * array that is NULL though its count is not 0, PMIX_ERR_NOMEM. A call with a callback
 * copies its arguments.
 */

/**
 * Name a set of processes. Local clients that registered for it learn of it by the
 * event PMIX_PROCESS_SET_DEFINE, with PMIX_PSET_NAME and PMIX_PSET_MEMBERS, and all can
 * query PMIX_QUERY_NUM_PSETS, PMIX_QUERY_PSET_NAMES and, with the qualifier
 * PMIX_PSET_NAME, PMIX_QUERY_PSET_MEMBERSHIP.
 *
 * Blocks until the set is defined.
 *
 * @param members    copied; at least one; ranks may be PMIX_RANK_WILDCARD
 * @param pset_name  copied; not empty, no longer than PMIX_MAX_NSLEN
 * @return PMIX_SUCCESS; PMIX_ERR_EXISTS if there is a set of that name, which stays as
 *         it is
 *
 * PMIx Standard 5.0, ch. Process Sets and Groups.
 */
pmix_status_t PMIx_server_define_process_set(const pmix_proc_t *members,
                                             size_t nmembers, const char *pset_name);

/**
 * Forget the name of a set of processes; local clients learn of it by the event
 * PMIX_PROCESS_SET_DELETE, with PMIX_PSET_NAME.
 *
 * Blocks until the set is forgotten.
 *
 * @param pset_name  stays the caller's
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND if there is no such set
 *
 * PMIx Standard 5.0, ch. Process Sets and Groups.
 */
pmix_status_t PMIx_server_delete_process_set(char *pset_name);

/**
 * Tell what holds for every job: it becomes job information of each that was registered
 * without a value of its own under the key, now or later. With @p cbfunc NULL it
 * blocks.
 *
 * @param info  at least one; stays the caller's. Replaces the value that was registered
 *              under the same key. PMIX_SESSION_INFO_ARRAY, PMIX_NODE_INFO_ARRAY,
 *              PMIX_APP_INFO_ARRAY and PMIX_JOB_INFO_ARRAY add values of the session,
 *              node, application or job that PMIX_SESSION_ID, PMIX_HOSTNAME or
 *              PMIX_NODEID, PMIX_APPNUM or PMIX_NSPACE in the array identifies. Without
 *              that member, or with the session UINT32_MAX, the array describes every
 *              session, this node, application 0 or every job
 * @return PMIX_SUCCESS: @p cbfunc gets the status; PMIX_OPERATION_SUCCEEDED: done,
 *         @p cbfunc is NULL. On failure nothing changes: PMIX_ERR_BAD_PARAM for a bad
 *         key or array; PMIX_ERR_NOT_SUPPORTED for another array (PMIX_PROC_INFO_ARRAY,
 *         PMIX_SERVER_INFO_ARRAY, PMIX_GROUP_INFO_ARRAY)
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
 */
pmix_status_t PMIx_server_register_resources(pmix_info_t info[], size_t ninfo,
                                             pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Take back what PMIx_server_register_resources told. Clients keep what they have
 * received already. With @p cbfunc NULL it blocks.
 *
 * @param info  the keys count, not the values; stays the caller's. An array takes back
 *              the keys of its members. An array key whose value is not an array takes
 *              back all arrays of that key
 * @return as PMIx_server_register_resources; also for a key that is not there
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
 */
pmix_status_t PMIx_server_deregister_resources(pmix_info_t info[], size_t ninfo,
                                               pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Pack what this server knows of the jobs of some processes, for another server.
 *
 * Blocks.
 *
 * @param procs  at least one; only their namespaces count, each once. Those that are
 *               not registered here are passed over
 * @param dbuf   its content is replaced by one PMIX_BYTE_OBJECT for each namespace, in
 *               the order of their first process, which holds the name (PMIX_STRING)
 *               and then pairs of key and value; the caller's to destruct
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND if none is registered; then @p dbuf is as it
 *         was
 *
 * Not in the Standard; OpenPMIx 6.0 has it.
 */
pmix_status_t PMIx_server_collect_job_info(pmix_proc_t *procs, size_t nprocs,
                                           pmix_data_buffer_t *dbuf);

/**
 * Take an inventory of this node: what its fabric components know of it.
 *
 * Never blocks. A component that cannot take its part fails the inventory with its
 * status.
 *
 * @param directives  for the components; copied
 * @param cbfunc      must not be NULL; receives one info for PMIx_server_deliver_
 *                    inventory of other servers, given back by the release function
 * @return PMIX_SUCCESS, and the callback will come; PMIX_ERR_NOT_SUPPORTED if no
 *         component takes inventories: @p cbfunc is not called
 */
pmix_status_t PMIx_server_collect_inventory(pmix_info_t directives[], size_t ndirs,
                                            pmix_info_cbfunc_t cbfunc, void *cbdata);

/**
 * Hand in the inventories of nodes: each fabric component gets those of its own name.
 * Those that no component here understands are left out with a line in the log. With
 * @p cbfunc NULL it blocks.
 *
 * @param info        of one call of PMIx_server_collect_inventory or of several, in any
 *                    order, perhaps among other things; not empty
 * @param directives  for the components
 * @param cbfunc      gets PMIX_SUCCESS; PMIX_ERR_BAD_PARAM if there is no inventory, or
 *                    PMIX_ERR_UNPACK_FAILURE if one is damaged, of which no component
 *                    has seen anything; the status of the first component that fails,
 *                    while the others have theirs
 * @return PMIX_SUCCESS, and the callback will come; PMIX_ERR_NOT_SUPPORTED if no
 *         component wants inventories: @p cbfunc is not called
 */
pmix_status_t PMIx_server_deliver_inventory(pmix_info_t info[], size_t ninfo,
                                            pmix_info_t directives[], size_t ndirs,
                                            pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Pass on what a process has written to those here who asked for it with PMIx_IOF_pull.
 *
 * Nothing is lost: while one of them reads so slowly that this server has to keep as
 * much of the stream as it may (parameters server_output_per_stream and
 * server_output_total), the callback comes when there is room for more, and with
 * @p cbfunc NULL the call blocks until then. A host that waits for it, or that gets
 * PMIX_ERR_OUT_OF_RESOURCE and brings the bytes again later, need not look after more.
 * Only PMIX_IOF_DROP_OLDEST or PMIX_IOF_DROP_NEWEST of a request has bytes dropped for
 * that one, which is told how many. Bytes that no process has asked for yet are kept
 * for the first one that does, as many as may be. Any thread, callbacks too: there,
 * with @p cbfunc NULL, it does not block but is refused if there is no room.
 *
 * @param source   who wrote
 * @param channel  the stream
 * @param bo       the bytes, the caller's; none at the end of the stream
 * @param info     about the bytes; goes with them. PMIX_IOF_DROP_OLDEST: of bytes that
 *                 no process has asked for, the last ones are kept, not the first
 * @param cbfunc   gets the status; may be NULL
 * @return PMIX_SUCCESS; PMIX_ERR_PARTIAL_SUCCESS: the bytes were taken, but some, or
 *         earlier ones, were dropped as a directive says; otherwise none was taken:
 *         PMIX_ERR_OUT_OF_RESOURCE if there is no room, or no message holds so many;
 *         PMIX_ERR_NOT_FOUND if no process has asked for them and their namespace is
 *         not registered; PMIX_ERR_BAD_PARAM, also for both of PMIX_IOF_DROP_OLDEST and
 *         _NEWEST; PMIX_ERR_NOMEM; PMIX_ERR_INIT; PMIX_ERR_LOST_CONNECTION: the server
 *         ended while it waited
 */
pmix_status_t PMIx_server_IOF_deliver(const pmix_proc_t *source,
                                      pmix_iof_channel_t channel,
                                      const pmix_byte_object_t *bo,
                                      const pmix_info_t info[], size_t ninfo,
                                      pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Make those who feed input to this server pause, or go on.
 *
 * While they pause, the host is given no more of what they push, and their pushes end
 * when they go on; each may have as much waiting as a stream may have.
 *
 * @param source   whom; NULL for all
 * @param channel  PMIX_FWD_STDIN_CHANNEL
 * @param xoff     whether to pause
 * @param cbfunc   gets the status; NULL: it blocks
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED for another channel: output pauses when
 *         the host does not deliver it; @p cbfunc is not called then; PMIX_ERR_INIT;
 *         PMIX_ERR_BAD_PARAM; PMIX_ERR_WOULD_BLOCK; PMIX_ERR_NOMEM
 *
 * Not in the Standard; the field's development version has it.
 */
pmix_status_t PMIx_server_IOF_flow_control(const pmix_proc_t *source,
                                           pmix_iof_channel_t channel, bool xoff,
                                           const pmix_info_t directives[], size_t ndirs,
                                           pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Write a list of node names in few bytes, as a value for PMIX_NODE_MAP. Never blocks.
 *
 * @param input   names separated by commas, one for each node of the job, in their
 *                order
 * @param output  receives a NUL-terminated string, which the caller frees
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for a NULL argument; PMIX_ERR_NOMEM
 */
pmix_status_t PMIx_generate_regex(const char *input, char **output);

/**
 * Write the ranks on each node in few bytes, as a value for PMIX_PROC_MAP. Never
 * blocks.
 *
 * @param input   for each node its ranks, separated by commas, ranges allowed; nodes
 *                separated by semicolons, in the order of PMIX_NODE_MAP. Text that is
 *                not of that form passes through as it is
 * @param output  receives a NUL-terminated string, which the caller frees
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for a NULL argument; PMIX_ERR_NOMEM
 */
pmix_status_t PMIx_generate_ppn(const char *input, char **output);

/**
 * Tell which attributes the host honours for a function, for those who query
 * PMIX_QUERY_ATTRIBUTE_SUPPORT. Best done right after PMIx_server_init.
 *
 * Blocks, but not on others. Any thread but that of the library's callbacks.
 *
 * @param function  slot of the host's module, "publish", or what users call for it,
 *                  "PMIx_Publish"; copied
 * @param attrs     names of attributes, "PMIX_RANGE"; NULL-terminated, copied. NULL for
 *                  none
 * @return PMIX_SUCCESS; PMIX_ERR_REPEAT_ATTR_REGISTRATION if that was told before;
 *         PMIX_ERR_BAD_PARAM for an empty name or one with a comma;
 *         PMIX_ERR_WOULD_BLOCK from within a callback; PMIX_ERR_INIT if there is no
 *         server; PMIX_ERR_NOMEM. On error nothing changes
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces, has an array of pmix_regattr_t
 * for attrs; the libraries of the field have this.
 */
pmix_status_t PMIx_Register_attributes(char *function, char *attrs[]);

/**
 * Write a list in few bytes, and get it back.
 *
 * The meaning of the items is irrelevant: names separated by commas for PMIX_NODE_MAP,
 * ranks by node as for PMIx_generate_ppn for PMIX_PROC_MAP. The order is kept. Any
 * thread, before PMIx_server_init too; never block.
 *
 * @param input   the list
 * @param info    none is defined for these functions; NULL and 0
 * @param regex   generate: overwritten, receives type "raw" or "compress" and the
 *                bytes; the caller destructs it. parse: stays the caller's
 * @param output  receives the list, a string which the caller frees
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, also if the bytes are damaged;
 *         PMIX_ERR_NOT_SUPPORTED if the type is not known, or an attribute is required;
 *         PMIX_ERR_NOMEM. On error nothing is set
 *
 * Not in the Standard, but in the libraries of the field since 6.1.
 */
pmix_status_t PMIx_generate_regex2(const char *input, pmix_info_t info[], size_t ninfo,
                                   pmix_regex2_t *regex);
pmix_status_t PMIx_parse_regex2(const pmix_regex2_t *regex, pmix_info_t info[],
                                size_t ninfo, char **output);

/**
 * Where a process is bound, in the words of this node's topology: a value for
 * PMIX_LOCALITY_STRING. As the functions of pmix_topology.h, which see for the
 * statuses.
 *
 * @param cpuset    of hwloc
 * @param locality  receives the text, which the caller frees; NULL if the bitmap is
 *                  NULL or full (the process is not bound) or touches nothing of the
 *                  topology
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED; PMIX_ERR_NOT_AVAILABLE
 */
pmix_status_t PMIx_server_generate_locality_string(const pmix_cpuset_t *cpuset,
                                                   char **locality);

/**
 * The text of a cpuset: a value for PMIX_CPUSET.
 *
 * @param cpuset         of hwloc, with a bitmap
 * @param cpuset_string  receives "hwloc:0-3,8", which the caller frees
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM also without a bitmap;
 *         PMIX_ERR_NOT_SUPPORTED
 */
pmix_status_t PMIx_server_generate_cpuset_string(const pmix_cpuset_t *cpuset,
                                                 char **cpuset_string);

/**
 * The reverse: a cpuset from its text, as PMIx_Parse_cpuset_string.
 *
 * Not in the Standard.
 */
pmix_status_t PMIx_server_generate_cpuset(const char *cpuset_string,
                                          pmix_cpuset_t *cpuset);

#ifdef __cplusplus
}
#endif
#endif
