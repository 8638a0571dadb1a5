/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool_server.h"

#include "core/base/str.h"
#include "core/rt/process.h"
#include "px_test.h"

#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct tool_server tool_server;
pmix_proc_t tool;
px_infos tool_infos;
static char address[64];

/* ---- connections ----------------------------------------------------------------- */

static void *serve_one(void *arg)
{
    fake_serve_on((int)(intptr_t)arg);
    return NULL;
}

static void welcome(int fd, int number)
{
    PX_AUTOFREE char *name = px_strf("server-%d", tool_server.same_name ? 1 : number);
    uint8_t flag = fake.hello.flag;
    pmix_proc_t given = proc_of("given", 3);

    fake_tool_words(fd, PMIX_SUCCESS,
                    flag == PX_FLAG_TOOL_NEEDS_ID || flag == PX_FLAG_LAUNCHER_NEEDS_ID
                        ? &given
                        : NULL,
                    name);
}

/* Serves one connection after the other; shutdown of the listener ends the loop. */
static void serve_all(void)
{
    pthread_t threads[16];
    int n = 0, fd;

    while ((fd = accept4(fake.listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        ck_assert_int_lt(tool_server.accepted, 15);
        tool_server.fds[++tool_server.accepted] = fd;
        if (tool_server.mute)
            continue;
        fake_read_hello(fd);
        if (tool_server.refuse) {
            fake_words(fd, tool_server.refuse, -1);
            close(fd);
            continue;
        }
        welcome(fd, tool_server.accepted);
        ok(pthread_create(&threads[n++], NULL, serve_one, (void *)(intptr_t)fd));
    }
    while (n > 0)
        pthread_join(threads[--n], NULL);
    for (int i = 1; tool_server.mute && i <= tool_server.accepted; i++)
        close(tool_server.fds[i]);
}

/* ---- fixtures -------------------------------------------------------------------- */

void tool_setup(void)
{
    static const char *const names[] = {
        "PMIX_SERVER_URI41",    "PMIX_NAMESPACE",     "PMIX_RANK",
        "PMIX_HOSTNAME",        "PMIX_VERSION",       "PMIX_BFROP_BUFFER_TYPE",
        "PMIX_SECURITY_MODE",   "PMIX_SERVER_TMPDIR", "PMIX_SYSTEM_TMPDIR",
        PMIX_LAUNCHER_RNDZ_URI, PMIX_KEEPALIVE_PIPE};

    setenv("TMPDIR", px_test_dir(), 1);
    for (size_t i = 0; i < PX_COUNT(names); i++)
        unsetenv(names[i]);
    sem_init(&done, 0, 0);
}

void tool_server_setup(void)
{
    fake.nspace = "given";
    fake.script = serve_all;
    fake_start();
    px_str_copy(address, sizeof(address), strchr(getenv("PMIX_SERVER_URI41"), ';') + 1);
    tool_setup();
}

void nothing_is_left(void)
{
    ck_assert(!PMIx_Initialized());
    ck_assert(!PMIx_tool_is_connected());
    ck_assert_ptr_null(px_process.loop);
    ck_assert_ptr_null(px_process.client);
    ck_assert_ptr_null(px_process.server);
    ck_assert_uint_eq(px_process.users, 0);
    fails(PMIx_tool_finalize(), INIT);
}

void tool_teardown(void)
{
    if (PMIx_Initialized())
        ok(PMIx_tool_finalize());
    nothing_is_left();
    px_infos_cleanup(&tool_infos);
    if (!fake.runs)
        return;
    shutdown(fake.listener, SHUT_RDWR);
    fake_stop();
}

const char *tool_server_uri(const char *name)
{
    static char uris[8][128];
    static unsigned next;
    char *uri = uris[next++ % 8];

    snprintf(uri, sizeof(uris[0]), "%s.0;%s", name, address);
    return uri;
}

/* ---- a tool ---------------------------------------------------------------------- */

void add(const char *key, const void *data, pmix_data_type_t type)
{
    ok(px_infos_add(&tool_infos, key, data, type));
}

void add_text(const char *key, const char *text)
{
    add(key, text, PMIX_STRING);
}

void add_u32(const char *key, uint32_t n)
{
    add(key, &n, PMIX_UINT32);
}

void add_yes(const char *key)
{
    add(key, &(bool){true}, PMIX_BOOL);
}

pmix_status_t init(void)
{
    return PMIx_tool_init(&tool, tool_infos.v, tool_infos.n);
}

void init_alone(void)
{
    add_yes(PMIX_TOOL_DO_NOT_CONNECT);
    ok(init());
}

void finalize(void)
{
    ok(PMIx_tool_finalize());
    nothing_is_left();
}

static void add_attribute(const char *key, const char *text)
{
    if (text)
        add_text(key, text);
    else
        add_yes(key);
}

void finds_by(const char *key, const char *text)
{
    add_attribute(key, text);
    finds_it();
}

void fails_by(const char *key, const char *text, pmix_status_t status)
{
    add_attribute(key, text);
    fails_with(status);
}

void finds_it(void)
{
    ok(init());
    ck_assert(PMIx_tool_is_connected());
    finalize();
    px_infos_cleanup(&tool_infos);
    ck_assert_int_eq(tool_server.accepted, 1);
    tool_server.accepted = 0;
}

void fails_with(pmix_status_t status)
{
    memset(&tool, 0x55, sizeof(tool));
    ck_assert_int_eq(init(), status);
    ck_assert_uint_eq(tool.rank, 0x55555555); /* unchanged */
    nothing_is_left();
    px_infos_cleanup(&tool_infos);
}

/* ---- files ----------------------------------------------------------------------- */

const char *tool_name(enum tool_name form, const char *what)
{
    static char names[8][512];
    static unsigned next;
    char *name = names[next++ % 8], host[128];

    ck_assert_int_eq(gethostname(host, sizeof(host) - 1), 0);
    snprintf(name, sizeof(names[0]), "pmix.%s.%s%s", form == KIND ? what : host,
             form == OLD ? "tool." : "", form == KIND ? host : what);
    return name;
}

const char *tool_file(const char *name, const char *text)
{
    const char *path = px_test_path(name);
    FILE *f = fopen(path, "we");

    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs(text ? text : content("4.2.2"), f), 0);
    ok(fclose(f));
    ok(chmod(path, 0600));
    return path;
}

const char *content(const char *version)
{
    static char text[512];
    const char *uri = tool_server_uri("server-1");

    if (version)
        snprintf(text, sizeof(text), "%s\n%s\n4711\n0:0\ntoday\n", uri, version);
    else
        snprintf(text, sizeof(text), "%s\n", uri);
    return text;
}
