/* SPDX-License-Identifier: BSD-3-Clause */
#include "tree.h"

#include <check.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[PATH_MAX];

void px_tree_begin(const char *in)
{
    char real[PATH_MAX];

    umask(022);
    ck_assert_ptr_nonnull(realpath(in, real));
    snprintf(root, sizeof(root), "%.200s/px_tree_XXXXXX", real);
    ck_assert_ptr_nonnull(mkdtemp(root));
    ck_assert_int_eq(chmod(root, 0755), 0);
}

/* Removes the tree by rm, not by the code under test. */
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

/* Compares names as if names of folders ended with a slash. */
static int in_order(const FTSENT **a, const FTSENT **b)
{
    char x[NAME_MAX + 2], y[NAME_MAX + 2];

    snprintf(x, sizeof(x), "%s%s", (*a)->fts_name, (*a)->fts_info == FTS_D ? "/" : "");
    snprintf(y, sizeof(y), "%s%s", (*b)->fts_name, (*b)->fts_info == FTS_D ? "/" : "");
    return strcmp(x, y);
}

char *px_tree_list(const char *name)
{
    char *top[] = {(char *)px_tree_path(name), NULL}, *list = NULL;
    size_t size, n_top = strlen(top[0]) + 1;

    if (access(top[0], F_OK) < 0)
        return strdup("(gone)");
    FTS *tree = fts_open(top, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, in_order);
    FILE *f = open_memstream(&list, &size);
    ck_assert(tree && f);
    for (const FTSENT *e; (e = fts_read(tree));)
        if (e->fts_level > 0 && e->fts_info != FTS_DP && e->fts_info != FTS_DNR)
            fprintf(f, "%s%s%s", ftell(f) ? " " : "", e->fts_path + n_top,
                    S_ISDIR(e->fts_statp->st_mode)   ? "/"
                    : S_ISLNK(e->fts_statp->st_mode) ? "@"
                                                     : "");
    fts_close(tree);
    ck_assert_int_eq(fclose(f), 0);
    return list;
}
