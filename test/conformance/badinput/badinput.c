/* SPDX-License-Identifier: BSD-3-Clause */
/* Bad input: walks the tables of rows in each state of the library, and then searches for functions of the
 * library without a row. */
#include "px_test.h"
#include "rows.h"

#include <sys/mman.h>
#include <unistd.h>

static void never(void)
{
    ck_abort_msg("called back after an error");
}

const struct row_callbacks on = {
    .op = (pmix_op_cbfunc_t)never,
    .value = (pmix_value_cbfunc_t)never,
    .lookup = (pmix_lookup_cbfunc_t)never,
    .spawn = (pmix_spawn_cbfunc_t)never,
    .joint = (pmix_connect_cbfunc_t)never,
    .info = (pmix_info_cbfunc_t)never,
    .handler = (pmix_hdlr_reg_cbfunc_t)never,
    .setup = (pmix_setup_application_cbfunc_t)never,
    .dmodex = (pmix_dmodex_response_fn_t)never,
    .event = (pmix_notification_fn_t)never,
    .credential = (pmix_credential_cbfunc_t)never,
    .validation = (pmix_validation_cbfunc_t)never,
    .distances = (pmix_device_dist_cbfunc_t)never,
    .iof = (pmix_iof_cbfunc_t)never,
};

/* ---- what has been called: shared by the tests' processes ------------------------------------- */

enum { MAX_FUNCTIONS = 500, MAX_NAME = 64 };

struct function {
    char name[MAX_NAME];
    unsigned n_rows;
};

static struct called {
    size_t n;
    struct function functions[MAX_FUNCTIONS];
} * called;

static unsigned n_rows, n_wrong;

static void note(const char *name, size_t len)
{
    struct function *f = called->functions;

    for (; f < called->functions + called->n; f++)
        if (strncmp(f->name, name, len) == 0 && !f->name[len])
            break;
    if (f == called->functions + called->n) {
        ck_assert_uint_lt(called->n, MAX_FUNCTIONS);
        ck_assert_uint_lt(len, MAX_NAME);
        memcpy(f->name, name, len);
        called->n++;
    }
    f->n_rows++;
}

/* Records each function in the text of a call. */
static void note_all(const char *call)
{
    n_rows++;
    for (const char *at = call; (at = strstr(at, "PMIx_")) != NULL;) {
        size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_");

        if (at[len] == '(')
            note(at, len);
        at += len;
    }
}

void row_number(const char *file, int line, const char *call, long long expected,
                long long got)
{
    note_all(call);
    if (got == expected)
        return;
    printf("%s:%d: %s: %lld, not %lld\n", file, line, call, got, expected);
    n_wrong++;
}

void row_text(const char *file, int line, const char *call, const char *expected,
              const char *got)
{
    note_all(call);
    if (expected && got ? strcmp(expected, got) == 0 : expected == got)
        return;
    printf("%s:%d: %s: %s, not %s\n", file, line, call, got ? got : "NULL",
           expected ? expected : "NULL");
    n_wrong++;
}

void row_freed(const char *file, int line, const char *call, const char *expected,
               char *got)
{
    row_text(file, line, call, expected, got);
    free(got);
}

static void rows_hold(unsigned at_least)
{
    fflush(stdout);
    ck_assert_uint_eq(n_wrong, 0);
    ck_assert_uint_ge(n_rows, at_least);
}

/* ---- the walk ----------------------------------------------------------------------------------- */

PX_TEST_LOOP(arguments_that_make_no_sense, 5)
{
    static const struct {
        void (*rows)(void);
        unsigned at_least;
    } tables[] = {{rows_of_life, 250},
                  {rows_of_values, 150},
                  {rows_of_names, 100},
                  {rows_of_buffers, 60},
                  {rows_of_damaged_buffers, 1000}};

    tables[_i].rows();
    rows_hold(tables[_i].at_least);
}

PX_TEST(before_init_every_call_returns_err_init)
{
    rows_of_good_calls(PMIX_ERR_INIT);
    rows_of_good_tools(PMIX_ERR_INIT, PMIX_ERR_INIT);
    rows_hold(80);
    ck_assert(!PMIx_Initialized());
}

/* The library is not initialized, and an argument is invalid: PMIX_ERR_INIT comes first. */
PX_TEST(before_init_every_bad_call_returns_err_init)
{
    rows_of_bad_calls(PMIX_ERR_INIT);
    rows_of_bad_server_calls(PMIX_ERR_INIT);
    rows_of_bad_tools(PMIX_ERR_INIT, PMIX_ERR_INIT);
    rows_hold(220);
    ck_assert(!PMIx_Initialized());
}

