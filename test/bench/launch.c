/* SPDX-License-Identifier: BSD-3-Clause */
/* launch: what fabric components add to a launch, in one server process: PMIx_server_setup_application,
 * _setup_local_support and _register_nspace, with the values of all processes, for jobs on 1,000 nodes
 * whose fabric contrib/examples/fabric-sim computes, with ports of pnet/ports. Medians of several rounds.
 * Exit status 1 if the first two take more than 50 ms for 100,000 processes, or if what travels grows with
 * the processes. */
#include "bench.h"

#include <pmix_server.h>

enum { N_NODES = 1000, N_ROUNDS = 9, LIMIT_MS = 50 };

static const int sizes[] = {1000, 10000, 100000};

struct round {
    double setup, support, reg; /* ms */
    size_t blob;                /* bytes */
};

/* ---- waiting for callbacks ------------------------------------------------------------------------------- */

static _Atomic uint32_t n_done;
static pmix_info_t *gathered;
static size_t n_gathered;

static void done(void)
{
    atomic_store(&n_done, 1);
    syscall(SYS_futex, &n_done, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void await(const char *what, pmix_status_t rc)
{
    must(what, rc);
    while (atomic_load(&n_done) == 0)
        syscall(SYS_futex, &n_done, FUTEX_WAIT, 0, NULL, NULL, 0);
    atomic_store(&n_done, 0);
}

static void on_op(pmix_status_t status, void *cbdata)
{
    must(cbdata, status);
    done();
}

/* Copies the gathered infos, which the library owns, for another node. */
static void on_gathered(pmix_status_t status, pmix_info_t *info, size_t n, void *cbdata,
                        pmix_op_cbfunc_t cbfunc, void *arg)
{
    must(cbdata, status);
    PMIX_INFO_CREATE(gathered, n);
    n_gathered = n;
    for (size_t i = 0; i < n; i++)
        PMIX_INFO_XFER(&gathered[i], &info[i]);
    if (cbfunc)
        cbfunc(PMIX_SUCCESS, arg);
    done();
}

/* ---- one job --------------------------------------------------------------------------------------------- */

static char *node_map, *rank_map, host[256];

/* Makes the maps of nodes n0, n1 ... and this node, each with the same number of processes. */
static void make_maps(int n_procs)
{
    char *nodes = malloc(N_NODES * 16 + sizeof(host)),
         *ranks = malloc((size_t)n_procs * 8), *at = nodes;

    must_do("memory", nodes && ranks ? 0 : -1);
    at += sprintf(at, "%s", host);
    for (int i = 1; i < N_NODES; i++)
        at += sprintf(at, ",n%d", i);
    at = ranks;
    for (int i = 0; i < n_procs; i++)
        at += sprintf(at, "%s%d", i == 0 ? "" : i % (n_procs / N_NODES) ? "," : ";", i);
    must("regex", PMIx_generate_regex(nodes, &node_map));
    must("ppn", PMIx_generate_ppn(ranks, &rank_map));
    free(nodes);
    free(ranks);
}

/* Gets the values of the job and of the last process, which is on another node. */
static void check_values(const char *nspace, int n_procs)
{
    pmix_value_t *value;
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, nspace, (pmix_rank_t)n_procs - 1);
    must(PMIX_FABRIC_ENDPT, PMIx_Get(&proc, PMIX_FABRIC_ENDPT, NULL, 0, &value));
    PMIX_VALUE_RELEASE(value);
    proc.rank = PMIX_RANK_WILDCARD;
    must("ports", PMIx_Get(&proc, "tenon.ports.tcp", NULL, 0, &value));
    PMIX_VALUE_RELEASE(value);
}

static struct round launch(int n_procs, int turn)
{
    struct round r = {0};
    pmix_info_t info[3];
    pmix_nspace_t nspace;
    uint32_t size = (uint32_t)n_procs;
    double start;

    snprintf(nspace, sizeof(nspace), "job.%d.%d", n_procs, turn);
    PMIX_INFO_LOAD(&info[0], PMIX_NODE_MAP, node_map, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[1], PMIX_PROC_MAP, rank_map, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[2], PMIX_JOB_SIZE, &size, PMIX_UINT32);
    start = now();
    await("setup",
          PMIx_server_setup_application(nspace, info, 3, on_gathered, (void *)"setup"));
    r.setup = (now() - start) / 1e3;
    for (size_t i = 0; i < n_gathered; i++)
        if (gathered[i].value.type == PMIX_BYTE_OBJECT)
            r.blob += gathered[i].value.data.bo.size;
    start = now();
    await("support", PMIx_server_setup_local_support(nspace, gathered, n_gathered,
                                                     on_op, (void *)"support"));
    r.support = (now() - start) / 1e3;
    start = now();
    await("register", PMIx_server_register_nspace(nspace, n_procs / N_NODES, info, 3,
                                                  on_op, (void *)"register"));
    r.reg = (now() - start) / 1e3;
    check_values(nspace, n_procs);
    PMIx_server_deregister_nspace(nspace, on_op, (void *)"deregister");
    await("deregister", PMIX_SUCCESS);
    PMIX_INFO_FREE(gathered, n_gathered);
    for (int i = 0; i < 3; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    return r;
}

static struct round measure(int n_procs)
{
    double setup[N_ROUNDS], support[N_ROUNDS], reg[N_ROUNDS];
    struct round r = {0};

    make_maps(n_procs);
    for (int i = 0; i < N_ROUNDS; i++) {
        r = launch(n_procs, i);
        setup[i] = r.setup;
        support[i] = r.support;
        reg[i] = r.reg;
    }
    free(node_map);
    free(rank_map);
    r.setup = median(setup, N_ROUNDS);
    r.support = median(support, N_ROUNDS);
    r.reg = median(reg, N_ROUNDS);
    printf("%9d %9.1f ms %9.1f ms %9.1f ms %9zu B\n", n_procs, r.setup, r.support,
           r.reg, r.blob);
    return r;
}

/* ---- the whole ------------------------------------------------------------------------------------------- */

static void describe_fabric(const char *path)
{
    FILE *f = fopen(path, "w");

    must_do(path, f ? 0 : -1);
    fprintf(
        f,
        "{\"name\":\"f\",\"shape\":[10,10,10],\"planes\":[{\"name\":\"a\"},{\"name\":\"b\"}],"
        "\"switches\":[{\"names\":\"leaf[0-49]\",\"links\":[{\"to\":\"s[0-3]\"}]},{\"names\":\"s[0-3]\"}],"
        "\"nodes\":[{\"names\":\"%s\",\"nics\":[{\"name\":\"s0\",\"plane\":\"a\"},{\"name\":\"s1\",\"plane\":\"b\"}]},"
        "{\"names\":\"n[1-%d]\",\"nics\":[{\"name\":\"s0\",\"plane\":\"a\",\"switch\":\"leaf[0-49]\"},"
        "{\"name\":\"s1\",\"plane\":\"b\",\"switch\":\"leaf[0-49]\"}]}]}",
        host, N_NODES - 1);
    fclose(f);
}

int main(void)
{
    static pmix_server_module_t module;
    const char *dir = getenv("TMPDIR");
    char path[512];
    struct round r = {0};
    size_t least = 0;
    int wrong = 0;

    gethostname(host, sizeof(host) - 1);
    snprintf(path, sizeof(path), "%s/bench.XXXXXX", dir ? dir : "/tmp");
    must_do("mkstemp", close(mkstemp(path)));
    describe_fabric(path);
    setenv("PMIX_MCA_pnet_sim_file", path, 1);
    setenv("PMIX_MCA_pnet_ports_tcp", "20000-59999", 1);
    setenv("PMIX_MCA_pnet_ports_per_process", "2", 1);
    must("init", PMIx_server_init(&module, NULL, 0));
    unlink(path);
    printf("%9s %12s %12s %12s %11s\n", "processes", "setup", "support", "register",
           "travels");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        r = measure(sizes[i]);
        least = i ? least : r.blob;
    }
    if (r.setup + r.support > LIMIT_MS)
        wrong = printf("setup and support take %.1f ms, at most %d are wanted\n",
                       r.setup + r.support, LIMIT_MS);
    if (least == 0 || r.blob > 2 * least)
        wrong = printf("what travels grows with the processes\n");
    must("finalize", PMIx_server_finalize());
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
