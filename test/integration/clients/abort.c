/* SPDX-License-Identifier: BSD-3-Clause */
/* abort RANK CODE: that rank ends the whole job, the others wait for something that
 * never comes. */
#include "client.h"

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    begin();
    printf("up %u pid %d\n", me.rank, (int)getpid());
    barrier();
    if (me.rank == (pmix_rank_t)atoi(argv[1]))
        tell("abort", PMIx_Abort(atoi(argv[2]), "so the test wanted", NULL, 0));
    for (;;)
        pause();
}
