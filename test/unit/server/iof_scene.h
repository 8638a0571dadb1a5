/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients that pull output and push input by protocol messages. */
#ifndef TEST_IOF_SCENE_H
#define TEST_IOF_SCENE_H

#include "scene.h"

#define OUT PMIX_FWD_STDOUT_CHANNEL
#define ERR PMIX_FWD_STDERR_CHANNEL

enum { IOF_CHUNK_B = 64 * 1024, IOF_STREAM_B = 1024 * 1024 /* kept by a server */ };
extern char iof_chunk[2 * IOF_STREAM_B];

/* Starts a server with the fake host, and three ranks that connect over Unix sockets. The small
 * buffers of these sockets fill soon. */
void iof_start(void);

/* Returns infos of a pull. drop: PMIX_IOF_DROP_*, or NULL. size_b: cache size, or 0 for none. */
px_infos iof_cache(const char *drop, uint32_t size_b);
/* Returns the server's id of the pull. id is the client's. */
size_t iof_pull_cached(int fd, pmix_rank_t rank, pmix_iof_channel_t channels, size_t id,
                       const char *drop, uint32_t size_b);
size_t iof_pull(int fd, pmix_rank_t rank, pmix_iof_channel_t channels, size_t id);
pmix_status_t iof_pull_status(int fd, pmix_rank_t rank, pmix_iof_channel_t channels);
px_writer iof_make_stop(size_t server_id);
pmix_status_t iof_stop(int fd, size_t server_id);
/* Delivers n bytes of iof_chunk as the host. */
pmix_status_t iof_deliver(pmix_rank_t rank, pmix_iof_channel_t channel, size_t n,
                          const char *drop, pmix_op_cbfunc_t cb, void *cbdata);
/* Result of iof_fill, which delivers chunks of rank 2 until the server refuses a chunk. For
 * raw_on_loop. */
struct iof_filled {
    pmix_status_t status;
    unsigned n; /* accepted chunks */
};
void iof_fill(void *arg);
px_writer iof_make_push(pmix_rank_t target, const char *text, size_t n,
                        const px_infos *infos);
/* Pushes text to rank 2. NULL: the request has no bytes object. */
pmix_status_t iof_push(int fd, const char *text, const px_infos *infos);

#endif
