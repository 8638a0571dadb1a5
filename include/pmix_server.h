/* SPDX-License-Identifier: BSD-3-Clause */
/* The server interface: what a resource manager calls. What it is called for stands in
 * pmix_server_module.h. */
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

/* -- What the host calls ---------------------------------------------------------- */

/*
 * The conventions of pmix.h hold. The functions below with a callback never block if
 * one is given; with @p cbfunc NULL they block until they are done and return how that
 * went.
 */

/**
 * Start the server: listen for clients.
 *
 * Blocks until the server listens. May be called several times; each call wants its own
 * PMIx_server_finalize.
 *
 * @param module  copied, as far as TENON_SERVER_MODULE_SIZE says; NULL for a host that
 *                offers nothing
 * @param info    PMIX_SERVER_NSPACE, PMIX_SERVER_RANK, PMIX_SERVER_TMPDIR,
 *                PMIX_SYSTEM_TMPDIR and others
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, also for a parameter of the environment or a
 *         file; PMIX_ERR_NOT_FOUND if components are missing; PMIX_ERR_WOULD_BLOCK;
 *         PMIX_ERR_NOMEM; else why nothing can be listened on, PMIX_ERR_NO_PERMISSIONS
 *         and PMIX_ERR_OUT_OF_RESOURCE among them
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
 */
pmix_status_t PMIx_server_init(pmix_server_module_t *module, pmix_info_t info[],
                               size_t ninfo);

/* PMIx_server_init, told of the module's size. Infos that are none go on as they are, to
 * be refused there. */
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
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
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
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
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
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
 */
void PMIx_server_deregister_nspace(const pmix_nspace_t nspace, pmix_op_cbfunc_t cbfunc,
                                   void *cbdata);

/**
 * Announce a local process, before it is started.
 *
 * @param proc           copied
 * @param uid, gid       who it will run as; nobody else can connect in its name
 * @param server_object  handed to the host's functions; never touched by the library
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for a namespace or rank that names nobody;
 *         PMIX_ERR_NOMEM; PMIX_ERR_INIT if there is no server
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
 */
pmix_status_t PMIx_server_register_client(const pmix_proc_t *proc, uid_t uid, gid_t gid,
                                          void *server_object, pmix_op_cbfunc_t cbfunc,
                                          void *cbdata);

/**
 * Forget a local process, and drop it if it is connected.
 *
 * @param cbfunc  gets PMIX_SUCCESS, also for a process that is not known;
 *                PMIX_ERR_BAD_PARAM for a name that cannot be; PMIX_ERR_INIT
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
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
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
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
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
 */
pmix_status_t PMIx_server_dmodex_request(const pmix_proc_t *proc,
                                         pmix_dmodex_response_fn_t cbfunc,
                                         void *cbdata);

/**
 * Prepare a job where it is launched from: gather environment, fabric keys and ports.
 *
 * Never blocks. As long as no component contributes to that, what comes is empty.
 *
 * @param info    the job's maps, PMIX_SETUP_APP_ENVARS, PMIX_ALLOC_FABRIC and others;
 *                copied
 * @param cbfunc  must not be NULL; receives what each node passes to
 *                PMIx_server_setup_local_support
 * @return PMIX_SUCCESS, and the callback will come; PMIX_ERR_BAD_PARAM; PMIX_ERR_NOMEM;
 *         PMIX_ERR_INIT if there is no server
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
 */
pmix_status_t PMIx_server_setup_application(const pmix_nspace_t nspace,
                                            pmix_info_t info[], size_t ninfo,
                                            pmix_setup_application_cbfunc_t cbfunc,
                                            void *cbdata);

/**
 * Prepare this node for a job, before its first local process is started.
 *
 * As long as no component contributes to a launch, there is nothing to do. Never blocks.
 *
 * @param info  what PMIx_server_setup_application gave
 * @return PMIX_SUCCESS, also without a callback; PMIX_ERR_BAD_PARAM; PMIX_ERR_NOMEM;
 *         PMIX_ERR_INIT if there is no server
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
 */
pmix_status_t PMIx_server_setup_local_support(const pmix_nspace_t nspace,
                                              pmix_info_t info[], size_t ninfo,
                                              pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Write a list of node names in few bytes, as a value for PMIX_NODE_MAP. Never blocks.
 *
 * @param input   names separated by commas, one for each node of the job, in their
 *                order
 * @param output  receives a NUL-terminated string, which the caller frees
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for a NULL argument; PMIX_ERR_NOMEM
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
 */
pmix_status_t PMIx_generate_regex(const char *input, char **output);

/**
 * Write the ranks on each node in few bytes, as a value for PMIX_PROC_MAP. Never
 * blocks.
 *
 * @param input   for each node its ranks, separated by commas, ranges allowed; nodes
 *                separated by semicolons, in the order of PMIX_NODE_MAP. What is not
 *                of that form passes through as it is
 * @param output  receives a NUL-terminated string, which the caller frees
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for a NULL argument; PMIX_ERR_NOMEM
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
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
 * What the items mean does not matter: names separated by commas for PMIX_NODE_MAP,
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

#ifdef __cplusplus
}
#endif
#endif
