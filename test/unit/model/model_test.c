/* SPDX-License-Identifier: BSD-3-Clause */
#include "model_test.h"

#include "core/base/str.h"
#include "core/model/lookup.h"
#include "core/plugin/select.h"
#include "core/base/gate.h"

#include <string.h>

/* ---- replacements for the core ----------------------------------------------------- */

extern const struct px_component px_gds_hash_component;

static struct px_read_gate gate;

struct px_module model_modules[2] = {{.component = &px_gds_hash_component}};
size_t n_model_modules = 1;

const struct px_module *px_modules(const char *framework, size_t *n)
{
    ck_assert_str_eq(framework, "gds");
    *n = n_model_modules;
    return model_modules;
}

/* ---- models ------------------------------------------------------------------------ */

struct px_model *model;
struct px_nspace *ns;
px_infos given, quals;

struct px_model *model_make(const char *host, const char *name, pmix_rank_t rank)
{
    struct px_model *m = NULL;

    ok(px_model_create(&gate, host, &m));
    if (rank != PMIX_RANK_UNDEF) {
        px_proc_set(&m->self, name, rank);
        m->own = nspace_of(m, name);
    }
    return m;
}

struct px_nspace *nspace_of(struct px_model *m, const char *name)
{
    struct px_nspace *found = NULL;

    ok(px_nspace_get(m, name, &found));
    return found;
}

void model_teardown(void)
{
    px_infos_cleanup(&given);
    px_infos_cleanup(&quals);
    px_model_destroy(model);
    model = NULL;
}

void be(const char *host, pmix_rank_t rank)
{
    px_model_destroy(model);
    model = model_make(host, JOB, rank);
    ns = nspace_of(model, JOB);
}

void serve(const char *host)
{
    be(host, PMIX_RANK_UNDEF);
}

/* ---- lists ------------------------------------------------------------------------- */

void add_str(px_infos *l, const char *key, const char *s)
{
    ok(px_infos_add(l, key, s, PMIX_STRING));
}

void add_num(px_infos *l, const char *key, uint32_t n, pmix_data_type_t type)
{
    uint16_t n16 = (uint16_t)n;
    uint64_t n64 = n;
    const void *at = type == PMIX_UINT16   ? (const void *)&n16
                     : type == PMIX_UINT64 ? (const void *)&n64
                                           : (const void *)&n;

    ok(px_infos_add(l, key, at, type));
}

void add_flag(px_infos *l, const char *key, bool flag)
{
    ok(px_infos_add(l, key, &flag, PMIX_BOOL));
}

void add_array(px_infos *l, const char *key, px_infos *members)
{
    ok(px_infos_add_array(l, key, members));
}

void add_maps(px_infos *l, const char *nodes, const char *ranks)
{
    add_str(l, PMIX_NODE_MAP, nodes);
    add_str(l, PMIX_PROC_MAP, ranks);
}

void add_proc(px_infos *l, pmix_rank_t rank, px_infos *members)
{
    px_infos all = {0};

    add_num(&all, PMIX_RANK, rank, PMIX_PROC_RANK);
    if (members)
        ok(px_infos_add_copy(&all, members->v, members->n));
    add_array(l, PMIX_PROC_DATA, &all);
    if (members)
        px_infos_cleanup(members);
}

void learn(px_infos *l)
{
    struct px_err err = {0};

    ck_assert_msg(px_jobinfo_register(model, ns, l->v, l->n, &err) == PMIX_SUCCESS,
                  "%s", err.text);
    px_infos_cleanup(l);
}

/* ---- results ----------------------------------------------------------------------- */

pmix_status_t get(pmix_rank_t rank, const char *key, pmix_value_t *out)
{
    struct px_lookup l;

    px_lookup_init(&l, key, rank, quals.v, quals.n);
    l.want_local = l.want_remote = true;
    return px_lookup_find(model, ns, &l, out);
}

static pmix_value_t must_get(pmix_rank_t rank, const char *key, pmix_data_type_t type)
{
    pmix_value_t v;

    ck_assert_msg(get(rank, key, &v) == PMIX_SUCCESS, "no %s of rank %d", key,
                  (int)rank);
    ck_assert_msg(v.type == type, "%s of rank %d has type %d", key, (int)rank, v.type);
    return v;
}

