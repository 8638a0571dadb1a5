/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests for the data of a process. */
#ifndef PX_SERVER_DATA_ON_GET_H
#define PX_SERVER_DATA_ON_GET_H

#include "core/types/type.h"

struct px_server;

/* Ends requests that wait for data of this rank, after its commit: some at once, the
 * others in later turns. status: of the commit. After an error all these requests end,
 * with the value or with the error. Returns the number of requests that were checked at
 * once. */
size_t px_get_data_arrived(struct px_server *srv, const pmix_proc_t *proc,
                           pmix_status_t status);

#endif
