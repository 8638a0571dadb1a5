/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparison with the other implementation, if installed: locality and cpuset strings of many sets in
 * many topologies, and the packed topology. The other library also reads topologies that we packed.
 * Each library runs in a process of its own. The topology comes from the environment, and the other
 * library leaks. */
#include "core/base/buf.h"
#include "incumbent.h"
#include "pmix_server.h"
#include "px_test.h"

#include <string.h>
#include <sys/wait.h>

enum { SKIPPED = 77 };

struct library {
    pmix_status_t (*init)(pmix_proc_t *proc, pmix_info_t *info, size_t n);
    pmix_status_t (*load)(pmix_topology_t *topo);
    pmix_status_t (*parse)(const char *text, pmix_cpuset_t *set);
    pmix_status_t (*locality)(const pmix_cpuset_t *set, char **text);
    pmix_status_t (*cpuset)(const pmix_cpuset_t *set, char **text);
    pmix_status_t (*pack)(const pmix_proc_t *target, pmix_data_buffer_t *buffer,
                          void *src, int32_t n, pmix_data_type_t type);
    pmix_status_t (*unpack)(const pmix_proc_t *source, pmix_data_buffer_t *buffer,
                            void *dest, int32_t *n, pmix_data_type_t type);
};

static const struct library ours = {
    .init = PMIx_Init,
    .load = PMIx_Load_topology,
    .parse = PMIx_Parse_cpuset_string,
    .locality = PMIx_server_generate_locality_string,
    .cpuset = PMIx_server_generate_cpuset_string,
    .pack = PMIx_Data_pack,
    .unpack = PMIx_Data_unpack,
};

static bool find_theirs(struct library *lib)
{
    void *handle = px_test_incumbent();

    if (!handle)
        return false;
    *(void **)&lib->init = dlsym(handle, "PMIx_Init");
    *(void **)&lib->load = dlsym(handle, "PMIx_Load_topology");
    *(void **)&lib->parse = dlsym(handle, "PMIx_Parse_cpuset_string");
    *(void **)&lib->locality = dlsym(handle, "PMIx_server_generate_locality_string");
    *(void **)&lib->cpuset = dlsym(handle, "PMIx_server_generate_cpuset_string");
    *(void **)&lib->pack = dlsym(handle, "PMIx_Data_pack");
    *(void **)&lib->unpack = dlsym(handle, "PMIx_Data_unpack");
    return true;
}

static bool start(const struct library *lib)
{
    setenv("PMIX_MCA_gds", "hash", 1);
    setenv("PMIX_MCA_bfrops", "v41", 1);
    setenv("PMIX_MCA_bfrops_base_default_type", "1", 1);
    unsetenv("PMIX_NAMESPACE");
    pmix_status_t rc = lib->init(&(pmix_proc_t){0}, NULL, 0);
    return rc == PMIX_SUCCESS || rc == PMIX_ERR_UNREACH;
}

/* ---- a library's output ---------------------------------------------------------- */

static void write_set(const struct library *lib, FILE *to, const char *list)
{
    char text[64], *copy = NULL, *locality = NULL;
    pmix_cpuset_t set = {0};

    snprintf(text, sizeof(text), "hwloc:%s",
             list); /* the other library writes into text */
    pmix_status_t rc = lib->parse(text, &set);
    fprintf(to, "%s: %d", list, rc);
    rc = lib->cpuset(&set, &copy);
    fprintf(to, " %d %s", rc, copy);
    rc = lib->locality(&set, &locality);
    fprintf(to, " %d %s\n", rc, locality ? locality : "-");
}

static bool write_all(const struct library *lib, FILE *to, FILE *from)
{
    static const char *const lists[] = {"0",   "1",    "0-1",     "2-3",
                                        "3-4", "0-7",  "5,7",     "0-",
                                        "",    "1000", "0,2,4,6", "0-1000"};
    pmix_data_buffer_t buffer = {0};
    pmix_topology_t topo = {0};

    (void)from;
    if (lib->load(&topo))
        return false;
    fprintf(to, "%.5s\n", topo.source);
    for (size_t i = 0; i < PX_COUNT(lists); i++)
        write_set(lib, to, lists[i]);
    if (lib->pack(NULL, &buffer, &topo, 1, PMIX_TOPO))
        return false;
    fwrite(buffer.base_ptr, 1, buffer.bytes_used, to);
    return true;
}

/* Unpacks a topology and two sets that we packed, and packs the topology again. */
static bool read_ours(const struct library *lib, FILE *to, FILE *from)
{
    pmix_data_buffer_t in = {0}, out = {0};
    pmix_cpuset_t sets[2] = {{0}};
    pmix_topology_t topo = {0};
    char *text = NULL;
    int32_t one = 1, two = 2;

    in.base_ptr = in.unpack_ptr = malloc(1 << 20);
    in.bytes_used = in.bytes_allocated = fread(in.base_ptr, 1, 1 << 20, from);
    in.pack_ptr = in.base_ptr + in.bytes_used;
    if (lib->unpack(NULL, &in, &topo, &one, PMIX_TOPO) ||
        lib->unpack(NULL, &in, sets, &two, PMIX_PROC_CPUSET) || sets[1].bitmap ||
        lib->cpuset(&sets[0], &text) || lib->pack(NULL, &out, &topo, 1, PMIX_TOPO))
        return false;
    fwrite(out.base_ptr, 1, out.bytes_used, to);
    fprintf(to, "%s", text);
    return true;
}

