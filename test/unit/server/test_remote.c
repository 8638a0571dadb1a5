/* SPDX-License-Identifier: BSD-3-Clause */
/* Listener for tools on other machines: its address, and processes that have no credential. The
 * daemon of MUNGE is a socket that never answers. test/integration/remote.sh has a real one. */
#include "../rt/rt_test.h"

#include "core/base/fd.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/server/door/door.h"
#include "fake_host.h"
#include "files.h"
#include "raw.h"

#include <arpa/inet.h>
#include <sched.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

extern char **environ;

static char report_path[256], daemon_path[256];
static bool value = true; /* of the attribute */

/* Makes a network with this address, in a namespace of its own. */
static bool has_network(void)
{
    static const char *const lines[] = {"ip link set lo up",
                                        "ip link add eth7 type veth peer name eth8",
                                        "ip address add 192.0.2.1/24 dev eth7",
                                        "ip link set eth7 up", "ip link set eth8 up"};
    bool good = geteuid() == 0 && unshare(CLONE_NEWNET) == 0;

    for (size_t i = 0; good && i < PX_COUNT(lines); i++) {
        PX_AUTO(px_strv) words = px_strv_split(lines[i], ' ', false);
        pid_t pid;
        int status = -1;

        good = posix_spawnp(&pid, words[0], NULL, NULL, words, environ) == 0 &&
               waitpid(pid, &status, 0) == pid && status == 0;
    }
    return good;
}

static bool has_munge(void)
{
    PX_AUTOFREE char *path = px_path_join(getenv("PMIX_MCA_mca_base_component_path"),
                                          "pmix_mca_tenon_psec_munge.so");

    return access(path, F_OK) == 0;
}

/* Makes the socket of a daemon, which accepts connections and does not answer. */
static void start_daemon(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(daemon_path, sizeof(daemon_path), "%s/daemon", getenv("TMPDIR"));
    unlink(daemon_path);
    ck_assert(px_str_copy(a.sun_path, sizeof(a.sun_path), daemon_path));
    ok(bind(fd, (struct sockaddr *)&a, sizeof(a)));
    ok(listen(fd, 64));
    setenv("PMIX_MCA_psec_munge_socket", daemon_path, 1);
}

/* Starts a server for tools. required: the attribute is required. */
static pmix_status_t start(const pmix_server_module_t *module, bool required)
{
    PX_AUTO(px_infos) infos = {0};

    snprintf(report_path, sizeof(report_path), "%s/uri", getenv("TMPDIR"));
    ok(px_infos_add(&infos, PMIX_SERVER_NSPACE, "srv", PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_TCP_REPORT_URI, report_path, PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_SERVER_REMOTE_CONNECTIONS, &value, PMIX_BOOL));
    if (required)
        PMIX_INFO_REQUIRED(&infos.v[infos.n - 1]);
    pmix_status_t rc = PMIx_server_init((pmix_server_module_t *)(uintptr_t)module,
                                        infos.v, infos.n);
    if (!rc)
        raw_add_job("job", 1, 0, geteuid());
    return rc;
}

static int far_socket(void)
{
    const char *uri = px_process.server->part.door->remote_uri;
    struct sockaddr_in a = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ck_assert_msg(px_str_starts(uri, "srv.0;tcp4://192.0.2.1:"), "%s", uri);
    a.sin_port = htons((uint16_t)atoi(strrchr(uri, ':') + 1));
    ck_assert_int_eq(inet_pton(AF_INET, "192.0.2.1", &a.sin_addr), 1);
    ok(connect(fd, (struct sockaddr *)&a, sizeof(a)));
    return fd;
}

static struct px_hello hello(uint8_t flag, const char *psec, const char *cred)
{
    struct px_hello h = raw_hello("mine", 0);

    h.flag = flag;
    h.uid = geteuid();
    h.gid = getegid();
    strcpy(h.psec, psec);
    if (cred) {
        h.cred = (uint8_t *)(uintptr_t)cred;
        h.cred_len = strlen(cred) + 1;
    }
    return h;
}

static pmix_status_t knock(uint8_t flag, const char *psec, const char *cred)
{
    const struct px_hello h = hello(flag, psec, cred);
    PX_AUTOCLOSE int fd = far_socket();

    return raw_send_hello(fd, &h);
}

