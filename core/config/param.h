/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters: declared in const tables, read from default, files, environment and
 * command line or info, each value remembering where it came from. Errors in them are
 * collected, and told once, a line each. Only under the process lock. */
#ifndef PX_CONFIG_PARAM_H
#define PX_CONFIG_PARAM_H

#include "core/base/err.h"
#include "pmix_common.h"
#include "tenon/param.h"

enum px_param_source { /* weakest first */
                       PX_SOURCE_DEFAULT,
                       PX_SOURCE_SYSTEM_FILE,
                       PX_SOURCE_USER_FILE,
                       PX_SOURCE_NAMED_FILE, /* mca_base_param_files */
                       PX_SOURCE_ENV,
                       PX_SOURCE_TUNE_FILE, /* --tune */
                       PX_SOURCE_ARG,       /* info given to an init function: --mca */
                       PX_SOURCE_OVERRIDE_FILE,
};

enum px_param_severity {
    PX_PARAM_WRONG, /* mca_base_strict decides what comes of it */
    PX_PARAM_ODD,   /* works; the user should know */
    PX_PARAM_NOTE,  /* for a user who asks */
};

struct px_params; /* every setting found, known or not */

/* Reads all sources once; info may hold settings, with keys PMIX_MCA_<name>. where
 * names who gave it, "PMIx_Init". PMIX_ERR_NOMEM only: what else is wrong waits for
 * px_params_report. */
pmix_status_t px_params_create(const pmix_info_t *info, size_t n_info,
                               const char *where, struct px_params **out,
                               struct px_err *err);
void px_params_destroy(struct px_params *p);
/* PMIX_ERR_BAD_PARAM: no name could look like that. */
pmix_status_t px_params_set(struct px_params *p, const char *name, const char *value,
                            enum px_param_source source, const char *where);
/* The winning text and its provenance ("file:12", "environment"); NULL if no source set
 * it. */
const char *px_params_text(const struct px_params *p, const char *name,
                           enum px_param_source *source, const char **where);
/* Makes names known: those of table, with prefix before them. owner is "core" or
 * "<framework>/<component>". Texts of the table are borrowed, but for the names. */
pmix_status_t px_params_declare(struct px_params *p, const char *owner,
                                const char *prefix, const struct px_param *table);
/* Parses a table into conf (NULL: only checks the values), and declares it. A value
 * that does not fit is a problem, and the next weaker one is used, in the end the
 * default. Strings are borrowed from p. PMIX_ERR_NOMEM; PMIX_ERR_BAD_PARAM: a default
 * does not fit. */
pmix_status_t px_params_parse(struct px_params *p, const char *prefix,
                              const struct px_param *table, void *conf,
                              struct px_err *err);
/* Declares the tables of px_core_params and looks whether the values fit, whatever this
 * process uses of them. PMIX_ERR_NOMEM; PMIX_ERR_BAD_PARAM as px_params_parse. */
pmix_status_t px_params_check_core(struct px_params *p, struct px_err *err);
/* NULL: this process must not care for its user's files. */
const char *px_params_home(const struct px_params *p);
/* Does anything set a name that begins so? */
bool px_params_has(const struct px_params *p, const char *prefix);

/* After everything is opened: looks for names that no table declares, and tells each
 * problem that was not told yet, as mca_base_strict wants it: "warn" logs it, "off"
 * does not, "error" puts the first into err and answers PMIX_ERR_BAD_PARAM. */
pmix_status_t px_params_report(struct px_params *p, struct px_err *err);

#endif
