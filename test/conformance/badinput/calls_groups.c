/* SPDX-License-Identifier: BSD-3-Clause */
/* More functions that need the library to be started: groups, forwarded streams, and what a host
 * tells its server about itself. */
#include "rows.h"

#include <check.h>

static pmix_proc_t proc = {.nspace = "ns"};
static pmix_info_t info = {.key = "key", .value = {.type = PMIX_BOOL}}, *results;
static pmix_byte_object_t bytes = {.bytes = (char *)"x", .size = 1},
                          no_bytes = {.size = 4};
static pmix_data_buffer_t buffer;
static char *attrs[] = {(char *)"pmix.some", NULL}, *bad_attrs[] = {(char *)"", NULL};
static char name[] = "set", nothing[] = "", long_name[PMIX_MAX_NSLEN + 2];
static char *function = (char *)"PMIx_Get";
static size_t n;
static pmix_topology_t topo;
static pmix_cpuset_t cpuset;
static pmix_locality_t locality;
static pmix_device_distance_t *distances;
static char *text;

static void on_op(pmix_status_t status, void *cbdata)
{
    (void)status;
    (void)cbdata;
    ck_abort_msg("called back after an error");
}

static void on_info(pmix_status_t status, pmix_info_t *i, size_t ni, void *cbdata,
                    pmix_release_cbfunc_t release, void *data)
{
    (void)i;
    (void)ni;
    (void)release;
    (void)data;
    on_op(status, cbdata);
}

static void on_distances(pmix_status_t status, pmix_device_distance_t *dist,
                         size_t ndist, void *cbdata, pmix_release_cbfunc_t release,
                         void *data)
{
    (void)dist;
    (void)ndist;
    (void)release;
    (void)data;
    on_op(status, cbdata);
}

static void on_iof(size_t id, pmix_iof_channel_t channel, pmix_proc_t *source,
                   pmix_byte_object_t *payload, pmix_info_t i[], size_t ni)
{
    (void)id;
    (void)channel;
    (void)source;
    (void)payload;
    (void)i;
    on_op((pmix_status_t)ni, NULL);
}

/* clang-format off */
#define GOOD_GROUPS(X)                                                                    \
    X(PMIx_Load_topology(&topo)) \
    X(PMIx_Get_cpuset(&cpuset, PMIX_CPUBIND_PROCESS)) \
    X(PMIx_Parse_cpuset_string("0", &cpuset)) \
    X(PMIx_Get_relative_locality("a", "b", &locality)) \
    X(PMIx_Compute_distances(&topo, &cpuset, NULL, 0, &distances, &n)) \
    X(PMIx_Compute_distances_nb(&topo, &cpuset, NULL, 0, on_distances, NULL)) \
    X(PMIx_server_generate_cpuset("0", &cpuset)) \
    X(PMIx_server_generate_cpuset_string(&cpuset, &text)) \
    X(PMIx_server_generate_locality_string(&cpuset, &text)) \
    X(PMIx_Group_construct("g", &proc, 1, NULL, 0, &results, &n))                         \
    X(PMIx_Group_construct_nb("g", &proc, 1, NULL, 0, on_info, NULL))                     \
    X(PMIx_Group_invite("g", &proc, 1, NULL, 0, &results, &n))                            \
    X(PMIx_Group_invite_nb("g", &proc, 1, NULL, 0, on_info, NULL))                        \
    X(PMIx_Group_join("g", &proc, PMIX_GROUP_ACCEPT, NULL, 0, &results, &n))              \
    X(PMIx_Group_join_nb("g", &proc, PMIX_GROUP_ACCEPT, NULL, 0, on_info, NULL))          \
    X(PMIx_Group_leave("g", NULL, 0))                                                     \
    X(PMIx_Group_leave_nb("g", NULL, 0, on_op, NULL))                                     \
    X(PMIx_Group_destruct("g", NULL, 0))                                                  \
    X(PMIx_Group_destruct_nb("g", NULL, 0, on_op, NULL))                                  \
    X(PMIx_IOF_pull(&proc, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_iof, NULL, NULL))      \
    X(PMIx_IOF_push(&proc, 1, &bytes, NULL, 0, on_op, NULL))                              \
    X(PMIx_IOF_push(&proc, 1, &bytes, NULL, 0, NULL, NULL))                               \
    X(PMIx_IOF_deregister(0, NULL, 0, on_op, NULL))                                       \
    X(PMIx_IOF_deregister(0, NULL, 0, NULL, NULL))

