/* SPDX-License-Identifier: BSD-3-Clause */
/* The walk over one tree. Each folder is read once, with what is not a folder removed
 * as it is met, and the names of its folders noted; then those are entered one after
 * the other. So a folder need not stay open while what is below it is done: all but the
 * top and the last few are closed, and opened again through "..", which has to lead to
 * the very folder that was left. */
#include "core/reclaim/rmwalk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_OPEN = 8,           /* folders, besides the top */
    MAX_PASSES = 64,        /* over a folder in which things appear */
    MAX_TREE_PASSES = 4096, /* of that kind in a tree */
    MAX_READS = 1 << 20,    /* of one pass */
    /* Things that were not there when the walk began, removed in one pass, and in a
     * tree before none is read twice any more: somebody may make them as fast as they
     * are removed. */
    MAX_NEW = 1 << 14
};

/* As getdents64(2) has it. */
struct entry {
    uint64_t ino;
    int64_t off;
    uint16_t size;
    uint8_t type;
    char name[];
};

enum { TYPE_UNKNOWN = 0, TYPE_DIR = 4 };

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
    bool moved; /* something in it was not where it had been */
    bool more;  /* there was no room for the names of all folders in it */
    char *next; /* name, and where they end */
    char *last;
    size_t path_len;
};

struct walk {
    struct px_rm_run *run;
    const struct px_rm_top *top;
    uint64_t n_told; /* before it */
    int64_t mount;
    int64_t begun_ns; /* since 1970 */
    bool has_clock;   /* begun_ns is by the file system's clock, too */
    unsigned int n_new;
    unsigned int passes;
    unsigned int n_open;
    struct folder *open[MAX_OPEN]; /* the one worked in is the last; not the top */
};

/* A path that does not fit is known by the length of what does, and this more. */
enum { CUT = 2 * (PX_RM_MAX_PATH + 1) };

/* ---- telling -------------------------------------------------------------------- */

static size_t path_add(struct px_rm_run *run, size_t len, const char *name)
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

void px_rm_stays(struct px_rm_run *run, size_t len, const char *name,
                 enum px_rm_why why, int errnum)
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

/* ---- what stays ----------------------------------------------------------------- */

bool px_rm_is_ours(const struct px_rm_run *run, const struct px_rm_node *node,
                   uint8_t flags)
{
    return node->uid == run->uid && (flags & PX_RM_ANY_GID || node->gid == run->gid);
}

int px_rm_by_path(const struct px_rm_keep *a, const struct px_rm_keep *b)
{
    return strcmp(a->path, b->path);
}

int px_rm_by_inode(const struct px_rm_keep *a, const struct px_rm_keep *b)
{
    if (a->ino != b->ino)
        return a->ino < b->ino ? -1 : 1;
    return (a->dev > b->dev) - (a->dev < b->dev);
}

typedef int (*keep_order_fn)(const struct px_rm_keep *a, const struct px_rm_keep *b);

static bool is_among(const struct px_rm_keep *keeps, size_t n, keep_order_fn order,
                     const struct px_rm_keep *wanted)
{
    size_t low = 0;

    while (low < n) {
        size_t middle = low + (n - low) / 2;
        int c = order(wanted, &keeps[middle]);

        if (!c)
            return true;
        if (c < 0)
            n = middle;
        else
            low = middle + 1;
    }
    return false;
}

static bool keeps_name(struct px_rm_run *run, size_t len, const char *name)
{
    struct px_rm_keep wanted = {.path = run->path};

    return run->n_keep && path_add(run, len, name) < CUT &&
           is_among(run->by_path, run->n_keep, px_rm_by_path, &wanted);
}

bool px_rm_keeps_node(const struct px_rm_run *run, const struct px_rm_node *node)
{
    struct px_rm_keep wanted = {.dev = node->dev, .ino = node->ino};

    return run->n_keep && is_among(run->by_inode, run->n_keep, px_rm_by_inode, &wanted);
}

/* Whether the path of run->path, or one that leads to it, is to be kept. */
bool px_rm_keeps_top(struct px_rm_run *run, size_t len)
{
    struct px_rm_keep wanted = {.path = run->path};
    bool found = false;

    for (size_t i = 1; run->n_keep && !found && i <= len; i++) {
        char c = run->path[i];

        if (i < len && c != '/')
            continue;
        run->path[i] = '\0';
        found = is_among(run->by_path, run->n_keep, px_rm_by_path, &wanted);
        run->path[i] = c;
    }
    return found;
}

