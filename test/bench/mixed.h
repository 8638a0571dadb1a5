/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects that are packed: infos as hosts and launchers make them, of all common kinds. */
#ifndef PX_BENCH_MIXED_H
#define PX_BENCH_MIXED_H

#include "pmix_common.h"

/* n infos of one kind after the other, of malloc memory, which live as long as the process. The
 * same n gives the same content. NULL if memory is out. */
pmix_info_t *mixed_infos(size_t n);
/* Whether b has the key and the value of a. */
int mixed_same(const pmix_info_t *a, const pmix_info_t *b);

#endif
