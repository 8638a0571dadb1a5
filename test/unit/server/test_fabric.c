/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that fabric components have for processes, and their notifications about processes. */
#include "core/model/lookup.h"
#include "core/server/host.h"
#include "core/server/fabric/blob.h"
#include "fabric_scene.h"

#include <string.h>

/* ---- values of processes ------------------------------------------------------------------------ */

/* Passes a blob with contributions of the named components: "best", "good" or both. */
static pmix_status_t try_support(const char *nspace, const char *names)
{
    PX_AUTO(px_writer) body, blob;
    PX_AUTO(px_infos) share = {0};
    pmix_info_t info;

    px_writer_init(&body, px_codec_default);
    px_writer_init(&blob, px_codec_default);
    for (size_t i = 0; i < PX_COUNT(fakes); i++)
        if (strstr(names, fakes[i].name))
            px_blob_add(&body, fakes[i].name, "1.0", &share);
    ok(px_blob_seal(&body, &blob));
    const pmix_byte_object_t bytes = {(char *)blob.buf.data, blob.buf.len};
    ok(PMIx_Info_load(&info, "tenon.pnet", &bytes, PMIX_BYTE_OBJECT));
    pmix_status_t rc = PMIx_server_setup_local_support(raw_proc(nspace, 0).nspace,
                                                       &info, 1, NULL, NULL);
    PMIx_Info_destruct(&info);
    return px_test_completed(rc);
}

static pmix_status_t put_u32(px_pnet_put_fn put, void *arg, pmix_rank_t rank,
                             const char *key, uint32_t value)
{
    pmix_info_t info = {.value = {.type = PMIX_UINT32, .data.uint32 = value}};

    strcpy(info.key, key);
    return put(arg, rank, &info);
}

/* Puts, for each rank, 1000 times its node plus its place on the node. Also puts two keys of the
 * job. */
static pmix_status_t put_places(struct fake *f PX_UNUSED, const struct px_pnet_job *job,
                                px_pnet_put_fn put, void *arg)
{
    ck_assert_uint_eq(job->n_procs, 5);
    ck_assert_uint_eq(job->n_nodes, 2);
    ck_assert_str_eq(job->nodes[0], px_process.host);
    ck_assert_str_eq(job->nodes[1], "other");
    ck_assert_uint_eq(job->this_node, 0);
    ck_assert_uint_eq(job->most_on_a_node, 3);
    for (pmix_rank_t r = 0; r < job->n_procs; r++)
        ok(put_u32(put, arg, r, PMIX_FABRIC_ENDPT,
                   1000 * job->node_of[r] + job->local_of[r]));
    ok(put_u32(put, arg, PMIX_RANK_WILDCARD, PMIX_FABRIC_DEVICES, 7));
    return put_u32(put, arg, PMIX_RANK_WILDCARD, "vendor.key", 42);
}

/* Returns a value that a process of this node finds, or UINT32_MAX. */
static uint32_t find(const char *nspace, pmix_rank_t rank, const char *key)
{
    pmix_proc_t p = raw_proc(nspace, rank);
    pmix_value_t *v = NULL;
    pmix_info_t here = {.key = PMIX_OPTIONAL,
                        .value = {.type = PMIX_BOOL, .data.flag = true}};
    pmix_status_t rc = PMIx_Get(&p, key, &here, 1, &v);
    uint32_t n = rc ? UINT32_MAX : v->data.uint32;

    if (!rc)
        ck_assert_int_eq(v->type, PMIX_UINT32);
    PMIx_Value_free(v, rc ? 0 : 1);
    return n;
}

