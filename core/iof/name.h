/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of files that output goes to. */
#ifndef PX_IOF_NAME_H
#define PX_IOF_NAME_H

#include "core/base/err.h"

enum px_iof_files {
    PX_IOF_NO_FILES,
    PX_IOF_DIR,     /* path/namespace/rank.N/stdout */
    PX_IOF_FILE,    /* path.namespace.N.stdout */
    PX_IOF_PATTERN, /* path.stdout, with %n, %r, %h and %% filled in */
};

struct px_iof_of {
    const char *nspace;
    const char *rank; /* with zeros before it, if names are to be in order */
    const char *channel;
};

/* *name is malloc'd. PMIX_ERR_BAD_PARAM: the pattern has other letters. */
pmix_status_t px_iof_file_name(enum px_iof_files files, const char *path,
                               const struct px_iof_of *of, char **name,
                               struct px_err *err);

#endif
