/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for rendezvous files in folders with unrelated entries. */
#include "core/link/rendezvous.h"

#include "core/base/str.h"
#include "px_test.h"
#include "tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void setup(void)
{
    px_tree_begin(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
}

static char found[512]; /* names below the root, each followed by a space */

static bool note(void *arg, const char *path)
{
    size_t n = strlen(found);

    ck_assert_ptr_eq(arg, found);
    snprintf(found + n, sizeof(found) - n, "%s ", path + strlen(px_tree_root()) + 1);
    return strstr(path, "/last") != NULL;
}

static bool search(const char *name, bool prefix)
{
    const char *const names[] = {name, "other", NULL};

    found[0] = '\0';
    return px_rendezvous_search(px_tree_root(), names, prefix, note, found);
}

PX_TEST(files_are_found_by_name_or_by_its_begin)
{
    px_tree_make("d/pmix.a d/pmix.ab d/pmix l@d");
    ck_assert(!search("pmix.a", false));
    ck_assert_str_eq(found, "d/pmix.a ");
    ck_assert(!search("pmix.a", true));
    ck_assert_ptr_nonnull(strstr(found, "d/pmix.ab "));
    ck_assert_uint_eq(strlen(found), strlen("d/pmix.a d/pmix.ab "));
    ck_assert(!search("pmix.b", true));
    ck_assert_str_eq(found, "");
}

PX_TEST(the_search_ends_when_it_was_the_right_one)
{
    px_tree_make("d/last d/e/last");
    ck_assert(search("last", false));
    ck_assert_str_eq(found, "d/last ");
}

PX_TEST(files_come_before_what_is_in_folders)
{
    px_tree_make("0/a 1/2/a 1/a a z/a");
    ck_assert(!search("a", false));
    ck_assert_int_eq(strncmp(found, "a ", 2), 0);
    ck_assert_ptr_nonnull(strstr(found, "1/a 1/2/a "));
}

PX_TEST(it_goes_down_eight_folders)
{
    px_tree_make("1/2/3/4/5/6/7/a 1/2/3/4/5/6/7/8/a");
    ck_assert(!search("a", false));
    ck_assert_str_eq(found, "1/2/3/4/5/6/7/a ");
}

/* Opens a folder that the search reads before the other. */
static int make_before(const char *other)
{
    char name[16];
    bool met = false;

    for (int i = 0; i < 64; i++) {
        const struct dirent *e = NULL;
        DIR *dir;

        snprintf(name, sizeof(name), "f%d", i);
        ok(mkdir(px_tree_path(name), 0700));
        dir = opendir(px_tree_root());
        while ((e = readdir(dir)) && strcmp(e->d_name, other) != 0)
            met = met || strcmp(e->d_name, name) == 0;
        closedir(dir);
        if (met)
            return open(px_tree_path(name), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    return -1;
}

PX_TEST(what_others_put_beside_it_does_not_hide_it)
{
    enum { TOO_MANY = 65600 };
    char name[16];

    px_tree_make("own/a");
    int fd = make_before("own");
    ck_assert_int_ge(fd, 0);
    ok(fchmod(fd, 0777));
    for (int i = 0; i < TOO_MANY; i++) {
        snprintf(name, sizeof(name), "%d", i);
        ok(mknodat(fd, name, S_IFREG | 0600, 0));
    }
    close(fd);
    ck_assert(!search("a", false));
    ck_assert_str_eq(found, "own/a ");
}

PX_TEST(the_faster_address_stands_after_the_common_lines)
{
    static const char *const rows[][2] = {
        {"a.0;tcp4://h:1\n4.2.9\n7\n0:0\nnow\n\nTENON_SERVER_ADDRESS=usock:///s\n",
         "usock:///s"},
        {"a.0;tcp4://h:1\nv4.2.9\n\n\n\nTENON_SERVER_ADDRESS=usock:///s", "usock:///s"},
        {"a.0;tcp4://h:1\n4.2.9\n7\n0:0\nnow\n\nTENON_SERVER_ADDRESS=\n", ""},
        {"a.0;tcp4://h:1\nTENON_SERVER_ADDRESS=usock:///s\n", ""},
        {"a.0;tcp4://h:1\n", ""},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTOFREE char *text = strdup(rows[i][0]);
        struct px_rendezvous r;

        ok(px_rendezvous_parse(text, &r));
        ck_assert_str_eq(r.faster, rows[i][1]);
        ck_assert_str_eq(r.uri.address, "tcp4://h:1");
    }
}

PX_TEST_MAIN("link/rendezvous", setup, px_tree_end)
