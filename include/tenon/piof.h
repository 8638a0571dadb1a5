/* SPDX-License-Identifier: BSD-3-Clause */
/* piof: the ends of forwarded streams. A component makes sinks, which take bytes, or
 * sources, which processes write to, or both. The core handles lines, marks and
 * fairness. Contract in frameworks/piof/README.md. */
#ifndef TENON_PIOF_H
#define TENON_PIOF_H

#include "tenon/component.h"

#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <termios.h>

#define PX_PIOF_ABI 1u

/* Target of a sink. Members are only appended; size is that of the caller's
 * structure. */
struct px_piof_target {
    uint32_t size;
    /* Descriptor open for writing, which the caller keeps open until close_sink. Other
     * processes may share the description, so its flags must not change. -1: use
     * path. */
    int fd;
    /* File, made with this mode if missing, otherwise truncated unless keep. */
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
    bool input;  /* stdin too; a terminal always has it */
    bool merged; /* stderr goes the way of stdout */
    /* Modes of a terminal; NULL: the system's, but without output processing and
     * echo. */
    const struct termios *termios;
    const struct winsize *winsize;
};

/* Ends of a source, close-on-exec, owned by the caller; -1: none. Members of one array
 * may have the same number. */
struct px_piof_ends {
    int child[3]; /* become 0, 1 and 2 of a process */
    int ours[3];  /* non-blocking: to write to stdin, to read the others. A read at the
                   * end of a stream returns 0 bytes or EIO */
};

/* Operations of piof. Loop thread only; they block for file systems only. In a
 * component without sinks all members after open_source are NULL. */
struct px_piof_ops {
    /* Opens a sink. PMIX_ERR_NOT_SUPPORTED: the target is for another component. Other
     * errors: the reason. On failure *sink is unchanged, and nothing is open. */
    pmix_status_t (*open_sink)(void *self, const struct px_piof_target *target,
                               void **sink);
    /* Opens a source. PMIX_ERR_NOT_SUPPORTED: the kind is for another component.
     * PMIX_ERR_OUT_OF_RESOURCE: too few descriptors or terminals; errno may have the
     * reason. On failure *ends is unchanged, and nothing is open. */
    pmix_status_t (*open_source)(void *self, const struct px_piof_source *wanted,
                                 struct px_piof_ends *ends);

    /* Writes like writev(2), but never waits. Returns the number of written bytes,
     * perhaps fewer than given; or -1 and errno, EAGAIN without room. Raises no signal:
     * a closed reader is EPIPE, a full file EFBIG. */
    ssize_t (*writev)(void *self, void *sink, const struct iovec *v, int n);
    /* Returns a descriptor that becomes writable when there is room; the component
     * keeps it. -1: there always is room. */
    int (*room_fd)(void *self, void *sink);
    void (*close_sink)(void *self, void *sink);
};

#endif
