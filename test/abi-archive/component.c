/* SPDX-License-Identifier: BSD-3-Clause */
/* A component as somebody has built it with the headers of an earlier release. It uses what they had:
 * parameters of every kind, the log, a timer. */
#include <tenon/pnet.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct conf {
    bool flag;
    int64_t number;
    uint64_t count, size, duration;
    int64_t choice;
    const char *text;
    const char *const *list;
    const char *path;
    struct px_param_version version;
};

static const struct px_param_name choices[] = {{"one", 1}, {"two", 2}, {NULL, 0}};

static const struct px_param params[] = {
    PX_PARAM_BOOL(struct conf, flag, "true", "A flag"),
    PX_PARAM_INT(struct conf, number, "-3", -5, 5, "A number"),
    PX_PARAM_UINT(struct conf, count, "7", 0, 9, "A count"),
    PX_PARAM_SIZE(struct conf, size, "64K", 0, 1 << 20, "A size"),
    PX_PARAM_DURATION(struct conf, duration, "250ms", 0, 1000, "A duration"),
    PX_PARAM_ENUM(struct conf, choice, "two", choices, "A choice"),
    PX_PARAM_STRING(struct conf, text, "old", "A text"),
    PX_PARAM_LIST(struct conf, list, NULL, "A list"),
    PX_PARAM_PATH(struct conf, path, NULL, "A path"),
    PX_PARAM_VERSION(struct conf, version, "1.2.3", "A version"),
    PX_PARAM_END,
};

struct archived {
    const struct px_services *services;
    const struct conf *conf;
    struct px_timer *timer;
};

static void on_timer(void *arg)
{
    (void)arg;
}

static pmix_status_t contribute(void *self, const char *nspace, const pmix_info_t *info,
                                size_t n, px_pnet_add_fn add, void *arg)
{
    const struct archived *a = self;
    pmix_info_t mine = {.key = "archived.text"};

    (void)info, (void)n;
    a->services->log(a->services, PX_LOG_DEBUG, "job %s", nspace);
    mine.value.type = PMIX_STRING;
    mine.value.data.string = (char *)a->conf->text;
    return add(arg, &mine);
}

static pmix_status_t apply(void *self, const char *nspace, const pmix_info_t *info,
                           size_t n)
{
    (void)self, (void)nspace;
    return n == 1 && info[0].value.type == PMIX_STRING ? PMIX_SUCCESS
                                                       : PMIX_ERR_BAD_PARAM;
}

static pmix_status_t envars(void *self, const char *nspace, px_pnet_set_fn set,
                            void *arg)
{
    const struct conf *c = ((struct archived *)self)->conf;
    char text[256];

    (void)nspace;
    snprintf(text, sizeof(text), "%d %ld %lu %lu %lu %ld %s %u.%u.%u", c->flag,
             (long)c->number, (unsigned long)c->count, (unsigned long)c->size,
             (unsigned long)c->duration, (long)c->choice, c->text, c->version.major,
             c->version.minor, c->version.release);
    return set(arg, PMIX_RANK_WILDCARD, "ARCHIVED", text);
}

static void forget(void *self, const char *nspace)
{
    (void)self, (void)nspace;
}

static pmix_status_t archived_open(const struct px_services *services, const void *conf,
                                   void **self)
{
    struct archived *a = calloc(1, sizeof(*a));

    if (!a)
        return PMIX_ERR_NOMEM;
    *a = (struct archived){.services = services, .conf = conf};
    a->timer = services->timer(services, on_timer, a);
    if (!a->timer) {
        free(a);
        return PMIX_ERR_NOMEM;
    }
    services->timer_set(a->timer, 1);
    *self = a;
    return PMIX_SUCCESS;
}

static pmix_status_t archived_query(void *self, struct px_query *answer)
{
    (void)self;
    answer->priority = 5;
    return PMIX_SUCCESS;
}

static void archived_close(void *self)
{
    struct archived *a = self;

    a->services->timer_free(a->timer);
    free(a);
}

static const struct px_pnet_ops ops = {
    .contribute = contribute, .apply = apply, .envars = envars, .forget = forget};

PX_COMPONENT(pnet, archived) = {
    PX_COMPONENT_HEAD(pnet, PNET, archived),
    .version = "1.0",
    .params = params,
    .conf_size = sizeof(struct conf),
    .open = archived_open,
    .query = archived_query,
    .close = archived_close,
    .ops = &ops,
};
