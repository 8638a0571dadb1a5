/* SPDX-License-Identifier: BSD-3-Clause */
/* Trust in files. A path is as safe as its weakest directory, so all of them are
 * checked, from the file upwards. If no other user can change them, the time between
 * check and use of the real path does not matter. */
#include "core/rt/owner.h"

#include "core/os/os.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

bool px_is_privileged(void)
{
    return geteuid() == 0 || px_os_is_setuid();
}

/* Users that can run code in this process anyway. The owner of / can replace each file.
 * In a user namespace without root's uid, the overflow uid owns the files of root. */
struct trusted {
    struct stat library, top;
};

static bool is_trusted(const struct trusted *t, uid_t uid)
{
    return uid == 0 || uid == geteuid() || uid == t->library.st_uid ||
           uid == t->top.st_uid;
}

/* Checks one path component. sticky_is_enough: others may add to such a directory, but
 * not replace the component that was checked before. */
static pmix_status_t check_one(const struct trusted *t, const char *path,
                               bool sticky_is_enough, struct px_err *err)
{
    struct stat st;

    if (lstat(path, &st) < 0)
        return px_err_errno(err, "%s", path);
    if (!is_trusted(t, st.st_uid))
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS, "%s belongs to uid %ld", path,
                          (long)st.st_uid);
    if (sticky_is_enough && (st.st_mode & S_ISVTX))
        return PMIX_SUCCESS;
    if (st.st_mode & S_IWOTH)
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS, "%s is writable by all users",
                          path);
    if ((st.st_mode & S_IWGRP) && st.st_gid != 0 && st.st_gid != t->library.st_gid)
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS, "%s is writable by group %ld",
                          path, (long)st.st_gid);
    return PMIX_SUCCESS;
}

/* Checks at, which is cut, and all directories above. The first n_strict components
 * must not be sticky directories that every user may write to. */
static pmix_status_t check_way(char *at, size_t n_strict, struct px_err *err)
{
    PX_AUTOFREE char *file = px_library_file();
    struct trusted t;

    if (!file || stat(file, &t.library) < 0)
        t.library = (struct stat){0}; /* as if root owned the library */
    if (stat("/", &t.top) < 0)
        t.top = (struct stat){0};
    for (;;) {
        char *slash = strrchr(at, '/');
        pmix_status_t rc = check_one(&t, at, n_strict == 0, err);

        if (rc || at[1] == '\0')
            return rc;
        n_strict -= n_strict > 0;
        slash[slash == at ? 1 : 0] = '\0'; /* removes the last component */
    }
}

pmix_status_t px_path_check_holder(const char *dir, struct px_err *err)
{
    PX_AUTOFREE char *at = realpath(dir, NULL);

    return at ? check_way(at, 0, err) : px_err_errno(err, "%s", dir);
}

pmix_status_t px_path_check_owner(const char *path, char **out, struct px_err *err)
{
    struct stat st;

    if (stat(path, &st) < 0) /* one cheap call: most files do not exist */
        return px_err_errno(err, "%s", path);
    PX_AUTOFREE char *real = realpath(path, NULL);
    if (!real || stat(real, &st) < 0)
        return px_err_errno(err, "%s", path);
    PX_AUTOFREE char *at = strdup(real);
    if (!at)
        return px_err_nomem(err, "check %s", path);

    /* In a sticky directory other users can make a file, or a link to a secret file,
     * with a known name. They cannot link to directories. So a file's own directory
     * must not be sticky. */
    pmix_status_t rc = check_way(at, S_ISDIR(st.st_mode) ? 1 : 2, err);
    if (rc)
        return rc;
    *out = px_take(&real);
    return PMIX_SUCCESS;
}
