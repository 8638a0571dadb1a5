/* SPDX-License-Identifier: BSD-3-Clause */
/* Letting go of the memory that a bare clone has of its parent, for one that lives
 * long: what the parent shares or frees later would stay for as long as we are there.
 * Only what is surely nobody's but the host's own goes: shared mappings, and large ones
 * without a file, but for our stack and what the C library keeps of this thread. Small
 * ones may be a library's data. */
#include "core/reclaim/worker.h"

#include "core/base/attr.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

enum { MAX_RANGES = 512, MIN_B = 1 << 20, LINE_B = 128 };

/* Sanitizers have such, and look at it in each function of the C library. */
static const uint64_t nobody_has_b = UINT64_C(1) << 38;

struct range {
    uintptr_t from, to;
};

struct shed {
    uintptr_t keep[2];
    uintptr_t end_of_file; /* where the last mapping of a file ends */
    struct range ranges[MAX_RANGES];
    size_t n;
    bool is_watched; /* by something that needs what it has */
};

static const char *hex(const char *s, uintptr_t *out)
{
    for (*out = 0;; s++) {
        if (*s >= '0' && *s <= '9')
            *out = *out << 4 | (uintptr_t)(*s - '0');
        else if (*s >= 'a' && *s <= 'f')
            *out = *out << 4 | (uintptr_t)(*s - 'a' + 10);
        else
            return s;
    }
}

static bool is_kept(const struct shed *s, const struct range *r)
{
    for (size_t i = 0; i < PX_COUNT(s->keep); i++) {
        if (s->keep[i] >= r->from && s->keep[i] < r->to)
            return true;
    }
    return false;
}

/* "from-to perm offset dev inode name", the numbers but the inode in hex. */
static void look(struct shed *s, const char *line)
{
    struct range r;
    uintptr_t number;
    const char *at = hex(line, &r.from);

    if (*at != '-' || *(at = hex(at + 1, &r.to)) != ' ' || strlen(at) < 6)
        return;
    const char *perm = at + 1;
    const char *inode = strchr(hex(perm + 5, &number), ':');
    inode = inode ? strchr(inode, ' ') : NULL;
    if (!inode)
        return;
    bool has_file = inode[1] != '0';
    bool has_name = strchr(inode, '[') != NULL; /* [stack], [heap], [vdso] */
    bool is_large = r.to - r.from >= MIN_B && perm[1] == 'w' && !has_file &&
                    !has_name && r.from != s->end_of_file;

    if (has_file)
        s->end_of_file = r.to;
    if (r.to - r.from >= nobody_has_b)
        s->is_watched = true;
    if ((perm[3] == 's' || is_large) && !is_kept(s, &r) && s->n < MAX_RANGES)
        s->ranges[s->n++] = r;
}

/* Whole lines are looked at, as far as they matter; of the rest of one nothing. */
static void read_maps(struct shed *s, int fd)
{
    char bytes[4096], line[LINE_B];
    size_t len = 0;
    ssize_t n;

    while ((n = read(fd, bytes, sizeof(bytes))) > 0 || (n < 0 && errno == EINTR)) {
        for (ssize_t i = 0; i < n; i++) {
            if (bytes[i] != '\n') {
                if (len < sizeof(line) - 1)
                    line[len++] = bytes[i];
                continue;
            }
            line[len] = '\0';
            len = 0;
            look(s, line);
        }
    }
}

void px_reclaim_drop_mappings(void)
{
    struct shed s;
    PX_AUTOCLOSE int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    s.keep[0] = (uintptr_t)&s;
    s.keep[1] = (uintptr_t)&errno;
    s.end_of_file = 0;
    s.n = 0;
    s.is_watched = false;
    read_maps(&s, fd);
    for (size_t i = 0; i < s.n && !s.is_watched; i++)
        munmap((void *)s.ranges[i].from, s.ranges[i].to - s.ranges[i].from);
}
