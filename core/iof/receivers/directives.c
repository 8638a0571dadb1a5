/* SPDX-License-Identifier: BSD-3-Clause */
/* Directives of PMIx_IOF_pull for the receiver and for the server. */
#include "core/iof/receivers/receiver.h"

#include <stdlib.h>
#include <string.h>

/* Limit of bytes that wait for the program's function or for sinks, beside bytes in
 * streams. */
#define LIMIT_B ((size_t)1024 * 1024)

static const char *const file_keys[] = {PMIX_IOF_OUTPUT_TO_FILE,
                                        PMIX_IOF_OUTPUT_TO_DIRECTORY,
                                        PMIX_IOF_FILE_PATTERN, PMIX_IOF_FILE_ONLY};

static pmix_status_t read_files(struct px_iof_receiver *r, const pmix_info_t *info,
                                size_t n, struct px_err *err)
{
    const struct px_iof_of any = {.nspace = "", .rank = "0", .channel = "stdout"};
    PX_AUTOFREE char *name = NULL;
    const char *path[2];
    bool is_pattern = px_info_flag(info, n, PMIX_IOF_FILE_PATTERN);

    for (int i = 0; i < 2; i++) {
        path[i] = px_info_str(info, n, file_keys[i]);
        if (px_info_find(info, n, file_keys[i]) && (!path[i] || !path[i][0]))
            return px_err_set(err, PMIX_ERR_BAD_PARAM,
                              "cannot read %s: expected a path",
                              PMIx_Get_attribute_name(file_keys[i]));
    }
    r->files_only = px_info_flag(info, n, PMIX_IOF_FILE_ONLY);
    if (path[0] && path[1])
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "PMIX_IOF_OUTPUT_TO_FILE contradicts "
                          "PMIX_IOF_OUTPUT_TO_DIRECTORY");
    if ((is_pattern && !path[0]) || (r->files_only && !path[0] && !path[1]))
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "%s needs a file",
                          is_pattern ? "PMIX_IOF_FILE_PATTERN" : "PMIX_IOF_FILE_ONLY");
    if (!path[0] && !path[1])
        return PMIX_SUCCESS;
    r->files = path[1] ? PX_IOF_DIR : is_pattern ? PX_IOF_PATTERN : PX_IOF_FILE;
    r->path = strdup(path[1] ? path[1] : path[0]);
    if (!r->path)
        return px_err_nomem(err, "pull output");
    return px_iof_file_name(r->files, r->path, &any, &name, err);
}

/* Checks directives for the server, so that contradictions are never sent. */
static pmix_status_t check_others(const pmix_info_t *info, size_t n, struct px_err *err)
{
    static const char *const pairs[][2] = {{PMIX_IOF_DROP_OLDEST, PMIX_IOF_DROP_NEWEST},
                                           {PMIX_IOF_COPY, PMIX_IOF_REDIRECT}};
    const pmix_info_t *size = px_info_find(info, n, PMIX_IOF_CACHE_SIZE);
    uint64_t number;

    for (size_t i = 0; i < PX_COUNT(pairs); i++)
        if (px_info_flag(info, n, pairs[i][0]) && px_info_flag(info, n, pairs[i][1]))
            return px_err_set(err, PMIX_ERR_BAD_PARAM, "%s contradicts %s",
                              PMIx_Get_attribute_name(pairs[i][0]),
                              PMIx_Get_attribute_name(pairs[i][1]));
    if (size && !px_value_to_u64(&size->value, &number))
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "cannot read PMIX_IOF_CACHE_SIZE: expected a number");
    return PMIX_SUCCESS;
}

static pmix_status_t list_rest(const pmix_info_t *info, size_t n, px_infos *rest)
{
    rest->v = n > 0 ? calloc(n, sizeof(*info)) : NULL;
    rest->n = 0;
    for (size_t i = 0; rest->v && i < n; i++) {
        bool is_ours = px_iof_way_has(info[i].key);

        for (size_t k = 0; k < PX_COUNT(file_keys); k++)
            is_ours |= PMIx_Check_key(info[i].key, file_keys[k]);
        if (!is_ours)
            rest->v[rest->n++] = info[i];
    }
    return n == 0 || rest->v ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

/* Chooses between plain pieces and outlets. Gathered bytes without a format stay
 * raw. */
static void choose(struct px_iof_receiver *r)
{
    const struct px_iof_way *w = &r->way, usual = px_iof_way_default();
    bool shows = w->xml || w->json || w->timed || w->tag || w->tag_full ||
                 w->tag_rank || w->tag_detailed;
    bool gathers = w->gather_b > 0 || w->gather_ms != usual.gather_ms;

    r->limit_b = LIMIT_B;
    r->plain = r->fn && !shows && !gathers && r->files == PX_IOF_NO_FILES;
    if (r->fn && !shows && gathers && r->files == PX_IOF_NO_FILES)
        r->way.raw = true;
}

pmix_status_t px_iof_receiver_read(struct px_iof_receiver *r, const pmix_info_t *info,
                                   size_t n, px_infos *rest, struct px_err *err)
{
    pmix_status_t rc = px_iof_way_read(&r->way, info, n, err);

    if (!rc)
        rc = read_files(r, info, n, err);
    if (!rc)
        rc = check_others(info, n, err);
    if (!rc)
        rc = list_rest(info, n, rest);
    if (!rc)
        choose(r);
    return rc;
}
