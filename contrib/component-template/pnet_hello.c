/* SPDX-License-Identifier: BSD-3-Clause */
/* A complete component: gives the processes of each job a variable with a token of the
 * job. docs/writing-a-component.md explains the file step by step. */
#include <tenon/pnet.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define TOKEN_KEY "hello.token"
#define TOKEN_LEN 16 /* hexadecimal digits */

struct conf {
    bool enabled;
    const char *variable;
};

static const struct px_param params[] = {
    PX_PARAM_BOOL(struct conf, enabled, "true", "Take part in launches"),
    PX_PARAM_STRING(struct conf, variable, "HELLO_TOKEN",
                    "Variable to put the token into", .level = 1),
    PX_PARAM_END,
};

struct job {
    struct job *next;
    pmix_nspace_t nspace;
    char token[TOKEN_LEN + 1];
};

struct hello {
    const struct px_services *services;
    const struct conf *conf;
    struct job *jobs;
};

static struct job **find(struct hello *h, const char *nspace)
{
    struct job **at = &h->jobs;

    while (*at && strcmp((*at)->nspace, nspace) != 0)
        at = &(*at)->next;
    return at;
}

static void forget(void *self, const char *nspace)
{
    struct job **at = find(self, nspace), *job = *at;

    if (job)
        *at = job->next;
    free(job);
}

static pmix_status_t contribute(void *self, const char *nspace, const pmix_info_t *info,
                                size_t n, px_pnet_add_fn add, void *arg)
{
    struct hello *h = self;
    char token[TOKEN_LEN + 1];
    uint64_t random;
    pmix_info_t token_info = {.key = TOKEN_KEY};

    (void)info, (void)n;
    if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
        return PMIX_ERR_NOT_AVAILABLE;
    snprintf(token, sizeof(token), "%016llx", (unsigned long long)random);
    token_info.value.type = PMIX_STRING;
    token_info.value.data.string = token; /* add makes a copy */
    h->services->log(h->services, PX_LOG_DEBUG, "job %s has a token", nspace);
    return add(arg, &token_info);
}

/* Applies the contributions. Checks each info, because it comes from the network. */
static pmix_status_t apply(void *self, const char *nspace, const pmix_info_t *info,
                           size_t n)
{
    struct hello *h = self;

    if (n != 1 || strcmp(info[0].key, TOKEN_KEY) != 0 ||
        info[0].value.type != PMIX_STRING || !info[0].value.data.string ||
        strlen(info[0].value.data.string) != TOKEN_LEN)
        return PMIX_ERR_BAD_PARAM;
    struct job *job = calloc(1, sizeof(*job));
    if (!job)
        return PMIX_ERR_NOMEM;
    forget(h, nspace);
    snprintf(job->nspace, sizeof(job->nspace), "%s", nspace);
    snprintf(job->token, sizeof(job->token), "%s", info[0].value.data.string);
    job->next = h->jobs;
    h->jobs = job;
    return PMIX_SUCCESS;
}

static pmix_status_t envars(void *self, const char *nspace, px_pnet_set_fn set,
                            void *arg)
{
    struct hello *h = self;
    struct job *job = *find(h, nspace);

    return job ? set(arg, PMIX_RANK_WILDCARD, h->conf->variable, job->token)
               : PMIX_ERR_NOT_FOUND;
}

static pmix_status_t hello_open(const struct px_services *services, const void *conf,
                                void **self)
{
    struct hello *h = calloc(1, sizeof(*h));

    if (!h)
        return PMIX_ERR_NOMEM;
    h->services = services;
    h->conf = conf;
    *self = h;
    return PMIX_SUCCESS;
}

static pmix_status_t hello_query(void *self, struct px_query *answer)
{
    const struct hello *h = self;

    snprintf(answer->reason, sizeof(answer->reason), "pnet_hello_enabled is false");
    answer->priority = 10;
    return h->conf->enabled ? PMIX_SUCCESS : PMIX_ERR_NOT_AVAILABLE;
}

static void hello_close(void *self)
{
    struct hello *h = self;

    while (h->jobs)
        forget(h, h->jobs->nspace);
    free(h);
}

static const struct px_pnet_ops ops = {
    .contribute = contribute, .apply = apply, .envars = envars, .forget = forget};

PX_COMPONENT(pnet, hello) = {
    PX_COMPONENT_HEAD(pnet, PNET, hello),
    .version = "1.0",
    .params = params,
    .conf_size = sizeof(struct conf),
    .open = hello_open,
    .query = hello_query,
    .close = hello_close,
    .ops = &ops,
};
