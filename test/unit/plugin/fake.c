/* SPDX-License-Identifier: BSD-3-Clause */
/* A fake component of any framework, built many times with macros that select sound or
 * broken behaviour. Parameters control the loaded component. It logs its calls in the
 * file named by the parameter trace. */
#include "fake.h"

#include "tenon/gds.h"

#include <stdio.h>
#include <stdlib.h>

#ifndef ABI
#define ABI PX_COMPONENT_ABI
#endif
#ifndef FRAMEWORK_ABI
#define FRAMEWORK_ABI 1u
#endif
#ifndef SIZE
#define SIZE sizeof(struct px_component)
#endif
#ifndef CALLED
#define CALLED NAME
#endif
#ifndef HAS_OPS
#define HAS_OPS 1
#endif
#ifndef ROW_SIZE
#define ROW_SIZE sizeof(struct row)
#endif
#ifndef CONF_SIZE
#define CONF_SIZE sizeof(struct conf)
#endif

#define STRING_(x)        #x
#define STRING(x)         STRING_(x)
#define SYMBOL_(fw, name) px_##fw##_##name##_component
#define SYMBOL(fw, name)  SYMBOL_(fw, name)

struct conf {
    int64_t priority;
    int64_t level;
    bool fail_open;
    bool decline;
    const char *label;
    const char *trace;
};

/* Rows with the size of an older or a later header. */
#ifdef ROW_ENDS_WITH
struct row {
    const char *name;
    enum px_param_kind kind;
    size_t offset;
    const char *def;
    int64_t min, max;
    const struct px_param_name *names;
    const char *help;
    ROW_ENDS_WITH
};
#else
#define row px_param
#endif

struct fake {
    struct fake_state state;
    const struct conf *conf;
};

static const struct row params[] = {
    PX_PARAM_INT(struct conf, priority, "50", 0, 1000, "Priority to answer"),
    PX_PARAM_INT(struct conf, level, "3", 1, 9, "A number"),
    PX_PARAM_BOOL(struct conf, fail_open, "false", "Do not open"),
    PX_PARAM_BOOL(struct conf, decline, "false", "Decline when asked"),
    PX_PARAM_STRING(struct conf, label, NULL, "A text"),
    PX_PARAM_STRING(struct conf, trace, NULL, "Where to log calls"),
    PX_PARAM_END,
};

static void add_to_trace(const struct conf *conf, const char *what)
{
    FILE *f = conf->trace ? fopen(conf->trace, "a") : NULL;

    if (!f)
        return;
    fprintf(f, "%s %s/%s\n", what, STRING(FW), STRING(NAME));
    fclose(f);
}

static pmix_status_t fake_open(const struct px_services *services, const void *conf,
                               void **self)
{
    const struct conf *c = conf;
    struct fake *f = calloc(1, sizeof(*f));

    if (!f)
        return PMIX_ERR_NOMEM;
    if (c->fail_open) {
        free(f);
        return PMIX_ERR_NOT_AVAILABLE;
    }
    f->conf = c;
    f->state = (struct fake_state){services, c->level, c->label, services->roles};
#ifdef CALLS
    extern void CALLS(void);
    CALLS();
#endif
    add_to_trace(c, "open");
    services->log(services, PX_LOG_DEBUG, "opened with level %ld", (long)c->level);
    *self = f;
    return PMIX_SUCCESS;
}

static pmix_status_t fake_query(void *self, struct px_query *answer)
{
    const struct fake *f = self;

    if (f->conf->decline) {
        snprintf(answer->reason, sizeof(answer->reason), "not today");
        return PMIX_ERR_NOT_AVAILABLE;
    }
    answer->priority = (int)f->conf->priority;
    return PMIX_SUCCESS;
}

static void fake_close(void *self)
{
    struct fake *f = self;

    add_to_trace(f->conf, "close");
    free(f);
}

static const struct fake_state *fake_state(void *self)
{
    return &((struct fake *)self)->state;
}

static const struct fake_ops ops = {.state = fake_state};

__attribute__((visibility("default"))) extern const struct px_component SYMBOL(FW,
                                                                               NAME);
const struct px_component SYMBOL(FW, NAME) = {
    .abi = ABI,
    .size = SIZE,
    .framework = STRING(FW),
    .framework_abi = FRAMEWORK_ABI,
    .name = STRING(CALLED),
    .version = "1",
    .params = (const void *)params,
    .conf_size = CONF_SIZE,
    .open = fake_open,
    .query = fake_query,
    .close = fake_close,
    .ops = HAS_OPS ? &ops : NULL,
    .ops_size = sizeof(ops),
    .param_size = ROW_SIZE,
};
