/* SPDX-License-Identifier: BSD-3-Clause */
/* Life of processes: start, end, and communication with the launcher. */
#include "client.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>

/* ---- stopped: PMIX_TIMEOUT ends calls while the server, the parent, is stopped ------------ */

static atomic_int n_limits;

static void on_limit(pmix_status_t status, void *arg)
{
    EXPECT(status, PMIX_ERR_TIMEOUT);
    n_limits++;
}

static void on_no_data(pmix_status_t status, pmix_pdata_t *data, size_t n, void *arg)
{
    on_limit(status, arg);
}

static void on_no_job(pmix_status_t status, char *nspace, void *arg)
{
    on_limit(status, arg);
}

JOINS(stopped)
{
    char *name[] = {(char *)"limits.name", NULL}, *command[] = {(char *)"true", NULL};
    pmix_app_t app = {.cmd = command[0], .argv = command, .maxprocs = 1};
    pmix_info_t limit[] = {info_timeout(1), info_bool(name[0])};
    double began = now_s();

    CHECK(kill(getppid(), SIGSTOP) == 0);
    GOOD(PMIx_Fence_nb(NULL, 0, limit, 1, on_limit, NULL));
    GOOD(PMIx_Connect_nb(&me, 1, limit, 1, on_limit, NULL));
    GOOD(PMIx_Publish_nb(limit, 2, on_limit, NULL));
    GOOD(PMIx_Lookup_nb(name, limit, 1, on_no_data, NULL));
    GOOD(PMIx_Unpublish_nb(name, limit, 1, on_limit, NULL));
    GOOD(PMIx_Spawn_nb(limit, 1, &app, 1, on_no_job, NULL));
    EXPECT(PMIx_Fence(NULL, 0, limit, 1), PMIX_ERR_TIMEOUT);
    while (n_limits < 6 && now_s() < began + ALARM_S / 2)
        sleep_ms(5);
    CHECK(kill(getppid(), SIGCONT) == 0);
    CHECK(n_limits == 6);
    barrier(); /* late replies are dropped */
}

/* ---- leak: ends well, but loses some memory --------------------------------------------------- */

ALONE(leak)
{
    char *volatile lost;

    begin();
    lost = malloc(100);
    CHECK(lost);
    lost = NULL;
    GOOD(PMIx_Finalize(NULL, 0));
}

/* ---- stay [MODE]: prints "up RANK pid PID", then runs without end -----------------------
 *   (none)  waits
 *   lost    waits in a fence that rank 0 never joins; exits with 0 when the server ends
 *   spin    puts, fences and gets without end
 *   leave   exits after a fence without PMIx_Finalize */

ALONE(stay)
{
    const char *mode = argc > 1 ? argv[1] : "";
    uint32_t n;

    begin();
    printf("up %u pid %d\n", me.rank, (int)getpid());
    if (strcmp(mode, "lost") == 0) {
        report("fence", me.rank ? PMIx_Fence(NULL, 0, NULL, 0)
                                : get_u32(next_rank(), "never", NULL, &n));
        report("finalize", PMIx_Finalize(NULL, 0));
        return;
    }
    while (strcmp(mode, "spin") == 0) {
        put_u32(PMIX_GLOBAL, "spin", me.rank);
        if (PMIx_Commit() || fence_with_data() ||
            get_u32(next_rank(), "spin", NULL, &n))
            break; /* a peer died; the launcher ends this process soon */
    }
    if (strcmp(mode, "leave") == 0) {
        barrier();
        _exit(0);
    }
    for (;;)
        pause();
}

/* ---- abort RANK CODE [DIGITS]: RANK aborts the whole job while the other ranks wait. With DIGITS, RANK
 * aborts only the ranks that the digits name ("-": all ranks), while all of these are in fences that
 * never end. The remaining ranks then end a fence of their own. -------------------------------- */

static void ignore(pmix_status_t status, void *arg)
{
}

