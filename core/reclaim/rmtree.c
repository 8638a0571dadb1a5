/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes trees. Each folder is read once: files are removed at once, names of folders
 * are saved and entered afterwards. A folder need not stay open during work below it.
 * All folders but the top and the last few are closed. They are opened again through
 * "..", which must lead to the same folder. */
#include "core/reclaim/rmtree.h"

#include "core/base/attr.h"
#include "core/base/fd.h"
#include "core/os/os.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Reserved address space; only pages that are written use memory. */
#define ARENA_SIZE     ((size_t)64 << 20)
#define ARENA_SIZE_MIN ((size_t)1 << 20)

enum {
    MAX_OPEN = 8,           /* open folders, without the top */
    MAX_PASSES = 64,        /* over one folder that other processes fill */
    MAX_TREE_PASSES = 4096, /* repeated passes in a tree */
    /* Limit of files newer than the first removal: per pass, and per tree before
     * repeated passes stop. Another process may create files as fast as this process
     * removes them. */
    MAX_NEW = 1 << 14
};

/* Offset that flags a truncated path: the length is that of the part that fits plus
 * CUT. */
enum { CUT = 2 * (PX_RM_MAX_PATH + 1) };

/* An item of kind KEEP. */
struct keep {
    const char *path;
    size_t len;
    dev_t dev;
    ino_t ino; /* 0: does not exist */
};

/* A folder on the path to the current folder. In memory after it stand the
 * NUL-terminated names of its folders. */
struct folder {
    struct folder *up;
    const char *name; /* in the parent folder */
    dev_t dev;
    ino_t ino;
    int fd; /* -1: closed to save descriptors */
    uint16_t passes;
    bool stays; /* an entry stays, so the folder stays */
    bool seen;  /* an entry was found in this pass */
    bool more;  /* memory did not suffice for all folder names */
    char *next; /* next name, and the end of the names */
    char *last;
    size_t path_len;
};

/* The tree that is being removed. */
struct tree {
    uint8_t flags;       /* the item's flags */
    int at;              /* the parent of the top folder */
    uint64_t n_reported; /* the run's n_reported at the start of the tree */
    int64_t mount;
    int64_t begun_ns; /* start by the file system's clock; 0: no file was removed yet */
    unsigned int n_new;
    unsigned int passes;
    unsigned int n_open;
    struct folder *open[MAX_OPEN]; /* without the top; the last is the current folder */
};

/* A run over many items. All its memory is one piece, used as a stack. */
struct run {
    struct px_rm_sys sys;
    uid_t uid;
    gid_t gid;
    px_rm_notify_fn notify; /* may be NULL */
    void *arg;
    struct px_pcleanup_totals *totals;
    struct keep *keeps;
    size_t n_keeps;
    char *mem, *end; /* the free memory */
    uint64_t n_reported;
    struct tree tree;
    char path[PX_RM_MAX_PATH + 5]; /* for reports and KEEP paths */
};

/* ---- entries that stay ---------------------------------------------------------- */

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

/* Reports that an entry stays. The folder is the first len bytes of run->path. name
 * NULL means the folder itself. */
static void report(struct run *run, size_t len, const char *name, enum px_rm_why why,
                   int errnum)
{
    run->n_reported++;
    if (why == PX_RM_ASKED)
        run->totals->kept++;
    else if (why == PX_RM_FOREIGN)
        run->totals->foreign++;
    else
        run->totals->failed++;
    if (!run->notify)
        return;
    if (name)
        path_add(run, len, name);
    else if (len < CUT)
        run->path[len] = '\0';
    run->notify(run->arg, run->path, why, errnum);
}

static void stays(struct run *run, struct folder *f, const char *name,
                  enum px_rm_why why, int errnum)
{
    f->stays = true;
    report(run, f->path_len, name, why, errnum);
}

static bool is_ours(const struct run *run, const struct px_rm_node *node, uint8_t flags)
{
    return node->uid == run->uid && (flags & PX_RM_ANY_GID || node->gid == run->gid);
}

/* True if an item of kind KEEP matches node or, with node NULL, the first len bytes of
 * run->path. */
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

/* True if the entry must stay, which is reported. */
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

/* Returns the reason for errnum. Older kernels do not identify files that are mount
 * points, but return EBUSY for them. */
static enum px_rm_why why_of(const struct run *run, int errnum)
{
    bool mount = errnum == EXDEV || (errnum == EBUSY && run->sys.no_mount_flag);

    return mount ? PX_RM_MOUNT : PX_RM_FAILED;
}

