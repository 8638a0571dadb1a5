/* SPDX-License-Identifier: BSD-3-Clause */
/* Rendezvous files whose name only one server of a folder may have. A live server keeps the name.
 * If several servers want the name at once, only one gets it, whatever other users have put there.
 * Servers that compete are processes of their own. */
#include "contact_scene.h"

#include "core/base/clock.h"
#include "core/base/str.h"
#include "others.h"
#include "seccomp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = PX_TEST_OTHER };

/* ---- a server that lives keeps the name ----------------------------------------- */

/* Returns a process id that is not in use any more. */
static pid_t dead_pid(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    return pid;
}

static void has_named_owner(const struct child *c, const struct child *owner)
{
    PX_AUTOFREE char *named = px_strf("pid %ld of uid %u, srv.0", (long)owner->pid,
                                      (unsigned)geteuid());

    child_has_printed(c, named);
}

PX_TEST(a_second_of_those_there_is_one_of_does_not_start)
{
    static const int only_one[] = {0, 3, 4};

    for (size_t i = 0; i < PX_COUNT(only_one); i++) {
        const char *role = roles[only_one[i]];
        struct child *a = child_of(role, 0), *b = child_of(role, 0);

        ok(child_ask(a, 'i'));
        ok(kill(a->pid, SIGSTOP)); /* a stopped process is alive */
        fails(child_ask(b, 'i'), EXISTS);
        ok(kill(a->pid, SIGCONT));
        has_named_owner(b, a);
        ok(child_ask(a, 'f'));
        ok(child_ask(b, 'i')); /* the name is free now */
        ok(child_ask(b, 'f'));
    }
}

PX_TEST(one_that_was_killed_makes_room_at_once)
{
    PX_AUTOFREE char *clear = px_strf("rm -rf %s/pmix-server.*", own_dir);
    struct child *b = child_of(SYSTEM, 0);

    for (int i = 0; i < 5; i++) {
        struct child *a = child_of(SYSTEM, 0);

        ok(child_ask(a, 'i'));
        child_end(a, SIGKILL);
        int tries = 0;
        /* A child of process a may hold the lock for a moment. */
        while (child_ask(b, 'i'))
            ck_assert_int_lt(++tries, 50);
        ok(child_ask(b, 'f'));
    }
    ok(system(clear)); /* private folders, unless the next server has removed them */
}

PX_TEST(a_second_session_server_goes_on_without_the_name)
{
    struct child *a = child_of(roles[1], 0), *b = child_of(roles[1], 0);
    struct px_rendezvous r;

    ok(child_ask(a, 'i'));
    ok(child_ask(b, 'i'));
    has_named_owner(b, a);
    ok(child_ask(b, 'f'));
    ok(px_rendezvous_read(path_of(own_dir, "pmix.%s.tool", node), &r, NULL));
    ck_assert_int_eq(r.pid, a->pid);
}

static int listener(int *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ok(bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 8) ||
       getsockname(fd, (struct sockaddr *)&at, &n));
    *port = ntohs(at.sin_port);
    return fd;
}

PX_TEST(one_of_another_library_lives_while_it_answers)
{
    struct flock l = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    int port, fd = listener(&port);

    put_foreign(port, getpid());
    fails(init_as(SYSTEM), EXISTS);
    ck_assert(is_there(system_file()));
    close(fd); /* the port has no listener any more */
    ok(init_as(SYSTEM));
    end();
    fd = listener(&port); /* another process has the port now */
    put_foreign(port, dead_pid());
    ok(init_as(SYSTEM));
    end();
    close(fd);
    put_foreign(1, dead_pid()); /* a read lock is not a sign of life */
    PX_AUTOCLOSE int reader = open(system_file(), O_RDONLY | O_CLOEXEC);
    ok(fcntl(reader, F_OFD_SETLK, &l));
    ok(init_as(SYSTEM));
}

