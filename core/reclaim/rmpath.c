/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and identifies files and folders for removal. */
#include "core/reclaim/rmpath.h"

#include "core/base/attr.h"
#include "core/os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_NAME = 255, MAX_LINKS = 40, WRITE_OTHERS = S_IWGRP | S_IWOTH };

#define NS_PER_S INT64_C(1000000000)

/* ---- names ---------------------------------------------------------------------- */

bool px_rm_path_is_in(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    return strncmp(path, folder, n) == 0 && (path[n] == '/' || !path[n]);
}

/* Returns the problem of a path in normal form, judged by its text alone, or NULL. */
static const char *check_place(const char *normal)
{
    if (!*normal)
        return "it is the root folder";
    return px_os_path_is_pseudo(normal);
}

/* Appends a name. Returns NULL, or the problem. */
static const char *append(char *out, size_t *len, const char *name, size_t n)
{
    if (n > MAX_NAME)
        return "a name in it is longer than 255 bytes";
    if (*len + 1 + n > PX_RM_MAX_PATH)
        return "it is longer than 4095 bytes";
    out[(*len)++] = '/';
    memcpy(out + *len, name, n);
    *len += n;
    out[*len] = '\0';
    return NULL;
}

static bool is_dots(const char *name, size_t n, size_t dots)
{
    return n == dots && strncmp(name, "..", n) == 0;
}

const char *px_rm_path_check(const char *path, char *out)
{
    const char *wrong = NULL;
    size_t len = 0, n;

    *out = '\0';
    if (!path || *path != '/')
        return path && *path ? "it is not absolute" : "it is empty";
    for (const char *name = path; !wrong; name += n) {
        name += strspn(name, "/");
        n = strcspn(name, "/");
        if (!n)
            break;
        if (is_dots(name, n, 2))
            wrong = "it has a \"..\"";
        else if (!is_dots(name, n, 1))
            wrong = append(out, &len, name, n);
    }
    return wrong ? wrong : check_place(out);
}

/* ---- identity ------------------------------------------------------------------- */

int px_rm_probe(struct px_rm_sys *sys, int at, const char *name, struct px_rm_node *out)
{
    struct stat st;
    int is_mount;
    int rc = px_os_stat(at, name, sys->no_statx, sys->no_wait, &st, &is_mount);

    if (!sys->no_statx && (rc == ENOSYS || rc == EPERM)) {
        sys->no_statx = true;
        rc = px_os_stat(at, name, true, sys->no_wait, &st, &is_mount);
    }
    if (rc)
        return rc;
    if (is_mount < 0)
        sys->no_mount_flag = true;
    *out = (struct px_rm_node){.dev = st.st_dev,
                               .ino = st.st_ino,
                               .uid = st.st_uid,
                               .gid = st.st_gid,
                               .mode = st.st_mode,
                               .links = st.st_nlink,
                               .mount = is_mount > 0,
                               .changed_ns = st.st_ctim.tv_sec * NS_PER_S +
                                             st.st_ctim.tv_nsec};
    return 0;
}

/* ---- opening -------------------------------------------------------------------- */

static int open_folder(int at, const char *name, int flags)
{
    int fd = PX_RETRY(openat(at, name, flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));

    return fd < 0 ? -errno : fd;
}

int px_rm_open_in(int at, const char *name)
{
    return open_folder(at, name, O_RDONLY);
}

/* Returns 0 if fd is on the same mount as at, otherwise minus an errno. Two mounts of a
 * file system have the same device, so the mount attribute or the mount id decides. */
static int check_mount(struct px_rm_sys *sys, int at, dev_t dev, int64_t *mount, int fd,
                       const struct px_rm_node *node)
{
    if (node->dev != dev || node->mount)
        return -EXDEV;
    if (!sys->no_mount_flag)
        return 0;
    if (*mount < 0)
        *mount = px_os_mount_of(at);
    if (*mount < 0) /* /proc is missing */
        return *mount == -EMFILE || *mount == -ENFILE ? (int)*mount : 0;
    int64_t here = px_os_mount_of(fd);
    return here < 0 ? (int)here : here == *mount ? 0 : -EXDEV;
}

