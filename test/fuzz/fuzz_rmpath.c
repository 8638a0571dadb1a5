/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as the paths of a registered clean-up, split at commas. Each accepted path is in normal form,
 * has the meaning of the text, and does not lead to a refused place. */
#include "fuzz.h"
#include "core/reclaim/rmtree.h"

#include <string.h>

/* Computes the normal form with a stack of names; false if the text must be refused. */
static bool expected(const char *text, char *out)
{
    size_t used = 0;
    char *copy = strdup(text), *rest = copy;
    bool good = text[0] == '/';

    FUZZ_MUST(copy);
    out[0] = '\0';
    for (char *name; good && (name = strsep(&rest, "/"));) {
        if (!*name || strcmp(name, ".") == 0)
            continue;
        used += strlen(name) + 1;
        good = strcmp(name, "..") != 0 && strlen(name) <= 255 && used <= PX_RM_MAX_PATH;
        if (good)
            sprintf(out + strlen(out), "/%s", name);
    }
    free(copy);
    return good && out[0] && strncmp(out, "/proc/", 6) != 0 &&
           strncmp(out, "/sys/", 5) != 0 && strcmp(out, "/proc") != 0 &&
           strcmp(out, "/sys") != 0;
}

static void normal(const char *out)
{
    size_t n = strlen(out);
    char again[PX_RM_MAX_PATH + 1];

    FUZZ_MUST(n > 1 && n <= PX_RM_MAX_PATH && out[0] == '/' && out[n - 1] != '/');
    FUZZ_MUST(!strstr(out, "//") && !strstr(out, "/./") && !strstr(out, "/../"));
    FUZZ_MUST(!px_rm_path_check(out, again) && strcmp(out, again) == 0);
}

static void check(const char *path)
{
    char *out = malloc(PX_RM_MAX_PATH + 1), *other = malloc(PX_RM_MAX_PATH + 1);

    FUZZ_MUST(out && other);
    const char *wrong = px_rm_path_check(path, out);
    bool good = expected(path, other);
    FUZZ_MUST(good == !wrong);
    if (wrong)
        FUZZ_MUST(wrong[0]);
    if (good) {
        FUZZ_MUST(strcmp(out, other) == 0);
        normal(out);
    }
    free(out);
    free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *rest = text, *path;

    while ((path = strsep(&rest, ",")))
        check(path);
    free(text);
    return 0;
}

bool fuzz_seed(unsigned i, px_buf *out)
{
    static const char *const texts[] = {
        "/tmp/a,/tmp//b/./c/,/dev/shm/x",
        "/proc/1/root,/sys/kernel,/procs,/sysx/a,/./proc,/tmp/../etc,/..,/...,/.a",
        "relative,,/,//,///.//.,/tmp/\xff\n\t ,/a/",
    };
    static const char name[] = "/0123456789abcdef";

    if (i < 3)
        return fuzz_seed_text(texts, 3, i, out);
    for (size_t n = 0; i < 5 && n < 242; n++) { /* about as long as may be */
        const char *at = i == 4 && n < 16 ? name + 1 : name;

        if (px_buf_add(out, at, strlen(at)) != PMIX_SUCCESS ||
            (i == 4 && n == 0 && px_buf_add(out, "/", 1) != PMIX_SUCCESS))
            return false;
    }
    return i < 5;
}
