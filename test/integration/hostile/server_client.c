/* SPDX-License-Identifier: BSD-3-Clause */
/* The attacker's programs, and how far their clean-up is, where the server is in this process. */
#include "server.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define IDLE_S 60

char client_path[4096];

/* ---- clients --------------------------------------------------------------------------------- */

void args_begin(struct args *a)
{
    *a = (struct args){.v = NULL};
    args_add(a, client_path, NULL);
}

void args_add(struct args *a, const char *word, ...)
{
    va_list more;

    va_start(more, word);
    for (; word; word = va_arg(more, const char *)) {
        a->v = realloc(a->v, (a->n + 2) * sizeof *a->v);
        if (!a->v || !(a->v[a->n++] = strdup(word)))
            die("no memory");
        a->v[a->n] = NULL;
    }
    va_end(more);
}

void args_add_regs(struct args *a, const struct scene *s)
{
    static const char *const options[] = {
        [REG_FILE] = "-F", [REG_DIR] = "-D", [REG_KEEP] = "-K"};
    bool folders = false;

    for (size_t i = 0; i < s->n_regs; i++) {
        args_add(a, options[s->regs[i].kind], s->regs[i].path, NULL);
        folders = folders || s->regs[i].kind == REG_DIR;
    }
    if (folders && s->recurse) /* without a folder they would be a mistake */
        args_add(a, "-r", NULL);
    if (folders && s->leave_top)
        args_add(a, "-t", NULL);
}

void args_end(struct args *a)
{
    for (size_t i = 0; i < a->n; i++)
        free(a->v[i]);
    free(a->v);
}

int client_here(struct scene *s, uid_t uid, char **argv)
{
    static unsigned n;
    struct host_job job;
    char nspace[32];
    int rc;

    snprintf(nspace, sizeof nspace, "hostile%u", n++);
    if (s->level->own)
        host_owner(geteuid(), getegid());
    else
        host_owner(uid, uid);
    host_register_job(&job, nspace, 1);
    host_start_rank(&job, 0, argv);
    rc = host_wait(&job, 90);
    if (rc != 0 && rc != 3)
        bad(s, "the client ended with %d", rc);
    host_deregister_nspace(nspace);
    return rc;
}

void nspace_here(uid_t uid, const char *name)
{
    struct host_job job;

    host_owner(uid, uid);
    host_register_job(&job, name, 1);
}

/* ---- how far it is --------------------------------------------------------------------------- */

/* How much waits, or is under way: -1 is not told. */
static int64_t member(const pmix_info_t *results, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++) {
        const pmix_data_array_t *all = results[i].value.data.darray;

        if (!PMIX_CHECK_KEY(&results[i], "tenon.cleanup") ||
            results[i].value.type != PMIX_DATA_ARRAY || all->type != PMIX_INFO)
            continue;
        for (size_t k = 0; k < all->size; k++) {
            const pmix_info_t *info = &((const pmix_info_t *)all->array)[k];

            if (PMIX_CHECK_KEY(info, key) && info->value.type == PMIX_UINT64)
                return (int64_t)info->value.data.uint64;
        }
    }
    return -1;
}

static bool is_idle(void)
{
    int64_t scopes, reclaiming;
    pmix_query_t *query;
    pmix_info_t *results = NULL;
    size_t n = 0;
    pmix_status_t rc;

    PMIX_QUERY_CREATE(query, 1);
    PMIX_ARGV_APPEND(rc, query[0].keys, "tenon.cleanup");
    HOST_CHECK(rc == PMIX_SUCCESS);
    HOST_GOOD(PMIx_Query_info(query, 1, &results, &n));
    PMIX_QUERY_FREE(query, 1);
    scopes = member(results, n, "tenon.cleanup.scopes");
    reclaiming = member(results, n, "tenon.cleanup.reclaiming");
    HOST_CHECK(scopes >= 0 && reclaiming >= 0);
    PMIX_INFO_FREE(results, n);
    return scopes == 0 && reclaiming == 0;
}

void idle_here(struct scene *s)
{
    double end = now_s() + (s->timeout_s > IDLE_S ? s->timeout_s : IDLE_S);

    while (!is_idle()) {
        if (now_s() > end) {
            bad(s, "clean-up is not done after %d s", IDLE_S);
            return;
        }
        usleep(1000);
    }
}

bool soon(const struct scene *s, const char *name, bool there)
{
    struct stat st;

    for (int i = 0; i < 1000; i++) {
        if ((lstat(at(s, name), &st) == 0) == there)
            return true;
        usleep(10000);
    }
    return false;
}
