/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool interface: debuggers, launchers and monitors that attach to servers. */
#ifndef PMIX_TOOL_H
#define PMIX_TOOL_H

#include "pmix_server.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A tool is a client, and may be a server: both interfaces come with this header. The
 * conventions of pmix.h hold. */

/**
 * Bytes a process wrote have been forwarded here.
 *
 * @param iofhdlr   number of the handler, from its registration
 * @param channel   the stream
 * @param source    who wrote
 * @param payload   the bytes, the library's, good until this returns; none at the end
 */
typedef void (*pmix_iof_cbfunc_t)(size_t iofhdlr, pmix_iof_channel_t channel,
                                  pmix_proc_t *source, pmix_byte_object_t *payload,
                                  pmix_info_t info[], size_t ninfo);

/* -- Forwarding of standard streams ------------------------------------------------ */

/**
 * Ask for the output of processes.
 *
 * With @p regcbfunc NULL it blocks until the server has agreed. Every process may call
 * it, not only a tool.
 *
 * @param procs       whose output; ranks may be PMIX_RANK_WILDCARD. At least one
 * @param directives  PMIX_IOF_COPY, PMIX_IOF_CACHE_SIZE and others, for the host
 * @param channel     the streams, or-ed: PMIX_FWD_STDOUT_CHANNEL and its like
 * @param cbfunc      receives the bytes as they come, on the library's thread
 * @param regcbfunc   gets the status, the number of this request and @p regcbdata; may
 *                    be NULL
 * @return with @p regcbfunc: PMIX_SUCCESS, and it will be called; or an error. Without:
 *         the number (> 0), or an error (< 0): PMIX_ERR_NOT_SUPPORTED if @p channel
 *         names the input, @p cbfunc is NULL (output to the own streams is not there
 *         yet) or the host does not forward; PMIX_ERR_NO_PERMISSIONS; PMIX_ERR_UNREACH;
 *         PMIX_ERR_INIT; PMIX_ERR_WOULD_BLOCK; PMIX_ERR_BAD_PARAM; PMIX_ERR_NOMEM
 *
 * PMIx Standard 5.0, ch. Tools and Debuggers.
 */
pmix_status_t PMIx_IOF_pull(const pmix_proc_t procs[], size_t nprocs,
                            const pmix_info_t directives[], size_t ndirs,
                            pmix_iof_channel_t channel, pmix_iof_cbfunc_t cbfunc,
                            pmix_hdlr_reg_cbfunc_t regcbfunc, void *regcbdata);

/**
 * Ask for no more output. With @p cbfunc NULL it blocks until the server has answered;
 * what arrives meanwhile is thrown away.
 *
 * @param iofhdlr     the number of the request
 * @param directives  for the host
 * @param cbfunc      gets the status; may be NULL
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND if there is no such request;
 *         PMIX_ERR_UNREACH; PMIX_ERR_INIT; PMIX_ERR_WOULD_BLOCK; PMIX_ERR_BAD_PARAM
 *
 * PMIx Standard 5.0, ch. Tools and Debuggers.
 */
pmix_status_t PMIx_IOF_deregister(size_t iofhdlr, const pmix_info_t directives[],
                                  size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Send bytes to the standard input of processes. With @p cbfunc NULL it blocks until
 * the host has taken them.
 *
 * @param targets     who shall read them; the host may allow none, or just one
 * @param bo          the bytes, copied; none at the end of the input. NULL with the
 *                    directive PMIX_IOF_COMPLETE says that, too
 * @param directives  for the host. PMIX_IOF_PUSH_STDIN, by which the library would read
 *                    the caller's own input, is not supported yet
 * @param cbfunc      gets the status; may be NULL
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED; PMIX_ERR_NO_PERMISSIONS;
 *         PMIX_ERR_UNREACH; PMIX_ERR_INIT; PMIX_ERR_WOULD_BLOCK; PMIX_ERR_BAD_PARAM
 *
 * PMIx Standard 5.0, ch. Tools and Debuggers.
 */
pmix_status_t PMIx_IOF_push(const pmix_proc_t targets[], size_t ntargets,
                            pmix_byte_object_t *bo, const pmix_info_t directives[],
                            size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata);

#ifdef __cplusplus
}
#endif
#endif
