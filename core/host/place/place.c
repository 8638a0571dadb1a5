/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/host/place/place.h"

#include <string.h>

#include "core/base/ranges.h"
#include "core/topo/topo.h"
#include "core/types/handle.h"
#include "core/types/hwloc_api.h"
#include "core/types/type.h"

/* Object of a level, restricted to usable CPUs. */
struct object {
    hwloc_bitmap_t set;
    unsigned number; /* in its level */
    uint32_t n_cpus;
    uint32_t load;   /* CPUs claimed here; up to n_cpus is not an overload */
    uint32_t cursor; /* ranking: next process to try */
};

struct objects {
    struct object *v;
    size_t n;
};

/* Claim of a bound process: n_cpus CPUs of set. */
struct claim {
    hwloc_bitmap_t set;
    uint32_t n_cpus;
};

struct work {
    struct px_hwloc h;
    const struct px_place_node *node;
    struct px_err *err;
    struct claim *claims; /* of the bound processes, then of this job's */
    size_t n_claims;
    const struct px_place_app *apps;
    uint32_t n_job; /* processes */
    /* state of the current application */
    const struct px_place_app *app;
    const struct px_placement *placement;
    struct px_position *positions;
    uint32_t first, n; /* ranks */
    bool overload;     /* an object may be claimed by more processes than it has CPUs */
    uint32_t *listed;  /* numbers of CPUs, in their order */
    size_t n_listed;
    hwloc_bitmap_t usable;
    enum px_unit cpu;       /* core or hwthread */
    struct objects cpus;    /* usable CPUs */
    struct objects places;  /* objects to map to */
    struct objects targets; /* objects to bind to */
    /* For each process in the order of mapping: index in places, and rank in the
     * application. */
    uint32_t *place_of, *rank_of;
};

static pmix_status_t no_memory(const struct work *w)
{
    return px_err_nomem(w->err, "place processes");
}

static pmix_status_t too_few(const struct work *w, const char *what)
{
    return px_err_set(w->err, PMIX_ERR_JOB_INSUFFICIENT_RESOURCES,
                      "cannot place processes: %s", what);
}

static void empty(struct px_position *position)
{
    free(px_take(&position->cpus));
    free(px_take(&position->locality));
}

/* ---- objects --------------------------------------------------------------------- */

static void objects_free(const struct work *w, struct objects *o)
{
    for (size_t i = 0; i < o->n; i++)
        w->h.bitmap_free(o->v[i].set);
    free(o->v);
    *o = (struct objects){0};
}

static uint32_t count_cpus(const struct work *w, hwloc_const_bitmap_t set)
{
    uint32_t n = 0;

    for (size_t i = 0; i < w->cpus.n; i++)
        n += w->h.bitmap_intersects(w->cpus.v[i].set, set) != 0;
    return n;
}

/* Lists the objects that have usable CPUs. Skips objects that share CPUs with an
 * earlier object, as several kinds of memory do. */
static pmix_status_t find_objects(struct work *w, enum px_unit level,
                                  struct objects *out)
{
    hwloc_topology_t t = w->node->topology;
    int depth = px_unit_depth(&w->h, t, level);
    unsigned n = w->h.get_nbobjs_by_depth(t, depth);
    hwloc_bitmap_t seen = w->h.bitmap_alloc();
    bool failed = !seen;

    *out = (struct objects){.v = calloc(n ? n : 1, sizeof(*out->v))};
    for (unsigned i = 0; out->v && !failed && i < n; i++) {
        hwloc_bitmap_t set = w->h.bitmap_alloc();

        failed = !set ||
                 w->h.bitmap_and(set, w->h.get_obj_by_depth(t, depth, i)->cpuset,
                                 w->usable);
        if (failed || w->h.bitmap_iszero(set) || w->h.bitmap_intersects(set, seen)) {
            w->h.bitmap_free(set);
            continue;
        }
        failed = w->h.bitmap_or(seen, seen, set);
        out->v[out->n++] = (struct object){
            .set = set,
            .number = i,
            .n_cpus = level == w->cpu ? 1 : count_cpus(w, set)};
    }
    w->h.bitmap_free(seen);
    if (!out->v || failed)
        return no_memory(w);
    return out->n ? PMIX_SUCCESS : too_few(w, "none of the CPUs may be used");
}

