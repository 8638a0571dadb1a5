/* SPDX-License-Identifier: BSD-3-Clause */
/* The PMIx half of a job whose other half are programs of PMI-2 (pmi2.c): takes part in their two
 * fences, and reads a key that a process of PMI-2 has put. */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(c)                                                                      \
    do {                                                                              \
        if (!(c)) {                                                                   \
            fprintf(stderr, "pmi_client: line %d: check failed: %s\n", __LINE__, #c); \
            exit(99);                                                                 \
        }                                                                             \
    } while (0)

int main(void)
{
    pmix_proc_t me, other;
    pmix_value_t *value = NULL;

    CHECK(PMIx_Init(&me, NULL, 0) == PMIX_SUCCESS);
    CHECK(PMIx_Fence(NULL, 0, NULL, 0) == PMIX_SUCCESS);
    PMIX_LOAD_PROCID(&other, me.nspace, 1);
    CHECK(PMIx_Get(&other, "key-1", NULL, 0, &value) == PMIX_SUCCESS);
    CHECK(value->type == PMIX_STRING && strcmp(value->data.string, "value=1") == 0);
    PMIX_VALUE_RELEASE(value);
    CHECK(PMIx_Fence(NULL, 0, NULL, 0) == PMIX_SUCCESS);
    printf("OK client %u\n", me.rank);
    CHECK(PMIx_Finalize(NULL, 0) == PMIX_SUCCESS);
    return 0;
}
