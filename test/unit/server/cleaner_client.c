/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients in processes of their own, and scripts of their steps. */
#include "cleaner.h"

#include "core/base/clock.h"
#include "core/server/door/door.h"
#include "core/base/fd.h"
#include "core/base/str.h"
#include "px_test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

enum order { ASK_IT, FINALIZE, DISCONNECT, END };

struct client {
    pid_t pid;
    int orders, answers;
};

struct order_head {
    enum order order;
    size_t n;
};

static void write_status(int to, pmix_status_t rc)
{
    if (write(to, &rc, sizeof(rc)) != sizeof(rc))
        _exit(3);
}

static pmix_status_t connect_client(const char *nspace, pmix_rank_t rank, int *fd)
{
    struct px_hello hello = raw_hello(nspace, rank);

    return raw_connect(&hello, fd);
}

/* Connects as a tool. The reply also contains the server's name. */
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
        rc = px_fd_read_all(*fd, &word, sizeof(word), px_clock_ms() + CLEANER_WAIT_MS);
    if (!rc)
        rc = (pmix_status_t)ntohl(word);
    return rc ? rc
              : px_fd_read_all(*fd, rest, sizeof(rest),
                               px_clock_ms() + CLEANER_WAIT_MS);
}

typedef pmix_status_t (*connect_fn)(const char *nspace, pmix_rank_t rank, int *fd);

/* Runs a client in the child process, which must not use assertions of Check. */
static void PX_NORETURN client_main(connect_fn connect_as, const pmix_proc_t *name,
                                    int orders, int answers)
{
    struct order_head head;
    int fd;

    write_status(answers, connect_as(name->nspace, name->rank, &fd));
    while (read(orders, &head, sizeof(head)) == sizeof(head)) {
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
            write_status(answers, raw_request(fd, w, NULL));
            break;
        case FINALIZE:
            write_status(answers, raw_finalize(fd));
            break;
        case DISCONNECT:
            close(fd);
            write_status(answers, PMIX_SUCCESS);
            break;
        case END:
            _exit(0);
        }
    }
    _exit(0);
}

static pmix_status_t answer_of(const struct client *c)
{
    pmix_status_t rc;

    ok(px_fd_read_all(c->answers, &rc, sizeof(rc), px_clock_ms() + CLEANER_WAIT_MS));
    return rc;
}

static struct client start(connect_fn connect_as, const char *nspace, pmix_rank_t rank)
{
    struct client c;
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
    ok(answer_of(&c));
    return c;
}

static void take_tools(void *arg PX_UNUSED)
{
    px_process.server->part.door->tools = true;
}

static void order(const struct client *c, enum order what, const px_buf *bytes)
{
    struct order_head head = {what, bytes ? bytes->len : 0};

    ok(px_fd_write_all(c->orders, &head, sizeof(head), 0));
    if (bytes)
        ok(px_fd_write_all(c->orders, bytes->data, bytes->len, 0));
}

/* ---- scripts ---------------------------------------------------------------------------------------- */

static struct client clients[256];

/* Starts a client with a name: "0", "mine.0" or "tool.0". */
static void connects(struct client *c, const char *as)
{
    char name[64];
    const char *rank = strrchr(as, '.');
    const bool tool = px_str_starts(as, "tool");

    snprintf(name, sizeof(name), "%.*s", rank ? (int)(rank - as) : 3,
             rank ? as : "job");
    if (tool)
        raw_on_loop(take_tools, NULL);
    *c = start(tool ? connect_tool : connect_client, name,
               (pmix_rank_t)atol(rank ? rank + 1 : as));
}

static pmix_status_t asks(const struct client *c, const char *request)
{
    px_writer w = cleaner_request(request);

    order(c, ASK_IT, &w.buf);
    px_writer_cleanup(&w);
    return answer_of(c);
}

pid_t cleaner_pid(char client)
{
    return clients[(uint8_t)client].pid;
}

pmix_status_t cleaner_client_asks(char client, const char *request)
{
    return asks(&clients[(uint8_t)client], request);
}

static void ends(struct client *c, int signum)
{
    if (signum)
        kill(c->pid, signum);
    else
        order(c, END, NULL);
    ck_assert_int_eq(waitpid(c->pid, NULL, 0), c->pid);
    close(c->orders);
    close(c->answers);
}

static void client_step(struct client *c, const char *step)
{
    switch (*step) {
    case '=':
        connects(c, step + 1);
        break;
    case ':':
        ck_assert_msg(asks(c, step + 1) == PMIX_SUCCESS, "%s", step);
        break;
    case '!':
        ends(c, atoi(step + 1));
        break;
    default:
        order(c, *step == '~' ? FINALIZE : DISCONNECT, NULL);
        ok(answer_of(c));
    }
}

static void host_reports_end(const char *rank)
{
    pmix_proc_t p;

    px_proc_set(&p, "job", (pmix_rank_t)atol(rank));
    if (*rank == '*')
        PMIx_server_deregister_nspace(p.nspace, NULL, NULL);
    else
        PMIx_server_deregister_client(&p, NULL, NULL);
}

static size_t count_words(const char *text)
{
    size_t n = *text != '\0';

    for (; *text; text++)
        n += *text == ' ';
    return n;
}

static void step(const char *step)
{
    static size_t n_ran;
    const char *rest = step + strcspn(step, " ");

    rest += *rest == ' ';
    if (strcmp(step, "quiet") == 0) {
        cleaner_runs_nothing(n_ran);
    } else if (px_str_starts(step, "ran ")) {
        n_ran = count_words(rest);
        ck_assert_str_eq(cleaner_ran(n_ran), rest);
    } else if (px_str_starts(step, "pids ")) {
        (void)cleaner_pids((size_t)atol(rest));
    } else if (px_str_starts(step, "has")) {
        ck_assert_str_eq(cleaner_registry(), rest);
    } else if (px_str_starts(step, "ended ")) {
        host_reports_end(rest);
    } else if (px_str_starts(step, "gone ")) {
        raw_await_gone((pmix_rank_t)atol(rest));
    } else if (strcmp(step, "hold") == 0) {
        cleaner_holds = true;
    } else if (strcmp(step, "go") == 0) {
        cleaner_let_go();
    } else {
        client_step(&clients[(uint8_t)*step], step + 1);
    }
}

void cleaner_play(const char *script)
{
    PX_AUTOFREE char *copy = strdup(script);
    char *rest = copy, *one;

    while ((one = strsep(&rest, ";")))
        step(one + strspn(one, " \n"));
}
