/* SPDX-License-Identifier: BSD-3-Clause */
/* Host and server. The server reads the host's module as far as its known size, and not a byte
 * further. Namespaces and clients come and go in any order that hosts use, even while requests wait
 * for them. */
#include "core/base/str.h"
#include "core/model/nspace.h"
#include "core/rt/process.h"
#include "core/server/cleanup/session.h"
#include "core/server/host.h"
#include "core/server/upcall/module.h"
#include "fake_host.h"
#include "raw.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Replaces write of the C library, and counts the calls. Writes wake the loop. */
static atomic_int n_writes;
static _Thread_local int n_own_writes; /* writes of the thread that reads the count */

ssize_t write(int fd, const void *bytes, size_t n)
{
    atomic_fetch_add(&n_writes, 1);
    n_own_writes++;
    return syscall(SYS_write, fd, bytes, n);
}

static void start(void)
{
    raw_server_start(&host_module, 2, 0);
}

static pmix_status_t connects(const char *nspace, pmix_rank_t rank)
{
    struct px_hello h = raw_hello(nspace, rank);
    int fd;
    pmix_status_t rc = raw_connect(&h, &fd);

    if (!rc)
        close(fd);
    return rc;
}

/* ---- the module --------------------------------------------------------------------------- */

#define SLOTS_B(n) ((n) * sizeof(void *))
#define COMMON_B   SLOTS_B(28)
#define OURS_B     sizeof(pmix_server_module_t)

static void *pages;
static size_t page_b;

static void setup(void)
{
    sem_init(&raw_ended, 0, 0);
    page_b = (size_t)sysconf(_SC_PAGESIZE);
    pages = mmap(NULL, 2 * page_b, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                 -1, 0);
    ck_assert_ptr_ne(pages, MAP_FAILED);
    ok(mprotect((char *)pages + page_b, page_b, PROT_NONE));
}

/* Returns a module of this size with unreadable memory behind it. Slot i holds 1000 + i. */
static const pmix_server_module_t *module_of(size_t bytes)
{
    char *at = (char *)pages + page_b - bytes;

    for (uintptr_t i = 0; i < bytes / sizeof(i); i++) {
        uintptr_t v = 1000 + i;

        memcpy(at + i * sizeof(v), &v, sizeof(v));
    }
    return (const pmix_server_module_t *)(const void *)at;
}

static uintptr_t slot(const pmix_server_module_t *m, size_t i)
{
    uintptr_t v;

    memcpy(&v, (const char *)m + i * sizeof(v), sizeof(v));
    return v;
}

PX_TEST(each_release_has_its_slots_where_they_belong)
{
    static const struct {
        size_t bytes, size; /* size 0: not passed */
        size_t n_common;
        uintptr_t tail[4]; /* slots 28 to 31 */
    } rows[] = {
        {COMMON_B, 0, 28, {0}},
        {OURS_B, 0, 28, {0}}, /* a later release, which the server cannot identify */
        {SLOTS_B(2), SLOTS_B(2), 2, {0}},
        {COMMON_B, COMMON_B, 28, {0}},
        {COMMON_B + 2, COMMON_B + 2, 28, {0}},
        {SLOTS_B(29), SLOTS_B(29), 28, {0, 0, 1028, 0}},
        {SLOTS_B(30), SLOTS_B(30), 28, {0, 0, 1028, 1029}},
        /* not a release's: only the common slots are certain */
        {SLOTS_B(31), SLOTS_B(31), 28, {0}},
        {OURS_B, OURS_B, 28, {1028, 1029, 1030, 1031}},
        {OURS_B, 512, 28, {1028, 1029, 1030, 1031}},
        {OURS_B, SIZE_MAX, 28, {1028, 1029, 1030, 1031}},
    };
    pmix_info_t info = {.key = TENON_SERVER_MODULE_SIZE};
    pmix_server_module_t m;

    ck_assert_uint_eq(OURS_B, SLOTS_B(32));
    for (size_t r = 0; r < PX_COUNT(rows); r++) {
        info.value = (pmix_value_t){.type = PMIX_SIZE, .data.size = rows[r].size};
        memset(&m, 0xee, sizeof(m));
        px_module_take(module_of(rows[r].bytes), &info, rows[r].size ? 1 : 0, &m);
        for (size_t i = 0; i < 32; i++)
            ck_assert_msg(slot(&m, i) == (i < rows[r].n_common ? 1000 + i
                                          : i < 28             ? 0
                                                               : rows[r].tail[i - 28]),
                          "row %zu, slot %zu", r, i);
    }
    info.value = (pmix_value_t){.type = PMIX_STRING, .data.string = (char *)"256"};
    px_module_take(module_of(COMMON_B), &info, 1, &m); /* not a number: is ignored */
    ck_assert_uint_eq(slot(&m, 27), 1027);
    ck_assert_uint_eq(slot(&m, 28), 0);
}

