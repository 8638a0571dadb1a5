/* SPDX-License-Identifier: BSD-3-Clause */
/* Look-ups in the tables of all parts, for each request and each query key. */
#include "core/server/peer/req.h"
#include "core/server/query/answers.h"
#include "core/server/server.h"

#include <string.h>

/* Index of the rows of all parts. Rows with the same key are in the order of the
 * parts. */
struct px_part_rows {
    const struct px_rpc *rpcs[UINT8_MAX + 1]; /* by command */
    size_t n;
    const struct px_query_key *keys[]; /* sorted */
};

/* Returns the index of the first row whose key is not less. */
static size_t place_of(const struct px_part_rows *rows, const char *key)
{
    size_t from = 0, to = rows->n;

    while (from < to) {
        const size_t middle = (from + to) / 2;

        if (strcmp(rows->keys[middle]->key, key) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static bool has_key(const struct px_part_rows *rows, size_t at, const char *key)
{
    return at < rows->n && strcmp(rows->keys[at]->key, key) == 0;
}

static void add_key(struct px_part_rows *rows, const struct px_query_key *k)
{
    size_t at = place_of(rows, k->key);

    while (has_key(rows, at, k->key))
        at++;
    memmove(&rows->keys[at + 1], &rows->keys[at],
            (rows->n - at) * sizeof(rows->keys[0]));
    rows->keys[at] = k;
    rows->n++;
}

pmix_status_t px_part_rows_make(struct px_server *srv)
{
    struct px_part_rows *rows;
    size_t n = 0;

    for (const struct px_server_part *const *p = srv->parts; *p; p++)
        for (const struct px_query_key *k = (*p)->query_keys; k && k->key; k++)
            n++;
    rows = calloc(1, sizeof(*rows) + n * sizeof(rows->keys[0]));
    if (!rows)
        return PMIX_ERR_NOMEM;
    for (const struct px_server_part *const *p = srv->parts; *p; p++) {
        for (const struct px_rpc *rpc = (*p)->rpcs; rpc && rpc->senders; rpc++)
            rows->rpcs[rpc->op] = rpc;
        for (const struct px_query_key *k = (*p)->query_keys; k && k->key; k++)
            add_key(rows, k);
    }
    srv->rows = rows;
    return PMIX_SUCCESS;
}

const struct px_rpc *px_part_rpc(const struct px_server *srv, uint8_t op)
{
    return srv->rows->rpcs[op];
}

const struct px_query_key *const *px_part_keys(const struct px_server *srv,
                                               const char *key, size_t *n)
{
    const struct px_part_rows *rows = srv->rows;
    const size_t at = place_of(rows, key);

    *n = 0;
    while (has_key(rows, at + *n, key))
        ++*n;
    return &rows->keys[at];
}
