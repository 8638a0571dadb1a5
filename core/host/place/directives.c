/* SPDX-License-Identifier: BSD-3-Clause */
/* The syntax of placement directives, which is that of mpirun. */
#include "core/host/place/place.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/types/handle.h"
#include "core/types/hwloc_api.h"
#include "core/types/type.h"
#include "pmix_deprecated.h"

enum phase {
    MAP = 1,
    RANK = 2,
    BIND = 4,
};

static const struct word {
    const char *text;
    unsigned phases; /* phases in which the word is valid */
    enum px_unit level;
} words[] = {
    {"slot", MAP | RANK, PX_UNIT_NODE},
    {"node", MAP | RANK | BIND, PX_UNIT_NODE},
    {"package", MAP | RANK | BIND, PX_UNIT_PACKAGE},
    {"socket", MAP | RANK | BIND, PX_UNIT_PACKAGE},
    {"numa", MAP | RANK | BIND, PX_UNIT_NUMA},
    {"l3cache", MAP | RANK | BIND, PX_UNIT_L3},
    {"l2cache", MAP | RANK | BIND, PX_UNIT_L2},
    {"l1cache", MAP | RANK | BIND, PX_UNIT_L1},
    {"core", MAP | RANK | BIND, PX_UNIT_CORE},
    {"hwthread", MAP | RANK | BIND, PX_UNIT_HWTHREAD},
    {"cpu-list", BIND, PX_UNIT_LIST},
    {"none", BIND, PX_UNIT_NONE},
    /* Known to users of mpirun, but not supported. */
    {"board", MAP | RANK | BIND, PX_UNIT_UNSAID},
    {"seq", MAP, PX_UNIT_UNSAID},
    {"dist", MAP, PX_UNIT_UNSAID},
    {"rankfile", MAP, PX_UNIT_UNSAID},
};

static const struct modifier {
    const char *text;
    unsigned phases;
    size_t flag; /* offset of a bool in px_placement; 0: names the default */
} modifiers[] = {
    {"oversubscribe", MAP, offsetof(struct px_placement, over)},
    {"nooversubscribe", MAP, offsetof(struct px_placement, no_over)},
    {"hwtcpus", MAP, offsetof(struct px_placement, hwthreads)},
    {"corecpus", MAP, 0},
    {"span", MAP | RANK, 0}, /* all nodes: there is only this one */
    {"fill", RANK, offsetof(struct px_placement, fill)},
    {"overload-allowed", BIND, offsetof(struct px_placement, overload)},
    {"if-supported", BIND, 0},
    {"ordered", BIND, offsetof(struct px_placement, ordered)},
};

static pmix_status_t read_modifier(struct px_placement *w, enum phase phase,
                                   const char *text, struct px_err *err)
{
    uint64_t n;

    if (phase == MAP && strncasecmp(text, "pe=", 3) == 0 &&
        px_str_to_u64(text + 3, 1, PX_MAX_CPU, &n)) {
        w->n_cpus = (uint32_t)n;
        return PMIX_SUCCESS;
    }
    for (size_t i = 0; i < PX_COUNT(modifiers); i++) {
        if ((modifiers[i].phases & phase) && strcasecmp(text, modifiers[i].text) == 0) {
            if (modifiers[i].flag)
                *(bool *)((char *)w + modifiers[i].flag) = true;
            return PMIX_SUCCESS;
        }
    }
    return px_err_set(err, PMIX_ERR_BAD_PARAM, "unknown modifier \"%s\"", text);
}

static pmix_status_t read_level(enum px_unit *level, enum phase phase, const char *text,
                                struct px_err *err)
{
    for (size_t i = 0; i < PX_COUNT(words); i++) {
        if (!(words[i].phases & phase) || strcasecmp(text, words[i].text) != 0)
            continue;
        if (words[i].level == PX_UNIT_UNSAID)
            return px_err_set(err, PMIX_ERR_NOT_SUPPORTED, "\"%s\" is not supported",
                              text);
        *level = words[i].level;
        return PMIX_SUCCESS;
    }
    return px_err_set(err, PMIX_ERR_BAD_PARAM, "\"%s\" is not known", text);
}

