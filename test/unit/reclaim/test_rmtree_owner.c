/* SPDX-License-Identifier: BSD-3-Clause */
/* What belongs to others, what is mounted, and what can not be removed. As some user,
 * and as root in a user's name. */
#include "rm_run.h"
#include "seccomp.h"

#include "core/base/attr.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/fs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { USER = 12345, OTHER = 12346 };

#define NEED_ROOT() PX_TEST_NEEDS(geteuid() == 0, "root")

static void begin(void)
{
    px_tree_begin("/tmp");
    px_test_deny_by_env();
}

static void give(const char *names, uid_t uid, gid_t gid)
{
    char *copy = strdup(names), *rest = copy, *name;

    while ((name = strsep(&rest, " ")))
        px_tree_chown(name, uid, gid);
    free(copy);
}

/* What a process of its own found. */
struct report {
    struct px_pcleanup_totals totals;
    char said[sizeof(rm_said)];
};

/* Removes the tree as the user, or, if as_root, as root in the user's name. */
static struct report remove_for(uid_t user, bool as_root, const char *name, int flags)
{
    struct px_rm_item item = {px_tree_path(name), PX_RM_DIR, (uint8_t)flags, 0, 0};
    struct report report;
    int ends[2], status;

    ck_assert_int_eq(pipe(ends), 0);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        close(ends[0]);
        if (!as_root && (setgroups(0, NULL) || setresgid(user, user, user) ||
                         setresuid(user, user, user)))
            _exit(1);
        rm_run_as(user, &item, 1);
        report.totals = rm_totals;
        memcpy(report.said, rm_said, sizeof(rm_said));
        _exit(write(ends[1], &report, sizeof(report)) != sizeof(report));
    }
    close(ends[1]);
    size_t got = 0;
    for (ssize_t n; got < sizeof(report) && (n = read(ends[0], (char *)&report + got,
                                                      sizeof(report) - got)) > 0;)
        got += (size_t)n;
    close(ends[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(got, sizeof(report));
    return report;
}

/* ---- others
 * ----------------------------------------------------------------------------------- */

START_TEST(what_is_in_it_of_others_stays_with_its_parents)
{
    NEED_ROOT();
    for (int as_root = 0; as_root <= 1; as_root++) {
        px_tree_make("d/a d/s/b d/s/root d/t/c");
        give("d d/a d/s d/s/b d/t d/t/c", USER, USER);
        struct report r = remove_for(USER, as_root, "d", PX_RM_RECURSE);
        px_assert_tree("", "d/ d/s/ d/s/root");
        ck_assert_str_eq(r.said, "FOREIGN d/s/root");
        ck_assert_uint_eq(r.totals.foreign, 1);
        ck_assert_uint_eq(r.totals.files, 3);
        ck_assert_uint_eq(r.totals.dirs, 1);
        ck_assert_int_eq(unlink(px_tree_path("d/s/root")), 0);
        remove_for(USER, true, "d", PX_RM_RECURSE);
        px_assert_tree("", "");
    }
}
END_TEST

START_TEST(a_folder_of_another_is_not_entered)
{
    NEED_ROOT();
    for (int as_root = 0; as_root <= 1; as_root++) {
        px_tree_make("d/s/mine d/closed/mine d/empty/");
        give("d d/s/mine d/closed/mine", USER, USER);
        give("d/s d/closed d/empty", OTHER, USER);
        ck_assert_int_eq(chmod(px_tree_path("d/s"), 0777), 0);
        ck_assert_int_eq(chmod(px_tree_path("d/closed"), 0700), 0);
        struct report r = remove_for(USER, as_root, "d", PX_RM_RECURSE);
        ck_assert_uint_eq(r.totals.foreign, 3);
        ck_assert_uint_eq(r.totals.failed, 0);
        px_assert_tree("", "d/ d/closed/ d/closed/mine d/empty/ d/s/ d/s/mine");
        remove_for(0, true, "d", PX_RM_RECURSE | PX_RM_ANY_GID);
        px_tree_end();
        px_tree_begin("/tmp");
    }
}
END_TEST

START_TEST(a_top_of_another_is_left_alone)
{
    NEED_ROOT();
    px_tree_make("d/a");
    give("d/a", USER, USER);
    struct report r = remove_for(USER, true, "d", PX_RM_RECURSE);
    ck_assert_str_eq(r.said, "FOREIGN d");
    ck_assert_int_eq(chmod(px_tree_path("d"), 0700), 0);
    r = remove_for(USER, false, "d", PX_RM_RECURSE);
    ck_assert_str_eq(r.said, "FOREIGN d");
    px_assert_tree("", "d/ d/a");
}
END_TEST

START_TEST(files_named_are_removed_only_if_they_are_the_users)
{
    NEED_ROOT();
    px_tree_make("a b c l@b");
    give("a l", USER, USER);
    give("c", USER, OTHER);
    struct px_rm_item items[] = {{px_tree_path("a"), PX_RM_FILE, 0, 0, 0},
                                 {px_tree_path("b"), PX_RM_FILE, 0, 0, 0},
                                 {px_tree_path("c"), PX_RM_FILE, 0, 0, 0},
                                 {px_tree_path("l"), PX_RM_FILE, 0, 0, 0}};
    rm_run_as(USER, items, PX_COUNT(items));
    px_assert_tree("", "b c");
    rm_assert_said("FOREIGN b, FOREIGN c");
    items[2].flags = PX_RM_ANY_GID;
    rm_run_as(USER, &items[2], 1);
    px_assert_tree("", "b");
}
END_TEST

START_TEST(what_has_another_group_stays_unless_any_will_do)
{
    NEED_ROOT();
    for (int as_root = 0; as_root <= 1; as_root++) {
        px_tree_make("d/a d/g d/setgid/inherits");
        give("d d/a", USER, USER);
        give("d/g d/setgid d/setgid/inherits", USER, OTHER);
        ck_assert_int_eq(chmod(px_tree_path("d/setgid"), 02755), 0);
        struct report r = remove_for(USER, as_root, "d", PX_RM_RECURSE);
        px_assert_tree("", "d/ d/g d/setgid/ d/setgid/inherits");
        ck_assert_uint_eq(r.totals.foreign, 2);
        r = remove_for(USER, true, "d", PX_RM_RECURSE | PX_RM_ANY_GID);
        px_assert_tree("", "");
        ck_assert_uint_eq(r.totals.foreign, 0);
    }
}
END_TEST

START_TEST(links_of_others_stay_and_own_links_to_others_go)
{
    NEED_ROOT();
    px_tree_make("canary/f d/own@../canary d/theirs@../canary");
    give("d d/own", USER, USER);
    struct report r = remove_for(USER, true, "d", PX_RM_RECURSE);
    px_assert_tree("", "canary/ canary/f d/ d/theirs@");
    ck_assert_str_eq(r.said, "FOREIGN d/theirs");
}
END_TEST

START_TEST(a_hard_link_to_anothers_file_stays)
{
    NEED_ROOT();
    px_tree_make("canary d/a");
    give("d d/a", USER, USER);
    ck_assert_int_eq(link(px_tree_path("canary"), px_tree_path("d/link")), 0);
    struct report r = remove_for(USER, true, "d", PX_RM_RECURSE);
    px_assert_tree("", "canary d/ d/link");
    ck_assert_str_eq(r.said, "FOREIGN d/link");
}
END_TEST

/* ---- what the system does not let go
 * ----------------------------------------------------------- */

START_TEST(what_the_user_may_not_remove_is_told)
{
    NEED_ROOT();
    px_tree_make("d/a/f d/locked/f d/unreadable/f d/unreadable_empty/");
    give("d d/a d/a/f d/locked d/locked/f d/unreadable d/unreadable/f "
         "d/unreadable_empty",
         USER, USER);
    ck_assert_int_eq(chmod(px_tree_path("d/locked"), 0500), 0);
    ck_assert_int_eq(chmod(px_tree_path("d/unreadable"), 0300), 0);
    ck_assert_int_eq(chmod(px_tree_path("d/unreadable_empty"), 0), 0);
    struct report r = remove_for(USER, false, "d", PX_RM_RECURSE);
    px_assert_tree("", "d/ d/locked/ d/locked/f d/unreadable/ d/unreadable/f");
    ck_assert_ptr_nonnull(strstr(r.said, "FAILED d/locked/f EACCES"));
    ck_assert_ptr_nonnull(strstr(r.said, "FAILED d/unreadable EACCES"));
    ck_assert_uint_eq(r.totals.failed, 2);
    ck_assert_uint_eq(r.totals.dirs, 2);
}
END_TEST

static bool set_immutable(const char *name, bool on)
{
    PX_AUTOCLOSE int fd = open(px_tree_path(name), O_RDONLY | O_CLOEXEC);
    int flags = 0;

    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
        return false;
    flags = on ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
    return ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
}

START_TEST(what_is_immutable_stays_and_the_rest_goes)
{
    NEED_ROOT();
    px_tree_make("d/a d/fixed d/s/f d/t/g");
    PX_TEST_NEEDS(set_immutable("d/fixed", true), "immutable files");
    ck_assert(set_immutable("d/s", true));
    rm_dir("d", PX_RM_RECURSE);
    set_immutable("d/fixed", false);
    set_immutable("d/s", false);
    px_assert_tree("", "d/ d/fixed d/s/ d/s/f");
    ck_assert_ptr_nonnull(strstr(rm_said, "FAILED d/fixed EPERM"));
    ck_assert_ptr_nonnull(strstr(rm_said, "FAILED d/s/f EPERM"));
    rm_assert_removed(2, 1);
}
END_TEST

START_TEST(what_the_system_refuses_is_told_with_its_errno)
{
    static const struct {
        long call;
        int errnum;
        const char *said;
    } rows[] = {
        {SYS_unlinkat, EROFS, "FAILED d/s/f EROFS"},
        {SYS_unlinkat, EIO, "FAILED d/s/f EIO"},
        {SYS_unlinkat, EBUSY, "d/s/f"},
        {SYS_getdents64, EIO, "FAILED d EIO"},
        {SYS_openat, EIO, "FAILED d EIO"},
        {SYS_mmap, ENOMEM, ""},
    };
    struct px_rm_item item = {px_tree_path("d"), PX_RM_DIR, PX_RM_RECURSE, 0, 0};

    px_tree_make("d/s/f");
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        int status;
        pid_t pid = fork();

        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
            if (!px_test_deny(rows[i].call, rows[i].errnum))
                _exit(2);
            int rc = px_rm_run(&item, 1, geteuid(), getegid(), rm_told, rm_said,
                               &rm_totals);
            if (rows[i].call == SYS_mmap)
                _exit(rc != ENOMEM);
            _exit(rc || !strstr(rm_said, rows[i].said) || rm_totals.failed != 1);
        }
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_msg(status == 0, "%s", rows[i].said);
    }
    px_assert_tree("", "d/ d/s/ d/s/f");
}
END_TEST

