/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of the ranks of a job. */
#include "client.h"

/* Constructs a group and returns its context id, or 0 without one. */
static size_t construct(const char *name, const pmix_proc_t *procs, size_t n,
                        const char *directive)
{
    pmix_info_t info = info_bool(directive ? directive : "unused"), *results = NULL;
    const pmix_info_t *id, *members;
    size_t n_results = 0, context = 0;

    GOOD(PMIx_Group_construct(name, procs, n, &info, directive != NULL, &results,
                              &n_results));
    id = find(results, n_results, PMIX_GROUP_CONTEXT_ID);
    members = find(results, n_results, PMIX_GROUP_MEMBERSHIP);
    if (id &&
        id->value.data.size != SIZE_MAX) /* which release 4.2.2 returns for none */
        context = id->value.data.size;
    if (members && procs->rank != PMIX_RANK_WILDCARD)
        CHECK(members->value.data.darray->size == n);
    if (strict())
        CHECK(members && find(results, n_results, PMIX_GROUP_ID));
    PMIX_INFO_FREE(results, n_results);
    return context;
}

/* Checks that all members have one context id, which differs from another. */
static void check_context(const char *key, size_t context, size_t other)
{
    pmix_value_t v = {.type = PMIX_SIZE};

    CHECK(context > 0 && context != other);
    v.data.size = context;
    GOOD(PMIx_Put(PMIX_GLOBAL, key, &v));
    GOOD(PMIx_Commit());
    GOOD(fence_with_data());
    for (pmix_rank_t r = me.rank % 2; r < job_size; r += 2)
        VALUE_IS(r, key, PMIX_SIZE, v->data.size == context);
}

/* The group's name stands for its members. */
static void use_name(const char *name)
{
    pmix_proc_t all, first;
    pmix_value_t *v = NULL;

    PMIX_LOAD_PROCID(&all, name, PMIX_RANK_WILDCARD);
    PMIX_LOAD_PROCID(&first, name, 0);
    GOOD(PMIx_Fence(&all, 1, NULL, 0));
    VALUE_OF(&all, PMIX_JOB_SIZE, PMIX_UINT32, v->data.uint32 == job_size);
    GOOD(PMIx_Get(&first, "groups.rank", NULL, 0, &v));
    CHECK(v->data.uint32 == 0);
    PMIX_VALUE_RELEASE(v);
}

/* ---- groups: of all ranks, and of those with even or odd numbers ---------------------- */

JOINS(groups)
{
    pmix_proc_t half[64];
    size_t n = 0, of_all, of_half;
    uint32_t number;

    put_u32(PMIX_GLOBAL, "groups.rank", me.rank);
    GOOD(PMIx_Commit());
    CHECK(job_size <= 2 * 64);
    for (pmix_rank_t r = me.rank % 2; r < job_size; r += 2)
        half[n++] = rank_of(r);
    CHECK(construct("groups.none", &everyone, 1, NULL) == 0);
    GOOD(get_u32(next_rank(), "groups.rank", NULL, &number));
    CHECK(number == next_rank());
    of_all = construct("groups.all", &everyone, 1, PMIX_GROUP_ASSIGN_CONTEXT_ID);
    of_half = construct(me.rank % 2 ? "groups.odd" : "groups.even", half, n,
                        PMIX_GROUP_ASSIGN_CONTEXT_ID);
    check_context("groups.half", of_half, of_all);
    check_context("groups.all", of_all, of_half);
    if (strict())
        use_name("groups.all");
    GOOD(PMIx_Group_destruct(me.rank % 2 ? "groups.odd" : "groups.even", NULL, 0));
    GOOD(PMIx_Group_destruct("groups.all", NULL, 0));
    GOOD(PMIx_Group_destruct("groups.none", NULL, 0));
    CHECK(PMIx_Group_destruct("groups.none", NULL, 0) != PMIX_SUCCESS);
}

/* ---- constructs: the group of all, again and again ---------------------------------------- */

JOINS(constructs)
{
    for (int n = atoi(getenv("ROUNDS")); n > 0; n--)
        construct("again", &everyone, 1, NULL);
}

/* ---- group_values: members share values, which the context id finds ---------------------- */

