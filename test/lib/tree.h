/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees of files in a folder of the test, and lists of the remaining files. Each failure fails the test. */
#ifndef PX_TEST_TREE_H
#define PX_TEST_TREE_H

#include <stdbool.h>
#include <sys/types.h>

/* Makes a fresh folder, mode 0755, in the given folder. px_tree_end removes it with its contents. */
void px_tree_begin(const char *in);
void px_tree_end(void);
/* Returns the path of the folder, without a symbolic link in it. */
const char *px_tree_root(void);
/* Returns "root/name"; valid for 16 more calls. */
const char *px_tree_path(const char *name);
/* Makes the named files, separated by spaces, and their parent folders: "d/" is a folder, "f" a file with
 * its name as the content, "l@target" a symbolic link. */
void px_tree_make(const char *names);
void px_tree_chown(const char *name, uid_t uid, gid_t gid);
/* Returns the sorted contents of a folder ("": the root) in the form of px_tree_make, without targets and
 * contents of files. The caller frees the text. */
char *px_tree_list(const char *name);
bool px_tree_has(const char *name);

#define px_assert_tree(name, expected)     \
    do {                                   \
        char *list_ = px_tree_list(name);  \
        ck_assert_str_eq(list_, expected); \
        free(list_);                       \
    } while (0)

#endif
