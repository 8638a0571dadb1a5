/* SPDX-License-Identifier: BSD-3-Clause */
/* A run over what somebody has named: in which order, what is kept, and the items
 * themselves. */
#include "core/reclaim/rmtree.h"

#include "core/base/attr.h"
#include "core/reclaim/rmwalk.h"
#include "core/reclaim/sort.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Address space, not memory: only what is written to counts. */
#define ARENA_SIZE     ((size_t)64 << 20)
#define ARENA_SIZE_MIN ((size_t)1 << 20)

/* ---- items ---------------------------------------------------------------------- */

/* Copies the path to run->path, and gives its last name and what leads there ("/" if
 * nothing does); way has room for a path. False if it is not as px_rm_path_check makes
 * them. */
static bool take_apart(struct px_rm_run *run, const char *path, char *way,
                       const char **name)
{
    if (px_rm_path_check(path, way) || strcmp(path, way) != 0)
        return false;
    memcpy(run->path, way, strlen(way) + 1);
    char *last = strrchr(way, '/');
    *name = path + (last - way) + 1;
    last[last == way] = '\0';
    return true;
}

static enum px_rm_why why_of(int errnum)
{
    return errnum == ELOOP ? PX_RM_LINK : PX_RM_FAILED;
}

static bool is_same(const struct px_rm_item *item, const struct px_rm_node *node)
{
    return !(item->flags & PX_RM_SAME) ||
           px_rm_is(node, (dev_t)item->device, (ino_t)item->inode);
}

/* Its owner is asked of the same name in the same folder a moment before it is removed.
 * Who can put another thing there in between could have removed that, too. */
static void remove_file(struct px_rm_run *run, const struct px_rm_item *item, int at,
                        size_t len, const char *name)
{
    struct px_rm_node node;
    int rc = px_rm_look(&run->sys, at, name, &node);

    if (rc) {
        if (rc != ENOENT)
            px_rm_stays(run, len, NULL, PX_RM_FAILED, rc);
    } else if (S_ISDIR(node.mode) || px_rm_is_pseudo(at) || !is_same(item, &node)) {
        px_rm_stays(run, len, NULL, PX_RM_REFUSED, 0);
    } else if (node.mount) {
        px_rm_stays(run, len, NULL, PX_RM_MOUNT, 0);
    } else if (!px_rm_is_ours(run, &node, item->flags)) {
        px_rm_stays(run, len, NULL, PX_RM_FOREIGN, 0);
    } else if (unlinkat(at, name, 0) == 0) {
        run->totals->files++;
    } else if (errno != ENOENT) {
        px_rm_stays(run, len, NULL, PX_RM_FAILED, errno);
    }
}

static bool is_root(struct px_rm_run *run, const struct px_rm_node *node)
{
    struct px_rm_node root;

    return px_rm_look(&run->sys, AT_FDCWD, "/", &root) ||
           px_rm_is(node, root.dev, root.ino);
}

/* Could not be opened. */
static void tell_closed(struct px_rm_run *run, const struct px_rm_top *top, int errnum)
{
    struct px_rm_node node;

    if (px_rm_look(&run->sys, top->at, top->name, &node))
        return; /* gone */
    if (S_ISLNK(node.mode))
        px_rm_stays(run, top->path_len, NULL, PX_RM_LINK, ELOOP);
    else if (!S_ISDIR(node.mode))
        px_rm_stays(run, top->path_len, NULL, PX_RM_REFUSED, errnum);
    else if (!px_rm_is_ours(run, &node, top->flags))
        px_rm_stays(run, top->path_len, NULL, PX_RM_FOREIGN, errnum);
    else
        px_rm_stays(run, top->path_len, NULL, PX_RM_FAILED, errnum);
}

static void remove_tree(struct px_rm_run *run, const struct px_rm_item *item, int at,
                        size_t len, const char *name)
{
    struct px_rm_top top = {
        .flags = item->flags, .at = at, .name = name, .path_len = len};
    enum px_rm_why why = PX_RM_REFUSED;

    if (px_rm_keeps_top(run, len)) {
        px_rm_stays(run, len, NULL, PX_RM_ASKED, 0);
        return;
    }
    top.fd = px_rm_open_in(at, name);
    if (top.fd < 0) {
        tell_closed(run, &top, -top.fd);
        return;
    }
    int rc = px_rm_look(&run->sys, top.fd, "", &top.node);
    if (rc)
        why = PX_RM_FAILED;
    else if (!px_rm_is_ours(run, &top.node, item->flags))
        why = PX_RM_FOREIGN;
    else if (px_rm_keeps_node(run, &top.node))
        why = PX_RM_ASKED;
    else if (!is_root(run, &top.node) && !px_rm_is_pseudo(top.fd) &&
             is_same(item, &top.node)) {
        px_rm_walk(run, &top);
        return;
    }
    px_rm_stays(run, len, NULL, why, rc);
    close(top.fd);
}