/* Constructs the group for the n-th time, and returns its context id. */
static size_t share(size_t n)
{
    pmix_info_t own[2], info[2], *results = NULL;
    pmix_data_array_t array = {PMIX_INFO, 2, own};
    const pmix_info_t *id;
    size_t cid = 1000 * n + me.rank, n_results, context;
    char text[32];

    snprintf(text, sizeof(text), "text %zu of %u", n, me.rank);
    PMIX_INFO_LOAD(&own[0], PMIX_GROUP_LOCAL_CID, &cid, PMIX_SIZE);
    PMIX_INFO_LOAD(&own[1], "groups.text", text, PMIX_STRING);
    PMIX_INFO_LOAD(&info[0], PMIX_GROUP_ASSIGN_CONTEXT_ID, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_GROUP_INFO, &array, PMIX_DATA_ARRAY);
    GOOD(PMIx_Group_construct("values", &everyone, 1, info, 2, &results, &n_results));
    id = find(results, n_results, PMIX_GROUP_CONTEXT_ID);
    CHECK(id);
    context = id->value.data.size;
    PMIX_INFO_FREE(results, n_results);
    PMIX_INFO_DESTRUCT(&own[1]);
    PMIX_INFO_DESTRUCT(&info[1]);
    return context;
}

JOINS(group_values)
{
    size_t context[3];
    pmix_info_t id;
    pmix_value_t *v = NULL;
    pmix_proc_t next = rank_of(next_rank());

    for (size_t n = 0; n < 3; n++) {
        context[n] = share(n);
        if (n == 1) /* the values outlive the group */
            GOOD(PMIx_Group_destruct("values", NULL, 0));
    }
    for (size_t n = 0; n < 3; n++)
        for (pmix_rank_t r = 0; r < job_size; r++) {
            pmix_proc_t p = rank_of(r);
            char text[32];

            snprintf(text, sizeof(text), "text %zu of %u", n, r);
            PMIX_INFO_LOAD(&id, PMIX_GROUP_CONTEXT_ID, &context[n], PMIX_SIZE);
            PMIX_INFO_SET_QUALIFIER(&id);
            GOOD(PMIx_Get(&p, PMIX_GROUP_LOCAL_CID, &id, 1, &v));
            CHECK(v->type == PMIX_SIZE && v->data.size == 1000 * n + r);
            PMIX_VALUE_RELEASE(v);
            GOOD(PMIx_Get(&p, "groups.text", &id, 1, &v));
            CHECK(v->type == PMIX_STRING && strcmp(v->data.string, text) == 0);
            PMIX_VALUE_RELEASE(v);
        }
    context[0] += 1000000;
    PMIX_INFO_LOAD(&id, PMIX_GROUP_CONTEXT_ID, &context[0], PMIX_SIZE);
    PMIX_INFO_SET_QUALIFIER(&id);
    CHECK(PMIx_Get(&next, PMIX_GROUP_LOCAL_CID, &id, 1, &v) != PMIX_SUCCESS);
    if (strict())
        VALUE_OF(&next, PMIX_GROUP_NAMES, PMIX_DATA_ARRAY,
                 v->data.darray->size == 1 &&
                     strcmp(((char **)v->data.darray->array)[0], "values") == 0);
    barrier();
    GOOD(PMIx_Group_destruct("values", NULL, 0));
}

/* ---- group_cycles N [SEED]: N groups, one after the other, with random pauses. The program starts
 * and ends PMIx once for each group. Rank 0 prints the number of cycles after each twentieth. ---- */

/* Waits until all ranks have begun. A fence fails while a rank has ended its last life. */
static void meet(void)
{
    pmix_status_t rc;

    for (int ms = 1; (rc = PMIx_Fence(NULL, 0, NULL, 0)) == PMIX_ERR_LOST_CONNECTION;
         ms += ms < 16 ? ms : 0)
        sleep_ms(ms);
    GOOD(rc);
}

ALONE(group_cycles)
{
    const long seed = argc > 2 ? atol(argv[2]) : 0;
    size_t last = 0;

    CHECK(argc > 1);
    alarm(ALARM_S + (unsigned)atoi(argv[1]));
    for (int i = 0, n = atoi(argv[1]); i < n; i++) {
        begin();
        srand48(seed + (long)me.rank * 7919 + i);
        usleep((useconds_t)(drand48() * drand48() * 2000));
        meet();
        size_t context = construct("cycle", &everyone, 1, PMIX_GROUP_ASSIGN_CONTEXT_ID);
        CHECK(context != last);
        last = context;
        GOOD(PMIx_Group_destruct("cycle", NULL, 0));
        GOOD(PMIx_Finalize(NULL, 0));
        if (me.rank == 0 && (i + 1) % (n / 20 ? n / 20 : 1) == 0) {
            printf("%d cycles\n", i + 1);
            fflush(stdout);
        }
    }
    printf("OK group_cycles %u\n", me.rank);
}

