/* SPDX-License-Identifier: BSD-3-Clause */
/* A faulty file system, served by a child through /dev/fuse: it returns errors, changing results or
 * endless lists, or does not answer. */
#include "hostile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum fault {
    NONE,
    EIO_UNLINK, /* or rmdir */
    EIO_LOOKUP,
    EIO_OPEN,
    EIO_LIST,
    HANGS,     /* open is never answered */
    ENDLESS,   /* its list never ends, and each name in it exists */
    OTHER_INO, /* another number each time it is looked up */
    OTHER_UID, /* every second time it is root's */
    WRONG_TYPE /* its list calls files folders, and the other way round */
};

struct node {
    const char *name;
    unsigned parent;
    bool is_dir;
    enum fault fault;
    bool removed;
    unsigned asked;
};

/* Nodes by number. 0 is unused, and 1 is the root. Names of ENDLESS are generated, with numbers from
 * MADE_UP on. */
static struct node nodes[] = {
    {.name = ""},
    {.name = "", .is_dir = true},
    {"top", 1, true, NONE, 0, 0},
    {"good", 2, false, NONE, 0, 0},
    {"bad", 2, false, EIO_UNLINK, 0, 0},
    {"odd", 2, false, EIO_LOOKUP, 0, 0},
    {"shut", 2, true, EIO_OPEN, 0, 0},
    {"torn", 2, true, EIO_LIST, 0, 0},
    {"stuck", 2, true, EIO_UNLINK, 0, 0},
    {"inner", 2, true, NONE, 0, 0},
    {"f", 9, false, NONE, 0, 0},
    {"hangs", 1, true, HANGS, 0, 0},
    {"endless", 1, true, ENDLESS, 0, 0},
    {"lies", 1, true, WRONG_TYPE, 0, 0},
    {"ino", 13, true, OTHER_INO, 0, 0},
    {"uid", 13, true, OTHER_UID, 0, 0},
    {"file", 13, false, NONE, 0, 0},
    {"folder", 13, true, NONE, 0, 0},
};

#define N_NODES (sizeof(nodes) / sizeof(nodes[0]))
#define MADE_UP 1000

union reply {
    struct fuse_init_out init;
    struct fuse_attr_out attr;
    struct fuse_entry_out entry;
    struct fuse_open_out open;
    struct fuse_statfs_out statfs;
    char list[4096];
};

static void answer(int dev, uint64_t unique, int error, const void *data, size_t n)
{
    char out[sizeof(struct fuse_out_header) + sizeof(union reply)];
    struct fuse_out_header head = {.unique = unique, .error = -error};

    head.len = (uint32_t)(sizeof(head) + n);
    memcpy(out, &head, sizeof(head));
    if (n)
        memcpy(out + sizeof(head), data, n);
    if (write(dev, out, head.len) < 0 && errno != ENOENT)
        _exit(1);
}

static struct fuse_attr attr_of(uint64_t id)
{
    struct fuse_attr a = {
        .ino = id, .nlink = 1, .uid = USER, .gid = USER, .blksize = 512};

    if (id >= MADE_UP) {
        a.mode = S_IFREG | 0644;
        return a;
    }
    a.mode = nodes[id].is_dir ? S_IFDIR | 0755 : S_IFREG | 0644;
    nodes[id].asked++;
    if (nodes[id].fault == OTHER_INO)
        a.ino = 100 + nodes[id].asked;
    if (nodes[id].fault == OTHER_UID && nodes[id].asked % 2 == 0)
        a.uid = a.gid = 0;
    return a;
}

/* Returns the number of a node, or 0. */
static uint64_t find(uint64_t parent, const char *name)
{
    if (parent < N_NODES && nodes[parent].fault == ENDLESS)
        return MADE_UP + strtoull(name, NULL, 10) % 1000000;
    for (unsigned i = 2; i < N_NODES; i++)
        if (nodes[i].parent == parent && !nodes[i].removed &&
            strcmp(nodes[i].name, name) == 0)
            return i;
    return 0;
}

static int look_up(uint64_t parent, const char *name, union reply *r, size_t *n)
{
    uint64_t id = find(parent, name);

    if (!id)
        return ENOENT;
    if (id < N_NODES && nodes[id].fault == EIO_LOOKUP)
        return EIO;
    r->entry.nodeid = id;
    r->entry.attr = attr_of(id);
    *n = sizeof(r->entry);
    return 0;
}

static int drop(uint64_t parent, const char *name)
{
    uint64_t id = find(parent, name);

    if (!id)
        return ENOENT;
    if (id >= MADE_UP)
        return 0;
    if (nodes[id].fault == EIO_UNLINK)
        return EIO;
    for (unsigned i = 2; i < N_NODES; i++)
        if (nodes[i].parent == id && !nodes[i].removed)
            return ENOTEMPTY;
    nodes[id].removed = true;
    return 0;
}

static bool put_entry(union reply *r, size_t *n, uint64_t off, const char *name,
                      bool as_dir)
{
    struct fuse_dirent e = {.ino = off + 1,
                            .off = off,
                            .namelen = (uint32_t)strlen(name),
                            .type = as_dir ? DT_DIR : DT_REG};
    size_t size = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + e.namelen);

    if (*n + size > sizeof(r->list))
        return false;
    memset(r->list + *n, 0, size);
    memcpy(r->list + *n, &e, FUSE_NAME_OFFSET);
    memcpy(r->list + *n + FUSE_NAME_OFFSET, name, e.namelen);
    *n += size;
    return true;
}

