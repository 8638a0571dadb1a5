/* SPDX-License-Identifier: BSD-3-Clause */
#include "components/pnet/request.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* ---- requests -------------------------------------------------------------------- */

/* True if id can be a key of a result. The Standard reserves keys that begin with
 * "pmix". */
static bool is_name(const char *id)
{
    return id && *id && strlen(id) <= PMIX_MAX_KEYLEN && strncmp(id, "pmix", 4) != 0;
}

static bool read_text(const pmix_info_t *info, const char **out)
{
    *out = px_value_string(&info->value);
    return *out;
}

/* Reads a member of a request. Returns NULL, or the expected type. */
static const char *read_member(const pmix_info_t *info, struct px_fabric_request *r)
{
    if (PMIx_Check_key(info->key, PMIX_ALLOC_FABRIC_ID))
        return read_text(info, &r->id) && is_name(r->id)
                   ? NULL
                   : "a key that does not begin with \"pmix\"";
    if (PMIx_Check_key(info->key, PMIX_ALLOC_FABRIC_TYPE))
        return read_text(info, &r->type) ? NULL : "a text";
    if (PMIx_Check_key(info->key, PMIX_ALLOC_FABRIC_PLANE))
        return read_text(info, &r->plane) ? NULL : "a text";
    if (PMIx_Check_key(info->key, PMIX_ALLOC_FABRIC_ENDPTS))
        return px_value_to_u32(&info->value, &r->per_proc) ? NULL : "a number";
    if (PMIx_Check_key(info->key, PMIX_ALLOC_FABRIC_ENDPTS_NODE))
        return px_value_to_u32(&info->value, &r->per_node) ? NULL : "a number";
    /* Hosts pass true, or the object that they would like to get. */
    if (PMIx_Check_key(info->key, PMIX_ALLOC_FABRIC_SEC_KEY))
        r->with_key = PMIx_Value_true(&info->value) != PMIX_BOOL_FALSE;
    else if (PMIx_Info_is_required(info))
        r->required = info->key;
    return NULL;
}

bool px_fabric_is_wanted(const struct px_pnet_job *job)
{
    return !px_info_flag(job->info, job->n_info, PMIX_SETUP_APP_ENVARS) ||
           px_info_flag(job->info, job->n_info, PMIX_SETUP_APP_NONENVARS) ||
           px_info_flag(job->info, job->n_info, PMIX_SETUP_APP_ALL);
}

bool px_fabric_request_next(const struct px_pnet_job *job, size_t *at,
                            struct px_fabric_request *r, pmix_status_t *rc,
                            struct px_err *err)
{
    const pmix_info_t *member;
    size_t n;

    *r = (struct px_fabric_request){0};
    while (*at < job->n_info && !PMIx_Check_key(job->info[*at].key, PMIX_ALLOC_FABRIC))
        ++*at;
    if (*rc || *at >= job->n_info)
        return false;
    if (!px_value_infos(&job->info[(*at)++].value, &member, &n))
        *rc = px_err_set(err, PMIX_ERR_BAD_PARAM,
                         "cannot read " PMIX_ALLOC_FABRIC
                         " of job %s: expected an array of infos",
                         job->nspace);
    for (size_t i = 0; !*rc && i < n; i++) {
        const char *wanted = read_member(&member[i], r);

        if (wanted)
            *rc = px_err_set(err, PMIX_ERR_BAD_PARAM,
                             "cannot read " PMIX_ALLOC_FABRIC
                             " of job %s: %s is not %s",
                             job->nspace, member[i].key, wanted);
    }
    return !*rc;
}

/* Reads a key on kernels before Linux 3.17, or where a filter forbids getrandom. */
static bool read_device(uint8_t key[PX_FABRIC_KEY_B])
{
    const int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    const bool whole = fd >= 0 && read(fd, key, PX_FABRIC_KEY_B) == PX_FABRIC_KEY_B;

    if (fd >= 0)
        (void)close(fd);
    return whole;
}

pmix_status_t px_fabric_key_make(uint8_t key[PX_FABRIC_KEY_B], struct px_err *err)
{
    if (getrandom(key, PX_FABRIC_KEY_B, GRND_NONBLOCK) == PX_FABRIC_KEY_B ||
        (errno == ENOSYS && read_device(key)))
        return PMIX_SUCCESS;
    return px_err_set(err, PMIX_ERR_NOT_AVAILABLE,
                      "cannot make a key: the system has no randomness yet");
}

/* ---- allocations ----------------------------------------------------------------- */

pmix_status_t px_fabric_answer(px_infos *out, const char *id, const char *type,
                               const char *text, const struct px_fabric_request *r,
                               const uint8_t *key, struct px_err *err)
{
    const pmix_byte_object_t bytes = {(char *)key, PX_FABRIC_KEY_B};
    const size_t per_proc = r ? r->per_proc : 0, per_node = r ? r->per_node : 0;
    const struct {
        const char *key;
        const void *data; /* NULL: left out */
        pmix_data_type_t type;
    } rows[] = {
        {id, text, PMIX_STRING},
        {PMIX_ALLOC_FABRIC_TYPE, type, PMIX_STRING},
        {PMIX_ALLOC_FABRIC_PLANE, r ? r->plane : NULL, PMIX_STRING},
        {PMIX_ALLOC_FABRIC_ENDPTS, per_proc ? &per_proc : NULL, PMIX_SIZE},
        {PMIX_ALLOC_FABRIC_ENDPTS_NODE, per_node ? &per_node : NULL, PMIX_SIZE},
        {PMIX_ALLOC_FABRIC_SEC_KEY, key ? &bytes : NULL, PMIX_BYTE_OBJECT},
    };
    PX_AUTO(px_infos) parts = {0};
    pmix_status_t rc = PMIX_SUCCESS;

    if (px_info_find(out->v, out->n, id))
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "cannot allocate twice under the key %s", id);
    for (size_t i = 0; !rc && i < PX_COUNT(rows); i++)
        if (rows[i].data)
            rc = px_infos_add(&parts, rows[i].key, rows[i].data, rows[i].type);
    if (!rc)
        rc = px_infos_add_array(out, id, &parts);
    return rc ? px_err_nomem(err, "allocate what is asked for") : PMIX_SUCCESS;
}

bool px_fabric_is_answer(const pmix_info_t *info, const pmix_info_t **parts, size_t *n)
{
    return is_name(info->key) && px_value_infos(&info->value, parts, n) && *n > 0 &&
           strcmp((*parts)[0].key, info->key) == 0 &&
           px_value_string(&(*parts)[0].value);
}
