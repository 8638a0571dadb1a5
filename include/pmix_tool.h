/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool interface, for debuggers, launchers and monitors that attach to servers. */
#ifndef PMIX_TOOL_H
#define PMIX_TOOL_H

#include "pmix_server.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A tool is a client, and may be a server: both interfaces come with this header. The
 * conventions of pmix.h hold. Source, unless a function names another: PMIx Standard
 * 5.0, ch. Tools and Debuggers.
 */

/**
 * Receives forwarded bytes that a process wrote.
 *
 * @param iofhdlr   number of the handler, from its registration
 * @param channel   the stream
 * @param source    process that wrote the bytes
 * @param payload   the bytes, the library's, valid until this returns; none at the end
 */
typedef void (*pmix_iof_cbfunc_t)(size_t iofhdlr, pmix_iof_channel_t channel,
                                  pmix_proc_t *source, pmix_byte_object_t *payload,
                                  pmix_info_t info[], size_t ninfo);

/** uint64_t, with a payload: number of bytes of the stream that were dropped before it,
 * by PMIX_IOF_DROP_OLDEST or PMIX_IOF_DROP_NEWEST. */
#define TENON_IOF_DROPPED "tenon.iof.dropped"

/* -- Times of processes ------------------------------------------------------------ */

/**
 * Query: times of one process, which the qualifiers PMIX_NSPACE and PMIX_RANK name, or
 * PMIX_PROCID.
 *
 * The value is an array of the three infos below. Times are nanoseconds of
 * CLOCK_MONOTONIC, and 0 if the step was not seen. Servers of this library answer it if
 * they record times: parameter server_timeline.
 */
#define TENON_QUERY_TIMELINE "tenon.qry.timeline"
/** uint64_t[10]: the process was made, runs its program, begins PMIx_Init, is
 * connected, has got the information of its job, ends PMIx_Init, puts its first value,
 * has its first commit stored, finalizes for the last time, has ended. The third, sixth
 * and seventh are times of the process itself, if it runs this library, and come with
 * its finalize. The others are times of the server. */
#define TENON_TIMELINE_STEPS "tenon.timeline.steps"
/** uint64_t[5 * n]: for each collective its number in the server, its kind (3 fence, 10
 * connect, 11 disconnect, 24 and 28 construct and destruct a group), the time when the
 * process entered, the time when it left, and the rank that entered last:
 * PMIX_RANK_UNDEF if nothing is known, or the process is of another job. */
#define TENON_TIMELINE_COLLECTIVES "tenon.timeline.collectives"
/** uint64_t: number of collectives that were not recorded, beyond the limit. */
#define TENON_TIMELINE_DROPPED "tenon.timeline.dropped"

/**
 * Query: bytes that the processes of a job have written to their stdout and stderr so
 * far. PMIX_NSPACE names the job.
 *
 * The value is an array of uint64_t by rank. Servers of this library that have started
 * the processes answer it.
 */
#define TENON_QUERY_OUTPUT "tenon.qry.output"

/**
 * Query: the state of the server itself, for the user of the server and root.
 *
 * The value is an array with an info for each section: "server", "memory", "loop",
 * "connections" and "parameters". A section is an array of infos. The infos of "server"
 * and "loop" are numbers (uint64_t) and texts. In other sections each info is an entry,
 * whose value is an array of such infos. Later releases may add sections and members.
 * Only servers of this library answer. Other users get PMIX_ERR_NO_PERMISSIONS.
 */
#define TENON_QUERY_SERVER "tenon.qry.server"

/**
 * Query qualifier, bool: name the part that answers. The value is a string: "library"
 * of the calling process, "server", or "host". An info with this key comes beside the
 * answers of each part. Only parts of this library give it.
 */
#define TENON_QUERY_SOURCE "tenon.qry.source"

/* -- Forwarding of standard streams ------------------------------------------------ */

