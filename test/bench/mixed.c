/* SPDX-License-Identifier: BSD-3-Clause */
/* Made by hand, with no library at all: both that are measured get the same objects. */
#include "mixed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_LONG = 300, N_NUMBERS = 64, N_INFOS = 4, N_BYTES = 48 };

static char *text(size_t n)
{
    char *s = malloc(n + 1);

    for (size_t i = 0; s && i < n; i++)
        s[i] = (char)('a' + i % 26);
    if (s)
        s[n] = '\0';
    return s;
}

static void *room(pmix_value_t *v, pmix_data_type_t type, size_t size)
{
    v->type = type;
    return v->data.ptr = calloc(1, size);
}

static int make_string(pmix_value_t *v, size_t n)
{
    v->type = PMIX_STRING;
    v->data.string = text(n);
    return v->data.string != NULL;
}

static int make_proc(pmix_value_t *v, size_t i)
{
    pmix_proc_t *p = room(v, PMIX_PROC, sizeof(*p));

    if (!p)
        return 0;
    strcpy(p->nspace, "prterun-node017-48211@1");
    p->rank = (pmix_rank_t)i;
    return 1;
}

static int make_bytes(pmix_value_t *v)
{
    v->type = PMIX_BYTE_OBJECT;
    v->data.bo.bytes = text(N_BYTES);
    v->data.bo.size = N_BYTES;
    return v->data.bo.bytes != NULL;
}

static int make_envar(pmix_value_t *v)
{
    v->type = PMIX_ENVAR;
    v->data.envar.envar = strdup("LD_LIBRARY_PATH");
    v->data.envar.value = strdup("/opt/site/lib:/usr/lib64");
    v->data.envar.separator = ':';
    return v->data.envar.envar && v->data.envar.value;
}

static int make_numbers(pmix_value_t *v, size_t i)
{
    pmix_data_array_t *a = room(v, PMIX_DATA_ARRAY, sizeof(*a));
    uint32_t *numbers = a ? calloc(N_NUMBERS, sizeof(*numbers)) : NULL;

    if (!numbers)
        return 0;
    for (size_t k = 0; k < N_NUMBERS; k++)
        numbers[k] = (uint32_t)(i + k * 37);
    *a = (pmix_data_array_t){.type = PMIX_UINT32, .size = N_NUMBERS, .array = numbers};
    return 1;
}

static int make_info(pmix_info_t *info, size_t kind, size_t i);

static int make_infos(pmix_value_t *v, size_t i)
{
    pmix_data_array_t *a = room(v, PMIX_DATA_ARRAY, sizeof(*a));
    pmix_info_t *infos = a ? calloc(N_INFOS, sizeof(*infos)) : NULL;

    if (!infos)
        return 0;
    for (size_t k = 0; k < N_INFOS; k++)
        if (!make_info(&infos[k], k, i))
            return 0;
    *a = (pmix_data_array_t){.type = PMIX_INFO, .size = N_INFOS, .array = infos};
    return 1;
}

static void make_number(pmix_value_t *v, pmix_data_type_t type, size_t i)
{
    v->type = type;
    switch (type) {
    case PMIX_INT:
        v->data.integer = -(int)(i % 3000);
        break;
    case PMIX_UINT64:
        v->data.uint64 = (uint64_t)i << 20;
        break;
    case PMIX_SIZE:
        v->data.size = i * 4096;
        break;
    case PMIX_UINT16:
        v->data.uint16 = (uint16_t)i;
        break;
    case PMIX_INT64:
        v->data.int64 = -(int64_t)i * 65537;
        break;
    default:
        v->data.uint32 = (uint32_t)i;
        break;
    }
}

enum { N_KINDS = 18 };

