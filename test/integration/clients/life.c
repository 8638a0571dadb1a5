/* SPDX-License-Identifier: BSD-3-Clause */
/* How processes begin, stay, talk to their launcher, and end. */
#include "client.h"

#include <sys/wait.h>

/* ---- stay [MODE]: says "up RANK pid PID", then does not leave by itself -----------------
 *   (none)  waits
 *   lost    waits in a fence that rank 0 never joins, and ends well when the server goes
 *   spin    puts, fences and gets without end
 *   leave   ends after a fence, without finalizing */

ALONE(stay)
{
    const char *mode = argc > 1 ? argv[1] : "";
    uint32_t n;

    begin();
    printf("up %u pid %d\n", me.rank, (int)getpid());
    if (strcmp(mode, "lost") == 0) {
        tell("fence", me.rank ? PMIx_Fence(NULL, 0, NULL, 0)
                              : get_u32(next_rank(), "never", NULL, &n));
        tell("finalize", PMIx_Finalize(NULL, 0));
        return;
    }
    while (strcmp(mode, "spin") == 0) {
        put_u32(PMIX_GLOBAL, "spin", me.rank);
        if (PMIx_Commit() || fence_with_data() ||
            get_u32(next_rank(), "spin", NULL, &n))
            break; /* a peer died: the launcher ends this one soon */
    }
    if (strcmp(mode, "leave") == 0) {
        barrier();
        _exit(0);
    }
    for (;;)
        pause();
}

/* ---- abort RANK CODE [DIGITS]: that rank ends the whole job, while the others wait in vain; or the ranks that the
 * digits name ("-": all of the job) while they, and it as well, are in fences that never end. Those left then meet
 * in another. ------------------------------------------------------------------------------------------------ */

static void ignore(pmix_status_t status, void *arg)
{
}

