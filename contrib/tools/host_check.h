/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of pmix_host_check. Public headers only, and only functions that OpenPMIx 4.2
 * has, too: the program runs on either library. */
#ifndef TENON_HOST_CHECK_H
#define TENON_HOST_CHECK_H

#include <pmix.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum verdict {
    NOT_RUN,
    SERVED,
    REFUSED, /* PMIX_ERR_NOT_SUPPORTED */
    FAILED,  /* another error */
    WRONG,   /* a success with a wrong result */
    SILENT,  /* no answer in time */
};

/* Result of one row in this process. */
struct result {
    enum verdict verdict;
    char text[160]; /* value, status or reason */
};

struct check {
    pmix_proc_t me, job; /* job: rank WILDCARD */
    uint32_t size;       /* of the job */
    unsigned timeout_s;  /* of one request */
    const char *program; /* path of this program, for a spawn */
};

/* A row of the table. All processes run all rows in the same order. */
struct row {
    const char *name;
    bool must; /* the Standard requires an answer of hosts */
    void (*run)(const struct check *c, struct result *r);
    const char *key; /* of a row without run: information of the job */
    enum { OF_JOB, OF_RANK, OF_NODE, OF_SESSION } realm;
};

extern const struct row call_rows[], key_rows[]; /* the last row has no name */

void run_key(const struct check *c, const struct row *row, struct result *r);

/* ---- helpers --------------------------------------------------------------------- */

/* Sets the verdict of a status. True for PMIX_SUCCESS. */
bool settle(struct result *r, pmix_status_t rc);
/* Sets WRONG with a reason. */
void wrong(struct result *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Fills an info. The caller's value must live as long. */
void load(pmix_info_t *info, const char *key, const void *value, pmix_data_type_t type);
void unload(pmix_info_t *info, size_t n);
/* Frees what a call has returned. */
void free_value(pmix_value_t *v);
void free_infos(pmix_info_t *info, size_t n);
void name_proc(pmix_proc_t *proc, const char *nspace, pmix_rank_t rank);
/* Waits for all processes, without a limit. */
pmix_status_t meet_all(const struct check *c);

#endif
