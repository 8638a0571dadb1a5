/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients in processes of their own, and scripts of their steps. */
#include "cleaner.h"

#include "core/base/clock.h"
#include "core/server/door/door.h"
#include "core/base/fd.h"
#include "core/base/str.h"
#include "px_test.h"

#include <arpa/inet.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum order { ASK_IT, FINALIZE, DISCONNECT, END };

static struct client {
    pid_t pid;
    int fd; /* orders out, statuses in */
} clients[256];

struct order_head {
    enum order order;
    size_t n; /* bytes of a request, as text, that follow */
};

static void write_status(int to, pmix_status_t rc)
{
    if (write(to, &rc, sizeof(rc)) != sizeof(rc))
        _exit(3);
}

/* The server's reply to a tool also contains the server's name. */
static pmix_status_t connect_as(bool tool, const pmix_proc_t *name, int *fd)
{
    struct px_hello hello = raw_hello(name->nspace, name->rank);
    PX_AUTO(px_buf) bytes = {0};
    uint8_t rest[sizeof(pmix_nspace_t) + 2 * sizeof(uint32_t)];
    const uint64_t until = px_clock_ms() + CLEANER_WAIT_MS;
    uint32_t word;

    if (!tool)
        return raw_connect(&hello, fd);
    hello.flag = PX_FLAG_TOOL_HAS_ID;
    hello.uid = geteuid();
    hello.gid = getegid();
    *fd = raw_socket();
    pmix_status_t rc = px_hello_encode(&hello, &bytes);
    if (!rc)
        rc = px_fd_write_all(*fd, bytes.data, bytes.len, 0);
    if (!rc)
        rc = px_fd_read_all(*fd, &word, sizeof(word), until);
    if (!rc)
        rc = (pmix_status_t)ntohl(word);
    return rc ? rc : px_fd_read_all(*fd, rest, sizeof(rest), until);
}

/* Runs a client in the child process. */
static void PX_NORETURN client_main(bool tool, const pmix_proc_t *name, int orders)
{
    struct order_head head;
    int fd;

    write_status(orders, connect_as(tool, name, &fd));
    while (read(orders, &head, sizeof(head)) == sizeof(head)) {
        PX_AUTOFREE char *request = calloc(1, head.n + 1);

        if (head.order == END || px_fd_read_all(orders, request, head.n, 0))
            break;
        write_status(orders, head.order == ASK_IT     ? cleaner_ask(fd, request)
                             : head.order == FINALIZE ? raw_finalize(fd)
                                                      : close(fd));
    }
    _exit(0);
}

static pmix_status_t answer_of(const struct client *c)
{
    pmix_status_t rc;

    ok(px_fd_read_all(c->fd, &rc, sizeof(rc), px_clock_ms() + CLEANER_WAIT_MS));
    return rc;
}

static void start(struct client *c, bool tool, const pmix_proc_t *name)
{
    int ends[2];

    ok(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
    c->fd = ends[0];
    c->pid = fork();
    ck_assert_int_ge(c->pid, 0);
    if (c->pid == 0) {
        close(ends[0]);
        client_main(tool, name, ends[1]);
    }
    close(ends[1]);
    ok(answer_of(c));
}

static void take_tools(void *arg PX_UNUSED)
{
    px_process.server->part.door->tools = true;
}

static void order(const struct client *c, enum order what, const char *request)
{
    const struct order_head head = {what, strlen(request)};

    ok(px_fd_write_all(c->fd, &head, sizeof(head), 0));
    ok(px_fd_write_all(c->fd, request, head.n, 0));
}

/* ---- scripts ---------------------------------------------------------------------------------------- */

/* Starts a client with a name: "0", "mine.0" or "tool.0". */
static void connects(struct client *c, const char *as)
{
    const char *rank = strrchr(as, '.');
    const bool tool = px_str_starts(as, "tool");
    pmix_proc_t name = raw_proc("job", (pmix_rank_t)atol(rank ? rank + 1 : as));

    if (rank)
        snprintf(name.nspace, sizeof(name.nspace), "%.*s", (int)(rank - as), as);
    if (tool)
        raw_on_loop(take_tools, NULL);
    start(c, tool, &name);
}

static pmix_status_t asks(const struct client *c, const char *request)
{
    order(c, ASK_IT, request);
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
        order(c, END, "");
    ck_assert_int_eq(waitpid(c->pid, NULL, 0), c->pid);
    close(c->fd);
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
        order(c, *step == '~' ? FINALIZE : DISCONNECT, "");
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