/* ---- folders that are open ------------------------------------------------------ */

/* Makes room for a descriptor: all can be closed but the folder worked in. */
static bool close_oldest(struct walk *w)
{
    if (w->n_open < 2)
        return false;
    close(w->open[0]->fd);
    w->open[0]->fd = -1;
    w->n_open--;
    memmove(&w->open[0], &w->open[1], w->n_open * sizeof(w->open[0]));
    return true;
}

static int open_down(struct walk *w, struct folder *f, const char *name)
{
    for (;;) {
        int fd = px_rm_open_below(&w->run->sys, f->fd, f->dev, &w->mount, name);

        if ((fd != -EMFILE && fd != -ENFILE) || !close_oldest(w))
            return fd;
    }
}

/* Opens the folder above f again if it was closed; -1 if it is not above it any
 * more. */
static int open_up(struct walk *w, struct folder *f)
{
    struct px_rm_node node;
    struct folder *up = f->up;

    if (!up)
        return w->top->at;
    if (up->fd >= 0)
        return up->fd;
    int fd = px_rm_open_in(f->fd, "..");
    if (fd < 0)
        return -1;
    if (px_rm_look(&w->run->sys, fd, "", &node) || !px_rm_is(&node, up->dev, up->ino)) {
        close(fd);
        return -1;
    }
    /* All above f were closed before up was. */
    w->open[0] = up;
    w->open[1] = f;
    w->n_open = 2;
    up->fd = fd;
    return fd;
}

/* NULL if there is no room. */
static struct folder *push(struct walk *w, struct folder *up, const char *name, int fd,
                           const struct px_rm_node *node)
{
    struct px_rm_run *run = w->run;
    char *at = run->mem + (-(uintptr_t)run->mem & 7);

    if (run->end < at || (size_t)(run->end - at) < sizeof(struct folder))
        return NULL;
    struct folder *f = (struct folder *)(void *)at;
    *f = (struct folder){
        .up = up, .name = name, .dev = node->dev, .ino = node->ino, .fd = fd};
    run->mem = f->next = f->last = (char *)(f + 1);
    if (!up) {
        f->path_len = w->top->path_len;
        return f;
    }
    f->path_len = path_add(run, up->path_len, name);
    if (w->n_open == MAX_OPEN)
        close_oldest(w);
    w->open[w->n_open++] = f;
    return f;
}

static struct folder *pop(struct walk *w, struct folder *f)
{
    struct folder *up = f->up;

    if (up && f->fd >= 0) {
        close(f->fd);
        w->n_open--;
    }
    w->run->mem = (char *)f;
    return up;
}

/* ---- reading -------------------------------------------------------------------- */

static void stays(struct walk *w, struct folder *f, const char *name,
                  enum px_rm_why why, int errnum)
{
    f->stays = true;
    px_rm_stays(w->run, f->path_len, name, why, errnum);
}

/* Files can only be told from mount points by newer kernels; others say EBUSY. */
static enum px_rm_why why_of(const struct walk *w, int errnum)
{
    bool mount = errnum == EXDEV || (errnum == EBUSY && w->run->sys.no_mount_mark);

    return mount ? PX_RM_MOUNT : PX_RM_FAILED;
}

/* Whether it is one that has to stay, which is told. */
static bool must_stay(struct walk *w, struct folder *f, const char *name,
                      const struct px_rm_node *node)
{
    enum px_rm_why why;

    if (node->mount)
        why = PX_RM_MOUNT;
    else if (!px_rm_is_ours(w->run, node, w->top->flags))
        why = PX_RM_FOREIGN;
    else if (px_rm_keeps_node(w->run, node))
        why = PX_RM_ASKED;
    else
        return false;
    stays(w, f, name, why, 0);
    return true;
}

/* A file server's clock may be ahead of ours, and then all its files would be new. What
 * time it is there shows in a folder that has just changed. */
static void look_at_clock(struct walk *w, const struct folder *f)
{
    struct px_rm_node node;

    if (!w->has_clock && px_rm_look(&w->run->sys, f->fd, "", &node) == 0 &&
        node.changed_ns > w->begun_ns)
        w->begun_ns = node.changed_ns;
    w->has_clock = true;
}

