/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of output files. */
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
    const char *rank; /* with leading zeros, if names are to sort */
    const char *channel;
};

/* Makes a file name; *name is malloc'd. Returns PMIX_ERR_BAD_PARAM if the pattern has
 * other letters. */
pmix_status_t px_iof_file_name(enum px_iof_files files, const char *path,
                               const struct px_iof_of *of, char **name,
                               struct px_err *err);

#endif
