/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests for clean-up, made at random, against a model of the rules of RFC 0027: after each, what
 * stands in the journal is what the model says. PX_TEST_SEED=<number> makes other requests. */
#include "alloc_fail.h"
#include "core/base/fd.h"
#include "core/reclaim/rmtree.h"
#include "core/base/str.h"
#include "core/server/cleanup/cleanup.h"
#include "core/server/cleanup/session.h"
#include "fake_host.h"
#include "px_test.h"
#include "raw.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

enum { N_PATHS = 6, N_SCOPES = 3, N_REQUESTS = 1500, JOB = 2 };

/* What is registered. Scopes: rank 0, rank 1, the job. */
struct model {
    struct scope {
        uint8_t file[N_PATHS];      /* PX_RM_FILE, PX_RM_KEEP, or 0 */
        uint8_t dir[N_PATHS];       /* PX_RM_DIR, or 0 */
        uint8_t dir_flags[N_PATHS]; /* of that */
    } scopes[N_SCOPES];
};

/* In their normal form, and in others. */
static const char *const paths[N_PATHS][3] = {
    {"/nonexistent/a", "/nonexistent//a", "/./nonexistent/a"},
    {"/nonexistent/a/b", "/nonexistent/a/./b", "//nonexistent/a//b"},
    {"/nonexistent/b", "/nonexistent/b/.", "/nonexistent/b/"},
    {"/nonexistent/a b", "/nonexistent/a b/", "/nonexistent/./a b"},
    {"/nonexistent/\xff\n", "/nonexistent//\xff\n", "/nonexistent/\xff\n//"},
    {"/nonexistent", "/nonexistent/", "//nonexistent"},
};
static const char *const bad_paths[] = {
    "a", "./a", "/nonexistent/../a", "/..", "/", "/proc/1/fd", "/sys"};

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
    pmix_proc_t procs[2];
    size_t n_procs;
    bool for_rank, for_job;
    px_infos infos;
    size_t n_other; /* of the infos: none of clean-up's business */
    /* what it says */
    uint8_t file[N_PATHS]; /* bits: 1 << PX_RM_FILE, 1 << PX_RM_KEEP */
    bool dir[N_PATHS];
    bool any_dir, bad;
    uint8_t flags;
};

static void add(struct request *r, const char *key, const void *value,
                pmix_data_type_t type)
{
    ck_assert_int_eq(px_infos_add(&r->infos, key, value, type), PMIX_SUCCESS);
}

/* One to three paths, with commas. */
static void add_list(struct request *r, const char *key)
{
    unsigned n = 1 + below(3);
    char list[256] = "";

    for (unsigned i = 0; i < n; i++) {
        unsigned p = below(N_PATHS);

        strcat(list, i ? "," : "");
        if (below(40) == 0) {
            strcat(list, bad_paths[below(PX_COUNT(bad_paths))]);
            r->bad = true;
            continue;
        }
        strcat(list, paths[p][below(3)]);
        if (strcmp(key, PMIX_REGISTER_CLEANUP_DIR) == 0)
            r->dir[p] = true;
        else
            r->file[p] |= 1u << (strcmp(key, PMIX_CLEANUP_IGNORE) ? PX_RM_FILE
                                                                  : PX_RM_KEEP);
    }
    r->any_dir |= strcmp(key, PMIX_REGISTER_CLEANUP_DIR) == 0;
    add(r, key, list, PMIX_STRING);
}

/* At least one, a flag that is false among them. */
static void add_something(struct request *r)
{
    bool yes = below(4) > 0;

    switch (below(9)) {
    case 0:
    case 1:
        add_list(r, PMIX_REGISTER_CLEANUP);
        break;
    case 2:
        add_list(r, PMIX_CLEANUP_IGNORE);
        break;
    case 3:
    case 4:
        add_list(r, PMIX_REGISTER_CLEANUP_DIR);
        break;
    case 5:
        r->flags |= yes ? PX_RM_RECURSE : 0;
        add(r, PMIX_CLEANUP_RECURSIVE, &yes, PMIX_BOOL);
        break;
    case 6:
        r->flags |= yes ? PX_RM_LEAVE_TOP : 0;
        add(r, PMIX_CLEANUP_LEAVE_TOPDIR, &yes, PMIX_BOOL);
        break;
    case 7:
        if (below(10) == 0) {
            r->bad = true;
            add(r, PMIX_REGISTER_CLEANUP, &yes, PMIX_BOOL);
        }
        break;
    default:
        r->n_other++;
        add(r, "nothing.to.clean", &yes, PMIX_BOOL);
    }
}

static void make_request(struct request *r)
{
    unsigned whose = below(4);

    *r = (struct request){.rank = below(2)};
    r->for_rank = whose != 1;
    r->for_job = whose != 0;
    if (r->for_rank)
        px_proc_set(&r->procs[r->n_procs++], "job", r->rank);
    if (r->for_job && whose != 3)
        px_proc_set(&r->procs[r->n_procs++], "job", PMIX_RANK_WILDCARD);
    if (whose == 3) { /* nobody in particular: the job */
        r->for_rank = false;
        r->n_procs = 0;
    }
    add_list(r, below(2) ? PMIX_REGISTER_CLEANUP_DIR : PMIX_REGISTER_CLEANUP);
    for (unsigned n = below(5); n > 0; n--)
        add_something(r);
}