int px_rm_open_below(struct px_rm_sys *sys, int at, dev_t dev, int64_t *mount,
                     const char *name, struct px_rm_node *out)
{
    int fd = px_rm_open_in(at, name);

    if (fd < 0)
        return fd;
    int rc = -px_rm_probe(sys, fd, "", out);
    if (!rc)
        rc = check_mount(sys, at, dev, mount, fd, out);
    if (!rc)
        return fd;
    close(fd);
    return rc;
}

/* ---- following a path, name by name --------------------------------------------- */

/* A position on a path, followed folder by folder. Links are read from the inode that
 * was checked, so a concurrent rename cannot redirect the walk. */
struct way {
    struct px_rm_sys *sys;
    uid_t client;
    gid_t gid; /* with is_ahead, like dev, which is of the last folder searched */
    dev_t dev;
    bool is_ahead; /* resolves for a client: must neither block nor mount */
    int at;        /* the current folder (O_PATH), or minus an errno at the end */
    struct px_rm_node node;
    unsigned n_links;
    const char *why; /* reason for -ELOOP */
    char *rest;      /* remaining path, at the end of room */
    char room[2 * (PX_RM_MAX_PATH + 1)];
};

static void arrive(struct way *w, int fd)
{
    int rc = fd < 0 ? 0 : px_rm_probe(w->sys, fd, "", &w->node);

    if (rc)
        close(fd);
    if (w->at >= 0)
        close(w->at);
    w->at = rc ? -rc : fd;
}

/* Puts path before the remaining path. False if room is too small. */
static bool go_on(struct way *w, const char *path)
{
    size_t n = strlen(path);

    if ((size_t)(w->rest - w->room) < n + 1)
        return false;
    *--w->rest = '/';
    w->rest -= n;
    memcpy(w->rest, path, n);
    if (*path == '/')
        arrive(w, open_folder(AT_FDCWD, "/", O_PATH));
    return true;
}

static void begin_way(struct way *w, struct px_rm_sys *sys, const char *path,
                      uid_t client)
{
    *w = (struct way){.sys = sys, .client = client, .at = -1};
    w->rest = w->room + sizeof(w->room) - 1;
    if (!go_on(w, path))
        w->at = -ENAMETOOLONG;
}

/* Takes the next name. Returns its length, or 0 at the end. */
static size_t next_name(struct way *w, char name[MAX_NAME + 1])
{
    w->rest += strspn(w->rest, "/");
    size_t n = strcspn(w->rest, "/");
    size_t copied = n > MAX_NAME ? MAX_NAME : n;
    memcpy(name, w->rest, copied);
    name[copied] = '\0';
    w->rest += n;
    return n;
}

/* True if a link may be followed. The administrator's links count where only root could
 * have created them. The client's own links count where no other user could have
 * created or renamed them. */
static bool may_follow(const struct way *w, const struct px_rm_node *link)
{
    const struct px_rm_node *in = &w->node;

    if (w->sys->no_links)
        return false;
    if (link->uid == 0 && in->uid == 0 && !(in->mode & WRITE_OTHERS))
        return true;
    if (link->uid != w->client || link->links != 1 ||
        (!w->is_ahead && geteuid() != w->client))
        return false;
    return in->uid == w->client ||
           (in->uid == 0 && (!(in->mode & WRITE_OTHERS) || in->mode & S_ISVTX));
}

/* Follows a link by putting its target before the remaining path. */
static int follow(struct way *w, int link, const struct px_rm_node *node)
{
    char target[PX_RM_MAX_PATH + 2];

    if (!may_follow(w, node) || w->n_links++ >= MAX_LINKS) {
        w->why = w->n_links > MAX_LINKS ? "too many symbolic links are on the way"
                                        : "a symbolic link is on the way that others "
                                          "may have put there";
        return ELOOP;
    }
    ssize_t n = readlinkat(link, "", target, sizeof(target) - 1);
    if (n < 0)
        return errno;
    target[n] = '\0';
    return go_on(w, target) ? 0 : ENAMETOOLONG;
}

