/* SPDX-License-Identifier: BSD-3-Clause */
/* pnet/sim: a fabric that a file describes. Where a job is launched from, it adds that
 * description, less what the job does not need; on each node the addresses of all
 * processes follow from it and from the maps, so what travels does not grow with them.
 * The example of a component for a fabric. */
#include "components/pnet/jobs.h"

#include "core/base/fd.h"
#include "core/base/list.h"
#include "core/base/str.h"
#include "describe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define FABRIC_KEY "tenon.sim.fabric"

enum { PRIORITY = 20 };

struct conf {
    const char *file;
};

static const struct px_param params[] = {
    PX_PARAM_PATH(struct conf, file, NULL,
                  "Description of the simulated fabric, in JSON; without one there is "
                  "none"),
    PX_PARAM_END,
};

/* Programs may look at an older one until the fabric is deregistered. */
struct costs {
    struct costs *older;
    uint32_t n;
    uint16_t *v;
};

/* A fabric that is registered: all planes, or one. */
struct registration {
    struct px_list link;
    size_t number;
    char plane[SIM_MAX_NAME + 1]; /* "": all */
    struct costs *costs;
    unsigned version; /* of what they tell */
};

struct job {
    struct px_fabric_job is;
    struct sim_fabric *fabric; /* as it was told; NULL: it has none */
};

struct sim {
    const struct px_services *services;
    const char *file;
    struct px_err problem;     /* why there is no fabric */
    struct stat read;          /* the file when it was read */
    struct sim_fabric *fabric; /* NULL: it cannot be used */
    unsigned version;          /* how often it was read */
    struct px_list jobs, registrations;
    size_t next_number;
};

/* ---- the file -------------------------------------------------------------------- */

static pmix_status_t read_text(const char *file, struct stat *st, char **text,
                               struct px_err *err)
{
    PX_AUTOCLOSE int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0 || fstat(fd, st) < 0)
        return px_err_errno(err, "cannot read it");
    if (!S_ISREG(st->st_mode) || st->st_size > SIM_MAX_TEXT_B)
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "expected a regular file of at most %d KiB",
                          SIM_MAX_TEXT_B >> 10);
    *text = malloc((size_t)st->st_size + 1);
    if (!*text)
        return px_err_nomem(err, "read a fabric");
    pmix_status_t rc = px_fd_read_all(fd, *text, (size_t)st->st_size, 0);
    return rc ? px_err_set(err, rc, "cannot read all of it") : PMIX_SUCCESS;
}

static pmix_status_t load(struct sim *s, struct px_err *err)
{
    PX_AUTOFREE char *text = NULL;
    struct sim_fabric *f;
    struct stat st;
    pmix_status_t rc = read_text(s->file, &st, &text, err);

    if (!rc)
        rc = sim_fabric_parse(text, (size_t)st.st_size, &f, err);
    if (rc)
        return rc;
    sim_fabric_free(s->fabric);
    s->fabric = f;
    s->version++;
    s->read = st;
    return PMIX_SUCCESS;
}

static bool has_changed(const struct sim *s)
{
    struct stat now;

    return stat(s->file, &now) < 0 || now.st_ino != s->read.st_ino ||
           now.st_dev != s->read.st_dev || now.st_size != s->read.st_size ||
           now.st_mtim.tv_sec != s->read.st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != s->read.st_mtim.tv_nsec;
}

/* ---- where a job is launched from ------------------------------------------------ */

static pmix_status_t add_fabric(const struct sim *s, const bool *used,
                                px_pnet_add_fn add, void *arg)
{
    PX_AUTOFREE char *text = sim_fabric_text(s->fabric, used);
    const pmix_info_t info = {.key = FABRIC_KEY,
                              .value = {.type = PMIX_STRING, .data.string = text}};

    return text ? add(arg, &info) : PMIX_ERR_NOMEM;
}

/* For libraries that do not decode the maps. */
static pmix_status_t contribute(void *self, const char *nspace PX_UNUSED,
                                const pmix_info_t *info PX_UNUSED, size_t n PX_UNUSED,
                                px_pnet_add_fn add, void *arg)
{
    const struct sim *s = self;

    return s->fabric ? add_fabric(s, NULL, add, arg) : PMIX_SUCCESS;
}

static pmix_status_t gather(void *self, const struct px_pnet_job *job,
                            px_pnet_add_fn add, void *arg)
{
    const struct sim *s = self;
    bool any = false;

    if (!s->fabric)
        return PMIX_SUCCESS;
    PX_AUTOFREE bool *used = calloc(s->fabric->n_groups, sizeof *used);
    if (!used)
        return PMIX_ERR_NOMEM;
    for (uint32_t i = 0; i < job->n_nodes; i++) {
        const struct sim_node node = sim_fabric_find(s->fabric, job->nodes[i]);

        if (!node.group)
            continue;
        used[node.group - s->fabric->groups] = any = true;
    }
    if (job->n_nodes > 0 && !any)
        return PMIX_SUCCESS;
    return add_fabric(s, any ? used : NULL, add, arg);
}

