/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends of streams, made by piof components. Sinks take bytes and never block. Sources
 * give their other side to a new process. Loop thread only. */
#ifndef PX_IOF_ENDS_H
#define PX_IOF_ENDS_H

#include "core/base/err.h"
#include "core/base/list.h"
#include "tenon/piof.h"

struct px_watch;

/* ---- sinks ----------------------------------------------------------------------- */

/* Writes bytes, like px_piof_ops.writev. */
typedef ssize_t (*px_iof_write_fn)(void *arg, const struct iovec *v, int n);

/* A sink. Private to core/iof; other code only has pointers. */
struct px_iof_sink {
    const char *name;               /* for log lines */
    const struct px_module *module; /* NULL: the sink is a function */
    px_iof_write_fn write;
    void *arg;              /* the function's argument, or the module's own sink */
    struct px_watch *watch; /* reports room; made when first needed */
    struct px_list streams; /* px_stream.link */
    /* px_stream.turn_link: streams with lines, the next one first */
    struct px_list queue;
    bool broken;       /* writing is not possible any more */
    bool waits;        /* waits for room */
    bool busy, closed; /* a write is running; closed while busy: freed afterwards */
};

/* Makes a sink with the first component that takes the target. name is borrowed.
 * Returns PMIX_ERR_NOT_SUPPORTED if no component takes the target. */
pmix_status_t px_iof_sink_open(const struct px_piof_target *target, const char *name,
                               struct px_iof_sink **sink, struct px_err *err);
/* Makes a sink that calls write(arg). write may fail with EAGAIN, and later calls
 * px_iof_sink_has_room. write must not close a stream. Returns PMIX_ERR_NOMEM. */
pmix_status_t px_iof_sink_create(px_iof_write_fn write, void *arg, const char *name,
                                 struct px_iof_sink **sink);
void px_iof_sink_has_room(struct px_iof_sink *sink);
/* True if the sink cannot be written any more. */
static inline bool px_iof_sink_is_broken(const struct px_iof_sink *sink)
{
    return sink->broken;
}
/* Closes a sink, whose streams are closed. NULL is allowed. */
void px_iof_sink_close(struct px_iof_sink *sink);

/* Writes bytes for stream.c, like px_piof_ops.writev. EAGAIN: the sink waits for room,
 * then serves its streams. */
ssize_t px_iof_sink_write(struct px_iof_sink *sink, const void *bytes, size_t n);

/* ---- this process's own stdout and stderr ---------------------------------------- */

struct px_iof_std {
    unsigned users;
    struct px_iof_sink *of[2]; /* both the same if they are one file: a line must not be
                                * split by a line of the other stream */
};

/* Returns the process's own sinks, which all callers share. A closed stream, or one
 * that no component takes, is a broken sink. The only failure is PMIX_ERR_NOMEM. */
pmix_status_t px_iof_std_get(const struct px_iof_std **std);
/* Releases the sinks, once for each px_iof_std_get. Their streams are closed. */
void px_iof_std_put(void);

/* ---- sources --------------------------------------------------------------------- */

/* Makes a source. Returns PMIX_ERR_NOT_SUPPORTED if no component makes such a
 * source. */
pmix_status_t px_iof_source_open(const struct px_piof_source *wanted,
                                 struct px_piof_ends *ends, struct px_err *err);

#endif
