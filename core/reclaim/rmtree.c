/* SPDX-License-Identifier: BSD-3-Clause */
/* Each folder is read once, with what is not a folder removed as it is met, and the
 * names of its folders noted; then those are entered one after the other. So a folder
 * need not stay open while what is below it is done: all but the top and the last few
 * are closed, and opened again through "..", which has to lead to the very folder that
 * was left. */
#include "core/reclaim/rmtree.h"

#include "core/base/attr.h"
#include "core/base/fd.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Address space, not memory: only what is written to counts. */
#define ARENA_SIZE     ((size_t)64 << 20)
#define ARENA_SIZE_MIN ((size_t)1 << 20)

enum {
    MAX_OPEN = 8,           /* folders, besides the top */
    MAX_PASSES = 64,        /* over a folder in which things appear */
    MAX_TREE_PASSES = 4096, /* of that kind in a tree */
    /* Files that were not there when the first one went, removed in one pass, and in a
     * tree before none is read twice any more: they may be made as fast as they are
     * removed. */
    MAX_NEW = 1 << 14
};

/* A path that does not fit is known by the length of what does, and this more. */
enum { CUT = 2 * (PX_RM_MAX_PATH + 1) };

/* An item of kind KEEP. */
struct keep {
    const char *path;
    size_t len;
    dev_t dev;
    ino_t ino; /* 0: there is none */
};

/* A folder on the way to the one worked in. Behind it in memory are the names of
 * folders in it, one NUL-terminated after the other. */
struct folder {
    struct folder *up;
    const char *name; /* in the one above */
    dev_t dev;
    ino_t ino;
    int fd; /* -1: closed for the sake of others */
    uint16_t passes;
    bool stays; /* something in it does */
    bool seen;  /* something was in it in this pass */
    bool more;  /* there was no room for the names of all folders in it */
    char *next; /* name, and where they end */
    char *last;
    size_t path_len;
};

/* The tree that is being removed. */
struct tree {
    uint8_t flags;   /* the item's */
    int at;          /* the folder that the top is in */
    uint64_t n_told; /* before it */
    int64_t mount;
    int64_t begun_ns; /* by the file system's clock; 0: no file has gone yet */
    unsigned int n_new;
    unsigned int passes;
    unsigned int n_open;
    struct folder *open[MAX_OPEN]; /* the one worked in is the last; not the top */
};

/* A run over many items. Everything it needs is in one piece of memory, used as a
 * stack. */
struct run {
    struct px_rm_sys sys;
    uid_t uid;
    gid_t gid;
    px_rm_notify_fn told; /* may be NULL */
    void *arg;
    struct px_pcleanup_totals *totals;
    struct keep *keeps;
    size_t n_keeps;
    char *mem, *end; /* what is free */
    uint64_t n_told;
    struct tree tree;
    char path[PX_RM_MAX_PATH + 5]; /* for telling and keeping */
};

/* ---- what stays ----------------------------------------------------------------- */

static size_t path_add(struct run *run, size_t len, const char *name)
{
    size_t n = strlen(name);

    if (len < CUT && len + 1 + n <= PX_RM_MAX_PATH) {
        run->path[len++] = '/';
        memcpy(run->path + len, name, n + 1);
        return len + n;
    }
    len = len < CUT ? len : len - CUT;
    memcpy(run->path + len, "/...", sizeof("/..."));
    return len + CUT;
}

/* That name stays, in the folder that is the first len bytes of run->path; NULL: the
 * folder. */
static void tell(struct run *run, size_t len, const char *name, enum px_rm_why why,
                 int errnum)
{
    run->n_told++;
    if (why == PX_RM_ASKED)
        run->totals->kept++;
    else if (why == PX_RM_FOREIGN)
        run->totals->foreign++;
    else
        run->totals->failed++;
    if (!run->told)
        return;
    if (name)
        path_add(run, len, name);
    else if (len < CUT)
        run->path[len] = '\0';
    run->told(run->arg, run->path, why, errnum);
}

static void stays(struct run *run, struct folder *f, const char *name,
                  enum px_rm_why why, int errnum)
{
    f->stays = true;
    tell(run, f->path_len, name, why, errnum);
}

static bool is_ours(const struct run *run, const struct px_rm_node *node, uint8_t flags)
{
    return node->uid == run->uid && (flags & PX_RM_ANY_GID || node->gid == run->gid);
}

/* Whether that is to be kept: by its path, if it is the first len bytes of run->path;
 * or as node. */
