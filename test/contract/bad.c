/* SPDX-License-Identifier: BSD-3-Clause */
/* A pnet component that breaks the rule that BAD names. pmix_component_check must find
 * it. */
#include "tenon/pnet.h"

#include <stdlib.h>
#include <string.h>
#include <pthread.h>

#define NONE    0
#define LEAK    1 /* close does not free */
#define ABI     2
#define REASON  3 /* declines without a reason */
#define NULL_OP 4
#define THREAD  5  /* calls the host from a thread of its own */
#define CRASH   6  /* trusts data from the network */
#define NAME    7  /* sets a variable that belongs to the core */
#define TIMER   8  /* leaves a timer behind */
#define NOMEM   9  /* reports success after an allocation failed */
#define VALUE   10 /* puts a value for a rank that the job does not have */
#define ENDS    11 /* changes its answer after a process has ended */
#define LISTS   12 /* collects an inventory that deliver refuses */
#define NUMBER  13 /* changes the number of a fabric */
#define MATRIX  14 /* leaks the matrix */

struct bad {
    const struct px_services *services;
    struct px_timer *timer;
    size_t n_ended, n_fabrics;
    void *matrix;
};

static pmix_status_t contribute(void *self, const char *nspace, const pmix_info_t *info,
                                size_t n, px_pnet_add_fn add, void *arg)
{
    pmix_info_t mine = {.key = "bad.text"};

    (void)self, (void)nspace, (void)info, (void)n;
    mine.value.type = PMIX_STRING;
    mine.value.data.string = (char *)"x";
    return add(arg, &mine);
}

static pmix_status_t apply(void *self, const char *nspace, const pmix_info_t *info,
                           size_t n)
{
    (void)self, (void)nspace;
    if (BAD == CRASH)
        return strlen(info[0].value.data.string) == 1 ? PMIX_SUCCESS
                                                      : PMIX_ERR_BAD_PARAM;
    return n == 1 ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

static pmix_status_t envars(void *self, const char *nspace, px_pnet_set_fn set,
                            void *arg)
{
    const struct bad *b = self;

    (void)nspace;
    return set(arg, PMIX_RANK_WILDCARD, BAD == NAME ? "PMIX_RANK" : "BAD",
               BAD == ENDS && b->n_ended ? "y" : "x");
}

static void forget(void *self, const char *nspace)
{
    (void)self, (void)nspace;
}

static pmix_status_t values(void *self, const struct px_pnet_job *job,
                            px_pnet_put_fn put, void *arg)
{
    const pmix_info_t mine = {.key = "bad.number", .value = {.type = PMIX_UINT32}};

    (void)self;
    return put(arg, BAD == VALUE ? job->n_procs : PMIX_RANK_WILDCARD, &mine);
}

static void child_finalized(void *self, const pmix_proc_t *proc)
{
    struct bad *b = self;

    (void)proc;
    b->n_ended++;
}

static pmix_status_t collect(void *self, const pmix_info_t *directives, size_t n,
                             px_pnet_add_fn add, void *arg)
{
    return contribute(self, NULL, directives, n, add, arg);
}

static pmix_status_t deliver(void *self, const pmix_info_t *info, size_t n,
                             const pmix_info_t *directives, size_t n_directives)
{
    (void)self, (void)info, (void)directives, (void)n_directives;
    return n == (BAD == LISTS ? 2 : 1) ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

static pmix_status_t describe(void *self, size_t number, px_pnet_add_fn add, void *arg)
{
    struct bad *b = self;
    const pmix_info_t index = {.key = PMIX_FABRIC_INDEX,
                               .value = {.type = PMIX_SIZE, .data.size = number}};

    if (number > b->n_fabrics)
        return PMIX_ERR_NOT_FOUND;
    if (!b->matrix)
        b->matrix = malloc(8);
    return b->matrix ? add(arg, &index) : PMIX_ERR_NOMEM;
}

static void deregister_fabric(void *self, size_t number)
{
    struct bad *b = self;

    if (number > b->n_fabrics)
        return;
    if (BAD != MATRIX)
        free(b->matrix);
    b->matrix = NULL;
}

static pmix_status_t register_fabric(void *self, const pmix_info_t *directives,
                                     size_t n, px_pnet_add_fn add, void *arg)
{
    struct bad *b = self;
    const int had = b->matrix != NULL;

    (void)directives, (void)n;
    b->n_fabrics += BAD == NUMBER;
    pmix_status_t rc = describe(self, b->n_fabrics, add, arg);
    if (rc && !had)
        deregister_fabric(self, b->n_fabrics);
    return rc;
}

static void *call_host(void *arg)
{
    const struct px_services *services = arg;

    services->timer_free(NULL);
    return NULL;
}

static pmix_status_t bad_open(const struct px_services *services, const void *conf,
                              void **self)
{
    struct bad *b = calloc(1, sizeof(*b));
    pthread_t thread;

    (void)conf;
    if (!b)
        return BAD == NOMEM ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    b->services = services;
    b->timer = BAD == TIMER ? services->timer(services, NULL, NULL) : NULL;
    if (BAD == THREAD &&
        pthread_create(&thread, NULL, call_host, (void *)services) == 0)
        pthread_join(thread, NULL);
    *self = b;
    return PMIX_SUCCESS;
}

static pmix_status_t bad_query(void *self, struct px_query *answer)
{
    (void)self;
    answer->priority = 1;
    return BAD == REASON ? PMIX_ERR_NOT_AVAILABLE : PMIX_SUCCESS;
}

static void bad_close(void *self)
{
    if (BAD == LEAK)
        return;
    deregister_fabric(self, 0);
    free(self);
}

static const struct px_pnet_ops ops = {.contribute = contribute,
                                       .apply = apply,
                                       .envars = envars,
                                       .forget = BAD == NULL_OP ? NULL : forget,
                                       .flags = PX_PNET_IN_PLACE,
                                       .values = values,
                                       .child_finalized = child_finalized,
                                       .collect_inventory = collect,
                                       .deliver_inventory = deliver,
                                       .register_fabric = register_fabric,
                                       .update_fabric = describe,
                                       .deregister_fabric = deregister_fabric};

PX_COMPONENT(pnet, bad) = {
    .abi = BAD == ABI ? 99u : PX_COMPONENT_ABI,
    .size = sizeof(struct px_component),
    .framework = "pnet",
    .framework_abi = PX_PNET_ABI,
    .name = "bad",
    .version = "1",
    .open = bad_open,
    .query = bad_query,
    .close = bad_close,
    .ops = &ops,
    .ops_size = sizeof(ops),
    .param_size = sizeof(struct px_param),
};
