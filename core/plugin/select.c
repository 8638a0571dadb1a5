/* SPDX-License-Identifier: BSD-3-Clause */
/* Selection of components. For each framework that a role needs: loads the components
 * that the user's choice allows, opens them on the loop, queries their priorities, and
 * keeps the accepting ones, best first. A requested component that does not load is an
 * error. Other components may fail with a warning. */
#include "core/plugin/select.h"

#include "core/base/str.h"
#include "core/config/param_impl.h"
#include "core/plugin/choice.h"
#include "core/plugin/services.h"
#include "core/plugin/trial.h"
#include "core/rt/log.h"
#include "core/rt/process.h"

#include <stdio.h>
#include <string.h>

/* A component in use. Its address identifies its services, so the struct never
 * moves. */
struct px_loaded_component {
    const struct px_found *found;
    struct px_loaded loaded;
    void *conf;
    struct px_services_impl services;
    bool is_open;
    void *self;
    int priority;
    int64_t set_priority; /* from a parameter; negative: the component's own priority
                           * counts */
    size_t rank;          /* position in the including list; 0 without a list */
};

struct px_slot { /* components of one framework */
    bool in_use;
    bool requested; /* the choice includes components by name */
    bool partial;   /* some components were postponed */
    bool *tried;    /* by index in the catalog's part */
    struct px_loaded_component **components;
    size_t n;
    struct px_module *modules;
    size_t n_modules;
};

struct px_selection {
    struct px_params *params;
    struct px_loop *loop;
    px_choice report; /* components whose load errors are warnings */
    px_catalog catalog;
    unsigned roles;
    unsigned next_roles; /* roles for which components are being opened */
    uint64_t trial_ms;   /* limit of a trial; 0: no trials */
    int trial_fd;        /* in a trial's child: pipe for its steps; otherwise -1 */
    struct px_slot slots[PX_FW_COUNT];
    px_strv required[PX_FW_COUNT];
};

/* ---- loading: on the thread that holds the process lock -------------------------- */

/* Frees a component that is not open. */
static void free_component(struct px_loaded_component *p)
{
    if (!p)
        return;
    px_loader_unload(&p->loaded);
    free(p->conf);
    free(p);
}

/* Stores the reason why a component is not in use. Without memory, the previous reason
 * stays. */
static void PX_PRINTF(3, 4)
    note_unused(const struct px_selection *s, const struct px_found *found,
                const char *fmt, ...)
{
    struct px_found *f = &s->catalog.v[found - s->catalog.v];
    char text[512];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    char *copy = strdup(text);
    if (!copy)
        return;
    free(f->unused);
    f->unused = copy;
}

/* Logs why a component is not used, with its file unless the text names the file. The
 * line is a warning if the component was requested or
 * mca_base_component_show_load_errors includes it. */
