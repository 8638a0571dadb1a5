/* SPDX-License-Identifier: BSD-3-Clause */
/* A look-up by name. Rank 0 publishes its address under a service name. The other ranks
 * wait for the address. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#define SERVICE "example.service"

static pmix_status_t publish(void)
{
    pmix_info_t info;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info, SERVICE, "port 4711", PMIX_STRING);
    rc = PMIx_Publish(&info, 1);
    PMIX_INFO_DESTRUCT(&info);
    if (rc == PMIX_SUCCESS)
        puts("rank 0 has published its address");
    return rc;
}

static pmix_status_t look_up(pmix_rank_t me)
{
    int seconds = 10;
    bool yes = true;
    pmix_info_t info[2];
    pmix_pdata_t found;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info[0], PMIX_WAIT, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_TIMEOUT, &seconds, PMIX_INT);
    PMIX_PDATA_CONSTRUCT(&found);
    PMIX_LOAD_KEY(found.key, SERVICE);
    rc = PMIx_Lookup(&found, 1, info, 2);
    if (rc == PMIX_SUCCESS && found.value.type == PMIX_STRING)
        printf("rank %u has found rank %u at %s\n", me, found.proc.rank,
               found.value.data.string);
    PMIX_PDATA_DESTRUCT(&found);
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_DESTRUCT(&info[1]);
    return rc;
}

int main(void)
{
    pmix_proc_t me;
    pmix_status_t rc = PMIx_Init(&me, NULL, 0);

    if (rc == PMIX_SUCCESS)
        rc = me.rank == 0 ? publish() : look_up(me.rank);
    if (rc == PMIX_SUCCESS) /* each process stays until all have the address */
        rc = PMIx_Fence(NULL, 0, NULL, 0);
    if (rc != PMIX_SUCCESS) {
        fprintf(stderr, "publish: %s\n", PMIx_Error_string(rc));
        return EXIT_FAILURE;
    }
    PMIx_Finalize(NULL, 0);
    return EXIT_SUCCESS;
}
