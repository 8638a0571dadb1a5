/* SPDX-License-Identifier: BSD-3-Clause */
/* A component: a shared object pmix_mca_tenon_<framework>_<name>.so that exports one
 * const descriptor, px_<framework>_<name>_component.
 *
 * Life: load, check, parse params into a zeroed conf, open, query, select, ops, close.
 * These calls run on one thread at a time. Operations run on the loop thread unless
 * their framework allows other threads. */
#ifndef TENON_COMPONENT_H
#define TENON_COMPONENT_H

#include "tenon/services.h"
#include "tenon/param.h"

#include "pmix_common.h"

#define PX_COMPONENT_ABI 1u

struct px_query {
    int priority;     /* higher wins; 0 .. 1000 */
    char reason[256]; /* reason for a status other than PMIX_SUCCESS */
};

/* Descriptor of a component. Released layouts stay valid: new members are only
 * appended, also to operations and parameter rows. The core reads the members that
 * existed when the component was built, and takes the others for 0. PX_COMPONENT_HEAD
 * sets the sizes that the core needs for this. */
struct px_component {
    uint32_t abi;  /* PX_COMPONENT_ABI */
    uint32_t size; /* sizeof(struct px_component) at the component's build */
    const char *framework;
    uint32_t framework_abi; /* PX_<FRAMEWORK>_ABI at the component's build */
    const char *name;
    const char *version;
    const struct px_param *params; /* may be NULL */
    size_t conf_size;
    /* conf stays valid until close. On failure *self is ignored. NULL: self is conf. */
    pmix_status_t (*open)(const struct px_services *services, const void *conf,
                          void **self);
    pmix_status_t (*query)(void *self, struct px_query *answer);
    void (*close)(void *self); /* NULL: nothing to close */
    const void *ops;           /* struct px_<framework>_ops */
    uint32_t ops_size; /* sizeof(struct px_<framework>_ops), and of struct px_param, at
                        * the build */
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

/* Opened and selected component. */
struct px_module {
    const struct px_component *component;
    void *self;
    int priority;
};

#endif
