/* SPDX-License-Identifier: BSD-3-Clause */
/* Loading the component under test, and what every component has to keep to. */
#include "contract.h"

#include "alloc_fail.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/rt/param_impl.h"
#include "process.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

enum {
    MAX_PRIORITY = 1000,
    MAX_TESTS = 100,
    N_LIVES = 100,
};

struct contract contract;

static struct {
    const char *file;
    char **settings; /* NAME=VALUE, up to NULL */
    const char *framework;
    uint32_t abi;
} wanted;

/* ---- loading --------------------------------------------------------------------- */

/* The file's name without directory, "pmix_" and ".so". */
static char *component_name(void)
{
    const char *slash = strrchr(wanted.file, '/');
    const char *base = slash ? slash + 1 : wanted.file;
    const size_t prefix = strlen("pmix_");
    size_t len = strlen(base);

    if (!px_str_starts(base, "pmix_") || len <= prefix + 3 ||
        strcmp(base + len - 3, ".so") != 0)
        ck_abort_msg("%s is not named pmix_<framework>_<name>.so", base);
    return px_strf("%.*s", (int)(len - prefix - 3), base + prefix);
}

/* What the core would find; NULL if the file does not load. */
static const struct px_component *load(void)
{
    PX_AUTOFREE char *name = component_name();
    PX_AUTOFREE char *symbol = px_strf("px_%s_component", name);
    void *handle = dlopen(wanted.file, RTLD_NOW | RTLD_LOCAL);

    if (!handle)
        ck_abort_msg("%s", dlerror());
    return dlsym(handle, symbol);
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

    if (!p)
        ck_abort_msg("there is no parameter %s", name);
    ck_assert_msg(px_param_from_text(p, value, (char *)contract.conf + p->offset),
                  "%s does not take \"%s\"", name, value);
}

/* As the core does: all zero, then the defaults, then what was asked for. */
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
        set_param(name, value + 1);
    }
}

static pmix_status_t open_one(void **self)
{
    return contract.component->open(&contract.host.host, contract.conf, self);
}

static pmix_status_t open_it(void)
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
    return open_it();
}

static void setup(void)
{
    const char *tmp = getenv("TMPDIR");

    contract.component = load();
    ck_assert_ptr_nonnull(contract.component);
    contract.conf = malloc(contract.component->conf_size + 1);
    fake_host_init(&contract.host);
    fill_conf();
    ck_assert_int_eq(
        px_path_private_dir(tmp ? tmp : "/tmp", "contract.", &contract.dir, NULL),
        PMIX_SUCCESS);
    ck_assert_int_eq(open_it(), PMIX_SUCCESS);
}

static void teardown(void)
{
    contract_close();
    fake_host_fini(&contract.host);
    free(contract.conf);
    process_remove_files(contract.dir);
    free(contract.dir);
}

/* ---- what every component has to keep to ----------------------------------------- */

/* Symbols with two underscores belong to compilers: sanitizers leave some. */
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

