/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as the block of a map that another process shares, and may change meanwhile. Each look-up
 * stays within the block and ends, and results stay within the limits in the block's head. */
#include "fuzz.h"
#include "core/model/procmap.h"

static void ask(const struct px_procmap *map)
{
    char name[PX_MAX_NODE_NAME + 1];
    uint32_t first, n;
    uint16_t local;

    for (uint32_t i = 0; i < 64; i++) {
        size_t len = px_procmap_name(map, i, name);
        FUZZ_MUST(len <= PX_MAX_NODE_NAME && name[len] == '\0');
        FUZZ_MUST(px_procmap_find(map, name) + 1 <= map->n_rows);
        FUZZ_MUST(px_procmap_node_of(map, i, &local) + 1 <= map->n_nodes);
        FUZZ_MUST(px_procmap_size(map, i) <= UINT16_MAX);
        FUZZ_MUST(px_procmap_lowest(map, i) + 1 <= map->n_ranks);
        for (uint32_t k = 0; (n = px_procmap_run(map, i, k, &first)) > 0; k += n)
            FUZZ_MUST(first + n <= map->n_ranks);
        free(px_procmap_peers(map, i));
    }
    FUZZ_MUST(px_procmap_find_host(map, "n1") + 1 <= map->n_rows);
    free(px_procmap_names(map, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *block = malloc(size ? size : 1);
    struct px_procmap *map, *own;

    FUZZ_MUST(block);
    if (size > 0)
        memcpy(block, data, size);
    if (px_procmap_borrow(block, size, &map) == PMIX_SUCCESS) {
        ask(map);
        if (px_procmap_extend(map, NULL, 0, &own) == PMIX_SUCCESS) {
            ask(own);
            px_procmap_destroy(own);
        }
        for (size_t i = 0; i < size; i++) /* halfway another map */
            block[i] ^= data[size - 1 - i] & 0x11;
        ask(map);
        px_procmap_destroy(map);
    }
    free(block);
    return 0;
}

bool fuzz_seed(unsigned i, px_buf *out)
{
    static const char *const maps[][2] = {
        {"pmix[n[1:0-2]]", "0-3;4-7;8-11"},          /* one run */
        {"a1,a2,b.dom,10.0.0.1", "0,4;1,5;2,6;3,7"}, /* cyclic, of names alone */
        {"x01y,x02y", "0-1,4-5,8-9;2-3,6-7,10-11"},  /* blocks of two in turns */
        {"n", "70,68,66,64,62,60,58,56,54,52,50,48,46,44,42,40,38,36,34,32,30,28,26,24,"
              "22,20,18,16,14,12,10,8,6,4,2,0"}, /* runs by rank */
    };
    struct px_procmap *map;
    size_t n;

    if (i >= sizeof(maps) / sizeof(maps[0]))
        return false;
    FUZZ_MUST(!px_procmap_create(maps[i][0], maps[i][1], &map, NULL));
    const void *bytes = px_procmap_bytes(map, &n);
    bool added = !px_buf_add(out, bytes, n);
    px_procmap_destroy(map);
    return added;
}
