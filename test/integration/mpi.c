/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi NAME [SIZE]: an MPI program whose ranks print "OK NAME rank/size" after success. SIZE is the
 * expected number of ranks. NAME: hello pi ring coll windows sessions worlds echo shout accept publish spawn
 * multiple rendezvous model stay abort wrong orphan widow. */
#include <dlfcn.h>
#include <mpi.h>
#include <pmix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define ROUNDS 10
#define BIG    (1 << 20)

#define CHECK(c)                                                                  \
    do {                                                                          \
        if (!(c)) {                                                               \
            fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #c); \
            fflush(NULL);                                                         \
            _exit(99);                                                            \
        }                                                                         \
    } while (0)

static int rank, size;

/* ---- hello: rank, number of ranks, and node ---------------------------------------- */

static void hello(void)
{
    char host[MPI_MAX_PROCESSOR_NAME];
    int len;

    MPI_Get_processor_name(host, &len);
    CHECK(rank >= 0 && rank < size && len > 0);
}

/* ---- pi: rank 0 sends the number of intervals, and all ranks sum up the area of a quarter
 * of a circle ------------------------------------------------------------------------ */

static void pi(void)
{
    int intervals = rank == 0 ? 10000 : 0;
    double part = 0, whole = 0;

    MPI_Bcast(&intervals, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = rank; i < intervals; i += size) {
        const double x = (i + 0.5) / intervals;

        part += 4 / (1 + x * x) / intervals;
    }
    MPI_Reduce(&part, &whole, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    CHECK(rank != 0 || (whole > 3.14159265 && whole < 3.14159266));
}

/* ---- ring: a token goes round, then each pair of ranks exchanges a megabyte --------- */

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
    memset(out, rank + 1, sizeof(out));
    for (int k = 0; k < size; k++) {
        int to = (rank + k) % size, from = (rank + size - k) % size;

        MPI_Sendrecv(out, BIG, MPI_CHAR, to, 77, in, BIG, MPI_CHAR, from, 77,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(in[0] == from + 1 && in[BIG - 1] == from + 1);
    }
}

/* ---- coll: collective operations, split communicators, and memory shared by the ranks of the
 * node. MPI gets these ranks, all ranks, from PMIx. ------------------------------------- */

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
    const char *local = getenv("MPI_LOCAL_SIZE"); /* of a job on several nodes */
    int n, *memory;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    CHECK(n == (local ? atoi(local) : size));
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &memory,
                            &window);
    MPI_Win_fence(0, window);
    *memory = rank;
    MPI_Win_fence(0, window);
    CHECK(*memory == rank);
    MPI_Win_free(&window);
    MPI_Comm_free(&node);
}

/* ---- windows: each rank puts into its neighbour's memory; all add to rank 0's memory --- */

static void windows(void)
{
    int *memory, one = 1, next = (rank + 1) % size;
    MPI_Win window;

    CHECK(MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                           &memory, &window) == MPI_SUCCESS);
    memory[0] = -1;
    memory[1] = 0;
    MPI_Win_fence(0, window);
    CHECK(MPI_Put(&rank, 1, MPI_INT, next, 0, 1, MPI_INT, window) == MPI_SUCCESS);
    MPI_Win_fence(0, window);
    CHECK(memory[0] == (rank + size - 1) % size);
    MPI_Win_fence(0, window);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        CHECK(MPI_Accumulate(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, window) ==
              MPI_SUCCESS);
        MPI_Win_unlock(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_fence(0, window);
    CHECK(rank != 0 || memory[1] == ROUNDS * size);
    MPI_Win_free(&window);
}

/* ---- sessions: number, names and sizes of the process sets that MPI promises -------- */

/* True if MPI has sessions. Open MPI 5 has sessions, but claims MPI 3. */
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
#define HAS_SESSIONS 1
#else
#define HAS_SESSIONS (MPI_VERSION >= 4)
#endif

