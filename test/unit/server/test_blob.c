/* SPDX-License-Identifier: BSD-3-Clause */
/* Blob that accompanies a launch: its contents, its lifetime, and the refusal of incomplete blobs. */
#include "alloc_fail.h"
#include "core/base/strv.h"
#include "core/server/fabric/blob.h"
#include "fake_host.h"
#include "pmix_envars.h"
#include "raw.h"

#include <endian.h>
#include <semaphore.h>
#include <string.h>

static const pmix_nspace_t job = "job";

static void start(void)
{
    raw_start(&host_module, 3, 0);
}

/* ---- answers, taken without an allocation ----------------------------------------------------- */

static sem_t answered;

/* Last answer, until the host has read it. */
static struct {
    pmix_status_t status;
    pmix_info_t *info;
    size_t n;
    pmix_op_cbfunc_t read;
    void *cbdata;
} answer;

static void on_answer(pmix_status_t status, void *cbdata PX_UNUSED)
{
    answer.status = status;
    sem_post(&answered);
}

static void on_blob(pmix_status_t status, pmix_info_t l[], size_t n, void *cbdata,
                    pmix_op_cbfunc_t cb, void *their_cbdata)
{
    answer.info = l;
    answer.n = n;
    answer.read = cb;
    answer.cbdata = their_cbdata;
    on_answer(status, cbdata);
}

static pmix_status_t await(pmix_status_t rc)
{
    if (rc)
        return rc;
    sem_wait(&answered);
    return answer.status;
}

static pmix_status_t forward(void)
{
    return PMIx_Forward_envars(job, "FW_A;FW_B", NULL, 0);
}

/* Gathers the blob. Sets the patterns first, as a failed launch drops them. */
static pmix_status_t gather(void)
{
    pmix_status_t rc = forward();

    return rc ? rc : await(PMIx_server_setup_application(job, NULL, 0, on_blob, NULL));
}

static pmix_status_t support(void)
{
    return await(
        PMIx_server_setup_local_support(job, answer.info, answer.n, on_answer, NULL));
}

static char **child_env(void)
{
    pmix_proc_t p = raw_proc("job", 0);
    char **env = NULL;

    ok(PMIx_server_setup_fork(&p, &env));
    return env;
}

/* ---- invalid blobs ----------------------------------------------------------------------------- */

/* Passes data in place of a component's contribution. */
static pmix_status_t support_with(const void *data, pmix_data_type_t type)
{
    pmix_info_t i;

    ok(PMIx_Info_load(&i, "tenon.pnet", data, type));
    pmix_status_t rc = PMIx_server_setup_local_support(job, &i, 1, NULL, NULL);
    PMIx_Info_destruct(&i);
    return px_test_completed(rc);
}

static pmix_status_t support_with_bytes(const px_writer *w, size_t n)
{
    const pmix_byte_object_t bo = {(char *)w->buf.data, n};

    return support_with(&bo, PMIX_BYTE_OBJECT);
}

/* Makes a blob whose first share is of an unknown component. The server reads and skips this share. */
static void blob_of(px_writer *blob, const char *text, unsigned n_shares)
{
    PX_AUTO(px_writer) body;
    PX_AUTO(px_infos) share = {0};

    px_writer_init(&body, px_codec_default);
    px_writer_init(blob, px_codec_default);
    ok(px_infos_add(&share, "key", text, PMIX_STRING));
    for (unsigned i = 0; i < n_shares; i++)
        px_blob_add(&body, i ? "envar" : "unknown", "1.0", &share);
    ok(px_blob_seal(&body, blob));
}