static pmix_server_module_t *good_module(size_t bytes)
{
    char *at = (char *)pages + page_b - bytes;

    memset(at, 0, bytes);
    return (pmix_server_module_t *)(void *)at;
}

/* Calls the function as an old binary does. The header has a macro of the same name. */
PX_TEST(an_old_binary_is_served_without_looking_further)
{
    pmix_server_module_t *m = good_module(COMMON_B);

    ok((PMIx_server_init)(m, NULL, 0));
    ck_assert_ptr_null(px_process.server->module.log2);
}

PX_TEST(our_header_passes_the_size_by_itself)
{
    pmix_server_module_t *m = good_module(OURS_B);
    pmix_info_t info[2];

    m->log2 = host_log2;
    ok(PMIx_server_init(m, NULL, 0));
    ck_assert_ptr_eq(px_process.server->module.log2, host_log2);
    ok(PMIx_server_finalize());
    /* The host's own infos arrive as well, and the host still owns them. */
    PMIx_Info_load(&info[0], PMIX_SERVER_NSPACE, "mine", PMIX_STRING);
    PMIx_Info_load(&info[1], PMIX_SERVER_RANK, &(pmix_rank_t){7}, PMIX_PROC_RANK);
    ok(PMIx_server_init(m, info, 2));
    ck_assert_ptr_eq(px_process.server->module.log2, host_log2);
    ck_assert_str_eq(px_process.server->proc.nspace, "mine");
    ck_assert_uint_eq(px_process.server->proc.rank, 7);
    ok(PMIx_server_finalize());
    ck_assert_str_eq(info[0].value.data.string, "mine");
    PMIx_Info_destruct(&info[0]);
    PMIx_Info_destruct(&info[1]);
}

/* ---- namespaces and clients ----------------------------------------------------------------- */

PX_TEST(all_four_work_with_and_without_a_callback)
{
    pmix_proc_t p = raw_proc("more", 0);

    start();
    ok(PMIx_server_register_nspace(p.nspace, 1, NULL, 0, raw_on_end, &raw_ended));
    ok(raw_await_end());
    ok(PMIx_server_register_client(&p, geteuid(), getegid(), NULL, raw_on_end,
                                   &raw_ended));
    ok(raw_await_end());
    ok(connects("more", 0));

    PMIx_server_deregister_client(&p, raw_on_end, &raw_ended);
    ok(raw_await_end());
    fails(connects("more", 0), NOT_FOUND);
    PMIx_server_deregister_nspace(p.nspace, raw_on_end, &raw_ended);
    ok(raw_await_end());

    /* Not registered any more. */
    PMIx_server_deregister_client(&p, raw_on_end, &raw_ended);
    ok(raw_await_end());
    PMIx_server_deregister_nspace(p.nspace, raw_on_end, &raw_ended);
    ok(raw_await_end());

    raw_add_job("more", 1, 0, geteuid()); /* these calls have no callback */
    ok(connects("more", 0));
    PMIx_server_deregister_client(&p, NULL, NULL);
    PMIx_server_deregister_nspace(p.nspace, NULL, NULL);
    fails(connects("more", 0), NOT_FOUND);
}

/* Only an idle thread of the loop counts. A thread that is busy, as in the first moments of a
 * server, may get writes. So a part of the groups is enough. */
