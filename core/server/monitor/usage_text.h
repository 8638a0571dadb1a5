/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures of resource usage, from the texts of /proc. Stateless. */
#ifndef PX_SERVER_MONITOR_USAGE_TEXT_H
#define PX_SERVER_MONITOR_USAGE_TEXT_H

#include "core/types/type.h"

/* Kinds of objects that have figures. */
enum px_usage_of { PX_USAGE_PROC, PX_USAGE_NODE, PX_USAGE_DISK, PX_USAGE_NET };

/* Texts that the figures come from. Texts of a process are in /proc/PID. */
enum px_usage_text {
    PX_TEXT_STAT,
    PX_TEXT_STATUS,
    PX_TEXT_SMAPS,
    PX_TEXT_CMDLINE,
    PX_TEXT_LOADAVG,
    PX_TEXT_MEMINFO,
    PX_TEXT_DISKSTATS,
    PX_TEXT_NETDEV,
    PX_N_TEXTS,
};

/* Figures to report: bits of the rows of usage_text.c. */
typedef uint64_t px_usage_set;

/* Reads the figures that a monitor of this kind asks for; no array means all. Sets of
 * disks and nets are those that a monitor of a node contains. PMIX_ERR_NOT_SUPPORTED:
 * *unknown is a required key that no row has. */
pmix_status_t px_usage_read_set(enum px_usage_of of, const pmix_value_t *asked,
                                px_usage_set *set, const char **unknown);
/* Returns bits of the texts that the figures need. */
unsigned px_usage_texts(px_usage_set set);
/* Returns the name of a text below /proc, or below the process's folder. */
const char *px_usage_file(enum px_usage_text text);

/* Adds the figures of a process or node to members. Figures of missing texts are left
 * out. boot_s: time since boot, for the share of a CPU. */
pmix_status_t px_usage_add(px_infos *members, px_usage_set set,
                           const char *const texts[PX_N_TEXTS], double boot_s);
/* Adds an array with the figures of each disk or net of the text. only: names to
 * report; NULL: all disks, without their partitions, or all nets. now: the time of the
 * sample. */
pmix_status_t px_usage_add_devices(px_infos *out, enum px_usage_of of, px_usage_set set,
                                   const char *text, char *const *only, time_t now);

#endif
