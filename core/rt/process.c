/* SPDX-License-Identifier: BSD-3-Clause */
/* The one writable global, and what starts and ends it: parameters, loop, components,
 * in this order, and back. */
#include "core/rt/process.h"

#include "core/base/str.h"
#include "core/rt/call.h"
#include "core/config/param.h"
#include "core/plugin/select.h"
#include "core/topo/topo.h"
#include "core/types/type.h"

#include <assert.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

enum { PID_CHANGING = -1 };

struct px_process px_process = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .topology_lock = PTHREAD_MUTEX_INITIALIZER,
    .log_level = PX_LOG_WARN,
};

/* ---- the core's own parameters --------------------------------------------------- */

struct core_conf {
    const char *component_path;
    const char *component_show_load_errors;
    int64_t verbose;
    const char *user_param_file, *param_files, *tune_files; /* read before, by name */
};

static const struct px_param_name levels[] = {
    {"0", PX_LOG_ERROR},   {"error", PX_LOG_ERROR}, {"1", PX_LOG_WARN},
    {"warn", PX_LOG_WARN}, {"2", PX_LOG_INFO},      {"info", PX_LOG_INFO},
    {"3", PX_LOG_DEBUG},   {"debug", PX_LOG_DEBUG}, {NULL, 0},
};

const struct px_param px_mca_base_params[] = {
    PX_PARAM_STRING(
        struct core_conf, component_path, NULL,
        "Folders searched for components, separated by colons; default: pmix/ beside "
        "the library"),
    PX_PARAM_STRING(
        struct core_conf, component_show_load_errors, "none",
        "Components of which to tell why they are not in use, besides those that were "
        "asked for: all, none, a list of <framework>[/<component>], or all but those "
        "after ^"),
    PX_PARAM_ENUM(struct core_conf, verbose, "warn", levels,
                  "Least serious messages to print", .level = 1),
    PX_PARAM_STRING(struct core_conf, user_param_file, NULL,
                    "The user's parameter file, if it is not ~/.pmix/mca-params.conf"),
    PX_PARAM_STRING(struct core_conf, param_files, NULL,
                    "Further parameter files, separated by colons", .level = 1),
    PX_PARAM_STRING(struct core_conf, tune_files, NULL,
                    "Parameter files that are stronger than the environment, separated "
                    "by colons; pmixrun --tune sets it"),
    PX_PARAM_END,
};

/* ---- fork ------------------------------------------------------------------------ */

/* A page that the kernel empties in a forked child, so that "is this still the process that
 * started the machine?" costs no system call. It stays until the process ends: whoever asks
 * may do so at any time. */
static void put_stamp(void)
{
#ifdef MADV_WIPEONFORK
    size_t size = (size_t)sysconf(_SC_PAGESIZE);

    if (!px_process.stamp) {
        void *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (page == MAP_FAILED)
            return;
        if (madvise(page, size, MADV_WIPEONFORK)) {
            munmap(page, size);
            return;
        }
        px_process.stamp = page;
    }
    atomic_store(px_process.stamp, 1);
#endif
}

bool px_process_is_mine(void)
{
    if (px_process.stamp)
        return atomic_load_explicit(px_process.stamp, memory_order_relaxed);
    return atomic_load(&px_process.pid) == getpid();
}

/* In a forked child. The parent's machine has no thread here and may be caught in
 * mid-step, so none of it can be used or freed; it stays reachable, and inherited
 * sockets stay open. */
static void leave_parent_behind(bool lock_is_mine)
{
    struct px_process *left = malloc(sizeof(*left));

    if (left)
        memcpy(left, &px_process, sizeof(*left));
    if (px_process.loop)
        px_loop_abandon(px_process.loop);
    px_process.users = 0;
    memset(px_process.role_users, 0, sizeof(px_process.role_users));
    px_process.roles = 0;
    px_process.guests = 0;
    atomic_store(&px_process.open, false);
    atomic_store(&px_process.posters, 0);
    px_process.loop = NULL;
    px_process.params = NULL;
    px_process.selection = NULL;
    px_process.model = NULL;
    px_process.channel = NULL;
    px_process.model_gate = (struct px_gate){0};
    px_process.notify = NULL;
    px_process.client = NULL;
    px_process.server = NULL;
    px_process.topology = NULL;
    pthread_mutex_init(&px_process.topology_lock, NULL);
    px_process.tool = NULL;
    px_process.parents = left;
    atomic_store(&px_process.init_count, 0);
    atomic_store(&px_process.log_level, PX_LOG_WARN);
    if (!lock_is_mine)
        pthread_mutex_init(&px_process.lock, NULL);
}

