/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports why components that are there are not in use. */
#ifndef PX_PLUGIN_LOAD_REPORT_H
#define PX_PLUGIN_LOAD_REPORT_H

#include "core/base/strv.h"
#include "core/plugin/loader.h"

/* mca_base_component_show_load_errors: of which components; all zero: of none. */
typedef struct px_load_verbosity {
    px_strv items; /* "ptl", "ptl/tcp" */
    bool others;   /* all but those */
} px_load_verbosity;

/* "all", "none" and what else may stand for them, or a list of <framework>[/<component>], which
 * may begin with ^. text NULL: none. PMIX_ERR_NOMEM. */
pmix_status_t px_load_verbosity_parse(const char *text, px_load_verbosity *verbosity);
void px_load_verbosity_cleanup(px_load_verbosity *verbosity);

/* One line, with the component's file at its end unless the text names it: a warning if the
 * component was requested or the verbosity has it, else for information. */
void px_load_report(const px_load_verbosity *verbosity, const struct px_found *found,
                    bool requested, const char *fmt, ...) PX_PRINTF(4, 5);

#endif
