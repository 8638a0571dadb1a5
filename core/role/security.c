/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/role/security.h"

#include "core/plugin/select.h"
#include "frameworks/framework.h"

static bool is_for_connections(const struct px_module *m)
{
    return !(PX_OPS(psec, m)->flags & PX_PSEC_WAITS);
}

char *px_security_names(void)
{
    PX_AUTO(px_strv) names = NULL;
    size_t n;
    const struct px_module *m = px_modules("psec", &n);

    for (size_t i = 0; i < n; i++)
        if (is_for_connections(&m[i]) && px_strv_append(&names, m[i].component->name))
            return NULL;
    return px_strv_join(names, ',');
}

const struct px_module *px_security_find(char *const *names)
{
    size_t n;
    const struct px_module *m = px_modules("psec", &n);

    for (size_t i = 0; i < n; i++)
        if (is_for_connections(&m[i]) &&
            (!names || px_strv_has(names, m[i].component->name)))
            return &m[i];
    return NULL;
}
