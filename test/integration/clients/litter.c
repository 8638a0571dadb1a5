/* SPDX-License-Identifier: BSD-3-Clause */
/* litter [POINT]: registers for clean-up whatever a process may leave behind, then makes it: files,
 * a tree, shared memory, a socket, a folder that the whole job uses, something in the session's
 * folders, a process in the background (not with LITTER_ALONE). Rank 0 kills its server at POINT, or
 * itself at LITTER_DIES:
 *   start init asked registered made fenced finalized
 * Paths: in TMPDIR, and /dev/shm/$LITTER.*. With LITTER_LOG, points are appended to that file. */
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { N_FILES = 8, N_FOLDERS = 10 };

static const char *victim_point = "";
static char own[N_FILES][256], tree[256], job_tree[256], shm[256], shm_tree[256],
    sock[108];

/* Makes the path of something of this rank. */
#define PATH(out, ...) \
    CHECK((size_t)snprintf(out, sizeof(out), __VA_ARGS__) < sizeof(out))

static void at(const char *point)
{
    const char *log = getenv("LITTER_LOG"), *dies = getenv("LITTER_DIES");
    char line[64];
    int fd = log ? open(log, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;

    snprintf(line, sizeof(line), "%s\n", point);
    if (fd >= 0) {
        CHECK(write(fd, line, strlen(line)) == (ssize_t)strlen(line));
        close(fd);
    }
    if (me.rank == 0 && strcmp(point, victim_point) == 0)
        kill(getppid(), SIGKILL);
    if (me.rank == 0 && dies && strcmp(point, dies) == 0)
        kill(getpid(), SIGKILL);
}

/* Where one of them dies, the launcher is to tell of that one's end, and not of ours. */
static void meet(void)
{
    pmix_status_t rc = PMIx_Fence(NULL, 0, NULL, 0);

    while (rc && getenv("LITTER_DIES"))
        pause(); /* until it ends us, or the alarm */
    GOOD(rc);
}

/* ---- requests ------------------------------------------------------------------------------- */

static void on_registered(pmix_status_t status, pmix_info_t *info, size_t n, void *arg,
                          pmix_release_cbfunc_t release, void *release_arg)
{
    (void)info, (void)n;
    if (release)
        release(release_arg);
    atomic_store((atomic_int *)arg, status == PMIX_SUCCESS ? 1 : -1);
}

/* Takes what info holds. */
static void ask(const pmix_proc_t *who, pmix_info_t *info, size_t n)
{
    atomic_int registered = 0;

    GOOD(PMIx_Job_control_nb(who, 1, info, n, on_registered, &registered));
    at("asked");
    CHECK(wait_for(&registered, ALARM_S));
    CHECK(registered == 1);
    for (size_t i = 0; i < n; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
}

static void ask_files(void)
{
    char list[N_FILES * 256 + 512] = "";
    pmix_info_t info;

    for (int i = 0; i < N_FILES; i++) {
        strcat(list, own[i]);
        strcat(list, ",");
    }
    strcat(list, shm);
    strcat(list, ",");
    strcat(list, sock);
    PMIX_INFO_LOAD(&info, PMIX_REGISTER_CLEANUP, list, PMIX_STRING);
    ask(&me, &info, 1);
}

static void ask_tree(const pmix_proc_t *who, const char *path)
{
    pmix_info_t info[2];

    PMIX_INFO_LOAD(&info[0], PMIX_REGISTER_CLEANUP_DIR, path, PMIX_STRING);
    info[1] = info_bool(PMIX_CLEANUP_RECURSIVE);
    ask(who, info, 2);
}

/* ---- what is made ---------------------------------------------------------------------------- */

static void make_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    CHECK(fd >= 0 && write(fd, "x", 1) == 1);
    close(fd);
}

static void make_folder(const char *path)
{
    CHECK(mkdir(path, 0700) == 0 || errno == EEXIST);
}

static void make_tree(const char *top)
{
    char path[512];

    make_folder(top);
    for (int i = 0; i < N_FOLDERS; i++) {
        PATH(path, "%s/%u.%d", top, me.rank, i);
        make_folder(path);
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

/* The session's own folders need not be asked for. */
static void use_session_folder(const pmix_proc_t *who, const char *key)
{
    pmix_value_t *v = NULL;
    char path[PATH_MAX];

    if (PMIx_Get(who, key, NULL, 0, &v))
        return;
    CHECK(v->type == PMIX_STRING);
    PATH(path, "%s/of.%u", v->data.string, me.rank);
    make_file(path);
    PMIX_VALUE_RELEASE(v);
}

/* It does not hold our output open: whoever reads that waits for it. */
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

/* ---- all of it -------------------------------------------------------------------------------- */

static void name_all(void)
{
    const char *dir = getenv("TMPDIR"), *prefix = getenv("LITTER");

    CHECK(dir && prefix);
    for (int i = 0; i < N_FILES; i++)
        PATH(own[i], "%s/own.%u.%d", dir, me.rank, i);
    PATH(tree, "%s/tree.%u", dir, me.rank);
    PATH(job_tree, "%s/job", dir);
    PATH(sock, "%s/socket.%u", dir, me.rank);
    PATH(shm, "/dev/shm/%s.%u", prefix, me.rank);
    PATH(shm_tree, "/dev/shm/%s.%u.d", prefix, me.rank);
}

int main(int argc, char **argv)
{
    victim_point = argc > 1 ? argv[1] : "";
    me.rank = getenv("PMIX_RANK") ? (pmix_rank_t)atoi(getenv("PMIX_RANK")) : 0;
    at("start");
    begin();
    at("init");
    name_all();
    ask_files();
    ask_tree(&me, tree);
    ask_tree(&me, shm_tree);
    ask_tree(&everyone, job_tree);
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
        meet();
    at("fenced");
    GOOD(PMIx_Finalize(NULL, 0));
    at("finalized");
    printf("OK litter %u\n", me.rank);
    return 0;
}
