/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor_scene.h"

#include "core/base/clock.h"
#include "core/rt/process.h"
#include "core/server/monitor/monitor.h"
#include "core/wire/ops.h"
#include "core/wire/requests.h"

pmix_server_module_t module;
uint64_t monitor_ahead_ms;
int monitor_newest_fd = -1;

void monitor_setup(void)
{
    module = host_module;
    module.monitor = NULL;
    raw_start(&module, 3, 0);
}

void monitor_teardown(void)
{
    monitor_ahead_ms = 0;
    monitor_newest_fd = -1;
    host_end();
}

pmix_status_t monitor(int fd, const pmix_info_t *what, pmix_status_t code,
                      const px_infos *how, px_infos *results)
{
    px_writer w = raw_begin(PX_OP_MONITOR);
    PX_AUTO(px_infos) got = {0};
    pmix_status_t rc;
    px_reader r;

    if (fd == monitor_newest_fd)
        w.codec = px_codec_newest(w.codec);
    const struct px_codec codec = w.codec;
    px_pack(&w, what, 1, PMIX_INFO);
    px_pack_status(&w, code);
    px_pack_infos(&w, how ? how->v : NULL, how ? how->n : 0);
    rc = raw_request(fd, w, &r);
    r.codec = codec;
    if (!px_reader_done(&r))
        ok(px_unpack_infos(&r, &got.v, &got.n));
    if (results) {
        *results = got;
        got = (px_infos){0};
    }
    return rc;
}

pmix_status_t monitor_as(int fd, const char *key, const void *value,
                         pmix_data_type_t type, const px_infos *how, px_infos *results)
{
    pmix_status_t rc;
    pmix_info_t what;

    PMIx_Info_load(&what, key, value, type);
    rc = monitor(fd, &what, PMIX_SUCCESS, how, results);
    PMIx_Info_destruct(&what);
    return rc;
}

void add_u32(px_infos *how, const char *key, uint32_t value)
{
    ok(px_infos_add(how, key, &value, PMIX_UINT32));
}

pmix_status_t watch_beats(int fd, const char *id, uint32_t drops)
{
    PX_AUTO(px_infos) how = {0};

    add_u32(&how, PMIX_MONITOR_HEARTBEAT_TIME, PERIOD_S);
    add_u32(&how, PMIX_MONITOR_HEARTBEAT_DROPS, drops);
    if (id)
        ok(px_infos_add(&how, PMIX_MONITOR_ID, id, PMIX_STRING));
    return monitor_as(fd, PMIX_MONITOR_HEARTBEAT, NULL, PMIX_BOOL, &how, NULL);
}

pmix_status_t cancel(int fd, const char *id)
{
    return monitor_as(fd, PMIX_MONITOR_CANCEL, id, PMIX_STRING, NULL, NULL);
}

static void on_check(void *arg PX_UNUSED)
{
    px_monitors_check(px_process.server, px_clock_ms() + monitor_ahead_ms);
}

void monitor_check(void)
{
    raw_on_loop(on_check, NULL);
    raw_on_loop(NULL, NULL); /* the check is a message */
}

void pass(unsigned periods)
{
    for (; periods > 0; periods--) {
        monitor_ahead_ms += 1000 * PERIOD_S;
        monitor_check();
    }
}

void want(int fd, pmix_status_t code)
{
    ok(raw_request(fd, raw_want(&code, 1, NULL), NULL));
}

static void read_count(void *arg)
{
    *(size_t *)arg = px_list_length(&px_process.server->part.monitors->all);
}

size_t n_monitors(void)
{
    size_t n;

    raw_on_loop(read_count, &n);
    return n;
}
