/* SPDX-License-Identifier: BSD-3-Clause */
/* Files in memory. The writer maps the file before sealing it, and only extends that
 * mapping. After the seal the kernel denies new writable mappings to all processes. */
#include "segment.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "core/os/os.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008u
#endif

enum { LEAST_STEP = 32 * 1024 }; /* memory requested ahead */

/* Returns the end of the window that holds the offset. */
static uint64_t window_end(uint64_t offset)
{
    unsigned window = px_shm_window(offset);

    return px_shm_window_start(window) + px_shm_window_size(window);
}

/* ---- the writer ------------------------------------------------------------------ */

/* Extends the file to size, the end of a window, and maps all of it. */
static bool extend(struct px_shm_segment *s, uint64_t size)
{
    struct rlimit most;

    if (size > s->limit || size > SIZE_MAX || getrlimit(RLIMIT_FSIZE, &most) ||
        size > most.rlim_cur || /* would raise a signal; ~0 means no limit */
        PX_RETRY(ftruncate(s->fd, (off_t)size)))
        return false;
    void *base = s->base
                     ? mremap(s->base, (size_t)s->size, (size_t)size, MREMAP_MAYMOVE)
                     : mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED,
                            s->fd, 0);
    if (base == MAP_FAILED)
        return false;
    s->base = base;
    s->size = size;
    for (unsigned i = 0; px_shm_window_start(i) < size; i++)
        atomic_store_explicit(&s->windows[i], s->base + px_shm_window_start(i),
                              memory_order_release);
    return true;
}

/* Allocates memory up to "to", and some more if possible. Touching memory that cannot
 * be allocated would raise a signal. */
static bool back(struct px_shm_segment *s, uint64_t from, uint64_t to)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t ahead = to + s->filled / 4 + LEAST_STEP;

    if (from < s->backed)
        from = s->backed;
    from -= from % page;
    if (ahead > s->size)
        ahead = s->size;
    if (PX_RETRY(fallocate(s->fd, 0, (off_t)from, (off_t)(ahead - from)))) {
        ahead = to;
        if (PX_RETRY(fallocate(s->fd, 0, (off_t)from, (off_t)(ahead - from))))
            return false;
    }
    px_os_populate(s->base + from, (size_t)(ahead - from)); /* faults fill the rest */
    s->backed = ahead;
    return true;
}

uint64_t px_shm_alloc(struct px_shm_segment *s, uint64_t n)
{
    uint64_t from = s->taken;

    if (n > s->limit)
        return 0;
    n += -n % sizeof(uint64_t);
    while (n > window_end(from) - from)
        from = window_end(from);
    if ((from + n > s->size && !extend(s, window_end(from))) ||
        (from + n > s->backed && !back(s, from, from + n)))
        return 0;
    s->taken = from + n;
    s->filled += n;
    return from;
}

pmix_status_t px_shm_segment_create(struct px_shm_segment *s, uint64_t limit)
{
    *s = (struct px_shm_segment){.fd = -1, .shown = -1, .limit = limit};
    s->fd = memfd_create("tenon", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (s->fd < 0 && errno == EINVAL) /* Linux before 6.3 */
        s->fd = memfd_create("tenon", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (s->fd < 0)
        return errno == ENOMEM ? PMIX_ERR_NOMEM : PMIX_ERR_NOT_SUPPORTED;
    if (!extend(s, PX_SHM_FIRST) || !back(s, 0, sizeof(struct px_shm_header))) {
        px_shm_segment_close(s);
        return PMIX_ERR_NOMEM;
    }
    if (fcntl(s->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)) {
        px_shm_segment_close(s);
        return PMIX_ERR_NOT_SUPPORTED;
    }
    s->taken = s->filled = sizeof(struct px_shm_header);
    px_shm_head(s)->magic = PX_SHM_MAGIC;
    return PMIX_SUCCESS;
}

/* Returns a read-only descriptor for readers. Mode 0 keeps other users from reopening
 * the file; its owner would have to change the mode. A read-only description allows no
 * call that takes memory. */
int px_shm_segment_show(struct px_shm_segment *s)
{
    struct stat mine, same;

    if (s->shown >= 0)
        return s->shown;
    PX_AUTOCLOSE int fd = px_os_reopen(s->fd, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(s->fd, &mine) || fstat(fd, &same) ||
        mine.st_dev != same.st_dev || mine.st_ino != same.st_ino || fchmod(s->fd, 0))
        return -1;
    return s->shown = px_take_fd(&fd);
}

/* ---- the reader ------------------------------------------------------------------ */

uint8_t *px_shm_map_window(struct px_shm_segment *s, unsigned window)
{
    const uint64_t start = px_shm_window_start(window);
    const uint64_t size = px_shm_window_size(window);
    uint8_t *none = NULL;
    struct stat st;

    if (s->base || size > SIZE_MAX || fstat(s->fd, &st) || st.st_size < 0 ||
        (uint64_t)st.st_size < start + size)
        return NULL;
    uint8_t *at = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, s->fd, (off_t)start);
    if (at == MAP_FAILED)
        return NULL;
    if (!atomic_compare_exchange_strong(&s->windows[window], &none, at)) {
        munmap(at, (size_t)size); /* another thread was faster */
        at = none;
    }
    return at;
}

/* Accepts only tmpfs files that cannot shrink. Pages of other files may vanish, or
 * block a reader. */
pmix_status_t px_shm_segment_attach(struct px_shm_segment *s, int fd)
{
    struct statfs fs;
    int seals = fcntl(fd, F_GET_SEALS);

    *s = (struct px_shm_segment){.fd = -1, .shown = -1};
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstatfs(fd, &fs) ||
        fs.f_type != TMPFS_MAGIC)
        return PMIX_ERR_NOT_SUPPORTED;
    s->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    const struct px_shm_header *h = s->fd < 0 ? NULL : px_shm_head(s);
    pmix_status_t rc = !h                         ? PMIX_ERR_NOMEM
                       : h->magic != PX_SHM_MAGIC ? PMIX_ERR_NOT_SUPPORTED
                                                  : PMIX_SUCCESS;
    if (rc)
        px_shm_segment_close(s);
    return rc;
}

/* ---- both ------------------------------------------------------------------------ */

void px_shm_segment_close(struct px_shm_segment *s)
{
    if (s->base)
        munmap(s->base, (size_t)s->size);
    for (unsigned i = 0; !s->base && i < PX_SHM_WINDOWS; i++) {
        uint8_t *at = atomic_load_explicit(&s->windows[i], memory_order_relaxed);
        if (at)
            munmap(at, (size_t)px_shm_window_size(i));
    }
    free(s->spare);
    px_drop_fd(&s->shown);
    px_drop_fd(&s->fd);
}