/* Aborts processes that do not exist. Release 4.2.2 always returns success. */
static void abort_none(void)
{
    pmix_status_t wanted = strict() ? PMIX_ERR_NOT_FOUND : PMIX_SUCCESS;
    pmix_proc_t procs[] = {rank_of(0), rank_of(job_size)};

    EXPECT(PMIx_Abort(3, "not printed", procs, 2), wanted);
    PMIX_LOAD_PROCID(&procs[1], "no-such-job", PMIX_RANK_WILDCARD);
    EXPECT(PMIx_Abort(3, "not printed", procs, 2), wanted);
}

ALONE(abort)
{
    const char *victims = argc > 3 ? argv[3] : "";
    pmix_proc_t named[10], left[10], both[2];
    size_t n_named = 0, n_left = 0;

    CHECK(argc >= 3);
    begin();
    for (uint32_t r = 0; r < job_size && r < 10; r++) {
        if (strchr(victims, (int)('0' + r)))
            named[n_named++] = rank_of(r);
        else
            left[n_left++] = rank_of(r);
    }
    printf("up %u pid %d\n", me.rank, (int)getpid());
    barrier();
    if (me.rank == (pmix_rank_t)atoi(argv[1])) {
        both[0] = me;
        both[1] = rank_of(next_rank());
        if (argc > 3) {
            GOOD(PMIx_Fence_nb(both, 2, NULL, 0, ignore, NULL));
            abort_none();
        }
        report("abort", PMIx_Abort(atoi(argv[2]), "so the test wanted",
                                   n_named > 0 ? named : NULL, n_named));
    } else if (argc > 3 && (n_named == 0 || strchr(victims, (int)('0' + me.rank)))) {
        (void)PMIx_Fence(NULL, 0, NULL, 0);
    }
    while (n_named == 0 || strchr(victims, (int)('0' + me.rank)))
        pause();
    GOOD(PMIx_Fence(left, n_left, NULL, 0));
    GOOD(PMIx_Finalize(NULL, 0));
    printf("OK abort %u\n", me.rank);
}

/* ---- revive FILE1 FILE2: rank 0 exits without PMIx_Finalize and leaves data, a file of its own and a
 * file of the job. The launcher starts rank 0 again. The other ranks get the restart event and the data
 * of the new life. Then all ranks fence. ------------------------------------------------------- */

static atomic_int restarts;

HANDLER(on_restart)
{
    CHECK(from->rank == 0);
    restarts++;
    HANDLED();
}

ALONE(revive)
{
    pmix_info_t immediate = info_bool(PMIX_IMMEDIATE);
    pmix_status_t code = PMIX_ERR_PROC_RESTART;
    uint32_t times, life;

    CHECK(argc > 2);
    begin();
    if (me.rank == 0) {
        GOOD(get_u32(0, PMIX_REINCARNATION, NULL, &times));
        put_u32(PMIX_GLOBAL, "life", times);
        if (times == 0)
            put_u32(PMIX_GLOBAL, "first", 1);
        GOOD(PMIx_Commit());
        if (times == 0) {
            make_file(argv[1]);
            make_file(argv[2]);
            GOOD(remove_at_end(PMIX_REGISTER_CLEANUP, argv[1]));
            GOOD(remove_at_end_of(&everyone, PMIX_REGISTER_CLEANUP, argv[2]));
            barrier();
            _exit(5);
        }
        CHECK(!exists(argv[1]) && exists(argv[2]));
    } else {
        watch(&code, 1, NULL, 0, on_restart);
        barrier();
        CHECK(wait_for(&restarts, 20));
        GOOD(get_u32(0, "life", NULL, &life));
        CHECK(life == 1);
        EXPECT(get_u32(0, "first", &immediate, &life), PMIX_ERR_NOT_FOUND);
    }
    barrier();
    GOOD(PMIx_Finalize(NULL, 0));
    printf("OK revive %u\n", me.rank);
}

