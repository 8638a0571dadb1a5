/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of the library's frameworks. Open MPI 5 reads them to recognize parameters that
 * belong to this library. */
#ifndef PMIX_FRAMEWORKS_H
#define PMIX_FRAMEWORKS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Names in no particular order, ended by NULL. The array and its texts are
 * constant, so a program that writes to them crashes. Any thread may read them. */
extern char *pmix_framework_names[];

#ifdef __cplusplus
}
#endif

#endif
