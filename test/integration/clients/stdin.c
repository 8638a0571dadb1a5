/* SPDX-License-Identifier: BSD-3-Clause */
/* stdin: reads all of it, then says how much it was, and a checksum. No PMIx. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    const char *rank = getenv("PMIX_RANK");
    unsigned long n = 0, sum = 0;
    char bytes[4096];
    ssize_t k;

    while ((k = read(STDIN_FILENO, bytes, sizeof bytes)) > 0) {
        for (ssize_t i = 0; i < k; i++)
            sum = sum * 31 + (unsigned char)bytes[i];
        n += (unsigned long)k;
    }
    printf("rank %s read %lu bytes, sum %lu%s\n", rank ? rank : "?", n,
           sum & 0xffffffff, k < 0 ? ", and an error" : "");
    return 0;
}