START_TEST(exports_its_descriptor_and_nothing_else)
{
    size_t size;
    size_t n = 0;
    PX_AUTOFREE char *name = component_name();
    PX_AUTOFREE char *symbol = px_strf("px_%s_component", name);
    PX_AUTOFREE char *file = process_read_file(wanted.file, &size);
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
END_TEST

START_TEST(descriptor_says_what_it_is)
{
    const struct px_component *c = contract.component;
    PX_AUTOFREE char *name = component_name();
    PX_AUTOFREE char *own_name = px_strf("%s_%s", c->framework, c->name);

    ck_assert_uint_eq(c->abi, PX_COMPONENT_ABI);
    ck_assert_uint_eq(c->size, sizeof(struct px_component));
    ck_assert_str_eq(c->framework, wanted.framework);
    ck_assert_uint_eq(c->framework_abi, wanted.abi);
    ck_assert_str_eq(own_name, name);
    ck_assert(c->version && *c->version);
    ck_assert(c->open && c->query && c->close && c->ops);
}
END_TEST

/* Their defaults have been through set_param by now. */
START_TEST(parameters_are_described_and_fit_the_configuration)
{
    const struct px_component *c = contract.component;

    for (const struct px_param *p = c->params; p && p->kind != PX_PARAM_KIND_END; p++) {
        ck_assert_msg(p->help && *p->help, "%s has no help", p->name);
        ck_assert_msg(p->def || p->kind == PX_PARAM_KIND_STRING, "%s has no default",
                      p->name);
        ck_assert_uint_gt(px_param_size(p->kind), 0);
        ck_assert_uint_le(p->offset + px_param_size(p->kind), c->conf_size);
        ck_assert_uint_eq(strspn(p->name, "abcdefghijklmnopqrstuvwxyz0123456789_"),
                          strlen(p->name));
        for (const struct px_param *q = c->params; q < p; q++)
            ck_assert_str_ne(p->name, q->name);
    }
}
END_TEST

START_TEST(has_a_priority_or_a_reason_against_it)
{
    struct px_query answer = {.priority = -1};

    if (contract.component->query(contract.self, &answer)) {
        ck_assert_str_ne(answer.reason, "");
    } else {
        ck_assert_int_ge(answer.priority, 0);
        ck_assert_int_le(answer.priority, MAX_PRIORITY);
    }
}
END_TEST

static void live_once(void)
{
    struct px_query answer = {0};
    void *self;

    ck_assert_int_eq(open_one(&self), PMIX_SUCCESS);
    contract.component->query(self, &answer);
    contract.component->close(self);
}

START_TEST(lives_a_hundred_times_and_leaves_nothing)
{
    contract_close();
    live_once(); /* what the system's libraries set up once is not ours */
    size_t n_fds = process_count_fds();

    px_alloc_fail_at(0);
    for (int i = 0; i < N_LIVES; i++)
        live_once();
    px_alloc_fail_end();

    ck_assert_int_eq(px_alloc_balance(), 0);
    ck_assert_uint_eq(process_count_fds(), n_fds);
    ck_assert_uint_eq(fake_host_held(&contract.host), 0);
}
END_TEST

START_TEST(two_of_it_can_be_open)
{
    void *second;

    ck_assert_int_eq(open_one(&second), PMIX_SUCCESS);
    contract.component->close(second);
    live_once();
}
END_TEST

START_TEST(opening_without_memory_fails_and_leaves_nothing)
{
    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
    contract_close();

    for (unsigned nth = 1;; nth++) {
        void *self;
        px_alloc_fail_at(nth);
        pmix_status_t rc = open_one(&self);
        bool has_failed = px_alloc_fail_end();

        if (!has_failed) {
            ck_assert_int_eq(rc, PMIX_SUCCESS);
            contract.component->close(self);
            break;
        }
        ck_assert_int_eq(rc, PMIX_ERR_NOMEM);
        ck_assert_int_eq(px_alloc_balance(), 0);
        ck_assert_uint_eq(fake_host_held(&contract.host), 0);
    }
}
END_TEST

static const TTest *const *common_tests(void)
{
    static const TTest *tests[8];

    tests[0] = exports_its_descriptor_and_nothing_else;
    tests[1] = descriptor_says_what_it_is;
    tests[2] = parameters_are_described_and_fit_the_configuration;
    tests[3] = has_a_priority_or_a_reason_against_it;
    tests[4] = lives_a_hundred_times_and_leaves_nothing;
    tests[5] = two_of_it_can_be_open;
    tests[6] = opening_without_memory_fails_and_leaves_nothing;
    return tests;
}

int contract_main(int argc, char **argv, const char *framework, uint32_t abi,
                  const TTest *const *tests)
{
    const TTest *all[MAX_TESTS] = {NULL};
    const TTest *const *sets[] = {common_tests(), tests};
    size_t n = 0;

    if (argc < 2) {
        fprintf(stderr, "usage: %s COMPONENT.so [PARAMETER=VALUE]...\n", argv[0]);
        return EXIT_FAILURE;
    }
    /* Check gives a test 4 s, which a resent packet on a busy machine may exceed. */
    setenv("CK_DEFAULT_TIMEOUT", "60", 0);
    wanted.file = argv[1];
    wanted.settings = argv + 2;
    wanted.framework = framework;
    wanted.abi = abi;
    for (size_t i = 0; i < PX_COUNT(sets); i++) {
        for (const TTest *const *t = sets[i]; *t; t++) {
            if (n == MAX_TESTS - 1)
                abort(); /* better than leaving one out */
            all[n++] = *t;
        }
    }
    return px_test_run(framework, setup, teardown, all);
}
