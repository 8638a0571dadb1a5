/* SPDX-License-Identifier: BSD-3-Clause */
/* Rendezvous files where something else is already: what other users, or careless ones, have put there. */
#include "contact_scene.h"

#include "core/base/clock.h"
#include "core/link/rendezvous.h"
#include "others.h"
#include "px_test.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { NOBODY = PX_TEST_OTHER };

/* ---- what others put there ---------------------------------------------------------------------------- */

static void remains(const char *path, mode_t type)
{
    struct stat st;

    ck_assert_int_eq(lstat(path, &st), 0);
    ck_assert_uint_eq(st.st_mode & S_IFMT, type);
}

PX_TEST(a_symbolic_link_of_our_own_is_left_alone)
{
    put_file(path_of(own_dir, "target"), "precious");
    ck_assert_int_eq(symlink(path_of(own_dir, "target"), system_file()), 0);
    ck_assert_int_eq(init_as(PMIX_SERVER_SYSTEM_SUPPORT), PMIX_ERR_NO_PERMISSIONS);
    remains(system_file(), S_IFLNK);
    ck_assert_int_eq(unlink(system_file()), 0);
    ck_assert_int_eq(unlink(path_of(own_dir, "target")), 0);
}

PX_TEST(a_fifo_does_not_stop_anybody)
{
    uint64_t began = px_clock_ms();

    ck_assert_int_eq(mkfifo(system_file(), 0600), 0);
    ck_assert_int_eq(init_as(PMIX_SERVER_SYSTEM_SUPPORT), PMIX_ERR_NO_PERMISSIONS);
    ck_assert_uint_lt(px_clock_ms() - began, 5000);
    remains(system_file(), S_IFIFO);
    ck_assert_int_eq(unlink(system_file()), 0);
}

PX_TEST(a_directory_is_left_alone)
{
    ck_assert_int_eq(mkdir(system_file(), 0700), 0);
    ck_assert_int_eq(init_as(PMIX_SERVER_SYSTEM_SUPPORT), PMIX_ERR_NO_PERMISSIONS);
    ck_assert_int_eq(rmdir(system_file()), 0);
}

static void give_away(const char *path)
{
    ck_assert_int_eq(lchown(path, NOBODY, NOBODY), 0);
}

static void root_starts(void)
{
    struct stat st;

    ok(init_as(PMIX_SERVER_SYSTEM_SUPPORT));
    ck_assert_int_eq(lstat(system_file(), &st), 0);
    ck_assert(S_ISREG(st.st_mode));
    ck_assert_uint_eq(st.st_uid, 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0600);
    PMIx_server_finalize();
    ck_assert_str_eq(names_in(sys_dir), "");
}

PX_TEST(root_takes_the_name_from_whoever_squats_on_it)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char text[16] = "";

    PX_TEST_NEEDS(geteuid() == 0, "root");
    put_file(system_file(), foreign_text(1, 1));
    give_away(system_file());
    root_starts();

    put_file(system_file(), foreign_text(1, 1)); /* a lock does not help him */
    give_away(system_file());
    PX_AUTOCLOSE int fd = open(system_file(), O_RDWR | O_CLOEXEC);
    ck_assert_int_eq(fcntl(fd, F_OFD_SETLK, &l), 0);
    root_starts();

    put_file(path_of(own_dir, "target"), "precious");
    ck_assert_int_eq(symlink(path_of(own_dir, "target"), system_file()), 0);
    give_away(system_file());
    root_starts();
    int target = open(path_of(own_dir, "target"), O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(read(target, text, sizeof(text)), 8);
    close(target);
    ck_assert_int_eq(unlink(path_of(own_dir, "target")), 0);

    ck_assert_int_eq(mkfifo(system_file(), 0666), 0);
    give_away(system_file());
    root_starts();

    ck_assert_int_eq(mkdir(system_file(), 0700), 0);
    give_away(system_file());
    root_starts();
}

static void put_squatters(void)
{
    put_file(system_file(), foreign_text(1, 1));
    give_away(system_file());
}

PX_TEST(of_two_that_take_it_from_a_squatter_one_has_the_name)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    printf("the first of two has won %d times of 50\n", race(50, put_squatters));
}

PX_TEST(a_path_that_somebody_chose_is_not_taken_from_another_user)
{
    const char *path = path_of(sys_dir, "his");
    const struct wish w = {PMIX_LAUNCHER_RENDEZVOUS_FILE, path};
    struct stat st;

    PX_TEST_NEEDS(geteuid() == 0, "root");
    put_file(path, "precious");
    give_away(path);
    ok(server_init(NULL, &w, 1));
    PMIx_server_finalize();
    ck_assert_int_eq(lstat(path, &st), 0);
    ck_assert_uint_eq(st.st_uid, NOBODY);
    ck_assert_uint_eq((unsigned long)st.st_size, 8);
    ck_assert_int_eq(unlink(path), 0);
}

PX_TEST(others_do_not_get_the_name_of_root)
{
    PX_TEST_NEEDS(px_test_others_load_it(), "root, and a build that others can read");
    ck_assert_int_eq(chown(own_dir, NOBODY, NOBODY), 0);
    struct child a = child_of(PMIX_SERVER_SYSTEM_SUPPORT, 0);
    struct child b = child_of(PMIX_SERVER_SYSTEM_SUPPORT, NOBODY);

    ok(child_ask(&a, 'i'));
    ck_assert_int_eq(child_ask(&b, 'i'), PMIX_ERR_EXISTS);
    ck_assert(child_has_said(&b, "of uid 0"));
    ok(child_ask(&a, 'f'));
    child_end(&a, 0);
    put_file(system_file(), foreign_text(1, 1)); /* left over, and readable */
    ck_assert_int_eq(chmod(system_file(), 0644), 0);
    ck_assert_int_eq(child_ask(&b, 'i'), PMIX_ERR_NO_PERMISSIONS);
    ck_assert(child_has_said(&b, "belongs to uid 0, who alone can remove it"));
    remains(system_file(), S_IFREG);
    ck_assert_int_eq(unlink(system_file()), 0);
    ok(child_ask(&b, 'i'));
    ok(child_ask(&b, 'f'));
    child_end(&b, 0);
    ck_assert_int_eq(chown(own_dir, 0, 0), 0);
}

PX_TEST(root_takes_it_from_a_server_of_another_user_that_runs)
{
    struct px_rendezvous r;

    PX_TEST_NEEDS(px_test_others_load_it(), "root, and a build that others can read");
    ck_assert_int_eq(chown(own_dir, NOBODY, NOBODY), 0);
    struct child a = child_of(PMIX_SERVER_SYSTEM_SUPPORT, 0);
    struct child b = child_of(PMIX_SERVER_SYSTEM_SUPPORT, NOBODY);

    ok(child_ask(&b, 'i'));
    ok(child_ask(&a, 'i'));
    ok(child_ask(&b, 'f')); /* removes only what is its own */
    ok(px_rendezvous_read(system_file(), &r, NULL));
    ck_assert_int_eq(r.pid, a.pid);
    ok(child_ask(&a, 'f'));
    child_end(&a, 0);
    child_end(&b, 0);
    ck_assert_int_eq(chown(own_dir, 0, 0), 0);
}

PX_TEST_MAIN("server/contact_others", contact_setup, contact_teardown)
