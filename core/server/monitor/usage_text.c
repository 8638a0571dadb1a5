/* SPDX-License-Identifier: BSD-3-Clause */
/* Each figure is a row: its key and type, its text, and its place in the text. A new
 * figure is a new row. */
#include "core/server/monitor/usage_text.h"

#include "core/base/strv.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* Words of /proc/PID/stat after the name of the program. */
enum {
    W_STATE,
    W_USER = 11,
    W_SYSTEM,
    W_PRIORITY = 15,
    W_THREADS = 17,
    W_START = 19,
    W_CPU = 36
};

/* Kind of object, text and type of figures. */
#define STAT            PX_USAGE_PROC, PX_TEXT_STAT
#define PROC_SIZE(text) PX_USAGE_PROC, text, PMIX_FLOAT
#define LOAD            PX_USAGE_NODE, PX_TEXT_LOADAVG, PMIX_FLOAT
#define MEMORY          PX_USAGE_NODE, PX_TEXT_MEMINFO, PMIX_FLOAT
#define DISK            PX_USAGE_DISK, PX_TEXT_DISKSTATS, PMIX_UINT64
#define NET             PX_USAGE_NET, PX_TEXT_NETDEV, PMIX_UINT64

static const struct row {
    enum px_usage_of of;
    enum px_usage_text text;
    pmix_data_type_t type;
    const char *key;
    unsigned word;     /* number of the word, from 0 */
    const char *label; /* the number after this label counts, not the word */
    enum { PLAIN, CPU_TIME, CPU_SHARE, FIRST_STRING } how;
} rows[] = {
    {PX_USAGE_PROC, PX_TEXT_CMDLINE, PMIX_STRING, PMIX_CMD_LINE, .how = FIRST_STRING},
    {STAT, PMIX_STRING, PMIX_PROC_OS_STATE, .word = W_STATE},
    {STAT, PMIX_TIMEVAL, PMIX_PROC_TIME, .how = CPU_TIME},
    {STAT, PMIX_FLOAT, PMIX_PROC_PERCENT_CPU, .how = CPU_SHARE},
    {STAT, PMIX_INT32, PMIX_PROC_PRIORITY, .word = W_PRIORITY},
    {STAT, PMIX_UINT16, PMIX_PROC_NUM_THREADS, .word = W_THREADS},
    {STAT, PMIX_UINT16, PMIX_PROC_CPU, .word = W_CPU},
    {PROC_SIZE(PX_TEXT_SMAPS), PMIX_PROC_PSS, .label = "Pss:"},
    {PROC_SIZE(PX_TEXT_STATUS), PMIX_PROC_VSIZE, .label = "VmSize:"},
    {PROC_SIZE(PX_TEXT_STATUS), PMIX_PROC_RSS, .label = "VmRSS:"},
    {PROC_SIZE(PX_TEXT_STATUS), PMIX_PROC_PEAK_VSIZE, .label = "VmPeak:"},
    {LOAD, PMIX_NODE_LOAD_AVG, .word = 0},
    {LOAD, PMIX_NODE_LOAD_AVG5, .word = 1},
    {LOAD, PMIX_NODE_LOAD_AVG15, .word = 2},
    {MEMORY, PMIX_NODE_MEM_TOTAL, .label = "MemTotal:"},
    {MEMORY, PMIX_NODE_MEM_FREE, .label = "MemFree:"},
    {MEMORY, PMIX_NODE_MEM_BUFFERS, .label = "Buffers:"},
    {MEMORY, PMIX_NODE_MEM_CACHED, .label = "Cached:"},
    {MEMORY, PMIX_NODE_MEM_SWAP_CACHED, .label = "SwapCached:"},
    {MEMORY, PMIX_NODE_SWAP_TOTAL, .label = "SwapTotal:"},
    {MEMORY, PMIX_NODE_MEM_SWAP_FREE, .label = "SwapFree:"},
    {MEMORY, PMIX_NODE_MEM_MAPPED, .label = "Mapped:"},
    {DISK, PMIX_DISK_READ_COMPLETED, .word = 0},
    {DISK, PMIX_DISK_READ_MERGED, .word = 1},
    {DISK, PMIX_DISK_READ_SECTORS, .word = 2},
    {DISK, PMIX_DISK_READ_MILLISEC, .word = 3},
    {DISK, PMIX_DISK_WRITE_COMPLETED, .word = 4},
    {DISK, PMIX_DISK_WRITE_MERGED, .word = 5},
    {DISK, PMIX_DISK_WRITE_SECTORS, .word = 6},
    {DISK, PMIX_DISK_WRITE_MILLISEC, .word = 7},
    {DISK, PMIX_DISK_IO_IN_PROGRESS, .word = 8},
    {DISK, PMIX_DISK_IO_MILLISEC, .word = 9},
    {DISK, PMIX_DISK_IO_WEIGHTED, .word = 10},
    {NET, PMIX_NET_RECVD_BYTES, .word = 0},
    {NET, PMIX_NET_RECVD_PCKTS, .word = 1},
    {NET, PMIX_NET_RECVD_ERRS, .word = 2},
    {NET, PMIX_NET_SENT_BYTES, .word = 8},
    {NET, PMIX_NET_SENT_PCKTS, .word = 9},
    {NET, PMIX_NET_SENT_ERRS, .word = 10},
};