/* ---- open folders --------------------------------------------------------------- */

/* Closes the oldest open folder. False if only the current folder is open. */
static bool close_oldest(struct tree *t)
{
    if (t->n_open < 2)
        return false;
    close(t->open[0]->fd);
    t->open[0]->fd = -1;
    memmove(&t->open[0], &t->open[1], --t->n_open * sizeof(t->open[0]));
    return true;
}

/* Returns a descriptor of f's parent, opened again if necessary. -1 if the parent has
 * changed. */
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
    if (px_rm_probe(&run->sys, fd, "", &node) || !px_rm_is(&node, up->dev, up->ino)) {
        close(fd);
        return -1;
    }
    /* All ancestors of f were closed before up was. */
    run->tree.open[0] = up;
    run->tree.open[1] = f;
    run->tree.n_open = 2;
    up->fd = fd;
    return fd;
}

/* Adds a folder to the stack and owns fd. If memory is full, reports the folder and
 * returns NULL. */
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
        /* Read the time from the folder that has just changed: a file server's clock
         * may differ from ours. */
        if (!t->begun_ns && !px_rm_probe(&run->sys, f->fd, "", node))
            t->begun_ns = node->changed_ns;
    } else if (errno != ENOENT && errno != EISDIR) { /* the next pass finds a folder */
        stays(run, f, name, why_of(run, errno), errno);
    }
}

struct reading {
    struct run *run;
    struct folder *f;
    const char *limit; /* end of the memory for folder names */
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
    /* corrupt file systems may have slashes in names */
    int rc = strchr(name, '/') ? EIO : px_rm_probe(&run->sys, f->fd, name, &node);
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
    else if (is_folder && !node.mount) /* a mount point may block */
        note_folder(r, name);
    else if (!must_stay(run, f, name, &node))
        remove_file(run, f, name, &node);
    return run->tree.n_new < r->most_new;
}

static void read_folder(struct run *run, struct folder *f)
{
    char *names = (char *)(f + 1);
    /* the other half is for folders below */
    struct reading r = {run, f, names + (run->end - names) / 2,
                        run->tree.n_new + MAX_NEW};

    f->seen = f->more = false;
    f->next = f->last = names;
    int errnum = px_os_each_name(f->fd, take_entry, &r);
    if (errnum && errnum != ENOENT)
        stays(run, f, NULL, PX_RM_FAILED, errnum);
    if (run->tree.n_new >= r.most_new)
        stays(run, f, NULL, PX_RM_FAILED, ENOTEMPTY);
    run->mem = f->last;
}

/* Reads the folder once more. False if the limit of passes is reached. Another process
 * may fill the folder as fast as this process empties it. */
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

/* Removes the folder if name still is the same folder. Returns 0 or an errno. */
static int remove_folder(struct run *run, int at, const char *name, dev_t dev,
                         ino_t ino)
{
    struct px_rm_node node;
    int rc = px_rm_probe(&run->sys, at, name, &node);

    if (rc)
        return rc;
    if (!px_rm_is(&node, dev, ino))
        return ESTALE;
    if (unlinkat(at, name, AT_REMOVEDIR) < 0)
        return errno;
    run->totals->dirs++;
    return 0;
}

/* Handles a folder that cannot be opened. An unreadable folder may be empty, so tries
 * to remove it. */
static void take_closed(struct run *run, struct folder *f, const char *name, int errnum)
{
    struct px_rm_node node;

    if (errnum == ENOENT || errnum == ENOTDIR || errnum == ELOOP)
        return; /* the next pass finds its replacement */
    int rc = px_rm_probe(&run->sys, f->fd, name, &node);
    if (rc == ENOENT || (!rc && errnum != EXDEV && must_stay(run, f, name, &node)))
        return;
    if (errnum != EACCES || rc || remove_folder(run, f->fd, name, node.dev, node.ino))
        stays(run, f, name, why_of(run, errnum), errnum);
}

/* Enters the folder called name. Returns NULL if the folder must not be entered. */
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

/* Handles a lost way up: another process has moved f or an ancestor. Starts again at
 * the top, which is still open, unless that would report an entry twice. */
