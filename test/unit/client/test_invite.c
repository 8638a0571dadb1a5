/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups by invitation: the messages of a leader and of an invited process, and the end of the calls,
 * for each order of answers. */
#include "core/client/client.h"
#include "core/notify/notify.h"
#include "fake_server.h"
#include "px_test.h"

#include <string.h>

/* A call, events from others, and what follows. The server sends the next word of events after each event
 * of this process. Events: a letter and the rank that the event is from, or about; see kinds. */
struct row {
    const char
        *call; /* ranks to invite, "*" for all; or the leader to join, "-" for none */
    enum { INVITES, JOINS, DECLINES } how;
    const char *events;
    const char
        *messages; /* events of this process with their targets, and the construction */
    const char *members; /* result of a call that ends well */
    pmix_status_t status;
    bool is_limited, is_optional; /* PMIX_TIMEOUT of a second, PMIX_GROUP_OPTIONAL */
    pmix_status_t
        refused; /* answer of the server to events or, below, to the construction */
    pmix_status_t not_constructed;
    pmix_status_t
        handled; /* a handler of this process for this code aborts, or leads */
};

static const struct kind {
    char letter;
    pmix_status_t code;
    bool constructs;     /* the process has this library */
    bool from_server;    /* the rank is affected */
    const char *members; /* PMIX_GROUP_MEMBERSHIP */
    const char *range;   /* PMIX_EVENT_CUSTOM_RANGE */
    bool elects, selects;
    const char *group; /* "crew" unless set */
} kinds[] = {
    {'A', .code = PMIX_GROUP_INVITE_ACCEPTED, .constructs = true},
    {'a', .code = PMIX_GROUP_INVITE_ACCEPTED},
    {'D', .code = PMIX_GROUP_INVITE_DECLINED},
    {'X', .code = PMIX_GROUP_INVITE_DECLINED, .group = "another"},
    {'F', .code = PMIX_GROUP_INVITE_FAILED, .from_server = true},
    {'f', .code = PMIX_GROUP_INVITE_FAILED}, /* a lie of rank 3 */
    {'C', .code = PMIX_GROUP_CONSTRUCT_COMPLETE, .constructs = true, .members = "012"},
    {'c', .code = PMIX_GROUP_CONSTRUCT_COMPLETE, .range = "02"},
    {'B', .code = PMIX_GROUP_CONSTRUCT_ABORT},
    {'L', .code = PMIX_GROUP_LEADER_FAILED, .from_server = true, .members = "02",
     .elects = true},
    {'l', .code = PMIX_GROUP_LEADER_FAILED, .from_server = true, .members = "02"},
    {'S', .code = PMIX_GROUP_LEADER_SELECTED, .members = "02", .selects = true},
    {'T', .code = PMIX_GROUP_LEADER_SELECTED, .members = "0", .selects = true},
    {'s', .code = PMIX_GROUP_LEADER_SELECTED},
};

