/* SPDX-License-Identifier: BSD-3-Clause */
/* The ends of streams, which piof components make: sinks, that take bytes and never
 * block, and sources, of which a new process gets the other side. Loop thread only. */
#ifndef PX_IOF_ENDS_H
#define PX_IOF_ENDS_H

#include "core/base/err.h"
#include "core/base/list.h"
#include "tenon/piof.h"

struct px_watch;

/* ---- sinks ----------------------------------------------------------------------- */

/* As px_piof_ops.writev. */
typedef ssize_t (*px_iof_write_fn)(void *arg, const struct iovec *v, int n);

/* For core/iof alone; all others have a pointer to it. */
struct px_iof_sink {
    const char *name;               /* for messages */
    const struct px_module *module; /* NULL: it is a function's */
    px_iof_write_fn write;
    void *arg;              /* the function's, or the module's own sink */
    struct px_watch *watch; /* for when there is no room; made when first needed */
    void (*on_room)(struct px_iof_sink *sink); /* stream.c's */
    struct px_list streams;                    /* px_stream.link */
    /* px_stream.turn_link: those that have lines, the next first */
    struct px_list queue;
    bool broken;       /* nothing can be written any more */
    bool waits;        /* for room */
    bool busy, closed; /* is written to; is freed when that is over */
};

/* Makes a sink of the first component that takes the target. name is borrowed.
 * PMIX_ERR_NOT_SUPPORTED: none does. */
pmix_status_t px_iof_sink_open(const struct px_piof_target *target, const char *name,
                               struct px_iof_sink **sink, struct px_err *err);
/* One that is a function, which is told by arg, may say EAGAIN, and then calls
 * px_iof_sink_has_room. It must close no stream. PMIX_ERR_NOMEM. */
pmix_status_t px_iof_sink_create(px_iof_write_fn write, void *arg, const char *name,
                                 struct px_iof_sink **sink);
void px_iof_sink_has_room(struct px_iof_sink *sink);
/* True if nothing can be written any more. */
static inline bool px_iof_sink_is_broken(const struct px_iof_sink *sink)
{
    return sink->broken;
}
/* Its streams must be closed. NULL is fine. */
void px_iof_sink_close(struct px_iof_sink *sink);

/* For stream.c. As px_piof_ops.writev; EAGAIN: it waits for room, and on_room
 * comes. */
ssize_t px_iof_sink_write(struct px_iof_sink *sink, const void *bytes, size_t n);

/* ---- this process's own stdout and stderr ---------------------------------------- */

struct px_iof_std {
    unsigned users;
    struct px_iof_sink *of[2]; /* both the same if they are one file, or else a line of
                                  one could come into the middle of one of the other */
};

/* They are one for the whole process. On failure, which is one of memory, nothing is
 * held; a stream that is closed, or that no component takes, is a broken sink. */
pmix_status_t px_iof_std_get(const struct px_iof_std **std);
/* Once for each get; its streams must be closed. */
void px_iof_std_put(void);

/* ---- sources --------------------------------------------------------------------- */

/* PMIX_ERR_NOT_SUPPORTED: no component makes such a source. */
pmix_status_t px_iof_source_open(const struct px_piof_source *wanted,
                                 struct px_piof_ends *ends, struct px_err *err);

#endif
