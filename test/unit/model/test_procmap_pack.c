/* SPDX-License-Identifier: BSD-3-Clause */
/* Making maps, also against the other implementation if it is installed; and the form that holds
 * NULs. */
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/model/procmap.h"
#include "core/wire/codec_impl.h"
#include "pmix_server.h"
#include "px_test.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static uint32_t seed = 1;

static uint32_t random_below(uint32_t n)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

static void assert_nodes(const char *text, const char *expected)
{
    PX_AUTO(px_strv) names = NULL;

    ck_assert_int_eq(px_map_expand_nodes(text, &names, NULL), PMIX_SUCCESS);
    PX_AUTOFREE char *joined = px_strv_join(names, ',');
    ck_assert_str_eq(joined, expected);
}

START_TEST(node_lists_pack_to_what_other_implementations_print)
{
    static const char *const rows[][2] = {
        {"node1,node2,node3", "pmix[node[1:1-3]]"},
        {"node01,node02,node05,node06", "pmix[node[2:1-2,5-6]]"},
        {"n9,n10,n11", "pmix[n[1:9],n[2:10-11]]"},
        {"n1x,n2x,n3x", "pmix[n[1:1-3]x]"},
        {"localhost", "pmix[localhost]"},
        {"host-1,host-2", "pmix[host-1,host-2]"},
        {"a28n01,a99n02,a28n02", "pmix[a[2:28]n01,a[2:99,28]n02]"},
        {"192.168.1.1,192.168.1.2", "pmix[192.168.1.1,192.168.1.2]"},
        {"n1.dom,n2.dom", "pmix[n1.dom,n2.dom]"},
        {"001,002", "pmix[[3:1-2]]"},
        {"1a,2a", "pmix[[1:1-2]a]"},
        {"a3,a2,a1", "pmix[a[1:3,2,1]]"},
        {"0,00", "pmix[[1:0],[2:0]]"},
        {"a1,a1,a1", "pmix[a[1:1,1,1]]"},
        {"n0,n1", "pmix[n[1:0-1]]"},
        {"vm", "pmix[vm]"},
        {"", "raw:"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTOFREE char *out = NULL;
        ck_assert_int_eq(px_map_pack_nodes(rows[i][0], &out), PMIX_SUCCESS);
        ck_assert_str_eq(out, rows[i][1]);
    }
}
END_TEST

START_TEST(rank_lists_pack_to_what_other_implementations_print)
{
    static const char *const rows[][2] = {
        {"0,1,2,3;4,5,6,7", "pmix[0-3;4-7]"},
        {"0,1,2,3,4,5,6,7,8,9,10,11;12,13", "pmix[0-11;12-13]"},
        {"0", "raw:0"},
        {"0-3;4-7", "raw:0-3;4-7"},
        {"0,2,4;1,3,5", "raw:0,2,4;1,3,5"},
        {"0,1,2;3", "raw:0,1,2;3"},
        {"0,1,2,3;4,5,6", "pmix[0-3;4-6]"},
        {"10,11,12", "raw:10,11,12"},
        {"10,11,12,13", "pmix[10-13]"},
        {"0,1,2,3,4,5,6;;7,8,9", "pmix[0-6;;7-9]"},
        {"", "raw:"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTOFREE char *out = NULL;
        ck_assert_int_eq(px_map_pack_ranks(rows[i][0], &out), PMIX_SUCCESS);
        ck_assert_str_eq(out, rows[i][1]);
    }
}
END_TEST

START_TEST(packing_keeps_the_order_of_nodes)
{
    PX_AUTOFREE char *out = NULL;

    ck_assert_int_eq(px_map_pack_nodes("a1,login,a2", &out), PMIX_SUCCESS);
    assert_nodes(out, "a1,login,a2");
}
END_TEST

START_TEST(numbers_too_long_for_an_int_stay_names)
{
    PX_AUTOFREE char *out = NULL;

    ck_assert_int_eq(px_map_pack_nodes("a99999999999,a99999999998", &out),
                     PMIX_SUCCESS);
    assert_nodes(out, "a99999999999,a99999999998");
}
END_TEST

START_TEST(what_is_no_list_of_ranks_passes_through)
{
    PX_AUTOFREE char *out = NULL;

    ck_assert_int_eq(px_map_pack_ranks("a,b", &out), PMIX_SUCCESS);
    ck_assert_str_eq(out, "raw:a,b");
}
END_TEST

START_TEST(public_calls_refuse_null)
{
    char *out;

    ck_assert_int_eq(PMIx_generate_regex(NULL, &out), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(PMIx_generate_regex("a", NULL), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(PMIx_generate_ppn(NULL, &out), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(PMIx_generate_ppn("0", NULL), PMIX_ERR_BAD_PARAM);
}
END_TEST

START_TEST(packed_maps_read_back_as_the_lists_they_were_made_from)
{
    for (unsigned round = 0; round < 300; round++) {
        char list[512] = "";
        uint32_t n = 1 + random_below(12);
        for (uint32_t i = 0; i < n; i++) {
            char name[32];
            static const char *const forms[] = {"%sn%u", "%srack%02ux", "%s%u-a",
                                                "%shead%.0u"};
            snprintf(name, sizeof(name), forms[random_below(4)], i ? "," : "",
                     random_below(20));
            strcat(list, name);
        }
        PX_AUTOFREE char *packed = NULL;
        ck_assert_int_eq(px_map_pack_nodes(list, &packed), PMIX_SUCCESS);
        assert_nodes(packed, list);
    }
}
END_TEST

static px_buf blob_of(const char *list)
{
    uint8_t *packed;
    size_t n;
    px_buf out = {0};
    char head[64];

    ck_assert_int_eq(px_deflate(list, strlen(list), &packed, &n), PMIX_SUCCESS);
    int len = snprintf(head, sizeof(head), "blob:%ccomponent=zlib:%csize=%zu:", 0, 0,
                       n);
    ck_assert_int_eq(px_buf_add(&out, head, (size_t)len + 1), PMIX_SUCCESS);
    ck_assert_int_eq(px_buf_add(&out, packed, n), PMIX_SUCCESS);
    free(packed);
    return out;
}

START_TEST(a_compressed_map_of_known_length_is_read)
{
    PX_AUTO(px_buf) blob = blob_of("n1,n2,n3");
    PX_AUTOFREE char *text = NULL;

    ck_assert_int_eq(px_map_text(blob.data, blob.len, &text, NULL), PMIX_SUCCESS);
    ck_assert_str_eq(text, "n1,n2,n3");
}
END_TEST

START_TEST(a_cut_or_spoilt_compressed_map_is_refused)
{
    PX_AUTO(px_buf) blob = blob_of("n1,n2,n3,n4,n5,n6,n7,n8,n9");
    char *text = NULL;

    for (size_t n = 5; n < blob.len; n++) {
        PX_AUTOFREE char *exact = malloc(
            n); /* so that a sanitizer sees a read beyond */
        memcpy(exact, blob.data, n);
        ck_assert_int_ne(px_map_text(exact, n, &text, NULL), PMIX_SUCCESS);
    }
    for (size_t i = 0; i < blob.len; i++) {
        PX_AUTOFREE char *copy = malloc(blob.len);
        memcpy(copy, blob.data, blob.len);
        copy[i] ^= 0x55;
        if (px_map_text(copy, blob.len, &text, NULL) == PMIX_SUCCESS)
            free(text);
    }
}
END_TEST

START_TEST(text_of_known_length_ends_there_or_at_its_nul)
{
    PX_AUTOFREE char *a = NULL;
    PX_AUTOFREE char *b = NULL;
    PX_AUTOFREE char *c = NULL;

    ck_assert_int_eq(px_map_text("n1,n2\0junk", 10, &a, NULL), PMIX_SUCCESS);
    ck_assert_str_eq(a, "n1,n2");
    ck_assert_int_eq(px_map_text("n1,n2", 2, &b, NULL), PMIX_SUCCESS);
    ck_assert_str_eq(b, "n1");
    ck_assert_int_eq(px_map_text(NULL, 0, &c, NULL), PMIX_SUCCESS);
    ck_assert_str_eq(c, "");
}
END_TEST

/* ---- against the incumbent -------------------------------------------------------- */

typedef pmix_status_t (*generate_fn)(const char *list, char **out);

/* Names as clusters have them; plain ones only at the end, and none of digits alone, since
 * the incumbent lets a later name join a group before those, and so changes the order. */
static void random_nodes(char *list, size_t size)
{
    static const char *const forms[] = {"n%u", "node%03u", "r%uc", "x%02uy7", "X%uz"};
    size_t len = 0;
    uint32_t n = 1 + random_below(15);
    uint32_t form = random_below(PX_COUNT(forms));
    uint32_t number = random_below(120);

    for (uint32_t i = 0; i < n; i++) {
        len += (size_t)snprintf(list + len, size - len, "%s", i ? "," : "");
        len += (size_t)snprintf(list + len, size - len, forms[form], number);
        number = random_below(4) ? number + 1 : random_below(120);
        if (random_below(6) == 0)
            form = random_below(PX_COUNT(forms));
    }
    if (random_below(4) == 0)
        snprintf(list + len, size - len, ",login-%u.dom", random_below(3));
}

/* Without ranges and empty nodes, which the incumbent garbles. */
static void random_ranks(char *list, size_t size)
{
    size_t len = 0;
    uint32_t rank = random_below(12);
    uint32_t nodes = 1 + random_below(5);

    for (uint32_t node = 0; node < nodes; node++)
        for (uint32_t i = 0, n = 1 + random_below(9); i < n; i++) {
            const char *sep = i ? "," : node ? ";" : "";
            len += (size_t)snprintf(list + len, size - len, "%s%u", sep, rank);
            rank += random_below(5) ? 1 : 3;
        }
}

static int compare_with(generate_fn theirs,
                        pmix_status_t (*ours)(const char *, char **),
                        void (*make)(char *, size_t))
{
    int n_bad = 0;

    for (unsigned round = 0; round < 400; round++) {
        char list[512] = "";
        char *a = NULL;
        PX_AUTOFREE char *b = NULL;
        make(list, sizeof(list));
        if (theirs(list, &a) || ours(list, &b) || strcmp(a, b) != 0) {
            printf("%s: %s, we say %s\n", list, a, b);
            n_bad++;
        }
        free(a);
    }
    return n_bad;
}

/* By its whole path: the bare name could find ours. PX_TEST_INCUMBENT names another. */
static void *load_incumbent(void)
{
    static const char *const paths[] = {"/usr/lib/x86_64-linux-gnu/libpmix.so.2",
                                        "/usr/lib/aarch64-linux-gnu/libpmix.so.2",
                                        "/usr/lib64/libpmix.so.2",
                                        "/usr/lib/libpmix.so.2"};
    const char *named = getenv("PX_TEST_INCUMBENT");
    void *lib = named ? dlopen(named, RTLD_NOW | RTLD_LOCAL) : NULL;
    const char *(*version)(void) = NULL;

    for (size_t i = 0; !lib && i < PX_COUNT(paths); i++)
        lib = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
    if (lib)
        *(void **)&version = dlsym(lib, "PMIx_Get_version");
    return version && strstr(version(), "OpenPMIx") ? lib : NULL;
}

/* In a process of its own: the incumbent starts threads and stays loaded. */
static int run_incumbent(void *lib)
{
    static char module[8192]; /* no upcalls */
    char dir[] = "/tmp/px-procmap-XXXXXX";
    pmix_status_t (*init)(void *, pmix_info_t *, size_t);
    generate_fn regex, ppn;

    if (!mkdtemp(dir))
        return 2;
    setenv("TMPDIR", dir, 1);
    *(void **)&init = dlsym(lib, "PMIx_server_init");
    *(void **)&regex = dlsym(lib, "PMIx_generate_regex");
    *(void **)&ppn = dlsym(lib, "PMIx_generate_ppn");
    int n_bad = 2;
    if (init && regex && ppn && init(module, NULL, 0) == PMIX_SUCCESS)
        n_bad = compare_with(regex, px_map_pack_nodes, random_nodes) +
                        compare_with(ppn, px_map_pack_ranks, random_ranks)
                    ? 1
                    : 0;
    fflush(stdout);
    PX_AUTOFREE char *command = px_strf("rm -rf %s", dir);
    if (!command || system(command))
        n_bad = 2;
    return n_bad;
}

START_TEST(random_lists_pack_as_the_incumbent_packs_them)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        void *lib = load_incumbent();
        _exit(lib ? run_incumbent(lib) : 77);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    PX_TEST_NEEDS(WIFEXITED(status) && WEXITSTATUS(status) != 77, "another libpmix");
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

PX_TEST_MAIN("model/procmap_pack", node_lists_pack_to_what_other_implementations_print,
             rank_lists_pack_to_what_other_implementations_print,
             packing_keeps_the_order_of_nodes, numbers_too_long_for_an_int_stay_names,
             what_is_no_list_of_ranks_passes_through, public_calls_refuse_null,
             packed_maps_read_back_as_the_lists_they_were_made_from,
             a_compressed_map_of_known_length_is_read,
             a_cut_or_spoilt_compressed_map_is_refused,
             text_of_known_length_ends_there_or_at_its_nul,
             random_lists_pack_as_the_incumbent_packs_them)
