/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_generate_regex, _ppn and _regex2, PMIx_parse_regex2: maps of nodes and processes
 * as launchers pass them. A regex2 holds a list as it is ("raw"), or compressed if that
 * is shorter ("compress"). Stateless: any thread, before init too. */
#include "core/base/attr.h"
#include "core/link/required.h"
#include "core/model/procmap.h"
#include "pmix_server.h"

#include <string.h>

PX_EXPORT pmix_status_t PMIx_generate_regex2(const char *input, pmix_info_t info[],
                                             size_t ninfo, pmix_regex2_t *regex)
{
    pmix_regex2_t made = {0};

    if (!input || !regex || (ninfo && !info))
        return PMIX_ERR_BAD_PARAM;
    pmix_status_t rc = px_required_check("PMIx_generate_regex2", NULL, info, ninfo);
    if (rc)
        return rc;
    if (PMIx_Data_compress((const uint8_t *)input, strlen(input), &made.bytes,
                           &made.len)) {
        made.type = strdup("compress");
    } else {
        made.bytes = (uint8_t *)strdup(input);
        made.len = strlen(input) + 1; /* other libraries expect the NUL */
        made.type = strdup("raw");
    }
    if (!made.type || !made.bytes) {
        PMIx_Regex2_destruct(&made);
        return PMIX_ERR_NOMEM;
    }
    *regex = made;
    return PMIX_SUCCESS;
}

PX_EXPORT pmix_status_t PMIx_parse_regex2(const pmix_regex2_t *regex,
                                          pmix_info_t info[], size_t ninfo,
                                          char **output)
{
    if (!regex || !output || (ninfo && !info))
        return PMIX_ERR_BAD_PARAM;
    pmix_status_t rc = px_required_check("PMIx_parse_regex2", NULL, info, ninfo);
    return rc ? rc : px_regex2_text(regex, output, NULL);
}

PX_EXPORT pmix_status_t PMIx_generate_regex(const char *input, char **regex)
{
    return px_procmap_pack_nodes(input, regex);
}

PX_EXPORT pmix_status_t PMIx_generate_ppn(const char *input, char **ppn)
{
    return px_procmap_pack_ranks(input, ppn);
}
