/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of a process to the system around its job, and to its node. */
#include "client.h"

#include <sched.h>

static pmix_info_t how;

/* ---- system served|served-but-fabrics|refused: requests under a host that implements them
 * (host/minihost.c), or under a host that does not ----------------------------------------- */

static void good_allocation(const pmix_info_t *info, size_t n)
{
    const pmix_info_t *id = find(info, n, PMIX_ALLOC_ID);
    const pmix_info_t *directive = find(info, n, "test.directive");

    CHECK(id && strcmp(id->value.data.string, "number 17") == 0);
    CHECK(directive && directive->value.type == PMIX_ALLOC_DIRECTIVE);
    CHECK(directive->value.data.adir == PMIX_ALLOC_EXTEND);
}

static void on_allocated(pmix_status_t status, pmix_info_t *info, size_t n, void *arg,
                         pmix_release_cbfunc_t release, void *data)
{
    if (status == PMIX_SUCCESS)
        good_allocation(info, n);
    if (release)
        release(data);
    on_done(status, arg);
}

static void allocate(pmix_status_t wanted)
{
    pmix_info_t *info = NULL;
    size_t n = 0;

    EXPECT(PMIx_Allocation_request(PMIX_ALLOC_EXTEND, &how, 1, &info, &n), wanted);
    if (wanted == PMIX_SUCCESS)
        good_allocation(info, n);
    if (info)
        PMIX_INFO_FREE(info, n);
    EXPECT(result(PMIx_Allocation_request_nb(PMIX_ALLOC_EXTEND, &how, 1, on_allocated,
                                             &how)),
           wanted);
}

static void on_credential(pmix_status_t status, pmix_byte_object_t *cred,
                          pmix_info_t info[], size_t n, void *arg)
{
    const pmix_info_t *type = find(info, n, PMIX_CRED_TYPE);

    CHECK(arg == &how);
    CHECK(status == PMIX_SUCCESS && type);
    CHECK(strcmp(type->value.data.string, "native") == 0 ||
          (strcmp(type->value.data.string, "test") == 0 &&
           strncmp(cred->bytes, "this is ", 8) == 0));
    on_done(status, arg);
}

static void on_validation(pmix_status_t status, pmix_info_t info[], size_t n, void *arg)
{
    const pmix_info_t *uid = find(info, n, PMIX_USERID);

    CHECK(status || (uid && uid->value.data.uint32 == getuid()));
    on_done(status, arg);
}

/* The host makes credentials, or the library where the host has no function. */
static void credentials(void)
{
    pmix_byte_object_t cred = {NULL, 0}, wrong = {(char *)"wrong", 6};
    pmix_info_t directives[2], *info = NULL;
    size_t n = 0;

    directives[0] = how;
    PMIX_INFO_LOAD(&directives[1], PMIX_CRED_TYPE, "native", PMIX_STRING);
    GOOD(PMIx_Get_credential(directives, 2, &cred));
    GOOD(result(PMIx_Get_credential_nb(directives, 2, on_credential, &how)));
    EXPECT(PMIx_Validate_credential(&wrong, directives, 2, &info, &n),
           PMIX_ERR_INVALID_CRED);
    GOOD(PMIx_Validate_credential(&cred, directives, 2, &info, &n));
    CHECK(find(info, n, PMIX_USERID));
    PMIX_INFO_FREE(info, n);
    GOOD(
        result(PMIx_Validate_credential_nb(&cred, directives, 2, on_validation, &how)));
    PMIX_INFO_DESTRUCT(&directives[1]);
    free(cred.bytes);
}

static void monitor(pmix_status_t wanted)
{
    pmix_info_t what = info_bool("test.monitor"), beat = info_bool(PMIX_SEND_HEARTBEAT);
    pmix_info_t *info = NULL;
    pmix_status_t rc;
    size_t n = 0;

    EXPECT(PMIx_Process_monitor(&what, PMIX_MONITOR_FILE_ALERT, &how, 1, &info, &n),
           wanted);
    if (info) {
        const pmix_info_t *error = find(info, n, "test.error");

        CHECK(wanted || (error && error->value.data.status == PMIX_MONITOR_FILE_ALERT));
        PMIX_INFO_FREE(info, n); /* of a refusal: the reason */
    } else {                     /* the foreign server replies without the host */
        CHECK(wanted != PMIX_SUCCESS || !strict());
    }
    rc = PMIx_Process_monitor_nb(&beat, PMIX_SUCCESS, NULL, 0, NULL, NULL);
    /* The heartbeat is sent even if the server ignores heartbeats. */
    CHECK(rc == PMIX_OPERATION_SUCCEEDED || !strict());
}

