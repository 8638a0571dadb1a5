/* SPDX-License-Identifier: BSD-3-Clause */
/* NULL-terminated string vectors. Capacity is not stored, because these are argv and
 * environ, which other code allocates and frees, too.
 *
 * A name may occur several times in an environment. getenv returns the first entry,
 * some shells the last. Reading returns the first entry, and a change leaves exactly
 * one entry. */
#include "core/base/strv.h"

#include "core/base/str.h"
#include "core/base/vec.h"

#include <string.h>

size_t px_strv_count(char *const *v)
{
    size_t n = 0;

    while (v && v[n])
        n++;
    return n;
}

static pmix_status_t insert_at(char ***v, size_t at, size_t n, const char *s)
{
    PX_AUTOFREE char *copy = strdup(s); /* first, because s may be one of *v */
    if (!copy)
        return PMIX_ERR_NOMEM;
    char **grown = reallocarray(*v, n + 2, sizeof(*grown));
    if (!grown)
        return PMIX_ERR_NOMEM;
    memmove(grown + at + 1, grown + at, (n - at) * sizeof(*grown));
    grown[at] = px_take(&copy);
    grown[n + 1] = NULL;
    *v = grown;
    return PMIX_SUCCESS;
}

pmix_status_t px_strv_append(char ***v, const char *s)
{
    size_t n = px_strv_count(*v);

    return insert_at(v, n, n, s);
}

pmix_status_t px_strv_add(char ***v, size_t *n, size_t *cap, const char *s)
{
    if (!px_vec_reserve(v, *n, cap, 2)) /* the string and a NULL */
        return PMIX_ERR_NOMEM;
    (*v)[*n] = strdup(s);
    if (!(*v)[*n])
        return PMIX_ERR_NOMEM;
    (*v)[++*n] = NULL;
    return PMIX_SUCCESS;
}

pmix_status_t px_strv_prepend(char ***v, const char *s)
{
    return insert_at(v, 0, px_strv_count(*v), s);
}

pmix_status_t px_strv_append_unique(char ***v, const char *s)
{
    return px_strv_has(*v, s) ? PMIX_SUCCESS : px_strv_append(v, s);
}

bool px_strv_has(char *const *v, const char *s)
{
    for (size_t i = 0; v && v[i]; i++) {
        if (strcmp(v[i], s) == 0)
            return true;
    }
    return false;
}

static const char *field_end(const char *s, char sep)
{
    while (*s && *s != sep)
        s++;
    return s;
}

/* Counts the fields before the vector is allocated: a node list may have 100,000
 * names. */
static size_t count_fields(const char *s, char sep, bool keep_empty)
{
    size_t n = 0;

    for (;;) {
        const char *end = field_end(s, sep);

        n += keep_empty || end > s;
        if (!*end)
            return n;
        s = end + 1;
    }
}

char **px_strv_split(const char *s, int sep, bool keep_empty)
{
    size_t n = s ? count_fields(s, (char)sep, keep_empty) : 0;
    if (n == 0)
        return NULL;
    PX_AUTO(px_strv) v = calloc(n + 1, sizeof(*v));
    if (!v)
        return NULL;

    for (size_t i = 0; i < n;) {
        const char *end = field_end(s, (char)sep);

        if (keep_empty || end > s) {
            v[i] = strndup(s, (size_t)(end - s));
            if (!v[i++])
                return NULL;
        }
        s = end + 1;
    }
    return px_take(&v);
}

char *px_strv_join(char *const *v, int sep)
{
    size_t size = 1;
    for (size_t i = 0; v && v[i]; i++)
        size += strlen(v[i]) + (i > 0);
    char *joined = malloc(size);
    if (!joined)
        return NULL;

    char *to = joined;
    for (size_t i = 0; v && v[i]; i++) {
        size_t len = strlen(v[i]);

        if (i > 0)
            *to++ = (char)sep;
        memcpy(to, v[i], len);
        to += len;
    }
    *to = '\0';
    return joined;
}

char **px_strv_dup(char *const *v)
{
    if (!v)
        return NULL;
    size_t n = px_strv_count(v);
    PX_AUTO(px_strv) copy = calloc(n + 1, sizeof(*copy));
    if (!copy)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        copy[i] = strdup(v[i]);
        if (!copy[i])
            return NULL;
    }
    return px_take(&copy);
}

void px_strv_free(char **v)
{
    for (size_t i = 0; v && v[i]; i++)
        free(v[i]);
    free(v);
}

void px_strv_cleanup(px_strv *v)
{
    px_strv_free(*v);
    *v = NULL;
}

/* -- environments: "NAME=VALUE" ---------------------------------------------------- */

static bool is_name(const char *name)
{
    return name && *name && !strchr(name, '=');
}

static bool entry_is(const char *entry, const char *name)
{
    size_t len = strlen(name);

    return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

/* Returns the index of the first entry of name, or the number of entries. */
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
