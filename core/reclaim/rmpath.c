/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and identifying what is going to be removed. */
#include "core/reclaim/rmpath.h"

#include "core/reclaim/rmtree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Newer than the headers of some systems we are built on. */
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x2000
#endif

enum {
    NO_XDEV = 1,
    NO_MAGICLINKS = 2,
    NO_SYMLINKS = 4,
    BENEATH = 8,
    MAX_NAME = 255,
    MAX_TRIES = 16 /* of a call that somebody's renaming disturbs */
};

/* ---- names ------------------------------------------------------------------------------------ */

static bool is_in(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    return strncmp(path, folder, n) == 0 && (path[n] == '/' || !path[n]);
}

const char *px_rm_path_check(const char *path, char *out)
{
    size_t len = 0;

    *out = '\0';
    if (!path || !*path)
        return "it is empty";
    if (*path != '/')
        return "it is not absolute";
    for (const char *name = path; *name;) {
        size_t n = strcspn(name, "/");

        if (n == 2 && name[0] == '.' && name[1] == '.')
            return "it has a \"..\"";
        if (n > MAX_NAME)
            return "a name in it is longer than 255 bytes";
        if (n && !(n == 1 && *name == '.')) {
            if (len + 1 + n > PX_RM_MAX_PATH)
                return "it is longer than 4095 bytes";
            out[len++] = '/';
            memcpy(out + len, name, n);
            len += n;
        }
        name += n;
        name += *name == '/';
    }
    out[len] = '\0';
    if (!len)
        return "it is the root folder";
    if (is_in(out, "/proc"))
        return "it is in /proc";
    return is_in(out, "/sys") ? "it is in /sys" : NULL;
}

/* ---- identity --------------------------------------------------------------------------------- */

static int look_extended(struct px_rm_sys *sys, int at, const char *name,
                         struct px_rm_node *out)
{
    const unsigned int mask = STATX_TYPE | STATX_MODE | STATX_UID | STATX_GID |
                              STATX_INO | STATX_CTIME;
    int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (*name ? 0 : AT_EMPTY_PATH);
    struct statx st;

    if (syscall(SYS_statx, at, name, flags, mask, &st) < 0)
        return errno;
    if (!(st.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT))
        sys->no_mount_mark = true;
    *out = (struct px_rm_node){
        .dev = makedev(st.stx_dev_major, st.stx_dev_minor),
        .ino = st.stx_ino,
        .uid = st.stx_uid,
        .gid = st.stx_gid,
        .mode = st.stx_mode,
        .mount = st.stx_attributes & st.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT,
        .changed_ns = st.stx_ctime.tv_sec * PX_RM_NS_PER_S + st.stx_ctime.tv_nsec,
    };
    return 0;
}

int px_rm_look(struct px_rm_sys *sys, int at, const char *name, struct px_rm_node *out)
{
    struct stat st;

    if (!sys->no_statx) {
        int rc = look_extended(sys, at, name, out);

        if (rc != ENOSYS && rc != EPERM)
            return rc;
        sys->no_statx = sys->no_mount_mark = true;
    }
    if ((*name ? fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT)
               : fstat(at, &st)) < 0)
        return errno;
    *out = (struct px_rm_node){.dev = st.st_dev,
                               .ino = st.st_ino,
                               .uid = st.st_uid,
                               .gid = st.st_gid,
                               .mode = st.st_mode,
                               .changed_ns = st.st_ctim.tv_sec * PX_RM_NS_PER_S +
                                             st.st_ctim.tv_nsec};
    return 0;
}

/* The kernel's number of the mount that fd is in, or minus an errno. */
static int64_t mount_of(int fd)
{
    char path[40] = "/proc/self/fdinfo/", text[256], *digit = path + sizeof(path) - 1;
    int left = fd;

    do
        *--digit = (char)('0' + left % 10);
    while (left /= 10);
    memmove(path + strlen(path), digit, strlen(digit) + 1);
    int info = open(path, O_RDONLY | O_CLOEXEC);
    if (info < 0)
        return -errno;
    ssize_t n = read(info, text, sizeof(text) - 1);
    close(info);
    text[n > 0 ? n : 0] = '\0';
    const char *found = strstr(text, "mnt_id:");
    if (!found)
        return -ENODATA;
    found += strlen("mnt_id:");
    found += strspn(found, " \t");
    int64_t id = 0;
    while (*found >= '0' && *found <= '9')
        id = id * 10 + (*found++ - '0');
    return id;
}