static const struct row rows[] = {
    /* a leader */
    {"12", INVITES, "A1A2", "invited:12 complete+:12 construct:012", "012",
     .status = PMIX_SUCCESS},
    {"12", INVITES, "A1A1A2", "invited:12 complete+:12 construct:012", "012",
     .status = PMIX_SUCCESS},
    {"*", INVITES, "A1", "invited:1 complete+:1 construct:01", "01",
     .status = PMIX_SUCCESS},
    {"0", INVITES, "", "construct:0", "0", .status = PMIX_SUCCESS},
    {"12", INVITES, "A1D2", "invited:12 complete+:1 construct:01", "01",
     .status = PMIX_ERR_PARTIAL_SUCCESS},
    {"12", INVITES, "A1D1A2", "invited:12 complete+:2 construct:02", "02",
     .status = PMIX_ERR_PARTIAL_SUCCESS},
    {"12", INVITES, "D1D2", "invited:12 construct:0", "0",
     .status = PMIX_ERR_PARTIAL_SUCCESS},
    {"12", INVITES, "A1a2", "invited:12 complete:12", "012", .status = PMIX_SUCCESS},
    {"12", INVITES, "a1D2", "invited:12 complete:1", "01",
     .status = PMIX_ERR_PARTIAL_SUCCESS},
    {"12", INVITES, "F1A2", "invited:12 complete+:2 construct:02", "02",
     .status = PMIX_ERR_PARTIAL_SUCCESS},
    {"12", INVITES, "f1X1B9A1A2", "invited:12 complete+:12 construct:012", "012",
     .status = PMIX_SUCCESS},
    {"12", INVITES, "A1B2", "invited:12", "", .status = PMIX_GROUP_CONSTRUCT_ABORT},
    {"12", INVITES, "A1", "invited:12 abort:12", "", .status = PMIX_ERR_TIMEOUT,
     .is_limited = true},
    {"12", INVITES, "A1", "invited:12 complete+:1 construct:01", "01",
     .status = PMIX_ERR_PARTIAL_SUCCESS, .is_limited = true, .is_optional = true},
    {"12", INVITES, "D1", "invited:12 abort:12", "",
     .status = PMIX_GROUP_CONSTRUCT_ABORT, .handled = PMIX_GROUP_INVITE_DECLINED},
    {"12", INVITES, "", "invited:12", "", .status = PMIX_ERR_NO_PERMISSIONS,
     .refused = PMIX_ERR_NO_PERMISSIONS},
    {"12", INVITES, "A1A2", "invited:12 complete+:12 construct:012", "",
     .status = PMIX_ERR_NOT_SUPPORTED, .not_constructed = PMIX_ERR_NOT_SUPPORTED},
    {"?", INVITES, "", "", "", .status = PMIX_ERR_NOT_FOUND},
    /* an invited process */
    {"1", JOINS, "C1", "accepted+:1 construct:012", "012", .status = PMIX_SUCCESS},
    {"1", JOINS, "C2B2c1", "accepted+:1", "021", .status = PMIX_SUCCESS},
    {"-", JOINS, "C2", "accepted+: construct:012", "012", .status = PMIX_SUCCESS},
    {"-", JOINS, "B2", "accepted+:", "", .status = PMIX_GROUP_CONSTRUCT_ABORT},
    {"1", JOINS, "A2D2B1", "accepted+:1", "", .status = PMIX_GROUP_CONSTRUCT_ABORT},
    {"1", JOINS, "", "accepted+:1 declined:1", "", .status = PMIX_ERR_TIMEOUT,
     .is_limited = true},
    {"1", JOINS, "", "accepted+:1", "", .status = PMIX_ERR_UNREACH,
     .refused = PMIX_ERR_UNREACH},
    {"1", DECLINES, "", "declined:1", "", .status = PMIX_SUCCESS},
    {"1", DECLINES, "", "declined:1", "", .status = PMIX_ERR_UNREACH,
     .refused = PMIX_ERR_UNREACH},
    /* a leader that ends */
    {"1", JOINS, "l1", "accepted+:1", "", .status = PMIX_GROUP_LEADER_FAILED},
    {"1", JOINS, "L1 s1", "accepted+:1 selected:1", "",
     .status = PMIX_GROUP_LEADER_FAILED},
    {"1", JOINS, "L1 S9S2 C2", "accepted+:1 selected:1 accepted+:2 construct:012",
     "012", .status = PMIX_SUCCESS},
    {"1", JOINS, "L1 S0A2", "accepted+:1 selected:1 complete+:2 construct:02", "02",
     .status = PMIX_SUCCESS},
    {"1", JOINS, "L1 S0F2", "accepted+:1 selected:1 construct:0", "0",
     .status = PMIX_ERR_PARTIAL_SUCCESS},
    {"1", JOINS, "L1 A2S0", "accepted+:1 selected:1 complete+:2 construct:02", "02",
     .status = PMIX_SUCCESS},
    {"1", JOINS, "L1 T0", "accepted+:1 selected:1 construct:0", "0",
     .status = PMIX_ERR_PARTIAL_SUCCESS},
    {"1", JOINS, "L1 S0A2", "accepted+:1 selected!:1 complete+:2 construct:02", "02",
     .status = PMIX_SUCCESS, .handled = PMIX_GROUP_LEADER_FAILED},
    {"1", JOINS, "L1B2", "accepted+:1 selected:1", "",
     .status = PMIX_GROUP_CONSTRUCT_ABORT},
};