/**
 * Request the output of processes.
 *
 * With @p regcbfunc NULL it blocks until the server has accepted the request. Every
 * process may call it, not only a tool.
 *
 * @param procs       processes to read from; ranks may be PMIX_RANK_WILDCARD. At least
 *                    one
 * @param directives  format, buffering, and files for the output: docs/output.md.
 *                    PMIX_IOF_CACHE_SIZE: number of bytes of a stream that may wait at
 *                    the server, within its own limit. Beyond that the writer waits;
 *                    or, with PMIX_IOF_DROP_OLDEST or _NEWEST, bytes are dropped, and
 *                    TENON_IOF_DROPPED has their number. PMIX_IOF_COPY and others go to
 *                    the server, too
 * @param channel     the streams, or-ed: PMIX_FWD_STDOUT_CHANNEL and its like;
 *                    PMIX_FWD_ALL_CHANNELS: all but the input
 * @param cbfunc      receives the bytes, on the library's thread: as they come, or as
 *                    the directives shape them. NULL: they go to the standard output
 *                    and error of this process, in whole lines. While these are
 *                    blocked, no more is read from the server
 * @param regcbfunc   gets the status, the number of this request and @p regcbdata; may
 *                    be NULL
 * @return with @p regcbfunc: PMIX_SUCCESS, and it will be called; or an error. Without:
 *         the number (> 0), or an error (< 0): PMIX_ERR_NOT_SUPPORTED if @p channel
 *         names the input or the host does not forward; PMIX_ERR_NO_PERMISSIONS;
 *         PMIX_ERR_UNREACH; PMIX_ERR_INIT; PMIX_ERR_WOULD_BLOCK; PMIX_ERR_NOMEM;
 *         PMIX_ERR_BAD_PARAM, also if directives contradict each other
 */
pmix_status_t PMIx_IOF_pull(const pmix_proc_t procs[], size_t nprocs,
                            const pmix_info_t directives[], size_t ndirs,
                            pmix_iof_channel_t channel, pmix_iof_cbfunc_t cbfunc,
                            pmix_hdlr_reg_cbfunc_t regcbfunc, void *regcbdata);

/**
 * End a request for output. Output that has come before is still delivered; the rest is
 * dropped. With @p cbfunc NULL it blocks until the server has answered and the
 * request's function has received all its bytes.
 *
 * @param iofhdlr     the number of the request
 * @param directives  for the host
 * @param cbfunc      gets the status; may be NULL
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, also for an unknown request;
 *         PMIX_ERR_UNREACH; PMIX_ERR_INIT; PMIX_ERR_WOULD_BLOCK
 */