/* ---- group_ends [dies]: rank 0 leaves the group, or the last rank dies in it. The others end it. */

static atomic_int n_left;
static pmix_rank_t left_rank;

HANDLER(on_left)
{
    const pmix_info_t *about = find(info, n, PMIX_EVENT_AFFECTED_PROC);

    left_rank = about ? about->value.data.proc->rank : PMIX_RANK_UNDEF;
    n_left++;
    HANDLED();
}

/* Returns the number of members, as the server knows them. */
static size_t members_of(const char *name)
{
    char *keys[] = {(char *)PMIX_QUERY_GROUP_MEMBERSHIP, NULL};
    pmix_info_t group, *found = NULL;
    pmix_query_t query = {.keys = keys, .qualifiers = &group, .nqual = 1};
    size_t n = 0, n_members;

    PMIX_INFO_LOAD(&group, PMIX_GROUP_ID, name, PMIX_STRING);
    GOOD(PMIx_Query_info(&query, 1, &found, &n));
    CHECK(n == 1 && found->value.type == PMIX_DATA_ARRAY);
    n_members = found->value.data.darray->size;
    if (((pmix_proc_t *)found->value.data.darray->array)->rank == PMIX_RANK_WILDCARD)
        n_members = job_size;
    PMIX_INFO_FREE(found, n);
    PMIX_INFO_DESTRUCT(&group);
    return n_members;
}

ALONE(group_ends)
{
    const bool dies = argc > 1;
    pmix_status_t left = PMIX_GROUP_LEFT;

    begin();
    CHECK(job_size > 1);
    watch(&left, 1, NULL, 0, on_left);
    construct("ends", &everyone, 1, NULL);
    CHECK(members_of("ends") == job_size);
    barrier();
    if (dies && me.rank == job_size - 1)
        _exit(0);
    if (!dies && me.rank == 0) {
        GOOD(PMIx_Group_leave("ends", NULL, 0));
    } else if (!dies) {
        CHECK(wait_for(&n_left, 20));
        CHECK(n_left == 1 && left_rank == 0);
        CHECK(members_of("ends") == job_size - 1);
    }
    if (dies || me.rank > 0)
        EXPECT(PMIx_Group_destruct("ends", NULL, 0),
               dies ? PMIX_ERR_LOST_CONNECTION : PMIX_SUCCESS);
    GOOD(PMIx_Finalize(NULL, 0));
    printf("OK group_ends %u\n", me.rank);
}

/* ---- invitations: rank 0 invites all others to groups of several names. Each name decides what the
 * invited processes do. ------------------------------------------------------------------- */

static atomic_int n_joined, n_missed, n_declined;
static pmix_status_t joined_as;
static size_t n_members;
static bool aborts, takes_leader;

static void on_joined(pmix_status_t status, pmix_info_t *info, size_t n, void *arg,
                      pmix_release_cbfunc_t release, void *release_data)
{
    const pmix_info_t *members = find(info, n, PMIX_GROUP_MEMBERSHIP);

    joined_as = status;
    n_members = members ? members->value.data.darray->size : 0;
    if (release)
        release(release_data);
    n_joined++;
}

/* Accepts, declines, dies, or does not answer. */
HANDLER(on_invited)
{
    const pmix_info_t *name = find(info, n, PMIX_GROUP_ID);
    const char *text = name ? name->value.data.string : "";
    const bool last = me.rank == job_size - 1;

    if (strcmp(text, "invite.lost") == 0 && last)
        _exit(0);
    if (strcmp(text, "invite.late") != 0 &&
        (strcmp(text, "invite.lies") != 0 || me.rank == 1) &&
        (strcmp(text, "invite.leader") != 0 || me.rank == 1 ||
         (takes_leader && me.rank == 2)))
        GOOD(PMIx_Group_join_nb(text, from,
                                last && !strcmp(text, "invite.some")
                                    ? PMIX_GROUP_DECLINE
                                    : PMIX_GROUP_ACCEPT,
                                NULL, 0, on_joined, NULL));
    HANDLED();
}

HANDLER(on_declined)
{
    n_declined++;
    done(aborts ? PMIX_GROUP_CONSTRUCT_ABORT : PMIX_SUCCESS, NULL, 0, NULL, NULL, arg);
}

HANDLER(on_missed)
{
    n_missed++;
    HANDLED();
}

