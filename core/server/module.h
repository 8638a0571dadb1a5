/* SPDX-License-Identifier: BSD-3-Clause */
/* A host's module, whatever release's header the host was built with (adr/0006). */
#ifndef PX_SERVER_MODULE_H
#define PX_SERVER_MODULE_H

#include "pmix_server.h"

/* Copies the slots that are known to be there into out, each where our own layout has it; the
 * others are NULL. How much there is says TENON_SERVER_MODULE_SIZE among the infos, which come from
 * the same caller as the module; without it that are the 28 slots of every release since 4.0, and
 * nothing behind them is read. Any thread. */
void px_module_take(const pmix_server_module_t *from, const pmix_info_t *info, size_t n,
                    pmix_server_module_t *out);

#endif
