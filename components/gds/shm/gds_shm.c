/* SPDX-License-Identifier: BSD-3-Clause */
/* gds/shm: a namespace in shared memory. The server writes the memory. Clients read in
 * place, each in the caller's thread, without a system call or lock. segment.h has the
 * memory, table.h has its structure. This file has values and the framework's
 * operations. docs/adr/0020 has the reasons. */
#include "table.h"

#include "core/wire/codec.h"

#include <string.h>

enum {
    PRIORITY = 20,
    ON_STACK = 1024, /* bytes of a packed value */
};

struct conf {
    uint64_t limit;
};

static const struct px_param params[] = {
    PX_PARAM_SIZE(struct conf, limit, "4G", 0, (int64_t)1 << 41,
                  "Bytes of shared memory that a namespace may take; 0: use none"),
    PX_PARAM_END,
};

struct px_gds_ns {
    struct px_shm_segment segment;
};

/* ---- life ------------------------------------------------------------------------ */

static pmix_status_t shm_query(void *self, struct px_query *answer)
{
    const struct conf *conf = self;

    answer->priority = PRIORITY;
    if (conf->limit >= PX_SHM_FIRST)
        return PMIX_SUCCESS;
    strcpy(answer->reason, "gds_shm_limit allows less than 256K");
    return PMIX_ERR_NOT_SUPPORTED;
}

/* ---- values ---------------------------------------------------------------------- */

/* Form of the bytes of a value in memory. */
enum form {
    FORM_NONE,   /* cannot be stored: a pointer means nothing to another process */
    FORM_NUMBER, /* the number itself */
    FORM_STRING, /* with the final NUL; no bytes mean NULL */
    FORM_BYTES,
    FORM_PROC,
    FORM_PACKED, /* packed as in messages, with the type */
};

static inline enum form form_of(pmix_data_type_t type, const struct px_type *t)
{
    if (!t || t->in_value == PX_VALUE_NO || t->store == PX_POINTER ||
        t->store == PX_TOPO)
        return FORM_NONE;
    if (t->store == PX_STRING)
        return FORM_STRING;
    if (t->store == PX_BYTES || t->store == PX_REGEX)
        return FORM_BYTES;
    if (type == PMIX_PROC)
        return FORM_PROC;
    return t->in_value == PX_VALUE_INLINE && t->flat ? FORM_NUMBER : FORM_PACKED;
}

static struct px_codec codec(void)
{
    return px_codec_newest(px_codec_default);
}

/* Converts a value to bytes, which are borrowed from value or w. */
static pmix_status_t to_bytes(const pmix_value_t *value, px_writer *w,
                              struct px_shm_value *out)
{
    const struct px_type *t = px_type_find(value->type);
    enum form form = form_of(value->type, t);
    size_t n = 0;

    *out = (struct px_shm_value){.type = value->type};
    if (form == FORM_NONE)
        return px_value_payload(value) ? PMIX_ERR_NOT_SUPPORTED
                                       : PMIX_ERR_UNKNOWN_DATA_TYPE;
    if (form == FORM_NUMBER) {
        out->bytes = &value->data;
        n = t->size;
    } else if (form == FORM_STRING) {
        out->bytes = value->data.string;
        n = out->bytes ? strlen(out->bytes) + 1 : 0;
    } else if (form == FORM_BYTES) {
        out->bytes = value->data.bo.bytes;
        n = out->bytes ? value->data.bo.size : 0;
    } else if (form == FORM_PROC && value->data.proc) {
        out->bytes = value->data.proc;
        n = sizeof(pmix_proc_t);
    } else {
        px_pack_bare(w, value, PMIX_VALUE);
        out->bytes = w->buf.data;
        n = w->buf.len;
    }
    if (n > UINT32_MAX)
        return PMIX_ERR_NOMEM;
    out->n = (uint32_t)n;
    return w->status;
}

static pmix_status_t unpack(const struct px_shm_value *in, pmix_value_t *out)
{
    uint8_t room[ON_STACK];
    PX_AUTOFREE uint8_t *more = in->n > sizeof(room) ? malloc(in->n) : NULL;
    px_reader r;

    if (in->n > sizeof(room) && !more)
        return PMIX_ERR_NOMEM;
    memcpy(more ? more : room, in->bytes, in->n); /* the copy cannot change any more */
    px_reader_init(&r, codec(), more ? more : room, in->n);
    pmix_status_t rc = px_unpack_bare(&r, out, PMIX_VALUE);
    return rc && rc != PMIX_ERR_NOMEM ? PMIX_ERR_NOT_FOUND : rc;
}

/* Copies n bytes; no bytes become NULL. */
static pmix_status_t copy(const struct px_shm_value *in, void *out)
{
    void *bytes = in->n ? malloc(in->n) : NULL;

    if (in->n && !bytes)
        return PMIX_ERR_NOMEM;
    if (in->n)
        memcpy(bytes, in->bytes, in->n);
    memcpy(out, &bytes, sizeof(bytes));
    return PMIX_SUCCESS;
}