START_TEST(a_file_that_can_not_be_removed_is_told)
{
    struct px_rm_item items[] = {{px_tree_path("f"), PX_RM_FILE, 0, 0, 0},
                                 {px_tree_path("d/g"), PX_RM_FILE, 0, 0, 0}};
    int status;

    px_tree_make("f d/g");
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (!px_test_deny(SYS_unlinkat, EROFS))
            _exit(2);
        rm_run_as(0, items, 2);
        _exit(strcmp(rm_said, "FAILED f EROFS, FAILED d/g EROFS") != 0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    px_assert_tree("", "d/ d/g f");
}
END_TEST

/* ---- mounts
 * ----------------------------------------------------------------------------------- */

/* A mount namespace of this process's own, so that nothing is seen, or left,
 * outside. */
static bool mounts_are_private(void)
{
    return unshare(CLONE_NEWNS) == 0 &&
           mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static void bind_to(const char *from, const char *to)
{
    ck_assert_int_eq(mount(px_tree_path(from), px_tree_path(to), NULL, MS_BIND, NULL),
                     0);
}

START_TEST(what_is_mounted_below_the_top_stays_with_its_parents)
{
    NEED_ROOT();
    PX_TEST_NEEDS(mounts_are_private(), "a mount namespace");
    px_tree_make("canary/f file d/a d/s/bound/ d/s/file d/s/b d/other/ d/t/c");
    bind_to("canary", "d/s/bound");
    bind_to("file", "d/s/file");
    ck_assert_int_eq(mount("none", px_tree_path("d/other"), "tmpfs", 0, NULL), 0);
    px_tree_make("d/other/f");
    rm_file("d/s/file");
    ck_assert(!strcmp(rm_said, "MOUNT d/s/file") ||
              !strcmp(rm_said, "FAILED d/s/file EBUSY"));
    rm_dir("d", PX_RM_RECURSE);
    ck_assert_uint_eq(rm_totals.failed, 3);
    ck_assert_ptr_nonnull(strstr(rm_said, "MOUNT d/s/bound"));
    ck_assert_ptr_nonnull(strstr(rm_said, "MOUNT d/s/file"));
    ck_assert_ptr_nonnull(strstr(rm_said, "MOUNT d/other"));
    ck_assert(px_tree_has("d/other/f"));
    rm_assert_removed(3, 1);
    umount2(px_tree_path("d/s/bound"), MNT_DETACH);
    umount2(px_tree_path("d/s/file"), MNT_DETACH);
    umount2(px_tree_path("d/other"), MNT_DETACH);
    px_assert_tree("", "canary/ canary/f d/ d/other/ d/s/ d/s/bound/ d/s/file file");
}
END_TEST

START_TEST(a_kept_folder_is_kept_by_any_name)
{
    NEED_ROOT();
    PX_TEST_NEEDS(mounts_are_private(), "a mount namespace");
    px_tree_make("kept/f d/");
    bind_to("kept", "d");
    rm_dir_but("d", PX_RM_RECURSE, "kept");
    rm_assert_said("ASKED d");
    px_assert_tree("", "d/ d/f kept/ kept/f");
    ck_assert_int_eq(umount(px_tree_path("d")), 0);
}
END_TEST

START_TEST(a_folder_bound_into_itself_is_no_endless_way)
{
    NEED_ROOT();
    PX_TEST_NEEDS(mounts_are_private(), "a mount namespace");
    px_tree_make("d/s/f d/s/in/");
    bind_to("d", "d/s/in");
    rm_dir("d", PX_RM_RECURSE);
    rm_assert_said("MOUNT d/s/in");
    umount2(px_tree_path("d/s/in"), MNT_DETACH);
    px_assert_tree("", "d/ d/s/ d/s/in/");
}
END_TEST

START_TEST(the_way_to_the_top_may_have_mounts)
{
    NEED_ROOT();
    PX_TEST_NEEDS(mounts_are_private(), "a mount namespace");
    px_tree_make("real/d/f real/g m/");
    bind_to("real", "m");
    rm_dir("m/d", PX_RM_RECURSE);
    rm_assert_said("");
    rm_dir("m", PX_RM_RECURSE);
    ck_assert(!strcmp(rm_said, "FAILED m EBUSY") || !strcmp(rm_said, "MOUNT m"));
    umount2(px_tree_path("m"), MNT_DETACH);
    px_assert_tree("", "m/ real/");
}
END_TEST

/* Nothing would be removed even if it were not refused. */
enum { HARMLESS = PX_RM_EMPTY | PX_RM_LEAVE_TOP };

START_TEST(the_root_folder_and_what_the_kernel_mounts_are_refused_by_any_name)
{
    static const char *const types[] = {"proc",    "sysfs",      "cgroup2",
                                        "debugfs", "securityfs", "devpts"};
    NEED_ROOT();
    PX_TEST_NEEDS(mounts_are_private(), "a mount namespace");
    px_tree_make("d/");
    ck_assert_int_eq(mount("/", px_tree_path("d"), NULL, MS_BIND, NULL), 0);
    struct px_rm_item item = {px_tree_path("d"), PX_RM_DIR, HARMLESS, 0, 0};
    rm_run_as(0, &item, 1);
    umount2(item.path, MNT_DETACH);
    rm_assert_said("REFUSED d");
    for (size_t i = 0; i < PX_COUNT(types); i++) {
        if (mount("none", item.path, types[i], 0, NULL) < 0)
            continue; /* not in this kernel */
        rm_run_as(0, &item, 1);
        rm_assert_said("REFUSED d");
        if (i == 0) {
            rm_file("d/uptime");
            rm_assert_said("REFUSED d/uptime");
        }
        umount2(item.path, MNT_DETACH);
    }
}
END_TEST

PX_TEST_MAIN_WITH(
    "reclaim/rmtree_owner", begin, px_tree_end,
    what_is_in_it_of_others_stays_with_its_parents, a_folder_of_another_is_not_entered,
    a_top_of_another_is_left_alone, files_named_are_removed_only_if_they_are_the_users,
    what_has_another_group_stays_unless_any_will_do,
    links_of_others_stay_and_own_links_to_others_go, a_hard_link_to_anothers_file_stays,
    what_the_user_may_not_remove_is_told, what_is_immutable_stays_and_the_rest_goes,
    what_the_system_refuses_is_told_with_its_errno,
    a_file_that_can_not_be_removed_is_told,
    what_is_mounted_below_the_top_stays_with_its_parents,
    a_kept_folder_is_kept_by_any_name, a_folder_bound_into_itself_is_no_endless_way,
    the_way_to_the_top_may_have_mounts,
    the_root_folder_and_what_the_kernel_mounts_are_refused_by_any_name)
