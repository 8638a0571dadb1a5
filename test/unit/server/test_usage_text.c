/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures of resource usage in the texts of /proc. */
#include "core/server/monitor/usage_text.h"

#include "core/wire/requests.h"

#include "px_test.h"

#include <locale.h>
#include <string.h>
#include <unistd.h>

static const char *const texts[PX_N_TEXTS] = {
    [PX_TEXT_STAT] =
        "77 (a) R 1 (b) S 1 2 3 4 5 6 7 8 9 10 250 150 13 14 -4 16 12 18 500 20 21 22 23 24 25 26 "
        "27 28 29 30 31 32 33 34 35 5 37\n",
    [PX_TEXT_STATUS] =
        "Name:\tVmRSS: 9 kB\nVmPeak:\t    4096 kB\nVmSize:\t    2048 kB\nVmRSS:\t    1024 kB\n",
    [PX_TEXT_SMAPS] =
        "0-1 r--p 00000000 00:00 0 [rollup]\nRss: 1024 kB\nPss:                 512 kB\n",
    [PX_TEXT_CMDLINE] = "prog",
    [PX_TEXT_LOADAVG] = "0.25 1.50 12.75 1/234 5678\n",
    [PX_TEXT_MEMINFO] =
        "MemTotal:       8388608 kB\nMemFree:        1048576 kB\nBuffers:            1024 kB\n"
        "Cached:             2048 kB\nSwapCached:         3072 kB\nSwapTotal:          4096 kB\n"
        "SwapFree:           5120 kB\nMapped:             6144 kB\n",
    [PX_TEXT_DISKSTATS] = "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0\n"
                          "   8       0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"
                          "   8       1 sda1 1 1 1 1 1 1 1 1 1 1 1\n"
                          " 259       0 nvme0n1 21 22 23 24 25 26 27 28 29 30 31\n"
                          " 259       1 nvme0n1p1 1 1 1 1 1 1 1 1 1 1 1\n"
                          " 253       0 dm-1 41 42\n",
    [PX_TEXT_NETDEV] =
        "Inter-|   Receive                                                |  Transmit\n"
        " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs\n"
        "    lo:      10 20 30 40 50 60 70 80 90 100 110 120 130 140 150 160\n"
        "eth0:11 21 31 41 51 61 71 81 91 101 111 121 131 141 151 161\n",
};

static const pmix_value_t nothing = {.type = PMIX_UNDEF};

/* Returns the set of one figure. */
static px_usage_set set_of(enum px_usage_of of, const char *key, bool required)
{
    PX_AUTO(px_infos) keys = {0}, holder = {0};
    const char *unknown = NULL;
    px_usage_set set = 0;
    pmix_status_t rc;

    ok(px_infos_add(&keys, key, NULL, PMIX_BOOL));
    if (required)
        PMIX_INFO_REQUIRED(&keys.v[0]);
    ok(px_infos_add_array(&holder, PMIX_MONITOR_PROC_RESOURCE_USAGE, &keys));
    rc = px_usage_read_set(of, &holder.v[0].value, &set, &unknown);
    ck_assert(!rc || (rc == PMIX_ERR_NOT_SUPPORTED && strcmp(unknown, key) == 0));
    return rc ? UINT64_MAX : set;
}

/* Compares a value with its printed form. */
static void check_value(const px_infos *figures, const char *key, double expected)
{
    const pmix_info_t *info = px_info_find(figures->v, figures->n, key);
    const pmix_value_t *v = info ? &info->value : NULL;
    uint64_t whole = 0;
    double got;

    ck_assert_msg(v, "no %s", key);
    got = v->type == PMIX_FLOAT ? (double)v->data.fval
          : v->type == PMIX_TIMEVAL
              ? (double)v->data.tv.tv_sec + (double)v->data.tv.tv_usec / 1e6
          : v->type == PMIX_INT32      ? v->data.int32
          : px_value_to_u64(v, &whole) ? (double)whole
                                       : -1;
    ck_assert_msg(got > expected - 0.001 && got < expected + 0.001,
                  "%s: %f, expected %f", key, got, expected);
}

