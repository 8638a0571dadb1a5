/* SPDX-License-Identifier: BSD-3-Clause */
/* The Standard's chapter "Process Sets and Groups". */
#include "standard.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pmix_proc_t everyone, procs[3];
static pmix_info_t *results;
static size_t n_results;

static pmix_info_t flag(const char *key)
{
    pmix_info_t info;

    PMIx_Info_load(&info, key, NULL, PMIX_BOOL);
    PMIx_Info_required(&info);
    return info;
}

static void begin(void)
{
    PMIx_Load_procid(&everyone, standard_me.nspace, PMIX_RANK_WILDCARD);
    for (pmix_rank_t r = 0; r < 3; r++)
        PMIx_Load_procid(&procs[r], standard_me.nspace, r);
}

static pmix_status_t construct(const char *name, const pmix_info_t *info, size_t n)
{
    return PMIx_Group_construct(name, &everyone, 1, info, n, &results, &n_results);
}

static size_t number_of_members(void)
{
    const pmix_info_t *m = standard_find(results, n_results, PMIX_GROUP_MEMBERSHIP);

    return m ? m->value.data.darray->size : 0;
}

/* ---- events -------------------------------------------------------------------------------- */

static atomic_int n_events;
static char event_name[64];
static size_t event_members;
static pmix_proc_t event_source;

static void on_event(size_t id PX_UNUSED, pmix_status_t status PX_UNUSED,
                     const pmix_proc_t *source, pmix_info_t info[], size_t n,
                     pmix_info_t given[] PX_UNUSED, size_t n_given PX_UNUSED,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    const pmix_info_t *name = standard_find(info, n, PMIX_GROUP_ID),
                      *members = standard_find(info, n, PMIX_GROUP_MEMBERSHIP);

    if (!name)
        name = standard_find(info, n, PMIX_PSET_NAME);
    if (!members)
        members = standard_find(info, n, PMIX_PSET_MEMBERS);
    snprintf(event_name, sizeof(event_name), "%s", name ? name->value.data.string : "");
    event_members = members ? members->value.data.darray->size : 0;
    event_source = *source;
    n_events++;
    done(PMIX_SUCCESS, NULL, 0, NULL, NULL, arg);
}

static void want(pmix_status_t code)
{
    STANDARD_CHECK(
        PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL) >= 0);
}

static bool await_event(void)
{
    for (int i = 0; i < 4000 && n_events == 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    return n_events > 0;
}

static void fence(void)
{
    STANDARD_CHECK(PMIx_Fence(NULL, 0, NULL, 0) == PMIX_SUCCESS);
}

/* ---- process sets -------------------------------------------------------------------------- */

PX_TEST(the_event_of_a_new_set_shall_have_name_and_members)
{
    const pmix_proc_t members[] = {{"job", 0}, {"job", 1}};
    pmix_status_t code = PMIX_PROCESS_SET_DEFINE;

    ok(PMIx_server_init(NULL, NULL, 0));
    ck_assert_int_ge(
        PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL), 0);
    n_events = 0;
    ok(PMIx_server_define_process_set(members, 2, "ocean"));
    ck_assert(await_event());
    ck_assert_str_eq(event_name, "ocean");
    ck_assert_uint_eq(event_members, 2);
}

PX_TEST(servers_shall_notify_of_deleted_sets)
{
    const pmix_proc_t member = {"job", 0};
    pmix_status_t code = PMIX_PROCESS_SET_DELETE;
    char name[] = "ice";

    ok(PMIx_server_init(NULL, NULL, 0));
    ok(PMIx_server_define_process_set(&member, 1, name));
    ck_assert_int_ge(
        PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL), 0);
    n_events = 0;
    ok(PMIx_server_delete_process_set(name));
    ck_assert(await_event());
    ck_assert_str_eq(event_name, "ice");
}

