/* SPDX-License-Identifier: BSD-3-Clause */
/* The address exchange at the start of parallel programs. Each process puts its
 * address, all processes run a fence, and each gets the address of every other.
 * Prints a line per rank. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <pmix.h>

#define BLOB_B 64 /* stands for an address of some network */

static pmix_proc_t me;

static void check(pmix_status_t rc, const char *what)
{
    if (rc == PMIX_SUCCESS)
        return;
    fprintf(stderr, "modex: rank %u: %s: %s\n", me.rank, what, PMIx_Error_string(rc));
    exit(EXIT_FAILURE);
}

/* Returns byte i of a rank's blob. The reader computes the same byte and compares. */
static char blob_byte(pmix_rank_t rank, size_t i)
{
    return (char)(rank * 31 + i);
}

static void put(const char *key, const void *data, pmix_data_type_t type)
{
    pmix_value_t v;

    PMIX_VALUE_LOAD(&v, data, type);
    check(PMIx_Put(PMIX_GLOBAL, key, &v), key);
    PMIX_VALUE_DESTRUCT(&v);
}

static void put_all(const char *host)
{
    char blob[BLOB_B];
    uint32_t pid = (uint32_t)getpid();
    pmix_byte_object_t bytes = {blob, sizeof(blob)};

    for (size_t i = 0; i < sizeof(blob); i++)
        blob[i] = blob_byte(me.rank, i);
    put("modex.host", host, PMIX_STRING);
    put("modex.pid", &pid, PMIX_UINT32);
    put("modex.blob", &bytes, PMIX_BYTE_OBJECT);
    check(PMIx_Commit(), "commit");
}

static void meet(void)
{
    bool yes = true;
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    check(PMIx_Fence(NULL, 0, &info, 1), "fence");
    PMIX_INFO_DESTRUCT(&info);
}

/* Gets a value of a rank. The caller frees the value with PMIX_VALUE_RELEASE. */
static pmix_value_t *get(pmix_rank_t rank, const char *key, pmix_data_type_t type)
{
    pmix_value_t *v = NULL;
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, me.nspace, rank);
    check(PMIx_Get(&proc, key, NULL, 0, &v), key);
    check(v->type == type ? PMIX_SUCCESS : PMIX_ERR_TYPE_MISMATCH, key);
    return v;
}

/* Prints the values that a rank has put. */
static void learn(pmix_rank_t rank, const char *separator)
{
    pmix_value_t *host = get(rank, "modex.host", PMIX_STRING);
    pmix_value_t *pid = get(rank, "modex.pid", PMIX_UINT32);
    pmix_value_t *blob = get(rank, "modex.blob", PMIX_BYTE_OBJECT);

    if (blob->data.bo.size != BLOB_B)
        check(PMIX_ERROR, "size of blob");
    for (size_t i = 0; i < BLOB_B; i++)
        if (blob->data.bo.bytes[i] != blob_byte(rank, i))
            check(PMIX_ERROR, "content of blob");
    printf("%s%u=pid %u on %s", separator, rank, pid->data.uint32, host->data.string);
    PMIX_VALUE_RELEASE(host);
    PMIX_VALUE_RELEASE(pid);
    PMIX_VALUE_RELEASE(blob);
}

int main(void)
{
    char host[256] = "";
    const char *separator = ": ";

    check(PMIx_Init(&me, NULL, 0), "init");
    gethostname(host, sizeof(host) - 1);
    put_all(host);
    meet();
    pmix_value_t *size = get(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, PMIX_UINT32);
    printf("rank %u of %u on %s", me.rank, size->data.uint32, host);
    for (pmix_rank_t rank = 0; rank < size->data.uint32; rank++) {
        if (rank == me.rank)
            continue;
        learn(rank, separator);
        separator = ", ";
    }
    puts("");
    PMIX_VALUE_RELEASE(size);
    check(PMIx_Finalize(NULL, 0), "finalize");
    return EXIT_SUCCESS;
}
