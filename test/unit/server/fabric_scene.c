/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric_scene.h"

#include <stdarg.h>
#include <string.h>

struct fake fakes[] = {{.name = "best", .priority = 900},
                       {.name = "good", .priority = 800}};

char calls[4096];

static void __attribute__((format(printf, 2, 3)))
note(const struct fake *f, const char *fmt, ...)
{
    size_t n = strlen(calls);
    va_list args;

    n += (size_t)snprintf(calls + n, sizeof(calls) - n, "%s.", f->name);
    va_start(args, fmt);
    n += (size_t)vsnprintf(calls + n, sizeof(calls) - n, fmt, args);
    va_end(args);
    ck_assert_uint_lt(n + 1, sizeof(calls));
    strcat(calls, "\n");
}

void called(const char *wanted)
{
    raw_on_loop(NULL, NULL);
    raw_on_loop(NULL, NULL); /* twice, as a call may make a request */
    ck_assert_str_eq(calls, wanted);
    calls[0] = '\0';
}

static pmix_status_t contribute(void *self, const char *nspace PX_UNUSED,
                                const pmix_info_t *info PX_UNUSED, size_t n PX_UNUSED,
                                px_pnet_add_fn add, void *arg)
{
    const struct fake *f = self;

    return f->contribute ? f->contribute(add, arg) : PMIX_SUCCESS;
}

static pmix_status_t apply(void *self PX_UNUSED, const char *nspace PX_UNUSED,
                           const pmix_info_t *info PX_UNUSED, size_t n PX_UNUSED)
{
    return PMIX_SUCCESS;
}

static pmix_status_t envars(void *self PX_UNUSED, const char *nspace PX_UNUSED,
                            px_pnet_set_fn set PX_UNUSED, void *arg PX_UNUSED)
{
    return PMIX_SUCCESS;
}

static void forget(void *self, const char *nspace)
{
    const struct fake *f = self;

    if (f->notes_ends)
        note(f, "forget %s", nspace);
}

static void child_finalized(void *self, const pmix_proc_t *proc)
{
    const struct fake *f = self;

    if (f->notes_ends)
        note(f, "child %s.%u", proc->nspace, proc->rank);
}

static void local_app_finalized(void *self, const char *nspace)
{
    const struct fake *f = self;

    if (f->notes_ends)
        note(f, "app %s", nspace);
}

static pmix_status_t values(void *self, const struct px_pnet_job *job,
                            px_pnet_put_fn put, void *arg)
{
    struct fake *f = self;

    ck_assert_uint_eq(job->size, sizeof(*job));
    note(f, "values %s", job->nspace);
    return f->values ? f->values(f, job, put, arg) : f->status;
}

/* Adds as many devices as the directive requests. Only the first component has devices. */
static pmix_status_t collect_inventory(void *self, const pmix_info_t *directives,
                                       size_t n, px_pnet_add_fn add, void *arg)
{
    struct fake *f = self;
    const pmix_info_t device = {
        .key = PMIX_FABRIC_DEVICE_NAME,
        .value = {.type = PMIX_STRING, .data.string = (char *)"nic"}};
    const pmix_info_t address = {.key = "bad", .value = {.type = PMIX_POINTER}};
    const uint32_t wanted = px_info_u32(directives, n, PMIX_FABRIC_NUM_DEVICES, 0);

    note(f, "collect");
    fails(add(arg, &address), BAD_PARAM);
    for (uint32_t i = 0; f == fakes && i < wanted; i++)
        ok(add(arg, &device));
    return f->status;
}

static pmix_status_t deliver_inventory(void *self, const pmix_info_t *info, size_t n,
                                       const pmix_info_t *directives,
                                       size_t n_directives)
{
    const struct fake *f = self;

    for (size_t i = 0; i < n; i++)
        ck_assert_str_eq(info[i].value.data.string, "nic");
    note(f, "deliver %zu for %u", n,
         px_info_u32(directives, n_directives, PMIX_TIMEOUT, 0));
    return f->status;
}