static struct folder *lost(struct run *run, struct folder *f)
{
    bool again = run->n_reported == run->tree.n_reported;

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

/* True if f has been read once more and is not complete. */
static bool is_unfinished(struct run *run, struct folder *f)
{
    bool leave_top = !f->up && run->tree.flags & PX_RM_LEAVE_TOP;

    if (f->more) {
        /* another pass would report the remaining entries again */
        if (!f->stays && f->last > (char *)(f + 1))
            return read_again(run, f);
        stays(run, f, NULL, PX_RM_FAILED, ENOMEM);
    }
    return leave_top && f->seen && !f->stays && read_again(run, f);
}

/* Completes f after all its folders. Returns the folder to continue with, or NULL at
 * the end. */
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
            /* below the top, the parent's removal detects moved folders */
            stays(run, f, NULL, rc == ESTALE ? PX_RM_MOVED : why_of(run, rc), rc);
        }
    }
    if (f->up)
        f->up->stays |= f->stays;
    return pop(run, f);
}

/* Removes a tree. Owns fd, a descriptor of folder name in at. */
static void remove_tree(struct run *run, uint8_t flags, int at, const char *name,
                        size_t path_len, int fd, const struct px_rm_node *node)
{
    run->tree = (struct tree){
        .flags = flags, .at = at, .n_reported = run->n_reported, .mount = -1};
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
           !px_rm_probe(&run->sys, AT_FDCWD, "/", &root) &&
           !px_rm_is(node, root.dev, root.ino);
}

/* Removes entry name of folder at. The owner of a file is read just before the removal,
 * by name. A process that can replace the file in between could have removed the file
 * anyway. */
static void remove_named(struct run *run, const struct px_rm_item *item, int at,
                         const char *name, size_t len)
{
    bool is_tree = item->kind == PX_RM_DIR;
    enum px_rm_why why = PX_RM_FAILED;
    struct px_rm_node node;

    /* the item may be inside a KEEP folder */
    for (size_t i = 0; is_tree && i < run->n_keeps; i++) {
        if (!px_rm_path_is_in(run->path, run->keeps[i].path))
            continue;
        report(run, len, NULL, PX_RM_ASKED, 0);
        return;
    }
    int fd = is_tree ? px_rm_open_in(at, name) : -1;
    int errnum = px_rm_probe(&run->sys, fd < 0 ? at : fd, fd < 0 ? name : "", &node);
    if (errnum == ENOENT)
        return;
    if (!errnum) {
        if (is_tree && S_ISLNK(node.mode))
            why = PX_RM_LINK;
        else if (!is_meant(run, item, &node) || px_os_fs_is_pseudo(fd < 0 ? at : fd))
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
    report(run, len, NULL, why, errnum);
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
        report(run, len, NULL, PX_RM_REFUSED, EINVAL);
        return;
    }
    char *slash = strrchr(way, '/');
    slash[slash == way] = '\0';
    PX_AUTOCLOSE int at = px_rm_open_way(&run->sys, way, run->uid);
    if (at >= 0)
        remove_named(run, item, at, strrchr(item->path, '/') + 1, len);
    else if (at != -ENOENT && at != -ENOTDIR)
        report(run, len, NULL, at == -ELOOP ? PX_RM_LINK : PX_RM_FAILED, -at);
}

/* ---- the run -------------------------------------------------------------------- */

static size_t depth_of(const char *path)
{
    size_t n = 1;

    while ((path = strchr(path, '/')))
        n++, path++;
    return n;
}

/* Returns the depth of the deepest tree that is less deep than below, or 0. */
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

    /* Save the identity of each KEEP path, so that the file stays even if it is
     * renamed. Links on the path are harmless here. */
    for (size_t i = 0; i < n; i++) {
        if (items[i].kind != PX_RM_KEEP)
            continue;
        struct keep *keep = &run->keeps[run->n_keeps++];
        *keep = (struct keep){.path = items[i].path, .len = strlen(items[i].path)};
        if (px_rm_probe(&run->sys, AT_FDCWD, keep->path, &node) == 0) {
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
                        MAP_PRIVATE | MAP_ANONYMOUS | PX_OS_MAP_LAZY, -1, 0);

    return mapped == MAP_FAILED ? NULL : mapped;
}

void px_reclaim_unmap(void *mapped, size_t size_b)
{
    if (mapped)
        munmap(mapped, size_b);
}

int px_rm_run(const struct px_rm_item *items, size_t n, uid_t uid, gid_t gid,
              px_rm_notify_fn notify, void *arg, struct px_pcleanup_totals *totals)
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
                        .notify = notify,
                        .arg = arg,
                        .totals = totals,
                        .keeps = (void *)(run + 1),
                        .mem = (char *)mem + fixed,
                        .end = (char *)mem + fixed + size};
    remove_all(run, items, n);
    px_reclaim_unmap(mem, fixed + size);
    return 0;
}