static pmix_status_t host_publish(const pmix_proc_t *proc PX_UNUSED,
                                  const pmix_info_t info[] PX_UNUSED,
                                  size_t n PX_UNUSED, pmix_op_cbfunc_t cb PX_UNUSED,
                                  void *cbdata PX_UNUSED)
{
    const pmix_proc_t members[] = {{"job", 0}, {"job", 1}};
    char name[] = "ocean";

    ok(PMIx_server_define_process_set(members, 2, name));
    ok(PMIx_server_delete_process_set(name));
    return PMIX_OPERATION_SUCCEEDED;
}

STANDARD_CLIENT(has_sets)
{
    pmix_info_t ready;

    want(PMIX_PROCESS_SET_DEFINE);
    PMIx_Info_load(&ready, "ready", NULL, PMIX_BOOL);
    STANDARD_CHECK(PMIx_Publish(&ready, 1) == PMIX_SUCCESS);
    STANDARD_CHECK(await_event());
    STANDARD_CHECK(strcmp(event_name, "ocean") == 0 && event_members == 2);
    n_events = 0;
    want(PMIX_PROCESS_SET_DELETE);
    STANDARD_CHECK(PMIx_Publish(&ready, 1) == PMIX_SUCCESS);
    while (await_event() && event_members == 2) /* the second definition */
        n_events = 0;
    STANDARD_CHECK(strcmp(event_name, "ocean") == 0 && event_members == 0);
}

PX_TEST(the_server_is_required_to_notify_all_local_clients_of_process_sets)
{
    static pmix_server_module_t module = {.publish = host_publish};
    pmix_proc_t proc = {"job", 0};

    ok(PMIx_server_init(&module, NULL, 0));
    ok(standard_wait(
        PMIx_server_register_nspace(proc.nspace, 1, NULL, 0, standard_on_op, NULL)));
    ok(standard_wait(PMIx_server_register_client(&proc, geteuid(), getegid(), NULL,
                                                 standard_on_op, NULL)));
    ck_assert_int_eq(standard_fork(&proc, "has_sets"), 0);
}

/* ---- construct ----------------------------------------------------------------------------- */

STANDARD_CLIENT(local)
{
    pmix_info_t info = flag(PMIX_GROUP_LOCAL_ONLY);

    begin();
    STANDARD_CHECK(construct("local", &info, 1) == PMIX_SUCCESS);
    STANDARD_CHECK(number_of_members() == 3);
    STANDARD_CHECK(construct("scanned", NULL, 0) == PMIX_SUCCESS);
    STANDARD_CHECK(number_of_members() == 3);
}

PX_TEST(libraries_are_required_to_support_local_only_and_to_scan_for_it)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 3", "local");
}

static void on_info(pmix_status_t status, pmix_info_t *info, size_t n,
                    void *arg PX_UNUSED, pmix_release_cbfunc_t release, void *data)
{
    results = PMIx_Info_create(n);
    for (n_results = 0; n_results < n; n_results++)
        PMIx_Info_xfer(&results[n_results], &info[n_results]);
    if (release)
        release(data);
    standard_on_op(status, NULL);
}

/* The fence of ranks 0 and 2 follows the leader's request: the server knows the leader before rank 2 ends. */
STANDARD_CLIENT(leader)
{
    pmix_info_t info[] = {flag(PMIX_GROUP_LEADER), flag(PMIX_GROUP_NOTIFY_TERMINATION)};
    const bool leads = standard_me.rank == 0;
    pmix_proc_t all;

    begin();
    const pmix_proc_t ends[] = {procs[0], procs[2]};
    want(PMIX_GROUP_MEMBER_FAILED);
    fence();
    pmix_status_t rc = leads ? PMIx_Group_construct_nb("led", &everyone, 1, info, 2,
                                                       on_info, NULL)
                             : PMIX_SUCCESS;
    if (standard_me.rank != 1)
        STANDARD_CHECK(PMIx_Fence(ends, 2, NULL, 0) == PMIX_SUCCESS);
    if (standard_me.rank == 2)
        return;
    rc = leads ? standard_wait(rc) : construct("led", info + 1, 1);
    STANDARD_CHECK(rc == PMIX_SUCCESS);
    STANDARD_CHECK(!leads || await_event());
    STANDARD_CHECK(number_of_members() == 2);
    /* The leader may end after the next fence. */
    STANDARD_CHECK(leads || n_events == 0);
    PMIx_Load_procid(&all, "led", PMIX_RANK_WILDCARD);
    STANDARD_CHECK(PMIx_Fence(&all, 1, NULL, 0) == PMIX_SUCCESS);
}

