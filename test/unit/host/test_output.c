/* SPDX-License-Identifier: BSD-3-Clause */
/* Output of jobs: tagged, merged, in files. Also files that are copied for jobs. */
#include "jobs.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "core/base/strv.h"
#include "core/model/nspace.h"

/* ---- scene ----------------------------------------------------------------------- */

static int captured[2]; /* our stdout and stderr */

static void setup(void)
{
    setenv("PMIX_MCA_embedded_preload_limit", "512m", 1);
    jobs_setup();
    for (int i = 0; i < 2; i++) {
        captured[i] = open(px_test_path(i == 0 ? "stdout" : "stderr"),
                           O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
        ck_assert_int_eq(dup2(captured[i], STDOUT_FILENO + i), STDOUT_FILENO + i);
    }
}

/* Returns the text of a file. */
static const char *text_in(int fd)
{
    static char text[4096];
    ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

    ck_assert_int_ge(n, 0);
    text[n] = '\0';
    return text;
}

/* Compares the text of a file with wanted. In wanted, % is the namespace and @ the number of the
 * job. */
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

/* Runs script in the second of two processes, after emptying the captured output. */
static void run(const px_infos *of_job, const px_infos *of_app, const char *script)
{
    PX_AUTOFREE char *of_one = px_strf("test $PMIX_RANK = 1 || exit 0; %s", script);

    for (int i = 0; i < 2; i++)
        ok(ftruncate(captured[i], 0));
    ok(spawn_as(of_job, of_app, 2, of_one));
    await_end(PMIX_SUCCESS);
}

/* ---- tags ------------------------------------------------------------------------ */

PX_TEST(output_is_tagged_and_merged_as_requested)
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
        {TENON_IOF_JSON_OUTPUT, "echo 'a\"'",
         "{\"nspace\":\"%\",\"rank\":1,\"channel\":\"stdout\",\"data\":\"a\\\"\\n\"}\n",
         ""},
        {PMIX_IOF_OUTPUT_RAW, "printf a", "a", ""},
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

PX_TEST(ways_that_contradict_each_other_are_an_error)
{
    static const char *const pairs[][2] = {
        {PMIX_IOF_XML_OUTPUT, TENON_IOF_JSON_OUTPUT},
        {PMIX_IOF_OUTPUT_RAW, PMIX_TAG_OUTPUT},
        {PMIX_IOF_TIMESTAMP_OUTPUT, PMIX_IOF_OUTPUT_RAW}};

    for (size_t i = 0; i < PX_COUNT(pairs); i++)
        for (int together = 0; together < 2; together++) {
            PX_AUTO(px_infos) job = {0};
            PX_AUTO(px_infos) app = {0};

            ok(px_infos_add(&job, pairs[i][0], NULL, PMIX_BOOL));
            ok(px_infos_add(together ? &job : &app, pairs[i][1], NULL, PMIX_BOOL));
            fails(spawn_as(&job, &app, 1, "touch ran"), BAD_PARAM);
        }
    ck_assert(!exists("ran"));
}

PX_TEST(output_is_tagged_with_host_and_process)
{
    PX_AUTO(px_infos) infos = {0};
    char host[256] = "";
    int tagged = -1, printed = 0;

    ok(px_infos_add(&infos, PMIX_IOF_TAG_DETAILED_OUTPUT, NULL, PMIX_BOOL));
    run(&infos, NULL, "echo $$");
    ck_assert_int_eq(sscanf(text_in(captured[0]), "[1,1][%255[^:]:%d]<stdout>:%d", host,
                            &tagged, &printed),
                     3);
    ck_assert_str_eq(host, px_process.model->hostname);
    ck_assert_int_eq(tagged, printed);
}

/* The stamp is ISO 8601 with a zone and comes before the tag. The application may turn the stamp
 * off. */
PX_TEST(output_is_stamped)
{
    static const char *const keys[] = {PMIX_TIMESTAMP_OUTPUT,
                                       PMIX_IOF_TIMESTAMP_OUTPUT};

    setenv("TZ", "XYZ-5:30", 1);
    tzset(); /* the server has printed a time before */
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

/* The prompt appears before the process ends, as the process waits for an answer. */
PX_TEST(a_prompt_at_a_terminal_is_seen)
{
    PX_AUTO(px_infos) infos = {0};

    PX_TEST_NEEDS(px_test_has_terminals(), "pseudo terminals");
    ok(px_infos_add(&infos, PMIX_SPAWN_PTY, NULL, PMIX_BOOL));
    ok(spawn_as(&infos, NULL, 1,
                "printf 'name? '; until test -e go; do sleep 0.1; done"));
    while (strcmp(text_in(captured[0]), "name? ") != 0)
        usleep(1000);
    make_file("go");
    await_end(PMIX_SUCCESS);
    assert_text(captured[0], "name? ", "output");
    remove_file("go");
}

/* ---- files ----------------------------------------------------------------------- */

static const bool yes = true;

static void add(px_infos *infos, const char *key, const char *path)
{
    ok(px_infos_add(infos, key, path ? path : (const void *)&yes,
                    path ? PMIX_STRING : PMIX_BOOL));
}

/* Compares a file with wanted (NULL: no check) and removes the file. % in name is the namespace. */
static void assert_file(const char *name, const char *wanted)
{
    PX_AUTOFREE char *path = NULL;
    char *at = strchr(name, '%');

    if (!wanted)
        return;
    path = at ? px_strf("%.*s%s%s", (int)(at - name), name, job_name, at + 1)
              : strdup(name);
    PX_AUTOCLOSE int fd = open(px_test_path(path), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ck_assert_msg(fd >= 0, "no file %s", path);
    assert_text(fd, wanted, name);
    remove_file(path);
}

PX_TEST(output_goes_to_files_as_asked_for)
{
    static const char talk[] = "printf 'a\\0b\\nc'; printf 'd\\ne' >&2; exec >&-";
    static const struct {
        const char *key, *name, *with; /* further flag, or NULL */
        const char *out, *out_text, *errors, *error_text;
        bool copied;
    } rows[] = {{PMIX_OUTPUT_TO_DIRECTORY, "d", NULL, "d/%/rank.1/stdout", "a", //
                 "d/%/rank.1/stderr", "d\ne", true},
                {PMIX_IOF_OUTPUT_TO_DIRECTORY, "d/e", PMIX_OUTPUT_NOCOPY,
                 "d/e/%/rank.1/stdout", "a", "d/e/%/rank.1/stderr", "d\ne", false},
                {PMIX_IOF_OUTPUT_TO_FILE, "f", PMIX_IOF_FILE_ONLY, "f.%.1.stdout", "a",
                 "f.%.1.stderr", "d\ne", false},
                {PMIX_IOF_OUTPUT_TO_FILE, "g", PMIX_TAG_OUTPUT, "g.%.1.stdout",
                 "[@,1]<stdout>:a", "g.%.1.stderr",
                 "[@,1]<stderr>:d\n[@,1]<stderr>:e\n", true},
                {PMIX_IOF_OUTPUT_TO_FILE, "h-%n/%r%%", PMIX_IOF_FILE_PATTERN,
                 "h-%/1%.stdout", "a", "h-%/1%.stderr", "d\ne", true},
                {PMIX_OUTPUT_TO_DIRECTORY, "m", PMIX_MERGE_STDERR_STDOUT,
                 "m/%/rank.1/stdout", "a", "m/%/rank.1/stderr", NULL, true}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_infos) infos = {0};

        add(&infos, rows[i].key, px_test_path(rows[i].name));
        if (rows[i].with)
            add(&infos, rows[i].with, NULL);
        for (int level = 0; level < 2; level++) {
            run(level ? NULL : &infos, level ? &infos : NULL, talk);
            assert_file(rows[i].out, rows[i].out_text);
            assert_file(rows[i].errors, rows[i].error_text);
            ck_assert_int_eq(lseek(captured[1], 0, SEEK_END) > 0,
                             rows[i].copied && rows[i].error_text);
            ck_assert_int_eq(lseek(captured[0], 0, SEEK_END) > 0, rows[i].copied);
        }
    }
}

/* One new file takes both streams and replaces a longer file. Its mode follows the umask. */
PX_TEST(a_file_of_output_is_made_anew)
{
    PX_AUTO(px_infos) infos = {0};
    struct stat st;

    umask(027);
    add(&infos, PMIX_OUTPUT_TO_FILE, px_test_path("sub/out"));
    run(&infos, NULL, "echo a long line");
    run(&infos, NULL, "echo out; sleep 0.1; echo error >&2");
    ok(stat(px_test_path("sub/out.1"), &st));
    ck_assert_uint_eq(st.st_mode & 07777, 0640);
    ok(stat(px_test_path("sub"), &st));
    ck_assert_uint_eq(st.st_mode & 07777, 0750);
    assert_file("sub/out.1", "out\nerror\n");
    assert_text(captured[0], "out\n", "copy");
    assert_text(captured[1], "error\n", "copy");
}

PX_TEST(a_process_that_is_started_again_goes_on_in_its_file)
{
    PX_AUTO(px_infos) infos = {0};

    add(&infos, PMIX_OUTPUT_TO_FILE, px_test_path("out"));
    ok(px_infos_add(&infos, PMIX_MAX_RESTARTS, &(uint32_t){1}, PMIX_UINT32));
    run(&infos, NULL, "echo life; test -e died || { touch died; exit 1; }");
    assert_file("out.1", "life\nlife\n");
    remove_file("died");
}

/* A refused job starts no process and leaves the existing files as they are. */
PX_TEST(output_that_cannot_go_to_files_is_an_error)
{
    static const struct {
        const char *key, *name;
        pmix_status_t status;
    } rows[] = {{PMIX_OUTPUT_TO_FILE, "link", PMIX_ERR_BAD_PARAM},
                {PMIX_OUTPUT_TO_FILE, "folder", PMIX_ERR_BAD_PARAM},
                {PMIX_OUTPUT_TO_FILE, "theirs", PMIX_ERR_BAD_PARAM},
                {PMIX_OUTPUT_TO_DIRECTORY, "file", PMIX_ERROR},
                {PMIX_OUTPUT_TO_FILE, "second", PMIX_ERR_BAD_PARAM},
                {PMIX_OUTPUT_TO_DIRECTORY, "", PMIX_ERR_BAD_PARAM},
                {PMIX_IOF_OUTPUT_TO_FILE, "x%y", PMIX_ERR_BAD_PARAM},
                {PMIX_IOF_OUTPUT_TO_FILE, "x%", PMIX_ERR_BAD_PARAM}};

    make_file("file");
    make_file("theirs.0");
    ok(symlink("file", px_test_path("link.0")));
    ok(mkdir(px_test_path("folder.0"), 0700));
    ok(mkdir(px_test_path("second.1"), 0700));
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_infos) infos = {0};

        if (strcmp(rows[i].name, "theirs") == 0 &&
            !(px_test_is_root() && chown(px_test_path("theirs.0"), 12345, 12345) == 0))
            continue; /* needs root */
        add(&infos, rows[i].key, *rows[i].name ? px_test_path(rows[i].name) : "");
        add(&infos, PMIX_IOF_FILE_PATTERN, NULL);
        infos.n -= strchr(rows[i].name, '%') == NULL;
        pmix_status_t rc = spawn_with(&infos, 2, "touch ran");
        infos.n += strchr(rows[i].name, '%') == NULL;
        ck_assert_msg(rows[i].status == PMIX_ERROR ? rc < 0 : rc == rows[i].status,
                      "%s: %s", rows[i].name, PMIx_Error_string(rc));
        ck_assert(!exists("ran") && !exists("second.0"));
    }
    remove_file("theirs.0");
}

