/* SPDX-License-Identifier: BSD-3-Clause */
/* coll: collective operations, split communicators, and the ranks that share this
 * node's memory, which MPI knows from PMIx; EXPECT_LOCAL says how many those must
 * be. */
#include "check.h"

static void reductions(int rank, int size)
{
    int sum, prefix;
    double last = rank == size - 1 ? 3.25 : 0;

    for (int i = 0; i < 100; i++) {
        int mine = rank + i;

        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == size * (size - 1) / 2 + size * i);
    }
    MPI_Bcast(&last, 1, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
    CHECK(last == 3.25);
    MPI_Scan(&rank, &prefix, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(prefix == rank * (rank + 1) / 2);
}

static void all_to_all(int rank, int size)
{
    int *out = malloc(size * sizeof *out), *in = malloc(size * sizeof *in);

    CHECK(out && in);
    for (int i = 0; i < size; i++)
        out[i] = rank * 1000 + i;
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        CHECK(in[i] == i * 1000 + rank);
    free(out);
    free(in);
}

static void halves(int rank)
{
    MPI_Comm half;
    int largest;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Allreduce(&rank, &largest, 1, MPI_INT, MPI_MAX, half);
    CHECK(largest % 2 == rank % 2);
    MPI_Comm_free(&half);
}

static void this_node(int rank)
{
    const char *expected = getenv("EXPECT_LOCAL");
    MPI_Comm node;
    MPI_Win window;
    int n, *memory;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    CHECK(!expected || n == atoi(expected));
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &memory,
                            &window);
    MPI_Win_fence(0, window);
    *memory = rank;
    MPI_Win_fence(0, window);
    CHECK(*memory == rank);
    MPI_Win_free(&window);
    MPI_Comm_free(&node);
}

int main(int argc, char **argv)
{
    int rank, size, level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    reductions(rank, size);
    all_to_all(rank, size);
    halves(rank);
    this_node(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    OK("coll", rank, size);
    MPI_Finalize();
    return 0;
}
