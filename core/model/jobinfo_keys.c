/* SPDX-License-Identifier: BSD-3-Clause */
/* The dictionary of job-information keys that have a type or a realm of their own. */
#include <string.h>

#include "core/model/lookup.h"

/* Sorted by the key's text. pmix.appnum keeps the host's type: programs are known that
 * read it as whatever their launcher has always given. */
const struct px_job_key px_job_keys[] = {
    {PMIX_APPLDR, PMIX_PROC_RANK, PX_KEY_APP},
    {PMIX_HOSTNAME_ALIASES, PMIX_STRING, PX_KEY_NODE},
    {PMIX_APP_MAP_REGEX, PMIX_UNDEF, PX_KEY_APP},
    {PMIX_APP_MAP_TYPE, PMIX_STRING, PX_KEY_APP},
    {PMIX_APP_ARGV, PMIX_STRING, PX_KEY_APP},
    {PMIX_APP_SIZE, PMIX_UINT32, PX_KEY_APP},
    {PMIX_APPNUM, PMIX_UNDEF, PX_KEY_PROC},
    {PMIX_APP_RANK, PMIX_PROC_RANK, PX_KEY_PROC},
    {PMIX_CLUSTER_ID, PMIX_STRING, PX_KEY_SESSION},
    {PMIX_FABRIC_DEVICES, PMIX_UNDEF, PX_KEY_NODE},
    {PMIX_HOSTNAME_KEEP_FQDN, PMIX_BOOL, PX_KEY_SESSION},
    {PMIX_GLOBAL_RANK, PMIX_PROC_RANK, PX_KEY_PROC},
    {PMIX_HOSTNAME, PMIX_STRING, PX_KEY_NODE},
    {PMIX_JOB_NUM_APPS, PMIX_UINT32, PX_KEY_JOB},
    {PMIX_JOB_SIZE, PMIX_UINT32, PX_KEY_JOB},
    {PMIX_LOCAL_CPUSETS, PMIX_UNDEF, PX_KEY_NODE},
    {PMIX_LOCALLDR, PMIX_PROC_RANK, PX_KEY_NODE},
    {PMIX_LOCAL_SIZE, PMIX_UINT32, PX_KEY_NODE},
    {PMIX_LOCAL_PEERS, PMIX_STRING, PX_KEY_NODE},
    {PMIX_LOCAL_PROCS, PMIX_UNDEF, PX_KEY_NODE},
    {PMIX_LOCAL_RANK, PMIX_UINT16, PX_KEY_PROC},
    {PMIX_MAX_PROCS, PMIX_UINT32, PX_KEY_JOB},
    {PMIX_NODE_OVERSUBSCRIBED, PMIX_BOOL, PX_KEY_NODE},
    {PMIX_NODE_SIZE, PMIX_UINT32, PX_KEY_NODE},
    {PMIX_NODEID, PMIX_UINT32, PX_KEY_NODE},
    {PMIX_NODE_RANK, PMIX_UINT16, PX_KEY_PROC},
    {PMIX_NUM_ALLOCATED_NODES, PMIX_UINT32, PX_KEY_JOB},
    {PMIX_NUM_NODES, PMIX_UINT32, PX_KEY_JOB},
    {PMIX_NUM_SLOTS, PMIX_UINT32, PX_KEY_JOB},
    {PMIX_NPROC_OFFSET, PMIX_PROC_RANK, PX_KEY_JOB},
    {PMIX_PACKAGE_RANK, PMIX_UINT16, PX_KEY_PROC},
    {PMIX_AVAIL_PHYS_MEMORY, PMIX_UINT64, PX_KEY_NODE},
    {PMIX_PSET_NAME, PMIX_STRING, PX_KEY_APP},
    {PMIX_PSET_NAMES, PMIX_UNDEF, PX_KEY_APP},
    {PMIX_RANK, PMIX_PROC_RANK, PX_KEY_PROC},
    {PMIX_REINCARNATION, PMIX_UINT32, PX_KEY_PROC},
    {PMIX_RM_NAME, PMIX_STRING, PX_KEY_SESSION},
    {PMIX_RM_VERSION, PMIX_STRING, PX_KEY_SESSION},
    {PMIX_SESSION_ID, PMIX_UINT32, PX_KEY_SESSION},
    {PMIX_SPAWNED, PMIX_BOOL, PX_KEY_JOB},
    {PMIX_SERVER_RANK, PMIX_PROC_RANK, PX_KEY_JOB},
    {PMIX_SERVER_TMPDIR, PMIX_STRING, PX_KEY_SESSION},
    {PMIX_SYSTEM_TMPDIR, PMIX_STRING, PX_KEY_SESSION},
    {PMIX_TDIR_RMCLEAN, PMIX_BOOL, PX_KEY_SESSION},
    {PMIX_TMPDIR, PMIX_STRING, PX_KEY_SESSION},
    {PMIX_UNIV_SIZE, PMIX_UINT32, PX_KEY_SESSION},
    {PMIX_WDIR, PMIX_STRING, PX_KEY_APP},
};
const size_t px_n_job_keys = PX_COUNT(px_job_keys);

static int compare_key(const void *key, const void *row)
{
    return strcmp(key, ((const struct px_job_key *)row)->key);
}

const struct px_job_key *px_job_key_find(const char *key)
{
    return bsearch(key, px_job_keys, px_n_job_keys, sizeof(px_job_keys[0]),
                   compare_key);
}

enum px_key_realm px_key_realm(const char *key)
{
    const struct px_job_key *k = px_job_key_find(key);

    return k ? (enum px_key_realm)k->realm : PX_KEY_JOB;
}

void px_job_value_convert(const char *key, const pmix_value_t *in, pmix_value_t *out)
{
    const struct px_job_key *k = px_job_key_find(key);
    pmix_data_type_t type = k ? k->type : PMIX_UNDEF;
    pmix_value_t made;

    memset(&made, 0, sizeof(made));
    *out = *in;
    if (in->type == PMIX_UNDEF || (type == PMIX_BOOL && in->type != PMIX_BOOL)) {
        out->type = PMIX_BOOL;
        out->data.flag = px_value_truth(in);
    } else if (type != PMIX_UNDEF && type != in->type &&
               PMIX_SUCCESS == PMIx_Value_get_number(in, &made.data, type)) {
        /* A number that the narrower type holds; all else stays what the host gave. */
        made.type = type;
        *out = made;
    }
}
