/* SPDX-License-Identifier: BSD-3-Clause */
/* Benchmark of PMIx_Data_pack and PMIx_Data_unpack with 100000 mixed infos, in one call for all and in a
 * call for each; in processor time of the calling thread. The row "bytes" is the packed size. More rows
 * measure the most frequent calls with single values. */
#include "bench.h"

#include <malloc.h>

enum { N_INFOS = 100000, N_LONG = 300, N_NUMBERS = 64, N_MEMBERS = 4, N_BYTES = 48 };

/* ---- what is packed: infos as hosts and launchers make them, of all common kinds, made by hand: both
 * libraries get the same ----------------------------------------------------------------------------- */

static const struct {
    pmix_data_type_t type;
    int factor;
} numbers[] = {
    {PMIX_BOOL, 0},         {PMIX_UINT32, 1},    {PMIX_INT, -1},
    {PMIX_UINT64, 1 << 20}, {PMIX_UINT16, 1},    {PMIX_SIZE, 512},
    {PMIX_INT64, -65537},   {PMIX_PROC_RANK, 1}, {PMIX_STATUS, 1},
};
enum { N_KINDS = sizeof(numbers) / sizeof(numbers[0]) + 9 };

static char *text(size_t n)
{
    char *s = malloc(n + 1);

    for (size_t i = 0; i < n; i++)
        s[i] = (char)('a' + i % 26);
    s[n] = '\0';
    return s;
}

static pmix_info_t *make_infos(size_t n, size_t first);

static void *array(pmix_data_type_t type, size_t n, void *elements)
{
    pmix_data_array_t *a = malloc(sizeof(*a));

    *a = (pmix_data_array_t){.type = type, .size = n, .array = elements};
    return a;
}

static void make_value(pmix_value_t *v, size_t kind, size_t i)
{
    static const pmix_data_type_t types[] = {
        PMIX_STRING,  PMIX_STRING, PMIX_PROC,       PMIX_BYTE_OBJECT, PMIX_ENVAR,
        PMIX_TIMEVAL, PMIX_DOUBLE, PMIX_DATA_ARRAY, PMIX_DATA_ARRAY};

    if (kind >= 9) {
        v->type = numbers[kind - 9].type;
        v->data.int64 = (int64_t)i * numbers[kind - 9].factor;
        return;
    }
    v->type = types[kind];
    switch (kind) {
    case 0:
    case 1:
        v->data.string = text(kind ? N_LONG : 12);
        break;
    case 2:
        v->data.proc = calloc(1, sizeof(pmix_proc_t));
        strcpy(v->data.proc->nspace, "prterun-node017-48211@1");
        v->data.proc->rank = (pmix_rank_t)i;
        break;
    case 3:
        v->data.bo = (pmix_byte_object_t){text(N_BYTES), N_BYTES};
        break;
    case 4:
        v->data.envar = (pmix_envar_t){strdup("LD_LIBRARY_PATH"),
                                       strdup("/opt/site/lib:/usr/lib64"), ':'};
        break;
    case 5:
        v->data.tv = (struct timeval){1700000000 + (time_t)i, 250000};
        break;
    case 6:
        v->data.dval = (double)i / 8;
        break;
    case 7:
        v->data.darray = array(PMIX_UINT32, N_NUMBERS, calloc(N_NUMBERS, 4));
        for (size_t k = 0; k < N_NUMBERS; k++)
            ((uint32_t *)v->data.darray->array)[k] = (uint32_t)(i + k * 37);
        break;
    default:
        v->data.darray = array(PMIX_INFO, N_MEMBERS, make_infos(N_MEMBERS, 0));
    }
}

/* Makes n infos of all kinds in turn. The memory lives as long as the process. */
static pmix_info_t *make_infos(size_t n, size_t first)
{
    pmix_info_t *infos = calloc(n, sizeof(*infos));

    for (size_t i = 0; i < n; i++) {
        snprintf(infos[i].key, sizeof(infos[i].key), "pmix.bench.key%zu",
                 (first + i) % N_KINDS);
        infos[i].flags = i & 1 ? PMIX_INFO_REQD : 0;
        make_value(&infos[i].value, (first + i) % N_KINDS, first + i);
    }
    return infos;
}

/* ---- measuring ------------------------------------------------------------------------------------------ */

