/* SPDX-License-Identifier: BSD-3-Clause */
/* Loader: lists components, loads a component, and checks it before use. */
#include "core/plugin/loader.h"

#include "core/base/dl.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/base/vec.h"
#include "core/rt/log.h"
#include "core/rt/owner.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <ltdl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_PREFIX "pmix_mca_tenon_"
#define FILE_SUFFIX ".so"

/* ---- list of components ---------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const struct px_found *x = a, *y = b;

    if (x->framework != y->framework)
        return x->framework < y->framework ? -1 : 1;
    return strcmp(x->name, y->name);
}

bool px_found_is(const struct px_found *f, const char *text)
{
    const char *framework = px_frameworks[f->framework].name;
    const size_t len = strlen(framework);

    return strncmp(text, framework, len) == 0 && text[len] == '/' &&
           strcmp(text + len + 1, f->name) == 0;
}

struct px_found *px_catalog_find(const px_catalog *catalog, enum px_framework_id id,
                                 const char *name)
{
    for (size_t i = 0; i < catalog->n; i++)
        if (catalog->v[i].framework == id && strcmp(catalog->v[i].name, name) == 0)
            return &catalog->v[i];
    return NULL;
}

static pmix_status_t leave_out(struct px_catalog *c, enum px_log_level level,
                               const char *file, const char *why)
{
    struct px_left_out *out = px_vec_add(&c->left_out, &c->n_left_out,
                                         &c->cap_left_out);

    if (!out)
        return PMIX_ERR_NOMEM;
    *out = (struct px_left_out){strdup(file), strdup(why)};
    if (!out->file || !out->why) {
        free(out->file);
        free(out->why);
        c->n_left_out--;
        return PMIX_ERR_NOMEM;
    }
    px_log(level, "loader", "%s is not used: %s", file, why);
    return PMIX_SUCCESS;
}

/* Adds a component and takes key's strings, unless the catalog has a component of that
 * name. */
static pmix_status_t add(struct px_catalog *c, struct px_found *key)
{
    struct px_found *first = px_catalog_find(c, key->framework, key->name);
    struct stat a, b;

    /* A directory that is listed twice hides nothing. */
    if (first && stat(first->file, &a) == 0 && stat(key->file, &b) == 0 &&
        px_is_same(&a, &b)) {
        first->own |= key->own;
        return PMIX_SUCCESS;
    }
    if (first) {
        PX_AUTOFREE char *why = px_strf("%s comes first", first->file);
        return why ? leave_out(c, PX_LOG_INFO, key->file, why) : PMIX_ERR_NOMEM;
    }
    key->prefix = px_strf("%s_%s_", px_frameworks[key->framework].name, key->name);
    struct px_found *added = key->prefix ? px_vec_add(&c->v, &c->n, &c->cap) : NULL;
    if (!added)
        return PMIX_ERR_NOMEM;
    *added = *key;
    *key = (struct px_found){0};
    return PMIX_SUCCESS;
}

static void px_found_cleanup(px_found *f)
{
    free(f->name);
    free(f->prefix);
    free(f->file);
    free(f->broken);
    free(f->unused);
}

/* Adds a component of the library. If a file of that name exists, the built-in one is
 * the fallback. */
static pmix_status_t add_builtin(struct px_catalog *c,
                                 const struct px_component *component)
{
    PX_AUTO(px_found) f = {.component = component, .name = strdup(component->name)};

    if (!f.name)
        return PMIX_ERR_NOMEM;
    f.framework = px_framework_find(component->framework, strlen(component->framework));
    if (f.framework == PX_FW_COUNT)
        return PMIX_SUCCESS;
    struct px_found *first = px_catalog_find(c, f.framework, f.name);
    if (!first)
        return add(c, &f);
    first->component = component;
    return PMIX_SUCCESS;
}

/* A directory whose files are listed. */
struct folder {
    const char *path;
    bool own;   /* the directory beside the library, where vendors install, too */
    char *real; /* NULL before the check of trust */
};

/* True if this library has a component of that name. */
static bool is_own_name(const struct px_found *f)
{
    const char *const *own = px_own_components;

    while (*own && !px_found_is(f, *own))
        own++;
    return *own;
}

/* Checks that only trusted users can change the directory, if the process has more
 * rights than its user. Called for directories with components only.
 * PMIX_ERR_NO_PERMISSIONS: the catalog has the reason. */
static pmix_status_t trust(struct px_catalog *c, struct folder *folder)
{
    struct px_err why = {0};

    if (folder->real)
        return PMIX_SUCCESS;
    if (!px_is_privileged()) {
        folder->real = strdup(folder->path);
        return folder->real ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    }
    pmix_status_t rc = px_path_check_owner(folder->path, &folder->real, &why);
    if (!rc || rc == PMIX_ERR_NOMEM)
        return rc;
    rc = leave_out(c, PX_LOG_WARN, folder->path, why.text);
    return rc ? rc : PMIX_ERR_NO_PERMISSIONS;
}