PX_TEST(registering_wakes_no_thread_that_waits)
{
    enum { GROUPS = 32, EACH = 16 };
    pmix_proc_t p = raw_proc("more", 0);
    int n_undisturbed = 0;

    start();
    at_once(PMIx_server_register_nspace(p.nspace, GROUPS * EACH, NULL, 0, NULL, NULL));
    for (int i = 0; i < GROUPS; i++) {
        usleep(2000);
        atomic_store(&n_writes, 0);
        for (int k = 0; k < EACH; k++, p.rank++)
            at_once(PMIx_server_register_client(&p, geteuid(), getegid(), NULL, NULL,
                                                NULL));
        n_undisturbed += atomic_load(&n_writes) == 0;
    }
    ck_assert_int_ge(n_undisturbed, GROUPS / 4);
    ok(connects("more", p.rank - 1));
}

PX_TEST(ranks_of_no_process_are_refused_but_numbers_may_be_unknown)
{
    pmix_proc_t procs[] = {raw_proc("job", PMIX_RANK_VALID),
                           raw_proc("job", PMIX_RANK_WILDCARD)};

    start();
    for (size_t i = 0; i < PX_COUNT(procs); i++)
        fails(PMIx_server_register_client(&procs[i], 0, 0, NULL, NULL, NULL),
              BAD_PARAM);
    at_once(PMIx_server_register_nspace(raw_proc("vague", 0).nspace, -1, NULL, 0, NULL,
                                        NULL));
}

PX_TEST(a_bad_map_leaves_no_new_namespace_and_the_old_one_as_it_was)
{
    PX_AUTO(px_infos) infos = {0};
    pmix_nspace_t news = "news", job = "job";

    start();
    ok(px_infos_add(&infos, PMIX_NODE_MAP, "pmix[n[1:", PMIX_STRING));
    ck_assert_int_lt(PMIx_server_register_nspace(news, 1, infos.v, infos.n, NULL, NULL),
                     0);
    ck_assert_ptr_null(px_nspace_find(px_process.model, "news"));
    ck_assert_int_lt(PMIx_server_register_nspace(job, 1, infos.v, infos.n, NULL, NULL),
                     0);
    ck_assert_uint_eq(px_nspace_find(px_process.model, "job")->n_local, 2);
    ok(connects("job", 1));
}

PX_TEST(a_client_may_be_registered_before_its_namespace_and_again)
{
    pmix_proc_t p = raw_proc("early", 0);

    start();
    at_once(
        PMIx_server_register_client(&p, geteuid() + 1, getegid(), NULL, NULL, NULL));
    fails(connects("early", 0), INVALID_CRED);
    at_once(PMIx_server_register_client(&p, geteuid(), getegid(), NULL, NULL, NULL));
    at_once(PMIx_server_register_nspace(p.nspace, 1, NULL, 0, NULL, NULL));
    ok(connects("early", 0));
}

PX_TEST(the_hosts_object_comes_back_in_upcalls)
{
    start();
    int fd = raw_client(1);
    host_await("client_connected2", 1);
    ck_assert_ptr_eq(host.object, raw_object(1));
    ck_assert_uint_eq(host.proc.rank, 1);
    ok(raw_finalize(fd));
    host_await("client_finalized", 1);
    ck_assert_ptr_eq(host.object, raw_object(1));
}

/* ---- requests that wait -------------------------------------------------------------------- */

static void end_rank_1(void *arg PX_UNUSED)
{
    pmix_proc_t p = raw_proc("job", 1), unknown = raw_proc("job", 9);

    px_server_client_ended(px_process.server, &unknown, 0);
    px_server_client_ended(px_process.server, &p, 0);
}

/* The client is deregistered while connected, or before it connects. In the last case the built-in
 * host reports its end before it connects. */
