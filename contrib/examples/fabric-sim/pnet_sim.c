/* SPDX-License-Identifier: BSD-3-Clause */
/* pnet/sim: a fabric read from a file. The launching node contributes a shortened
 * description. Each node computes the addresses of all processes from the description
 * and the maps, so the contribution does not grow with the number of processes. */
#include <tenon/pnet.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "describe.h"
#include "info.h"

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

/* A matrix of costs. Programs may read older ones until the fabric is deregistered. */
struct costs {
    struct costs *older;
    uint32_t n;
    uint16_t *v;
};

/* A registered fabric, or a registered plane of the fabric. */
struct registration {
    struct registration *next;
    size_t number;
    char plane[SIM_MAX_NAME + 1]; /* "": all planes */
    struct costs *costs;
    unsigned version; /* of the fabric that the costs are for */
};

struct job {
    struct job *next;
    pmix_nspace_t nspace;
    struct sim_fabric *fabric; /* as contributed; NULL: no contribution */
};

struct sim {
    const struct px_services *services;
    const char *file;
    struct sim_error problem;  /* reason why the fabric is missing */
    struct stat read;          /* state of the file when it was read */
    struct sim_fabric *fabric; /* NULL: the file cannot be used */
    unsigned version;          /* count of successful reads */
    struct job *jobs;
    struct registration *registrations;
    size_t next_number;
};

/* ---- the file -------------------------------------------------------------------- */

static pmix_status_t fail_errno(struct sim_error *error)
{
    return sim_fail(error, errno == ENOENT ? PMIX_ERR_NOT_FOUND : PMIX_ERROR, "%s",
                    strerror(errno));
}

/* Reads a regular file of at most SIM_MAX_TEXT_B bytes. *text is malloc'd. */
static pmix_status_t read_open(int fd, struct stat *st, char **text,
                               struct sim_error *error)
{
    size_t done = 0;
    ssize_t n = 1;

    if (fstat(fd, st) < 0)
        return fail_errno(error);
    if (!S_ISREG(st->st_mode) || st->st_size > SIM_MAX_TEXT_B)
        return sim_fail(error, PMIX_ERR_BAD_PARAM,
                        "expected a regular file of at most %d KiB",
                        SIM_MAX_TEXT_B >> 10);
    const size_t size = (size_t)st->st_size;
    *text = malloc(size + 1);
    if (!*text)
        return sim_no_memory(error);
    for (; n > 0 && done < size; done += (size_t)n)
        n = read(fd, *text + done, size - done);
    if (n > 0)
        return PMIX_SUCCESS;
    free(*text);
    return n < 0 ? fail_errno(error)
                 : sim_fail(error, PMIX_ERROR, "the file became shorter");
}

