/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints any object as one line of text. Strings are quoted and escaped. Structures are
 * {member: value, ...}. Enumerated values are names. */
#include "core/base/buf.h"
#include "core/types/names.h"
#include "core/types/number.h"
#include "core/types/walk.h"
#include "pmix_common.h"

#include <stdarg.h>
#include <stdio.h>

enum { MAX_BYTES = 32 }; /* bytes shown of a byte object */

/* The output. After a failure put does nothing, so callers check failed once. */
struct text {
    px_buf buf;
    bool failed;
};

static void put_object(struct text *to, const struct px_type *t, const void *obj);

static void put(struct text *to, const char *fmt, ...) PX_PRINTF(2, 3);

static void put(struct text *to, const char *fmt, ...)
{
    va_list args, again;

    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    if (n < 0 || to->failed || px_buf_reserve(&to->buf, (size_t)n + 1)) {
        to->failed = true;
    } else {
        vsnprintf((char *)to->buf.data + to->buf.len, (size_t)n + 1, fmt, again);
        to->buf.len += (size_t)n;
    }
    va_end(again);
    va_end(args);
}

static void put_raw(struct text *to, const char *bytes, size_t n)
{
    if (to->failed || px_buf_add(&to->buf, bytes, n))
        to->failed = true;
}

/* Escapes at most size characters, because arrays need not be terminated. UTF-8 passes
 * unchanged. */
static void put_escaped(struct text *to, const char *s, size_t size)
{
    size_t len = strnlen(s, size);

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];

        if (c < ' ' || c == 0x7f || c == '"' || c == '\\')
            put(to, "\\x%02x", c);
        else
            put_raw(to, &s[i], 1);
    }
}

static void put_quoted(struct text *to, const char *s, size_t size)
{
    if (!s) {
        put(to, "NULL");
        return;
    }
    put(to, "\"");
    put_escaped(to, s, size);
    put(to, "\"");
}

static void put_bytes(struct text *to, const char *bytes, size_t n)
{
    put(to, "%zu bytes", n);
    for (size_t i = 0; i < n && i < MAX_BYTES; i++)
        put(to, " %02x", (unsigned char)bytes[i]);
    if (n > MAX_BYTES)
        put(to, " ...");
}

static void put_elements(struct text *to, const struct px_type *t, const void *array,
                         size_t n)
{
    put(to, "{");
    for (size_t i = 0; i < n; i++) {
        put(to, "%s", i ? ", " : "");
        put_object(to, t, px_at(array, i * t->size));
    }
    put(to, "}");
}

static void put_darray(struct text *to, const pmix_data_array_t *a)
{
    const struct px_type *t = px_type_find(a->type);
    size_t n = px_darray_len(a);

    put(to, "%s[%zu]", PMIx_Data_type_string(a->type), n);
    if (t && n) {
        put(to, " ");
        put_elements(to, t, a->array, n);
    }
}

static void put_value(struct text *to, const pmix_value_t *v)
{
    const struct px_type *t = px_type_find(v->type);
    const void *payload = px_value_payload(v);

    if (!t) {
        put(to, "unknown type %u", v->type);
        return;
    }
    put(to, "%s", t->name);
    if (t->store == PX_NONE)
        return;
    put(to, " ");
    if (payload)
        put_object(to, t, payload);
    else
        put(to, "NULL");
}

static void put_field(struct text *to, const struct px_field *f, const void *obj)
{
    const struct px_type *t = px_type_find(f->type);

    put(to, "%s: ", f->name);
    if (f->store == PX_KEY)
        put_quoted(to, px_at(obj, f->offset), sizeof(pmix_key_t));
    else if (f->many == PX_ONE)
        put_object(to, t, px_at(obj, f->offset));
    else
        put_elements(to, t, px_field_elements(f, obj), px_field_count(f, obj));
}

static void put_fields(struct text *to, const struct px_type *t, const void *obj)
{
    put(to, "{");
    for (size_t i = 0; i < px_type_fields(t); i++) {
        put(to, "%s", i ? ", " : "");
        put_field(to, &t->fields[i], obj);
    }
    put(to, "}");
}

/* Prints a cpuset as its list. Prints a topology's address only, because its XML has
 * many pages. */
