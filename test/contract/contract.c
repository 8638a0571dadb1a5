/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads the component under test, and the rules for every component. */
#include "contract.h"

#include "alloc_fail.h"
#include "core/base/str.h"
#include "core/plugin/loader.h"
#include "core/config/param_impl.h"
#include "process.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

enum {
    MAX_PRIORITY = 1000,
    N_LIVES = 100,
    SETTLED_MS = 20,
    MAX_SKIPPED = 80,
};

struct contract contract;
static struct px_loaded loaded; /* holds contract.component */

static struct {
    struct px_found found;
    char **settings; /* NAME=VALUE, up to NULL */
    char *skipped;   /* pipe from the process of a rule to the reporting process */
} wanted;

/* ---- loading --------------------------------------------------------------------- */

const char *contract_begin(const char *file, char **settings)
{
    const char *slash = strrchr(file, '/');
    const char *base = slash ? slash + 1 : file;
    const size_t prefix = strlen("pmix_mca_tenon_");
    size_t len = strlen(base);
    const char *bar = len > prefix ? strchr(base + prefix, '_') : NULL;

    if (!px_str_starts(base, "pmix_mca_tenon_") || !bar || len < 4 ||
        strcmp(base + len - 3, ".so") != 0 || bar + 1 >= base + len - 3)
        return "is not named pmix_mca_tenon_<framework>_<name>.so";
    wanted.found.framework = px_framework_find(base + prefix,
                                               (size_t)(bar - base) - prefix);
    if (wanted.found.framework == PX_FW_COUNT)
        return "is of no framework that is known";
    wanted.found.name = px_strf("%.*s", (int)(base + len - 3 - (bar + 1)), bar + 1);
    wanted.found.file = realpath(file, NULL);
    wanted.settings = settings;
    wanted.skipped = mmap(NULL, MAX_SKIPPED, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!wanted.found.file)
        return strerror(errno);
    return wanted.found.name && wanted.skipped != MAP_FAILED ? NULL : "out of memory";
}

void contract_end(void)
{
    free(wanted.found.name);
    free(wanted.found.file);
    munmap(wanted.skipped, MAX_SKIPPED);
}

enum px_framework_id contract_framework(void)
{
    return wanted.found.framework;
}

const char *contract_name(void)
{
    return wanted.found.name;
}

const char *contract_skipped(void)
{
    return wanted.skipped;
}

void contract_skip(const char *what)
{
    px_str_copy(wanted.skipped, MAX_SKIPPED, what);
}

static char *symbol_name(void)
{
    return px_strf("px_%s_%s_component", px_frameworks[wanted.found.framework].name,
                   wanted.found.name);
}

/* Loads the component as the core does; converts an older descriptor to the present
 * layout. */
static void load(void)
{
    struct px_err err = {0};
    PX_AUTOFREE char *symbol = symbol_name();
    void *handle = dlopen(wanted.found.file, RTLD_NOW | RTLD_LOCAL);

    if (!handle)
        ck_abort_msg("%s", dlerror());
    contract.built = dlsym(handle, symbol);
    if (!contract.built)
        ck_abort_msg("has no symbol %s", symbol);
    loaded = (struct px_loaded){0};
    if (px_descriptor_take(&wanted.found, contract.built, &loaded, &err))
        ck_abort_msg("%s", err.text);
    contract.component = &loaded.component;
}

static const struct px_param *find_param(const char *name)
{
    const struct px_param *p = contract.component->params;

    while (p && p->kind != PX_PARAM_KIND_END && strcmp(p->name, name) != 0)
        p++;
    return p && p->kind != PX_PARAM_KIND_END ? p : NULL;
}

bool contract_has_param(const char *name)
{
    return find_param(name) != NULL;
}

static void set_param(const char *name, const char *value)
{
    const struct px_param *p = find_param(name);
    size_t at = 0;

    if (!p)
        ck_abort_msg("%s is not a parameter", name);
    ck_assert_msg(px_param_from_text(p, value, (char *)contract.conf + p->offset),
                  "%s does not take \"%s\"", name, value);
    const char *why = p->check ? p->check(value, &at) : NULL;
    ck_assert_msg(!why, "%s does not take \"%s\": %s, at byte %zu", name, value, why,
                  at);
}

