/* SPDX-License-Identifier: BSD-3-Clause */
/* The component, and clients. */
#include "cleaner.h"

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/server/session_impl.h"
#include "fake_host.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define WAIT_MS 10000

uint64_t cleaner_ran[64];
pmix_status_t cleaner_refuses, cleaner_status;
bool cleaner_holds;

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
    uint64_t deadline = px_clock_ms() + WAIT_MS;

    while (cleaner_n_ran() < n) {
        ck_assert_msg(px_clock_ms() < deadline, "%zu runs, %zu expected", n_runs, n);
        sched_yield();
    }
    raw_on_loop(NULL, NULL);
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
    uint64_t deadline = px_clock_ms() + 10000;
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

/* ---- requests --------------------------------------------------------------------------------------- */

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

/* ---- processes -------------------------------------------------------------------------------------- */

enum order { ASK_IT, FINALIZE, DISCONNECT, END };

struct order_head {
    enum order order;
    size_t n;
};

static void say_status(int to, pmix_status_t rc)
{
    if (write(to, &rc, sizeof rc) != sizeof rc)
        _exit(3);
}

static pmix_status_t connect_client(const char *nspace, pmix_rank_t rank, int *fd)
{
    struct px_hello hello = raw_hello(nspace, rank);

    return raw_connect(&hello, fd);
}

/* Its answer has the server's name in it. */
static pmix_status_t connect_tool(const char *nspace, pmix_rank_t rank, int *fd)
{
    struct px_hello hello = raw_hello(nspace, rank);
    PX_AUTO(px_buf) bytes = {0};
    uint8_t rest[sizeof(pmix_nspace_t) + 2 * sizeof(uint32_t)];
    uint32_t word;
    pmix_status_t rc;

    hello.flag = PX_FLAG_TOOL_HAS_ID;
    hello.uid = geteuid();
    hello.gid = getegid();
    *fd = raw_socket();
    rc = px_hello_encode(&hello, &bytes);
    if (!rc)
        rc = px_fd_write_all(*fd, bytes.data, bytes.len, 0);
    if (!rc)
        rc = px_fd_read_all(*fd, &word, sizeof word, px_clock_ms() + WAIT_MS);
    if (!rc)
        rc = (pmix_status_t)ntohl(word);
    return rc ? rc : px_fd_read_all(*fd, rest, sizeof rest, px_clock_ms() + WAIT_MS);
}

typedef pmix_status_t (*connect_fn)(const char *nspace, pmix_rank_t rank, int *fd);

/* The child: no assertion of Check is for it. */
static void PX_NORETURN client_main(connect_fn connect_as, const pmix_proc_t *name,
                                    int orders, int answers)
{
    struct order_head head;
    int fd;

    say_status(answers, connect_as(name->nspace, name->rank, &fd));
    while (read(orders, &head, sizeof head) == sizeof head) {
        px_writer w;
        uint8_t *bytes;

        switch (head.order) {
        case ASK_IT:
            bytes = malloc(head.n);
            if (px_fd_read_all(orders, bytes, head.n, 0))
                _exit(4);
            px_writer_init(&w, px_codec_default);
            if (px_buf_add(&w.buf, bytes, head.n))
                _exit(5);
            free(bytes);
            say_status(answers, raw_request(fd, &w, NULL));
            break;
        case FINALIZE:
            say_status(answers, raw_finalize(fd));
            break;
        case DISCONNECT:
            close(fd);
            say_status(answers, PMIX_SUCCESS);
            break;
        case END:
            _exit(0);
        }
    }
    _exit(0);
}

static pmix_status_t answer_of(const struct cleaner_client *c)
{
    pmix_status_t rc;

    ck_assert_int_eq(
        px_fd_read_all(c->answers, &rc, sizeof rc, px_clock_ms() + WAIT_MS),
        PMIX_SUCCESS);
    return rc;
}

static struct cleaner_client start(connect_fn connect_as, const char *nspace,
                                   pmix_rank_t rank)
{
    struct cleaner_client c;
    pmix_proc_t name;
    int orders[2], answers[2];

    px_proc_set(&name, nspace, rank);
    ck_assert_int_eq(pipe2(orders, O_CLOEXEC), 0);
    ck_assert_int_eq(pipe2(answers, O_CLOEXEC), 0);
    c.pid = fork();
    ck_assert_int_ge(c.pid, 0);
    if (c.pid == 0) {
        close(orders[1]);
        close(answers[0]);
        client_main(connect_as, &name, orders[0], answers[1]);
    }
    close(orders[0]);
    close(answers[1]);
    c.orders = orders[1];
    c.answers = answers[0];
    ck_assert_int_eq(answer_of(&c), PMIX_SUCCESS);
    return c;
}

struct cleaner_client cleaner_client(const char *nspace, pmix_rank_t rank)
{
    return start(connect_client, nspace, rank);
}

static void take_tools(void *arg PX_UNUSED)
{
    px_process.server->tools = true;
}

struct cleaner_client cleaner_tool(const char *nspace)
{
    raw_on_loop(take_tools, NULL);
    return start(connect_tool, nspace, 0);
}

static void order(const struct cleaner_client *c, enum order what, const px_buf *bytes)
{
    struct order_head head = {what, bytes ? bytes->len : 0};

    ck_assert_int_eq(px_fd_write_all(c->orders, &head, sizeof head, 0), PMIX_SUCCESS);
    if (bytes)
        ck_assert_int_eq(px_fd_write_all(c->orders, bytes->data, bytes->len, 0),
                         PMIX_SUCCESS);
}

pmix_status_t cleaner_client_asks(const struct cleaner_client *c,
                                  const pmix_proc_t *target, const char *const *infos)
{
    px_writer w = cleaner_request(target, infos);

    order(c, ASK_IT, &w.buf);
    px_writer_cleanup(&w);
    return answer_of(c);
}

void cleaner_client_finalizes(const struct cleaner_client *c)
{
    order(c, FINALIZE, NULL);
    ck_assert_int_eq(answer_of(c), PMIX_SUCCESS);
}

void cleaner_client_disconnects(const struct cleaner_client *c)
{
    order(c, DISCONNECT, NULL);
    ck_assert_int_eq(answer_of(c), PMIX_SUCCESS);
}

void cleaner_client_ends(struct cleaner_client *c, int signum)
{
    if (signum)
        kill(c->pid, signum);
    else
        order(c, END, NULL);
    ck_assert_int_eq(waitpid(c->pid, NULL, 0), c->pid);
    close(c->orders);
    close(c->answers);
}