static uint32_t generation(const pmix_fabric_t *f)
{
    const pmix_info_t *g = find(f->info, f->ninfo, "test.generation");

    return g ? g->value.data.uint32 : 0;
}

static void fabrics(pmix_status_t wanted)
{
    pmix_fabric_t f = PMIX_FABRIC_STATIC_INIT;

    EXPECT(PMIx_Fabric_register(&f, &how, 1), wanted);
    if (wanted != PMIX_SUCCESS)
        return;
    CHECK(generation(&f) == 1);
    if (find(f.info, f.ninfo, PMIX_FABRIC_INDEX))
        f.index = find(f.info, f.ninfo, PMIX_FABRIC_INDEX)->value.data.size;
    CHECK(f.index == 5);
    GOOD(PMIx_Fabric_update(&f));
    CHECK(generation(&f) == 2);
    GOOD(result(PMIx_Fabric_update_nb(&f, on_done, &how)));
    CHECK(generation(&f) == 2);
    GOOD(PMIx_Fabric_deregister(&f));
    CHECK(!f.info);
}

JOINS(system)
{
    bool served = argc > 1 && strncmp(argv[1], "served", 6) == 0;
    pmix_status_t wanted = served ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED;

    PMIX_INFO_LOAD(&how, "test.how", "well", PMIX_STRING);
    /* The built-in host extends allocations, but this job has none. */
    allocate(served ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND);
    credentials();
    monitor(wanted);
    if (argc > 1 && strcmp(argv[1], "served-but-fabrics") != 0)
        fabrics(wanted);
    PMIX_INFO_DESTRUCT(&how);
    barrier(); /* the connection still works */
}

/* ---- allocates: an allocation of the built-in host, and a job that runs there ------------- */

static atomic_int n_sets, n_ended;

HANDLER(on_set)
{
    if (status == PMIX_EVENT_JOB_END)
        n_ended++;
    else
        n_sets += status == PMIX_PROCESS_SET_DEFINE ? 1 : 100;
    HANDLED();
}

/* Sends a request with one info, and a second one whose key may be NULL. Keeps a text of the results. */
static pmix_status_t request(pmix_alloc_directive_t directive, const char *key,
                             const void *value, pmix_data_type_t type, const char *id,
                             const char *wanted, char *text)
{
    pmix_info_t info[2], *results = NULL;
    pmix_status_t rc;
    size_t n = 0;

    PMIX_INFO_LOAD(&info[0], key, value, type);
    PMIX_INFO_LOAD(&info[1], PMIX_ALLOC_ID, id ? id : "", PMIX_STRING);
    rc = PMIx_Allocation_request(directive, info, id ? 2 : 1, &results, &n);
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_DESTRUCT(&info[1]);
    if (rc == PMIX_SUCCESS && wanted) {
        CHECK(find(results, n, wanted));
        snprintf(text, PMIX_MAX_NSLEN, "%s",
                 find(results, n, wanted)->value.data.string);
    }
    if (results)
        PMIX_INFO_FREE(results, n);
    return rc;
}

static size_t n_cpus(void)
{
    cpu_set_t cpus;

    CHECK(sched_getaffinity(0, sizeof(cpus), &cpus) == 0);
    return (size_t)CPU_COUNT(&cpus);
}

JOINS(in_allocation)
{
    CHECK(n_cpus() == 1);
}