static void claim_on(const struct work *w, const struct claim *c, struct objects *on)
{
    for (size_t i = 0; i < on->n; i++) {
        if (w->h.bitmap_isincluded(c->set, on->v[i].set))
            on->v[i].load += c->n_cpus;
        else if (c->n_cpus > 1 && w->h.bitmap_intersects(c->set, on->v[i].set))
            on->v[i].load++;
    }
}

/* ---- CPUs ------------------------------------------------------------------------ */

static const struct object *find_cpu(const struct work *w, uint32_t number)
{
    for (size_t i = 0; i < w->cpus.n; i++)
        if (w->cpus.v[i].number == number)
            return &w->cpus.v[i];
    return NULL;
}

/* Restricts the usable CPUs to the list of the directive. */
static pmix_status_t use_list(struct work *w)
{
    hwloc_bitmap_t set = w->h.bitmap_alloc();
    pmix_status_t rc = set ? px_ranges_parse(w->placement->list, PX_MAX_CPU, &w->listed,
                                             &w->n_listed)
                           : PMIX_ERR_NOMEM;

    for (size_t i = 0; !rc && i < w->n_listed; i++) {
        const struct object *o = find_cpu(w, w->listed[i]);

        if (!o)
            rc = px_err_set(w->err, PMIX_ERR_BAD_PARAM,
                            "cannot place processes: there is no %s %u that may be "
                            "used",
                            px_unit_name(w->cpu), w->listed[i]);
        else
            rc = w->h.bitmap_or(set, set, o->set) ? PMIX_ERR_NOMEM : PMIX_SUCCESS;
    }
    if (!rc && w->h.bitmap_and(w->usable, w->usable, set))
        rc = PMIX_ERR_NOMEM;
    w->h.bitmap_free(set);
    if (rc)
        return rc == PMIX_ERR_NOMEM ? no_memory(w) : rc;
    objects_free(w, &w->cpus);
    return find_objects(w, w->cpu, &w->cpus);
}

static enum px_unit wanted_cpu(const struct px_placement *w)
{
    return w->hwthreads || w->map == PX_UNIT_HWTHREAD || w->bind == PX_UNIT_HWTHREAD
               ? PX_UNIT_HWTHREAD
               : PX_UNIT_CORE;
}

/* Finds the CPUs that the application may use, and the unit in which they count. */
static pmix_status_t find_cpus(struct work *w)
{
    const struct px_placement *placement = w->placement;
    hwloc_topology_t t = w->node->topology;
    void *allowed = NULL;
    pmix_status_t rc = PMIX_SUCCESS;

    w->cpu = px_unit_depth(&w->h, t, PX_UNIT_CORE) == HWLOC_TYPE_DEPTH_UNKNOWN
                 ? PX_UNIT_HWTHREAD
                 : wanted_cpu(placement);
    w->usable = w->h.bitmap_dup(w->h.get_obj_by_depth(t, 0, 0)->cpuset);
    if (!w->usable)
        return no_memory(w);
    if (w->node->usable && (px_handle_parse(PX_CPUSET, w->node->usable, &allowed) ||
                            w->h.bitmap_and(w->usable, w->usable, allowed)))
        rc = no_memory(w);
    w->h.bitmap_free(allowed);
    if (rc)
        return rc;
    rc = find_objects(w, w->cpu, &w->cpus);
    return rc || !placement->list ? rc : use_list(w);
}

/* ---- mapping and ranking --------------------------------------------------------- */

/* Returns the level to map to. Without a directive the level is that of mpirun with
 * binding. */
static enum px_unit map_level(const struct work *w)
{
    const struct px_placement *placement = w->placement;

    if (placement->per || placement->map)
        return placement->per ? placement->each : placement->map;
    if (placement->list ||
        (!placement->n_cpus && (!placement->bind || placement->bind >= PX_UNIT_LIST)))
        return PX_UNIT_NODE;
    if (w->n_job <= 2 && placement->n_cpus <= 1)
        return w->cpu;
    return px_unit_depth(&w->h, w->node->topology, PX_UNIT_PACKAGE) ==
                   HWLOC_TYPE_DEPTH_UNKNOWN
               ? PX_UNIT_NODE
               : PX_UNIT_PACKAGE;
}

