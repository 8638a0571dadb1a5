/* SPDX-License-Identifier: BSD-3-Clause */
/* For the MPI programs here: each rank prints "OK name rank/size" when all it
 * checked was right. */
#ifndef TEST_MPI_CHECK_H
#define TEST_MPI_CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(c)                                                            \
    do {                                                                    \
        if (!(c)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #c); \
            fflush(NULL);                                                   \
            _exit(99);                                                      \
        }                                                                   \
    } while (0)

#define OK(name, rank, size)                       \
    do {                                           \
        printf("OK %s %d/%d\n", name, rank, size); \
        fflush(stdout);                            \
    } while (0)

#endif