static bool keeps(const struct run *run, size_t len, const struct px_rm_node *node)
{
    for (size_t i = 0; i < run->n_keeps; i++) {
        const struct keep *k = &run->keeps[i];

        if (node ? px_rm_is(node, k->dev, k->ino)
                 : k->len == len && memcmp(k->path, run->path, len) == 0)
            return true;
    }
    return false;
}

static bool keeps_name(struct run *run, size_t len, const char *name)
{
    return run->n_keeps && keeps(run, path_add(run, len, name), NULL);
}

/* Whether it is one that has to stay, which is told. */
static bool must_stay(struct run *run, struct folder *f, const char *name,
                      const struct px_rm_node *node)
{
    enum px_rm_why why = node->mount                            ? PX_RM_MOUNT
                         : !is_ours(run, node, run->tree.flags) ? PX_RM_FOREIGN
                                                                : PX_RM_ASKED;

    if (why == PX_RM_ASKED && !keeps(run, 0, node))
        return false;
    stays(run, f, name, why, 0);
    return true;
}

/* Files can only be told from mount points by newer kernels; others say EBUSY. */
static enum px_rm_why why_of(const struct run *run, int errnum)
{
    bool mount = errnum == EXDEV || (errnum == EBUSY && run->sys.no_mount_mark);

    return mount ? PX_RM_MOUNT : PX_RM_FAILED;
}

/* ---- folders that are open ------------------------------------------------------ */

/* Makes room for a descriptor: all can be closed but the folder worked in. */
static bool close_oldest(struct tree *t)
{
    if (t->n_open < 2)
        return false;
    close(t->open[0]->fd);
    t->open[0]->fd = -1;
    memmove(&t->open[0], &t->open[1], --t->n_open * sizeof(t->open[0]));
    return true;
}

/* Opens the folder above f again if it was closed; -1 if it is not above it any
 * more. */
static int open_up(struct run *run, struct folder *f)
{
    struct px_rm_node node;
    struct folder *up = f->up;

    if (!up)
        return run->tree.at;
    if (up->fd >= 0)
        return up->fd;
    int fd = px_rm_open_in(f->fd, "..");
    if (fd < 0)
        return -1;
    if (px_rm_look(&run->sys, fd, "", &node) || !px_rm_is(&node, up->dev, up->ino)) {
        close(fd);
        return -1;
    }
    /* All above f were closed before up was. */
    run->tree.open[0] = up;
    run->tree.open[1] = f;
    run->tree.n_open = 2;
    up->fd = fd;
    return fd;
}

/* Owns fd. NULL if there is no room, which is told. */
static struct folder *push(struct run *run, struct folder *up, const char *name,
                           size_t path_len, int fd, const struct px_rm_node *node)
{
    char *at = run->mem + (-(uintptr_t)run->mem & 7);
    struct tree *t = &run->tree;

    if (run->end < at || (size_t)(run->end - at) < sizeof(struct folder)) {
        stays(run, up, name, PX_RM_FAILED, ENOMEM);
        close(fd);
        return NULL;
    }
    struct folder *f = (struct folder *)(void *)at;
    *f = (struct folder){.up = up,
                         .name = name,
                         .dev = node->dev,
                         .ino = node->ino,
                         .fd = fd,
                         .path_len = path_len};
    run->mem = f->next = f->last = (char *)(f + 1);
    if (!up)
        return f;
    if (t->n_open == MAX_OPEN)
        close_oldest(t);
    t->open[t->n_open++] = f;
    return f;
}

static struct folder *pop(struct run *run, struct folder *f)
{
    if (f->fd >= 0)
        close(f->fd);
    run->tree.n_open -= f->up && f->fd >= 0;
    run->mem = (char *)f;
    return f->up;
}

/* ---- reading -------------------------------------------------------------------- */

static void remove_file(struct run *run, struct folder *f, const char *name,
                        struct px_rm_node *node)
{
    struct tree *t = &run->tree;

    t->n_new += t->begun_ns && node->changed_ns > t->begun_ns;
    if (unlinkat(f->fd, name, 0) == 0) {
        run->totals->files++;
        /* A file server's clock is not ours: what time it is there shows in a folder
         * that has just changed. */
        if (!t->begun_ns && !px_rm_look(&run->sys, f->fd, "", node))
            t->begun_ns = node->changed_ns;
    } else if (errno != ENOENT && errno != EISDIR) { /* a folder is met again */
        stays(run, f, name, why_of(run, errno), errno);
    }
}

struct reading {
    struct run *run;
    struct folder *f;
    const char *limit; /* as far as names of folders may go */
    unsigned int most_new;
};