/* ---- again: init and finalize several times in one process, then in a forked child with the same
 * identity, then in the process again. Each rank fences only with itself, since fences do not wait
 * for a finalized rank. */

static void once(uint32_t round)
{
    begin();
    put_u32(PMIX_GLOBAL, "round", round);
    GOOD(PMIx_Commit());
    GOOD(PMIx_Fence(&me, 1, NULL, 0));
    U32_IS(me.rank, "round", round);
    GOOD(PMIx_Finalize(NULL, 0));
    CHECK(!PMIx_Initialized());
}

static void in_a_child(uint32_t round)
{
    int how = -1;
    pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        once(round);
        exit(0);
    }
    CHECK(waitpid(pid, &how, 0) == pid);
    CHECK(WIFEXITED(how) && WEXITSTATUS(how) == 0);
}

ALONE(again)
{
    for (uint32_t i = 0; i < 5; i++)
        once(i);
    in_a_child(10); /* the parent is not a client */
    begin();
    in_a_child(11); /* the child inherits the state of a client */
    CHECK(PMIx_Initialized());
    GOOD(PMIx_Fence(&me, 1, NULL, 0));
    GOOD(PMIx_Finalize(NULL, 0));
    once(12);
    printf("OK again %u\n", me.rank);
}

/* ---- spawn N [STATUS]: rank 0 starts a second job of N processes "child". Both jobs connect, fence
 * and exchange data. With STATUS, the children exit with STATUS at once. -------------------- */

static const char *spawn_flag; /* attribute of the next job, or NULL */
static int spawn_limit_s;      /* time limit of the next job, or 0 */

/* Starts n processes of the program name, or of the file path if path is not NULL. */
static pmix_status_t start(const char *path, const char *name, int n,
                           const char *status, pmix_nspace_t job)
{
    pmix_app_t app = app_of(path, n, (const char *[]){"client", name, status, NULL});
    pmix_info_t info = info_bool(spawn_flag ? spawn_flag : "");
    if (spawn_limit_s)
        PMIX_INFO_LOAD(&info, PMIX_JOB_TIMEOUT, &spawn_limit_s, PMIX_INT);
    /* OpenPMIx 5.0.7 refuses an array of 0 infos. */
    bool has_info = spawn_flag || spawn_limit_s;
    pmix_status_t rc = PMIx_Spawn(has_info ? &info : NULL, has_info, &app, 1, job);
    PMIX_APP_DESTRUCT(&app);
    return rc;
}

/* Names all processes of both jobs: two wildcards or, if listed, this job's ranks, the last first. */
static size_t name_both(pmix_proc_t *both, const char *other, bool listed)
{
    size_t n = 1;

    CHECK(job_size < 64);
    PMIX_LOAD_PROCID(&both[0], other, PMIX_RANK_WILDCARD);
    for (uint32_t r = job_size; listed && r > 0; r--)
        both[n++] = rank_of(r - 1);
    if (!listed)
        both[n++] = everyone;
    return n;
}

/* Returns the size of a job, without a request to the server. */
static uint32_t known_at_once(const char *job)
{
    pmix_info_t optional = info_bool(PMIX_OPTIONAL);
    pmix_value_t *size = NULL;
    pmix_proc_t all;
    uint32_t n;

    PMIX_LOAD_PROCID(&all, job, PMIX_RANK_WILDCARD);
    GOOD(PMIx_Get(&all, PMIX_JOB_SIZE, &optional, 1, &size));
    CHECK((n = size->data.uint32) > 0);
    PMIX_VALUE_RELEASE(size);
    return n;
}