static const struct row {
    enum px_usage_of of;
    const char *key;
    double expected; /* times in ticks are divided by the ticks of a second */
    bool ticks;
} rows[] = {
    {PX_USAGE_PROC, PMIX_PROC_TIME, 400, true},
    {PX_USAGE_PROC, PMIX_PROC_PRIORITY, -4, false},
    {PX_USAGE_PROC, PMIX_PROC_NUM_THREADS, 12, false},
    {PX_USAGE_PROC, PMIX_PROC_CPU, 5, false},
    {PX_USAGE_PROC, PMIX_PROC_PSS, 0.5, false},
    {PX_USAGE_PROC, PMIX_PROC_RSS, 1, false},
    {PX_USAGE_PROC, PMIX_PROC_VSIZE, 2, false},
    {PX_USAGE_PROC, PMIX_PROC_PEAK_VSIZE, 4, false},
    {PX_USAGE_NODE, PMIX_NODE_LOAD_AVG, 0.25, false},
    {PX_USAGE_NODE, PMIX_NODE_LOAD_AVG5, 1.5, false},
    {PX_USAGE_NODE, PMIX_NODE_LOAD_AVG15, 12.75, false},
    {PX_USAGE_NODE, PMIX_NODE_MEM_TOTAL, 8192, false},
    {PX_USAGE_NODE, PMIX_NODE_MEM_FREE, 1024, false},
    {PX_USAGE_NODE, PMIX_NODE_MEM_BUFFERS, 1, false},
    {PX_USAGE_NODE, PMIX_NODE_MEM_CACHED, 2, false},
    {PX_USAGE_NODE, PMIX_NODE_MEM_SWAP_CACHED, 3, false},
    {PX_USAGE_NODE, PMIX_NODE_SWAP_TOTAL, 4, false},
    {PX_USAGE_NODE, PMIX_NODE_MEM_SWAP_FREE, 5, false},
    {PX_USAGE_NODE, PMIX_NODE_MEM_MAPPED, 6, false},
};

PX_TEST_LOOP(each_figure_is_read_alone, PX_COUNT(rows))
{
    const struct row *row = &rows[_i];
    PX_AUTO(px_infos) figures = {0};
    const double scale = row->ticks ? (double)sysconf(_SC_CLK_TCK) : 1;

    (void)setlocale(LC_ALL, "de_DE.UTF-8"); /* where a comma begins the fraction */
    ok(px_usage_add(&figures, set_of(row->of, row->key, true), texts, 100));
    ck_assert_uint_eq(figures.n, 1);
    check_value(&figures, row->key, row->expected / scale);
}

PX_TEST(a_process_has_a_command_a_state_and_a_share_of_a_cpu)
{
    const double tick = (double)sysconf(_SC_CLK_TCK), start_s = 500 / tick;
    PX_AUTO(px_infos) figures = {0};
    const char *unknown;
    px_usage_set all;

    ok(px_usage_read_set(PX_USAGE_PROC, &nothing, &all, &unknown));
    ok(px_usage_add(&figures, all, texts, start_s + 8 * 400 / tick));
    ck_assert_uint_eq(figures.n, 11);
    ck_assert_str_eq(px_info_str(figures.v, figures.n, PMIX_CMD_LINE), "prog");
    ck_assert_str_eq(px_info_str(figures.v, figures.n, PMIX_PROC_OS_STATE), "S");
    check_value(&figures, PMIX_PROC_PERCENT_CPU, 12.5);
}

PX_TEST(texts_that_cannot_be_read_are_left_out)
{
    const char *few[PX_N_TEXTS] = {
        [PX_TEXT_STAT] = "77 (x) Z 1", [PX_TEXT_CMDLINE] = ""};
    PX_AUTO(px_infos) figures = {0};
    const char *unknown;
    px_usage_set all;

    ok(px_usage_read_set(PX_USAGE_PROC, &nothing, &all, &unknown));
    ok(px_usage_add(&figures, all, few, 1));
    check_value(&figures, PMIX_PROC_TIME, 0);
    check_value(&figures, PMIX_PROC_PERCENT_CPU, 0);
    ck_assert_str_eq(px_info_str(figures.v, figures.n, PMIX_PROC_OS_STATE), "Z");
    ck_assert_uint_eq(figures.n, 3);
}