static void PX_PRINTF(4, 5)
    report(const struct px_selection *s, const struct px_found *f, bool requested,
           const char *fmt, ...)
{
    const char *framework = px_frameworks[f->framework].name;
    bool named = false;
    char text[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    note_unused(s, f, "%s", text);
    for (char **item = s->report.names; item && *item; item++)
        named |= strcmp(*item, framework) == 0 || px_found_is(f, *item);
    enum px_log_level level = requested || named != s->report.exclude ? PX_LOG_WARN
                                                                      : PX_LOG_INFO;
    if (!px_log_wants(level))
        return;
    if (f->file && !strstr(text, f->file))
        px_log(level, "loader", "%s (%s)", text, f->file);
    else
        px_log(level, "loader", "%s", text);
}

/* ---- trials: in a child process -------------------------------------------------- */

static pmix_status_t load_component(struct px_selection *s, struct px_slot *slot,
                                    const struct px_found *found, size_t rank,
                                    struct px_err *err);
static void on_try(struct px_call *call, void *args);

struct attempt {
    struct px_selection *s;
    struct px_slot *slot;
    const struct px_found *found;
};

/* Loads and opens a component on a separate loop. The parent then does the same and
 * reports. */
static void try_component(void *arg, int fd)
{
    struct attempt *t = arg;
    const size_t n = t->slot->n;

    atomic_store(&px_process.log_level, -1);
    t->s->trial_ms = 0;
    t->s->trial_fd = fd;
    if (px_loop_create(PX_PROGRESS_EXTERNAL, NULL, &t->s->loop) ||
        load_component(t->s, t->slot, t->found, 0, NULL) || t->slot->n == n)
        return;
    (void)px_call(t->s->loop, on_try, t);
}

/* True if the component is tried: it is not of this library, and trials are enabled. */
static bool is_tried(const struct px_selection *s, const struct px_found *f)
{
    return s->trial_ms && f->file && !f->own && !f->broken;
}

/* Tries a foreign component in a child process. Returns PMIX_ERR_NOT_AVAILABLE if the
 * component ended that process or did not return. */
static pmix_status_t try_file(struct px_selection *s, struct px_slot *slot,
                              const struct px_found *f, struct px_err *why)
{
    struct attempt t = {s, slot, f};
    char how[128];

    if (!is_tried(s, f) ||
        px_trial_run(try_component, &t, s->trial_ms, how, sizeof(how)))
        return PMIX_SUCCESS;
    return px_err_set(why, PMIX_ERR_NOT_AVAILABLE, "component %s/%s %s: %s is not used",
                      px_frameworks[f->framework].name, f->name, how, f->file);
}

/* ---- loading a file -------------------------------------------------------------- */

/* Loads a component's file, once. After a failure uses the library's component of that
 * name. */
static pmix_status_t load(struct px_selection *s, struct px_slot *slot,
                          const struct px_found *found, struct px_loaded *out,
                          struct px_err *why)
{
    struct px_found *f = &s->catalog.v[found - s->catalog.v];

    if (!f->broken) {
        pmix_status_t rc = try_file(s, slot, f, why);
        const bool tried_in_vain = rc;
        if (!rc)
            rc = px_loader_load(f, out, why);
        if (!rc || rc == PMIX_ERR_NOMEM)
            return rc;
        f->broken = strdup(why->text);
        if (!f->broken)
            return PMIX_ERR_NOMEM;
        if (!f->file || !f->component)
            return rc;
        report(s, f, slot->requested || tried_in_vain, "%s; the library's own is used",
               why->text);
    }
    return f->file && f->component
               ? px_loader_load_builtin(f, out, why)
               : px_err_set(why, PMIX_ERR_NOT_FOUND, "%s", f->broken);
}

static pmix_status_t load_component(struct px_selection *s, struct px_slot *slot,
                                    const struct px_found *found, size_t rank,
                                    struct px_err *err)
{
    struct px_loaded_component *p = calloc(1, sizeof(*p));
    struct px_err why = {0};

    if (!p)
        return px_err_nomem(err, "select components");
    p->found = found;
    p->rank = rank;
    pmix_status_t rc = load(s, slot, found, &p->loaded, &why);
    if (rc) {
        free(p);
        /* Fail if the component was requested, otherwise skip it. */
        if (rc != PMIX_ERR_NOMEM && !slot->requested) {
            report(s, found, rc == PMIX_ERR_NOT_AVAILABLE, "%s", why.text);
            rc = px_params_ignore_prefix(s->params, found->prefix);
        }
        return rc ? px_err_set(err, rc, "%s", why.text) : PMIX_SUCCESS;
    }
    const struct px_component *c = &p->loaded.component;
    px_services_init(&p->services, s->loop, c->framework, found->name);
    p->conf = calloc(1, c->conf_size ? c->conf_size : 1);
    rc = p->conf ? px_choice_parse_of(s->params, found, c->params, p->conf,
                                      &p->set_priority, err)
                 : px_err_nomem(err, "select components");
    if (rc) {
        free_component(p);
        return rc;
    }
    slot->components[slot->n++] = p; /* load_framework has made room */
    return PMIX_SUCCESS;
}

static pmix_status_t load_framework(struct px_selection *s, enum px_framework_id id,
                                    const char *address, struct px_err *err)
{
    const struct px_framework *fw = &px_frameworks[id];
    struct px_slot *slot = &s->slots[id];
    const struct px_found *f;
    size_t rank;

    PX_AUTO(px_choice) c = {0};
    pmix_status_t rc = px_choice_parse(s->params, fw->name, &c, err);
    if (!rc)
        rc = px_choice_check(&c, &s->catalog, id, s->params, err);
    if (rc)
        return rc;
    size_t n = px_catalog_part(&s->catalog, id, &f);
    if (!slot->components) { /* room also for postponed components */
        slot->components = calloc(n + 1, sizeof(struct px_loaded_component *));
        slot->modules = calloc(n + 1, sizeof(*slot->modules));
        slot->tried = calloc(n + 1, sizeof(*slot->tried));
    }
    if (!slot->components || !slot->modules || !slot->tried)
        return px_err_nomem(err, "select components");
    slot->requested = c.names && !c.exclude;
    slot->partial = false;
    for (size_t i = 0; i < n && !rc; i++) {
        if (slot->tried[i])
            continue;
        if (!px_choice_allows(&c, f[i].name, &rank)) {
            px_log(PX_LOG_INFO, "loader",
                   "component %s/%s is left out by %s = \"%.80s\" (from %s)", fw->name,
                   f[i].name, fw->name, c.text, c.where);
            note_unused(s, &f[i], "it is left out by %s = \"%.80s\" (from %s)",
                        fw->name, c.text, c.where);
            continue;
        }
        slot->tried[i] = !px_choice_can_wait(&c, &s->catalog, id, address, f[i].name);
        if (slot->tried[i])
            rc = load_component(s, slot, &f[i], rank, err);
        else
            slot->partial = true;
    }
    if (!rc && !slot->n && !slot->partial && fw->required && c.text)
        return px_err_set(
            err, PMIX_ERR_NOT_FOUND,
            "no component is left for framework %s: %s = \"%.80s\" (from %s)", fw->name,
            fw->name, c.text, c.where);
    return rc;
}

static void unload_closed(struct px_slot *slot)
{
    size_t n = 0;

    for (size_t i = 0; i < slot->n; i++) {
        if (slot->components[i]->is_open)
            slot->components[n++] = slot->components[i];
        else
            free_component(slot->components[i]);
    }
    slot->n = n;
}

/* ---- opening and closing: on the loop -------------------------------------------- */

struct request {
    struct px_selection *s;
    bool chosen[PX_FW_COUNT];
    unsigned roles; /* the process's roles, shown to components */
    struct px_err *err;
};

static PX_LOOP_ONLY void close_component(const struct px_selection *s,
                                         struct px_loaded_component *p)
{
    if (p->is_open) {
        px_trial_step(s->trial_fd, PX_TRIAL_CLOSE);
        p->loaded.component.close(p->self);
    }
    p->is_open = false;
}

/* Opens a component. A requested component must open, but may decline in query: a list
 * may name alternatives. */
static PX_LOOP_ONLY pmix_status_t open_component(const struct px_selection *s,
                                                 const struct px_slot *slot,
                                                 struct px_loaded_component *p,
                                                 struct px_err *err)
{
    const struct px_component *c = &p->loaded.component;
    struct px_query answer = {0};

    px_trial_step(s->trial_fd, PX_TRIAL_OPEN);
    pmix_status_t rc = c->open(&p->services.services, p->conf, &p->self);
    if (rc && slot->requested)
        return px_err_set(err, rc, "component %s/%s cannot be opened (status %d)",
                          c->framework, c->name, rc);
    if (rc) {
        report(s, p->found, false, "component %s/%s cannot be opened (status %d)",
               c->framework, c->name, rc);
        return PMIX_SUCCESS;
    }
    p->is_open = true;
    px_trial_step(s->trial_fd, PX_TRIAL_QUERY);
    rc = c->query(p->self, &answer);
    p->priority = p->set_priority < 0 ? answer.priority : (int)p->set_priority;
    if (rc) {
        answer.reason[sizeof(answer.reason) - 1] = '\0';
        px_log(slot->requested ? PX_LOG_WARN : PX_LOG_INFO, "loader",
               "component %s/%s declines: %s", c->framework, c->name,
               answer.reason[0] ? answer.reason : "no reason given");
        note_unused(s, p->found, "it declines: %s",
                    answer.reason[0] ? answer.reason : "no reason given");
        close_component(s, p);
    }
    return PMIX_SUCCESS;
}

/* Opens and closes the tried component, the last of its slot, in the child. */
static void on_try(struct px_call *call, void *args)
{
    const struct attempt *t = args;
    struct px_loaded_component *p = t->slot->components[t->slot->n - 1];

    px_loop_assert(t->s->loop);
    p->services.services.roles = t->s->next_roles;
    (void)open_component(t->s, t->slot, p, NULL);
    close_component(t->s, p);
    px_call_done(call, PMIX_SUCCESS);
}

static int compare_components(const void *a, const void *b)
{
    const struct px_loaded_component *x = *(struct px_loaded_component *const *)a;
    const struct px_loaded_component *y = *(struct px_loaded_component *const *)b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return strcmp(x->found->name, y->found->name);
}

static PX_LOOP_ONLY pmix_status_t open_slot(struct px_selection *s,
                                            enum px_framework_id id, struct px_err *err)
{
    const struct px_framework *fw = &px_frameworks[id];
    struct px_slot *slot = &s->slots[id];
    pmix_status_t rc = PMIX_SUCCESS;
    char known[200];

    for (size_t i = 0; i < slot->n && !rc; i++) {
        if (!slot->components[i]->is_open)
            rc = open_component(s, slot, slot->components[i], err);
    }
    if (rc)
        return rc;
    qsort(slot->components, slot->n, sizeof(struct px_loaded_component *),
          compare_components);
    slot->n_modules = 0;
    for (size_t i = 0; i < slot->n; i++) {
        struct px_loaded_component *p = slot->components[i];

        if (p->is_open && (fw->many || !slot->n_modules)) {
            slot->modules[slot->n_modules++] = (struct px_module){&p->loaded.component,
                                                                  p->self, p->priority};
            px_log(PX_LOG_DEBUG, "loader", "component %s/%s selected, priority %d",
                   fw->name, p->found->name, p->priority);
        } else {
            close_component(s, p);
        }
    }
    if (!slot->n_modules && !slot->partial && fw->required) {
        px_catalog_list(&s->catalog, id, known, sizeof(known));
        return px_err_set(err, PMIX_ERR_NOT_FOUND,
                          "no component for framework %s can be used, known: %s",
                          fw->name, known);
    }
    slot->in_use = true;
    return PMIX_SUCCESS;
}

/* Sets the roles, also in components that were open before. */
static PX_LOOP_ONLY void set_roles(struct px_selection *s, unsigned roles)
{
    s->roles = roles;
    for (int id = 0; id < PX_FW_COUNT; id++) {
        for (size_t i = 0; i < s->slots[id].n; i++)
            s->slots[id].components[i]->services.services.roles = roles;
    }
}

static PX_LOOP_ONLY void close_chosen(const struct request *r)
{
    for (int id = PX_FW_COUNT; id-- > 0;) {
        struct px_slot *slot = &r->s->slots[id];

        if (!r->chosen[id])
            continue;
        slot->in_use = false;
        slot->n_modules = 0;
        for (size_t i = slot->n; i-- > 0;)
            close_component(r->s, slot->components[i]);
    }
}

static PX_LOOP_ONLY pmix_status_t open_chosen(struct request *r)
{
    pmix_status_t rc = PMIX_SUCCESS;
    unsigned before = r->s->roles;

    set_roles(r->s, r->roles);
    for (int id = 0; id < PX_FW_COUNT && !rc; id++) {
        if (r->chosen[id])
            rc = open_slot(r->s, id, r->err);
    }
    if (rc) {
        close_chosen(r);
        set_roles(r->s, before);
    }
    return rc;
}

static void on_open(struct px_call *call, void *args)
{
    struct request *r = args;

    px_loop_assert(r->s->loop);
    px_call_done(call, open_chosen(r));
}

/* Opens components directly if a callback of the program runs on the loop. */
static pmix_status_t open_on_loop(struct request *r)
{
    if (!px_loop_is_current(r->s->loop))
        return px_call(r->s->loop, on_open, r);
    px_loop_assert(r->s->loop);
    return open_chosen(r);
}

static void on_close(struct px_call *call, void *args)
{
    const struct request *r = args;

    px_loop_assert(r->s->loop);
    close_chosen(r);
    set_roles(r->s, r->roles);
    px_call_done(call, PMIX_SUCCESS);
}

/* ---- selection ------------------------------------------------------------------- */

static void unload_chosen(const struct request *r)
{
    for (int id = PX_FW_COUNT; id-- > 0;) {
        struct px_slot *slot = &r->s->slots[id];

        if (!r->chosen[id])
            continue;
        for (size_t i = slot->n; i-- > 0;)
            free_component(slot->components[i]);
        free(slot->components);
        free(slot->modules);
        free(slot->tried);
        *slot = (struct px_slot){0};
    }
}

pmix_status_t px_selection_open(struct px_selection *s, unsigned roles,
                                const char *address, struct px_err *err)
{
    struct request r = {.s = s, .roles = roles, .err = err};
    pmix_status_t rc = PMIX_SUCCESS;

    s->next_roles = roles;
    for (int id = 0; id < PX_FW_COUNT && !rc; id++) {
        r.chosen[id] = (!s->slots[id].in_use || (s->slots[id].partial && !address)) &&
                       (!px_frameworks[id].deferred || !address) &&
                       (px_frameworks[id].roles & roles);
        if (r.chosen[id])
            rc = load_framework(s, id, address, err);
    }
    if (!rc)
        rc = open_on_loop(&r);
    if (rc) {
        unload_chosen(&r);
        return rc;
    }
    for (int id = 0; id < PX_FW_COUNT; id++)
        unload_closed(&s->slots[id]);
    return PMIX_SUCCESS;
}

void px_selection_close(struct px_selection *s, unsigned roles)
{
    struct request r = {.s = s, .roles = roles};

    for (int id = 0; id < PX_FW_COUNT; id++)
        r.chosen[id] = s->slots[id].in_use && !(px_frameworks[id].roles & roles);
    px_call(s->loop, on_close, &r);
    unload_chosen(&r);
}

static void free_selection(struct px_selection *s)
{
    for (int id = 0; id < PX_FW_COUNT; id++)
        px_strv_free(s->required[id]);
    px_choice_cleanup(&s->report);
    px_catalog_cleanup(&s->catalog);
    free(s);
}

pmix_status_t px_selection_create(struct px_params *params, struct px_loop *loop,
                                  const struct px_base_conf *conf,
                                  struct px_selection **out, struct px_err *err)
{
    struct px_selection *s = calloc(1, sizeof(*s));
    const char *where;

    if (!s)
        return px_err_nomem(err, "select components");
    s->params = params;
    s->loop = loop;
    s->trial_ms = conf->component_probe;
    s->trial_fd = -1;
    pmix_status_t rc = px_choice_of_reports(conf->component_show_load_errors,
                                            &s->report);
    if (!rc)
        rc = px_choice_declare(params);
    for (int id = 0; id < PX_FW_COUNT && !rc; id++)
        rc = px_choice_required(params, id, &s->required[id]);
    if (rc)
        px_err_nomem(err, "select components");
    else
        rc = px_catalog_fill(&s->catalog, conf->component_path, params->home, err);
    if (rc) {
        if (rc == PMIX_ERR_BAD_PARAM &&
            px_params_text(params, "mca_base_component_path", NULL, &where))
            px_err_prefix(err, "%s", where);
        free_selection(s);
        return rc;
    }
    *out = s;
    return PMIX_SUCCESS;
}

void px_selection_destroy(struct px_selection *s)
{
    if (!s)
        return;
    px_selection_close(s, 0);
    free_selection(s);
}

/* ---- parameters of components that are not in use -------------------------------- */

/* True if the component is loaded; its parameters are declared then. */
static bool is_loaded(const struct px_selection *s, const struct px_found *f)
{
    const struct px_slot *slot = &s->slots[f->framework];

    for (size_t i = 0; i < slot->n; i++) {
        if (slot->components[i]->found == f)
            return true;
    }
    return false;
}

/* Declares a component's parameters. Does not load excluded components. */
static pmix_status_t declare_unused(struct px_selection *s, const struct px_found *f)
{
    PX_AUTO(px_choice) c = {0};
    struct px_loaded loaded;
    int64_t priority;

    if (is_loaded(s, f) || !px_params_has(s->params, f->prefix))
        return PMIX_SUCCESS;
    if (px_choice_parse(s->params, px_frameworks[f->framework].name, &c, NULL))
        return PMIX_ERR_NOMEM;
    if ((c.exclude && px_strv_has(c.names, f->name)) || f->broken ||
        px_loader_load(f, &loaded, NULL)) /* failure is not reported: the component is
                                           * not in use */
        return px_params_ignore_prefix(s->params, f->prefix);
    pmix_status_t rc = px_choice_parse_of(s->params, f, loaded.component.params, NULL,
                                          &priority, NULL);
    px_loader_unload(&loaded);
    return rc;
}

pmix_status_t px_selection_declare_unused(struct px_selection *s)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < s->catalog.n && rc != PMIX_ERR_NOMEM; i++)
        rc = declare_unused(s, &s->catalog.v[i]);
    return rc == PMIX_ERR_NOMEM ? rc : PMIX_SUCCESS;
}