PX_TEST(two_names_for_output_are_an_error_and_that_of_the_application_wins)
{
    PX_AUTO(px_infos) two = {0};
    PX_AUTO(px_infos) one = {0};

    add(&two, PMIX_OUTPUT_TO_FILE, px_test_path("a"));
    add(&two, PMIX_OUTPUT_TO_DIRECTORY, px_test_path("b"));
    add(&one, PMIX_OUTPUT_TO_FILE, px_test_path("c"));
    fails(spawn_with(&two, 1, "true"), BAD_PARAM);
    two.n--;
    run(&two, &one, "echo a");
    two.n++;
    assert_file("c.1", "a\n");
    ck_assert(!exists("a.0") && !exists("a.1"));
}

/* A file size limit acts as a full disk. The job fails, and its writes fail as well. */
PX_TEST(output_that_cannot_be_written_fails_the_job)
{
    const struct rlimit small = {4096, 4096};
    PX_AUTO(px_infos) infos = {0};

    add(&infos, PMIX_OUTPUT_TO_FILE, px_test_path("out"));
    add(&infos, PMIX_OUTPUT_NOCOPY, NULL);
    ok(setrlimit(RLIMIT_FSIZE, &small));
    ok(spawn_with(&infos, 2, "while echo a line of output; do :; done; sleep 20"));
    await_end(PMIX_ERR_IOF_FAILURE);
    ck_assert_int_eq(seen.exit_code, 1);
}