PX_TEST(keys_of_another_kind_are_ignored_or_refused)
{
    ck_assert_uint_eq(set_of(PX_USAGE_NODE, PMIX_PROC_RSS, false), 0);
    ck_assert_uint_eq(set_of(PX_USAGE_NODE, PMIX_PROC_RSS, true), UINT64_MAX);
    ck_assert_uint_eq(set_of(PX_USAGE_PROC, PMIX_DISK_RESOURCE_USAGE, true),
                      UINT64_MAX);
    ck_assert_uint_eq(set_of(PX_USAGE_PROC, PMIX_PROC_SAMPLE_TIME, true), 0);
    ck_assert_uint_eq(set_of(PX_USAGE_NODE, PMIX_HOSTNAME, true), 0);
    ck_assert_uint_eq(
        px_usage_texts(set_of(PX_USAGE_NODE, PMIX_DISK_RESOURCE_USAGE, true)),
        1u << PX_TEXT_DISKSTATS);
}

/* ---- devices ------------------------------------------------------------------------------ */

static px_infos devices(enum px_usage_of of, char *const *only)
{
    enum px_usage_text text = of == PX_USAGE_NET ? PX_TEXT_NETDEV : PX_TEXT_DISKSTATS;
    px_infos out = {0};
    const char *unknown;
    px_usage_set all;

    ok(px_usage_read_set(of, &nothing, &all, &unknown));
    ok(px_usage_add_devices(&out, of, all, texts[text], only, 1234));
    return out;
}

static px_infos members_of(const px_infos *devices_, size_t i)
{
    const pmix_info_t *v = NULL;
    size_t n = 0;

    ck_assert_uint_lt(i, devices_->n);
    ck_assert(px_value_infos(&devices_->v[i].value, &v, &n));
    return px_infos_borrow(v, n);
}

static const char *name_of(const px_infos *devices_, size_t i)
{
    return members_of(devices_, i).v[0].value.data.string;
}

PX_TEST(disks_come_without_their_partitions)
{
    PX_AUTO(px_infos) disks = devices(PX_USAGE_DISK, NULL);
    px_infos sda = members_of(&disks, 1), dm = members_of(&disks, 3);

    ck_assert_uint_eq(disks.n, 4);
    ck_assert(PMIx_Check_key(disks.v[0].key, PMIX_DISK_RESOURCE_USAGE));
    ck_assert_str_eq(name_of(&disks, 0), "loop0");
    ck_assert_str_eq(name_of(&disks, 1), "sda");
    ck_assert_str_eq(name_of(&disks, 2), "nvme0n1");
    ck_assert_str_eq(name_of(&disks, 3), "dm-1");
    ck_assert(PMIx_Check_key(sda.v[0].key, PMIX_DISK_ID));
    ck_assert_uint_eq(sda.n, 13);
    check_value(&sda, PMIX_DISK_READ_COMPLETED, 1);
    check_value(&sda, PMIX_DISK_WRITE_MILLISEC, 8);
    check_value(&sda, PMIX_DISK_IO_WEIGHTED, 11);
    ck_assert_int_eq(px_info_find(sda.v, sda.n, PMIX_DISK_SAMPLE_TIME)->value.data.time,
                     1234);
    ck_assert_uint_eq(dm.n, 4); /* a short line */
}

PX_TEST(named_devices_come_alone)
{
    char *const only[] = {(char *)(uintptr_t) "sda1", (char *)(uintptr_t) "none", NULL};
    char *const eth[] = {(char *)(uintptr_t) "eth0", NULL};
    PX_AUTO(px_infos) disks = devices(PX_USAGE_DISK, only);
    PX_AUTO(px_infos) nets = devices(PX_USAGE_NET, eth);
    px_infos net = members_of(&nets, 0);

    ck_assert_uint_eq(disks.n, 1);
    ck_assert_str_eq(name_of(&disks, 0), "sda1");
    ck_assert_uint_eq(nets.n, 1);
    check_value(&net, PMIX_NET_RECVD_BYTES, 11);
    check_value(&net, PMIX_NET_RECVD_ERRS, 31);
    check_value(&net, PMIX_NET_SENT_BYTES, 91);
    check_value(&net, PMIX_NET_SENT_ERRS, 111);
}

PX_TEST(nets_are_all_interfaces)
{
    PX_AUTO(px_infos) nets = devices(PX_USAGE_NET, NULL);

    ck_assert_uint_eq(nets.n, 2);
    ck_assert(PMIx_Check_key(nets.v[0].key, PMIX_NETWORK_RESOURCE_USAGE));
    ck_assert_str_eq(name_of(&nets, 0), "lo");
    ck_assert_str_eq(name_of(&nets, 1), "eth0");
}

PX_TEST_MAIN("server/usage_text", NULL, NULL)
