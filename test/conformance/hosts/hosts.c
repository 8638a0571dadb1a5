/* SPDX-License-Identifier: BSD-3-Clause */
/* HOST FOLDER [other]: emulates the host with the libpmix in FOLDER. See hosts.h. */
#include "hosts.h"

#include <dlfcn.h>
#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define LIMIT_S 170 /* of each process, in all cases */
#define WAIT_S  150

int hosts_node;
static int other_node; /* socket */
static struct host_job job;

bool hosts_is_other(const char *releases)
{
    const char *version = PMIx_Get_version();

    return getenv("HOSTS_OTHER") && releases &&
           strchr(releases, version[strcspn(version, "0123456789")]);
}

char *hosts_folder(const char *name)
{
    char *path;

    HOST_CHECK(asprintf(&path, "%s/%s", getenv("TMPDIR"), name) > 0);
    HOST_CHECK(mkdir(path, 0700) == 0 || errno == EEXIST);
    return path;
}

const char *hosts_node_name(int node)
{
    return node ? "nodeB" : "nodeA";
}

const char *hosts_node_ranks(int node)
{
    return node ? "2,3" : "0,1";
}

/* ---- between the nodes ----------------------------------------------------------- */

static void send_all(const void *data, size_t n)
{
    HOST_CHECK(n == 0 || send(other_node, data, n, MSG_NOSIGNAL) == (ssize_t)n);
}

static void receive_all(void *data, size_t n)
{
    HOST_CHECK(n == 0 || recv(other_node, data, n, MSG_WAITALL) == (ssize_t)n);
}

char *hosts_exchange(const void *data, size_t n, size_t *n_all)
{
    size_t n_other;

    send_all(&n, sizeof(n));
    send_all(data, n);
    receive_all(&n_other, sizeof(n_other));
    *n_all = n + n_other;
    char *all = host_alloc(*n_all + 1);
    if (n)
        memcpy(all + (hosts_node ? n_other : 0), data, n);
    receive_all(all + (hosts_node ? 0 : n), n_other);
    return all;
}

static void in_thread(void *(*fn)(void *), void *arg)
{
    pthread_t thread;

    HOST_CHECK(pthread_create(&thread, NULL, fn, arg) == 0);
    pthread_detach(thread);
}

struct later {
    pmix_status_t status;
    char *data;
    size_t n;
    pmix_modex_cbfunc_t modex_cb;
    pmix_op_cbfunc_t op_cb;
    void *cbdata;
};

static void *answer(void *arg)
{
    struct later *l = arg;
    size_t n;

    if (l->status) {
        l->modex_cb(l->status, NULL, 0, l->cbdata, NULL, NULL);
    } else if (l->modex_cb) {
        char *all = hosts_exchange(l->data, l->n, &n);
        l->modex_cb(PMIX_SUCCESS, all, n, l->cbdata, free, all);
    } else {
        l->op_cb(PMIX_SUCCESS, l->cbdata);
    }
    free(l->data);
    free(l);
    return NULL;
}

pmix_status_t hosts_fence(pmix_status_t status, char *data, size_t n,
                          pmix_modex_cbfunc_t cb, void *cbdata)
{
    struct later *l = host_alloc(sizeof(*l));

    *l = (struct later){
        .status = status, .data = data, .n = n, .modex_cb = cb, .cbdata = cbdata};
    in_thread(answer, l);
    return PMIX_SUCCESS;
}

void hosts_later(pmix_op_cbfunc_t cb, void *cbdata)
{
    struct later *l;

    if (!cb)
        return;
    l = host_alloc(sizeof(*l));
    *l = (struct later){.op_cb = cb, .cbdata = cbdata};
    in_thread(answer, l);
}

/* ---- calls ----------------------------------------------------------------------- */

void hosts_on_reply(pmix_status_t status, void *arg)
{
    struct hosts_reply *reply = arg;

    reply->status = status;
    __atomic_store_n(&reply->done, 1, __ATOMIC_SEQ_CST);
}

pmix_status_t hosts_await(struct hosts_reply *reply)
{
    double end = host_now_s() + WAIT_S;

    while (!__atomic_load_n(&reply->done, __ATOMIC_SEQ_CST)) {
        HOST_CHECK(host_now_s() < end);
        usleep(1000);
    }
    return reply->status;
}

void hosts_start(int rank, char **environment)
{
    char *argv[] = {(char *)"/proc/self/exe", (char *)"client", NULL};

    for (size_t i = 0; environment[i]; i++) {
        char *value = strchr(environment[i], '=');
        HOST_CHECK(value);
        *value = '\0';
        setenv(environment[i], value + 1, 1);
        free(environment[i]);
    }
    job.size = HOSTS_N_RANKS;
    host_start_with(&job, rank, argv, environ);
    free(environment);
}

void hosts_wait(void)
{
    HOST_CHECK(host_wait(&job, WAIT_S) == 0);
}

/* ---- infos ----------------------------------------------------------------------- */