PX_TEST(libraries_are_required_to_support_leaders)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 3", "leader");
}

/* Directives of constructions that rank 2 joins, or does not join because it ends. */
static const struct {
    const char *directive;
    bool complete;
    pmix_status_t status;
} constructions[] = {
    {PMIX_GROUP_OPTIONAL, true, PMIX_SUCCESS},
    {PMIX_GROUP_OPTIONAL, false, PMIX_ERR_PARTIAL_SUCCESS},
    {PMIX_GROUP_FT_COLLECTIVE, true, PMIX_SUCCESS},
    {PMIX_GROUP_FT_COLLECTIVE, false, PMIX_SUCCESS},
    {PMIX_GROUP_NOTIFY_TERMINATION, false, PMIX_SUCCESS},
    {NULL, false, PMIX_ERR_LOST_CONNECTION},
};

STANDARD_CLIENT(constructs)
{
    const int row = atoi(getenv("STANDARD_ROW"));
    const pmix_status_t wanted = constructions[row].status;
    const char *directive = constructions[row].directive;
    pmix_info_t info = flag(directive ? directive : PMIX_GROUP_LOCAL_ONLY);

    begin();
    if (standard_me.rank == 2 && !constructions[row].complete)
        return;
    for (int form = 0; form < 2; form++) {
        const char *name = form ? "posted" : "waited";

        results = NULL;
        n_results = 0;
        STANDARD_CHECK((form ? standard_wait(PMIx_Group_construct_nb(
                                   name, &everyone, 1, &info, 1, on_info, NULL))
                             : construct(name, &info, 1)) == wanted);
        if (wanted == PMIX_ERR_LOST_CONNECTION)
            continue;
        STANDARD_CHECK(number_of_members() == (constructions[row].complete ? 3 : 2));
        STANDARD_CHECK((form ? standard_wait(PMIx_Group_destruct_nb(
                                   name, NULL, 0, standard_on_op, NULL))
                             : PMIx_Group_destruct(name, NULL, 0)) == PMIX_SUCCESS);
    }
}

PX_TEST_LOOP(libraries_are_required_to_support_optional_ft_collective_and_notify,
             (int)(sizeof(constructions) / sizeof(constructions[0])))
{
    char row[16];

    STANDARD_NEEDS_PMIXRUN;
    snprintf(row, sizeof(row), "%d", _i);
    setenv("STANDARD_ROW", row, 1);
    standard_run("-n 3", "constructs");
}

STANDARD_CLIENT(contexts)
{
    pmix_info_t info = flag(PMIX_GROUP_ASSIGN_CONTEXT_ID);
    size_t first;

    begin();
    STANDARD_CHECK(construct("one", &info, 1) == PMIX_SUCCESS);
    const pmix_info_t *id = standard_find(results, n_results, PMIX_GROUP_CONTEXT_ID);
    STANDARD_CHECK(id && id->value.type == PMIX_SIZE);
    first = id->value.data.size;
    STANDARD_CHECK(construct("two", &info, 1) == PMIX_SUCCESS);
    id = standard_find(results, n_results, PMIX_GROUP_CONTEXT_ID);
    STANDARD_CHECK(id && id->value.data.size != first);
}

PX_TEST(hosts_are_required_to_assign_unique_context_ids)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 3", "contexts");
}