#define GOOD_SERVER_GROUPS(X)                                                             \
    X(PMIx_Register_attributes(function, attrs))                                          \
    X(PMIx_server_IOF_deliver(&proc, PMIX_FWD_STDOUT_CHANNEL, &bytes, NULL, 0, on_op, NULL)) \
    X(PMIx_server_IOF_flow_control(&proc, PMIX_FWD_STDIN_CHANNEL, true, NULL, 0, on_op, NULL)) \
    X(PMIx_server_collect_inventory(NULL, 0, on_info, NULL))                              \
    X(PMIx_server_deliver_inventory(&info, 1, NULL, 0, on_op, NULL))                      \
    X(PMIx_server_collect_job_info(&proc, 1, &buffer))                                    \
    X(PMIx_server_define_process_set(&proc, 1, name))                                     \
    X(PMIx_server_delete_process_set(name))                                               \
    X(PMIx_server_register_resources(&info, 1, on_op, NULL))                              \
    X(PMIx_server_register_resources(&info, 1, NULL, NULL))                               \
    X(PMIx_server_deregister_resources(&info, 1, on_op, NULL))                            \
    X(PMIx_server_deregister_resources(&info, 1, NULL, NULL))

#define BAD_GROUPS(X)                                                                     \
    X(PMIx_Load_topology(NULL))                                                           \
    X(PMIx_Get_cpuset(NULL, PMIX_CPUBIND_PROCESS))                                        \
    X(PMIx_Get_cpuset(&cpuset, 77))                                                       \
    X(PMIx_Parse_cpuset_string(NULL, &cpuset))                                            \
    X(PMIx_Parse_cpuset_string("0", NULL))                                                \
    X(PMIx_Get_relative_locality(NULL, "b", &locality))                                   \
    X(PMIx_Get_relative_locality("a", NULL, &locality))                                   \
    X(PMIx_Get_relative_locality("a", "b", NULL))                                         \
    X(PMIx_Compute_distances(&topo, &cpuset, NULL, 0, NULL, &n))                          \
    X(PMIx_Compute_distances(&topo, &cpuset, NULL, 0, &distances, NULL))                  \
    X(PMIx_Compute_distances(&topo, &cpuset, NULL, 1, &distances, &n))                    \
    X(PMIx_Compute_distances_nb(&topo, &cpuset, NULL, 0, NULL, NULL))                     \
    X(PMIx_Compute_distances_nb(&topo, &cpuset, NULL, 1, on_distances, NULL))             \
    X(PMIx_server_generate_cpuset(NULL, &cpuset))                                         \
    X(PMIx_server_generate_cpuset("0", NULL))                                             \
    X(PMIx_server_generate_cpuset_string(NULL, &text))                                    \
    X(PMIx_server_generate_cpuset_string(&cpuset, NULL))                                  \
    X(PMIx_server_generate_locality_string(NULL, &text))                                  \
    X(PMIx_server_generate_locality_string(&cpuset, NULL))                                \
    X(PMIx_Group_construct(NULL, &proc, 1, NULL, 0, &results, &n))                        \
    X(PMIx_Group_construct("", &proc, 1, NULL, 0, &results, &n))                          \
    X(PMIx_Group_construct(long_name, &proc, 1, NULL, 0, &results, &n))                   \
    X(PMIx_Group_construct("g", NULL, 1, NULL, 0, &results, &n))                          \
    X(PMIx_Group_construct("g", &proc, 1, NULL, 1, &results, &n))                         \
    X(PMIx_Group_construct_nb(NULL, &proc, 1, NULL, 0, on_info, NULL))                    \
    X(PMIx_Group_construct_nb("g", NULL, 1, NULL, 0, on_info, NULL))                      \
    X(PMIx_Group_construct_nb("g", &proc, 1, NULL, 1, on_info, NULL))                     \
    X(PMIx_Group_construct_nb("g", &proc, 1, NULL, 0, NULL, NULL))                        \
    X(PMIx_Group_invite(NULL, &proc, 1, NULL, 0, &results, &n))                           \
    X(PMIx_Group_invite("g", NULL, 1, NULL, 0, &results, &n))                             \
    X(PMIx_Group_invite("g", NULL, 0, NULL, 0, &results, &n))                             \
    X(PMIx_Group_invite("g", &proc, 0, NULL, 0, &results, &n))                            \
    X(PMIx_Group_invite("g", &proc, 1, NULL, 1, &results, &n))                            \
    X(PMIx_Group_invite_nb(NULL, &proc, 1, NULL, 0, on_info, NULL))                       \
    X(PMIx_Group_invite_nb("g", NULL, 0, NULL, 0, on_info, NULL))                         \
    X(PMIx_Group_invite_nb("g", &proc, 1, NULL, 0, NULL, NULL))                           \
    X(PMIx_Group_join(NULL, &proc, PMIX_GROUP_ACCEPT, NULL, 0, &results, &n))             \
    X(PMIx_Group_join("g", &proc, (pmix_group_opt_t)77, NULL, 0, &results, &n))           \
    X(PMIx_Group_join("g", &proc, PMIX_GROUP_ACCEPT, NULL, 1, &results, &n))              \
    X(PMIx_Group_join_nb(NULL, &proc, PMIX_GROUP_ACCEPT, NULL, 0, on_info, NULL))         \
    X(PMIx_Group_join_nb("g", &proc, (pmix_group_opt_t)77, NULL, 0, on_info, NULL))       \
    X(PMIx_Group_join_nb("g", &proc, PMIX_GROUP_ACCEPT, NULL, 0, NULL, NULL))             \
    X(PMIx_Group_leave(NULL, NULL, 0))                                                    \
    X(PMIx_Group_leave("", NULL, 0))                                                      \
    X(PMIx_Group_leave("g", NULL, 1))                                                     \
    X(PMIx_Group_leave_nb(NULL, NULL, 0, on_op, NULL))                                    \
    X(PMIx_Group_leave_nb("g", NULL, 1, on_op, NULL))                                     \
    X(PMIx_Group_leave_nb("g", NULL, 0, NULL, NULL))                                      \
    X(PMIx_Group_destruct(NULL, NULL, 0))                                                 \
    X(PMIx_Group_destruct("g", NULL, 1))                                                  \
    X(PMIx_Group_destruct_nb(NULL, NULL, 0, on_op, NULL))                                 \
    X(PMIx_Group_destruct_nb("g", NULL, 1, on_op, NULL))                                  \
    X(PMIx_Group_destruct_nb("g", NULL, 0, NULL, NULL))                                   \
    X(PMIx_IOF_pull(NULL, 0, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_iof, NULL, NULL))       \
    X(PMIx_IOF_pull(NULL, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_iof, NULL, NULL))       \
    X(PMIx_IOF_pull(&proc, 1, NULL, 1, PMIX_FWD_STDOUT_CHANNEL, on_iof, NULL, NULL))      \
    X(PMIx_IOF_pull(&proc, 1, NULL, 0, PMIX_FWD_NO_CHANNELS, on_iof, NULL, NULL))         \
    X(PMIx_IOF_pull(&proc, SIZE_MAX, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_iof, NULL, NULL)) \
    X(PMIx_IOF_push(&proc, SIZE_MAX, &bytes, NULL, 0, on_op, NULL))                       \
    X(PMIx_IOF_deregister(0, &info, SIZE_MAX, on_op, NULL))                               \
    X(PMIx_IOF_push(NULL, 1, &bytes, NULL, 0, on_op, NULL))                               \
    X(PMIx_IOF_push(&proc, 1, NULL, NULL, 0, on_op, NULL))                                \
    X(PMIx_IOF_push(&proc, 1, &no_bytes, NULL, 0, on_op, NULL))                           \
    X(PMIx_IOF_push(&proc, 1, &bytes, NULL, 1, on_op, NULL))                              \
    X(PMIx_IOF_deregister(0, NULL, 1, on_op, NULL))