PX_TEST_LOOP(a_client_that_goes_is_waited_for_no_more, 3)
{
    pmix_proc_t p = raw_proc("job", 1), all = raw_proc("job", PMIX_RANK_WILDCARD);

    start();
    int reader = raw_client(0), owner = _i == 0 ? raw_client(1) : -1;
    raw_send(reader, 300, raw_get("job", 1, "colour", NULL));
    raw_collect(reader, 301, PX_OP_FENCE, &all, 1, NULL);
    ck_assert(raw_quiet(reader));
    host.how = _i < 2 ? HOST_ERROR : HOST_INSIDE;
    host.status = _i < 2 ? PMIX_ERR_NOT_SUPPORTED : PMIX_SUCCESS;
    if (_i < 2)
        PMIx_server_deregister_client(&p, NULL, NULL);
    else
        raw_on_loop(end_rank_1, NULL);
    fails(raw_status(reader, 300), NOT_FOUND);
    fails(raw_status(reader, 301), LOST_CONNECTION);
    ck_assert(owner < 0 || raw_closed(owner));
}

PX_TEST(deregistering_a_namespace_drops_its_clients_and_its_data)
{
    px_reader rest;

    raw_start(&host_module, 2, 0);
    ok(raw_commit(one, "colour", 1));
    raw_send(one, 300, raw_get("job", 1, "shape", NULL)); /* never committed */
    ck_assert(raw_quiet(one));
    raw_drop_job("job");
    while (raw_recv(one, 300, &rest))
        ;
    ck_assert(raw_closed(two));
    ck_assert_ptr_null(px_nspace_find(px_process.model, "job"));
    raw_on_loop(NULL, NULL); /* a rank dropped by the host does not cause an event */
    ck_assert_uint_eq(host_calls("notify_event"), 0);
    raw_add_job("job", 2, 0, geteuid());
    ck_assert_uint_eq(raw_value(raw_client(1), "job", 0, "colour"), UINT32_MAX);
}

PX_TEST(the_servers_own_namespace_may_be_registered_and_deregistered)
{
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = 1};
    int fd;

    start();
    pmix_proc_t self = px_process.model->self, p = self;
    px_test_knows_itself(&self);
    p.rank = 7;
    at_once(PMIx_server_register_nspace(self.nspace, 1, NULL, 0, NULL, NULL));
    at_once(PMIx_server_register_client(&p, geteuid(), getegid(), NULL, NULL, NULL));
    fd = raw_client_of(self.nspace, 7);
    PMIx_server_deregister_nspace(self.nspace, NULL, NULL);

    ck_assert(raw_closed(fd));
    fails(connects(self.nspace, 7), NOT_FOUND);
    ok(PMIx_Put(PMIX_GLOBAL, "still", &v));
    px_test_knows_itself(&self);
}

/* Daemons of Open MPI 4 get all values of their own process, and cannot send a rank. */
PX_TEST(all_values_of_a_server_are_without_its_name)
{
    pmix_value_t *all = NULL;

    start();
    pmix_proc_t self = px_process.model->self;
    pmix_status_t rc = PMIx_Get(&self, NULL, NULL, 0, &all);
    ck_assert(rc == PMIX_SUCCESS || rc == PMIX_ERR_NOT_FOUND);
    const pmix_data_array_t *a = rc ? NULL : all->data.darray;
    for (size_t i = 0; a && i < a->size; i++) {
        const pmix_info_t *info = &((const pmix_info_t *)a->array)[i];

        ck_assert_str_ne(info->key, PMIX_RANK);
        ck_assert_str_ne(info->key, PMIX_PROCID);
    }
    if (!rc)
        PMIX_VALUE_RELEASE(all);
}

/* ---- callers --------------------------------------------------------------------------------- */

static pmix_status_t from_within;

static void register_more(void)
{
    pmix_nspace_t more = "more";

    from_within = PMIx_server_register_nspace(more, 0, NULL, 0, NULL, NULL);
}

PX_TEST(a_host_may_register_from_within_an_upcall)
{
    start();
    int fd = raw_client(0);
    host.within = register_more;
    ok(raw_finalize(fd));
    at_once(from_within);
    ck_assert_ptr_nonnull(px_nspace_find(px_process.model, "more"));
}