/* Returns the same value as sent to a new client, or UINT32_MAX. */
static uint32_t find_sent(int fd, pmix_rank_t wanted, const char *key)
{
    PX_AUTOFREE char *name = NULL;
    uint32_t found = UINT32_MAX;
    px_reader r;

    raw_send(fd, 500, raw_begin(PX_OP_REQ));
    ck_assert(raw_recv(fd, 500, &r));
    ok(px_unpack_str(&r, &name));
    while (!px_reader_done(&r)) {
        struct px_kval kv = {0};
        px_reader of_rank;
        pmix_rank_t rank = PMIX_RANK_WILDCARD;

        ok(px_unpack_kval(&r, &kv));
        if (strcmp(kv.key, PMIX_PROC_BLOB) == 0) {
            px_reader_init(&of_rank, px_codec_default, kv.value.data.bo.bytes,
                           kv.value.data.bo.size);
            ok(px_unpack_rank(&of_rank, &rank));
            while (!px_reader_done(&of_rank)) {
                struct px_kval inner = {0};

                ok(px_unpack_kval(&of_rank, &inner));
                if (rank == wanted && strcmp(inner.key, key) == 0)
                    found = inner.value.data.uint32;
                px_kval_fini(&inner);
            }
        } else if (rank == wanted && strcmp(kv.key, key) == 0) {
            found = kv.value.data.uint32;
        }
        px_kval_fini(&kv);
    }
    return found;
}

static void is_all_in_place(void *arg PX_UNUSED)
{
    const struct px_nspace *ns = px_nspace_find(px_process.model, "job");

    ok(px_store_noted(&ns->store, PX_STORE_JOB, NULL));
    ck_assert(px_store_has(&ns->store, PX_GDS_JOB, 4, PMIX_FABRIC_ENDPT));
    ck_assert(!px_store_keeps(&ns->store, PX_GDS_JOB, PMIX_RANK_UNDEF));
}

static void register_job(void)
{
    raw_add_job("job", 3, 2, geteuid());
}

static const struct {
    const char *steps; /* r registers the job, a applies the contribution */
    const char *called;
} orders[] = {
    {"ar", "best.values job\n"},
    {"ra", "best.values job\n"},
    {"rar", "best.values job\nbest.values job\n"},
    {"ara", "best.values job\nbest.values job\n"},
};

PX_TEST_LOOP(values_are_found_in_whichever_order_job_and_contribution_come,
             PX_COUNT(orders))
{
    fabric_start();
    fakes[0].values = put_places;
    for (const char *s = orders[_i].steps; *s; s++) {
        if (*s == 'r')
            register_job();
        else
            ok(try_support("job", "best"));
    }
    called(orders[_i].called);
    raw_on_loop(is_all_in_place, NULL);
    int fd = raw_client(0);
    for (pmix_rank_t r = 0; r < 5; r++) {
        uint32_t wanted = r < 3 ? r : 1000 + r - 3;

        ck_assert_uint_eq(find("job", r, PMIX_FABRIC_ENDPT), wanted);
        ck_assert_uint_eq(find_sent(fd, r, PMIX_FABRIC_ENDPT), wanted);
    }
    ck_assert_uint_eq(find("job", PMIX_RANK_WILDCARD, "vendor.key"), 42);
    ck_assert_uint_eq(find_sent(fd, PMIX_RANK_WILDCARD, "vendor.key"), 42);
    ck_assert_uint_eq(find("job", PMIX_RANK_WILDCARD, PMIX_FABRIC_DEVICES), 7);
}

PX_TEST(only_components_that_contribute_are_asked_and_only_for_that_job)
{
    fabric_start();
    raw_add_job("other", 1, 0, geteuid());
    register_job();
    ok(try_support("job", "good"));
    called("good.values job\n");
    ok(try_support("later", "good"));
    called("");
    /* Drops the contribution, though the job was never registered. */
    raw_drop_job("later");
    raw_add_job("later", 1, 0, geteuid());
    called("");
    ok(try_support("job", "best")); /* in addition to the other component */
    called("good.values job\nbest.values job\n");
}

static pmix_status_t put_priority(struct fake *f, const struct px_pnet_job *job,
                                  px_pnet_put_fn put, void *arg)
{
    for (pmix_rank_t r = 0; r < job->n_procs; r++)
        ok(put_u32(put, arg, r, PMIX_FABRIC_ENDPT, (uint32_t)f->priority));
    return put_u32(put, arg, PMIX_RANK_WILDCARD, "key", (uint32_t)f->priority);
}

