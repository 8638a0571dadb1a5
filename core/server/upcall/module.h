/* SPDX-License-Identifier: BSD-3-Clause */
/* The module of functions that a host passes. */
#ifndef PX_SERVER_UPCALL_MODULE_H
#define PX_SERVER_UPCALL_MODULE_H

#include "core/types/type.h"
#include "pmix_server.h"

struct px_server;

/* Copies the slots that exist into out, each to its place in this layout; other slots
 * are NULL. TENON_SERVER_MODULE_SIZE in info, from the module's caller, is the size of
 * the module. Without a size only the 28 slots of every release since 4.0 are read. Any
 * thread. */
void px_module_take(const pmix_server_module_t *from, const pmix_info_t *info, size_t n,
                    pmix_server_module_t *out);

/* Checks directives that only the built-in host reads. PMIX_SUCCESS with another
 * host. */
pmix_status_t px_builtin_required(const struct px_server *srv, const char *function,
                                  const px_infos *infos);

#endif
