/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds components, in folders and in the library itself, and loads them. Only under
 * the process lock. */
#ifndef PX_PLUGIN_LOADER_H
#define PX_PLUGIN_LOADER_H

#include "core/base/err.h"
#include "frameworks/framework.h"
#include "tenon/component.h"

typedef struct px_found {
    enum px_framework_id framework;
    char *name;
    char *file;                           /* NULL: inside the library only */
    const struct px_component *component; /* inside the library; NULL: not there */
    bool own;     /* a file that was built and installed with this library */
    char *broken; /* why it did not load: it is not tried again; or NULL */
    char *unused; /* why it is not in use, as far as was found out; or NULL */
} px_found;

/* A folder or a component that is not used, for all to know who ask. */
struct px_left_out {
    char *file;
    char *why;
};

typedef struct px_catalog { /* sorted by framework and name, each name once */
    struct px_found *v;
    size_t n, cap;
    struct px_left_out *left_out; /* in the order found */
    size_t n_left_out, cap_left_out;
} px_catalog;

/* The table of components linked into the library, ending in NULL; made by the
 * build. */
extern const struct px_component *const px_builtin_components[];
/* Names of all components of this library, "ptl/tcp", inside or in files, ending in
 * NULL; made by the build. */
extern const char *const px_own_components[];

/* Lists the files pmix_mca_tenon_<framework>_<name>.so in the folders of path, of
 * ~/.pmix/components and of pmix/ beside the library, and then the components inside
 * the library; of equals the first. Loads nothing. path and home may be NULL. A folder
 * that cannot be read, or that is not to be trusted, is skipped with a warning; one
 * that is not absolute is PMIX_ERR_BAD_PARAM. */
pmix_status_t px_catalog_fill(struct px_catalog *catalog, const char *path,
                              const char *home, struct px_err *err);
void px_catalog_cleanup(struct px_catalog *catalog);
/* The components of one framework: how many, and the first. */
size_t px_catalog_part(const struct px_catalog *catalog, enum px_framework_id framework,
                       const struct px_found **first);
/* NULL: there is none of that name. */
struct px_found *px_catalog_find(const px_catalog *catalog, enum px_framework_id id,
                                 const char *name);
/* Their names for a message, "tcp, usock" or "none", cut to size. */
void px_catalog_list(const struct px_catalog *catalog, enum px_framework_id framework,
                     char *text, size_t size);

struct px_loaded {
    struct px_component component; /* a copy, as far as both sides know it */
    struct px_param *params;       /* what it points to, if it had to be made: */
    void *ops;                     /* built with another header */
    void *handle;                  /* NULL: built in */
};

/* Loads and checks. err is one line that names the file, what it holds and what was
 * wanted: PMIX_ERR_NOT_FOUND if it cannot be loaded, PMIX_ERR_NOT_SUPPORTED if it does
 * not fit, PMIX_ERR_NO_PERMISSIONS if it is not to be trusted. */
pmix_status_t px_loader_load(const struct px_found *found, struct px_loaded *out,
                             struct px_err *err);
/* The same for what the library itself has of that name. */
pmix_status_t px_loader_load_builtin(const struct px_found *found,
                                     struct px_loaded *out, struct px_err *err);
void px_loader_unload(struct px_loaded *loaded);

/* Part of that (descriptor.c): checks what c says of itself, and fills in all but
 * handle. */
pmix_status_t px_descriptor_take(const struct px_found *found,
                                 const struct px_component *c, struct px_loaded *out,
                                 struct px_err *err);
void px_descriptor_release(struct px_loaded *loaded);

#endif
