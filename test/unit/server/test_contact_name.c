/* SPDX-License-Identifier: BSD-3-Clause */
/* Rendezvous files of which there is one in a folder: who lives keeps the name, and of those that want
 * it at once one has it. */
#include "contact_scene.h"

#include "core/base/str.h"
#include "core/link/rendezvous.h"
#include "px_test.h"
#include "seccomp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* A process id that nobody has any more. */
static pid_t dead_pid(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    return pid;
}

/* Of a server that was killed; its private folder the next one may have found before us. */
static void clear_folder(const char *dir)
{
    PX_AUTOFREE char *command = px_strf("rm -rf %s/pmix-server.*", dir);

    ck_assert_int_eq(system(command), 0);
}

/* ---- who lives keeps the name -------------------------------------------------------------------------- */

PX_TEST(a_second_of_those_there_is_one_of_does_not_start)
{
    static const char *const keys[] = {
        PMIX_SERVER_SYSTEM_SUPPORT, PMIX_SERVER_SCHEDULER, PMIX_SERVER_SYS_CONTROLLER};

    for (size_t i = 0; i < PX_COUNT(keys); i++) {
        struct child a = child_of(keys[i], 0), b = child_of(keys[i], 0);

        ok(child_ask(&a, 'i'));
        ck_assert_int_eq(child_ask(&b, 'i'), PMIX_ERR_EXISTS);
        PX_AUTOFREE char *named = px_strf("pid %ld of uid %u, srv.0", (long)a.pid,
                                          (unsigned)geteuid());
        ck_assert(child_has_said(&b, named));
        ok(child_ask(&a, 'f'));
        ok(child_ask(&b, 'i')); /* now it is free */
        ok(child_ask(&b, 'f'));
        child_end(&a, 0);
        child_end(&b, 0);
    }
}

PX_TEST(one_that_is_stopped_lives)
{
    struct child a = child_of(PMIX_SERVER_SYSTEM_SUPPORT, 0);
    struct child b = child_of(PMIX_SERVER_SYSTEM_SUPPORT, 0);

    ok(child_ask(&a, 'i'));
    ck_assert_int_eq(kill(a.pid, SIGSTOP), 0);
    ck_assert_int_eq(child_ask(&b, 'i'), PMIX_ERR_EXISTS);
    ck_assert_int_eq(kill(a.pid, SIGCONT), 0);
    ok(child_ask(&a, 'f'));
    child_end(&a, 0);
    child_end(&b, 0);
}

PX_TEST(one_that_was_killed_makes_room_at_once)
{
    struct child b = child_of(PMIX_SERVER_SYSTEM_SUPPORT, 0);

    for (int i = 0; i < 5; i++) {
        struct child a = child_of(PMIX_SERVER_SYSTEM_SUPPORT, 0);

        ok(child_ask(&a, 'i'));
        child_end(&a, SIGKILL);
        ok(child_ask(&b, 'i'));
        ok(child_ask(&b, 'f'));
    }
    child_end(&b, 0);
    clear_folder(own_dir);
}

PX_TEST(a_second_session_server_goes_on_without_the_name)
{
    struct child a = child_of(PMIX_SERVER_SESSION_SUPPORT, 0);
    struct child b = child_of(PMIX_SERVER_SESSION_SUPPORT, 0);
    struct px_rendezvous r;

    ok(child_ask(&a, 'i'));
    ok(child_ask(&b, 'i'));
    PX_AUTOFREE char *named = px_strf("pid %ld of uid %u", (long)a.pid,
                                      (unsigned)geteuid());
    ck_assert(child_has_said(&b, named));
    ok(child_ask(&b, 'f'));
    ok(px_rendezvous_read(path_of(own_dir, "pmix.%s.tool", node_name()), &r, NULL));
    ck_assert_int_eq(r.pid, a.pid);
    ok(child_ask(&a, 'f'));
    child_end(&a, 0);
    child_end(&b, 0);
}

PX_TEST(a_read_lock_of_a_stranger_is_no_sign_of_life)
{
    struct flock l = {.l_type = F_RDLCK, .l_whence = SEEK_SET};

    put_file(system_file(), foreign_text(1, dead_pid()));
    PX_AUTOCLOSE int fd = open(system_file(), O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(fcntl(fd, F_OFD_SETLK, &l), 0);
    ok(init_as(PMIX_SERVER_SYSTEM_SUPPORT));
}

static int listener(int *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    ck_assert_int_eq(listen(fd, 8), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &n), 0);
    *port = ntohs(at.sin_port);
    return fd;
}

PX_TEST(one_of_another_library_lives_while_it_answers)
{
    int port, fd = listener(&port);
    char *file = system_file();

    put_file(file, foreign_text(port, getpid()));
    ck_assert_int_eq(init_as(PMIX_SERVER_SYSTEM_SUPPORT), PMIX_ERR_EXISTS);
    ck_assert(is_there(file));
    close(fd); /* it does not listen any more */
    ok(init_as(PMIX_SERVER_SYSTEM_SUPPORT));
}