#define BIT(i) (UINT64_C(1) << (i))
_Static_assert(PX_COUNT(rows) <= 64, "a set has 64 bits");

/* Arrays that a monitor of a node may contain, and keys that are always reported. */
static const struct {
    const char *key;
    enum px_usage_of of;
    bool given; /* reported with each array */
} more[] = {
    {PMIX_DISK_RESOURCE_USAGE, PX_USAGE_DISK, false},
    {PMIX_NETWORK_RESOURCE_USAGE, PX_USAGE_NET, false},
    {PMIX_PROC_SAMPLE_TIME, PX_USAGE_PROC, true},
    {PMIX_NODE_SAMPLE_TIME, PX_USAGE_NODE, true},
    {PMIX_DISK_SAMPLE_TIME, PX_USAGE_DISK, true},
    {PMIX_NET_SAMPLE_TIME, PX_USAGE_NET, true},
    {PMIX_PROCID, PX_USAGE_PROC, true},
    {PMIX_PROC_PID, PX_USAGE_PROC, true},
    {PMIX_HOSTNAME, PX_USAGE_PROC, true},
    {PMIX_HOSTNAME, PX_USAGE_NODE, true},
    {PMIX_DISK_ID, PX_USAGE_DISK, true},
    {PMIX_NETWORK_ID, PX_USAGE_NET, true},
};

/* ---- sets ------------------------------------------------------------------------ */

static px_usage_set all_of(enum px_usage_of of)
{
    px_usage_set set = 0;

    for (size_t i = 0; i < PX_COUNT(rows); i++)
        if (rows[i].of == of)
            set |= BIT(i);
    return set;
}

/* Adds what a key asks for. False if no row has the key. */
static bool add_key(enum px_usage_of of, const pmix_info_t *info, px_usage_set *set)
{
    const pmix_value_t *v = &info->value;
    const char *unknown;
    px_usage_set nested = 0;

    for (size_t i = 0; i < PX_COUNT(rows); i++)
        if (rows[i].of == of && PMIx_Check_key(info->key, rows[i].key)) {
            *set |= BIT(i);
            return true;
        }
    for (size_t i = 0; i < PX_COUNT(more); i++) {
        if (!PMIx_Check_key(info->key, more[i].key))
            continue;
        if (more[i].given && more[i].of == of)
            return true;
        if (more[i].given)
            continue;
        if (of != PX_USAGE_NODE || px_usage_read_set(more[i].of, v, &nested, &unknown))
            return false;
        *set |= nested;
        return true;
    }
    return false;
}

pmix_status_t px_usage_read_set(enum px_usage_of of, const pmix_value_t *asked,
                                px_usage_set *set, const char **unknown)
{
    const pmix_info_t *infos = NULL;
    size_t n = 0;

    *set = 0;
    if (!px_value_infos(asked, &infos, &n) || n == 0) {
        *set = all_of(of);
        return PMIX_SUCCESS;
    }
    for (size_t i = 0; i < n; i++)
        if (!add_key(of, &infos[i], set) && PMIx_Info_is_required(&infos[i])) {
            *unknown = infos[i].key;
            return PMIX_ERR_NOT_SUPPORTED;
        }
    return PMIX_SUCCESS;
}

