/* SPDX-License-Identifier: BSD-3-Clause */
/* A fabric component as a vendor ships it, which does one thing wrong: pnet_rogue_how.
 * Built with an installed Tenon alone; with -DABI=n as for another one. */
#include <tenon/pnet.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef ABI
#define ABI PX_PNET_ABI
#endif

struct conf {
    const char *how;
};

static const struct px_param params[] = {
    PX_PARAM_STRING(struct conf, how, "well", "well, crash, hang, exit, fail or big"),
    PX_PARAM_END,
};

/* More than a blob may have. */
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
    const char *how = *(const char *const *)self;
    pmix_info_t key = {.key = "rogue.key", .value.type = PMIX_STRING};

    (void)nspace, (void)info, (void)n;
    if (strcmp(how, "crash") == 0)
        abort();
    while (strcmp(how, "hang") == 0)
        pause();
    if (strcmp(how, "exit") == 0)
        exit(3);
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
    (void)self, (void)nspace;
    return n == 1 && strcmp(info->key, "rogue.key") == 0 ? PMIX_SUCCESS
                                                         : PMIX_ERR_BAD_PARAM;
}

static pmix_status_t envars(void *self, const char *nspace, px_pnet_set_fn set,
                            void *arg)
{
    (void)self, (void)nspace;
    return set(arg, PMIX_RANK_WILDCARD, "ROGUE_KEY", "secret");
}

static void forget(void *self, const char *nspace)
{
    (void)self, (void)nspace;
}

static pmix_status_t rogue_open(const struct px_services *services, const void *conf,
                                void **self)
{
    (void)services;
    *self = (void *)(uintptr_t)conf;
    return PMIX_SUCCESS;
}

static pmix_status_t rogue_query(void *self, struct px_query *answer)
{
    (void)self;
    answer->priority = 10;
    return PMIX_SUCCESS;
}

static void rogue_close(void *self)
{
    (void)self;
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
    .ops_size = sizeof ops,
    .param_size = sizeof(struct px_param),
};