/* ---- copies ---------------------------------------------------------------------- */

PX_TEST(copies_are_gone_with_their_job)
{
    PX_AUTO(px_infos) infos = {0};
    PX_AUTOFREE char *list = NULL;

    make_file("one");
    make_file("two");
    ok(chmod(px_test_path("two"), 0555));
    list = px_strf("%s,,%s,%s", px_test_path("one"), px_test_path("two"),
                   px_test_path("one"));
    add(&infos, PMIX_PRELOAD_FILES, list);
    add(&infos, PMIX_SET_SESSION_CWD, NULL);
    ok(spawn_with(&infos, 1, "test -f one -a ! -x one -a -w one -a -x two && pwd"));
    await_end(PMIX_SUCCESS);
    PX_AUTOFREE char *dir = strdup(text_in(captured[0]));
    dir[strcspn(dir, "\n")] = '\0';
    for (int i = 0; i < 5000 && access(dir, F_OK) == 0; i++)
        usleep(1000);
    ck_assert_int_lt(access(dir, F_OK), 0);
    ck_assert(exists("one") && exists("two"));
}

PX_TEST(what_cannot_be_copied_is_an_error)
{
    static const struct {
        const char *names; /* in the test's folder */
        pmix_status_t status;
    } rows[] = {{"none", PMIX_ERR_NOT_FOUND},
                {"sub", PMIX_ERR_BAD_PARAM},
                {"sub/", PMIX_ERR_BAD_PARAM},
                {"link", PMIX_ERR_BAD_PARAM},
                {"fifo", PMIX_ERR_BAD_PARAM},
                {"sub/../file", PMIX_ERR_BAD_PARAM},
                {"file,sub/file", PMIX_ERR_BAD_PARAM},
                {"huge", PMIX_ERR_BAD_PARAM},
                {"0", PMIX_ERR_EXISTS}};

    make_file("file");
    make_file("huge");
    make_file("0"); /* same name as the folder of rank 0 */
    ok(truncate(px_test_path("huge"), 513L << 20));
    ok(mkdir(px_test_path("sub"), 0700));
    make_file("sub/file");
    ok(symlink("file", px_test_path("link")));
    ok(mkfifo(px_test_path("fifo"), 0600));
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_infos) infos = {0};
        PX_AUTO(px_strv) names = px_strv_split(rows[i].names, ',', true);
        PX_AUTOFREE char *list = NULL;

        list = names[1]
                   ? px_strf("%s,%s", px_test_path(names[0]), px_test_path(names[1]))
                   : strdup(px_test_path(names[0]));
        add(&infos, PMIX_PRELOAD_FILES, list);
        pmix_status_t rc = spawn_with(&infos, 1, "touch ran");
        ck_assert_msg(rc == rows[i].status, "%s: %s", list, PMIx_Error_string(rc));
        ck_assert(!exists("ran"));
    }
}

