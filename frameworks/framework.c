/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of frameworks. frameworks/<name>/README.md has the contract of each
 * framework. */
#include "frameworks/framework.h"

#include "tenon/gds.h"
#include "tenon/pcleanup.h"
#include "tenon/pfexec.h"
#include "tenon/piof.h"
#include "tenon/plog.h"
#include "tenon/pnet.h"
#include "tenon/psec.h"
#include "tenon/ptl.h"

#include <stddef.h>
#include <string.h>

#define EVERY_ROLE (PX_ROLE_CLIENT | PX_ROLE_SERVER | PX_ROLE_TOOL)

/* gds and ptl keep several components: each namespace or peer uses one of them. */
const struct px_framework px_frameworks[PX_FW_COUNT] = {
    [PX_FW_PTL] = {"ptl", PX_PTL_ABI, EVERY_ROLE, sizeof(struct px_ptl_ops),
                   .many = true, .required = true,
                   .ops_needed = offsetof(struct px_ptl_ops, listen_remote)},
    [PX_FW_GDS] = {"gds", PX_GDS_ABI, EVERY_ROLE, sizeof(struct px_gds_ops),
                   .many = true, .required = true,
                   .ops_needed = offsetof(struct px_gds_ops, describe)},
    [PX_FW_PSEC] = {"psec", PX_PSEC_ABI, EVERY_ROLE, sizeof(struct px_psec_ops),
                    .many = true, .required = true, .protects = true,
                    .ops_needed = offsetof(struct px_psec_ops, issue)},
    [PX_FW_PFEXEC] = {"pfexec", PX_PFEXEC_ABI, PX_ROLE_SERVER,
                      sizeof(struct px_pfexec_ops), .many = false, .required = false},
    [PX_FW_PNET] = {"pnet", PX_PNET_ABI, PX_ROLE_SERVER, sizeof(struct px_pnet_ops),
                    .many = true, .required = false, .may_require = true,
                    .ops_needed = offsetof(struct px_pnet_ops, forward)},
    [PX_FW_PCLEANUP] = {"pcleanup", PX_PCLEANUP_ABI, PX_ROLE_SERVER,
                        sizeof(struct px_pcleanup_ops), .many = false,
                        .ops_needed = offsetof(struct px_pcleanup_ops, flags),
                        .required = false},
    [PX_FW_PIOF] = {"piof", PX_PIOF_ABI, EVERY_ROLE, sizeof(struct px_piof_ops),
                    .many = true, .required = false, .deferred = true,
                    .ops_needed = offsetof(struct px_piof_ops, writev)},
    [PX_FW_PLOG] = {"plog", PX_PLOG_ABI, PX_ROLE_SERVER, sizeof(struct px_plog_ops),
                    .many = true, .required = false,
                    .ops_needed = offsetof(struct px_plog_ops, target)},
};

/* Constant array. pmix_frameworks.h declares the array without const for programs,
 * which only read the names. */
PX_EXPORT extern const char *const pmix_framework_names[PX_FW_COUNT + 1];
const char *const pmix_framework_names[PX_FW_COUNT + 1] = {
    [PX_FW_PTL] = "ptl",       [PX_FW_GDS] = "gds",   [PX_FW_PSEC] = "psec",
    [PX_FW_PFEXEC] = "pfexec", [PX_FW_PNET] = "pnet", [PX_FW_PCLEANUP] = "pcleanup",
    [PX_FW_PIOF] = "piof",     [PX_FW_PLOG] = "plog", [PX_FW_COUNT] = NULL,
};

enum px_framework_id px_framework_find(const char *s, size_t len)
{
    enum px_framework_id id = 0;

    while (id < PX_FW_COUNT && (strlen(px_frameworks[id].name) != len ||
                                memcmp(px_frameworks[id].name, s, len) != 0))
        id++;
    return id;
}