/* Not pthread_atfork: its handlers cannot be taken back when the library is unloaded,
 * and would burden every fork of the host. */
static void notice_fork(bool lock_is_mine)
{
    pid_t me = getpid();
    pid_t was = atomic_load(&px_process.pid);

    while (was != me) {
        if (was == PID_CHANGING) {
            sched_yield();
            was = atomic_load(&px_process.pid);
        } else if (atomic_compare_exchange_weak(&px_process.pid, &was, PID_CHANGING)) {
            if (was)
                leave_parent_behind(lock_is_mine);
            put_stamp();
            atomic_store(&px_process.pid, me);
            return;
        }
    }
}

void px_process_lock(void)
{
    notice_fork(false);
    pthread_mutex_lock(&px_process.lock);
}

void px_process_unlock(void)
{
    pthread_mutex_unlock(&px_process.lock);
}

/* ---- start and end --------------------------------------------------------------- */

static void set_host(void)
{
    /* What the launcher calls this node, for tests that simulate several. */
    const char *given = secure_getenv("PMIX_HOSTNAME");

    if (given && *given)
        px_str_copy(px_process.host, sizeof(px_process.host), given);
    else if (gethostname(px_process.host, sizeof(px_process.host)))
        px_process.host[0] = '\0';
    px_process.host[sizeof(px_process.host) - 1] = '\0';
}

/* No more posts from outside. Those under way finish first: they hold the loop. */
static void close_door(void)
{
    atomic_store(&px_process.open, false);
    while (atomic_load(&px_process.posters))
        sched_yield();
}

static void stop_machine(void)
{
    px_selection_destroy(px_process.selection);
    px_process.selection = NULL;
    close_door();
    px_loop_destroy(px_process.loop);
    px_process.loop = NULL;
    px_params_destroy(px_process.params);
    px_process.params = NULL;
    px_topo_drop();
    atomic_store(&px_process.log_level, PX_LOG_WARN);
}

static const char *name_of(enum px_role role)
{
    return role == PX_ROLE_CLIENT   ? "info of PMIx_Init"
           : role == PX_ROLE_SERVER ? "info of PMIx_server_init"
                                    : "info of PMIx_tool_init";
}

static pmix_status_t read_params(enum px_role role, const pmix_info_t *info,
                                 size_t n_info, struct px_err *err)
{
    pmix_status_t rc = px_params_create(info, n_info, name_of(role), &px_process.params,
                                        err);

    return rc ? rc : px_params_check_core(px_process.params, err);
}

/* What it has made on failure, stop_machine removes. */
static pmix_status_t start_machine(enum px_role role, const pmix_info_t *info,
                                   size_t n_info, struct px_err *err)
{
    const bool external = px_info_flag(info, n_info, PMIX_EXTERNAL_PROGRESS);
    struct core_conf conf = {0};

    set_host();
    pmix_status_t rc = read_params(role, info, n_info, err);
    if (rc)
        return rc;
    rc = px_params_parse(px_process.params, "mca_base_", px_mca_base_params, &conf,
                         err);
    if (rc)
        return rc;
    atomic_store(&px_process.log_level, (int)conf.verbose);
    rc = px_loop_create(external, &px_process.loop);
    if (rc)
        return px_err_set(
            err, rc, "cannot start the event loop: out of memory, threads or files");
    atomic_store(&px_process.open, true);
    rc = px_selection_create(px_process.params, px_process.loop, conf.component_path,
                             conf.component_show_load_errors, &px_process.selection,
                             err);
    const char *where;
    if (rc == PMIX_ERR_BAD_PARAM &&
        px_params_text(px_process.params, "mca_base_component_path", NULL, &where))
        px_err_prefix(err, "%s", where);
    return rc;
}

static unsigned *users_of(enum px_role role)
{
    return &px_process.role_users[role == PX_ROLE_CLIENT   ? 0
                                  : role == PX_ROLE_SERVER ? 1
                                                           : 2];
}

