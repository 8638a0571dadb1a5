/* SPDX-License-Identifier: BSD-3-Clause */
/* What a tool that looks for its server does not believe, and how long it waits. */
#include "core/base/clock.h"
#include "core/base/str.h"
#include "px_test.h"
#include "seeker.h"

#include <grp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what it says ---------------------------------------------------------------- */

/* The message of a tool that finds no server; good until the next call. */
static const char *complaint(void)
{
    static char text[2048];
    FILE *file = tmpfile();
    int saved = dup(STDERR_FILENO);
    size_t n;

    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(dup2(fileno(file), STDERR_FILENO), 0);
    fails_with(PMIX_ERR_UNREACH);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    n = fread(text, 1, sizeof(text) - 1, file);
    text[n] = '\0';
    fclose(file);
    return text;
}

PX_TEST(the_message_says_where_it_has_looked)
{
    PX_AUTOFREE char *server = px_strf("%s/servers", tool_dir);
    PX_AUTOFREE char *system = px_strf("%s/system", tool_dir);
    const char *said;

    ck_assert_int_eq(mkdir(server, 0700), 0);
    for (int i = 0; i < 3; i++) { /* any, by process id, by kind */
        add(PMIX_SERVER_TMPDIR, server, PMIX_STRING);
        add(PMIX_SYSTEM_TMPDIR, system, PMIX_STRING);
        if (i == 1)
            add_u32(PMIX_SERVER_PIDINFO, 4711);
        else if (i == 2)
            add_yes(PMIX_CONNECT_TO_SYSTEM);
        said = complaint();
        ck_assert_msg(!strstr(said, "PMIX_NAMESPACE"), "%s", said);
        ck_assert_msg(strstr(said, "PMIx_tool_init: no file pmix."), "%s", said);
        ck_assert_msg(!strstr(said, server) == (i == 2), "%s", said);
        ck_assert_msg(strstr(said, system), "%s", said);
    }
}

/* ---- what it does not believe ---------------------------------------------------- */

static void file_is_refused(const char *path)
{
    add(PMIX_TOOL_ATTACHMENT_FILE, path, PMIX_STRING);
    fails_with(PMIX_ERR_UNREACH);
    ck_assert_int_eq(tool_server.accepted, 0);
}

PX_TEST(bad_files_are_refused)
{
    PX_AUTOFREE char *good = strdup(tool_file("good", content("4.2.2")));
    PX_AUTOFREE char *link_path = px_strf("%s/link", tool_dir);
    PX_AUTOFREE char *fifo = px_strf("%s/fifo", tool_dir);
    PX_AUTOFREE char *big = malloc(8192);

    file_is_refused("/nowhere/at/all");
    file_is_refused(tool_dir);
    file_is_refused(tool_file("empty", ""));
    file_is_refused(tool_file("garbage", "\x01\xff not an address\n\n\n"));
    file_is_refused(tool_file("half", "server-1.0;tcp4:"));
    snprintf(big, 8192, "%s", content("4.2.2"));
    memset(big + strlen(big), ' ', 8191 - strlen(big));
    big[8191] = '\0';
    file_is_refused(tool_file("big", big));
    ck_assert_int_eq(symlink(good, link_path), 0);
    file_is_refused(link_path);
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    file_is_refused(fifo);
    ck_assert_int_eq(chmod(good, 0622), 0);
    file_is_refused(good);
    ck_assert_int_eq(chmod(good, 0600), 0);
    ck_assert_int_eq(unlink(link_path), 0);
    ck_assert_int_eq(link(good, link_path), 0);
    file_is_refused(good);
}

PX_TEST(a_file_of_somebody_else_is_refused)
{
    const char *path = tool_file("theirs", content("4.2.2"));

    PX_TEST_NEEDS(geteuid() == 0, "root");
    ck_assert_int_eq(chown(path, 12345, 12345), 0);
    file_is_refused(path);
}