void hosts_add(void *list, const char *key, const void *value, pmix_data_type_t type)
{
    HOST_GOOD(PMIx_Info_list_add(list, key, value, type));
}

void hosts_add_u32(void *list, const char *key, uint32_t n)
{
    hosts_add(list, key, &n, PMIX_UINT32);
}

void hosts_add_u16(void *list, const char *key, uint16_t n)
{
    hosts_add(list, key, &n, PMIX_UINT16);
}

void hosts_add_rank(void *list, const char *key, pmix_rank_t rank)
{
    hosts_add(list, key, &rank, PMIX_PROC_RANK);
}

void hosts_add_text(void *list, const char *key, const char *text)
{
    hosts_add(list, key, text, PMIX_STRING);
}

void hosts_add_flag(void *list, const char *key, bool flag)
{
    hosts_add(list, key, &flag, PMIX_BOOL);
}

pmix_data_array_t hosts_infos(void *list)
{
    pmix_data_array_t array = {0};

    HOST_GOOD(PMIx_Info_list_convert(list, &array));
    PMIx_Info_list_release(list);
    return array;
}

void hosts_add_array(void *list, const char *key, void *members)
{
    pmix_data_array_t array = hosts_infos(members);

    hosts_add(list, key, &array, PMIX_DATA_ARRAY);
    PMIx_Data_array_destruct(&array);
}

void hosts_add_maps(void *list)
{
    char *nodes, *ranks;

    HOST_GOOD(PMIx_generate_regex(HOSTS_NODES, &nodes));
    HOST_GOOD(PMIx_generate_ppn(HOSTS_RANKS, &ranks));
    hosts_add_text(list, PMIX_NODE_MAP, nodes);
    hosts_add_text(list, PMIX_PROC_MAP, ranks);
    free(nodes);
    free(ranks);
}

/* ---- a rank ---------------------------------------------------------------------- */

static void print_value(const pmix_value_t *v, char *text, size_t size)
{
    switch (v->type) {
    case PMIX_STRING:
        snprintf(text, size, "%s", v->data.string);
        break;
    case PMIX_BOOL:
        snprintf(text, size, "%s", v->data.flag ? "true" : "false");
        break;
    case PMIX_UINT16:
        snprintf(text, size, "%u", v->data.uint16);
        break;
    case PMIX_INT:
        snprintf(text, size, "%d", v->data.integer);
        break;
    case PMIX_UINT32:
    case PMIX_PROC_RANK: /* the same member of the union */
        snprintf(text, size, "%u", v->data.uint32);
        break;
    default:
        snprintf(text, size, "a value of type %d", v->type);
    }
}

/* Compares a value with what is expected, or NULL: not found. Returns the number of differences. */
static int check(const pmix_proc_t *who, const char *key, const char *realm,
                 const char *expected)
{
    pmix_value_t *v = NULL;
    pmix_info_t info;
    char text[256];

    if (realm)
        PMIX_INFO_LOAD(&info, realm, NULL, PMIX_BOOL);
    pmix_status_t rc = PMIx_Get(who, key, realm ? &info : NULL, realm ? 1 : 0, &v);
    if (rc == PMIX_SUCCESS)
        print_value(v, text, sizeof(text));
    else
        snprintf(text, sizeof(text), "%s", PMIx_Error_string(rc));
    if (v)
        PMIX_VALUE_RELEASE(v);
    if (expected ? rc == PMIX_SUCCESS && strcmp(text, expected) == 0
                 : rc == PMIX_ERR_NOT_FOUND)
        return 0;
    fprintf(stderr, "%s of %d, %s: %s, expected %s\n", key, (int)who->rank,
            realm ? realm : "no realm", text, expected ? expected : "none");
    return 1;
}

