/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters: declared in const tables; read from defaults, files, the environment, and
 * the command line or info. Each value keeps its source. Errors are collected and
 * reported once, one line each. All calls need the process lock. */
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
                       PX_SOURCE_ARG,       /* --mca, info of an init function */
                       PX_SOURCE_OVERRIDE_FILE,
};

enum px_param_severity {
    PX_PARAM_WRONG, /* mca_base_strict decides the effect */
    PX_PARAM_ODD,   /* works, but the user should know */
    PX_PARAM_NOTE,  /* for users that ask */
};

struct px_params; /* all settings, known or not */

/* Reads all sources. info may contain settings with keys PMIX_MCA_<name>; where names
 * its origin, e.g. "PMIx_Init". Returns PMIX_ERR_NOMEM only. px_params_report reports
 * all other problems. */
pmix_status_t px_params_create(const pmix_info_t *info, size_t n_info,
                               const char *where, struct px_params **out,
                               struct px_err *err);
void px_params_destroy(struct px_params *p);
/* Returns the winning text and its source ("file:12", "environment"). NULL if no source
 * sets the name. */
const char *px_params_text(const struct px_params *p, const char *name,
                           enum px_param_source *source, const char **where);
/* Declares the names of table, each with prefix. owner is "core" or
 * "<framework>/<component>". The table's texts are borrowed, the names copied. */
pmix_status_t px_params_declare(struct px_params *p, const char *owner,
                                const char *prefix, const struct px_param *table);
/* Declares a table and parses its values into conf; conf NULL only checks the values. A
 * value that does not fit is a problem; the next weaker value or the default is used
 * instead. Strings are borrowed from p. Returns PMIX_ERR_NOMEM, or PMIX_ERR_BAD_PARAM
 * if a default does not fit. */
pmix_status_t px_params_parse(struct px_params *p, const char *prefix,
                              const struct px_param *table, void *conf,
                              struct px_err *err);
/* Declares all tables of px_core_params and checks their values, including those that
 * this process does not use. Without settings does nothing, as all defaults fit, and
 * most clients have none. Returns like px_params_parse. */
pmix_status_t px_params_check_core(struct px_params *p, struct px_err *err);
/* Calls fn with each declared parameter of the core, and with those of components that
 * are set: the value in effect, or NULL, and its source. A component's table may be
 * gone, with its defaults. Ends at the first status of fn. */
typedef pmix_status_t (*px_params_walk_fn)(void *arg, const char *name,
                                           const char *value, const char *where);
pmix_status_t px_params_walk(const struct px_params *p, px_params_walk_fn fn,
                             void *arg);
/* True if a setting's name begins with prefix. */
bool px_params_has(const struct px_params *p, const char *prefix);

/* Finds undeclared names and reports each new problem. Called once all components are
 * open. mca_base_strict decides: "warn" logs a problem, "off" does not. "error" writes
 * the first problem to err and returns PMIX_ERR_BAD_PARAM. */
pmix_status_t px_params_report(struct px_params *p, struct px_err *err);

#endif