/* Connects both jobs, exchanges data and disconnects. n_others: size of the other job, or 0. */
static void exchange_with(const char *name, uint32_t n_others, bool listed)
{
    pmix_proc_t both[64], other;
    size_t n = name_both(both, name, listed);

    put_u32(PMIX_GLOBAL, "mine", me.rank + 50);
    GOOD(PMIx_Commit());
    GOOD(PMIx_Connect(both, n, NULL, 0));
    CHECK(known_at_once(name) == n_others || !n_others);
    GOOD(PMIx_Fence(both, n, NULL, 0));
    other = both[0];
    other.rank = 0;
    VALUE_OF(&other, "mine", PMIX_UINT32, v->data.uint32 == 50);
    GOOD(PMIx_Fence(both, n, NULL, 0));
    GOOD(PMIx_Disconnect(both, n, NULL, 0));
    EXPECT(PMIx_Disconnect(both, n, NULL, 0), PMIX_ERR_INVALID_OPERATION);
    both[0].rank = 5000;
    EXPECT(PMIx_Connect(both, n, NULL, 0), PMIX_ERR_NOT_FOUND);
    EXPECT(PMIx_Fence(both, n, NULL, 0), PMIX_ERR_NOT_FOUND);
}

JOINS(child)
{
    pmix_proc_t parent;
    uint32_t n_parents;

    VALUE_OF(&me, PMIX_PARENT_ID, PMIX_PROC, (parent = *v->data.proc).rank == 0);
    parent.rank = PMIX_RANK_WILDCARD;
    if (strict())
        known_at_once(parent.nspace);
    VALUE_OF(&parent, PMIX_JOB_SIZE, PMIX_UINT32, (n_parents = v->data.uint32) > 0);
    if (argc > 1)
        exit(atoi(argv[1]));
    exchange_with(parent.nspace, n_parents, false);
}

JOINS(spawn)
{
    pmix_nspace_t job = "";
    pmix_value_t name = {.type = PMIX_STRING}, *children = NULL;
    pmix_proc_t first = rank_of(0);

    if (me.rank == 0) {
        CHECK(start("/no/such/program", "child", 1, NULL, job) != PMIX_SUCCESS);
        GOOD(start(NULL, "child", atoi(argv[1]), argv[2], job));
        CHECK(known_at_once(job) == (uint32_t)atoi(argv[1]));
        name.data.string = job;
        GOOD(PMIx_Put(PMIX_GLOBAL, "job", &name));
        GOOD(PMIx_Commit());
    }
    while (argc > 2)
        pause(); /* the end of the children ends this job, too */
    GOOD(fence_with_data());
    GOOD(PMIx_Get(&first, "job", NULL, 0, &children));
    CHECK(children->type == PMIX_STRING);
    CHECK(strcmp(children->data.string, me.nspace) != 0);
    exchange_with(children->data.string, 0, true);
    PMIX_VALUE_RELEASE(children);
}

/* ---- allocated KEY [N]: each rank prints the allocation of the rank and of the job under KEY. With N,
 * rank 0 starts a second job of N processes that do the same. ---------------------------------- */

/* Returns the first text of an allocation, without a request to the server. */
static const char *allocation(pmix_rank_t rank, const char *key)
{
    const pmix_proc_t proc = rank_of(rank);
    pmix_info_t optional = info_bool(PMIX_OPTIONAL);
    pmix_value_t *v;
    pmix_status_t rc = PMIx_Get(&proc, key, &optional, 1, &v);

    if (rc == PMIX_ERR_NOT_FOUND)
        return "none";
    GOOD(rc);
    CHECK(v->type == PMIX_DATA_ARRAY && v->data.darray->type == PMIX_INFO);
    const pmix_info_t *first = v->data.darray->array;
    CHECK(v->data.darray->size > 1 && PMIX_CHECK_KEY(first, key));
    CHECK(first->value.type == PMIX_STRING);
    return first->value.data.string; /* never freed */
}

