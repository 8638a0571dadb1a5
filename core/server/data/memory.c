/* SPDX-License-Identifier: BSD-3-Clause */
/* Committed values stay until their namespace is gone: no user's may fill the memory.
 * Those that replace others are counted as if they came in addition, until a limit is
 * reached and all is counted anew. */
#include "core/server/data/memory.h"

#include <string.h>

struct kept {
    uid_t uid;
    size_t size_b;
};

struct px_memory {
    struct px_map kept; /* namespace -> struct kept */
    size_t total_b;
    size_t counted_b; /* total_b, when it was last counted */
};

/* One in a server's tables takes about so much besides. */
#define ENTRY_B 64u

size_t px_memory_of(const char *key, const pmix_value_t *value)
{
    return px_type_size(PMIX_VALUE, value) + strlen(key) + ENTRY_B;
}

static pmix_status_t add_size(void *arg, pmix_rank_t rank PX_UNUSED, const char *key,
                              const pmix_value_t *value)
{
    *(size_t *)arg += px_memory_of(key, value);
    return PMIX_SUCCESS;
}

static void count_anew(struct px_memory *m)
{
    const void *name;
    struct kept *k;
    size_t pos = 0;

    m->total_b = 0;
    while ((k = px_map_next(&m->kept, &pos, &name, NULL))) {
        const struct px_nspace *ns = px_nspace_find(px_process.model, name);

        k->size_b = 0;
        if (!ns)
            continue;
        (void)px_store_walk(&ns->store, PX_GDS_LOCAL, PMIX_RANK_UNDEF, add_size,
                            &k->size_b);
        PX_LIST_EACH (&ns->locals, struct px_local, l, link)
            (void)px_store_walk(&ns->store, PX_GDS_REMOTE, l->rank, add_size,
                                &k->size_b);
        m->total_b += k->size_b;
    }
    m->counted_b = m->total_b;
}

static bool has_room(const struct px_server *srv, uid_t uid, size_t size_b)
{
    const struct px_memory *m = srv->part.memory;
    uint64_t users_b = size_b;
    struct kept *k;
    size_t pos = 0;

    if (m->total_b + size_b > srv->conf.committed_total)
        return false;
    if (m->total_b + size_b <= srv->conf.committed_per_user)
        return true;
    while ((k = px_map_next(&m->kept, &pos, NULL, NULL)))
        users_b += k->uid == uid ? k->size_b : 0;
    return users_b <= srv->conf.committed_per_user;
}

pmix_status_t px_memory_keep(struct px_server *srv, const struct px_nspace *ns,
                             uid_t uid, size_t size_b)
{
    const struct px_server_conf *conf = &srv->conf;
    uint64_t least_b = conf->committed_total < conf->committed_per_user
                           ? conf->committed_total
                           : conf->committed_per_user;
    struct px_memory *m = srv->part.memory;
    struct kept *k = px_map_sget(&m->kept, ns->name);

    if (!k) {
        k = calloc(1, sizeof(*k));
        if (!k || px_map_sput(&m->kept, ns->name, k, NULL)) {
            free(k);
            return PMIX_ERR_NOMEM;
        }
        k->uid = uid;
    }
    /* Not again before it may have become much less. */
    if (!has_room(srv, uid, size_b) && m->total_b - m->counted_b >= least_b / 16)
        count_anew(m);
    if (!has_room(srv, uid, size_b))
        return PMIX_ERR_OUT_OF_RESOURCE;
    k->size_b += size_b;
    m->total_b += size_b;
    return PMIX_SUCCESS;
}

static void nspace_gone(struct px_server *srv, const char *nspace,
                        struct px_nspace *ns PX_UNUSED)
{
    struct kept *k = px_map_sremove(&srv->part.memory->kept, nspace);

    if (k)
        srv->part.memory->total_b -= k->size_b;
    srv->part.memory->counted_b = 0;
    free(k);
}

static void destroy(struct px_server *srv)
{
    struct px_map *kept = &srv->part.memory->kept;
    struct kept *k;
    size_t pos = 0;

    while ((k = px_map_next(kept, &pos, NULL, NULL)))
        free(k);
    px_map_fini(kept);
}

const struct px_server_part px_memory_part = {
    .name = "memory",
    PX_PART_STATE(memory, struct px_memory),
    .destroy = destroy,
    .nspace_gone = nspace_gone,
};
