/* SPDX-License-Identifier: BSD-3-Clause */
/* spawn [N [STATUS]]: rank 0 starts a second job of N copies of this program; then both jobs
 * connect, fence and exchange data. With STATUS, the copies end with it at once. */
#include "client.h"

static void load_app(pmix_app_t *app, char *program, int n, const char *status)
{
    static char *argv[4];
    static char text[] = "child";

    PMIX_APP_CONSTRUCT(app);
    argv[0] = program;
    argv[1] = text;
    argv[2] = (char *)status;
    app->cmd = program;
    app->argv = argv;
    app->maxprocs = n;
}

/* Both jobs, in the same order on both sides: the parent's is first. */
static void meet(const char *parents, const char *children, uint32_t n_parents)
{
    pmix_proc_t both[2], other;
    uint32_t n;

    PMIX_LOAD_PROCID(&both[0], parents, PMIX_RANK_WILDCARD);
    PMIX_LOAD_PROCID(&both[1], children, PMIX_RANK_WILDCARD);
    put_u32(PMIX_GLOBAL, "mine", me.rank + 50);
    GOOD(PMIx_Commit());
    GOOD(PMIx_Connect(both, 2, NULL, 0));
    GOOD(PMIx_Fence(both, 2, NULL, 0));
    other = PMIX_CHECK_NSPACE(me.nspace, parents) ? both[1] : both[0];
    GOOD(get_u32(&other, PMIX_JOB_SIZE, NULL, 0, &n));
    CHECK(other.rank != PMIX_RANK_WILDCARD || n > 0);
    CHECK(!PMIX_CHECK_NSPACE(other.nspace, parents) || n == n_parents);
    other.rank = 0;
    GOOD(get_u32(&other, "mine", NULL, 0, &n));
    CHECK(n == 50);
    GOOD(PMIx_Fence(both, 2, NULL, 0));
    GOOD(PMIx_Disconnect(both, 2, NULL, 0));
}

static int be_child(const char *status)
{
    pmix_value_t *v = NULL;
    pmix_proc_t parent;
    uint32_t n;

    GOOD(PMIx_Get(&me, PMIX_PARENT_ID, NULL, 0, &v));
    CHECK(v->type == PMIX_PROC && v->data.proc->rank == 0);
    parent = *v->data.proc;
    PMIX_VALUE_RELEASE(v);
    parent.rank = PMIX_RANK_WILDCARD;
    GOOD(get_u32(&parent, PMIX_JOB_SIZE, NULL, 0, &n));
    if (status)
        exit(atoi(status));
    meet(parent.nspace, me.nspace, n);
    return end("child");
}

int main(int argc, char **argv)
{
    pmix_nspace_t job = "";
    pmix_app_t app;
    pmix_value_t name = {.type = PMIX_STRING}, *v = NULL;
    pmix_proc_t first;

    begin();
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return be_child(argc > 2 ? argv[2] : NULL);
    if (me.rank == 0) {
        load_app(&app, (char *)"/no/such/program", 1, NULL);
        CHECK(PMIx_Spawn(NULL, 0, &app, 1, job) != PMIX_SUCCESS);
        load_app(&app, argv[0], argc > 1 ? atoi(argv[1]) : 2,
                 argc > 2 ? argv[2] : NULL);
        GOOD(PMIx_Spawn(NULL, 0, &app, 1, job));
        name.data.string = job;
        GOOD(PMIx_Put(PMIX_GLOBAL, "job", &name));
        GOOD(PMIx_Commit());
    }
    while (argc > 2)
        pause(); /* the end of the children is the end of us */
    GOOD(fence_with_data());
    first = rank_of(0);
    GOOD(PMIx_Get(&first, "job", NULL, 0, &v));
    CHECK(v->type == PMIX_STRING && strcmp(v->data.string, me.nspace) != 0);
    meet(me.nspace, v->data.string, job_size);
    PMIX_VALUE_RELEASE(v);
    return end("parent");
}
