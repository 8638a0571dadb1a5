/* SPDX-License-Identifier: BSD-3-Clause */
/* The server interface: functions that a resource manager calls. pmix_server_module.h
 * has the functions that it implements. */
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
 * The conventions of pmix.h hold. Source, unless a function names another: PMIx
 * Standard 5.0, ch. Server-Specific Interfaces. The functions below with a callback
 * never block if a callback is given. With @p cbfunc NULL they block until they are
 * done and return the result. Success is then PMIX_OPERATION_SUCCEEDED where a function
 * names PMIX_SUCCESS (except PMIx_server_IOF_flow_control).
 */

/**
 * Start the server: listen for clients.
 *
 * Blocks until the server listens. May be called several times; each call needs its own
 * PMIx_server_finalize, and the arguments of all but the first are ignored.
 *
 * A client or a tool may become a server, too. It keeps its own name and the server its
 * calls go to, and has a second name as a server. A process that begins as a server is
 * a client of itself: PMIx_Init and PMIx_tool_init return the server's name.
 *
 * @param module  copied, as far as TENON_SERVER_MODULE_SIZE allows; NULL for a host
 *                that offers nothing
 * @param info    PMIX_SERVER_NSPACE, PMIX_SERVER_RANK, PMIX_SERVER_TMPDIR,
 *                PMIX_SYSTEM_TMPDIR and others
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, also for a parameter of the environment or
 *         a file; PMIX_ERR_NOT_FOUND if components are missing; PMIX_ERR_WOULD_BLOCK;
 *         PMIX_ERR_NOMEM; otherwise the reason why the server cannot listen, e.g.
 *         PMIX_ERR_NO_PERMISSIONS and PMIX_ERR_OUT_OF_RESOURCE
 */
pmix_status_t PMIx_server_init(pmix_server_module_t *module, pmix_info_t info[],
                               size_t ninfo);

/* Calls PMIx_server_init with the module's size. Invalid infos are passed on unchanged,
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
    /* Borrowed for the call, with all values. The new info comes first, since the last
     * may be marked as the end. */
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
 * Undo one PMIx_server_init; the last call drops all clients and removes the server's
 * files.
 *
 * Blocks until that is done. The last call of a server without a host's module first
 * ends the jobs that it started.
 *
 * @return PMIX_SUCCESS; PMIX_ERR_INIT without a server; PMIX_ERR_WOULD_BLOCK from
 *         within a callback
 */
pmix_status_t PMIx_server_finalize(void);

/**
 * Register a job, before its local processes are started.
 *
 * Without @p cbfunc it may also be called from within a callback.
 *
 * @param nspace        copied. For a registered job the information is replaced or
 *                      added
 * @param nlocalprocs   number of its processes that will be clients of this server; 0
 *                      for none; negative if unknown
 * @param info          job, application, node and process information; copied
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for an empty or overlong name;
 *         PMIX_ERR_NOMEM; PMIX_ERR_INIT without a server. The callback gets, or without
 *         one it returns too: PMIX_ERR_BAD_PARAM for invalid maps,
 *         PMIX_ERR_OUT_OF_RESOURCE for too large ones; nothing changes then
 */