/* Somebody else has the port now; he hears nothing. */
static int squat(int orders, int reports)
{
    struct sockaddr_in sa = {.sin_family = AF_INET,
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(sa);
    char byte;
    int s, conn;

    if (setgroups(0, NULL) || setresgid(12345, 12345, 12345) ||
        setresuid(12345, 12345, 12345) ||
        (s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) < 0 ||
        bind(s, (struct sockaddr *)&sa, len) || listen(s, 4) ||
        getsockname(s, (struct sockaddr *)&sa, &len) ||
        write(reports, &sa.sin_port, sizeof(sa.sin_port)) != sizeof(sa.sin_port))
        return 2;
    if (read(orders, &byte, 1) != 1 ||
        (conn = accept4(s, NULL, NULL, SOCK_CLOEXEC)) < 0)
        return 3;
    return read(conn, &byte, 1) > 0; /* until it hangs up */
}

PX_TEST(a_port_that_somebody_else_has_taken_hears_nothing)
{
    int orders[2], reports[2], status;
    in_port_t port = 0;
    char text[128];

    PX_TEST_NEEDS(geteuid() == 0, "root");
    ck_assert_int_eq(pipe(orders), 0);
    ck_assert_int_eq(pipe(reports), 0);
    pid_t pid = fork();
    if (pid == 0)
        _exit(squat(orders[0], reports[1]));
    ck_assert_int_eq(read(reports[0], &port, sizeof(port)), sizeof(port));
    snprintf(text, sizeof(text), "dead.0;tcp4://127.0.0.1:%d\n4.2.2\n1\n0:0\n",
             ntohs(port));
    file_is_refused(tool_file("stale", text));
    ck_assert_int_eq(write(orders[1], "", 1), 1);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    for (int i = 0; i < 2; i++) {
        close(orders[i]);
        close(reports[i]);
    }
}

PX_TEST(a_server_that_died_is_not_there)
{
    file_is_refused(tool_file("stale", "dead.0;tcp4://127.0.0.1:1\n4.2.2\n1\n0:0\n"));
}

PX_TEST(addresses_that_make_no_sense_are_bad_parameters)
{
    PX_AUTOFREE char *uri = tool_server_uri("server-1");

    add(PMIX_SERVER_URI, "nonsense", PMIX_STRING);
    fails_with(PMIX_ERR_BAD_PARAM);
    add(PMIX_SERVER_URI, uri, PMIX_STRING);
    add(PMIX_TCP_URI, uri, PMIX_STRING);
    fails_with(PMIX_ERR_BAD_PARAM);
    add(PMIX_TCP_URI, "server-1.0;usock:///tmp/x", PMIX_STRING);
    fails_with(PMIX_ERR_UNREACH);
}

PX_TEST(a_refusal_is_no_connection)
{
    PX_AUTOFREE char *uri = tool_server_uri("server-1");

    tool_server.refuse = PMIX_ERR_NO_PERMISSIONS;
    add(PMIX_SERVER_URI, uri, PMIX_STRING);
    fails_with(PMIX_ERR_UNREACH);
    add(PMIX_SERVER_URI, uri, PMIX_STRING);
    add_yes(PMIX_TOOL_CONNECT_OPTIONAL);
    ok(PMIx_tool_init(&seeker, seeker_infos.v, seeker_infos.n));
    ck_assert(!PMIx_tool_is_connected());
    ck_assert_ptr_nonnull(strstr(seeker.nspace, "tool."));
    /* It can still connect later, and keeps its name. */
    tool_server.refuse = PMIX_SUCCESS;
    ok(PMIx_tool_attach_to_server(NULL, NULL, seeker_infos.v, 1));
    ck_assert(PMIx_tool_is_connected());
    ck_assert_str_eq(fake.hello.proc.nspace, seeker.nspace);
    ok(PMIx_tool_finalize());
}

/* ---- time ------------------------------------------------------------------------ */

PX_TEST(a_server_that_never_answers_costs_the_time_set)
{
    PX_AUTOFREE char *uri = tool_server_uri("server-1");
    uint64_t began = px_clock_ms();

    tool_server.mute = true;
    add(PMIX_SERVER_URI, uri, PMIX_STRING);
    add_u32(PMIX_TIMEOUT, 1);
    fails_with(PMIX_ERR_TIMEOUT);
    ck_assert_uint_ge(px_clock_ms() - began, 900);
    ck_assert_uint_lt(px_clock_ms() - began, 10000);
}

PX_TEST(a_server_that_tells_nothing_of_the_job_costs_the_usual_time)
{
    PX_AUTOFREE char *uri = tool_server_uri("server-1");

    setenv("PMIX_MCA_client_connect_timeout", "300ms", 1);
    tool_server.silent = true;
    add(PMIX_SERVER_URI, uri, PMIX_STRING);
    fails_with(PMIX_ERR_TIMEOUT);
}

static void *appear(void *arg PX_UNUSED)
{
    usleep(300000);
    tool_file("later", content("4.2.2"));
    return NULL;
}

PX_TEST(a_file_that_is_not_there_yet_may_be_waited_for)
{
    PX_AUTOFREE char *path = px_strf("%s/later", tool_dir);
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, appear, NULL), 0);
    add(PMIX_TOOL_ATTACHMENT_FILE, path, PMIX_STRING);
    add_yes(PMIX_WAIT_FOR_CONNECTION);
    add_u32(PMIX_TIMEOUT, 20);
    finds_it();
    pthread_join(thread, NULL);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, appear, NULL), 0);
    add(PMIX_TOOL_ATTACHMENT_FILE, path, PMIX_STRING);
    add_u32(PMIX_CONNECT_MAX_RETRIES, 20);
    add_u32(PMIX_CONNECT_RETRY_DELAY, 1);
    finds_it();
    pthread_join(thread, NULL);
}

PX_TEST(retries_are_counted)
{
    uint64_t began = px_clock_ms();

    add(PMIX_TOOL_ATTACHMENT_FILE, "/nowhere/at/all", PMIX_STRING);
    add_u32(PMIX_CONNECT_MAX_RETRIES, 1);
    add_u32(PMIX_CONNECT_RETRY_DELAY, 1);
    fails_with(PMIX_ERR_UNREACH);
    ck_assert_uint_ge(px_clock_ms() - began, 1000);
    ck_assert_uint_lt(px_clock_ms() - began, 1900);
}

PX_TEST_MAIN("tool/discover_refused", seeker_setup, seeker_teardown)