static int call_all_in_child(void)
{
    pmix_proc_t p = raw_proc("job", 0);

    if (PMIx_server_register_nspace(p.nspace, 1, NULL, 0, NULL, NULL) != PMIX_ERR_INIT)
        return 1;
    if (PMIx_server_register_nspace(p.nspace, 1, NULL, 0, raw_on_end, &raw_ended) !=
        PMIX_ERR_INIT)
        return 2;
    if (PMIx_server_register_client(&p, 0, 0, NULL, NULL, NULL) != PMIX_ERR_INIT)
        return 3;
    PMIx_server_deregister_client(&p, NULL, NULL);
    PMIx_server_deregister_nspace(p.nspace, raw_on_end, &raw_ended);
    return raw_await_end() == PMIX_ERR_INIT ? 0 : 4;
}

/* Finalize makes three calls and gives the order to end. A call that finds the loop's thread awake
 * posts a message. */
PX_TEST(the_end_of_an_idle_server_wakes_its_thread_to_end_and_for_nothing_else)
{
    start();
    while (px_process.server->part.session->n_reclaiming > 0)
        sched_yield();
    n_own_writes = 0;
    ok(PMIx_server_finalize());
    ck_assert_int_le(n_own_writes, 4);
}

PX_TEST(a_forked_child_of_a_server_is_none)
{
    int status;

    start();
    pid_t pid = fork();
    if (pid == 0)
        _exit(call_all_in_child());
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    ok(WEXITSTATUS(status));
    ok(connects("job", 0));
}

/* ---- values that are computed ------------------------------------------------------ */

/* The key's value in the reply to a get, as text; "" without one. */
static const char *text_of(pmix_rank_t rank, const char *key)
{
    static char text[256];
    struct px_kval kv = {0};
    px_reader r;

    text[0] = '\0';
    if (raw_request(one, raw_get("job", rank, key, NULL), &r))
        return text;
    px_reader part = raw_part(&r);
    if (raw_next_kval(&part, &kv)) {
        PX_AUTOFREE char *found = PMIx_Value_string(&kv.value);

        ck_assert_str_eq(kv.key, key);
        ck_assert(px_reader_done(&part));
        px_str_copy(text, sizeof(text), found);
        px_kval_fini(&kv);
    }
    return text;
}

PX_TEST(a_server_computes_what_changes_and_what_other_libraries_lack)
{
    static const pmix_server_module_t nothing = {0};
    const pmix_proc_t members[] = {raw_proc("else", PMIX_RANK_WILDCARD),
                                   raw_proc("job", 0)};
    const struct {
        pmix_rank_t rank;
        const char *key, *text;
    } rows[] = {
        {0, PMIX_PSET_NAMES, "PMIX_DATA_ARRAY PMIX_STRING[2] {\"some\", \"all\"}"},
        {1, PMIX_PSET_NAMES, "PMIX_DATA_ARRAY PMIX_STRING[1] {\"all\"}"},
        {PMIX_RANK_WILDCARD, PMIX_LOCAL_PROCS,
         "PMIX_DATA_ARRAY PMIX_PROC[2] {job:0, job:1}"},
        {0, PMIX_EXIT_CODE, ""},
        {2, PMIX_PROC_PID, ""}, /* on another node */
        {0, PMIX_NSPACE, "PMIX_STRING \"job\""},
        {PMIX_RANK_WILDCARD, PMIX_PROC_MAP_RAW, "PMIX_STRING \"0,1;2,3\""},
        {PMIX_RANK_WILDCARD, PMIX_ANL_MAP, "PMIX_STRING \"(vector,(0,2,2))\""},
    };

    raw_start(&nothing, 2, 2);
    ok(PMIx_server_define_process_set(members, 2, "some"));
    ok(PMIx_server_define_process_set(&(pmix_proc_t){"job", PMIX_RANK_WILDCARD}, 1,
                                      "all"));
    for (size_t i = 0; i < PX_COUNT(rows); i++)
        ck_assert_str_eq(text_of(rows[i].rank, rows[i].key), rows[i].text);
}

PX_TEST_MAIN("server/reg", setup, host_end)