pmix_status_t PMIx_server_register_nspace(const pmix_nspace_t nspace, int nlocalprocs,
                                          pmix_info_t info[], size_t ninfo,
                                          pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Deregister a job and all its clients. Drops connected clients, and does their
 * registered clean-up.
 *
 * @param cbfunc  gets PMIX_SUCCESS, also for an unknown job; PMIX_ERR_BAD_PARAM for an
 *                invalid name; PMIX_ERR_INIT
 */
void PMIx_server_deregister_nspace(const pmix_nspace_t nspace, pmix_op_cbfunc_t cbfunc,
                                   void *cbdata);

/**
 * Register a local process, before it is started.
 *
 * @param proc           copied
 * @param uid, gid       ids of the process; only a process with these ids can connect
 *                       in its name
 * @param server_object  passed to the host's functions; never used by the library
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for an invalid namespace or rank;
 *         PMIX_ERR_NOMEM; PMIX_ERR_INIT without a server
 */
pmix_status_t PMIx_server_register_client(const pmix_proc_t *proc, uid_t uid, gid_t gid,
                                          void *server_object, pmix_op_cbfunc_t cbfunc,
                                          void *cbdata);

/**
 * Deregister a local process, and drop it if connected.
 *
 * @param cbfunc  gets PMIX_SUCCESS, also for an unknown process; PMIX_ERR_BAD_PARAM for
 *                an invalid name; PMIX_ERR_INIT
 */
void PMIx_server_deregister_client(const pmix_proc_t *proc, pmix_op_cbfunc_t cbfunc,
                                   void *cbdata);

/**
 * Add variables to the environment of a process, so that it finds this server.
 *
 * Never blocks. Best called before fork: between fork and exec it works only where
 * malloc does. Variables of a server above this one are removed.
 *
 * @param proc  the process, which need not be registered
 * @param env   address of a malloc'd, NULL-terminated array; moved as it grows
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM; PMIX_ERR_NOMEM; PMIX_ERR_INIT without a
 *         server
 */
pmix_status_t PMIx_server_setup_fork(const pmix_proc_t *proc, char ***env);

/**
 * Get the published data of a local process, for another node that requested them.
 *
 * Never blocks. The answer comes after the process has committed.
 *
 * @param proc    copied
 * @param cbfunc  must not be NULL
 * @return PMIX_SUCCESS, and the callback will be called; PMIX_ERR_BAD_PARAM;
 *         PMIX_ERR_NOMEM; PMIX_ERR_INIT without a server
 */
pmix_status_t PMIx_server_dmodex_request(const pmix_proc_t *proc,
                                         pmix_dmodex_response_fn_t cbfunc,
                                         void *cbdata);

/**
 * Prepare a job on its launching server: gather environment, fabric keys and ports.
 *
 * Never blocks. The result holds the contributions of this server's fabric components
 * to the launch, and may be empty. A component that fails makes the launch fail with
 * its status. A component that crashes or takes longer than server_fabric_timeout is
 * left out, unless pnet_<name>_required is set.
 *
 * @param info    PMIX_NODE_MAP and PMIX_PROC_MAP; PMIX_PARENT_ID, one or several
 *                processes or namespaces (PMIX_PROC, PMIX_STRING, PMIX_PROC_NSPACE, or
 *                an array of one of these), whose forwarded variables the job gets;
 *                PMIX_SETUP_APP_ENVARS, PMIX_ALLOC_FABRIC and others; copied
 * @param cbfunc  must not be NULL; receives the infos that each node passes to
 *                PMIx_server_setup_local_support. PMIX_ERR_NOT_AVAILABLE: a required
 *                component failed; PMIX_ERR_JOB_CANCELED: the job was deregistered, or
 *                the server ends; PMIX_ERR_BAD_PARAM for unreadable maps or parents
 * @return PMIX_SUCCESS, and the callback will be called; PMIX_ERR_BAD_PARAM;
 *         PMIX_ERR_NOMEM; PMIX_ERR_INIT without a server
 */
pmix_status_t PMIx_server_setup_application(const pmix_nspace_t nspace,
                                            pmix_info_t info[], size_t ninfo,
                                            pmix_setup_application_cbfunc_t cbfunc,
                                            void *cbdata);

/**
 * Prepare this node for a job, before its first local process is started.
 *
 * Passes each fabric component the contribution of the component of the same name.
 * Keeps the variables of components for PMIx_server_setup_fork. A contribution for
 * which this node has no component is left out with a line in the log.
 *
 * @param info    result of PMIx_server_setup_application, perhaps with other infos;
 *                copied
 * @param cbfunc  gets PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, PMIX_ERR_UNPACK_FAILURE or
 *                another status of PMIx_Data_unpack for invalid contributions, of which
 *                nothing is applied; the status of a component that fails. NULL:
 *                blocks, and returns that status
 * @return PMIX_SUCCESS, and the callback will be called; PMIX_ERR_BAD_PARAM;
 *         PMIX_ERR_NOMEM; PMIX_ERR_INIT without a server
 */
pmix_status_t PMIx_server_setup_local_support(const pmix_nspace_t nspace,
                                              pmix_info_t info[], size_t ninfo,
                                              pmix_op_cbfunc_t cbfunc, void *cbdata);

/* -- Process sets, resources, job information ------------------------------------- */

/*
 * Conventions of the functions below: PMIX_ERR_INIT without a server,
 * PMIX_ERR_BAD_PARAM for a NULL array whose count is not 0, PMIX_ERR_NOMEM. A call with
 * a callback copies its arguments. A call without one works in callbacks, too.
 */

/**
 * Name a set of processes. Local clients that registered for it get the event
 * PMIX_PROCESS_SET_DEFINE, with PMIX_PSET_NAME and PMIX_PSET_MEMBERS. All can query
 * PMIX_QUERY_NUM_PSETS, PMIX_QUERY_PSET_NAMES and, with the qualifier PMIX_PSET_NAME,
 * PMIX_QUERY_PSET_MEMBERSHIP.
 *
 * Blocks until the set is defined.
 *
 * @param members    copied; at least one; ranks may be PMIX_RANK_WILDCARD
 * @param pset_name  copied; not empty, no longer than PMIX_MAX_NSLEN
 * @return PMIX_SUCCESS; PMIX_ERR_EXISTS if a set of that name exists, which is
 *         unchanged
 *
 * PMIx Standard 5.0, ch. Process Sets and Groups.
 */
pmix_status_t PMIx_server_define_process_set(const pmix_proc_t *members,
                                             size_t nmembers, const char *pset_name);

/**
 * Delete a named set of processes. Local clients get the event
 * PMIX_PROCESS_SET_DELETE, with PMIX_PSET_NAME.
 *
 * Blocks until the set is deleted.
 *
 * @param pset_name  stays the caller's
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND for an unknown set
 *
 * PMIx Standard 5.0, ch. Process Sets and Groups.
 */
pmix_status_t PMIx_server_delete_process_set(char *pset_name);

/**
 * Register information that holds for every job. It becomes job information of each
 * job, registered now or later, that has no value of its own under the key. With
 * @p cbfunc NULL it blocks.
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
 */
pmix_status_t PMIx_server_register_resources(pmix_info_t info[], size_t ninfo,
                                             pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Remove information of PMIx_server_register_resources. Clients keep the values that
 * they have received already. With @p cbfunc NULL it blocks.
 *
 * @param info  the keys count, not the values; stays the caller's. An array removes the
 *              keys of its members. An array key whose value is not an array removes
 *              all arrays of that key
 * @return as PMIx_server_register_resources; also for an unknown key
 */
pmix_status_t PMIx_server_deregister_resources(pmix_info_t info[], size_t ninfo,
                                               pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Pack this server's information on the jobs of some processes, for another server.
 *
 * Blocks.
 *
 * @param procs  at least one; only their namespaces count, each once. Namespaces that
 *               are not registered here are skipped
 * @param dbuf   its content is replaced by one PMIX_BYTE_OBJECT for each namespace, in
 *               the order of their first process. Each holds the name (PMIX_STRING) and
 *               then pairs of key and value. The caller destructs the buffer
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND if none is registered; then @p dbuf is
 *         unchanged
 *
 * Not in the Standard; OpenPMIx 6.0 has it.
 */
pmix_status_t PMIx_server_collect_job_info(pmix_proc_t *procs, size_t nprocs,
                                           pmix_data_buffer_t *dbuf);

/**
 * Collect an inventory of this node: from its fabric components, and by hwloc.
 *
 * Never blocks. A component that fails makes the inventory fail with its status.
 *
 * @param directives  for the components; copied
 * @param cbfunc      must not be NULL; receives the infos for PMIx_server_deliver_
 *                    inventory of other servers, released by the release function. The
 *                    inventory is empty without hwloc and without a component that
 *                    collects. A PMIX_NODE_INFO_ARRAY has PMIX_HOSTNAME,
 *                    PMIX_AVAIL_PHYS_MEMORY and PMIX_TOPOLOGY_SIGNATURE
 * @return PMIX_SUCCESS, and the callback will be called
 */
pmix_status_t PMIx_server_collect_inventory(pmix_info_t directives[], size_t ndirs,
                                            pmix_info_cbfunc_t cbfunc, void *cbdata);

/**
 * Deliver the inventories of nodes: each fabric component gets those of its own name.
 * PMIx_Get with PMIX_NODE_INFO and PMIX_HOSTNAME finds the values of a node's array.
 * Inventories without a component here are left out with a line in the log. With
 * @p cbfunc NULL it blocks.
 *
 * @param info        result of one call of PMIx_server_collect_inventory or of several,
 *                    in any order, perhaps with other infos; not empty
 * @param directives  for the components
 * @param cbfunc      gets PMIX_SUCCESS; PMIX_ERR_BAD_PARAM without an inventory;
 *                    PMIX_ERR_UNPACK_FAILURE if one is damaged, and then no component
 *                    gets any; the status of the first component that fails, while the
 *                    others get theirs
 * @return PMIX_SUCCESS, and the callback will be called; PMIX_ERR_NOT_SUPPORTED if no
 *         component takes inventories: @p cbfunc is not called
 */
pmix_status_t PMIx_server_deliver_inventory(pmix_info_t info[], size_t ninfo,
                                            pmix_info_t directives[], size_t ndirs,
                                            pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Pass output of a process on to local processes that called PMIx_IOF_pull for it.
 *
 * Nothing is lost. If a receiver reads too slowly, this server keeps as much of the
 * stream as allowed (parameters server_output_per_stream and server_output_total). Then
 * the callback comes when there is room for more; with @p cbfunc NULL the call blocks
 * until then. A host that waits for the callback, or repeats the call after
 * PMIX_ERR_OUT_OF_RESOURCE, need not do more. Bytes are dropped only for a request with
 * PMIX_IOF_DROP_OLDEST or PMIX_IOF_DROP_NEWEST, which is notified of their number.
 * Bytes that no process has requested yet are kept for the first request, as many as
 * allowed. Any thread, callbacks too: within a callback and with @p cbfunc NULL, it
 * does not block but fails without room.
 *
 * @param source   process that wrote the bytes
 * @param channel  the stream
 * @param bo       the bytes, the caller's; none at the end of the stream
 * @param info     about the bytes, passed on. PMIX_IOF_DROP_OLDEST: of bytes that no
 *                 process has requested, keep the last instead of the first
 * @param cbfunc   gets the status; may be NULL
 * @return PMIX_SUCCESS; PMIX_ERR_PARTIAL_SUCCESS: the bytes were accepted, but some, or
 *         earlier ones, were dropped by a directive. Otherwise none was accepted:
 *         PMIX_ERR_OUT_OF_RESOURCE without room, or for more bytes than a message
 *         holds; PMIX_ERR_NOT_FOUND if no process has requested them and their
 *         namespace is not registered; PMIX_ERR_BAD_PARAM, also for both of
 *         PMIX_IOF_DROP_OLDEST and _NEWEST; PMIX_ERR_NOMEM; PMIX_ERR_INIT;
 *         PMIX_ERR_LOST_CONNECTION: the server ended during the wait
 */
pmix_status_t PMIx_server_IOF_deliver(const pmix_proc_t *source,
                                      pmix_iof_channel_t channel,
                                      const pmix_byte_object_t *bo,
                                      const pmix_info_t info[], size_t ninfo,
                                      pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Pause or resume processes that push input to this server.
 *
 * While they pause, the host gets no more of their input, and their pushes end after
 * the pause. As much input of each may wait as of a stream.
 *
 * @param source   process to pause; NULL for all
 * @param channel  PMIX_FWD_STDIN_CHANNEL
 * @param xoff     true to pause, false to resume
 * @param cbfunc   gets the status; NULL: it blocks
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED for another channel, without a call of
 *         @p cbfunc: output pauses if the host does not deliver it; PMIX_ERR_INIT;
 *         PMIX_ERR_BAD_PARAM; PMIX_ERR_WOULD_BLOCK; PMIX_ERR_NOMEM
 *
 * Not in the Standard; OpenPMIx's development version has it.
 */
pmix_status_t PMIx_server_IOF_flow_control(const pmix_proc_t *source,
                                           pmix_iof_channel_t channel, bool xoff,
                                           const pmix_info_t directives[], size_t ndirs,
                                           pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Encode a list of node names in few bytes, as a value for PMIX_NODE_MAP. Never blocks.
 *
 * @param input   names separated by commas, one for each node of the job, in their
 *                order
 * @param output  receives a NUL-terminated string, which the caller frees
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for a NULL argument; PMIX_ERR_NOMEM
 */
pmix_status_t PMIx_generate_regex(const char *input, char **output);

/**
 * Encode the ranks on each node in few bytes, as a value for PMIX_PROC_MAP. Never
 * blocks.
 *
 * @param input   for each node its ranks, separated by commas, ranges allowed; nodes
 *                separated by semicolons, in the order of PMIX_NODE_MAP. Text of
 *                another form is passed on unchanged
 * @param output  receives a NUL-terminated string, which the caller frees
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for a NULL argument; PMIX_ERR_NOMEM
 */
pmix_status_t PMIx_generate_ppn(const char *input, char **output);

/**
 * Register the attributes that the host supports for a function, for queries of
 * PMIX_QUERY_ATTRIBUTE_SUPPORT. Best called right after PMIx_server_init.
 *
 * Blocks, but not on others. Any thread, also in callbacks.
 *
 * @param function  slot of the host's module, "publish", or its name for users,
 *                  "PMIx_Publish"; copied
 * @param attrs     names of attributes, "PMIX_RANGE"; NULL-terminated, copied. NULL for
 *                  none
 * @return PMIX_SUCCESS; PMIX_ERR_REPEAT_ATTR_REGISTRATION if registered before;
 *         PMIX_ERR_BAD_PARAM for an empty name or one with a comma; PMIX_ERR_INIT
 *         without a server; PMIX_ERR_NOMEM. On error nothing changes
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces, has an array of pmix_regattr_t
 * for attrs; existing libraries have this.
 */
pmix_status_t PMIx_Register_attributes(char *function, char *attrs[]);

/**
 * Encode a list in few bytes, and decode it.
 *
 * The meaning of the items is irrelevant: names separated by commas for PMIX_NODE_MAP,
 * ranks by node as for PMIx_generate_ppn for PMIX_PROC_MAP. The order is kept. Any
 * thread, before PMIx_server_init too; never block.
 *
 * @param input   the list
 * @param info    these functions have no infos; NULL and 0
 * @param regex   generate: overwritten, receives type "raw" or "compress" and the
 *                bytes; the caller destructs it. parse: stays the caller's
 * @param output  receives the list, a string which the caller frees
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, also if the bytes are damaged;
 *         PMIX_ERR_NOT_SUPPORTED for an unknown type or a required attribute;
 *         PMIX_ERR_NOMEM. On error nothing is set
 *
 * Not in the Standard, but in OpenPMIx since 6.1.
 */
pmix_status_t PMIx_generate_regex2(const char *input, pmix_info_t info[], size_t ninfo,
                                   pmix_regex2_t *regex);
pmix_status_t PMIx_parse_regex2(const pmix_regex2_t *regex, pmix_info_t info[],
                                size_t ninfo, char **output);

/**
 * Describe the binding of a process in this node's topology, as a value for
 * PMIX_LOCALITY_STRING. Threads and further statuses: see PMIx_Get_cpuset.
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
 * Get the text of a cpuset, as a value for PMIX_CPUSET.
 *
 * @param cpuset         of hwloc, with a bitmap
 * @param cpuset_string  receives "hwloc:0-3,8", which the caller frees
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM also without a bitmap;
 *         PMIX_ERR_NOT_SUPPORTED
 */
pmix_status_t PMIx_server_generate_cpuset_string(const pmix_cpuset_t *cpuset,
                                                 char **cpuset_string);

/**
 * Make a cpuset from its text, as PMIx_Parse_cpuset_string.
 *
 * Not in the Standard.
 */
pmix_status_t PMIx_server_generate_cpuset(const char *cpuset_string,
                                          pmix_cpuset_t *cpuset);

#ifdef __cplusplus
}
#endif
#endif