JOINS(allocated)
{
    pmix_nspace_t job;

    printf("rank %u has %s of %s\n", me.rank, allocation(me.rank, argv[1]),
           allocation(PMIX_RANK_WILDCARD, argv[1]));
    fflush(stdout);
    if (argc > 2 && me.rank == 0)
        GOOD(start(NULL, "allocated", atoi(argv[2]), argv[1], job));
}

/* ---- counts_ends: the parent gets an event for each process of a silent job, and for the failed
 * process and the end of another job ------------------------------------------------------------ */

static atomic_int n_proc_ends, n_failed_ends, n_job_ends;

HANDLER(on_counted)
{
    const pmix_info_t *exit_code = find(info, n, PMIX_EXIT_CODE);

    if (status == PMIX_EVENT_JOB_END) {
        n_job_ends++;
    } else {
        CHECK(exit_code && find(info, n, PMIX_PROC_TERM_STATUS));
        n_failed_ends += exit_code->value.data.integer == 1;
        n_proc_ends++;
    }
    HANDLED();
}

static void spawn_counted(const char *script, const char *first, const char *second)
{
    pmix_info_t info[3] = {info_bool(PMIX_NOTIFY_COMPLETION), info_bool(first),
                           info_bool(second)};
    pmix_app_t app = app_of("sh", 2, (const char *[]){"sh", "-c", script, NULL});
    pmix_nspace_t job;

    for (int i = 0; i < 3; i++)
        PMIX_INFO_REQUIRED(&info[i]);
    GOOD(PMIx_Spawn(info, 3, &app, 1, job));
    PMIX_APP_DESTRUCT(&app);
}

JOINS(counts_ends)
{
    pmix_status_t codes[] = {PMIX_EVENT_JOB_END, PMIX_EVENT_PROC_TERMINATED};

    watch(codes, 2, NULL, 0, on_counted);
    spawn_counted("true", PMIX_EVENT_SILENT_TERMINATION, PMIX_NOTIFY_PROC_TERMINATION);
    for (int i = 0; n_proc_ends < 2 && i < 4000; i++)
        sleep_ms(5);
    CHECK(n_proc_ends == 2 && n_failed_ends == 0);
    spawn_counted("exit $PMIX_RANK", PMIX_JOB_RECOVERABLE,
                  PMIX_NOTIFY_PROC_ABNORMAL_TERMINATION);
    CHECK(wait_for(&n_job_ends, 20));
    CHECK(n_proc_ends == 3 && n_failed_ends == 1 && n_job_ends == 1);
}

/* ---- cycles N: a job of one process starts N jobs, one after another. Both connect, exchange data and
 * disconnect. The launcher's descriptors and memory must not grow after the first N / 2 jobs. ---- */

struct burden {
    unsigned n_fds, rss_kb;
};

static struct burden weigh_parent(void)
{
    struct burden b = {0};
    char path[64], line[256];
    FILE *f;
    DIR *d;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)getppid());
    CHECK((d = opendir(path)));
    while (readdir(d))
        b.n_fds++;
    closedir(d);
    snprintf(path, sizeof(path), "/proc/%d/status", (int)getppid());
    CHECK((f = fopen(path, "r")));
    while (fgets(line, sizeof(line), f))
        if (sscanf(line, "VmRSS: %u", &b.rss_kb) == 1)
            break;
    fclose(f);
    CHECK(b.n_fds > 2 && b.rss_kb > 0);
    return b;
}

/* Weighs the launcher when it has freed the ended jobs, which takes a second. */
static struct burden settled(unsigned n_fds)
{
    double end = now_s() + 10;
    struct burden b;

    sleep_ms(1500);
    for (b = weigh_parent(); n_fds && b.n_fds > n_fds && now_s() < end; sleep_ms(50))
        b = weigh_parent();
    return b;
}