static int make_value(pmix_value_t *v, size_t kind, size_t i)
{
    static const pmix_data_type_t numbers[] = {PMIX_UINT32,    PMIX_INT,    PMIX_UINT64,
                                               PMIX_PROC_RANK, PMIX_UINT16, PMIX_SIZE,
                                               PMIX_INT64,     PMIX_STATUS};

    switch (kind) {
    case 0:
        v->type = PMIX_BOOL;
        v->data.flag = i & 1;
        return 1;
    case 1:
        return make_string(v, 12);
    case 2:
        return make_string(v, N_LONG);
    case 3:
        return make_proc(v, i);
    case 4:
        return make_bytes(v);
    case 5:
        return make_envar(v);
    case 6:
        v->type = PMIX_TIMEVAL;
        v->data.tv = (struct timeval){.tv_sec = 1700000000 + (time_t)i,
                                      .tv_usec = 250000};
        return 1;
    case 7:
        v->type = PMIX_DOUBLE;
        v->data.dval = (double)i / 8;
        return 1;
    case 8:
        return make_numbers(v, i);
    case 9:
        return make_infos(v, i);
    default:
        make_number(v, numbers[(kind - 10) % (sizeof(numbers) / sizeof(numbers[0]))],
                    i);
        return 1;
    }
}

static int make_info(pmix_info_t *info, size_t kind, size_t i)
{
    snprintf(info->key, sizeof(info->key), "pmix.bench.key%zu", kind);
    info->flags = i & 1 ? PMIX_INFO_REQD : 0;
    return make_value(&info->value, kind, i);
}

pmix_info_t *mixed_infos(size_t n)
{
    pmix_info_t *infos = calloc(n, sizeof(*infos));

    for (size_t i = 0; infos && i < n; i++)
        if (!make_info(&infos[i], i % N_KINDS, i))
            return NULL;
    return infos;
}

static int same_value(const pmix_value_t *a, const pmix_value_t *b)
{
    const pmix_data_array_t *x = a->data.darray, *y = b->data.darray;

    if (a->type != b->type)
        return 0;
    switch (a->type) {
    case PMIX_BOOL:
        return a->data.flag == b->data.flag;
    case PMIX_STRING:
        return strcmp(a->data.string, b->data.string) == 0;
    case PMIX_PROC:
        return memcmp(a->data.proc, b->data.proc, sizeof(*a->data.proc)) == 0;
    case PMIX_BYTE_OBJECT:
        return a->data.bo.size == b->data.bo.size &&
               memcmp(a->data.bo.bytes, b->data.bo.bytes, a->data.bo.size) == 0;
    case PMIX_ENVAR:
        return strcmp(a->data.envar.envar, b->data.envar.envar) == 0 &&
               strcmp(a->data.envar.value, b->data.envar.value) == 0 &&
               a->data.envar.separator == b->data.envar.separator;
    case PMIX_TIMEVAL:
        return memcmp(&a->data.tv, &b->data.tv, sizeof(a->data.tv)) == 0;
    case PMIX_UINT16:
        return a->data.uint16 == b->data.uint16;
    case PMIX_UINT32:
    case PMIX_INT:
    case PMIX_PROC_RANK:
    case PMIX_STATUS:
        return a->data.uint32 == b->data.uint32;
    case PMIX_DATA_ARRAY:
        if (x->type != y->type || x->size != y->size)
            return 0;
        if (x->type == PMIX_UINT32)
            return memcmp(x->array, y->array, x->size * sizeof(uint32_t)) == 0;
        for (size_t i = 0; i < x->size; i++)
            if (!mixed_same((pmix_info_t *)x->array + i, (pmix_info_t *)y->array + i))
                return 0;
        return 1;
    default: /* of eight bytes, double included: a quotient of eighths is exact */
        return a->data.uint64 == b->data.uint64;
    }
}

int mixed_same(const pmix_info_t *a, const pmix_info_t *b)
{
    return strcmp(a->key, b->key) == 0 && a->flags == b->flags &&
           same_value(&a->value, &b->value);
}