static void note_folder(const struct reading *r, const char *name)
{
    struct folder *f = r->f;
    size_t n = strlen(name) + 1;

    if (f->last > r->limit || (size_t)(r->limit - f->last) < n) {
        f->more = true;
        return;
    }
    memcpy(f->last, name, n);
    f->last += n;
}

static bool take_entry(void *arg, const char *name)
{
    const struct reading *r = arg;
    struct run *run = r->run;
    struct folder *f = r->f;
    struct px_rm_node node = {0};
    /* a broken file system has slashes in names */
    int rc = strchr(name, '/') ? EIO : px_rm_look(&run->sys, f->fd, name, &node);
    bool is_folder = S_ISDIR(node.mode);

    f->seen = true;
    if (rc && rc != ENOENT)
        stays(run, f, name, PX_RM_FAILED, rc);
    if (rc)
        return true;
    if (is_folder ? !(run->tree.flags & PX_RM_RECURSE) : run->tree.flags & PX_RM_EMPTY)
        f->stays = true;
    else if (keeps_name(run, f->path_len, name))
        stays(run, f, name, PX_RM_ASKED, 0);
    else if (is_folder && !node.mount) /* where one is, its system may not answer */
        note_folder(r, name);
    else if (!must_stay(run, f, name, &node))
        remove_file(run, f, name, &node);
    return run->tree.n_new < r->most_new;
}

static void read_folder(struct run *run, struct folder *f)
{
    char *names = (char *)(f + 1);
    /* the rest is for what is below */
    struct reading r = {run, f, names + (run->end - names) / 2,
                        run->tree.n_new + MAX_NEW};

    f->seen = f->more = false;
    f->next = f->last = names;
    int errnum = px_fd_each_name(f->fd, take_entry, &r);
    if (errnum && errnum != ENOENT)
        stays(run, f, NULL, PX_RM_FAILED, errnum);
    if (run->tree.n_new >= r.most_new)
        stays(run, f, NULL, PX_RM_FAILED, ENOTEMPTY);
    run->mem = f->last;
}

/* Whether the folder is to be read once more; that is bounded, as another process may
 * fill it as fast as it is emptied. */
static bool read_again(struct run *run, struct folder *f)
{
    if (f->passes >= MAX_PASSES || run->tree.passes >= MAX_TREE_PASSES ||
        run->tree.n_new >= MAX_NEW || lseek(f->fd, 0, SEEK_SET) < 0) {
        stays(run, f, NULL, PX_RM_FAILED, ENOTEMPTY);
        return false;
    }
    f->passes++;
    run->tree.passes++;
    read_folder(run, f);
    return true;
}

/* ---- down and up ---------------------------------------------------------------- */

/* Removes the folder if it is what that name stands for. 0 or an errno. */
static int remove_folder(struct run *run, int at, const char *name, dev_t dev,
                         ino_t ino)
{
    struct px_rm_node node;
    int rc = px_rm_look(&run->sys, at, name, &node);

    if (rc)
        return rc;
    if (!px_rm_is(&node, dev, ino))
        return ESTALE;
    if (unlinkat(at, name, AT_REMOVEDIR) < 0)
        return errno;
    run->totals->dirs++;
    return 0;
}

/* Could not be opened. A folder that may not be read may be empty all the same. */
static void take_closed(struct run *run, struct folder *f, const char *name, int errnum)
{
    struct px_rm_node node;

    if (errnum == ENOENT || errnum == ENOTDIR || errnum == ELOOP)
        return; /* what it is now is met again */
    int rc = px_rm_look(&run->sys, f->fd, name, &node);
    if (rc == ENOENT || (!rc && errnum != EXDEV && must_stay(run, f, name, &node)))
        return;
    if (errnum != EACCES || rc || remove_folder(run, f->fd, name, node.dev, node.ino))
        stays(run, f, name, why_of(run, errnum), errnum);
}

/* Enters the folder of that name. Returns NULL if it is not to be entered. */
static struct folder *enter(struct run *run, struct folder *f, const char *name)
{
    struct px_rm_node node;
    int fd;

    do
        fd = px_rm_open_below(&run->sys, f->fd, f->dev, &run->tree.mount, name, &node);
    while ((fd == -EMFILE || fd == -ENFILE) && close_oldest(&run->tree));
    if (fd < 0) {
        take_closed(run, f, name, -fd);
        return NULL;
    }
    if (must_stay(run, f, name, &node)) {
        close(fd);
        return NULL;
    }
    struct folder *below = push(run, f, name, path_add(run, f->path_len, name), fd,
                                &node);
    if (below)
        read_folder(run, below);
    return below;
}

