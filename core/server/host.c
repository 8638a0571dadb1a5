/* SPDX-License-Identifier: BSD-3-Clause */
/* Services of the server for the built-in host alone. Those that other hosts have, too,
 * stand with the public functions; host.h names the files. */
#include "core/server/host.h"

#include "core/model/nspace.h"
#include "core/server/cleanup/cleanup.h"

void *px_server_builtin_self(void)
{
    return px_process.server->builtin;
}

const pmix_proc_t *px_server_name(const struct px_server *srv)
{
    return &srv->proc;
}

const char *px_server_dir(const struct px_server *srv)
{
    return srv->dir;
}

void px_server_drop_dir(struct px_server *srv, const char *path, const struct stat *st)
{
    px_cleanup_drop(srv, path, st);
}

bool px_server_has_peer(struct px_server *srv, const pmix_proc_t *proc)
{
    return px_peer_find(srv, proc) != NULL;
}

void px_server_client_started(struct px_server *srv, const pmix_proc_t *proc, pid_t pid)
{
    px_cleanup_proc_started(srv, proc, pid);
}

bool px_server_any_lost(const char *nspace, bool (*counts)(void *arg, pmix_rank_t rank),
                        void *arg)
{
    const struct px_nspace *ns = px_nspace_find(px_process.model, nspace);

    if (!ns)
        return false;
    PX_LIST_EACH (&ns->locals, struct px_local, l, link)
        if (l->lost && counts(arg, l->rank))
            return true;
    return false;
}
