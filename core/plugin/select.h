/* SPDX-License-Identifier: BSD-3-Clause */
/* Which components serve: opened, asked for their priority, put in order, per
 * framework. */
#ifndef PX_PLUGIN_SELECT_H
#define PX_PLUGIN_SELECT_H

#include "core/base/err.h"
#include "core/rt/loop.h"
#include "core/config/core_params.h"
#include "tenon/component.h"

struct px_params;
struct px_selection;

/* params and loop must outlive it. No function here runs on the loop thread; each calls
 * the loop itself. */
pmix_status_t px_selection_create(struct px_params *params, struct px_loop *loop,
                                  const struct px_base_conf *conf,
                                  struct px_selection **out, struct px_err *err);
void px_selection_destroy(struct px_selection *s);

/* Opens the frameworks that any of roles needs and that are not open. On failure those
 * that were open before stay open, and no other. address is what a client wants to
 * reach, NULL if anything, "" if nothing: of the transports only those whose names say
 * that they serve it are opened, if there are such and no others were asked for; the
 * rest waits for a call with NULL, and so do frameworks that few clients need. */
pmix_status_t px_selection_open(struct px_selection *s, unsigned roles,
                                const char *address, struct px_err *err);
/* For settings of components that are not in use: finds out whether there are such
 * parameters, and whether the values fit. PMIX_ERR_NOMEM. */
pmix_status_t px_selection_declare_unused(struct px_selection *s);
/* Closes the frameworks that none of roles needs. */
void px_selection_close(struct px_selection *s, unsigned roles);

/* Best first. Any thread. */
const struct px_module *px_selection_modules(const struct px_selection *s,
                                             const char *framework, size_t *n);

/* ---- of this process ------------------------------------------------------------- */

/* Selected components of a framework, best first; count in *n. Any thread; valid until
 * the role that opened the framework is released. */
const struct px_module *px_modules(const char *framework, size_t *n);
/* Opens also those which a client that begins did not seem to need. The lock must be
 * held. */
pmix_status_t px_modules_open_deferred(struct px_err *err);
/* Their names, best first and separated by commas; malloc'd. */
char *px_module_names(const char *framework);
/* By component name; NULL if it is not selected. */
const struct px_module *px_module_find(const char *framework, const char *name);
/* Names of components without which no job is to be launched, whether they can be used
 * or not; NULL at the end, or NULL. Any thread. */
char *const *px_required_components(const char *framework);
bool px_component_is_required(const char *framework, const char *name);
/* True if calls of that component are tried in a child process first: the component is
 * not of this library, and trials are not turned off. Loop thread. */
bool px_component_is_tried(const char *framework, const char *name);
/* Returns why a component that is not selected is not, for a message. Loop thread;
 * valid until components are opened or closed. */
const char *px_component_unused(const char *framework, const char *name);

#endif
