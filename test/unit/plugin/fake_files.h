/* SPDX-License-Identifier: BSD-3-Clause */
/* Folders of fake components: copies of the built modules under chosen names. */
#ifndef RT_FAKE_FILES_H
#define RT_FAKE_FILES_H

#include "test/unit/rt/rt_test.h"

/* The folder of the built modules, set by the build files. */
#ifndef FAKE_MODULES
#define FAKE_MODULES "."
#endif

/* Copies the module called "ptl_a" to dir as pmix_mca_tenon_<as>.so. */
static inline void rt_install_as(const char *dir, const char *module, const char *as)
{
    char from[512];
    char name[64];
    rt_path to;

    snprintf(from, sizeof(from), "%.400s/pmix_mca_tenon_%s.so", FAKE_MODULES, module);
    snprintf(name, sizeof(name), "pmix_mca_tenon_%.40s.so", as);
    rt_join(to, dir, name);
    rt_copy(from, to);
}

static inline void rt_install(const char *dir, const char *module)
{
    rt_install_as(dir, module, module);
}

/* Installs one sound component of every framework. */
static inline void rt_install_all(const char *dir)
{
    rt_install(dir, "ptl_a");
    rt_install(dir, "gds_a");
    rt_install(dir, "psec_a");
    rt_install(dir, "pfexec_a");
}

#endif
