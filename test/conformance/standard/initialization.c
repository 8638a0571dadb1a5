/* SPDX-License-Identifier: BSD-3-Clause */
/* The Standard's chapter "Initialization and Finalization": attributes of connections. */
#include "standard.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* True if the loopback interface has IPv6. */
static bool has_v6(void)
{
    struct sockaddr_in6 at = {.sin6_family = AF_INET6,
                              .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool has = fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0;

    close(fd);
    return has;
}

/* Returns a free port of the loopback interface. */
static int free_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, len), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    close(fd);
    return ntohs(at.sin_port);
}

#pragma GCC diagnostic ignored \
    "-Wmissing-field-initializers" /* most attributes have nothing beside them */

/* An attribute that a server must honour. more: a flag beside it, or NULL. */
struct attribute {
    const char *key;
    const void *value;
    pmix_data_type_t type;
    const char *address; /* a part of the address that the server reports */
    const char *more;
};

/* Starts a server that must honour the attribute, and returns the address that it reports. */
static const char *start_with(const struct attribute *a)
{
    static char uri[1024];
    const char *path = px_test_path("uri");
    pmix_info_t info[3];

    PMIx_Info_load(&info[0], PMIX_TCP_REPORT_URI, path, PMIX_STRING);
    PMIx_Info_load(&info[1], a->key, a->value, a->type);
    PMIx_Info_load(&info[2], a->more ? a->more : "example.own", NULL, PMIX_BOOL);
    PMIx_Info_required(&info[1]);
    pmix_status_t rc = PMIx_server_init(NULL, info, 3);
    for (size_t i = 0; i < 3; i++)
        PMIx_Info_destruct(&info[i]);
    if (rc)
        return PMIx_Error_string(rc);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, uri, sizeof(uri) - 1);
    close(fd);
    uri[n > 0 ? n : 0] = '\0';
    return uri;
}

static void stop(void)
{
    if (PMIx_Initialized())
        (void)PMIx_server_finalize();
}

PX_TEST(attributes_of_tcp_connections_may_be_supported)
{
    static const bool yes = true, no = false;
    const int port = free_port();
    char of_port[64], of_v6_port[64];
    const char *without_v4 = has_v6() ? "tcp6://[::1]:" : "usock://";
    const struct attribute rows[] = {
        {PMIX_TCP_IPV4_PORT, &port, PMIX_INT, of_port},
        {PMIX_TCP_IF_INCLUDE, "eth9,lo", PMIX_STRING, "tcp4://127.0.0.1:"},
        {PMIX_TCP_IF_INCLUDE, "127.0.0.1/8", PMIX_STRING, "tcp4://127.0.0.1:"},
        {PMIX_TCP_IF_INCLUDE, "eth9", PMIX_STRING, "usock://"},
        {PMIX_TCP_IF_EXCLUDE, "eth9,lo", PMIX_STRING, "usock://"},
        {PMIX_TCP_IF_EXCLUDE, "local", PMIX_STRING, "tcp4://127.0.0.1:"},
        {PMIX_TCP_DISABLE_IPV4, &yes, PMIX_BOOL, without_v4},
        {PMIX_TCP_DISABLE_IPV4, &yes, PMIX_BOOL, "usock://", PMIX_TCP_DISABLE_IPV6},
        {PMIX_TCP_IPV6_PORT, &port, PMIX_INT, "tcp4://127.0.0.1:"},
        {PMIX_TCP_IPV6_PORT, &port, PMIX_INT, of_v6_port, PMIX_TCP_DISABLE_IPV4},
        {PMIX_TCP_DISABLE_IPV4, &no, PMIX_BOOL, "tcp4://127.0.0.1:"},
        {PMIX_TCP_DISABLE_IPV6, &yes, PMIX_BOOL, "tcp4://127.0.0.1:"},
        /* psec/munge is not selected, so it is refused */
        {PMIX_SERVER_REMOTE_CONNECTIONS, &yes, PMIX_BOOL, "NOT-SUPPORTED"},
    };

    setenv("PMIX_MCA_psec", "native", 1);
    snprintf(of_port, sizeof(of_port), "tcp4://127.0.0.1:%d", port);
    snprintf(of_v6_port, sizeof(of_v6_port), "%s%.*d", without_v4, has_v6() ? 1 : 0,
             has_v6() ? port : 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *address = start_with(&rows[i]);

        stop();
        ck_assert_msg(strstr(address, rows[i].address), "row %zu: %s", i, address);
    }
}

/* Our own clients get the address of the Unix socket, if there is one. */
PX_TEST(all_listeners_but_one_may_be_disabled)
{
    static const bool yes = true, no = false;
    static const struct {
        struct attribute attribute;
        bool has_socket;
    } rows[] = {
        {{PMIX_SINGLE_LISTENER, &yes, PMIX_BOOL, NULL}, false},
        {{PMIX_SINGLE_LISTENER, &no, PMIX_BOOL, NULL}, true},
        {{PMIX_USOCK_DISABLE, &yes, PMIX_BOOL, NULL}, false},
        {{PMIX_USOCK_DISABLE, &no, PMIX_BOOL, NULL}, true},
        /* launchers set it by habit */
        {{PMIX_TCP_DISABLE_IPV6, &yes, PMIX_BOOL, NULL, PMIX_SINGLE_LISTENER}, true},
    };
    const pmix_proc_t proc = {"job", 0};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char **env = NULL;
        bool found = false;

        ck_assert_ptr_nonnull(strstr(start_with(&rows[i].attribute), "tcp4://"));
        ok(standard_wait(PMIx_server_register_client(&proc, geteuid(), getegid(), NULL,
                                                     standard_on_op, NULL)));
        ok(PMIx_server_setup_fork(&proc, &env));
        for (char **e = env; e && *e; e++)
            found |= strstr(*e, "usock://") != NULL;
        PMIx_Argv_free(env);
        ck_assert_msg(found == rows[i].has_socket, "row %zu", i);
        stop();
    }
}