bool px_rm_is_pseudo(int fd)
{
    static const uint32_t magics[] = {
        0x9fa0,     /* proc */
        0x62656572, /* sysfs */
        0x27e0eb,   /* cgroup */
        0x63677270, /* cgroup2 */
        0x64626720, /* debugfs */
        0x74726163, /* tracefs */
        0x73636673, /* securityfs */
        0x62656570, /* configfs */
        0xcafe4a11, /* bpf */
        0xde5e81e4, /* efivarfs */
        0xf97cff8c, /* selinuxfs */
        0x43415d53, /* smackfs */
        0x6165676c, /* pstore */
        0x1cd1,     /* devpts */
        0x42494e4d, /* binfmt_misc */
        0x65735543, /* fusectl */
        0x67596969, /* rpc_pipefs */
        0x6e667364, /* nfsd */
        0x07655821, /* resctrl */
        0x6e736673, /* nsfs */
        0x50494446, /* pidfs */
        0x6c6f6f70, /* binderfs */
        0xabba1974, /* xenfs */
        0x9fa2,     /* usbfs */
    };
    struct statfs fs;

    if (fstatfs(fd, &fs) < 0)
        return true; /* what does not say what it is is not for us */
    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
        if ((uint32_t)fs.f_type == magics[i])
            return true;
    return false;
}

/* ---- opening ---------------------------------------------------------------------------------- */

/* openat2(2); -ENOSYS also from then on if a filter forbids it. */
static int open_strictly(struct px_rm_sys *sys, int at, const char *path, int flags,
                         uint64_t resolve)
{
    struct {
        uint64_t flags, mode, resolve;
    } how = {.flags = (uint64_t)flags, .resolve = resolve};

    if (sys->no_openat2)
        return -ENOSYS;
    for (int i = 0; i < MAX_TRIES; i++) {
        long fd = syscall(SYS_openat2, at, path, &how, sizeof(how));

        if (fd >= 0)
            return (int)fd;
        if (errno != EAGAIN && errno != EINTR)
            break;
    }
    if (errno == EPERM || errno == ENOSYS) {
        sys->no_openat2 = true;
        return -ENOSYS;
    }
    return -errno;
}

static int open_name(int at, const char *name, int flags)
{
    for (int i = 0; i < MAX_TRIES; i++) {
        int fd = openat(at, name, flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        if (fd >= 0)
            return fd;
        if (errno != EINTR)
            break;
    }
    return -errno;
}

int px_rm_open_in(int at, const char *name)
{
    return open_name(at, name, O_RDONLY);
}

static int open_by_names(struct px_rm_sys *sys, const char *path)
{
    int at = open_name(AT_FDCWD, "/", O_PATH);

    while (at >= 0) {
        char name[MAX_NAME + 1];
        struct px_rm_node node;

        path += strspn(path, "/");
        size_t n = strcspn(path, "/");
        if (!n)
            break;
        if (n > MAX_NAME) {
            close(at);
            return -ENAMETOOLONG;
        }
        memcpy(name, path, n);
        name[n] = '\0';
        path += n;
        int next = open_name(at, name, O_PATH);
        if (next == -ENOTDIR && px_rm_look(sys, at, name, &node) == 0 &&
            S_ISLNK(node.mode))
            next = -ELOOP;
        close(at);
        at = next;
    }
    return at;
}

int px_rm_open_way(struct px_rm_sys *sys, const char *path)
{
    int fd = open_strictly(sys, AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC,
                           NO_SYMLINKS | NO_MAGICLINKS);

    return fd == -ENOSYS || fd == -EAGAIN ? open_by_names(sys, path) : fd;
}

/* -EXDEV if fd is in another mount than at, whose device is dev. Two mounts of one file system have the
 * same device, so the mark or the mount's number decides. */
static int check_mount(struct px_rm_sys *sys, int at, dev_t dev, int64_t *mount, int fd)
{
    struct px_rm_node node;
    int rc = px_rm_look(sys, fd, "", &node);

    if (rc)
        return -rc;
    if (node.dev != dev || node.mount)
        return -EXDEV;
    if (!sys->no_mount_mark)
        return 0;
    if (*mount < 0)
        *mount = mount_of(at);
    if (*mount == -EMFILE || *mount == -ENFILE)
        return (int)*mount;
    if (*mount < 0)
        return 0; /* there is no /proc */
    int64_t here = mount_of(fd);
    if (here < 0)
        return (int)here;
    return here == *mount ? 0 : -EXDEV;
}

int px_rm_open_below(struct px_rm_sys *sys, int at, dev_t dev, int64_t *mount,
                     const char *name)
{
    int fd = open_strictly(sys, at, name,
                           O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
                           BENEATH | NO_XDEV | NO_SYMLINKS);

    if (fd != -ENOSYS && fd != -EAGAIN)
        return fd;
    fd = px_rm_open_in(at, name);
    int rc = fd < 0 ? 0 : check_mount(sys, at, dev, mount, fd);
    if (!rc)
        return fd;
    close(fd);
    return rc;
}
