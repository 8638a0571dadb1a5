/* SPDX-License-Identifier: BSD-3-Clause */
/* "NAME=VALUE" vectors. A name may stand in one more than once, and then programs
 * differ in which entry they see: getenv takes the first, some shells the last. So the
 * first is what is read here, and a change leaves exactly one. */
#include "core/base/env.h"

#include "core/base/str.h"

#include <string.h>

static bool is_name(const char *name)
{
    return name && *name && !strchr(name, '=');
}

static bool entry_is(const char *entry, const char *name)
{
    size_t len = strlen(name);

    return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

/* The index of the first entry of name, or the count of entries. */
static size_t find(char *const *env, const char *name)
{
    size_t i = 0;

    while (env && env[i] && !entry_is(env[i], name))
        i++;
    return i;
}

const char *px_env_get(char *const *env, const char *name)
{
    if (!env || !is_name(name))
        return NULL;
    const char *entry = env[find(env, name)];
    return entry ? entry + strlen(name) + 1 : NULL;
}

pmix_status_t px_env_set(char ***env, const char *name, const char *value,
                         bool overwrite)
{
    if (!is_name(name))
        return PMIX_ERR_BAD_PARAM;
    char **env_was = *env;
    size_t at = find(env_was, name);
    bool exists = env_was && env_was[at];
    if (exists && !overwrite)
        return PMIX_SUCCESS;

    PX_AUTOFREE char *entry = px_strf("%s=%s", name, value ? value : "");
    if (!entry)
        return PMIX_ERR_NOMEM;
    if (!exists)
        return px_strv_append(env, entry);
    px_env_unset(env_was + at + 1, name);
    free(env_was[at]);
    env_was[at] = px_take(&entry);
    return PMIX_SUCCESS;
}

void px_env_unset(char **env, const char *name)
{
    size_t kept = 0;

    if (!env || !is_name(name))
        return;
    for (size_t i = 0; env[i]; i++) {
        if (entry_is(env[i], name))
            free(env[i]);
        else
            env[kept++] = env[i];
    }
    env[kept] = NULL;
}
