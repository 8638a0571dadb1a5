/* SPDX-License-Identifier: BSD-3-Clause */
/* A naive remover: it removes by path the files of the user, and does not follow a link as the last
 * component. The attacks must beat the naive remover, or they prove nothing. */
#include "hostile.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_his(const char *path, struct stat *st)
{
    return lstat(path, st) == 0 && st->st_uid == USER && st->st_gid == USER;
}

static void remove_tree(const char *path)
{
    char below[4200];
    struct dirent *e;
    struct stat st;
    DIR *d;
    int fd;

    if (!is_his(path, &st) || !S_ISDIR(st.st_mode))
        return;
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    d = fd >= 0 ? fdopendir(fd) : NULL;
    while (d && (e = readdir(d))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        snprintf(below, sizeof(below), "%s/%s", path, e->d_name);
        if (!is_his(below, &st))
            continue;
        if (S_ISDIR(st.st_mode))
            remove_tree(below);
        else
            unlink(below);
    }
    if (d)
        closedir(d);
    rmdir(path);
}

static void remove_all(void *arg)
{
    struct scene *s = arg;
    struct stat st;

    for (size_t i = 0; i < s->n_regs; i++) {
        if (s->regs[i].kind == REG_DIR)
            remove_tree(s->regs[i].path);
        else if (s->regs[i].kind == REG_FILE && is_his(s->regs[i].path, &st))
            unlink(s->regs[i].path);
    }
}

static bool decoy_remove(struct scene *s)
{
    return end_process(spawn_user(remove_all, s), false) == 0;
}

const struct level decoy = {.name = "decoy", .naive = true, .remove = decoy_remove};
