/* SPDX-License-Identifier: BSD-3-Clause */
/* The node's topology: made on first use, lent to all callers, destroyed with the last
 * role. Making it takes long, so a separate lock guards it, and the calling thread
 * makes it. */
#include "core/topo/topo.h"

#include "core/os/os.h"
#include "core/rt/log.h"
#include "core/rt/process.h"
#include "core/types/handle.h"
#include "core/types/hwloc_api.h"
#include "pmix_deprecated.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Users see the handle as a structure of the headers with which this library was
 * compiled. */
static const char own_source[] = PX_HWLOC_SOURCE ":" HWLOC_VERSION;

/* Returns the topology state of this process, locked. */
static struct px_topo_state *lock(void)
{
    struct px_topo_state *t = &px_process.topology;

    pthread_mutex_lock(&t->lock);
    return t;
}

static void unlock(struct px_topo_state *t)
{
    pthread_mutex_unlock(&t->lock);
}

static void lend(const struct px_topo_state *t, pmix_topology_t *topo)
{
    *topo = (pmix_topology_t){(char *)(uintptr_t)own_source, t->handle};
}

static void keep(struct px_topo_state *t, void *topology)
{
    px_topo_set_shared(topology, true);
    t->handle = topology;
}

bool px_topo_here(pmix_topology_t *topo)
{
    struct px_topo_state *t = lock();
    bool here = t->handle;

    if (here)
        lend(t, topo);
    unlock(t);
    return here;
}

void px_topo_drop(void)
{
    struct px_opaque o = {(char *)(uintptr_t)own_source, NULL};
    struct px_topo_state *t = lock();

    o.handle = px_take(&t->handle);
    if (o.handle)
        px_topo_set_shared(o.handle, false);
    px_handle_free(PX_TOPO, &o);
    unlock(t);
}

/* ---- given at init --------------------------------------------------------------- */

/* Finds a topology in infos. PMIX_TOPOLOGY is older than pmix_topology_t: a bare hwloc
 * handle. */
static bool find_given(const pmix_info_t *info, size_t n, struct px_opaque *o)
{
    const pmix_info_t *now = px_info_find(info, n, PMIX_TOPOLOGY2);
    const pmix_info_t *old = px_info_find(info, n, PMIX_TOPOLOGY);

    if (now && now->value.type == PMIX_TOPO && now->value.data.topo)
        *o = px_load_opaque(now->value.data.topo);
    else if (old && old->value.type == PMIX_POINTER)
        *o = (struct px_opaque){(char *)(uintptr_t)own_source, old->value.data.ptr};
    else
        return false;
    return true;
}

void px_topo_given(const pmix_info_t *info, size_t n)
{
    struct px_opaque o;
    void *copy = NULL;

    if (!find_given(info, n, &o))
        return;
    pmix_status_t rc = px_handle_dup(PX_TOPO, &o, &copy);
    if (rc) {
        px_log(PX_LOG_WARN, "topology", "cannot use the topology given: %s",
               PMIx_Error_string(rc));
        return;
    }
    struct px_topo_state *t = lock();
    if (!t->handle)
        keep(t, px_take(&copy));
    unlock(t);
    if (copy) {
        o.handle = copy;
        px_handle_free(PX_TOPO, &o);
    }
}

/* ---- made here ------------------------------------------------------------------- */

static void *adopt(const struct px_hwloc *h, const struct px_topo_hints *hints)
{
    hwloc_topology_t t;
    struct stat st;

    if (!hints->shmem_file || !hints->shmem_size)
        return NULL;
    PX_AUTOCLOSE int fd = open(hints->shmem_file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    /* hwloc maps the file as memory with pointers, so its owner must be a user who may
     * change our memory anyway. */
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
        (st.st_uid != 0 && st.st_uid != geteuid()) || (st.st_mode & S_IWOTH) ||
        h->shmem_topology_adopt(&t, fd, 0, (void *)(uintptr_t)hints->shmem_addr,
                                hints->shmem_size, 0)) {
        px_log(PX_LOG_DEBUG, "topology", "cannot use the shared topology in %s",
               hints->shmem_file);
        return NULL;
    }
    return t;
}

static pmix_status_t discover(const struct px_hwloc *h, void **topology)
{
    hwloc_topology_t t;

    if (h->topology_init(&t))
        return PMIX_ERR_NOMEM;
    if (h->topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) ||
        h->topology_load(t)) {
        h->topology_destroy(t);
        return PMIX_ERR_NOT_AVAILABLE;
    }
    *topology = t;
    return PMIX_SUCCESS;
}

bool px_topo_possible(void)
{
    struct px_hwloc h;

    return px_hwloc_open(&h);
}

bool px_topo_is_real(void *topology)
{
    struct px_hwloc h;

    return px_hwloc_open(&h) && h.topology_is_thissystem(topology);
}

static pmix_status_t make(struct px_topo_state *state,
                          const struct px_topo_hints *hints)
{
    struct px_hwloc h;
    void *t = NULL;
    pmix_status_t rc = PMIX_SUCCESS;

    if (!px_hwloc_open(&h))
        return PMIX_ERR_NOT_SUPPORTED;
    if (hints)
        t = adopt(&h, hints);
    if (hints && !t && hints->xml && px_handle_parse(PX_TOPO, hints->xml, &t))
        px_log(PX_LOG_DEBUG, "topology", "cannot read the server's topology");
    if (!t)
        rc = discover(&h, &t);
    if (!rc)
        keep(state, t);
    return rc;
}

pmix_status_t px_topo_load(const struct px_topo_hints *hints, pmix_topology_t *topo)
{
    struct px_topo_state *t = lock();
    pmix_status_t rc = t->handle ? PMIX_SUCCESS : make(t, hints);

    if (!rc)
        lend(t, topo);
    unlock(t);
    return rc;
}

/* ---- shared with other processes ------------------------------------------------- */

pmix_status_t px_topo_share(const char *file, struct px_topo_hints *hints)
{
    struct px_hwloc h;
    pmix_topology_t topo;
    pmix_status_t rc = px_topo_load(NULL, &topo);
    size_t size_b = 0;

    if (rc || !px_hwloc_open(&h))
        return rc ? rc : PMIX_ERR_NOT_SUPPORTED;
    if (h.shmem_topology_get_length(topo.topology, &size_b, 0))
        return PMIX_ERR_NOT_AVAILABLE;
    const uint64_t address = px_os_find_hole(size_b);
    PX_AUTOCLOSE int fd = address
                              ? open(file,
                                     O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW,
                                     0600)
                              : -1;
    if (fd < 0)
        return PMIX_ERR_NOT_AVAILABLE;
    if (h.shmem_topology_write(topo.topology, fd, 0, (void *)(uintptr_t)address, size_b,
                               0)) {
        (void)unlink(file);
        return PMIX_ERR_NOT_AVAILABLE;
    }
    *hints = (struct px_topo_hints){
        .shmem_file = file, .shmem_addr = address, .shmem_size = size_b};
    return PMIX_SUCCESS;
}