/* Moves objects that other jobs are bound to behind free objects. */
static void put_free_first(const struct work *w, struct objects *o)
{
    for (size_t i = 0; i < w->node->n_taken; i++)
        claim_on(w, &w->claims[i], o);
    for (size_t i = 1; i < o->n; i++) {
        const struct object moved = o->v[i];
        size_t to = i;

        for (; to > 0 && o->v[to - 1].load > moved.load; to--)
            o->v[to] = o->v[to - 1];
        o->v[to] = moved;
    }
}

/* Maps processes to objects in turn, and goes on after the last object of the
 * application before. With a number per object, fills each object before the next. */
static pmix_status_t map(struct work *w, enum px_unit level)
{
    const struct px_placement *placement = w->placement;
    pmix_status_t rc = find_objects(w, level, &w->places);

    if (rc)
        return rc;
    put_free_first(w, &w->places);
    if (placement->per && w->n > (uint64_t)placement->per * w->places.n)
        return px_err_set(w->err, PMIX_ERR_JOB_INSUFFICIENT_RESOURCES,
                          "cannot place %u processes: %u for each %s make %llu", w->n,
                          placement->per, px_unit_name(level),
                          (unsigned long long)placement->per * w->places.n);
    for (uint32_t i = 0; i < w->n; i++)
        w->place_of[i] = placement->per ? i / placement->per
                                        : (w->first + i) % w->places.n;
    return PMIX_SUCCESS;
}

/* Ranks the next process of each object in turn; fill: all processes of an object
 * first. */
static pmix_status_t rank(struct work *w)
{
    bool in_order = w->placement->rank <= PX_UNIT_NODE, found = !in_order;
    struct objects by = {0};
    uint32_t next = 0;
    pmix_status_t rc = in_order ? PMIX_SUCCESS
                                : find_objects(w, w->placement->rank, &by);

    memset(w->rank_of, 0xff, w->n * sizeof(*w->rank_of)); /* UINT32_MAX: not ranked
                                                           * yet */
    while (found) {
        found = false;
        for (size_t k = 0; k < by.n; k++) {
            struct object *o = &by.v[k];

            for (bool here = false;
                 o->cursor < w->n && (!here || w->placement->fill);) {
                const uint32_t i = o->cursor++;

                if (w->rank_of[i] != UINT32_MAX ||
                    !w->h.bitmap_intersects(o->set, w->places.v[w->place_of[i]].set))
                    continue;
                w->rank_of[i] = next++;
                found = here = true;
            }
        }
    }
    /* Processes that are on none of these objects come last. */
    for (uint32_t i = 0; i < w->n; i++)
        w->rank_of[i] = w->rank_of[i] == UINT32_MAX ? next++ : w->rank_of[i];
    objects_free(w, &by);
    return rc;
}

/* ---- binding --------------------------------------------------------------------- */

static enum px_unit bind_level(const struct work *w, enum px_unit mapped)
{
    const struct px_placement *placement = w->placement;
    enum px_unit unsaid = placement->n_cpus       ? w->cpu
                          : mapped > PX_UNIT_NODE ? mapped
                                                  : PX_UNIT_NONE;
    enum px_unit level = placement->bind ? placement->bind : unsaid;

    return level == PX_UNIT_NONE && placement->list ? PX_UNIT_LIST : level;
}

/* Adds the least loaded targets within place to set: one, or the number of CPUs that
 * was asked for. The first of equals wins. */
static pmix_status_t choose(struct work *w, hwloc_const_bitmap_t place,
                            hwloc_bitmap_t set)
{
    const struct px_placement *placement = w->placement;

    for (uint32_t k = 0; k == 0 || k < placement->n_cpus; k++) {
        struct object *best = NULL;

        for (size_t i = 0; i < w->targets.n; i++) {
            struct object *o = &w->targets.v[i];

            if ((!best || o->load < best->load) &&
                w->h.bitmap_intersects(o->set, place) &&
                !w->h.bitmap_intersects(o->set, set))
                best = o;
        }
        if (!best)
            return too_few(w, "there are not so many CPUs where each is mapped to");
        if (++best->load > best->n_cpus && !w->overload)
            return too_few(w, "more would be bound to an object than it has CPUs "
                              "(\":overload-allowed\" allows it)");
        if (w->h.bitmap_or(set, set, best->set))
            return no_memory(w);
    }
    return PMIX_SUCCESS;
}

