/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of event handlers. */
#include "core/notify/notify_impl.h"
#include "px_test.h"

#include <string.h>

static struct px_handlers all;

static void setup(void)
{
    px_list_init(&all.list);
}

static void teardown(void)
{
    px_handlers_fini(&all);
}

PX_TEST_HANDLER(handler)
{
}

/* Adds handlers described by text, e.g. "a1 b1F c2<a": a letter for the name, a number
 * of codes, and places. F and L: first and last of all; f and l: first and last in the
 * category. +: appended, ^: prepended; - and _: the same, declared false. < and >:
 * before and after the named handler. After ! the place is refused, after ? the
 * attribute. Two places may be given. */
static void add_all(const char *text)
{
    static const pmix_status_t codes[] = {-1, -2, -3};
    static const char *const places[] = {['F'] = PMIX_EVENT_HDLR_FIRST,
                                         ['L'] = PMIX_EVENT_HDLR_LAST,
                                         ['f'] = PMIX_EVENT_HDLR_FIRST_IN_CATEGORY,
                                         ['l'] = PMIX_EVENT_HDLR_LAST_IN_CATEGORY,
                                         ['+'] = PMIX_EVENT_HDLR_APPEND,
                                         ['^'] = PMIX_EVENT_HDLR_PREPEND,
                                         ['-'] = PMIX_EVENT_HDLR_APPEND,
                                         ['_'] = PMIX_EVENT_HDLR_PREPEND,
                                         ['<'] = PMIX_EVENT_HDLR_BEFORE,
                                         ['>'] = PMIX_EVENT_HDLR_AFTER};
    for (; *text; text += strcspn(text, " "), text += strspn(text, " ")) {
        PX_AUTO(px_infos) infos = {0};
        struct px_handler *h;
        const char *p = text + 2;
        bool yes = true, no = false;

        ok(px_infos_add(&infos, PMIX_EVENT_HDLR_NAME, (char[]){text[0], 0},
                        PMIX_STRING));
        for (; *p && !strchr(" !?", *p); p++) {
            const char *key = places[(int)*p];

            if (*p == '<' || *p == '>')
                ok(px_infos_add(&infos, key, (char[]){*++p, 0}, PMIX_STRING));
            else
                ok(px_infos_add(&infos, key, *p == '-' || *p == '_' ? &no : &yes,
                                PMIX_BOOL));
        }
        ck_assert_int_eq(px_handlers_add(&all, codes, (size_t)(text[1] - '0'), infos.v,
                                         infos.n, handler, &h),
                         *p == '!'   ? PMIX_ERR_EVENT_REGISTRATION
                         : *p == '?' ? PMIX_ERR_BAD_PARAM
                                     : PMIX_SUCCESS);
    }
}

/* Returns the names in calling order, joined by blanks. */
static const char *order(void)
{
    static char text[256];

    text[0] = '\0';
    PX_LIST_EACH (&all.list, struct px_handler, h, link) {
        strcat(text, text[0] ? " " : "");
        strcat(text, h->name);
    }
    return text;
}

PX_TEST(handlers_are_called_in_the_order_of_their_places)
{
    static const char *const rows[][2] = {
        {"d0 m2 s1", "s m d"},  /* one code, several codes, default */
        {"a1 b1 c1+", "b a c"}, /* latest first unless appended */
        {"l1L d0 f0F x1F! y1L!",
         "f d l"}, /* only one first and one last handler is allowed */
        {"h1f t1l a1 b1+ x1f!", "h a b t"}, /* first and last in a category */
        {"a2 b2<a c2>a", "b a c"},
        {"a1 b1<x! c2<x!", "a"}, /* no handler of that name */
        /* The named handler determines the category, and the list stays sorted. */
        {"s1 m2 d0 x0<s y1>d z1 w0", "z x s m w d y"},
        {"f1F x1>f d0 s1 g1F!", "f x s d"},
        {"l1L x1<l d0 s1 k1L!", "s d x l"},
        {"f1F x1<f! l1L y0>l!", "f l"},
        {"h1f x1<h! t1l y2>t! z2>h", "h z t"},
        /* Prepended handlers come after the first handler of their category. */
        {"h1f a1 b1^ c1_ d1-", "h d b a c"},
        {"F1F d0 a1^ b0^", "F a b d"},
        {"a1^+? b1_-? c1^- d1+_ e1", "e c d"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        add_all(rows[i][0]);
        ck_assert_str_eq(order(), rows[i][1]);
        px_handlers_fini(&all);
    }
}

PX_TEST(reads_procs_from_one_and_from_an_array)
{
    pmix_proc_t two[2], *procs = NULL;
    size_t n = 0;
    pmix_data_array_t array = {.type = PMIX_PROC, .size = 2, .array = two};
    pmix_value_t v = {.type = PMIX_DATA_ARRAY, .data.darray = &array};

    px_proc_set(&two[0], "ns", 1);
    px_proc_set(&two[1], "ns", 2);
    ok(px_value_procs(&v, &procs, &n));
    ck_assert_uint_eq(n, 2);
    ck_assert(px_proc_same(&procs[1], &two[1]));
    free(procs);

    v = (pmix_value_t){.type = PMIX_PROC, .data.proc = &two[0]};
    ok(px_value_procs(&v, &procs, &n));
    ck_assert_uint_eq(n, 1);
    free(procs);

    array.array = NULL;
    const pmix_value_t wrong[] = {
        {.type = PMIX_UINT32},
        {.type = PMIX_PROC}, /* users may forget to set the declared type */
        {.type = PMIX_DATA_ARRAY},
        {.type = PMIX_DATA_ARRAY, .data.darray = &array},
    };
    for (size_t i = 0; i < PX_COUNT(wrong); i++)
        fails(px_value_procs(&wrong[i], &procs, &n), BAD_PARAM);
}

PX_TEST_MAIN("notify/handlers", setup, teardown)
