/* SPDX-License-Identifier: BSD-3-Clause */
/* For forward.py: writes lines of 64 bytes to its output, TOTAL bytes, SIZE at a time, as soon as the
 * other processes have come so far:
 *   forward READY GO TOTAL SIZE     writes a byte into READY when ready, begins when GO has a writer */
#include "bench.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    enum { LINE_B = 64, MOST_B = 65536 };
    static char lines[MOST_B];
    size_t total = argc == 5 ? strtoul(argv[3], NULL, 10) : 0;
    size_t size = total ? strtoul(argv[4], NULL, 10) : 0;
    int ready;

    if (size == 0 || size > sizeof(lines) || total % size)
        return 2;
    memset(lines, 'x', sizeof(lines));
    for (size_t at = LINE_B - 1; at < sizeof(lines); at += LINE_B)
        lines[at] = '\n';
    ready = open(argv[1], O_WRONLY | O_CLOEXEC);
    must_do(argv[1], ready);
    must_do(argv[1], write(ready, "", 1));
    close(ready);
    must_do(argv[2], open(argv[2], O_RDONLY | O_CLOEXEC));
    for (size_t done = 0; done < total;) {
        size_t from = done % size;
        ssize_t n = write(STDOUT_FILENO, lines + from, size - from);

        must_do("write", n);
        done += (size_t)n;
    }
    return 0;
}
