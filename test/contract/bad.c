/* SPDX-License-Identifier: BSD-3-Clause */
/* A pnet component that breaks one rule, which BAD names: what pmix_component_check is there to
 * find. */
#include "tenon/pnet.h"

#include <stdlib.h>
#include <string.h>
#include <pthread.h>

#define NONE    0
#define LEAK    1 /* close does not free */
#define ABI     2
#define REASON  3 /* declines without one */
#define NULL_OP 4
#define THREAD  5 /* calls the host from a thread of its own */
#define CRASH   6 /* believes what comes over the network */
#define NAME    7 /* sets what belongs to the core */
#define TIMER   8 /* is not given back */
#define NOMEM   9 /* takes it for success */

struct bad {
    const struct px_services *services;
    struct px_timer *timer;
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
    (void)self, (void)nspace;
    return set(arg, PMIX_RANK_WILDCARD, BAD == NAME ? "PMIX_RANK" : "BAD", "x");
}

static void forget(void *self, const char *nspace)
{
    (void)self, (void)nspace;
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
    struct bad *b = malloc(sizeof(*b));
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
    if (BAD != LEAK)
        free(self);
}

static const struct px_pnet_ops ops = {.contribute = contribute,
                                       .apply = apply,
                                       .envars = envars,
                                       .forget = BAD == NULL_OP ? NULL : forget};

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
