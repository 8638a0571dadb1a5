/* SPDX-License-Identifier: BSD-3-Clause */
/* hello SIZE: who am I, of how many, and where. */
#include "check.h"

int main(int argc, char **argv)
{
    int rank, size, len;
    char host[MPI_MAX_PROCESSOR_NAME];

    CHECK(MPI_Init(&argc, &argv) == MPI_SUCCESS);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host, &len);
    CHECK(rank >= 0 && rank < size);
    CHECK(argc < 2 || size == atoi(argv[1]));
    CHECK(len > 0);
    OK("hello", rank, size);
    MPI_Finalize();
    return 0;
}
