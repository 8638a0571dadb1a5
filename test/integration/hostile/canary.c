/* SPDX-License-Identifier: BSD-3-Clause */
/* The canary: a tree that must not change. It has files of root, of a bystander, of another group of the
 * attacker, and files of the attacker that were never registered. */
#include "hostile.h"

#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *known; /* record of the tree: a line for each file */

/* Returns a hash of a file's contents, or of a link's target. */
static uint64_t hash_of(const char *path, mode_t mode)
{
    int fd = S_ISREG(mode) ? open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
    uint64_t h = 0xcbf29ce484222325u;
    char buf[4096];
    ssize_t n = S_ISLNK(mode) ? readlink(path, buf, sizeof(buf)) : 0;

    do {
        for (ssize_t i = 0; i < n; i++)
            h = (h ^ (unsigned char)buf[i]) * 0x100000001b3u;
        n = fd < 0 ? 0 : read(fd, buf, sizeof(buf));
    } while (n > 0);
    if (fd >= 0)
        close(fd);
    return h;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static char *record(const struct scene *s)
{
    char *const roots[] = {(char *)s->canary, (char *)s->other, NULL};
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!fts || !out)
        die("cannot walk the canary");
    for (FTSENT *e; (e = fts_read(fts));) {
        const struct stat *st = e->fts_statp;

        if (e->fts_info != FTS_DP)
            fprintf(out,
                    "%s: file %ju:%ju, mode %o, owner %u:%u, %jd bytes %" PRIx64 "\n",
                    e->fts_path, (uintmax_t)st->st_dev, (uintmax_t)st->st_ino,
                    st->st_mode, st->st_uid, st->st_gid,
                    S_ISDIR(st->st_mode) ? 0 : (intmax_t)st->st_size,
                    hash_of(e->fts_path, st->st_mode));
    }
    fts_close(fts);
    fclose(out);
    return text;
}

const char *canary_differs(const struct scene *s)
{
    static char text[2048];
    char *now = record(s), *was = known, *is = now;

    while (*was && *was == *is) {
        was++;
        is++;
    }
    text[0] = '\0';
    if (*was || *is) {
        while (was > known && was[-1] != '\n') {
            was--;
            is--;
        }
        snprintf(text, sizeof(text), "\"%.*s\", but it was \"%.*s\"",
                 (int)strcspn(is, "\n"), is, (int)strcspn(was, "\n"), was);
    }
    free(now);
    return text[0] ? text : NULL;
}

static void put(const char *dir, const char *name, uid_t uid, gid_t gid)
{
    char path[400];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    if (!grow(path, uid, gid))
        die("cannot make %s", path);
}

/* Makes a tree. It also has the names of the swaps, so that a misled remover finds them. */
static void put_names(const struct scene *s, const char *name)
{
    char path[300];

    put(s->canary, name, USER, USER);
    snprintf(path, sizeof(path), "%s/%s", s->canary, name);
    put(path, "top", USER, USER);
    put(path, "way2", USER, USER);
    put(path, "way2/top", USER, USER);
}

void canary_make(struct scene *s)
{
    char path[300];

    wipe(s, s->canary);
    wipe(s, s->other);
    if (mkdir(s->canary, 0755) || mkdir(s->other, 0755) ||
        lchown(s->other, OTHER, OTHER))
        die("cannot make the canary");
    put(s->canary, "root", 0, 0);
    put(s->canary, "other", OTHER, OTHER);
    put(s->canary, "group", USER, USER_OTHER_GID);
    put_names(s, "bait");
    /* Files of the attacker in a folder that the attacker cannot change. */
    snprintf(path, sizeof(path), "%s/mine", s->canary);
    if (mkdir(path, 0755))
        die("cannot make %s", path);
    put(path, "top", USER, USER);
    /* Files of the attacker in a folder that the attacker cannot enter. */
    put_names(s, "locked");
    snprintf(path, sizeof(path), "%s/locked", s->canary);
    if (lchown(path, 0, 0) || chmod(path, 0700))
        die("cannot lock %s", path);
    put(s->other, "top", OTHER, OTHER);
    put(s->other, "f0", OTHER, OTHER);
    free(known);
    known = record(s);
}