/* ---- functions for the process's selection --------------------------------------- */

const struct px_module *px_modules(const char *framework, size_t *n)
{
    enum px_framework_id id = px_framework_find(framework, strlen(framework));
    const struct px_selection *s = px_process.selection;
    const struct px_slot *slot = s && id < PX_FW_COUNT ? &s->slots[id] : NULL;

    *n = slot ? slot->n_modules : 0;
    return slot ? slot->modules : NULL;
}

pmix_status_t px_modules_open_deferred(struct px_err *err)
{
    return px_selection_open(px_process.selection, px_process.roles, NULL, err);
}

char *px_module_names(const char *framework)
{
    PX_AUTO(px_strv) names = NULL;
    size_t n;
    const struct px_module *m = px_modules(framework, &n);

    for (size_t i = 0; i < n; i++)
        if (px_strv_append(&names, m[i].component->name))
            return NULL;
    return px_strv_join(names, ',');
}

const struct px_module *px_module_find(const char *framework, const char *name)
{
    size_t n;
    const struct px_module *m = px_modules(framework, &n);

    for (size_t i = 0; i < n; i++)
        if (strcmp(m[i].component->name, name) == 0)
            return &m[i];
    return NULL;
}

char *const *px_required_components(const char *framework)
{
    enum px_framework_id id = px_framework_find(framework, strlen(framework));
    const struct px_selection *s = px_process.selection;

    return s && id < PX_FW_COUNT ? s->required[id] : NULL;
}

bool px_component_is_required(const char *framework, const char *name)
{
    return px_strv_has(px_required_components(framework), name);
}

static const struct px_found *find(const struct px_selection *s, const char *framework,
                                   const char *name)
{
    enum px_framework_id id = px_framework_find(framework, strlen(framework));

    return s && id < PX_FW_COUNT ? px_catalog_find(&s->catalog, id, name) : NULL;
}

bool px_component_is_tried(const char *framework, const char *name)
{
    const struct px_selection *s = px_process.selection;
    const struct px_found *f = find(s, framework, name);

    return f && is_tried(s, f);
}

const char *px_component_unused(const char *framework, const char *name)
{
    const struct px_found *f = find(px_process.selection, framework, name);

    return !f          ? "the component does not exist"
           : f->unused ? f->unused
                       : "no reason is known";
}