/* Includes functions of tools, because a server is not a tool. */
PX_TEST(in_a_server_nonsense_is_a_bad_parameter)
{
    static const pmix_server_module_t nothing;
    pmix_server_module_t module = nothing;

    ok(PMIx_server_init(&module, NULL, 0));
    rows_of_bad_calls(PMIX_ERR_BAD_PARAM);
    rows_of_bad_server_calls(PMIX_ERR_BAD_PARAM);
    rows_of_cleanup(PMIX_ERR_BAD_PARAM);
    rows_of_good_tools(PMIX_ERR_INIT, PMIX_ERR_INIT);
    rows_of_bad_tools(PMIX_ERR_INIT, PMIX_ERR_INIT);
    rows_hold(220);
    ok(PMIx_server_finalize());
    ck_assert(!PMIx_Initialized());
    rows_of_good_calls(PMIX_ERR_INIT); /* as before init */
    rows_of_good_tools(PMIX_ERR_INIT, PMIX_ERR_INIT);
    rows_hold(300);
}

static void refuse_what_is_the_servers(void)
{
    rows_of_server_calls(PMIX_ERR_INIT);
    rows_of_bad_server_calls(PMIX_ERR_INIT);
}

/* A process without a launcher: its forbidden calls are refused, and no call hangs. */
PX_TEST(in_a_client_nonsense_and_what_is_of_others_are_refused)
{
    pmix_proc_t me;

    ck_assert_int_eq(PMIx_Init(&me, NULL, 0), PMIX_ERR_UNREACH);
    rows_of_bad_calls(PMIX_ERR_BAD_PARAM);
    refuse_what_is_the_servers();
    rows_of_good_tools(PMIX_ERR_INIT, PMIX_ERR_UNREACH);
    rows_of_bad_tools(PMIX_ERR_INIT, PMIX_ERR_BAD_PARAM);
    rows_hold(220);
    ok(PMIx_Finalize(NULL, 0));
    ck_assert(!PMIx_Initialized());
}

PX_TEST(in_a_tool_nonsense_and_what_is_the_servers_are_refused)
{
    pmix_info_t alone;

    PMIx_Info_load(&alone, PMIX_TOOL_DO_NOT_CONNECT, NULL, PMIX_BOOL);
    ok(PMIx_tool_init(NULL, &alone, 1));
    rows_of_bad_calls(PMIX_ERR_BAD_PARAM);
    rows_of_bad_tools(PMIX_ERR_BAD_PARAM, PMIX_ERR_BAD_PARAM);
    refuse_what_is_the_servers();
    rows_hold(220);
    ok(PMIx_tool_finalize());
    rows_of_good_tools(PMIX_ERR_INIT, PMIX_ERR_INIT);
    ck_assert(!PMIx_Initialized());
}

/* ---- functions without a row --------------------------------------------------------------------- */

/* Returns the number of names in the lines of `list` ("... T name") without a row. print: prints them. */
static unsigned missing(FILE *list, bool print)
{
    unsigned n = 0;
    char line[256], name[MAX_NAME];

    while (fgets(line, sizeof(line), list)) {
        const char *at = strstr(line, " T PMIx_");
        bool found = false;

        if (!at || sscanf(at, " T %63s", name) != 1)
            continue;
        for (size_t i = 0; i < called->n && !found; i++)
            found = strcmp(called->functions[i].name, name) == 0;
        if (!found && print)
            printf("no row for %s\n", name);
        n += !found;
    }
    fflush(stdout);
    return n;
}

PX_TEST(a_function_without_a_row_is_found)
{
    char text[] = "0000 T PMIx_Never_called\n0000 T PMIx_Initialized\n";
    FILE *list = fmemopen(text, sizeof(text) - 1, "r");

    IS(0, PMIx_Initialized())
    ck_assert_ptr_nonnull(list);
    ck_assert_uint_eq(missing(list, false), 1);
    fclose(list);
}

PX_TEST(every_exported_function_has_a_row)
{
    const char *library = getenv("PX_TEST_LIBPMIX");
    char command[4096];

    PX_TEST_NEEDS(library && !getenv("CK_RUN_CASE"),
                  "PX_TEST_LIBPMIX, and all the tests");
    snprintf(command, sizeof(command), "nm -D --defined-only '%s'", library);
    FILE *list = popen(command, "r");
    ck_assert_ptr_nonnull(list);
    unsigned n = missing(list, true);
    ck_assert_int_eq(pclose(list), 0);
    ck_assert_uint_eq(n, 0);
}

int main(void)
{
    called = mmap(NULL, sizeof(*called), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (called == MAP_FAILED)
        return EXIT_FAILURE;
    return px_test_run("conformance/badinput", calls_setup, NULL);
}
