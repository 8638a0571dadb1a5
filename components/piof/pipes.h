/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipes to and from a process, for all sources. */
#ifndef PX_PIOF_PIPES_H
#define PX_PIOF_PIPES_H

#include "tenon/piof.h"

#include "core/base/err.h"
#include "core/base/fd.h"

#include <fcntl.h>

/* Makes a pipe for stream 0, 1 or 2. ends may hold descriptors after a failure. */
static inline pmix_status_t piof_pipe(struct px_piof_ends *ends, int stream)
{
    int both[2];

    if (pipe2(both, O_CLOEXEC) < 0)
        return px_status_of_errno(errno);
    ends->child[stream] = both[stream ? 1 : 0];
    ends->ours[stream] = both[stream ? 0 : 1];
    return px_fd_nonblock(ends->ours[stream]); /* the end is not shared */
}

/* Closes all descriptors, which must differ. */
static inline void piof_drop(struct px_piof_ends *ends)
{
    for (int i = 0; i < 3; i++) {
        px_drop_fd(&ends->child[i]);
        px_drop_fd(&ends->ours[i]);
    }
}

#endif