PX_TEST(the_mode_of_the_socket_may_be_set)
{
    const uint32_t mode = 0640;
    const struct attribute a = {PMIX_SOCKET_MODE, &mode, PMIX_UINT32, NULL, NULL};
    struct stat st;
    char path[1024];

    setenv("PMIX_MCA_ptl", "usock", 1); /* whose address the server reports then */
    const char *at = strstr(start_with(&a), "usock://");
    unsetenv("PMIX_MCA_ptl");
    ck_assert_ptr_nonnull(at);
    snprintf(path, sizeof(path), "%.*s", (int)strcspn(at, "\n"), at);
    ck_assert_int_eq(stat(path + strlen("usock://"), &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, mode);
}

STANDARD_CLIENT(singleton)
{
    pmix_value_t *size = NULL;
    pmix_proc_t job = {"alone", PMIX_RANK_WILDCARD};

    STANDARD_CHECK(strcmp(standard_me.nspace, "alone") == 0 && standard_me.rank == 3);
    STANDARD_CHECK(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &size) == PMIX_SUCCESS);
    STANDARD_CHECK(size->data.uint32 == 1);
    PMIx_Value_free(size, 1);
}

PX_TEST(a_server_may_be_started_to_support_a_singleton)
{
    static const char *const bad[] = {
        "", "alone", ".3", "alone.", "alone.x", "alone.-1", "alone.4294967295"};
    const struct attribute a = {PMIX_SINGLETON, "alone.3", PMIX_STRING, NULL, NULL};
    const pmix_proc_t proc = {"alone", 3};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const struct attribute wrong = {PMIX_SINGLETON, bad[i], PMIX_STRING, NULL,
                                        NULL};

        ck_assert_str_eq(start_with(&wrong), PMIx_Error_string(PMIX_ERR_BAD_PARAM));
    }
    ck_assert_ptr_nonnull(strstr(start_with(&a), "tcp4://"));
    ck_assert_int_eq(standard_fork(&proc, "singleton"), 0);
}

/* Only a node with an inventory has a signature, unless all nodes are alike. */
PX_TEST_LOOP(nodes_may_be_declared_homogeneous, 2)
{
    const bool alike = _i == 1;
    const struct attribute a = {PMIX_HOMOGENEOUS_SYSTEM, &alike, PMIX_BOOL, NULL, NULL};
    pmix_info_t map[2], node[2], inventory, where[2];
    const pmix_data_array_t array = {PMIX_INFO, 2, node};
    pmix_proc_t job = {"job", PMIX_RANK_WILDCARD};
    pmix_value_t *v = NULL;

    ck_assert_ptr_nonnull(strstr(start_with(&a), "tcp4://"));
    PMIx_Info_load(&map[0], PMIX_NODE_MAP, "one,two", PMIX_STRING);
    PMIx_Info_load(&map[1], PMIX_PROC_MAP, "0;1", PMIX_STRING);
    ok(standard_wait(
        PMIx_server_register_nspace(job.nspace, 1, map, 2, standard_on_op, NULL)));
    PMIx_Info_load(&node[0], PMIX_HOSTNAME, "one", PMIX_STRING);
    PMIx_Info_load(&node[1], PMIX_TOPOLOGY_SIGNATURE, "1N:2C", PMIX_STRING);
    PMIx_Info_load(&inventory, PMIX_NODE_INFO_ARRAY, &array, PMIX_DATA_ARRAY);
    ok(standard_wait(
        PMIx_server_deliver_inventory(&inventory, 1, NULL, 0, standard_on_op, NULL)));
    PMIx_Info_load(&where[0], PMIX_NODE_INFO, NULL, PMIX_BOOL);
    PMIx_Info_load(&where[1], PMIX_HOSTNAME, "two", PMIX_STRING);
    const pmix_status_t rc = PMIx_Get(&job, PMIX_TOPOLOGY_SIGNATURE, where, 2, &v);
    ck_assert_int_eq(rc, alike ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND);
    ck_assert(!alike || strcmp(v->data.string, "1N:2C") == 0);
    PMIx_Value_free(v, alike ? 1 : 0);
    PMIx_Info_destruct(&where[1]);
    PMIx_Info_load(&where[1], PMIX_HOSTNAME, "three", PMIX_STRING);
    fails(PMIx_Get(&job, PMIX_TOPOLOGY_SIGNATURE, where, 2, &v), NOT_FOUND);
    PMIx_Info_destruct(&where[1]);
    PMIx_Info_destruct(&inventory);
}

STANDARD_MAIN("standard/initialization", NULL, stop)