STANDARD_CLIENT(posted)
{
    pmix_value_t value = {.type = PMIX_UINT32, .data.uint32 = standard_me.rank},
                 *v = NULL;

    begin();
    STANDARD_CHECK(PMIx_Put(PMIX_GLOBAL, "rank", &value) == PMIX_SUCCESS);
    STANDARD_CHECK(PMIx_Commit() == PMIX_SUCCESS);
    STANDARD_CHECK(construct("posted", NULL, 0) == PMIX_SUCCESS);
    for (pmix_rank_t r = 0; r < 3; r++) {
        STANDARD_CHECK(PMIx_Get(&procs[r], "rank", NULL, 0, &v) == PMIX_SUCCESS);
        STANDARD_CHECK(v->data.uint32 == r);
    }
    STANDARD_CHECK(PMIx_Get(&everyone, PMIX_JOB_SIZE, NULL, 0, &v) == PMIX_SUCCESS);
}

PX_TEST(posted_data_and_job_information_are_required_after_the_construction)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 3", "posted");
}

STANDARD_CLIENT(bootstrap)
{
    pmix_info_t info[2];
    const size_t leaders = 2;
    pmix_data_array_t more = {PMIX_PROC, 1, &procs[2]};
    const bool leads = standard_me.rank < 2;

    begin();
    PMIx_Info_load(&info[0], PMIX_GROUP_BOOTSTRAP, &leaders, PMIX_SIZE);
    PMIx_Info_load(&info[1], PMIX_GROUP_ADD_MEMBERS, &more, PMIX_DATA_ARRAY);
    STANDARD_CHECK(PMIx_Group_construct("strap", leads ? &standard_me : NULL, leads,
                                        info, leads ? 1 + standard_me.rank : 0,
                                        &results, &n_results) == PMIX_SUCCESS);
    STANDARD_CHECK(number_of_members() == 3);
    STANDARD_CHECK(PMIx_Group_destruct("strap", NULL, 0) == PMIX_SUCCESS);
}

PX_TEST(leaders_are_required_to_give_their_number_for_a_bootstrap)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 3", "bootstrap");
}

/* ---- two namespaces ------------------------------------------------------------------------ */

/* Constructs a group of two jobs of a process each, and gets what the other one has. */
static void meet(const char *parent, const char *child)
{
    pmix_proc_t both[2], other;
    pmix_value_t value = {.type = PMIX_STRING, .data.string = standard_me.nspace};
    pmix_value_t *v = NULL;

    PMIx_Load_procid(&both[0], parent, PMIX_RANK_WILDCARD);
    PMIx_Load_procid(&both[1], child, PMIX_RANK_WILDCARD);
    STANDARD_CHECK(PMIx_Put(PMIX_GLOBAL, "posted", &value) == PMIX_SUCCESS);
    STANDARD_CHECK(PMIx_Commit() == PMIX_SUCCESS);
    STANDARD_CHECK(PMIx_Group_construct("both", both, 2, NULL, 0, &results,
                                        &n_results) == PMIX_SUCCESS);
    other = both[PMIx_Check_nspace(standard_me.nspace, parent) ? 1 : 0];
    STANDARD_CHECK(PMIx_Get(&other, PMIX_JOB_SIZE, NULL, 0, &v) == PMIX_SUCCESS);
    STANDARD_CHECK(v->data.uint32 == 1);
    other.rank = 0;
    STANDARD_CHECK(PMIx_Get(&other, "posted", NULL, 0, &v) == PMIX_SUCCESS);
    STANDARD_CHECK(strcmp(v->data.string, other.nspace) == 0);
    STANDARD_CHECK(PMIx_Group_destruct("both", NULL, 0) == PMIX_SUCCESS);
}

STANDARD_CLIENT(spawned)
{
    pmix_value_t *v = NULL;

    STANDARD_CHECK(PMIx_Get(&standard_me, PMIX_PARENT_ID, NULL, 0, &v) == PMIX_SUCCESS);
    meet(v->data.proc->nspace, standard_me.nspace);
}