PX_TEST_LOOP(a_blob_that_is_cut_or_damaged_is_refused, 2)
{
    PX_AUTO(px_writer) w;
    PX_AUTOFREE char *text = calloc(1, 10001);

    memset(text, 'x', _i ? 10000 : 10);
    start();
    blob_of(&w, text, 1);
    ck_assert_uint_lt(w.buf.len, 200); /* the longer text is compressed */
    ok(support_with_bytes(&w, w.buf.len));
    for (size_t n = 0; n < w.buf.len; n++)
        fails(support_with_bytes(&w, n), UNPACK_FAILURE);
    for (size_t bit = 0; bit < 8 * w.buf.len; bit++) {
        w.buf.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        pmix_status_t rc = support_with_bytes(&w, w.buf.len);
        ck_assert_msg(rc == PMIX_ERR_UNPACK_FAILURE, "bit %zu: %d", bit, rc);
        w.buf.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    ok(support_with_bytes(&w, w.buf.len));
}

PX_TEST(a_compressed_blob_has_its_length_in_network_order)
{
    PX_AUTO(px_writer) w;
    PX_AUTOFREE uint8_t *plain = NULL;
    char text[10001] = "";
    struct px_err err;
    px_reader body;

    memset(text, 'x', sizeof(text) - 1);
    blob_of(&w, text, 1);
    ok(px_blob_open(w.buf.data, w.buf.len, &body, &plain, &err));
    const uint32_t length = htobe32((uint32_t)(body.end - body.pos));
    ck_assert_ptr_nonnull(memmem(w.buf.data, w.buf.len, &length, sizeof(length)));
}

PX_TEST(a_blob_that_is_none_is_refused)
{
    PX_AUTO(px_writer) later, twice;

    start();
    px_writer_init(&later, px_codec_default);
    px_pack_u32(&later, 9);
    fails(support_with_bytes(&later, later.buf.len), UNPACK_FAILURE);
    fails(support_with("x", PMIX_STRING), BAD_PARAM);
    blob_of(&twice, "", 3);
    fails(support_with_bytes(&twice, twice.buf.len), UNPACK_FAILURE);
    pmix_info_t none = {.key = "tenon.pnet", .value.type = PMIX_BYTE_OBJECT};
    sem_init(&answered, 0, 0);
    answer.info = &none;
    answer.n = 1;
    fails(support(), UNPACK_FAILURE);
    ck_assert_int_eq(sem_trywait(&answered), -1); /* only one answer came */
}

PX_TEST(a_node_without_a_required_component_refuses_the_job)
{
    PX_AUTO(px_writer) w;

    setenv("PMIX_MCA_pnet_unknown_required", "true", 1);
    start();
    blob_of(&w, "", 1);
    fails(support_with_bytes(&w, w.buf.len), NOT_AVAILABLE);
    raw_server_stop();
    setenv("PMIX_MCA_pnet_unknown_required", "false", 1);
    start();
    ok(support_with_bytes(&w, w.buf.len));
}

PX_TEST(a_blob_has_a_bound)
{
    PX_AUTO(px_writer) body, blob;
    PX_AUTO(px_infos) share = {0};
    const pmix_byte_object_t large = {calloc(1, 33u << 20), 33u << 20};

    px_writer_init(&body, px_codec_default);
    px_writer_init(&blob, px_codec_default);
    ok(px_infos_add(&share, "key", &large, PMIX_BYTE_OBJECT));
    px_blob_add(&body, "one", "1.0", &share);
    ok(body.status);
    px_blob_add(&body, "two", "1.0", &share);
    ck_assert_int_eq(body.status, PMIX_ERR_OUT_OF_RESOURCE);
    fails(px_blob_seal(&body, &blob), OUT_OF_RESOURCE);
    free(large.bytes);
}

/* ---- transport --------------------------------------------------------------------------------- */

PX_TEST(contributions_are_one_blob_that_stays_until_it_is_read)
{
    pmix_info_t *first;
    pmix_op_cbfunc_t read;
    void *cbdata;

    sem_init(&answered, 0, 0);
    setenv("PMIX_MCA_pnet_opx_enabled", "true", 1);
    setenv("FW_A", "theirs", 1);
    start();
    ok(gather());
    ck_assert_uint_eq(answer.n, 1);
    ck_assert_int_eq(answer.info->value.type, PMIX_BYTE_OBJECT);
    first = answer.info;
    read = answer.read;
    cbdata = answer.cbdata;
    ok(gather()); /* a second blob comes and goes */
    answer.read(PMIX_SUCCESS, answer.cbdata);
    raw_drop_job("job");
    answer.info = first;
    ok(support());
    read(PMIX_SUCCESS, cbdata);
    PX_AUTO(px_strv) env = child_env();
    ck_assert_pstr_eq(px_env_get(env, "FW_A"), "theirs");
    ck_assert_uint_eq(strlen(px_env_get(env, "FI_OPX_UUID")), 32);
}

/* Each call returns the failure once, without a callback, and succeeds afterwards. */
PX_TEST(a_launch_without_memory_is_reported)
{
    static pmix_status_t (*const calls[])(void) = {forward, gather, support};

    PX_TEST_NEEDS_ALLOC;
    sem_init(&answered, 0, 0);
    setenv("PMIX_MCA_pnet", "envar", 1);
    setenv("FW_A", "theirs", 1);
    start();
    for (size_t i = 0; i < PX_COUNT(calls); i++)
        for (unsigned nth = 0; px_alloc_next(&nth);) {
            pmix_status_t rc = calls[i]();
            bool failed = px_alloc_fail_end();

            ck_assert_msg(rc == (failed ? PMIX_ERR_NOMEM : PMIX_SUCCESS),
                          "call %zu, allocation %u: %d", i, nth, rc);
            ck_assert_int_eq(sem_trywait(&answered), -1);
        }
    answer.read(PMIX_SUCCESS, answer.cbdata);
    PX_AUTO(px_strv) env = child_env();
    ck_assert_pstr_eq(px_env_get(env, "FW_A"), "theirs");
}

PX_TEST_MAIN("server/blob", NULL, host_end)
