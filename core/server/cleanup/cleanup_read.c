/* SPDX-License-Identifier: BSD-3-Clause */
/* The attributes of clean-up: what a request says, and whether that makes sense by itself. The paths
 * come from anybody. */
#include "core/server/cleanup/cleanup_read.h"

#include <string.h>

/* Duplicates included, so that reading them takes bounded time. */
#define MAX_NAMED   16384u
#define MAX_NAMED_B (4u * 1024u * 1024u)

size_t px_cleanup_key(uid_t uid, gid_t gid, uint8_t kind, const char *path,
                      uint8_t *out)
{
    size_t len = strlen(path);

    memcpy(out, &uid, sizeof uid);
    memcpy(out + sizeof uid, &gid, sizeof gid);
    out += sizeof uid + sizeof gid;
    *out = kind == PX_RM_DIR; /* removed or ignored: one file is one file */
    memcpy(out + 1, path, len);
    return sizeof uid + sizeof gid + 1 + len;
}

enum what { NOTHING, FILES, DIRS, IGNORED, DIRECTIVE };

struct key {
    const char *name;
    enum what what;
    uint8_t flag;
};

/* The RFC and the header differ in some: both are in use. */
static const struct key keys[] = {
    {PMIX_REGISTER_CLEANUP, FILES, 0},
    {PMIX_REGISTER_CLEANUP_DIR, DIRS, 0},
    {PMIX_CLEANUP_IGNORE, IGNORED, 0},
    {"pmix.cleanup.ignore", IGNORED, 0},
    {PMIX_CLEANUP_RECURSIVE, DIRECTIVE, PX_RM_RECURSE},
    {"pmix.cleanup.recurse", DIRECTIVE, PX_RM_RECURSE},
    {PMIX_CLEANUP_EMPTY, DIRECTIVE, PX_RM_EMPTY},
    {PMIX_CLEANUP_LEAVE_TOPDIR, DIRECTIVE, PX_RM_LEAVE_TOP},
    {"pmix.cleanup.lvtop", DIRECTIVE, PX_RM_LEAVE_TOP},
};

static const struct key *key_of(const pmix_info_t *info)
{
    static const struct key none = {"", NOTHING, 0};

    for (size_t i = 0; i < PX_COUNT(keys); i++)
        if (PMIx_Check_key(info->key, keys[i].name))
            return &keys[i];
    return &none;
}

static pmix_status_t read_directive(struct px_cleanup_wants *q, const pmix_value_t *v,
                                    uint8_t flag)
{
    if (v->type != PMIX_BOOL && v->type != PMIX_UNDEF)
        return PMIX_ERR_BAD_PARAM;
    if (px_value_truth(v))
        q->flags |= flag;
    return PMIX_SUCCESS;
}

static uint8_t kind_of(enum what what)
{
    return what == DIRS ? PX_RM_DIR : what == FILES ? PX_RM_FILE : PX_RM_KEEP;
}

static pmix_status_t add_want(struct px_cleanup_wants *q, uint8_t kind,
                              const char *path)
{
    uint8_t key[PX_CLEANUP_KEY_B];
    size_t len = px_cleanup_key(0, 0, kind, path, key);
    struct px_cleanup_want *w = px_map_get(&q->seen, key, len);
    pmix_status_t rc;

    if (w)
        return w->kind == kind ? PMIX_SUCCESS : PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES;
    w = calloc(1, sizeof *w + strlen(path) + 1);
    if (!w)
        return PMIX_ERR_NOMEM;
    w->kind = kind;
    memcpy(w->path, path, strlen(path) + 1);
    rc = px_map_put(&q->seen, key, len, w, NULL);
    if (rc) {
        free(w);
        return rc;
    }
    /* Those to keep first: whoever reads half of it must not remove them. */
    if (kind == PX_RM_KEEP)
        px_list_prepend(&q->list, &w->link);
    else
        px_list_append(&q->list, &w->link);
    q->n++;
    q->n_dirs += kind == PX_RM_DIR;
    return PMIX_SUCCESS;
}

static pmix_status_t add_named(struct px_cleanup_wants *q, uint8_t kind,
                               const char *name, size_t len)
{
    char raw[PX_RM_MAX_PATH + 1], path[PX_RM_MAX_PATH + 1];

    if (len > PX_RM_MAX_PATH)
        return PMIX_ERR_BAD_PARAM;
    memcpy(raw, name, len);
    raw[len] = '\0';
    if (px_rm_path_check(raw, path))
        return PMIX_ERR_BAD_PARAM;
    return ++q->n_named > MAX_NAMED ? PMIX_ERR_OUT_OF_RESOURCE
                                    : add_want(q, kind, path);
}

static pmix_status_t read_list(struct px_cleanup_wants *q, const pmix_value_t *v,
                               uint8_t kind)
{
    const char *at = px_value_string(v);
    pmix_status_t rc = PMIX_SUCCESS;
    size_t len;

    if (!at)
        return PMIX_ERR_BAD_PARAM;
    q->named_b += strlen(at);
    if (q->named_b > MAX_NAMED_B)
        return PMIX_ERR_OUT_OF_RESOURCE;
    for (;; at += len + 1) {
        len = strcspn(at, ",");
        rc = add_named(q, kind, at, len);
        if (rc || at[len] == '\0')
            return rc;
    }
}

static pmix_status_t read_all(struct px_cleanup_wants *q, const px_infos *infos)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < infos->n; i++) {
        const struct key *key = key_of(&infos->v[i]);

        if (key->what == DIRECTIVE)
            rc = read_directive(q, &infos->v[i].value, key->flag);
        else if (key->what != NOTHING)
            rc = read_list(q, &infos->v[i].value, kind_of(key->what));
    }
    if (!rc && q->flags && q->n_dirs == 0)
        rc = PMIX_ERR_BAD_PARAM;
    return rc;
}

static size_t take(px_infos *infos)
{
    size_t kept = 0, n = infos->n;

    for (size_t i = 0; i < n; i++) {
        if (key_of(&infos->v[i])->what != NOTHING)
            px_type_destruct(PMIX_INFO, &infos->v[i]);
        else
            infos->v[kept++] = infos->v[i];
    }
    infos->n = kept;
    return n - kept;
}

pmix_status_t px_cleanup_wants_read(struct px_cleanup_wants *q, px_infos *infos)
{
    pmix_status_t rc;

    *q = (struct px_cleanup_wants){.n = 0};
    px_list_init(&q->list);
    rc = read_all(q, infos);
    q->n_taken = take(infos);
    return rc;
}

void px_cleanup_wants_fini(struct px_cleanup_wants *q)
{
    PX_LIST_EACH (&q->list, struct px_cleanup_want, w, link)
        free(w);
    px_map_fini(&q->seen);
}
