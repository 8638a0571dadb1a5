/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers to the queries of a request, and tables of query keys. Loop thread only. */
#ifndef PX_SERVER_QUERY_ANSWERS_H
#define PX_SERVER_QUERY_ANSWERS_H

#include "core/types/type.h"
#include "core/wire/codec.h"

struct px_req;
struct px_server;
struct px_slow;

/* Answers that this process gives to a query. left_b bounds their size: a few bytes of
 * request that repeat a key must not produce gigabytes. */
struct px_answers {
    px_infos infos;
    struct px_slow *slow; /* answers that take many turns, in the order of the queries;
                           * packed after the infos */
    struct px_slow *last_slow;
    size_t left_b;
    size_t left_items;     /* work, see px_work */
    struct px_req *req;    /* charged for the answers */
    pmix_status_t failure; /* of a key without an answer */
    bool sources;          /* the parts that answer are named: TENON_QUERY_SOURCE */
    bool local_only;       /* a query for the host has PMIX_QUERY_LOCAL_ONLY */
    bool refreshes;        /* a query for the host has PMIX_QUERY_REFRESH_CACHE */
};

/* A query key and its function; the last row is zero. Several tables may have a key:
 * the first function that knows the answer counts. */
struct px_query_key {
    const char *key;
    /* PMIX_ERR_NOT_FOUND: others may answer. PMIX_ERR_NOMEM and
     * PMIX_ERR_OUT_OF_RESOURCE end the request. Any other error is the status of a
     * request without answers. */
    pmix_status_t (*answer)(struct px_server *srv, const pmix_query_t *q,
                            const char *key, struct px_answers *a);
    const char *qualifiers; /* keys, separated by commas; NULL: none */
    bool after_host;        /* an answer of the host's own function counts first */
};

/* Answers TENON_QUERY_SERVER (core/server/report.c). */
pmix_status_t px_answer_server(struct px_server *srv, const pmix_query_t *q,
                               const char *key, struct px_answers *a);

/* Charges bytes of an answer to the request. May return PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t px_answers_charge(struct px_answers *a, size_t cost_b);
/* Counts work for an answer that is made at once. PMIX_ERR_OUT_OF_RESOURCE: the request
 * would delay other peers. */
pmix_status_t px_answers_work(struct px_answers *a, size_t n_items);
/* Adds an answer, whose data occupy cost_b, and charges it to the request before.
 * PMIX_ERR_OUT_OF_RESOURCE: no room is left; PMIX_ERR_NOMEM. */
pmix_status_t px_answer(struct px_answers *a, const char *key, const void *data,
                        pmix_data_type_t type, size_t cost_b);
pmix_status_t px_answer_text(struct px_answers *a, const char *key, const char *text);
pmix_status_t px_answer_array(struct px_answers *a, const char *key, const void *array,
                              size_t n, pmix_data_type_t type, size_t cost_b);
/* Adds an array of texts. names NULL: an empty array. */
pmix_status_t px_answer_names(struct px_answers *a, const char *key, char **names);

/* ---- answers that take many turns ------------------------------------------------ */

/* A row in the message, which the next row repeats except for its rank. */
struct px_mold {
    size_t begin, rank, rest, end; /* offsets in the message; end 0: there is none */
    pmix_proc_info_t row;          /* its texts are not valid */
    char host[256];
};

/* An array with a row for each of many processes. A turn makes a part of the rows, and
 * packs them at once. */
struct px_slow {
    struct px_slow *next;
    const char *key;
    const struct px_slow_ops *ops;
    pmix_proc_t job;     /* without procs: ranks 0 to n - 1 of this job */
    pmix_proc_t *procs;  /* NULL: see job */
    size_t n, at;        /* number of processes; the next one */
    size_t row_b;        /* approximate bytes of a row in the message */
    bool average, range; /* PMIX_QUERY_REPORT_AVG, PMIX_QUERY_REPORT_MINMAX */
    size_t n_read;
    float sum, least, most;
    struct px_mold mold; /* of a process table */
};

struct px_slow_ops {
    unsigned items; /* work for a process, see px_work */
    unsigned again; /* work for a process with the same description as the one before */
    void (*begin)(struct px_slow *s, px_writer *w);
    void (*row)(struct px_slow *s, const pmix_proc_info_t *proc, px_writer *w);
    void (*end)(struct px_slow *s, px_writer *w);
};

/* Adds a slow answer about n processes, whose rows have row_b bytes in a message. Takes
 * procs. */
pmix_status_t px_answer_slowly(struct px_answers *a, const char *key,
                               const struct px_slow_ops *ops, const char *nspace,
                               pmix_proc_t *procs, size_t n, size_t row_b,
                               struct px_slow **out);
void px_slow_free(struct px_slow *s);
void px_answers_cleanup(struct px_answers *a);

#endif
