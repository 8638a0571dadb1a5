/* SPDX-License-Identifier: BSD-3-Clause */
/* Any infos as a request for clean-up: what is understood is all that was named, each once, in normal
 * form, and nothing is both to be removed and to be kept. Of each info the input has a byte for the key,
 * one for the type, and a text that ends in 0. */
#include "core/reclaim/rmtree.h"
#include "core/server/cleanup/cleanup_read.h"
#include "fuzz.h"

#include <string.h>

static const char *const keys[] = {PMIX_REGISTER_CLEANUP,
                                   PMIX_REGISTER_CLEANUP_DIR,
                                   PMIX_CLEANUP_IGNORE,
                                   PMIX_CLEANUP_RECURSIVE,
                                   PMIX_CLEANUP_LEAVE_TOPDIR,
                                   PMIX_CLEANUP_EMPTY,
                                   "other"};

static uint8_t kind_of(const char *key)
{
    return strcmp(key, PMIX_REGISTER_CLEANUP) == 0       ? PX_RM_FILE
           : strcmp(key, PMIX_REGISTER_CLEANUP_DIR) == 0 ? PX_RM_DIR
           : strcmp(key, PMIX_CLEANUP_IGNORE) == 0       ? PX_RM_KEEP
                                                         : 0;
}

static void add(px_infos *infos, const char *key, uint8_t type, const char *text)
{
    bool yes = text[0] != 'n';
    pmix_status_t rc = type % 8 == 1   ? px_infos_add(infos, key, &yes, PMIX_BOOL)
                       : type % 8 == 2 ? px_infos_add(infos, key, NULL, PMIX_UNDEF)
                                       : px_infos_add(infos, key, text, PMIX_STRING);

    FUZZ_MUST(rc == PMIX_SUCCESS);
}

static void make(px_infos *infos, char *bytes, size_t size)
{
    for (size_t at = 0; at + 2 < size;) {
        const char *text = bytes + at + 2;

        add(infos, keys[(uint8_t)bytes[at] % PX_COUNT(keys)], (uint8_t)bytes[at + 1],
            text);
        at += 2 + strlen(text) + 1;
    }
}

static unsigned times_wanted(const struct px_cleanup_wants *q, uint8_t kind,
                             const char *path)
{
    unsigned n = 0;

    PX_LIST_EACH (&q->list, struct px_cleanup_want, w, link)
        n += w->kind == kind && strcmp(w->path, path) == 0;
    return n;
}

/* Each that was named is there once. */
static void check_list(const struct px_cleanup_wants *q, uint8_t kind, const char *list)
{
    char name[PX_RM_MAX_PATH + 1], path[PX_RM_MAX_PATH + 1];

    for (size_t n;; list += n + 1) {
        n = strcspn(list, ",");
        FUZZ_MUST(n <= PX_RM_MAX_PATH);
        memcpy(name, list, n);
        name[n] = '\0';
        FUZZ_MUST(!px_rm_path_check(name, path));
        FUZZ_MUST(times_wanted(q, kind, path) == 1);
        if (list[n] == '\0')
            return;
    }
}

static void check_wants(const struct px_cleanup_wants *q)
{
    char path[PX_RM_MAX_PATH + 1];
    bool kept_are_over = false;
    size_t n = 0;

    PX_LIST_EACH (&q->list, struct px_cleanup_want, w, link) {
        FUZZ_MUST(!px_rm_path_check(w->path, path) && strcmp(path, w->path) == 0);
        FUZZ_MUST(times_wanted(q, w->kind, w->path) == 1);
        FUZZ_MUST(w->kind != PX_RM_FILE || !times_wanted(q, PX_RM_KEEP, w->path));
        FUZZ_MUST(w->kind != PX_RM_KEEP || !kept_are_over);
        kept_are_over = w->kind != PX_RM_KEEP;
        n++;
    }
    FUZZ_MUST(n == q->n && (!q->flags || q->n_dirs > 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct px_cleanup_wants q = {0};
    px_infos infos = {0}, given = {0};
    char *bytes = malloc(size + 1);

    FUZZ_MUST(bytes);
    if (size)
        memcpy(bytes, data, size);
    bytes[size] = '\0';
    make(&infos, bytes, size);
    FUZZ_MUST(px_infos_add_copy(&given, infos.v, infos.n) == PMIX_SUCCESS);
    if (px_cleanup_wants_read(&q, &infos) == PMIX_SUCCESS) {
        check_wants(&q);
        for (size_t i = 0; i < given.n; i++)
            if (kind_of(given.v[i].key))
                check_list(&q, kind_of(given.v[i].key), given.v[i].value.data.string);
    }
    px_cleanup_wants_fini(&q);
    px_infos_cleanup(&given);
    px_infos_cleanup(&infos);
    free(bytes);
    return 0;
}

bool fuzz_seed(unsigned i, px_buf *out)
{
    static const char seeds[][40] = {
        "\0\0/tmp/a,/tmp/b\0\2\0/tmp/c",
        "\1\0/tmp/t/\0\3\1y\0\4\1n\0\2\0/tmp/t/x",
        "\1\0//tmp/./t\0\1\0/tmp/t\0\5\2",
        "\0\0/tmp/a\0\2\0/tmp//a",
        "\0\0a\0\0\0/../b",
        "\6\0x\0\3\1y",
    };

    return i < PX_COUNT(seeds) &&
           px_buf_add(out, seeds[i], sizeof(seeds[i])) == PMIX_SUCCESS;
}
