/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the selection share: select.c (loading, opening, closing) and
 * select_unused.c (components that are not in use). */
#ifndef PX_PLUGIN_SELECT_IMPL_H
#define PX_PLUGIN_SELECT_IMPL_H

#include "core/plugin/services.h"
#include "core/plugin/loader.h"
#include "core/plugin/select.h"
#include "core/plugin/load_report.h"

/* A component in use. Its address is what it knows its services by, so it never moves. */
struct px_loaded_component {
    const struct px_found *found;
    struct px_loaded loaded;
    void *conf;
    struct px_services_impl services;
    bool is_open;
    void *self;
    int priority;
    size_t rank; /* place in the list that asked for it; 0 if there is none */
};

struct px_slot { /* of one framework */
    bool in_use;
    bool requested; /* the components are those of an include list */
    bool partial;   /* some were left for later */
    bool *tried;    /* of the catalog's part */
    struct px_loaded_component **components;
    size_t n;
    struct px_module *modules;
    size_t n_modules;
};

struct px_selection {
    struct px_params *params;
    struct px_loop *loop;
    px_load_verbosity report; /* of which unused components to say why */
    px_catalog catalog;
    unsigned roles;
    struct px_slot slots[PX_FW_COUNT];
};

#endif
