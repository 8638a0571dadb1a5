/* SPDX-License-Identifier: BSD-3-Clause */
/* Joining paths, and the search for programs in a directory tree of the test. */
#include "alloc_fail.h"
#include "core/base/strv.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "px_test.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* The test's directory. Programs are bin/tool and other/data; bin/data is a plain file.
 * Directories are bin/sub, bin/sub/data and other/tool. alias-of-tool is a link to
 * bin/tool. */
static char root[128];

static char *in_root(const char *name)
{
    char *path = px_path_join(root, name);

    ck_assert_ptr_nonnull(path);
    return path;
}

static void make_file(const char *name, mode_t mode)
{
    PX_AUTOFREE char *path = in_root(name);
    PX_AUTOCLOSE int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);

    ck_assert_int_ge(fd, 0);
}

static void make_dir(const char *name)
{
    PX_AUTOFREE char *path = in_root(name);

    ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void make_tree(void)
{
    umask(022);
    px_str_copy(root, sizeof(root), px_test_dir());
    make_dir("bin");
    make_dir("bin/sub");
    make_dir("bin/sub/data");
    make_dir("other");
    make_dir("other/tool");
    make_file("bin/tool", 0755);
    make_file("bin/data", 0644);
    make_file("other/data", 0755);
    make_dir("closed"); /* closed to every user except root */
    PX_AUTOFREE char *closed = in_root("closed");
    ck_assert_int_eq(chmod(closed, 0), 0);
    PX_AUTOFREE char *alias = in_root("alias-of-tool");
    ck_assert_int_eq(symlink("bin/tool", alias), 0);
    PX_AUTOFREE char *loop = in_root("loop");
    ck_assert_int_eq(symlink("loop", loop), 0);
}

PX_TEST(join_puts_one_slash_between)
{
    static const char *const rows[][3] = {
        {"/a", "b", "/a/b"}, {"/a/", "b", "/a/b"},  {"/a//", "//b", "/a/b"},
        {"/", "b", "/b"},    {"a", "b/c", "a/b/c"}, {"", "b", "b"},
        {NULL, "b", "b"},    {NULL, "/b", "/b"},    {"/a", "/b", "/a/b"},
        {"a", "", "a/"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTOFREE char *joined = px_path_join(rows[i][0], rows[i][1]);

        ck_assert_str_eq(joined, rows[i][2]);
    }
}

PX_TEST(join_without_memory_is_null)
{
    PX_TEST_NEEDS_ALLOC;
    px_alloc_fail_at(1);
    char *joined = px_path_join("a", "b");
    ck_assert(px_alloc_fail_end());
    ck_assert_ptr_null(joined);

    px_alloc_fail_at(1);
    joined = px_path_join("", "b");
    ck_assert(px_alloc_fail_end());
    ck_assert_ptr_null(joined);
}

PX_TEST(programs_are_found_in_the_path_from_cwd)
{
    PX_AUTOFREE char *two = px_strf("%s/missing:%s/bin", root, root);
    PX_AUTOFREE char *absolute = in_root("bin/tool");
    const struct {
        const char *name, *path, *wanted; /* paths below root */
    } rows[] = {
        {"tool", two, "bin/tool"},
        {"tool", "missing:bin", "bin/tool"},
        {"tool", "bin/", "bin/tool"},
        {"alias-of-tool", "",
         "alias-of-tool"}, /* an empty directory is the working directory */
        {"alias-of-tool", "missing:", "alias-of-tool"},
        {"alias-of-tool", ":missing", "alias-of-tool"},
        {"alias-of-tool", "missing::other", "alias-of-tool"},
        {"tool", "other:bin", "bin/tool"},    /* skips a directory of that name */
        {"data", "bin:other", "other/data"},  /* skips a plain file of that name */
        {"tool", "bin/data:bin", "bin/tool"}, /* skips a file instead of a directory */
        {"bin/tool", "other", "bin/tool"}, /* a name with a slash is not searched for */
        {"./alias-of-tool", "other", "./alias-of-tool"},
        {absolute, NULL, "bin/tool"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_strv) env = NULL;
        PX_AUTOFREE char *found = NULL;
        PX_AUTOFREE char *full = in_root(rows[i].wanted);
        struct px_err err = {0};

        if (rows[i].path)
            ok(px_env_set(&env, "PATH", rows[i].path, true));
        ok(px_path_find_program(rows[i].name, env, root, &found, &err));
        ck_assert_str_eq(found, full);
        ck_assert_str_eq(err.text, "");
    }
}

PX_TEST(without_cwd_paths_are_relative_to_the_process)
{
    PX_AUTO(px_strv) env = NULL;
    PX_AUTOFREE char *by_path = NULL;
    PX_AUTOFREE char *by_name = NULL;

    ck_assert_int_eq(chdir(root), 0);
    ok(px_env_set(&env, "PATH", "", true));
    ok(px_path_find_program("bin/tool", env, NULL, &by_path, NULL));
    ok(px_path_find_program("alias-of-tool", env, NULL, &by_name, NULL));

    ck_assert_str_eq(by_path, "./bin/tool");
    ck_assert_str_eq(
        by_name,
        "./alias-of-tool"); /* has a slash, so that exec does not search again */
}

PX_TEST(without_a_path_the_system_directories_are_searched_and_not_cwd)
{
    PX_AUTOFREE char *found = NULL;

    ok(px_path_find_program("sh", NULL, root, &found, NULL));
    ck_assert_str_eq(found, "/bin/sh");
    fails(px_path_find_program("alias-of-tool", NULL, root, &found, NULL), NOT_FOUND);
}

PX_TEST(what_is_no_program_is_refused_with_the_first_reason)
{
    static const struct {
        const char *name, *path;
        pmix_status_t status;
        const char *words;
    } rows[] = {
        {"nothing", "bin:other", PMIX_ERR_NOT_FOUND, "not found in bin:other"},
        {"nothing", "loop:closed", PMIX_ERR_NOT_FOUND, "not found in loop:closed"},
        {"data", "closed:bin", PMIX_ERR_NO_PERMISSIONS, "bin/data: it is not exec"},
        {"bin/nothing", "bin", PMIX_ERR_NOT_FOUND, "No such file"},
        {"bin/data/x", "bin", PMIX_ERR_NOT_FOUND, "Not a directory"},
        {"", "bin", PMIX_ERR_NOT_FOUND, "without a name"},
        {"data", "bin", PMIX_ERR_NO_PERMISSIONS, "bin/data: it is not exec"},
        {"bin/data", "", PMIX_ERR_NO_PERMISSIONS, "bin/data: it is not exec"},
        {"/dev/null", "", PMIX_ERR_NO_PERMISSIONS, "not a regular file"},
        {"sub", "bin", PMIX_ERR_NO_PERMISSIONS, "bin/sub: it is a directory"},
        {"./bin", "", PMIX_ERR_NO_PERMISSIONS, "bin: it is a directory"},
        {"data", "missing:bin:bin/sub", PMIX_ERR_NO_PERMISSIONS, "bin/data:"},
        {"data", "missing:bin/sub:bin", PMIX_ERR_NO_PERMISSIONS, "sub/data:"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const char *name = rows[i].name, *words = rows[i].words;
        PX_AUTO(px_strv) env = NULL;
        char *found = root;
        struct px_err err = {0};

        ok(px_env_set(&env, "PATH", rows[i].path, true));
        ck_assert_int_eq(px_path_find_program(name, env, root, &found, &err),
                         rows[i].status);
        ck_assert_ptr_eq(found, root);
        ck_assert_int_eq(err.status, rows[i].status);
        ck_assert_msg(strstr(err.text, words), "'%s' is not in '%s'", words, err.text);
        ck_assert_int_eq(px_path_find_program(name, env, root, &found, NULL),
                         rows[i].status);
    }
}

PX_TEST(finding_without_memory_finds_nothing)
{
    static const char *const names[] = {"tool", "bin/tool", "nothing"};
    PX_AUTO(px_strv) env = NULL;

    PX_TEST_NEEDS_ALLOC;
    ok(px_env_set(&env, "PATH", "missing:other:bin", true));
    for (size_t i = 0; i < PX_COUNT(names); i++) {
        PX_AUTOFREE char *found = NULL;

        for (unsigned nth = 0; px_alloc_next(&nth);) {
            struct px_err err = {0};
            pmix_status_t rc = px_path_find_program(names[i], env, root, &found, &err);
            pmix_status_t found_none = i == 2 && rc == PMIX_ERR_NOT_FOUND ? 0 : rc;

            if (px_alloc_check(found_none)) {
                fails(err.status, NOMEM);
                ck_assert_ptr_null(found);
            }
        }
    }
}

PX_TEST_MAIN("base/path", make_tree, NULL)
