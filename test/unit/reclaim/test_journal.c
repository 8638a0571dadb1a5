/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of the journal: written records are read back, and all other bytes are
 * refused. */
#include "core/reclaim/journal.h"

#include "core/base/attr.h"
#include "core/os/proc.h"
#include "core/reclaim/rmtree.h"
#include "px_test.h"
#include "seccomp.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct px_journal_record head = {
    .type = PX_JOURNAL_HEAD, .x = 4711, .y = 99, .path = "boot node"};
static const struct px_journal_record item = {.type = PX_JOURNAL_ITEM,
                                              .kind = PX_RM_DIR,
                                              .flags = PX_RM_RECURSE | PX_RM_SAME,
                                              .slot = 7,
                                              .scope = 1ull << 63,
                                              .uid = 12345,
                                              .gid = 54321,
                                              .x = 1ull << 40,
                                              .y = 5,
                                              .path = "/tmp/a b,c\n\xff"};
static const struct px_journal_record proc = {.type = PX_JOURNAL_PROC,
                                              .flags = PX_JOURNAL_END,
                                              .slot = PX_JOURNAL_MAX_SLOT - 1,
                                              .scope = 3,
                                              .x = 1,
                                              .y = 7};

/* True if the bytes of r decode to r. */
static bool decodes(const struct px_journal_record *r)
{
    uint8_t bytes[PX_JOURNAL_RECORD_B];
    struct px_journal_record got;
    size_t n = px_journal_encode(r, bytes), at = 0;

    ck_assert_uint_gt(n, 0);
    return px_journal_next(bytes, n, &at, &got);
}

static void same(const struct px_journal_record *a, const struct px_journal_record *b)
{
    ck_assert_mem_eq(a, b, offsetof(struct px_journal_record, path));
    ck_assert_str_eq(a->path ? a->path : "", b->path ? b->path : "");
}

PX_TEST(what_is_encoded_is_decoded)
{
    const struct px_journal_record none = {
        .type = PX_JOURNAL_NONE, .scope = 3, .slot = 9};
    const struct px_journal_record done = {.type = PX_JOURNAL_DONE, .scope = 3};
    const struct px_journal_record *const all[] = {&head, &item, &proc, &none, &done};
    uint8_t bytes[5 * PX_JOURNAL_RECORD_B];
    struct px_journal_record got;
    size_t n = 0, at = 0;

    for (size_t i = 0; i < 5; i++) {
        size_t length = px_journal_encode(all[i], bytes + n);

        ck_assert_uint_gt(length, 0);
        ck_assert_uint_eq(length % 8, 0);
        n += length;
    }
    for (size_t i = 0; i < 5; i++) {
        ck_assert(px_journal_next(bytes, n, &at, &got));
        same(&got, all[i]);
    }
    ck_assert_uint_eq(at, n);
    ck_assert(!px_journal_next(bytes, n, &at, &got));
    ck_assert_uint_eq(at, n);
}

PX_TEST(the_longest_path_fits_and_a_longer_one_is_refused)
{
    char path[PX_RM_MAX_PATH + 2];
    uint8_t bytes[PX_JOURNAL_RECORD_B];
    struct px_journal_record r = item;

    for (size_t i = 0; i < sizeof(path); i++)
        path[i] = i % 200 ? 'x' : '/';
    path[PX_RM_MAX_PATH] = '\0';
    r.path = path;
    ck_assert(decodes(&r));
    path[PX_RM_MAX_PATH] = 'x';
    path[PX_RM_MAX_PATH + 1] = '\0';
    ck_assert_uint_eq(px_journal_encode(&r, bytes), 0);
}

PX_TEST(a_torn_end_is_noticed_wherever_it_is)
{
    uint8_t bytes[2 * PX_JOURNAL_RECORD_B];
    struct px_journal_record got;
    size_t first = px_journal_encode(&head, bytes);
    size_t n = first + px_journal_encode(&item, bytes + first);

    for (size_t cut = 0; cut < n; cut++) {
        size_t at = 0;

        ck_assert_int_eq(px_journal_next(bytes, cut, &at, &got), cut >= first);
        ck_assert_uint_eq(at, cut >= first ? first : 0);
        if (cut >= first) {
            ck_assert(!px_journal_next(bytes, cut, &at, &got));
            ck_assert_uint_eq(at, first);
        }
    }
}