/* A component that has prepared the node takes precedence over the host. */
PX_TEST(of_two_values_that_of_the_best_component_counts)
{
    PX_AUTO(px_infos) rank = {0}, infos = {0};
    const uint32_t one_of_host = 1, in_rank = 1;

    fabric_start();
    register_job();
    ok(px_infos_add(&rank, PMIX_RANK, &in_rank, PMIX_PROC_RANK));
    ok(px_infos_add(&rank, PMIX_FABRIC_ENDPT, &one_of_host, PMIX_UINT32));
    ok(px_infos_add(&rank, "host.key", &one_of_host, PMIX_UINT32));
    ok(px_infos_add_array(&infos, PMIX_PROC_DATA, &rank));
    ok(px_infos_add(&infos, "key", &one_of_host, PMIX_UINT32));
    fakes[0].values = fakes[1].values = put_priority;
    for (int again = 0; again < 2; again++) {
        at_once(PMIx_server_register_nspace(raw_proc("job", 0).nspace, 3, infos.v,
                                            infos.n, NULL, NULL));
        ck_assert_uint_eq(find("job", 1, PMIX_FABRIC_ENDPT), again ? 900 : 1);
        ck_assert_uint_eq(find("job", PMIX_RANK_WILDCARD, "key"), again ? 900 : 1);
        ok(try_support("job", "best good"));
        ck_assert_uint_eq(find("job", 1, PMIX_FABRIC_ENDPT), 900);
        ck_assert_uint_eq(find("job", PMIX_RANK_WILDCARD, "key"), 900);
        ck_assert_uint_eq(find("job", 1, "host.key"), 1);
    }
}

static struct {
    pmix_rank_t rank;
    const char *key;
    pmix_data_type_t type;
} const bad_values[] = {
    {0, "", PMIX_UINT32},
    {5, "key", PMIX_UINT32}, /* the job has 5 ranks */
    {PMIX_RANK_UNDEF, "key", PMIX_UINT32},
    {PMIX_RANK_LOCAL_NODE, "key", PMIX_UINT32},
    {0, "key", PMIX_UNDEF},
    {0, "key", PMIX_POINTER},
    {0, "key", PMIX_COMPRESSED_STRING},
    {0, PMIX_QUALIFIED_VALUE, PMIX_UINT32},
    {PMIX_RANK_WILDCARD, "key", PMIX_POINTER},
    {PMIX_RANK_WILDCARD, "key", 9999},
    {PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, PMIX_UINT32},
    {PMIX_RANK_WILDCARD, PMIX_NODE_MAP, PMIX_UINT32},
    {PMIX_RANK_WILDCARD, PMIX_PROC_MAP, PMIX_UINT32},
    {1, PMIX_LOCAL_RANK, PMIX_UINT32},
    {1, PMIX_HOSTNAME, PMIX_UINT32},
};
static unsigned bad_value;

static pmix_status_t put_bad(struct fake *f PX_UNUSED,
                             const struct px_pnet_job *job PX_UNUSED,
                             px_pnet_put_fn put, void *arg)
{
    pmix_info_t info = {.value = {.type = bad_values[bad_value].type}};

    strcpy(info.key, bad_values[bad_value].key);
    fails(put(arg, 0, NULL), BAD_PARAM);
    return put(arg, bad_values[bad_value].rank, &info);
}

/* The component returns the status of put, and the launch fails. */
PX_TEST_LOOP(values_that_cannot_be_are_refused, 2)
{
    pmix_info_t none[1] = {{.key = ""}};

    fabric_start();
    fakes[0].values = put_bad;
    for (bad_value = 0; bad_value < PX_COUNT(bad_values); bad_value++) {
        pmix_status_t rc = PMIX_SUCCESS;

        if (_i) {
            register_job();
            rc = try_support("job", "best");
        } else {
            ok(try_support("job", "best"));
            none[0].value = (pmix_value_t){.type = PMIX_UINT32, .data.uint32 = 5};
            strcpy(none[0].key, PMIX_JOB_SIZE);
            rc = PMIx_server_register_nspace(raw_proc("job", 0).nspace, 3, none, 1,
                                             NULL, NULL);
        }
        ck_assert_msg(rc == PMIX_ERR_BAD_PARAM, "row %u: %d", bad_value, rc);
        ck_assert_uint_eq(find("job", 0, "key"), UINT32_MAX);
        raw_drop_job("job");
    }
    calls[0] = '\0';
    register_job(); /* the failure has dropped the contribution */
    called("");
}

