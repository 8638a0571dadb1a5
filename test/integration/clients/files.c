/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that processes register for clean-up, and the session's folders. */
#include "client.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

/* ---- cleanup ORDER...: executes orders one after another; in paths and names %r is the rank --
 *   file PATH, dir PATH         makes a file or folder
 *   there PATH                  checks that the path exists
 *   wait PATH, gone PATH        waits until the path exists, or does not exist any more
 *   job, nspace NAME, rank N    sets the target of the next request: NULL, a namespace, or a
 *                               rank of the own namespace; the default is this process
 *   remove LIST, tree LIST, ignore LIST, recursive, leave_top, checkpoint
 *                               adds an attribute to the next request
 *   user N                      adds that user and group to the next request
 *   ask, refused                sends the request, which has to succeed or fail
 *   try                         sends the request; if it fails, the exit status is 3
 *   finalize                    calls PMIx_Finalize
 *   disconnect                  closes all sockets and continues
 *   child                       leaves a child behind that has all descriptors
 *   kill, exit                  ends the process by SIGKILL, or by _exit without PMIx_Finalize */

static pmix_info_t infos[16];
static size_t n_infos;
static pmix_proc_t target;
static bool for_job;
static int exit_status;

static void await(const char *path, bool there)
{
    double end = now_s() + 50;

    while (exists(path) != there) {
        CHECK(now_s() < end);
        sleep_ms(5);
    }
}

static pmix_status_t ask(void)
{
    pmix_info_t *results = NULL;
    size_t n = 0;
    pmix_status_t rc = PMIx_Job_control(for_job ? NULL : &target, !for_job, infos,
                                        n_infos, &results, &n);

    if (results) /* the reason of a refusal */
        PMIX_INFO_FREE(results, n);
    for (size_t i = 0; i < n_infos; i++)
        PMIX_INFO_DESTRUCT(&infos[i]); /* a macro that evaluates its argument twice */
    n_infos = 0;
    for_job = false;
    target = me;
    return rc;
}

static void close_sockets(void)
{
    struct stat st;

    for (int fd = 3; fd < 256; fd++)
        if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode))
            close(fd);
}

/* Orders that add to the next request. */
static const struct {
    const char *order, *key;
    bool has_value;
} keys[] = {
    {"remove", PMIX_REGISTER_CLEANUP, true},
    {"tree", PMIX_REGISTER_CLEANUP_DIR, true},
    {"ignore", PMIX_CLEANUP_IGNORE, true},
    {"recursive", PMIX_CLEANUP_RECURSIVE, false},
    {"leave_top", PMIX_CLEANUP_LEAVE_TOPDIR, false},
    {"checkpoint", PMIX_JOB_CTRL_CHECKPOINT, false},
};

/* Adds an attribute; returns the number of words used, 0 for another order. */
static int adds(const char *order, const char *value)
{
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strcmp(order, keys[i].order) != 0)
            continue;
        CHECK(n_infos < sizeof(infos) / sizeof(infos[0]));
        PMIX_INFO_LOAD(&infos[n_infos], keys[i].key, keys[i].has_value ? value : NULL,
                       keys[i].has_value ? PMIX_STRING : PMIX_BOOL);
        n_infos++;
        return 1 + keys[i].has_value;
    }
    return 0;
}

static void add_user(uint32_t id)
{
    CHECK(n_infos + 2 <= sizeof(infos) / sizeof(infos[0]));
    PMIX_INFO_LOAD(&infos[n_infos], PMIX_USERID, &id, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[n_infos + 1], PMIX_GRPID, &id, PMIX_UINT32);
    n_infos += 2;
}

static void try_it(void)
{
    pmix_status_t rc = ask();

    report("request", rc);
    exit_status = rc ? 3 : exit_status;
}

static void leave_child(void)
{
    if (fork() == 0) {
        sleep(60);
        _exit(0);
    }
}

