/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of attributes to their keys, and back. */
#include "core/types/keys.h"

#include "core/base/attr.h"

#include <stdlib.h>

/* Not tolower, which goes by the locale: the tables' order does not. */
static int fold(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static int compare(const char *a, const char *b)
{
    while (*a && fold((unsigned char)*a) == fold((unsigned char)*b)) {
        a++;
        b++;
    }
    return fold((unsigned char)*a) - fold((unsigned char)*b);
}

static int compare_name(const void *name, const void *row)
{
    return compare(name, ((const struct px_key *)row)->name);
}

static int compare_key(const void *key, const void *row)
{
    return compare(key, ((const struct px_key_owner *)row)->key);
}

const struct px_key *px_key_by_name(const char *name)
{
    return name ? bsearch(name, px_keys, px_n_keys, sizeof(px_keys[0]), compare_name)
                : NULL;
}

const struct px_key *px_key_by_string(const char *key)
{
    const struct px_key_owner *owner = NULL;

    if (key)
        owner = bsearch(key, px_key_owners, px_n_key_owners, sizeof(px_key_owners[0]),
                        compare_key);
    return owner ? &px_keys[owner->index] : NULL;
}

PX_EXPORT const char *PMIx_Get_attribute_string(const char *name)
{
    const struct px_key *found = px_key_by_name(name);

    return found ? found->key : name;
}

PX_EXPORT const char *PMIx_Get_attribute_name(const char *key)
{
    const struct px_key *found = px_key_by_string(key);

    return found ? found->name : key;
}