/* ---- on each node ---------------------------------------------------------------- */

static void job_free(struct job *job)
{
    if (!job)
        return;
    px_list_remove(&job->is.link);
    sim_fabric_free(job->fabric);
    free(job);
}

static struct job *find_job(const struct sim *s, const char *nspace)
{
    return px_fabric_job_find(&s->jobs, nspace);
}

static void forget(void *self, const char *nspace)
{
    job_free(find_job(self, nspace));
}

static pmix_status_t apply(void *self, const char *nspace, const pmix_info_t *info,
                           size_t n)
{
    struct sim *s = self;
    struct px_err err = {0};
    const char *text = n == 1 && PMIx_Check_key(info[0].key, FABRIC_KEY)
                           ? px_value_string(&info[0].value)
                           : NULL;
    struct job *job = calloc(1, sizeof *job);
    pmix_status_t rc = job ? PMIX_SUCCESS : PMIX_ERR_NOMEM;

    if (!rc && n > 0)
        rc = text ? sim_fabric_parse(text, strlen(text), &job->fabric, &err)
                  : PMIX_ERR_BAD_PARAM;
    if (rc) {
        free(job);
        if (err.text[0])
            s->services->log(s->services, PX_LOG_ERROR,
                             "cannot use the fabric of job %s: %s", nspace, err.text);
        return rc;
    }
    forget(s, nspace);
    px_fabric_job_add(&s->jobs, &job->is, nspace);
    return PMIX_SUCCESS;
}

