/* SPDX-License-Identifier: BSD-3-Clause */
/* Process sets: defined by the host, told to clients, asked about. */
#include "fake_host.h"
#include "px_test.h"
#include "raw.h"

#include <string.h>

static void setup(void)
{
    raw_server_start(&host_module, 3);
}

static pmix_status_t define(const char *name, pmix_rank_t a, pmix_rank_t b)
{
    pmix_proc_t members[2] = {raw_proc("job", a), raw_proc("job", b)};

    return PMIx_server_define_process_set(members, 2, name);
}

static pmix_status_t delete_set(const char *name)
{
    return PMIx_server_delete_process_set((char *)(uintptr_t)name);
}

static void add_query(px_writer *w, const char *key, const char *set)
{
    char *keys[] = {(char *)(uintptr_t)key, NULL};
    pmix_query_t q = {.keys = keys};
    pmix_info_t of;

    if (set) {
        PMIx_Info_load(&of, PMIX_PSET_NAME, set, PMIX_STRING);
        q.qualifiers = &of;
        q.nqual = 1;
    }
    px_pack(w, &q, 1, PMIX_QUERY);
    if (set)
        PMIx_Info_destruct(&of);
}

/* STATUS, then infos. */
static pmix_status_t send_query(int fd, px_writer *w, px_infos *out)
{
    px_reader r;
    pmix_status_t rc = raw_request(fd, w, &r);

    px_infos_cleanup(out);
    if (!px_reader_done(&r))
        ok(px_unpack_infos(&r, &out->v, &out->n));
    out->cap = out->n;
    return rc;
}

static pmix_status_t ask(int fd, const char *key, const char *set, px_infos *out)
{
    px_writer w;

    raw_begin(&w, PX_OP_QUERY);
    px_pack_size(&w, 1);
    add_query(&w, key, set);
    return send_query(fd, &w, out);
}

static size_t how_many(int fd)
{
    PX_AUTO(px_infos) l = {0};

    ok(ask(fd, PMIX_QUERY_NUM_PSETS, NULL, &l));
    ck_assert_uint_eq(l.n, 1);
    ck_assert_int_eq(l.v[0].value.type, PMIX_SIZE);
    return l.v[0].value.data.size;
}

PX_TEST(queries_are_answered_without_the_host)
{
    int fd = raw_client(0);
    PX_AUTO(px_infos) l = {0};
    pmix_data_array_t *array;

    ck_assert_uint_eq(how_many(fd), 0);
    ok(ask(fd, PMIX_QUERY_PSET_NAMES, NULL, &l));
    ck_assert_uint_eq(l.v[0].value.data.darray->size, 0);
    ok(define("sea", 0, 2));
    ok(define("ice", 1, PMIX_RANK_WILDCARD));
    ck_assert_uint_eq(how_many(fd), 2);
    ok(ask(fd, PMIX_QUERY_PSET_NAMES, NULL, &l));
    array = l.v[0].value.data.darray;
    ck_assert_int_eq(array->type, PMIX_STRING);
    ck_assert_uint_eq(array->size, 2);
    ck_assert_str_eq(((char **)array->array)[0], "sea");
    ck_assert_str_eq(((char **)array->array)[1], "ice");
    ok(ask(fd, PMIX_QUERY_PSET_MEMBERSHIP, "sea", &l));
    array = l.v[0].value.data.darray;
    ck_assert_int_eq(array->type, PMIX_PROC);
    ck_assert_uint_eq(array->size, 2);
    ck_assert_uint_eq(((pmix_proc_t *)array->array)[1].rank, 2);
    ck_assert_uint_eq(host_calls("query"), 0);
}

PX_TEST(what_is_not_known_here_is_the_hosts_to_answer)
{
    int fd = raw_client(0);
    PX_AUTO(px_infos) l = {0};
    uint32_t size = 8;
    px_writer w;

    ok(px_infos_add(&host.infos, PMIX_UNIV_SIZE, &size, PMIX_UINT32));
    ok(ask(fd, PMIX_QUERY_PSET_MEMBERSHIP, "none", &l));
    ck_assert_uint_eq(host_calls("query"), 1);
    ck_assert_str_eq(host.keys[0], PMIX_QUERY_PSET_MEMBERSHIP);
    ok(ask(fd, PMIX_QUERY_PSET_MEMBERSHIP, NULL, &l));
    ck_assert_uint_eq(host_calls("query"), 2);

    /* Both: the host gets its part, and the answers are joined. */
    for (int fails = 0; fails < 2; fails++) {
        host.status = fails ? PMIX_ERR_NOT_FOUND : PMIX_SUCCESS;
        raw_begin(&w, PX_OP_QUERY);
        px_pack_size(&w, 2);
        {
            char *keys[] = {(char *)PMIX_QUERY_NUM_PSETS, NULL};
            char *more[] = {(char *)PMIX_UNIV_SIZE, (char *)PMIX_QUERY_NUM_PSETS, NULL};
            pmix_query_t q[2] = {{.keys = keys}, {.keys = more}};

            px_pack(&w, q, 2, PMIX_QUERY);
        }
        ck_assert_int_eq(send_query(fd, &w, &l),
                         fails ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS);
        ck_assert_int_eq(host.code, 1); /* queries */
        ck_assert_uint_eq(host.n_keys, 1);
        ck_assert_str_eq(host.keys[0], PMIX_UNIV_SIZE);
        ck_assert_uint_eq(l.n, 3);
        ck_assert_str_eq(l.v[0].key, PMIX_QUERY_NUM_PSETS);
        ck_assert_str_eq(l.v[2].key, PMIX_UNIV_SIZE);
    }
}

