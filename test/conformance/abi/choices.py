# SPDX-License-Identifier: BSD-3-Clause
"""Decisions, with reasons, for rows whose releases differ, and for rows that differ here. No other row may differ."""

OWN_VERSION = "the version of the interface that this library declares itself to be"
NON_ZERO = "5.0's number, which a test of a bit finds; 6.1.0 has 0, and tests of names alone"
INTERNAL = "a host takes the flag for OpenPMIx's internals, which this library does not have"
NOT_DONE = "a host takes the flag for a promise, and this library does not do that yet"
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
    "PMIX_CAP_BASE": ("v5.0.8", NON_ZERO),
    "PMIX_CAPABILITIES": ("v5.0.8", NON_ZERO),
    "PMIX_ERR_LOST_PRECISION": ("master", COLLISION),
    "PMIX_ERR_CHANGE_SIGN": ("master", COLLISION),
    "pmix_server_module_t": ("v6.1.0", MODULE),
    "pmix_server_module_t.session_control": ("v6.1.0", MODULE),
    "session_control": ("v6.1.0", MODULE),
}

# Macros that must not be defined -> reason
ABSENT = {
    **dict.fromkeys(("PMIX_CAP_LTO", "PMIX_CAP_INMEMHELP"), INTERNAL),
    **dict.fromkeys(("PMIX_CAP_" + flag for flag in (
        "GROUP_FT", "CLI_QUAL_VALUE", "IOF_FILE_PATTERN", "CLI_ORDER", "TOOL_FINALIZED",
        "IOF_DELIVER_LOCAL", "GROUP_JOIN_COMPLETES", "IOF_FLOW_CONTROL", "DEVICE_ENUM",
        "MCA_FW_VERSION", "DATA_DELETE")), NOT_DONE),
}

# Rows of kind "macro" that are functions here -> reason
NOT_A_MACRO = {
    "PMIx_Heartbeat": "a function since 6.1.0",
}
