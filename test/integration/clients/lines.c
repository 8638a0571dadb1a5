/* SPDX-License-Identifier: BSD-3-Clause */
/* lines N: N numbered lines of various lengths on stdout, written in pieces that
 * know nothing of lines, and three lines on stderr. No PMIx: the rank comes from the
 * environment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE 1000

static void put(const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t k = write(STDOUT_FILENO, bytes, n < PIECE ? n : PIECE);

        if (k <= 0)
            _exit(1);
        bytes += k;
        n -= (size_t)k;
    }
}

int main(int argc, char **argv)
{
    const char *rank = getenv("PMIX_RANK");
    int n = argc > 1 ? atoi(argv[1]) : 10;
    char *text = malloc((size_t)n * 160 + 1), *end = text;

    if (!rank || !text)
        return 2;
    for (int i = 0; i < n; i++)
        end += sprintf(
            end, "rank %s line %d %.*s.\n", rank, i, i % 100,
            "-------------------------------------------------------------------------"
            "---------------------------");
    put(text, (size_t)(end - text));
    free(text);
    for (int i = 0; i < 3; i++)
        fprintf(stderr, "rank %s error %d\n", rank, i);
    return 0;
}
