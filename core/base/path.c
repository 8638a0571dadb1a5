/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths: joining, random names, finding programs. */
#include "core/base/path.h"

#include "core/base/clock.h"
#include "core/base/strv.h"
#include "core/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

/* execvp's search path if PATH is unset, without the current directory. */
#define DEFAULT_PATH "/bin:/usr/bin"

char *px_path_join(const char *dir, const char *name)
{
    if (!dir || !*dir)
        return strdup(name);

    size_t len = strlen(dir);
    while (len && dir[len - 1] == '/')
        len--;
    while (*name == '/')
        name++;
    return px_strf("%.*s/%s", (int)len, dir, name);
}

void px_path_random(char *name, size_t n)
{
    static const char chars[64] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789Zz";
    uint8_t byte;

    for (size_t i = 0; i < n; i++) {
        /* The kernel may not have random bytes early after boot. */
        if (getrandom(&byte, 1, GRND_NONBLOCK) != 1)
            byte = (uint8_t)(px_clock_ms() * 31 + (uint64_t)getpid() * 7 + i * 13);
        name[i] = chars[byte % sizeof(chars)];
    }
}

static pmix_status_t check_program(const char *path, struct px_err *err)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return px_err_errno(err, "cannot run %s", path);
    if (S_ISDIR(st.st_mode))
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS,
                          "cannot run %s: it is a directory", path);
    if (!S_ISREG(st.st_mode))
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS,
                          "cannot run %s: it is not a regular file", path);
    if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0)
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS,
                          "cannot run %s: it is not executable", path);
    return PMIX_SUCCESS;
}

/* Returns name resolved against cwd; malloc'd. */
static char *from(const char *cwd, const char *name)
{
    return *name == '/' ? strdup(name) : px_path_join(cwd, name);
}

/* Searches like execvp: skips files that cannot be run. If no file can be run, reports
 * the first refusal. Folders that this user cannot enter are skipped, because su leaves
 * root's folders in PATH. */
static pmix_status_t find_in(const char *search, const char *name, const char *cwd,
                             char **out, struct px_err *err)
{
    struct px_err refusal = {.status = PMIX_SUCCESS};
    PX_AUTO(px_strv) dirs = px_strv_split(search, ':', true);
    if (!dirs)
        return px_err_nomem(err, "run %s", name);

    for (size_t i = 0; dirs[i]; i++) {
        struct px_err why;
        PX_AUTOFREE char *dir = from(cwd, dirs[i]);
        PX_AUTOFREE char *path = dir ? px_path_join(dir, name) : NULL;
        if (!path)
            return px_err_nomem(err, "run %s", name);
        pmix_status_t rc = check_program(path, &why);
        if (rc == PMIX_SUCCESS) {
            *out = px_take(&path);
            return PMIX_SUCCESS;
        }
        if (!refusal.status && faccessat(AT_FDCWD, path, F_OK, AT_EACCESS) == 0)
            refusal = why;
    }
    if (refusal.status)
        return px_err_set(err, refusal.status, "%s", refusal.text);
    return px_err_set(err, PMIX_ERR_NOT_FOUND, "cannot run %s: not found in %s", name,
                      search);
}

pmix_status_t px_path_find_program(const char *name, char *const *env, const char *cwd,
                                   char **out, struct px_err *err)
{
    if (!*name)
        return px_err_set(err, PMIX_ERR_NOT_FOUND,
                          "cannot run a program without a name");
    if (!cwd)
        cwd = ".";
    const char *search = px_env_get(env, "PATH");
    if (!strchr(name, '/'))
        return find_in(search ? search : DEFAULT_PATH, name, cwd, out, err);
    /* A name with a slash is a path; PATH does not apply. */
    PX_AUTOFREE char *path = from(cwd, name);
    if (!path)
        return px_err_nomem(err, "run %s", name);
    pmix_status_t rc = check_program(path, err);
    if (!rc)
        *out = px_take(&path);
    return rc;
}