/* Executes an order without an operand; returns the number of words used. */
static int simple(const char *order)
{
    if (strcmp(order, "job") == 0)
        for_job = true;
    else if (strcmp(order, "ask") == 0)
        GOOD(ask());
    else if (strcmp(order, "refused") == 0)
        CHECK(ask() != PMIX_SUCCESS);
    else if (strcmp(order, "try") == 0)
        try_it();
    else if (strcmp(order, "child") == 0)
        leave_child();
    else if (strcmp(order, "finalize") == 0)
        GOOD(PMIx_Finalize(NULL, 0));
    else if (strcmp(order, "disconnect") == 0)
        close_sockets();
    else if (strcmp(order, "kill") == 0)
        raise(SIGKILL);
    else if (strcmp(order, "exit") == 0)
        _exit(exit_status);
    else
        return 0;
    return 1;
}

static int with_operand(const char *order, const char *path)
{
    if (strcmp(order, "file") == 0)
        make_file(path);
    else if (strcmp(order, "dir") == 0)
        CHECK(mkdir(path, 0700) == 0);
    else if (strcmp(order, "there") == 0)
        CHECK(exists(path));
    else if (strcmp(order, "wait") == 0)
        await(path, true);
    else if (strcmp(order, "gone") == 0)
        await(path, false);
    else if (strcmp(order, "nspace") == 0)
        PMIX_LOAD_PROCID(&target, path, PMIX_RANK_WILDCARD);
    else if (strcmp(order, "user") == 0)
        add_user((uint32_t)atoi(path));
    else if (strcmp(order, "rank") == 0)
        target.rank = (pmix_rank_t)atoi(path);
    else
        CHECK(!"a known order");
    return 2;
}

ALONE(cleanup)
{
    char word[4096];
    int taken;

    GOOD(PMIx_Init(&me, NULL, 0));
    target = me;
    for (int i = 1; i < argc; i += taken) {
        const char *next = i + 1 < argc ? argv[i + 1] : "", *r = strstr(next, "%r");

        if (r)
            snprintf(word, sizeof(word), "%.*s%u%s", (int)(r - next), next, me.rank,
                     r + 2);
        taken = simple(argv[i]);
        if (!taken)
            taken = adds(argv[i], r ? word : next);
        if (!taken)
            taken = with_operand(argv[i], r ? word : next);
    }
    printf("OK cleanup %u\n", me.rank);
    exit(exit_status);
}

/* ---- keep FILE FOLDER: registers both for clean-up, prints REGISTERED, and waits ---------- */

ALONE(keep)
{
    CHECK(argc == 3);
    GOOD(PMIx_Init(&me, NULL, 0));
    GOOD(remove_at_end(PMIX_REGISTER_CLEANUP, argv[1]));
    GOOD(remove_at_end(PMIX_REGISTER_CLEANUP_DIR, argv[2]));
    printf("REGISTERED\n");
    for (;;)
        pause();
}

/* ---- fill: registers and makes the file $FILL_FILE.RANK, then registers long names until the server's
 * memory for registrations is full. Other requests still work. ------------------------------- */

/* Registers paths of "/nonexistent", folders with names of 199 bytes, and a number, at most as many as
 * a process may register. Returns the number of registered paths. */
static int fill(void)
{
    char path[1800] = "/nonexistent";
    size_t n = strlen(path);
    int i;

    for (; n + 220 < sizeof(path); n += 200) {
        path[n] = '/';
        memset(path + n + 1, 'a', 199);
    }
    for (i = 0; i < 4096; i++) {
        pmix_status_t rc;

        snprintf(path + n, sizeof(path) - n, "/%u.%d", me.rank, i);
        rc = remove_at_end(PMIX_REGISTER_CLEANUP, path);
        if (rc == PMIX_SUCCESS)
            continue;
        EXPECT(rc, PMIX_ERR_OUT_OF_RESOURCE);
        EXPECT(remove_at_end(PMIX_REGISTER_CLEANUP, path), PMIX_ERR_OUT_OF_RESOURCE);
        break;
    }
    CHECK(i > 0);
    return i;
}

JOINS(fill)
{
    const char *name = getenv("FILL_FILE");
    char path[256];
    int took;

    CHECK(name && snprintf(path, sizeof(path), "%s.%u", name, me.rank) < 250);
    GOOD(remove_at_end(PMIX_REGISTER_CLEANUP, path));
    make_file(path);
    barrier();
    took = fill();
    barrier();
    put_u32(PMIX_GLOBAL, "fill", me.rank);
    GOOD(PMIx_Commit());
    GOOD(fence_with_data());
    for (pmix_rank_t r = 0; r < job_size; r++)
        U32_IS(r, "fill", r);
    printf("took %d\n", took);
}

