/* SPDX-License-Identifier: BSD-3-Clause */
/* A segment of shared memory with any words changed by a hostile server, in memory of its exact size. A
 * reader that looks up and walks all entries finds only well-formed values, and ends. */
#include "fuzz.h"
#include "components/gds/shm/table.h"
#include "core/types/type.h"

extern const struct px_component px_gds_shm_component;

enum { EDIT_B = 2 + sizeof(uint64_t), N_RANKS = 3 };

static const char *const keys[] = {"number", "text", "bytes", "proc", "flag", "array"};
static struct px_shm_segment segment; /* as it was written */
static uint8_t *image;                /* ... and as it is changed, one window long */

static const struct px_gds_ops *ops(void)
{
    return px_gds_shm_component.ops;
}

static struct px_gds_ns *as_ns(struct px_shm_segment *s)
{
    return (struct px_gds_ns *)s; /* begins with it */
}

static void put(pmix_rank_t rank, const char *key, pmix_data_type_t type,
                const void *data)
{
    pmix_value_t v;

    FUZZ_MUST(!px_value_borrow(&v, data, type));
    FUZZ_MUST(!ops()->store(NULL, as_ns(&segment), PX_GDS_JOB, rank, key, &v));
}

static void write_segment(void)
{
    pmix_proc_t proc = {.nspace = "job", .rank = 1};
    pmix_byte_object_t bytes = {.bytes = (char *)"\0\1\2", .size = 3};
    uint32_t number = 7;
    PX_AUTO(px_infos) infos = {0};

    FUZZ_MUST(!px_shm_segment_create(&segment, PX_SHM_FIRST));
    FUZZ_MUST(!px_infos_add(&infos, "inner", "deep down", PMIX_STRING));
    pmix_data_array_t array = {.type = PMIX_INFO, .size = infos.n, .array = infos.v};
    for (pmix_rank_t rank = 0; rank < N_RANKS; rank++) {
        for (int again = 0; again < 2; again++) {
            put(rank, "number", PMIX_UINT32, &number);
            put(rank, "text", PMIX_STRING, "text");
            put(rank, "bytes", PMIX_BYTE_OBJECT, &bytes);
            put(rank, "proc", PMIX_PROC, &proc);
            put(rank, "flag", PMIX_BOOL, NULL);
            put(rank, "array", PMIX_DATA_ARRAY, &array);
        }
    }
    image = malloc(PX_SHM_FIRST);
    FUZZ_MUST(image);
    memcpy(image, segment.base, PX_SHM_FIRST);
}

static void look_at(const pmix_value_t *value)
{
    PX_AUTOFREE char *text = px_type_print(PMIX_VALUE, value);
    pmix_value_t same;

    FUZZ_MUST(text && !px_type_copy(PMIX_VALUE, &same, value));
    if (value->type == PMIX_BOOL)
        FUZZ_MUST(*(const uint8_t *)&value->data.flag <= 1);
    if (value->type == PMIX_PROC && value->data.proc)
        FUZZ_MUST(strnlen(value->data.proc->nspace, PMIX_MAX_NSLEN + 1) <=
                  PMIX_MAX_NSLEN);
    px_type_destruct(PMIX_VALUE, &same);
}

static pmix_status_t see(void *arg, pmix_rank_t rank, const char *key,
                         const pmix_value_t *value)
{
    unsigned *n = arg;

    (void)rank;
    FUZZ_MUST(key[0] && strlen(key) <= PMIX_MAX_KEYLEN);
    look_at(value);
    ++*n;
    return PMIX_SUCCESS;
}

static void read_all(struct px_gds_ns *ns)
{
    unsigned n = 0;

    for (unsigned table = 0; table < PX_GDS_N_TABLES; table++) {
        pmix_status_t rc = ops()->walk(NULL, ns, table, PMIX_RANK_UNDEF, see, &n);
        FUZZ_MUST(rc == PMIX_SUCCESS || rc == PMIX_ERR_NOMEM);
    }
    FUZZ_MUST(n <= segment.taken / sizeof(uint64_t));
    for (unsigned i = 0; i < N_RANKS * PX_COUNT(keys); i++) {
        const char *key = keys[i / N_RANKS];
        const void *bytes;
        uint8_t sum = 0;
        size_t n_bytes;
        pmix_value_t v;

        if (!ops()->fetch(NULL, ns, PX_GDS_JOB, i % N_RANKS, key, NULL, 0, &v)) {
            look_at(&v);
            px_type_destruct(PMIX_VALUE, &v);
        }
        if (!ops()->view(NULL, ns, PX_GDS_JOB, i % N_RANKS, key, &bytes, &n_bytes))
            for (size_t at = 0; at < n_bytes; at++)
                sum += ((const volatile uint8_t *)bytes)[at];
        (void)sum;
    }
}

/* Applies the edits of the input. Each edit is a position, and the bits of the word to change. */
static void edit(const uint8_t *data, size_t size, bool back)
{
    for (; size >= EDIT_B; data += EDIT_B, size -= EDIT_B) {
        uint64_t was, bits, at = (data[0] | data[1] << 8) % (segment.taken / 8) * 8;

        memcpy(&was, image + at, sizeof(was));
        memcpy(&bits, data + 2, sizeof(bits));
        was = back ? 0 : was ^ bits;
        memcpy(image + at, back ? segment.base + at : (uint8_t *)&was, sizeof(was));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct px_shm_segment reader = {.fd = -1, .shown = -1};

    if (!image)
        write_segment();
    atomic_store(&reader.windows[0], image);
    edit(data, size, false);
    read_all(as_ns(&reader));
    edit(data, size, true);
    return 0;
}

/* Makes a seed for each pair of written words. */
bool fuzz_seed(unsigned i, px_buf *out)
{
    uint8_t edits[2 * EDIT_B] = {0};

    if (!image)
        write_segment();
    const unsigned n_words = (unsigned)(segment.taken / 8);
    if (3 * i >= n_words)
        return false;
    for (unsigned k = 0; k < 2; k++) {
        const unsigned word = k ? i * 7919 % n_words : 3 * i;
        uint8_t *e = edits + k * EDIT_B;

        e[0] = (uint8_t)word;
        e[1] = (uint8_t)(word >> 8);
        memset(e + 2 + i % 4, 1 << i % 8, k ? 1 : 2);
    }
    return !px_buf_add(out, edits, sizeof(edits));
}