#if HAS_SESSIONS
static void sessions(void)
{
    char world[] = "mpi://WORLD", self_set[] = "mpi://SELF",
         name[MPI_MAX_PSET_NAME_LEN];
    int n = -1, len, seen = 0;
    MPI_Session session;
    MPI_Group group;

    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    CHECK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n) == MPI_SUCCESS);
    CHECK(n >= 2 && n < 100);
    for (int i = 0; i < n; i++) {
        len = sizeof(name);
        CHECK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &len, name) ==
              MPI_SUCCESS);
        seen += !strcasecmp(name, world) || !strcasecmp(name, self_set);
    }
    CHECK(seen == 2);
    CHECK(MPI_Group_from_session_pset(session, world, &group) == MPI_SUCCESS);
    MPI_Group_size(group, &n);
    CHECK(n == size);
    MPI_Group_free(&group);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
}

/* ---- worlds: communicators of a session's groups, without MPI_Init. MPI constructs a PMIx group
 * for each. ------------------------------------------------------------------------------- */

/* Makes a communicator of a group and sums over it. */
static void sum_over(MPI_Group group, const char *tag)
{
    int mine, n, sum = -1;
    MPI_Comm comm;

    CHECK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                     &comm) == MPI_SUCCESS);
    MPI_Comm_rank(comm, &mine);
    MPI_Comm_size(comm, &n);
    CHECK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    CHECK(sum == n * (n - 1) / 2);
    MPI_Comm_free(&comm);
}

static void worlds(void)
{
    MPI_Session session;
    MPI_Group group, half;
    char tag[32];

    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS);
    MPI_Group_size(group, &size);
    MPI_Group_rank(group, &rank);
    int range[1][3] = {{rank % 2, size - 1 - (size - 1 - rank % 2) % 2, 2}};
    MPI_Group_range_incl(group, 1, range, &half);
    for (int i = 0; i < 3; i++) {
        sum_over(group, "worlds.all");
        snprintf(tag, sizeof(tag), "worlds.%d", rank % 2);
        sum_over(half, tag);
    }
    MPI_Group_free(&half);
    MPI_Group_free(&group);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
}
#endif

/* ---- accept: even ranks accept odd ranks, twice, and both disconnect ------------------ */

static void accept_half(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    int half_rank, theirs = -1;
    MPI_Comm half, both;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_rank(half, &half_rank);
    if (rank == 0)
        CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS);
    MPI_Bcast(port, sizeof(port), MPI_CHAR, 0, MPI_COMM_WORLD);
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

/* ---- spawn, multiple: spawn one program or two, use and disconnect the new processes -- */

static char *self;

static void work_with(MPI_Comm *others, int n_theirs)
{
    int n, sum, one = 1;
    MPI_Comm both;

    MPI_Comm_remote_size(*others, &n);
    CHECK(n == n_theirs || !n_theirs);
    CHECK(MPI_Intercomm_merge(*others, 0, &both) == MPI_SUCCESS);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, both);
    CHECK(sum == n + size);
    MPI_Comm_free(&both);
    CHECK(MPI_Comm_disconnect(others) == MPI_SUCCESS);
    CHECK(*others == MPI_COMM_NULL);
}

static void start(const char *name, int n, MPI_Comm from, MPI_Comm *others)
{
    char *args[] = {(char *)name, NULL};

    CHECK(MPI_Comm_spawn(self, args, n, MPI_INFO_NULL, 0, from, others,
                         MPI_ERRCODES_IGNORE) == MPI_SUCCESS);
}

static void start_multiple(MPI_Comm *others)
{
    char *args[] = {(char *)"spawned", NULL}, *programs[] = {self, self},
         **argvs[] = {args, args};
    int counts[] = {1, 2};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};

    CHECK(MPI_Comm_spawn_multiple(2, programs, argvs, counts, infos, 0, MPI_COMM_WORLD,
                                  others, MPI_ERRCODES_IGNORE) == MPI_SUCCESS);
}

