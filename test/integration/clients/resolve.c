/* SPDX-License-Identifier: BSD-3-Clause */
/* resolve: what a rank can ask about its job: sizes, ranks, nodes, and who lives
 * where. */
#include "client.h"

static pmix_value_t *get(const pmix_proc_t *p, const char *key, pmix_data_type_t type)
{
    pmix_value_t *v = NULL;

    GOOD(PMIx_Get(p, key, NULL, 0, &v));
    CHECK(v && v->type == type);
    return v;
}

static void about_the_job(void)
{
    pmix_value_t *v;
    uint32_t n;

    GOOD(get_u32(&everyone, PMIX_LOCAL_SIZE, NULL, 0, &n));
    CHECK(n == job_size);
    GOOD(get_u32(&everyone, PMIX_UNIV_SIZE, NULL, 0, &n));
    CHECK(n > 0);
    v = get(&everyone, PMIX_LOCAL_PEERS, PMIX_STRING);
    CHECK(v->data.string[0] == '0');
    PMIX_VALUE_RELEASE(v);
}

static void about_a_rank(pmix_rank_t rank)
{
    pmix_proc_t p = rank_of(rank);
    pmix_value_t *v = get(&p, PMIX_LOCAL_RANK, PMIX_UINT16);

    CHECK(v->data.uint16 == rank);
    PMIX_VALUE_RELEASE(v);
    v = get(&p, PMIX_HOSTNAME, PMIX_STRING);
    CHECK(v->data.string && v->data.string[0]);
    PMIX_VALUE_RELEASE(v);
    v = get(&p, PMIX_NODEID, PMIX_UINT32);
    CHECK(v->data.uint32 == 0);
    PMIX_VALUE_RELEASE(v);
}

static void peers_and_nodes(void)
{
    pmix_value_t *host = get(&me, PMIX_HOSTNAME, PMIX_STRING);
    pmix_proc_t *procs = NULL;
    char *nodes = NULL;
    size_t n = 0;

    GOOD(PMIx_Resolve_peers(host->data.string, me.nspace, &procs, &n));
    CHECK(n == job_size);
    for (size_t i = 0; i < n; i++)
        CHECK(procs[i].rank < job_size &&
              PMIX_CHECK_NSPACE(procs[i].nspace, me.nspace));
    PMIX_PROC_FREE(procs, n);
    GOOD(PMIx_Resolve_nodes(me.nspace, &nodes));
    CHECK(nodes && strcmp(nodes, host->data.string) == 0);
    free(nodes);
    PMIX_VALUE_RELEASE(host);
}

int main(void)
{
    begin();
    CHECK(PMIx_Get_version() && PMIx_Get_version()[0]);
    about_the_job();
    for (pmix_rank_t r = 0; r < job_size; r++)
        about_a_rank(r);
    peers_and_nodes();
    barrier();
    return end("resolve");
}
