/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/iof/name.h"

#include <string.h>

#include "core/base/attr.h"
#include "core/base/str.h"
#include "core/rt/process.h"

static pmix_status_t fill_pattern(const char *pattern, const char *job,
                                  const char *rank, char **out, struct px_err *err)
{
    PX_AUTOFREE char *text = NULL;
    size_t n;

    for (const char *at = pattern; *at || !text; at += n) {
        n = strcspn(at, "%");
        char letter = at[n] ? at[n + 1] : '\0';
        const char *value = !at[n]          ? ""
                            : letter == 'n' ? job
                            : letter == 'r' ? rank
                            : letter == 'h' ? px_process.host
                            : letter == '%' ? "%"
                                            : NULL;

        if (!value)
            return px_err_set(
                err, PMIX_ERR_BAD_PARAM,
                "cannot write to %.300s: only %%n, %%r, %%h and %%%% have "
                "a meaning",
                pattern);
        char *longer = px_strf("%s%.*s%s", text ? text : "", (int)n, at, value);
        free(text);
        text = longer;
        if (!text)
            return px_err_nomem(err, "name a file for output");
        n += at[n] ? 2 : 0;
    }
    *out = px_take(&text);
    return PMIX_SUCCESS;
}

pmix_status_t px_iof_file_name(enum px_iof_files files, const char *path,
                               const struct px_iof_of *of, char **name,
                               struct px_err *err)
{
    PX_AUTOFREE char *job = strdup(of->nspace);
    PX_AUTOFREE char *filled = NULL;

    if (!job)
        return px_err_nomem(err, "name a file for output");
    for (char *c = job; *c; c++) /* a namespace is one component of a path */
        *c = *c == '/' ? '_' : *c;
    if (files == PX_IOF_PATTERN) {
        pmix_status_t rc = fill_pattern(path, job, of->rank, &filled, err);

        if (rc)
            return rc;
        *name = px_strf("%s.%s", filled, of->channel);
    } else if (files == PX_IOF_DIR) {
        *name = px_strf("%s/%s/rank.%s/%s", path, job, of->rank, of->channel);
    } else {
        *name = px_strf("%s.%s.%s.%s", path, job, of->rank, of->channel);
    }
    return *name ? PMIX_SUCCESS : px_err_nomem(err, "name a file for output");
}
