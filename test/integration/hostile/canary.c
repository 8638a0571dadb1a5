/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree that must not change: things of root, of a bystander, of another group of the
 * attacker's, and things that are the attacker's in every respect but were never registered. */
#include "hostile.h"

#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct entry {
    char *path;
    dev_t dev;
    ino_t ino;
    mode_t mode;
    uid_t uid;
    gid_t gid;
    off_t size;
    uint64_t hash; /* of content, or of where a link leads */
};

struct record {
    struct entry *entries;
    size_t n, room;
};

static struct record known;
static struct record *filling; /* nftw has no argument */

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

static uint64_t hash_of(const char *path, mode_t mode)
{
    uint64_t h = 0xcbf29ce484222325u;
    char buf[4096];
    ssize_t n;
    int fd;

    if (S_ISLNK(mode)) {
        n = readlink(path, buf, sizeof buf);
        return hash_bytes(h, buf, n > 0 ? (size_t)n : 0);
    }
    if (!S_ISREG(mode))
        return 0;
    fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return 0;
    while ((n = read(fd, buf, sizeof buf)) > 0)
        h = hash_bytes(h, buf, (size_t)n);
    close(fd);
    return h;
}

static int note(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    struct entry *e;

    (void)flag;
    (void)ftw;
    if (filling->n == filling->room) {
        filling->room = filling->room ? filling->room * 2 : 64;
        filling->entries = realloc(filling->entries,
                                   filling->room * sizeof *filling->entries);
        if (!filling->entries)
            die("no memory");
    }
    e = &filling->entries[filling->n++];
    *e = (struct entry){.path = strdup(path),
                        .dev = st->st_dev,
                        .ino = st->st_ino,
                        .mode = st->st_mode,
                        .uid = st->st_uid,
                        .gid = st->st_gid,
                        .size = S_ISDIR(st->st_mode) ? 0 : st->st_size,
                        .hash = hash_of(path, st->st_mode)};
    return 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->path, ((const struct entry *)b)->path);
}

static void forget(struct record *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->entries[i].path);
    free(r->entries);
    *r = (struct record){0};
}

static void take(struct record *r, const struct scene *s)
{
    forget(r);
    filling = r;
    if (nftw(s->canary, note, 32, FTW_PHYS) || nftw(s->other, note, 32, FTW_PHYS))
        die("cannot walk the canary");
    qsort(r->entries, r->n, sizeof *r->entries, by_path);
}

void canary_record(const struct scene *s)
{
    take(&known, s);
    if (known.n < 50)
        die("the canary has %zu entries only", known.n);
}

const char *canary_differs(const struct scene *s)
{
    static char text[512];
    struct record is = {0};

    text[0] = '\0';
    take(&is, s);
    for (size_t i = 0, k = 0; (i < is.n || k < known.n) && !text[0]; i++, k++) {
        const struct entry *a = k < known.n ? &known.entries[k] : NULL;
        const struct entry *b = i < is.n ? &is.entries[i] : NULL;
        int order = !a ? 1 : !b ? -1 : strcmp(a->path, b->path);

        if (order)
            snprintf(text, sizeof text, "%s is %s", order < 0 ? a->path : b->path,
                     order < 0 ? "gone" : "new");
        else if (a->dev != b->dev || a->ino != b->ino)
            snprintf(text, sizeof text, "%s is another file", a->path);
        else if (a->mode != b->mode || a->uid != b->uid || a->gid != b->gid)
            snprintf(text, sizeof text, "%s: mode %o, owner %u:%u", b->path, b->mode,
                     b->uid, b->gid);
        else if (a->size != b->size || a->hash != b->hash)
            snprintf(text, sizeof text, "%s has another content", b->path);
    }
    forget(&is);
    return text[0] ? text : NULL;
}

static void put(const char *dir, const char *name, uid_t uid, gid_t gid)
{
    char path[400];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (!grow(path, uid, gid))
        die("cannot make %s", path);
}

/* Also with the names that the swaps use, so that who is led astray finds what he looks for. */
void canary_make(const struct scene *s)
{
    char path[300];

    if (mkdir(s->canary, 0755) || mkdir(s->other, 0755) ||
        lchown(s->other, OTHER, OTHER))
        die("cannot make the canary");
    put(s->canary, "root", 0, 0);
    put(s->canary, "other", OTHER, OTHER);
    put(s->canary, "group", USER, USER_OTHER_GID);
    put(s->canary, "bait", USER, USER);
    snprintf(path, sizeof path, "%s/bait", s->canary);
    put(path, "top", USER, USER);
    put(path, "way2", USER, USER);
    snprintf(path, sizeof path, "%s/bait/way2", s->canary);
    put(path, "top", USER, USER);
    /* The attacker's, where he could not remove it. */
    snprintf(path, sizeof path, "%s/mine", s->canary);
    if (mkdir(path, 0755))
        die("cannot make %s", path);
    put(path, "top", USER, USER);
    /* The attacker's, where no path may lead. */
    put(s->canary, "locked", USER, USER);
    snprintf(path, sizeof path, "%s/locked", s->canary);
    put(path, "top", USER, USER);
    put(path, "way2", USER, USER);
    snprintf(path, sizeof path, "%s/locked/way2", s->canary);
    put(path, "top", USER, USER);
    snprintf(path, sizeof path, "%s/locked", s->canary);
    if (lchown(path, 0, 0) || chmod(path, 0700))
        die("cannot lock %s", path);
    put(s->other, "top", OTHER, OTHER);
    snprintf(path, sizeof path, "%s/f0", s->other);
    if (!grow(path, OTHER, OTHER))
        die("cannot make %s", path);
}
