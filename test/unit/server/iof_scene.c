/* SPDX-License-Identifier: BSD-3-Clause */
#include "iof_scene.h"

#include <string.h>

char iof_chunk[2 * IOF_STREAM_B];

void iof_start(void)
{
    int *const fds[] = {&one, &two, &three};

    raw_server_start(&host_module, 3, 0);
    for (pmix_rank_t r = 0; r < PX_COUNT(fds); r++) {
        struct px_hello hello = raw_hello("job", r);

        *fds[r] = raw_near_socket();
        ok(raw_send_hello(*fds[r], &hello));
    }
}

/* ---- requests ------------------------------------------------------------------------------- */

px_infos iof_cache(const char *drop, uint32_t size_b)
{
    px_infos infos = {0};

    if (drop)
        ok(px_infos_add(&infos, drop, NULL, PMIX_BOOL));
    if (size_b)
        ok(px_infos_add(&infos, PMIX_IOF_CACHE_SIZE, &size_b, PMIX_UINT32));
    return infos;
}

/* Returns the server's id of the pull. id is the client's. */
size_t iof_pull_cached(int fd, pmix_rank_t rank, pmix_iof_channel_t channels, size_t id,
                       const char *drop, uint32_t size_b)
{
    PX_AUTO(px_infos) infos = iof_cache(drop, size_b);
    size_t server_id = SIZE_MAX;
    px_reader r;

    ok(raw_request(fd, scene_pull(rank, channels, id, &infos), &r));
    ok(px_unpack_size(&r, &server_id));
    return server_id;
}

size_t iof_pull(int fd, pmix_rank_t rank, pmix_iof_channel_t channels, size_t id)
{
    return iof_pull_cached(fd, rank, channels, id, NULL, 0);
}

pmix_status_t iof_pull_status(int fd, pmix_rank_t rank, pmix_iof_channel_t channels)
{
    return raw_request(fd, scene_pull(rank, channels, 0, NULL), NULL);
}

px_writer iof_make_stop(size_t server_id)
{
    px_writer w = raw_begin(PX_OP_IOF_DEREG);

    px_pack_infos(&w, NULL, 0);
    px_pack_size(&w, server_id);
    return w;
}

pmix_status_t iof_stop(int fd, size_t server_id)
{
    return raw_request(fd, iof_make_stop(server_id), NULL);
}

pmix_status_t iof_deliver(pmix_rank_t rank, pmix_iof_channel_t channel, size_t n,
                          const char *drop, pmix_op_cbfunc_t cb, void *cbdata)
{
    PX_AUTO(px_infos) infos = iof_cache(drop, 0);

    return scene_deliver(rank, channel, iof_chunk, n, &infos, cb, cbdata);
}

void iof_fill(void *arg)
{
    struct iof_filled *f = arg;

    do
        f->status = iof_deliver(2, OUT, IOF_CHUNK_B, NULL, NULL, NULL);
    while (!f->status && ++f->n < 1000);
}

px_writer iof_make_push(pmix_rank_t target, const char *text, size_t n,
                        const px_infos *infos)
{
    pmix_proc_t p = raw_proc("job", target);
    px_writer w = raw_begin(PX_OP_IOF_PUSH);

    px_pack_procs(&w, &p, 1);
    px_pack_infos(&w, infos->v, infos->n);
    if (text)
        px_pack_bytes(&w, text, n);
    return w;
}

pmix_status_t iof_push(int fd, const char *text, const px_infos *infos)
{
    return raw_request(fd, iof_make_push(2, text, text ? strlen(text) : 0, infos),
                       NULL);
}
