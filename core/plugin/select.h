/* SPDX-License-Identifier: BSD-3-Clause */
/* Which components serve: opened, asked for their priority, put in order, per
 * framework. */
#ifndef PX_PLUGIN_SELECT_H
#define PX_PLUGIN_SELECT_H

#include "core/base/err.h"
#include "core/rt/loop.h"
#include "core/config/param.h"
#include "tenon/component.h"

struct px_selection;

/* path: folders to search first, separated by colons, or NULL. show: of which components
 * that nobody asked for to tell why they are not in use (px_load_verbosity_parse). params and loop must outlive it. No function here runs on the loop thread; each calls the
 * loop itself. */
pmix_status_t px_selection_create(struct px_params *params, struct px_loop *loop,
                                  const char *path, const char *show,
                                  struct px_selection **out, struct px_err *err);
void px_selection_destroy(struct px_selection *s);

/* Opens the frameworks that any of roles needs and that are not open. On failure those
 * that were open before stay open, and no other. */
pmix_status_t px_selection_open(struct px_selection *s, unsigned roles,
                                struct px_err *err);
/* The same for a client that wants to reach address, NULL if anywhere, "" if nowhere: of
 * the transports only those whose names say that they serve it, if there are such, unless
 * somebody asked for others. The rest waits for the next call without address. */
pmix_status_t px_selection_open_for(struct px_selection *s, unsigned roles,
                                    const char *address, struct px_err *err);
/* For settings of components that are not in use: finds out whether there are such
 * parameters, and whether the values fit. PMIX_ERR_NOMEM. */
pmix_status_t px_selection_declare_unused(struct px_selection *s);
/* Closes the frameworks that none of roles needs. */
void px_selection_close(struct px_selection *s, unsigned roles);

/* Best first. Any thread. */
const struct px_module *px_selection_modules(const struct px_selection *s,
                                             const char *framework, size_t *n);

#endif