#define BAD_SERVER_GROUPS(X)                                                              \
    X(PMIx_Register_attributes(NULL, attrs))                                              \
    X(PMIx_Register_attributes(nothing, attrs))                                           \
    X(PMIx_Register_attributes(function, bad_attrs))                                      \
    X(PMIx_server_IOF_deliver(NULL, PMIX_FWD_STDOUT_CHANNEL, &bytes, NULL, 0, on_op, NULL))\
    X(PMIx_server_IOF_deliver(&proc, PMIX_FWD_STDOUT_CHANNEL, &no_bytes, NULL, 0, on_op, NULL))\
    X(PMIx_server_IOF_deliver(&proc, PMIX_FWD_STDOUT_CHANNEL, &bytes, NULL, 1, on_op, NULL))\
    X(PMIx_server_IOF_flow_control(NULL, PMIX_FWD_STDIN_CHANNEL, true, NULL, 1, on_op, NULL))\
    X(PMIx_server_collect_inventory(NULL, 1, on_info, NULL))                              \
    X(PMIx_server_collect_inventory(NULL, 0, NULL, NULL))                                 \
    X(PMIx_server_deliver_inventory(NULL, 0, NULL, 0, on_op, NULL))                       \
    X(PMIx_server_deliver_inventory(NULL, 1, NULL, 0, on_op, NULL))                       \
    X(PMIx_server_deliver_inventory(&info, 0, NULL, 0, on_op, NULL))                      \
    X(PMIx_server_deliver_inventory(&info, 1, NULL, 1, on_op, NULL))                      \
    X(PMIx_server_collect_job_info(NULL, 1, &buffer))                                     \
    X(PMIx_server_collect_job_info(&proc, 0, &buffer))                                    \
    X(PMIx_server_collect_job_info(&proc, 1, NULL))                                       \
    X(PMIx_server_define_process_set(NULL, 1, name))                                      \
    X(PMIx_server_define_process_set(&proc, 0, name))                                     \
    X(PMIx_server_define_process_set(&proc, 1, NULL))                                     \
    X(PMIx_server_define_process_set(&proc, 1, nothing))                                  \
    X(PMIx_server_define_process_set(&proc, 1, long_name))                                \
    X(PMIx_server_delete_process_set(NULL))                                               \
    X(PMIx_server_delete_process_set(nothing))                                            \
    X(PMIx_server_delete_process_set(long_name))                                          \
    X(PMIx_server_register_resources(NULL, 0, on_op, NULL))                               \
    X(PMIx_server_register_resources(NULL, 1, NULL, NULL))                                \
    X(PMIx_server_register_resources(&info, 0, NULL, NULL))                               \
    X(PMIx_server_deregister_resources(NULL, 0, on_op, NULL))                             \
    X(PMIx_server_deregister_resources(NULL, 1, NULL, NULL))                              \
    X(PMIx_server_deregister_resources(&info, 0, NULL, NULL))
/* clang-format on */

#define ROW(call) IS(expected, call)

void rows_of_good_groups(pmix_status_t expected)
{
    GOOD_GROUPS(ROW)
    GOOD_SERVER_GROUPS(ROW)
}

void rows_of_server_groups(pmix_status_t expected)
{
    GOOD_SERVER_GROUPS(ROW)
}

void rows_of_bad_groups(pmix_status_t expected)
{
    memset(long_name, 'g', sizeof(long_name) - 1);
    BAD_GROUPS(ROW)
    SO(!results && !distances && !text && !cpuset.bitmap)
}

void rows_of_bad_server_groups(pmix_status_t expected)
{
    memset(long_name, 'g', sizeof(long_name) - 1);
    BAD_SERVER_GROUPS(ROW)
    SO(!buffer.base_ptr)
}