/* The way up is lost, as another process has moved f or what it is in. Begins again at
 * the top, which is still open, unless something was told already that would be told
 * again. */
static struct folder *lost(struct run *run, struct folder *f)
{
    bool again = run->n_told == run->tree.n_told;

    if (!again)
        stays(run, f, NULL, PX_RM_MOVED, 0);
    while (f->up)
        f = pop(run, f);
    f->stays = !again;
    f->next = f->last;
    f->more = false;
    if (again)
        read_again(run, f);
    return f;
}

/* Whether f has to be read once more before it can be left. */
static bool is_unfinished(struct run *run, struct folder *f)
{
    bool leave_top = !f->up && run->tree.flags & PX_RM_LEAVE_TOP;

    if (f->more) {
        /* All that stays would be met, and told, again. */
        if (!f->stays && f->last > (char *)(f + 1))
            return read_again(run, f);
        stays(run, f, NULL, PX_RM_FAILED, ENOMEM);
    }
    return leave_top && f->seen && !f->stays && read_again(run, f);
}

/* All in f is done. Returns the folder to go on with; NULL at the end. */
static struct folder *leave(struct run *run, struct folder *f)
{
    if (is_unfinished(run, f))
        return f;
    int at = open_up(run, f);
    if (at < 0)
        return lost(run, f);
    if (!f->stays && (f->up || !(run->tree.flags & PX_RM_LEAVE_TOP))) {
        int rc = remove_folder(run, at, f->name, f->dev, f->ino);

        if (rc == ENOTEMPTY || rc == EEXIST) {
            if (read_again(run, f))
                return f;
        } else if (rc && rc != ENOENT && !(rc == ESTALE && f->up)) {
            /* below the top, what moved shows when the folder above is to be removed */
            stays(run, f, NULL, rc == ESTALE ? PX_RM_MOVED : why_of(run, rc), rc);
        }
    }
    if (f->up)
        f->up->stays |= f->stays;
    return pop(run, f);
}

/* Owns fd, which is of the folder name in at. */
static void remove_tree(struct run *run, uint8_t flags, int at, const char *name,
                        size_t path_len, int fd, const struct px_rm_node *node)
{
    run->tree = (struct tree){
        .flags = flags, .at = at, .n_told = run->n_told, .mount = -1};
    struct folder *f = push(run, NULL, name, path_len, fd, node);

    read_folder(run, f);
    while (f) {
        const char *next = f->next;

        if (next < f->last) {
            f->next += strlen(next) + 1;
            struct folder *below = enter(run, f, next);
            f = below ? below : f;
        } else {
            f = leave(run, f);
        }
    }
}

/* ---- items ---------------------------------------------------------------------- */

static bool is_meant(struct run *run, const struct px_rm_item *item,
                     const struct px_rm_node *node)
{
    struct px_rm_node root;

    if (item->flags & PX_RM_SAME &&
        !px_rm_is(node, (dev_t)item->device, (ino_t)item->inode))
        return false;
    return S_ISDIR(node->mode) == (item->kind == PX_RM_DIR) &&
           !px_rm_look(&run->sys, AT_FDCWD, "/", &root) &&
           !px_rm_is(node, root.dev, root.ino);
}

/* Removes what is named in the folder at. The owner of a file is asked of the same name
 * a moment before it is removed: a process that can put another thing there in between
 * could have removed that, too. */
static void remove_named(struct run *run, const struct px_rm_item *item, int at,
                         const char *name, size_t len)
{
    bool is_tree = item->kind == PX_RM_DIR;
    enum px_rm_why why = PX_RM_FAILED;
    struct px_rm_node node;

    /* or is it below one that is to be kept? */
    for (size_t i = 0; is_tree && i < run->n_keeps; i++) {
        if (!px_rm_path_is_in(run->path, run->keeps[i].path))
            continue;
        tell(run, len, NULL, PX_RM_ASKED, 0);
        return;
    }
    int fd = is_tree ? px_rm_open_in(at, name) : -1;
    int errnum = px_rm_look(&run->sys, fd < 0 ? at : fd, fd < 0 ? name : "", &node);
    if (errnum == ENOENT)
        return;
    if (!errnum) {
        if (is_tree && S_ISLNK(node.mode))
            why = PX_RM_LINK;
        else if (!is_meant(run, item, &node) || px_rm_is_pseudo(fd < 0 ? at : fd))
            why = PX_RM_REFUSED;
        else if (!is_tree && node.mount)
            why = PX_RM_MOUNT;
        else if (!is_ours(run, &node, item->flags))
            why = PX_RM_FOREIGN;
        else if (is_tree && keeps(run, 0, &node))
            why = PX_RM_ASKED;
        else if (fd >= 0) {
            remove_tree(run, item->flags, at, name, len, fd, &node);
            return;
        } else if (is_tree) {
            errnum = -fd;
        } else if (unlinkat(at, name, 0) == 0) {
            run->totals->files++;
            return;
        } else if ((errnum = errno) == ENOENT) {
            return;
        }
    }
    tell(run, len, NULL, why, errnum);
    if (fd >= 0)
        close(fd);
}