static void on_answer(pmix_status_t status, pmix_nspace_t nspace PX_UNUSED,
                      void *cbdata)
{
    *(pmix_status_t *)cbdata = status;
    sem_post(&seen.ended);
}

/* The server obeys orders during a copy, and an order to end the job cancels the copy. */
PX_TEST(a_long_copy_holds_up_nothing)
{
    char name[] = "true";
    pmix_app_t app = {.cmd = name, .maxprocs = 1};
    PX_AUTO(px_infos) infos = {0};
    pmix_status_t answer = PMIX_SUCCESS;

    make_file("long");
    ok(truncate(px_test_path("long"), 512L << 20));
    add(&infos, PMIX_PRELOAD_FILES, px_test_path("long"));
    ok(PMIx_Spawn_nb(infos.v, infos.n, &app, 1, on_answer, &answer));
    ok(control(PMIX_JOB_CTRL_TERMINATE, NULL));
    sem_wait(&seen.ended);
    ck_assert_int_eq(answer, PMIX_ERR_JOB_KILLED_BY_CMD);
}

/* This process holds a lease on the file to copy and does not release it. */
PX_TEST(a_copy_that_hangs_ends_with_the_time_of_the_launch)
{
    PX_AUTO(px_infos) infos = {0};

    make_file("leased");
    PX_AUTOCLOSE int fd = open(px_test_path("leased"), O_RDONLY | O_CLOEXEC);
    signal(SIGIO, SIG_IGN); /* the kernel asks the holder of a lease by SIGIO */
    PX_TEST_NEEDS(fcntl(fd, F_SETLEASE, F_WRLCK) == 0, "a file system with leases");
    add(&infos, PMIX_PRELOAD_FILES, px_test_path("leased"));
    ok(px_infos_add(&infos, PMIX_TIMEOUT, &(uint32_t){1}, PMIX_UINT32));
    fails(spawn_with(&infos, 1, "touch ran"), TIMEOUT);
    ck_assert(!exists("ran"));
    ok(fcntl(fd, F_SETLEASE, F_UNLCK));
}

PX_TEST_MAIN("host/output", setup, jobs_teardown)