STANDARD_CLIENT(spawns)
{
    char self[4096], *argv[] = {self, (char[]){"spawned"}, NULL};
    pmix_app_t app = {.cmd = self, .argv = argv, .maxprocs = 1};
    pmix_nspace_t child;
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

    STANDARD_CHECK(n > 0);
    self[n] = '\0';
    STANDARD_CHECK(PMIx_Spawn(NULL, 0, &app, 1, child) == PMIX_SUCCESS);
    meet(standard_me.nspace, child);
}

PX_TEST(job_information_of_each_participating_namespace_is_required)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 1", "spawns");
}

STANDARD_CLIENT(names)
{
    begin();
    STANDARD_CHECK(construct(standard_me.nspace, NULL, 0) == PMIX_ERR_EXISTS);
    if (standard_me.rank < 2)
        STANDARD_CHECK(PMIx_Group_construct("taken", procs, 2, NULL, 0, &results,
                                            &n_results) == PMIX_SUCCESS);
    fence();
    STANDARD_CHECK(construct("taken", NULL, 0) == PMIX_ERR_EXISTS);
    if (standard_me.rank < 2)
        STANDARD_CHECK(PMIx_Group_destruct("taken", NULL, 0) == PMIX_SUCCESS);
    fence();
    STANDARD_CHECK(construct("taken", NULL, 0) == PMIX_SUCCESS);
    fence();
}

PX_TEST(group_identifiers_must_be_distinct_from_groups_and_namespaces)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 3", "names");
}

static void on_group(pmix_status_t status, pmix_info_t info[] PX_UNUSED,
                     size_t n PX_UNUSED, void *cbdata, pmix_release_cbfunc_t release,
                     void *release_arg)
{
    standard_on_op(status, cbdata);
    if (release)
        release(release_arg);
}

/* Returns the status of a get of the group's size. */
static pmix_status_t get_size(const char *name)
{
    pmix_info_t now = flag(PMIX_IMMEDIATE);
    pmix_value_t *value = NULL;
    pmix_proc_t group;

    PMIx_Load_procid(&group, name, PMIX_RANK_WILDCARD);
    pmix_status_t rc = PMIx_Get(&group, PMIX_JOB_SIZE, &now, 1, &value);
    if (value)
        PMIx_Value_free(value, 1);
    return rc;
}

STANDARD_CLIENT(early)
{
    pmix_proc_t group;

    begin();
    PMIx_Load_procid(&group, "later", PMIX_RANK_WILDCARD);
    if (standard_me.rank == 0) {
        STANDARD_CHECK(PMIx_Group_construct_nb("later", &everyone, 1, NULL, 0, on_group,
                                               NULL) == PMIX_SUCCESS);
        STANDARD_CHECK(get_size("later") != PMIX_SUCCESS);
    }
    fence();
    STANDARD_CHECK(standard_me.rank == 0 ? standard_wait(PMIX_SUCCESS) == PMIX_SUCCESS
                                         : construct("later", NULL, 0) == PMIX_SUCCESS);
    STANDARD_CHECK(get_size("later") == PMIX_SUCCESS);
    STANDARD_CHECK(PMIx_Fence(&group, 1, NULL, 0) == PMIX_SUCCESS);
}

PX_TEST(a_complete_construction_is_required_before_other_operations)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 3", "early");
}

/* ---- destruct and leave -------------------------------------------------------------------- */

STANDARD_CLIENT(unsupported)
{
    pmix_info_t info = flag("example.unknown");

    begin();
    STANDARD_CHECK(construct("refused", &info, 1) == PMIX_ERR_NOT_SUPPORTED);
    STANDARD_CHECK(construct("served", NULL, 0) == PMIX_SUCCESS);
    STANDARD_CHECK(PMIx_Group_destruct("served", &info, 1) == PMIX_ERR_NOT_SUPPORTED);
    STANDARD_CHECK(PMIx_Group_leave("served", &info, 1) == PMIX_ERR_NOT_SUPPORTED);
    STANDARD_CHECK(PMIx_Group_destruct("served", NULL, 0) == PMIX_SUCCESS);
}

PX_TEST(an_unsupported_required_attribute_must_be_refused)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 3", "unsupported");
}

