/* SPDX-License-Identifier: BSD-3-Clause */
/* Components that are there and not in use: whom to tell, and why they are not. */
#ifndef PX_PLUGIN_TOLD_H
#define PX_PLUGIN_TOLD_H

#include "core/base/strv.h"
#include "core/plugin/loader.h"

typedef struct px_told { /* mca_base_component_show_load_errors; all zero: none */
    px_strv items;       /* "ptl", "ptl/tcp" */
    bool others;         /* all but those */
} px_told;

/* "all", "none" and what else may stand for them, or a list of <framework>[/<component>], which
 * may begin with ^. text NULL: none. PMIX_ERR_NOMEM. */
pmix_status_t px_told_parse(const char *text, px_told *told);
void px_told_cleanup(px_told *told);
bool px_told_wants(const px_told *told, const struct px_found *found);

/* One line, with the component's file at its end unless the text names it: a warning for who has
 * asked for the component, or to be told; else for who reads everything. */
void px_tell(const px_told *told, const struct px_found *found, bool requested,
             const char *fmt, ...) PX_PRINTF(4, 5);

#endif
