/* SPDX-License-Identifier: BSD-3-Clause */
/* Common declarations for clients, servers and tools: types, statuses, attributes,
 * helpers. */
#ifndef PMIX_COMMON_H
#define PMIX_COMMON_H

#include "pmix_status.h"
#include "pmix_types.h"
#include "pmix_callbacks.h"
#include "pmix_attributes.h"
#include "pmix_data.h"
#include "pmix_topology.h"
#include "pmix_util.h"

/* Names out of use, and the macros that older programs write instead of functions */
#include "pmix_deprecated.h"

#endif
