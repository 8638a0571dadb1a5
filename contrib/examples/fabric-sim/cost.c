/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs of paths between devices. */
#include "fabric.h"

#include <stdlib.h>
#include <string.h>

struct edge {
    uint32_t to, cost;
};

struct graph {
    uint32_t n;       /* switches */
    uint32_t fastest; /* link of the fabric, Mbit/s */
    uint32_t *first;  /* first edge of each switch; [n]: end of all edges */
    struct edge *edges;
    uint32_t *costs; /* from one switch to each */
    uint32_t *queue; /* ring of n + 1 switches */
    bool *queued;
};

static void graph_free(struct graph *g)
{
    free(g->first);
    free(g->edges);
    free(g->costs);
    free(g->queue);
    free(g->queued);
}

static uint32_t fastest_of(const struct sim_fabric *f)
{
    uint32_t fastest = 1;

    for (size_t i = 0; i < f->n_links; i++)
        if (f->links[i].speed > fastest)
            fastest = f->links[i].speed;
    for (size_t g = 0; g < f->n_groups; g++)
        for (uint32_t k = 0; k < f->groups[g].n_nics; k++)
            if (f->groups[g].nics[k].speed > fastest)
                fastest = f->groups[g].nics[k].speed;
    return fastest;
}

static uint32_t cost_of(const struct graph *g, uint32_t speed)
{
    const uint32_t cost = g->fastest / speed + (g->fastest % speed != 0);

    return cost < UINT16_MAX ? cost : UINT16_MAX;
}

static pmix_status_t graph_make(struct graph *g, const struct sim_fabric *f)
{
    *g = (struct graph){.n = f->n_switches, .fastest = fastest_of(f)};
    g->first = calloc((size_t)g->n + 2, sizeof(*g->first));
    g->edges = calloc(2 * f->n_links + 1, sizeof(*g->edges));
    g->costs = calloc((size_t)g->n + 1, sizeof(*g->costs));
    g->queue = calloc((size_t)g->n + 1, sizeof(*g->queue));
    g->queued = calloc((size_t)g->n + 1, sizeof(*g->queued));
    if (!g->first || !g->edges || !g->costs || !g->queue || !g->queued)
        return PMIX_ERR_NOMEM;
    /* Counts stand two places on: filling advances first[s + 1] from begin to end. */
    for (size_t i = 0; i < 2 * f->n_links; i++)
        g->first[f->links[i / 2].ends[i % 2] + 2]++;
    for (uint32_t s = 2; s < g->n + 2; s++)
        g->first[s] += g->first[s - 1];
    for (size_t i = 0; i < 2 * f->n_links; i++) {
        const struct sim_link *link = &f->links[i / 2];

        g->edges[g->first[link->ends[i % 2] + 1]++] = (struct edge){
            link->ends[1 - i % 2], cost_of(g, link->speed)};
    }
    return PMIX_SUCCESS;
}

/* Computes the costs from one switch to each. A switch that became cheaper is queued
 * again. */
static void walk(struct graph *g, uint32_t from)
{
    uint32_t head = 0, tail = 0;

    memset(g->costs, 0xff, g->n * sizeof(*g->costs));
    g->costs[from] = 0;
    g->queue[tail++] = from;
    while (head != tail) {
        const uint32_t at = g->queue[head];

        head = (head + 1) % (g->n + 1);
        g->queued[at] = false;
        for (uint32_t e = g->first[at]; e < g->first[at + 1]; e++) {
            const uint32_t to = g->edges[e].to, cost = g->costs[at] + g->edges[e].cost;

            if (cost >= g->costs[to])
                continue;
            g->costs[to] = cost;
            if (g->queued[to])
                continue;
            g->queued[to] = true;
            g->queue[tail] = to;
            tail = (tail + 1) % (g->n + 1);
        }
    }
}

struct device {
    uint32_t at;   /* switch; UINT32_MAX: unknown */
    uint32_t cost; /* of the link to the switch */
};

/* Deals the nodes of a group evenly to the group's switches, in order. */
static void list_devices(const struct sim_fabric *f, uint32_t plane,
                         const struct graph *graph, struct device *out)
{
    for (size_t g = 0; g < f->n_groups; g++) {
        const struct sim_group *group = &f->groups[g];

        for (uint32_t i = 0; i < group->names.count; i++)
            for (uint32_t k = 0; k < group->n_nics; k++) {
                const struct sim_nic *nic = &group->nics[k];
                const uint64_t which = (uint64_t)i * nic->n_switches /
                                       group->names.count;

                if (plane != UINT32_MAX && nic->plane != plane)
                    continue;
                *out++ = (struct device){
                    nic->n_switches ? nic->first_switch + (uint32_t)which : UINT32_MAX,
                    cost_of(graph, nic->speed)};
            }
    }
}

static uint32_t count_devices(const struct sim_fabric *f, uint32_t plane)
{
    uint32_t n = 0;

    for (size_t g = 0; g < f->n_groups; g++)
        for (uint32_t k = 0; k < f->groups[g].n_nics; k++)
            if (plane == UINT32_MAX || f->groups[g].nics[k].plane == plane)
                n += f->groups[g].names.count;
    return n;
}

static void fill(uint16_t *costs, const struct device *d, uint32_t n, struct graph *g)
{
    uint32_t walked = UINT32_MAX;

    for (uint32_t a = 0; a < n; a++) {
        if (d[a].at != UINT32_MAX && d[a].at != walked)
            walk(g, walked = d[a].at);
        for (uint32_t b = 0; b < n; b++) {
            uint64_t cost = UINT16_MAX;

            if (a == b)
                cost = 0;
            else if (d[a].at != UINT32_MAX && d[b].at != UINT32_MAX)
                cost = (uint64_t)d[a].cost + g->costs[d[b].at] + d[b].cost;
            costs[(size_t)a * n + b] = cost < UINT16_MAX ? (uint16_t)cost : UINT16_MAX;
        }
    }
}

pmix_status_t sim_costs(const struct sim_fabric *f, uint32_t plane, uint16_t **out,
                        uint32_t *n)
{
    const uint32_t many = count_devices(f, plane);
    struct graph g;

    if (many > SIM_MAX_COSTED)
        return PMIX_ERR_OUT_OF_RESOURCE;
    pmix_status_t rc = graph_make(&g, f);
    struct device *devices = calloc((size_t)many + 1, sizeof(*devices));
    uint16_t *costs = calloc((size_t)many * many + 1, sizeof(*costs));
    if (!devices || !costs)
        rc = PMIX_ERR_NOMEM;
    if (!rc) {
        list_devices(f, plane, &g, devices);
        fill(costs, devices, many, &g);
        *out = costs;
        *n = many;
    } else {
        free(costs);
    }
    free(devices);
    graph_free(&g);
    return rc;
}
