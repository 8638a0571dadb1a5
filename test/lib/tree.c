/* SPDX-License-Identifier: BSD-3-Clause */
#include "tree.h"

#include <check.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[PATH_MAX];
static char *found[4096];
static size_t n_found, n_skip;

void px_tree_begin(const char *in)
{
    char real[PATH_MAX];

    umask(022);
    ck_assert_ptr_nonnull(realpath(in, real));
    snprintf(root, sizeof(root), "%.200s/px_tree_XXXXXX", real);
    ck_assert_ptr_nonnull(mkdtemp(root));
    ck_assert_int_eq(chmod(root, 0755), 0);
}

/* By rm, as what is tested here can not clean up after its own tests. */
void px_tree_end(void)
{
    int status;
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        execlp("rm", "rm", "-rf", "--one-file-system", root, (char *)NULL);
        _exit(127);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

const char *px_tree_root(void)
{
    return root;
}

const char *px_tree_path(const char *name)
{
    static char paths[16][PATH_MAX];
    static unsigned int next;
    char *path = paths[next++ % 16];
    int n = snprintf(path, PATH_MAX, *name ? "%s/%s" : "%s", root, name);

    ck_assert_int_lt(n, PATH_MAX);
    return path;
}

static void make(const char *name)
{
    char path[PATH_MAX];
    size_t in = strlen(root) + 1;

    snprintf(path, sizeof(path), "%s", px_tree_path(name));
    char *target = strchr(path + in, '@');
    if (target)
        *target++ = '\0';
    for (char *slash = path + in; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        if (mkdir(path, 0755) < 0)
            ck_assert_msg(access(path, F_OK) == 0, "cannot make %s", path);
        *slash = '/';
    }
    if (path[strlen(path) - 1] == '/')
        return;
    if (target) {
        ck_assert_int_eq(symlink(target, path), 0);
        return;
    }
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    ck_assert_msg(fd >= 0, "cannot make %s", path);
    ck_assert_int_eq(write(fd, name, strlen(name)), (ssize_t)strlen(name));
    close(fd);
}

void px_tree_make(const char *names)
{
    char *copy = strdup(names), *rest = copy, *name;

    while ((name = strsep(&rest, " ")))
        if (*name)
            make(name);
    free(copy);
}

void px_tree_chown(const char *name, uid_t uid, gid_t gid)
{
    ck_assert_int_eq(lchown(px_tree_path(name), uid, gid), 0);
}

bool px_tree_has(const char *name)
{
    struct stat st;

    return lstat(px_tree_path(name), &st) == 0;
}

static int note(const char *path, const struct stat *st, int type, struct FTW *at)
{
    const char *mark = S_ISDIR(st->st_mode) ? "/" : S_ISLNK(st->st_mode) ? "@" : "";
    char name[PATH_MAX + 2];

    (void)type;
    if (at->level == 0)
        return 0;
    snprintf(name, sizeof(name), "%s%s", path + n_skip, mark);
    ck_assert_uint_lt(n_found, sizeof(found) / sizeof(found[0]));
    found[n_found++] = strdup(name);
    return 0;
}

static int in_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char *px_tree_list(const char *name)
{
    const char *path = px_tree_path(name);
    size_t size = 1, len = 0;

    n_found = 0;
    n_skip = strlen(path) + 1;
    if (access(path, F_OK) < 0)
        return strdup("(gone)");
    ck_assert_int_eq(nftw(path, note, 32, FTW_PHYS | FTW_MOUNT), 0);
    qsort(found, n_found, sizeof(found[0]), in_order);
    for (size_t i = 0; i < n_found; i++)
        size += strlen(found[i]) + 1;
    char *list = calloc(1, size);
    ck_assert_ptr_nonnull(list);
    for (size_t i = 0; i < n_found; i++) {
        len += (size_t)sprintf(list + len, i ? " %s" : "%s", found[i]);
        free(found[i]);
    }
    return list;
}