PX_TEST(what_makes_no_sense_is_replaced)
{
    static const char *const texts[] = {"", "rubbish", "srv.0;tcp4://", "\n\n\n\n",
                                        "srv.0;tcp4://127.0.0.1:1\n4.2.2\n1\n"};
    const char *precious = path_of(own_dir, "precious");

    for (size_t i = 0; i < PX_COUNT(texts); i++) {
        put_file(system_file(), texts[i]);
        ok(init_as(SYSTEM));
        end();
    }
    put_file(precious, "precious"); /* a file with several names loses only this name */
    ok(link(precious, system_file()));
    ok(init_as(SYSTEM));
    end();
    file_is(precious, "precious");
    ok(unlink(precious));
}

/* ---- races ------------------------------------------------------------------------------ */

/* Lets two servers compete n times. prepare runs before each round; it may be NULL. */
static void race(int n, void (*prepare)(void))
{
    setenv("PMIX_MCA_pcleanup", "^janitor,inproc", 1); /* slow to start */
    struct child *c[2] = {child_of(SYSTEM, 0), child_of(SYSTEM, 0)};
    int won[2] = {0};

    for (int i = 0; i < n; i++) {
        pmix_status_t rc[2];

        if (prepare)
            prepare();
        child_send(c[i % 2], 'i');
        child_send(c[1 - i % 2], 'i');
        for (int k = 0; k < 2; k++)
            rc[k] = child_receive(c[k]);
        int winner = rc[0] == 0 ? 0 : 1;
        ck_assert_msg(rc[winner] == 0 && rc[1 - winner] == PMIX_ERR_EXISTS,
                      "round %d: %s and %s", i, PMIx_Error_string(rc[0]),
                      PMIx_Error_string(rc[1]));
        won[winner]++;
        ck_assert(is_there(system_file()));
        ok(child_ask(c[winner], 'f'));
        ck_assert_str_eq(names_in(sys_dir), "");
    }
    printf("the first of two has won %d times of %d\n", won[0], n);
}

PX_TEST(of_two_that_start_at_once_one_has_the_name)
{
    race((int)px_test_times(40, 400), NULL);
}

static void put_stale(void)
{
    put_foreign(1, 1);
}

PX_TEST(of_two_that_replace_a_stale_file_one_has_the_name)
{
    race((int)px_test_times(20, 200), put_stale);
}

/* ---- kernels and file systems with fewer functions -------------------------------------------- */

PX_TEST(without_renameat2_names_are_taken_by_links)
{
    PX_TEST_NEEDS(px_test_deny(SYS_renameat2, EINVAL), "seccomp");
    race((int)px_test_times(20, 100), NULL);
}

PX_TEST(without_random_numbers_names_are_made_all_the_same)
{
    PX_TEST_NEEDS(px_test_deny(SYS_getrandom, ENOSYS), "seccomp");
    ok(init_as(SYSTEM));
    ck_assert(is_there(system_file()));
}

/* ---- obstacles of other users ------------------------------------------------------------------------- */

static void give_away(const char *path)
{
    ok(lchown(path, NOBODY, NOBODY));
}

/* Puts an obstacle of this type in place of the file. */
static void put_obstacle(mode_t type)
{
    if (type == S_IFREG)
        put_foreign(1, 1);
    else if (type == S_IFIFO)
        ok(mkfifo(system_file(), 0666));
    else if (type == S_IFDIR)
        ok(mkdir(system_file(), 0700));
    else
        ok(symlink(path_of(own_dir, "target"), system_file()));
}

static void remains(const char *path, mode_t type)
{
    ck_assert_uint_eq(stat_of(path).st_mode & S_IFMT, type);
    ok(remove(path));
}

static const mode_t types[] = {S_IFLNK, S_IFIFO, S_IFDIR, S_IFREG};

PX_TEST(what_is_no_file_and_our_own_is_left_alone)
{
    put_file(path_of(own_dir, "target"), "precious");
    for (size_t i = 0; types[i] != S_IFREG; i++) {
        uint64_t began = px_clock_ms();

        put_obstacle(types[i]);
        fails(init_as(SYSTEM), NO_PERMISSIONS);
        ck_assert_uint_lt(px_clock_ms() - began, 5000);
        remains(system_file(), types[i]);
    }
    remains(path_of(own_dir, "target"), S_IFREG);
}

