/* SPDX-License-Identifier: BSD-3-Clause */
/* Random trees, owners, kept names and flags: the files left and the totals must match
 * a simple model on a table of names. PX_TEST_SEED=<number> repeats a run. */
#include "rm_run.h"

#include <sys/stat.h>
#include <time.h>

enum { N_NODES = 40, N_KEEPS = 4, N_ROUNDS = 12, USER = 12345, OTHER = 12346 };

/* A file or folder. Parents come before their entries; the first node is the top. */
struct node {
    char name[512];
    int parent;
    bool dir, foreign, other_group, kept;
    bool left; /* still there at the end */
};

static struct node nodes[N_NODES];
static unsigned int n_nodes, seed;
static struct px_pcleanup_totals expected;

static void begin(void)
{
    const char *given = getenv("PX_TEST_SEED");

    rm_begin();
    seed = given ? (unsigned int)strtoul(given, NULL, 10) : (unsigned int)time(NULL);
    srandom(seed);
}

static bool one_in(unsigned int n)
{
    return (unsigned long)random() % n == 0;
}

static void make_nodes(bool as_root)
{
    nodes[0] = (struct node){.name = "d", .parent = -1, .dir = true};
    n_nodes = 2 + (unsigned int)random() % (N_NODES - 2);
    for (unsigned int i = 1; i < n_nodes; i++) {
        struct node *n = &nodes[i];
        int parent;

        do
            parent = (int)((unsigned long)random() % i);
        while (!nodes[parent].dir || strlen(nodes[parent].name) > 400);
        *n = (struct node){.parent = parent,
                           .dir = one_in(2),
                           .foreign = as_root && one_in(12),
                           .other_group = as_root && one_in(12)};
        char last[16];

        snprintf(last, sizeof(last), "/%c%u", n->dir ? 'd' : 'f', i);
        strcpy(n->name, nodes[parent].name);
        strcat(n->name, last);
    }
}

static void make_tree(void)
{
    char path[PATH_MAX];

    for (unsigned int i = 0; i < n_nodes; i++) {
        snprintf(path, sizeof(path), "%.511s%s", nodes[i].name,
                 nodes[i].dir ? "/" : "");
        px_tree_make(path);
        if (geteuid() == 0)
            px_tree_chown(nodes[i].name, nodes[i].foreign ? OTHER : USER,
                          nodes[i].other_group ? OTHER : USER);
    }
}

/* ---- the model ------------------------------------------------------------------ */

static bool is_foreign(const struct node *n, int flags)
{
    return n->foreign || (n->other_group && !(flags & PX_RM_ANY_GID));
}

static void leave_all_below(unsigned int i)
{
    nodes[i].left = true;
    for (unsigned int k = i + 1; k < n_nodes; k++)
        if (nodes[k].parent == (int)i)
            leave_all_below(k);
}

/* Computes the final state of node i and of its entries. */
static void model(unsigned int i, int flags)
{
    struct node *n = &nodes[i];
    bool stays = false;

    if (!n->dir && flags & PX_RM_EMPTY) {
        n->left = true;
    } else if (i && n->dir && !(flags & PX_RM_RECURSE)) {
        leave_all_below(i);
    } else if (n->kept) {
        leave_all_below(i);
        expected.kept++;
    } else if (is_foreign(n, flags)) {
        leave_all_below(i);
        expected.foreign++;
    } else if (!n->dir) {
        expected.files++;
    } else {
        for (unsigned int k = i + 1; k < n_nodes; k++)
            if (nodes[k].parent == (int)i) {
                model(k, flags);
                stays |= nodes[k].left;
            }
        n->left = stays || (!i && flags & PX_RM_LEAVE_TOP);
        expected.dirs += !n->left;
    }
}

/* ---- comparison ----------------------------------------------------------------- */

static void round_with(int flags)
{
    static char kept[N_KEEPS][PATH_MAX];
    struct px_rm_item items[N_KEEPS + 1];
    size_t n = 0;

    make_nodes(geteuid() == 0);
    make_tree();
    for (int i = 0; i < N_KEEPS; i++)
        if (one_in(2)) {
            struct node *node = &nodes[1 + (unsigned long)random() % (n_nodes - 1)];

            node->kept = true;
            snprintf(kept[n], PATH_MAX, "%s", px_tree_path(node->name));
            items[n] = (struct px_rm_item){.path = kept[n], .kind = PX_RM_KEEP};
            n++;
        }
    items[n++] = (struct px_rm_item){
        .path = px_tree_path("d"), .kind = PX_RM_DIR, .flags = (uint8_t)flags};
    expected = (struct px_pcleanup_totals){0};
    model(0, flags);
    rm_run_as(geteuid() == 0 ? USER : 0, items, n);
    for (unsigned int i = 0; i < n_nodes; i++)
        ck_assert_msg(px_tree_has(nodes[i].name) == nodes[i].left,
                      "%s is %s, seed %u, flags %d", nodes[i].name,
                      nodes[i].left ? "gone" : "left", seed, flags);
    ck_assert_msg(memcmp(&expected, &rm_totals, sizeof(expected)) == 0,
                  "totals, seed %u, flags %d: %s", seed, flags, rm_logged);
    for (unsigned int i = 0; geteuid() == 0 && i < n_nodes; i++)
        if (nodes[i].left)
            px_tree_chown(nodes[i].name, 0, 0);
    rm_dir("d", PX_RM_RECURSE);
    px_assert_tree("", "");
}

PX_TEST(what_is_left_of_a_random_tree_matches_the_model)
{
    for (int i = 0; i < N_ROUNDS; i++)
        for (int flags = 0; flags < PX_RM_SAME; flags++)
            round_with(flags);
}

PX_TEST_MAIN("reclaim/rmtree_model", begin, px_tree_end)
