/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters: declared in const tables, read from default, files, environment and
 * command line or info, each value remembering where it came from. */
#ifndef PX_RT_PARAM_H
#define PX_RT_PARAM_H

#include "core/base/err.h"
#include "tenon/param.h"

enum px_param_source { /* weakest first */
                       PX_SOURCE_DEFAULT,
                       PX_SOURCE_SYSTEM_FILE,
                       PX_SOURCE_USER_FILE,
                       PX_SOURCE_ENV,
                       PX_SOURCE_ARG, /* --mca, or info given to an init function */
                       PX_SOURCE_OVERRIDE_FILE,
};

struct px_params; /* every setting found, known or not */

/* Reads all sources once. argv-like settings come in as PMIX_MCA_* environment of the
 * process or, with PX_SOURCE_ARG, through px_params_set. */
pmix_status_t px_params_create(struct px_params **out, struct px_err *err);
void px_params_destroy(struct px_params *p);
pmix_status_t px_params_set(struct px_params *p, const char *name, const char *value,
                            enum px_param_source source, const char *where);
/* The winning text and its provenance ("file:12", "environment"); NULL if nobody set
 * it. */
const char *px_params_text(const struct px_params *p, const char *name,
                           enum px_param_source *source, const char **where);
/* Parses a table into conf. prefix is "<fw>_<component>_" or "". Text for err names
 * variable or file:line, the value and what was expected. Strings are borrowed from
 * p. */
pmix_status_t px_params_parse(struct px_params *p, const char *prefix,
                              const struct px_param *table, void *conf,
                              struct px_err *err);
/* After everything is opened: warns once about each name nobody declared, with the
 * nearest. */
void px_params_warn_unknown(struct px_params *p);

#endif
