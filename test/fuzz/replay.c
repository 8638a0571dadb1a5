/* SPDX-License-Identifier: BSD-3-Clause */
/* A main for a fuzz target without a fuzzer. The inputs are the seeds, each seed cut at every length and
 * with every byte changed, and files named as arguments, e.g. findings of a fuzzer. "--write FOLDER"
 * writes the seeds into FOLDER instead, for a fuzzer. */
#include "fuzz.h"

#include <string.h>

/* Runs the target on a copy of exactly the input's size, so that a sanitizer detects a read beyond the
 * end. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);

    FUZZ_MUST(exact);
    if (size)
        memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static void run_around(uint8_t *data, size_t size)
{
    static const uint8_t wrong[] = {0x00, 0x01, 0x02, 0x18, 0x27, 0x7f, 0x80, 0xff};

    for (size_t len = 0; len <= size; len += 1 + len / 128)
        run(data, len);
    for (size_t i = 0; i < size; i += 1 + i / 128) {
        uint8_t right = data[i];

        for (size_t k = 0; k < sizeof(wrong); k++) {
            data[i] = wrong[k];
            run(data, size);
        }
        data[i] = right;
    }
}

static void write_seed(const char *folder, unsigned i, const px_buf *seed)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s/seed-%04u", folder, i);
    FILE *f = fopen(path, "wb");
    FUZZ_MUST(f);
    FUZZ_MUST(fwrite(seed->data, 1, seed->len, f) == seed->len);
    fclose(f);
}

static void run_file(const char *path)
{
    static uint8_t data[1 << 20];
    FILE *f = fopen(path, "rb");

    FUZZ_MUST(f);
    run(data, fread(data, 1, sizeof(data), f));
    fclose(f);
}

int main(int argc, char **argv)
{
    const char *folder = argc == 3 && strcmp(argv[1], "--write") == 0 ? argv[2] : NULL;

    for (unsigned i = 0;; i++) {
        PX_AUTO(px_buf) seed = {0};

        if (!fuzz_seed(i, &seed))
            break;
        if (folder)
            write_seed(folder, i, &seed);
        else
            run_around(seed.data, seed.len);
    }
    for (int i = 1; !folder && i < argc; i++)
        run_file(argv[i]);
    return EXIT_SUCCESS;
}
