/* SPDX-License-Identifier: BSD-3-Clause */
/* Inventories are taken and read by fabric components; there is none yet, and so
 * nothing to collect, nor anybody to deliver to. */
#include "core/server/server.h"

PX_EXPORT pmix_status_t PMIx_server_collect_inventory(pmix_info_t directives[],
                                                      size_t ndirs,
                                                      pmix_info_cbfunc_t cbfunc,
                                                      void *cbdata PX_UNUSED)
{
    if (!px_server_here())
        return PMIX_ERR_INIT;
    return !cbfunc || (ndirs && !directives) ? PMIX_ERR_BAD_PARAM
                                             : PMIX_ERR_NOT_SUPPORTED;
}

PX_EXPORT pmix_status_t PMIx_server_deliver_inventory(pmix_info_t info[], size_t ninfo,
                                                      pmix_info_t directives[],
                                                      size_t ndirs,
                                                      pmix_op_cbfunc_t cbfunc PX_UNUSED,
                                                      void *cbdata PX_UNUSED)
{
    if (!px_server_here())
        return PMIX_ERR_INIT;
    return !info || ninfo == 0 || (ndirs && !directives) ? PMIX_ERR_BAD_PARAM
                                                         : PMIX_ERR_NOT_SUPPORTED;
}
