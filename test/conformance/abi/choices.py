# SPDX-License-Identifier: BSD-3-Clause
"""Where releases differ, or the table and we do: what holds, and why. Nothing else may differ."""

OWN_VERSION = "the version of the interface that this library declares itself to be"
RENUMBERED = "the number means nothing; the newest release's"
COLLISION = "the numbers of 6.1.0 are those of PMIX_ERR_PROC_KILLED_BY_CMD and " \
            "PMIX_ERR_PROC_FAILED_TO_START, which are older; the development branch has free ones"
MODULE = "the module of 6.1.0, whose slots are those of the newest release; which slots past the " \
         "28 of 4.x exist in a caller's module is found out at run time"

# Row -> (column of the release that holds, reason)
RELEASE = {
    "PMIX_VERSION_MAJOR": ("build", OWN_VERSION),
    "PMIX_VERSION_MINOR": ("build", OWN_VERSION),
    "PMIX_VERSION_RELEASE": ("build", OWN_VERSION),
    "PMIX_NUMERIC_VERSION": ("build", OWN_VERSION),
    "PMIX_CAP_BASE": ("v6.1.0", RENUMBERED),
    "PMIX_CAPABILITIES": ("v6.1.0", RENUMBERED),
    "PMIX_ERR_LOST_PRECISION": ("master", COLLISION),
    "PMIX_ERR_CHANGE_SIGN": ("master", COLLISION),
    "pmix_server_module_t": ("v6.1.0", MODULE),
    "pmix_server_module_t.session_control": ("v6.1.0", MODULE),
    "session_control": ("v6.1.0", MODULE),
}

# Rows of kind "macro" that are functions here -> reason
NOT_A_MACRO = {
    "PMIx_Heartbeat": "a function since 6.1.0",
}
