/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/os/os.h"
#include "core/rt/owner.h"
#include "others.h"
#include "test/unit/rt/rt_test.h"

#include <sys/mount.h>
#include <sys/prctl.h>

static const char *dir, *sub, *file; /* each in the previous one */
static struct px_err err;

static void set_up(void)
{
    dir = px_test_dir();
    sub = px_test_path("sub");
    ok(mkdir(sub, 0755));
    rt_write(sub, "x.so", "x");
    file = px_test_path("sub/x.so");
}

static pmix_status_t check(const char *path)
{
    PX_AUTOFREE char *real = NULL;
    PX_AUTOFREE char *wanted = realpath(path, NULL);
    pmix_status_t rc = px_path_check_owner(path, &real, &err);

    if (rc)
        ck_assert_ptr_null(real);
    else
        ck_assert_str_eq(real, wanted);
    return rc;
}

static void refuse(const char *path, pmix_status_t status, const char *why)
{
    ck_assert_int_eq(check(path), status);
    rt_assert_has(err.text, why);
}

/* A stranger can change the file, its folder, or the folder above. */
PX_TEST_LOOP(what_strangers_can_change_is_not_trusted, 3)
{
    const char *path = (const char *[]){file, sub, dir}[_i];
    struct stat st;

    ok(check(file));
    ok(check(sub));
    ok(stat(path, &st));
    ok(chmod(path, st.st_mode | S_IWOTH));
    refuse(file, PMIX_ERR_NO_PERMISSIONS, path);
    refuse(file, PMIX_ERR_NO_PERMISSIONS, "writable by all users");
    ok(chmod(path, st.st_mode));
    ok(check(file));
    PX_TEST_NEEDS_ROOT;
    ok(chown(path, 4711, 0));
    refuse(file, PMIX_ERR_NO_PERMISSIONS, "belongs to uid 4711");
    ok(chown(path, 0, 4711));
    ok(check(file));
    ok(chmod(path, st.st_mode | S_IWGRP));
    refuse(file, PMIX_ERR_NO_PERMISSIONS, "writable by group 4711");
    ok(chown(path, 0, 0)); /* root's group is trusted */
    ok(check(file));
}

enum { NO_NAMESPACE = 77 };

/* Becomes an ordinary user that owns the library's file. */
static bool leave_root(void)
{
    PX_AUTOFREE char *library = px_library_file();

    return chown(file, PX_TEST_OTHER, PX_TEST_OTHER) == 0 &&
           unshare(CLONE_NEWNS) == 0 &&
           mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount(file, library, NULL, MS_BIND, NULL) == 0 &&
           setresgid(PX_TEST_OTHER, PX_TEST_OTHER, PX_TEST_OTHER) == 0 &&
           setresuid(PX_TEST_OTHER, PX_TEST_OTHER, PX_TEST_OTHER) == 0 &&
           prctl(PR_SET_DUMPABLE, 1) == 0;
}

/* Checks files of the system's root as root of a container. Returns an exit status. */
static int check_in_container(void)
{
    PX_AUTOFREE char *real = NULL;
    struct stat st;

    if (geteuid() == 0 && !leave_root())
        return EXIT_FAILURE;
    if (!px_test_become_inner_root(0))
        return NO_NAMESPACE;
    if (stat("/usr", &st) || st.st_uid == 0)
        return EXIT_FAILURE;
    return px_path_check_owner("/usr/lib", &real, &err) ||
           px_path_check_holder("/tmp", &err);
}

/* In a container of an ordinary user, files of the system's root belong to the overflow uid. */
PX_TEST(an_inner_root_trusts_files_of_the_systems_root)
{
    const pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(check_in_container());
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    PX_TEST_NEEDS(WEXITSTATUS(status) != NO_NAMESPACE, "user namespaces");
    ck_assert_int_eq(status, 0);
}

PX_TEST(a_sticky_folder_is_fine_above_but_not_as_the_files_own)
{
    ok(chmod(dir, 01777));
    ok(check(file));
    ok(check(sub));
    ck_assert_int_eq(check(dir), PMIX_ERR_NO_PERMISSIONS);
    ok(px_path_check_holder(dir, &err));
    ok(chmod(sub, 01777));
    ck_assert_int_eq(check(file), PMIX_ERR_NO_PERMISSIONS);
}

PX_TEST(a_link_is_as_good_as_what_it_leads_to)
{
    const char *link = px_test_path("link");

    ok(symlink(file, link));
    ok(check(link));
    ok(chmod(sub, 0777));
    ck_assert_int_eq(check(link), PMIX_ERR_NO_PERMISSIONS);
    refuse(px_test_path("none"), PMIX_ERR_NOT_FOUND, "none: No such file");
}

PX_TEST(the_library_knows_its_own_file)
{
    PX_TEST_NEEDS_PROC;
    /* Here the library is part of the test program. */
    PX_AUTOFREE char *own = px_library_file();
    PX_AUTOFREE char *exe = realpath("/proc/self/exe", NULL);

    ck_assert_str_eq(own, exe);
}

PX_TEST(root_is_guarded_and_a_plain_user_is_not)
{
    ck_assert(!px_os_is_setuid());
    ck_assert_int_eq(px_is_privileged(), geteuid() == 0);
}

PX_TEST_MAIN("rt/owner", set_up, NULL)