/* ---- publish: all ranks look up the name that rank 0 publishes, and later removes ------ */

#define SERVICE "tenon-rendezvous"

static void publish(void)
{
    char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "";

    if (rank == 0) {
        CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS);
        CHECK(MPI_Publish_name(SERVICE, MPI_INFO_NULL, port) == MPI_SUCCESS);
    }
    MPI_Bcast(port, sizeof(port), MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK(MPI_Lookup_name(SERVICE, MPI_INFO_NULL, found) == MPI_SUCCESS);
    CHECK(*port && strcmp(found, port) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        CHECK(MPI_Unpublish_name(SERVICE, MPI_INFO_NULL, port) == MPI_SUCCESS);
        CHECK(MPI_Close_port(port) == MPI_SUCCESS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(MPI_Lookup_name(SERVICE, MPI_INFO_NULL, found) != MPI_SUCCESS);
}

/* ---- rendezvous: rank 0 starts two jobs that find each other by a published name ------- */

static void serve(void)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm others, parent;

    MPI_Comm_get_parent(&parent);
    if (rank == 0) {
        CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS);
        CHECK(MPI_Publish_name(SERVICE, MPI_INFO_NULL, port) == MPI_SUCCESS);
    }
    MPI_Barrier(parent); /* the name is published */
    CHECK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others) ==
          MPI_SUCCESS);
    work_with(&others, 1);
    if (rank == 0) {
        CHECK(MPI_Unpublish_name(SERVICE, MPI_INFO_NULL, port) == MPI_SUCCESS);
        CHECK(MPI_Close_port(port) == MPI_SUCCESS);
    }
    MPI_Comm_disconnect(&parent);
}

static void call(void)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm others, parent;

    MPI_Comm_get_parent(&parent);
    CHECK(MPI_Lookup_name(SERVICE, MPI_INFO_NULL, port) == MPI_SUCCESS);
    CHECK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others) ==
          MPI_SUCCESS);
    work_with(&others, 2);
    MPI_Comm_disconnect(&parent);
}

static void rendezvous(void)
{
    MPI_Comm servers, clients;

    start("serve", 2, MPI_COMM_WORLD, &servers);
    MPI_Barrier(servers);
    start("call", 1, MPI_COMM_WORLD, &clients);
    CHECK(MPI_Comm_disconnect(&clients) == MPI_SUCCESS);
    CHECK(MPI_Comm_disconnect(&servers) == MPI_SUCCESS);
}

/* ---- echo: rank 0 reads its input, and all ranks write the input ------------------- */

static void echo(void)
{
    static char bytes[BIG / 8];
    long n = 1;

    while (n > 0) {
        if (rank == 0)
            n = read(STDIN_FILENO, bytes, sizeof(bytes));
        MPI_Bcast(&n, 1, MPI_LONG, 0, MPI_COMM_WORLD);
        CHECK(n >= 0);
        MPI_Bcast(bytes, (int)n, MPI_CHAR, 0, MPI_COMM_WORLD);
        fwrite(bytes, 1, (size_t)n, stdout);
    }
    CHECK(fflush(stdout) == 0);
}

/* ---- shout: all ranks write to both streams; the buffer of stdout cuts lines anywhere -- */

static void shout(long n)
{
    static const char tail[] =
        "................................................................";

    for (long i = 0; i < n; i++)
        for (int k = 0; k < 2; k++)
            CHECK(fprintf(k ? stderr : stdout, "%d %ld .%.*s\n", rank, i,
                          (int)(i % (long)sizeof(tail)), tail) > 0);
    CHECK(fflush(stdout) == 0);
}

/* ---- model SIZE FILE: each rank declares a second programming model, as OpenMP's library may, and
 * waits for the file: Open MPI's handler runs later ---------------------------------------- */