void assert_num(pmix_rank_t rank, const char *key, pmix_data_type_t type, uint32_t n)
{
    pmix_value_t v = must_get(rank, key, type);
    uint32_t found = ~n;

    ck_assert(px_value_to_u32(&v, &found));
    ck_assert_msg(found == n, "%s of rank %d is %u, not %u", key, (int)rank, found, n);
}

void assert_str(pmix_rank_t rank, const char *key, const char *s)
{
    pmix_value_t v = must_get(rank, key, PMIX_STRING);

    ck_assert_msg(strcmp(v.data.string, s) == 0, "%s of rank %d is '%s', not '%s'", key,
                  (int)rank, v.data.string, s);
    px_type_destruct(PMIX_VALUE, &v);
}

void assert_flag(pmix_rank_t rank, const char *key, bool flag)
{
    ck_assert_int_eq(must_get(rank, key, PMIX_BOOL).data.flag, flag);
}

void assert_none(pmix_rank_t rank, const char *key)
{
    pmix_value_t v;

    ck_assert_msg(get(rank, key, &v) == PMIX_ERR_NOT_FOUND, "%s of rank %d", key,
                  (int)rank);
}

/* ---- recorded hosts ---------------------------------------------------------------- */

static void mpirun_proc(px_infos *l, pmix_rank_t rank)
{
    px_infos p = {0};

    add_str(&p, PMIX_LOCALITY_STRING, "(null)");
    add_num(&p, PMIX_GLOBAL_RANK, rank + 1, PMIX_PROC_RANK);
    add_num(&p, PMIX_LOCAL_RANK, rank, PMIX_UINT16);
    add_num(&p, PMIX_NODE_RANK, rank + 1, PMIX_UINT16);
    add_num(&p, PMIX_NODEID, 0, PMIX_UINT32);
    add_str(&p, PMIX_HOSTNAME, "vm");
    add_proc(l, rank, &p);
}

void mpirun_job(px_infos *l)
{
    add_str(l, PMIX_SERVER_NSPACE, "[20313,0]");
    add_num(l, PMIX_SERVER_RANK, 0, PMIX_UINT32);
    add_str(l, PMIX_JOBID, "[20313,2]");
    add_num(l, PMIX_NPROC_OFFSET, 1, PMIX_UINT32);
    add_maps(l, "pmix[vm]", "raw:0,1");
    add_num(l, PMIX_NODEID, 0, PMIX_UINT32);
    add_num(l, PMIX_NODE_SIZE, 3, PMIX_UINT32);
    add_num(l, PMIX_NUM_NODES, 1, PMIX_UINT32);
    add_num(l, PMIX_UNIV_SIZE, 2, PMIX_UINT32);
    add_num(l, PMIX_JOB_SIZE, 2, PMIX_UINT32);
    add_num(l, PMIX_JOB_NUM_APPS, 1, PMIX_UINT32);
    add_num(l, PMIX_LOCAL_SIZE, 2, PMIX_UINT32);
    add_num(l, PMIX_MAX_PROCS, 2, PMIX_UINT32);
    add_str(l, PMIX_TOPOLOGY_SIGNATURE, "1N:1S:1L3:2L2:2L1:2C:2H:x86_64:le");
    add_num(l, PMIX_AVAIL_PHYS_MEMORY, 8192, PMIX_UINT64);
    add_str(l, PMIX_MAPBY, "BYCORE:OVERSUBSCRIBE");
    add_str(l, PMIX_RANKBY, "SLOT");
    add_str(l, PMIX_BINDTO, "NONE:IF-SUPPORTED:OVERLOAD-ALLOWED");
    add_str(l, PMIX_LOCAL_PEERS, "0,1");
    add_num(l, PMIX_LOCALLDR, 0, PMIX_PROC_RANK);
    mpirun_proc(l, 0);
    mpirun_proc(l, 1);
}

static void slurm_proc(px_infos *l, pmix_rank_t rank, uint32_t node)
{
    px_infos p = {0};

    add_num(&p, PMIX_APPNUM, 0, PMIX_INT);
    add_num(&p, PMIX_APPLDR, 0, PMIX_INT);
    add_num(&p, PMIX_GLOBAL_RANK, rank, PMIX_UINT32);
    add_num(&p, PMIX_APP_RANK, rank, PMIX_UINT32);
    if (node == rank / 3) { /* only for the ranks of this node */
        add_num(&p, PMIX_LOCAL_RANK, rank % 3, PMIX_UINT16);
        add_num(&p, PMIX_NODE_RANK, rank % 3, PMIX_UINT16);
    }
    add_str(&p, PMIX_HOSTNAME, rank == 3 ? "n1" : "n0");
    add_num(&p, PMIX_NODEID, node,
            PMIX_UINT32); /* recorded like this: for every rank */
    add_proc(l, rank, &p);
}