/* Invites all, or waits for the end of the join. Returns the status. */
static pmix_status_t invite(const char *name, bool limited)
{
    pmix_info_t limit = info_timeout(1), *results = NULL;
    const pmix_info_t *members;
    size_t n = 0;
    pmix_status_t rc;

    if (me.rank > 0) {
        CHECK(wait_for(&n_joined, 20));
        n_joined = 0;
        return joined_as;
    }
    rc = PMIx_Group_invite(name, &everyone, 1, &limit, limited, &results, &n);
    members = find(results, n, PMIX_GROUP_MEMBERSHIP);
    n_members = members ? members->value.data.darray->size : 0;
    PMIX_INFO_FREE(results, n);
    return rc;
}

static void watch_invitations(void)
{
    pmix_status_t invited = PMIX_GROUP_INVITED, declined = PMIX_GROUP_INVITE_DECLINED,
                  failed = PMIX_GROUP_INVITE_FAILED;

    watch(&invited, 1, NULL, 0, on_invited);
    watch(&declined, 1, NULL, 0, on_declined);
    watch(&failed, 1, NULL, 0, on_missed);
    barrier();
}

JOINS(invitations)
{
    const bool last = me.rank == job_size - 1;

    CHECK(job_size > 2);
    put_u32(PMIX_GLOBAL, "groups.rank", me.rank);
    GOOD(PMIx_Commit());
    watch_invitations();
    GOOD(invite("invite.all", false));
    CHECK(n_members == job_size);
    use_name("invite.all");
    GOOD(PMIx_Group_destruct("invite.all", NULL, 0));
    if (last)
        GOOD(invite("invite.some", false)); /* it has declined */
    else
        EXPECT(invite("invite.some", false),
               me.rank ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS);
    CHECK(last || n_members == job_size - 1);
    CHECK(n_declined == (me.rank == 0));
    if (!last)
        GOOD(PMIx_Group_destruct("invite.some", NULL, 0));
    barrier();
    if (me.rank == 0) {
        EXPECT(invite("invite.late", true), PMIX_ERR_TIMEOUT);
        EXPECT(PMIx_Group_invite("invite.none", &me, 1, NULL, 0, NULL, NULL),
               PMIX_SUCCESS);
    }
    barrier();
}

/* ---- mixed_invitation: rank 0 and the others may have different libraries ------------- */

JOINS(mixed_invitation)
{
    watch_invitations();
    GOOD(invite("invite.all", false));
    CHECK(me.rank > 0 || !strict() || n_members == job_size);
    barrier();
}

/* ---- lost_invitation: the last rank ends when it is invited -------------------------- */

ALONE(lost_invitation)
{
    begin();
    watch_invitations();
    EXPECT(invite("invite.lost", false),
           me.rank ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS);
    CHECK(n_members == job_size - 1);
    CHECK(n_missed == (me.rank == 0));
    printf("OK lost_invitation %u\n", me.rank);
    fflush(stdout);
    _exit(0);
}

/* ---- lost_leader: the leader ends before all have answered ---------------------------- */

ALONE(lost_leader)
{
    begin();
    watch_invitations();
    if (me.rank == 0) {
        pmix_proc_t second = rank_of(1);

        GOOD(PMIx_Group_invite_nb("invite.leader", (pmix_proc_t[]){second, rank_of(2)},
                                  2, NULL, 0, on_joined, NULL));
        sleep_ms(300);
        _exit(0);
    }
    if (me.rank == 1)
        EXPECT(invite("invite.leader", false), PMIX_GROUP_LEADER_FAILED);
    else
        sleep_ms(3000); /* has no answer for the leader */
    printf("OK lost_leader %u\n", me.rank);
    fflush(stdout);
    _exit(0);
}

/* ---- lies: rank 0 invites ranks 1 and 2. Rank 3 was not invited, and sends events about others. -- */

/* Sends an event about a rank to ranks 0 and 1. */
static void lie(pmix_status_t code, pmix_rank_t about)
{
    pmix_proc_t both[] = {rank_of(0), rank_of(1)}, proc = rank_of(about);
    pmix_data_array_t range = {.type = PMIX_PROC, .size = 2, .array = both};
    pmix_data_array_t members = {.type = PMIX_PROC, .size = 1, .array = &me};
    pmix_info_t info[5] = {info_bool(PMIX_EVENT_NON_DEFAULT)};
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info[1], PMIX_EVENT_CUSTOM_RANGE, &range, PMIX_DATA_ARRAY);
    PMIX_INFO_LOAD(&info[2], PMIX_GROUP_ID, "invite.lies", PMIX_STRING);
    PMIX_INFO_LOAD(&info[3], PMIX_EVENT_AFFECTED_PROC, &proc, PMIX_PROC);
    PMIX_INFO_LOAD(&info[4], PMIX_GROUP_MEMBERSHIP, &members, PMIX_DATA_ARRAY);
    rc = PMIx_Notify_event(code, &me, PMIX_RANGE_CUSTOM, info, 5, NULL, NULL);
    CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED);
    for (int i = 0; i < 5; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
}