PX_TEST(nothing_but_a_tool_with_a_credential_is_served)
{
    char longest[5000];
    const struct {
        uint8_t flag;
        const char *psec, *cred;
        pmix_status_t status;
    } rows[] = {
        {PX_FLAG_TOOL_HAS_ID, "native", NULL, PMIX_ERR_INVALID_CRED},
        {PX_FLAG_TOOL_HAS_ID, "none", "MUNGE:AAAA:", PMIX_ERR_INVALID_CRED},
        {PX_FLAG_TOOL_HAS_ID, "munge", NULL, PMIX_ERR_INVALID_CRED},
        {PX_FLAG_LAUNCHER_HAS_ID, "munge", "", PMIX_ERR_INVALID_CRED},
        {PX_FLAG_TOOL_NEEDS_ID, "munge", "MUNGE:AAAA: ", PMIX_ERR_INVALID_CRED},
        {PX_FLAG_TOOL_HAS_ID, "munge", longest, PMIX_ERR_INVALID_CRED},
        {PX_FLAG_CLIENT, "munge", "MUNGE:AAAA:", PMIX_ERR_NOT_SUPPORTED},
        {PX_FLAG_CLIENT, "native", NULL, PMIX_ERR_NOT_SUPPORTED},
        {PX_FLAG_SINGLETON, "munge", "MUNGE:AAAA:", PMIX_ERR_NOT_SUPPORTED},
        {PX_FLAG_TOOL_CLIENT, "munge", "MUNGE:AAAA:", PMIX_ERR_NOT_SUPPORTED},
        {PX_FLAG_LAUNCHER_CLIENT, "munge", "MUNGE:AAAA:", PMIX_ERR_NOT_SUPPORTED},
        {PX_FLAG_SCHEDULER, "munge", "MUNGE:AAAA:", PMIX_ERR_NOT_SUPPORTED},
        {PX_FLAG_TOOL_LEGACY, "munge", "MUNGE:AAAA:", PMIX_ERR_NOT_SUPPORTED},
    };

    memset(longest, 'A', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    PX_TEST_NEEDS(has_network() && has_munge(), "root, ip and psec/munge");
    start_daemon();
    ok(start(NULL, true));
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        pmix_status_t rc = knock(rows[i].flag, rows[i].psec, rows[i].cred);

        ck_assert_msg(rc == rows[i].status, "row %zu: %s", i, PMIx_Error_string(rc));
    }
}

/* The address for this machine stays; the other one is reported, for people and other machines. */
PX_TEST(the_reported_address_is_the_one_for_other_machines)
{
    PX_TEST_NEEDS(has_network() && has_munge(), "root, ip and psec/munge");
    start_daemon();
    ok(start(NULL, true));
    const struct px_server *srv = px_process.server;
    PX_AUTOFREE char *text = text_of_file(report_path);
    ck_assert(px_str_starts(text, srv->part.door->remote_uri));
    ck_assert_ptr_nonnull(strstr(srv->uri, ";tcp4://127.0.0.1:"));
    close(raw_client(0));
}

static void assert_bounded(void *arg PX_UNUSED)
{
    ck_assert_uint_le(px_process.server->part.door->n_handshakes, 128);
}

/* Many wait for the daemon. Each ends in time, and a client is served meanwhile. */
PX_TEST(a_daemon_that_does_not_answer_costs_its_tools_only)
{
    enum { N = 140 };
    const struct px_hello h = hello(PX_FLAG_TOOL_HAS_ID, "munge", "MUNGE:AAAA:");
    PX_AUTO(px_buf) bytes = {0};
    int fds[N];

    PX_TEST_NEEDS(has_network() && has_munge(), "root, ip and psec/munge");
    start_daemon();
    setenv("PMIX_MCA_server_handshake_timeout", "500ms", 1);
    ok(start(NULL, true));
    ok(px_hello_encode(&h, &bytes));
    for (size_t i = 0; i < N; i++) {
        fds[i] = far_socket();
        ok(px_fd_write_all(fds[i], bytes.data, bytes.len, 0));
    }
    close(raw_client(0));
    raw_on_loop(assert_bounded, NULL);
    for (size_t i = 0; i < N; i++) {
        ck_assert(raw_closed(fds[i]));
        close(fds[i]);
    }
    ck_assert_uint_eq(px_process.server->part.door->n_handshakes, 0);
    raw_server_stop();
    /* A handshake that may last longer ends with the check. */
    setenv("PMIX_MCA_server_handshake_timeout", "20s", 1);
    ok(start(NULL, true));
    fails(knock(PX_FLAG_TOOL_HAS_ID, "munge", "MUNGE:AAAA:"), TIMEOUT);
    fails(knock(PX_FLAG_TOOL_HAS_ID, "munge", "none"),
          INVALID_CRED); /* by a new child */
}

