/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU binding of processes, from the kernel. hwloc would first need the whole
 * topology. */
#include "core/topo/topo.h"

#include "core/base/ranges.h"
#include "core/base/str.h"
#include "core/os/proc.h"
#include "core/types/handle.h"
#include "core/types/hwloc_api.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

enum { MAX_CPUS = PX_MAX_CPU };

struct cpus {
    cpu_set_t *set; /* room for MAX_CPUS, more than kernels have */
    cpu_set_t *one; /* CPUs of the last thread */
    size_t size;
};

/* Adds the CPUs of a thread. A thread that has just ended has none. */
static bool add_thread(struct cpus *c, pid_t tid)
{
    CPU_ZERO_S(c->size, c->one);
    if (sched_getaffinity(tid, c->size, c->one))
        return errno == ESRCH;
    CPU_OR_S(c->size, c->set, c->set, c->one);
    return true;
}

static bool add_process(struct cpus *c, pid_t pid)
{
    char path[64];
    bool ok = true;
    uint64_t tid;

    snprintf(path, sizeof(path), PX_OSPROC "/%ld/task", (long)pid);
    DIR *dir = opendir(path);
    if (!dir) /* without /proc: only the thread with the process's id */
        return add_thread(c, pid);
    for (struct dirent *e; ok && (e = readdir(dir));) {
        if (px_str_to_u64(e->d_name, 1, INT32_MAX, &tid))
            ok = add_thread(c, (pid_t)tid);
    }
    closedir(dir);
    return ok;
}

pmix_status_t px_cpus_text(const cpu_set_t *set, char **list)
{
    const size_t size = CPU_ALLOC_SIZE(MAX_CPUS), n = (size_t)CPU_COUNT_S(size, set);
    PX_AUTOFREE uint32_t *numbers = calloc(n + 1, sizeof(*numbers));
    size_t at = 0;

    if (!numbers)
        return PMIX_ERR_NOMEM;
    for (uint32_t cpu = 0; at < n && cpu < MAX_CPUS; cpu++) {
        if (CPU_ISSET_S(cpu, size, set))
            numbers[at++] = cpu;
    }
    *list = px_ranges_format(numbers, at);
    return *list ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

static pmix_status_t format(const struct cpus *c, char **list)
{
    return CPU_COUNT_S(c->size, c->set) ? px_cpus_text(c->set, list)
                                        : PMIX_ERR_NOT_AVAILABLE;
}

pmix_status_t px_binding_list(pid_t pid, char **list)
{
    struct cpus c = {.size = CPU_ALLOC_SIZE(MAX_CPUS)};
    pmix_status_t rc = PMIX_ERR_NOMEM;

    c.set = calloc(1, c.size);
    c.one = calloc(1, c.size);
    if (c.set && c.one)
        rc = (pid ? add_process(&c, pid) : add_thread(&c, 0)) ? format(&c, list)
                                                              : PMIX_ERR_NOT_AVAILABLE;
    free(c.set);
    free(c.one);
    return rc;
}

uint32_t px_binding_count(void)
{
    const size_t size = CPU_ALLOC_SIZE(MAX_CPUS);
    PX_AUTOFREE cpu_set_t *set = calloc(1, size);

    return set && sched_getaffinity(0, size, set) == 0
               ? (uint32_t)CPU_COUNT_S(size, set)
               : UINT32_MAX;
}

pmix_status_t px_cpus_mask(const char *list, cpu_set_t **mask, size_t *size)
{
    uint32_t first, last;
    size_t n = CPU_ALLOC_SIZE(MAX_CPUS);
    cpu_set_t *set = calloc(1, n);

    if (!set)
        return PMIX_ERR_NOMEM;
    bool good = true;
    while (good && *list) {
        good = px_cpus_take(&list, &first, &last) && last < MAX_CPUS;
        for (uint32_t cpu = first; good && cpu <= last; cpu++)
            CPU_SET_S(cpu, n, set);
    }
    if (!good) {
        free(set);
        return PMIX_ERR_BAD_PARAM;
    }
    *mask = set;
    *size = n;
    return PMIX_SUCCESS;
}

pmix_status_t px_cpuset_parse(const char *text, pmix_cpuset_t *cpuset)
{
    const char *colon = strchr(text, ':');
    PX_AUTOFREE char *source = NULL;
    void *bitmap;

    if ((colon && !px_source_is_hwloc(text)) ||
        (cpuset->source && !px_source_is_hwloc(cpuset->source)))
        return PMIX_ERR_NOT_SUPPORTED;
    if (!cpuset->source && !(source = strdup(PX_HWLOC_SOURCE)))
        return PMIX_ERR_NOMEM;
    pmix_status_t rc = px_handle_parse(PX_CPUSET, colon ? colon + 1 : text, &bitmap);
    if (rc)
        return rc;
    if (source)
        cpuset->source = px_take(&source);
    cpuset->bitmap = bitmap;
    return PMIX_SUCCESS;
}
