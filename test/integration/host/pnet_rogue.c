/* SPDX-License-Identifier: BSD-3-Clause */
/* A vendor's fabric component with one fault (pnet_rogue_how) in one function (pnet_rogue_where).
 * The component is built with only an installed Tenon; -DABI=n builds it for another ABI. */
#include <tenon/pnet.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef ABI
#define ABI PX_PNET_ABI
#endif

struct conf {
    const char *how, *where;
};

static const struct px_param params[] = {
    PX_PARAM_STRING(
        struct conf, how, "well",
        "well, crash, hang, exit, fail, big, or stick: to hang, but not in a "
        "child"),
    PX_PARAM_STRING(struct conf, where, "contribute",
                    "open, query, close, contribute, apply or envars"),
    PX_PARAM_END,
};

static int applied; /* the job has applied its contribution */
static pid_t owner; /* process that opened the component last */

static void misbehave(const struct conf *conf, const char *where)
{
    if (strcmp(conf->where, where) != 0)
        return;
    if (strcmp(conf->how, "crash") == 0)
        abort();
    while (strcmp(conf->how, "hang") == 0)
        pause();
    if (strcmp(conf->how, "stick") == 0 && getpid() == owner)
        fputs("stuck\n", stderr);
    while (strcmp(conf->how, "stick") == 0 && getpid() == owner)
        pause();
    if (strcmp(conf->how, "exit") == 0)
        exit(3);
}

/* Adds more data than a blob may contain. */
static pmix_status_t add_much(px_pnet_add_fn add, void *arg)
{
    enum { PIECE_B = 1 << 20, PIECES = 65 };
    pmix_info_t info = {.key = "rogue.much", .value.type = PMIX_BYTE_OBJECT};
    pmix_status_t rc = PMIX_SUCCESS;

    info.value.data.bo.bytes = calloc(1, PIECE_B);
    info.value.data.bo.size = PIECE_B;
    for (int i = 0; !rc && i < PIECES; i++)
        rc = add(arg, &info);
    free(info.value.data.bo.bytes);
    return rc;
}

static pmix_status_t contribute(void *self, const char *nspace, const pmix_info_t *info,
                                size_t n, px_pnet_add_fn add, void *arg)
{
    const char *how = ((const struct conf *)self)->how;
    pmix_info_t key = {.key = "rogue.key", .value.type = PMIX_STRING};

    (void)nspace, (void)info, (void)n;
    misbehave(self, "contribute");
    if (strcmp(how, "fail") == 0)
        return PMIX_ERR_NOT_FOUND;
    if (strcmp(how, "big") == 0)
        return add_much(add, arg);
    key.value.data.string = (char *)"secret";
    return add(arg, &key);
}

static pmix_status_t apply(void *self, const char *nspace, const pmix_info_t *info,
                           size_t n)
{
    (void)nspace;
    misbehave(self, "apply");
    applied = n == 1 && strcmp(info->key, "rogue.key") == 0;
    return applied ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

static pmix_status_t envars(void *self, const char *nspace, px_pnet_set_fn set,
                            void *arg)
{
    (void)nspace;
    misbehave(self, "envars");
    if (!applied)
        return PMIX_ERR_NOT_FOUND;
    return set(arg, PMIX_RANK_WILDCARD, "ROGUE_KEY", "secret");
}

static void forget(void *self, const char *nspace)
{
    (void)self, (void)nspace;
    applied = 0;
}

static pmix_status_t rogue_open(const struct px_services *services, const void *conf,
                                void **self)
{
    (void)services;
    owner = getpid();
    misbehave(conf, "open");
    *self = (void *)(uintptr_t)conf;
    return PMIX_SUCCESS;
}

static pmix_status_t rogue_query(void *self, struct px_query *answer)
{
    misbehave(self, "query");
    answer->priority = 10;
    return PMIX_SUCCESS;
}

static void rogue_close(void *self)
{
    misbehave(self, "close");
}

static const struct px_pnet_ops ops = {
    .contribute = contribute, .apply = apply, .envars = envars, .forget = forget};

PX_COMPONENT(pnet, rogue) = {
    .abi = PX_COMPONENT_ABI,
    .size = sizeof(struct px_component),
    .framework = "pnet",
    .framework_abi = ABI,
    .name = "rogue",
    .version = "1.0",
    .params = params,
    .conf_size = sizeof(struct conf),
    .open = rogue_open,
    .query = rogue_query,
    .close = rogue_close,
    .ops = &ops,
    .ops_size = sizeof(ops),
    .param_size = sizeof(struct px_param),
};
