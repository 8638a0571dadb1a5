/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of clean-up requests, and checks that need no registry. Paths may come
 * from any process. */
#include "core/server/cleanup/request.h"

#include "core/reclaim/rmpath.h"

#include <string.h>

/* Limits with duplicates, so that reading takes bounded time. */
#define MAX_NAMED   16384u
#define MAX_NAMED_B (4u * 1024u * 1024u)

/* A list of paths, or a directive with its flag. The RFC and the header use different
 * names for some; both are accepted. */
static const struct row {
    const char *key;
    uint8_t kind, flag;
} rows[] = {
    {PMIX_REGISTER_CLEANUP, PX_RM_FILE, 0},
    {PMIX_REGISTER_CLEANUP_DIR, PX_RM_DIR, 0},
    {PMIX_CLEANUP_IGNORE, PX_RM_KEEP, 0},
    {"pmix.cleanup.ignore", PX_RM_KEEP, 0},
    {PMIX_CLEANUP_RECURSIVE, 0, PX_RM_RECURSE},
    {"pmix.cleanup.recurse", 0, PX_RM_RECURSE},
    {PMIX_CLEANUP_EMPTY, 0, PX_RM_EMPTY},
    {PMIX_CLEANUP_LEAVE_TOPDIR, 0, PX_RM_LEAVE_TOP},
    {"pmix.cleanup.lvtop", 0, PX_RM_LEAVE_TOP},
};

static const struct row *row_of(const pmix_info_t *info)
{
    for (size_t i = 0; i < PX_COUNT(rows); i++)
        if (PMIx_Check_key(info->key, rows[i].key))
            return &rows[i];
    return NULL;
}

static bool is_for_host(const pmix_info_t *info)
{
    static const char directive[] = "pmix.jctrl.";

    return (info->flags & PMIX_INFO_REQD) ||
           (strncmp(info->key, directive, strlen(directive)) == 0 &&
            !PMIx_Check_key(info->key, PMIX_JOB_CTRL_ID));
}

pmix_status_t px_cleanup_split(px_infos *infos, px_infos *taken, bool *host)
{
    size_t kept = 0, n = 0;
    pmix_status_t rc = PMIX_SUCCESS;

    *host = false;
    for (; !rc && n < infos->n; n++) {
        pmix_info_t *info = &infos->v[n];

        if (!row_of(info)) {
            *host = *host || is_for_host(info);
            infos->v[kept++] = *info;
            continue;
        }
        rc = px_infos_add_copy(taken, info, 1);
        px_type_destruct(PMIX_INFO, info);
    }
    while (n < infos->n)
        infos->v[kept++] = infos->v[n++];
    infos->n = kept;
    return rc;
}

static pmix_status_t add_named(struct px_cleanup_request *q, uint8_t kind,
                               const char *name, size_t len)
{
    char raw[PX_RM_MAX_PATH + 1], path[PX_RM_MAX_PATH + 1];
    struct px_cleanup_want *w;

    if (len > PX_RM_MAX_PATH)
        return PMIX_ERR_BAD_PARAM;
    memcpy(raw, name, len);
    raw[len] = '\0';
    if (px_rm_path_resolve(raw, q->uid, q->gid, path))
        return PMIX_ERR_BAD_PARAM;
    w = calloc(1, sizeof(*w) + strlen(path) + 1);
    if (!w)
        return PMIX_ERR_NOMEM;
    q->wants_b += sizeof(*w) + strlen(path) + 1;
    w->kind = kind;
    memcpy(w->path, path, strlen(path));
    /* Paths to keep come first: a journal read only in part must not remove them. */
    if (kind == PX_RM_KEEP)
        px_list_prepend(&q->wants, &w->link);
    else
        px_list_append(&q->wants, &w->link);
    return PMIX_SUCCESS;
}

/* Returns the length of the next element of a comma-separated list, or 0 at the end of
 * the list. Skips empty elements. */
static size_t next_in(const char **at)
{
    *at += strspn(*at, ",");
    return strcspn(*at, ",");
}

/* Counts the paths of a list. */
static pmix_status_t count_list(struct px_cleanup_request *q, const pmix_value_t *v)
{
    const char *at = px_value_string(v);

    if (!at)
        return PMIX_ERR_BAD_PARAM;
    q->named_b += strlen(at);
    if (q->named_b > MAX_NAMED_B)
        return PMIX_ERR_OUT_OF_RESOURCE;
    for (size_t len; (len = next_in(&at)) > 0; at += len)
        if (++q->n > MAX_NAMED)
            return PMIX_ERR_OUT_OF_RESOURCE;
    return PMIX_SUCCESS;
}

pmix_status_t px_cleanup_request_begin(struct px_cleanup_request *q,
                                       const px_infos *infos, uid_t uid, gid_t gid)
{
    pmix_status_t rc = PMIX_SUCCESS;

    *q = (struct px_cleanup_request){.uid = uid, .gid = gid};
    px_list_init(&q->wants);
    for (size_t i = 0; !rc && i < infos->n; i++) {
        const struct row *row = row_of(&infos->v[i]);
        const pmix_value_t *v = &infos->v[i].value;

        if (row && !row->flag)
            rc = count_list(q, v);
        else if (row && v->type != PMIX_BOOL && v->type != PMIX_UNDEF)
            rc = PMIX_ERR_BAD_PARAM;
        else if (row && px_value_truth(v))
            q->flags |= row->flag;
    }
    return rc;
}

pmix_status_t px_cleanup_request_read(struct px_cleanup_request *q,
                                      const px_infos *infos, size_t most)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (; !rc && most > 0 && q->at_info < infos->n; q->at_info++) {
        const pmix_info_t *info = &infos->v[q->at_info];
        const struct row *row = row_of(info);
        size_t len = 0;

        if (!row || row->flag)
            continue;
        if (!q->at_path)
            q->at_path = px_value_string(&info->value);
        while (!rc && most > 0 && (len = next_in(&q->at_path)) > 0) {
            rc = add_named(q, row->kind, q->at_path, len);
            q->at_path += len;
            most--;
        }
        if (len > 0) /* there may be more */
            break;
        q->at_path = NULL;
    }
    q->is_read = q->at_info == infos->n;
    return rc;
}

void px_cleanup_request_fini(struct px_cleanup_request *q)
{
    PX_LIST_EACH (&q->wants, struct px_cleanup_want, w, link)
        free(w);
}
