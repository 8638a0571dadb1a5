/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of piof: sinks take bytes without blocking and do not change the
 * settings of shared files; sources deliver all output of a process, and its end. */
#include "contract.h"

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "process.h"
#include "tenon/piof.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum { LATE_MS = 10000, MUCH = 1 << 20 };

static const struct px_piof_ops *ops(void)
{
    return contract.component->ops;
}

static const struct px_piof_ends none = {{-1, -1, -1}, {-1, -1, -1}};

/* ---- scenes ---------------------------------------------------------------------- */

/* Kinds of files for a sink. */
enum thing { PIPE, SOCKET, TERMINAL, PLAIN, NULL_DEVICE, N_THINGS };

struct scene {
    int fd;    /* descriptor to write to */
    int other; /* descriptor to read from; -1: not readable */
};

static bool make_terminal(struct scene *s)
{
    char name[64];

    s->other = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (s->other < 0 || grantpt(s->other) || unlockpt(s->other) ||
        ptsname_r(s->other, name, sizeof(name)))
        return false;
    s->fd = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    return s->fd >= 0;
}

/* Makes a scene; false if this machine cannot. */
static bool make(enum thing thing, struct scene *s)
{
    int ends[2];

    *s = (struct scene){-1, -1};
    switch (thing) {
    case PIPE:
        ok(pipe2(ends, O_CLOEXEC));
        *s = (struct scene){ends[1], ends[0]};
        return true;
    case SOCKET:
        ok(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
        *s = (struct scene){ends[1], ends[0]};
        return true;
    case TERMINAL:
        return make_terminal(s);
    case PLAIN:
        s->fd = open(px_test_path("out"), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC,
                     0600);
        s->other = open(px_test_path("out"), O_RDONLY | O_CLOEXEC);
        return true;
    default:
        s->fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
        return s->fd >= 0;
    }
}

static void drop(struct scene *s)
{
    px_drop_fd(&s->fd);
    px_drop_fd(&s->other);
}

static pmix_status_t try_fd(int fd, void **sink)
{
    const struct px_piof_target target = {.size = sizeof(target), .fd = fd};

    return ops()->open_sink(contract.self, &target, sink);
}

static pmix_status_t try_path(const char *path, bool keep, void **sink)
{
    const struct px_piof_target target = {
        .size = sizeof(target), .fd = -1, .path = path, .mode = 0640, .keep = keep};

    return ops()->open_sink(contract.self, &target, sink);
}

/* Opens a sink; NULL if the component or the machine does not support this kind. */
static void *open_thing(enum thing thing, struct scene *s)
{
    static char untouched;
    void *sink = &untouched;

    if (make(thing, s)) {
        pmix_status_t rc = try_fd(s->fd, &sink);

        if (rc == PMIX_SUCCESS)
            return sink;
        ck_assert_int_eq(rc, PMIX_ERR_NOT_SUPPORTED);
        ck_assert_ptr_eq(sink, &untouched);
    }
    drop(s);
    return NULL;
}

static ssize_t put(void *sink, const char *text, size_t n)
{
    const struct iovec v[] = {{(void *)text, n / 2},
                              {(void *)(text + n / 2), n - n / 2}};

    return ops()->writev(contract.self, sink, n > 1 ? v : v + 1, n > 1 ? 2 : 1);
}

static void close_sink(void *sink)
{
    ops()->close_sink(contract.self, sink);
}

static struct px_piof_source wanted(enum px_piof_kind kind, bool merged)
{
    return (struct px_piof_source){.size = sizeof(struct px_piof_source),
                                   .kind = kind,
                                   .input = true,
                                   .merged = merged};
}

/* Opens a source; false if the component does not support this kind, or all terminals
 * are in use. */
static bool open_source(enum px_piof_kind kind, bool merged, struct px_piof_ends *ends)
{
    const struct px_piof_source w = wanted(kind, merged);
    pmix_status_t rc;

    memset(ends, 0x77, sizeof(*ends));
    rc = ops()->open_source(contract.self, &w, ends);
    if (rc == PMIX_SUCCESS)
        return true;
    ck_assert_int_eq(ends->ours[1], 0x77777777);
    ck_assert(rc == PMIX_ERR_NOT_SUPPORTED || kind == PX_PIOF_TERMINAL);
    return false;
}

/* ---- sinks ----------------------------------------------------------------------- */

PX_TEST(makes_sinks_or_sources)
{
    struct px_piof_ends ends;
    struct scene s;
    size_t n = 0;

    for (enum thing t = 0; t < N_THINGS; t++) {
        void *sink = open_thing(t, &s);

        if (sink) {
            n++;
            ck_assert_msg(ops()->writev && ops()->room_fd && ops()->close_sink,
                          "makes sinks, and lacks writev, room_fd or close_sink");
            close_sink(sink);
        }
        drop(&s);
    }
    for (int kind = PX_PIOF_PIPES; kind <= PX_PIOF_TERMINAL; kind++)
        if (open_source((enum px_piof_kind)kind, false, &ends)) {
            n++;
            for (int i = 0; i < 3; i++)
                close(ends.child[i]), close(ends.ours[i]);
        }
    PX_TEST_NEEDS(make(TERMINAL, &s), "pseudo terminals");
    drop(&s);
    ck_assert_uint_gt(n, 0);
}

static bool has_room(void *sink)
{
    struct pollfd p = {.fd = ops()->room_fd(contract.self, sink), .events = POLLOUT};

    return poll(&p, 1, 0) == 1;
}

/* Fills the sink twice while the reader sleeps; then reads all. */
static void fill_and_drain(void *sink, const struct scene *s, char *sent, char *got)
{
    size_t in = 0, out = 0;

    for (int round = 0; in < MUCH; round++) {
        uint64_t begin = px_clock_ms();
        ssize_t n = 0;

        while (in < MUCH && (n = put(sink, sent + in, MUCH - in)) > 0)
            in += (size_t)n;
        ck_assert_uint_lt(px_clock_ms() - begin, LATE_MS / 2);
        if (in < MUCH) {
            ck_assert_msg(n < 0 && errno == EAGAIN, "%m");
            ck_assert_int_ge(ops()->room_fd(contract.self, sink), 0);
            ck_assert(round == 0 || !has_room(sink) || put(sink, sent, 0) <= 0);
        }
        for (; out < in; out += (size_t)n) {
            n = read(s->other, got + out, in - out);
            ck_assert_int_gt(n, 0);
        }
        ck_assert(in == MUCH || has_room(sink));
    }
}

static void write_much(int what)
{
    PX_AUTOFREE char *sent = malloc(MUCH), *got = malloc(MUCH);
    struct scene s;
    void *sink = open_thing((enum thing)what, &s);
    struct termios t;

    if (!sink)
        return;
    if (what == TERMINAL) {
        ok(tcgetattr(s.fd, &t));
        t.c_oflag &= ~(tcflag_t)OPOST;
        ok(tcsetattr(s.fd, TCSANOW, &t));
    }
    for (size_t i = 0; i < MUCH; i++)
        sent[i] = (char)(i * 31 >> 3);
    fill_and_drain(sink, &s, sent, got);
    ck_assert_mem_eq(sent, got, MUCH);
    close_sink(sink);
    drop(&s);
}

PX_TEST(writes_without_waiting_and_loses_nothing)
{
    for (int i = 0; i < PLAIN + 1; i++)
        write_much(i);
}

static void look_at_flags(int what)
{
    size_t n_fds = px_test_count_fds();
    struct scene s;
    void *sink = open_thing((enum thing)what, &s);

    if (!sink)
        return;
    ck_assert_int_eq(fcntl(s.fd, F_GETFL) & O_NONBLOCK, 0);
    ck_assert_int_eq(put(sink, "text", 4), 4);
    close_sink(sink);
    ck_assert_int_eq(fcntl(s.fd, F_GETFL) & O_NONBLOCK, 0);
    drop(&s);
    ck_assert_uint_eq(px_test_count_fds(), n_fds);
}

PX_TEST(leaves_what_is_not_its_own_as_it_was)
{
    for (int i = 0; i < N_THINGS; i++)
        look_at_flags(i);
}

static int write_to_no_reader(void *arg)
{
    struct scene s;
    void *sink = open_thing(*(enum thing *)arg, &s);

    if (!sink)
        return 0;
    px_drop_fd(&s.other);
    return put(sink, "text", 4) < 0 && errno == EPIPE ? 0 : 1;
}

static int write_beyond_the_limit(void *arg PX_UNUSED)
{
    const struct rlimit limit = {4096, 4096};
    struct scene s;
    void *sink = open_thing(PLAIN, &s);
    char page[5000] = "";

    if (!sink)
        return 0;
    if (setrlimit(RLIMIT_FSIZE, &limit) || put(sink, page, 5000) != 4096)
        return 1;
    return put(sink, page, 1) < 0 && errno == EFBIG ? 0 : 2;
}

/* Reports by the exit status of a process with default signals. */
PX_TEST(what_cannot_be_written_is_an_errno_and_no_signal)
{
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    enum thing things[] = {PIPE, SOCKET};
    void *sink;

    for (size_t i = 0; i < PX_COUNT(things); i++)
        ck_assert_int_eq(
            process_wait(process_fork(write_to_no_reader, &things[i]), LATE_MS), 0);
    ck_assert_int_eq(process_wait(process_fork(write_beyond_the_limit, NULL), LATE_MS),
                     0);
    PX_TEST_NEEDS(full >= 0, "/dev/full");
    if (try_fd(full, &sink) == PMIX_SUCCESS) {
        ck_assert_int_eq(put(sink, "text", 4), -1);
        ck_assert_int_eq(errno, ENOSPC);
        close_sink(sink);
    }
    close(full);
}

PX_TEST(takes_nothing_that_cannot_be_written_to)
{
    size_t n_fds = px_test_count_fds();
    struct scene s;
    void *sink = &s;

    for (enum thing t = PIPE; t <= PLAIN; t += PLAIN) {
        ck_assert(make(t, &s));
        ck_assert_int_ne(try_fd(s.other, &sink), PMIX_SUCCESS);
        drop(&s);
    }
    ck_assert_int_ne(try_fd(987654, &sink), PMIX_SUCCESS);
    ck_assert_int_ne(try_fd(-1, &sink), PMIX_SUCCESS);
    ck_assert_ptr_eq(sink, &s);
    ck_assert_uint_eq(px_test_count_fds(), n_fds);
}

static void assert_file(const char *name, const char *text)
{
    size_t size;
    PX_AUTOFREE char *got = process_read_file(px_test_path(name), &size);

    ck_assert_uint_eq(size, strlen(text));
    ck_assert_mem_eq(got, text, size);
}

PX_TEST(a_path_leads_to_a_file_of_its_own)
{
    static const char *const bad[] = {"link", "fifo", ".", "none/file"};
    const char *path = px_test_path("new");
    size_t n_fds = px_test_count_fds();
    struct stat st;
    void *sink;

    umask(027);
    if (try_path(path, false, &sink) == PMIX_ERR_NOT_SUPPORTED)
        return;
    for (int round = 0; round < 3;
         round++) { /* a new file, an existing file, a truncated file */
        if (round > 0)
            ok(try_path(path, round == 1, &sink));
        ck_assert_int_eq(put(sink, "text", 4), 4);
        close_sink(sink);
        assert_file("new", round == 1 ? "texttext" : "text");
    }
    ok(stat(path, &st));
    ck_assert_uint_eq(st.st_mode, S_IFREG | 0640);
    ok(symlink("new", px_test_path("link")));
    ok(mkfifo(px_test_path("fifo"), 0600));
    for (size_t i = 0; i < PX_COUNT(bad); i++)
        ck_assert_int_eq(try_path(px_test_path(bad[i]), false, &sink),
                         i < 3 ? PMIX_ERR_BAD_PARAM : PMIX_ERR_NOT_FOUND);
    assert_file("new", "text");
    ck_assert_uint_eq(px_test_count_fds(), n_fds);
}

/* ---- sources --------------------------------------------------------------------- */

static void assert_end(int fd, bool writable)
{
    const int status = fcntl(fd, F_GETFL);

    ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    ck_assert_int_ne(status & O_ACCMODE, writable ? O_RDONLY : O_WRONLY);
}

static void await_text(int fd, const char *text)
{
    char got[64] = "";

    ok(px_fd_read_all(fd, got, strlen(text), px_clock_ms() + LATE_MS));
    ck_assert_str_eq(got, text);
}

/* Checks that no byte is left before the end. */
static void assert_ended(int fd)
{
    char c;
    ssize_t n = read(fd, &c, 1);

    ck_assert_msg(n == 0 || (n < 0 && errno == EIO), "%zd %m", n);
}

static void close_all(int fds[3])
{
    for (int i = 0; i < 3; i++) {
        bool again = (i > 0 && fds[i] == fds[0]) || (i > 1 && fds[i] == fds[1]);

        if (!again && fds[i] >= 0)
            close(fds[i]);
    }
}

/* Uses the ends like a child; its last output must not get lost. */
static void use_source(int what)
{
    const enum px_piof_kind kind = what & 1 ? PX_PIOF_TERMINAL : PX_PIOF_PIPES;
    const bool merged = what & 2;
    size_t n_fds = px_test_count_fds();
    struct px_piof_ends e;

    if (!open_source(kind, merged, &e))
        return;
    for (int i = 0; i < 3; i++) {
        assert_end(e.child[i], i > 0);
        ck_assert_int_eq(fcntl(e.child[i], F_GETFL) & O_NONBLOCK, 0);
        if (i == 2 && merged)
            continue;
        assert_end(e.ours[i], i == 0);
        ck_assert(fcntl(e.ours[i], F_GETFL) & O_NONBLOCK);
    }
    ck_assert_int_eq(e.ours[2] < 0, merged);
    ck_assert_int_eq(isatty(e.child[1]), kind == PX_PIOF_TERMINAL);
    ok(px_fd_write_all(e.ours[0], "in\n", 3, 0));
    await_text(e.child[0], "in\n");
    ok(px_fd_write_all(e.child[1], "out\n", 4, 0));
    ok(px_fd_write_all(e.child[2], "err\n", 4, 0));
    close_all(e.child);
    await_text(e.ours[1], merged ? "out\nerr\n" : "out\n");
    assert_ended(e.ours[1]);
    if (!merged) {
        await_text(e.ours[2], "err\n");
        assert_ended(e.ours[2]);
    }
    close_all(e.ours);
    ck_assert_uint_eq(px_test_count_fds(), n_fds);
}

PX_TEST(a_source_brings_all_and_its_end)
{
    for (int i = 0; i < 4; i++)
        use_source(i);
}

PX_TEST(a_terminal_is_as_asked_for)
{
    const struct winsize size = {.ws_row = 7, .ws_col = 11};
    struct px_piof_source w = wanted(PX_PIOF_TERMINAL, true);
    struct px_piof_ends e;
    struct winsize got;
    struct termios t;

    if (!open_source(PX_PIOF_TERMINAL, true, &e))
        return;
    ok(tcgetattr(e.child[0], &t));
    close_all(e.child);
    close_all(e.ours);
    t.c_oflag |= OPOST | ONLCR;
    w.termios = &t;
    w.winsize = &size;
    ok(ops()->open_source(contract.self, &w, &e));
    ok(ioctl(e.child[0], TIOCGWINSZ, &got));
    ck_assert(got.ws_row == 7 && got.ws_col == 11);
    ok(px_fd_write_all(e.child[1], "x\n", 2, 0));
    await_text(e.ours[1], "x\r\n");
    close_all(e.child);
    close_all(e.ours);
}

/* Allows one more allocation at each try until it succeeds. */
static void run_out(int what)
{
    const struct px_piof_source w = wanted(what ? PX_PIOF_TERMINAL : PX_PIOF_PIPES,
                                           false);
    size_t n_fds = px_test_count_fds();
    struct px_piof_ends e = none;
    struct rlimit limit;
    pmix_status_t rc;

    if (!open_source(w.kind, false, &e))
        return;
    close_all(e.child);
    close_all(e.ours);
    int low = dup(0);
    close(low);
    ok(getrlimit(RLIMIT_NOFILE, &limit));
    for (limit.rlim_cur = (rlim_t)low;; limit.rlim_cur++) {
        ok(setrlimit(RLIMIT_NOFILE, &limit));
        e = none;
        rc = ops()->open_source(contract.self, &w, &e);
        if (rc == PMIX_SUCCESS)
            break;
        ck_assert_int_eq(rc, PMIX_ERR_OUT_OF_RESOURCE);
        ck_assert_mem_eq(&e, &none, sizeof(e));
    }
    close_all(e.child);
    close_all(e.ours);
    limit.rlim_cur = limit.rlim_max;
    ok(setrlimit(RLIMIT_NOFILE, &limit));
    ck_assert_uint_eq(px_test_count_fds(), n_fds);
}

PX_TEST(without_descriptors_nothing_stays)
{
    for (int i = 0; i < 2; i++)
        run_out(i);
}