/* Converts bytes to a value. Returns PMIX_ERR_NOT_FOUND for bytes that the type
 * forbids. */
static pmix_status_t from_bytes(const struct px_shm_value *in, pmix_value_t *out)
{
    const struct px_type *t = px_type_find(in->type);
    const enum form form = form_of(in->type, t);
    const size_t size = form == FORM_NUMBER ? t->size
                        : form == FORM_PROC ? sizeof(pmix_proc_t)
                                            : in->n;
    pmix_status_t rc = PMIX_SUCCESS;

    if (form == FORM_NONE || in->n != size)
        return PMIX_ERR_NOT_FOUND;
    if (form == FORM_PACKED)
        return unpack(in, out);
    memset(out, 0, sizeof(*out));
    out->type = in->type;
    if (form == FORM_NUMBER) {
        memcpy(&out->data, in->bytes, size);
        if (in->type == PMIX_BOOL)
            out->data.flag = *(const volatile uint8_t *)in->bytes != 0;
        return PMIX_SUCCESS;
    }
    if (form == FORM_BYTES)
        out->data.bo.size = size;
    rc = copy(in, form == FORM_BYTES ? (void *)&out->data.bo.bytes : &out->data.ptr);
    if (rc || !out->data.ptr)
        return rc;
    if (form == FORM_STRING)
        out->data.string[size - 1] = '\0';
    if (form == FORM_PROC)
        out->data.proc->nspace[PMIX_MAX_NSLEN] = '\0';
    return PMIX_SUCCESS;
}

/* ---- pairs ----------------------------------------------------------------------- */

static bool to_key(enum px_gds_table table, pmix_rank_t rank, const char *text,
                   struct px_shm_key *key)
{
    size_t n = text ? strnlen(text, sizeof(pmix_key_t)) : 0;

    *key = (struct px_shm_key){.rank = rank, .table = (uint8_t)table, .text = text};
    key->length = (uint16_t)n;
    return table < PX_GDS_N_TABLES && n > 0;
}

static pmix_status_t shm_store(void *self PX_UNUSED, struct px_gds_ns *ns,
                               enum px_gds_table table, pmix_rank_t rank,
                               const char *text, const pmix_value_t *value)
{
    PX_AUTO(px_writer) w = {.status = PMIX_SUCCESS};
    struct px_shm_value bytes;
    struct px_shm_key key;

    if (!to_key(table, rank, text, &key) || rank == PMIX_RANK_UNDEF || !value)
        return PMIX_ERR_BAD_PARAM;
    if (!ns->segment.base)
        return PMIX_ERR_NO_PERMISSIONS; /* attached */
    if (value->type == PMIX_UNDEF) {
        px_shm_remove(&ns->segment, &key);
        return PMIX_SUCCESS;
    }
    if (key.length >= sizeof(pmix_key_t))
        return PMIX_ERR_NOT_SUPPORTED;
    px_writer_init(&w, codec());
    pmix_status_t rc = to_bytes(value, &w, &bytes);
    return rc ? rc : px_shm_put(&ns->segment, &key, bytes);
}

static pmix_status_t shm_fetch(void *self PX_UNUSED, struct px_gds_ns *ns,
                               enum px_gds_table table, pmix_rank_t rank,
                               const char *key, const pmix_info_t *quals PX_UNUSED,
                               size_t n_quals PX_UNUSED, pmix_value_t *out)
{
    struct px_shm_key name;
    struct px_shm_value value;

    if (!to_key(table, rank, key, &name) || !px_shm_may_have(&ns->segment, &name))
        return PMIX_ERR_NOT_FOUND;
    for (unsigned i = 0; i < PX_SHM_TRIES; i++) {
        pmix_status_t rc = !px_shm_find(&ns->segment, &name, &value)
                               ? PMIX_ERR_NOT_FOUND
                           : out ? from_bytes(&value, out)
                                 : PMIX_SUCCESS;
        if (px_shm_holds(&ns->segment, &value))
            return rc;
        if (!rc && out)
            px_type_destruct(PMIX_VALUE, out);
    }
    return PMIX_ERR_NOT_FOUND;
}

static pmix_status_t shm_view(void *self PX_UNUSED, struct px_gds_ns *ns,
                              enum px_gds_table table, pmix_rank_t rank,
                              const char *key, const void **bytes, size_t *n_bytes)
{
    struct px_shm_key name;
    struct px_shm_value value;

    if (!to_key(table, rank, key, &name) || !px_shm_stays(table) ||
        !px_shm_find(&ns->segment, &name, &value) || value.type != PMIX_BYTE_OBJECT)
        return PMIX_ERR_NOT_FOUND;
    *bytes = value.bytes;
    *n_bytes = value.n;
    return PMIX_SUCCESS;
}