/* There are none: values say all. */
static pmix_status_t envars(void *self, const char *nspace,
                            px_pnet_set_fn set PX_UNUSED, void *arg PX_UNUSED)
{
    return find_job(self, nspace) ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

static pmix_status_t values(void *self, const struct px_pnet_job *job,
                            px_pnet_put_fn put, void *arg)
{
    const struct job *known = find_job(self, job->nspace);

    if (!known)
        return PMIX_ERR_NOT_FOUND;
    return known->fabric ? sim_put_values(known->fabric, job, put, arg) : PMIX_SUCCESS;
}

/* ---- inventory ------------------------------------------------------------------- */

static pmix_status_t set_state(struct sim_fabric *f, uint32_t device,
                               pmix_link_state_t state)
{
    if (!f->states)
        f->states = calloc(f->n_devices, sizeof *f->states);
    if (!f->states)
        return PMIX_ERR_NOMEM;
    f->states[device] = state;
    return PMIX_SUCCESS;
}

/* Devices that are only simulated work. */
static pmix_status_t collect_inventory(void *self,
                                       const pmix_info_t *directives PX_UNUSED,
                                       size_t n PX_UNUSED, px_pnet_add_fn add,
                                       void *arg)
{
    struct sim *s = self;
    PX_AUTO(px_infos) out = {0};
    char host[SIM_MAX_NAME + 1] = "";

    if (!s->fabric || gethostname(host, sizeof host) < 0)
        return PMIX_SUCCESS;
    const struct sim_node node = sim_fabric_find(s->fabric, host);
    if (!node.group)
        return PMIX_SUCCESS;
    pmix_status_t rc = px_infos_add(&out, PMIX_HOSTNAME, host, PMIX_STRING);
    for (uint32_t k = 0; !rc && k < node.group->n_nics; k++)
        rc = set_state(s->fabric, sim_device_of(node, k), PMIX_LINK_UP);
    if (!rc)
        rc = sim_add_devices(&out, s->fabric, node);
    for (size_t i = 0; !rc && i < out.n; i++)
        rc = add(arg, &out.v[i]);
    return rc;
}

/* Reads a device's name and state; false if it is none of the node. */
static bool read_device(struct sim_node node, const pmix_info_t *device, uint32_t *nic,
                        pmix_link_state_t *state)
{
    const pmix_info_t *info, *found;
    size_t n;

    if (!PMIx_Check_key(device->key, PMIX_FABRIC_DEVICE) ||
        !px_value_infos(&device->value, &info, &n))
        return false;
    const char *name = px_info_str(info, n, PMIX_FABRIC_DEVICE_NAME);
    found = px_info_find(info, n, PMIX_FABRIC_DEVICE_STATE);
    if (!name || !found || found->value.type != PMIX_LINK_STATE ||
        found->value.data.linkstate > PMIX_LINK_UP)
        return false;
    for (*nic = 0; *nic < node.group->n_nics; ++*nic)
        if (strcmp(node.group->nics[*nic].name, name) == 0)
            break;
    *state = found->value.data.linkstate;
    return *nic < node.group->n_nics;
}

static pmix_status_t deliver_inventory(void *self, const pmix_info_t *info, size_t n,
                                       const pmix_info_t *directives PX_UNUSED,
                                       size_t n_directives PX_UNUSED)
{
    struct sim *s = self;
    const char *host = px_info_str(info, n, PMIX_HOSTNAME);
    const pmix_info_t *devices = px_info_find(info, n, PMIX_FABRIC_DEVICES), *v;
    pmix_link_state_t state;
    uint32_t nic;
    size_t n_devices;
    pmix_status_t rc = PMIX_SUCCESS;

    if (n == 0) /* that node has nothing to tell */
        return PMIX_SUCCESS;
    if (!s->fabric || !host || !devices ||
        !px_value_infos(&devices->value, &v, &n_devices))
        return PMIX_ERR_BAD_PARAM;
    const struct sim_node node = sim_fabric_find(s->fabric, host);
    for (size_t i = 0; !rc && i < n_devices; i++)
        if (!node.group || !read_device(node, &v[i], &nic, &state))
            rc = PMIX_ERR_BAD_PARAM;
    for (size_t i = 0; !rc && i < n_devices; i++)
        if (read_device(node, &v[i], &nic, &state))
            rc = set_state(s->fabric, sim_device_of(node, nic), state);
    return rc;
}

/* ---- fabrics --------------------------------------------------------------------- */

static void registration_free(struct registration *r)
{
    px_list_remove(&r->link);
    while (r->costs) {
        struct costs *costs = r->costs;

        r->costs = costs->older;
        free(costs->v);
        free(costs);
    }
    free(r);
}

/* By its plane; NULL: by its number. */
static struct registration *find_registration(const struct sim *s, const char *plane,
                                              size_t number)
{
    PX_LIST_EACH (&s->registrations, struct registration, r, link)
        if (plane ? strcmp(r->plane, plane) == 0 : r->number == number)
            return r;
    return NULL;
}

/* The number of a plane, UINT32_MAX for all. */
static pmix_status_t find_plane(const struct sim_fabric *f, const char *name,
                                uint32_t *out)
{
    uint32_t i = 0;

    while (name[0] && i < f->n_planes && strcmp(f->planes[i].name, name) != 0)
        i++;
    *out = name[0] ? i : UINT32_MAX;
    return i < f->n_planes ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

/* Of the fabric as it is now. */
static pmix_status_t make_costs(const struct sim *s, struct registration *r,
                                uint32_t plane)
{
    if (r->costs && r->version == s->version)
        return PMIX_SUCCESS;
    struct costs *costs = calloc(1, sizeof *costs);
    pmix_status_t rc = costs ? sim_costs(s->fabric, plane, &costs->v, &costs->n)
                             : PMIX_ERR_NOMEM;
    if (rc) {
        free(costs);
        return rc;
    }
    costs->older = r->costs;
    r->costs = costs;
    r->version = s->version;
    return PMIX_SUCCESS;
}

static pmix_status_t list_devices(px_infos *out, const struct sim_fabric *f,
                                  uint32_t plane)
{
    PX_AUTO(px_infos) devices = {0};
    uint32_t index = 0;
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t g = 0; g < f->n_groups; g++)
        for (uint32_t i = 0; i < f->groups[g].names.count; i++)
            for (uint32_t k = 0; !rc && k < f->groups[g].n_nics; k++)
                if (plane == UINT32_MAX || f->groups[g].nics[k].plane == plane)
                    rc = sim_add_device(
                        &devices, f, (struct sim_node){&f->groups[g], i}, k, index++);
    return rc || !devices.n ? rc
                            : px_infos_add_array(out, PMIX_FABRIC_DEVICES, &devices);
}

static pmix_status_t describe(const struct sim *s, struct registration *r,
                              px_pnet_add_fn add, void *arg)
{
    PX_AUTO(px_infos) out = {0};
    uint32_t plane;
    pmix_status_t rc = find_plane(s->fabric, r->plane, &plane);

    if (!rc)
        rc = make_costs(s, r, plane);
    if (rc)
        return rc;
    const size_t n_devices = r->costs->n;
    rc = px_infos_add(&out, PMIX_FABRIC_INDEX, &r->number, PMIX_SIZE);
    if (!rc)
        rc = sim_add_fabric(&out, s->fabric);
    if (!rc && r->plane[0])
        rc = px_infos_add(&out, PMIX_FABRIC_PLANE, r->plane, PMIX_STRING);
    if (!rc)
        rc = px_infos_add(&out, PMIX_FABRIC_NUM_DEVICES, &n_devices, PMIX_SIZE);
    if (!rc)
        rc = px_infos_add(&out, PMIX_FABRIC_COST_MATRIX, r->costs->v, PMIX_POINTER);
    if (!rc)
        rc = list_devices(&out, s->fabric, plane);
    for (size_t i = 0; !rc && i < out.n; i++)
        rc = add(arg, &out.v[i]);
    return rc;
}

static pmix_status_t register_fabric(void *self, const pmix_info_t *directives,
                                     size_t n, px_pnet_add_fn add, void *arg)
{
    struct sim *s = self;
    const char *name = px_info_str(directives, n, PMIX_FABRIC_IDENTIFIER);
    const char *vendor = px_info_str(directives, n, PMIX_FABRIC_VENDOR);
    const char *plane = px_info_str(directives, n, PMIX_FABRIC_PLANE);

    plane = plane ? plane : "";
    if (!s->fabric || (name && strcmp(name, s->fabric->name) != 0) ||
        (vendor && strcmp(vendor, s->fabric->vendor) != 0) ||
        strlen(plane) > SIM_MAX_NAME)
        return PMIX_ERR_NOT_FOUND;
    struct registration *known = find_registration(s, plane, 0),
                        *r = known ? known : calloc(1, sizeof *r);
    if (!r)
        return PMIX_ERR_NOMEM;
    if (!known) {
        r->number = s->next_number++;
        px_str_copy(r->plane, sizeof r->plane, plane);
        px_list_append(&s->registrations, &r->link);
    }
    pmix_status_t rc = describe(s, r, add, arg);
    if (rc && !known)
        registration_free(r);
    return rc;
}

/* A file that cannot be used now leaves all as it is. */
static pmix_status_t update_fabric(void *self, size_t number, px_pnet_add_fn add,
                                   void *arg)
{
    struct sim *s = self;
    struct registration *r = find_registration(s, NULL, number);
    struct px_err err = {0};
    pmix_status_t rc = r ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;

    if (!rc && has_changed(s))
        rc = load(s, &err);
    if (err.text[0])
        s->services->log(s->services, PX_LOG_ERROR, "cannot use %s: %s", s->file,
                         err.text);
    return rc ? rc : describe(s, r, add, arg);
}

static void deregister_fabric(void *self, size_t number)
{
    struct registration *r = find_registration(self, NULL, number);

    if (r)
        registration_free(r);
}

/* ---- life ------------------------------------------------------------------------ */

static void sim_close(void *self)
{
    struct sim *s = self;

    PX_LIST_EACH (&s->jobs, struct job, job, is.link)
        job_free(job);
    PX_LIST_EACH (&s->registrations, struct registration, r, link)
        registration_free(r);
    sim_fabric_free(s->fabric);
    free(s);
}

static pmix_status_t sim_open(const struct px_services *services, const void *conf,
                              void **self)
{
    const struct conf *c = conf;
    struct sim *s = calloc(1, sizeof *s);

    if (!s)
        return PMIX_ERR_NOMEM;
    s->services = services;
    s->file = c->file;
    px_list_init(&s->jobs);
    px_list_init(&s->registrations);
    if (c->file && load(s, &s->problem) == PMIX_ERR_NOMEM) {
        sim_close(s);
        return PMIX_ERR_NOMEM;
    }
    *self = s;
    return PMIX_SUCCESS;
}

/* A file that is given and cannot be used is told in any case. */
static pmix_status_t sim_query(void *self, struct px_query *answer)
{
    const struct sim *s = self;

    if (!s->file) {
        snprintf(answer->reason, sizeof answer->reason, "pnet_sim_file is not set");
        return PMIX_ERR_NOT_AVAILABLE;
    }
    if (!s->fabric) {
        s->services->log(s->services, PX_LOG_ERROR, "cannot use %s: %s", s->file,
                         s->problem.text);
        snprintf(answer->reason, sizeof answer->reason, "pnet_sim_file cannot be used");
        return PMIX_ERR_NOT_AVAILABLE;
    }
    answer->priority = PRIORITY;
    return PMIX_SUCCESS;
}

static const struct px_pnet_ops ops = {
    .contribute = contribute,
    .apply = apply,
    .envars = envars,
    .forget = forget,
    .flags = PX_PNET_IN_PLACE,
    .gather = gather,
    .values = values,
    .collect_inventory = collect_inventory,
    .deliver_inventory = deliver_inventory,
    .register_fabric = register_fabric,
    .update_fabric = update_fabric,
    .deregister_fabric = deregister_fabric,
};

PX_COMPONENT(pnet, sim) = {
    PX_COMPONENT_HEAD(pnet, PNET, sim),
    .version = "1.0",
    .params = params,
    .conf_size = sizeof(struct conf),
    .open = sim_open,
    .query = sim_query,
    .close = sim_close,
    .ops = &ops,
};
