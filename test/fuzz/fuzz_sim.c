/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as the description of a fabric, from a file and with a launch. */
#include "contrib/examples/fabric-sim/fabric.h"
#include "core/types/type.h"
#include "fuzz.h"
#include "tenon/pnet.h"

extern const struct px_component px_pnet_sim_component;

enum { FEW = 64 }; /* devices whose costs are looked at */

static void on_log(const struct px_services *services PX_UNUSED,
                   enum px_log_level level PX_UNUSED, const char *fmt PX_UNUSED, ...)
{
}

static const struct px_services services = {.size = sizeof(services), .log = on_log};

static pmix_status_t on_put(void *arg, pmix_rank_t rank PX_UNUSED,
                            const pmix_info_t *info)
{
    px_infos copies = {0};

    FUZZ_MUST(info->key[0] && !px_infos_add_copy(&copies, info, 1));
    px_infos_cleanup(&copies);
    ++*(unsigned *)arg;
    return PMIX_SUCCESS;
}

/* Launches a job as a node's server does, with four processes on three nodes. */
static void launch(const char *text, const struct sim_fabric *f)
{
    const struct px_pnet_ops *ops = px_pnet_sim_component.ops;
    const struct px_pnet_job job = {
        .size = sizeof(job),
        .nspace = "job",
        .n_nodes = 3,
        .n_procs = 4,
        .nodes = (const char *const[]){"n0", "n1", "a"},
        .node_of = (const uint32_t[]){0, 1, 2, UINT32_MAX},
        .local_of = (const uint32_t[]){0, 0, 0, UINT32_MAX},
    };
    pmix_info_t info = {.key = "tenon.sim.fabric",
                        .value = {.type = PMIX_STRING, .data.string = (char *)text}};
    struct {
        const char *file;
    } conf = {0};
    unsigned n = 0;
    void *self;

    FUZZ_MUST(!px_pnet_sim_component.open(&services, &conf, &self));
    FUZZ_MUST(!ops->apply(self, "job", &info, 1) == !!f);
    FUZZ_MUST(!ops->values(self, &job, on_put, &n) == !!f);
    FUZZ_MUST(!f == !n);
    px_pnet_sim_component.close(self);
}

/* Checks that the shortened description for a job is valid, and does not get shorter again. */
static void reduce(const struct sim_fabric *f)
{
    char *text = sim_fabric_text(f, NULL), *again;
    struct sim_fabric *less;
    struct sim_error error = {0};

    FUZZ_MUST(text);
    FUZZ_MUST(!sim_fabric_parse(text, strlen(text), &less, &error));
    again = sim_fabric_text(less, NULL);
    FUZZ_MUST(again && strcmp(text, again) == 0 && less->n_devices == f->n_devices);
    sim_fabric_free(less);
    free(text);
    free(again);
}

static void cost(const struct sim_fabric *f)
{
    uint16_t *costs;
    uint32_t n;

    FUZZ_MUST(!sim_costs(f, UINT32_MAX, &costs, &n) && n == f->n_devices);
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b <= a; b++)
            FUZZ_MUST(costs[a * n + b] == costs[b * n + a] &&
                      !costs[a * n + b] == (a == b));
    free(costs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sim_fabric *f = NULL;
    struct sim_error error = {0};
    char *text = fuzz_text(data, size);

    size = strlen(text);
    if (sim_fabric_parse(text, size, &f, &error))
        FUZZ_MUST(!f && error.text[0]);
    launch(text, f);
    if (f) {
        reduce(f);
        if (f->n_devices <= FEW)
            cost(f);
    }
    sim_fabric_free(f);
    free(text);
    return 0;
}

bool fuzz_seed(unsigned i, px_buf *out)
{
    static const char *const texts[] = {
        "{\"name\":\"f\",\"planes\":[{\"name\":\"p\"}],\"nodes\":[{\"names\":\"n[0-1]\","
        "\"nics\":[{\"name\":\"s0\",\"plane\":\"p\"}]}]}",
        "{\"name\":\"f\",\"vendor\":\"v\",\"shape\":[2,3],\"planes\":[{\"name\":\"p\","
        "\"speed\":10,\"mtu\":9},{\"name\":\"q\"}],\"switches\":[{\"names\":\"l[0-1]\","
        "\"links\":[{\"to\":\"s\",\"speed\":5}]},{\"names\":\"s\"}],\"nodes\":[{\"names\":"
        "\"n[00-03,5]x\",\"nics\":[{\"name\":\"s0\",\"plane\":\"p\",\"switch\":\"l[0-1]\"},"
        "{\"name\":\"s1\",\"plane\":\"q\",\"speed\":7}]},{\"names\":\"a\",\"first\":9,"
        "\"nics\":[{\"name\":\"s0\",\"plane\":\"q\",\"at\":[1,2]}]}]}",
        "{\"name\":1}",
    };

    return fuzz_seed_text(texts, sizeof(texts) / sizeof(texts[0]), i, out);
}
