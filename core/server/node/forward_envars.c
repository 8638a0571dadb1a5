/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Forward_envars: components keep the patterns, and contribute the matching
 * variables of this process to a launch. */
#include "core/plugin/select.h"
#include "core/server/fabric/shares.h"
#include "core/server/op.h"
#include "core/server/server.h"
#include "core/wire/requests.h"
#include "frameworks/framework.h"
#include "tenon/pnet.h"
#include "pmix_envars.h"

#include <string.h>

struct forward_op {
    struct px_server_op op;
    const char *nspace, *pattern, *exclude;
};

static pmix_status_t forward(struct px_server *srv PX_UNUSED,
                             const struct px_server_op *o)
{
    const struct forward_op *f = PX_CONTAINER_OF(o, struct forward_op, op);
    pmix_status_t rc = PMIX_ERR_NOT_SUPPORTED;
    size_t n;
    const struct px_module *m = px_modules("pnet", &n);

    for (size_t i = 0; i < n && rc == PMIX_ERR_NOT_SUPPORTED; i++)
        if (PX_OPS(pnet, &m[i])->forward)
            rc = PX_OPS(pnet, &m[i])
                     ->forward(m[i].self, f->nspace, f->pattern, f->exclude);
    return rc == PMIX_ERR_NOT_SUPPORTED ? px_unserved("PMIx_Forward_envars") : rc;
}

PX_EXPORT pmix_status_t PMIx_Forward_envars(const char nspace[], const char *pattern,
                                            pmix_info_t directives[], size_t ndirs)
{
    struct forward_op f = {
        .op = {.run = forward, .api.function = "PMIx_Forward_envars"},
        .nspace = nspace,
        .pattern = pattern};
    bool sound = nspace && nspace[0] && pattern && pattern[strspn(pattern, ";")] &&
                 strnlen(nspace, PMIX_MAX_NSLEN + 1) <= PMIX_MAX_NSLEN &&
                 (directives || !ndirs);

    for (size_t i = 0; sound && px_server_here() && i < ndirs; i++) {
        if (PMIx_Check_key(directives[i].key, PMIX_FORWARD_ENVARS_EXCLUDE)) {
            sound = directives[i].value.type == PMIX_STRING;
            f.exclude = directives[i].value.data.string;
        }
    }
    if (sound)
        f.op.api.args.info = px_infos_borrow(directives, ndirs);
    return px_server_submit(&f.op, sizeof(f), sound);
}