/* Moves to the entry name of the current folder. */
static void go(struct way *w, const char *name)
{
    const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
    struct px_rm_node node = {0};
    int fd = w->is_ahead ? -ENOTDIR : open_folder(w->at, name, O_PATH);

    if (fd != -ENOTDIR) {
        arrive(w, fd);
        return;
    }
    fd = openat(w->at, name, flags);
    int rc = fd < 0 ? errno : px_rm_probe(w->sys, fd, "", &node);
    if (!rc && S_ISDIR(node.mode)) {
        arrive(w, fd);
        return;
    }
    if (!rc)
        rc = S_ISLNK(node.mode) ? follow(w, fd, &node) : ENOTDIR;
    if (fd >= 0)
        close(fd);
    if (rc)
        arrive(w, -rc);
}

int px_rm_open_way(struct px_rm_sys *sys, const char *path, uid_t client)
{
    struct way w;
    char name[MAX_NAME + 1];
    size_t n;

    begin_way(&w, sys, path, client);
    while (w.at >= 0 && (n = next_name(&w, name)))
        if (n > MAX_NAME)
            arrive(&w, -ENAMETOOLONG);
        else
            go(&w, name);
    return w.at;
}

/* ---- resolving a path before the removal ---------------------------------------- */

/* True if the client may search the current folder and the folder can be read at
 * once. */
static bool may_look(struct way *w)
{
    const struct px_rm_node *node = &w->node;
    mode_t search = node->uid == w->client ? S_IXUSR
                    : node->gid == w->gid  ? S_IXGRP
                                           : S_IXOTH;

    if (w->at < 0 || (w->client != 0 && !(node->mode & search)))
        return false;
    if (node->dev != w->dev && px_os_fs_may_wait(w->at))
        return false;
    w->dev = node->dev;
    return true;
}

/* True if the rest of the path contains only slashes and ".". */
static bool is_end(const char *rest)
{
    for (size_t n; *(rest += strspn(rest, "/")); rest += n) {
        n = strcspn(rest, "/");
        if (!is_dots(rest, n, 1))
            return false;
    }
    return true;
}

/* Resolves one more name; out is the path so far. Enters folders only, so does not
 * enter the last name. */
static const char *resolve_name(struct way *w, const char *name, size_t n, char *out,
                                size_t *len)
{
    const char *was = w->rest;
    bool is_last = is_end(w->rest);

    if (w->at >= 0 && n <= MAX_NAME && !is_last)
        go(w, name);
    if (w->at == -ELOOP)
        return w->why;
    if (w->at >= 0 && !may_look(w))
        arrive(w, -EACCES);
    if (w->rest != was) { /* a link was followed */
        *len = *w->rest == '/' ? 0 : *len;
        out[*len] = '\0';
        return NULL;
    }
    if (is_dots(name, n, 2)) {
        while (*len && out[--*len] != '/')
            ;
        out[*len] = '\0';
        return NULL;
    }
    return is_dots(name, n, 1) ? NULL : append(out, len, name, n);
}

const char *px_rm_path_resolve(const char *path, uid_t uid, gid_t gid, char *out)
{
    struct px_rm_sys sys = {.no_wait = true};
    const char *wrong = NULL;
    char name[MAX_NAME + 1];
    size_t len = 0, n;
    struct way w;

    *out = '\0';
    if (!path || *path != '/')
        return path && *path ? "it is not absolute" : "it is empty";
    begin_way(&w, &sys, path, uid);
    w.is_ahead = true;
    w.gid = gid;
    if (w.at == -ENAMETOOLONG)
        return "it is longer than 4095 bytes";
    if (!may_look(&w))
        arrive(&w, -EACCES);
    while (!wrong && (n = next_name(&w, name)))
        wrong = resolve_name(&w, name, n, out, &len);
    if (w.at >= 0)
        close(w.at);
    return wrong ? wrong : check_place(out);
}