/* Adds a file if its name is a component's. OpenPMIx ignores the prefix silently if its
 * components are in the same directory. */
static pmix_status_t add_file(struct px_catalog *c, struct folder *folder,
                              const char *file_name)
{
    const size_t suffix = strlen(FILE_SUFFIX);
    size_t len = strlen(file_name);

    if (!px_str_starts(file_name, FILE_PREFIX) || len < suffix ||
        strcmp(file_name + len - suffix, FILE_SUFFIX) != 0)
        return PMIX_SUCCESS;
    const char *framework = file_name + strlen(FILE_PREFIX);
    const char *bar = strchr(framework, '_');
    if (!bar || bar + 1 >= file_name + len - suffix)
        return PMIX_SUCCESS;

    PX_AUTO(px_found) f = {0};
    f.framework = px_framework_find(framework, (size_t)(bar - framework));
    if (f.framework == PX_FW_COUNT)
        return PMIX_SUCCESS;
    pmix_status_t rc = trust(c, folder);
    if (rc)
        return rc;
    f.name = strndup(bar + 1, (size_t)(file_name + len - suffix - (bar + 1)));
    f.file = px_strf("%s/%s", folder->real, file_name);
    if (!f.name || !f.file)
        return PMIX_ERR_NOMEM;
    f.own = folder->own && is_own_name(&f);
    return add(c, &f);
}

static bool is_there(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0;
}

static pmix_status_t add_folder(struct px_catalog *c, const char *path, bool own)
{
    struct folder folder = {.path = path, .own = own};
    pmix_status_t rc = PMIX_SUCCESS;
    const struct dirent *entry;
    DIR *d = opendir(path);

    if (!d && errno == ENOMEM)
        return PMIX_ERR_NOMEM;
    if (!d)
        return leave_out(c, PX_LOG_WARN, path, strerror(errno));
    while (!rc && (entry = readdir(d)))
        rc = add_file(c, &folder, entry->d_name);
    closedir(d);
    free(folder.real);
    return rc == PMIX_ERR_NO_PERMISSIONS ? PMIX_SUCCESS : rc;
}

/* Adds the optional directories: the user's own, and the one beside the library. */
static pmix_status_t add_own_folders(struct px_catalog *c, const char *home)
{
    PX_AUTOFREE char *library = px_library_file();
    const char *slash = library ? strrchr(library, '/') : NULL;
    PX_AUTOFREE char *users = home ? px_strf("%s/.pmix/components", home) : NULL;
    PX_AUTOFREE char *own = slash
                                ? px_strf("%.*s/pmix", (int)(slash - library), library)
                                : NULL;
    pmix_status_t rc = home && !users ? PMIX_ERR_NOMEM : PMIX_SUCCESS;

    if (!rc && users && is_there(users))
        rc = add_folder(c, users, false);
    if (!rc && own && is_there(own))
        rc = add_folder(c, own, true);
    return rc;
}

static pmix_status_t add_path(struct px_catalog *c, const char *path, const char *home,
                              struct px_err *err)
{
    PX_AUTO(px_strv) dirs = path ? px_strv_split(path, ':', false) : NULL;
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; dirs && dirs[i] && !rc; i++) {
        if (dirs[i][0] != '/')
            return px_err_set(
                err, PMIX_ERR_BAD_PARAM,
                "mca_base_component_path: \"%s\": expected absolute paths", dirs[i]);
        rc = add_folder(c, dirs[i], false);
    }
    if (!rc)
        rc = add_own_folders(c, home);
    return rc ? px_err_nomem(err, "list components") : rc;
}

pmix_status_t px_catalog_fill(struct px_catalog *catalog, const char *path,
                              const char *home, struct px_err *err)
{
    pmix_status_t rc = add_path(catalog, path, home, err);
    size_t n_builtin = 0;

    while (px_builtin_components[n_builtin])
        n_builtin++;
    if (!rc && !px_vec_reserve(&catalog->v, catalog->n, &catalog->cap, n_builtin))
        rc = px_err_nomem(err, "list components");
    for (const struct px_component *const *b = px_builtin_components; *b && !rc; b++) {
        if (add_builtin(catalog, *b))
            rc = px_err_nomem(err, "list components");
    }
    if (!rc && catalog->n)
        qsort(catalog->v, catalog->n, sizeof(*catalog->v), compare);
    return rc;
}

void px_catalog_cleanup(struct px_catalog *catalog)
{
    for (size_t i = 0; i < catalog->n; i++)
        px_found_cleanup(&catalog->v[i]);
    for (size_t i = 0; i < catalog->n_left_out; i++) {
        free(catalog->left_out[i].file);
        free(catalog->left_out[i].why);
    }
    free(catalog->left_out);
    free(catalog->v);
    *catalog = (struct px_catalog){0};
}