/* Removes what is not a folder. Returns true if it is one. */
static bool remove_entry(struct walk *w, struct folder *f, const char *name)
{
    struct px_rm_node node;
    int rc = px_rm_look(&w->run->sys, f->fd, name, &node);

    if (rc) {
        if (rc != ENOENT)
            stays(w, f, name, PX_RM_FAILED, rc);
        return false;
    }
    if (S_ISDIR(node.mode))
        return true;
    if (w->top->flags & PX_RM_EMPTY) {
        f->stays = true;
        return false;
    }
    if (keeps_name(w->run, f->path_len, name)) {
        stays(w, f, name, PX_RM_ASKED, 0);
        return false;
    }
    if (must_stay(w, f, name, &node))
        return false;
    w->n_new += node.changed_ns > w->begun_ns;
    if (unlinkat(f->fd, name, 0) == 0) {
        w->run->totals->files++;
        look_at_clock(w, f);
    } else if (errno == EISDIR)
        f->moved = true;
    else if (errno != ENOENT)
        stays(w, f, name, why_of(w, errno), errno);
    return false;
}

/* Notes the name of a folder to be entered; limit is as far as that may go. */
static void note_folder(struct walk *w, struct folder *f, const char *name,
                        const char *limit)
{
    size_t n = strlen(name) + 1;

    if (!(w->top->flags & PX_RM_RECURSE)) {
        f->stays = true;
    } else if (keeps_name(w->run, f->path_len, name)) {
        stays(w, f, name, PX_RM_ASKED, 0);
    } else if (f->last > limit || (size_t)(limit - f->last) < n) {
        f->more = true;
    } else {
        memcpy(f->last, name, n);
        f->last += n;
    }
}

static void take_entry(struct walk *w, struct folder *f, const struct entry *e,
                       const char *limit)
{
    if (!strcmp(e->name, ".") || !strcmp(e->name, ".."))
        return;
    f->seen = true;
    if (strchr(e->name, '/')) /* a broken file system */
        stays(w, f, NULL, PX_RM_FAILED, EIO);
    else if (e->type == TYPE_DIR || remove_entry(w, f, e->name))
        note_folder(w, f, e->name, limit);
}

static void read_folder(struct walk *w, struct folder *f)
{
    struct px_rm_run *run = w->run;

    f->seen = f->moved = f->more = false;
    f->next = f->last = run->mem = (char *)(f + 1);
    /* The rest is for what is below. */
    const char *limit = run->mem + (run->end - run->mem) / 2;
    const unsigned int n_new = w->n_new;
    for (int i = 0; i < MAX_READS && w->n_new - n_new < MAX_NEW; i++) {
        long n = syscall(SYS_getdents64, f->fd, run->entries, PX_RM_ENTRIES_SIZE);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != ENOENT)
            stays(w, f, NULL, PX_RM_FAILED, errno);
        if (n <= 0)
            break;
        for (const char *at = run->entries; at < run->entries + n;) {
            const struct entry *e = (const struct entry *)(const void *)at;

            take_entry(w, f, e, limit);
            at += e->size;
        }
    }
    if (w->n_new - n_new >= MAX_NEW)
        stays(w, f, NULL, PX_RM_FAILED, ENOTEMPTY);
    run->mem = f->last;
}

/* Whether the folder is to be read once more; that is bounded, as somebody may fill it
 * as fast as it is emptied. */
static bool read_again(struct walk *w, struct folder *f)
{
    if (f->passes >= MAX_PASSES || w->passes >= MAX_TREE_PASSES ||
        w->n_new >= MAX_NEW || lseek(f->fd, 0, SEEK_SET) < 0) {
        stays(w, f, NULL, f->moved ? PX_RM_MOVED : PX_RM_FAILED, ENOTEMPTY);
        return false;
    }
    f->passes++;
    w->passes++;
    read_folder(w, f);
    return true;
}

/* ---- down and up ---------------------------------------------------------------- */

/* Removes the folder if it is what that name stands for. 0 or an errno. */
static int remove_folder(struct walk *w, int at, const char *name, dev_t dev, ino_t ino)
{
    struct px_rm_node node;
    int rc = px_rm_look(&w->run->sys, at, name, &node);

    if (rc)
        return rc;
    if (!px_rm_is(&node, dev, ino))
        return ESTALE;
    if (unlinkat(at, name, AT_REMOVEDIR) < 0)
        return errno;
    w->run->totals->dirs++;
    return 0;
}

