/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's PMIx_server_register_nspace: its infos onto the stage, and from there
 * in. */
#include "core/model/jobinfo_impl.h"

pmix_status_t px_jobinfo_register(struct px_model *m, struct px_nspace *ns,
                                  const pmix_info_t *info, size_t n, struct px_err *err)
{
    PX_AUTO(px_stage) s;
    pmix_status_t rc = PMIX_SUCCESS;

    px_stage_init(&s, err);
    for (size_t i = 0; !rc && i < n; i++)
        rc = px_stage_add(&s, info[i].key, &info[i].value);
    if (!rc)
        rc = px_stage_apply(&s, m, ns, false);
    if (rc)
        px_err_prefix(err, "cannot register namespace %s", ns->name);
    return rc;
}