/* Fills the configuration as the core does: zeros, then defaults, then the settings. */
static void fill_conf(void)
{
    const struct px_param *p = contract.component->params;

    memset(contract.conf, 0, contract.component->conf_size);
    for (; p && p->kind != PX_PARAM_KIND_END; p++) {
        if (p->def)
            set_param(p->name, p->def);
    }
    for (char **setting = wanted.settings; *setting; setting++) {
        PX_AUTOFREE char *name = strdup(*setting);
        char *value = strchr(name, '=');

        ck_assert_ptr_nonnull(value);
        *value = '\0';
        set_param(name,
                  *setting + (value + 1 -
                              name)); /* the parameter may keep a pointer to the text */
    }
}

static pmix_status_t open_one(void **self)
{
    return contract.component->open(&contract.host.host, contract.conf, self);
}

pmix_status_t contract_open(void)
{
    pmix_status_t rc = open_one(&contract.self);

    contract.is_open = rc == PMIX_SUCCESS;
    return rc;
}

void contract_close(void)
{
    if (contract.is_open)
        contract.component->close(contract.self);
    contract.is_open = false;
}

pmix_status_t contract_reopen(const char *name, const char *value)
{
    contract_close();
    set_param(name, value);
    return contract_open();
}

void contract_setup(void)
{
    load();
    contract.dir = px_test_dir();
    contract.conf = malloc(contract.component->conf_size + 1);
    fake_host_init(&contract.host);
    fill_conf();
    ok(contract_open());
}

void contract_teardown(void)
{
    contract_close();
    fake_host_fini(&contract.host);
    free(contract.conf);
    px_descriptor_release(&loaded);
}

/* ---- rules for every component --------------------------------------------------- */

/* Runs before the component is open; if it fails, no other rule runs. */
PX_TEST(loads_and_fits_this_library)
{
    load();
    px_descriptor_release(&loaded);
}

/* Symbols that begin with two underscores belong to compilers and sanitizers. */
static bool is_exported(const ElfW(Sym) * sym, const char *name)
{
    unsigned char bind = sym->st_info >> 4;
    unsigned char visibility = sym->st_other & 3;

    return sym->st_shndx != SHN_UNDEF && (bind == STB_GLOBAL || bind == STB_WEAK) &&
           (visibility == STV_DEFAULT || visibility == STV_PROTECTED) && *name &&
           strncmp(name, "__", 2) != 0;
}

static const ElfW(Shdr) * dynamic_symbols(const ElfW(Ehdr) * elf)
{
    const ElfW(Shdr) *sections = (const void *)((const char *)elf + elf->e_shoff);

    for (size_t i = 0; i < elf->e_shnum; i++) {
        if (sections[i].sh_type == SHT_DYNSYM)
            return &sections[i];
    }
    ck_abort_msg("no dynamic symbols");
    return NULL;
}

PX_TEST(exports_its_descriptor_and_nothing_else)
{
    size_t size;
    size_t n = 0;
    PX_AUTOFREE char *symbol = symbol_name();
    PX_AUTOFREE char *file = process_read_file(wanted.found.file, &size);
    const ElfW(Ehdr) *elf = (const void *)file;
    const ElfW(Shdr) *table = dynamic_symbols(elf);
    const ElfW(Shdr) *sections = (const void *)(file + elf->e_shoff);
    const char *names = file + sections[table->sh_link].sh_offset;
    const ElfW(Sym) *sym = (const void *)(file + table->sh_offset);

    for (size_t i = 0; i < table->sh_size / sizeof(*sym); i++) {
        if (!is_exported(&sym[i], names + sym[i].st_name))
            continue;
        ck_assert_str_eq(names + sym[i].st_name, symbol);
        n++;
    }
    ck_assert_uint_eq(n, 1);
}

PX_TEST(descriptor_is_complete)
{
    const struct px_component *c = contract.built;

    ck_assert_msg(c->version && *c->version, "has no version");
    ck_assert_msg(c->query, "lacks query");
    ck_assert_msg(!c->open || c->close, "opens and never closes");
}