static double pack(pmix_data_buffer_t *buffer, pmix_info_t *infos, int32_t at_once)
{
    double start = now_us(CLOCK_THREAD_CPUTIME_ID);

    for (int32_t i = 0; i < N_INFOS; i += at_once)
        must("pack", PMIx_Data_pack(NULL, buffer, infos + i, at_once, PMIX_INFO));
    return now_us(CLOCK_THREAD_CPUTIME_ID) - start;
}

static double unpack(pmix_data_buffer_t *buffer, pmix_info_t *infos, int32_t at_once)
{
    double start = now_us(CLOCK_THREAD_CPUTIME_ID);

    for (int32_t i = 0; i < N_INFOS; i += at_once) {
        int32_t n = at_once;

        must("unpack", PMIx_Data_unpack(NULL, buffer, infos + i, &n, PMIX_INFO));
        must("unpack, how many", n == at_once ? PMIX_SUCCESS : PMIX_ERROR);
    }
    return now_us(CLOCK_THREAD_CPUTIME_ID) - start;
}

static void put_row(const char *what, const char *how, double value)
{
    char row[NAME_B];

    snprintf(row, sizeof(row), "%s.%s", what, how);
    add_row(row, false)->value = value;
}

/* Packs, unpacks, and compares: the unpacked infos must be packed to the same bytes. */
static void measure(pmix_info_t *from, pmix_info_t *to, int32_t at_once,
                    const char *how)
{
    pmix_data_buffer_t first = {0}, again = {0};
    double packing = pack(&first, from, at_once);
    double unpacking = unpack(&first, to, at_once);

    pack(&again, to, at_once);
    must("what was packed",
         first.bytes_used == again.bytes_used &&
                 !memcmp(first.base_ptr, again.base_ptr, again.bytes_used)
             ? PMIX_SUCCESS
             : PMIX_ERROR);
    for (size_t i = 0; i < N_INFOS; i++)
        PMIx_Value_destruct(&to[i].value);
    if (how) {
        put_row("codec.pack", how, packing);
        put_row("codec.unpack", how, unpacking);
        put_row("codec.bytes", how, (double)first.bytes_used / 1024);
    }
    free(first.base_ptr);
    free(again.base_ptr);
}

enum { LARGE_B = 64 << 10 };

enum { N_PLACES = 8, APART_B = 80 };

/* Unpacks a large value at changing offsets in a page, because the speed of a copy depends on its
 * addresses. */
static pmix_status_t unpack_large(void *arg)
{
    static int turn;
    pmix_data_buffer_t copy = ((pmix_data_buffer_t *)arg)[turn++ % N_PLACES];
    pmix_byte_object_t bo = {0};
    int32_t n = 1;
    pmix_status_t rc = PMIx_Data_unpack(NULL, &copy, &bo, &n, PMIX_BYTE_OBJECT);

    free(bo.bytes);
    return rc;
}

static pmix_status_t copy_info(void *arg)
{
    pmix_info_t to = {0};
    pmix_status_t rc = PMIx_Info_xfer(&to, arg);

    PMIx_Value_destruct(&to.value);
    return rc;
}

void run_codec(void)
{
    static char bytes[LARGE_B];
    pmix_info_t *from, *to, info;
    pmix_byte_object_t bo = {bytes, sizeof(bytes)};
    pmix_data_buffer_t large = {0}, places[N_PLACES];

    /* Keeps freed memory in the process, so that the kernel's work for fresh memory is not measured. */
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
    must("pack", PMIx_Data_pack(NULL, &large, &bo, 1, PMIX_BYTE_OBJECT));
    for (int i = 0; i < N_PLACES; i++) {
        places[i] = large;
        places[i].base_ptr = (char *)malloc(large.bytes_used + N_PLACES * APART_B) +
                             i * APART_B;
        places[i].unpack_ptr = places[i].base_ptr;
        places[i].pack_ptr = places[i].base_ptr + large.bytes_used;
        memcpy(places[i].base_ptr, large.base_ptr, large.bytes_used);
    }
    sample("codec.bo64k", unpack_large, places);
    PMIX_INFO_LOAD(&info, "bench.info", "a string of usual length", PMIX_STRING);
    sample("codec.xfer", copy_info, &info);
    from = make_infos(N_INFOS, 0);
    to = calloc(N_INFOS, sizeof(*to));
    memset(to, 1,
           N_INFOS * sizeof(*to)); /* its pages are there before the clock runs */
    for (int turn = 0; turn < 2; turn++) { /* the first warms up */
        measure(from, to, N_INFOS, turn ? "one" : NULL);
        measure(from, to, 1, turn ? "each" : NULL);
    }
}
