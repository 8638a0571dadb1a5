/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the two parts of the ptl suite: a listener, and connections to it. */
#ifndef PX_CONTRACT_PTL_H
#define PX_CONTRACT_PTL_H

#include "contract.h"
#include "core/base/attr.h"
#include "process.h"
#include "tenon/ptl.h"

enum {
    SOON_MS =
        5000, /* limit for an operation that takes microseconds on an idle machine */
    LATE_MS = 20000,
    FIRST_PORT = 40000,
};

struct listener {
    int fd;
    char address[256];
};

const struct px_ptl_ops *ptl_ops(void);
pmix_status_t ptl_try_listen(const char *dir, struct listener *l);
pmix_status_t ptl_try_connect(const char *address, uint64_t timeout_ms, int *fd);
pmix_status_t ptl_try_accept(const struct listener *l, int *fd,
                             struct px_ptl_peer *peer);
/* Each must succeed; accept waits for a connection. */
struct listener ptl_listen(void);
void ptl_unlisten(struct listener *l);
int ptl_connect(const struct listener *l);
int ptl_accept(const struct listener *l, struct px_ptl_peer *peer);

/* An accepted connection with its listener. */
struct ptl_pair {
    struct listener listener;
    int client, server;
    struct px_ptl_peer peer; /* identity reported by accept */
};
struct ptl_pair ptl_connect_pair(void);
void ptl_end_pair(struct ptl_pair *p);

#endif