static void root_starts(void)
{
    ok(init_as(SYSTEM));
    struct stat st = stat_of(system_file());
    ck_assert(S_ISREG(st.st_mode));
    ck_assert_uint_eq(st.st_uid, 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0600);
    end();
    ck_assert_str_eq(names_in(sys_dir), "");
}

static void put_squatters(void)
{
    put_foreign(1, 1);
    give_away(system_file());
}

PX_TEST(root_takes_the_name_from_whoever_squats_on_it)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    PX_TEST_NEEDS_ROOT;
    put_file(path_of(own_dir, "target"), "precious");
    for (size_t i = 0; i < PX_COUNT(types); i++) {
        put_obstacle(types[i]);
        give_away(system_file());
        root_starts();
    }
    file_is(path_of(own_dir, "target"), "precious");
    ok(unlink(path_of(own_dir, "target")));
    put_squatters();
    PX_AUTOCLOSE int fd = open(system_file(), O_RDWR | O_CLOEXEC);
    ok(fcntl(fd, F_OFD_SETLK, &l)); /* the lock does not help */
    root_starts();
    race((int)px_test_times(20, 100), put_squatters);
}

PX_TEST(a_path_that_was_chosen_is_not_taken_from_another_user)
{
    const char *path = path_of(sys_dir, "theirs");

    PX_TEST_NEEDS_ROOT;
    put_file(path, "precious");
    give_away(path);
    start_with(PMIX_LAUNCHER_RENDEZVOUS_FILE, path);
    end();
    ck_assert_uint_eq(stat_of(path).st_uid, NOBODY);
    file_is(path, "precious");
    ok(unlink(path));
}

/* Only links of the server's own user are followed. */
PX_TEST(it_is_not_removed_through_a_link_of_another_user)
{
    const char *dir = path_of(own_dir, "dir"), *moved = path_of(own_dir, "moved"),
               *other = path_of(own_dir, "other"), *ours = path_of(own_dir, "dir/file"),
               *theirs = path_of(own_dir, "other/file");

    PX_TEST_NEEDS_ROOT;
    ok(mkdir(dir, 0700) || mkdir(other, 0700));
    start_with(PMIX_LAUNCHER_RENDEZVOUS_FILE, ours);
    ok(link(ours, theirs) || rename(dir, moved) || symlink(other, dir) ||
       lchown(dir, 4711, 4711));
    end();
    ck_assert(is_there(theirs));
    ok(unlink(theirs) || unlink(dir) || rmdir(other));
    ok(unlink(path_of(own_dir, "moved/file")) || rmdir(moved));
}

PX_TEST(others_do_not_get_the_name_of_root_who_takes_theirs)
{
    struct px_rendezvous r;

    PX_TEST_NEEDS(px_test_others_load_it(), "root, and a build that others can read");
    give_away(own_dir);
    struct child *a = child_of(SYSTEM, 0), *b = child_of(SYSTEM, NOBODY);

    ok(child_ask(a, 'i'));
    fails(child_ask(b, 'i'), EXISTS);
    child_has_printed(b, "of uid 0");
    ok(child_ask(a, 'f'));
    put_foreign(1, 1); /* stale and readable */
    ok(chmod(system_file(), 0644));
    fails(child_ask(b, 'i'), NO_PERMISSIONS);
    child_has_printed(b, "belongs to uid 0, who alone can remove it");
    remains(system_file(), S_IFREG);
    ok(child_ask(b, 'i'));
    ok(child_ask(a, 'i'));
    ok(child_ask(b, 'f')); /* does not remove the file of the other server */
    ok(px_rendezvous_read(system_file(), &r, NULL));
    ck_assert_int_eq(r.pid, a->pid);
}

PX_TEST_MAIN("server/contact_name", contact_setup, contact_teardown)
