/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that speak PMI-1 or PMI-2 instead of PMIx (adr/0035). Each process gets one
 * end of a socket, named by PMI_FD. The room translates the messages on the socket into
 * requests of a PMIx client. Loop thread only. */
#ifndef PX_HOST_PMI_PMI_H
#define PX_HOST_PMI_PMI_H

#include "core/base/err.h"

struct px_launch_job;
struct px_task;

/* Makes the socket of a process, and adds its variables to *env, malloc'd. *fd becomes
 * the end for the process, which the caller closes. */
pmix_status_t px_pmi_open(struct px_task *task, char ***env, int *fd,
                          struct px_err *err);
/* Closes the socket of a process that has ended. A process that has not finalized
 * counts as lost. Idempotent. */
void px_pmi_close(struct px_task *task);
/* Frees the keys of a job, whose sockets are closed. */
void px_pmi_forget(struct px_launch_job *job);

/* Warns about programs of an ended job that are linked with an MPI, ran as several
 * processes, and have not connected by any protocol (linked.c). */
void px_pmi_report_alone(const struct px_launch_job *job);
/* Copies the name of the MPI or PMI library that a program is linked with. False: there
 * is none, or the file cannot be read. */
bool px_pmi_linked(const char *program, char name[64]);

#endif
