/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a server listens: "<namespace>.<rank>;<scheme>://<address>". */
#include "core/base/str.h"
#include "core/wire/hello.h"

#include <string.h>

pmix_status_t px_uri_parse(const char *text, struct px_uri *uri)
{
    char who[PMIX_MAX_NSLEN + 16]; /* namespace, dot, rank */
    const char *semicolon = text ? strchr(text, ';') : NULL;
    const char *address, *scheme_end;
    struct px_uri parsed = {0};
    char *dot;
    int64_t rank;

    if (!semicolon || (size_t)(semicolon - text) >= sizeof(who))
        return PMIX_ERR_BAD_PARAM;
    memcpy(who, text, (size_t)(semicolon - text));
    who[semicolon - text] = '\0';
    dot = strrchr(who, '.'); /* namespaces contain dots, ranks do not */
    if (!dot || dot == who)
        return PMIX_ERR_BAD_PARAM;
    *dot = '\0';
    /* 3.x prints ranks as signed */
    if (!px_str_to_i64(dot + 1, INT32_MIN, UINT32_MAX, &rank) ||
        !px_str_copy(parsed.server.nspace, sizeof(parsed.server.nspace), who))
        return PMIX_ERR_BAD_PARAM;
    parsed.server.rank = (pmix_rank_t)rank;

    address = semicolon + 1;
    scheme_end = strstr(address, "://");
    if (!scheme_end || scheme_end == address || !scheme_end[3] ||
        strchr(address, ';') ||
        !px_str_copy(parsed.address, sizeof(parsed.address), address))
        return PMIX_ERR_BAD_PARAM;
    *uri = parsed;
    return PMIX_SUCCESS;
}