PX_TEST(a_change_of_any_bit_is_noticed)
{
    uint8_t bytes[PX_JOURNAL_RECORD_B];
    struct px_journal_record got;
    size_t n = px_journal_encode(&item, bytes);

    for (size_t bit = 0; bit < 8 * n; bit++) {
        size_t at = 0;

        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        ck_assert_msg(!px_journal_next(bytes, n, &at, &got), "bit %zu", bit);
        ck_assert_uint_eq(at, 0);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

PX_TEST(what_no_server_writes_is_not_read)
{
    static const char *const paths[] = {
        "",          "tmp/a", "/",         "//tmp/a", "/tmp/a/",      "/tmp/./a",
        "/tmp/../a", "/..",   "/proc/1/a", "/sys",    "/tmp//a/b/.//"};
    static const uint64_t pids[] = {0, 1ull << 31, 1ull << 32, UINT64_MAX};
    const struct px_journal_record none = {.type = PX_JOURNAL_NONE, .scope = 3},
                                   done = {.type = PX_JOURNAL_DONE, .scope = 3};
    struct px_journal_record r = item, h = head;
    struct px_journal_record wrong[] = {item, item, item, item, item, proc,
                                        proc, head, head, head, head, none,
                                        none, none, done, done, done, done};

    wrong[0].kind = PX_RM_KEEP + 1;
    wrong[1].kind = 0;
    wrong[2].flags = 1 << 5;
    wrong[3].slot = PX_JOURNAL_MAX_SLOT;
    wrong[4].type = PX_JOURNAL_DONE + 1;
    wrong[5].flags = 2;
    wrong[6].path = "/tmp/a";
    /* members without a meaning for the type are zero */
    wrong[7].kind = PX_RM_FILE;
    wrong[8].flags = PX_RM_RECURSE;
    wrong[9].slot = 1;
    wrong[10].scope = 1;
    wrong[11].kind = PX_RM_FILE;
    wrong[12].path = "/tmp/a";
    wrong[13].flags = PX_JOURNAL_END;
    wrong[14].path = "/tmp/a";
    wrong[15].flags = PX_JOURNAL_END;
    wrong[16].slot = 1;
    wrong[17].kind = PX_RM_FILE;
    ck_assert(decodes(&head) && decodes(&none) && decodes(&done) && decodes(&item));
    for (size_t i = 0; i < PX_COUNT(wrong); i++)
        ck_assert_msg(!decodes(&wrong[i]), "%zu", i);
    for (size_t i = 0; i < PX_COUNT(paths); i++) {
        r.path = paths[i];
        ck_assert_msg(!decodes(&r), "%s", paths[i]);
    }
    r = proc;
    for (size_t i = 0; i < PX_COUNT(pids); i++) {
        r.x = h.x = pids[i];
        ck_assert_msg(!decodes(&r) && !decodes(&h), "%zu", i);
    }
    r.x = h.x = INT32_MAX;
    ck_assert(decodes(&r) && decodes(&h));
}

PX_TEST(a_head_stands_nowhere_but_at_the_beginning)
{
    uint8_t bytes[2 * PX_JOURNAL_RECORD_B];
    struct px_journal_record got;
    size_t at = 0, first = px_journal_encode(&head, bytes);
    size_t n = first + px_journal_encode(&head, bytes + first);

    ck_assert(px_journal_next(bytes, n, &at, &got));
    ck_assert(!px_journal_next(bytes, n, &at, &got));
    at = n + 1; /* past the end */
    ck_assert(!px_journal_next(bytes, n, &at, &got));
    ck_assert_uint_eq(at, n + 1);
}

PX_TEST(a_start_time_belongs_to_one_process)
{
    PX_TEST_NEEDS_PROC;
    int status;
    uint64_t mine = px_journal_start_time(getpid());
    pid_t child = fork();

    if (child == 0) {
        pause();
        _exit(0);
    }
    ck_assert_uint_gt(mine, 0);
    uint64_t its = px_journal_start_time(child);
    ck_assert_uint_ge(its, mine);
    ck_assert(!px_osproc_ended(child, its));
    ck_assert(px_osproc_ended(child, its + 1));
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitid(P_PID, (id_t)child, NULL, WEXITED | WNOWAIT), 0);
    ck_assert_uint_eq(px_journal_start_time(child), 0); /* does not block */
    ck_assert(px_osproc_ended(child, its));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_uint_eq(px_journal_start_time(child), 0);
    ck_assert(px_osproc_ended(child, 0));
    ck_assert_uint_eq(px_journal_start_time(0), 0);
    ck_assert_uint_eq(px_journal_start_time(-1), 0);
}

PX_TEST(whereabouts_are_those_of_this_boot_and_node)
{
    PX_TEST_NEEDS_PROC;
    char here[320], there[320], longest[300];
    struct px_journal_record r = {.type = PX_JOURNAL_HEAD, .x = 1, .path = here};

    px_journal_whereabouts("node 1", here);
    px_journal_whereabouts("node 2", there);
    ck_assert_str_ne(here, there);
    ck_assert_str_eq(strchr(here, ' '), " node 1");
    ck_assert_uint_gt(strcspn(here, " "), 35);
    ck_assert(px_journal_is_here(&r, "node 1") && px_journal_is_here(&r, NULL));
    ck_assert(!px_journal_is_here(&r, "node 2"));
    here[0] = here[0] == '0' ? '1' : '0';
    ck_assert(!px_journal_is_here(&r, "node 1"));
    ck_assert(!px_journal_is_here(&r, NULL));
    r.path = " node 1"; /* written by a system that hides its boot id */
    ck_assert(!px_journal_is_here(&r, "node 1"));

    memset(longest, 'n', 255);
    longest[255] = '\0';
    px_journal_whereabouts(longest, here);
    ck_assert_str_eq(strchr(here, ' ') + 1, longest);
    r.path = here;
    ck_assert(px_journal_is_here(&r, longest));
    memset(longest, 'n', 299);
    longest[299] = '\0';
    px_journal_whereabouts(longest, here);
    ck_assert_uint_lt(strlen(here), sizeof(here));
}

/* Recomputes the checksum, as a forger of records could. */
static void make_sum_right(uint8_t *bytes, size_t n)
{
    uint64_t sum = 0xcbf29ce484222325u;

    for (size_t i = 16; i < n; i++)
        sum = (sum ^ bytes[i]) * 0x100000001b3u;
    memcpy(bytes + 8, &sum, sizeof(sum));
}

PX_TEST(behind_a_path_there_is_nothing_but_few_zeros)
{
    uint8_t bytes[PX_JOURNAL_RECORD_B] = {0};
    struct px_journal_record got, r = item;

    r.path = "/tmp/abcd"; /* 9 bytes with the NUL, padded by 7 zeros */
    size_t at = 0, n = px_journal_encode(&r, bytes);
    make_sum_right(bytes, n);
    ck_assert(px_journal_next(bytes, n, &at, &got));
    for (size_t i = n - 6; i < n; i++) {
        at = 0;
        bytes[i] = 'x';
        make_sum_right(bytes, n);
        ck_assert(!px_journal_next(bytes, n, &at, &got));
        bytes[i] = 0;
    }
    uint32_t longer = (uint32_t)n + 8;
    memcpy(bytes + 4, &longer, sizeof(longer));
    make_sum_right(bytes, longer);
    at = 0;
    ck_assert(!px_journal_next(bytes, longer, &at, &got));
    ck_assert_uint_eq(at, 0);
}

static int knows_only_the_node(void)
{
    char here[320];
    const struct px_journal_record r = {.type = PX_JOURNAL_HEAD, .x = 1, .path = here};

    ck_assert(px_test_deny(SYS_openat, EACCES));
    px_journal_whereabouts("node", here);
    return strcmp(here, " node") == 0 && !px_journal_is_here(&r, "node");
}

#ifndef SYS_readlink /* newer machines have one call for both */
#define SYS_readlink SYS_readlinkat
#endif

static int lacks_the_pid_namespace(void)
{
    char here[320];

    ck_assert(px_test_deny(SYS_readlink, EACCES));
    px_journal_whereabouts("node", here);
    return strcspn(here, " ") == 36 && strcmp(here + 36, " node") == 0;
}

PX_TEST(without_a_boot_id_no_server_counts_as_local)
{
    PX_TEST_NEEDS_PROC;
    ck_assert_int_eq(px_test_in_child(knows_only_the_node), 1);
    ck_assert_int_eq(px_test_in_child(lacks_the_pid_namespace), 1);
}

PX_TEST_MAIN("reclaim/journal", NULL, NULL)
