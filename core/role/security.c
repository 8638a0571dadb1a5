/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/role/security.h"

#include "core/base/fd.h"
#include "core/plugin/errand.h"
#include "core/plugin/select.h"
#include "frameworks/framework.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CRED_B = 4096 }; /* from a child process */

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

const struct px_module *px_security_remote(void)
{
    size_t n;
    const struct px_module *m = px_modules("psec", &n);

    for (size_t i = 0; i < n; i++)
        if (!is_for_connections(&m[i]) && PX_OPS(psec, &m[i])->inspect)
            return &m[i];
    return NULL;
}

/* Writes a status and the credential. */
static void write_credential(void *module, int out)
{
    const struct px_module *m = module;
    uint8_t *cred = NULL;
    size_t n = 0;
    const pmix_status_t rc = PX_OPS(psec, m)->create(m->self, &cred, &n);

    if (!px_fd_write_all(out, &rc, sizeof(rc), 0) && !rc)
        (void)px_fd_write_all(out, cred, n, 0);
}

pmix_status_t px_security_create(const struct px_module *m, uint64_t timeout_ms,
                                 uint8_t **cred, size_t *n)
{
    PX_AUTO(px_buf) answer = {0};
    pmix_status_t rc;

    if (is_for_connections(m))
        return PX_OPS(psec, m)->create(m->self, cred, n);
    rc = px_errand_run("tenon-psec", write_credential, (void *)(uintptr_t)m, timeout_ms,
                       MAX_CRED_B, &answer);
    if (rc)
        return rc;
    if (answer.len < sizeof(rc))
        return PMIX_ERR_NOT_AVAILABLE; /* the child has crashed */
    memcpy(&rc, answer.data, sizeof(rc));
    if (rc)
        return rc;
    *n = answer.len - sizeof(rc);
    *cred = malloc(*n + 1);
    if (!*cred)
        return PMIX_ERR_NOMEM;
    memcpy(*cred, answer.data + sizeof(rc), *n);
    return PMIX_SUCCESS;
}
