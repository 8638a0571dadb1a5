/* SPDX-License-Identifier: BSD-3-Clause */
/* The component, the server, and what they know; clients are in cleaner_client.c. */
#include "cleaner.h"

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/server/cleanup/session_impl.h"
#include "fake_host.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

uint64_t cleaner_ran[64];
_Atomic pmix_status_t cleaner_refuses, cleaner_status;
_Atomic bool cleaner_holds;
pmix_proc_t me, job, other;

/* ---- the component ---------------------------------------------------------------------------------- */

static struct run {
    struct px_msg msg;
    px_pcleanup_done_fn done;
    void *arg;
    bool is_held;
} runs[64];
static _Atomic size_t n_runs;

static void call_back(struct run *r)
{
    const struct px_pcleanup_totals totals = {
        .files = 3, .dirs = 2, .kept = 1, .foreign = 4, .failed = 5};

    r->is_held = false;
    r->done(r->arg, cleaner_status, &totals);
}

static void on_run(struct px_msg *msg)
{
    call_back(PX_CONTAINER_OF(msg, struct run, msg));
}

static pmix_status_t fake_run(void *self PX_UNUSED, uint64_t scope,
                              px_pcleanup_done_fn done, void *arg)
{
    struct run *r = &runs[n_runs];

    if (cleaner_refuses)
        return cleaner_refuses;
    ck_assert_uint_lt(n_runs, PX_COUNT(runs));
    *r = (struct run){
        .msg.run = on_run, .done = done, .arg = arg, .is_held = cleaner_holds};
    cleaner_ran[n_runs++] = scope;
    if (!cleaner_holds)
        px_post(px_process.loop, &r->msg);
    return PMIX_SUCCESS;
}

static pmix_status_t fake_start(void *self PX_UNUSED, const char *dir PX_UNUSED,
                                const char *node PX_UNUSED)
{
    return PMIX_SUCCESS;
}

static pmix_status_t fake_journal(void *self PX_UNUSED, int dir PX_UNUSED,
                                  int journal PX_UNUSED)
{
    return PMIX_SUCCESS;
}

static pmix_status_t fake_reclaim(void *self PX_UNUSED, const char *tmpdir PX_UNUSED,
                                  px_pcleanup_done_fn done PX_UNUSED,
                                  void *arg PX_UNUSED)
{
    return PMIX_ERR_NOT_SUPPORTED;
}

static void fake_finish(void *self PX_UNUSED, bool left PX_UNUSED)
{
}

static const struct px_pcleanup_ops ops = {.start = fake_start,
                                           .journal = fake_journal,
                                           .run = fake_run,
                                           .reclaim = fake_reclaim,
                                           .finish = fake_finish};
static const struct px_component component = {.name = "noting", .ops = &ops};
static const struct px_module module = {.component = &component};

static void let_go(void *arg PX_UNUSED)
{
    for (size_t i = 0; i < n_runs; i++)
        if (runs[i].is_held)
            call_back(&runs[i]);
}

void cleaner_let_go(void)
{
    cleaner_holds = false;
    raw_on_loop(let_go, NULL);
}

size_t cleaner_n_ran(void)
{
    raw_on_loop(NULL, NULL);
    return n_runs;
}

void cleaner_await(size_t n)
{
    uint64_t deadline = px_clock_ms() + CLEANER_WAIT_MS;

    while (cleaner_n_ran() < n) {
        ck_assert_msg(px_clock_ms() < deadline, "%zu runs, %zu expected", n_runs, n);
        sched_yield();
    }
    raw_on_loop(NULL, NULL);
}

void cleaner_runs_nothing(size_t but)
{
    const struct timespec soon = {.tv_nsec = 300000000}; /* for what must not happen */

    nanosleep(&soon, NULL);
    ck_assert_uint_eq(cleaner_n_ran(), but);
}

/* ---- the server ------------------------------------------------------------------------------------- */

static char top[64];

