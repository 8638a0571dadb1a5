/* SPDX-License-Identifier: BSD-3-Clause */
/* Any infos as a request for clean-up. The parsed request has all names, in normal form, and first the
 * names to keep. The input has for each info a byte for the key, a byte for the type, and a text that ends
 * in 0. */
#include "core/reclaim/rmpath.h"
#include "core/reclaim/rmtree.h"
#include "core/server/cleanup/request.h"
#include "fuzz.h"

#include <string.h>
#include <unistd.h>

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

/* Returns the number of names in a list, and checks that the request has each. */
static size_t check_list(const struct px_cleanup_request *q, uint8_t kind,
                         const char *list)
{
    char name[PX_RM_MAX_PATH + 1], path[PX_RM_MAX_PATH + 1];
    size_t n_names = 0;

    for (size_t n; *list; list += n + (list[n] == ',')) {
        bool found = false;

        n = strcspn(list, ",");
        if (n == 0)
            continue;
        n_names++;
        FUZZ_MUST(n <= PX_RM_MAX_PATH);
        memcpy(name, list, n);
        name[n] = '\0';
        /* A folder of the machine may be a link, for example /bin. */
        FUZZ_MUST(!px_rm_path_resolve(name, geteuid(), getegid(), path));
        PX_LIST_EACH (&q->wants, struct px_cleanup_want, w, link)
            found = found || (w->kind == kind && strcmp(w->path, path) == 0);
        FUZZ_MUST(found);
    }
    return n_names;
}

static size_t count_wants(const struct px_cleanup_request *q)
{
    char path[PX_RM_MAX_PATH + 1];
    bool kept_are_over = false;
    size_t n = 0;

    PX_LIST_EACH (&q->wants, struct px_cleanup_want, w, link) {
        FUZZ_MUST(!px_rm_path_check(w->path, path) && strcmp(path, w->path) == 0);
        FUZZ_MUST(w->kind != PX_RM_KEEP || !kept_are_over);
        kept_are_over = w->kind != PX_RM_KEEP;
        n++;
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct px_cleanup_request q;
    px_infos infos = {0}, taken = {0};
    char *bytes = fuzz_text(data, size);
    size_t n = 0, given;
    bool host;

    make(&infos, bytes, size);
    given = infos.n;
    FUZZ_MUST(px_cleanup_split(&infos, &taken, &host) == PMIX_SUCCESS);
    FUZZ_MUST(!host && infos.n + taken.n == given);
    pmix_status_t rc = px_cleanup_request_begin(&q, &taken, geteuid(), getegid());
    while (!rc && !q.is_read)
        rc = px_cleanup_request_read(&q, &taken, 1 + size % 3);
    if (!rc) {
        for (size_t i = 0; i < taken.n; i++)
            if (kind_of(taken.v[i].key))
                n += check_list(&q, kind_of(taken.v[i].key),
                                taken.v[i].value.data.string);
        FUZZ_MUST(n == q.n && n == count_wants(&q));
    }
    px_cleanup_request_fini(&q);
    px_infos_cleanup(&taken);
    px_infos_cleanup(&infos);
    free(bytes);
    return 0;
}

bool fuzz_seed(unsigned i, px_buf *out)
{
    static const char seeds[][64] = {
        "\0\0/nonexistent/a,/nonexistent/b\0\2\0/nonexistent/c",
        "\2\0/bin/nonexistent,/lib/../bin/nonexistent\0",
        "\1\0/nonexistent/t/\0\3\1y\0\4\1n\0\2\0/nonexistent/t/x",
        "\1\0//nonexistent/./t\0\1\0/nonexistent/t\0\5\2",
        "\0\0/nonexistent/a\0\2\0/nonexistent//a",
        "\0\0a\0\0\0/../b",
        "\6\0x\0\3\1y",
    };

    return i < PX_COUNT(seeds) &&
           px_buf_add(out, seeds[i], sizeof(seeds[i])) == PMIX_SUCCESS;
}
