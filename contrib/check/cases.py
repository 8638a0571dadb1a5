#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Cases and tests that a document names for its requirements exist. In a table with the last heading "case", the last
cell of each row names cases of a unit test (PX_TEST) or of a script (t, or a method in Python). In a table with the
headings "attack" and "test", the second cell names cases, tests (the file's name, or "room/name" for a test of a room), or
functions of a script or of test/lib. A table with the headings "row" and "attack" has each row of hostile/cost.py."""
import os
import re

import common

HEAD = re.compile(r"^\|.*\|\s*case\s*\|\s*$")
NAME = re.compile(r"`(\w+)`")
CASE = re.compile(r"^(?:PX_TEST(?:_LOOP)?\(|t |    def (?=test_))(\w+)", re.M)
ATTACK = re.compile(r"^\| *attack *\| *test *\|")
TABLED = re.compile(r"^\| *row *\| *attack *\|")
QUOTED = re.compile(r"`([\w/-]+)`")
COST = "test/integration/hostile/cost.py"
ROW = re.compile(r"^    \"([\w-]+)\": \(", re.M)
MESON = re.compile(r"'([\w/]+)'")
FUNCTION = re.compile(r"^[\w *]*\b(\w+)\(", re.M)


def tests(root):
    """Returns the names of tests, and of functions of scripts and of test/lib."""
    found = set()
    for path in common.files(root, ".c", ".sh", ".py", ".h", under=("test",)):
        folder, name = os.path.split(os.path.splitext(path)[0])
        found |= {name, folder, os.path.basename(folder) + "/" + name.replace("test_", "")}
        if path.endswith(".sh") or (path.endswith(".h") and folder == "test/lib"):
            found |= set(FUNCTION.findall(common.read(root, path)))
    for path in common.files(root, "meson.build", under=("test",)):
        names = set(MESON.findall(common.read(root, path)))
        found |= names | {os.path.basename(os.path.dirname(path)) + "/" + name for name in names}
    return found


def check_attacks(root, known):
    known = known | tests(root)
    violations = ["%s:%d: no such test: %s" % (path, number, name)
                  for path, number, line in common.table_rows(root, ATTACK)
                  for name in QUOTED.findall(line.strip("| ").split("|")[1]) if name not in known]
    if not os.path.isfile(os.path.join(root, COST)):
        return violations
    rows = set(ROW.findall(common.read(root, COST)))
    listed = {QUOTED.findall(line)[0]: (path, number) for path, number, line in common.table_rows(root, TABLED)}
    return (violations + ["%s:%d: no such row: %s" % (*listed[name], name) for name in sorted(set(listed) - rows)] +
            ["%s: no table has the row %s" % (COST, name) for name in sorted(rows - set(listed))])


def check(root, _build):
    known, violations = set(), []
    for path in common.files(root, ".c", ".sh", ".py", under=("test",)):
        known |= set(CASE.findall(common.read(root, path)))
    for path, number, line in common.table_rows(root, HEAD):
        names = NAME.findall(line.rstrip("| ").rsplit("|", 1)[-1])
        violations += ["%s:%d: no such case: %s" % (path, number, name)
                       for name in names or [line] if name not in known]
    return violations + check_attacks(root, known)


def sample(root, _build):
    common.write(root, "test/unit/a.c", "PX_TEST(one)\n{\n}\nPX_TEST_LOOP(two, 2)\n")
    common.write(root, "test/integration/b.sh", "t three run\n")
    common.write(root, "test/integration/c.py", "class C:\n    def test_six(self):\n        pass\n")
    common.write(root, "docs/x.md", "| what | case |\n|---|---|\n| a | `one` |\n| b | `two` |\n| c | `three`, `test_six` |\n"
                 "| d | `four` |\n| e | one |\n| g | `seven`, `one` |\n\n| what | else |\n|---|---|\n| f | `five` |\n")
    common.write(root, COST, "ROWS = {\n    \"a-1\": (f, 1),\n    \"b-2\": (f, 2),\n}\n")
    common.write(root, "test/unit/room/test_g.c", "PX_TEST(eight)\n")
    common.write(root, "test/lib/g.h", "bool helps(int *n);\n")
    common.write(root, "docs/y.md", "| attack | test | figure |\n|---|---|---|\n| a | `room/g`, `eight`, `helps` | `x` |\n"
                 "| b | `room/h` | 1 |\n\n| row | attack |\n|---|---|\n| `a-1` | `x` |\n| `c-3` | a |\n")
    return ["docs/x.md:6", "docs/x.md:7", "docs/x.md:8: no such case: seven", "docs/y.md:4: no such test: room/h",
            "docs/y.md:9: no such row: c-3", COST + ": no table has the row b-2"]


if __name__ == "__main__":
    common.main(check, sample)
