/* SPDX-License-Identifier: BSD-3-Clause */
#include "session_scene.h"

#include "core/base/str.h"
#include "fake_host.h"
#include "px_test.h"
#include "seccomp.h"

#include <limits.h>
#include <string.h>

const char *session_left = "";
struct entry entries[4096];

void session_setup(void)
{
    px_tree_begin(getenv("TMPDIR"));
    unsetenv("PMIX_SERVER_TMPDIR");
    unsetenv("PMIX_SYSTEM_TMPDIR");
    setenv("TMPDIR", px_tree_root(), 1);
}

void session_teardown(void)
{
    if (px_process.server)
        PMIx_server_finalize();
    host_done();
    px_assert_tree("", session_left);
    px_tree_end();
}

struct px_server *server(void)
{
    return px_process.server;
}

const char *inside(const char *name)
{
    char below[PATH_MAX];

    snprintf(below, sizeof(below), "%s/%s", server()->dir + strlen(px_tree_root()) + 1,
             name);
    return at(below);
}

void session_start_with(const px_infos *infos)
{
    ok(PMIx_server_init((pmix_server_module_t *)&host_module, infos->v, infos->n));
}

void session_start(const char *server_tmpdir)
{
    PX_AUTO(px_infos) infos = {0};

    if (server_tmpdir)
        ok(px_infos_add(&infos, PMIX_SERVER_TMPDIR, at(server_tmpdir), PMIX_STRING));
    session_start_with(&infos);
}

void session_deny(long call, int errnum)
{
    ck_assert(px_test_deny(call, errnum));
}

/* ---- the journal ---------------------------------------------------------------------------------- */

size_t journal(void)
{
    static uint8_t bytes[1 << 20];
    PX_AUTOCLOSE int fd = open(inside(PX_JOURNAL_NAME), O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, bytes, sizeof(bytes));
    struct px_journal_record r;
    size_t from = 0, count = 0;

    ck_assert_int_ge(n, 0);
    while (px_journal_next(bytes, (size_t)n, &from, &r)) {
        struct entry *e = &entries[count++];

        ck_assert_uint_lt(count, PX_COUNT(entries));
        e->r = r;
        px_str_copy(e->path, sizeof(e->path), r.path);
        e->r.path = e->path;
    }
    ck_assert_uint_eq(from, (size_t)n); /* the last record is complete */
    return count;
}

const struct px_journal_record *record_of(const char *path)
{
    size_t n = journal();

    while (n > 0 && strcmp(entries[n - 1].path, path) != 0)
        n--;
    ck_assert_msg(n > 0, "no record of %s", path);
    return &entries[n - 1].r;
}

off_t journal_b(void)
{
    struct stat st;

    ok(stat(inside(PX_JOURNAL_NAME), &st));
    return st.st_size;
}
