/* SPDX-License-Identifier: BSD-3-Clause */
/* Component, server, registry and requests for the cleanup tests; clients are in cleaner_client.c. */
#include "cleaner.h"

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/server/cleanup/request.h"
#include "core/server/peer/peer.h"
#include "fake_host.h"
#include "frameworks/framework.h"
#include "px_test.h"
#include "tenon/pcleanup.h"

#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>

_Atomic pmix_status_t cleaner_refuses, cleaner_status;
_Atomic bool cleaner_holds;

static char text[1 << 16];

static void PX_PRINTF(1, 2) print(const char *format, ...)
{
    size_t len = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + len, sizeof(text) - len, format, args);
    va_end(args);
}

static const char *name_of(const struct px_cleanup_scope *s)
{
    static char name[300];
    char rank[16] = "*";
    bool is_job = strcmp(s->job->nspace, "job") == 0;

    if (s->rank)
        snprintf(rank, sizeof(rank), "%u", s->rank->rank);
    snprintf(name, sizeof(name), "%s%s%s", is_job ? "" : s->job->nspace,
             is_job ? "" : ".", rank);
    return name;
}

/* ---- the component ---------------------------------------------------------------------------------- */

static struct run {
    struct px_msg msg;
    px_pcleanup_done_fn done;
    void *arg;
    bool is_held;
} runs[1024];
static _Atomic size_t n_runs;
static char ran[1 << 13];

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
    const struct px_cleanup_scope *s = arg;
    struct run *r = &runs[n_runs];

    if (cleaner_refuses)
        return cleaner_refuses;
    ck_assert_uint_lt(n_runs, PX_COUNT(runs));
    ck_assert_uint_eq(s->id, scope);
    *r = (struct run){
        .msg.run = on_run, .done = done, .arg = arg, .is_held = cleaner_holds};
    strcat(strcat(ran, n_runs ? " " : ""), name_of(s));
    n_runs++;
    if (!r->is_held)
        px_post(px_process.loop, &r->msg);
    return PMIX_SUCCESS;
}

static pmix_status_t fake_journal(void *self PX_UNUSED, int dir PX_UNUSED,
                                  int journal PX_UNUSED)
{
    return PMIX_SUCCESS;
}

static void fake_finish(void *self PX_UNUSED, bool left PX_UNUSED)
{
}

static const struct px_pcleanup_ops ops = {
    .journal = fake_journal, .run = fake_run, .finish = fake_finish};
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

static size_t count_runs(void)
{
    if (px_process.server)
        raw_on_loop(NULL, NULL);
    return n_runs;
}

const char *cleaner_ran(size_t n)
{
    uint64_t deadline = px_clock_ms() + CLEANER_WAIT_MS;

    while (count_runs() < n) {
        ck_assert_msg(px_clock_ms() < deadline, "%zu runs, %zu expected", n_runs, n);
        sched_yield();
    }
    (void)count_runs(); /* waits until the runs have ended */
    return ran;
}

void cleaner_runs_nothing(size_t but)
{
    const struct timespec soon = {
        .tv_nsec = 150000000}; /* time for a run that must not happen */

    nanosleep(&soon, NULL);
    ck_assert_uint_eq(count_runs(), but);
}

/* ---- the server ------------------------------------------------------------------------------------- */

static void is_busy(void *arg)
{
    *(bool *)arg = px_process.server->part.session->n_reclaiming > 0;
}

/* Replaces the server's component by the fake. The server will not finish the real component, so
 * this function does. */
static void swap(void *arg PX_UNUSED)
{
    struct px_session *s = px_process.server->part.session;

    if (s->cleaner)
        PX_OPS(pcleanup, s->cleaner)->finish(s->cleaner->self, false);
    s->cleaner = &module;
}

static void start(const pmix_server_module_t *host_module_or_null, uint32_t n)
{
    bool busy = true;

    raw_server_start(host_module_or_null, n, 0);
    while (busy)
        raw_on_loop(is_busy, &busy);
    raw_on_loop(swap, NULL);
}

/* Removes the journal and the folder, which the server leaves. A raw client is this process, so a
 * scope that waits for its end never runs. */
void cleaner_stop(void)
{
    PX_AUTOFREE char *dir = strdup(px_process.server->dir);
    PX_AUTOFREE char *journal = px_path_join(dir, PX_JOURNAL_NAME);

    raw_server_stop();
    if (unlink(journal) == 0)
        ck_assert_int_eq(rmdir(dir), 0);
}

void cleaner_restart(const pmix_server_module_t *host_module_or_null, uint32_t n)
{
    cleaner_stop();
    start(host_module_or_null, n);
}

void cleaner_setup(void)
{
    unsetenv("PMIX_SERVER_TMPDIR");
    unsetenv("PMIX_SYSTEM_TMPDIR");
    start(&host_module, 4);
}