static void remove_item(struct run *run, const struct px_rm_item *item)
{
    char way[PX_RM_MAX_PATH + 1];
    size_t len = strnlen(item->path, PX_RM_MAX_PATH);

    memcpy(run->path, item->path, len);
    run->path[len] = '\0';
    if (px_rm_path_check(item->path, way) || strcmp(item->path, way) != 0 ||
        (item->kind != PX_RM_FILE && item->kind != PX_RM_DIR)) {
        tell(run, len, NULL, PX_RM_REFUSED, EINVAL);
        return;
    }
    char *slash = strrchr(way, '/');
    slash[slash == way] = '\0';
    PX_AUTOCLOSE int at = px_rm_open_way(&run->sys, way, run->uid);
    if (at >= 0)
        remove_named(run, item, at, strrchr(item->path, '/') + 1, len);
    else if (at != -ENOENT && at != -ENOTDIR)
        tell(run, len, NULL, at == -ELOOP ? PX_RM_LINK : PX_RM_FAILED, -at);
}

/* ---- the run -------------------------------------------------------------------- */

static size_t depth_of(const char *path)
{
    size_t n = 1;

    while ((path = strchr(path, '/')))
        n++, path++;
    return n;
}

/* Of the trees that are less deep than that, the depth of the deepest; 0: there is
 * none. */
static size_t next_depth(const struct px_rm_item *items, size_t n, size_t below)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++) {
        size_t depth = items[i].kind == PX_RM_DIR ? depth_of(items[i].path) : 0;

        if (depth < below && depth > found)
            found = depth;
    }
    return found;
}

static void remove_all(struct run *run, const struct px_rm_item *items, size_t n)
{
    struct px_rm_node node;

    /* The thing that is there by that path now stays, even if it is renamed meanwhile.
     * The way to it may have links: to what must not be removed they are no danger. */
    for (size_t i = 0; i < n; i++) {
        if (items[i].kind != PX_RM_KEEP)
            continue;
        struct keep *keep = &run->keeps[run->n_keeps++];
        *keep = (struct keep){.path = items[i].path, .len = strlen(items[i].path)};
        if (px_rm_look(&run->sys, AT_FDCWD, keep->path, &node) == 0) {
            keep->dev = node.dev;
            keep->ino = node.ino;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (items[i].kind != PX_RM_DIR && items[i].kind != PX_RM_KEEP)
            remove_item(run, &items[i]);
    }
    for (size_t at = SIZE_MAX; (at = next_depth(items, n, at));) {
        for (size_t i = 0; i < n; i++) {
            if (items[i].kind == PX_RM_DIR && depth_of(items[i].path) == at)
                remove_item(run, &items[i]);
        }
    }
}

void *px_reclaim_map(size_t size_b)
{
    void *mapped = mmap(NULL, size_b, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return mapped == MAP_FAILED ? NULL : mapped;
}

void px_reclaim_unmap(void *mapped, size_t size_b)
{
    if (mapped)
        munmap(mapped, size_b);
}

int px_rm_run(const struct px_rm_item *items, size_t n, uid_t uid, gid_t gid,
              px_rm_notify_fn told, void *arg, struct px_pcleanup_totals *totals)
{
    size_t fixed = sizeof(struct run) + n * sizeof(struct keep), size = ARENA_SIZE;
    void *mem;

    if (!n)
        return 0;
    while (!(mem = px_reclaim_map(fixed + size))) {
        if (size <= ARENA_SIZE_MIN)
            return ENOMEM;
        size /= 2;
    }
    struct run *run = mem;
    *run = (struct run){.sys = {.no_wait = true},
                        .uid = uid,
                        .gid = gid,
                        .told = told,
                        .arg = arg,
                        .totals = totals,
                        .keeps = (void *)(run + 1),
                        .mem = (char *)mem + fixed,
                        .end = (char *)mem + fixed + size};
    remove_all(run, items, n);
    px_reclaim_unmap(mem, fixed + size);
    return 0;
}
