/* SPDX-License-Identifier: BSD-3-Clause */
/* Process groups of processes that we have started. What is in one ends with us, also when who led it
 * has ended long before: so each stands in the journal, in a scope of nothing but processes, until it is
 * empty. */
#include "core/server/cleanup/cleanup_impl.h"

#include "core/base/proc.h"
#include "core/reclaim/reclaim.h"
#include "core/rt/log.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { LOOK_AT = 64 }; /* so many, before it is looked which of them are empty */

static struct px_journal_record record_of(const struct px_cleanup_group *g)
{
    return (struct px_journal_record){.type = g->pid ? PX_JOURNAL_PROC
                                                     : PX_JOURNAL_NONE,
                                      .flags = g->pid ? PX_JOURNAL_END : 0,
                                      .slot = g->slot,
                                      .scope = PX_CLEANUP_GROUPS,
                                      .uid = geteuid(),
                                      .gid = getegid(),
                                      .x = (uint64_t)g->pid,
                                      .y = g->start,
                                      .path = ""};
}

static pmix_status_t write_down(struct px_cleanup *c, const struct px_cleanup_group *g)
{
    const struct px_journal_record r = record_of(g);

    return px_session_record(c->server, &r);
}

static bool is_empty(const struct px_cleanup_group *g)
{
    return px_proc_ended(g->pid, g->start) && kill(-g->pid, 0) < 0 && errno == ESRCH;
}

/* Its number may be another's from now on. */
static void forget_empty(struct px_cleanup *c)
{
    size_t n = 0;

    PX_LIST_EACH (&c->groups, struct px_cleanup_group, g, link) {
        if (g->pid && is_empty(g)) {
            g->pid = 0;
            (void)write_down(c,
                             g); /* if not: whoever reads it looks at the start time */
        }
        n += g->pid != 0;
    }
    c->look_at = 2 * n > LOOK_AT ? 2 * n : LOOK_AT;
}

static struct px_cleanup_group *find_vacant(struct px_cleanup *c)
{
    PX_LIST_EACH (&c->groups, struct px_cleanup_group, g, link)
        if (g->pid == 0)
            return g;
    return NULL;
}

static struct px_cleanup_group *group_new(struct px_cleanup *c)
{
    struct px_cleanup_group *g = NULL;

    if (c->n_groups >= (c->look_at ? c->look_at : LOOK_AT)) {
        forget_empty(c);
        g = find_vacant(c);
    }
    if (g || c->n_groups >= PX_JOURNAL_MAX_SLOT)
        return g;
    g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->slot = c->n_groups++;
    px_list_append(&c->groups, &g->link);
    return g;
}

pmix_status_t px_cleanup_group_add(struct px_cleanup *c, pid_t pid)
{
    struct px_cleanup_group *g;
    struct px_proc_stat st;

    if (!px_session_can_record(c->server) || !px_proc_stat(pid, &st))
        return PMIX_SUCCESS;
    g = group_new(c);
    if (!g)
        return PMIX_ERR_NOMEM;
    g->pid = pid;
    g->start = st.start;
    pmix_status_t rc = write_down(c, g);
    if (rc)
        g->pid = 0;
    return rc;
}

pmix_status_t px_cleanup_groups_rewrite(struct px_cleanup *c)
{
    pmix_status_t rc = PMIX_SUCCESS;

    PX_LIST_EACH (&c->groups, struct px_cleanup_group, g, link)
        if (!rc && g->pid)
            rc = write_down(c, g);
    return rc;
}

void px_cleanup_groups_end(struct px_cleanup *c)
{
    const struct px_journal_record done = {
        .type = PX_JOURNAL_DONE, .scope = PX_CLEANUP_GROUPS, .path = ""};
    bool any = !px_list_empty(&c->groups);

    PX_LIST_EACH (&c->groups, struct px_cleanup_group, g, link) {
        struct px_journal_record r = record_of(g);

        px_reclaim_kill(&r);
        px_list_remove(&g->link);
        free(g);
    }
    c->n_groups = 0;
    if (any && px_session_can_record(c->server))
        (void)px_session_record(c->server,
                                &done); /* they are gone, if it says so or not */
}
