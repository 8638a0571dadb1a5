/* SPDX-License-Identifier: BSD-3-Clause */
/* again: init and finalize several times in one process, then in a child that it forks, which has
 * the same identity, then in the process again. Each rank keeps to itself: who has
 * finalized is not waited for in a fence. */
#include "client.h"

#include <sys/wait.h>

static void once(uint32_t round)
{
    uint32_t n;

    begin();
    put_u32(PMIX_GLOBAL, "round", round);
    GOOD(PMIx_Commit());
    GOOD(PMIx_Fence(&me, 1, NULL, 0));
    GOOD(get_u32(&me, "round", NULL, 0, &n));
    CHECK(n == round);
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

int main(void)
{
    pmix_rank_t rank;

    for (uint32_t i = 0; i < 5; i++)
        once(i);
    in_a_child(10); /* while we are no client */
    begin();
    rank = me.rank;
    in_a_child(11); /* while we are one, and the child inherits our state */
    CHECK(PMIx_Initialized());
    GOOD(PMIx_Fence(&me, 1, NULL, 0));
    GOOD(PMIx_Finalize(NULL, 0));
    once(12);
    printf("OK again %u\n", rank);
    return 0;
}