/* ---- the model ------------------------------------------------------------------------------ */

static bool contradicts(const struct scope *s, const struct request *r)
{
    for (int p = 0; p < N_PATHS; p++) {
        unsigned all = r->file[p] | (s->file[p] ? 1u << s->file[p] : 0);

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
        s->dir_flags[p] |= r->flags; /* either directive wins over its absence */
    }
}

/* Returns the status that is due; the model is then as the registry should be. Of two mistakes
 * either may be told. */
static pmix_status_t apply(struct model *m, const struct request *r)
{
    static const struct scope empty;

    if ((r->bad || (r->flags && !r->any_dir)) && contradicts(&empty, r))
        return PMIX_ERROR;
    if (r->bad || (r->flags && !r->any_dir))
        return PMIX_ERR_BAD_PARAM;
    if ((r->for_rank && contradicts(&m->scopes[r->rank], r)) ||
        (r->for_job && contradicts(&m->scopes[JOB], r)))
        return PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES;
    if (r->for_rank)
        enter(&m->scopes[r->rank], r);
    if (r->for_job)
        enter(&m->scopes[JOB], r);
    return PMIX_SUCCESS;
}

/* ---- the registry, as the journal has it ------------------------------------------------------- */

static int path_index(const char *path)
{
    for (int p = 0; p < N_PATHS; p++)
        if (strcmp(path, paths[p][0]) == 0)
            return p;
    ck_abort_msg("'%s' was never asked for, so", path);
    return -1;
}

enum { MAX_ROWS = 256 };

struct rows {
    struct row {
        uint64_t scope;
        uint32_t slot;
        int path;
        uint8_t kind, flags;
    } v[MAX_ROWS];
    size_t n;
};

static void forget(struct rows *rows, uint64_t scope, bool all, uint32_t slot)
{
    for (size_t i = rows->n; i-- > 0;)
        if (rows->v[i].scope == scope && (all || rows->v[i].slot == slot))
            rows->v[i] = rows->v[--rows->n];
}

static void read_record(struct rows *rows, const struct px_journal_record *r)
{
    bool is_ours = r->scope != 0 &&
                   !(r->scope >> 63); /* not what the server has made */

    if (!is_ours || r->type == PX_JOURNAL_HEAD)
        return;
    forget(rows, r->scope, r->type == PX_JOURNAL_DONE, r->slot);
    if (r->type != PX_JOURNAL_ITEM)
        return;
    ck_assert_uint_eq(r->uid, geteuid());
    ck_assert_uint_eq(r->gid, getegid());
    ck_assert_uint_lt(rows->n, MAX_ROWS);
    rows->v[rows->n++] = (struct row){.scope = r->scope,
                                      .slot = r->slot,
                                      .path = path_index(r->path),
                                      .kind = r->kind,
                                      .flags = (uint8_t)r->flags};
}

static void read_journal(struct rows *rows)
{
    PX_AUTOFREE char *path = px_strf("%s/" PX_JOURNAL_NAME, px_process.server->dir);
    PX_AUTOCLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct px_journal_record r;
    struct stat st;
    size_t at = 0;

    rows->n = 0;
    ck_assert_int_eq(fstat(fd, &st), 0);
    uint8_t *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    ck_assert_ptr_ne(bytes, MAP_FAILED);
    while (px_journal_next(bytes, (size_t)st.st_size, &at, &r))
        read_record(rows, &r);
    ck_assert_uint_eq(at, (size_t)st.st_size); /* nothing torn, nothing half written */
    munmap(bytes, (size_t)st.st_size);
}

/* Which scope of the registry is which is told by what is in it. Takes it out of rows. */
static bool take_scope(struct rows *rows, uint64_t id, const struct scope *wanted)
{
    struct scope got = {0};

    for (size_t i = 0; i < rows->n; i++) {
        const struct row *row = &rows->v[i];

        if (row->scope != id)
            continue;
        uint8_t *place = row->kind == PX_RM_DIR ? got.dir : got.file;
        ck_assert_msg(!place[row->path], "%s stands there twice", paths[row->path][0]);
        place[row->path] = row->kind;
        if (row->kind == PX_RM_DIR)
            got.dir_flags[row->path] = row->flags;
    }
    if (memcmp(&got, wanted, sizeof(got)) != 0)
        return false;
    forget(rows, id, true, 0);
    return true;
}

static bool is_as_modelled(const struct model *m)
{
    static const struct scope empty;
    struct rows rows;

    read_journal(&rows);
    for (int s = 0; s < N_SCOPES; s++) {
        bool found = memcmp(&m->scopes[s], &empty, sizeof(empty)) == 0;

        for (size_t i = 0; !found && i < rows.n; i++)
            found = take_scope(&rows, rows.v[i].scope, &m->scopes[s]);
        if (!found)
            return false;
    }
    return rows.n == 0;
}

/* ---- tests ---------------------------------------------------------------------------------- */

