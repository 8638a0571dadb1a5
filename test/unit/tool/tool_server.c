/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool_server.h"

#include "core/base/path.h"
#include "core/base/str.h"

#include <check.h>
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct tool_server tool_server;
char tool_dir[64];
static char address[64];

/* ---- connections ----------------------------------------------------------------- */

static void *serve_one(void *arg)
{
    int fd = (int)(intptr_t)arg;

    if (!tool_server.silent) {
        fake_serve_on(fd);
    } else {
        char byte[256];

        while (recv(fd, byte, sizeof(byte), 0) > 0)
            ;
        close(fd);
    }
    return NULL;
}

static bool needs_name(const struct px_hello *h)
{
    return h->flag == PX_FLAG_TOOL_NEEDS_ID || h->flag == PX_FLAG_LAUNCHER_NEEDS_ID;
}

static void welcome(int fd, int number)
{
    PX_AUTOFREE char *name = px_strf("server-%d", tool_server.same_name ? 1 : number);
    pmix_proc_t given;

    px_proc_set(&given, "given", 3);
    fake_tool_words(fd, PMIX_SUCCESS, needs_name(&fake.hello) ? &given : NULL, name);
}

/* One after the other; shutdown of the listener ends it. */
static void serve_all(void)
{
    pthread_t threads[16];
    int n = 0;

    for (;;) {
        int fd = accept4(fake.listener, NULL, NULL, SOCK_CLOEXEC);

        if (fd < 0)
            break;
        ck_assert_int_lt(tool_server.accepted, 15);
        tool_server.fds[++tool_server.accepted] = fd;
        if (tool_server.mute)
            continue;
        fake_hear_hello(fd);
        if (tool_server.refuse) {
            fake_words(fd, tool_server.refuse, -1);
            close(fd);
            continue;
        }
        welcome(fd, tool_server.accepted);
        ck_assert_int_eq(
            pthread_create(&threads[n++], NULL, serve_one, (void *)(intptr_t)fd), 0);
    }
    while (n > 0)
        pthread_join(threads[--n], NULL);
    for (int i = 1; tool_server.mute && i <= tool_server.accepted; i++)
        close(tool_server.fds[i]);
}

void tool_server_start(void)
{
    static const char *const names[] = {"PMIX_SERVER_URI41", "PMIX_NAMESPACE",
                                        "PMIX_RANK",         "PMIX_HOSTNAME",
                                        "PMIX_VERSION",      "PMIX_BFROP_BUFFER_TYPE",
                                        "PMIX_SECURITY_MODE"};

    tool_server = (struct tool_server){0};
    fake.nspace = "given";
    fake.script = serve_all;
    fake_start();
    px_str_copy(address, sizeof(address), strchr(getenv("PMIX_SERVER_URI41"), ';') + 1);
    for (size_t i = 0; i < PX_COUNT(names); i++)
        unsetenv(names[i]);
}

void tool_server_stop(void)
{
    shutdown(fake.listener, SHUT_RDWR);
    fake_stop();
}

char *tool_server_uri(const char *name)
{
    return px_strf("%s.0;%s", name, address);
}

/* ---- files ----------------------------------------------------------------------- */

void tool_dir_make(void)
{
    px_str_copy(tool_dir, sizeof(tool_dir), "/tmp/tntool.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(tool_dir));
    setenv("TMPDIR", tool_dir, 1);
    unsetenv("PMIX_SERVER_TMPDIR");
    unsetenv("PMIX_SYSTEM_TMPDIR");
}

void tool_dir_remove(void)
{
    PX_AUTOFREE char *command = px_strf("rm -rf '%s'", tool_dir);

    ck_assert_int_eq(system(command), 0);
}

const char *tool_file(const char *name, const char *text)
{
    static char path[512];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", tool_dir, name);
    f = fopen(path, "we");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs(text, f), 0);
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_int_eq(chmod(path, 0600), 0);
    return path;
}

static const char *host(void)
{
    static char name[256];

    ck_assert_int_eq(gethostname(name, sizeof(name) - 1), 0);
    return name;
}

const char *tool_file_plain(const char *what)
{
    static char name[512];

    snprintf(name, sizeof(name), "pmix.%s.%s", host(), what);
    return name;
}

const char *tool_file_name(const char *what)
{
    static char name[512];

    snprintf(name, sizeof(name), "pmix.%s.tool.%s", host(), what);
    return name;
}

const char *tool_file_of(const char *kind)
{
    static char name[512];

    snprintf(name, sizeof(name), "pmix.%s.%s", kind, host());
    return name;
}
