/* SPDX-License-Identifier: BSD-3-Clause */
/* Joining, private directories, and the search for programs in a tree made for it. */
#include "alloc_fail.h"
#include "core/base/env.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "px_test.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* A directory of the test's own: bin/tool is a program, bin/data a file, bin/sub,
 * bin/sub/data and other/tool directories, other/data a program, alias-of-tool a
 * link to bin/tool. */
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
    PX_AUTOFREE char *alias = in_root("alias-of-tool");
    ck_assert_int_eq(symlink("bin/tool", alias), 0);
}

/* Looks for name with this PATH (NULL: none) from root; wants to find root/wanted. */
static void assert_finds(const char *name, const char *path, const char *wanted)
{
    PX_AUTO(px_strv) env = NULL;
    PX_AUTOFREE char *found = NULL;
    PX_AUTOFREE char *full = in_root(wanted);
    struct px_err err = {0};

    if (path)
        ok(px_env_set(&env, "PATH", path, true));
    pmix_status_t rc = px_path_find_program(name, env, root, &found, &err);
    ck_assert_msg(rc == PMIX_SUCCESS, "%d: %s", rc, err.text);
    ck_assert_str_eq(found, full);
    ck_assert_str_eq(err.text, "");
}

/* Asserts that it is not found, and that the text has the words. */
static void assert_refuses(const char *name, const char *path, pmix_status_t status,
                           const char *words)
{
    PX_AUTO(px_strv) env = NULL;
    char *found = root;
    struct px_err err = {0};

    ok(px_env_set(&env, "PATH", path, true));
    ck_assert_int_eq(px_path_find_program(name, env, root, &found, &err), status);
    ck_assert_ptr_eq(found, root);
    ck_assert_int_eq(err.status, status);
    ck_assert_msg(strstr(err.text, words), "'%s' is not in '%s'", words, err.text);
    ck_assert_int_eq(px_path_find_program(name, env, root, &found, NULL), status);
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

PX_TEST(a_private_directory_is_fresh_and_for_its_owner_only)
{
    PX_AUTOFREE char *one = NULL;
    PX_AUTOFREE char *two = NULL;
    PX_AUTOFREE char *start = in_root("job-");
    struct stat st;

    umask(0);
    ok(px_path_private_dir(root, "job-", &one, NULL));
    ok(px_path_private_dir(root, "job-", &two, NULL));

    ck_assert_str_ne(one, two);
    ck_assert(px_str_starts(one, start));
    ck_assert_int_eq(stat(one, &st), 0);
    ck_assert(S_ISDIR(st.st_mode));
    ck_assert_uint_eq(st.st_mode & 0777, 0700);
}

PX_TEST(a_private_directory_that_cannot_be_made_is_explained)
{
    PX_AUTOFREE char *missing = in_root("missing");
    char *out = root;
    struct px_err err = {0};

    fails(px_path_private_dir(missing, "x", &out, &err), NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.text, missing));
    ck_assert_ptr_nonnull(strstr(err.text, "No such file"));
    fails(px_path_private_dir(root, "../x", &out, &err), BAD_PARAM);
    ck_assert_ptr_eq(out, root);
}

PX_TEST(a_private_directory_without_memory_is_not_made)
{
    PX_AUTOFREE char *out = NULL;
    pmix_status_t rc;

    PX_TEST_NEEDS_ALLOC;
    for (unsigned nth = 0; px_alloc_next(&nth);) {
        rc = px_path_private_dir(root, "x", &out, NULL);
        if (px_alloc_check(rc)) {
            ck_assert_ptr_null(out);
        }
    }
    ck_assert_uint_eq(px_alloc_count(), 2);
}

PX_TEST(a_bare_name_is_searched_in_the_path_given)
{
    PX_AUTOFREE char *path = px_strf("%s/missing:%s/bin", root, root);

    assert_finds("tool", path, "bin/tool");
}

PX_TEST(relative_and_empty_directories_of_the_path_count_from_cwd)
{
    assert_finds("tool", "missing:bin", "bin/tool");
    assert_finds("tool", "bin/", "bin/tool");
    assert_finds("alias-of-tool", "", "alias-of-tool");
    assert_finds("alias-of-tool", "missing:", "alias-of-tool");
    assert_finds("alias-of-tool", ":missing", "alias-of-tool");
    assert_finds("alias-of-tool", "missing::other", "alias-of-tool");
}