/* Reads "core", "socket:PE=2:span", ":overload-allowed", "ppr:2:socket". */
static pmix_status_t read_policy(struct px_placement *w, enum phase phase,
                                 const char *text, struct px_err *err)
{
    PX_AUTOFREE char *copy = strdup(text);
    PX_AUTO(px_strv) parts = NULL;
    pmix_status_t rc = PMIX_SUCCESS;
    uint64_t per;
    size_t at = 1;

    for (char *c = copy; c && *c; c++) /* modifiers are separated by either */
        *c = *c == ',' ? ':' : *c;
    parts = copy ? px_strv_split(copy, ':', true) : NULL;
    if (!parts)
        return px_err_nomem(err, "read a placement directive");
    if (phase == MAP && strcasecmp(parts[0], "ppr") == 0) {
        if (!parts[1] || !parts[2] || !px_str_to_u64(parts[1], 1, UINT32_MAX, &per))
            return px_err_set(err, PMIX_ERR_BAD_PARAM,
                              "\"%s\" is not a number of processes and an object",
                              text);
        w->per = (uint32_t)per;
        rc = read_level(&w->each, MAP, parts[2], err);
        at = 3;
    } else if (*parts[0]) {
        rc = read_level(phase == MAP    ? &w->map
                        : phase == RANK ? &w->rank
                                        : &w->bind,
                        phase, parts[0], err);
    }
    for (; !rc && parts[at]; at++)
        rc = read_modifier(w, phase, parts[at], err);
    return rc;
}

static pmix_status_t read_mapper(struct px_placement *w, const char *text,
                                 struct px_err *err)
{
    if (strcmp(text, "round_robin") != 0 && strcmp(text, "ppr") != 0)
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED, "unknown mapper \"%s\"", text);
    w->mapper = *text == 'p' ? PX_MAPPER_PPR : PX_MAPPER_ROUND;
    return PMIX_SUCCESS;
}

pmix_status_t px_placement_read(struct px_placement *w, const pmix_info_t *info,
                                struct px_err *err)
{
    const pmix_value_t *v = &info->value;
    const char *text = px_value_string(v);
    PX_AUTOFREE char *ppr = NULL;

    if (strcmp(info->key, PMIX_MAPBY) == 0)
        return read_policy(w, MAP, text, err);
    if (strcmp(info->key, PMIX_RANKBY) == 0)
        return read_policy(w, RANK, text, err);
    if (strcmp(info->key, PMIX_BINDTO) == 0)
        return read_policy(w, BIND, text, err);
    if (strcmp(info->key, PMIX_MAPPER) == 0)
        return read_mapper(w, text, err);
    if (strcmp(info->key, PMIX_PPR) == 0) {
        ppr = px_strf("ppr:%s", text);
        return ppr ? read_policy(w, MAP, ppr, err)
                   : px_err_nomem(err, "read a placement directive");
    }
    if (strcmp(info->key, PMIX_CPU_LIST) == 0) {
        w->list = text;
        return *text && px_cpus_valid(text) && text[strlen(text) - 1] != '-'
                   ? PMIX_SUCCESS
                   : px_err_set(err, PMIX_ERR_BAD_PARAM,
                                "expected a list of CPUs (got \"%s\")", text);
    }
    if (strcmp(info->key, PMIX_CPUS_PER_PROC) == 0)
        return px_value_to_u32(v, &w->n_cpus) && w->n_cpus > 0 &&
                       w->n_cpus <= PX_MAX_CPU
                   ? PMIX_SUCCESS
                   : px_err_set(err, PMIX_ERR_BAD_PARAM,
                                "expected a number from 1 to %u", PX_MAX_CPU);
    if (strcmp(info->key, PMIX_NO_OVERSUBSCRIBE) == 0)
        w->no_over = px_value_truth(v);
    else if (px_value_truth(v)) /* PMIX_NO_PROCS_ON_HEAD */
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                          "this node is the head, and the only node");
    return PMIX_SUCCESS;
}

/* ---- levels ---------------------------------------------------------------------- */

bool px_placement_needs_topology(const struct px_placement *w)
{
    const enum px_unit levels[] = {w->map, w->rank, w->bind, w->each};

    for (size_t i = 0; i < PX_COUNT(levels); i++)
        if (levels[i] > PX_UNIT_NODE && levels[i] != PX_UNIT_NONE)
            return true;
    return w->n_cpus || w->list || w->no_over || w->bind == PX_UNIT_NODE;
}

pmix_status_t px_placement_check(const struct px_placement *w, void *topology,
                                 struct px_err *err)
{
    const enum px_unit levels[] = {w->map, w->rank, w->bind, w->each};
    struct px_hwloc h;

    if (!px_hwloc_open(&h))
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED, "hwloc is not installed");
    for (size_t i = 0; i < PX_COUNT(levels); i++)
        if (px_unit_depth(&h, topology, levels[i]) == HWLOC_TYPE_DEPTH_UNKNOWN)
            return px_err_set(err, PMIX_ERR_NOT_SUPPORTED, "this node has no %s",
                              px_unit_name(levels[i]));
    return PMIX_SUCCESS;
}
