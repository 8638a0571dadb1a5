/* SPDX-License-Identifier: BSD-3-Clause */
/* hostile_host [-f] (NSPACE:UID:N:FILE)...: a server with jobs that others play. Registers a job of N local
 * processes of a user for each argument, and writes the environment of its last rank to FILE, NUL-terminated.
 * The server has the built-in host. With -f the jobs have processes on another node, too, and the host
 * returns the data of a fence as if these processes had none. Deregisters all jobs after a byte of its standard input, and
 * ends when the input ends. */
#include "../host/host.h"

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t n_procs,
                              const pmix_info_t info[], size_t n_info, char *data,
                              size_t n, pmix_modex_cbfunc_t cb, void *cbdata)
{
    (void)procs, (void)n_procs, (void)info, (void)n_info;
    cb(PMIX_SUCCESS, data, n, cbdata, free, data);
    return PMIX_SUCCESS;
}

static void write_environment(const char *nspace, pmix_rank_t rank, const char *path)
{
    char **env = NULL;
    pmix_proc_t proc;
    FILE *f = fopen(path, "w");

    PMIX_LOAD_PROCID(&proc, nspace, rank);
    HOST_GOOD(PMIx_server_setup_fork(&proc, &env));
    HOST_CHECK(f);
    for (char **e = env; *e; e++)
        HOST_CHECK(fwrite(*e, strlen(*e) + 1, 1, f) == 1);
    HOST_CHECK(fclose(f) == 0);
    PMIX_ARGV_FREE(env);
}

/* Registers processes 0 to n - 1 here. afar: and process n on another node. */
static void add_job(char *text, bool afar)
{
    const char *nspace = strsep(&text, ":");
    const uid_t uid = (uid_t)atoi(strsep(&text, ":"));
    const int n = atoi(strsep(&text, ":"));
    char local[HOST_MAX_RANKS * 4] = "", ranks[sizeof(local) + 16], nodes[300] = "";
    struct host_job job;

    HOST_CHECK(text && n > 0 && n <= HOST_MAX_RANKS);
    gethostname(nodes, 256);
    for (int r = 0; r < n; r++)
        sprintf(local + strlen(local), "%s%d", r ? "," : "", r);
    snprintf(ranks, sizeof(ranks), afar ? "%s;%d" : "%s", local, n);
    strcat(nodes, afar ? ",elsewhere" : "");
    host_owner(uid, uid);
    host_register_map(&job, nspace, n + afar,
                      &(struct host_map){nodes, ranks, local, 1 + afar, n, 0, NULL});
    HOST_GOOD(host_setup_local_support(nspace, NULL, 0));
    for (int r = 0; r < n; r++)
        HOST_GOOD(host_register_client(nspace, (pmix_rank_t)r, NULL));
    write_environment(nspace, (pmix_rank_t)n - 1, text);
}

int main(int argc, char **argv)
{
    static pmix_server_module_t module;
    const bool afar = argc > 1 && strcmp(argv[1], "-f") == 0;
    char c;

    module.fence_nb = on_fence;
    HOST_GOOD(host_init(afar ? &module : NULL));
    for (int i = 1 + afar; i < argc; i++)
        add_job(argv[i], afar);
    printf("ready\n");
    fflush(stdout);
    while (read(STDIN_FILENO, &c, 1) > 0) {
        for (int i = 1 + afar; i < argc;
             i++) /* add_job has ended the text after the name */
            host_deregister_nspace(argv[i]);
        printf("gone\n");
        fflush(stdout);
    }
    HOST_GOOD(PMIx_server_finalize());
    return 0;
}
