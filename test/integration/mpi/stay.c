/* SPDX-License-Identifier: BSD-3-Clause */
/* Meets the others, then does not leave by itself. Prints "UP rank pid". */
#include "check.h"

int main(int argc, char **argv)
{
    int rank;

    CHECK(MPI_Init(&argc, &argv) == MPI_SUCCESS);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
    printf("UP %d %d\n", rank, (int)getpid());
    fflush(stdout);
    for (;;)
        pause();
}
