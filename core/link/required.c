/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/link/required.h"

#include "core/base/str.h"
#include "core/rt/log.h"
#include "core/types/keys.h"

#include <string.h>

const struct px_support *px_support_find(const struct px_support *rows, size_t n,
                                         const char *function)
{
    for (const struct px_support *row = rows; row < rows + n; row++) {
        size_t len = strlen(row->function);

        if (row->attributes && strncmp(row->function, function, len) == 0 &&
            (function[len] == '\0' || strcmp(function + len, "_nb") == 0))
            return row;
    }
    return NULL;
}

/* True if names ("PMIX_TIMEOUT,PMIX_RANGE") include the attribute of key. */
static bool lists(const char *names, const char *key)
{
    char name[64];

    for (size_t len; *names; names += len + (names[len] == ',')) {
        len = strcspn(names, ",");
        if (len >= sizeof(name))
            continue;
        memcpy(name, names, len);
        name[len] = '\0';
        const struct px_key *k = px_key_by_name(name);
        if (k && PMIx_Check_key(k->key, key))
            return true;
    }
    return false;
}

static bool honours(const struct px_support_rows *rows, const char *function,
                    const char *key)
{
    const struct px_support *row = px_support_find(rows->rows, rows->n, function);

    return row && lists(row->attributes, key);
}

PX_NOINLINE static bool is_known(const char *function,
                                 const struct px_support_rows *more, const char *key)
{
    bool known = px_str_starts(key, "PMIX_MCA_") ||
                 (more && honours(more, function, key));

    for (int level = 0; !known && level < PX_N_LEVELS; level++)
        known = honours(&px_support_library_rows[level], function, key);
    return known;
}

const pmix_info_t *px_required_unknown(const char *function,
                                       const struct px_support_rows *more,
                                       const pmix_info_t *info, size_t n)
{
    for (size_t i = 0; info && i < n; i++)
        if ((info[i].flags & PMIX_INFO_REQD) && !is_known(function, more, info[i].key))
            return &info[i];
    return NULL;
}

pmix_status_t px_required_check(const char *function,
                                const struct px_support_rows *more,
                                const pmix_info_t *info, size_t n)
{
    const pmix_info_t *unknown = px_required_unknown(function, more, info, n);
    const struct px_key *k = unknown ? px_key_by_string(unknown->key) : NULL;

    if (!unknown)
        return PMIX_SUCCESS;
    px_log(PX_LOG_WARN, "api", "%s: required attribute %.*s is not supported by %s",
           function, PMIX_MAX_KEYLEN, k ? k->name : unknown->key,
           more ? "the built-in host" : "this library");
    return PMIX_ERR_NOT_SUPPORTED;
}
