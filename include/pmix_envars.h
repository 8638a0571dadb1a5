/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwarding of variables from the launcher's environment to the processes of a job
 * (RFC 0029). The Standard does not have this function, and other implementations may
 * not offer it. The conventions of pmix.h hold. */
#ifndef PMIX_ENVARS_H
#define PMIX_ENVARS_H

#include "pmix.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Source: RFC 0029, Acquisition of Subsystem Launch Information.
 */

#define PMIX_FORWARD_ENVARS_EXCLUDE "pmix.envar.excl" /* char*: names not to forward */

/**
 * Forward variables of this process's environment to the processes of a job.
 *
 * PMIx_server_setup_application gathers the variables that are set at that time and
 * whose names match. Further calls add patterns. Patterns end with the job, or with
 * its failed launch. On each node PMIx_server_setup_fork adds the variables to the
 * environment. A variable that the given environment has with another value than the
 * server's own was set by the user, and stays.
 *
 * A pattern is a name in which '?' stands for any one character, and '*' at the end
 * for any rest. With '!' or '^' before it, a pattern names variables that no pattern
 * forwards. Variables that begin with PMIX_ or TENON_ are never forwarded. Variables
 * that change how programs are loaded (LD_*, GCONV_PATH, GLIBC_TUNABLES, MALLOC_*,
 * BASH_ENV, BASH_FUNC_*, ENV, SHELLOPTS, PYTHONSTARTUP) are forwarded only if a
 * pattern has their full name.
 *
 * @param nspace     the job, which need not be registered yet
 * @param pattern    patterns, with ';' between them
 * @param directives PMIX_FORWARD_ENVARS_EXCLUDE; borrowed for the call
 * @param ndirs      how many
 *
 * Only in servers, in any thread, also in callbacks. Blocks until recorded; sends no
 * message.
 *
 * @return PMIX_SUCCESS; PMIX_ERR_INIT; PMIX_ERR_BAD_PARAM, also for a bad pattern (the
 *         log has the place), after which nothing of this call holds;
 *         PMIX_ERR_NOT_SUPPORTED if no component forwards variables, or a required
 *         directive is unknown; PMIX_ERR_NOMEM
 */
pmix_status_t PMIx_Forward_envars(const char nspace[], const char *pattern,
                                  pmix_info_t directives[], size_t ndirs);

#ifdef __cplusplus
}
#endif

#endif
