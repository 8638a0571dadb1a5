/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Argv_* and PMIx_Setenv: the public names of string vectors. */
#include "core/base/strv.h"
#include "pmix_common.h"

#include <limits.h>
#include <string.h>

/* Converts a status: for these functions the Standard uses another status for lack of
 * memory than elsewhere. */
static pmix_status_t public_status(pmix_status_t rc)
{
    return rc == PMIX_ERR_NOMEM ? PMIX_ERR_OUT_OF_RESOURCE : rc;
}

#define ADDS(verb, add)                                                              \
    PX_EXPORT pmix_status_t PMIx_Argv_##verb##_nosize(char ***argv, const char *arg) \
    {                                                                                \
        return argv && arg ? public_status(add(argv, arg)) : PMIX_ERR_BAD_PARAM;     \
    }
ADDS(append, px_strv_append)
ADDS(append_unique, px_strv_append_unique)
ADDS(prepend, px_strv_prepend)

PX_EXPORT void PMIx_Argv_free(char **argv)
{
    px_strv_free(argv);
}

PX_EXPORT int PMIx_Argv_count(char **argv)
{
    size_t n = px_strv_count(argv);

    return n < INT_MAX ? (int)n : INT_MAX;
}

PX_EXPORT char **PMIx_Argv_copy(char **argv)
{
    return px_strv_dup(argv);
}

PX_EXPORT char *PMIx_Argv_join(char **argv, int delimiter)
{
    return px_strv_join(argv, delimiter);
}

/* Splits like px_strv_split with keep_empty, but a trailing delimiter ends the last
 * field and starts no empty field. */
PX_EXPORT char **PMIx_Argv_split_inter(const char *s, int delimiter, bool include_empty)
{
    char **argv = px_strv_split(s, delimiter, include_empty);
    size_t n = px_strv_count(argv);

    if (n && !*argv[n - 1]) {
        free(argv[n - 1]);
        argv[n - 1] = NULL;
    }
    if (argv && !argv[0])
        px_strv_cleanup(&argv);
    return argv;
}

PX_EXPORT char **PMIx_Argv_split(const char *s, int delimiter)
{
    return PMIx_Argv_split_inter(s, delimiter, false);
}

PX_EXPORT char **PMIx_Argv_split_with_empty(const char *s, int delimiter)
{
    return PMIx_Argv_split_inter(s, delimiter, true);
}

/* Changes this process's environment through libc, which owns its memory. */
static pmix_status_t set_own_env(const char *name, const char *value, bool overwrite)
{
    if (!overwrite && getenv(name))
        return PMIX_ERR_EXISTS;
    int failed = value ? setenv(name, value, 1) : unsetenv(name);
    return failed ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
}

PX_EXPORT pmix_status_t PMIx_Setenv(const char *name, const char *value, bool overwrite,
                                    char ***env)
{
    if (!env || !name || !*name || strchr(name, '='))
        return PMIX_ERR_BAD_PARAM;
    if (*env == environ)
        return set_own_env(name, value, overwrite);
    if (!overwrite && px_env_get(*env, name))
        return PMIX_ERR_EXISTS;
    return public_status(px_env_set(env, name, value, true));
}