/* A few bytes each time, megabytes in the answer. */
PX_TEST(nobody_asks_for_more_than_a_reply_holds)
{
    enum { N_MEMBERS = 4000, N_KEYS = 2000 };
    pmix_proc_t *members = calloc(N_MEMBERS, sizeof(*members));
    char **keys = calloc(N_KEYS + 1, sizeof(*keys));
    int fd = raw_client(0);
    PX_AUTO(px_infos) l = {0};
    pmix_query_t q = {.keys = keys};
    pmix_info_t of;
    px_writer w;

    for (size_t i = 0; i < N_MEMBERS; i++)
        members[i] = raw_proc("job", (pmix_rank_t)i);
    ok(PMIx_server_define_process_set(members, N_MEMBERS, "all"));
    for (size_t i = 0; i < N_KEYS; i++)
        keys[i] = (char *)(uintptr_t)PMIX_QUERY_PSET_MEMBERSHIP;
    PMIx_Info_load(&of, PMIX_PSET_NAME, "all", PMIX_STRING);
    q.qualifiers = &of;
    q.nqual = 1;
    raw_begin(&w, PX_OP_QUERY);
    px_pack_size(&w, 1);
    px_pack(&w, &q, 1, PMIX_QUERY);
    ck_assert_int_eq(send_query(fd, &w, &l), PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_uint_eq(how_many(fd), 1);
    PMIx_Info_destruct(&of);
    free(members);
    free(keys);
}

/* Name of the set that the next event of that code is about; members in *n. */
static char *next_set(int fd, pmix_status_t wanted, size_t *n)
{
    PX_AUTO(px_infos) l = {0};
    const pmix_info_t *members;
    pmix_status_t code;
    pmix_proc_t source;
    px_reader r;
    uint8_t op;

    ck_assert(raw_recv(fd, PX_TAG_NOTIFY, &r));
    ok(px_unpack_u8(&r, &op, PMIX_COMMAND));
    ok(px_unpack_status(&r, &code));
    ck_assert_int_eq(code, wanted);
    ok(px_unpack1(&r, &source, PMIX_PROC));
    ok(px_unpack_infos(&r, &l.v, &l.n));
    l.cap = l.n;
    ck_assert(px_info_flag(l.v, l.n, PMIX_EVENT_NON_DEFAULT));
    members = px_info_find(l.v, l.n, PMIX_PSET_MEMBERS);
    *n = members ? members->value.data.darray->size : 0;
    return strdup(px_info_str(l.v, l.n, PMIX_PSET_NAME));
}

PX_TEST(clients_that_want_to_know_are_told)
{
    int fd = raw_client(0), other = raw_client(1);
    char *name;
    size_t n;

    ok(raw_want_event(fd, PMIX_PROCESS_SET_DEFINE));
    ok(raw_want_event(fd, PMIX_PROCESS_SET_DELETE));
    ok(define("sea", 0, 1));
    name = next_set(fd, PMIX_PROCESS_SET_DEFINE, &n);
    ck_assert_str_eq(name, "sea");
    ck_assert_uint_eq(n, 2);
    free(name);
    ok(delete_set("sea"));
    name = next_set(fd, PMIX_PROCESS_SET_DELETE, &n);
    ck_assert_str_eq(name, "sea");
    ck_assert_uint_eq(n, 0);
    free(name);
    ck_assert(raw_quiet(other));
}

PX_TEST(a_set_stays_as_it_was_defined_until_it_is_deleted)
{
    int fd = raw_client(0);
    PX_AUTO(px_infos) l = {0};

    ok(define("sea", 0, 1));
    ck_assert_int_eq(define("sea", 1, 2), PMIX_ERR_EXISTS);
    ok(ask(fd, PMIX_QUERY_PSET_MEMBERSHIP, "sea", &l));
    ck_assert_uint_eq(((pmix_proc_t *)l.v[0].value.data.darray->array)[0].rank, 0);
    ok(delete_set("sea"));
    ck_assert_int_eq(delete_set("sea"), PMIX_ERR_NOT_FOUND);
    ck_assert_uint_eq(how_many(fd), 0);
    ok(define("sea", 1, 2));
    ck_assert_uint_eq(how_many(fd), 1);
}

static pmix_status_t inside[2];

static void call_on_loop(void *arg PX_UNUSED)
{
    inside[0] = define("sea", 0, 1);
    inside[1] = delete_set("sea");
}

PX_TEST(a_callback_must_not_wait_for_sets)
{
    int fd = raw_client(0);

    raw_on_loop(call_on_loop, NULL);
    ck_assert_int_eq(inside[0], PMIX_ERR_WOULD_BLOCK);
    ck_assert_int_eq(inside[1], PMIX_ERR_WOULD_BLOCK);
    ck_assert_uint_eq(how_many(fd), 0);
}

PX_TEST_MAIN("server/psets", setup, host_end)