void slurm_job(px_infos *l, uint32_t node)
{
    add_flag(l, PMIX_SPAWNED, false);
    add_str(l, PMIX_TMPDIR, node ? "/tmp/tmp.n1" : "/tmp/tmp.n0");
    add_str(l, PMIX_NSDIR, node ? "/tmp/tmp.n1/1.0" : "/tmp/tmp.n0/1.0");
    add_flag(l, PMIX_TDIR_RMCLEAN, true);
    add_str(l, PMIX_JOBID, "1.0");
    add_num(l, PMIX_NODEID, node, PMIX_UINT32);
    for (pmix_rank_t rank = 0; rank < 4; rank++)
        slurm_proc(l, rank, node);
    add_num(l, PMIX_UNIV_SIZE, 4, PMIX_UINT32);
    add_num(l, PMIX_JOB_SIZE, 4, PMIX_UINT32);
    add_num(l, PMIX_LOCAL_SIZE, node ? 1 : 3, PMIX_UINT32);
    add_num(l, PMIX_NODE_SIZE, node ? 1 : 3, PMIX_UINT32);
    add_num(l, PMIX_MAX_PROCS, 4, PMIX_UINT32);
    add_str(l, PMIX_LOCAL_TOPO, "<?xml version=\"1.0\"?>");
    add_maps(l, "pmix[n[1:0-1]]", "raw:0,1,2;3");
    add_str(l, PMIX_ANL_MAP, "(vector,(0,1,3),(1,1,1))");
    add_str(l, PMIX_LOCAL_PEERS, node ? "3" : "0,1,2");
    add_num(l, PMIX_LOCALLDR, node ? 3 : 0, PMIX_UINT32);
}

void realms_job(px_infos *l)
{
    px_infos a = {0};

    add_num(&a, PMIX_JOB_SIZE, 4, PMIX_UINT32);
    add_str(&a, PMIX_JOBID, "j");
    add_array(l, PMIX_JOB_INFO_ARRAY, &a);
    add_num(&a, PMIX_SESSION_ID, 77, PMIX_UINT32);
    add_num(&a, PMIX_UNIV_SIZE, 64, PMIX_UINT32);
    add_array(l, PMIX_SESSION_INFO_ARRAY, &a);
    add_num(&a, PMIX_APPNUM, 0, PMIX_UINT32);
    add_num(&a, PMIX_APP_SIZE, 3, PMIX_UINT32);
    add_array(l, PMIX_APP_INFO_ARRAY, &a);
    add_num(&a, PMIX_APPNUM, 1, PMIX_UINT32);
    add_num(&a, PMIX_APP_SIZE, 1, PMIX_UINT32);
    add_num(&a, PMIX_APPLDR, 3, PMIX_INT);
    add_array(l, PMIX_APP_INFO_ARRAY, &a);
    add_str(&a, PMIX_HOSTNAME, "n1");
    add_num(&a, PMIX_NODEID, 11, PMIX_UINT32);
    add_str(&a, PMIX_HOSTNAME_ALIASES, "node-one,one.cluster");
    add_num(&a, PMIX_AVAIL_PHYS_MEMORY, 1000, PMIX_UINT64);
    add_array(l, PMIX_NODE_INFO_ARRAY, &a);
    add_num(&a, PMIX_NODEID, 0, PMIX_UINT32);
    add_num(&a, PMIX_AVAIL_PHYS_MEMORY, 2000, PMIX_UINT64);
    add_array(l, PMIX_NODE_INFO_ARRAY, &a);
    add_maps(l, "n0,n1", "0,1;2,3");
    for (pmix_rank_t r = 0; r < 4; r++) {
        add_num(&a, PMIX_APPNUM, r == 3, PMIX_UINT32);
        add_proc(l, r, &a);
    }
}

/* ---- results of recorded programs ------------------------------------------------- */

