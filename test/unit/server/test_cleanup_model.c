/* SPDX-License-Identifier: BSD-3-Clause */
/* Random requests for clean-up, compared with a model of the rules of RFC 0027. After each request
 * the journal must have the contents of the model. PX_TEST_SEED=<number> makes other requests. */
#include "core/rt/process.h"
#include "core/server/peer/peer.h"
#include "alloc_fail.h"
#include "cleaner.h"
#include "fake_host.h"
#include "px_test.h"

#include <string.h>

enum { N_PATHS = 6, N_SCOPES = 3, JOB = 2 };

/* Registered entries. Scopes: rank 0, rank 1, the job. */
struct model {
    struct scope {
        uint8_t file[N_PATHS];      /* PX_RM_FILE, PX_RM_KEEP, or 0 */
        uint8_t dir[N_PATHS];       /* PX_RM_DIR, or 0 */
        uint8_t dir_flags[N_PATHS]; /* PX_RM_* flags of the folder */
    } scopes[N_SCOPES];
};

/* Paths in their normal form and in two others. */
static const char *const paths[N_PATHS][3] = {
    {"/nonexistent/a", "/nonexistent//a,", "/./nonexistent/b/../a"},
    {"/nonexistent/a/b", "/nonexistent/a/./b", "//nonexistent/a//b"},
    {"/nonexistent/b", "/nonexistent/b/.", "/nonexistent/b/"},
    {"/nonexistent/a\tb", "/nonexistent/a\tb/", "/nonexistent/./a\tb"},
    {"/nonexistent/\xff\n", "/nonexistent//\xff\n", "/nonexistent/\xff\n//"},
    {"/nonexistent", "/nonexistent/", "//nonexistent"},
};
static const char *const bad_paths[] = {
    "a", "./a", "/nonexistent/..", "/..", "/", "/proc/1/fd", "/sys"};

static uint64_t chance;

static unsigned below(unsigned n)
{
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(chance >> 33) % n;
}

static uint64_t seed(void)
{
    const char *text = getenv("PX_TEST_SEED");

    return text ? strtoull(text, NULL, 10) : 1;
}

/* ---- a request ------------------------------------------------------------------------------ */

struct request {
    unsigned rank;
    char text[1024]; /* as cleaner_parse reads it */
    bool for_rank, for_job;
    /* contents of the request */
    uint8_t file[N_PATHS]; /* bits: 1 << PX_RM_FILE, 1 << PX_RM_KEEP */
    bool dir[N_PATHS];
    bool bad;
    uint8_t flags;
};

/* Adds a list of one to three paths: "f=" or "d=" to remove, "k=" to keep. */
static void add_list(struct request *r, const char *word)
{
    strcat(strcat(r->text, " "), word);
    for (unsigned n = 1 + below(3), i = 0; i < n; i++) {
        unsigned p = below(N_PATHS);

        strcat(r->text, i ? "," : "");
        if (below(40) == 0) {
            strcat(r->text, bad_paths[below(PX_COUNT(bad_paths))]);
            r->bad = true;
            continue;
        }
        strcat(r->text, paths[p][below(3)]);
        if (*word == 'd')
            r->dir[p] = true;
        else
            r->file[p] |= 1u << (*word == 'f' ? PX_RM_FILE : PX_RM_KEEP);
    }
}

static void add_flag(struct request *r, const char *word, uint8_t flag)
{
    const bool yes = below(4) > 0;

    strcat(strcat(r->text, yes ? " " : " -"), word);
    r->flags |= yes ? flag : 0;
}

static void add_something(struct request *r)
{
    static const char *const lists[] = {"f=", "f=", "k=", "d=", "d="};
    const unsigned what = below(8);

    if (what < PX_COUNT(lists)) {
        add_list(r, lists[what]);
    } else if (what == 5) {
        add_flag(r, "recurse", PX_RM_RECURSE);
    } else if (what == 6) {
        add_flag(r, "leave", PX_RM_LEAVE_TOP);
    } else if (below(20) == 0) {
        r->bad = true;
        strcat(r->text, " f:bool");
    }
}

