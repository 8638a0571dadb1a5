/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's choice of components, in the parameter named after the framework. "a,b"
 * uses these components in this order, "^a" all components except a. */
#ifndef PX_PLUGIN_CHOICE_H
#define PX_PLUGIN_CHOICE_H

#include "core/base/strv.h"
#include "core/plugin/loader.h"
#include "core/config/param.h"

typedef struct px_choice { /* all zero allows every component */
    px_strv names;
    bool exclude;      /* names are the excluded components */
    const char *text;  /* the parameter's text; NULL if not set */
    const char *where; /* source of the parameter */
} px_choice;

/* Parses a choice; text and where are borrowed from params. A list that both includes
 * and excludes is reported as a problem of params. The next weaker setting then counts.
 * Returns PMIX_ERR_NOMEM. */
pmix_status_t px_choice_parse(struct px_params *params, const char *framework,
                              px_choice *choice, struct px_err *err);
void px_choice_cleanup(px_choice *choice); /* frees and zeroes */
/* Parses mca_base_component_show_load_errors: a list of <framework>[/<component>], or
 * NULL. The choice selects the components whose load errors are warnings. "all"
 * excludes none, "none" names none. Returns PMIX_ERR_NOMEM. */
pmix_status_t px_choice_of_reports(const char *text, px_choice *choice);
/* Reports each requested component that the catalog lacks as a problem of params. If
 * the catalog has none of them, the choice becomes the default. Returns
 * PMIX_ERR_BAD_PARAM if the default could protect less, as with psec = munge. */
pmix_status_t px_choice_check(px_choice *choice, const px_catalog *catalog,
                              enum px_framework_id framework, struct px_params *params,
                              struct px_err *err);
/* True if the choice allows the component. *rank is its position in the including list,
 * 0 without such a list. */
bool px_choice_allows(const px_choice *choice, const char *name, size_t *rank);
/* True if a transport can be opened later. address is the address to reach, NULL for
 * any, "" for none. The transport waits if the list does not include components by
 * name, and another allowed transport serves address. With "", every transport
 * waits. psec/munge, which clients do not use, waits likewise. */
bool px_choice_can_wait(const px_choice *choice, const px_catalog *catalog,
                        enum px_framework_id framework, const char *address,
                        const char *name);

/* Declares the parameters for choices, one for each framework. Returns
 * PMIX_ERR_NOMEM. */
pmix_status_t px_choice_declare(struct px_params *params);
/* Declares and parses the parameters of a component like px_params_parse; table may be
 * NULL. Also parses <framework>_<component>_priority, unless table has a parameter of
 * that name. *priority is negative if the parameter is not set. */
pmix_status_t px_choice_parse_of(struct px_params *params, const struct px_found *found,
                                 const struct px_param *table, void *conf,
                                 int64_t *priority, struct px_err *err);

/* Lists the framework's required components, without which no job may be launched.
 * Declares their parameters, such as pnet_<name>_required. Returns PMIX_ERR_NOMEM. */
pmix_status_t px_choice_required(struct px_params *params,
                                 enum px_framework_id framework, px_strv *names);

#endif