static void assert_same(pmix_rank_t rank, const pmix_info_t *given)
{
    pmix_value_t found, wanted;

    px_job_value_convert(given->key, &given->value, &wanted);
    found = must_get(rank, given->key, wanted.type);
    ck_assert_msg(px_type_compare(PMIX_VALUE, &found, &wanted) == 0, "%s of rank %d",
                  given->key, (int)rank);
    px_type_destruct(PMIX_VALUE, &found);
}

/* Checks that each reader gets the values that the host gave, except the maps; frees
 * l. */
static void assert_all(px_infos *l)
{
    const pmix_info_t *of_rank;
    size_t n;

    for (size_t i = 0; i < l->n; i++)
        if (px_value_infos(&l->v[i].value, &of_rank, &n))
            for (size_t k = 1; k < n; k++)
                assert_same(of_rank[0].value.data.rank, &of_rank[k]);
        else if (strcmp(l->v[i].key, PMIX_NODE_MAP) != 0 &&
                 strcmp(l->v[i].key, PMIX_PROC_MAP) != 0)
            assert_same(ALL, &l->v[i]);
    assert_none(ALL, PMIX_PROCDIR);
    assert_none(0, PMIX_CPUSET);
    px_infos_cleanup(l);
}

void assert_mpirun_gets(void)
{
    px_infos l = {0};

    mpirun_job(&l);
    assert_all(&l);
    assert_num(1, PMIX_APPNUM, PMIX_UINT32, 0);
    assert_str(ALL, PMIX_NODE_LIST, "vm");
    assert_none(ALL, "pmix.dbg.init");
    assert_none(ALL, PMIX_NSDIR);
    assert_none(2, PMIX_HOSTNAME);
}

void assert_slurm_gets(uint32_t node)
{
    px_infos l = {0};

    slurm_job(&l, node);
    assert_all(&l);
    for (pmix_rank_t rank = 0; rank < 4; rank++) {
        assert_num(rank, PMIX_LOCAL_RANK, PMIX_UINT16, rank % 3);
        assert_num(rank, PMIX_NODE_RANK, PMIX_UINT16, rank % 3);
        assert_none(rank, PMIX_LOCALITY_STRING);
    }
    assert_num(ALL, PMIX_NUM_NODES, PMIX_UINT32, 2);
    assert_none(ALL, PMIX_MAPBY);
}

/* ---- servers and clients ----------------------------------------------------------- */

px_buf pack_answer(struct px_codec c, enum px_job_form form)
{
    px_writer w = writer_in(c);

    px_jobinfo_pack(model, ns, &w, form);
    ok(w.status);
    return px_buf_take(&w.buf);
}

pmix_status_t read_answer(struct px_codec c, const px_buf *bytes)
{
    px_reader r = reader_of(c, bytes);

    return px_jobinfo_unpack(model, ns, &r);
}

void be_client_of(px_infos *l, const char *server_host, const char *host,
                  pmix_rank_t rank, struct px_codec c, enum px_job_form form)
{
    serve(server_host);
    learn(l);
    PX_AUTO(px_buf) bytes = pack_answer(c, form);
    be(host, rank);
    ok(read_answer(c, &bytes));
}

void put_str(px_writer *w, const char *key, const char *s)
{
    pmix_value_t v = {.type = PMIX_STRING, .data.string = (char *)(uintptr_t)s};

    px_pack_kval(w, key, &v);
}

/* Packs the only info of l and frees l. */
static void put_first(px_writer *w, px_infos *l)
{
    px_pack_kval(w, l->v[0].key, &l->v[0].value);
    px_infos_cleanup(l);
}

void put_num(px_writer *w, const char *key, pmix_data_type_t type, uint32_t n)
{
    px_infos l = {0};

    add_num(&l, key, n, type);
    put_first(w, &l);
}

void put_array(px_writer *w, const char *key, px_infos *members)
{
    px_infos l = {0};

    add_array(&l, key, members);
    put_first(w, &l);
}

void put_blob(px_writer *w, const char *key, px_writer *body)
{
    pmix_value_t v = {.type = PMIX_BYTE_OBJECT};

    v.data.bo.bytes = (char *)body->buf.data;
    v.data.bo.size = body->buf.len;
    px_pack_kval(w, key, &v);
    px_writer_cleanup(body);
}

void be_client_of_bytes(px_writer *w, const char *host, pmix_rank_t rank)
{
    be(host, rank);
    ok(w->status);
    ok(read_answer(w->codec, &w->buf));
    px_writer_cleanup(w);
}
