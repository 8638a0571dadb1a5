/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/server/peer/timeline.h"

#include "core/base/clock.h"
#include "core/base/vec.h"
#include "core/server/peer/peer.h"
#include "core/server/server.h"
#include "pmix_tool.h"

#include <stdlib.h>

struct collective {
    uint64_t number, entered_ns, left_ns;
    pmix_rank_t last;
    uint8_t op;
};

struct px_timeline {
    uint64_t at_ns[PX_N_STEPS]; /* 0: not seen */
    struct collective *v;
    size_t n, cap;
    uint64_t n_dropped; /* collectives above the limit */
};

/* ---- records --------------------------------------------------------------------- */

pmix_status_t px_timeline_create(const struct px_server *srv, struct px_timeline **out)
{
    *out = NULL;
    if (srv->conf.timeline == 0)
        return PMIX_SUCCESS;
    *out = calloc(1, sizeof(**out));
    return *out ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

void px_timeline_free(struct px_timeline *t)
{
    if (t)
        free(t->v);
    free(t);
}

void px_timeline_reset(struct px_local *local)
{
    struct px_timeline *t = local->timeline;

    if (!t)
        return;
    free(t->v);
    *t = (struct px_timeline){0};
}

/* Corrects the time of a step that the server has noticed after a later step. */
static void not_after(struct px_timeline *t, enum px_step step, enum px_step later)
{
    if (t->at_ns[PX_STEP_FORK] && t->at_ns[later] &&
        (!t->at_ns[step] || t->at_ns[step] > t->at_ns[later]))
        t->at_ns[step] = t->at_ns[later];
}

void px_timeline_stamp(struct px_local *local, enum px_step step)
{
    struct px_timeline *t = local ? local->timeline : NULL;

    if (!t || (t->at_ns[step] && step != PX_STEP_FINALIZE))
        return;
    t->at_ns[step] = px_clock_ns();
    if (step == PX_STEP_CONNECT) /* the report of the exec is still on its way */
        not_after(t, PX_STEP_EXEC, PX_STEP_CONNECT);
}

/* A time counts if it lies within the life of the process: a process may report
 * anything, and its clock may be of another time namespace. */
void px_timeline_read(struct px_local *local, px_reader *rest)
{
    static const enum px_step own[] = {PX_STEP_INIT, PX_STEP_READY, PX_STEP_PUT};
    struct px_timeline *t = local ? local->timeline : NULL;
    uint64_t times[PX_COUNT(own)];
    int32_t n = PX_COUNT(own);

    if (!t || px_reader_done(rest) || px_unpack(rest, times, &n, PMIX_UINT64) ||
        n != PX_COUNT(own))
        return;
    for (size_t i = 0; i < PX_COUNT(own); i++)
        if (!t->at_ns[own[i]] && times[i] >= t->at_ns[PX_STEP_FORK] &&
            times[i] <= px_clock_ns())
            t->at_ns[own[i]] = times[i];
    not_after(t, PX_STEP_EXEC, PX_STEP_INIT);
}

uint64_t px_timeline_number(struct px_server *srv)
{
    return srv->conf.timeline == 0 ? 0 : ++srv->part.n_timed;
}

size_t px_timeline_length(const struct px_timeline *t)
{
    return t->n;
}

void px_timeline_enter(const struct px_server *srv, struct px_local *local,
                       uint64_t number, uint8_t op)
{
    struct px_timeline *t = local && number ? local->timeline : NULL;
    struct collective *c = t && t->n < (uint64_t)srv->conf.timeline
                               ? px_vec_add(&t->v, &t->n, &t->cap)
                               : NULL;

    if (c)
        *c = (struct collective){.number = number,
                                 .entered_ns = px_clock_ns(),
                                 .last = PMIX_RANK_UNDEF,
                                 .op = op};
    else if (t)
        t->n_dropped++;
}

void px_timeline_leave(struct px_local *local, uint64_t number, uint64_t now_ns,
                       pmix_rank_t last)
{
    const struct px_timeline *t = local ? local->timeline : NULL;
    size_t i = t ? t->n : 0;

    while (i > 0 && t->v[i - 1].number > number)
        i--;
    if (i == 0 || t->v[i - 1].number != number)
        return;
    t->v[i - 1].left_ns = now_ns;
    t->v[i - 1].last = last;
}

/* ---- description ----------------------------------------------------------------- */

static pmix_status_t add_numbers(px_infos *infos, const char *key, uint64_t *v,
                                 size_t n)
{
    const pmix_data_array_t all = {.type = PMIX_UINT64, .size = n, .array = v};

    return px_infos_add(infos, key, &all, PMIX_DATA_ARRAY);
}

pmix_status_t px_timeline_describe(px_infos *infos, struct px_timeline *t)
{
    enum { COLUMNS = 5 };
    PX_AUTOFREE uint64_t *rows = calloc(COLUMNS * t->n + 1, sizeof(*rows));
    pmix_status_t rc = rows ? add_numbers(infos, TENON_TIMELINE_STEPS, t->at_ns,
                                          PX_N_STEPS)
                            : PMIX_ERR_NOMEM;

    for (size_t i = 0; !rc && i < t->n; i++) {
        const struct collective *c = &t->v[i];
        const uint64_t row[COLUMNS] = {c->number, c->op, c->entered_ns, c->left_ns,
                                       c->last};

        memcpy(&rows[COLUMNS * i], row, sizeof(row));
    }
    if (!rc)
        rc = add_numbers(infos, TENON_TIMELINE_COLLECTIVES, rows, COLUMNS * t->n);
    return rc ? rc
              : px_infos_add(infos, TENON_TIMELINE_DROPPED, &t->n_dropped, PMIX_UINT64);
}
