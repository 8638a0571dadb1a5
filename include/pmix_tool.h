/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool interface: debuggers, launchers and monitors that attach to servers. */
#ifndef PMIX_TOOL_H
#define PMIX_TOOL_H

#include "pmix_server.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A tool is a client, and may be a server: both interfaces come with this header. */

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

#ifdef __cplusplus
}
#endif
#endif
