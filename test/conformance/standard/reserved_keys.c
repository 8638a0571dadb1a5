/* SPDX-License-Identifier: BSD-3-Clause */
/* The Standard's chapter "Reserved Keys". A job spawns another, whose first process asks for every key. */
#include "standard.h"

#include "pmix.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- the list of the chapter --------------------------------------------------------------- */

/* Process that a key is asked of. ENDED: one that has terminated, of the other job. */
enum of { ME, JOB, ENDED };

/* A key of the chapter in its order, and a part of the value's text; NULL: any value. */
#define ROW(key, of, type, text)         \
    {                                    \
#key, key, of, PMIX_##type, text \
    }
static const struct row {
    const char *name, *key;
    enum of of;
    pmix_data_type_t type;
    const char *text;
} rows[] = {
    ROW(PMIX_CLUSTER_ID, JOB, STRING, "west"),
    ROW(PMIX_UNIV_SIZE, JOB, UINT32, NULL),
    ROW(PMIX_TMPDIR, JOB, STRING, "/"),
    ROW(PMIX_TDIR_RMCLEAN, JOB, BOOL, "true"),
    ROW(PMIX_HOSTNAME_KEEP_FQDN, JOB, BOOL, "true"),
    ROW(PMIX_RM_NAME, JOB, STRING, "tenon"),
    ROW(PMIX_RM_VERSION, JOB, STRING, "."),
    ROW(PMIX_ALLOCATED_NODELIST, JOB, STRING, NULL),
    ROW(PMIX_NUM_ALLOCATED_NODES, JOB, UINT32, "1"),
    ROW(PMIX_MAX_PROCS, JOB, UINT32, NULL),
    ROW(PMIX_NODE_LIST, JOB, STRING, NULL),
    ROW(PMIX_NUM_SLOTS, JOB, UINT32, NULL),
    ROW(PMIX_NUM_NODES, JOB, UINT32, "1"),
    ROW(PMIX_NODE_MAP, JOB, STRING, NULL),
    ROW(PMIX_NODE_MAP_RAW, JOB, STRING, NULL),
    ROW(PMIX_PROC_MAP, JOB, STRING, "0,1,2"),
    ROW(PMIX_PROC_MAP_RAW, JOB, STRING, "0,1,2"),
    ROW(PMIX_ANL_MAP, JOB, STRING, "(vector,(0,1,3))"),
    ROW(PMIX_JOBID, JOB, STRING, NULL),
    ROW(PMIX_NPROC_OFFSET, JOB, PROC_RANK, NULL),
    ROW(PMIX_CMD_LINE, JOB, STRING, " child : "),
    ROW(PMIX_NSDIR, JOB, STRING, "/"),
    ROW(PMIX_JOB_SIZE, JOB, UINT32, "3"),
    ROW(PMIX_JOB_NUM_APPS, JOB, UINT32, "2"),
    ROW(PMIX_LOCAL_PEERS, JOB, STRING, "0,1,2"),
    ROW(PMIX_LOCALLDR, JOB, PROC_RANK, "0"),
    ROW(PMIX_LOCAL_CPUSETS, JOB, DATA_ARRAY, "PMIX_STRING[3] {\"hwloc:"),
    ROW(PMIX_LOCAL_SIZE, JOB, UINT32, "3"),
    ROW(PMIX_APPLDR, ME, PROC_RANK, "0"),
    ROW(PMIX_APP_SIZE, ME, UINT32, "1"),
    ROW(PMIX_APP_ARGV, ME, STRING, " child"),
    ROW(PMIX_APP_MAP_TYPE, ME, STRING, "slot"),
    ROW(PMIX_APP_MAP_REGEX, ME, STRING, "0"),
    ROW(PMIX_APPNUM, ME, UINT32, "0"),
    ROW(PMIX_RANK, ME, PROC_RANK, "0"),
    ROW(PMIX_NSPACE, ME, STRING, standard_me.nspace),
    ROW(PMIX_SESSION_ID, ME, UINT32, NULL),
    ROW(PMIX_GLOBAL_RANK, ME, PROC_RANK, NULL),
    ROW(PMIX_APP_RANK, ME, PROC_RANK, "0"),
    ROW(PMIX_PARENT_ID, ME, PROC, ":0"),
    ROW(PMIX_EXIT_CODE, ENDED, INT, "0"),
    ROW(PMIX_PROCID, ME, PROC, standard_me.nspace),
    ROW(PMIX_LOCAL_RANK, ME, UINT16, "0"),
    ROW(PMIX_NODE_RANK, ME, UINT16, NULL),
    ROW(PMIX_PACKAGE_RANK, ME, UINT16, "0"),
    ROW(PMIX_PROC_PID, ME, PID, NULL),
    ROW(PMIX_PROCDIR, ME, STRING, "/"),
    ROW(PMIX_CPUSET, ME, STRING, "hwloc:"),
    ROW(PMIX_CPUSET_BITMAP, ME, PROC_CPUSET, "hwloc"),
    ROW(PMIX_CREDENTIAL, ME, BYTE_OBJECT, NULL),
    ROW(PMIX_SPAWNED, ME, BOOL, "true"),
    ROW(PMIX_REINCARNATION, ME, UINT32, "0"),
    ROW(PMIX_HOSTNAME, ME, STRING, NULL),
    ROW(PMIX_HOSTNAME_ALIASES, ME, STRING, "localhost"),
    ROW(PMIX_NODEID, ME, UINT32, "0"),
    ROW(PMIX_NODE_SIZE, ME, UINT32, NULL),
    ROW(PMIX_AVAIL_PHYS_MEMORY, ME, UINT64, NULL),
    ROW(PMIX_LOCAL_PROCS, ME, DATA_ARRAY, standard_me.nspace),
    ROW(PMIX_NODE_OVERSUBSCRIBED, ME, BOOL, "true"),
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

static pmix_status_t get(const pmix_proc_t *proc, const char *key, const char *realm,
                         pmix_value_t **value)
{
    pmix_info_t info = {0};

    if (realm)
        PMIx_Info_load(&info, realm, NULL, PMIX_BOOL);
    return PMIx_Get(proc, key, &info, realm ? 1 : 0, value);
}

/* Asks again until the process has ended. */
static pmix_status_t get_exit_code(const pmix_proc_t *proc, pmix_value_t **value)
{
    const time_t end = time(NULL) + 10;
    pmix_status_t rc;

    do
        rc = get(proc, PMIX_EXIT_CODE, NULL, value);
    while (rc == PMIX_ERR_NOT_FOUND && time(NULL) < end);
    return rc;
}

/* Prints what is wrong with a row's answer. */
static void ask(const struct row *row, const pmix_proc_t *ended)
{
    pmix_proc_t proc = standard_me;
    pmix_value_t *v = NULL;

    if (row->of == JOB)
        proc.rank = PMIX_RANK_WILDCARD;
    pmix_status_t rc = row->of == ENDED ? get_exit_code(ended, &v)
                                        : get(&proc, row->key, NULL, &v);
    char *text = rc ? NULL : PMIx_Value_string(v);

    if (rc)
        printf("wrong: %s: %s\n", row->name, PMIx_Error_string(rc));
    else if (v->type != row->type || (row->text && !strstr(text, row->text)))
        printf("wrong: %s: %s\n", row->name, text);
    else
        printf("answered: %s\n", row->name);
    free(text);
    if (v)
        PMIx_Value_free(v, 1);
}

/* Number of a process or application; UINT32_MAX without an answer. */
static uint32_t number(pmix_rank_t rank, const char *key, const char *realm)
{
    pmix_proc_t proc = standard_me;
    pmix_value_t *v = NULL;
    uint32_t n;

    proc.rank = rank;
    if (get(&proc, key, realm, &v))
        return UINT32_MAX;
    n = v->type == PMIX_UINT32 ? v->data.uint32 : UINT32_MAX;
    PMIx_Value_free(v, 1);
    return n;
}

/* ---- the jobs ------------------------------------------------------------------------------ */

static void publish(const char *key)
{
    pmix_info_t info;

    PMIx_Info_load(&info, key, "yes", PMIX_STRING);
    STANDARD_CHECK(PMIx_Publish(&info, 1) == PMIX_SUCCESS);
}

static void await(const char *key)
{
    pmix_pdata_t data = {0};
    pmix_info_t wait;

    PMIx_Load_key(data.key, key);
    PMIx_Info_load(&wait, PMIX_WAIT, NULL, PMIX_UNDEF);
    STANDARD_CHECK(PMIx_Lookup(&data, 1, &wait, 1) == PMIX_SUCCESS);
}

/* Asks for every key, and for keys of other realms than their own. */
STANDARD_CLIENT(child)
{
    pmix_proc_t ended;
    pmix_value_t *parent;

    if (standard_me.rank > 0) {
        await("walked");
        return;
    }
    STANDARD_CHECK(get(&standard_me, PMIX_PARENT_ID, NULL, &parent) == PMIX_SUCCESS);
    ended = *parent->data.proc;
    ended.rank = 1;
    for (size_t i = 0; i < N_ROWS; i++)
        ask(&rows[i], &ended);
    STANDARD_CHECK(number(1, PMIX_APP_SIZE, NULL) == 2);
    STANDARD_CHECK(number(1, PMIX_LOCAL_SIZE, PMIX_APP_INFO) == 2);
    STANDARD_CHECK(number(PMIX_RANK_WILDCARD, PMIX_APP_SIZE, NULL) == 1);
    STANDARD_CHECK(number(PMIX_RANK_WILDCARD, PMIX_NUM_NODES, PMIX_SESSION_INFO) == 1);
    STANDARD_CHECK(number(1, PMIX_NUM_NODES, PMIX_APP_INFO) == 1);
    STANDARD_CHECK(number(1, PMIX_NODEID, PMIX_NODE_INFO) == 0);
    STANDARD_CHECK(number(1, PMIX_MAX_PROCS, PMIX_NODE_INFO) != UINT32_MAX);
    STANDARD_CHECK(number(9, PMIX_APP_SIZE, NULL) == UINT32_MAX);
    STANDARD_CHECK(get(&(pmix_proc_t){.rank = 1}, PMIX_PACKAGE_RANK, NULL, &parent) ==
                   PMIX_ERR_NOT_FOUND);
    publish("walked");
}

/* Spawns the child. Its own last process ends at once. */
STANDARD_CLIENT(parent)
{
    char self[4096], *name[] = {self, (char[]){"child"}, NULL};
    pmix_info_t bind;
    pmix_app_t apps[2] = {{.cmd = self, .argv = name, .maxprocs = 1},
                          {.cmd = self, .argv = name, .maxprocs = 2}};
    char nspace[PMIX_MAX_NSLEN + 1];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (standard_me.rank > 0)
        return;
    STANDARD_CHECK(n > 0);
    self[n] = '\0';
    PMIx_Info_load(&bind, PMIX_BINDTO, "core", PMIX_STRING);
    apps[0].info = &bind;
    apps[0].ninfo = 1;
    STANDARD_CHECK(PMIx_Spawn(NULL, 0, apps, 2, nspace) == PMIX_SUCCESS);
    await("walked");
}

PX_TEST(reserved_keys_are_required_to_be_available_at_start_of_execution)
{
    char options[64];

    STANDARD_NEEDS_PMIXRUN;
    /* one process more than CPUs: the node is oversubscribed */
    snprintf(options, sizeof(options), "--cluster-id west -n %ld",
             sysconf(_SC_NPROCESSORS_ONLN) + 1);
    standard_run(options, "parent");
    ck_assert_msg(!strstr(standard_out, "wrong: "), "%s", standard_out);
    ck_assert_uint_eq(standard_count(standard_out, "answered: "), N_ROWS);
    ck_assert_uint_eq(N_ROWS, 59);
}

STANDARD_CLIENT(borrower)
{
    pmix_info_t info[2];
    pmix_value_t *first, *second, *other, here, *to = &here;

    PMIx_Info_load(&info[0], PMIX_GET_POINTER_VALUES, NULL, PMIX_BOOL);
    PMIx_Info_load(&info[1], PMIX_GET_STATIC_VALUES, NULL, PMIX_BOOL);
    PMIx_Info_required(&info[0]);
    PMIx_Info_required(&info[1]);
    STANDARD_CHECK(PMIx_Get(NULL, PMIX_NSPACE, info, 1, &first) == PMIX_SUCCESS);
    STANDARD_CHECK(PMIx_Get(NULL, PMIX_NSPACE, info, 1, &second) == PMIX_SUCCESS);
    STANDARD_CHECK(PMIx_Get(NULL, PMIX_HOSTNAME, info, 1, &other) == PMIX_SUCCESS);
    STANDARD_CHECK(first == second && first != other);
    STANDARD_CHECK(strcmp(first->data.string, standard_me.nspace) == 0);
    STANDARD_CHECK(PMIx_Get(NULL, PMIX_NSPACE, info, 2, &to) == PMIX_SUCCESS);
    STANDARD_CHECK(to == &here && here.data.string == first->data.string);
}

PX_TEST(pointer_values_must_not_be_released)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 1", "borrower");
}

STANDARD_MAIN("standard/reserved_keys", NULL, NULL)