PX_TEST(a_port_that_somebody_else_has_now_is_no_sign_of_life)
{
    int port;

    (void)listener(&port);
    put_file(system_file(), foreign_text(port, dead_pid()));
    ok(init_as(PMIX_SERVER_SYSTEM_SUPPORT));
}

PX_TEST(what_makes_no_sense_is_replaced)
{
    static const char *const texts[] = {"", "rubbish", "srv.0;tcp4://", "\n\n\n\n",
                                        "srv.0;tcp4://127.0.0.1:1\n4.2.2\n1\n"};

    for (size_t i = 0; i < PX_COUNT(texts); i++) {
        put_file(system_file(), texts[i]);
        ok(init_as(PMIX_SERVER_SYSTEM_SUPPORT));
        PMIx_server_finalize();
    }
}

PX_TEST(with_several_names_only_this_one_is_replaced)
{
    char text[32] = "";

    put_file(path_of(own_dir, "precious"), "precious");
    ck_assert_int_eq(link(path_of(own_dir, "precious"), system_file()), 0);
    ok(init_as(PMIX_SERVER_SYSTEM_SUPPORT));
    PMIx_server_finalize();
    int fd = open(path_of(own_dir, "precious"), O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(read(fd, text, sizeof(text)), 8);
    close(fd);
    ck_assert_str_eq(text, "precious");
    ck_assert_int_eq(unlink(path_of(own_dir, "precious")), 0);
}

/* ---- races ------------------------------------------------------------------------------ */

PX_TEST(of_two_that_start_at_once_one_has_the_name)
{
    printf("the first of two has won %d times of 200\n", race(200, NULL));
}

static void put_stale(void)
{
    put_file(system_file(), foreign_text(1, 1));
}

PX_TEST(of_two_that_replace_a_stale_file_one_has_the_name)
{
    printf("the first of two has won %d times of 100\n", race(100, put_stale));
}

/* ---- kernels and file systems that can less --------------------------------------------------- */

PX_TEST(without_renameat2_names_are_taken_by_links)
{
    PX_TEST_NEEDS(px_test_deny(SYS_renameat2, EINVAL), "seccomp");
    struct child a = child_of(PMIX_SERVER_SYSTEM_SUPPORT, 0);
    struct child b = child_of(PMIX_SERVER_SYSTEM_SUPPORT, 0);
    struct px_rendezvous r;

    ok(child_ask(&a, 'i'));
    ok(px_rendezvous_read(system_file(), &r, NULL));
    ck_assert_int_eq(child_ask(&b, 'i'), PMIX_ERR_EXISTS);
    ok(child_ask(&a, 'f'));
    child_end(&a, 0);
    child_end(&b, 0);
    printf("the first of two has won %d times of 50\n", race(50, NULL));
}

PX_TEST(without_random_numbers_names_are_made_all_the_same)
{
    PX_TEST_NEEDS(px_test_deny(SYS_getrandom, ENOSYS), "seccomp");
    ok(init_as(PMIX_SERVER_SYSTEM_SUPPORT));
    ck_assert(is_there(system_file()));
}

/* One's own are followed: who removes the file put them there. */
PX_TEST(it_is_not_removed_through_a_link_of_another_user)
{
    PX_TEST_NEEDS_ROOT;
    PX_AUTOFREE char *dir = strdup(path_of(own_dir, "dir"));
    PX_AUTOFREE char *moved = strdup(path_of(own_dir, "moved"));
    PX_AUTOFREE char *other = strdup(path_of(own_dir, "other"));
    PX_AUTOFREE char *ours = strdup(path_of(own_dir, "dir/file"));
    PX_AUTOFREE char *theirs = strdup(path_of(own_dir, "other/file"));
    const struct wish w = {PMIX_LAUNCHER_RENDEZVOUS_FILE, ours};

    ck_assert_int_eq(mkdir(dir, 0700) || mkdir(other, 0700), 0);
    ok(server_init(NULL, &w, 1));
    ck_assert_int_eq(link(ours, theirs), 0);
    ck_assert_int_eq(rename(dir, moved), 0);
    ck_assert_int_eq(symlink(other, dir) || lchown(dir, 4711, 4711), 0);
    PMIx_server_finalize();
    ck_assert(is_there(theirs));
    ck_assert_int_eq(unlink(theirs) || unlink(dir) || rmdir(other), 0);
    ck_assert_int_eq(unlink(path_of(own_dir, "moved/file")) || rmdir(moved), 0);
}

PX_TEST_MAIN("server/contact_name", contact_setup, contact_teardown)
