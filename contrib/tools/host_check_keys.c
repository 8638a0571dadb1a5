/* SPDX-License-Identifier: BSD-3-Clause */
/* Information that a host registers with a job: the lists of the Standard's section on
 * PMIx_server_register_nspace. */
#include "host_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(key, realm)             \
    {                                \
#key, true, NULL, key, realm \
    }
#define MAY(key, realm)               \
    {                                 \
#key, false, NULL, key, realm \
    }

const struct row key_rows[] = {
    MUST(PMIX_UNIV_SIZE, OF_JOB),
    MUST(PMIX_SESSION_ID, OF_SESSION),
    MAY(PMIX_CLUSTER_ID, OF_JOB),
    MAY(PMIX_ALLOCATED_NODELIST, OF_JOB),
    MAY(PMIX_RM_NAME, OF_JOB),
    MAY(PMIX_RM_VERSION, OF_JOB),
    MAY(PMIX_SERVER_HOSTNAME, OF_JOB),
    MUST(PMIX_SERVER_NSPACE, OF_JOB),
    MUST(PMIX_SERVER_RANK, OF_JOB),
    MUST(PMIX_NSPACE, OF_JOB),
    MUST(PMIX_JOBID, OF_JOB),
    MUST(PMIX_JOB_SIZE, OF_JOB),
    MUST(PMIX_MAX_PROCS, OF_JOB),
    MUST(PMIX_NODE_MAP, OF_JOB),
    MUST(PMIX_PROC_MAP, OF_JOB),
    MAY(PMIX_NPROC_OFFSET, OF_JOB),
    MAY(PMIX_JOB_NUM_APPS, OF_JOB),
    MAY(PMIX_MAPBY, OF_JOB),
    MAY(PMIX_RANKBY, OF_JOB),
    MAY(PMIX_BINDTO, OF_JOB),
    MAY(PMIX_HOSTNAME_KEEP_FQDN, OF_JOB),
    MAY(PMIX_ANL_MAP, OF_JOB),
    MAY(PMIX_TDIR_RMCLEAN, OF_JOB),
    MAY(PMIX_CRYPTO_KEY, OF_JOB),
    MUST(PMIX_WDIR, OF_JOB),
    MUST(PMIX_APP_ARGV, OF_JOB),
    MAY(PMIX_APP_SIZE, OF_JOB),
    MAY(PMIX_APPLDR, OF_JOB),
    MAY(PMIX_PSET_NAMES, OF_JOB),
    MAY(PMIX_APP_MAP_TYPE, OF_JOB),
    MAY(PMIX_APP_MAP_REGEX, OF_JOB),
    MUST(PMIX_NODEID, OF_RANK),
    MUST(PMIX_HOSTNAME, OF_RANK),
    MAY(PMIX_HOSTNAME_ALIASES, OF_NODE),
    MUST(PMIX_LOCAL_SIZE, OF_JOB),
    MUST(PMIX_NODE_SIZE, OF_NODE),
    MUST(PMIX_LOCALLDR, OF_JOB),
    MUST(PMIX_LOCAL_PEERS, OF_JOB),
    MAY(PMIX_NODE_OVERSUBSCRIBED, OF_JOB),
    MUST(PMIX_TMPDIR, OF_JOB),
    MUST(PMIX_NSDIR, OF_JOB),
    MUST(PMIX_LOCAL_PROCS, OF_JOB),
    MAY(PMIX_LOCAL_CPUSETS, OF_JOB),
    MAY(PMIX_AVAIL_PHYS_MEMORY, OF_NODE),
    MUST(PMIX_RANK, OF_RANK),
    MAY(PMIX_APPNUM, OF_RANK),
    MAY(PMIX_APP_RANK, OF_RANK),
    MUST(PMIX_GLOBAL_RANK, OF_RANK),
    MUST(PMIX_LOCAL_RANK, OF_RANK),
    MUST(PMIX_NODE_RANK, OF_RANK),
    MUST(PMIX_REINCARNATION, OF_RANK),
    MAY(PMIX_SPAWNED, OF_RANK), /* required, and false is often left out */
    MAY(PMIX_LOCALITY_STRING, OF_RANK),
    MUST(PMIX_PROCDIR, OF_RANK),
    MAY(PMIX_PACKAGE_RANK, OF_RANK), /* both need bound processes */
    MAY(PMIX_CPUSET, OF_RANK),
    MAY(PMIX_DEVICE_DISTANCES, OF_RANK),
    {0},
};

/* Prints a value as far as the table has room. */
static void print_value(const pmix_value_t *v, char *text, size_t size)
{
    switch (v->type) {
    case PMIX_STRING:
        snprintf(text, size, "%.60s", v->data.string ? v->data.string : "");
        break;
    case PMIX_BOOL:
        snprintf(text, size, "%s", v->data.flag ? "true" : "false");
        break;
    case PMIX_UINT16:
        snprintf(text, size, "%u", v->data.uint16);
        break;
    case PMIX_UINT32:
        snprintf(text, size, "%u", v->data.uint32);
        break;
    case PMIX_INT:
        snprintf(text, size, "%d", v->data.integer);
        break;
    case PMIX_UINT64:
        snprintf(text, size, "%llu", (unsigned long long)v->data.uint64);
        break;
    case PMIX_SIZE:
        snprintf(text, size, "%zu", v->data.size);
        break;
    case PMIX_PROC_RANK:
        snprintf(text, size, "%u", v->data.rank);
        break;
    case PMIX_PROC:
        snprintf(text, size, "%.100s.%u", v->data.proc->nspace, v->data.proc->rank);
        break;
    default:
        snprintf(text, size, "(%s)", PMIx_Data_type_string(v->type));
    }
}

void run_key(const struct check *c, const struct row *row, struct result *r)
{
    const pmix_proc_t *proc = row->realm == OF_RANK ? &c->me : &c->job;
    const bool yes = true;
    pmix_value_t *v = NULL;
    pmix_info_t info[2];
    size_t n = 0;

    load(&info[n++], PMIX_OPTIONAL, &yes,
         PMIX_BOOL); /* the host has given it already */
    if (row->realm == OF_SESSION)
        load(&info[n++], PMIX_SESSION_INFO, &yes, PMIX_BOOL);
    if (row->realm == OF_NODE)
        load(&info[n++], PMIX_NODE_INFO, &yes, PMIX_BOOL);
    pmix_status_t rc = PMIx_Get(proc, row->key, info, n, &v);
    if (rc && n > 1) /* also without the realm: hosts register some for the job */
        rc = PMIx_Get(proc, row->key, info, 1, &v);
    unload(info, n);
    if (rc == PMIX_ERR_NOT_FOUND || rc == PMIX_ERR_NOT_SUPPORTED)
        r->verdict = REFUSED;
    else if (settle(r, rc) && v)
        print_value(v, r->text, sizeof(r->text));
    free_value(v);
}
