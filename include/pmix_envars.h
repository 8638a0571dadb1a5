/* SPDX-License-Identifier: BSD-3-Clause */
/* Variables of the launcher's environment for the processes of a job (RFC 0029). The
 * Standard has no such function: other implementations may not offer it. The
 * conventions of pmix.h hold. */
#ifndef PMIX_ENVARS_H
#define PMIX_ENVARS_H

#include "pmix.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Source: RFC 0029, Acquisition of Subsystem Launch Information.
 */

#define PMIX_FORWARD_ENVARS_EXCLUDE "pmix.envar.excl" /* char*: names not wanted */

/**
 * Forward variables of this process's environment to the processes of a job.
 *
 * PMIx_server_setup_application gathers for the job those variables that are set at
 * that time and whose names fit; further calls add to them. They end with the job, and
 * with a launch of it that fails. Each node's PMIx_server_setup_fork gives them to the
 * processes, but for those that the environment there has with another value than its
 * server's own: these the user has set.
 *
 * A pattern is a name, in which '?' is any one character, and '*' at the end any rest.
 * With '!' or '^' before it, it names variables that no pattern forwards. Variables
 * that begin with PMIX_ or TENON_ are never forwarded; those that change how programs
 * are loaded (LD_*, GCONV_PATH, GLIBC_TUNABLES, MALLOC_*, BASH_ENV, BASH_FUNC_*, ENV,
 * SHELLOPTS, PYTHONSTARTUP) only by a pattern that is their whole name.
 *
 * @param nspace     the job, which need not be registered yet
 * @param pattern    patterns, with ';' between them
 * @param directives PMIX_FORWARD_ENVARS_EXCLUDE; borrowed for the call
 * @param ndirs      how many
 *
 * Only in servers, in any thread but the library's. Blocks until noted; asks no
 * process.
 *
 * @return PMIX_SUCCESS; PMIX_ERR_INIT; PMIX_ERR_BAD_PARAM, also for what is no pattern
 *         (the log says where), after which nothing of this call holds;
 *         PMIX_ERR_NOT_SUPPORTED if no component forwards variables, or a required
 *         directive is not known; PMIX_ERR_NOMEM; PMIX_ERR_WOULD_BLOCK in a callback
 */
pmix_status_t PMIx_Forward_envars(const char nspace[], const char *pattern,
                                  pmix_info_t directives[], size_t ndirs);

#ifdef __cplusplus
}
#endif

#endif