static int run_client(void)
{
    pmix_proc_t me, who;
    pmix_info_t collect;
    pmix_value_t value;
    char text[32];
    int n_bad = 0;

    HOST_GOOD(PMIx_Init(&me, NULL, 0));
    HOST_CHECK(strcmp(me.nspace, program.nspace) == 0 && me.rank < HOSTS_N_RANKS);
    const unsigned node = me.rank / HOSTS_PER_NODE;
    for (size_t i = 0; i < program.n_gets; i++) {
        const struct hosts_get *g = &program.gets[i];
        PMIX_LOAD_PROCID(&who, me.nspace, g->rank);
        const char *wanted = g->text[node && g->text[1] ? 1 : 0];
        bool is_near = g->rank < HOSTS_N_RANKS && g->rank / HOSTS_PER_NODE == node;
        if (!is_near && hosts_is_other(g->missing))
            wanted = NULL;
        n_bad += check(&who, g->key, g->realm, wanted);
    }
    snprintf(text, sizeof(text), "%u", me.rank % HOSTS_PER_NODE);
    n_bad += check(&me, PMIX_LOCAL_RANK, NULL, text);
    snprintf(text, sizeof(text), "value of %u", me.rank);
    value = (pmix_value_t){.type = PMIX_STRING, .data.string = text};
    HOST_GOOD(PMIx_Put(PMIX_GLOBAL, "hosts.key", &value));
    HOST_GOOD(PMIx_Commit());
    if (program.refuses_subset && me.rank % HOSTS_PER_NODE == 0) {
        pmix_proc_t some[HOSTS_N_NODES];
        for (pmix_rank_t r = 0; r < HOSTS_N_NODES; r++)
            PMIX_LOAD_PROCID(&some[r], me.nspace, r * HOSTS_PER_NODE);
        HOST_EXPECT(PMIx_Fence(some, HOSTS_N_NODES, NULL, 0), PMIX_ERR_NOT_SUPPORTED);
    }
    PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, NULL, PMIX_BOOL);
    HOST_GOOD(PMIx_Fence(NULL, 0, &collect, 1));
    for (pmix_rank_t r = 0; r < HOSTS_N_RANKS; r++) {
        PMIX_LOAD_PROCID(&who, me.nspace, r);
        snprintf(text, sizeof(text), "value of %u", r);
        if (!program.is_local || r / HOSTS_PER_NODE == node)
            n_bad += check(&who, "hosts.key", NULL, text);
    }
    HOST_GOOD(PMIx_Finalize(NULL, 0));
    return n_bad ? 1 : 0;
}

/* ---- the program ----------------------------------------------------------------- */

/* Checks that this process has loaded the libpmix in FOLDER. */
static void check_library(void)
{
    char wanted[4096], loaded[4096];
    Dl_info info;

    HOST_CHECK(dladdr(dlsym(RTLD_DEFAULT, "PMIx_Init"), &info) != 0);
    HOST_CHECK(realpath(info.dli_fname, loaded));
    HOST_CHECK(realpath(getenv("LD_LIBRARY_PATH"), wanted));
    *strrchr(loaded, '/') = '\0';
    HOST_CHECK(strcmp(loaded, wanted) == 0);
}

static int run_node(int node, int fd)
{
    hosts_node = node;
    other_node = fd;
    check_library();
    program.serve();
    return 0;
}

static pid_t start_node(int node, const int fds[2])
{
    char number[16], descriptor[16], *folder;
    pid_t pid = fork();

    HOST_CHECK(pid >= 0);
    if (pid > 0)
        return pid;
    close(fds[1 - node]);
    folder = hosts_folder(hosts_node_name(node));
    setenv("TMPDIR", folder, 1);
    free(folder);
    setenv("PMIX_HOSTNAME", hosts_node_name(node), 1);
    snprintf(number, sizeof(number), "%d", node);
    snprintf(descriptor, sizeof(descriptor), "%d", fds[node]);
    execl("/proc/self/exe", "/proc/self/exe", "node", number, descriptor, NULL);
    _exit(127);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    return remove(path);
}

static int play(const char *folder, bool other)
{
    const char *top = getenv("TMPDIR"), *options = getenv("ASAN_OPTIONS");
    char real[4096], tmpdir[4096], leaks[256];
    int fds[2], how, worst = 0;
    pid_t pids[HOSTS_N_NODES];

    snprintf(tmpdir, sizeof(tmpdir), "%s/libpmix.so.2", folder);
    if (!realpath(tmpdir, real)) {
        printf("skipped: %s does not exist\n", tmpdir);
        return 77;
    }
    *strrchr(real, '/') = '\0';
    snprintf(tmpdir, sizeof(tmpdir), "%s/th.XXXXXX", top ? top : "/tmp");
    HOST_CHECK(mkdtemp(tmpdir));
    setenv("TMPDIR", tmpdir, 1);
    setenv("LD_LIBRARY_PATH", real, 1);
    if (other) {
        snprintf(leaks, sizeof(leaks), "%s:detect_leaks=0", options ? options : "");
        setenv("ASAN_OPTIONS", leaks, 1);
        setenv("HOSTS_OTHER", "yes", 1);
    }
    HOST_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    for (int node = 0; node < HOSTS_N_NODES; node++)
        pids[node] = start_node(node, fds);
    close(fds[0]);
    close(fds[1]);
    for (int node = 0; node < HOSTS_N_NODES; node++) {
        HOST_CHECK(waitpid(pids[node], &how, 0) == pids[node]);
        how = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
        worst = how > worst ? how : worst;
    }
    HOST_CHECK(nftw(tmpdir, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
    return worst;
}

int main(int argc, char **argv)
{
    alarm(LIMIT_S);
    if (argc == 2 && strcmp(argv[1], "client") == 0)
        return run_client();
    if (argc == 4 && strcmp(argv[1], "node") == 0)
        return run_node(atoi(argv[2]), atoi(argv[3]));
    if (argc == 3 && (strcmp(argv[1], "ours") == 0 || strcmp(argv[1], "other") == 0))
        return play(argv[2], argv[1][1] == 't');
    fprintf(stderr, "usage: %s ours|other FOLDER_OF_LIBPMIX\n", argv[0]);
    return 2;
}