static void declare_model(const char *file)
{
    static char model[] = "OpenMP";
    static pmix_info_t info = {
        .key = PMIX_PROGRAMMING_MODEL,
        .value = {.type = PMIX_STRING, .data.string = model},
    };
    void *pmix = dlopen("libpmix.so.2",
                        RTLD_LAZY | RTLD_NOLOAD); /* loaded by Open MPI */
    __typeof__(PMIx_Init) *init = pmix ? dlsym(pmix, "PMIx_Init") : NULL;
    __typeof__(PMIx_Finalize) *finalize = pmix ? dlsym(pmix, "PMIx_Finalize") : NULL;

    CHECK(init && finalize && init(NULL, &info, 1) == PMIX_SUCCESS);
    for (int i = 0; i < 60000 && access(file, F_OK); i++)
        usleep(1000);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(finalize(NULL, 0) == PMIX_SUCCESS);
    dlclose(pmix);
}

int main(int argc, char **argv)
{
    MPI_Comm others;
    const char *name = argc > 1 ? argv[1] : "";
    int level, wanted = strcmp(name, "coll") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;

    self = argv[0];
#if HAS_SESSIONS
    if (strcmp(name, "worlds") == 0) {
        worlds();
        CHECK(argc < 3 || size == atoi(argv[2]));
        printf("OK %s %d/%d\n", name, rank, size);
        return 0;
    }
#endif
    CHECK(MPI_Init_thread(&argc, &argv, wanted, &level) == MPI_SUCCESS);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(argc < 3 || size == atoi(argv[2]));
    if (strcmp(name, "hello") == 0) {
        hello();
    } else if (strcmp(name, "pi") == 0) {
        pi();
    } else if (strcmp(name, "ring") == 0) {
        ring();
    } else if (strcmp(name, "echo") == 0) {
        echo();
    } else if (strcmp(name, "shout") == 0) {
        shout(argc > 3 ? atol(argv[3]) : 1);
    } else if (strcmp(name, "coll") == 0) {
        reductions();
        all_to_all();
        halves();
        this_node();
    } else if (strcmp(name, "windows") == 0) {
        windows();
#if HAS_SESSIONS
    } else if (strcmp(name, "sessions") == 0) {
        sessions();
#endif
    } else if (strcmp(name, "abort") == 0) { /* rank 1 aborts while the others wait */
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            MPI_Abort(MPI_COMM_WORLD, 7);
    } else if (strcmp(name, "spawn") == 0) {
        start("spawned", 2, MPI_COMM_WORLD, &others);
        work_with(&others, 2);
    } else if (strcmp(name, "multiple") == 0) {
        start_multiple(&others);
        work_with(&others, 3);
    } else if (strcmp(name, "spawned") == 0) {
        CHECK(MPI_Comm_get_parent(&others) == MPI_SUCCESS);
        work_with(&others, 0);
    } else if (strcmp(name, "publish") == 0) {
        publish();
    } else if (strcmp(name, "rendezvous") == 0) {
        rendezvous();
    } else if (strcmp(name, "model") == 0) {
        declare_model(argv[3]);
    } else if (strcmp(name, "serve") == 0) {
        serve();
    } else if (strcmp(name, "call") == 0) {
        call();
    } else if (strcmp(name, "wrong") == 0) { /* an error of rank 1 ends all ranks */
        if (rank == 1)
            MPI_Send(&rank, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(name, "orphan") == 0) { /* the spawned processes abort */
        start("abort", 2, MPI_COMM_WORLD, &others);
        MPI_Barrier(others);
    } else if (strcmp(name, "widow") == 0) { /* a spawned process is killed */
        start("killed", 2, MPI_COMM_WORLD, &others);
        MPI_Barrier(others);
    } else if (strcmp(name, "killed") == 0) {
        sleep(rank == 1);
        raise(rank == 1 ? SIGKILL : SIGCONT);
    } else if (strcmp(name, "accept") == 0) {
        accept_half();
        accept_half();
    } else { /* stay: waits after a barrier */
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
