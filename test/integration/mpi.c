/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi hello|ring|coll|accept|stay|abort [SIZE]: an MPI program of which each rank prints "OK NAME rank/size" when
 * all it checked was right. SIZE: how many ranks there must be. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 10
#define BIG    (1 << 20)

#define CHECK(c)                                                            \
    do {                                                                    \
        if (!(c)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #c); \
            fflush(NULL);                                                   \
            _exit(99);                                                      \
        }                                                                   \
    } while (0)

static int rank, size;

/* ---- hello: which am I, of how many, and where ------------------------------------- */

static void hello(void)
{
    char host[MPI_MAX_PROCESSOR_NAME];
    int len;

    MPI_Get_processor_name(host, &len);
    CHECK(rank >= 0 && rank < size && len > 0);
}

/* ---- ring: a token goes round, then each exchanges a megabyte with each other ------- */

static void ring(void)
{
    static char out[BIG], in[BIG];
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
    memset(out, rank + 1, sizeof out);
    for (int k = 0; k < size; k++) {
        int to = (rank + k) % size, from = (rank + size - k) % size;

        MPI_Sendrecv(out, BIG, MPI_CHAR, to, 77, in, BIG, MPI_CHAR, from, 77,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(in[0] == from + 1 && in[BIG - 1] == from + 1);
    }
}

/* ---- coll: collective operations, split communicators, and the ranks that share this node's
 * memory, which MPI knows from PMIx: all of them ---------------------------------------- */

static void reductions(void)
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

static void all_to_all(void)
{
    int out[64], in[64];

    CHECK(size <= 64);
    for (int i = 0; i < size; i++)
        out[i] = rank * 1000 + i;
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        CHECK(in[i] == i * 1000 + rank);
}

static void halves(void)
{
    MPI_Comm half;
    int largest;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Allreduce(&rank, &largest, 1, MPI_INT, MPI_MAX, half);
    CHECK(largest % 2 == rank % 2);
    MPI_Comm_free(&half);
}

static void this_node(void)
{
    MPI_Comm node;
    MPI_Win window;
    int n, *memory;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    CHECK(n == size);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &memory,
                            &window);
    MPI_Win_fence(0, window);
    *memory = rank;
    MPI_Win_fence(0, window);
    CHECK(*memory == rank);
    MPI_Win_free(&window);
    MPI_Comm_free(&node);
}

/* ---- accept: even ranks accept odd ones, twice, and both leave it for good ------------ */

static void accept_half(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    int half_rank, theirs = -1;
    MPI_Comm half, both;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_rank(half, &half_rank);
    if (rank == 0)
        CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK((rank % 2 ? MPI_Comm_connect : MPI_Comm_accept)(port, MPI_INFO_NULL, 0, half,
                                                          &both) == MPI_SUCCESS);
    if (half_rank == 0) {
        MPI_Sendrecv(&rank, 1, MPI_INT, 0, 3, &theirs, 1, MPI_INT, 0, 3, both,
                     MPI_STATUS_IGNORE);
        CHECK(theirs == 1 - rank);
    }
    CHECK(MPI_Comm_disconnect(&both) == MPI_SUCCESS);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    int level, wanted = strcmp(name, "coll") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;

    CHECK(MPI_Init_thread(&argc, &argv, wanted, &level) == MPI_SUCCESS);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(argc < 3 || size == atoi(argv[2]));
    if (strcmp(name, "hello") == 0) {
        hello();
    } else if (strcmp(name, "ring") == 0) {
        ring();
    } else if (strcmp(name, "coll") == 0) {
        reductions();
        all_to_all();
        halves();
        this_node();
    } else if (strcmp(name, "abort") == 0) { /* rank 1, while the others wait for it */
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            MPI_Abort(MPI_COMM_WORLD, 7);
    } else if (strcmp(name, "accept") == 0) {
        accept_half();
        accept_half();
    } else { /* stays when it has met the others */
        MPI_Barrier(MPI_COMM_WORLD);
        printf("UP %d %d\n", rank, (int)getpid());
        fflush(stdout);
        for (;;)
            pause();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("OK %s %d/%d\n", name, rank, size);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