/* Adds the next CPU of the list to set. Applications with the same list share it. */
static pmix_status_t choose_listed(struct work *w, uint32_t i, hwloc_bitmap_t set)
{
    size_t at = w->rank_of[i];

    for (const struct px_place_app *app = w->app; app-- > w->apps;)
        at += app->placement.list &&
                      strcmp(app->placement.list, w->placement->list) == 0
                  ? app->n
                  : 0;
    if (at >= w->n_listed)
        return too_few(w, "the list of CPUs is shorter");
    return w->h.bitmap_or(set, set, find_cpu(w, w->listed[at])->set) ? no_memory(w)
                                                                     : PMIX_SUCCESS;
}

static pmix_status_t take_position(struct work *w, uint32_t i, hwloc_const_bitmap_t set)
{
    struct px_position *position = &w->positions[w->first + w->rank_of[i]];
    struct claim *c = &w->claims[w->n_claims];

    position->n_cpus = w->placement->n_cpus ? w->placement->n_cpus : 1;
    *c = (struct claim){w->h.bitmap_dup(set), position->n_cpus};
    w->n_claims += c->set != NULL;
    return !c->set || w->h.bitmap_list_asprintf(&position->cpus, set) < 0 ||
                   px_locality_text(w->node->topology, set, &position->locality)
               ? no_memory(w)
               : PMIX_SUCCESS;
}

static pmix_status_t bind_to(struct work *w, enum px_unit level)
{
    hwloc_bitmap_t set = w->h.bitmap_alloc();
    pmix_status_t rc = set ? find_objects(w, level, &w->targets) : no_memory(w);

    for (size_t i = 0; !rc && i < w->n_claims; i++)
        claim_on(w, &w->claims[i], &w->targets);
    for (uint32_t i = 0; !rc && i < w->n; i++) {
        w->h.bitmap_zero(set);
        rc = w->placement->ordered ? choose_listed(w, i, set)
                                   : choose(w, w->places.v[w->place_of[i]].set, set);
        if (!rc)
            rc = take_position(w, i, set);
    }
    w->h.bitmap_free(set);
    return rc;
}

/* Removes the bindings of the application: processes that did not ask to be bound may
 * exceed the CPUs. */
static void unbind(struct work *w)
{
    for (uint32_t i = 0; i < w->n; i++) {
        struct px_position *position = &w->positions[w->first + i];

        if (position->cpus)
            w->h.bitmap_free(w->claims[--w->n_claims].set);
        empty(position);
    }
}

static pmix_status_t bind(struct work *w, enum px_unit mapped)
{
    const struct px_placement *placement = w->placement;
    enum px_unit level = bind_level(w, mapped);

    if (level == PX_UNIT_NONE)
        return PMIX_SUCCESS;
    const bool asked = placement->bind || placement->n_cpus;
    struct px_err *err = w->err;
    w->overload = placement->overload ||
                  (level == PX_UNIT_LIST && placement->bind != level);
    w->err = asked ? err : NULL;
    pmix_status_t rc = bind_to(w, level);
    w->err = err;
    if (asked || !rc)
        return rc;
    if (rc == PMIX_ERR_NOMEM)
        return no_memory(w);
    unbind(w);
    return PMIX_SUCCESS;
}

/* ---- the whole ------------------------------------------------------------------- */

static const char *contradiction(const struct px_placement *w)
{
    if (w->per && w->map && w->map != w->each)
        return "they are mapped in two ways";
    if (w->mapper && (w->mapper == PX_MAPPER_PPR) != (w->per > 0))
        return "the mapper does not do what is asked for";
    if (w->over && w->no_over)
        return "oversubscription is both allowed and forbidden";
    if ((w->bind == PX_UNIT_LIST && !w->list) ||
        (w->ordered && w->bind != PX_UNIT_LIST))
        return "binding by a list of CPUs takes cpu-list and that list";
    if (w->n_cpus > 1 && w->bind && w->bind != wanted_cpu(w))
        return "with CPUs for each process they are bound to these CPUs only";
    return NULL;
}