void cleaner_teardown(void)
{
    if (px_process.server)
        cleaner_stop();
    host_done();
}

/* ---- the journal ------------------------------------------------------------------------------------ */

static struct px_journal_record slots[8192];
static uint8_t bytes[1 << 23];

static char *journal_path(void)
{
    return px_path_join(px_process.server->dir, PX_JOURNAL_NAME);
}

off_t cleaner_journal_b(void)
{
    PX_AUTOFREE char *path = journal_path();
    struct stat st;

    ck_assert_int_eq(stat(path, &st), 0);
    return st.st_size;
}

/* Applies a record to the n slots. Returns the new number of slots. */
static size_t note_record(size_t n, const struct px_journal_record *r)
{
    size_t i = 0, kept = 0;

    if (r->type == PX_JOURNAL_HEAD || r->scope == PX_CLEANUP_MADE)
        return n;
    for (; i < n; i++)
        if (slots[i].scope != r->scope ||
            (r->type != PX_JOURNAL_DONE && slots[i].slot != r->slot))
            slots[kept++] = slots[i];
    ck_assert_uint_lt(kept, PX_COUNT(slots));
    if (r->type == PX_JOURNAL_ITEM || r->type == PX_JOURNAL_PROC)
        slots[kept++] = *r;
    return kept;
}

/* Reads the journal into the slots. Returns false if the server was just writing a record. */
static bool try_journal(size_t *n)
{
    PX_AUTOFREE char *path = journal_path();
    PX_AUTOCLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = read(fd, bytes, sizeof(bytes));
    struct px_journal_record r;
    size_t at = 0;

    ck_assert_int_gt(len, 0);
    for (*n = 0; px_journal_next(bytes, (size_t)len, &at, &r);)
        *n = note_record(*n, &r);
    return at == (size_t)len;
}

size_t cleaner_journal(struct px_journal_record **r)
{
    uint64_t deadline = px_clock_ms() + CLEANER_WAIT_MS;
    size_t n;

    while (!try_journal(&n))
        ck_assert_uint_lt(px_clock_ms(), deadline);
    *r = slots;
    return n;
}

const char *cleaner_pids(size_t n)
{
    uint64_t deadline = px_clock_ms() + CLEANER_WAIT_MS;
    size_t n_pids = n + 1;

    while (n_pids != n) {
        struct px_journal_record *r;
        size_t n_slots = cleaner_journal(&r);

        n_pids = 0;
        text[0] = '\0';
        for (size_t i = 0; i < n_slots; i++) {
            if (r[i].type != PX_JOURNAL_PROC)
                continue;
            ck_assert_uint_gt(r[i].y, 0);
            print("%s%llu", n_pids++ ? " " : "", (unsigned long long)r[i].x);
        }
        ck_assert_msg(px_clock_ms() < deadline, "%zu pids in the journal", n_pids);
        sched_yield();
    }
    return text;
}

/* ---- the registry ----------------------------------------------------------------------------------- */

static size_t n_printed;

static void print_entry(const struct px_cleanup_entry *e, const char *before)
{
    const struct px_journal_record *r = &e->r;

    print("%s%s %s%s%s%s", before, r->path,
          r->kind == PX_RM_FILE  ? "file"
          : r->kind == PX_RM_DIR ? "dir"
                                 : "keep",
          r->flags & PX_RM_RECURSE ? " recurse" : "",
          r->flags & PX_RM_EMPTY ? " empty" : "",
          r->flags & PX_RM_LEAVE_TOP ? " leave-top" : "");
    n_printed++;
}

static bool is_in_journal(const struct px_cleanup_entry *e,
                          const struct px_journal_record *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (r[i].scope == e->scope->id && r[i].slot == e->r.slot)
            return r[i].type == e->r.type && r[i].kind == e->r.kind &&
                   r[i].flags == e->r.flags && r[i].uid == e->r.uid &&
                   r[i].gid == e->r.gid && strcmp(r[i].path, e->path) == 0;
    return false;
}

static void print_registry(void *arg PX_UNUSED)
{
    struct px_cleanup *c = px_process.server->part.cleanup;
    struct px_journal_record *r;
    size_t n = cleaner_journal(&r), n_items = 0;

    text[0] = '\0';
    n_printed = 0;
    PX_CLEANUP_EACH_SCOPE (c, s) {
        const char *before = ": ";

        if (s->job == c->own || s->n_entries == 0)
            continue;
        print("%s%s", text[0] ? " | " : "", name_of(s));
        PX_LIST_EACH (&s->entries, struct px_cleanup_entry, e, link) {
            ck_assert_msg(is_in_journal(e, r, n), "not in the journal: %s", e->path);
            print_entry(e, before);
            before = ", ";
        }
    }
    for (size_t i = 0; i < n; i++)
        n_items += r[i].type == PX_JOURNAL_ITEM;
    ck_assert_uint_eq(n_items, n_printed);
    ck_assert_uint_eq(c->n_entries, n_printed);
}

