/* SPDX-License-Identifier: BSD-3-Clause */
/* The Standard's chapter "Initialization and Finalization": attributes of connections. */
#include "standard.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

/* Starts a server that must honour the attribute, and returns the address that it reports. */
static const char *address_with(const char *key, const void *value,
                                pmix_data_type_t type)
{
    static char uri[1024];
    const char *path = px_test_path("uri");
    pmix_info_t info[2];

    PMIx_Info_load(&info[0], PMIX_TCP_REPORT_URI, path, PMIX_STRING);
    PMIx_Info_load(&info[1], key, value, type);
    PMIx_Info_required(&info[1]);
    pmix_status_t rc = PMIx_server_init(NULL, info, 2);
    PMIx_Info_destruct(&info[0]);
    PMIx_Info_destruct(&info[1]);
    if (rc)
        return PMIx_Error_string(rc);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, uri, sizeof(uri) - 1);
    close(fd);
    uri[n > 0 ? n : 0] = '\0';
    ok(PMIx_server_finalize());
    return uri;
}

PX_TEST(attributes_of_tcp_connections_may_be_supported)
{
    static const bool yes = true, no = false;
    const int port = free_port();
    char of_port[64];
    const struct {
        const char *key;
        const void *value;
        pmix_data_type_t type;
        const char *address; /* a part of the address */
    } rows[] = {
        {PMIX_TCP_IPV4_PORT, &port, PMIX_INT, of_port},
        {PMIX_TCP_IF_INCLUDE, "eth9,lo", PMIX_STRING, "tcp4://127.0.0.1:"},
        {PMIX_TCP_IF_INCLUDE, "127.0.0.1/8", PMIX_STRING, "tcp4://127.0.0.1:"},
        {PMIX_TCP_IF_INCLUDE, "eth9", PMIX_STRING, "usock://"},
        {PMIX_TCP_IF_EXCLUDE, "eth9,lo", PMIX_STRING, "usock://"},
        {PMIX_TCP_IF_EXCLUDE, "local", PMIX_STRING, "tcp4://127.0.0.1:"},
        {PMIX_TCP_DISABLE_IPV4, &yes, PMIX_BOOL, "usock://"},
        {PMIX_TCP_DISABLE_IPV4, &no, PMIX_BOOL, "tcp4://127.0.0.1:"},
        {PMIX_TCP_DISABLE_IPV6, &yes, PMIX_BOOL, "tcp4://127.0.0.1:"},
        /* not honoured, so they are refused */
        {PMIX_SOCKET_MODE, &(uint32_t){0600}, PMIX_UINT32, "NOT-SUPPORTED"},
        {PMIX_SINGLE_LISTENER, &yes, PMIX_BOOL, "NOT-SUPPORTED"},
        {PMIX_SERVER_REMOTE_CONNECTIONS, &yes, PMIX_BOOL, "NOT-SUPPORTED"},
    };

    snprintf(of_port, sizeof(of_port), "tcp4://127.0.0.1:%d", port);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *address = address_with(rows[i].key, rows[i].value, rows[i].type);

        ck_assert_msg(strstr(address, rows[i].address), "row %zu: %s", i, address);
    }
}

STANDARD_MAIN("standard/initialization", NULL, NULL)