static const struct row *row;
static const char *next_events;
static char messages[512];

/* ---- the server ------------------------------------------------------------------------------- */

static void add_procs(px_infos *infos, const char *key, const char *ranks)
{
    pmix_proc_t procs[8];
    pmix_data_array_t array = {PMIX_PROC, 0, procs};

    for (; ranks && *ranks; ranks++)
        procs[array.size++] = rank((pmix_rank_t)(*ranks - '0'));
    if (array.size > 0)
        ok(px_infos_add(infos, key, &array, PMIX_DATA_ARRAY));
}

static void send_event(int fd, const struct kind *k, pmix_rank_t about)
{
    pmix_proc_t affected = rank(about), source = k->from_server ? proc_of("server", 0)
                                                 : k->letter == 'f' ? rank(3)
                                                                    : affected;
    PX_AUTO(px_infos) infos = {0};

    ok(px_infos_add(&infos, PMIX_GROUP_ID, k->group ? k->group : "crew", PMIX_STRING));
    if (k->from_server || k->letter == 'f')
        ok(px_infos_add(&infos, PMIX_EVENT_AFFECTED_PROC, &affected, PMIX_PROC));
    if (k->constructs)
        ok(px_infos_add(&infos, PX_GROUP_CONSTRUCTS, NULL, PMIX_BOOL));
    if (k->elects)
        ok(px_infos_add(&infos, PX_GROUP_ELECTS, NULL, PMIX_BOOL));
    if (k->selects)
        ok(px_infos_add(&infos, PMIX_GROUP_LEADER, &affected, PMIX_PROC));
    add_procs(&infos, PMIX_GROUP_MEMBERSHIP, k->members);
    add_procs(&infos, PMIX_EVENT_CUSTOM_RANGE, k->range);
    fake_event_of(fd, k->code, &source, &infos);
}

static void send_next(int fd)
{
    while (*next_events && *next_events != ' ') {
        const char letter = *next_events++;
        const struct kind *k = kinds;

        while (k->letter != letter)
            ck_assert(++k < kinds + PX_COUNT(kinds));
        send_event(fd, k, (pmix_rank_t)(*next_events++ - '0'));
    }
    next_events += *next_events == ' ';
}

static void note(const char *what, const pmix_proc_t *procs, size_t n)
{
    char *at = messages + strlen(messages);

    at += sprintf(at, "%s%s:", at > messages ? " " : "", what);
    for (size_t i = 0; i < n; i++)
        at += sprintf(at, "%u", procs[i].rank);
}

/* Notes an event of this process: "+" if it constructs at the servers, "!" if it wants to lead. */
static void note_event(const struct px_args *a)
{
    static const struct {
        pmix_status_t code;
        const char *name;
    } names[] = {{PMIX_GROUP_INVITED, "invited"},
                 {PMIX_GROUP_INVITE_ACCEPTED, "accepted"},
                 {PMIX_GROUP_INVITE_DECLINED, "declined"},
                 {PMIX_GROUP_CONSTRUCT_COMPLETE, "complete"},
                 {PMIX_GROUP_CONSTRUCT_ABORT, "abort"},
                 {PMIX_GROUP_LEADER_SELECTED, "selected"}};
    const pmix_info_t *range = px_info_find(a->info.v, a->info.n,
                                            PMIX_EVENT_CUSTOM_RANGE);
    const pmix_data_array_t *to = range ? range->value.data.darray : NULL;
    char what[32];
    size_t i = 0;

    while (names[i].code != a->code)
        ck_assert_uint_lt(++i, PX_COUNT(names));
    ck_assert_str_eq(px_info_str(a->info.v, a->info.n, PMIX_GROUP_ID), "crew");
    ck_assert_uint_eq(a->directive, to ? PMIX_RANGE_CUSTOM : PMIX_RANGE_SESSION);
    sprintf(what, "%s%s%s", names[i].name,
            px_info_flag(a->info.v, a->info.n, PX_GROUP_CONSTRUCTS) ? "+" : "",
            px_info_flag(a->info.v, a->info.n, PMIX_GROUP_LEADER) ? "!" : "");
    note(what, to ? to->array : NULL, to ? to->size : 0);
}

