#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests that `check.sh --ports` skips have a row in docs/ports.md. ports.py MACHINE TESTLOG... prints a line for each test that a
machine skipped without such a row, and for each case of the table of what an emulator lacks that does not exist, on stdout; and
for each other row that the run did not need, on stderr. With --update it writes the rows of the machine. A later log replaces the
tests of an earlier one. With --lacks it prints the cases that an emulator cannot run, as PX_TEST_SKIPS has them."""
import collections
import os
import re
import sys
import tempfile

import common
import summary

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PAGE = "docs/ports.md"
HEAD = "| test | reason | cases |"
ANY = "any"  # test of a row whose reason depends on the computer
LACKS = "| test | cases | needs | machines |"
EMULATOR = ", which the emulator lacks"
RULE_SKIP = re.compile(r"^skip [^:]+: (.*%s)$" % EMULATOR, re.M)
CASE = re.compile(r"^(?:SKIP|skip) ([^:]+): ", re.M)
TITLE = re.compile(r"^## Skipped on (\w+)$")


def reasons(test):
    """Returns {reason: number of skipped cases} of one test. The contract also skips rules that do not concern a component."""
    return summary.reasons(test) + collections.Counter(RULE_SKIP.findall(test.get("stdout", "")))


def read_tests(paths):
    """Returns {name: test} of the runs."""
    return {test["name"].split(" / ")[-1]: test for path in paths for test in summary.read_log(path)}


def skipped(paths):
    """Returns {(test, reason): number of cases} of the runs."""
    return {(name, reason.replace("|", "/")): n for name, test in read_tests(paths).items()
            for reason, n in reasons(test).items()}


def place(lines, machine, head=HEAD):
    """Returns the first and the last line of a machine's table, after its head."""
    at = [i for i, line in enumerate(lines) if TITLE.match(line) and TITLE.match(line).group(1) == machine] if machine else [0]
    if not at or head not in lines[at[0]:]:
        sys.exit("%s: no table \"%s\"%s" % (PAGE, head, " in the chapter \"Skipped on %s\"" % machine if machine else ""))
    first = last = lines.index(head, at[0]) + 2
    while last < len(lines) and lines[last].startswith("|"):
        last += 1
    return first, last


def cells_of(lines, first, last):
    return [[cell.strip(" `") for cell in line.strip("| ").split("|")] for line in lines[first:last]]


def rows(lines, machine):
    """Returns the (test, reason) of each row."""
    return {tuple(cells[:2]) for cells in cells_of(lines, *place(lines, machine))}


def lacks(root, machine):
    """Returns (test, case, need) of each case that the machine's emulator cannot run."""
    lines = common.read(root, PAGE).split("\n")
    return [(test, case.strip(" `"), needs) for test, cases, needs, machines in cells_of(lines, *place(lines, None, LACKS))
            if machine in machines.split(", ") for case in cases.split(",")]


def skip_lines(root, machine):
    """Returns a line "PROGRAM CASE REASON" for each case of lacks()."""
    return ["%s %s needs %s%s" % (
        test if test.startswith("contract/") else "test_" + test.replace("/", "_"), case, need, EMULATOR)
            for test, case, need in lacks(root, machine)]


def unknown_cases(root, machine, logs):
    """Returns the (test, case) of lacks() that no run has skipped, so that they do not exist any more."""
    found = {(name, case) for name, test in read_tests(logs).items() for case in CASE.findall(test.get("stdout", ""))}
    return [(test, case) for test, case, _ in lacks(root, machine) if (test, case) not in found]


def compare(root, machine, logs):
    """Returns the skipped tests without a row, and the rows without a skipped test."""
    found, listed = skipped(logs), rows(common.read(root, PAGE).split("\n"), machine)
    anywhere = {reason for test, reason in listed if test == ANY}
    return (sorted(row for row in found.keys() - listed if row[1] not in anywhere),
            sorted(row for row in listed - found.keys() if row[0] != ANY))