static void make_request(struct request *r)
{
    static const char *const targets[] = {"%u", "job", "%u,job",
                                          "-"}; /* "-": the job */
    const unsigned whose = below(4);

    *r = (struct request){
        .rank = below(2), .for_rank = whose % 2 == 0, .for_job = whose};
    snprintf(r->text, sizeof(r->text), targets[whose], r->rank);
    add_list(r, below(2) ? "d=" : "f=");
    for (unsigned n = below(5); n > 0; n--)
        add_something(r);
}

/* ---- the model ------------------------------------------------------------------------------ */

/* True if a request contradicts itself or an entry of any scope. m may be NULL. */
static bool contradicts(const struct model *m, const struct request *r)
{
    for (int p = 0; p < N_PATHS; p++) {
        unsigned all = r->file[p];

        for (int s = 0; all && m && s < N_SCOPES; s++)
            all |= m->scopes[s].file[p] ? 1u << m->scopes[s].file[p] : 0;
        if ((all & 1u << PX_RM_FILE) && (all & 1u << PX_RM_KEEP))
            return true;
    }
    return false;
}

static void enter(struct scope *s, const struct request *r)
{
    for (int p = 0; p < N_PATHS; p++) {
        if (r->file[p])
            s->file[p] = r->file[p] & 1u << PX_RM_FILE ? PX_RM_FILE : PX_RM_KEEP;
        if (!r->dir[p])
            continue;
        s->dir[p] = PX_RM_DIR;
        s->dir_flags[p] |= r->flags; /* a flag stays set once a request has set it */
    }
}

/* Applies a request to the model. Returns the status that the server should return. */
static pmix_status_t apply(struct model *m, const struct request *r)
{
    if (r->bad)
        return PMIX_ERR_BAD_PARAM;
    if (contradicts(m, r))
        return PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES;
    if (r->for_rank)
        enter(&m->scopes[r->rank], r);
    if (r->for_job)
        enter(&m->scopes[JOB], r);
    return PMIX_SUCCESS;
}

/* ---- the registry in the journal --------------------------------------------------------------- */

static int path_index(const char *path)
{
    for (int p = 0; p < N_PATHS; p++)
        if (strcmp(path, paths[p][0]) == 0)
            return p;
    ck_abort_msg("'%s' was never asked for, so", path);
    return -1;
}

/* Returns the contents of the scope of the first record. Sets seen for each record of this scope. */
static struct scope scope_of(const struct px_journal_record *first, size_t n,
                             bool *seen)
{
    struct scope got = {0};

    for (size_t i = 0; i < n; i++) {
        const struct px_journal_record *r = &first[i];

        if (r->type != PX_JOURNAL_ITEM || r->scope != first->scope)
            continue;
        int p = path_index(r->path);
        uint8_t *place = r->kind == PX_RM_DIR ? got.dir : got.file;
        ck_assert_msg(!place[p], "%s stands there twice", r->path);
        ck_assert(r->uid == geteuid() && r->gid == getegid());
        place[p] = r->kind;
        if (r->kind == PX_RM_DIR)
            got.dir_flags[p] = (uint8_t)r->flags;
        seen[i] = true;
    }
    return got;
}

/* True if the journal has the contents of the model. The contents of a scope identify the scope. */
static bool is_as_modelled(const struct model *m)
{
    static const struct scope empty;
    struct px_journal_record *r;
    size_t n = cleaner_journal(&r), n_wanted = 0;
    bool found[N_SCOPES] = {false}, seen[1024] = {false};

    ck_assert_uint_lt(n, PX_COUNT(seen));
    for (int s = 0; s < N_SCOPES; s++)
        n_wanted += memcmp(&m->scopes[s], &empty, sizeof(empty)) != 0;
    for (size_t i = 0; i < n; i++) {
        struct scope got;
        int s = 0;

        if (seen[i] || r[i].type != PX_JOURNAL_ITEM)
            continue;
        got = scope_of(&r[i], n - i, &seen[i]);
        while (s < N_SCOPES &&
               (found[s] || memcmp(&got, &m->scopes[s], sizeof(got)) != 0))
            s++;
        if (s == N_SCOPES)
            return false;
        found[s] = true;
        n_wanted--;
    }
    return n_wanted == 0;
}

