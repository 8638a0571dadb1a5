/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/server/fabric/shares.h"

#include "core/plugin/select.h"
#include "core/rt/log.h"
#include "core/server/fabric/blob.h"
#include "frameworks/framework.h"
#include "tenon/pnet.h"

#include <stdlib.h>
#include <string.h>

struct px_share *px_shares_create(void)
{
    size_t n;
    const struct px_module *m = px_modules("pnet", &n);
    struct px_share *shares = calloc(n + 1, sizeof(*shares));

    for (size_t i = 0; shares && i < n; i++)
        shares[i].module = &m[i];
    return shares;
}

void px_shares_free(struct px_share *shares)
{
    for (struct px_share *s = shares; s && s->module; s++)
        px_type_free_array(PMIX_INFO, s->info, s->n);
    free(shares);
}

bool px_share_is_tried(const struct px_share *share)
{
    return share->present &&
           px_component_is_tried("pnet", share->module->component->name);
}

/* Finds the share of a contribution's component; NULL, with a log line, if that
 * component is not loaded. */
static struct px_share *find(struct px_share *shares, const struct px_blob_share *from,
                             const char *job)
{
    for (struct px_share *s = shares; s->module; s++)
        if (strcmp(s->module->component->name, from->component) == 0)
            return s;
    px_log(
        PX_LOG_WARN, "pnet",
        "cannot use the contribution of pnet/%.64s (%.32s) to %s%s: this node has no "
        "such component",
        from->component, from->version, job ? "job " : "an inventory", job ? job : "");
    return NULL;
}

pmix_status_t px_shares_read(struct px_share *shares, const pmix_value_t *blob,
                             const char *job, struct px_err *err)
{
    PX_AUTOFREE uint8_t *plain = NULL;
    px_reader body;

    if (blob->type != PMIX_BYTE_OBJECT)
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "expected PMIX_BYTE_OBJECT");
    pmix_status_t rc = px_blob_open(blob->data.bo.bytes, blob->data.bo.size, &body,
                                    &plain, err);
    if (rc)
        return rc;
    while (!rc && !px_reader_done(&body)) {
        struct px_blob_share from;

        rc = px_blob_next(&body, &from);
        if (rc)
            break;
        struct px_share *to = find(shares, &from, job);
        if (to && to->present)
            rc = PMIX_ERR_UNPACK_FAILURE;
        else if (to)
            rc = px_unpack_infos(&from.infos, &to->info, &to->n);
        if (!rc && to && !px_reader_done(&from.infos))
            rc = PMIX_ERR_UNPACK_FAILURE;
        if (to)
            to->present = true;
        px_blob_share_fini(&from);
    }
    return rc ? px_err_set(err, rc, "%s", PMIx_Error_string(rc)) : PMIX_SUCCESS;
}

pmix_status_t px_share_try(const pmix_info_t *info, size_t *packed_b)
{
    PX_AUTO(px_writer) trial;

    px_writer_init(&trial, px_codec_default);
    if (!info || !info->key[0] || info->value.type == PMIX_POINTER)
        return PMIX_ERR_BAD_PARAM;
    px_pack_infos(&trial, info, 1);
    if (packed_b)
        *packed_b = trial.buf.len;
    return !trial.status || trial.status == PMIX_ERR_NOMEM ? trial.status
                                                           : PMIX_ERR_BAD_PARAM;
}

pmix_status_t px_shares_seal(const px_writer *body, const char *key, px_infos *out)
{
    PX_AUTO(px_writer) sealed;

    px_writer_init(&sealed, px_codec_default);
    pmix_status_t rc = px_blob_seal(body, &sealed);
    const pmix_byte_object_t blob = {(char *)sealed.buf.data, sealed.buf.len};
    return rc ? rc : px_infos_add(out, key, &blob, PMIX_BYTE_OBJECT);
}

pmix_status_t px_unserved(const char *function)
{
    PX_AUTOFREE char *names = px_module_names("pnet");

    px_log(PX_LOG_WARN, "pnet",
           "cannot serve %s: no component of pnet supports the function (loaded: %s)",
           function, names && names[0] ? names : "none");
    return PMIX_ERR_NOT_SUPPORTED;
}

bool px_served_at(size_t op)
{
    size_t n;
    const struct px_module *m = px_modules("pnet", &n);
    void (*function)(void) = NULL;

    for (size_t i = 0; !function && i < n; i++)
        memcpy(&function, (const char *)PX_OPS(pnet, &m[i]) + op, sizeof(function));
    return function;
}