JOINS(cycles)
{
    int n = atoi(argv[1]), warm = n / 2;
    struct burden before = {0}, after;
    pmix_nspace_t job;

    CHECK(job_size == 1 && n > 0);
    for (int i = 0; i < n; i++) {
        if (i == warm)
            before = settled(0);
        GOOD(start(NULL, "child", 1, NULL, job));
        exchange_with(job, 1, true);
    }
    after = settled(before.n_fds);
    printf("BURDEN %u %u fds, %u %u kB\n", before.n_fds, after.n_fds, before.rss_kb,
           after.rss_kb);
    CHECK(after.n_fds <= before.n_fds);
    CHECK(*(getenv("TENON_SANITIZED") ?: "") || after.rss_kb < before.rss_kb + 2048);
}

/* ---- unsaid: a job connects with a job it spawned; the second job ends without a disconnect. */

static atomic_int n_left;
static pmix_proc_t left_proc;

HANDLER(on_left)
{
    left_proc = *from;
    n_left++;
    HANDLED();
}

HANDLER(on_any)
{
    CHECK(status != PMIX_ERR_INVALID_TERMINATION);
    HANDLED();
}

/* ---- hasty PROGRAM: spawns PROGRAM, whose start lasts longer than the limit of 2 s, and ends ---- */

static void on_late(pmix_status_t status, char *nspace, void *arg)
{
    CHECK(status != PMIX_SUCCESS);
}

JOINS(hasty)
{
    pmix_info_t limit = info_timeout(2);
    pmix_app_t app = {.cmd = argv[1], .argv = argv + 1, .maxprocs = 1};

    GOOD(PMIx_Spawn_nb(&limit, 1, &app, 1, on_late, NULL));
    (void)get_u32(me.rank, "none", NULL,
                  &(uint32_t){0}); /* the server has the request */
}

JOINS(leaver)
{
    pmix_proc_t parent, both[64];

    VALUE_OF(&me, PMIX_PARENT_ID, PMIX_PROC, (parent = *v->data.proc).rank == 0);
    GOOD(PMIx_Connect(both, name_both(both, parent.nspace, false), NULL, 0));
}

JOINS(unsaid)
{
    pmix_status_t left = PMIX_ERR_INVALID_TERMINATION;
    pmix_nspace_t job;
    pmix_proc_t both[64];

    watch(&left, 1, NULL, 0, on_left);
    watch(NULL, 0, NULL, 0, on_any);
    GOOD(start(NULL, "exchange", 1, NULL, job)); /* connected by the spawn alone */
    GOOD(start(NULL, "leaver", 1, NULL, job));
    GOOD(PMIx_Connect(both, name_both(both, job, true), NULL, 0));
    CHECK(wait_for(&n_left, 5));
    CHECK(PMIX_CHECK_NSPACE(left_proc.nspace, job) && left_proc.rank == 0);
    EXPECT(PMIx_Disconnect(both, 2, NULL, 0), PMIX_ERR_LOST_CONNECTION);
    CHECK(n_left == 1);
}

/* ---- kin FAILS [HOW]: a job of one process starts a job of two. A process of FAILS ("parent" or "child")
 * exits with status 7. The others get an event, and then the launcher ends them. HOW "apart": the child is
 * a separate job, the others stay, and only handlers of this code get the event. HOW "parted": the jobs
 * have disconnected, and the others get no event. --- */

#define CHILD_SEP \
    "pmix.spchildsep" /* PMIX_SPAWN_CHILD_SEP, which release 4.2 does not know */

static atomic_int n_failed;

HANDLER(on_failed)
{
    printf("NOTIFIED of %s %u\n",
           PMIX_CHECK_NSPACE(from->nspace, me.nspace) ? "us" : "them", from->rank);
    fflush(stdout);
    n_failed++;
    HANDLED();
}