/* ---- busy: rank 0 registers the tree $BUSY_TREE for its own end and ends when the file $BUSY_GO exists.
 * The other ranks send requests one after another until the file $BUSY_STOP exists. After every
 * thousand replies a rank prints the number and registers a path. $BUSY_SAMPLES is a file for the
 * begin and the duration of each round trip, as two numbers of 64 bits, in ns. ---------------- */

enum { ROUNDS = 1000, MAX_SAMPLES = 1 << 20 };

struct sample {
    uint64_t begin_ns, ns;
};

static bool is_there(const char *variable)
{
    CHECK(getenv(variable));
    return exists(getenv(variable));
}

/* Looks up a key that is never published. */
static struct sample round_trip(void)
{
    double begin = now_s();
    pmix_pdata_t data;

    PMIX_PDATA_CONSTRUCT(&data);
    PMIX_LOAD_KEY(data.key, "busy.absent");
    EXPECT(PMIx_Lookup(&data, 1, NULL, 0), PMIX_ERR_NOT_FOUND);
    PMIX_PDATA_DESTRUCT(&data);
    return (struct sample){(uint64_t)(begin * 1e9),
                           (uint64_t)((now_s() - begin) * 1e9)};
}

static void stay_busy(void)
{
    struct sample *samples = calloc(MAX_SAMPLES, sizeof(*samples));
    const char *log = getenv("BUSY_SAMPLES");
    char path[64];
    size_t n = 0;

    CHECK(samples);
    while (n % ROUNDS || !is_there("BUSY_STOP")) {
        CHECK(n < MAX_SAMPLES);
        samples[n] = round_trip();
        if (++n % ROUNDS)
            continue;
        snprintf(path, sizeof(path), "/nonexistent/%u.%zu", me.rank, n / ROUNDS % 100);
        GOOD(remove_at_end(PMIX_REGISTER_CLEANUP, path));
        printf("rank %u has done %zu\n", me.rank, n);
    }
    if (log) {
        FILE *f = fopen(log, "wbe");

        CHECK(f && fwrite(samples, sizeof(*samples), n, f) == n && fclose(f) == 0);
    }
    free(samples);
}

JOINS(busy)
{
    if (me.rank != 0) {
        stay_busy();
        return;
    }
    GOOD(remove_at_end(PMIX_REGISTER_CLEANUP_DIR, getenv("BUSY_TREE")));
    printf("registered by %d\n", (int)getpid());
    while (!is_there("BUSY_GO"))
        sleep_ms(5);
}

/* ---- litter [POINT]: registers for clean-up everything a process may leave behind, then makes files, a
 * tree, shared memory, a socket, a folder of the whole job and files in the session's folders. Without
 * LITTER_ALONE each rank also starts a process in the background. Rank 0 kills its server at POINT, or
 * itself at LITTER_DIES. Points: start init asked registered made fenced finalized.
 * Paths are in TMPDIR and /dev/shm/$LITTER.*. The file LITTER_LOG gets the points. -------------- */

enum { N_FILES = 8, N_FOLDERS = 10 };

static const char *victim_point = "";
static char own[N_FILES][256], tree[256], job_tree[256], shm[256], shm_tree[256],
    sock[108];

/* Prints a path of this rank into out. */
#define PATH(out, ...) \
    CHECK((size_t)snprintf(out, sizeof(out), __VA_ARGS__) < sizeof(out))