void cleaner_setup(void)
{
    px_str_copy(top, sizeof top, "/tmp/tnclean.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(top));
    unsetenv("PMIX_SERVER_TMPDIR");
    unsetenv("PMIX_SYSTEM_TMPDIR");
    setenv("TMPDIR", top, 1);
    px_proc_set(&me, "job", 0);
    px_proc_set(&job, "job", WILD);
    px_proc_set(&other, "job", 1);
}

void cleaner_teardown(void)
{
    host_done();
    ck_assert_msg(rmdir(top) == 0, "something is left in %s: %m", top);
}

static void is_busy(void *arg)
{
    unsigned done;

    *(bool *)arg = px_session_reclaiming(px_process.server, &done) > 0;
}

/* The real one has its goodbye, as it will not be told of the end. */
static void swap(void *arg PX_UNUSED)
{
    struct px_session *s = px_process.server->session;

    if (s->cleaner)
        px_session_ops(s)->finish(s->cleaner->self, false);
    s->cleaner = &module;
}

void cleaner_server(const pmix_server_module_t *host_module_or_null, uint32_t n)
{
    bool busy = true;

    raw_server_start(host_module_or_null, n);
    while (busy)
        raw_on_loop(is_busy, &busy);
    raw_on_loop(swap, NULL);
}

/* A raw client is this process, which lives: what waits for its end has to be left. */
void cleaner_stop(void)
{
    PX_AUTOFREE char *dir = strdup(px_process.server->dir);
    PX_AUTOFREE char *journal = px_path_join(dir, PX_JOURNAL_NAME);

    raw_server_stop();
    if (unlink(journal) == 0)
        ck_assert_int_eq(rmdir(dir), 0);
}

void cleaner_end(int fd)
{
    cleaner_stop();
    if (fd >= 0)
        close(fd);
}

/* ---- the registry ----------------------------------------------------------------------------------- */

static char text[1 << 16];

static void say(const char *what)
{
    size_t len = strlen(text);

    snprintf(text + len, sizeof text - len, "%s", what);
}

static void say_item(uint8_t kind, unsigned flags, const char *path)
{
    say(text[0] ? "; " : "");
    say(path);
    say(kind == PX_RM_FILE ? " file" : kind == PX_RM_DIR ? " dir" : " keep");
    say(flags & PX_RM_RECURSE ? " recurse" : "");
    say(flags & PX_RM_EMPTY ? " empty" : "");
    say(flags & PX_RM_LEAVE_TOP ? " leave-top" : "");
}

static struct px_cleanup_scope *scope_of(const pmix_proc_t *p)
{
    struct px_cleanup_job *job = px_cleanup_job_find(px_process.server->cleanup,
                                                     p->nspace);

    return job ? px_cleanup_scope_find(job, p->rank) : NULL;
}

static void tell_scope(void *arg)
{
    struct px_cleanup_scope *s = scope_of(arg);

    text[0] = '\0';
    if (s)
        PX_LIST_EACH (&s->entries, struct px_cleanup_entry, e, link)
            say_item(e->kind, e->flags, e->path);
}

const char *cleaner_scope(const char *nspace, pmix_rank_t rank)
{
    pmix_proc_t p;

    px_proc_set(&p, nspace, rank);
    raw_on_loop(tell_scope, &p);
    return text;
}

static uint64_t found_id;

static void tell_id(void *arg)
{
    struct px_cleanup_scope *s = scope_of(arg);

    found_id = s ? s->id : 0;
}

uint64_t cleaner_scope_id(const char *nspace, pmix_rank_t rank)
{
    pmix_proc_t p;

    px_proc_set(&p, nspace, rank);
    raw_on_loop(tell_id, &p);
    return found_id;
}

static void count(void *arg)
{
    *(size_t *)arg = px_process.server->cleanup->n_entries;
}

size_t cleaner_n_entries(void)
{
    size_t n = 0;

    raw_on_loop(count, &n);
    return n;
}

/* ---- the journal ------------------------------------------------------------------------------------ */

static struct slot {
    struct px_journal_record r;
    char path[256];
} slots[8192];

/* What a record says, in the slots; how many those are then. */
static size_t note_record(size_t n, const struct px_journal_record *r)
{
    size_t i = 0;

    if (r->type == PX_JOURNAL_HEAD || r->scope == 0 || r->scope >= PX_SESSION_SCOPE)
        return n;
    if (r->type == PX_JOURNAL_DONE) {
        for (; i < n; i++)
            if (slots[i].r.scope == r->scope)
                slots[i].r.type = PX_JOURNAL_NONE;
        return n;
    }
    while (i < n && (slots[i].r.scope != r->scope || slots[i].r.slot != r->slot))
        i++;
    ck_assert_uint_lt(i, PX_COUNT(slots));
    slots[i].r = *r;
    px_str_copy(slots[i].path, sizeof slots[i].path, r->path);
    return n + (i == n);
}

/* False if the server was seen in the middle of writing a record. */
static bool try_journal(size_t *n)
{
    static uint8_t bytes[1 << 22];
    PX_AUTOFREE char *path = px_path_join(px_process.server->dir, PX_JOURNAL_NAME);
    PX_AUTOCLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = read(fd, bytes, sizeof bytes);
    struct px_journal_record r;
    size_t at = 0;

    ck_assert_int_gt(len, 0);
    for (*n = 0; px_journal_next(bytes, (size_t)len, &at, &r);)
        *n = note_record(*n, &r);
    return at == (size_t)len;
}

/* Slots as they stand at the end. */
static size_t read_journal(void)
{
    uint64_t deadline = px_clock_ms() + CLEANER_WAIT_MS;
    size_t n;

    while (!try_journal(&n))
        ck_assert_uint_lt(px_clock_ms(), deadline);
    return n;
}

const char *cleaner_journal(void)
{
    size_t n = read_journal();

    text[0] = '\0';
    for (size_t i = 0; i < n; i++)
        if (slots[i].r.type == PX_JOURNAL_ITEM)
            say_item(slots[i].r.kind, slots[i].r.flags, slots[i].path);
    return text;
}

const char *cleaner_journal_pids(void)
{
    size_t n = read_journal();
    char number[32];

    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        if (slots[i].r.type != PX_JOURNAL_PROC)
            continue;
        ck_assert_uint_gt(slots[i].r.y, 0);
        snprintf(number, sizeof number, "%s%llu", text[0] ? " " : "",
                 (unsigned long long)slots[i].r.x);
        say(number);
    }
    return text;
}