/* job_fails: a process of this job fails, namely this one if fails. */
static void act_as_kin(const char *other, bool job_fails, bool fails, const char *how)
{
    pmix_proc_t both[2] = {everyone};
    bool notified = !*how || (strcmp(how, "apart") == 0 && me.rank == 0);

    PMIX_LOAD_PROCID(&both[1], other, PMIX_RANK_WILDCARD);
    GOOD(PMIx_Fence(both, 2, NULL, 0));
    if (strcmp(how, "parted") == 0)
        GOOD(PMIx_Disconnect(both, 2, NULL, 0));
    GOOD(PMIx_Fence(both, 2, NULL, 0));
    if (fails)
        exit(7);
    CHECK(wait_for(&n_failed, notified ? 5 : 0.7) == notified);
    sleep_ms(*how && !job_fails ? 500 : 20000);
    CHECK(*how && !job_fails && n_failed == notified);
}

JOINS(kinchild)
{
    pmix_status_t failed = PMIX_ERR_EXIT_NONZERO_TERM;
    pmix_proc_t parent;

    watch(&failed, me.rank == 0, NULL, 0, on_failed); /* rank 1: all events */
    VALUE_OF(&me, PMIX_PARENT_ID, PMIX_PROC, (parent = *v->data.proc).rank == 0);
    act_as_kin(parent.nspace, argv[1][0] == 'c', argv[1][0] == 'c' && me.rank == 1,
               argv[1] + 1);
}

JOINS(kin)
{
    pmix_status_t failed = PMIX_ERR_EXIT_NONZERO_TERM;
    const char *how = argc > 2 ? argv[2] : "";
    char order[32];
    pmix_nspace_t job;

    watch(&failed, 1, NULL, 0, on_failed);
    snprintf(order, sizeof(order), "%c%s", argv[1][0], how);
    spawn_flag = strcmp(how, "apart") ? NULL : CHILD_SEP;
    GOOD(start(NULL, "kinchild", 2, order, job));
    act_as_kin(job, argv[1][0] == 'p', argv[1][0] == 'p', how);
}

/* ---- cause HOW: starts a job that fails ("fails"), aborts ("aborts"), exceeds its time limit ("late")
 * or is aborted by this process ("aborted", "deaf"), then waits for its own end. "deaf" has no event
 * handler. ------------------------------------------------------------------------------------- */

JOINS(victim)
{
    if (strcmp(argv[1], "fails") == 0)
        exit(5);
    if (strcmp(argv[1], "aborts") == 0)
        PMIx_Abort(7, "by itself", NULL, 0);
    for (;;)
        pause();
}

JOINS(cause)
{
    pmix_status_t aborted = PMIX_ERR_PROC_REQUESTED_ABORT;
    bool deaf = strcmp(argv[1], "deaf") == 0;
    pmix_proc_t all;
    pmix_nspace_t job;

    spawn_limit_s = strcmp(argv[1], "late") == 0;
    if (!deaf)
        watch(&aborted, 1, NULL, 0, on_failed);
    GOOD(start(NULL, "victim", 2, argv[1], job));
    PMIX_LOAD_PROCID(&all, job, PMIX_RANK_WILDCARD);
    if (deaf || strcmp(argv[1], "aborted") == 0) {
        GOOD(PMIx_Abort(9, "from outside", &all, 1));
        printf("ANSWERED\n");
        fflush(stdout);
    }
    for (;;)
        pause();
}

/* ---- stdin: reads all input, then prints the number of bytes and a checksum. No PMIx. ---- */

ALONE(stdin)
{
    const char *rank = getenv("PMIX_RANK");
    unsigned long n = 0, sum = 0;
    char bytes[4096];
    ssize_t k;

    while ((k = read(STDIN_FILENO, bytes, sizeof(bytes))) > 0) {
        for (ssize_t i = 0; i < k; i++)
            sum = sum * 31 + (unsigned char)bytes[i];
        n += (unsigned long)k;
    }
    printf("rank %s read %lu bytes, sum %lu%s\n", rank ? rank : "?", n,
           sum & 0xffffffff, k < 0 ? ", and an error" : "");
}