size_t px_catalog_part(const px_catalog *catalog, enum px_framework_id id,
                       const struct px_found **first)
{
    size_t from = 0;

    while (from < catalog->n && catalog->v[from].framework < id)
        from++;
    size_t to = from;
    while (to < catalog->n && catalog->v[to].framework == id)
        to++;
    *first = catalog->v + from;
    return to - from;
}

void px_catalog_list(const px_catalog *catalog, enum px_framework_id id, char *text,
                     size_t size)
{
    const struct px_found *f;
    size_t n = px_catalog_part(catalog, id, &f), len = 0;

    px_str_copy(text, size, n ? "" : "none");
    for (size_t i = 0; i < n && len < size; i++)
        len += (size_t)snprintf(text + len, size - len, "%s%s", i ? ", " : "",
                                f[i].name);
}

/* ---- loading --------------------------------------------------------------------- */

/* Finds the descriptor, whose symbol follows from the file's name. */
static pmix_status_t find_descriptor(const struct px_found *f, void *handle,
                                     const struct px_component **out,
                                     struct px_err *err)
{
    PX_AUTOFREE char *symbol = px_strf("px_%s_%s_component",
                                       px_frameworks[f->framework].name, f->name);

    if (!symbol)
        return px_err_nomem(err, "load %s", f->file);
    *out = lt_dlsym(handle, symbol);
    if (!*out)
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED, "component %s has no symbol %s",
                          f->file, symbol);
    return PMIX_SUCCESS;
}

static void close_file(lt_dlhandle handle)
{
    (void)lt_dlclose(handle);
    (void)lt_dlexit();
}

/* Opens a file with local symbols by libltdl, which counts its users in a process. */
static lt_dlhandle open_local(const char *file)
{
    lt_dladvise advise = NULL;
    lt_dlhandle handle = NULL;

    /* Failed initialisations count, too, and need lt_dlexit. */
    if (!lt_dlinit() && !lt_dladvise_init(&advise) && !lt_dladvise_local(&advise))
        handle = lt_dlopenadvise(file, advise);
    (void)lt_dladvise_destroy(&advise);
    if (!handle)
        (void)lt_dlexit();
    return handle;
}

/* Opens a file. libltdl binds symbols lazily and loses the reason of a failure. Our own
 * files are linked to bind at once. The system's loader binds other files first, and
 * reports reasons. */
static pmix_status_t open_file(const struct px_found *f, const char *file,
                               void **handle, struct px_err *err)
{
    struct px_err why = {0};
    void *bound = f->own ? NULL : px_dl_open(file, RTLD_NOW | RTLD_LOCAL, &why);

    *handle = f->own || bound ? open_local(file) : NULL;
    if (!*handle && !why.text[0])
        bound = px_dl_open(file, RTLD_NOW | RTLD_LOCAL, &why);
    if (bound)
        (void)dlclose(bound);
    if (*handle)
        return PMIX_SUCCESS;
    return px_err_set(err, PMIX_ERR_NOT_FOUND, "component cannot be loaded: %s",
                      why.text[0] ? why.text : "libltdl cannot open the file");
}

static pmix_status_t load_file(const struct px_found *f, struct px_loaded *out,
                               struct px_err *err)
{
    const struct px_component *descriptor;
    PX_AUTOFREE char *real = NULL;

    pmix_status_t rc = px_is_privileged() ? px_path_check_owner(f->file, &real, err)
                                          : PMIX_SUCCESS;
    if (rc)
        return rc == PMIX_ERR_NO_PERMISSIONS
                   ? px_err_prefix(err, "component not loaded")
                   : rc;
    rc = open_file(f, real ? real : f->file, &out->handle, err);
    if (rc)
        return rc;
    rc = find_descriptor(f, out->handle, &descriptor, err);
    if (!rc)
        rc = px_descriptor_take(f, descriptor, out, err);
    if (rc)
        close_file(px_take(&out->handle));
    return rc;
}

pmix_status_t px_loader_load(const struct px_found *found, struct px_loaded *out,
                             struct px_err *err)
{
    *out = (struct px_loaded){0};
    return found->file ? load_file(found, out, err)
                       : px_loader_load_builtin(found, out, err);
}

pmix_status_t px_loader_load_builtin(const struct px_found *found,
                                     struct px_loaded *out, struct px_err *err)
{
    const struct px_found inside = {.framework = found->framework, .name = found->name};

    *out = (struct px_loaded){0};
    return px_descriptor_take(&inside, found->component, out, err);
}

void px_loader_unload(struct px_loaded *loaded)
{
    px_descriptor_release(loaded);
    if (loaded->handle)
        close_file(px_take(&loaded->handle));
}
