/* SPDX-License-Identifier: BSD-3-Clause */
/* Sections of an answer to TENON_QUERY_SERVER: numbers and texts by name. Loop thread
 * only. */
#ifndef PX_SERVER_SECTION_H
#define PX_SERVER_SECTION_H

#include "core/types/type.h"

/* A number of a section; the last row has no name. */
struct px_report_number {
    const char *name;
    uint64_t n;
};

/* Adds numbers to a section or to an entry of a section. */
static inline pmix_status_t px_report_numbers(px_infos *to,
                                              const struct px_report_number *numbers)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (; !rc && numbers->name; numbers++)
        rc = px_infos_add(to, numbers->name, &numbers->n, PMIX_UINT64);
    return rc;
}

/* Adds a section to the answer, or an entry to a section. Frees the members. rc: status
 * of the members, which ends the call unless PMIX_SUCCESS. */
static inline pmix_status_t px_report_add(px_infos *to, const char *name,
                                          px_infos *members, pmix_status_t rc)
{
    if (!rc)
        rc = px_infos_add_array(to, name, members);
    px_infos_cleanup(members);
    return rc;
}

#endif