static int clients[2];

static void setup(void)
{
    raw_server_start(&host_module, 2);
    for (pmix_rank_t rank = 0; rank < 2; rank++)
        clients[rank] = raw_client(rank);
    chance = seed();
}

/* Its end is reported, so that nothing waits for this process, which lives on. */
static void teardown(void)
{
    pmix_proc_t job;

    px_proc_set(&job, "job", PMIX_RANK_WILDCARD);
    PMIx_server_deregister_nspace(job.nspace, NULL, NULL);
    raw_server_stop();
    for (int i = 0; i < 2; i++)
        close(clients[i]);
    host_done();
}

struct turn {
    const struct request *r;
    px_infos infos; /* a copy, as they are taken */
    unsigned nth;   /* allocation to fail; 0: none */
    pmix_status_t rc;
    bool only, failed;
};

static void take_on_loop(void *arg)
{
    struct turn *t = arg;
    struct px_server *srv = px_process.server;
    pmix_proc_t who;

    px_proc_set(&who, "job", t->r->rank);
    struct px_peer *peer = px_peer_find(srv, &who);
    ck_assert_ptr_nonnull(peer);
    ck_assert_int_eq(px_infos_add_copy(&t->infos, t->r->infos.v, t->r->infos.n), 0);
    if (t->nth)
        px_alloc_fail_at(t->nth);
    t->rc = px_cleanup_take(srv, peer, t->r->procs, t->r->n_procs, &t->infos, &t->only);
    if (t->nth)
        t->failed = px_alloc_fail_end();
}

static bool is_due(pmix_status_t rc, pmix_status_t due)
{
    return rc == due ||
           (due == PMIX_ERROR && (rc == PMIX_ERR_BAD_PARAM ||
                                  rc == PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES));
}

#define MUST(condition, n)                                                         \
    ck_assert_msg(condition, "not so at request %u of PX_TEST_SEED=%llu: %s", (n), \
                  (unsigned long long)seed(), #condition)

START_TEST(the_registry_is_what_the_rules_make_of_the_requests)
{
    struct model m = {0}, before;
    unsigned n_good = 0, n_conflicts = 0;

    for (unsigned i = 0; i < N_REQUESTS; i++) {
        struct request r;
        struct turn t = {.r = &r};

        if (i % 50 == 0) { /* all of it ends, and begins anew */
            teardown();
            raw_server_start(&host_module, 2);
            for (pmix_rank_t rank = 0; rank < 2; rank++)
                clients[rank] = raw_client(rank);
            m = (struct model){0};
        }
        make_request(&r);
        before = m;
        pmix_status_t due = apply(&m, &r);
        raw_on_loop(take_on_loop, &t);
        MUST(is_due(t.rc, due), i);
        MUST(is_as_modelled(&m), i);
        if (due) {
            MUST(memcmp(&m, &before, sizeof(m)) == 0, i);
        } else {
            MUST(t.infos.n == r.n_other, i);
            MUST(t.only == (r.n_other == 0), i);
        }
        n_good += due == PMIX_SUCCESS;
        n_conflicts += due == PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES;
        px_infos_cleanup(&t.infos);
        px_infos_cleanup(&r.infos);
    }
    ck_assert_uint_gt(n_good, N_REQUESTS / 4);
    ck_assert_uint_gt(n_conflicts, N_REQUESTS / 20);
}
END_TEST

/* The first request of each lets the server look for its process, which it can do without. */
static void know_clients(struct model *m)
{
    for (unsigned rank = 0; rank < 2; rank++) {
        struct request r = {.rank = rank, .for_rank = true, .n_procs = 1};
        struct turn t = {.r = &r};

        px_proc_set(&r.procs[0], "job", rank);
        add_list(&r, PMIX_CLEANUP_IGNORE);
        pmix_status_t due = apply(m, &r);
        raw_on_loop(take_on_loop, &t);
        ck_assert_int_eq(t.rc, due);
        px_infos_cleanup(&t.infos);
        px_infos_cleanup(&r.infos);
    }
}

START_TEST(a_request_that_finds_no_memory_changes_nothing)
{
    struct model m = {0};

    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
    know_clients(&m);
    for (unsigned i = 0; i < 30; i++) {
        struct model after = m;
        struct request r;
        struct turn t;
        pmix_status_t due;

        make_request(&r);
        due = apply(&after, &r);
        for (unsigned nth = 1;; nth++) {
            t = (struct turn){.r = &r, .nth = nth};
            raw_on_loop(take_on_loop, &t);
            px_infos_cleanup(&t.infos);
            if (!t.failed)
                break;
            MUST(t.rc == PMIX_ERR_NOMEM, i);
            MUST(is_as_modelled(&m), i);
        }
        MUST(is_due(t.rc, due), i);
        MUST(is_as_modelled(&after), i);
        m = after;
        px_infos_cleanup(&r.infos);
    }
}
END_TEST

PX_TEST_MAIN_WITH("server/cleanup_model", setup, teardown,
                  the_registry_is_what_the_rules_make_of_the_requests,
                  a_request_that_finds_no_memory_changes_nothing)
