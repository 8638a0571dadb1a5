/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients that are processes of their own. */
#include "cleaner.h"

#include "core/base/clock.h"
#include "core/server/door/door.h"
#include "core/base/fd.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

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
        rc = px_fd_read_all(*fd, &word, sizeof word, px_clock_ms() + CLEANER_WAIT_MS);
    if (!rc)
        rc = (pmix_status_t)ntohl(word);
    return rc ? rc
              : px_fd_read_all(*fd, rest, sizeof rest, px_clock_ms() + CLEANER_WAIT_MS);
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
        px_fd_read_all(c->answers, &rc, sizeof rc, px_clock_ms() + CLEANER_WAIT_MS),
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
    px_process.server->part.door->tools = true;
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
