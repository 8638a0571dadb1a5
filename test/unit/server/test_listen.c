/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses that a server offers, and what becomes of it without descriptors. */
#include "../rt/rt_test.h"
#include "core/base/str.h"
#include "fake_host.h"
#include "px_test.h"
#include "core/server/door/door.h"
#include "raw.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

PX_TEST(the_common_address_is_tcp_and_a_faster_one_stands_beside_it)
{
    raw_server_start(&host_module, 1);
    const struct px_server *srv = px_process.server;
    const char *tcp = strchr(srv->uri, ';');

    ck_assert(px_str_starts(tcp, ";tcp4://127.0.0.1:"));
    ck_assert(px_str_starts(srv->own_uri, srv->uri));
    ck_assert(px_str_starts(srv->own_uri + strlen(srv->uri), ";usock://"));
}

PX_TEST(one_transport_alone_is_the_common_one)
{
    setenv("PMIX_MCA_ptl", "usock", 1);
    raw_server_start(&host_module, 1);
    ck_assert_ptr_nonnull(strstr(px_process.server->uri, ";usock://"));
    ck_assert_str_eq(px_process.server->own_uri, "");
}

PX_TEST(the_private_directory_is_the_servers_and_goes_with_it)
{
    struct stat st;

    raw_server_start(&host_module, 1);
    char *dir = strdup(px_process.server->dir);
    ck_assert_int_eq(stat(dir, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0700);
    raw_server_stop();
    ck_assert_int_ne(stat(dir, &st), 0);
    free(dir);
}

PX_TEST(a_directory_that_is_not_there_is_no_reason_to_fail)
{
    setenv("PMIX_SERVER_TMPDIR", "/nonexistent/place", 1);
    raw_server_start(&host_module, 1);
    ck_assert_ptr_nonnull(strstr(px_process.server->uri, ";tcp4://"));
    ck_assert_ptr_nonnull(strstr(px_process.server->own_uri, ";usock://"));
    close(raw_client(0));
    raw_server_stop();
    ck_assert_int_ne(access("/nonexistent", F_OK), 0);
}

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Takes every descriptor that is left, also those that the loop has just done with. */
static int take_all(int fill[64])
{
    int n = 0;

    for (int round = 0; round < 3; round++) {
        raw_on_loop(NULL, NULL);
        while ((fill[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
            n++;
    }
    return n;
}

PX_TEST(out_of_descriptors_it_waits_without_spinning_and_then_goes_on)
{
    struct rlimit all, limit;
    int fill[64], n = 0, waiting;

    raw_server_start(&host_module, 2);
    ok(getrlimit(RLIMIT_NOFILE, &all));
    limit = (struct rlimit){.rlim_cur = 64, .rlim_max = all.rlim_max};
    ok(setrlimit(RLIMIT_NOFILE, &limit));
    waiting = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    n = take_all(fill);

    raw_connect_socket(waiting); /* the kernel accepts, the server cannot */
    double before = cpu_seconds();
    struct timespec half = {.tv_nsec = 400 * 1000 * 1000};
    nanosleep(&half, NULL); /* time in which it must not be busy */
    ck_assert(cpu_seconds() - before < 0.2);

    ok(setrlimit(RLIMIT_NOFILE, &all)); /* at once: one alone would not do */
    struct px_hello h = raw_hello("job", 0);
    ok(raw_say_hello(waiting, &h));
    close(raw_client(1));
    while (n > 0)
        close(fill[--n]);
}

PX_TEST(out_of_descriptors_silent_strangers_make_room)
{
    struct rlimit limit = {.rlim_cur = 64, .rlim_max = 64};
    int fill[64], silent[8], n = 0;

    raw_server_start(&host_module, 2);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (size_t i = 0; i < PX_COUNT(silent); i++)
        silent[i] = raw_socket();
    while (px_process.server->part.door->n_handshakes < PX_COUNT(silent))
        raw_on_loop(NULL, NULL);
    int fds[] = {socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
                 socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    n = take_all(fill);

    /* Two, as the server may have put one descriptor back meanwhile. */
    for (pmix_rank_t r = 0; r < PX_COUNT(fds); r++) {
        struct px_hello h = raw_hello("job", r);

        raw_connect_socket(fds[r]);
        ok(raw_say_hello(fds[r], &h));
    }
    ck_assert(raw_closed(silent[0])); /* the one that was silent longest */

    while (n > 0)
        close(fill[--n]);
}

/* Each stranger says something that is no connect message. */
PX_TEST(a_flood_of_garbage_is_logged_in_a_few_lines)
{
    enum { N = 500 };
    static const char garbage[64] = "GET / HTTP/1.0\r\n\r\n";
    struct rt_capture c = rt_capture_begin();
    char count[64];

    raw_server_start(&host_module, 1);
    for (int i = 0; i < N; i++) {
        int fd = raw_socket();

        ck_assert_int_eq(send(fd, garbage, sizeof garbage, MSG_NOSIGNAL),
                         sizeof garbage);
        ck_assert(raw_closed(fd));
        close(fd);
    }
    raw_server_stop();
    char *text = rt_capture_end(&c);
    snprintf(count, sizeof count, "%d more like it: uid %u", N - PX_LOG_RATE_LINES,
             (unsigned)geteuid());
    rt_assert_has(text, count);
    ck_assert_int_eq(rt_count(text, "\n"), PX_LOG_RATE_LINES + 1);
    free(text);
}

PX_TEST_MAIN("server/listen", NULL, host_end)
