/* SPDX-License-Identifier: BSD-3-Clause */
/* Path of the library. A program that contains the core itself defines its own
 * px_library_file; so this file holds nothing else. */
#include "core/rt/process.h"
#include "core/os/os.h"
#include "core/rt/owner.h"

#include <link.h>

/* Stops at the file that contains px_process. dladdr would also search for the nearest
 * symbol, which takes longer. */
static int find(struct dl_phdr_info *file, size_t size PX_UNUSED, void *name)
{
    const uintptr_t at = (uintptr_t)&px_process - file->dlpi_addr;
    bool found = false;

    for (size_t i = 0; i < file->dlpi_phnum; i++)
        found |= file->dlpi_phdr[i].p_type == PT_LOAD &&
                 at - file->dlpi_phdr[i].p_vaddr < file->dlpi_phdr[i].p_memsz;
    *(const char **)name = file->dlpi_name;
    return found;
}

char *px_library_file(void)
{
    const char *name;

    if (!dl_iterate_phdr(find, &name))
        return NULL;
    return *name ? realpath(name, NULL) : px_os_program_file(); /* the program */
}
