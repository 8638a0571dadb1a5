/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_generate_regex2 and PMIx_parse_regex2: a list as it is ("raw"), or compressed
 * where that is shorter ("compress"). Stateless: any thread, before init too. */
#include "core/model/procmap.h"
#include "pmix_server.h"

#include <string.h>

/* No attribute has been defined for either call, so none can be honoured. */
static pmix_status_t check_infos(const pmix_info_t *info, size_t n)
{
    if (n && !info)
        return PMIX_ERR_BAD_PARAM;
    for (size_t i = 0; i < n; i++)
        if (PMIx_Info_is_required(&info[i]))
            return PMIX_ERR_NOT_SUPPORTED;
    return PMIX_SUCCESS;
}

PX_EXPORT pmix_status_t PMIx_generate_regex2(const char *input, pmix_info_t info[],
                                             size_t ninfo, pmix_regex2_t *regex)
{
    pmix_regex2_t made = {0};

    if (!input || !regex)
        return PMIX_ERR_BAD_PARAM;
    pmix_status_t rc = check_infos(info, ninfo);
    if (rc)
        return rc;
    if (PMIx_Data_compress((const uint8_t *)input, strlen(input), &made.bytes,
                           &made.len)) {
        made.type = strdup("compress");
    } else {
        made.bytes = (uint8_t *)strdup(input);
        made.len = strlen(input) + 1; /* others want the NUL to be there */
        made.type = strdup("raw");
    }
    if (!made.type || !made.bytes) {
        PMIx_Regex2_destruct(&made);
        return PMIX_ERR_NOMEM;
    }
    *regex = made;
    return PMIX_SUCCESS;
}

/* The bytes may have come from anywhere: they need not end in a NUL, nor be free of
 * others. */
static pmix_status_t raw_text(const pmix_regex2_t *regex, char **text,
                              struct px_err *err)
{
    const char *bytes = (const char *)regex->bytes;
    size_t len = strnlen(bytes, regex->len);

    if (len + 1 < regex->len)
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "a map has bytes behind its end");
    char *copy = strndup(bytes, len);
    if (!copy)
        return px_err_set(err, PMIX_ERR_NOMEM, "out of memory");
    *text = copy;
    return PMIX_SUCCESS;
}

pmix_status_t px_regex2_text(const pmix_regex2_t *regex, char **text,
                             struct px_err *err)
{
    if (!regex || !regex->type || !regex->bytes || regex->len == 0)
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "a map without type or bytes");
    if (strcmp(regex->type, "raw") == 0)
        return raw_text(regex, text, err);
    if (strcmp(regex->type, "compress") == 0)
        return px_map_inflate(regex->bytes, regex->len, text, err);
    return px_err_set(err, PMIX_ERR_NOT_SUPPORTED, "a map of unknown type");
}

PX_EXPORT pmix_status_t PMIx_parse_regex2(const pmix_regex2_t *regex,
                                          pmix_info_t info[], size_t ninfo,
                                          char **output)
{
    if (!regex || !output)
        return PMIX_ERR_BAD_PARAM;
    pmix_status_t rc = check_infos(info, ninfo);
    return rc ? rc : px_regex2_text(regex, output, NULL);
}
