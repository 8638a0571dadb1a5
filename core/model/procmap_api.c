/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_generate_regex and PMIx_generate_ppn. Stateless: any thread, before init too. */
#include "core/base/attr.h"
#include "core/model/procmap.h"
#include "pmix_server.h"

PX_EXPORT pmix_status_t PMIx_generate_regex(const char *input, char **regex)
{
    return px_map_pack_nodes(input, regex);
}

PX_EXPORT pmix_status_t PMIx_generate_ppn(const char *input, char **ppn)
{
    return px_map_pack_ranks(input, ppn);
}
