/* SPDX-License-Identifier: BSD-3-Clause */
/* stay [MODE]: joins the job, says "up RANK pid PID", then does not leave by itself.
 *   (none)  waits
 *   fence   waits in a fence that rank 0 never joins
 *   get     waits for a key that nobody ever puts
 *   lost    waits in such calls, and ends well when the server goes
 *   spin    puts, fences and gets without end
 *   leave   ends after a fence, without finalizing */
#include "client.h"

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    pmix_proc_t next;
    uint32_t n;

    begin();
    next = rank_of((me.rank + 1) % job_size);
    printf("up %u pid %d\n", me.rank, (int)getpid());
    if (strcmp(mode, "fence") == 0 && me.rank != 0)
        tell("fence", PMIx_Fence(NULL, 0, NULL, 0));
    if (strcmp(mode, "get") == 0)
        tell("get", get_u32(&next, "never", NULL, 0, &n));
    if (strcmp(mode, "lost") == 0) {
        tell("fence", me.rank ? PMIx_Fence(NULL, 0, NULL, 0)
                              : get_u32(&next, "never", NULL, 0, &n));
        tell("finalize", PMIx_Finalize(NULL, 0));
        return 0;
    }
    while (strcmp(mode, "spin") == 0) {
        put_u32(PMIX_GLOBAL, "spin", me.rank);
        if (PMIx_Commit() || fence_with_data() || get_u32(&next, "spin", NULL, 0, &n))
            break; /* a peer died: the launcher ends this one soon */
    }
    if (strcmp(mode, "leave") == 0) {
        barrier();
        _exit(0);
    }
    for (;;)
        pause();
}
