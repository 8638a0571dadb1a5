/* SPDX-License-Identifier: BSD-3-Clause */
/* The system's loader, for what libltdl does not do. */
#ifndef PX_BASE_DL_H
#define PX_BASE_DL_H

#include "core/base/err.h"

/* Opens a shared object by its path or name with flags of dlopen. Returns a handle of
 * dlopen, or NULL with the loader's reason in err. */
void *px_dl_open(const char *file, int flags, struct px_err *err);

#endif