/* Could not be opened. What may not be read may be empty all the same. */
static void take_closed(struct walk *w, struct folder *f, const char *name, int errnum)
{
    struct px_rm_node node;

    if (errnum == ENOENT)
        return;
    if (errnum == ENOTDIR || errnum == ELOOP) {
        if (remove_entry(w, f, name))
            f->moved = true; /* a folder again */
        return;
    }
    int rc = px_rm_look(&w->run->sys, f->fd, name, &node);
    if (rc == ENOENT || (!rc && errnum != EXDEV && must_stay(w, f, name, &node)))
        return;
    if (errnum != EACCES || rc || remove_folder(w, f->fd, name, node.dev, node.ino))
        stays(w, f, name, why_of(w, errnum), errnum);
}

/* Enters the folder of that name. Returns NULL if it is not to be entered. */
static struct folder *enter(struct walk *w, struct folder *f, const char *name)
{
    struct px_rm_node node;
    int fd = open_down(w, f, name);

    if (fd < 0) {
        take_closed(w, f, name, -fd);
        return NULL;
    }
    int rc = px_rm_look(&w->run->sys, fd, "", &node);
    if (rc)
        stays(w, f, name, PX_RM_FAILED, rc);
    if (rc || must_stay(w, f, name, &node)) {
        close(fd);
        return NULL;
    }
    struct folder *below = push(w, f, name, fd, &node);
    if (!below) {
        stays(w, f, name, PX_RM_FAILED, ENOMEM);
        close(fd);
        return NULL;
    }
    read_folder(w, below);
    return below;
}

/* The way up is lost, as somebody has moved f or what it is in. Begins again at the
 * top, which is still open, unless something was told already that would be told
 * again. */
static struct folder *lost(struct walk *w, struct folder *f)
{
    bool again = w->run->n_told == w->n_told;

    if (!again)
        stays(w, f, NULL, PX_RM_MOVED, 0);
    while (f->up)
        f = pop(w, f);
    f->stays = !again;
    f->next = f->last;
    f->more = false;
    if (again) {
        f->moved = true;
        read_again(w, f);
    }
    return f;
}

/* Whether f has to be read once more before it can be left. */
static bool is_unfinished(struct walk *w, struct folder *f)
{
    bool leave_top = !f->up && w->top->flags & PX_RM_LEAVE_TOP;

    if (f->more) {
        /* What stays would be met, and told, again. */
        if (!f->stays && f->last > (char *)(f + 1))
            return read_again(w, f);
        stays(w, f, NULL, PX_RM_FAILED, ENOMEM);
    }
    return leave_top && f->seen && !f->stays && read_again(w, f);
}

/* All in f is done. Returns the folder to go on with; NULL at the end. */
static struct folder *leave(struct walk *w, struct folder *f)
{
    if (is_unfinished(w, f))
        return f;
    int at = open_up(w, f);
    if (at < 0)
        return lost(w, f);
    if (!f->stays && (f->up || !(w->top->flags & PX_RM_LEAVE_TOP))) {
        int rc = remove_folder(w, at, f->name, f->dev, f->ino);

        if (rc == ENOTEMPTY || rc == EEXIST) {
            if (read_again(w, f))
                return f;
        } else if (rc == ESTALE && f->up) {
            f->up->moved = true; /* which shows when that is to be removed */
        } else if (rc && rc != ENOENT) {
            stays(w, f, NULL, rc == ESTALE ? PX_RM_MOVED : why_of(w, rc), rc);
        }
    }
    if (f->up)
        f->up->stays |= f->stays;
    return pop(w, f);
}

void px_rm_walk(struct px_rm_run *run, const struct px_rm_top *top)
{
    struct walk w = {.run = run, .top = top, .n_told = run->n_told, .mount = -1};
    struct folder *f = push(&w, NULL, top->name, top->fd, &top->node);
    struct timespec now = {0};

    clock_gettime(CLOCK_REALTIME, &now);
    w.begun_ns = now.tv_sec * PX_RM_NS_PER_S + now.tv_nsec;
    if (f)
        read_folder(&w, f);
    else
        px_rm_stays(run, top->path_len, NULL, PX_RM_FAILED, ENOMEM);
    while (f) {
        if (f->next < f->last) {
            const char *name = f->next;

            f->next += strlen(name) + 1;
            struct folder *below = enter(&w, f, name);
            f = below ? below : f;
        } else {
            f = leave(&w, f);
        }
    }
    close(top->fd);
}
