/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients that ask a server for output, and push input, in bytes. */
#ifndef TEST_IOF_SCENE_H
#define TEST_IOF_SCENE_H

#include "scene.h"

#define OUT PMIX_FWD_STDOUT_CHANNEL
#define ERR PMIX_FWD_STDERR_CHANNEL

enum { IOF_CHUNK_B = 64 * 1024, IOF_STREAM_B = 1024 * 1024 /* that a server keeps */ };
extern char iof_chunk[2 * IOF_STREAM_B];

/* raw_start of three ranks with the fake host, over Unix sockets: these hold little themselves, so
 * that little is enough to fall behind. */
void iof_start(void);

/* drop: PMIX_IOF_DROP_*, or NULL; size_b 0: none is told. */
px_infos iof_cache(const char *drop, uint32_t size_b);
/* The server's number of the request. */
size_t iof_pull_cached(int fd, pmix_rank_t rank, pmix_iof_channel_t channels, size_t id,
                       const char *drop, uint32_t size_b);
size_t iof_pull(int fd, pmix_rank_t rank, pmix_iof_channel_t channels, size_t id);
pmix_status_t iof_pull_status(int fd, pmix_rank_t rank, pmix_iof_channel_t channels);
px_writer iof_make_stop(size_t server_id);
pmix_status_t iof_stop(int fd, size_t server_id);
/* By the host, n bytes of iof_chunk. */
pmix_status_t iof_deliver(pmix_rank_t rank, pmix_iof_channel_t channel, size_t n,
                          const char *drop, pmix_op_cbfunc_t cb, void *cbdata);
/* Delivers chunks of rank 2 until one is refused. arg: struct iof_filled. For raw_on_loop. */
struct iof_filled {
    pmix_status_t status;
    unsigned n; /* chunks that were taken */
};
void iof_fill(void *arg);
px_writer iof_make_push(pmix_rank_t target, const char *text, size_t n,
                        const px_infos *infos);
/* To rank 2; text NULL: no bytes object. */
pmix_status_t iof_push(int fd, const char *text, const px_infos *infos);

#endif
