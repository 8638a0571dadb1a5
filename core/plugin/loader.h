/* SPDX-License-Identifier: BSD-3-Clause */
/* Search for components, in directories and in the library, and loading. Only under the
 * process lock. */
#ifndef PX_PLUGIN_LOADER_H
#define PX_PLUGIN_LOADER_H

#include "core/base/err.h"
#include "frameworks/framework.h"
#include "tenon/component.h"

typedef struct px_found {
    enum px_framework_id framework;
    bool own; /* the file was built and installed with this library */
    char *name;
    char *prefix;                         /* of its parameters, "ptl_tcp_" */
    char *file;                           /* NULL: only in the library */
    const struct px_component *component; /* the library's component, or NULL */
    char *broken; /* reason of a failed load, which is not repeated; or NULL */
    char *unused; /* reason why the component is not in use, if known; or NULL */
} px_found;

/* A directory or component that is not used, for reports. */
struct px_left_out {
    char *file;
    char *why;
};

typedef struct px_catalog { /* sorted by framework and name, without repeated names */
    struct px_found *v;
    size_t n, cap;
    struct px_left_out *left_out; /* in order of the search */
    size_t n_left_out, cap_left_out;
} px_catalog;

/* Table of components linked into the library, ends with NULL; made by the build. */
extern const struct px_component *const px_builtin_components[];
/* Names of all components of this library, "ptl/tcp", built in or in files; ends with
 * NULL. Made by the build. */
extern const char *const px_own_components[];

/* Lists components without loading. Searches files pmix_mca_tenon_<framework>_<name>.so
 * in the directories of path, in ~/.pmix/components and in pmix/ beside the library,
 * then components in the library. The first of equal names counts. path and home may be
 * NULL. A directory that is unreadable or not trusted is skipped with a warning. A
 * relative path is PMIX_ERR_BAD_PARAM. */
pmix_status_t px_catalog_fill(struct px_catalog *catalog, const char *path,
                              const char *home, struct px_err *err);
void px_catalog_cleanup(struct px_catalog *catalog);
/* Returns the number of components of a framework, and the first one. */
size_t px_catalog_part(const struct px_catalog *catalog, enum px_framework_id framework,
                       const struct px_found **first);
/* True if text is "<framework>/<component>" of the component. */
bool px_found_is(const struct px_found *found, const char *text);
/* Finds a component by name, or returns NULL. */
struct px_found *px_catalog_find(const px_catalog *catalog, enum px_framework_id id,
                                 const char *name);
/* Writes the names of a framework's components, "tcp, usock" or "none", cut to size. */
void px_catalog_list(const struct px_catalog *catalog, enum px_framework_id framework,
                     char *text, size_t size);

struct px_loaded {
    struct px_component component; /* copy of the descriptor, with members that both
                                    * sides have */
    struct px_param *params;       /* converted copies for a component that was */
    void *ops;                     /* built with another header; or NULL */
    void *handle;                  /* NULL: built in */
};

/* Loads and checks a component. err names the file, its content and the expected one.
 * Returns PMIX_ERR_NOT_FOUND if loading fails, PMIX_ERR_NOT_SUPPORTED if the descriptor
 * does not fit, PMIX_ERR_NO_PERMISSIONS if the file is not trusted. */
pmix_status_t px_loader_load(const struct px_found *found, struct px_loaded *out,
                             struct px_err *err);
/* Loads the library's own component of that name. */
pmix_status_t px_loader_load_builtin(const struct px_found *found,
                                     struct px_loaded *out, struct px_err *err);
void px_loader_unload(struct px_loaded *loaded);

/* Checks a descriptor and fills all members of out except handle (descriptor.c). */
pmix_status_t px_descriptor_take(const struct px_found *found,
                                 const struct px_component *c, struct px_loaded *out,
                                 struct px_err *err);
void px_descriptor_release(struct px_loaded *loaded);

#endif
