/* SPDX-License-Identifier: BSD-3-Clause */
/* --clean: each server removes at its start the leftovers of dead servers of the same
 * user. pmixrun starts a server for this alone, and queries it until the end. */
#include "pmixrun.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pmix_server.h>

#define KEY "tenon.cleanup"

enum { NAP_MS = 10, TIMEOUT_S = 600 };

/* Files removed, ..., folders under way, and folders done. */
enum total { FILES, DIRS, KEPT, FOREIGN, FAILED, UNDER_WAY, PLACES, N_TOTALS };

static const char *const names[N_TOTALS] = {
    ".files", ".dirs", ".kept", ".foreign", ".failed", ".reclaiming", ".places",
};

/* ---- progress ------------------------------------------------------------------- */

/* Adds a number, e.g. "tenon.cleanup.files" and "tenon.cleanup.reclaimed.files". */
static void read_member(const pmix_info_t *i, uint64_t totals[N_TOTALS])
{
    const char *dot = strrchr(i->key, '.');

    for (int t = 0; dot && t < N_TOTALS; t++)
        if (strcmp(dot, names[t]) == 0 && i->value.type == PMIX_UINT64)
            totals[t] += i->value.data.uint64;
}

static pmix_status_t ask(uint64_t totals[N_TOTALS])
{
    char key[] = KEY, *keys[] = {key, NULL};
    pmix_query_t query = {.keys = keys};
    pmix_info_t *info = NULL;
    size_t n = 0;
    pmix_status_t rc = PMIx_Query_info(&query, 1, &info, &n);

    if (!rc &&
        (n != 1 || info[0].value.type != PMIX_DATA_ARRAY ||
         !info[0].value.data.darray || info[0].value.data.darray->type != PMIX_INFO))
        rc = PMIX_ERR_NOT_SUPPORTED;
    for (size_t i = 0; !rc && i < info[0].value.data.darray->size; i++)
        read_member((pmix_info_t *)info[0].value.data.darray->array + i, totals);
    PMIx_Info_free(info, n);
    return rc;
}

/* Waits until no folder is under way. */
static pmix_status_t await_end(const struct options *o, uint64_t totals[N_TOTALS])
{
    const struct timespec nap = {.tv_nsec = NAP_MS * 1000000L};
    int64_t end_ms = now_ms() +
                     (o->timeout_s ? o->timeout_s : TIMEOUT_S) * INT64_C(1000);

    for (;;) {
        pmix_status_t rc;

        memset(totals, 0, N_TOTALS * sizeof(*totals));
        rc = ask(totals);
        if (rc || totals[UNDER_WAY] == 0)
            return rc || totals[PLACES] || totals[FAILED] ? rc : PMIX_ERR_NOT_SUPPORTED;
        if (now_ms() >= end_ms)
            return PMIX_ERR_TIMEOUT;
        nanosleep(&nap, NULL);
    }
}

/* ---- a server ------------------------------------------------------------------- */

/* Starts a server. dir NULL: the usual folders of servers. */
static pmix_status_t start(const struct options *o, const char *dir)
{
    size_t n = o->n_params;
    pmix_info_t *info = PMIx_Info_create(n + 2);
    pmix_status_t rc = info ? PMIX_SUCCESS : PMIX_ERR_NOMEM;

    for (size_t i = 0; !rc && i < n; i++)
        rc = PMIx_Info_xfer(&info[i], &o->params[i]);
    if (!rc && dir)
        rc = PMIx_Info_load(&info[n++], PMIX_SERVER_TMPDIR, dir, PMIX_STRING);
    if (!rc && dir)
        rc = PMIx_Info_load(&info[n++], PMIX_SYSTEM_TMPDIR, dir, PMIX_STRING);
    if (!rc)
        rc = PMIx_server_init(NULL, info, n);
    PMIx_Info_free(info, o->n_params + 2);
    return rc;
}

/* Removes the leftovers in one folder; false, with a line on stderr, after an error. */
static bool clean_one(const struct options *o, const char *dir, uint64_t sum[N_TOTALS])
{
    uint64_t totals[N_TOTALS];
    pmix_status_t rc = start(o, dir), end;

    if (rc) /* the library has logged the reason */
        return false;
    rc = await_end(o, totals);
    end = PMIx_server_finalize();
    if (rc || end) {
        complain("cannot clean up%s%s: %s", dir ? " in " : "", dir ? dir : "",
                 PMIx_Error_string(rc ? rc : end));
        return false;
    }
    for (int t = 0; t < N_TOTALS; t++)
        sum[t] += totals[t];
    return true;
}

int clean(const struct options *o)
{
    uint64_t t[N_TOTALS] = {0};
    size_t done = 0, n = 0;

    do {
        done += clean_one(o, o->dirs[n], t);
        n++;
    } while (o->dirs[n - 1] && o->dirs[n]);
    if (done)
        printf(
            "pmixrun: removed %llu files and %llu folders; kept %llu, left to others "
            "%llu, failed %llu\n",
            (unsigned long long)t[FILES], (unsigned long long)t[DIRS],
            (unsigned long long)t[KEPT], (unsigned long long)t[FOREIGN],
            (unsigned long long)t[FAILED]);
    return done == n && !t[FAILED] ? EXIT_SUCCESS : EXIT_TROUBLE;
}
