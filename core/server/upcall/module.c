/* SPDX-License-Identifier: BSD-3-Clause */
/* Copying a host's module. The slots common to all releases have the same offsets. The
 * later ones moved, so the layout must be known before any of them is read. The size
 * identifies the layout: no two releases share one. */
#include "core/server/upcall/module.h"

#include "core/link/required.h"
#include "core/server/host.h"
#include "core/server/server.h"

#include <string.h>

typedef void (*slot_fn)(void);

#define SLOT(member) (offsetof(pmix_server_module_t, member) / sizeof(slot_fn))
#define N_COMMON     28u
#define N_OURS       (sizeof(pmix_server_module_t) / sizeof(slot_fn))

_Static_assert(sizeof(pmix_server_module_t) % sizeof(slot_fn) == 0 &&
                   SLOT(client_connected2) + 1 == N_COMMON,
               "the module is a row of function pointers");

/* Slots that older layouts have behind the common ones, by this layout's numbers. */
static const struct {
    size_t n_slots; /* of the whole module */
    size_t tail[2];
} older[] = {
    {29, {SLOT(session_control)}},                       /* 5.0 */
    {30, {SLOT(session_control), SLOT(resource_block)}}, /* 6.0 */
};

static void copy_slots(pmix_server_module_t *out, size_t to,
                       const pmix_server_module_t *from, size_t at, size_t n)
{
    memcpy((slot_fn *)out + to, (const slot_fn *)from + at, n * sizeof(slot_fn));
}

static size_t slots_given(const pmix_info_t *info, size_t n)
{
    const pmix_info_t *size = px_info_find(info, n, TENON_SERVER_MODULE_SIZE);
    uint64_t bytes;

    if (!size || !px_value_to_u64(&size->value, &bytes))
        return N_COMMON;
    bytes /= sizeof(slot_fn);
    return bytes < N_OURS ? (size_t)bytes : N_OURS;
}

void px_module_take(const pmix_server_module_t *from, const pmix_info_t *info, size_t n,
                    pmix_server_module_t *out)
{
    size_t n_slots = slots_given(info, n);

    memset(out, 0, sizeof(*out));
    copy_slots(out, 0, from, 0, n_slots < N_COMMON ? n_slots : N_COMMON);
    if (n_slots == N_OURS)
        copy_slots(out, N_COMMON, from, N_COMMON, N_OURS - N_COMMON);
    for (size_t i = 0; i < PX_COUNT(older); i++)
        for (size_t s = N_COMMON; older[i].n_slots == n_slots && s < n_slots; s++)
            copy_slots(out, older[i].tail[s - N_COMMON], from, s, 1);
}

pmix_status_t px_builtin_required(const struct px_server *srv, const char *function,
                                  const px_infos *infos)
{
    if (!srv->host)
        return PMIX_SUCCESS;
    const struct px_support_rows rows = {srv->host->support, srv->host->n_support};
    return px_required_check(function, &rows, infos->v, infos->n);
}