void cleaner_await_pids(size_t n)
{
    uint64_t deadline = px_clock_ms() + CLEANER_WAIT_MS;

    for (;;) {
        const char *pids = cleaner_journal_pids();
        size_t count = pids[0] != '\0';

        for (; *pids; pids++)
            count += *pids == ' ';
        if (count == n)
            return;
        ck_assert_msg(px_clock_ms() < deadline, "%zu pids in the journal", count);
        sched_yield();
    }
}

/* ---- requests --------------------------------------------------------------------------------------- */

char *cleaner_numbered(size_t first, size_t n, size_t digits)
{
    char *list = malloc(n * (digits + 16) + 1), *at = list;

    for (size_t i = first; i < first + n; i++)
        at += sprintf(at, "%s/t/%0*zu", i > first ? "," : "", (int)digits, i);
    return list;
}

px_writer cleaner_request(const pmix_proc_t *target, const char *const *infos)
{
    PX_AUTO(px_infos) list = {0};
    px_writer w;

    for (; infos[0]; infos += 2) {
        bool yes = infos[1] == YES;

        if (yes || infos[1] == NO)
            ck_assert_int_eq(px_infos_add(&list, infos[0], &yes, PMIX_BOOL), 0);
        else
            ck_assert_int_eq(px_infos_add(&list, infos[0], infos[1], PMIX_STRING), 0);
    }
    raw_begin(&w, PX_OP_JOB_CONTROL);
    px_pack_procs(&w, target, target ? 1 : 0);
    px_pack_infos(&w, list.v, list.n);
    return w;
}

pmix_status_t cleaner_ask(int fd, const pmix_proc_t *target, const char *const *infos)
{
    px_writer w = cleaner_request(target, infos);

    return raw_request(fd, &w, NULL);
}
