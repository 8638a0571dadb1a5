/* SPDX-License-Identifier: BSD-3-Clause */
/* Folders of this installation, relative to the program's own folder: an installed tree
 * may be moved as a whole. */
#include "contrib/tools/pmix_info/info.h"

#include "contrib/tools/toolkit.h"
#include "core/base/attr.h"
#include "core/os/os.h"
#include "core/rt/owner.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY "libpmix.so.2"

const char *const place_names[N_PLACES + 1] = {
    "prefix", "bindir", "libdir", "includedir", "sysconfdir", "pkglibdir", NULL,
};

/* Cuts tail off the end of path; false if path does not end in tail. */
static bool cut(char *path, const char *tail)
{
    size_t len = strlen(path), tail_len = strlen(tail);

    if (len <= tail_len || strcmp(path + len - tail_len, tail) != 0)
        return false;
    path[len - tail_len] = '\0';
    return true;
}

/* Returns the folder that holds file; NULL for NULL. Shortens file in place. */
static char *folder_of(char *file)
{
    char *slash = file ? strrchr(file, '/') : NULL;

    if (slash)
        *slash = '\0';
    return file;
}

static char *own_folder(void)
{
    char *file = px_os_program_file();

    if (!file) /* without /proc: the path given to exec */
        file = realpath(px_os_exec_name(), NULL);
    return folder_of(file);
}

/* Returns the parent of bin/, or the configured prefix if this program's folder has
 * another name. */
static char *prefix(const char *bindir)
{
    PX_AUTOFREE char *path = need(strdup(bindir ? bindir : ""));

    return need(strdup(cut(path, "/" INFO_BINDIR) ? path : INFO_PREFIX));
}

/* Returns dir within top. A folder from a build option may be absolute. */
static char *beneath(const char *top, const char *dir)
{
    return dir[0] == '/' ? need(strdup(dir)) : need_text("%s/%s", top, dir);
}

/* Returns the library that other programs use, not the core inside this program: the
 * library of the build folder, or the installed library. */
char *px_library_file(void)
{
    PX_AUTOFREE char *bindir = own_folder();
    PX_AUTOFREE char *top = prefix(bindir);
    PX_AUTOFREE char *libdir = NULL;

    if (bindir && cut(bindir, "/contrib/tools"))
        libdir = need_text("%s/core", bindir);
    else
        libdir = beneath(top, INFO_LIBDIR);
    PX_AUTOFREE char *file = need_text("%s/" LIBRARY, libdir);
    return realpath(file, NULL);
}

void places_find(struct place places[N_PLACES], const char *sysconfdir)
{
    char *bindir = own_folder();
    char *libdir = folder_of(px_library_file());
    char *top = prefix(bindir);
    char *paths[N_PLACES] = {
        top,
        bindir,
        libdir,
        beneath(top, INFO_INCLUDEDIR),
        sysconfdir ? need(strdup(sysconfdir)) : NULL,
        libdir ? need_text("%s/pmix", libdir) : NULL,
    };

    for (size_t i = 0; i < N_PLACES; i++)
        places[i] = (struct place){place_names[i], paths[i]};
}
