/* SPDX-License-Identifier: BSD-3-Clause */
#include "session_scene.h"

#include "core/base/path.h"
#include "core/reclaim/rmtree.h"
#include "core/base/str.h"
#include "fake_host.h"
#include "px_test.h"

#include <string.h>

char session_top[256];

void session_setup(void)
{
    px_str_copy(session_top, sizeof(session_top), px_test_dir());
    unsetenv("PMIX_SERVER_TMPDIR");
    unsetenv("PMIX_SYSTEM_TMPDIR");
    setenv("TMPDIR", session_top, 1);
}

void session_teardown(void)
{
    if (px_process.server)
        PMIx_server_finalize();
    host_done();
    ck_assert_msg(rmdir(session_top) == 0, "something is left in %s: %m", session_top);
}

char *at(const char *name)
{
    static char path[8][PX_RM_MAX_PATH];
    static unsigned n;
    char *p = path[n++ % PX_COUNT(path)];

    snprintf(p, sizeof(path[0]), "%s/%s", session_top, name);
    return p;
}

void session_start(const char *server_tmpdir, bool rmclean)
{
    PX_AUTO(px_infos) infos = {0};
    bool yes = true;

    if (server_tmpdir)
        ok(px_infos_add(&infos, PMIX_SERVER_TMPDIR, server_tmpdir, PMIX_STRING));
    if (rmclean)
        ok(px_infos_add(&infos, PMIX_TDIR_RMCLEAN, &yes, PMIX_BOOL));
    ok(PMIx_server_init((pmix_server_module_t *)&host_module, infos.v, infos.n));
}

struct px_server *server(void)
{
    return px_process.server;
}

/* ---- the journal ---------------------------------------------------------------------------------- */

size_t journal(struct entry *e, size_t max)
{
    static uint8_t bytes[1 << 20];
    PX_AUTOFREE char *path = px_path_join(server()->dir, PX_JOURNAL_NAME);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, bytes, sizeof(bytes));
    struct px_journal_record r;
    size_t at_byte = 0, count = 0;

    ck_assert_int_ge(n, 0);
    while (px_journal_next(bytes, (size_t)n, &at_byte, &r) && count < max) {
        e[count] = (struct entry){.type = r.type,
                                  .kind = r.kind,
                                  .flags = r.flags,
                                  .slot = r.slot,
                                  .scope = r.scope,
                                  .x = r.x,
                                  .y = r.y};
        px_str_copy(e[count++].path, sizeof(e->path), r.path);
    }
    ck_assert_uint_eq(at_byte, (size_t)n); /* the last record is complete */
    close(fd);
    return count;
}

const struct entry *entry_of(const struct entry *e, size_t n, const char *path)
{
    const struct entry *last = NULL;

    for (size_t i = 0; i < n; i++)
        if (strcmp(e[i].path, path) == 0)
            last = &e[i];
    ck_assert_msg(last, "no record of %s", path);
    return last;
}
