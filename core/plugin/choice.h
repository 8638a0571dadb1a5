/* SPDX-License-Identifier: BSD-3-Clause */
/* Which components of a framework the user wants: the parameter named after the
 * framework, "a,b" for these in this order, "^a" for all but this one. */
#ifndef PX_PLUGIN_CHOICE_H
#define PX_PLUGIN_CHOICE_H

#include "core/base/strv.h"
#include "core/plugin/loader.h"
#include "core/config/param.h"

typedef struct px_choice { /* all zero lets everything in */
    px_strv names;
    bool exclude;      /* all but names */
    const char *text;  /* as given; NULL if it was not */
    const char *where; /* it was given */
} px_choice;

/* text and where are borrowed from params. A list that both includes and excludes is a
 * problem of theirs, and the next weaker one counts. PMIX_ERR_NOMEM. */
pmix_status_t px_choice_parse(struct px_params *params, const char *framework,
                              px_choice *choice, struct px_err *err);
void px_choice_cleanup(px_choice *choice);
/* mca_base_component_show_load_errors, NULL or such a list of
 * <framework>[/<component>]: which components to warn of that do not load. "all"
 * excludes none, "none" names none. PMIX_ERR_NOMEM. */
pmix_status_t px_choice_of_reports(const char *text, px_choice *choice);
/* Reports each requested component that the catalog lacks as a problem of params. If
 * the catalog has none of them, the choice becomes the default. PMIX_ERR_BAD_PARAM if
 * the default could protect less, as with psec = munge. */
pmix_status_t px_choice_check(px_choice *choice, const px_catalog *catalog,
                              enum px_framework_id framework, struct px_params *params,
                              struct px_err *err);
/* *rank is the place of name in the list that asks for it, 0 if there is no such
 * list. */
bool px_choice_allows(const px_choice *choice, const char *name, size_t *rank);
/* Whether the component can wait until there is a use for it: to reach address, NULL if
 * anything, "" if nothing, takes the transport whose name says that it does so, if
 * there is one and no others were asked for by name. */
bool px_choice_can_wait(const px_choice *choice, const px_catalog *catalog,
                        enum px_framework_id framework, const char *address,
                        const char *name);

/* Makes the parameters known that hold such choices, one for each framework.
 * PMIX_ERR_NOMEM. */
pmix_status_t px_choice_declare(struct px_params *params);
/* Parses <framework>_<component>_priority, unless table, which may be NULL, has a
 * parameter of that name: *priority stays negative if it is not set. PMIX_ERR_NOMEM. */
pmix_status_t px_choice_priority(struct px_params *params, const struct px_found *found,
                                 const struct px_param *table, int64_t *priority);
/* Makes those of a component known. Texts of table, which may be NULL, are borrowed as
 * px_params_declare says. PMIX_ERR_NOMEM. */
pmix_status_t px_choice_declare_of(struct px_params *params,
                                   const struct px_found *found,
                                   const struct px_param *table);

/* Those of a framework without which no job is to be launched, by parameters such as
 * pnet_<name>_required, which become known. PMIX_ERR_NOMEM. */
pmix_status_t px_choice_required(struct px_params *params,
                                 enum px_framework_id framework, px_strv *names);

#endif
