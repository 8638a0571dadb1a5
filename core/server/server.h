/* SPDX-License-Identifier: BSD-3-Clause */
/* The server role: its one object. Loop thread only. */
#ifndef PX_SERVER_SERVER_H
#define PX_SERVER_SERVER_H

#include "core/base/list.h"
#include "core/config/core_params.h"
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

/* Status of a handler or an operation whose answer comes later. */
#define PX_DEFERRED ((pmix_status_t)1)

struct px_server {
    /* pieces of the process, the same from start to end */
    struct px_loop *loop;
    struct px_client *client; /* of the API calls of this process */
    struct px_model *model;
    struct px_read_gate *gate; /* before readers of the model that are not the loop */
    struct px_notify *notify;
    const char *node_name; /* from the system; model->hostname is the host's */

    pmix_server_module_t module;        /* NULL slots where the host has none */
    const struct px_builtin_host *host; /* no module was given; else NULL */
    void *builtin;                      /* its state */
    const struct px_server_part *const *parts;
    size_t n_parts; /* created */
    struct px_server_parts part;
    pmix_proc_t proc; /* our own name */
    char *tmpdir, *system_tmpdir,
        *dir;      /* dir: our private one, made by us; may be NULL */
    char uri[768]; /* the one foreign clients use */
    char own_uri
        [1280]; /* for our clients: "<uri>;<faster address>", "" if there is none */
    struct px_list peers;
    uint32_t next_pindex;
    struct px_list upcalls; /* asked of the host, not answered yet */
    struct px_peer *self;   /* for our own API calls */
    bool stopping;
    unsigned refs;              /* further PMIx_server_init calls */
    struct px_server_conf conf; /* report_uri NULL: no report is wanted */
};

/* Takes the module of a tool, whose server was started without a module, and the events
 * from now on (server_init.c). Only the 28 slots of every release (adr/0006) count. */
void px_server_take_module(struct px_server *srv, const pmix_server_module_t *module);

/* NULL before init, after finalize, and in a forked child. Any thread. */
static inline struct px_server *px_server_here(void)
{
    return px_process.server && px_process_is_mine() ? px_process.server : NULL;
}

#endif
