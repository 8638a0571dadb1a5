/* SPDX-License-Identifier: BSD-3-Clause */
/* datapath SCENE X: runs a server and its job, and prints a line "row value p99 switches cpu" for each
 * row. X is the number of clients, or another size of the scene. BENCH_CLIENT_LIBRARY is the folder of the
 * clients' libpmix if it is not the server's. The program ends after BENCH_DEADLINE_S (60) seconds, when a
 * client fails, and with its parent. "datapath -c ..." is a client. */
#include "bench.h"

#include <fcntl.h>
#include <pmix_server.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define NSPACE "bench"

extern char **environ;

enum { MAX_INFOS = 16, TEXT_B = 64 };

static pid_t pids[MAX_CLIENTS]; /* 0: not running */

/* ---- upcalls, answered before they return -------------------------------------------------------- */

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t n_procs,
                              const pmix_info_t info[], size_t n_info, char *data,
                              size_t n, pmix_modex_cbfunc_t cb, void *cbdata)
{
    cb(PMIX_SUCCESS, data, n, cbdata, free, data); /* one node: all is here */
    return PMIX_SUCCESS;
}

static pmix_status_t on_publish(const pmix_proc_t *proc, const pmix_info_t info[],
                                size_t n, pmix_op_cbfunc_t cb, void *cbdata)
{
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_lookup(const pmix_proc_t *proc, char **keys,
                               const pmix_info_t info[], size_t n,
                               pmix_lookup_cbfunc_t cb, void *cbdata)
{
    pmix_pdata_t data = {.value = {.type = PMIX_UINT32, .data.uint32 = 1}};

    data.proc = *proc;
    snprintf(data.key, sizeof(data.key), "%s", keys[0]);
    cb(PMIX_SUCCESS, &data, 1, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t on_query(pmix_proc_t *proc, pmix_query_t *queries, size_t n,
                              pmix_info_cbfunc_t cb, void *cbdata)
{
    static pmix_info_t info;
    uint32_t one = 1;

    if (strcmp(queries[0].keys[0], "bench.query") != 0)
        return PMIX_ERR_NOT_FOUND; /* the library may know the answer */
    PMIX_INFO_LOAD(&info, "bench.query", &one, PMIX_UINT32);
    cb(PMIX_SUCCESS, &info, 1, cbdata, NULL, NULL);
    return PMIX_SUCCESS;
}

static pmix_status_t on_control(const pmix_proc_t *proc, const pmix_proc_t targets[],
                                size_t n_targets, const pmix_info_t info[], size_t n,
                                pmix_info_cbfunc_t cb, void *cbdata)
{
    cb(PMIX_SUCCESS, NULL, 0, cbdata, NULL, NULL);
    return PMIX_SUCCESS;
}

/* Request of a client, answered by a thread: release 4.2.2 needs the callback after the upcall has
 * returned. */
static struct {
    sem_t asked;
    pmix_op_cbfunc_t cb;
    void *cbdata;
} logging;

static void *answer_logs(void *unused)
{
    for (;;)
        if (sem_wait(&logging.asked) == 0)
            logging.cb(PMIX_SUCCESS, logging.cbdata);
    return unused;
}

static void on_log(const pmix_proc_t *proc, const pmix_info_t data[], size_t n_data,
                   const pmix_info_t info[], size_t n, pmix_op_cbfunc_t cb,
                   void *cbdata)
{
    logging.cb = cb;
    logging.cbdata = cbdata;
    sem_post(&logging.asked);
}

static pmix_status_t on_connect(const pmix_proc_t procs[], size_t n_procs,
                                const pmix_info_t info[], size_t n, pmix_op_cbfunc_t cb,
                                void *cbdata)
{
    return PMIX_OPERATION_SUCCEEDED;
}

/* Release 4.2.2 constructs groups by the host only. */
static pmix_status_t on_group(pmix_group_operation_t op, char group[],
                              const pmix_proc_t procs[], size_t n_procs,
                              const pmix_info_t info[], size_t n, pmix_info_cbfunc_t cb,
                              void *cbdata)
{
    cb(PMIX_SUCCESS, NULL, 0, cbdata, NULL, NULL);
    return PMIX_SUCCESS;
}

static pmix_server_module_t module = {
    .fence_nb = on_fence,
    .publish = on_publish,
    .lookup = on_lookup,
    .query = on_query,
    .job_control = on_control,
    .log = on_log,
    .connect = on_connect,
    .disconnect = on_connect,
    .group = on_group,
};

/* ---- registration -------------------------------------------------------------------------------------- */

struct waiter {
    sem_t done;
    pmix_status_t status;
};

static void on_done(pmix_status_t status, void *arg)
{
    struct waiter *w = arg;

    w->status = status;
    sem_post(&w->done);
}

static void await(const char *what, struct waiter *w)
{
    while (sem_wait(&w->done))
        ;
    must(what, w->status);
}

struct infos {
    pmix_info_t info[MAX_INFOS];
    size_t n;
};

static void load(struct infos *to, const char *key, const void *data,
                 pmix_data_type_t type)
{
    PMIX_INFO_LOAD(&to->info[to->n], key, data, type);
    to->n++;
}

static void load_u32(struct infos *to, const char *key, uint32_t n)
{
    load(to, key, &n, PMIX_UINT32);
}

/* Adds an array of infos for a node, an application or a session. */
static void load_array(struct infos *to, const char *key, const char *of,
                       const char *what, uint32_t n, const char *host)
{
    struct infos members = {0};
    pmix_data_array_t array = {.type = PMIX_INFO};

    load_u32(&members, of, 0);
    load_u32(&members, what, n);
    if (host)
        load(&members, PMIX_HOSTNAME, host, PMIX_STRING);
    array.array = members.info;
    array.size = members.n;
    load(to, key, &array, PMIX_DATA_ARRAY);
}

/* Layouts of ranks on nodes. */
enum layout { BLOCK, CYCLIC, IRREGULAR };

static char *rank_map(enum layout layout, int nodes, int ppn)
{
    char *text = malloc((size_t)nodes * (size_t)ppn * 11 + 1), *at = text;
    int ranks = nodes * ppn, next = 0;

    must_do("memory", text ? 0 : -1);
    for (int node = 0; node < nodes; node++) {
        int n = layout == IRREGULAR ? (node * 7919 % (2 * ppn - 1)) + 1 : ppn;

        if (node > 0)
            *at++ = ';';
        for (int i = 0; i < n && next < ranks; i++) {
            int rank = layout == CYCLIC ? node + i * nodes : next;

            at += sprintf(at, "%s%d", i ? "," : "", rank);
            next++;
        }
    }
    *at = '\0';
    return text;
}

static char *node_list(int nodes)
{
    char *text = malloc((size_t)nodes * 16 + 1), *at = text;

    must_do("memory", text ? 0 : -1);
    for (int node = 0; node < nodes; node++)
        at += sprintf(at, "%snode%d", node ? "," : "", node);
    return text;
}

/* Registers a namespace, and adds the time as a row. */
static void register_job(const char *row, const char *nspace, const char *nodes,
                         const char *ranks, int n_ranks, int n_nodes, int n_local)
{
    struct infos infos = {0};
    char *node_map, *rank_map, first[256];
    double start;
    pmix_status_t rc;

    snprintf(first, sizeof(first), "%.*s", (int)strcspn(nodes, ","), nodes);
    must("regex", PMIx_generate_regex(nodes, &node_map));
    must("ppn", PMIx_generate_ppn(ranks, &rank_map));
    load_u32(&infos, PMIX_UNIV_SIZE, (uint32_t)n_ranks);
    load_u32(&infos, PMIX_JOB_SIZE, (uint32_t)n_ranks);
    load_u32(&infos, PMIX_LOCAL_SIZE, (uint32_t)n_local);
    load_u32(&infos, PMIX_NUM_NODES, (uint32_t)n_nodes);
    load(&infos, PMIX_NODE_MAP, node_map, PMIX_REGEX);
    load(&infos, PMIX_PROC_MAP, rank_map, PMIX_REGEX);
    load_array(&infos, PMIX_NODE_INFO_ARRAY, PMIX_NODEID, PMIX_NODE_SIZE,
               (uint32_t)n_local, first);
    load_array(&infos, PMIX_APP_INFO_ARRAY, PMIX_APPNUM, PMIX_APP_SIZE,
               (uint32_t)n_ranks, NULL);
    load_array(&infos, PMIX_SESSION_INFO_ARRAY, PMIX_SESSION_ID, PMIX_UNIV_SIZE,
               (uint32_t)n_ranks, NULL);
    start = now();
    rc = PMIx_server_register_nspace(nspace, n_local, infos.info, infos.n, NULL, NULL);
    must("register namespace", rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc);
    if (row)
        print_row(row, now() - start);
    for (size_t i = 0; i < infos.n; i++)
        PMIX_INFO_DESTRUCT(&infos.info[i]);
    free(node_map);
    free(rank_map);
}

/* Ways to wait for a client's registration: a blocking call, a callback each, or all callbacks at the end. */
enum how { BLOCKING, ONE_BY_ONE, TOGETHER };

/* Registers n clients, and returns the microseconds. Registers another client first, without the clock, to wake the
 * thread of callbacks. */
static double register_clients(const char *nspace, int n, enum how how)
{
    const uid_t uid = getuid(); /* outside the loop: a system call takes as long as a registration */
    const gid_t gid = getgid();
    struct waiter w = {0};
    double start = now();
    pmix_proc_t p;

    sem_init(&w.done, 0, 0);
    for (int i = how == BLOCKING ? 0 : -1; i < n; i++) {
        PMIX_LOAD_PROCID(&p, nspace, (pmix_rank_t)(i < 0 ? n : i));
        pmix_status_t rc = PMIx_server_register_client(
            &p, uid, gid, NULL, how == BLOCKING ? NULL : on_done, &w);

        if (how != BLOCKING && rc == PMIX_OPERATION_SUCCEEDED)
            sem_post(&w.done);
        must("register client", rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc);
        if (how == ONE_BY_ONE || i < 0)
            await("register client", &w);
        if (i < 0)
            start = now();
    }
    for (int i = 0; i < n && how == TOGETHER; i++)
        await("register client", &w);
    return now() - start;
}

/* Returns the resident memory of the server in KiB. */
static double resident_kib(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    must_do("statm", f && fscanf(f, "%*d %ld", &pages) == 1 ? 0 : -1);
    fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
}

/* Registers a job on this node alone. */
static void register_here(const char *row, const char *nspace, int clients)
{
    char name[256] = "", *ranks = rank_map(BLOCK, 1, clients);

    gethostname(name, sizeof(name) - 1);
    register_job(row, nspace, name, ranks, clients, 1, clients);
    free(ranks);
}

static void register_many(int x)
{
    int n_nodes = (x + BIG_PPN - 1) / BIG_PPN;
    char *ranks = rank_map(BLOCK, n_nodes, BIG_PPN), *nodes = node_list(n_nodes);
    double before = resident_kib();

    register_job("big.register", NSPACE, nodes, ranks, x, n_nodes, BIG_PPN);
    print_row("big.server", resident_kib() - before);
    free(ranks);
    free(nodes);
    usleep(50000); /* the scheduler delays a process that has just computed for 0.1 s */
}

static void register_scene(const struct scene *scene, int x, int clients)
{
    if (scene->of_many)
        register_many(x);
    else
        register_here("register.nspace", NSPACE, clients);
    print_row("register.clients", register_clients(NSPACE, clients, BLOCKING));
}

/* Registers jobs and their clients in each way; a row is the median of many jobs. The function sleeps before it registers
 * a job's clients, like a host that waits for a launch. In a process that has just computed, the kernel may interrupt
 * each call to run the thread of callbacks. The first sleep is for work that the server does after PMIx_server_init. */
void run_register(int n)
{
    enum { N_JOBS = 51, REST_US = 500 };
    static const char *const rows[] = {
        [BLOCKING] = "register.clients",
        [ONE_BY_ONE] = "register.awaited",
        [TOGETHER] = "register.together",
    };

    usleep(50000);
    for (enum how how = BLOCKING; how <= TOGETHER; how++) {
        double us[N_JOBS];

        for (int i = 0; i < N_JOBS; i++) {
            pmix_nspace_t nspace;

            snprintf(nspace, sizeof(nspace), "%s.%d", rows[how], i);
            register_here(how == BLOCKING && i == 0 ? "register.nspace" : NULL, nspace, n);
            usleep(REST_US);
            us[i] = register_clients(nspace, n, how);
            PMIx_server_deregister_nspace(nspace, NULL, NULL);
        }
        print_row(rows[how], median(us, N_JOBS));
    }
}

/* Measures a call of a host with many nodes for each layout, without clients. Registration runs with fewer
 * nodes, because the time of release 4.2.2 grows with their square. */
static void each_layout(const char *call, int n,
                        void (*run)(const char *, const char *, int))
{
    static const char *const layouts[] = {"block", "cyclic", "irregular"};
    char row[NAME_B];

    for (int i = 0; i < 3; i++) {
        char *ranks = rank_map((enum layout)i, n, 2);

        snprintf(row, sizeof(row), "maps.%s.%s", call, layouts[i]);
        run(row, ranks, n);
        free(ranks);
    }
}

static void generate(const char *row, const char *ranks, int n)
{
    double start = now();
    char *map;

    must("ppn", PMIx_generate_ppn(ranks, &map));
    print_row(row, now() - start);
    free(map);
}

static void parse(const char *row, const char *ranks, int n)
{
    char *nodes = node_list(n);

    register_job(row, row, nodes, ranks, 2 * n, n, 2);
    free(nodes);
}

void run_maps(int n)
{
    char *nodes = node_list(n), *map;
    double start = now();

    must("regex", PMIx_generate_regex(nodes, &map));
    print_row("maps.regex", now() - start);
    free(map);
    free(nodes);
    each_layout("ppn", n, generate);
}

void run_parse(int n)
{
    each_layout("register", n, parse);
}

/* ---- processes ----------------------------------------------------------------------------------------- */

static void kill_clients(void)
{
    for (int i = 0; i < MAX_CLIENTS; i++)
        if (pids[i] > 0)
            kill(pids[i], SIGKILL);
}

static void on_deadline(int signal)
{
    static const char text[] = "bench: past the deadline\n";

    kill_clients();
    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
    _exit(3);
}

/* Returns the caller's environment with another folder of the library. Never freed. */
static char **environment_of(int rank)
{
    const char *library = getenv("BENCH_CLIENT_LIBRARY");
    size_t n = 0;
    char **env;
    pmix_proc_t p;

    while (environ[n])
        n++;
    env = calloc(n + 2, sizeof(*env));
    n = 0;
    for (char **e = environ; *e; e++)
        if (!library || strncmp(*e, "LD_LIBRARY_PATH=", 16) != 0)
            env[n++] = strdup(*e);
    if (library) {
        size_t size = strlen(library) + 17;

        env[n] = malloc(size);
        snprintf(env[n], size, "LD_LIBRARY_PATH=%s", library);
    }
    PMIX_LOAD_PROCID(&p, NSPACE, (pmix_rank_t)rank);
    must("fork", PMIx_server_setup_fork(&p, &env));
    return env;
}

static void start_clients(char **argv, int fd, int n)
{
    char self[4096] = "", numbers[3][16];
    char *args[] = {self,       (char *)"-c", argv[1],    argv[2],
                    numbers[0], numbers[1],   numbers[2], NULL};

    must_do("self", readlink("/proc/self/exe", self, sizeof(self) - 1));
    for (int i = 0; i < n; i++) {
        char **env = environment_of(i);

        snprintf(numbers[0], 16, "%d", i);
        snprintf(numbers[1], 16, "%d", n);
        snprintf(numbers[2], 16, "%d", fd);
        must_do("spawn", -posix_spawn(&pids[i], self, NULL, NULL, args, env));
    }
}

static void await_clients(int n)
{
    for (int left = n; left > 0; left--) {
        int status;
        pid_t pid = wait(&status);

        must_do("wait", pid);
        for (int i = 0; i < n; i++)
            if (pids[i] == pid)
                pids[i] = 0;
        if (status) {
            kill_clients();
            fprintf(stderr, "bench: a client ends with status %d\n", status);
            exit(EXIT_FAILURE);
        }
    }
}

static void print_rows(int n, double started)
{
    double values[4][MAX_CLIENTS];

    for (int r = 0; r < MAX_CELLS && bench.board->names[r][0]; r++) {
        const struct cell *failed = NULL;

        for (int i = 0; i < n; i++) {
            const struct cell *c = &bench.board->cells[i][r];

            values[0][i] = c->value;
            values[1][i] = c->p99;
            values[2][i] = c->switches;
            values[3][i] = c->cpu;
            failed = c->status ? c : failed;
        }
        if (failed) {
            printf("%s - %s\n", bench.board->names[r],
                   PMIx_Error_string(failed->status));
            continue;
        }
        printf("%s", bench.board->names[r]);
        for (int k = 0; k < 4; k++) { /* sorted by it */
            double m = median(values[k], (size_t)n);

            printf(" %.4f", bench.board->is_longest[r] ? values[k][n - 1] : m);
        }
        printf("\n");
    }
    for (int i = 1; i < n; i++)
        bench.board->stamps[0] = bench.board->stamps[i] > bench.board->stamps[0]
                                     ? bench.board->stamps[i]
                                     : bench.board->stamps[0];
    if (strcmp(bench.board->names[0], "init") == 0)
        print_row("start", (bench.board->stamps[0] - started) / n);
}

static int be_host(const struct scene *scene, char **argv, int fd)
{
    const char *dir = getenv("TMPDIR"), *deadline = getenv("BENCH_DEADLINE_S");
    int x = atoi(argv[2]), n = scene->run_host    ? 0
                               : scene->n_clients ? scene->n_clients
                                                  : x;
    struct infos infos = {0};
    double started;
    pthread_t thread;

    if (x < 1 || n > MAX_CLIENTS) {
        fprintf(stderr, "bench: %s: expected 1 to %d\n", argv[2], MAX_CLIENTS);
        return 2;
    }
    signal(SIGALRM, on_deadline);
    signal(SIGTERM, on_deadline);
    signal(SIGINT, on_deadline);
    alarm(deadline ? (unsigned)atoi(deadline) : 60);
    if (scene->alone) {
        scene->run_host(x);
        return EXIT_SUCCESS;
    }
    load(&infos, PMIX_SERVER_TMPDIR, dir ? dir : "/tmp", PMIX_STRING);
    load(&infos, PMIX_SYSTEM_TMPDIR, dir ? dir : "/tmp", PMIX_STRING);
    sem_init(&logging.asked, 0, 0);
    must_do("thread", -pthread_create(&thread, NULL, answer_logs, NULL));
    started = now();
    must("server_init", PMIx_server_init(&module, infos.info, infos.n));
    print_row("server.init", now() - started);
    if (scene->run_host)
        scene->run_host(x);
    else
        register_scene(scene, x, n);
    started = now();
    start_clients(argv, fd, n);
    await_clients(n);
    print_rows(n, started);
    started = now();
    must("server_finalize", PMIx_server_finalize());
    print_row("server.finalize", now() - started);
    return EXIT_SUCCESS;
}

/* Runs a client: -c SCENE X INDEX N FD. */
static int be_client(const struct scene *scene, char **argv)
{
    bench = (struct client){.board = bench.board,
                            .x = atoi(argv[3]),
                            .index = atoi(argv[4]),
                            .n = atoi(argv[5])};
    PMIX_LOAD_PROCID(&bench.job, NSPACE, PMIX_RANK_WILDCARD);
    PMIX_LOAD_PROCID(&bench.me, NSPACE, (pmix_rank_t)bench.index);
    if (!scene->inits)
        must("init", PMIx_Init(&bench.me, NULL, 0));
    scene->run();
    if (!scene->inits)
        must("finalize", PMIx_Finalize(NULL, 0));
    return EXIT_SUCCESS;
}

/* Begins the heap at a different address in each process. The address decides which calls extend the heap. */
static void move_heap(void)
{
    enum { N_PLACES = 15, STEP_B = 8 << 10 };
    static void *volatile before;

    before = malloc((size_t)(getpid() % N_PLACES * STEP_B + 1));
    must_do("memory", before ? 0 : -1);
}

int main(int argc, char **argv)
{
    bool is_client = argc == 7 && strcmp(argv[1], "-c") == 0;
    const struct scene *scene = scenes;
    int fd;

    while (argc > 2 && scene->name && strcmp(scene->name, argv[is_client ? 2 : 1]) != 0)
        scene++;
    if ((argc != 3 && !is_client) || !scene->name) {
        fprintf(stderr, "usage: datapath SCENE X\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    move_heap();
    must_do("prctl", prctl(PR_SET_PDEATHSIG, SIGKILL));
    fd = is_client ? atoi(argv[6]) : memfd_create("bench", 0);
    must_do("memory", fd);
    if (!is_client)
        must_do("memory", ftruncate(fd, sizeof(*bench.board)));
    bench.board = mmap(NULL, sizeof(*bench.board), PROT_READ | PROT_WRITE, MAP_SHARED,
                       fd, 0);
    must_do("memory", bench.board == MAP_FAILED ? -1 : 0);
    return is_client ? be_client(scene, argv) : be_host(scene, argv, fd);
}
