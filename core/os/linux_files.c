/* SPDX-License-Identifier: BSD-3-Clause */
/* Linux: files, mounts and descriptors. */
#include "core/os/os.h"

#include "core/base/attr.h"
#include "core/os/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

/* Newer than the headers of some supported systems. */
#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x2000
#endif

enum {
    NO_REPLACE = 1
}; /* flag of renameat2; musl 1.2 has neither the call nor the
                          * flag */

/* ---- identity -------------------------------------------------------------------- */

static struct timespec time_of(const struct statx_timestamp *t)
{
    return (struct timespec){.tv_sec = (time_t)t->tv_sec, .tv_nsec = (long)t->tv_nsec};
}

int px_os_stat(int at, const char *name, bool plain, bool no_wait, struct stat *st,
               int *is_mount)
{
    const unsigned int mask = STATX_TYPE | STATX_MODE | STATX_UID | STATX_GID |
                              STATX_INO | STATX_CTIME | STATX_NLINK;
    const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
    struct statx x;

    *is_mount = -1;
    if (plain)
        return (*name ? fstatat(at, name, st, flags) : fstat(at, st)) < 0 ? errno : 0;
    if (syscall(SYS_statx, at, name,
                flags | (*name ? 0 : AT_EMPTY_PATH) |
                    (no_wait ? AT_STATX_DONT_SYNC : 0),
                mask, &x) < 0)
        return errno;
    *st = (struct stat){.st_dev = makedev(x.stx_dev_major, x.stx_dev_minor),
                        .st_ino = x.stx_ino,
                        .st_uid = x.stx_uid,
                        .st_gid = x.stx_gid,
                        .st_mode = x.stx_mode,
                        .st_nlink = x.stx_nlink,
                        .st_ctim = time_of(&x.stx_ctime)};
    if (x.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT)
        *is_mount = (x.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
    return 0;
}

int64_t px_os_mount_of(int fd)
{
    char path[40] = "/proc/self/fdinfo/", text[256], *digit = path + sizeof(path) - 1;
    const char *found;

    do
        *--digit = (char)('0' + fd % 10);
    while (fd /= 10);
    memmove(path + strlen(path), digit, strlen(digit) + 1);
    errno = ENODATA;
    if (!px_osproc_read(path, text, sizeof(text)) || !(found = strstr(text, "mnt_id:")))
        return -errno;
    return strtoll(found + strlen("mnt_id:"), NULL, 10);
}

/* ---- file systems ---------------------------------------------------------------- */

/* True if the type of the file system of fd is in the list, which ends with 0. *known:
 * the type could be read. */
static bool is_one_of(int fd, const uint32_t *types, bool *known)
{
    struct statfs fs;

    *known = fstatfs(fd, &fs) == 0;
    for (; *known && *types; types++)
        if ((uint32_t)fs.f_type == *types)
            return true;
    return false;
}

/* Lists only pseudo file systems in which a removal could succeed. */
bool px_os_fs_is_pseudo(int fd)
{
    static const uint32_t pseudo[] = {
        0x9fa0,     /* proc */
        0x62656572, /* sysfs */
        0x27e0eb,   /* cgroup */
        0x63677270, /* cgroup2 */
        0x74726163, /* tracefs */
        0x73636673, /* securityfs */
        0x62656570, /* configfs */
        0xcafe4a11, /* bpf */
        0xde5e81e4, /* efivarfs */
        0x6165676c, /* pstore */
        0x07655821, /* resctrl */
        0x6c6f6f70, /* binderfs */
        0,
    };
    bool known;

    return is_one_of(fd, pseudo, &known) || !known; /* an unknown one is not for us */
}

static bool is_in(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    return strncmp(path, folder, n) == 0 && (path[n] == '/' || !path[n]);
}

const char *px_os_path_is_pseudo(const char *path)
{
    return is_in(path, "/proc")  ? "it is in /proc"
           : is_in(path, "/sys") ? "it is in /sys"
                                 : NULL;
}

/* Other types of file systems may be shared with other nodes. */
bool px_os_fs_is_local(int fd)
{
    /* ext, xfs, btrfs, tmpfs, ramfs, overlayfs, f2fs, zfs, bcachefs */
    static const uint32_t local[] = {0xEF53,     0x58465342, 0x9123683E, 0x01021994,
                                     0x858458F6, 0x794C7630, 0xF2F52010, 0x2FC12FC1,
                                     0xCA451A4E, 0};
    bool known;

    return is_one_of(fd, local, &known);
}

/* Reads the system's mount list, because statfs on a descriptor could block. In a
 * chroot, the root's mount may be missing from the list. */
bool px_os_fs_may_wait(int fd)
{
    static const char *const local[] = {"ext2",  "ext3",  "ext4",     "xfs",
                                        "btrfs", "tmpfs", "ramfs",    "overlay",
                                        "f2fs",  "zfs",   "bcachefs", "rootfs"};
    const int64_t mount = px_os_mount_of(fd);
    PX_AUTOFREE char *line = NULL;
    size_t size = 0;
    FILE *f = mount < 0 ? NULL : fopen("/proc/self/mountinfo", "re");
    bool wait = !f;

    while (f && getline(&line, &size, f) > 0) {
        const char *type = strstr(line, " - ");

        if (!type || strtoll(line, NULL, 10) != mount)
            continue;
        wait = true;
        for (size_t i = 0; i < PX_COUNT(local) && wait; i++)
            wait = strncmp(type + 3, local[i], strlen(local[i])) != 0 ||
                   type[3 + strlen(local[i])] != ' ';
        break;
    }
    if (f)
        fclose(f);
    return mount >= 0 && wait;
}

/* ---- descriptors ----------------------------------------------------------------- */

/* A record of getdents64. libc's readdir would allocate. */
struct dirent_head {
    uint64_t ino;
    int64_t off;
    uint16_t reclen;
    uint8_t type;
    char name[];
};

int px_os_each_name(int folder, bool (*each)(void *arg, const char *name), void *arg)
{
    char entries[4096];

    for (;;) {
        long n = syscall(SYS_getdents64, folder, entries, sizeof(entries));
        uint16_t reclen;

        if (n <= 0)
            return n < 0 ? errno : 0;
        for (const char *at = entries; at < entries + n; at += reclen) {
            const char *name = at + offsetof(struct dirent_head, name);

            memcpy(&reclen, at + offsetof(struct dirent_head, reclen), sizeof(reclen));
            if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !each(arg, name))
                return 0;
        }
    }
}

