/* SPDX-License-Identifier: BSD-3-Clause */
/* piof/file: regular files as sinks, by descriptor or name. Refuses a name whose last
 * part is a link, and a file that is not regular, before truncating the file. */
#include "tenon/piof.h"

#include "core/base/err.h"
#include "core/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { PRIORITY = 60 }; /* above stdio, which takes files too */

struct sink {
    int fd, own; /* descriptor to close; -1: none */
};

static pmix_status_t file_query(void *self PX_UNUSED, struct px_query *answer)
{
    answer->priority = PRIORITY;
    return PMIX_SUCCESS;
}

/* Opens a file by name. O_NONBLOCK keeps a pipe of that name from blocking us. */
static pmix_status_t open_path(const struct px_piof_target *target, int *fd)
{
    struct stat st;
    PX_AUTOCLOSE int made = open(target->path,
                                 O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW |
                                     O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
                                 target->mode);

    if (made < 0) /* ENXIO: a pipe without a reader, or a missing device */
        return errno == ENXIO ? PMIX_ERR_BAD_PARAM : px_status_of_errno(errno);
    if (fstat(made, &st) < 0)
        return px_status_of_errno(errno);
    if (!S_ISREG(st.st_mode))
        return PMIX_ERR_BAD_PARAM;
    if (!target->keep && st.st_size > 0 && ftruncate(made, 0) < 0)
        return px_status_of_errno(errno);
    *fd = px_take_fd(&made);
    return PMIX_SUCCESS;
}

static pmix_status_t file_open_sink(void *self PX_UNUSED,
                                    const struct px_piof_target *target, void **out)
{
    pmix_status_t rc = PMIX_SUCCESS;
    struct sink *sink;
    struct stat st;
    int flags = -1;

    if (target->fd >= 0) {
        flags = fcntl(target->fd, F_GETFL);
        if (flags < 0 || fstat(target->fd, &st) < 0)
            return px_status_of_errno(errno);
        if (!S_ISREG(st.st_mode))
            return PMIX_ERR_NOT_SUPPORTED;
        if ((flags & O_ACCMODE) == O_RDONLY)
            return PMIX_ERR_BAD_PARAM;
    } else if (!target->path) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    sink = malloc(sizeof(*sink));
    if (!sink)
        return PMIX_ERR_NOMEM;
    *sink = (struct sink){.fd = target->fd, .own = -1};
    if (target->fd < 0)
        rc = open_path(target, &sink->own);
    if (rc) {
        free(sink);
        return rc;
    }
    if (sink->own >= 0)
        sink->fd = sink->own;
    *out = sink;
    return PMIX_SUCCESS;
}

static ssize_t file_writev(void *self PX_UNUSED, void *of, const struct iovec *v, int n)
{
    return px_fd_writev(((struct sink *)of)->fd, v, n);
}

static int file_room_fd(void *self PX_UNUSED, void *of PX_UNUSED)
{
    return -1;
}

static void file_close_sink(void *self PX_UNUSED, void *of)
{
    struct sink *sink = of;

    px_drop_fd(&sink->own);
    free(sink);
}

static pmix_status_t file_open_source(void *self PX_UNUSED,
                                      const struct px_piof_source *wanted PX_UNUSED,
                                      struct px_piof_ends *ends PX_UNUSED)
{
    return PMIX_ERR_NOT_SUPPORTED;
}

static const struct px_piof_ops ops = {
    .open_sink = file_open_sink,
    .open_source = file_open_source,
    .writev = file_writev,
    .room_fd = file_room_fd,
    .close_sink = file_close_sink,
};

PX_COMPONENT(piof, file) = {
    PX_COMPONENT_HEAD(piof, PIOF, file),
    .version = "1.0",
    .query = file_query,
    .ops = &ops,
};
