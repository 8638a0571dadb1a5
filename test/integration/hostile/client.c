/* SPDX-License-Identifier: BSD-3-Clause */
/* hostile_client: a rank that registers the clean-up in its arguments, and ends.
 *   -r recursive  -t leave the top  -F PATH  -D PATH  -K PATH (to keep)
 *   -j            for all of its namespace
 *   -u UID        claims to be that user, in infos of the request
 *   -w FILE       waits until FILE is there, after registering
 *   -c            leaves a child behind that has all descriptors
 *   -x            ends without PMIx_Finalize
 * Prints the status of the request. Exits with 0 if it was taken, 3 if it was refused. */
#include <pmix.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_WAIT 6000 /* in hundredths of a second */

struct request {
    pmix_info_t *info;
    size_t n;
    const char *wait_for;
    bool for_job, child, abrupt;
};

static void add(struct request *r, const char *key, const void *data,
                pmix_data_type_t type)
{
    PMIX_INFO_LOAD(&r->info[r->n], key, data, type);
    r->n++;
}

static void option(struct request *r, int c)
{
    static const struct {
        char letter;
        const char *key;
    } rows[] = {{'r', PMIX_CLEANUP_RECURSIVE},
                {'t', PMIX_CLEANUP_LEAVE_TOPDIR},
                {'F', PMIX_REGISTER_CLEANUP},
                {'D', PMIX_REGISTER_CLEANUP_DIR},
                {'K', PMIX_CLEANUP_IGNORE}};
    bool yes = true;
    uint32_t id = optarg ? (uint32_t)strtoul(optarg, NULL, 10) : 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].letter == c)
            add(r, rows[i].key, optarg ? (void *)optarg : &yes,
                optarg ? PMIX_STRING : PMIX_BOOL);
    if (c == 'u') {
        add(r, PMIX_USERID, &id, PMIX_UINT32);
        add(r, PMIX_GRPID, &id, PMIX_UINT32);
    }
    if (c == 'w')
        r->wait_for = optarg;
    r->for_job = r->for_job || c == 'j';
    r->child = r->child || c == 'c';
    r->abrupt = r->abrupt || c == 'x';
}

int main(int argc, char **argv)
{
    struct request r = {.n = 0};
    pmix_info_t *results = NULL;
    size_t n_results = 0;
    pmix_proc_t me;
    pmix_status_t rc;

    if (PMIx_Init(&me, NULL, 0)) {
        fprintf(stderr, "client: PMIx_Init failed\n");
        return 4;
    }
    r.info = calloc((size_t)argc * 2, sizeof(*r.info));
    if (!r.info)
        return 4;
    for (int c; (c = getopt(argc, argv, "rtF:D:K:ju:w:cx")) != -1;)
        option(&r, c);
    rc = PMIx_Job_control(r.for_job ? NULL : &me, !r.for_job, r.info, r.n, &results,
                          &n_results);
    printf("%s\n", PMIx_Error_string(rc));
    fflush(stdout);
    if (r.child && fork() == 0) {
        sleep(60);
        _exit(0);
    }
    for (int i = 0; r.wait_for && access(r.wait_for, F_OK) && i < MAX_WAIT; i++)
        usleep(10000);
    if (!r.abrupt)
        PMIx_Finalize(NULL, 0);
    _exit(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED ? 0 : 3);
}