def update(root, machine, logs):
    lines = common.read(root, PAGE).split("\n")
    first, last = place(lines, machine)
    kept = [line for line in lines[first:last] if line.startswith("| %s |" % ANY)]
    lines[first:last] = kept + ["| `%s` | %s | %d |" % (test, reason, n) for (test, reason), n in sorted(skipped(logs).items())
                                if not any(line.startswith("| %s | %s |" % (ANY, reason)) for line in kept)]
    common.write(root, PAGE, "\n".join(lines))


def self_test():
    with tempfile.TemporaryDirectory() as root:
        log = os.path.join(root, "log.json")
        common.write(root, "log.json", "\n".join(
            '{"name": "t:unit / %s", "result": "%s", "stdout": "%s"}' % row for row in (
                ("a/b", "OK", "SKIP x: needs c\\nSKIP y: needs c\\n100%: Checks: 7, Failures: 0, Errors: 0\\n"),
                ("d/e", "SKIP", "SKIP all: needs f\\n"), ("g/h", "OK", "skip i: needs j%s\\nskip k: needs k\\n" % EMULATOR))))
        common.write(root, PAGE, "%s\n|---|---|---|---|\n| `a/b` | `x`, `w` | z | m, n |\n| `contract/g/h` | `i` | z | n |\n" % LACKS)
        assert skip_lines(root, "m") == ["test_a_b %s needs z, which the emulator lacks" % case for case in ("x", "w")]
        assert skip_lines(root, "n")[2:] == ["contract/g/h i needs z, which the emulator lacks"]
        assert unknown_cases(root, "n", [log]) == [("a/b", "w"), ("contract/g/h", "i")]
        common.write(root, PAGE, "## Skipped on m\n\n%s\n|---|---|---|\n| `a/b` | needs c | 1 |\n| `z` | needs c | 1 |\n\n"
                     "## Skipped on n\n\n%s\n|---|---|---|\n" % (HEAD, HEAD))
        assert compare(root, "m", [log]) == ([("d/e", "needs f"), ("g/h", "needs j" + EMULATOR)], [("z", "needs c")])
        assert compare(root, "n", [log])[0] == [("a/b", "needs c"), ("d/e", "needs f"), ("g/h", "needs j" + EMULATOR)]
        common.write(root, PAGE, common.read(root, PAGE) + "| any | needs f | |\n")
        assert compare(root, "n", [log])[0] == [("a/b", "needs c"), ("g/h", "needs j" + EMULATOR)]
        for machine in "mn":
            update(root, machine, [log])
            assert compare(root, machine, [log]) == ([], []), machine
        assert [common.read(root, PAGE).count(row) for row in (
            "| `a/b` | needs c | 2 |\n| `d/e` | needs f | 1 |\n| `g/h` | needs j, which the emulator lacks | 1 |\n",
            "| any | needs f | |\n| `a/b` | needs c | 2 |\n| `g/h` | needs j, which the emulator lacks | 1 |\n")] == [1, 1]


def main(machine, logs):
    missing, stale = compare(ROOT, machine, logs)
    unknown = unknown_cases(ROOT, machine, logs)
    for test, case in unknown:
        print("failed: %s: %s has a row for a case that does not exist: %s" % (test, PAGE, case))
    for test, reason in missing:
        print("failed: %s: no row in %s for this skipped test: %s" % (test, PAGE, reason))
    for test, reason in stale:
        print("-- %s has a row that this run did not need: %s: %s" % (PAGE, test, reason), file=sys.stderr)
    sys.exit(1 if missing or unknown else 0)


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif sys.argv[1:2] == ["--update"]:
        update(ROOT, sys.argv[2], sys.argv[3:])
    elif sys.argv[1:2] == ["--lacks"]:
        print(*skip_lines(ROOT, sys.argv[2]), sep="\n")
    else:
        main(sys.argv[1], sys.argv[2:])
