/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes to the environment that a request to spawn asks for. */
#include <string.h>

#include "core/base/env.h"
#include "core/base/str.h"
#include "core/host/builtin.h"

enum how { SET, ADD, PREPEND, APPEND };

static pmix_status_t join(char ***env, const pmix_envar_t *e, enum how how)
{
    const char *was = px_env_get(*env, e->envar);
    const char separator[] = {e->separator, '\0'};
    PX_AUTOFREE char *joined = NULL;

    if (!was)
        return px_env_set(env, e->envar, e->value, true);
    joined = how == PREPEND ? px_strf("%s%s%s", e->value, separator, was)
                            : px_strf("%s%s%s", was, separator, e->value);
    return joined ? px_env_set(env, e->envar, joined, true) : PMIX_ERR_NOMEM;
}

static pmix_status_t change(char ***env, const pmix_envar_t *e, enum how how)
{
    if (!e->envar || !e->value)
        return PMIX_ERR_BAD_PARAM;
    if (how == PREPEND || how == APPEND)
        return join(env, e, how);
    return px_env_set(env, e->envar, e->value, how == SET);
}

static pmix_status_t unset(char **env, const pmix_value_t *v)
{
    const char *name = px_value_string(v);

    if (!name || !*name || strchr(name, '='))
        return PMIX_ERR_BAD_PARAM;
    px_env_unset(env, name);
    return PMIX_SUCCESS;
}

pmix_status_t px_env_direct(char ***env, const pmix_info_t *info, size_t n,
                            struct px_err *err)
{
    static const struct {
        const char *key;
        enum how how;
    } directives[] = {{PMIX_SET_ENVAR, SET},
                      {PMIX_ADD_ENVAR, ADD},
                      {PMIX_PREPEND_ENVAR, PREPEND},
                      {PMIX_APPEND_ENVAR, APPEND}};
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < n; i++) {
        const pmix_value_t *v = &info[i].value;

        if (strcmp(info[i].key, PMIX_UNSET_ENVAR) == 0)
            rc = unset(*env, v);
        for (size_t d = 0; !rc && d < PX_COUNT(directives); d++) {
            if (strcmp(info[i].key, directives[d].key) == 0)
                rc = v->type == PMIX_ENVAR
                         ? change(env, &v->data.envar, directives[d].how)
                         : PMIX_ERR_BAD_PARAM;
        }
        if (rc)
            px_err_set(err, rc, "cannot change the environment: bad value of %s",
                       info[i].key);
    }
    return rc;
}
