/* SPDX-License-Identifier: BSD-3-Clause */
/* Folders of this installation, which may have been moved as a whole: they are found
 * from where this program is. */
#include "contrib/tools/pmix_info/info.h"

#include "contrib/tools/toolkit.h"
#include "core/base/attr.h"
#include "core/rt/owner.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#define LIBRARY "libpmix.so.2"

const char *const place_names[N_PLACES + 1] = {
    "prefix", "bindir", "libdir", "includedir", "sysconfdir", "pkglibdir", NULL,
};

/* Cuts tail off the end of path; false if it does not end so. */
static bool cut(char *path, const char *tail)
{
    size_t len = strlen(path), tail_len = strlen(tail);

    if (len <= tail_len || strcmp(path + len - tail_len, tail) != 0)
        return false;
    path[len - tail_len] = '\0';
    return true;
}

/* The folder that holds file; NULL for NULL. */
static char *folder_of(char *file)
{
    char *slash = file ? strrchr(file, '/') : NULL;

    if (slash)
        *slash = '\0';
    return file;
}

static char *own_folder(void)
{
    char *file = realpath("/proc/self/exe", NULL);

    if (!file) /* without /proc: the path it was started by */
        file = realpath((const char *)(uintptr_t)getauxval(AT_EXECFN), NULL);
    return folder_of(file);
}

/* Where bin/ is; if this program is not in a folder of that name, where it was meant to
 * be installed. */
static char *prefix(const char *bindir)
{
    PX_AUTOFREE char *path = need(strdup(bindir ? bindir : ""));

    return need(strdup(cut(path, "/" INFO_BINDIR) ? path : INFO_PREFIX));
}

/* Folders of the build options may be absolute. */
static char *beneath(const char *top, const char *dir)
{
    return dir[0] == '/' ? need(strdup(dir)) : need_text("%s/%s", top, dir);
}

/* This program holds the core, but what it tells of is the library that others use: in
 * the build folder that of the build, else the installed one. */
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
