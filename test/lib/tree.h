/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees of files in a folder of the test's own, and what is left of them. Whatever fails fails the test. */
#ifndef PX_TEST_TREE_H
#define PX_TEST_TREE_H

#include <stdbool.h>
#include <sys/types.h>

/* A fresh folder, mode 0755, in the folder given, and its end with all in it. */
void px_tree_begin(const char *in);
void px_tree_end(void);
/* Its path, without a link in it. */
const char *px_tree_root(void);
/* "root/name"; good until 16 more were asked for. */
const char *px_tree_path(const char *name);
/* Makes what the names separated by spaces say, and the folders that lead to it: "d/" a folder, "f" a
 * file (its content is its name), "l@target" a symbolic link. */
void px_tree_make(const char *names);
void px_tree_chown(const char *name, uid_t uid, gid_t gid);
/* What there is in the folder of that name ("": the root), sorted, as px_tree_make has it but without
 * targets and contents. The caller frees it. */
char *px_tree_list(const char *name);
bool px_tree_has(const char *name);

#define px_assert_tree(name, expected)     \
    do {                                   \
        char *list_ = px_tree_list(name);  \
        ck_assert_str_eq(list_, expected); \
        free(list_);                       \
    } while (0)

#endif