unsigned px_usage_texts(px_usage_set set)
{
    unsigned texts = 0;

    for (size_t i = 0; i < PX_COUNT(rows); i++)
        if (set & BIT(i))
            texts |= 1u << rows[i].text;
    return texts;
}

const char *px_usage_file(enum px_usage_text text)
{
    static const char *const files[PX_N_TEXTS] = {
        [PX_TEXT_STAT] = "stat",           [PX_TEXT_STATUS] = "status",
        [PX_TEXT_SMAPS] = "smaps_rollup",  [PX_TEXT_CMDLINE] = "cmdline",
        [PX_TEXT_LOADAVG] = "loadavg",     [PX_TEXT_MEMINFO] = "meminfo",
        [PX_TEXT_DISKSTATS] = "diskstats", [PX_TEXT_NETDEV] = "net/dev"};

    return files[text];
}

/* ---- numbers --------------------------------------------------------------------- */

/* Returns the word with this number, or NULL. */
static const char *word_at(const char *text, unsigned number)
{
    for (;; number--) {
        text += strspn(text, " \t");
        if (number == 0)
            return *text && *text != '\n' ? text : NULL;
        text += strcspn(text, " \t\n");
    }
}

/* Returns the text after a label that begins a line, or NULL. */
static const char *after_label(const char *text, const char *label)
{
    const size_t len = strlen(label);

    for (; text; text = strchr(text, '\n')) {
        text += *text == '\n';
        if (strncmp(text, label, len) == 0)
            return word_at(text + len, 0);
    }
    return NULL;
}

/* Parses a decimal fraction. strtod would depend on the program's locale. */
static double fraction(const char *text)
{
    char *end;
    double value = (double)strtoull(text, &end, 10), place = 0.1;

    if (*end == '.')
        for (end++; isdigit((unsigned char)*end); end++, place /= 10)
            value += place * (*end - '0');
    return value;
}

/* Returns the CPU time of a process in seconds. */
static double cpu_time(const char *stat)
{
    const char *user = word_at(stat, W_USER), *sys = word_at(stat, W_SYSTEM);

    return user && sys ? (fraction(user) + fraction(sys)) / (double)sysconf(_SC_CLK_TCK)
                       : 0;
}

static double cpu_share(const char *stat, double boot_s)
{
    const char *start = word_at(stat, W_START);
    double lived_s = start ? boot_s - fraction(start) / (double)sysconf(_SC_CLK_TCK)
                           : 0;

    return lived_s > 0 ? 100 * cpu_time(stat) / lived_s : 0;
}

/* ---- figures --------------------------------------------------------------------- */

/* Adds the number at a place in a text. */
static pmix_status_t add_number(px_infos *out, const struct row *row, const char *at)
{
    const long long number = strtoll(at, NULL, 10);
    const char state[] = {*at, '\0'};
    /* sizes are in kB, and reported in MB */
    float real = (float)(row->label ? fraction(at) / 1024 : fraction(at));
    uint64_t u64 = strtoull(at, NULL, 10);
    uint16_t u16 = (uint16_t)number;
    int32_t i32 = (int32_t)number;
    const void *data = row->type == PMIX_FLOAT    ? (const void *)&real
                       : row->type == PMIX_UINT64 ? (const void *)&u64
                       : row->type == PMIX_UINT16 ? (const void *)&u16
                       : row->type == PMIX_INT32  ? (const void *)&i32
                                                  : (const void *)state;

    return px_infos_add(out, row->key, data, row->type);
}

static pmix_status_t add_figure(px_infos *out, const struct row *row, const char *text,
                                double boot_s)
{
    const char *at = NULL;
    double seconds;
    struct timeval time;
    float share;

    switch (row->how) {
    case CPU_TIME:
        seconds = cpu_time(text);
        time.tv_sec = (time_t)seconds;
        time.tv_usec = (suseconds_t)(1e6 * (seconds - (double)time.tv_sec));
        return px_infos_add(out, row->key, &time, PMIX_TIMEVAL);
    case CPU_SHARE:
        share = (float)cpu_share(text, boot_s);
        return px_infos_add(out, row->key, &share, PMIX_FLOAT);
    case FIRST_STRING:
        return *text ? px_infos_add(out, row->key, text, PMIX_STRING) : PMIX_SUCCESS;
    case PLAIN:
        at = row->label ? after_label(text, row->label) : word_at(text, row->word);
        break;
    }
    return at ? add_number(out, row, at) : PMIX_SUCCESS;
}