static uint64_t shm_changes(void *self PX_UNUSED, struct px_gds_ns *ns)
{
    const struct px_shm_header *h = px_shm_head(&ns->segment);

    return h && !px_shm_load(&h->retired) ? px_shm_load(&h->lost) + 1 : 0;
}

struct walker {
    struct px_shm_segment *segment;
    px_gds_walk_fn fn;
    void *arg;
};

static pmix_status_t show(void *arg, const struct px_shm_key *key,
                          const struct px_shm_value *in)
{
    const struct walker *w = arg;
    pmix_value_t value;
    pmix_status_t rc = from_bytes(in, &value);
    bool holds = px_shm_holds(w->segment, in);

    if (rc && holds)
        return rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc;
    if (rc)
        return PX_SHM_AGAIN;
    rc = holds ? w->fn(w->arg, key->rank, key->text, &value) : PX_SHM_AGAIN;
    px_type_destruct(PMIX_VALUE, &value);
    return rc;
}

static pmix_status_t shm_walk(void *self PX_UNUSED, struct px_gds_ns *ns,
                              enum px_gds_table table, pmix_rank_t rank,
                              px_gds_walk_fn fn, void *arg)
{
    struct walker w = {.segment = &ns->segment, .fn = fn, .arg = arg};

    if (table >= PX_GDS_N_TABLES)
        return PMIX_ERR_BAD_PARAM;
    return px_shm_walk(&ns->segment, table, rank, show, &w);
}

static void shm_clear(void *self PX_UNUSED, struct px_gds_ns *ns,
                      enum px_gds_table table, pmix_rank_t rank)
{
    if (table < PX_GDS_N_TABLES && ns->segment.base)
        px_shm_clear(&ns->segment, table, rank);
}

/* ---- namespaces ------------------------------------------------------------------ */

/* Completes a namespace whose segment was made with result rc. */
static pmix_status_t hand_out(struct px_gds_ns *made, pmix_status_t rc,
                              struct px_gds_ns **ns)
{
    if (rc)
        free(made);
    else
        *ns = made;
    return rc;
}

static pmix_status_t shm_create(void *self, const char *nspace PX_UNUSED,
                                struct px_gds_ns **ns)
{
    const struct conf *conf = self;
    struct px_gds_ns *made = malloc(sizeof(*made));

    if (!made)
        return PMIX_ERR_NOMEM;
    return hand_out(made, px_shm_segment_create(&made->segment, conf->limit), ns);
}

static void shm_destroy(void *self PX_UNUSED, struct px_gds_ns *ns)
{
    if (ns)
        px_shm_segment_close(&ns->segment);
    free(ns);
}

#define LAYOUT "layout"

static pmix_status_t shm_describe(void *self PX_UNUSED, struct px_gds_ns *ns,
                                  const pmix_proc_t *reader PX_UNUSED,
                                  pmix_info_t **infos, size_t *n_infos, int *fd)
{
    const uint64_t layout = PX_SHM_MAGIC;
    px_infos l = {0};

    int shown = px_shm_segment_show(&ns->segment);
    if (shown < 0)
        return PMIX_ERR_NOT_SUPPORTED;
    pmix_status_t rc = px_infos_add(&l, LAYOUT, &layout, PMIX_UINT64);
    if (rc) {
        px_infos_cleanup(&l);
        return rc;
    }
    *infos = l.v;
    *n_infos = l.n;
    *fd = shown;
    return PMIX_SUCCESS;
}

static pmix_status_t shm_attach(void *self PX_UNUSED, const char *nspace PX_UNUSED,
                                const pmix_info_t *infos, size_t n_infos, int fd,
                                struct px_gds_ns **ns)
{
    const pmix_info_t *known = px_info_find(infos, n_infos, LAYOUT);
    uint64_t layout = 0;

    if (!known || !px_value_to_u64(&known->value, &layout) || layout != PX_SHM_MAGIC ||
        fd < 0)
        return PMIX_ERR_NOT_SUPPORTED;
    struct px_gds_ns *made = malloc(sizeof(*made));
    if (!made)
        return PMIX_ERR_NOMEM;
    return hand_out(made, px_shm_segment_attach(&made->segment, fd), ns);
}

static const struct px_gds_ops ops = {
    .create = shm_create,
    .destroy = shm_destroy,
    .store = shm_store,
    .fetch = shm_fetch,
    .walk = shm_walk,
    .clear = shm_clear,
    .describe = shm_describe,
    .attach = shm_attach,
    .view = shm_view,
    .changes = shm_changes,
};

PX_COMPONENT(gds, shm) = {
    PX_COMPONENT_HEAD(gds, GDS, shm),
    .version = "1.0",
    .params = params,
    .conf_size = sizeof(struct conf), /* self is the conf */
    .query = shm_query,
    .ops = &ops,
};
