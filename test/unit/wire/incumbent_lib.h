/* SPDX-License-Identifier: BSD-3-Clause */
/* The other implementation, if it is installed: loaded at run time, into processes of their own,
 * as it wants to be initialised, starts threads, leaks, and crashes on some objects.
 * PX_TEST_INCUMBENT names a library other than the system's. */
#ifndef PX_INCUMBENT_LIB_H
#define PX_INCUMBENT_LIB_H

#include "core/wire/codec.h"
#include "gen.h"

struct incumbent {
    pmix_status_t (*init)(pmix_proc_t *proc, pmix_info_t *info, size_t n);
    pmix_status_t (*pack)(const pmix_proc_t *target, pmix_data_buffer_t *buffer,
                          void *src, int32_t n, pmix_data_type_t type);
    pmix_status_t (*unpack)(const pmix_proc_t *source, pmix_data_buffer_t *buffer,
                            void *dest, int32_t *max, pmix_data_type_t type);
    pmix_status_t (*copy)(void **dest, void *src, pmix_data_type_t type);
    pmix_status_t (*print)(char **out, char *prefix, void *src, pmix_data_type_t type);
    pmix_status_t (*copy_payload)(pmix_data_buffer_t *dest, pmix_data_buffer_t *src);
    pmix_status_t (*load)(pmix_data_buffer_t *buffer, pmix_byte_object_t *payload);
    pmix_status_t (*unload)(pmix_data_buffer_t *buffer, pmix_byte_object_t *payload);
    pmix_status_t (*embed)(pmix_data_buffer_t *buffer,
                           const pmix_byte_object_t *payload);
    bool (*compress)(const uint8_t *in, size_t n, uint8_t **out, size_t *n_out);
    bool (*decompress)(const uint8_t *in, size_t n, uint8_t **out, size_t *n_out);
    pmix_value_cmp_t (*value_compare)(pmix_value_t *a, pmix_value_t *b);
    pmix_status_t (*value_xfer)(pmix_value_t *dest, const pmix_value_t *src);
    pmix_status_t (*info_xfer)(pmix_info_t *dest, const pmix_info_t *src);
};

typedef bool incumbent_check(const struct incumbent *lib, struct px_codec codec);

enum { INCUMBENT_GOOD, INCUMBENT_BAD, INCUMBENT_MISSING = 77 };

/* Types that no objects are made of for it, each with the reason; ends in UNDEF. */
extern const pmix_data_type_t incumbent_leave_out[];

/* The result of check in a process where the other library speaks codec, or minus a signal. */
int incumbent_apart(struct px_codec codec, incumbent_check *check);

#endif