static void remove_item(struct px_rm_run *run, const struct px_rm_item *item)
{
    char way[PX_RM_MAX_PATH + 1];
    const char *name;

    if (!take_apart(run, item->path, way, &name) ||
        (item->kind != PX_RM_FILE && item->kind != PX_RM_DIR)) {
        size_t len = strnlen(item->path, PX_RM_MAX_PATH);

        memcpy(run->path, item->path, len);
        px_rm_stays(run, len, NULL, PX_RM_REFUSED, EINVAL);
        return;
    }
    size_t len = strlen(run->path);
    PX_AUTOCLOSE int at = px_rm_open_way(&run->sys, way, run->uid);
    if (at == -ENOENT || at == -ENOTDIR)
        return; /* gone */
    if (at < 0)
        px_rm_stays(run, len, NULL, why_of(-at), -at);
    else if (item->kind == PX_RM_FILE)
        remove_file(run, item, at, len, name);
    else
        remove_tree(run, item, at, len, name);
}

/* ---- the run -------------------------------------------------------------------- */

static bool path_less(const void *a, const void *b)
{
    return px_rm_by_path(a, b) < 0;
}

static bool inode_less(const void *a, const void *b)
{
    return px_rm_by_inode(a, b) < 0;
}

/* A tree to remove. Equally deep ones keep their order. */
struct tree {
    size_t depth, index;
};

static bool tree_less(const void *a, const void *b)
{
    const struct tree *x = a, *y = b;

    return x->depth != y->depth ? x->depth > y->depth : x->index < y->index;
}

static size_t depth_of(const char *path)
{
    size_t n = 0;

    while ((path = strchr(path, '/')))
        n++, path++;
    return n;
}

/* What is there by that path now stays, even if it is renamed meanwhile. The way to it
 * may have links: to what must not be removed they are no danger. */
static void identify(struct px_rm_run *run, struct px_rm_keep *keep)
{
    char normal[PX_RM_MAX_PATH + 1];
    struct px_rm_node node;

    if (!px_rm_path_check(keep->path, normal) && strcmp(keep->path, normal) == 0 &&
        px_rm_look(&run->sys, AT_FDCWD, keep->path, &node) == 0) {
        keep->dev = node.dev;
        keep->ino = node.ino;
    }
}

static void *take(struct px_rm_run *run, size_t size)
{
    void *taken = run->mem;

    run->mem += (size + 7) / 8 * 8;
    return taken;
}

static void remember_keeps(struct px_rm_run *run, const struct px_rm_item *items,
                           size_t n)
{
    struct px_rm_keep *paths = take(run, n * sizeof(*paths)), *inodes;
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        if (items[i].kind == PX_RM_KEEP) {
            paths[found] = (struct px_rm_keep){.path = items[i].path};
            identify(run, &paths[found++]);
        }
    inodes = take(run, n * sizeof(*inodes));
    memcpy(inodes, paths, found * sizeof(*inodes));
    px_heap_sort(paths, found, sizeof(*paths), path_less);
    px_heap_sort(inodes, found, sizeof(*inodes), inode_less);
    run->by_path = paths;
    run->by_inode = inodes;
    run->n_keep = found;
}

static void remove_all(struct px_rm_run *run, const struct px_rm_item *items, size_t n)
{
    struct tree *trees = take(run, n * sizeof(*trees));
    size_t n_trees = 0;

    remember_keeps(run, items, n);
    for (size_t i = 0; i < n; i++)
        if (items[i].kind == PX_RM_DIR)
            trees[n_trees++] = (struct tree){depth_of(items[i].path), i};
        else if (items[i].kind != PX_RM_KEEP)
            remove_item(run, &items[i]);
    px_heap_sort(trees, n_trees, sizeof(*trees), tree_less);
    for (size_t i = 0; i < n_trees; i++)
        remove_item(run, &items[trees[i].index]);
}

int px_rm_run(const struct px_rm_item *items, size_t n, uid_t uid, gid_t gid,
              px_rm_told_fn told, void *arg, struct px_pcleanup_totals *totals)
{
    const size_t each = sizeof(struct tree) + 2 * sizeof(struct px_rm_keep);
    size_t fixed = sizeof(struct px_rm_run) + PX_RM_ENTRIES_SIZE + 64, size;
    void *mem = MAP_FAILED;

    if (!n)
        return 0;
    if (n > (SIZE_MAX / 4 - fixed) / each)
        return ENOMEM;
    fixed += n * each;
    for (size = ARENA_SIZE; size >= ARENA_SIZE_MIN; size /= 2) {
        mem = mmap(NULL, fixed + size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mem != MAP_FAILED)
            break;
    }
    if (mem == MAP_FAILED)
        return errno;

    struct px_rm_run *run = mem;
    *run = (struct px_rm_run){
        .uid = uid, .gid = gid, .told = told, .arg = arg, .totals = totals};
    run->mem = (char *)mem + sizeof(*run);
    run->end = (char *)mem + fixed + size;
    run->entries = take(run, PX_RM_ENTRIES_SIZE);
    remove_all(run, items, n);
    munmap(mem, fixed + size);
    return 0;
}
