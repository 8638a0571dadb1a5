/* SPDX-License-Identifier: BSD-3-Clause */
/* Files read, and signals sent, with the rights of a user. A child process for each
 * user becomes that user for good. So the server never reads a file that the user
 * cannot read, and a slow disk never delays the loop. Loop thread only. */
#ifndef PX_SERVER_MONITOR_PROBE_H
#define PX_SERVER_MONITOR_PROBE_H

#include "core/base/list.h"
#include "pmix_common.h"

#include <stdint.h>
#include <sys/types.h>

struct px_server;

enum px_probe_op {
    PX_PROBE_STATE,   /* size and times of a file */
    PX_PROBE_CONTENT, /* content of files of /proc */
    PX_PROBE_SIGNAL,  /* no file: "PID START SIGNUM", see core/os/proc.h */
};

struct px_probe_state {
    int64_t size, accessed_ns, modified_ns;
};

/* Answer for one file. */
struct px_probe_file {
    int errnum; /* 0, or the reason why the members below are empty */
    struct px_probe_state state;
    const char *text; /* content with a NUL added; NULL if unreadable */
};

/* Files of one probe. */
enum { PX_PROBE_FILES = 4 };

/* Calls back once, with an answer for each path, in order. */
typedef void (*px_probe_fn)(void *arg, const struct px_probe_file *files);

/* A probe that is under way, or zeroed. */
struct px_probe {
    struct px_list link;
    uint64_t id;
    size_t n;
    px_probe_fn fn;
    void *arg;
};

/* Part state. */
struct px_probes {
    struct px_list readers;
    struct px_timer *timer; /* ends idle readers */
    size_t n_readers;
    uint64_t last_id;
};

/* Asks the reader of a user for n files. fn runs later, never inside this function.
 * PMIX_ERR_WOULD_BLOCK: the reader is busy, so the caller asks again later;
 * PMIX_ERR_OUT_OF_RESOURCE: too many users, or the kernel has no room;
 * PMIX_ERR_BAD_PARAM: a path is too long; PMIX_ERR_NOMEM. */
pmix_status_t px_probe_ask(struct px_server *srv, struct px_probe *p, uid_t uid,
                           gid_t gid, enum px_probe_op op, const char *const *paths,
                           size_t n);
static inline int px_probe_runs(const struct px_probe *p)
{
    return p->link.next != NULL;
}
/* Forgets a probe that is under way or not. */
static inline void px_probe_cancel(struct px_probe *p)
{
    px_list_remove(&p->link);
}

#endif
