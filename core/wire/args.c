/* SPDX-License-Identifier: BSD-3-Clause */
/* Walkers of tables of arguments: checked, copied, packed, unpacked, freed. */
#include "core/wire/args.h"

#include <string.h>

static void *member(const struct px_args *args, size_t at)
{
    return (char *)args + at;
}

/* Pointers have types of their own: their bytes are read and written, not they. */
static void *pointer(const struct px_args *args, const struct px_arg *a)
{
    void *p;

    memcpy(&p, member(args, a->at), sizeof(p));
    return p;
}

static size_t count(const struct px_args *args, const struct px_arg *a)
{
    return a->form == PX_ARG_SOLE ? 1 : *(size_t *)member(args, a->count_at);
}

static void set_array(struct px_args *args, const struct px_arg *a, void *p, size_t n)
{
    memcpy(member(args, a->at), &p, sizeof(p));
    if (a->count_at)
        *(size_t *)member(args, a->count_at) = n;
}

static bool is_given(const struct px_args *args, const struct px_arg *a)
{
    if (a->form == PX_ARG_ONE)
        return a->type != PMIX_STRING || pointer(args, a);
    return pointer(args, a) && count(args, a) > 0;
}

/* ---- a caller's ------------------------------------------------------------------------------- */

static bool is_sound(const struct px_args *args, const struct px_arg *a)
{
    const pmix_byte_object_t *bytes = member(args, a->at);

    if (a->needed && !is_given(args, a))
        return false;
    if (a->form == PX_ARG_ONE)
        return a->type != PMIX_BYTE_OBJECT || bytes->size == 0 || bytes->bytes;
    return a->form == PX_ARG_SOLE || count(args, a) == 0 ||
           (pointer(args, a) && count(args, a) <= INT32_MAX);
}

bool px_args_sound(const struct px_args *args, const struct px_arg *table)
{
    bool sound = true;

    for (const struct px_arg *a = table; sound && a->form; a++)
        sound = is_sound(args, a);
    return sound;
}

static void disown(struct px_args *args, const struct px_arg *a)
{
    if (a->form == PX_ARG_ONE)
        px_type_construct(a->type, member(args, a->at));
    else
        set_array(args, a, NULL, 0);
}

static pmix_status_t copy_one(struct px_args *to, const struct px_args *from,
                              const struct px_arg *a)
{
    return px_type_copy(a->type, member(to, a->at), member(from, a->at));
}

static pmix_status_t copy_array(struct px_args *to, const struct px_args *from,
                                const struct px_arg *a)
{
    size_t n = is_given(from, a) ? count(from, a) : 0;
    void *array = NULL;
    pmix_status_t rc = px_type_copy_array(a->type, &array, pointer(from, a), n);

    if (!rc)
        set_array(to, a, array, n);
    return rc;
}

pmix_status_t px_args_copy(struct px_args *args, const struct px_arg *table)
{
    const struct px_args from = *args;
    pmix_status_t rc = PMIX_SUCCESS;

    for (const struct px_arg *a = table; a->form; a++)
        disown(args, a);
    for (const struct px_arg *a = table; !rc && a->form; a++)
        rc = a->form == PX_ARG_ONE ? copy_one(args, &from, a)
                                   : copy_array(args, &from, a);
    if (rc)
        px_args_free(args, table);
    return rc;
}

static void pack_array(px_writer *w, const struct px_args *args, const struct px_arg *a)
{
    size_t n = count(args, a);
    char *const *strings = pointer(args, a);

    if (n > INT32_MAX) {
        w->status = w->status ? w->status : PMIX_ERR_BAD_PARAM;
        return;
    }
    if (a->form != PX_ARG_SOLE)
        px_pack_size(w, n);
    if (a->form != PX_ARG_EACH && n > 0)
        px_pack(w, strings, (int32_t)n, a->type);
    for (size_t i = 0; a->form == PX_ARG_EACH && i < n; i++)
        px_pack_str(w, strings[i]);
}

void px_pack_args(px_writer *w, const struct px_args *args, const struct px_arg *table)
{
    for (const struct px_arg *a = table; a->form; a++) {
        if (a->late && !is_given(args, a))
            continue;
        if (a->form == PX_ARG_ONE)
            px_pack(w, member(args, a->at), 1, a->type);
        else
            pack_array(w, args, a);
    }
}

/* ---- one's own -------------------------------------------------------------------------------- */

static pmix_status_t unpack_strings(px_reader *r, struct px_args *args,
                                    const struct px_arg *a, size_t n)
{
    char **strings;
    pmix_status_t rc = PMIX_SUCCESS;

    if (n > PX_MAX_KEYS)
        return PMIX_ERR_BAD_PARAM;
    strings = calloc(n + 1, sizeof(*strings));
    if (!strings)
        return PMIX_ERR_NOMEM;
    set_array(args, a, strings, n);
    for (size_t i = 0; !rc && i < n; i++) {
        rc = px_unpack_str(r, &strings[i]);
        if (!rc && !strings[i]) /* would end the list early */
            rc = PMIX_ERR_BAD_PARAM;
    }
    return rc;
}

static pmix_status_t unpack_array(px_reader *r, struct px_args *args,
                                  const struct px_arg *a)
{
    void *array = NULL;
    size_t n = 1;
    pmix_status_t rc = a->form == PX_ARG_SOLE ? PMIX_SUCCESS : px_unpack_size(r, &n);

    if (rc || n == 0)
        return rc;
    if (a->form == PX_ARG_EACH)
        return unpack_strings(r, args, a, n);
    rc = px_unpack_array(r, &array, n, a->type);
    if (!rc)
        set_array(args, a, array, n);
    return rc;
}

pmix_status_t px_unpack_args(px_reader *r, struct px_args *args,
                             const struct px_arg *table)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (const struct px_arg *a = table; !rc && a->form; a++) {
        if (a->late && px_reader_done(r))
            break;
        rc = a->form == PX_ARG_ONE ? px_unpack1(r, member(args, a->at), a->type)
                                   : unpack_array(r, args, a);
        if (!rc && a->needed && !is_given(args, a))
            rc = PMIX_ERR_BAD_PARAM;
    }
    args->info.cap = args->info.n;
    args->more.cap = args->more.n;
    return rc;
}

void px_args_free(struct px_args *args, const struct px_arg *table)
{
    for (const struct px_arg *a = table; a->form; a++) {
        if (a->form == PX_ARG_ONE) {
            px_type_destruct(a->type, member(args, a->at));
        } else {
            void *array = pointer(args, a);

            px_type_free_array(a->type, array, array ? count(args, a) : 0);
            set_array(args, a, NULL, 0);
        }
    }
}

void px_args_cleanup(struct px_args *args)
{
    px_infos_cleanup(&args->info);
    px_infos_cleanup(&args->more);
    free(args->procs);
    px_type_free_array(PMIX_APP, args->apps, args->n_apps);
    px_type_free_array(PMIX_QUERY, args->queries, args->n_queries);
    px_type_free_array(PMIX_RESOURCE_UNIT, args->units, args->n_units);
    free(args->codes);
    px_type_free_array(PMIX_STRING, args->keys, args->n_keys);
    free(args->text);
    free(args->nspace);
    px_type_destruct(PMIX_BYTE_OBJECT, &args->bytes);
    *args = (struct px_args){0};
}
