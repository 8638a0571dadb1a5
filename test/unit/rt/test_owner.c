/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/rt/owner.h"
#include "test/unit/rt/rt_test.h"

static rt_path dir, sub, file;
static struct px_err err;

static void set_up(void)
{
    rt_make_dir(dir);
    rt_join(sub, dir, "sub");
    ck_assert_int_eq(mkdir(sub, 0755), 0);
    rt_write(sub, "x.so", "x");
    rt_join(file, sub, "x.so");
}

static pmix_status_t check(const char *path)
{
    PX_AUTOFREE char *real = NULL;
    pmix_status_t rc = px_path_check_owner(path, &real, &err);

    ck_assert_int_eq(rc == PMIX_SUCCESS, real != NULL);
    return rc;
}

PX_TEST(a_file_only_its_owner_can_change_is_trusted_and_its_real_path_told)
{
    char *real = NULL;
    char *wanted = realpath(file, NULL);

    ok(px_path_check_owner(file, &real, &err));
    ck_assert_str_eq(real, wanted);
    free(real);
    free(wanted);
    ok(check(sub));
}

PX_TEST(what_everybody_can_write_is_not_trusted)
{
    const char *const paths[] = {file, sub, dir}; /* itself, its folder, one above */

    for (size_t i = 0; i < PX_COUNT(paths); i++) {
        struct stat st;

        ck_assert_int_eq(stat(paths[i], &st), 0);
        ck_assert_int_eq(chmod(paths[i], st.st_mode | S_IWOTH), 0);
        ck_assert_int_eq(check(file), PMIX_ERR_NO_PERMISSIONS);
        rt_assert_has(err.text, paths[i]);
        rt_assert_has(err.text, "writable by everybody");
        ck_assert_int_eq(chmod(paths[i], st.st_mode), 0);
        ok(check(file));
    }
}

PX_TEST(a_sticky_folder_is_fine_above_but_not_as_the_files_own)
{
    ck_assert_int_eq(chmod(dir, 01777), 0);
    ok(check(file));
    ok(check(sub));
    ck_assert_int_eq(check(dir), PMIX_ERR_NO_PERMISSIONS);
    ck_assert_int_eq(chmod(sub, 01777), 0);
    ck_assert_int_eq(check(file), PMIX_ERR_NO_PERMISSIONS);
}

PX_TEST(what_strangers_own_is_not_trusted)
{
    const char *const paths[] = {file, sub, dir};

    PX_TEST_NEEDS_ROOT;
    for (size_t i = 0; i < PX_COUNT(paths); i++) {
        ck_assert_int_eq(chown(paths[i], 4711, 0), 0);
        ck_assert_int_eq(check(file), PMIX_ERR_NO_PERMISSIONS);
        rt_assert_has(err.text, "belongs to uid 4711");
        ck_assert_int_eq(chown(paths[i], 0, 0), 0);
    }
}

PX_TEST(what_a_group_of_strangers_can_write_is_not_trusted)
{
    PX_TEST_NEEDS_ROOT;
    ck_assert_int_eq(chown(file, 0, 4711), 0);
    ok(check(file));
    ck_assert_int_eq(chmod(file, 0664), 0);
    ck_assert_int_eq(check(file), PMIX_ERR_NO_PERMISSIONS);
    rt_assert_has(err.text, "writable by group 4711");
    ck_assert_int_eq(chown(file, 0, 0), 0); /* the group of root is root */
    ck_assert_int_eq(chmod(file, 0664), 0);
    ok(check(file));
}

PX_TEST(a_link_is_as_good_as_what_it_leads_to)
{
    rt_path link;

    rt_join(link, dir, "link");
    ck_assert_int_eq(symlink(file, link), 0);
    ok(check(link));
    ck_assert_int_eq(chmod(sub, 0777), 0);
    ck_assert_int_eq(check(link), PMIX_ERR_NO_PERMISSIONS);
}

PX_TEST(an_absent_file_is_not_found)
{
    rt_path none;

    rt_join(none, dir, "none");
    ck_assert_int_eq(check(none), PMIX_ERR_NOT_FOUND);
    rt_assert_has(err.text, "none: No such file");
}

PX_TEST(the_library_knows_its_own_file)
{
    PX_TEST_NEEDS_PROC;
    char *own = px_library_file();
    char *exe = realpath("/proc/self/exe",
                         NULL); /* here it is part of the test program */

    ck_assert_str_eq(own, exe);
    free(own);
    free(exe);
}

PX_TEST(root_is_guarded_and_a_plain_user_is_not)
{
    ck_assert(!px_is_setuid());
    ck_assert_int_eq(px_is_privileged(), geteuid() == 0);
}

PX_TEST_MAIN("rt/trust", set_up, NULL)