/* ---- ends --------------------------------------------------------------------------------------- */

static void restart(void *arg)
{
    ok(px_server_restart_client(px_process.server, arg, 1));
}

static void end_process(void *arg)
{
    px_server_client_ended(px_process.server, arg, 0);
}

/* Plays a step of a rank. f: the rank finalizes; c: its connection breaks; C: it connects; e: the
 * host reports its end; d: it is deregistered; r: it is registered; s: it restarts; n: the job is
 * deregistered. */
static void step(char what, int *fd, pmix_rank_t rank)
{
    pmix_proc_t p = raw_proc("job", rank);

    switch (what) {
    case 'f':
        ok(raw_finalize(*fd));
        break;
    case 'c':
        close(*fd);
        raw_await_gone(rank);
        break;
    case 'C':
        if (*fd >= 0)
            close(*fd);
        *fd = raw_client(rank);
        break;
    case 'e':
        raw_on_loop(end_process, &p);
        break;
    case 'd':
        PMIx_server_deregister_client(&p, NULL, NULL);
        break;
    case 'r':
        at_once(
            PMIx_server_register_client(&p, geteuid(), getegid(), NULL, NULL, NULL));
        break;
    case 's':
        raw_on_loop(restart, &p);
        break;
    default:
        raw_drop_job("job");
    }
}

/* Steps of a job of two local processes, both connected, and the resulting notifications. "0" is
 * the end of rank 0, "-" the end of the last process. "x" is the drop of the job. */
static const struct {
    const char *steps, *log;
} ends[] = {
    {"f0 f1", "0 1 -"},
    {"f0 c0 e0 d0", "0"},
    {"c0 f1", "0 1 -"},
    {"e0 c0 e1", "0 1 -"},
    {"d0 d1", "0 1 -"},
    {"f0 d0 f1", "0 1 -"},
    {"d0 f1", "0 1 -"},
    {"f0 C0 f0 c0", "0"},
    {"f0 e0 s0 C0 f0 f1", "0 0 1 -"},
    {"f0 f1 n", "0 1 - x"},
    {"f0 n", "0 1 - x"},
    {"n", "0 1 - x"},
    {"f0 f1 r2 C2 f2 n", "0 1 - 2 - x"},
    {"d0 d1 n", "0 1 - x"},
};

PX_TEST_LOOP(each_end_is_reported_once_and_that_of_the_last_process, PX_COUNT(ends))
{
    PX_AUTOFREE char *wanted = calloc(1, 1000);

    fabric_start();
    raw_add_job("job", 2, 1, geteuid());
    int fds[3] = {raw_client(0), raw_client(1), -1};
    raw_add_job("other", 1, 0, geteuid());
    fakes[0].notes_ends = true;
    for (const char *t = ends[_i].log; *t; t += 1 + !!t[1])
        if (*t == '-')
            strcat(wanted, "best.app job\n");
        else if (*t == 'x')
            strcat(wanted, "best.forget job\n");
        else
            sprintf(wanted + strlen(wanted), "best.child job.%c\n", *t);
    for (const char *s = ends[_i].steps; *s;) {
        const pmix_rank_t rank = s[1] ? (pmix_rank_t)(s[1] - '0') : 0;

        step(*s, &fds[rank < 3 ? rank : 0], rank);
        s += strcspn(s, " ");
        s += strspn(s, " ");
    }
    called(wanted);
}

/* Some announced processes never come. */
PX_TEST(a_job_of_fewer_processes_than_announced_ends_with_its_namespace)
{
    fabric_start();
    at_once(
        PMIx_server_register_nspace(raw_proc("job", 0).nspace, 2, NULL, 0, NULL, NULL));
    fakes[0].notes_ends = true;
    step('r', NULL, 0);
    step('e', NULL, 0);
    called("best.child job.0\n");
    step('n', NULL, 0);
    called("best.app job\nbest.forget job\n");
}

PX_TEST_MAIN("server/fabric", NULL, host_end)
