/* SPDX-License-Identifier: BSD-3-Clause */
/* hostile_client: a rank that registers clean-up, as told by its arguments, and ends.
 *   -r recursive  -t leave the top  -F PATH  -D PATH  -K PATH (to keep)
 *   -n NSPACE     for all of that namespace; "": for NULL
 *   -u UID        claims to be that user, in infos of the request
 *   -T            a value of the wrong type
 *   -w FILE       waits until FILE is there, after registering
 *   -c            leaves a child behind that has all descriptors
 *   -x            ends without PMIx_Finalize
 * Prints the status of the request. Exits with 0 if it was taken, 3 if it was refused. */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_WAIT 6000 /* in hundredths of a second */

struct request {
    pmix_info_t *info;
    size_t n;
    pmix_proc_t target;
    pmix_proc_t *whom;
    const char *wait_for;
    int child, abrupt;
};

static void add(struct request *r, const char *key, const void *data,
                pmix_data_type_t type)
{
    PMIX_INFO_LOAD(&r->info[r->n], key, data, type);
    r->n++;
}

static void option(struct request *r, int c)
{
    bool yes = true;
    uint32_t id;

    switch (c) {
    case 'r':
        add(r, PMIX_CLEANUP_RECURSIVE, &yes, PMIX_BOOL);
        break;
    case 't':
        add(r, PMIX_CLEANUP_LEAVE_TOPDIR, &yes, PMIX_BOOL);
        break;
    case 'F':
        add(r, PMIX_REGISTER_CLEANUP, optarg, PMIX_STRING);
        break;
    case 'D':
        add(r, PMIX_REGISTER_CLEANUP_DIR, optarg, PMIX_STRING);
        break;
    case 'K':
        add(r, PMIX_CLEANUP_IGNORE, optarg, PMIX_STRING);
        break;
    case 'n':
        PMIX_LOAD_PROCID(&r->target, optarg, PMIX_RANK_WILDCARD);
        r->whom = optarg[0] ? &r->target : NULL;
        break;
    case 'u':
        id = (uint32_t)strtoul(optarg, NULL, 10);
        add(r, PMIX_USERID, &id, PMIX_UINT32);
        add(r, PMIX_GRPID, &id, PMIX_UINT32);
        break;
    case 'T':
        id = 1;
        add(r, PMIX_REGISTER_CLEANUP_DIR, &id, PMIX_UINT32);
        break;
    case 'w':
        r->wait_for = optarg;
        break;
    case 'c':
        r->child = 1;
        break;
    case 'x':
        r->abrupt = 1;
        break;
    default:
        _exit(2);
    }
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
    r.info = calloc((size_t)argc * 2, sizeof *r.info);
    if (!r.info)
        return 4;
    r.target = me;
    r.whom = &r.target;
    for (int c; (c = getopt(argc, argv, "rtF:D:K:n:u:Tw:cx")) != -1;)
        option(&r, c);
    rc = PMIx_Job_control(r.whom, r.whom ? 1 : 0, r.info, r.n, &results, &n_results);
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
