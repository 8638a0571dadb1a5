/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables made from types.def: the fields of each structure, and the types by number.
 * Also the payload address of a value. */
#include "core/types/walk.h"

#include <time.h>

/* The store of each type, used in the rows below. */
enum {
#define LEAF(ID, c_type, STORE, ...) STORE_OF_##ID = PX_##STORE,
#define RECORD(ID, ...)              STORE_OF_##ID = PX_STRUCT,
#include "core/types/types.def"
};

/* The C type of each number, for compile-time checks of member sizes. */
#define LEAF(ID, c_type, ...)   typedef c_type c_##ID;
#define RECORD(ID, c_type, ...) typedef c_type c_##ID;
#include "core/types/types.def"

#define MEMBER(c_type, member) (((c_type *)0)->member)
/* Yields zero, or fails to compile if the sizes differ. */
#define PROOF(object, expected) \
    (0 * sizeof(char[sizeof(object) == sizeof(expected) ? 1 : -1]))

#define FIELD(c_type, member, ID, stored, count_form, count_at, proof)           \
    {                                                                            \
        .name = #member, .type = PMIX_##ID, .store = stored, .many = count_form, \
        .offset = offsetof(c_type, member) + (proof), .count_offset = count_at   \
    }
#define ONE(c_type, member, ID)                         \
    FIELD(c_type, member, ID, STORE_OF_##ID, PX_ONE, 0, \
          PROOF(MEMBER(c_type, member), c_##ID))
#define KEY(c_type, member)                          \
    FIELD(c_type, member, STRING, PX_KEY, PX_ONE, 0, \
          PROOF(MEMBER(c_type, member), pmix_key_t))
#define MANY(c_type, member, count, ID)                                           \
    FIELD(c_type, member, ID, STORE_OF_##ID, PX_COUNTED, offsetof(c_type, count), \
          PROOF(*MEMBER(c_type, member), c_##ID))
#define STRV(c_type, member, count_form)                    \
    FIELD(c_type, member, STRING, PX_STRING, count_form, 0, \
          PROOF(*MEMBER(c_type, member), c_STRING))
#define STRV_INT(c_type, member) STRV(c_type, member, PX_STRV_INT)
#define STRV_I32(c_type, member) STRV(c_type, member, PX_STRV_I32)

#define RECORD(ID, c_type, IN_VALUE, min_wire, flat, n_local, ...) \
    static const struct px_field fields_##ID[] = {__VA_ARGS__};
#include "core/types/types.def"

#define N_TRAVELLING(ID, n_local) (PX_COUNT(fields_##ID) - (n_local))

const struct px_type px_types[] = {
    [PMIX_UNDEF] = {.id = PMIX_UNDEF,
                    .store = PX_NONE,
                    .in_value = PX_VALUE_INLINE,
                    .flat = true,
                    .name = "PMIX_UNDEF"},
#define LEAF(ID, c_type, STORE, IN_VALUE, min, is_flat) \
    [PMIX_##ID] = {.id = PMIX_##ID,                     \
                   .store = PX_##STORE,                 \
                   .in_value = PX_VALUE_##IN_VALUE,     \
                   .size = sizeof(c_type),              \
                   .min_wire = min,                     \
                   .flat = is_flat,                     \
                   .name = "PMIX_" #ID},
#define RECORD(ID, c_type, IN_VALUE, min, is_flat, local, ...) \
    [PMIX_##ID] = {.id = PMIX_##ID,                            \
                   .store = PX_STRUCT,                         \
                   .in_value = PX_VALUE_##IN_VALUE,            \
                   .n_fields = N_TRAVELLING(ID, local),        \
                   .n_local = local,                           \
                   .size = sizeof(c_type),                     \
                   .min_wire = min,                            \
                   .flat = is_flat,                            \
                   .name = "PMIX_" #ID,                        \
                   .fields = fields_##ID},
#include "core/types/types.def"
};

const pmix_data_type_t px_n_types = PX_COUNT(px_types);

void *px_value_payload(const pmix_value_t *v)
{
    const struct px_type *t = px_value_type(v);

    if (!t || t->store == PX_NONE)
        return NULL;
    return t->in_value == PX_VALUE_INLINE ? (void *)&v->data : v->data.ptr;
}
