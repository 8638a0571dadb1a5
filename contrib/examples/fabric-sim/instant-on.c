/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that can reach each other from their start: a fabric component of the
 * launcher has computed the addresses of all processes. Nothing is exchanged, and no
 * message goes to the server or comes from the server after PMIx_Init. Each process
 * prints a line for each process, with its host and its addresses (README.md). */
#include <stdio.h>
#include <stdlib.h>

#include <pmix.h>

static pmix_proc_t me;

static void check(pmix_status_t rc, const char *what)
{
    if (rc == PMIX_SUCCESS)
        return;
    fprintf(stderr, "instant-on: rank %u: %s: %s\n", me.rank, what,
            PMIx_Error_string(rc));
    exit(EXIT_FAILURE);
}

/* Gets a value of a rank, or, with PMIX_RANK_WILDCARD, of a host or the job. Pairs with
 * PMIX_VALUE_RELEASE. */
static pmix_value_t *get(pmix_rank_t rank, const char *host, const char *key,
                         pmix_data_type_t type)
{
    pmix_value_t *v = NULL;
    pmix_proc_t proc;
    pmix_info_t of;

    PMIX_LOAD_PROCID(&proc, me.nspace, rank);
    PMIX_INFO_LOAD(&of, PMIX_HOSTNAME, host, PMIX_STRING);
    check(PMIx_Get(&proc, key, &of, host ? 1 : 0, &v), key);
    check(v->type == type ? PMIX_SUCCESS : PMIX_ERR_TYPE_MISMATCH, key);
    PMIX_INFO_DESTRUCT(&of);
    return v;
}

/* Prints the place of a host's first device in the fabric. */
static void print_place(const char *host)
{
    pmix_value_t *list = get(PMIX_RANK_WILDCARD, host, PMIX_FABRIC_COORDINATES,
                             PMIX_DATA_ARRAY);
    const pmix_geometry_t *g = list->data.darray->array;

    for (size_t i = 0; g->ncoords > 0 && i < g->coordinates->dims; i++)
        printf("%s%u", i ? "," : " at ", g->coordinates->coord[i]);
    PMIX_VALUE_RELEASE(list);
}

static void print_peer(pmix_rank_t rank)
{
    pmix_value_t *host = get(rank, NULL, PMIX_HOSTNAME, PMIX_STRING);
    pmix_value_t *list = get(rank, NULL, PMIX_FABRIC_ENDPT, PMIX_DATA_ARRAY);
    const pmix_data_array_t *a = list->data.darray;
    const pmix_endpoint_t *e = a->array;

    check(a->type == PMIX_ENDPOINT ? PMIX_SUCCESS : PMIX_ERR_TYPE_MISMATCH, "endpoint");
    printf("%u: rank %u on %s", me.rank, rank, host->data.string);
    print_place(host->data.string);
    for (; e < (const pmix_endpoint_t *)a->array + a->size; e++) {
        printf("  %s ", e->uuid);
        for (size_t i = 0; i < e->endpt.size; i++)
            printf("%02x", (unsigned char)e->endpt.bytes[i]);
    }
    puts("");
    PMIX_VALUE_RELEASE(host);
    PMIX_VALUE_RELEASE(list);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    check(PMIx_Init(&me, NULL, 0), "init");
    printf("%u: has begun\n", me.rank);
    pmix_value_t *size = get(PMIX_RANK_WILDCARD, NULL, PMIX_JOB_SIZE, PMIX_UINT32);

    for (pmix_rank_t rank = 0; rank < size->data.uint32; rank++)
        print_peer(rank);
    printf("%u: knows all %u\n", me.rank, size->data.uint32);
    PMIX_VALUE_RELEASE(size);
    check(PMIx_Finalize(NULL, 0), "finalize");
    return EXIT_SUCCESS;
}