/* Adds a matrix of the component, and counts the descriptions in the matrix. */
static pmix_status_t describe(struct fake *f, px_pnet_add_fn add, void *arg)
{
    const size_t number = 3;
    PX_AUTO(px_infos) l = {0};

    if (f->status)
        return f->status;
    if (!f->matrix)
        f->matrix = calloc(4, sizeof(*f->matrix));
    f->matrix[1]++;
    ok(px_infos_add(&l, PMIX_FABRIC_VENDOR, f->name, PMIX_STRING));
    ok(px_infos_add(&l, PMIX_FABRIC_COST_MATRIX, f->matrix, PMIX_POINTER));
    if (f->index_type != PMIX_UNDEF)
        ok(px_infos_add(&l, PMIX_FABRIC_INDEX,
                        f->index_type == PMIX_STRING ? (const void *)"3" : &number,
                        f->index_type));
    fails(add(arg, NULL), BAD_PARAM);
    for (size_t i = 0; i < l.n; i++)
        ok(add(arg, &l.v[i]));
    return PMIX_SUCCESS;
}

static pmix_status_t register_fabric(void *self, const pmix_info_t *directives,
                                     size_t n, px_pnet_add_fn add, void *arg)
{
    struct fake *f = self;
    const char *plane = px_info_str(directives, n, PMIX_FABRIC_PLANE);

    if (!f->plane || !plane || strcmp(plane, f->plane) != 0)
        return PMIX_ERR_NOT_FOUND;
    note(f, "register");
    return describe(f, add, arg);
}

static pmix_status_t update_fabric(void *self, size_t index, px_pnet_add_fn add,
                                   void *arg)
{
    note(self, "update %zu", index);
    return describe(self, add, arg);
}

static void deregister_fabric(void *self, size_t index)
{
    struct fake *f = self;

    note(f, "deregister %zu", index);
    ck_assert_ptr_nonnull(f->matrix);
    free(px_take(&f->matrix));
}

static pmix_status_t query(void *self, struct px_query *answer)
{
    answer->priority = ((struct fake *)self)->priority;
    return PMIX_SUCCESS;
}

static void close_fake(void *self)
{
    *(struct fake *)self = (struct fake){.name = ((struct fake *)self)->name,
                                         .priority = ((struct fake *)self)->priority};
}

static struct px_pnet_ops ops = {.contribute = contribute,
                                 .apply = apply,
                                 .envars = envars,
                                 .forget = forget,
                                 .flags = PX_PNET_IN_PLACE,
                                 .values = values,
                                 .child_finalized = child_finalized,
                                 .local_app_finalized = local_app_finalized,
                                 .collect_inventory = collect_inventory,
                                 .deliver_inventory = deliver_inventory,
                                 .register_fabric = register_fabric,
                                 .update_fabric = update_fabric,
                                 .deregister_fabric = deregister_fabric};

#define FAKE(n, text)                                                              \
    static pmix_status_t open_##text(const struct px_services *services PX_UNUSED, \
                                     const void *conf PX_UNUSED, void **self)      \
    {                                                                              \
        *self = &fakes[n];                                                         \
        return PMIX_SUCCESS;                                                       \
    }                                                                              \
    static const struct px_component text = {PX_COMPONENT_HEAD(pnet, PNET, text),  \
                                             .version = "1.0",                     \
                                             .open = open_##text,                  \
                                             .query = query,                       \
                                             .close = close_fake,                  \
                                             .ops = &ops,                          \
                                             .params = NULL}
FAKE(0, best);
FAKE(1, good);

extern const struct px_component *const px_builtin_components[];
const struct px_component *const px_builtin_components[] = {&best, &good, NULL};

void fabric_in_children(void)
{
    ops.flags = 0;
}

void fabric_start(void)
{
    setenv("PMIX_MCA_pnet", "best,good", 1);
    ok(PMIx_server_init((pmix_server_module_t *)(uintptr_t)&host_module, NULL, 0));
}