static void put_opaque(struct text *to, enum px_store store, const void *obj)
{
    struct px_opaque o = px_load_opaque(obj);
    PX_AUTOFREE char *list = NULL;

    if (store == PX_CPUSET && o.handle &&
        px_handle_text(store, &o, &list) == PMIX_ERR_NOMEM)
        to->failed = true;
    put(to, "{source: ");
    put_quoted(to, o.source, SIZE_MAX);
    if (list)
        put(to, ", cpus: %s}", list);
    else
        put(to, ", handle: %p}", o.handle);
}

static void put_number(struct text *to, const struct px_type *t, const void *obj)
{
    struct px_number n;

    if (!px_number_read(t, obj, &n)) {
        put(to, "?");
        return;
    }
    const char *name = n.kind == PX_REAL ? NULL : px_name_of(t->id, n.i);
    if (name)
        put(to, "%s", name);
    else if (n.kind == PX_REAL)
        put(to, "%g", n.d);
    else if (n.kind == PX_NEGATIVE)
        put(to, "%lld", (long long)n.i);
    else
        put(to, "%llu", (unsigned long long)n.u);
}

static void put_leaf(struct text *to, const struct px_type *t, const void *obj)
{
    struct timeval tv;

    switch (t->store) {
    case PX_NONE:
        break;
    case PX_BOOL:
        put(to, "%s", *(const unsigned char *)obj ? "true" : "false");
        break;
    case PX_STRING:
        put_quoted(to, px_load_ptr(obj), SIZE_MAX);
        break;
    case PX_NSPACE:
        put_quoted(to, obj, sizeof(pmix_nspace_t));
        break;
    case PX_POINTER:
        put(to, "%p", px_load_ptr(obj));
        break;
    case PX_TIMEVAL:
        memcpy(&tv, obj, sizeof(tv));
        put(to, "%lld.%06lld", (long long)tv.tv_sec, (long long)tv.tv_usec);
        break;
    case PX_BYTES:
    case PX_REGEX:
        put_bytes(to, ((const pmix_byte_object_t *)obj)->bytes, px_bytes_len(obj));
        break;
    case PX_DBUF:
        put_bytes(to, ((const pmix_data_buffer_t *)obj)->base_ptr, px_dbuf_len(obj));
        break;
    default:
        put_number(to, t, obj);
    }
}

static void put_object(struct text *to, const struct px_type *t, const void *obj)
{
    PX_AUTOFREE char *flags = NULL;
    const pmix_proc_t *proc = obj;

    switch (t->store) {
    case PX_VALUE:
        put_value(to, obj);
        break;
    case PX_DARRAY:
        put_darray(to, obj);
        break;
    case PX_CPUSET:
    case PX_TOPO:
        put_opaque(to, (enum px_store)t->store, obj);
        break;
    case PX_STRUCT:
        if (t->id != PMIX_PROC) {
            put_fields(to, t, obj);
            break;
        }
        put_escaped(to, proc->nspace, sizeof(proc->nspace));
        put(to, ":");
        put_object(to, px_type_find(PMIX_PROC_RANK), &proc->rank);
        break;
    default:
        if (t->id != PMIX_INFO_DIRECTIVES) {
            put_leaf(to, t, obj);
            break;
        }
        flags = PMIx_Info_directives_string(*(const pmix_info_directives_t *)obj);
        to->failed = to->failed || !flags;
        put(to, "%s", flags ? flags : "");
    }
}

char *px_type_print(pmix_data_type_t id, const void *obj)
{
    const struct px_type *t = px_type_find(id);
    struct text text = {0};

    if (!t)
        put(&text, "unknown type %u", id);
    else if (!obj)
        put(&text, "NULL");
    else
        put_object(&text, t, obj);
    put_raw(&text, "", 1); /* the terminator */
    if (text.failed)
        px_buf_cleanup(&text.buf);
    return (char *)text.buf.data;
}

/* -- public ------------------------------------------------------------------------ */

#define STRING_OF(Type, c_type, ID)                         \
    PX_EXPORT char *PMIx_##Type##_string(const c_type *obj) \
    {                                                       \
        return px_type_print(PMIX_##ID, obj);               \
    }
STRING_OF(App, pmix_app_t, APP)
STRING_OF(Info, pmix_info_t, INFO)
STRING_OF(Proc, pmix_proc_t, PROC)
STRING_OF(Resource_unit, pmix_resource_unit_t, RESOURCE_UNIT)
STRING_OF(Value, pmix_value_t, VALUE)
