/* SPDX-License-Identifier: BSD-3-Clause */
/* Selected components of each framework: opened, queried and ordered by priority. */
#ifndef PX_PLUGIN_SELECT_H
#define PX_PLUGIN_SELECT_H

#include "core/base/err.h"
#include "core/rt/loop.h"
#include "core/config/core_params.h"
#include "tenon/component.h"

struct px_params;
struct px_selection;

/* Creates a selection; params and loop must outlive it. No function here runs on the
 * loop thread; each calls the loop itself. */
pmix_status_t px_selection_create(struct px_params *params, struct px_loop *loop,
                                  const struct px_base_conf *conf,
                                  struct px_selection **out, struct px_err *err);
void px_selection_destroy(struct px_selection *s);

/* Opens the frameworks that any of roles needs and that are not open. On failure only
 * the frameworks that were open before are open. address is the address that a client
 * wants to reach, NULL for any, "" for none. Opens only transports that serve the
 * address, if there are such and the choice does not name transports. The other
 * transports, and frameworks that few clients need, wait for a call with NULL. */
pmix_status_t px_selection_open(struct px_selection *s, unsigned roles,
                                const char *address, struct px_err *err);
/* Checks settings of components that are not in use: names and values. Returns
 * PMIX_ERR_NOMEM. */
pmix_status_t px_selection_declare_unused(struct px_selection *s);
/* Closes the frameworks that none of roles needs. */
void px_selection_close(struct px_selection *s, unsigned roles);

/* ---- functions for the process's selection --------------------------------------- */

/* Returns the selected components of a framework, best first, and their number in *n.
 * Any thread; valid until the role that opened the framework is released. */
const struct px_module *px_modules(const char *framework, size_t *n);
/* Opens the components that a starting client postponed. The process lock is held. */
pmix_status_t px_modules_open_deferred(struct px_err *err);
/* Returns the components' names, best first, separated by commas; malloc'd. */
char *px_module_names(const char *framework);
/* Finds a selected component by name, or returns NULL. */
const struct px_module *px_module_find(const char *framework, const char *name);
/* Returns the names of required components, usable or not, without which no job may be
 * launched. The list ends with NULL, or is NULL. Any thread. */
char *const *px_required_components(const char *framework);
bool px_component_is_required(const char *framework, const char *name);
/* True if calls of that component are tried in a child process first: the component is
 * not of this library, and trials are enabled. Loop thread. */
bool px_component_is_tried(const char *framework, const char *name);
/* Returns the reason why a component is not selected, for a log line. Loop thread;
 * valid until components are opened or closed. */
const char *px_component_unused(const char *framework, const char *name);

#endif