static void at(const char *point)
{
    const char *log = getenv("LITTER_LOG"), *dies = getenv("LITTER_DIES");
    int fd = log ? open(log, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;

    if (fd >= 0) {
        CHECK(dprintf(fd, "%s\n", point) > 0);
        close(fd);
    }
    if (me.rank == 0 && strcmp(point, victim_point) == 0)
        kill(getppid(), SIGKILL);
    if (me.rank == 0 && dies && strcmp(point, dies) == 0)
        kill(getpid(), SIGKILL);
}

/* Fences. If a rank dies, the others wait, so that the launcher reports only the rank that died. */
static void fence_all(void)
{
    pmix_status_t rc = PMIx_Fence(NULL, 0, NULL, 0);

    while (rc && getenv("LITTER_DIES"))
        pause(); /* until the launcher or the alarm ends the process */
    GOOD(rc);
}

static void on_answer(pmix_status_t status, pmix_info_t *info, size_t n, void *arg,
                      pmix_release_cbfunc_t release, void *release_arg)
{
    if (release)
        release(release_arg);
    on_done(status, arg);
}

/* Registers a list of paths or a whole tree for removal. */
static void have_removed(const pmix_proc_t *of, const char *key, const char *paths)
{
    pmix_info_t info[2] = {info_bool("unused"), info_bool(PMIX_CLEANUP_RECURSIVE)};
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info[0], key, paths, PMIX_STRING);
    rc = PMIx_Job_control_nb(of, 1, info, 1 + !strcmp(key, PMIX_REGISTER_CLEANUP_DIR),
                             on_answer, NULL);
    at("asked");
    GOOD(result(rc));
    PMIX_INFO_DESTRUCT(&info[0]);
}

static void have_all_removed(void)
{
    const char *dir = getenv("TMPDIR"), *prefix = getenv("LITTER");
    char list[N_FILES * 256 + 512] = "";

    CHECK(dir && prefix);
    PATH(tree, "%s/tree.%u", dir, me.rank);
    PATH(job_tree, "%s/job", dir);
    PATH(sock, "%s/socket.%u", dir, me.rank);
    PATH(shm, "/dev/shm/%s.%u", prefix, me.rank);
    PATH(shm_tree, "/dev/shm/%s.%u.d", prefix, me.rank);
    for (int i = 0; i < N_FILES; i++) {
        PATH(own[i], "%s/own.%u.%d", dir, me.rank, i);
        strcat(strcat(list, own[i]), ",");
    }
    strcat(strcat(strcat(list, shm), ","), sock);
    have_removed(&me, PMIX_REGISTER_CLEANUP, list);
    have_removed(&me, PMIX_REGISTER_CLEANUP_DIR, tree);
    have_removed(&me, PMIX_REGISTER_CLEANUP_DIR, shm_tree);
    have_removed(&everyone, PMIX_REGISTER_CLEANUP_DIR, job_tree);
}

static void make_tree(const char *top)
{
    char path[512];

    CHECK(mkdir(top, 0700) == 0 || errno == EEXIST);
    for (int i = 0; i < N_FOLDERS; i++) {
        PATH(path, "%s/%u.%d", top, me.rank, i);
        CHECK(mkdir(path, 0700) == 0);
        strcat(path, "/file");
        make_file(path);
    }
}

static void make_shared_memory(void)
{
    int fd = open(shm, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    CHECK(fd >= 0 && ftruncate(fd, 65536) == 0);
    CHECK(mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED);
    close(fd);
}

static void make_socket(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memcpy(address.sun_path, sock, sizeof(address.sun_path));
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    CHECK(listen(fd, 1) == 0);
}

/* Makes a file in a folder of the session, which needs no registration. */
static void use_session_folder(const pmix_proc_t *of, const char *key)
{
    pmix_value_t *v = NULL;
    char path[PATH_MAX];

    if (PMIx_Get(of, key, NULL, 0, &v))
        return;
    CHECK(v->type == PMIX_STRING);
    PATH(path, "%s/of.%u", v->data.string, me.rank);
    make_file(path);
    PMIX_VALUE_RELEASE(v);
}

/* Starts a process with its own output, since readers of this process's output wait for its close. */
static void start_process(void)
{
    pid_t pid = getenv("LITTER_ALONE") ? getpid() : fork();

    CHECK(pid >= 0);
    if (pid > 0)
        return;
    CHECK(freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr));
    execlp("sleep", "sleep", "300", (char *)NULL);
    _exit(127);
}