struct closing {
    int from, last, listing;
};

static bool close_named(void *arg, const char *name)
{
    const struct closing *c = arg;
    int fd = 0;

    for (; *name; name++)
        fd = fd * 10 + (*name - '0');
    if (fd >= c->from && fd <= c->last && fd != c->listing)
        close(fd);
    return true;
}

/* Uses close_range, which kernels before 5.9 lack and some sandboxes refuse, or closes
 * the descriptors that /proc lists. Closing during the listing skips no entry, because
 * procfs continues at a descriptor number. */
bool px_os_close_range(int from, int last)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)from, (unsigned)last, 0) == 0)
        return true;
#endif
    int dir = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return false;

    struct closing closing = {.from = from, .last = last, .listing = dir};
    int errnum = px_os_each_name(dir, close_named, &closing);
    close(dir);
    return errnum == 0;
}

int px_os_reopen(int fd, int flags)
{
    char path[32];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return PX_RETRY(open(path, flags));
}

int px_os_rename_to_free(int folder, const char *from, const char *to)
{
    return (int)syscall(SYS_renameat2, folder, from, folder, to, NO_REPLACE);
}

bool px_os_lock_byte(int fd, off_t byte)
{
    struct flock l = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};

    return fcntl(fd, F_OFD_SETLK, &l) == 0;
}

bool px_os_is_locked(int fd, off_t from, off_t n)
{
    struct flock l = {
        .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = from, .l_len = n};

    return fcntl(fd, F_OFD_GETLK, &l) == 0 && l.l_type == F_WRLCK;
}