/* They were parsed when the first role began. */
static pmix_status_t refuse_late_params(enum px_role role, const pmix_info_t *info,
                                        size_t n_info, struct px_err *err)
{
    for (size_t i = 0; i < n_info; i++) {
        if (px_str_starts(info[i].key, "PMIX_MCA_"))
            return px_err_set(err, PMIX_ERR_BAD_PARAM,
                              "%s: %.64s: the library runs already, and parameters are "
                              "read when it starts",
                              name_of(role), info[i].key);
    }
    return PMIX_SUCCESS;
}

/* Tells what is wrong with the parameters, also of components that are not used. */
static pmix_status_t settle(struct px_err *err)
{
    if (px_process.selection && px_selection_declare_unused(px_process.selection))
        return px_err_nomem(err, "read parameters");
    return px_params_report(px_process.params, err);
}

pmix_status_t px_process_acquire(enum px_role role, const pmix_info_t *info,
                                 size_t n_info, struct px_err *err)
{
    pmix_status_t rc = PMIX_SUCCESS;

    notice_fork(true);
    if (px_loop_is_current(px_process.loop))
        return px_err_set(err, PMIX_ERR_WOULD_BLOCK,
                          "not possible from within a callback");
    if (!px_process.users)
        rc = start_machine(role, info, n_info, err);
    else
        rc = refuse_late_params(role, info, n_info, err);
    if (!rc)
        rc = px_selection_open_for(
            px_process.selection, px_process.roles | role,
            role == PX_ROLE_CLIENT ? px_process.server_address : NULL, err);
    if (px_process.params && rc != PMIX_ERR_NOMEM) {
        pmix_status_t settled = settle(rc ? NULL : err);
        if (!rc && settled) {
            px_selection_close(px_process.selection, px_process.roles);
            rc = settled;
        }
    }
    if (rc) {
        if (!px_process.users)
            stop_machine();
        return rc;
    }
    px_topo_given(info, n_info);
    px_process.users++;
    px_process.roles |= role;
    (*users_of(role))++;
    return PMIX_SUCCESS;
}

void px_process_release(enum px_role role)
{
    unsigned *of_role = users_of(role);

    assert(*of_role > 0);
    if (--*of_role == 0)
        px_process.roles &= ~(unsigned)role;
    if (--px_process.users == 0)
        stop_machine();
    else
        px_selection_close(px_process.selection, px_process.roles);
}

/* ---- from outside ---------------------------------------------------------------- */

bool px_process_on_loop(void)
{
    return px_loop_is_current(px_process.loop) && px_process_is_mine();
}

bool px_process_post(struct px_msg *msg)
{
    bool open;

    atomic_fetch_add(&px_process.posters, 1);
    open = atomic_load(&px_process.open);
    if (open)
        px_post(px_process.loop, msg);
    atomic_fetch_sub(&px_process.posters, 1);
    return open;
}

static struct px_loop *hold_loop(void)
{
    struct px_loop *loop = NULL;

    atomic_fetch_add(&px_process.posters, 1);
    if (atomic_load(&px_process.open))
        loop = px_process.loop;
    if (loop)
        px_loop_hold(loop);
    atomic_fetch_sub(&px_process.posters, 1);
    return loop;
}

pmix_status_t px_process_call(px_call_fn fn, void *args)
{
    struct px_loop *loop = hold_loop();
    pmix_status_t rc;

    if (!loop)
        return PMIX_ERR_INIT;
    rc = px_call(loop, fn, args);
    px_loop_let_go(loop);
    return rc;
}

/* ---- components ------------------------------------------------------------------ */

const struct px_module *px_modules(const char *framework, size_t *n)
{
    *n = 0;
    return px_process.selection
               ? px_selection_modules(px_process.selection, framework, n)
               : NULL;
}

pmix_status_t px_modules_open_deferred(struct px_err *err)
{
    return px_selection_open(px_process.selection, px_process.roles, err);
}

const struct px_module *px_module_find(const char *framework, const char *name)
{
    size_t n;
    const struct px_module *m = px_modules(framework, &n);

    for (size_t i = 0; i < n; i++) {
        if (strcmp(m[i].component->name, name) == 0)
            return &m[i];
    }
    return NULL;
}
