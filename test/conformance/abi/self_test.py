# SPDX-License-Identifier: BSD-3-Clause
"""Self-test of the suite: tables with wrong rows, or with rows without a test, against a library of two functions or
against the real library."""
import os
import subprocess
import tempfile

import choices
import macro_calls
import probes
import rows
import tables

LIBRARY = """
const char *PMIx_Error_string(int status) { return status ? "no" : "yes"; }
const char *PMIx_Scope_string(unsigned char scope) { return scope ? "no" : "yes"; }
void PMIx_Secret(void) {}
"""


def pick(table, *names):
    """Returns the header row, and some rows, of a table."""
    with open(tables.path(table), encoding="utf-8") as f:
        lines = f.read().split("\n")
    by_name = {tables.title(row): lines[row.line - 1] for row in tables.read(table)}
    return [lines[0]] + [by_name[name] for name in names]


def changed(line, old, new):
    if old not in line:
        raise ValueError("no %r in %r" % (old, line))
    return line.replace(old, new)


class Samples:
    """Folders with tables, and the expected reports of the suite."""

    def __init__(self, folder):
        self.folder = folder
        self.wrong = []

    def check(self, suite, table, lines, expected):
        with open(tables.path(table, self.folder), "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
        suite.data = self.folder
        _, found = rows.check(suite, table)
        for piece in expected:
            if not any(piece in line for line in found):
                self.wrong.append("%s: not found: %s" % (table, piece))
        for line in found:
            if not any(piece in line for piece in expected):
                self.wrong.append("%s: not expected: %s" % (table, line))


def small_build(folder, build):
    """Makes a build folder with a library of two public functions, and a function outside the tables."""
    core = os.path.join(folder, "core")
    os.makedirs(core)
    os.symlink(os.path.join(build, "include"), os.path.join(folder, "include"))
    c = rows.headers.compilers()[0]
    subprocess.run([*c, "-shared", "-fPIC", "-x", "c", "-", "-o",
                    os.path.join(core, "libpmix.so.2")], input=LIBRARY, text=True, check=True)
    return folder


def functions(samples, suite):
    lines = pick("functions", "PMIx_Error_string", "PMIx_Scope_string", "PMIx_Get")
    lines[2] = changed(lines[2], "(pmix_scope_t", "(pmix_status_t")
    samples.check(suite, "functions", lines, [
        "PMIx_Secret is exported", "tsv:3: PMIx_Scope_string: C11: not true: SAME_TYPE",
        "tsv:4: PMIx_Get: C11: PMIx_Get is not exported", "1 of 3 rows"])


def numbers(samples, suite):
    lines = pick("constants", "PMIX_INT8", "PMIX_UINT8", "PMIX_RANK_WILDCARD", "PMIX_CAP_REGEX2",
                 "PMIX_ERR_LOST_PRECISION", "PMIX_UINT16")
    lines[2] = changed(lines[2], "12", "14")
    lines[4] = changed(lines[4], "PMIX_CAP_REGEX2", "PMIX_CAP_NEVER")
    lines[6] = changed(lines[6], "\t13\t13\t13", "\t13\t15\t13")
    samples.check(suite, "constants", lines, [
        "tsv:3: PMIX_UINT8: C11: PMIX_UINT8 is 12, not 14", "tsv:5: PMIX_CAP_NEVER: C11: ",
        "tsv:7: PMIX_UINT16: C11: the releases differ", "3 of 6 rows"])


def strings(samples, suite):
    lines = pick("attributes", "PMIX_RANK", "PMIX_HOSTNAME")
    lines[2] = changed(lines[2], "pmix.hname", "pmix.host")
    samples.check(suite, "attributes", lines,
                  ['tsv:3: PMIX_HOSTNAME: C11: "" PMIX_HOSTNAME "" is "pmix.hname"', "1 of 2 rows"])


def layouts(samples, suite):
    lines = pick("structs", "pmix_proc_t", "pmix_proc_t.rank", "pmix_info_t.flags", "pmix_rank_t")
    lines[1] = changed(lines[1], "260/4", "264/4")
    lines[2] = changed(lines[2], "\trank\t", "\tranks\t")
    lines[3] = changed(lines[3], "512:4", "516:4")
    lines[4] = changed(lines[4], "uint32_t", "int32_t")
    samples.check(suite, "structs", lines, [
        "tsv:2: pmix_proc_t: C11: sizeof(pmix_proc_t) is 260, not 264",
        "tsv:3: pmix_proc_t.ranks: C11: ", "tsv:4: pmix_info_t.flags: C11: offsetof",
        "tsv:5: pmix_rank_t: C11: not true: SAME_TYPE", "0 of 4 rows"])


def upcalls(samples, suite):
    lines = pick("callbacks", "pmix_op_cbfunc_t", "abort", "fence_nb")
    lines[1] = changed(lines[1], "void *cbdata", "int cbdata")
    lines[2] = changed(lines[2], "#2@16", "#3@24")
    samples.check(suite, "callbacks", lines, [
        "tsv:2: pmix_op_cbfunc_t: C11: not true", "tsv:3: abort: C11: offsetof", "1 of 3 rows"])


def macros(samples, suite):
    """Adds a leaking call, a crashing call, a missing call, a call of another macro, an extra call, and a row that the
    generator forgets."""
    lines = pick("macros", "pmix_malloc", "pmix_calloc", "pmix_free", "pmix_keylen", "pmix_nslen")
    calls = macro_calls.CALLS
    macro_calls.CALLS = {
        "pmix_malloc": "CHECK(pmix_malloc(7) != NULL);",
        "pmix_calloc": "free(pmix_calloc(1, 1));",
        "pmix_keylen": "CHECK(strlen(\"key\") == 3);",
        "pmix_nslen": "CHECK(pmix_nslen(\"job\") == 4);",
        "pmix_other": "",
    }
    source = probes.source
    try:
        samples.check(suite, "macros", lines, [
            "pmix_other", "LeakSanitizer", "tsv:4: pmix_free: C11: macro_calls.py has no call",
            "tsv:5: pmix_keylen: C11: the call of macro_calls.py does not call it",
            "tsv:6: pmix_nslen: C11: not true", "2 of 5 rows"])
        macro_calls.CALLS = {"pmix_free": "pmix_free((void *)8);",
                             "pmix_nslen": "CHECK(pmix_nslen(\"job\") == 3);"}
        samples.check(suite, "macros", [lines[0], lines[3], lines[5]], [
            "tsv:2: pmix_free: C11: the program ends", "AddressSanitizer",
            "tsv:3: pmix_nslen: C11: not tested", "0 of 2 rows"])
        probes.source = lambda table, rows, values: source(table, rows[1:], values)
        macro_calls.CALLS["pmix_free"] = "pmix_free(NULL);"
        samples.check(suite, "macros", [lines[0], lines[3], lines[5]], [
            "tsv:2: pmix_free: C11: not tested", "1 of 2 rows"])
    finally:
        probes.source = source
        macro_calls.CALLS = calls


def idle_choices():
    """Returns decisions about rows outside the tables."""
    names = {tables.title(row) for table in tables.NAMES for row in tables.read(table)}
    return ["choices.py decides about %s, and no row has it" % name
            for name in (*choices.RELEASE, *choices.NOT_A_MACRO, *choices.ABSENT) if name not in names]


def self_test():
    build = os.environ["TENON_BUILD"]
    with tempfile.TemporaryDirectory() as folder:
        samples = Samples(os.path.join(folder, "data"))
        os.mkdir(samples.folder)
        functions(samples, rows.Suite(small_build(os.path.join(folder, "out"), build)))
        for part in (numbers, strings, layouts, upcalls, macros):
            part(samples, rows.Suite(build))
    return samples.wrong + idle_choices()
