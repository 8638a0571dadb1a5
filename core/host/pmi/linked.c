/* SPDX-License-Identifier: BSD-3-Clause */
/* Warnings about programs that are linked with an MPI and have not connected. Each of
 * their processes runs alone, without an error. */
#include "core/host/job.h"
#include "core/host/pmi/pmi.h"
#include "core/rt/log.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

/* Bounds of what is read, as a file may have any content. */
enum { MAX_HEADERS = 64, MAX_ENTRIES = 512, NAME_B = 64 };

/* Reads all n bytes at an offset. */
static bool read_at(int fd, void *bytes, size_t n, uint64_t at)
{
    return PX_RETRY(pread(fd, bytes, n, (off_t)at)) == (ssize_t)n;
}

struct elf {
    int fd;
    ElfW(Phdr) headers[MAX_HEADERS];
    size_t n;
};

/* Reads the program headers of an ELF file for this machine. */
static bool read_headers(struct elf *e)
{
    ElfW(Ehdr) h;

    if (!read_at(e->fd, &h, sizeof(h), 0) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
        h.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        h.e_phentsize != sizeof(e->headers[0]) || h.e_phnum > MAX_HEADERS)
        return false;
    e->n = h.e_phnum;
    return read_at(e->fd, e->headers, e->n * sizeof(e->headers[0]), h.e_phoff);
}

/* Returns the file offset of an address, or 0. */
static uint64_t offset_of(const struct elf *e, ElfW(Addr) address)
{
    for (size_t i = 0; i < e->n; i++) {
        const ElfW(Phdr) *p = &e->headers[i];

        if (p->p_type == PT_LOAD && address >= p->p_vaddr &&
            address - p->p_vaddr < p->p_filesz)
            return p->p_offset + (address - p->p_vaddr);
    }
    return 0;
}

/* Names of libraries of MPI and PMI. libpmix is not among them: a tool may have its own
 * reason not to connect. */
static bool is_mpi(const char *name)
{
    static const char *const begins[] = {"libmpi", "libpmi.", "libpmi2.", "libmsmpi"};

    for (size_t i = 0; i < PX_COUNT(begins); i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

/* Finds the first needed library that is_mpi accepts. */
static bool find_needed(const struct elf *e, const ElfW(Dyn) * dyn, size_t n,
                        char name[NAME_B])
{
    uint64_t strings = 0;

    for (size_t i = 0; i < n; i++)
        if (dyn[i].d_tag == DT_STRTAB)
            strings = offset_of(e, dyn[i].d_un.d_ptr);
    for (size_t i = 0; strings && i < n && dyn[i].d_tag != DT_NULL; i++) {
        if (dyn[i].d_tag != DT_NEEDED)
            continue;
        ssize_t got = PX_RETRY(
            pread(e->fd, name, NAME_B - 1, (off_t)(strings + dyn[i].d_un.d_val)));
        name[got > 0 ? got : 0] = '\0';
        if (is_mpi(name))
            return true;
    }
    return false;
}

bool px_pmi_linked(const char *program, char name[NAME_B])
{
    PX_AUTOCLOSE int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct elf e = {.fd = fd};
    ElfW(Dyn) dyn[MAX_ENTRIES];

    if (fd < 0 || !read_headers(&e))
        return false;
    for (size_t i = 0; i < e.n; i++) {
        size_t n = e.headers[i].p_filesz / sizeof(dyn[0]);

        if (e.headers[i].p_type == PT_DYNAMIC && n <= MAX_ENTRIES &&
            read_at(fd, dyn, n * sizeof(dyn[0]), e.headers[i].p_offset))
            return find_needed(&e, dyn, n, name);
    }
    return false;
}

void px_pmi_report_alone(const struct px_launch_job *job)
{
    char library[NAME_B];

    for (uint32_t a = 0; job->n_tasks > 1 && !job->verdict && a < job->plan.n_apps;
         a++) {
        const struct px_app_plan *app = &job->plan.apps[a];
        bool any = app->non_pmi || app->n < 2;

        for (uint32_t r = app->first; !any && r < app->first + app->n; r++)
            any = job->tasks[r].connected;
        if (!any && px_pmi_linked(app->program, library))
            px_log(PX_LOG_WARN, "pmi",
                   "%s is linked with %s, but none of its %u processes has connected: "
                   "each ran alone",
                   app->program, library, app->n);
    }
}