PX_TEST(the_search_goes_on_past_what_cannot_be_run)
{
    assert_finds("tool", "other:bin", "bin/tool");    /* a directory first */
    assert_finds("data", "bin:other", "other/data");  /* a plain file first */
    assert_finds("tool", "bin/data:bin", "bin/tool"); /* a file for a directory */
}

PX_TEST(a_name_with_a_slash_is_a_path_from_cwd)
{
    PX_AUTOFREE char *absolute = in_root("bin/tool");

    assert_finds("bin/tool", "other", "bin/tool");
    assert_finds("./alias-of-tool", "other", "./alias-of-tool");
    assert_finds(absolute, NULL, "bin/tool");
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
    ck_assert_str_eq(by_name,
                     "./alias-of-tool"); /* a slash, so that no exec searches again */
}

PX_TEST(without_a_path_the_system_directories_are_searched_and_not_cwd)
{
    PX_AUTOFREE char *found = NULL;

    ok(px_path_find_program("sh", NULL, root, &found, NULL));
    ck_assert_str_eq(found, "/bin/sh");
    fails(px_path_find_program("alias-of-tool", NULL, root, &found, NULL), NOT_FOUND);
}

PX_TEST(what_does_not_exist_is_not_found)
{
    assert_refuses("nothing", "bin:other", PMIX_ERR_NOT_FOUND,
                   "not found in bin:other");
    assert_refuses("bin/nothing", "bin", PMIX_ERR_NOT_FOUND, "No such file");
    assert_refuses("bin/data/x", "bin", PMIX_ERR_NOT_FOUND, "Not a directory");
    assert_refuses("", "bin", PMIX_ERR_NOT_FOUND, "without a name");
}

PX_TEST(what_exists_and_is_not_executable_is_no_permissions)
{
    assert_refuses("data", "bin", PMIX_ERR_NO_PERMISSIONS, "bin/data: it is not exec");
    assert_refuses("bin/data", "", PMIX_ERR_NO_PERMISSIONS, "bin/data: it is not exec");
    assert_refuses("/dev/null", "", PMIX_ERR_NO_PERMISSIONS, "not a regular file");
}

PX_TEST(a_directory_is_told_from_a_file_that_is_not_executable)
{
    assert_refuses("sub", "bin", PMIX_ERR_NO_PERMISSIONS, "bin/sub: it is a directory");
    assert_refuses("./bin", "", PMIX_ERR_NO_PERMISSIONS, "bin: it is a directory");
}

PX_TEST(the_first_refusal_is_the_one_reported)
{
    assert_refuses("data", "missing:bin:bin/sub", PMIX_ERR_NO_PERMISSIONS, "bin/data:");
    assert_refuses("data", "missing:bin/sub:bin", PMIX_ERR_NO_PERMISSIONS, "sub/data:");
}

PX_TEST(finding_without_memory_finds_nothing)
{
    static const char *const names[] = {"tool", "bin/tool", "nothing"};
    PX_AUTO(px_strv) env = NULL;

    PX_TEST_NEEDS_ALLOC;
    ok(px_env_set(&env, "PATH", "missing:other:bin", true));
    for (size_t i = 0; i < PX_COUNT(names); i++) {
        PX_AUTOFREE char *found = NULL;
        pmix_status_t rc;

        for (unsigned nth = 1;; nth++) {
            struct px_err err = {0};
            px_alloc_fail_at(nth);
            rc = px_path_find_program(names[i], env, root, &found, &err);
            if (!px_alloc_fail_end())
                break;
            fails(rc, NOMEM);
            ck_assert_int_eq(px_alloc_balance(), 0);
            fails(err.status, NOMEM);
            ck_assert_ptr_null(found);
        }
        ck_assert_int_eq(rc, i == 2 ? PMIX_ERR_NOT_FOUND : PMIX_SUCCESS);
    }
}

PX_TEST_MAIN("base/path", make_tree, NULL)