/* ---- tests ---------------------------------------------------------------------------------- */

static int clients[2];

static void connect_clients(void)
{
    for (pmix_rank_t rank = 0; rank < 2; rank++)
        clients[rank] = raw_client(rank);
}

static void setup(void)
{
    cleaner_setup();
    connect_clients();
    chance = seed();
}

struct turn {
    const struct request *r;
    unsigned nth; /* allocation to fail; 0: none */
    pmix_status_t rc;
    bool failed;
};

static void register_on_loop(void *arg)
{
    struct turn *t = arg;
    struct px_server *srv = px_process.server;
    const pmix_proc_t who = raw_proc("job", t->r->rank);
    struct px_peer *peer = px_peer_find(srv, &who);
    PX_AUTO(px_infos) infos = {0};
    pmix_proc_t procs[2];
    size_t n;

    ck_assert_ptr_nonnull(peer);
    cleaner_parse(t->r->text, procs, &n, &infos);
    if (t->nth)
        px_alloc_fail_at(t->nth);
    t->rc = cleaner_register(peer, procs, n, &infos);
    if (t->nth)
        t->failed = px_alloc_fail_end();
}

/* True if rc is the expected status. A request with two mistakes may return the status of either
 * mistake. */
static bool is_due(pmix_status_t rc, pmix_status_t due, const struct request *r)
{
    return rc == due || (due == PMIX_ERR_BAD_PARAM && contradicts(NULL, r) &&
                         rc == PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES);
}

#define MUST(condition, n)                                                         \
    ck_assert_msg(condition, "not so at request %u of PX_TEST_SEED=%llu: %s", (n), \
                  (unsigned long long)seed(), #condition)

PX_TEST(the_registry_is_what_the_rules_make_of_the_requests)
{
    const unsigned n_requests = px_test_times(600, 6000);
    struct model m = {0};
    unsigned n_good = 0, n_conflicts = 0;

    for (unsigned i = 0; i < n_requests; i++) {
        struct request r;
        struct turn t = {.r = &r};

        if (i % 50 == 49) { /* starts anew with another server */
            cleaner_restart(&host_module, 2);
            close(clients[0]);
            close(clients[1]);
            connect_clients();
            m = (struct model){0};
        }
        make_request(&r);
        pmix_status_t due = apply(&m, &r);
        raw_on_loop(register_on_loop, &t);
        MUST(is_due(t.rc, due, &r), i);
        MUST(is_as_modelled(&m), i);
        n_good += due == PMIX_SUCCESS;
        n_conflicts += due == PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES;
    }
    ck_assert_uint_gt(n_good, n_requests / 10);
    ck_assert_uint_gt(n_conflicts, n_requests / 20);
}

/* Sends the first request of each client. It makes the server look for the client's process, and
 * tolerates a lack of memory. */
static void know_clients(void)
{
    for (int i = 0; i < 2; i++)
        ok(cleaner_ask(clients[i], i ? "1 f=/nonexistent/a" : "0 f=/nonexistent/a"));
}

PX_TEST(a_request_that_finds_no_memory_changes_nothing)
{
    struct model m = {0};

    PX_TEST_NEEDS_ALLOC;
    know_clients();
    m.scopes[0].file[0] = m.scopes[1].file[0] = PX_RM_FILE;
    for (unsigned i = 0; i < 30; i++) {
        struct model after = m;
        struct request r;
        struct turn t = {.failed = true};
        pmix_status_t due;

        make_request(&r);
        due = apply(&after, &r);
        for (unsigned nth = 1; t.failed; nth++) {
            t = (struct turn){.r = &r, .nth = nth};
            raw_on_loop(register_on_loop, &t);
            if (t.failed && t.rc == PMIX_ERR_NOMEM) {
                MUST(is_as_modelled(&m), i);
                continue;
            }
            /* The server may do without this allocation. */
            MUST(is_due(t.rc, due, &r), i);
            MUST(is_as_modelled(&after), i);
            m = after;
        }
    }
}

PX_TEST_MAIN("server/cleanup_model", setup, cleaner_teardown)
