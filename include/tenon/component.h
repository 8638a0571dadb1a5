/* SPDX-License-Identifier: BSD-3-Clause */
/* A component: one shared object pmix_mca_tenon_<framework>_<name>.so exporting one
 * const descriptor, px_<framework>_<name>_component.
 *
 * Life: load, check, parse params into a zeroed conf, open, query, select, ops, close.
 * All of it runs on one thread at a time; ops run on the loop thread unless the
 * framework says otherwise. */
#ifndef TENON_COMPONENT_H
#define TENON_COMPONENT_H

#include "tenon/services.h"
#include "tenon/param.h"

#include "pmix_common.h"

#define PX_COMPONENT_ABI 1u

struct px_query {
    int priority;     /* higher wins; 0 .. 1000 */
    char reason[256]; /* why it declined, when query does not return PMIX_SUCCESS */
};

/* The layout that a released header gives stays true: members are only appended, here
 * and to operations and rows of parameters. The core reads what was there when the
 * component was built, and takes the rest for 0. PX_COMPONENT_HEAD fills in what tells
 * it. */
struct px_component {
    uint32_t abi;  /* PX_COMPONENT_ABI */
    uint32_t size; /* sizeof(struct px_component) when it was built */
    const char *framework;
    uint32_t framework_abi; /* PX_<FRAMEWORK>_ABI when it was built */
    const char *name;
    const char *version;
    const struct px_param *params; /* may be NULL */
    size_t conf_size;
    /* conf stays valid until close. On failure *self is ignored. NULL: self is conf. */
    pmix_status_t (*open)(const struct px_services *services, const void *conf,
                          void **self);
    pmix_status_t (*query)(void *self, struct px_query *answer);
    void (*close)(void *self); /* NULL: there is nothing to close */
    const void *ops;   /* struct px_<framework>_ops */
    uint32_t ops_size; /* sizeof(of) that, and of struct px_param, when it was built */
    uint32_t param_size;
};

#define PX_COMPONENT(fw, comp)                                                      \
    __attribute__((visibility(                                                      \
        "default"))) extern const struct px_component px_##fw##_##comp##_component; \
    const struct px_component px_##fw##_##comp##_component

#define PX_COMPONENT_HEAD(fw, FW, comp)                                             \
    .abi = PX_COMPONENT_ABI, .size = sizeof(struct px_component), .framework = #fw, \
    .framework_abi = PX_##FW##_ABI, .name = #comp,                                  \
    .ops_size = sizeof(struct px_##fw##_ops), .param_size = sizeof(struct px_param)

/* An opened and selected component, as the core sees it. */
struct px_module {
    const struct px_component *component;
    void *self;
    int priority;
};

#endif