/* Operations are function pointers only. Operations newer than the component's header
 * are NULL. */
PX_TEST(every_operation_is_there)
{
    const struct px_framework *fw = &px_frameworks[wanted.found.framework];
    void *const *op = contract.component->ops;
    size_t needed = fw->ops_needed ? fw->ops_needed : fw->ops_size;
    size_t known = contract.built->ops_size < needed ? contract.built->ops_size
                                                     : needed;

    for (size_t i = 0; i < known / sizeof(*op); i++)
        ck_assert_msg(op[i], "operation %zu of struct px_%s_ops is NULL", i + 1,
                      fw->name);
}

/* set_param has already checked the defaults. */
PX_TEST(parameters_are_described_and_fit_the_configuration)
{
    const struct px_component *c = contract.component;

    for (const struct px_param *p = c->params; p && p->kind != PX_PARAM_KIND_END; p++) {
        ck_assert_msg(p->help && *p->help, "%s has no help", p->name);
        ck_assert_msg(p->def || p->kind == PX_PARAM_KIND_STRING ||
                          p->kind == PX_PARAM_KIND_LIST ||
                          p->kind == PX_PARAM_KIND_PATH,
                      "%s has no default", p->name);
        ck_assert_uint_gt(px_param_size(p->kind), 0);
        ck_assert_uint_le(p->offset + px_param_size(p->kind), c->conf_size);
        ck_assert_uint_eq(strspn(p->name, "abcdefghijklmnopqrstuvwxyz0123456789_"),
                          strlen(p->name));
        for (const struct px_param *q = c->params; q < p; q++)
            ck_assert_str_ne(p->name, q->name);
    }
}

PX_TEST(has_a_priority_or_a_reason_against_it)
{
    struct px_query answer = {.priority = -1};

    if (contract.component->query(contract.self, &answer)) {
        ck_assert_msg(answer.reason[0], "declines without a reason");
    } else {
        ck_assert_int_ge(answer.priority, 0);
        ck_assert_int_le(answer.priority, MAX_PRIORITY);
    }
}

static void live_once(void)
{
    struct px_query answer = {0};
    void *self;

    ok(open_one(&self));
    contract.component->query(self, &answer);
    contract.component->close(self);
}

PX_TEST(lives_a_hundred_times_and_leaves_nothing)
{
    contract_close();
    live_once(); /* the first run pays for what system libraries allocate once */
    size_t n_fds = px_test_count_fds();

    px_alloc_fail_at(0);
    for (int i = 0; i < N_LIVES; i++)
        live_once();
    px_alloc_fail_end();

    ck_assert_int_eq(px_alloc_balance(), 0);
    ck_assert_uint_eq(px_test_count_fds(), n_fds);
    ck_assert_uint_eq(fake_host_held(&contract.host), 0);
}

PX_TEST(two_of_it_can_be_open)
{
    void *second;

    ok(open_one(&second));
    contract.component->close(second);
    live_once();
}

PX_TEST(opening_without_memory_fails_and_leaves_nothing)
{
    PX_TEST_NEEDS_ALLOC;
    contract_close();

    for (unsigned nth = 0; px_alloc_next(&nth);) {
        void *self;
        pmix_status_t rc = open_one(&self);

        if (px_alloc_check(rc))
            ck_assert_uint_eq(fake_host_held(&contract.host), 0);
        else
            contract.component->close(self);
    }
}

/* An open component may run threads. They must not call the host and must end with the
 * component. */
PX_TEST(keeps_to_the_loop_thread)
{
    PX_TEST_NEEDS_PROC;
    size_t n_threads = px_test_count_names("/proc/self/task");
    void *self;

    contract_close();
    ok(open_one(&self));
    fake_host_run(&contract.host, SETTLED_MS, NULL, NULL);
    contract.component->close(self);
    process_pause(SETTLED_MS);
    ck_assert_msg(px_test_count_names("/proc/self/task") <= n_threads,
                  "leaves threads behind");
    ck_assert_msg(fake_host_strangers() == 0,
                  "%u calls of host functions from other threads",
                  fake_host_strangers());
}