JOINS(allocates)
{
    pmix_status_t codes[] = {PMIX_PROCESS_SET_DEFINE, PMIX_PROCESS_SET_DELETE,
                             PMIX_EVENT_JOB_END};
    uint64_t one = 1, many = 60000;
    char id[PMIX_MAX_NSLEN], cpus[PMIX_MAX_NSLEN];
    pmix_info_t asked[2] = {info_bool(PMIX_NOTIFY_COMPLETION)};
    pmix_nspace_t job;

    watch(codes, 3, NULL, 0, on_set);
    EXPECT(request(PMIX_ALLOC_NEW, PMIX_ALLOC_NUM_CPUS, &many, PMIX_UINT64, NULL, NULL,
                   NULL),
           PMIX_ERR_JOB_ALLOC_FAILED);
    GOOD(request(PMIX_ALLOC_NEW, PMIX_ALLOC_NUM_CPUS, &one, PMIX_UINT64, NULL,
                 PMIX_ALLOC_ID, id));
    GOOD(request(PMIX_ALLOC_EXTEND, PMIX_ALLOC_TIME, &(uint32_t){1000}, PMIX_UINT32, id,
                 PMIX_ALLOC_CPU_LIST, cpus));
    CHECK(cpus[0] && !strpbrk(cpus, ",-"));
    PMIX_INFO_LOAD(&asked[1], PMIX_ALLOC_ID, id, PMIX_STRING);
    pmix_app_t app = app_of(NULL, 1, (const char *[]){"client", "in_allocation", NULL});
    GOOD(PMIx_Spawn(asked, 2, &app, 1, job));
    PMIX_APP_DESTRUCT(&app);
    CHECK(wait_for(&n_ended, 20));
    for (int i = 0; n_sets != 101 && i < 1000; i++)
        sleep_ms(5);
    CHECK(n_sets == 101); /* defined, and deleted with the job */
    GOOD(request(PMIX_ALLOC_RELEASE, PMIX_ALLOC_NUM_CPUS, &one, PMIX_UINT64, id, NULL,
                 NULL));
}

/* ---- newer served|refused: requests that release 4.2.2 lacks in its headers and in its library
 * ------------------------------------------------------------------------------------------ */

#ifdef TENON_SERVER_MODULE_SIZE
static void on_session(pmix_status_t status, pmix_info_t *info, size_t n, void *arg,
                       pmix_release_cbfunc_t release, void *data)
{
    CHECK(arg == &how);
    CHECK(status || (n == 1 && PMIX_CHECK_KEY(&info[0], PMIX_SESSION_ID) &&
                     info[0].value.data.uint32 == 3));
    release(data);
    on_done(status, arg);
}

JOINS(newer)
{
    pmix_status_t wanted = argc > 1 && strcmp(argv[1], "served") == 0
                               ? PMIX_SUCCESS
                               : PMIX_ERR_NOT_SUPPORTED;
    pmix_resource_unit_t units[] = {{1, 4}, {2, 9}};
    char block[] = "mine";

    PMIX_INFO_LOAD(&how, "test.how", "well", PMIX_STRING);
    EXPECT(PMIx_Session_control(3, &how, 1, NULL, NULL),
           wanted ? wanted : PMIX_OPERATION_SUCCEEDED);
    EXPECT(result(PMIx_Session_control(3, &how, 1, on_session, &how)), wanted);
    EXPECT(PMIx_Resource_block(2, block, units, 2, &how, 1), wanted);
    EXPECT(result(PMIx_Resource_block_nb(2, block, units, 2, &how, 1, on_done, NULL)),
           wanted);
    PMIX_INFO_DESTRUCT(&how);
    PMIx_Heartbeat();
    barrier();
}
#endif

/* ---- log: texts that the server writes without a host, the last text before an abort ------- */

