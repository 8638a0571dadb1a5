/* SPDX-License-Identifier: BSD-3-Clause */
/* Linux: control groups, version 2 if mounted and delegated, otherwise version 1
 * (freezer, pids). */
#include "core/os/group.h"

#include "core/base/attr.h"
#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/os/os.h"
#include "core/os/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
    LIST_B = 4096, /* size of /proc/<pid>/cgroup */
    PIDS_B = 4096, /* the next round reads further pids */
    NAME_B = 32,
    END_MS = 1000,
    NAP_MS = 5,
};

/* Mount points of control groups, and the middle field of their lines in
 * /proc/self/cgroup. The first usable row counts. */
static const struct {
    const char *mount, *controller;
    uint32_t type; /* of the file system */
} places[] = {
    {"/sys/fs/cgroup", "", 0x63677270},
    {"/sys/fs/cgroup/unified", "", 0x63677270},
    {"/sys/fs/cgroup/freezer", "freezer", 0x27e0eb},
    {"/sys/fs/cgroup/pids", "pids", 0x27e0eb},
};

static bool join(char *out, size_t size, const char *text)
{
    size_t n = strlen(out);

    return px_str_copy(out + n, size - n, text);
}

/* Writes "tenon.<tag>" to out. False if there is not a tag. */
static bool make_name(int64_t server, uint64_t start, char out[NAME_B])
{
    uint64_t tag = px_osproc_rlimit_tag(server, start, UINT64_MAX);
    char digits[NAME_B];

    out[0] = '\0';
    return tag && px_osproc_path((int64_t)tag, "", digits, sizeof(digits)) &&
           join(out, NAME_B, "tenon.") && join(out, NAME_B, strrchr(digits, '/') + 1);
}

/* Opens the folder of this process's own group in a place. Returns -1 if there is
 * none. */
static int open_own(size_t place)
{
    char list[LIST_B], path[PATH_MAX] = "";
    struct statfs fs;
    char *next;

    if (!px_osproc_read("/proc/self/cgroup", list, sizeof(list)))
        return -1;
    for (char *line = list; *line; line = next) {
        char *controller = strchr(line, ':'), *own = NULL;

        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = '\0';
        if (controller && (own = strchr(++controller, ':')))
            *own++ = '\0';
        if (!own || strcmp(controller, places[place].controller) != 0 ||
            strstr(own, "/..") || !join(path, sizeof(path), places[place].mount) ||
            !join(path, sizeof(path), own))
            continue;
        PX_AUTOCLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return fd >= 0 && fstatfs(fd, &fs) == 0 &&
                       (uint32_t)fs.f_type == places[place].type
                   ? px_take_fd(&fd)
                   : -1;
    }
    return -1;
}

int px_group_make(int64_t server, uint64_t start)
{
    char name[NAME_B];
    int errnum = ENOENT;

    for (size_t i = 0; make_name(server, start, name) && i < PX_COUNT(places); i++) {
        PX_AUTOCLOSE int own = open_own(i);

        if (own < 0)
            continue;
        int fd = mkdirat(own, name, 0755) == 0 || errno == EEXIST
                     ? openat(own, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                     : -1;
        if (fd >= 0)
            return fd;
        errnum = errno;
    }
    errno = errnum;
    return -1;
}

/* ---- ending a group ------------------------------------------------------------- */

static bool is_in(int64_t pid, const char *name)
{
    char path[NAME_B], list[LIST_B];

    return px_osproc_path(pid, "/cgroup", path, sizeof(path)) &&
           px_osproc_read(path, list, sizeof(list)) && strstr(list, name);
}

/* Kills the processes listed in pids, one pid per line. Skips a last line without
 * newline, which may be truncated. */
static void kill_listed(char *pids, const char *name, px_group_kill_fn end)
{
    for (char *next; (next = strchr(pids, '\n')); pids = next + 1) {
        int64_t pid;

        *next = '\0';
        if (!px_str_to_i64(pids, 2, INT32_MAX, &pid))
            continue;
        PX_AUTOCLOSE int pidfd = px_os_pidfd_open(pid);
        if (is_in(pid, name))
            end(pid, pidfd);
    }
}

static void kill_members(int group, const char *name, px_group_kill_fn end)
{
    char pids[PIDS_B];
    PX_AUTOCLOSE int fd = openat(group, "cgroup.procs", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : PX_RETRY(read(fd, pids, sizeof(pids) - 1));

    if (n <= 0)
        return;
    pids[n] = '\0';
    kill_listed(pids, name, end);
}

void px_group_end(int64_t server, uint64_t start, px_group_kill_fn end)
{
    const uint64_t deadline_ms = px_clock_ms() + END_MS;
    char name[NAME_B];

    for (size_t i = 0; make_name(server, start, name) && i < PX_COUNT(places); i++) {
        PX_AUTOCLOSE int own = open_own(i);
        PX_AUTOCLOSE int group = own < 0 ? -1
                                         : openat(own, name,
                                                  O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        while (group >= 0 && unlinkat(own, name, AT_REMOVEDIR) < 0 && errno == EBUSY &&
               px_clock_ms() < deadline_ms) {
            kill_members(group, name, end);
            poll(NULL, 0, NAP_MS);
        }
    }
}