static pmix_status_t load(struct sim *s, struct sim_error *error)
{
    const int fd = open(s->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct sim_fabric *f = NULL;
    char *text = NULL;
    struct stat st;

    if (fd < 0)
        return fail_errno(error);
    pmix_status_t rc = read_open(fd, &st, &text, error);
    close(fd);
    if (rc)
        return rc;
    rc = sim_fabric_parse(text, (size_t)st.st_size, &f, error);
    free(text);
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

/* ---- the launching node ---------------------------------------------------------- */

static pmix_status_t add_text(const struct sim *s, const bool *used, px_pnet_add_fn add,
                              void *arg)
{
    char *text = sim_fabric_text(s->fabric, used);

    if (!text)
        return PMIX_ERR_NOMEM;
    const pmix_info_t info = sim_info_text(FABRIC_KEY, text);
    const pmix_status_t rc = add(arg, &info);
    free(text);
    return rc;
}

/* Serves libraries that do not decode the maps. */
static pmix_status_t contribute(void *self, const char *nspace, const pmix_info_t *info,
                                size_t n, px_pnet_add_fn add, void *arg)
{
    const struct sim *s = self;

    (void)nspace, (void)info, (void)n;
    return s->fabric ? add_text(s, NULL, add, arg) : PMIX_SUCCESS;
}

static pmix_status_t gather(void *self, const struct px_pnet_job *job,
                            px_pnet_add_fn add, void *arg)
{
    const struct sim *s = self;
    bool any = false;

    if (!s->fabric)
        return PMIX_SUCCESS;
    bool *used = calloc(s->fabric->n_groups, sizeof(*used));
    if (!used)
        return PMIX_ERR_NOMEM;
    for (uint32_t i = 0; i < job->n_nodes; i++) {
        const struct sim_node node = sim_fabric_find(s->fabric, job->nodes[i]);

        if (!node.group)
            continue;
        used[node.group - s->fabric->groups] = any = true;
    }
    pmix_status_t rc = PMIX_SUCCESS;
    if (any || job->n_nodes == 0)
        rc = add_text(s, any ? used : NULL, add, arg);
    free(used);
    return rc;
}

/* ---- each node ------------------------------------------------------------------- */

/* Returns the place of the job in the list, or the end of the list. */
static struct job **find_job(struct sim *s, const char *nspace)
{
    struct job **at = &s->jobs;

    while (*at && strcmp((*at)->nspace, nspace) != 0)
        at = &(*at)->next;
    return at;
}

static void forget(void *self, const char *nspace)
{
    struct job **at = find_job(self, nspace), *job = *at;

    if (!job)
        return;
    *at = job->next;
    sim_fabric_free(job->fabric);
    free(job);
}

static pmix_status_t apply(void *self, const char *nspace, const pmix_info_t *info,
                           size_t n)
{
    struct sim *s = self;
    struct sim_error error = {0};
    const char *text = n == 1 ? sim_info_find_text(info, n, FABRIC_KEY) : NULL;
    struct job *job = calloc(1, sizeof(*job));
    pmix_status_t rc = job ? PMIX_SUCCESS : PMIX_ERR_NOMEM;

    if (!rc && n > 0)
        rc = text ? sim_fabric_parse(text, strlen(text), &job->fabric, &error)
                  : PMIX_ERR_BAD_PARAM;
    if (rc) {
        free(job);
        if (error.text[0])
            s->services->log(s->services, PX_LOG_ERROR,
                             "cannot use the fabric of job %s: %s", nspace, error.text);
        return rc;
    }
    forget(s, nspace);
    PMIX_LOAD_NSPACE(job->nspace, nspace);
    job->next = s->jobs;
    s->jobs = job;
    return PMIX_SUCCESS;
}

/* Sets no variable: processes find all values by PMIx_Get. */
static pmix_status_t envars(void *self, const char *nspace, px_pnet_set_fn set,
                            void *arg)
{
    (void)set, (void)arg;
    return *find_job(self, nspace) ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

static pmix_status_t values(void *self, const struct px_pnet_job *job,
                            px_pnet_put_fn put, void *arg)
{
    const struct job *known = *find_job(self, job->nspace);

    if (!known)
        return PMIX_ERR_NOT_FOUND;
    return known->fabric ? sim_put_values(known->fabric, job, put, arg) : PMIX_SUCCESS;
}

/* ---- inventory ------------------------------------------------------------------- */

static pmix_status_t set_state(struct sim_fabric *f, uint32_t device,
                               pmix_link_state_t state)
{
    if (!f->states)
        f->states = calloc(f->n_devices, sizeof(*f->states));
    if (!f->states)
        return PMIX_ERR_NOMEM;
    f->states[device] = state;
    return PMIX_SUCCESS;
}

/* Reports all devices of this node as up: a simulated device never fails. */
static pmix_status_t collect_inventory(void *self, const pmix_info_t *directives,
                                       size_t n, px_pnet_add_fn add, void *arg)
{
    struct sim *s = self;
    char host[SIM_MAX_NAME + 1] = "";

    (void)directives, (void)n;
    if (!s->fabric || gethostname(host, sizeof(host)) < 0)
        return PMIX_SUCCESS;
    const struct sim_node node = sim_fabric_find(s->fabric, host);
    if (!node.group)
        return PMIX_SUCCESS;
    const pmix_info_t info = sim_info_text(PMIX_HOSTNAME, host);
    pmix_status_t rc = add(arg, &info);
    for (uint32_t k = 0; !rc && k < node.group->n_nics; k++)
        rc = set_state(s->fabric, sim_device_of(node, k), PMIX_LINK_UP);
    return rc ? rc : sim_add_node_devices(s->fabric, node, add, arg);
}

/* Reads a device's number and state; false if the node has no such device. */
static bool read_device(struct sim_node node, const pmix_info_t *device, uint32_t *nic,
                        pmix_link_state_t *state)
{
    const pmix_info_t *info, *found;
    size_t n;

    if (!PMIX_CHECK_KEY(device, PMIX_FABRIC_DEVICE) ||
        !sim_info_list(&device->value, &info, &n))
        return false;
    const char *name = sim_info_find_text(info, n, PMIX_FABRIC_DEVICE_NAME);
    found = sim_info_find(info, n, PMIX_FABRIC_DEVICE_STATE);
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
                                       const pmix_info_t *directives,
                                       size_t n_directives)
{
    struct sim *s = self;
    const char *host = sim_info_find_text(info, n, PMIX_HOSTNAME);
    const pmix_info_t *devices = sim_info_find(info, n, PMIX_FABRIC_DEVICES), *v;
    pmix_link_state_t state;
    uint32_t nic;
    size_t n_devices;
    pmix_status_t rc = PMIX_SUCCESS;

    (void)directives, (void)n_directives;
    if (n == 0) /* a node without devices */
        return PMIX_SUCCESS;
    if (!s->fabric || !host || !devices ||
        !sim_info_list(&devices->value, &v, &n_devices))
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

/* Frees the registration at this place of the list. */
static void remove_registration(struct registration **at)
{
    struct registration *r = *at;

    *at = r->next;
    while (r->costs) {
        struct costs *costs = r->costs;

        r->costs = costs->older;
        free(costs->v);
        free(costs);
    }
    free(r);
}

/* Returns the place of the plane's registration in the list, or the end of the list.
 * plane NULL: finds by number. */
static struct registration **find_registration(struct sim *s, const char *plane,
                                               size_t number)
{
    struct registration **at = &s->registrations;

    while (*at && (plane ? strcmp((*at)->plane, plane) != 0 : (*at)->number != number))
        at = &(*at)->next;
    return at;
}

/* Finds the number of a plane. "": UINT32_MAX, all planes. */
static pmix_status_t find_plane(const struct sim_fabric *f, const char *name,
                                uint32_t *out)
{
    uint32_t i = 0;

    while (name[0] && i < f->n_planes && strcmp(f->planes[i].name, name) != 0)
        i++;
    *out = name[0] ? i : UINT32_MAX;
    return i < f->n_planes ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

/* Computes the costs anew if the fabric was read since. */
static pmix_status_t make_costs(const struct sim *s, struct registration *r,
                                uint32_t plane)
{
    if (r->costs && r->version == s->version)
        return PMIX_SUCCESS;
    struct costs *costs = calloc(1, sizeof(*costs));
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

static pmix_status_t describe(const struct sim *s, struct registration *r,
                              px_pnet_add_fn add, void *arg)
{
    uint32_t plane;
    pmix_status_t rc = find_plane(s->fabric, r->plane, &plane);

    if (!rc)
        rc = make_costs(s, r, plane);
    if (rc)
        return rc;
    const pmix_info_t infos[] = {
        sim_info_size(PMIX_FABRIC_INDEX, r->number),
        sim_info_size(PMIX_FABRIC_NUM_DEVICES, r->costs->n),
        sim_info(PMIX_FABRIC_COST_MATRIX,
                 (pmix_value_t){.type = PMIX_POINTER, .data.ptr = r->costs->v}),
        sim_info_text(PMIX_FABRIC_PLANE, r->plane),
    };
    rc = sim_add_all(infos, r->plane[0] ? 4 : 3, add, arg);
    if (!rc)
        rc = sim_add_fabric(s->fabric, add, arg);
    return rc ? rc : sim_add_plane_devices(s->fabric, plane, r->costs->n, add, arg);
}

static pmix_status_t register_fabric(void *self, const pmix_info_t *directives,
                                     size_t n, px_pnet_add_fn add, void *arg)
{
    struct sim *s = self;
    const char *name = sim_info_find_text(directives, n, PMIX_FABRIC_IDENTIFIER);
    const char *vendor = sim_info_find_text(directives, n, PMIX_FABRIC_VENDOR);
    const char *plane = sim_info_find_text(directives, n, PMIX_FABRIC_PLANE);

    plane = plane ? plane : "";
    if (!s->fabric || (name && strcmp(name, s->fabric->name) != 0) ||
        (vendor && strcmp(vendor, s->fabric->vendor) != 0) ||
        strlen(plane) > SIM_MAX_NAME)
        return PMIX_ERR_NOT_FOUND;
    struct registration **at = find_registration(s, plane, 0);
    const bool is_known = *at != NULL;
    if (!is_known) {
        *at = calloc(1, sizeof(**at));
        if (!*at)
            return PMIX_ERR_NOMEM;
        (*at)->number = s->next_number++;
        snprintf((*at)->plane, sizeof((*at)->plane), "%s", plane);
    }
    pmix_status_t rc = describe(s, *at, add, arg);
    if (rc && !is_known)
        remove_registration(at);
    return rc;
}

/* Changes nothing if the file cannot be used now. */
static pmix_status_t update_fabric(void *self, size_t number, px_pnet_add_fn add,
                                   void *arg)
{
    struct sim *s = self;
    struct registration *r = *find_registration(s, NULL, number);
    struct sim_error error = {0};
    pmix_status_t rc = r ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;

    if (!rc && has_changed(s))
        rc = load(s, &error);
    if (error.text[0])
        s->services->log(s->services, PX_LOG_ERROR, "cannot use %s: %s", s->file,
                         error.text);
    return rc ? rc : describe(s, r, add, arg);
}

static void deregister_fabric(void *self, size_t number)
{
    struct registration **at = find_registration(self, NULL, number);

    if (*at)
        remove_registration(at);
}

/* ---- life ------------------------------------------------------------------------ */

static void sim_close(void *self)
{
    struct sim *s = self;

    while (s->jobs)
        forget(s, s->jobs->nspace);
    while (s->registrations)
        remove_registration(&s->registrations);
    sim_fabric_free(s->fabric);
    free(s);
}

static pmix_status_t sim_open(const struct px_services *services, const void *conf,
                              void **self)
{
    const struct conf *c = conf;
    struct sim *s = calloc(1, sizeof(*s));

    if (!s)
        return PMIX_ERR_NOMEM;
    s->services = services;
    s->file = c->file;
    if (c->file && load(s, &s->problem) == PMIX_ERR_NOMEM) {
        sim_close(s);
        return PMIX_ERR_NOMEM;
    }
    *self = s;
    return PMIX_SUCCESS;
}

/* Logs an error for a file that is given and cannot be used. */
static pmix_status_t sim_query(void *self, struct px_query *answer)
{
    const struct sim *s = self;

    if (!s->file) {
        snprintf(answer->reason, sizeof(answer->reason), "pnet_sim_file is not set");
        return PMIX_ERR_NOT_AVAILABLE;
    }
    if (!s->fabric) {
        s->services->log(s->services, PX_LOG_ERROR, "cannot use %s: %s", s->file,
                         s->problem.text);
        snprintf(answer->reason, sizeof(answer->reason),
                 "pnet_sim_file cannot be used");
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
