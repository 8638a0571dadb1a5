/* SPDX-License-Identifier: BSD-3-Clause */
/* Tools at the door of a server: who is let in, under which name, and what files say where. */
#include "fake_host.h"
#include "px_test.h"
#include "raw.h"

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/str.h"
#include "core/link/rendezvous.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/stat.h>

static char dir[64];

static void setup(void)
{
    px_str_copy(dir, sizeof(dir), "/tmp/tntools.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void teardown(void)
{
    raw_teardown();
    ck_assert_int_eq(rmdir(dir), 0); /* the server has left nothing */
}

static void start(const pmix_server_module_t *module, bool tools)
{
    PX_AUTO(px_infos) infos = {0};
    bool yes = true;

    ok(px_infos_add(&infos, PMIX_SERVER_NSPACE, "srv", PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_SERVER_TMPDIR, dir, PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_SYSTEM_TMPDIR, dir, PMIX_STRING));
    if (tools)
        ck_assert_int_eq(
            px_infos_add(&infos, PMIX_SERVER_TOOL_SUPPORT, &yes, PMIX_BOOL), 0);
    ok(PMIx_server_init((pmix_server_module_t *)module, infos.v, infos.n));
    raw_add_job("job", 1, 0, geteuid());
}

static struct px_hello tool_hello(uint8_t flag, const char *nspace)
{
    struct px_hello h = raw_hello(nspace, 0);

    h.flag = flag;
    h.uid = geteuid();
    h.gid = getegid();
    strcpy(h.gds, "ds21"); /* tools of some releases say so */
    return h;
}

static pmix_status_t say_on(int fd, const struct px_hello *h, pmix_proc_t *name)
{
    PX_AUTO(px_buf) out = {0};
    uint64_t deadline = px_clock_ms() + 5000;
    uint32_t word;

    ok(px_hello_encode(h, &out));
    ok(px_fd_write_all(fd, out.data, out.len, deadline));
    ok(px_fd_read_all(fd, &word, sizeof(word), deadline));
    *name = (pmix_proc_t){0};
    if (!word)
        ok(px_fd_read_all(fd, name->nspace, sizeof(name->nspace), deadline));
    return (pmix_status_t)ntohl(word);
}

static pmix_status_t say(const struct px_hello *h, pmix_proc_t *name)
{
    PX_AUTOCLOSE int fd = raw_socket();

    return say_on(fd, h, name);
}

/* The status; *name is the first that the server says: the tool's, if it has none, or its own. */
static pmix_status_t knock(uint8_t flag, const char *nspace, pmix_proc_t *name)
{
    struct px_hello h = tool_hello(flag, nspace);

    return say(&h, name);
}

PX_TEST(without_support_there_are_no_tools)
{
    pmix_proc_t name;

    start(NULL, false);
    for (uint8_t flag = 1; flag < PX_FLAG_MAX; flag++)
        if (flag != PX_FLAG_SINGLETON)
            ck_assert_int_eq(knock(flag, "mine", &name), PMIX_ERR_NOT_SUPPORTED);
}

PX_TEST(a_host_without_a_word_on_tools_has_none)
{
    pmix_server_module_t module = {0};
    pmix_proc_t name;

    start(&module, true);
    ck_assert_int_eq(knock(PX_FLAG_TOOL_NEEDS_ID, "", &name), PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(knock(PX_FLAG_TOOL_HAS_ID, "mine", &name), PMIX_ERR_NOT_SUPPORTED);
}

PX_TEST(our_own_host_names_each_tool)
{
    pmix_proc_t first, second, third;

    start(NULL, true);
    ok(knock(PX_FLAG_TOOL_NEEDS_ID, "", &first));
    ok(knock(PX_FLAG_LAUNCHER_NEEDS_ID, "", &second));
    ck_assert_str_ne(first.nspace, second.nspace);
    ck_assert_str_ne(first.nspace, "srv");
    /* Who has a name hears the server's at once. */
    ok(knock(PX_FLAG_TOOL_HAS_ID, "mine", &third));
    ck_assert_str_eq(third.nspace, "srv");
    ck_assert_int_eq(knock(PX_FLAG_TOOL_LEGACY, "", &third), PMIX_ERR_NOT_SUPPORTED);
}

PX_TEST(a_name_that_somebody_has_is_given_to_nobody)
{
    struct px_hello h = tool_hello(PX_FLAG_TOOL_HAS_ID, "tool-1-of-srv");
    pmix_proc_t name;

    start(NULL, true);
    raw_add_job("tool-2-of-srv", 1, 0, geteuid());
    PX_AUTOCLOSE int fd = raw_socket();
    ok(say_on(fd, &h, &name));
    ok(knock(PX_FLAG_TOOL_NEEDS_ID, "", &name));
    ck_assert_str_eq(name.nspace, "tool-3-of-srv");
}

static const pmix_nspace_t mine = "mine";

static void register_mine(void)
{
    pmix_proc_t proc;

    px_proc_set(&proc, mine, 0);
    ok(PMIx_server_register_nspace(mine, 1, NULL, 0, NULL, NULL));
    ck_assert_int_eq(
        PMIx_server_register_client(&proc, geteuid() + 1, getegid(), NULL, NULL, NULL),
        0);
}

static pmix_status_t register_and_admit(pmix_info_t *info PX_UNUSED, size_t n PX_UNUSED,
                                        pmix_tool_connection_cbfunc_t cb, void *cbdata)
{
    register_mine();
    cb(PMIX_SUCCESS, NULL, cbdata);
    return PMIX_SUCCESS;
}

/* Names of jobs can be guessed, and claimed before there is the job. */
PX_TEST(who_has_a_name_before_its_owner_loses_it)
{
    struct px_hello h = tool_hello(PX_FLAG_TOOL_HAS_ID, mine);
    pmix_server_module_t module = {.tool_connected2 = register_and_admit};
    char rest[8]; /* of the welcome */
    PX_AUTOCLOSE int fd = -1;
    pmix_proc_t name;

    start(NULL, true);
    fd = raw_socket();
    ok(say_on(fd, &h, &name));
    ok(px_fd_read_all(fd, rest, sizeof(rest), px_clock_ms() + 5000));
    px_peer_find(px_process.server, &h.proc)->uid = 4711; /* root may have it */
    register_mine();
    ck_assert(raw_closed(fd));
    PMIx_server_finalize();

    start(&module, true);
    ck_assert_int_eq(knock(PX_FLAG_TOOL_HAS_ID, mine, &name), PMIX_ERR_NO_PERMISSIONS);
}

PX_TEST(nobody_takes_a_name_that_is_not_his)
{
    pmix_proc_t name;

    start(NULL, true);
    ck_assert_int_eq(knock(PX_FLAG_TOOL_HAS_ID, "srv", &name), PMIX_ERR_NO_PERMISSIONS);
    ck_assert_int_eq(knock(PX_FLAG_TOOL_HAS_ID, "", &name), PMIX_ERR_BAD_PARAM);
    raw_add_job("other", 1, 0, geteuid() + 1);
    ck_assert_int_eq(knock(PX_FLAG_TOOL_CLIENT, "other", &name),
                     PMIX_ERR_NO_PERMISSIONS);
    ok(knock(PX_FLAG_TOOL_CLIENT, "job", &name));
}

PX_TEST(what_the_kernel_does_not_confirm_is_refused)
{
    struct px_hello h;
    pmix_proc_t name;

    start(NULL, true);
    h = tool_hello(PX_FLAG_TOOL_HAS_ID, "mine");
    h.uid++;
    ck_assert_int_eq(say(&h, &name), PMIX_ERR_INVALID_CRED);
    h = tool_hello(PX_FLAG_TOOL_HAS_ID, "mine");
    strcpy(h.dialect, "v12");
    ck_assert_int_eq(say(&h, &name), PMIX_ERR_NOT_SUPPORTED);
    h = tool_hello(PX_FLAG_TOOL_HAS_ID, "mine");
    strcpy(h.psec, "nosuch");
    ck_assert_int_eq(say(&h, &name), PMIX_ERR_NOT_SUPPORTED);
}

PX_TEST(its_files_tell_the_way_while_it_lives)
{
    struct px_rendezvous r;
    struct stat st;

    start(NULL, true);
    PX_AUTOFREE char *path = px_strf("%s/pmix.%s.tool.%ld", dir, px_process.host,
                                     (long)getpid());
    PX_AUTOFREE char *named = px_strf("%s/pmix.%s.tool.srv", dir, px_process.host);
    ok(px_rendezvous_read(path, &r, NULL));
    ck_assert_int_eq(r.pid, getpid());
    ck_assert_str_eq(r.uri.server.nspace, "srv");
    ck_assert_uint_eq(r.version.major, 4);
    ok(px_rendezvous_read(named, &r, NULL));
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0600);
    PMIx_server_finalize();
    ck_assert_int_ne(stat(path, &st), 0);
    ck_assert_int_ne(stat(named, &st), 0);
}

PX_TEST(a_file_that_is_not_its_own_stays)
{
    struct stat st;
    FILE *f;

    start(NULL, true);
    PX_AUTOFREE char *path = px_strf("%s/pmix.%s.tool.srv", dir, px_process.host);
    ck_assert_int_eq(unlink(path), 0);
    f = fopen(path, "we");
    ck_assert_ptr_nonnull(f);
    fclose(f);
    PMIx_server_finalize();
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(unlink(path), 0);
}

PX_TEST_MAIN("server/tool", setup, teardown)
