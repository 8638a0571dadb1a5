/* SPDX-License-Identifier: BSD-3-Clause */
/* A minimal process: prints its own namespace and rank. */
#include <stdio.h>
#include <stdlib.h>

#include <pmix.h>

int main(void)
{
    pmix_proc_t me, job;
    pmix_value_t *size = NULL;
    pmix_status_t rc = PMIx_Init(&me, NULL, 0);

    /* PMIX_ERR_UNREACH: started without a launcher, as a job of one process. */
    if (rc != PMIX_SUCCESS && rc != PMIX_ERR_UNREACH) {
        fprintf(stderr, "hello: cannot start: %s\n", PMIx_Error_string(rc));
        return EXIT_FAILURE;
    }
    /* Job-level values belong to PMIX_RANK_WILDCARD. */
    PMIX_LOAD_PROCID(&job, me.nspace, PMIX_RANK_WILDCARD);
    rc = PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &size);
    if (rc == PMIX_SUCCESS) {
        printf("hello from rank %u of %u in job %s\n", me.rank, size->data.uint32,
               me.nspace);
        PMIX_VALUE_RELEASE(size);
    }
    PMIx_Finalize(NULL, 0);
    return rc == PMIX_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