pmix_status_t PMIx_IOF_deregister(size_t iofhdlr, const pmix_info_t directives[],
                                  size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Send bytes to the standard input of processes. With @p cbfunc NULL it blocks until
 * the host has accepted them.
 *
 * With the directive PMIX_IOF_PUSH_STDIN the library reads the caller's own standard
 * input instead, to its end, and sends it piece by piece as fast as the host accepts
 * it. A terminal is read while this process is in its foreground. The call ends after
 * the reading has begun. Later problems are logged, and end the reading.
 *
 * @param targets     processes that receive the bytes. None, with PMIX_IOF_COMPLETE:
 *                    those that get the caller's own input
 * @param bo          the bytes, copied; none at the end of the input. NULL with the
 *                    directive PMIX_IOF_COMPLETE also means the end; NULL with
 *                    PMIX_IOF_PUSH_STDIN
 * @param directives  for the host, except PMIX_IOF_PUSH_STDIN. PMIX_IOF_CACHE_SIZE:
 *                    number of bytes that may wait at the server until the host has
 *                    accepted earlier bytes; PMIX_IOF_DROP_OLDEST,
 *                    PMIX_IOF_DROP_NEWEST: bytes to drop beyond that
 * @param cbfunc      gets the status; may be NULL
 * @return PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE: these bytes were dropped, or too many
 *         wait already; PMIX_ERR_NOT_SUPPORTED; PMIX_ERR_NO_PERMISSIONS;
 *         PMIX_ERR_RESOURCE_BUSY: the own input is being sent already;
 *         PMIX_ERR_UNREACH; PMIX_ERR_INIT; PMIX_ERR_WOULD_BLOCK; PMIX_ERR_BAD_PARAM
 */
pmix_status_t PMIx_IOF_push(const pmix_proc_t targets[], size_t ntargets,
                            pmix_byte_object_t *bo, const pmix_info_t directives[],
                            size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* -- Life ------------------------------------------------------------------------- */

/**
 * Become a tool, and by default connect to a server.
 *
 * Each call needs its own PMIx_tool_finalize; the first one does the work. A later call
 * looks for a server again if the tool has none. The first call in a client does the
 * same: the client becomes a tool and keeps its name and its server. A process that is
 * a server, and not a client before, only gets its name and does not become a tool: it
 * has no server above it. Any thread, but not from within a callback; blocks while it
 * connects, at most for PMIX_TIMEOUT.
 *
 * Servers are tried in this order. First the one that PMIX_TOOL_ATTACHMENT_FILE,
 * PMIX_SERVER_URI or PMIX_TCP_URI ("file:" and a path is a file there, too),
 * PMIX_SERVER_PIDINFO, PMIX_SERVER_NSPACE, PMIX_CONNECT_TO_SYSTEM, _TO_SCHEDULER or
 * _TO_SYS_CONTROLLER names, and no other. With PMIX_CONNECT_SYSTEM_FIRST the system's.
 * Those of PMIX_CONNECTION_ORDER, whose last entry may forbid others. The one in the
 * environment (PMIX_SERVER_URI41 and so on, then PMIX_LAUNCHER_RNDZ_URI). The first
 * that accepts us of those with a rendezvous file below PMIX_SERVER_TMPDIR or
 * PMIX_SYSTEM_TMPDIR. Files that are symbolic links, or not this user's or root's, are
 * ignored. A named server is tried again PMIX_CONNECT_MAX_RETRIES times (default 1)
 * after PMIX_CONNECT_RETRY_DELAY seconds (default 10 ms), and with
 * PMIX_WAIT_FOR_CONNECTION until PMIX_TIMEOUT.
 *
 * The name is PMIX_TOOL_NSPACE with PMIX_TOOL_RANK (default 0), otherwise
 * PMIX_NAMESPACE with PMIX_RANK of the environment, otherwise from the server,
 * otherwise one of the tool's own. With PMIX_TOOL_DO_NOT_CONNECT the Standard leaves
 * the tool without a name; this library makes one up, since calls that work alone need
 * it.
 *
 * @param proc   receives the tool's name; may be NULL
 * @param info   attributes named above; PMIX_TOOL_DO_NOT_CONNECT: no server;
 *               PMIX_TOOL_CONNECT_OPTIONAL: none if none can be reached; PMIX_LAUNCHER:
 *               the tool starts jobs; PMIX_LAUNCHER_RENDEZVOUS_FILE: a file by which
 *               others find the tool, from now until it ends; they are refused until
 *               PMIx_tool_set_server_module. The caller's, good until this returns
 * @return PMIX_SUCCESS; PMIX_ERR_UNREACH: no server; PMIX_ERR_TIMEOUT;
 *         PMIX_ERR_BAD_PARAM for contradicting infos; PMIX_ERR_WOULD_BLOCK from within
 *         a callback; PMIX_ERR_NOMEM. On error nothing has begun
 */
pmix_status_t PMIx_tool_init(pmix_proc_t *proc, pmix_info_t info[], size_t ninfo);

/**
 * Undo one PMIx_tool_init; the last call leaves every server.
 *
 * Any thread, but not from within a callback; blocks until the servers have answered, a
 * few seconds for each at most.
 *
 * @return PMIX_SUCCESS; PMIX_ERR_INIT without a tool; PMIX_ERR_WOULD_BLOCK
 */
pmix_status_t PMIx_tool_finalize(void);

/* -- Servers ---------------------------------------------------------------------- */

/**
 * Connect a tool or client to another server, found as in PMIx_tool_init.
 *
 * Connected servers are skipped; naming a connected server is success. The caller keeps
 * its name. Without another server or with PMIX_PRIMARY_SERVER, the new server becomes
 * the primary one, to which all other calls go. Any thread, but not from within a
 * callback; blocks while it connects.
 *
 * @param proc    receives the tool's name; may be NULL
 * @param server  receives the server's name; may be NULL
 * @param info    as for PMIx_tool_init, and PMIX_PRIMARY_SERVER; the caller's
 * @return PMIX_SUCCESS; PMIX_ERR_INIT in a process that is neither; PMIX_ERR_UNREACH:
 *         no new server; PMIX_ERR_TIMEOUT; PMIX_ERR_BAD_PARAM; PMIX_ERR_WOULD_BLOCK;
 *         PMIX_ERR_NOT_SUPPORTED if there are uncommitted values that the new primary
 *         server could not read; PMIX_ERR_NOMEM
 */
pmix_status_t PMIx_tool_attach_to_server(pmix_proc_t *proc, pmix_proc_t *server,
                                         pmix_info_t info[], size_t ninfo);

/**
 * Leave a server. After the primary server was left, calls that need a server return
 * PMIX_ERR_UNREACH until another one is primary.
 *
 * Calls that wait for that server's answer fail. Any thread, but not from within a
 * callback; blocks until the server has answered, a few seconds at most.
 *
 * @param server  its name; PMIX_RANK_WILDCARD: any of that namespace
 * @return PMIX_SUCCESS; PMIX_ERR_INIT without a tool; PMIX_ERR_NOT_FOUND if not
 *         connected to it; PMIX_ERR_BAD_PARAM; PMIX_ERR_WOULD_BLOCK
 */
pmix_status_t PMIx_tool_disconnect(const pmix_proc_t *server);

/**
 * List the servers the tool is connected to: the primary one first, if any, then in the
 * order they were attached. Any thread, but not from within a callback.
 *
 * @param servers   receives an array the caller frees with PMIX_PROC_FREE; NULL on
 *                  error
 * @param nservers  receives its elements; 0 on error
 * @return PMIX_SUCCESS; PMIX_ERR_INIT without a tool, with nothing written;
 *         PMIX_ERR_UNREACH without a server; PMIX_ERR_BAD_PARAM; PMIX_ERR_WOULD_BLOCK;
 *         PMIX_ERR_NOMEM
 */
pmix_status_t PMIx_tool_get_servers(pmix_proc_t *servers[], size_t *nservers);

/**
 * Make a server the primary one, to which all further calls go. Calls that wait for
 * another server still get its answer. Registered event handlers stay with the server
 * that was primary at their registration.
 *
 * Any thread, but not from within a callback; blocks only to wait for the connection.
 *
 * @param server  its name; PMIX_RANK_WILDCARD: any of that namespace
 * @param info    PMIX_WAIT_FOR_CONNECTION: until another thread has attached it, at
 *                most PMIX_TIMEOUT seconds (0 or absent: for ever). The caller's
 * @return PMIX_SUCCESS; PMIX_ERR_INIT without a tool, or after its end;
 *         PMIX_ERR_UNREACH if not connected to it; PMIX_ERR_TIMEOUT;
 *         PMIX_ERR_BAD_PARAM; PMIX_ERR_WOULD_BLOCK; PMIX_ERR_NOT_SUPPORTED if there are
 *         uncommitted values that this server could not read; PMIX_ERR_NOMEM
 */
pmix_status_t PMIx_tool_set_server(const pmix_proc_t *server, pmix_info_t info[],
                                   size_t ninfo);

/**
 * Test for a primary server. Any thread, also within callbacks; never fails.
 *
 * @return true if a primary server is connected; false also without a tool
 *
 * Not in the PMIx Standard.
 */
bool PMIx_tool_is_connected(void);

/**
 * Make the tool a server for processes that it starts itself, until PMIx_tool_finalize.
 *
 * These processes are registered with the PMIx_server_ functions; the server has the
 * tool's name. A tool without a server above it then serves itself: its calls go to
 * @p module. Any thread, but not from within a callback; does not block for long.
 *
 * @param module  the functions that serve, as for PMIx_server_init; copied
 * @return PMIX_SUCCESS; PMIX_ERR_INIT without a tool, or if the process is a server
 *         already; PMIX_ERR_BAD_PARAM; PMIX_ERR_WOULD_BLOCK; otherwise the status of
 *         PMIx_server_init
 *
 * Not in the PMIx Standard.
 */
pmix_status_t PMIx_tool_set_server_module(pmix_server_module_t *module);

#ifdef __cplusplus
}
#endif
#endif