JOINS(log)
{
    enum { REQUIRED = 1, NUMBER = 2 };
    static const struct row {
        const char *keys[2]; /* the text of each is "text ROW.KEY" */
        const char *directive;
        int how;
        pmix_status_t status;
    } rows[] = {
        {{PMIX_LOG_STDERR}, NULL, 0, PMIX_SUCCESS},
        {{PMIX_LOG_STDOUT}, NULL, REQUIRED, PMIX_SUCCESS},
        {{PMIX_LOG_STDERR, PMIX_LOG_STDOUT}, NULL, 0, PMIX_SUCCESS},
        {{PMIX_LOG_STDERR, PMIX_LOG_STDOUT}, PMIX_LOG_ONCE, REQUIRED, PMIX_SUCCESS},
        {{PMIX_LOG_EMAIL, PMIX_LOG_STDOUT}, PMIX_LOG_ONCE, 0, PMIX_SUCCESS},
        {{PMIX_LOG_STDERR, "test.unknown"}, NULL, 0, PMIX_ERR_PARTIAL_SUCCESS},
        {{PMIX_LOG_STDERR, "test.unknown"}, NULL, REQUIRED, PMIX_ERR_NOT_SUPPORTED},
        {{"test.unknown"}, NULL, 0, PMIX_ERR_NOT_SUPPORTED},
        {{PMIX_LOG_STDERR}, "test.unknown", 0, PMIX_SUCCESS},
        {{PMIX_LOG_STDERR}, "test.unknown", REQUIRED, PMIX_ERR_NOT_SUPPORTED},
        {{PMIX_LOG_STDERR}, NULL, NUMBER, PMIX_ERR_BAD_PARAM},
        {{PMIX_LOG_STDOUT, PMIX_LOG_STDERR}, NULL, NUMBER, PMIX_ERR_BAD_PARAM},
    };
    const uint32_t number = 7;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *r = &rows[i];
        pmix_info_t data[2], directive;
        const size_t n = r->keys[1] ? 2 : 1;
        char text[64];

        for (size_t k = 0; k < n; k++) {
            snprintf(text, sizeof(text), "text %zu.%s%s", i, r->keys[k], k ? "\n" : "");
            PMIX_INFO_LOAD(&data[k], r->keys[k], text, PMIX_STRING);
        }
        if (r->how == NUMBER) {
            PMIX_INFO_DESTRUCT(&data[n - 1]);
            PMIX_INFO_LOAD(&data[n - 1], r->keys[n - 1], &number, PMIX_UINT32);
        }
        PMIX_INFO_LOAD(&directive, r->directive ? r->directive : "", NULL, PMIX_BOOL);
        if (r->how == REQUIRED)
            PMIX_INFO_REQUIRED(r->directive ? &directive : &data[n - 1]);
        EXPECT(PMIx_Log(data, n, &directive, r->directive ? 1 : 0), r->status);
        EXPECT(result(PMIx_Log_nb(data, n, &directive, r->directive ? 1 : 0, on_done,
                                  NULL)),
               r->status);
        for (size_t k = 0; k < n; k++)
            PMIX_INFO_DESTRUCT(&data[k]);
    }
    if (argc > 1) {
        pmix_info_t last;

        PMIX_INFO_LOAD(&last, PMIX_LOG_STDERR, "the last text", PMIX_STRING);
        GOOD(PMIx_Log_nb(&last, 1, NULL, 0, on_done, NULL));
        PMIx_Abort(3, "the end", NULL, 0);
    }
}

/* ---- nulls: requests under a host without functions. The server serves some requests alone and
 * refuses the others with PMIX_ERR_NOT_SUPPORTED. -------------------------------------------- */

static void refused(void)
{
    char *keys[] = {(char *)"k", NULL};
    pmix_info_t info = info_bool("k");
    pmix_pdata_t pd;
    pmix_nspace_t child;

    EXPECT(PMIx_Publish(&info, 1), PMIX_ERR_NOT_SUPPORTED);
    PMIX_PDATA_CONSTRUCT(&pd);
    PMIX_LOAD_KEY(pd.key, "k");
    EXPECT(PMIx_Lookup(&pd, 1, NULL, 0), PMIX_ERR_NOT_SUPPORTED);
    EXPECT(PMIx_Unpublish(keys, NULL, 0), PMIX_ERR_NOT_SUPPORTED);
    pmix_app_t app = app_of("true", 1, (const char *[]){"true", NULL});
    EXPECT(PMIx_Spawn(NULL, 0, &app, 1, child), PMIX_ERR_NOT_SUPPORTED);
    PMIX_APP_DESTRUCT(&app);
    EXPECT(result(PMIx_Publish_nb(&info, 1, on_done, NULL)), PMIX_ERR_NOT_SUPPORTED);
}

JOINS(nulls)
{
    put_u32(PMIX_GLOBAL, "mine", me.rank);
    GOOD(PMIx_Commit());
    barrier();
    GOOD(fence_with_data());
    U32_IS(next_rank(), "mine", next_rank());
    refused();
    barrier();
}

/* ---- topology [none]: topology, cpusets and distances from a library with hwloc. With "none" the
 * library is without hwloc, and the server computes the distances. --------------------------- */