/* The name of the program in /proc/PID/stat may contain anything. */
static const char *after_name(const char *stat)
{
    const char *end = strrchr(stat, ')');

    return end ? end + 1 : stat;
}

pmix_status_t px_usage_add(px_infos *members, px_usage_set set,
                           const char *const texts[PX_N_TEXTS], double boot_s)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < PX_COUNT(rows); i++) {
        const struct row *row = &rows[i];
        const char *text = texts[row->text];

        if (!(set & BIT(i)) || row->of > PX_USAGE_NODE || !text)
            continue;
        if (row->text == PX_TEXT_STAT)
            text = after_name(text);
        rc = add_figure(members, row, text, boot_s);
    }
    return rc;
}

/* ---- devices --------------------------------------------------------------------- */

struct device {
    char name[64];
    const char *figures; /* the rest of its line */
};

/* Reads the next line. False at the end. The name is empty in a line without a
 * device. */
static bool next_device(const char **text, bool net, struct device *d)
{
    const char *line = *text, *name, *end;
    size_t len;

    if (!*line)
        return false;
    *text = line + strcspn(line, "\n");
    *text += **text == '\n';
    name = word_at(line, net ? 0 : 2); /* disks: after the numbers of the device */
    len = name ? strcspn(name, net ? " \t\n:|" : " \t\n") : 0;
    end = name ? name + len : line;
    if (len >= sizeof(d->name) || (net && *end != ':'))
        len = 0;
    memcpy(d->name, name ? name : "", len);
    d->name[len] = '\0';
    d->figures = end + (net && len > 0);
    return true;
}

/* True for the name of a partition of a disk, such as sda1 of sda, nvme0n1p2 of
 * nvme0n1. */
static bool is_partition(const char *name, const char *disk)
{
    const size_t len = strlen(disk);
    const char *rest = name + len;

    if (len == 0 || strncmp(name, disk, len) != 0)
        return false;
    rest += *rest == 'p' && isdigit((unsigned char)disk[len - 1]);
    return *rest && strspn(rest, "0123456789") == strlen(rest);
}

static pmix_status_t add_device(px_infos *out, bool net, px_usage_set set,
                                const struct device *d, time_t now)
{
    PX_AUTO(px_infos) members = {0};
    pmix_status_t rc = px_infos_add(&members, net ? PMIX_NETWORK_ID : PMIX_DISK_ID,
                                    d->name, PMIX_STRING);

    for (size_t i = 0; !rc && i < PX_COUNT(rows); i++)
        if ((set & BIT(i)) && rows[i].of == (net ? PX_USAGE_NET : PX_USAGE_DISK))
            rc = add_figure(&members, &rows[i], d->figures, 0);
    if (!rc)
        rc = px_infos_add(&members, net ? PMIX_NET_SAMPLE_TIME : PMIX_DISK_SAMPLE_TIME,
                          &now, PMIX_TIME);
    return rc ? rc
              : px_infos_add_array(
                    out, net ? PMIX_NETWORK_RESOURCE_USAGE : PMIX_DISK_RESOURCE_USAGE,
                    &members);
}

pmix_status_t px_usage_add_devices(px_infos *out, enum px_usage_of of, px_usage_set set,
                                   const char *text, char *const *only, time_t now)
{
    const bool net = of == PX_USAGE_NET;
    char disk[sizeof(((struct device *)0)->name)] = "";
    pmix_status_t rc = PMIX_SUCCESS;
    struct device d;

    while (!rc && next_device(&text, net, &d)) {
        bool part = !net && is_partition(d.name, disk);

        if (!part)
            memcpy(disk, d.name, sizeof(disk));
        if (d.name[0] && (only ? px_strv_has(only, d.name) : !part))
            rc = add_device(out, net, set, &d, now);
    }
    return rc;
}
