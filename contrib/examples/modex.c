/* SPDX-License-Identifier: BSD-3-Clause */
/* The exchange with which parallel programs begin: each process puts what the others
 * need to reach it, all meet, and each gets what every other has put. Prints a line per
 * rank. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* The byte number i of the blob of a rank: something the reader can check. */
static char blob_byte(pmix_rank_t rank, size_t i)
{
    return (char)(rank * 31 + i);
}

/* Takes v. */
static void put(const char *key, pmix_value_t *v)
{
    check(PMIx_Put(PMIX_GLOBAL, key, v), key);
    PMIX_VALUE_DESTRUCT(v);
}

static void put_all(void)
{
    char host[256] = "";
    char blob[BLOB_B];
    uint32_t pid = (uint32_t)getpid();
    pmix_byte_object_t bytes = {blob, sizeof(blob)};
    pmix_value_t v;

    gethostname(host, sizeof(host) - 1);
    for (size_t i = 0; i < sizeof(blob); i++)
        blob[i] = blob_byte(me.rank, i);
    PMIX_VALUE_LOAD(&v, host, PMIX_STRING);
    put("modex.host", &v);
    PMIX_VALUE_LOAD(&v, &pid, PMIX_UINT32);
    put("modex.pid", &v);
    PMIX_VALUE_LOAD(&v, &bytes, PMIX_BYTE_OBJECT);
    put("modex.blob", &v);
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

/* The value is freed with PMIX_VALUE_RELEASE. */
static pmix_value_t *get(pmix_rank_t rank, const char *key, pmix_data_type_t type)
{
    pmix_value_t *v = NULL;
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, me.nspace, rank);
    check(PMIx_Get(&proc, key, NULL, 0, &v), key);
    check(v->type == type ? PMIX_SUCCESS : PMIX_ERR_TYPE_MISMATCH, key);
    return v;
}

static void check_blob(pmix_rank_t rank)
{
    pmix_value_t *v = get(rank, "modex.blob", PMIX_BYTE_OBJECT);
    const pmix_byte_object_t *bytes = &v->data.bo;

    if (bytes->size != BLOB_B)
        check(PMIX_ERROR, "size of blob");
    for (size_t i = 0; i < bytes->size; i++)
        if (bytes->bytes[i] != blob_byte(rank, i))
            check(PMIX_ERROR, "content of blob");
    PMIX_VALUE_RELEASE(v);
}

/* Appends to the line what the rank has told us. */
static void learn(FILE *line, pmix_rank_t rank, const char *separator)
{
    pmix_value_t *host = get(rank, "modex.host", PMIX_STRING);
    pmix_value_t *pid = get(rank, "modex.pid", PMIX_UINT32);

    check_blob(rank);
    fprintf(line, "%s%u=pid %u on %s", separator, rank, pid->data.uint32,
            host->data.string);
    PMIX_VALUE_RELEASE(host);
    PMIX_VALUE_RELEASE(pid);
}

static void learn_all(void)
{
    pmix_value_t *v = get(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, PMIX_UINT32);
    uint32_t size = v->data.uint32;
    char *text = NULL, host[256] = "";
    size_t len;
    FILE *line = open_memstream(&text, &len);
    const char *separator = ": ";

    PMIX_VALUE_RELEASE(v);
    if (!line)
        check(PMIX_ERR_NOMEM, "line");
    gethostname(host, sizeof(host) - 1);
    fprintf(line, "rank %u of %u on %s", me.rank, size, host);
    for (pmix_rank_t rank = 0; rank < size; rank++) {
        if (rank == me.rank)
            continue;
        learn(line, rank, separator);
        separator = ", ";
    }
    fclose(line);
    puts(text);
    free(text);
}

int main(void)
{
    check(PMIx_Init(&me, NULL, 0), "init");
    put_all();
    meet();
    learn_all();
    check(PMIx_Finalize(NULL, 0), "finalize");
    return EXIT_SUCCESS;
}