static void with_hwloc(void)
{
    pmix_topology_t topo = PMIX_TOPOLOGY_STATIC_INIT, mine = PMIX_TOPOLOGY_STATIC_INIT;
    pmix_cpuset_t set = PMIX_CPUSET_STATIC_INIT, again = PMIX_CPUSET_STATIC_INIT;
    pmix_locality_t shared = PMIX_LOCALITY_UNKNOWN;
    char *where = NULL, *cpus = NULL;

    GOOD(PMIx_Load_topology(&topo));
    CHECK(strncmp(topo.source, "hwloc", 5) == 0 && topo.topology);
    mine.source = strdup("hwloc");
    GOOD(PMIx_Load_topology(&mine));
    CHECK(mine.topology == topo.topology);
    PMIx_Topology_destruct(&mine); /* the node's topology stays loaded */
    GOOD(PMIx_Get_cpuset(&set, PMIX_CPUBIND_PROCESS));
    GOOD(PMIx_server_generate_cpuset_string(&set, &cpus));
    GOOD(PMIx_Parse_cpuset_string(cpus, &again));
    GOOD(PMIx_server_generate_locality_string(&again, &where));
    CHECK(where);
    GOOD(PMIx_Get_relative_locality(where, where, &shared));
    CHECK(shared & PMIX_LOCALITY_SHARE_NODE && shared & PMIX_LOCALITY_SHARE_HWTHREAD);
    PMIx_Topology_destruct(&topo);
    PMIx_Cpuset_destruct(&set);
    PMIx_Cpuset_destruct(&again);
    free(where);
    free(cpus);
}

static void without_hwloc(void)
{
    pmix_topology_t topo = PMIX_TOPOLOGY_STATIC_INIT;
    pmix_cpuset_t set = PMIX_CPUSET_STATIC_INIT;
    pmix_locality_t shared = PMIX_LOCALITY_UNKNOWN;

    EXPECT(PMIx_Load_topology(&topo), PMIX_ERR_NOT_SUPPORTED);
    EXPECT(PMIx_Get_cpuset(&set, PMIX_CPUBIND_PROCESS), PMIX_ERR_NOT_SUPPORTED);
    CHECK(!topo.source && !set.source);
    GOOD(PMIx_Get_relative_locality("CR0:HT0", "CR0:HT1", &shared));
    CHECK(shared == (PMIX_LOCALITY_SHARE_NODE | PMIX_LOCALITY_SHARE_CORE));
}

/* Checks distances; a file describes the node as a node with two networks. */
static void distances(void)
{
    pmix_device_type_t type = PMIX_DEVTYPE_NETWORK;
    pmix_device_distance_t *found = NULL;
    pmix_info_t info;
    size_t n = 0;

    PMIX_INFO_LOAD(&info, PMIX_DEVICE_TYPE, &type, PMIX_DEVTYPE);
    GOOD(PMIx_Compute_distances(NULL, NULL, &info, 1, &found, &n));
    CHECK(n == 2 && strcmp(found[0].osname, "eth0") == 0);
    CHECK(found[0].mindist < UINT16_MAX && found[0].mindist <= found[0].maxdist);
    for (size_t i = 0; i < n; i++) {
        free(found[i].uuid);
        free(found[i].osname);
    }
    free(found);
    type = PMIX_DEVTYPE_DMA;
    PMIX_INFO_LOAD(&info, PMIX_DEVICE_TYPE, &type, PMIX_DEVTYPE);
    EXPECT(PMIx_Compute_distances(NULL, NULL, &info, 1, &found, &n),
           PMIX_ERR_NOT_FOUND);
}

/* ---- bound: each of two ranks has a core of its own ------------------------------------- */

/* Reads a list such as "hwloc:0,2-3". */
static cpu_set_t read_cpus(const char *text)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CHECK(strncmp(text, "hwloc:", 6) == 0);
    for (text += 5; *text; text += strcspn(text, ",")) {
        char *end;
        unsigned long first = strtoul(text + 1, &end, 10), last = first;

        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        for (; first <= last; first++)
            CPU_SET(first, &set);
        text = end;
    }
    return set;
}