const char *cleaner_registry(void)
{
    raw_on_loop(print_registry, NULL);
    return text;
}

/* ---- requests --------------------------------------------------------------------------------------- */

static const struct {
    const char *word, *key;
} words[] = {
    {"f", PMIX_REGISTER_CLEANUP},   {"d", PMIX_REGISTER_CLEANUP_DIR},
    {"k", PMIX_CLEANUP_IGNORE},     {"recurse", PMIX_CLEANUP_RECURSIVE},
    {"empty", PMIX_CLEANUP_EMPTY},  {"leave", PMIX_CLEANUP_LEAVE_TOPDIR},
    {"pause", PMIX_JOB_CTRL_PAUSE}, {"ckpt", PMIX_JOB_CTRL_CHECKPOINT_EVENT},
    {"id", PMIX_JOB_CTRL_ID},
};

static const char *key_of(const char *word)
{
    for (size_t i = 0; i < PX_COUNT(words); i++)
        if (strcmp(word, words[i].word) == 0)
            return words[i].key;
    return word;
}

static void parse_target(char *name, pmix_proc_t *proc)
{
    char *rank = strrchr(name, '.');

    if (rank)
        *rank++ = '\0';
    else
        rank = strcmp(name, "job") == 0 ? (char *)"*" : name;
    px_proc_set(proc, rank > name ? name : "job",
                *rank == '*' ? PMIX_RANK_WILDCARD : (pmix_rank_t)atol(rank));
    if (strcmp(name, "job") == 0 || rank == name)
        px_proc_set(proc, "job", proc->rank);
}

static void parse_word(char *word, px_infos *infos)
{
    char mark = strchr("-~!", *word) ? *word++ : 0, *value = strpbrk(word, "=:");
    bool is_text = value && *value == '=', yes = mark != '-';
    int one = 1;

    if (value)
        *value++ = '\0';
    const char *type = is_text || !value ? "" : value, *key = key_of(word);
    if (is_text)
        ok(px_infos_add(infos, key, value, PMIX_STRING));
    else if (strcmp(type, "int") == 0)
        ok(px_infos_add(infos, key, &one, PMIX_INT));
    else if (strcmp(type, "null") == 0)
        ok(px_infos_add(infos, key, NULL, PMIX_STRING));
    else
        ok(px_infos_add(infos, key, mark == '~' ? NULL : &yes, PMIX_BOOL));
    if (mark == '~')
        infos->v[infos->n - 1].value.type = PMIX_UNDEF;
    if (mark == '!')
        infos->v[infos->n - 1].flags = PMIX_INFO_REQD;
}

void cleaner_parse(const char *request, pmix_proc_t *procs, size_t *n_procs,
                   px_infos *infos)
{
    PX_AUTOFREE char *copy = strdup(request);
    char *rest = copy, *targets = strsep(&rest, " "), *one;

    for (*n_procs = 0; strcmp(targets ? targets : "-", "-") != 0;) {
        one = strsep(&targets, ",");
        parse_target(one, &procs[(*n_procs)++]);
    }
    while ((one = strsep(&rest, " ")))
        if (*one)
            parse_word(one, infos);
}

static px_writer begin_ask(const char *request)
{
    PX_AUTO(px_infos) infos = {0};
    px_writer w = raw_begin(PX_OP_JOB_CONTROL);
    pmix_proc_t procs[8];
    size_t n;

    cleaner_parse(request, procs, &n, &infos);
    px_pack_procs(&w, procs, n);
    px_pack_infos(&w, infos.v, infos.n);
    return w;
}

pmix_status_t cleaner_ask(int fd, const char *request)
{
    return raw_request(fd, begin_ask(request), NULL);
}

pmix_status_t cleaner_register(struct px_peer *peer, const pmix_proc_t *procs, size_t n,
                               const px_infos *infos)
{
    struct px_cleanup_request q;
    pmix_status_t rc = px_cleanup_request_begin(&q, infos, peer->uid, peer->gid);

    if (!rc)
        rc = px_cleanup_request_read(&q, infos, SIZE_MAX);
    if (!rc)
        rc = px_cleanup_apply(peer->server, peer, procs, n, &q, false);
    px_cleanup_request_fini(&q);
    return rc;
}

void cleaner_send(int fd, const char *request)
{
    raw_send(fd, 4711, begin_ask(request));
}

char *cleaner_numbered(const char *begin, size_t first, size_t n, size_t digits)
{
    char *list = malloc(strlen(begin) + n * (digits + 16) + 1), *at = list;

    at += sprintf(at, "%s", begin);
    for (size_t i = first; i < first + n; i++)
        at += sprintf(at, "%s/t/%0*zu", i > first ? "," : "", (int)digits, i);
    return list;
}