JOINS(lies)
{
    const pmix_proc_t leader = rank_of(0), invited[] = {rank_of(1), rank_of(2)};

    CHECK(job_size == 4);
    watch_invitations();
    if (me.rank == 0)
        GOOD(PMIx_Group_invite_nb("invite.lies", invited, 2, NULL, 0, on_joined, NULL));
    barrier();
    if (me.rank == 3) {
        lie(PMIX_GROUP_INVITE_DECLINED, 2);
        lie(PMIX_GROUP_INVITE_ACCEPTED, 2);
        lie(PMIX_GROUP_INVITE_FAILED, 2);
        lie(PMIX_GROUP_LEADER_FAILED, 0);
        lie(PMIX_GROUP_LEADER_SELECTED, 3);
        lie(PMIX_GROUP_CONSTRUCT_COMPLETE, 0);
        lie(PMIX_GROUP_CONSTRUCT_ABORT, 0);
    }
    barrier();
    sleep_ms(100);
    CHECK(n_joined == 0);
    barrier(); /* a rank that is late checks before rank 2 joins */
    if (me.rank == 2)
        GOOD(PMIx_Group_join_nb("invite.lies", &leader, PMIX_GROUP_ACCEPT, NULL, 0,
                                on_joined, NULL));
    if (me.rank < 3) {
        CHECK(wait_for(&n_joined, 20));
        GOOD(joined_as);
        CHECK(n_members == 3);
        GOOD(PMIx_Group_destruct("invite.lies", NULL, 0));
    }
    barrier();
}

/* ---- new_leader [few]: the leader ends, and rank 2 takes its place. Rank 3 answers the new leader,
 * or ends before there is one. ------------------------------------------------------------ */

static bool is_few;

HANDLER(on_leader_failed)
{
    pmix_info_t leads = info_bool(PMIX_GROUP_LEADER);

    CHECK(status == PMIX_GROUP_LEADER_FAILED);
    if (is_few && me.rank == 3)
        _exit(0);
    if (is_few && me.rank == 1)
        sleep_ms(500);
    done(PMIX_SUCCESS, &leads, me.rank == 2, NULL, NULL, arg);
}

HANDLER(on_leader_selected)
{
    const pmix_info_t *leader = find(info, n, PMIX_GROUP_LEADER);

    CHECK(leader && leader->value.data.proc->rank == 2);
    if (me.rank == 3)
        GOOD(PMIx_Group_join_nb("invite.leader", leader->value.data.proc,
                                PMIX_GROUP_ACCEPT, NULL, 0, on_joined, NULL));
    HANDLED();
}

ALONE(new_leader)
{
    pmix_status_t failed = PMIX_GROUP_LEADER_FAILED,
                  selected = PMIX_GROUP_LEADER_SELECTED;

    begin();
    takes_leader = true;
    is_few = argc > 1;
    watch(&failed, 1, NULL, 0, on_leader_failed);
    watch(&selected, 1, NULL, 0, on_leader_selected);
    watch_invitations();
    if (me.rank == 0) {
        GOOD(PMIx_Group_invite_nb("invite.leader", &everyone, 1, NULL, 0, on_joined,
                                  NULL));
        sleep_ms(300);
        _exit(0);
    }
    EXPECT(invite("invite.leader", false),
           is_few && me.rank == 2 ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS);
    CHECK(n_members == (is_few ? 2 : 3));
    GOOD(PMIx_Group_destruct("invite.leader", NULL, 0));
    printf("OK new_leader %u\n", me.rank);
    fflush(stdout);
    _exit(0);
}

/* ---- aborted_invitation: a handler of the leader aborts ------------------------------- */

JOINS(aborted_invitation)
{
    aborts = true;
    watch_invitations();
    if (me.rank == job_size - 1)
        GOOD(invite("invite.some", false));
    else
        EXPECT(invite("invite.some", false), PMIX_GROUP_CONSTRUCT_ABORT);
    barrier();
}