static bool take_event(int fd, struct fake_req *req)
{
    px_writer w;

    if (req->op == PX_OP_NOTIFY) {
        note_event(&fake.received);
        fake_status(fd, req->tag, row->refused);
        send_next(fd);
        return true;
    }
    if (req->op != PX_OP_GROUP_CONSTRUCT)
        return false;
    note("construct", fake.received.procs, fake.received.n_procs);
    w = fake_begin();
    px_pack_status(&w, row->not_constructed);
    if (!row->not_constructed)
        px_pack_procs(&w, fake.received.procs, fake.received.n_procs);
    fake_reply(fd, req->tag, &w);
    return true;
}

/* ---- this process ----------------------------------------------------------------------------- */

/* Aborts when an invited process declines, and wants to lead when a leader ends. */
PX_TEST_HANDLER(decide)
{
    pmix_info_t leads = flag(PMIX_GROUP_LEADER);

    if (code == PMIX_GROUP_LEADER_FAILED)
        cb(PMIX_SUCCESS, &leads, 1, NULL, NULL, cbdata);
    else
        cb(PMIX_GROUP_CONSTRUCT_ABORT, NULL, 0, NULL, NULL, cbdata);
}

static pmix_status_t call(pmix_info_t **results, size_t *n_results)
{
    PX_AUTO(px_infos) infos = {0};
    pmix_proc_t procs[8];
    size_t n = 0;

    if (row->is_limited)
        ok(px_infos_add(&infos, PMIX_TIMEOUT, &(uint32_t){1}, PMIX_UINT32));
    if (row->is_optional)
        ok(px_infos_add(&infos, PMIX_GROUP_OPTIONAL, NULL, PMIX_BOOL));
    for (const char *r = row->call; *r != '-' && *r; r++)
        procs[n++] = *r == '*'   ? rank(PMIX_RANK_WILDCARD)
                     : *r == '?' ? proc_of("nowhere", PMIX_RANK_WILDCARD)
                                 : rank((pmix_rank_t)(*r - '0'));
    if (row->how == INVITES)
        return PMIx_Group_invite("crew", procs, n, infos.v, infos.n, results,
                                 n_results);
    return PMIx_Group_join("crew", n ? procs : NULL,
                           row->how == JOINS ? PMIX_GROUP_ACCEPT : PMIX_GROUP_DECLINE,
                           infos.v, infos.n, results, n_results);
}

PX_TEST_LOOP(a_call_ends_as_the_others_answer, PX_COUNT(rows))
{
    pmix_info_t *results = NULL;
    const pmix_info_t *named;
    size_t n_results = 0;

    row = &rows[_i];
    next_events = row->events;
    client_of_hook(take_event);
    if (row->handled)
        handle_code(row->handled, decide);
    ck_assert_int_eq(call(&results, &n_results), row->status);
    client_end();
    ck_assert_str_eq(messages, row->messages);
    named = px_info_find(results, n_results, PMIX_GROUP_MEMBERSHIP);
    messages[0] = '\0';
    if (named)
        note("", named->value.data.darray->array, named->value.data.darray->size);
    ck_assert_str_eq(named ? messages + 1 : "", row->members);
    PMIx_Info_free(results, n_results);
}

PX_TEST_MAIN("client/invite", NULL, client_end)
