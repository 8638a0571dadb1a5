#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""rows.py TABLE: the library and its headers conform to each row of data/TABLE.tsv, in C11 and C++17. Programs are
generated, compiled and run. A row fails unless a program prints "good" for it. rows.py --self-test: detects wrong
rows, and rows without a test."""
import os
import re
import subprocess
import sys
import tempfile

import probes
import tables

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.join(ROOT, "contrib", "check"))
import exports  # noqa: E402
import headers  # noqa: E402

WARNINGS = ["-Wall", "-Wextra", "-Werror"]
# Macros allocate and free, so their programs run with sanitizers.
SANITIZED = ("macros",)
SECONDS = 250


class Language:
    def __init__(self, name, command, flags):
        self.name, self.command, self.flags = name, command, flags


def languages():
    c, cxx = headers.compilers()
    if cxx is None:
        sys.exit("no C++ compiler found")
    c_flags = ["-std=c11", "-Wstrict-prototypes", "-x", "c"]
    return [Language("C11", c, c_flags),
            Language("C++17", [*c[:-1], cxx], ["-std=c++17", "-x", "c++"])]


class Suite:
    """A library, its headers, and the values of its build."""

    def __init__(self, build, data=tables.DATA):
        self.library = os.path.realpath(os.path.join(build, "core", "libpmix.so.2"))
        self.include = [os.path.join(ROOT, "include"), os.path.join(build, "include")]
        self.data = data
        major, minor, release = (int(n) for n in os.environ["TENON_ABI"].split("."))
        self.values = {"PMIX_VERSION_MAJOR": major, "PMIX_VERSION_MINOR": minor,
                       "PMIX_VERSION_RELEASE": release,
                       "PMIX_NUMERIC_VERSION": major << 16 | minor << 8 | release}


def sanitizers(table):
    chosen = os.environ.get("TENON_SANITIZE", "")
    if chosen or table not in SANITIZED:
        return chosen
    # The search for leaks reads /proc.
    return "address,undefined" if os.path.exists("/proc/self/task") else "undefined"


def compile_program(suite, table, language, text, program):
    """Returns the compiler's errors, or None."""
    chosen = sanitizers(table)
    flags = [*language.flags, "-D_GNU_SOURCE", "-O0", "-g0", *WARNINGS, "-I", HERE,
             *("-I" + folder for folder in suite.include)]
    if not is_clang(language):
        flags.append("-ftrack-macro-expansion=0")  # errors are where a macro is called
    else:
        flags.append("-ferror-limit=0")
    if chosen:
        flags += ["-fsanitize=" + chosen, "-g1"]
    link = ["-x", "none", "-ldl"]
    if table not in ("functions", "extensions", "objects"):
        link += [suite.library, "-Wl,-rpath," + os.path.dirname(suite.library)]
    result = subprocess.run([*language.command, *flags, "-o", program, "-", *link], input=text,
                            capture_output=True, text=True, timeout=SECONDS)
    return None if result.returncode == 0 else result.stderr


def is_clang(language):
    return any("clang" in os.path.basename(word) for word in language.command)


def blamed(table, errors):
    """Returns {line of a row: its first error of compiler or linker}."""
    found = {}
    for line in errors.splitlines():
        match = re.match(r"(?:.*/)?%s\.tsv:(\d+):(?:\d+:)? (?:(?:fatal )?error: )?"
                         r"((?<=error: ).*|undefined reference .*)" % table, line)
        if match:
            found.setdefault(int(match.group(1)), match.group(2))
    return found


def run_program(suite, program, language):
    """Returns (lines of good rows, {line: error}, other errors)."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PMIX_", "LD_"))}
    env["PROBE_LIBRARY"] = suite.library
    env["ASAN_OPTIONS"] = "detect_leaks=1:verify_asan_link_order=0"
    env["UBSAN_OPTIONS"] = "halt_on_error=1:print_stacktrace=1"
    result = subprocess.run([program], capture_output=True, text=True, env=env, timeout=SECONDS)
    good, bad, last, ended = set(), {}, None, False
    for line in result.stdout.splitlines():
        word, _, rest = line.partition(" ")
        if word == "run":
            last = int(rest)
        elif word == "good":
            good.add(int(rest))
        elif word == "bad":
            number, _, what = rest.partition(" ")
            bad[int(number)] = what
        elif word == "end":
            ended = True
    others = []
    if not ended:
        bad[last] = "the program ends with %d" % result.returncode
    if result.returncode != 0:
        others.append("%s: exit status %d\n%s" % (language.name, result.returncode,
                                                   result.stderr[-3000:]))
    return good, bad, others


def check_language(suite, table, rows, language, folder):
    """Returns (lines of good rows, {line: error}, other errors) of one language."""
    program = os.path.join(folder, "%s-%s" % (table, language.name))
    text, without = probes.source(table, rows, suite.values)
    bad = {row.line: why for row, why in without}
    errors = compile_program(suite, table, language, text, program)
    found = blamed(table, errors or "")
    # First the compiler's errors, then the linker's. Ends without an error of a new row.
    while found and not found.keys() <= bad.keys():
        bad.update(found)
        text, _ = probes.source(table, [r for r in rows if r.line not in bad], suite.values)
        errors = compile_program(suite, table, language, text, program)
        found = blamed(table, errors or "")
    if errors:
        return set(), bad, ["%s: does not compile\n%s" % (language.name, errors[-3000:])]
    good, failed, others = run_program(suite, program, language)
    bad.update(failed)
    return good, bad, others


def extra_exports(suite, rows):
    """Returns exported names without a row in this table, the extensions or the objects."""
    known = {row.cells["name"] for row in rows + tables.read("extensions") + tables.read("objects")}
    return ["%s is exported, and no row has it" % name
            for name, _ in exports.exported(suite.library) if name not in known]


def check(suite, table):
    """Returns (number of tested rows, errors). A row has been tested if it is good in each language."""
    rows = tables.read(table, suite.data)
    names = [tables.title(row) for row in rows]
    wrong = ["%s stands in two rows" % n for n in sorted(set(names)) if names.count(n) > 1]
    if table == "functions":
        wrong += extra_exports(suite, rows)
    if table == "macros":
        wrong += ["macro_calls.py calls %s, and no row has it" % name
                  for name in probes.macro_calls.CALLS if name not in names]
    tested = {row.line for row in rows}
    reported = set()
    with tempfile.TemporaryDirectory() as folder:
        for language in languages():
            good, bad, others = check_language(suite, table, rows, language, folder)
            wrong += others
            for row in rows:
                why = bad.get(row.line)
                if row.line not in good and why is None:
                    why = "not tested"
                if why and row.line not in reported:
                    reported.add(row.line)
                    wrong.append("%s.tsv:%d: %s: %s: %s" % (table, row.line, tables.title(row),
                                                            language.name, why))
            tested &= good - set(bad)
    total = tables.count(table, suite.data)
    if len(tested) != total:
        wrong.append("%s.tsv: %d of %d rows are good" % (table, len(tested), total))
    return len(tested), wrong


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in (*tables.NAMES, "--self-test"):
        sys.exit("usage: rows.py --self-test | %s" % " | ".join(tables.NAMES))
    if sys.argv[1] == "--self-test":
        if not os.path.exists("/proc/self/task"):
            print("needs /proc, in which the search for leaks reads")
            sys.exit(77)
        import self_test
        wrong = self_test.self_test()
    else:
        tested, wrong = check(Suite(os.environ["TENON_BUILD"]), sys.argv[1])
        print("%s: %d rows, each in C11 and C++17" % (sys.argv[1], tested))
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
