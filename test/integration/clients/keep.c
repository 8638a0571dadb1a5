/* SPDX-License-Identifier: BSD-3-Clause */
/* keep FILE FOLDER: has both removed when it has ended, says so, and stays. */
#include "client.h"

int main(int argc, char **argv)
{
    pmix_info_t info[3], *results = NULL;
    bool yes = true;
    size_t n = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    CHECK(argc == 3);
    GOOD(PMIx_Init(&me, NULL, 0));
    PMIX_INFO_LOAD(&info[0], PMIX_REGISTER_CLEANUP, argv[1], PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_REGISTER_CLEANUP_DIR, argv[2], PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_CLEANUP_RECURSIVE, &yes, PMIX_BOOL);
    GOOD(PMIx_Job_control(&me, 1, info, 3, &results, &n));
    if (results)
        PMIX_INFO_FREE(results, n);
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_DESTRUCT(&info[1]);
    printf("REGISTERED\n");
    alarm(ALARM_S);
    for (;;)
        pause();
}
