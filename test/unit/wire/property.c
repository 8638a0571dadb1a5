/* SPDX-License-Identifier: BSD-3-Clause */
/* What holds for every object of every type in memory: copies, order, text, size. The laws are
 * tried on what the generator makes, to which the table of types may add without it. */
#include "alloc_fail.h"
#include "core/base/attr.h"
#include "px_test.h"
#include "sample.h"
#include "wire_test.h"

#include <string.h>

enum { N_SEEDS = 200 };

/* An object of a type, with all that memory can hold. */
struct thing {
    pmix_data_type_t type;
    unsigned seed;
    void *obj;
};

#define THING_MUST(x, condition)                                       \
    ck_assert_msg(condition, "%s, object %u of PX_TEST_SEED=%llu: %s", \
                  px_type_find((x)->type)->name, (x)->seed,            \
                  (unsigned long long)sample_base(), #condition)

static struct thing make(pmix_data_type_t type, unsigned seed)
{
    struct gen g = {.state = (sample_base() * 104729 + seed) * 1000003 + type,
                    .wild = seed & 1};

    return (struct thing){type, seed, gen_array(&g, type, 1)};
}

static void unmake(struct thing *x)
{
    px_type_free_array(x->type, x->obj, 1);
}

static void for_everything(unsigned n_seeds, void (*f)(struct thing *))
{
    struct gen g = {0};

    for (pmix_data_type_t type = 0; type < SAMPLE_LAST_TYPE; type++)
        for (unsigned seed = 0; gen_can(&g, type) && seed < n_seeds; seed++) {
            struct thing x = make(type, seed);

            f(&x);
            unmake(&x);
        }
}

/* ---- the generator --------------------------------------------------------------------------- */

static bool some_dialect_can(pmix_data_type_t type)
{
    for (size_t d = 0; d < n_dialects; d++) {
        struct gen g = {.dialect = px_dialect_find(all_dialects[d])};

        if (gen_can(&g, type))
            return true;
    }
    return false;
}

/* gen_object itself aborts on a type it cannot make. */
PX_TEST(there_is_an_object_of_every_type_in_the_table)
{
    struct gen g = {0};

    for (unsigned type = 1; type <= UINT16_MAX; type++) {
        const struct px_type *t = px_type_find((pmix_data_type_t)type);

        if (!t)
            continue;
        ck_assert_msg(type < SAMPLE_LAST_TYPE, "%s is beyond the last", t->name);
        ck_assert_msg(gen_can(&g, t->id), "%s has no generator", t->name);
        ck_assert_msg(some_dialect_can(t->id), "%s travels nowhere", t->name);
    }
}

/* ---- copies ---------------------------------------------------------------------------------- */

static void has_an_equal_copy(struct thing *x)
{
    char *text = px_type_print(x->type, x->obj);
    size_t size = px_type_size(x->type, x->obj);
    void *copy = NULL;

    THING_MUST(x, px_type_copy_array(x->type, &copy, x->obj, 1) == PMIX_SUCCESS);
    THING_MUST(x, px_type_compare(x->type, copy, x->obj) == 0);
    THING_MUST(x, px_type_size(x->type, copy) == size);
    unmake(x); /* the copy stands alone */
    x->obj = copy;
    char *after = px_type_print(x->type, x->obj);
    THING_MUST(x, text && after && strcmp(text, after) == 0);
    free(text);
    free(after);
}

PX_TEST(a_copy_is_equal_and_stands_alone)
{
    for_everything(N_SEEDS, has_an_equal_copy);
}

static void copying_lacks_memory(struct thing *x)
{
    for (unsigned nth = 1;; nth++) {
        void *copy = NULL;

        px_alloc_fail_at(nth);
        pmix_status_t rc = px_type_copy_array(x->type, &copy, x->obj, 1);
        bool failed = px_alloc_fail_end();
        THING_MUST(x, rc == (failed ? PMIX_ERR_NOMEM : PMIX_SUCCESS));
        THING_MUST(x, !failed || px_alloc_balance() == 0);
        px_type_free_array(x->type, copy, copy ? 1 : 0);
        if (!failed)
            break;
    }
}

PX_TEST(copying_reports_want_of_memory)
{
    PX_TEST_NEEDS_ALLOC;
    for_everything(5, copying_lacks_memory);
}

/* The structures' own constructor and destructor leave what is empty. */
static void ends_empty(struct thing *x)
{
    const struct px_type *t = px_type_find(x->type);
    void *empty = calloc(1, t->size);

    px_type_destruct(x->type, x->obj);
    THING_MUST(x, t->flat ||
                      px_type_size(x->type, x->obj) == px_type_size(x->type, empty));
    px_type_destruct(x->type, x->obj); /* twice is no harm */
    free(empty);
}

PX_TEST(destructed_objects_are_empty_and_may_be_destructed_again)
{
    for_everything(10, ends_empty);
}

/* ---- order ----------------------------------------------------------------------------------- */

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

static void is_in_order(struct thing *x)
{
    struct thing y = make(x->type, x->seed + 1), z = make(x->type, x->seed + 2);
    int xy = sign(px_type_compare(x->type, x->obj, y.obj)),
        yz = sign(px_type_compare(x->type, y.obj, z.obj)),
        xz = sign(px_type_compare(x->type, x->obj, z.obj));

    THING_MUST(x, px_type_compare(x->type, x->obj, x->obj) == 0);
    THING_MUST(x, px_type_compare(x->type, y.obj, x->obj) * xy <= 0);
    THING_MUST(x, sign(px_type_compare(x->type, y.obj, x->obj)) == -xy);
    THING_MUST(x, xy != yz || xz == xy);
    unmake(&y);
    unmake(&z);
}

PX_TEST(objects_have_an_order)
{
    for_everything(N_SEEDS, is_in_order);
}

/* Two samples of one type are equal exactly if their messages are. */
static void equals_what_is_packed_alike(struct sample *s)
{
    size_t size = px_type_find(s->type)->size;
    px_writer w[2];

    if (s->n < 2 || s->type == PMIX_POINTER)
        return;
    for (size_t i = 0; i < 2; i++) {
        px_writer_init(&w[i], s->codec);
        px_pack(&w[i], s->values + i * size, 1, s->type);
    }
    bool alike = w[0].buf.len == w[1].buf.len &&
                 memcmp(w[0].buf.data, w[1].buf.data, w[0].buf.len) == 0;
    bool equal = px_type_compare(s->type, s->values, s->values + size) == 0;
    SAMPLE_MUST(s, alike == equal);
    px_writer_cleanup(&w[0]);
    px_writer_cleanup(&w[1]);
}

PX_TEST(objects_are_equal_if_their_messages_are)
{
    sample_every((struct sample_plan){.first = 100, .n = 30},
                 equals_what_is_packed_alike);
}

/* ---- text and size --------------------------------------------------------------------------- */

static void has_text_and_size(struct thing *x)
{
    const struct px_type *t = px_type_find(x->type);
    char *text = px_type_print(x->type, x->obj);

    THING_MUST(x, text && *text);
    THING_MUST(x, px_type_size(x->type, x->obj) >= t->size);
    THING_MUST(x, !t->flat || px_type_size(x->type, x->obj) == t->size);
    free(text);
}

PX_TEST(every_object_has_text_and_a_size)
{
    for_everything(N_SEEDS, has_text_and_size);
}

static void printing_lacks_memory(struct thing *x)
{
    for (unsigned nth = 1;; nth++) {
        px_alloc_fail_at(nth);
        char *text = px_type_print(x->type, x->obj);
        bool failed = px_alloc_fail_end();
        THING_MUST(x, !text == failed);
        THING_MUST(x, !failed || px_alloc_balance() == 0);
        free(text);
        if (!failed)
            break;
    }
}

PX_TEST(printing_reports_want_of_memory)
{
    PX_TEST_NEEDS_ALLOC;
    for_everything(3, printing_lacks_memory);
}

PX_TEST_MAIN("wire/property", NULL, NULL)