STANDARD_CLIENT(incorrect)
{
    unsigned before = standard_answers();

    begin();
    STANDARD_CHECK(PMIx_Group_destruct_nb(NULL, NULL, 0, standard_on_op, NULL) ==
                   PMIX_ERR_BAD_PARAM);
    STANDARD_CHECK(PMIx_Group_leave_nb("", NULL, 0, standard_on_op, NULL) ==
                   PMIX_ERR_BAD_PARAM);
    fence();
    STANDARD_CHECK(standard_answers() == before);
}

PX_TEST(the_callback_of_an_incorrect_request_must_not_be_called)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 1", "incorrect");
}

STANDARD_CLIENT(departure)
{
    begin();
    want(PMIX_GROUP_LEFT);
    STANDARD_CHECK(construct("parted", NULL, 0) == PMIX_SUCCESS);
    fence();
    if (standard_me.rank == 2) {
        STANDARD_CHECK(PMIx_Group_leave("parted", NULL, 0) == PMIX_SUCCESS);
    } else {
        STANDARD_CHECK(await_event());
        STANDARD_CHECK(strcmp(event_name, "parted") == 0 && event_source.rank == 2);
        STANDARD_CHECK(PMIx_Group_destruct("parted", NULL, 0) == PMIX_SUCCESS);
    }
    fence();
}

PX_TEST(members_must_be_notified_of_a_departure)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 3", "departure");
}

/* ---- queries ------------------------------------------------------------------------------- */

STANDARD_CLIENT(membership)
{
    char key[] = PMIX_QUERY_GROUP_MEMBERSHIP, *keys[] = {key, NULL};
    pmix_info_t about;
    pmix_query_t q = {.keys = keys, .qualifiers = &about, .nqual = 1};

    begin();
    STANDARD_CHECK(construct("asked", NULL, 0) == PMIX_SUCCESS);
    PMIx_Info_load(&about, PMIX_GROUP_ID, "asked", PMIX_STRING);
    STANDARD_CHECK(PMIx_Query_info(&q, 1, &results, &n_results) == PMIX_SUCCESS);
    STANDARD_CHECK(standard_find(results, n_results, PMIX_QUERY_GROUP_MEMBERSHIP));
    q.nqual = 0;
    STANDARD_CHECK(PMIx_Query_info(&q, 1, &results, &n_results) != PMIX_SUCCESS);
    fence();
}

PX_TEST(the_name_is_required_to_query_the_members)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 3", "membership");
}

/* ---- invitations --------------------------------------------------------------------------- */

/* Rank 0 invites the others to a group, and all construct it. */
static void invite_all(const char *name, bool early)
{
    begin();
    if (early)
        want(PMIX_GROUP_INVITED);
    fence();
    if (standard_me.rank == 0) {
        STANDARD_CHECK(PMIx_Group_invite(name, procs + 1, 2, NULL, 0, &results,
                                         &n_results) == PMIX_SUCCESS);
        STANDARD_CHECK(number_of_members() == 3);
        return;
    }
    if (!early) {
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        want(PMIX_GROUP_INVITED);
    }
    STANDARD_CHECK(await_event());
    STANDARD_CHECK(strcmp(event_name, name) == 0 && event_source.rank == 0);
    STANDARD_CHECK(
        standard_wait(PMIx_Group_join_nb(name, &event_source, PMIX_GROUP_ACCEPT, NULL,
                                         0, on_info, NULL)) == PMIX_SUCCESS);
}

STANDARD_CLIENT(invitation)
{
    invite_all("invited", true);
    fence();
}

PX_TEST(invited_processes_must_register_for_the_event)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 3", "invitation");
}

STANDARD_CLIENT(late_invitation)
{
    invite_all("late", false);
    fence();
}

PX_TEST(no_order_of_invitation_and_registration_is_required)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 3", "late_invitation");
}