JOINS(bound)
{
    pmix_proc_t other = rank_of(1 - me.rank);
    pmix_cpuset_t parsed = PMIX_CPUSET_STATIC_INIT;
    pmix_locality_t shared = PMIX_LOCALITY_UNKNOWN;
    pmix_value_t *mine = NULL, *of_other = NULL;
    cpu_set_t actual, given, both;

    CHECK(job_size == 2 && argc == 1);
    CHECK(sched_getaffinity(0, sizeof(actual), &actual) == 0);
    GOOD(PMIx_Get(&me, PMIX_CPUSET, NULL, 0, &mine));
    given = read_cpus(mine->data.string);
    CHECK(CPU_EQUAL(&actual, &given));
    GOOD(PMIx_Parse_cpuset_string(mine->data.string, &parsed));
    PMIx_Cpuset_destruct(&parsed);
    GOOD(PMIx_Get(&other, PMIX_CPUSET, NULL, 0, &of_other));
    given = read_cpus(of_other->data.string);
    CPU_AND(&both, &actual, &given);
    CHECK(CPU_COUNT(&given) > 0 && CPU_COUNT(&both) == 0);
    PMIX_VALUE_RELEASE(mine);
    PMIX_VALUE_RELEASE(of_other);
    GOOD(PMIx_Get(&me, PMIX_LOCALITY_STRING, NULL, 0, &mine));
    GOOD(PMIx_Get(&other, PMIX_LOCALITY_STRING, NULL, 0, &of_other));
    CHECK(strstr(mine->data.string, "CR") && strstr(of_other->data.string, "CR"));
    CHECK(strcmp(mine->data.string, of_other->data.string) != 0);
    if (strict()) { /* release 4.2.2 expects another text than Open MPI's */
        GOOD(PMIx_Get_relative_locality(mine->data.string, of_other->data.string,
                                        &shared));
        CHECK(shared & PMIX_LOCALITY_SHARE_NODE &&
              !(shared & PMIX_LOCALITY_SHARE_CORE));
    }
    PMIX_VALUE_RELEASE(mine);
    PMIX_VALUE_RELEASE(of_other);
}

JOINS(topology)
{
    if (argc > 1)
        without_hwloc();
    else
        with_hwloc();
    distances();
}

/* ---- shared_topology: the topology is mapped from the file of the server -------------------- */

JOINS(shared_topology)
{
    pmix_topology_t topo = PMIX_TOPOLOGY_STATIC_INIT;
    FILE *maps = fopen("/proc/self/maps", "r");
    bool is_mapped = false;
    char line[8192];

    GOOD(PMIx_Load_topology(&topo));
    CHECK(maps && topo.topology);
    while (fgets(line, sizeof(line), maps))
        is_mapped |= strstr(line, "/topology\n") != NULL;
    CHECK(is_mapped);
    fclose(maps);
}

/* ---- credential make|check TYPE FILE [SECONDS]: writes a credential to a file, or validates the file's
 * and prints the user. Prints the status. --------------------------------------------------- */

JOINS(credential)
{
    char bytes[8192];
    pmix_byte_object_t cred = {.bytes = bytes, .size = 0};
    pmix_info_t how[2], *info = NULL;
    const int seconds = argc > 4 ? atoi(argv[4]) : 0;
    pmix_status_t rc;
    size_t n = 0;

    CHECK(argc > 3);
    FILE *f = fopen(argv[3], strcmp(argv[1], "make") == 0 ? "w" : "r");
    CHECK(f);
    PMIX_INFO_LOAD(&how[0], PMIX_CRED_TYPE, argv[2], PMIX_STRING);
    PMIX_INFO_LOAD(&how[1], PMIX_TIMEOUT, &seconds, PMIX_INT);
    if (strcmp(argv[1], "make") == 0) {
        rc = PMIx_Get_credential(how, 2, &cred);
        if (rc == PMIX_SUCCESS)
            CHECK(fwrite(cred.bytes, cred.size, 1, f) == 1);
    } else {
        cred.size = fread(bytes, 1, sizeof(bytes) - 1, f);
        while (cred.size > 0 && bytes[cred.size - 1] == '\n')
            cred.size--;
        if (cred.size > 0 && bytes[cred.size - 1])
            bytes[cred.size++] = '\0'; /* a text from a program */
        rc = PMIx_Validate_credential(&cred, how, 2, &info, &n);
        if (rc == PMIX_SUCCESS)
            printf("user %u group %u type %s\n",
                   find(info, n, PMIX_USERID)->value.data.uint32,
                   find(info, n, PMIX_GRPID)->value.data.uint32,
                   find(info, n, PMIX_CRED_TYPE)->value.data.string);
    }
    fclose(f);
    printf("status %d\n", rc);
}