/* Release 4.2.2 says success to everything. */
static void abort_none(void)
{
    pmix_status_t wanted = strict() ? PMIX_ERR_NOT_FOUND : PMIX_SUCCESS;
    pmix_proc_t procs[] = {rank_of(0), rank_of(job_size)};

    EXPECT(PMIx_Abort(3, "not said", procs, 2), wanted);
    PMIX_LOAD_PROCID(&procs[1], "no-such-job", PMIX_RANK_WILDCARD);
    EXPECT(PMIx_Abort(3, "not said", procs, 2), wanted);
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
        tell("abort", PMIx_Abort(atoi(argv[2]), "so the test wanted",
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

/* ---- again: init and finalize several times in one process, then in a child that it forks,
 * which has the same identity, then in the process again. Each rank keeps to itself: one that
 * has finalized is not waited for in a fence. */

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
    in_a_child(10); /* while we are no client */
    begin();
    in_a_child(11); /* while we are one, and the child inherits our state */
    CHECK(PMIx_Initialized());
    GOOD(PMIx_Fence(&me, 1, NULL, 0));
    GOOD(PMIx_Finalize(NULL, 0));
    once(12);
    printf("OK again %u\n", me.rank);
}

/* ---- spawn N [STATUS]: rank 0 starts a second job, of N times "child"; then both jobs
 * connect, fence and exchange data. With STATUS, the children end with it at once. ---------- */

static void load_app(pmix_app_t *app, const char *path, int n, const char *status)
{
    static const char *argv[] = {"client", "child", NULL, NULL};

    PMIX_APP_CONSTRUCT(app);
    argv[2] = status;
    app->cmd = (char *)path;
    app->argv = (char **)argv;
    app->maxprocs = n;
}

/* Both jobs, in the same order on both sides: the parent's is first. */
static void meet(const char *parents, const char *children, uint32_t n_parents)
{
    pmix_proc_t both[2], other;

    PMIX_LOAD_PROCID(&both[0], parents, PMIX_RANK_WILDCARD);
    PMIX_LOAD_PROCID(&both[1], children, PMIX_RANK_WILDCARD);
    put_u32(PMIX_GLOBAL, "mine", me.rank + 50);
    GOOD(PMIx_Commit());
    GOOD(PMIx_Connect(both, 2, NULL, 0));
    GOOD(PMIx_Fence(both, 2, NULL, 0));
    other = both[PMIX_CHECK_NSPACE(me.nspace, parents) ? 1 : 0];
    VALUE_OF(&other, PMIX_JOB_SIZE, PMIX_UINT32,
             PMIX_CHECK_NSPACE(other.nspace, parents) ? v->data.uint32 == n_parents
                                                      : v->data.uint32 > 0);
    other.rank = 0;
    VALUE_OF(&other, "mine", PMIX_UINT32, v->data.uint32 == 50);
    GOOD(PMIx_Fence(both, 2, NULL, 0));
    GOOD(PMIx_Disconnect(both, 2, NULL, 0));
}

JOINS(child)
{
    pmix_proc_t parent;
    uint32_t n_parents;

    VALUE_OF(&me, PMIX_PARENT_ID, PMIX_PROC, (parent = *v->data.proc).rank == 0);
    parent.rank = PMIX_RANK_WILDCARD;
    VALUE_OF(&parent, PMIX_JOB_SIZE, PMIX_UINT32, (n_parents = v->data.uint32) > 0);
    if (argc > 1)
        exit(atoi(argv[1]));
    meet(parent.nspace, me.nspace, n_parents);
}

JOINS(spawn)
{
    pmix_nspace_t job = "";
    pmix_value_t name = {.type = PMIX_STRING}, *children = NULL;
    pmix_proc_t first = rank_of(0);
    pmix_app_t app;
    char self[4096] = "";

    if (me.rank == 0) {
        CHECK(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
        load_app(&app, "/no/such/program", 1, NULL);
        CHECK(PMIx_Spawn(NULL, 0, &app, 1, job) != PMIX_SUCCESS);
        load_app(&app, self, atoi(argv[1]), argv[2]);
        GOOD(PMIx_Spawn(NULL, 0, &app, 1, job));
        name.data.string = job;
        GOOD(PMIx_Put(PMIX_GLOBAL, "job", &name));
        GOOD(PMIx_Commit());
    }
    while (argc > 2)
        pause(); /* the end of the children is the end of us */
    GOOD(fence_with_data());
    GOOD(PMIx_Get(&first, "job", NULL, 0, &children));
    CHECK(children->type == PMIX_STRING);
    CHECK(strcmp(children->data.string, me.nspace) != 0);
    meet(me.nspace, children->data.string, job_size);
    PMIX_VALUE_RELEASE(children);
}

/* ---- stdin: reads all of it, then says how much it was, and a checksum. No PMIx. --------- */

ALONE(stdin)
{
    const char *rank = getenv("PMIX_RANK");
    unsigned long n = 0, sum = 0;
    char bytes[4096];
    ssize_t k;

    while ((k = read(STDIN_FILENO, bytes, sizeof bytes)) > 0) {
        for (ssize_t i = 0; i < k; i++)
            sum = sum * 31 + (unsigned char)bytes[i];
        n += (unsigned long)k;
    }
    printf("rank %s read %lu bytes, sum %lu%s\n", rank ? rank : "?", n,
           sum & 0xffffffff, k < 0 ? ", and an error" : "");
}

/* ---- lines N: N numbered lines of various lengths on stdout, written in pieces that know
 * nothing of lines, and three lines on stderr. No PMIx. ----------------------------------- */

ALONE(lines)
{
    const char *rank = getenv("PMIX_RANK");
    int n = argc > 1 ? atoi(argv[1]) : 10;
    char *text = malloc((size_t)n * 160 + 1), *end = text, dashes[100];

    CHECK(rank && text);
    memset(dashes, '-', sizeof dashes);
    for (int i = 0; i < n; i++)
        end += sprintf(end, "rank %s line %d %.*s.\n", rank, i, i % 100, dashes);
    for (char *at = text; at < end;) {
        ssize_t k = write(STDOUT_FILENO, at,
                          end - at < 1000 ? (size_t)(end - at) : 1000);

        if (k <= 0)
            _exit(1);
        at += k;
    }
    free(text);
    for (int i = 0; i < 3; i++)
        fprintf(stderr, "rank %s error %d\n", rank, i);
}