/* Rank 0 invites the others with all attributes that are required, and rank 2 declines or not. */
static void invite_with(bool declines, bool blocking)
{
    pmix_info_t info[] = {flag(PMIX_GROUP_OPTIONAL), flag(PMIX_GROUP_FT_COLLECTIVE),
                          flag(PMIX_GROUP_ASSIGN_CONTEXT_ID),
                          flag(PMIX_GROUP_NOTIFY_TERMINATION)};
    const char *name = blocking ? "waited" : "posted";
    const size_t n = sizeof(info) / sizeof(info[0]);

    n_events = 0;
    fence();
    if (standard_me.rank == 0) {
        STANDARD_CHECK((blocking ? PMIx_Group_invite(name, procs + 1, 2, info, n,
                                                     &results, &n_results)
                                 : standard_wait(PMIx_Group_invite_nb(
                                       name, procs + 1, 2, info, n, on_info, NULL))) ==
                       (declines ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS));
    } else {
        STANDARD_CHECK(await_event());
        declines = declines && standard_me.rank == 2;
        pmix_status_t rc = standard_wait(PMIx_Group_join_nb(
            name, &event_source, declines ? PMIX_GROUP_DECLINE : PMIX_GROUP_ACCEPT,
            NULL, 0, on_info, NULL));
        STANDARD_CHECK(declines || rc == PMIX_SUCCESS);
        if (declines)
            return;
    }
    STANDARD_CHECK(standard_find(results, n_results, PMIX_GROUP_CONTEXT_ID));
}

STANDARD_CLIENT(invitations)
{
    begin();
    want(PMIX_GROUP_INVITED);
    invite_with(false, true);
    invite_with(true, false);
    fence();
}

PX_TEST(libraries_and_hosts_are_required_to_support_directives_of_invitations)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 3", "invitations");
}

static void on_declined(size_t id PX_UNUSED, pmix_status_t status PX_UNUSED,
                        const pmix_proc_t *source PX_UNUSED,
                        pmix_info_t info[] PX_UNUSED, size_t n PX_UNUSED,
                        pmix_info_t given[] PX_UNUSED, size_t n_given PX_UNUSED,
                        pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    done(PMIX_GROUP_CONSTRUCT_ABORT, NULL, 0, NULL, NULL, arg);
}

STANDARD_CLIENT(aborted_by_handler)
{
    pmix_status_t code = standard_me.rank == 0 ? PMIX_GROUP_INVITE_DECLINED
                                               : PMIX_GROUP_INVITED;

    begin();
    STANDARD_CHECK(PMIx_Register_event_handler(
                       &code, 1, NULL, 0, standard_me.rank ? on_event : on_declined,
                       NULL, NULL) >= 0);
    fence();
    if (standard_me.rank == 0) {
        STANDARD_CHECK(PMIx_Group_invite("aborted", procs + 1, 2, NULL, 0, &results,
                                         &n_results) == PMIX_GROUP_CONSTRUCT_ABORT);
    } else {
        STANDARD_CHECK(await_event());
        pmix_status_t rc = PMIx_Group_join("aborted", &event_source,
                                           standard_me.rank == 1 ? PMIX_GROUP_ACCEPT
                                                                 : PMIX_GROUP_DECLINE,
                                           NULL, 0, &results, &n_results);
        STANDARD_CHECK(standard_me.rank == 2 || rc == PMIX_GROUP_CONSTRUCT_ABORT);
    }
    fence();
}

PX_TEST(actions_of_the_inviting_process_must_be_the_result_of_its_handler)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 3", "aborted_by_handler");
}

STANDARD_CLIENT(completion)
{
    if (standard_me.rank == 1)
        want(PMIX_GROUP_CONSTRUCT_COMPLETE);
    invite_all("complete", true);
    fence();
    if (standard_me.rank == 1)
        STANDARD_CHECK(event_members == 3);
}

PX_TEST(the_inviting_process_is_required_to_notify_of_the_completion)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 3", "completion");
}

static void stop(void)
{
    if (PMIx_Initialized())
        (void)PMIx_server_finalize();
}

STANDARD_MAIN("standard/groups", NULL, stop)