ALONE(litter)
{
    victim_point = argc > 1 ? argv[1] : "";
    me.rank = getenv("PMIX_RANK") ? (pmix_rank_t)atoi(getenv("PMIX_RANK")) : 0;
    at("start");
    begin();
    at("init");
    have_all_removed();
    at("registered");
    for (int i = 0; i < N_FILES; i++)
        make_file(own[i]);
    make_shared_memory();
    make_socket();
    start_process();
    make_tree(tree);
    make_tree(shm_tree);
    make_tree(job_tree);
    use_session_folder(&everyone, PMIX_NSDIR);
    use_session_folder(&me, PMIX_PROCDIR);
    at("made");
    for (int i = 0; i < 10; i++)
        fence_all();
    at("fenced");
    GOOD(PMIx_Finalize(NULL, 0));
    at("finalized");
    printf("OK litter %u\n", me.rank);
}

/* ---- dirs make: expects private and writable directories of the host for the job and for each rank.
 * dirs given TOP: expects the names of directories that may not exist. dirs none: no directories. */

/* Gets a directory of the job (rank WILDCARD) or of this rank. */
static void dir_of(pmix_rank_t rank, const char *key, char dir[512])
{
    VALUE_IS(rank, key, PMIX_STRING,
             v->data.string[0] == '/' &&
                 snprintf(dir, 512, "%s", v->data.string) < 512);
}

static void use(const char *dir)
{
    char path[600];
    struct stat st;
    int fd;

    CHECK(lstat(dir, &st) == 0 && S_ISDIR(st.st_mode));
    CHECK((st.st_mode & 07777) == 0700 && st.st_uid == geteuid());
    snprintf(path, sizeof(path), "%s/scratch-of-%u", dir, me.rank);
    fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
    CHECK(fd >= 0 && write(fd, "scratch", 7) == 7);
    close(fd);
    snprintf(path, sizeof(path), "%s/sub-of-%u", dir, me.rank);
    CHECK(mkdir(path, 0700) == 0);
}

static bool is_below(const char *dir, const char *top)
{
    size_t n = strlen(top);

    return strncmp(dir, top, n) == 0 && dir[n] == '/';
}

static void made(void)
{
    char top[512], job[512], of_rank[512], rank[16];

    dir_of(PMIX_RANK_WILDCARD, PMIX_TMPDIR, top);
    dir_of(PMIX_RANK_WILDCARD, PMIX_NSDIR, job);
    dir_of(me.rank, PMIX_PROCDIR, of_rank);
    VALUE_OF(&everyone, PMIX_TDIR_RMCLEAN, PMIX_BOOL, v->data.flag);
    snprintf(rank, sizeof(rank), "/%u", me.rank);
    CHECK(is_below(job, top) && is_below(of_rank, job));
    CHECK(strcmp(of_rank + strlen(of_rank) - strlen(rank), rank) == 0);
    use(job);
    use(of_rank);
    printf("DIRS %u %s %s\n", me.rank, job, of_rank);
}

static void given(const char *top)
{
    char want[512];

    TEXT_IS(PMIX_RANK_WILDCARD, PMIX_TMPDIR, top);
    snprintf(want, sizeof(want), "%s/job", top);
    TEXT_IS(PMIX_RANK_WILDCARD, PMIX_NSDIR, want);
    snprintf(want, sizeof(want), "%s/job/%u", top, me.rank);
    TEXT_IS(me.rank, PMIX_PROCDIR, want);
}

JOINS(dirs)
{
    const char *what = argc > 1 ? argv[1] : "make";
    pmix_value_t *v = NULL;

    /* The server's own directories are known even if the host sets none. */
    CHECK(getenv("PMIX_SERVER_TMPDIR") && getenv("PMIX_SYSTEM_TMPDIR"));
    TEXT_IS(PMIX_RANK_WILDCARD, PMIX_SERVER_TMPDIR, getenv("PMIX_SERVER_TMPDIR"));
    TEXT_IS(PMIX_RANK_WILDCARD, PMIX_SYSTEM_TMPDIR, getenv("PMIX_SYSTEM_TMPDIR"));
    if (strcmp(what, "make") == 0)
        made();
    else if (strcmp(what, "given") == 0 && argc > 2)
        given(argv[2]);
    else
        EXPECT(PMIx_Get(&everyone, PMIX_NSDIR, NULL, 0, &v), PMIX_ERR_NOT_FOUND);
    barrier();
    if (getenv("DIRS_STAY"))
        sleep(30);
}
