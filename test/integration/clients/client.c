/* SPDX-License-Identifier: BSD-3-Clause */
#include "client.h"

pmix_proc_t me, everyone;
uint32_t job_size;
atomic_int n_answers;

static struct program *programs;
static pmix_status_t last_status;
static size_t last_id;

void list_program(struct program *program)
{
    for (const struct program *p = programs; p; p = p->next)
        CHECK(strcmp(p->name, program->name) != 0);
    program->next = programs;
    programs = program;
}

/* True for a rank that is a tool: AS_TOOL is "all", or "odd" for those ranks. */
static bool is_tool(void)
{
    const char *which = getenv("AS_TOOL"), *rank = getenv("PMIX_RANK");

    return which && rank && (strcmp(which, "all") == 0 || atoi(rank) % 2);
}

void init_as(pmix_proc_t *proc)
{
    pmix_status_t expected = getenv("PMIX_NAMESPACE") ? PMIX_SUCCESS : PMIX_ERR_UNREACH;

    CHECK((is_tool() ? PMIx_tool_init : PMIx_Init)(proc, NULL, 0) == expected);
}

pmix_status_t finish(void)
{
    return is_tool() ? PMIx_tool_finalize() : PMIx_Finalize(NULL, 0);
}

void begin(void)
{
    init_as(&me);
    everyone = rank_of(PMIX_RANK_WILDCARD);
    GOOD(get_u32(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, NULL, &job_size));
    CHECK(me.rank < job_size);
}

void on_done(pmix_status_t status, void *arg)
{
    last_status = status;
    n_answers++;
}

void on_registered(pmix_status_t status, size_t id, void *arg)
{
    last_id = id;
    on_done(status, arg);
}

pmix_status_t result(pmix_status_t rc)
{
    if (rc)
        return rc;
    CHECK(wait_for(&n_answers, 20));
    CHECK(n_answers-- == 1);
    return last_status;
}

size_t registered(pmix_status_t rc)
{
    GOOD(result(rc));
    return last_id;
}

pmix_app_t app_of(const char *cmd, int n, const char *const argv[])
{
    char self[4096] = "";
    pmix_app_t app;
    pmix_status_t rc = PMIX_SUCCESS;

    CHECK(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup(cmd ? cmd : self);
    app.maxprocs = n;
    for (; !rc && *argv; argv++)
        PMIX_ARGV_APPEND(rc, app.argv, *argv);
    GOOD(rc);
    return app;
}

int main(int argc, char **argv)
{
    const struct program *p = programs;

    setvbuf(stdout, NULL, _IOLBF, 0);
    while (p && (argc < 2 || strcmp(p->name, argv[1]) != 0))
        p = p->next;
    if (!p) {
        fprintf(stderr, "usage: client NAME ARGUMENT...\n");
        return 2;
    }
    alarm(ALARM_S);
    if (p->joins)
        begin();
    p->run(argc - 1, argv + 1);
    if (p->joins) {
        GOOD(finish());
        CHECK(!PMIx_Initialized());
        printf("OK %s %u\n", p->name, me.rank);
    }
    return 0;
}