static void forget_app(struct work *w)
{
    objects_free(w, &w->cpus);
    objects_free(w, &w->places);
    objects_free(w, &w->targets);
    w->h.bitmap_free(w->usable);
    w->usable = NULL;
    free(px_take(&w->listed));
    w->n_listed = 0;
}

static pmix_status_t place_app(struct work *w)
{
    const struct px_placement *placement = w->placement;
    pmix_status_t rc = find_cpus(w);

    if (!rc && placement->no_over && w->n_job + w->node->n_running > w->cpus.n)
        rc = px_err_set(w->err, PMIX_ERR_JOB_INSUFFICIENT_RESOURCES,
                        "cannot place %u processes beside %u on %zu CPUs", w->n_job,
                        w->node->n_running, w->cpus.n);
    enum px_unit level = rc ? PX_UNIT_NODE : map_level(w);
    if (!rc)
        rc = map(w, level);
    if (!rc)
        rc = rank(w);
    for (uint32_t i = 0; !rc && i < w->n; i++) {
        struct px_position *position = &w->positions[w->first + w->rank_of[i]];

        position->level = level;
        position->number = w->places.v[w->place_of[i]].number;
    }
    if (!rc)
        rc = bind(w, level);
    forget_app(w);
    return rc;
}

static pmix_status_t take_claims(struct work *w)
{
    const struct px_place_node *node = w->node;

    w->claims = calloc(node->n_taken + w->n_job, sizeof(*w->claims));
    w->place_of = calloc(w->n_job, sizeof(*w->place_of));
    w->rank_of = calloc(w->n_job, sizeof(*w->rank_of));
    if (!w->claims || !w->place_of || !w->rank_of)
        return no_memory(w);
    for (size_t i = 0; i < node->n_taken; i++) {
        void *set;

        if (px_handle_parse(PX_CPUSET, node->taken[i]->cpus, &set))
            return no_memory(w);
        w->claims[w->n_claims++] = (struct claim){set, node->taken[i]->n_cpus};
    }
    return PMIX_SUCCESS;
}

pmix_status_t px_place(const struct px_place_node *node,
                       const struct px_place_app *apps, size_t n_apps,
                       struct px_position *positions, struct px_err *err)
{
    struct work w = {.node = node, .err = err, .apps = apps, .positions = positions};

    for (size_t a = 0; a < n_apps; a++) {
        const char *what = contradiction(&apps[a].placement);

        if (what)
            return px_err_set(err, PMIX_ERR_BAD_PARAM, "cannot place processes: %s",
                              what);
        w.n_job += apps[a].n;
    }
    if (!node->topology) /* no directive needs a topology */
        return PMIX_SUCCESS;
    if (!px_hwloc_open(&w.h)) /* loaded before to make the topology */
        return PMIX_ERR_NOT_SUPPORTED;
    pmix_status_t rc = take_claims(&w);
    for (size_t a = 0; !rc && a < n_apps; a++) {
        w.app = &apps[a];
        w.placement = &apps[a].placement;
        w.n = apps[a].n;
        rc = place_app(&w);
        w.first += w.n;
    }
    for (size_t i = 0; i < w.n_claims; i++)
        w.h.bitmap_free(w.claims[i].set);
    free(w.claims);
    free(w.place_of);
    free(w.rank_of);
    for (size_t i = 0; rc && i < w.n_job; i++)
        empty(&positions[i]);
    return rc;
}

pmix_status_t px_place_count(const struct px_place_node *node,
                             const struct px_placement *placement, uint32_t *n,
                             struct px_err *err)
{
    struct work w = {.node = node, .err = err, .placement = placement};
    uint64_t all = placement->per;
    pmix_status_t rc = PMIX_SUCCESS;

    if (!placement->per)
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "0 processes asked for");
    if (node->topology) { /* otherwise the object is the node */
        if (!px_hwloc_open(&w.h))
            return PMIX_ERR_NOT_SUPPORTED;
        rc = find_cpus(&w);
        if (!rc)
            rc = find_objects(&w, placement->each, &w.places);
        all *= w.places.n;
        forget_app(&w);
    }
    if (!rc)
        *n = all < UINT32_MAX ? (uint32_t)all : UINT32_MAX;
    return rc;
}

void px_positions_free(struct px_position *positions, size_t n)
{
    for (size_t i = 0; positions && i < n; i++)
        empty(&positions[i]);
    free(positions);
}
