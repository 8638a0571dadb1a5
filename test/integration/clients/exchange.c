/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange: put, commit, fence with data, get: values of several types and sizes,
 * twice. */
#include "client.h"

#define BIGGEST (1u << 20)
#define TEXT    "text \xc3\xa9 with spaces"

static void put_all(void)
{
    pmix_value_t v;
    char key[64];

    snprintf(key, sizeof key, "own.%u", me.rank);
    put_u32(PMIX_GLOBAL, key, me.rank * 11 + 1);
    put_u32(PMIX_GLOBAL, "same", me.rank + 500);
    put_u32(PMIX_LOCAL, "local", me.rank + 600);
    PMIX_VALUE_CONSTRUCT(&v);
    v.type = PMIX_STRING;
    v.data.string = (char *)TEXT;
    GOOD(PMIx_Put(PMIX_GLOBAL, "string", &v));
    v.type = PMIX_DOUBLE;
    v.data.dval = 2.5 + me.rank;
    GOOD(PMIx_Put(PMIX_GLOBAL, "double", &v));
    v.type = PMIX_INT64;
    v.data.int64 = -1234567890123LL - me.rank;
    GOOD(PMIx_Put(PMIX_GLOBAL, "int64", &v));
    v.type = PMIX_BOOL;
    v.data.flag = true;
    GOOD(PMIx_Put(PMIX_GLOBAL, "bool", &v));
    v.type = PMIX_PROC;
    v.data.proc = &me;
    GOOD(PMIx_Put(PMIX_GLOBAL, "proc", &v));
    v.type = PMIX_BYTE_OBJECT;
    v.data.bo.bytes = malloc(BIGGEST);
    CHECK(v.data.bo.bytes);
    memset(v.data.bo.bytes, (int)me.rank + 1, BIGGEST);
    for (size_t size = 1; size <= BIGGEST; size *= 32) {
        v.data.bo.size = size;
        snprintf(key, sizeof key, "blob.%zu", size);
        GOOD(PMIx_Put(PMIX_GLOBAL, key, &v));
    }
    free(v.data.bo.bytes);
    CHECK(PMIx_Put(PMIX_GLOBAL, NULL, &v) != PMIX_SUCCESS);
}

static pmix_value_t *get(pmix_rank_t rank, const char *key, pmix_data_type_t type)
{
    pmix_proc_t p = rank_of(rank);
    pmix_value_t *v = NULL;

    GOOD(PMIx_Get(&p, key, NULL, 0, &v));
    CHECK(v && v->type == type);
    return v;
}

static void get_all_of(pmix_rank_t r)
{
    pmix_proc_t p = rank_of(r);
    pmix_value_t *v;
    char key[64];
    uint32_t n;

    snprintf(key, sizeof key, "own.%u", r);
    GOOD(get_u32(&p, key, NULL, 0, &n));
    CHECK(n == r * 11 + 1);
    GOOD(get_u32(&p, "same", NULL, 0, &n));
    CHECK(n == r + 500);
    GOOD(get_u32(&p, "local", NULL, 0, &n));
    CHECK(n == r + 600);
    v = get(r, "string", PMIX_STRING);
    CHECK(strcmp(v->data.string, TEXT) == 0);
    PMIX_VALUE_RELEASE(v);
    v = get(r, "double", PMIX_DOUBLE);
    CHECK(v->data.dval == 2.5 + r);
    PMIX_VALUE_RELEASE(v);
    v = get(r, "int64", PMIX_INT64);
    CHECK(v->data.int64 == -1234567890123LL - r);
    PMIX_VALUE_RELEASE(v);
    v = get(r, "bool", PMIX_BOOL);
    CHECK(v->data.flag);
    PMIX_VALUE_RELEASE(v);
    v = get(r, "proc", PMIX_PROC);
    CHECK(v->data.proc->rank == r &&
          PMIX_CHECK_NSPACE(v->data.proc->nspace, me.nspace));
    PMIX_VALUE_RELEASE(v);
    for (size_t size = 1; size <= BIGGEST; size *= 32) {
        snprintf(key, sizeof key, "blob.%zu", size);
        v = get(r, key, PMIX_BYTE_OBJECT);
        CHECK(v->data.bo.size == size && v->data.bo.bytes[0] == (char)(r + 1) &&
              v->data.bo.bytes[size - 1] == (char)(r + 1));
        PMIX_VALUE_RELEASE(v);
    }
}

/* Keys that are new or have a new value travel with the next commit. */
static void second_round(void)
{
    pmix_proc_t next = rank_of((me.rank + 1) % job_size);
    uint32_t n;

    put_u32(PMIX_GLOBAL, "same", me.rank + 900);
    put_u32(PMIX_GLOBAL, "second", me.rank);
    GOOD(PMIx_Commit());
    GOOD(fence_with_data());
    GOOD(get_u32(&next, "second", NULL, 0, &n));
    CHECK(n == next.rank);
    GOOD(get_u32(&next, "same", NULL, 0, &n));
    tell("overwritten", n == next.rank + 900 ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND);
}

int main(void)
{
    pmix_proc_t again;

    begin();
    CHECK(PMIx_Initialized());
    GOOD(PMIx_Init(&again, NULL, 0));
    CHECK(PMIX_CHECK_PROCID(&again, &me));
    GOOD(PMIx_Finalize(NULL, 0));
    CHECK(PMIx_Initialized());
    put_all();
    GOOD(PMIx_Commit());
    GOOD(fence_with_data());
    for (pmix_rank_t r = 0; r < job_size; r++)
        get_all_of(r);
    barrier();
    second_round();
    barrier();
    end("exchange");
    CHECK(!PMIx_Initialized());
    return 0;
}