PX_TEST(a_host_that_forbids_them_beats_a_parameter)
{
    PX_TEST_NEEDS(has_network() && has_munge(), "root, ip and psec/munge");
    start_daemon();
    setenv("PMIX_MCA_ptl_base_remote_connections", "1", 1);
    value = false;
    ok(start(NULL, true));
    ck_assert_str_eq(px_process.server->part.door->remote_uri, "");
}

/* A server stops while a tool waits. */
PX_TEST(a_server_does_not_wait_for_the_daemon)
{
    const struct px_hello h = hello(PX_FLAG_TOOL_HAS_ID, "munge", "MUNGE:AAAA:");
    PX_AUTO(px_buf) bytes = {0};

    PX_TEST_NEEDS(has_network() && has_munge(), "root, ip and psec/munge");
    start_daemon();
    ok(start(NULL, true));
    PX_AUTOCLOSE int fd = far_socket();
    ok(px_hello_encode(&h, &bytes));
    ok(px_fd_write_all(fd, bytes.data, bytes.len, 0));
    while (px_process.server->part.door->n_handshakes == 0)
        raw_on_loop(NULL, NULL);
    raw_server_stop();
    ck_assert(raw_closed(fd));
}

PX_TEST(where_it_cannot_be_honoured_only_a_host_that_requires_it_fails)
{
    static const pmix_server_module_t no_tools = {0};
    static const struct {
        const char *name, *value; /* of a parameter */
        const pmix_server_module_t *module;
        const char *why;
    } rows[] = {
        {"psec_munge_socket", "/nonexistent/socket", NULL,
         "psec/munge cannot be used: it declines: cannot connect to"},
        {"psec", "native", NULL, "psec/munge cannot be used: "},
        {"ptl_tcp_interfaces", "lo,eth9,198.51.100.0/24", NULL,
         "ptl/tcp cannot listen"},
        {"ptl_tcp_no_interfaces", "eth7", NULL, "ptl/tcp cannot listen"},
        {"ptl", "usock", NULL, "no selected transport listens"},
        {"server_handshake_timeout", "5s", &no_tools, "no tool_connected"},
    };

    PX_TEST_NEEDS(has_network() && has_munge(), "root, ip and psec/munge");
    for (size_t i = 0; i < 2 * PX_COUNT(rows); i++) {
        PX_AUTOFREE char *name = px_strf("PMIX_MCA_%s", rows[i / 2].name);
        struct rt_capture c = rt_capture_begin();

        start_daemon();
        setenv(name, rows[i / 2].value, 1);
        pmix_status_t rc = start(rows[i / 2].module, i % 2);
        if (!rc) {
            ck_assert_str_eq(px_process.server->part.door->remote_uri, "");
            raw_server_stop();
        }
        unsetenv(name);
        PX_AUTOFREE char *text = rt_capture_end(&c);
        ck_assert_msg(rc == (i % 2 ? PMIX_ERR_NOT_SUPPORTED : PMIX_SUCCESS),
                      "row %zu: %s", i, PMIx_Error_string(rc));
        rt_assert_has(text, rows[i / 2].why);
        rt_assert_has(text, i % 2 ? "PMIX_SERVER_REMOTE_CONNECTIONS"
                                  : "cannot admit tools on other machines");
    }
}

static void end(void)
{
    host_end();
    if (daemon_path[0])
        ok(unlink(daemon_path));
}

PX_TEST_MAIN("server/remote", NULL, end)
