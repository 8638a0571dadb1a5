/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of jobs, by of the job, or of its application. */
#include "jobs.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* ---- scene ----------------------------------------------------------------------- */

static int captured[2]; /* our stdout and stderr */

static void setup(void)
{
    jobs_setup();
    for (int i = 0; i < 2; i++) {
        captured[i] = open(px_test_path(i == 0 ? "stdout" : "stderr"),
                           O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
        ck_assert_int_eq(dup2(captured[i], STDOUT_FILENO + i), STDOUT_FILENO + i);
    }
}

/* All that is in a file. */
static const char *text_in(int fd)
{
    static char text[4096];
    ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

    ck_assert_int_ge(n, 0);
    text[n] = '\0';
    return text;
}

/* wanted: with the namespace for each %, and the number of the job for each @. */
static void assert_text(int fd, const char *wanted, const char *of_what)
{
    char text[4096] = "";
    size_t n = 0;

    for (; *wanted; wanted++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%.*s",
                              strchr("%@", *wanted) ? PMIX_MAX_NSLEN : 1,
                              *wanted == '%'   ? job_name
                              : *wanted == '@' ? strrchr(job_name, '-') + 1
                                               : wanted);
    ck_assert_msg(strcmp(text_in(fd), text) == 0, "%s: \"%s\", expected \"%s\"",
                  of_what, text_in(fd), text);
}

/* Two processes, of which the second one talks. */
static void run(const px_infos *of_job, const px_infos *of_app, const char *script)
{
    PX_AUTOFREE char *of_one = px_strf("test $PMIX_RANK = 1 || exit 0; %s", script);

    for (int i = 0; i < 2; i++)
        ok(ftruncate(captured[i], 0));
    ok(spawn_as(of_job, of_app, 2, of_one));
    await_end(PMIX_SUCCESS);
}

/* ---- marks ----------------------------------------------------------------------- */

PX_TEST(output_is_marked_and_merged_as_asked_for)
{
    static const char talk[] = "printf 'a\\nb\\n\\nc'; echo d >&2";
    static const struct {
        const char *key, *script, *out, *errors;
    } rows[] = {
        {PMIX_FWD_STDDIAG, talk, "a\nb\n\nc", "d\n"},
        {PMIX_TAG_OUTPUT, talk,
         "[@,1]<stdout>:a\n[@,1]<stdout>:b\n[@,1]<stdout>:\n[@,1]<stdout>:c\n",
         "[@,1]<stderr>:d\n"},
        {PMIX_IOF_TAG_OUTPUT, "echo a", "[@,1]<stdout>:a\n", ""},
        {PMIX_IOF_TAG_FULLNAME_OUTPUT, "echo a", "[%,1]<stdout>:a\n", ""},
        {PMIX_IOF_RANK_OUTPUT, "echo a >&2", "", "[1]<stderr>:a\n"},
        {PMIX_MERGE_STDERR_STDOUT, "echo a; echo b >&2; echo c", "a\nb\nc\n", ""},
        {PMIX_IOF_MERGE_STDERR_STDOUT, "printf a; printf b >&2; echo c", "abc\n", ""}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_infos) infos = {0};

        ok(px_infos_add(&infos, rows[i].key, NULL, PMIX_BOOL));
        PMIx_Info_required(infos.v);
        for (int level = 0; level < 2; level++) {
            run(level ? NULL : &infos, level ? &infos : NULL, rows[i].script);
            assert_text(captured[0], rows[i].out, rows[i].key);
            assert_text(captured[1], rows[i].errors, rows[i].key);
        }
    }
}

/* ISO 8601 with a zone, and before the tag; the application may take it back. */
PX_TEST(output_is_stamped)
{
    static const char *const keys[] = {PMIX_TIMESTAMP_OUTPUT,
                                       PMIX_IOF_TIMESTAMP_OUTPUT};

    setenv("TZ", "XYZ-5:30", 1);
    for (size_t i = 0; i < PX_COUNT(keys); i++) {
        PX_AUTO(px_infos) infos = {0};
        PX_AUTO(px_infos) takes_back = {0};
        int n = 0;

        ok(px_infos_add(&infos, keys[i], NULL, PMIX_BOOL));
        ok(px_infos_add(&infos, PMIX_TAG_OUTPUT, NULL, PMIX_BOOL));
        ok(px_infos_add(&takes_back, keys[i], &(bool){false}, PMIX_BOOL));
        run(&infos, NULL, "echo a");
        ck_assert_int_eq(sscanf(text_in(captured[0]),
                                "20%*2d-%*2d-%*2dT%*2d:%*2d:%*2d.%*6d+05:30%n", &n),
                         0);
        ck_assert_int_eq(n, 32);
        run(&infos, &takes_back, "echo a");
        assert_text(captured[0], "[@,1]<stdout>:a\n", keys[i]);
    }
}

PX_TEST_MAIN("host/output", setup, jobs_teardown)
