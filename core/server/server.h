/* SPDX-License-Identifier: BSD-3-Clause */
/* The one object of the server role. Loop thread only. */
#ifndef PX_SERVER_SERVER_H
#define PX_SERVER_SERVER_H

#include "core/base/list.h"
#include "core/config/core_params.h"
#include "core/rt/loop.h"
#include "core/rt/process.h"
#include "core/server/part.h"
#include "core/types/type.h"
#include "pmix_server.h"

struct px_builtin_host;
struct px_read_gate;
struct px_client;
struct px_loop;
struct px_model;
struct px_notify;
struct px_peer;

/* Status of a handler or an operation whose result comes later. */
#define PX_DEFERRED ((pmix_status_t)1)

struct px_server {
    /* objects of the process, constant from start to end */
    struct px_loop *loop;
    struct px_client *client; /* client role of this process's API calls */
    struct px_model *model;
    struct px_read_gate *gate; /* closed against readers of the model */
    struct px_notify *notify;
    const char *node_name; /* the system's; model->hostname is the one the host gives */

    /* Members that messages of clients change. They are side by side, because after
     * each fork of the host the first write to a page copies the page. */
    struct px_server_parts part;
    struct px_list peers;
    struct px_list upcalls; /* calls of the host without an answer yet */
    uint32_t next_pindex;
    uint32_t n_lost; /* processes that were lost so far */
    unsigned refs;   /* number of further PMIx_server_init calls */
    bool stopping;

    struct px_peer *self;               /* peer of this process's API calls */
    pmix_server_module_t module;        /* slots the host does not have are NULL */
    const struct px_builtin_host *host; /* built-in host; NULL if a module was given */
    void *builtin;                      /* state of the built-in host */
    const struct px_server_part *const *parts;
    struct px_part_rows *rows;  /* of the parts' tables; see px_part_rpc */
    size_t n_parts;             /* number of parts created */
    struct px_server_conf conf; /* report_uri NULL: no report */
    pmix_proc_t proc;           /* name of this server */
    char *tmpdir, *system_tmpdir;
    char *dir;     /* private folder, made by this server; may be NULL */
    char uri[768]; /* address for other libraries' clients */
    /* Address for this library's clients: "<uri>;<faster address>", or "". */
    char own_uri[1280];
};

/* Sets the module of a tool whose server was started without one, and takes over the
 * events (server_init.c). Only the 28 slots of every release (adr/0006) are read. */
void px_server_take_module(struct px_server *srv, const pmix_server_module_t *module);
/* Posts a message in memory of the server, unless it is posted already. A server that
 * stops posts none, because the message would run after its memory is freed. */
static inline void px_server_post(struct px_server *srv, struct px_msg *msg,
                                  bool *is_posted)
{
    if (*is_posted || srv->stopping)
        return;
    *is_posted = true;
    px_post(srv->loop, msg);
}

/* Lists the names of the process sets that contain the process, malloc'd; NULL without
 * such a set. proc NULL: all sets. Adds compared processes to *work (node/psets.c). */
pmix_status_t px_psets_of(const struct px_server *srv, const pmix_proc_t *proc,
                          char ***names, size_t *work);
/* Lists the names of the groups of which the process is a member, as above. Leaves out
 * groups that the peer may not see (collective/groups.c). */
pmix_status_t px_groups_of(const struct px_peer *peer, const pmix_proc_t *proc,
                           char ***names, size_t *work);

/* Returns the server; NULL before init, after finalize, and in a forked child. Any
 * thread. */
static inline struct px_server *px_server_here(void)
{
    return px_process.server && px_process_is_mine() ? px_process.server : NULL;
}

#endif
