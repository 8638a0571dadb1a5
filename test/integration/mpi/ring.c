/* SPDX-License-Identifier: BSD-3-Clause */
/* ring: a token goes round ten times, then each rank exchanges a megabyte with each
 * other one. */
#include "check.h"

#define ROUNDS 10
#define BIG    (1 << 20)

static void ring(int rank, int size)
{
    int token = 0, next = (rank + 1) % size, previous = (rank + size - 1) % size;

    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 0) {
            token++;
            MPI_Send(&token, 1, MPI_INT, next, i, MPI_COMM_WORLD);
        }
        MPI_Recv(&token, 1, MPI_INT, previous, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank != 0) {
            token++;
            MPI_Send(&token, 1, MPI_INT, next, i, MPI_COMM_WORLD);
        }
    }
    CHECK(rank != 0 || token == ROUNDS * size);
}

static void everyone_with_everyone(int rank, int size)
{
    static char out[BIG], in[BIG];

    memset(out, rank + 1, sizeof out);
    for (int k = 0; k < size; k++) {
        int to = (rank + k) % size, from = (rank + size - k) % size;

        MPI_Sendrecv(out, BIG, MPI_CHAR, to, 77, in, BIG, MPI_CHAR, from, 77,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(in[0] == from + 1 && in[BIG - 1] == from + 1);
    }
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ring(rank, size);
    everyone_with_everyone(rank, size);
    OK("ring", rank, size);
    MPI_Finalize();
    return 0;
}
