/* SPDX-License-Identifier: BSD-3-Clause */
/* The frameworks: kinds of components, and the roles that need them. */
#ifndef PX_FRAMEWORKS_FRAMEWORK_H
#define PX_FRAMEWORKS_FRAMEWORK_H

#include "core/base/attr.h"

#include <stdbool.h>
#include <stdint.h>

enum px_framework_id {
    PX_FW_PTL,
    PX_FW_GDS,
    PX_FW_PSEC,
    PX_FW_PFEXEC,
    PX_FW_PNET,
    PX_FW_PCLEANUP,
    PX_FW_PIOF,
    PX_FW_PLOG,
    PX_FW_COUNT
};

struct px_framework {
    const char *name;
    uint32_t abi;        /* PX_<FRAMEWORK>_ABI of include/tenon/<framework>.h */
    unsigned roles;      /* enum px_role, or-ed: roles that open the framework */
    uint32_t ops_size;   /* of struct px_<framework>_ops */
    bool many;           /* keeps every usable component instead of the best only */
    bool required;       /* no role can start without a component */
    bool may_require;    /* has parameters <name>_<component>_required: no job runs
                          * without the component */
    bool deferred;       /* clients open the framework only by
                          * px_modules_open_deferred */
    bool protects;       /* the default may be weaker than an absent component */
    uint32_t ops_needed; /* part of ops_size that no component leaves NULL; 0: all */
};

extern const struct px_framework px_frameworks[PX_FW_COUNT];

/* Returns the operations of a selected component (struct px_module). PX_OPS(ptl,
 * module) is a const struct px_ptl_ops *. Needs tenon/<framework>.h. */
#define PX_OPS(framework, module) \
    ((const struct px_##framework##_ops *)(module)->component->ops)

/* Returns the framework with the name s[0..len), or PX_FW_COUNT. */
enum px_framework_id px_framework_find(const char *s, size_t len);

#endif