typedef bool (*script)(const struct library *lib, FILE *to, FILE *from);

static int play(const struct library *lib, script run, FILE *to, FILE *from)
{
    struct library theirs = {0};

    if (!lib && !find_theirs(&theirs))
        return SKIPPED;
    lib = lib ? lib : &theirs;
    if (!start(lib) || !run(lib, to, from))
        return EXIT_FAILURE;
    fflush(to);
    return EXIT_SUCCESS;
}

/* Runs a script in a child process; lib NULL is the other library. *out gets the child's output. */
static int apart(const struct library *lib, script run, const px_buf *in, px_buf *out)
{
    FILE *to = tmpfile(), *from = tmpfile();
    char bytes[4096];
    int status = -1;
    size_t n;

    if (in)
        fwrite(in->data, 1, in->len, from);
    rewind(from);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(play(lib, run, to, from));
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    rewind(to);
    while ((n = fread(bytes, 1, sizeof(bytes), to)) > 0)
        ok(px_buf_add(out, bytes, n));
    fclose(to);
    fclose(from);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* ---- tests ----------------------------------------------------------------------- */

static const struct {
    const char *name, *value;
} nodes[] = {
    {"HWLOC_SYNTHETIC", "package:2 core:2 pu:2"},
    {"HWLOC_SYNTHETIC", "package:1 l3:2 l2:2 l1d:1 core:1 pu:2"},
    {"HWLOC_SYNTHETIC", "package:2 numa:2 l3:1 core:2 pu:1"},
    {"HWLOC_SYNTHETIC", "core:8 pu:1"},
    {"HWLOC_SYNTHETIC", "pack:4 [numa] group:2 core:3 pu:4"},
    {"HWLOC_SYNTHETIC", "numa:2 pack:1 l2:2 core:1 pu:1(indexes=0,4,1,5)"},
    {"HWLOC_SYNTHETIC", "pu:1"},
    {"HWLOC_XMLFILE", DEVICES_XML},
    {"HWLOC_NONE", ""}, /* this machine */
};

static void set_node(size_t i)
{
    for (size_t n = 0; n < PX_COUNT(nodes); n++)
        unsetenv(nodes[n].name);
    setenv(nodes[i].name, nodes[i].value, 1);
}

PX_TEST(both_libraries_describe_every_topology_equally)
{
    for (size_t i = 0; i < PX_COUNT(nodes); i++) {
        PX_AUTO(px_buf) mine = {0};
        PX_AUTO(px_buf) other = {0};

        set_node(i);
        int result = apart(NULL, write_all, NULL, &other);
        PX_TEST_NEEDS(result != SKIPPED, "the other implementation");
        ck_assert_int_eq(result, EXIT_SUCCESS);
        ck_assert_int_eq(apart(&ours, write_all, NULL, &mine), EXIT_SUCCESS);
        ck_assert_msg(mine.len == other.len &&
                          memcmp(mine.data, other.data, mine.len) == 0,
                      "%s:\n%.900s\nand theirs:\n%.900s", nodes[i].value,
                      (const char *)mine.data, (const char *)other.data);
    }
}

/* Packs a topology and two sets, for read_ours(). */
static bool pack_ours(const struct library *lib, FILE *to, FILE *from)
{
    pmix_data_buffer_t buffer = {0};
    pmix_topology_t topo = {0};
    pmix_cpuset_t sets[2] = {{0}};

    (void)from;
    if (lib->load(&topo) || lib->parse("hwloc:0-3,8", &sets[0]) ||
        lib->pack(NULL, &buffer, &topo, 1, PMIX_TOPO) ||
        lib->pack(NULL, &buffer, sets, 2, PMIX_PROC_CPUSET))
        return false;
    fwrite(buffer.base_ptr, 1, buffer.bytes_used, to);
    return true;
}

PX_TEST(the_other_library_reads_our_topology)
{
    PX_AUTO(px_buf) packed = {0};
    PX_AUTO(px_buf) other = {0};
    PX_AUTO(px_buf) mine = {0};

    set_node(PX_COUNT(nodes) - 2);
    ck_assert_int_eq(apart(&ours, pack_ours, NULL, &packed), EXIT_SUCCESS);
    int result = apart(NULL, read_ours, &packed, &other);
    PX_TEST_NEEDS(result != SKIPPED, "the other implementation");
    ck_assert_int_eq(result, EXIT_SUCCESS);
    ck_assert_int_eq(apart(&ours, read_ours, &packed, &mine), EXIT_SUCCESS);
    ck_assert_uint_eq(mine.len, other.len);
    ck_assert_mem_eq(mine.data, other.data, mine.len);
    /* the topology is unchanged; the text of the set replaces the packed sets */
    size_t n = mine.len - strlen("hwloc:0-3,8");
    ck_assert_mem_eq(mine.data, packed.data, n);
    ck_assert_mem_eq(mine.data + n, "hwloc:0-3,8", strlen("hwloc:0-3,8"));
}

PX_TEST_MAIN("client/topology_incumbent", NULL, NULL)
