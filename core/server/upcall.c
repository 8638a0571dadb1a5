/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers of the host: copied in whatever thread they come, delivered on the loop. */
#include "core/server/upcall.h"

#include "core/base/str.h"
#include "core/rt/log.h"

#include <string.h>

struct px_upcall *px_upcall_new(px_upcall_fn fn, void *arg)
{
    struct px_upcall *u = malloc(sizeof *u);

    if (!u)
        return NULL;
    *u = (struct px_upcall){.fn = fn, .arg = arg};
    px_list_append(&px_process.server->upcalls, &u->link);
    return u;
}

struct px_upcall *px_upcall_for(struct px_req *req, px_upcall_fn fn)
{
    struct px_upcall *u = px_upcall_new(fn, req);

    if (u)
        u->proc = req->peer->proc;
    return u;
}

void px_upcall_drop(struct px_upcall *u)
{
    if (!u)
        return;
    px_list_remove(&u->link);
    px_infos_cleanup(&u->infos);
    px_infos_cleanup(&u->known);
    px_type_free_array(PMIX_PDATA, u->pdata, u->n_pdata);
    px_buf_cleanup(&u->bytes);
    px_args_cleanup(&u->args);
    px_buf_cleanup(&u->blob);
    if (u->release)
        u->release(u->release_data);
    free(u);
}

static void on_answer(struct px_msg *msg)
{
    struct px_upcall *u = PX_CONTAINER_OF(msg, struct px_upcall, msg);

    if (u->function && u->status == PMIX_ERR_NOT_SUPPORTED)
        px_log(PX_LOG_INFO, "server", "%s of %s.%u is not supported by the host",
               u->function, u->proc.nspace, u->proc.rank);
    if (!u->orphan)
        u->fn(u->arg, u);
    px_upcall_drop(u);
}

/* Some hosts call back and return an error, too: the first answer counts. */
static bool is_first_answer(struct px_upcall *u)
{
    return !atomic_exchange(&u->is_answered, true);
}

static void answered(struct px_upcall *u, pmix_status_t status)
{
    u->status = status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status;
    u->msg.run = on_answer;
    if (!px_process_post(&u->msg))
        px_upcall_drop(u); /* a host that answers after the end */
}

/* counts: this is the first answer. */
static void answered_releasing(struct px_upcall *u, bool counts, pmix_status_t status,
                               pmix_release_cbfunc_t release, void *release_data)
{
    if (counts) {
        u->release = release;
        u->release_data = release_data;
        answered(u, status);
    } else if (release) {
        release(release_data);
    }
}

void px_upcall_returned(struct px_upcall *u, pmix_status_t rc)
{
    if (rc != PMIX_SUCCESS && is_first_answer(u))
        answered(u, rc);
}

void px_upcalls_stop(struct px_server *srv)
{
    while (!px_list_empty(&srv->upcalls)) {
        struct px_upcall *u = PX_CONTAINER_OF(srv->upcalls.next, struct px_upcall,
                                              link);
        /* Not u itself: the host may be writing its answer into that right now. */
        const struct px_upcall lost = {.status = PMIX_ERR_LOST_CONNECTION};

        px_list_remove(&u->link); /* stays allocated: the host may still hold it */
        u->orphan = true;
        u->fn(u->arg, &lost);
    }
}

void px_upcall_op_cb(pmix_status_t status, void *cbdata)
{
    if (is_first_answer(cbdata))
        answered(cbdata, status);
}

void px_upcall_info_cb(pmix_status_t status, pmix_info_t *info, size_t n, void *cbdata,
                       pmix_release_cbfunc_t release, void *release_data)
{
    struct px_upcall *u = cbdata;
    bool counts = is_first_answer(u);

    if (counts && px_infos_add_copy(&u->infos, info, info ? n : 0))
        status = PMIX_ERR_NOMEM;
    answered_releasing(u, counts, status, release, release_data);
}

void px_upcall_lookup_cb(pmix_status_t status, pmix_pdata_t *pdata, size_t n,
                         void *cbdata)
{
    struct px_upcall *u = cbdata;

    if (!is_first_answer(u))
        return;
    if (!pdata)
        n = 0;
    if (n > 0 && px_type_copy_array(PMIX_PDATA, (void **)&u->pdata, pdata, n))
        status = PMIX_ERR_NOMEM;
    else
        u->n_pdata = n;
    answered(u, status);
}

void px_upcall_spawn_cb(pmix_status_t status, char *nspace, void *cbdata)
{
    struct px_upcall *u = cbdata;

    if (!is_first_answer(u))
        return;
    px_str_copy(u->name.nspace, sizeof u->name.nspace, nspace);
    answered(u, status);
}

void px_upcall_tool_cb(pmix_status_t status, pmix_proc_t *proc, void *cbdata)
{
    struct px_upcall *u = cbdata;

    if (!is_first_answer(u))
        return;
    if (proc)
        px_proc_set(&u->name, proc->nspace, proc->rank);
    answered(u, status);
}

void px_upcall_credential_cb(pmix_status_t status, pmix_byte_object_t *credential,
                             pmix_info_t info[], size_t n, void *cbdata)
{
    struct px_upcall *u = cbdata;

    if (!is_first_answer(u))
        return;
    if (credential && credential->bytes &&
        px_buf_add(&u->bytes, credential->bytes, credential->size))
        status = PMIX_ERR_NOMEM;
    if (px_infos_add_copy(&u->infos, info, info ? n : 0))
        status = PMIX_ERR_NOMEM;
    answered(u, status);
}

void px_upcall_validation_cb(pmix_status_t status, pmix_info_t info[], size_t n,
                             void *cbdata)
{
    px_upcall_info_cb(status, info, n, cbdata, NULL, NULL);
}

void px_upcall_modex_cb(pmix_status_t status, const char *data, size_t n, void *cbdata,
                        pmix_release_cbfunc_t release, void *release_data)
{
    struct px_upcall *u = cbdata;
    bool counts = is_first_answer(u);

    if (counts && data && px_buf_add(&u->bytes, data, n))
        status = PMIX_ERR_NOMEM;
    answered_releasing(u, counts, status, release, release_data);
}

/* ---- the module of a host -------------------------------------------------------- */

/* Slots common to all releases stand at the same offsets; those behind them moved, so
 * that a layout must be known before any of them is read. Its size names it: no two
 * releases share one. */

typedef void (*slot_fn)(void);

#define SLOT(member) (offsetof(pmix_server_module_t, member) / sizeof(slot_fn))
#define N_COMMON     28u
#define N_OURS       (sizeof(pmix_server_module_t) / sizeof(slot_fn))

_Static_assert(sizeof(pmix_server_module_t) % sizeof(slot_fn) == 0 &&
                   SLOT(client_connected2) + 1 == N_COMMON,
               "the module is a row of function pointers");

/* The slots that older layouts have behind the common ones, by our numbers. */
static const struct {
    size_t n_slots; /* in all */
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

static size_t slots_told(const pmix_info_t *info, size_t n)
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
    size_t n_slots = slots_told(info, n);

    memset(out, 0, sizeof *out);
    copy_slots(out, 0, from, 0, n_slots < N_COMMON ? n_slots : N_COMMON);
    if (n_slots == N_OURS)
        copy_slots(out, N_COMMON, from, N_COMMON, N_OURS - N_COMMON);
    for (size_t i = 0; i < PX_COUNT(older); i++)
        for (size_t s = N_COMMON; older[i].n_slots == n_slots && s < n_slots; s++)
            copy_slots(out, older[i].tail[s - N_COMMON], from, s, 1);
}