static int list(uint64_t id, uint64_t from, union reply *r, size_t *n)
{
    char name[32];

    if (nodes[id].fault == EIO_LIST)
        return EIO;
    if (nodes[id].fault == ENDLESS) {
        do
            snprintf(name, sizeof(name), "%llu", (unsigned long long)from);
        while (put_entry(r, n, ++from, name, false));
        return 0;
    }
    for (uint64_t i = from < 2 ? 2 : from; i < N_NODES; i++)
        if (nodes[i].parent == id && !nodes[i].removed &&
            !put_entry(r, n, i + 1, nodes[i].name,
                       nodes[i].is_dir ^ (nodes[id].fault == WRONG_TYPE)))
            break;
    return 0;
}

/* Serves a request. Returns an error number; -1: no answer. */
static int serve(const struct fuse_in_header *in, const char *arg, union reply *r,
                 size_t *n)
{
    const struct fuse_read_in *read_in = (const void *)arg;
    enum fault fault = in->nodeid < N_NODES ? nodes[in->nodeid].fault : NONE;

    switch (in->opcode) {
    case FUSE_INIT:
        r->init = (struct fuse_init_out){.major = FUSE_KERNEL_VERSION,
                                         .minor = 31,
                                         .max_write = 4096,
                                         .max_readahead = 4096};
        *n = sizeof(r->init);
        return 0;
    case FUSE_GETATTR:
        r->attr.attr = attr_of(in->nodeid);
        *n = sizeof(r->attr);
        return 0;
    case FUSE_LOOKUP:
        return look_up(in->nodeid, arg, r, n);
    case FUSE_OPENDIR:
        *n = sizeof(r->open);
        return fault == HANGS ? -1 : fault == EIO_OPEN ? EIO : 0;
    case FUSE_READDIR:
        return list(in->nodeid, read_in->offset, r, n);
    case FUSE_UNLINK:
    case FUSE_RMDIR:
        return drop(in->nodeid, arg);
    case FUSE_STATFS:
        *n = sizeof(r->statfs);
        return 0;
    case FUSE_RELEASEDIR:
    case FUSE_FLUSH:
        return 0;
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
        return -1;
    default:
        return ENOSYS;
    }
}

static void serve_all(int dev)
{
    static char in[1 << 16];

    for (;;) {
        ssize_t got = read(dev, in, sizeof(in));
        struct fuse_in_header head;
        union reply r;
        size_t n = 0;
        int error;

        if (got < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN))
            continue;
        if (got < (ssize_t)sizeof(head))
            _exit(0); /* unmounted */
        memcpy(&head, in, sizeof(head));
        memset(&r, 0, sizeof(r));
        error = serve(&head, in + sizeof(head), &r, &n);
        if (error >= 0)
            answer(dev, head.unique, error, &r, error ? 0 : n);
    }
}

pid_t faulty_mount(struct scene *s)
{
    int dev = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    char options[120];
    pid_t pid;

    make(s, "d:m");
    snprintf(options, sizeof(options),
             "fd=%d,rootmode=40755,user_id=0,group_id=0,allow_other", dev);
    if (dev < 0 ||
        mount("hostile", at(s, "m"), "fuse", MS_NOSUID | MS_NODEV, options)) {
        if (dev >= 0)
            close(dev);
        s->missing = "FUSE here";
        return 0;
    }
    pid = fork_or_die();
    if (pid == 0)
        serve_all(dev);
    close(dev);
    return pid;
}

void faulty_unmount(struct scene *s, pid_t pid)
{
    if (pid > 0)
        end_process(pid, true);
    umount2(at(s, "m"), MNT_DETACH);
}

struct faulty {
    const char *name, *reg, *gone, *stay;
    unsigned timeout_s; /* limit of the walk, which may need all of it */
};

static void one(struct scene *s, const struct faulty *f)
{
    double begin, took;
    pid_t pid;

    if (!case_begin(s, f->name))
        return;
    make(s, "T:top");
    pid = faulty_mount(s);
    if (!left_out(s)) {
        reg(s, f->reg);
        if (f->timeout_s)
            s->timeout_s = f->timeout_s;
        begin = now_s();
        s->level->remove(s);
        took = now_s() - begin;
        if (took > s->timeout_s + 10)
            bad(s, "it took %.1f s", took);
        gone(s, f->gone);
        stays(s, f->stay);
    }
    faulty_unmount(s, pid);
    case_end(s);
}

void cases_faulty(struct scene *s)
{
    static const struct faulty all[] = {
        {"errors of the disk", "D:m/top F:m/top/odd D:top",
         "m/top/good m/top/inner/f m/top/inner top",
         "m/top m/top/bad m/top/shut m/top/torn m/top/stuck", 0},
        {"a file system that lies", "D:m/lies D:m/lies/ino D:m/lies/uid D:top",
         "m/lies/file m/lies/folder top", "", 0},
        {"a file system that hangs", "D:m/hangs D:top", "", "m/hangs", 2},
        {"a folder without end", "D:m/endless D:top", "", "m/endless", 2},
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (!(s->level->powers && all[i].timeout_s)) /* killed from outside */
            one(s, &all[i]);
}
