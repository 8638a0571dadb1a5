/* SPDX-License-Identifier: BSD-3-Clause */
/* piof: the ends of forwarded streams. A component makes sinks, that take bytes, or
 * sources, that processes write to, or both; lines, marks and turns are the core's.
 * Contract in frameworks/piof/README.md. */
#ifndef TENON_PIOF_H
#define TENON_PIOF_H

#include "tenon/component.h"

#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <termios.h>

#define PX_PIOF_ABI 1u

/* Members are only appended here, too; size says how many there are. */
struct px_piof_target {
    uint32_t size;
    /* Open for writing, and the caller's, who keeps it until close_sink; others may
     * share its description, so that no flag of it may change. -1: there is a path. */
    int fd;
    /* A file that is made with these rights if it is not there, else emptied, unless
     * keep. */
    const char *path;
    mode_t mode;
    bool keep;
};

enum px_piof_kind {
    PX_PIOF_PIPES,    /* a pipe for each stream */
    PX_PIOF_TERMINAL, /* a pseudo terminal for stdin and stdout, a pipe for stderr */
};

struct px_piof_source {
    uint32_t size;
    enum px_piof_kind kind;
    bool input;  /* stdin is wanted, too; a terminal always has it */
    bool merged; /* stderr goes the way of stdout */
    /* Of a terminal; NULL: the system's, but that it changes and echoes nothing. */
    const struct termios *termios;
    const struct winsize *winsize;
};

/* All close-on-exec, and the caller's; -1: there is none. The same number may stand in
 * several members of one array. */
struct px_piof_ends {
    int child[3]; /* become 0, 1 and 2 of a process */
    int ours[3];  /* non-blocking: to write to its stdin, to read the others. The end of
                     one is read as 0 bytes, or EIO */
};

/* All on the loop thread; none blocks but for a file system. A component without sinks
 * has NULL behind open_source. */
struct px_piof_ops {
    /* PMIX_ERR_NOT_SUPPORTED: it is not this component's to take; else why it cannot be
     * taken. On failure *sink is unchanged and nothing is open. */
    pmix_status_t (*open_sink)(void *self, const struct px_piof_target *target,
                               void **sink);
    /* PMIX_ERR_NOT_SUPPORTED: another's kind; PMIX_ERR_OUT_OF_RESOURCE: no descriptor
     * or terminal is left; errno may say why. On failure *ends is unchanged and nothing
     * is open. */
    pmix_status_t (*open_source)(void *self, const struct px_piof_source *wanted,
                                 struct px_piof_ends *ends);

    /* As writev(2) that never waits: how much was written, perhaps not all; or -1 and
     * errno, EAGAIN where there is no room now. No signal is raised: a reader that has
     * gone is EPIPE, a file at its limit EFBIG. */
    ssize_t (*writev)(void *self, void *sink, const struct iovec *v, int n);
    /* Becomes writable when there is room; stays the component's. -1: there always
     * is. */
    int (*room_fd)(void *self, void *sink);
    void (*close_sink)(void *self, void *sink);
};

#endif
