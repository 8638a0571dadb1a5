/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrapper of dlopen, for uses that libltdl does not cover. */
#ifndef PX_BASE_DL_H
#define PX_BASE_DL_H

#include "core/base/err.h"

/* Opens a shared object by path or name with dlopen's flags. Returns dlopen's handle,
 * or NULL with the loader's reason in err. */
void *px_dl_open(const char *file, int flags, struct px_err *err);

#endif
